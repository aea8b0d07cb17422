/* SPDX-License-Identifier: Apache-2.0 */
/* shard_damage.c - no byte of a shard's directory can change unnoticed; two cannot have it open. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "index/columns/columns_checkpoint.h"
#include "index/shard/shard.h"
#include "patience.h"
#include "shard_model.h"
#include "test_dir.h"
#include "text_model.h"
#include "threads_only.h"

enum { PATH_SIZE = 4096, FILE_COUNT_MAX = 200, OP_COUNT = 260 };

static const struct shard_options options = {.epoch = 7, .buffer_doc_count_max = 60};

static int open_at(const char *dir, struct shard **shard, struct err *err)
{
    struct shard_options here = options;

    here.dir = dir;
    return shard_open(&here, shard, err);
}

static int open_large(const char *dir, bool background, struct shard **shard, struct err *err)
{
    struct shard_options here = {.epoch = 7, .dir = dir, .background = background};

    return shard_open(&here, shard, err);
}

/* A shard with several segments, dead documents, stored fields: as a checkpoint leaves it. */
static uint64_t make_shard(const char *dir, uint64_t seed)
{
    struct shard *shard;
    struct err err = {0};
    uint64_t offset, hash;
    struct op op;

    if (open_at(dir, &shard, &err))
        fail_msg("%s", err.text);
    for (offset = 0; offset < OP_COUNT; offset++) {
        op_make(seed, offset, &op);
        op.doc %= 100;
        op_apply(shard, &op);
        if (offset % 10 == 9)
            assert_int_equal(shard_publish(shard, offset + 1, &err), 0);
    }
    shard_set_note(shard, bytes_of("ticket 7, lane 0 at 260"));
    assert_int_equal(shard_publish(shard, offset, &err), 0);
    if (shard_checkpoint(shard, &err))
        fail_msg("%s", err.text);
    assert_int_equal(shard_hash(shard, &hash, &err), 0);
    shard_close(shard);
    return hash;
}

static size_t list_files(const char *dir, char (*paths)[PATH_SIZE], size_t count)
{
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    struct stat status;

    assert_non_null(entries);
    for (entry = readdir(entries); entry; entry = readdir(entries)) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "lock") == 0)
            continue;
        assert_true(count < FILE_COUNT_MAX);
        snprintf(paths[count], PATH_SIZE, "%s/%s", dir, entry->d_name);
        assert_int_equal(stat(paths[count], &status), 0);
        if (S_ISDIR(status.st_mode)) {
            char below[PATH_SIZE];

            memcpy(below, paths[count], PATH_SIZE);
            count = list_files(below, paths, count);
        } else {
            count++;
        }
    }
    closedir(entries);
    return count;
}

static uint8_t flip(const char *path, off_t at, uint8_t mask)
{
    int fd = open(path, O_RDWR);
    uint8_t byte;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= mask;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
    return byte;
}

/* The shard with one byte wrong is refused, or by the check that reads all; never another shard. */
static void expect_refusal(const char *dir, const char *path, off_t at, uint64_t hash)
{
    struct shard *shard;
    struct err err = {0};
    uint64_t found;
    int rc = open_at(dir, &shard, &err);

    if (!rc) {
        if (!shard_hash(shard, &found, &err))
            assert_true(found == hash);
        rc = shard_check(shard, &err);
        shard_close(shard);
    }
    if (rc != ERR_CORRUPT && rc != ERR_PRECONDITION && rc != ERR_UNSUPPORTED) /* a format, too */
        fail_msg("byte %jd of %s: %d %s", (intmax_t)at, path, rc, rc ? err.text : "not noticed");
    if (!strstr(err.text, path))
        fail_msg("byte %jd of %s is not told by: %s", (intmax_t)at, path, err.text);
}

static void every_flipped_bit_is_refused_by_name(void **state)
{
    const char *all = getenv("TORG_FLIP_ALL");
    struct rng rng = model_seed();
    char(*paths)[PATH_SIZE] = mem_array(FILE_COUNT_MAX, PATH_SIZE);
    char dir[TEST_DIR_SIZE];
    size_t count, i, flips = 0;
    uint64_t hash;

    (void)state;
    assert_true(test_dir_make(dir));
    hash = make_shard(dir, rng_next(&rng));
    count = list_files(dir, paths, 0);
    assert_true(count > 9);
    for (i = 0; i < count; i++) {
        struct stat status;
        off_t at, step;

        assert_int_equal(stat(paths[i], &status), 0);
        step = all ? 1 : status.st_size / 40 + 1;
        for (at = all ? 0 : (off_t)rng_below(&rng, (uint64_t)step); at < status.st_size;
             at += step, flips++) {
            uint8_t mask = (uint8_t)(1 << rng_below(&rng, 8));

            flip(paths[i], at, mask);
            expect_refusal(dir, paths[i], at, hash);
            flip(paths[i], at, mask);
        }
        /* the last byte too */
        flip(paths[i], status.st_size - 1, 0x80);
        expect_refusal(dir, paths[i], status.st_size - 1, hash);
        flip(paths[i], status.st_size - 1, 0x80);
    }
    printf("# %zu flips in %zu files\n", flips, count);
    assert_int_equal(dir_remove(dir, NULL), 0);
    free(paths);
}

static void a_missing_or_short_file_is_refused_by_name(void **state)
{
    struct rng rng = model_seed();
    char(*paths)[PATH_SIZE] = mem_array(FILE_COUNT_MAX, PATH_SIZE);
    char dir[TEST_DIR_SIZE];
    uint64_t seed = rng_next(&rng), hash;
    size_t count, i;

    (void)state;
    assert_true(test_dir_make(dir));
    hash = make_shard(dir, seed);
    count = list_files(dir, paths, 0);
    for (i = 0; i < count; i++) {
        struct buf content = BUF_INIT(64 << 20);
        struct err err = {0};

        assert_int_equal(file_read(paths[i], &content, &err), 0);
        assert_int_equal(truncate(paths[i], (off_t)content.size - 1), 0);
        expect_refusal(dir, paths[i], (off_t)content.size - 1, hash);
        assert_int_equal(unlink(paths[i]), 0);
        if (!strstr(paths[i], "/columns-") && !strstr(paths[i], "/state-"))
            expect_refusal(dir, paths[i], 0, hash);
        assert_int_equal(file_write(paths[i], buf_bytes(&content), &err), 0);
        buf_release(&content);
    }
    assert_int_equal(dir_remove(dir, NULL), 0);
    free(paths);
}

/* A shard with one segment of several chunks. */
static void make_large(const char *dir, uint64_t seed, char path[PATH_SIZE])
{
    enum { LARGE_OP_COUNT = 30000, SIZE_MIN = 160 << 10 };
    char(*paths)[PATH_SIZE] = mem_array(FILE_COUNT_MAX, PATH_SIZE);
    struct shard *shard;
    struct stat status;
    struct err err = {0};
    uint64_t offset;
    size_t count, i;
    struct op op;

    assert_int_equal(open_large(dir, false, &shard, &err), 0);
    for (offset = 0; offset < LARGE_OP_COUNT; offset++) {
        op_make(seed, offset, &op);
        op.doc = (docid)offset;
        op_apply(shard, &op);
    }
    assert_int_equal(shard_publish(shard, offset, &err), 0);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    shard_close(shard);
    count = list_files(dir, paths, 0);
    for (i = 0; i < count && !strstr(paths[i], "/segment-"); i++)
        ;
    assert_true(i < count);
    memcpy(path, paths[i], PATH_SIZE);
    assert_int_equal(stat(path, &status), 0);
    if (status.st_size < SIZE_MIN)
        fail_msg("%s has only %jd bytes", path, (intmax_t)status.st_size);
    free(paths);
}

/* Damage in what a start does not read is found without anybody who asks for it. */
static void the_background_reads_segments_and_tells_of_damage(void **state)
{
    enum { WAIT_MS = PATIENCE_MS, STEP_MS = 10, FIRST_POSTINGS = 1000 };
    struct rng rng = model_seed();
    char dir[TEST_DIR_SIZE], path[PATH_SIZE];
    struct shard *shard;
    struct err err = {0};
    int waited = 0;

    (void)state;
    assert_true(test_dir_make(dir));
    make_large(dir, rng_next(&rng), path);
    flip(path, FIRST_POSTINGS, 1);
    if (open_large(dir, true, &shard, &err))
        fail_msg("%s", err.text);
    while (!shard_failures(shard, &err) && waited < WAIT_MS) {
        usleep(STEP_MS * 1000);
        waited += STEP_MS;
    }
    assert_true(shard_failures(shard, &err) > 0);
    assert_int_equal(err.code, ERR_CORRUPT);
    assert_non_null(strstr(err.text, path));
    shard_close(shard);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

/* Columns whose sums are right, of a schema that a shard cannot have. */
static void write_texts(const char *dir, int count)
{
    const struct columns_progress progress = {0};
    struct schema *schema = schema_new();
    struct epoch *epoch = epoch_new();
    struct columns *columns = columns_new(schema, epoch);
    struct epoch_slot *slot;
    struct columns_saved saved;
    char path[PATH_SIZE];
    struct err err = {0};
    int i;

    for (i = 0; i < count; i++) {
        char name[16];
        const struct field text = {.type = FIELD_TEXT, .name = name, .weight = 1};

        snprintf(name, sizeof(name), "text%d", i);
        assert_int_equal(schema_add(schema, &text, NULL, &err), 0);
    }
    assert_int_equal(epoch_join(epoch, &slot, &err), 0);
    snprintf(path, sizeof(path), "%s/columns-1", dir);
    assert_int_equal(columns_checkpoint(columns, schema, path, &progress, slot, &saved, &err), 0);
    epoch_leave(slot);
    columns_free(columns);
    epoch_free(epoch);
    schema_free(schema);
}

static void too_many_texts_are_refused(void **state)
{
    char dir[TEST_DIR_SIZE];
    struct shard *shard;
    struct err err = {0};

    (void)state;
    assert_true(test_dir_make(dir));
    assert_int_equal(open_at(dir, &shard, &err), 0);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    shard_close(shard);
    write_texts(dir, SEGMENT_FIELD_COUNT);
    assert_int_equal(open_at(dir, &shard, &err), 0);
    shard_close(shard);
    write_texts(dir, SEGMENT_FIELD_COUNT + 1);
    assert_int_equal(open_at(dir, &shard, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, dir));
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void a_directory_is_of_one_process_and_one_shard(void **state)
{
    struct shard_options other = options;
    struct shard *shard, *second;
    char dir[TEST_DIR_SIZE];
    struct err err;

    (void)state;
    assert_true(test_dir_make(dir));
    assert_int_equal(open_at(dir, &shard, &err), 0);
    assert_int_equal(open_at(dir, &second, &err), ERR_EXISTS);
    shard_close(shard);
    other.dir = dir;
    other.place[2] = 5;
    assert_int_equal(shard_open(&other, &second, &err), ERR_PRECONDITION);
    assert_int_equal(open_at(dir, &shard, &err), 0);
    shard_close(shard);
    /* one from before T was told is anybody's with its shards, and theirs from the next checkpoint
     * on */
    other.place[0] = 7;
    assert_int_equal(shard_open(&other, &shard, &err), 0);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    shard_close(shard);
    other.place[3] = 9; /* G grows */
    assert_int_equal(shard_open(&other, &shard, &err), 0);
    shard_close(shard);
    for (int i = 0; i < 3; i++) {
        struct shard_options wrong = other;

        wrong.place[i]++;
        assert_int_equal(shard_open(&wrong, &second, &err), ERR_PRECONDITION);
        assert_non_null(strstr(err.text, "numbers 7."));
    }
    assert_int_equal(dir_remove(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_is_refused_by_name),
        cmocka_unit_test(a_missing_or_short_file_is_refused_by_name),
        cmocka_unit_test(the_background_reads_segments_and_tells_of_damage),
        cmocka_unit_test(too_many_texts_are_refused),
        cmocka_unit_test(a_directory_is_of_one_process_and_one_shard),
    };

    threads_only("the_background_*");
    return cmocka_run_group_tests_name("shard_damage", tests, NULL, NULL);
}

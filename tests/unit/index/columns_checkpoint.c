/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/columns/columns_checkpoint.h: what is loaded is what was saved; damage is
 * refused by name; a kill at any moment leaves a checkpoint that, replayed, gives the right
 * content.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/columns/columns_checkpoint.h"
#include "test_dir.h"
#include "threads_only.h"

enum { FIELD_COUNT = 6, FILE_SIZE_LIMIT = 64 << 20, PATH_SIZE = 512 };

struct world {
    struct schema *schema;
    struct epoch *epoch;
    struct epoch_slot *slot;
    struct columns *columns;
    struct columns_progress progress;
    struct err err;
};

static const struct field fields[FIELD_COUNT] = {
    {.name = "price", .type = FIELD_DECIMAL, .scale = 2},
    {.name = "brand", .type = FIELD_KEYWORD},
    {.name = "tags", .type = FIELD_KEYWORD, .multiple = true, .value_count_max = 60},
    {.name = "labels", .type = FIELD_KEYWORD, .multiple = true},
    {.name = "place", .type = FIELD_GEO},
    {.name = "new", .type = FIELD_BOOLEAN},
};

static void world_init(struct world *world)
{
    memset(world, 0, sizeof(*world));
    world->schema = schema_new();
    world->epoch = epoch_new();
    if (epoch_join(world->epoch, &world->slot, &world->err))
        abort();
    world->columns = columns_new(world->schema, world->epoch);
}

static void world_release(struct world *world)
{
    columns_free(world->columns);
    epoch_free(world->epoch);
    schema_free(world->schema);
}

/* ---- a stream of changes that can be replayed from anywhere ---- */

static int64_t keywords(struct world *world, struct rng *rng, uint16_t field)
{
    uint32_t count = field == 1 ? 1 : 1 + (uint32_t)rng_below(rng, 4);
    struct bytes names[4];
    char text[4][16];
    int64_t value = COLUMN_NULL;
    uint32_t i;
    int rc;

    for (i = 0; i < count; i++)
        names[i] =
            bytes_make(text[i], (size_t)snprintf(text[i], 16, "v%u", (uint32_t)rng_below(rng, 55)));
    rc = field == 1 ? columns_keyword(world->columns, field, names[0], &value, &world->err)
                    : columns_keywords(world->columns, field, names, count, &value, &world->err);
    if (rc)
        abort();
    return value;
}

/* The change at the offset: by its number alone, whatever happened before. */
static void apply(struct world *world, uint64_t offset, uint32_t id_count)
{
    struct rng rng = rng_seeded(offset * 7919 + 13);
    docid id = (docid)rng_below(&rng, id_count);
    struct column_change changes[2];
    uint16_t field = (uint16_t)rng_below(&rng, FIELD_COUNT);
    int i;

    atomic_store_explicit(&world->progress.begun, offset + 1, memory_order_release);
    for (i = 0; i < FIELD_COUNT && schema_count(world->schema) < FIELD_COUNT; i++)
        if (schema_add(world->schema, &fields[i], NULL, &world->err))
            abort();
    for (i = 0; i < 2; i++, field = (uint16_t)((field + 1) % FIELD_COUNT)) {
        changes[i] = (struct column_change){field, COLUMN_NULL};
        if (rng_below(&rng, 6) == 0)
            continue;
        if (field == 0)
            changes[i].value = (int64_t)(rng_next(&rng) >> rng_below(&rng, 64)) / 2 - 100;
        else if (field <= 3)
            changes[i].value = keywords(world, &rng, field);
        else if (field == 4)
            changes[i].value = geo_pack((int32_t)rng_below(&rng, 900000000), (int32_t)id);
        else
            changes[i].value = (int64_t)rng_below(&rng, 2);
    }
    if (columns_set(world->columns, id, changes, 2, &world->err))
        abort();
    if (rng_below(&rng, 20) == 0)
        columns_reset(world->columns, id);
    atomic_store_explicit(&world->progress.applied, offset + 1, memory_order_release);
}

static int save(struct world *world, const char *dir, struct columns_saved *saved)
{
    return columns_checkpoint(world->columns, world->schema, dir, &world->progress, world->slot,
                              saved, &world->err);
}

static int count_files(const char *dir)
{
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    int count = 0;

    assert_non_null(entries);
    for (entry = readdir(entries); entry; entry = readdir(entries))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void loaded_is_what_was_saved(void **state)
{
    static const uint32_t id_counts[] = {1, 4095, 4096, 4097, 3 * WINDOW_SIZE};
    char dir[TEST_DIR_SIZE];
    uint64_t generation;
    size_t i;

    (void)state;
    assert_true(test_dir_make(dir));
    for (i = 0, generation = 1; i < ARRAY_COUNT(id_counts); i++, generation++) {
        struct columns_saved saved;
        struct columns_saved loaded;
        struct world world;
        struct world again;
        uint64_t offset;
        uint64_t hash;

        world_init(&world);
        for (offset = 0; offset < 9000; offset++)
            apply(&world, offset, id_counts[i]);
        if (i & 1) /* all kinds of pages */
            columns_tighten(world.columns, 0);
        hash = columns_hash(world.columns);
        assert_int_equal(save(&world, dir, &saved), 0);
        assert_int_equal(saved.x0, 9000);
        assert_int_equal(saved.x1, 9000);
        assert_int_equal(saved.generation, generation);
        assert_int_equal(count_files(dir), 2); /* whatever the number of columns */
        world_init(&again);
        assert_int_equal(columns_load(again.columns, again.schema, dir, &loaded, &again.err), 0);
        assert_true(columns_hash(again.columns) == hash);
        assert_memory_equal(&saved, &loaded, sizeof(saved));
        for (; offset < 9500; offset++) {
            apply(&world, offset, id_counts[i]);
            apply(&again, offset, id_counts[i]);
        }
        assert_true(columns_hash(again.columns) == columns_hash(world.columns));
        assert_true(columns_hash(again.columns) != hash);
        world_release(&world);
        world_release(&again);
    }
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void no_checkpoint_is_told_as_such(void **state)
{
    char dir[TEST_DIR_SIZE];
    struct columns_saved saved;
    struct world world;

    (void)state;
    assert_true(test_dir_make(dir));
    world_init(&world);
    assert_int_equal(columns_load(world.columns, world.schema, dir, &saved, &world.err),
                     ERR_NOT_FOUND);
    assert_int_equal(save(&world, dir, &saved), 0); /* of nothing */
    assert_int_equal(columns_load(world.columns, world.schema, dir, &saved, &world.err), 0);
    world_release(&world);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

/* ---- damage ---- */

static void check_refused(const char *dir, const char *name)
{
    struct columns_saved saved;
    struct world world;

    world_init(&world);
    assert_int_equal(columns_load(world.columns, world.schema, dir, &saved, &world.err),
                     ERR_CORRUPT);
    assert_non_null(strstr(world.err.text, name));
    world_release(&world);
}

/* Not synced, for this is done a thousand times. */
static void put_file(const char *path, struct bytes content)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(content.data, 1, content.size, file), content.size);
    assert_int_equal(fclose(file), 0);
}

static void damage(const char *dir, const char *name)
{
    struct buf content = BUF_INIT(FILE_SIZE_LIMIT);
    char path[PATH_SIZE];
    size_t step;
    size_t i;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(file_read(path, &content, NULL), 0);
    step = content.size / 60 + 1;
    for (i = 0; i < content.size; i += i < 64 ? 1 : step) {
        content.data[i] ^= (uint8_t)(1 << (i % 8));
        put_file(path, buf_bytes(&content));
        check_refused(dir, name);
        content.data[i] ^= (uint8_t)(1 << (i % 8));
    }
    for (i = 0; i < content.size; i += content.size / 7 + 1) {
        put_file(path, bytes_make(content.data, i));
        check_refused(dir, name);
    }
    assert_int_equal(unlink(path), 0);
    if (strcmp(name, "columns") != 0)
        check_refused(dir, name);
    put_file(path, buf_bytes(&content));
    buf_release(&content);
}

static void damaged_files_are_refused_by_name(void **state)
{
    char dir[TEST_DIR_SIZE];
    struct columns_saved saved;
    struct world world;
    uint64_t offset;

    (void)state;
    assert_true(test_dir_make(dir));
    world_init(&world);
    for (offset = 0; offset < 60; offset++)
        apply(&world, offset, 40);
    assert_int_equal(save(&world, dir, &saved), 0);
    world_release(&world);
    damage(dir, "columns");
    damage(dir, "column-values.1");
    world_init(&world);
    assert_int_equal(columns_load(world.columns, world.schema, dir, &saved, &world.err), 0);
    world_release(&world);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

/* Whoever is told of damage throws the checkpoint away: only what is missing, or wrong, is that. */
static void a_file_that_cannot_be_opened_is_no_damage(void **state)
{
    char dir[TEST_DIR_SIZE];
    char path[PATH_SIZE];
    struct columns_saved saved;
    struct world world;
    uint64_t offset;

    (void)state;
    assert_true(test_dir_make(dir));
    world_init(&world);
    for (offset = 0; offset < 60; offset++)
        apply(&world, offset, 40);
    assert_int_equal(save(&world, dir, &saved), 0);
    world_release(&world);
    snprintf(path, sizeof(path), "%s/column-values.1", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("column-values.1", path), 0); /* to itself: ELOOP */
    world_init(&world);
    assert_int_equal(columns_load(world.columns, world.schema, dir, &saved, &world.err),
                     ERR_UNAVAILABLE);
    assert_non_null(strstr(world.err.text, path));
    world_release(&world);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

/* ---- kill -9 ---- */

enum { KILL_ROUNDS = 8, KILL_IDS = 2 * WINDOW_SIZE, KILL_MS_MAX = 60 };

struct saver {
    struct world *world;
    const char *dir;
    int told; /* a byte is written here after each checkpoint */
};

static void *save_for_ever(void *context)
{
    struct saver *saver = context;
    struct columns_saved saved;

    for (;;) {
        if (save(saver->world, saver->dir, &saved) || write(saver->told, "", 1) != 1)
            _exit(2);
    }
    return NULL;
}

/* The child: changes go on while checkpoints are taken. */
static void child(const char *dir, int told)
{
    struct world world;
    struct saver saver = {.world = &world, .dir = dir, .told = told};
    struct columns_saved saved = {0};
    uint64_t offset;
    pthread_t thread;

    world_init(&world);
    if (access(dir, F_OK) || (columns_load(world.columns, world.schema, dir, &saved, &world.err) &&
                              world.err.code != ERR_NOT_FOUND))
        _exit(3);
    offset = saved.x0;
    atomic_store(&world.progress.applied, offset);
    atomic_store(&world.progress.begun, offset);
    for (; offset < saved.x1; offset++) /* only then may a checkpoint be taken */
        apply(&world, offset, KILL_IDS);
    apply(&world, offset++, KILL_IDS);
    if (pthread_create(&thread, NULL, save_for_ever, &saver))
        _exit(4);
    for (;; offset++)
        apply(&world, offset, KILL_IDS);
}

static void check_replayed(const char *dir, uint64_t *x0)
{
    struct columns_saved saved;
    struct world world;
    struct world fresh;
    uint64_t offset;

    world_init(&world);
    world_init(&fresh);
    if (columns_load(world.columns, world.schema, dir, &saved, &world.err))
        fail_msg("%s", world.err.text);
    assert_true(saved.x0 >= *x0 && saved.x1 >= saved.x0);
    for (offset = saved.x0; offset < saved.x1; offset++)
        apply(&world, offset, KILL_IDS);
    for (offset = 0; offset < saved.x1; offset++)
        apply(&fresh, offset, KILL_IDS);
    assert_true(columns_hash(world.columns) == columns_hash(fresh.columns));
    *x0 = saved.x0;
    world_release(&world);
    world_release(&fresh);
}

static void killed_at_any_moment(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    char dir[TEST_DIR_SIZE];
    uint64_t x0 = 0;
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    assert_true(test_dir_make(dir));
    for (round = 0; round < KILL_ROUNDS; round++) {
        struct timespec pause = {.tv_nsec = (long)rng_below(&rng, KILL_MS_MAX * 1000000)};
        int pipe_fds[2];
        char byte;
        int status;
        pid_t pid;

        assert_int_equal(pipe(pipe_fds), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            child(dir, pipe_fds[1]);
        close(pipe_fds[1]);
        assert_int_equal(read(pipe_fds[0], &byte, 1), 1); /* one checkpoint is there for certain */
        nanosleep(&pause, NULL);                          /* anywhere in a later one */
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        close(pipe_fds[0]);
        check_replayed(dir, &x0);
    }
    print_message("# last checkpoint at %ju\n", (uintmax_t)x0);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_is_what_was_saved),
        cmocka_unit_test(no_checkpoint_is_told_as_such),
        cmocka_unit_test(damaged_files_are_refused_by_name),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_no_damage),
        cmocka_unit_test(killed_at_any_moment),
    };

    threads_only("killed_at_any_moment");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* shard_stored.c - stored fields through dictionaries, worn files, checkpoints and restarts. */
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
#include "base/random.h"
#include "index/bounds.h"
#include "index/shard/shard.h"
#include "test_dir.h"

enum { BIG_SIZE = 600 << 10, BIG_COUNT = 130, SMALL_COUNT = 6000, PATH_SIZE = 4096 };

static struct shard *open_at(const char *dir)
{
    struct shard_options options = {.dir = dir, .epoch = 1};
    struct shard *shard;
    struct err err = {0};

    if (shard_open(&options, &shard, &err))
        fail_msg("%s", err.text);
    return shard;
}

static void add_field(struct shard *shard)
{
    static const struct field text = {.type = FIELD_STORED, .name = "shown"};
    struct err err;

    assert_int_equal(shard_add_field(shard, &text, NULL, &err), 0);
}

static void put(struct shard *shard, docid id, struct bytes text)
{
    struct shard_value value = {.field = 0, .kind = VALUE_TEXT, .text = text};
    struct shard_document document = {.id = id, .values = &value, .count = 1};
    struct err err = {0};

    if (shard_put(shard, &document, &err))
        fail_msg("%s", err.text);
}

static void work_all(struct shard *shard)
{
    struct err err = {0};
    bool did = true;

    while (did) {
        if (shard_work(shard, &did, &err))
            fail_msg("%s", err.text);
    }
}

static void expect(struct shard *shard, docid id, struct bytes text)
{
    struct buf buf = BUF_INIT(STORED_RECORD_SIZE_MAX);
    const struct snapshot *snapshot;
    struct stored_value value;
    struct shard_reader *reader;
    struct err err = {0};
    uint32_t count;

    assert_int_equal(shard_reader_new(shard, &reader, &err), 0);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    if (shard_stored(snapshot, shard, id, &buf, &value, 1, &count, &err))
        fail_msg("%s", err.text);
    assert_int_equal(count, 1);
    assert_true(bytes_equal(value.text, text));
    shard_exit(reader);
    shard_reader_free(reader);
    buf_release(&buf);
}

/* Bytes that cannot be packed, the same for the same document and version. */
static struct bytes big(docid id, unsigned version, uint8_t *room)
{
    struct rng rng = rng_seeded(id * 1000 + version);
    size_t i;

    for (i = 0; i < BIG_SIZE; i += 8) {
        uint64_t word = rng_next(&rng);

        memcpy(room + i, &word, 8);
    }
    return bytes_make(room, BIG_SIZE);
}

static uint64_t stored_bytes(struct shard *shard)
{
    struct shard_sizes sizes;

    shard_sizes(shard, &sizes);
    return sizes.stored;
}

static void check_big(struct shard *shard, uint8_t *room)
{
    docid id;

    for (id = 0; id < BIG_COUNT; id++)
        expect(shard, id, id % 4 ? bytes_of("small now") : big(id, 0, room));
}

/* A file whose records are mostly dead is written anew, and its name is gone after a checkpoint. */
static void run_worn(const char *dir)
{
    uint8_t *room = mem_alloc(BIG_SIZE);
    struct shard *shard = open_at(dir);
    char path[PATH_SIZE];
    struct err err = {0};
    uint64_t before;
    docid id;

    add_field(shard);
    for (id = 0; id < BIG_COUNT; id++)
        put(shard, id, big(id, 0, room));
    assert_int_equal(shard_publish(shard, 1, &err), 0);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    for (id = 0; id < BIG_COUNT; id++) {
        if (id % 4)
            put(shard, id, bytes_of("small now"));
    }
    assert_int_equal(shard_publish(shard, 2, &err), 0);
    before = stored_bytes(shard);
    work_all(shard);
    assert_true(stored_bytes(shard) < before / 2);
    check_big(shard, room);
    if (dir) {
        snprintf(path, sizeof(path), "%s/stored-0", dir);
        assert_int_equal(access(path, F_OK), 0); /* the last checkpoint still needs it */
        assert_int_equal(shard_checkpoint(shard, &err), 0);
        assert_int_not_equal(access(path, F_OK), 0);
        shard_close(shard);
        shard = open_at(dir);
        check_big(shard, room);
        assert_int_equal(shard_check(shard, &err), 0);
    }
    shard_close(shard);
    free(room);
}

static void a_worn_file_is_written_anew(void **state)
{
    char dir[TEST_DIR_SIZE];

    (void)state;
    run_worn(NULL);
    assert_true(test_dir_make(dir));
    run_worn(dir);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void flip_bit(const char *path, long place)
{
    FILE *file = fopen(path, "r+");
    int byte;

    assert_non_null(file);
    assert_int_equal(fseek(file, place, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseek(file, place, SEEK_SET), 0);
    assert_int_not_equal(fputc(byte ^ 4, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static void change(struct shard *shard, docid id, uint16_t field, int64_t number)
{
    struct shard_value value = {.field = field, .kind = VALUE_NUMBER, .number = number};
    struct err err = {0};

    if (shard_change(shard, id, &value, 1, &err))
        fail_msg("%s", err.text);
}

/* A worn file that is damaged is told by name each time; other work is done nevertheless. */
static void a_damaged_worn_file_stops_no_other_work(void **state)
{
    const struct field year = {.type = FIELD_INTEGER, .name = "year"};
    const struct field price = {.type = FIELD_INTEGER, .name = "price", .filterable = true};
    uint8_t *room = mem_alloc(BIG_SIZE);
    char dir[TEST_DIR_SIZE], path[PATH_SIZE];
    struct shard_sizes sizes;
    struct shard *shard;
    struct err err = {0};
    bool did = true;
    uint64_t noted;
    int rc = 0;
    docid id;

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(path, sizeof(path), "%s/stored-0", dir);
    shard = open_at(dir);
    add_field(shard);
    for (id = 0; id < BIG_COUNT; id++)
        put(shard, id, big(id, 0, room));
    assert_int_equal(shard_publish(shard, 1, &err), 0);
    flip_bit(path, 100);
    for (id = 0; id < BIG_COUNT; id++)
        put(shard, id, bytes_of("small now"));
    assert_int_equal(shard_publish(shard, 2, &err), 0);
    assert_int_equal(shard_add_field(shard, &year, NULL, &err), 0);
    change(shard, 0, 1, 2026);
    assert_int_equal(shard_add_field(shard, &price, NULL, &err), 0); /* its set is to be made */
    for (id = 0; id < BIG_COUNT; id++)
        change(shard, id, 2, id);
    assert_int_equal(shard_publish(shard, 3, &err), 0);
    shard_sizes(shard, &sizes);
    noted = sizes.sets;
    while (did && !rc)
        rc = shard_work(shard, &did, &err);
    assert_int_equal(rc, ERR_CORRUPT);
    assert_non_null(strstr(err.text, path));
    shard_sizes(shard, &sizes);
    assert_true(sizes.sets < noted); /* what was noted one by one is a base now */
    shard_close(shard);
    free(room);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

/* A document that is refused leaves no record: nobody would count it as dead. */
static void what_is_refused_is_not_stored(void **state)
{
    const struct field keyword = {.type = FIELD_KEYWORD, .name = "colour", .value_count_max = 1};
    struct bytes colours[] = {bytes_of("red"), bytes_of("green")};
    struct shard_value values[] = {
        {.field = 0, .kind = VALUE_TEXT, .text = bytes_of("shown")},
        {.field = 1, .kind = VALUE_KEYWORDS, .keywords = {&colours[0], 1}},
    };
    struct shard_document document = {.id = 1, .values = values, .count = 2};
    struct shard *shard = open_at(NULL);
    uint64_t before;
    struct err err = {0};

    (void)state;
    add_field(shard);
    assert_int_equal(shard_add_field(shard, &keyword, NULL, &err), 0);
    assert_int_equal(shard_put(shard, &document, &err), 0);
    assert_int_equal(shard_publish(shard, 1, &err), 0);
    before = stored_bytes(shard);

    values[0].text = bytes_of("not shown");
    values[1].keywords.names = &colours[1];
    document.id = 2;
    assert_int_equal(shard_put(shard, &document, &err), ERR_LIMIT);
    assert_int_equal(stored_bytes(shard), before);
    assert_int_equal(shard_change(shard, 1, values, 2, &err), ERR_LIMIT);
    assert_int_equal(stored_bytes(shard), before);
    expect(shard, 1, bytes_of("shown"));
    shard_close(shard);
}

static struct bytes listing(docid id, char text[1024])
{
    int size = snprintf(text, 1024,
                        "Selling a hardly used bicycle number %u, bought in %u, with all papers, "
                        "a spare wheel and %u other things; call after six, no messages please. "
                        "Delivery within the town of %x is possible for a small sum, the price is "
                        "final, photographs show the very one that you will get. %x%x%x%x%x%x%x",
                        id, 1990 + id % 30, id % 7, id * 2654435761U, id * 3, id * 5, id * 7,
                        id * 11, id * 13, id * 17, id * 19);

    return bytes_make(text, (size_t)size);
}

static void records_are_packed_with_what_they_share(void **state)
{
    uint64_t first, second;
    char dir[TEST_DIR_SIZE], path[PATH_SIZE], text[1024];
    struct shard *shard;
    struct err err = {0};
    uint8_t byte;
    docid id;
    FILE *file;

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(path, sizeof(path), "%s/dictionary-1", dir);
    shard = open_at(dir);
    add_field(shard);
    for (id = 0; id < SMALL_COUNT; id++)
        put(shard, id, listing(id, text));
    first = stored_bytes(shard);
    work_all(shard);
    for (id = 0; id < SMALL_COUNT; id++)
        put(shard, SMALL_COUNT + id, listing(id, text));
    second = stored_bytes(shard) - first;
    assert_true(second < first / 2);
    assert_int_equal(shard_publish(shard, 1, &err), 0);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    assert_int_equal(access(path, F_OK), 0);
    shard_close(shard);
    shard = open_at(dir);
    for (id = 0; id < 2 * SMALL_COUNT; id += 7)
        expect(shard, id, listing(id % SMALL_COUNT, text));
    shard_close(shard);

    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 200, SEEK_SET), 0);
    assert_int_equal(fread(&byte, 1, 1, file), 1);
    byte ^= 4;
    assert_int_equal(fseek(file, 200, SEEK_SET), 0);
    assert_int_equal(fwrite(&byte, 1, 1, file), 1);
    fclose(file);
    assert_int_equal(shard_open(&(struct shard_options){.dir = dir, .epoch = 1}, &shard, &err),
                     ERR_CORRUPT);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void what_was_opened_to_look_at_does_not_change(void **state)
{
    struct shard_options look = {.is_read_only = true};
    struct shard_value value = {.field = 0, .kind = VALUE_TEXT, .text = bytes_of("new")};
    struct shard_document document = {.id = 1, .values = &value, .count = 1};
    char dir[TEST_DIR_SIZE], path[PATH_SIZE];
    struct shard *shard;
    struct err err;

    (void)state;
    assert_true(test_dir_make(dir));
    look.dir = dir;
    assert_int_equal(shard_open(&look, &shard, &err), ERR_NOT_FOUND);
    snprintf(path, sizeof(path), "%s/lock", dir);
    assert_int_not_equal(access(path, F_OK), 0);
    shard = open_at(dir);
    add_field(shard);
    put(shard, 1, bytes_of("old"));
    assert_int_equal(shard_publish(shard, 1, &err), 0);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    shard_close(shard);
    assert_int_equal(shard_open(&look, &shard, &err), 0);
    expect(shard, 1, bytes_of("old"));
    assert_int_equal(shard_put(shard, &document, &err), ERR_PRECONDITION);
    assert_int_equal(shard_checkpoint(shard, &err), ERR_PRECONDITION);
    shard_close(shard);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void the_sizes_of_what_was_saved_are_told(void **state)
{
    const struct field year = {.type = FIELD_INTEGER, .name = "year"};
    struct shard_options look = {.is_read_only = true};
    struct shard_sizes sizes;
    char dir[TEST_DIR_SIZE];
    struct shard *shard;
    struct err err = {0};

    (void)state;
    assert_true(test_dir_make(dir));
    look.dir = dir;
    shard = open_at(dir);
    add_field(shard);
    assert_int_equal(shard_add_field(shard, &year, NULL, &err), 0);
    put(shard, 1, bytes_of("shown"));
    change(shard, 1, 1, 2026);
    assert_int_equal(shard_publish(shard, 1, &err), 0);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    shard_close(shard);
    if (shard_open(&look, &shard, &err))
        fail_msg("%s", err.text);
    shard_sizes(shard, &sizes);
    assert_true(sizes.columns > 0);
    assert_true(sizes.stored > 0);
    shard_close(shard);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worn_file_is_written_anew),
        cmocka_unit_test(a_damaged_worn_file_stops_no_other_work),
        cmocka_unit_test(what_is_refused_is_not_stored),
        cmocka_unit_test(records_are_packed_with_what_they_share),
        cmocka_unit_test(what_was_opened_to_look_at_does_not_change),
        cmocka_unit_test(the_sizes_of_what_was_saved_are_told),
    };

    return cmocka_run_group_tests_name("shard_stored", tests, NULL, NULL);
}

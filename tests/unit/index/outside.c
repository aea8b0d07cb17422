/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of columns from outside: their file, the mapped column beside a plain array, and a
 * shard that is lent some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/columns/outside_column.h"
#include "index/shard/shard.h"
#include "test_dir.h"

enum { PATH_SIZE = TEST_DIR_SIZE + 40, GENERATION = 7 };

static char dir[TEST_DIR_SIZE];
static char path[PATH_SIZE];

static int make_dir(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s", "");
    if (!test_dir_make(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/file.column", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    return dir_remove(dir, NULL);
}

/* ---- writing ---- */

static struct outside_head head_of(uint8_t width, bool is_signed, uint32_t count)
{
    return (struct outside_head){.numbers = {1, 2, 3, GENERATION},
                                 .shard = 1,
                                 .count = count,
                                 .width = width,
                                 .digits = 2,
                                 .is_signed = is_signed};
}

/* The whole file, with its sums. */
static void encode(struct outside_head head, const int64_t *values, struct buf *out)
{
    uint8_t start[OUTSIDE_HEAD_SIZE], code[8];
    struct buf codes = BUF_INIT(1 << 20);

    for (uint32_t i = 0; i < head.count; i++) {
        put_le64(code, values[i] == COLUMN_NULL
                           ? UINT64_MAX
                           : (uint64_t)values[i] - (uint64_t)outside_base(&head));
        buf_put_raw(&codes, code, head.width);
    }
    head.sum = crc32_plain(0, buf_bytes(&codes));
    outside_head_encode(&head, start);
    buf_put_raw(out, start, sizeof(start));
    buf_put(out, buf_bytes(&codes));
    assert_false(buf_failed(out) || buf_failed(&codes));
    buf_release(&codes);
}

static struct outside_column *open_file(struct bytes file)
{
    struct outside_column *column;
    struct err err = {0};

    assert_int_equal(file_write(path, file, &err), 0);
    if (outside_column_open(path, &column, &err))
        fail_msg("%s", err.text);
    return column;
}

static struct outside_column *open_values(struct outside_head head, const int64_t *values)
{
    struct buf file = BUF_INIT(1 << 20);
    struct outside_column *column;

    encode(head, values, &file);
    column = open_file(buf_bytes(&file));
    buf_release(&file);
    return column;
}

static int64_t value_of(const struct outside_column *column, docid id)
{
    struct column_view view;
    int64_t value;

    outside_column_view(column, window_of(id), &view);
    value = view_get(&view, id & (WINDOW_SIZE - 1));
    assert_true(value == COLUMN_NULL || (value >= view.min && value <= view.max));
    return value;
}

/* ---- the column ---- */

static void equals_an_array_of_any_width(void **state)
{
    static const uint32_t counts[] = {
        0, 1, WINDOW_SIZE - 1, WINDOW_SIZE, WINDOW_SIZE + 1, 3 * WINDOW_SIZE + 77};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int64_t *values = mem_array(4 * WINDOW_SIZE, sizeof(*values));
    int64_t births[WINDOW_SIZE];

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (unsigned round = 0; round < 8 * ARRAY_COUNT(counts); round++) {
        struct outside_head head =
            head_of((uint8_t)(1 << round % 4), round / 4 % 2, counts[round / 8]);
        uint64_t greatest =
            head.width == 8 && !head.is_signed ? INT64_MAX - 1 : code_null(head.width) - 1;
        struct outside_column *column;

        for (uint32_t i = 0; i < head.count; i++)
            values[i] =
                rng_below(&rng, 3)
                    ? (int64_t)((uint64_t)outside_base(&head) + (rng_next(&rng) % greatest + 1))
                    : COLUMN_NULL;
        column = open_values(head, values);
        for (uint32_t i = 0; i < head.count; i++)
            assert_true(value_of(column, i) == values[i]);
        assert_true(value_of(column, head.count + WINDOW_SIZE) == COLUMN_NULL);
        for (uint32_t w = 0; w < outside_column_window_count(column); w++) {
            for (uint32_t i = 0; i < WINDOW_SIZE; i++)
                births[i] = i % 3 == 0 ? GENERATION : i % 3 == 1 ? GENERATION + 1 : COLUMN_NULL;
            outside_column_settle_window(column, w, births);
        }
        for (uint32_t i = 0; i < head.count; i++)
            assert_true(value_of(column, i) ==
                        (i % WINDOW_SIZE % 3 == 0 ? values[i] : COLUMN_NULL));
        for (uint32_t i = 0; i < head.count; i++) /* and back, as the file still has them */
            outside_column_settle(column, i, 0);
        for (uint32_t i = 0; i < head.count; i++)
            assert_true(value_of(column, i) == values[i]);
        outside_column_settle(column, head.count, 0); /* beyond it: nothing happens */
        outside_column_close(column);
    }
    free(values);
}

static void any_broken_file_is_refused(void **state)
{
    const int64_t values[] = {5, COLUMN_NULL, 200};
    struct buf file = BUF_INIT(1 << 20);
    struct outside_column *column;
    struct err err = {0};
    size_t size;

    (void)state;
    encode(head_of(1, false, 3), values, &file);
    size = file.size;
    for (size_t bit = 0; bit < size * 8; bit++) {
        file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(file_write(path, buf_bytes(&file), &err), 0);
        assert_true(outside_column_open(path, &column, &err) < 0);
        assert_null(column);
        file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (bit == 64 * 8) /* of the zeros, which are all alike, some are enough */
            bit = (OUTSIDE_HEAD_SIZE - 8) * 8;
    }
    for (size_t cut = 0; cut < size; cut = cut < 60 || cut > 4090 ? cut + 1 : 4091) {
        assert_int_equal(file_write(path, bytes_make(file.data, cut), &err), 0);
        assert_true(outside_column_open(path, &column, &err) < 0);
    }
    buf_put_byte(&file, 0);
    assert_int_equal(file_write(path, buf_bytes(&file), &err), 0);
    assert_int_equal(outside_column_open(path, &column, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "4100 bytes, and 3 values of 1 bytes take 4099"));
    assert_int_equal(outside_column_open("/nowhere", &column, &err), ERR_NOT_FOUND);
    assert_int_equal(outside_column_open(dir, &column, &err), ERR_CORRUPT);
    buf_release(&file);
}

static void a_lineage_comes_back(void **state)
{
    const int64_t values[] = {1, 2, 3};

    (void)state;
    for (uint32_t lineage = 0; lineage < 2; lineage++) { /* format 1 has none */
        struct buf file = BUF_INIT(1 << 20);
        struct outside_head head = head_of(1, false, 3), read;
        struct err err = {0};

        head.lineage = lineage * 0xFEED0001;
        encode(head, values, &file);
        assert_int_equal(file.data[8], 1 + lineage);
        assert_int_equal(outside_head_decode(buf_bytes(&file), file.size, &read, &err), 0);
        assert_int_equal(read.lineage, head.lineage);
        file.data[45] ^= 1;
        assert_int_equal(outside_head_decode(buf_bytes(&file), file.size, &read, &err),
                         ERR_CORRUPT);
        buf_release(&file);
    }
}

/* Heads whose sums are right, and that say what cannot be. */
static void hostile_heads_are_refused(void **state)
{
    static const struct {
        uint8_t at, value;
        const char *told;
    } cases[] = {
        {8, 3, "format 3"},         {32, 0, "1, 2, 4 or 8 bytes, not 0"},
        {32, 3, "not 3"},           {32, 16, "not 16"},
        {33, 10, "at most 9"},      {34, 2, "bytes 34 and 35"},
        {35, 1, "bytes 34 and 35"}, {39, 255, "at most"},
        {36, 4, "4 values"},        {32, 8, "3 values of 8 bytes"},
    };
    const int64_t values[] = {1, 2, 3};
    struct buf file = BUF_INIT(1 << 20);
    struct outside_head head;
    struct err err = {0};

    (void)state;
    encode(head_of(1, false, 3), values, &file);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        uint8_t before = file.data[cases[i].at];

        file.data[cases[i].at] = cases[i].value;
        put_le32(file.data + 44, crc32_plain(0, bytes_make(file.data, 44)));
        assert_true(outside_head_decode(buf_bytes(&file), file.size, &head, &err) < 0);
        if (!strstr(err.text, cases[i].told))
            fail_msg("case %zu: %s", i, err.text);
        file.data[cases[i].at] = before;
    }
    buf_release(&file);
}

static void a_number_beyond_64_bits_is_refused(void **state)
{
    const int64_t values[] = {-2}; /* a code of 2^64 - 2, without an offset */
    struct buf file = BUF_INIT(1 << 20);
    struct outside_column *column;
    struct err err = {0};

    (void)state;
    encode(head_of(8, false, 1), values, &file);
    assert_int_equal(file_write(path, buf_bytes(&file), &err), 0);
    assert_int_equal(outside_column_open(path, &column, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "too great"));
    buf_release(&file);
}

/* ---- a shard ---- */

static struct shard *make_shard(uint32_t doc_count)
{
    struct shard_options options = {.epoch = 1, .place = {1, 2, 3, 4}};
    const struct field title = {.name = "title", .type = FIELD_TEXT};
    struct shard *shard;
    struct err err = {0};

    assert_int_equal(shard_open(&options, &shard, &err), 0);
    assert_int_equal(shard_add_field(shard, &title, NULL, &err), 0);
    for (uint32_t i = 0; i < doc_count; i++)
        assert_int_equal(
            shard_put(shard, &(struct shard_document){.id = i, .birth = GENERATION}, &err), 0);
    assert_int_equal(shard_publish(shard, 1, &err), 0);
    return shard;
}

static int64_t lent_value(struct shard *shard, const char *name, docid id)
{
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    const struct field *field;
    struct column_view view;
    int64_t value = COLUMN_NULL;
    struct err err;

    assert_int_equal(shard_reader_new(shard, &reader, &err), 0);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    field = schema_find(snapshot->schema, bytes_of(name));
    if (field) {
        column_view(columns_column(snapshot->columns, field->id), window_of(id), &view);
        value = view_get(&view, id & (WINDOW_SIZE - 1));
    }
    shard_exit(reader);
    shard_reader_free(reader);
    return value;
}

static void put_born(struct shard *shard, docid id, uint32_t birth, uint64_t offset)
{
    struct err err;

    assert_int_equal(shard_put(shard, &(struct shard_document){.id = id, .birth = birth}, &err), 0);
    assert_int_equal(shard_publish(shard, offset, &err), 0);
}

static void values_older_than_their_owner_are_none(void **state)
{
    int64_t values[20];
    struct shard *shard = make_shard(10);
    struct shard_lent list[OUTSIDE_COLUMN_COUNT_MAX];
    struct err err = {0};

    (void)state;
    for (int i = 0; i < 20; i++)
        values[i] = 100 + i;
    put_born(shard, 3, GENERATION + 1, 2); /* had another owner when the file was made */
    put_born(shard, 4, 0, 3);              /* nobody knows */
    assert_int_equal(
        shard_lend(shard, "ctr", 2, 5, open_values(head_of(2, false, 20), values), &err), 0);
    assert_int_equal(lent_value(shard, "x.ctr", 2), 102);
    assert_true(lent_value(shard, "x.ctr", 3) == COLUMN_NULL);
    assert_true(lent_value(shard, "x.ctr", 4) == COLUMN_NULL);
    put_born(shard, 2, GENERATION, 4); /* a new text of the same owner */
    assert_int_equal(lent_value(shard, "x.ctr", 2), 102);
    assert_true(shard_remove(shard, 2));
    assert_int_equal(shard_publish(shard, 5, &err), 0);
    put_born(shard, 2, GENERATION + 1, 6); /* another owner */
    assert_true(lent_value(shard, "x.ctr", 2) == COLUMN_NULL);
    put_born(shard, 12, GENERATION + 1, 7); /* a number that nobody had */
    assert_true(lent_value(shard, "x.ctr", 12) == COLUMN_NULL);
    assert_int_equal(shard_set_birth(shard, 4, GENERATION, &err), 0); /* now it is known */
    assert_int_equal(lent_value(shard, "x.ctr", 4), 104);
    assert_int_equal(shard_lent(shard, list), 1);
    assert_string_equal(list[0].name, "ctr");
    assert_true(list[0].mark == 5 && list[0].has_values);
    shard_close(shard);
}

static void columns_come_and_go_and_keep_what_they_are(void **state)
{
    const int64_t values[] = {1, 2, 3}, others[] = {4, 5, 6};
    struct shard *shard = make_shard(3);
    const struct schema *schema = shard_schema(shard);
    const struct field text = {.name = "x.own", .type = FIELD_INTEGER};
    uint32_t count = schema_count(schema), mark;
    char name[OUTSIDE_NAME_SIZE_MAX + 1];
    const struct field *field;
    uint16_t own;
    struct err err = {0};

    (void)state;
    assert_int_equal(shard_lend(shard, "a", 2, 1, open_values(head_of(1, false, 3), values), &err),
                     0);
    field = schema_find(schema, bytes_of("x.a"));
    assert_true(field && field->type == FIELD_DECIMAL && field->scale == 2);
    assert_int_equal(schema_count(schema), count); /* not a document's */
    assert_ptr_equal(schema_any_field(schema, field->id), field);
    mark = schema_lent_mark(schema);
    assert_int_equal(shard_lend(shard, "a", 2, 2, open_values(head_of(4, true, 3), others), &err),
                     0);
    assert_int_equal(lent_value(shard, "x.a", 1), 5);
    assert_int_not_equal(schema_lent_mark(schema), mark);
    shard_take_back(shard, "a");
    shard_take_back(shard, "a");
    assert_null(schema_find(schema, bytes_of("x.a")));
    assert_ptr_equal(schema_find_any(schema, bytes_of("x.a")), field); /* of a query under way */
    assert_int_equal(shard_lend(shard, "a", 3, 3, NULL, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "2 digits"));
    assert_int_equal(shard_lend(shard, "a", 2, 3, NULL, &err), 0); /* a name without values */
    assert_true(lent_value(shard, "x.a", 1) == COLUMN_NULL);
    assert_int_equal(shard_lend(shard, "own", 0, 1, NULL, &err), 0);
    assert_int_equal(shard_add_field(shard, &text, &own, &err), 0); /* a document's own wins */
    assert_int_equal(schema_find(schema, bytes_of("x.own"))->id, own);
    for (int i = 2; i < OUTSIDE_COLUMN_COUNT_MAX; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(shard_lend(shard, name, 0, 1, NULL, &err), 0);
    }
    assert_int_equal(
        shard_lend(shard, "more", 2, 1, open_values(head_of(1, false, 3), values), &err),
        ERR_LIMIT);
    shard_close(shard);
}

struct looking {
    struct shard *shard;
    atomic_bool is_over;
};

/* All documents have one value, or none: never two of different loads. */
static void *look(void *arg)
{
    struct looking *looking = arg;
    struct shard_reader *reader;
    struct err err;

    assert_int_equal(shard_reader_new(looking->shard, &reader, &err), 0);
    while (!atomic_load(&looking->is_over)) {
        const struct snapshot *snapshot;
        const struct field *field;
        const struct column *column;
        struct column_view view;

        assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
        field = schema_find(snapshot->schema, bytes_of("x.a"));
        column = field ? columns_column(snapshot->columns, field->id) : NULL;
        column_view(column, 0, &view);
        for (uint32_t i = 1; i < 100; i++)
            assert_true(view_get(&view, i) == view_get(&view, 0));
        shard_exit(reader);
    }
    shard_reader_free(reader);
    return NULL;
}

static void readers_see_one_load_or_the_other(void **state)
{
    struct looking looking = {.shard = make_shard(100)};
    pthread_t threads[2];
    int64_t values[100];
    struct err err = {0};

    (void)state;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, look, &looking);
    for (int round = 1; round <= 200; round++) {
        for (int i = 0; i < 100; i++)
            values[i] = round;
        assert_int_equal(shard_lend(looking.shard, "a", 2, round,
                                    open_values(head_of(2, false, 100), values), &err),
                         0);
        put_born(looking.shard, 200, GENERATION, (uint64_t)round + 1); /* settles beside them */
        if (round % 10 == 0)
            shard_take_back(looking.shard, "a");
    }
    atomic_store(&looking.is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    shard_close(looking.shard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_an_array_of_any_width),
        cmocka_unit_test(any_broken_file_is_refused),
        cmocka_unit_test(a_lineage_comes_back),
        cmocka_unit_test(hostile_heads_are_refused),
        cmocka_unit_test(a_number_beyond_64_bits_is_refused),
        cmocka_unit_test(values_older_than_their_owner_are_none),
        cmocka_unit_test(columns_come_and_go_and_keep_what_they_are),
        cmocka_unit_test(readers_see_one_load_or_the_other),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of codec/avro_file: rows come back as they were written, in pieces of any size; a file that
 * another program wrote is read; files that are cut, damaged or claim too much are refused.
 */
#include "codec/avro_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/random.h"
#include "codec/bounds.h"
#include <cmocka.h>

enum { LIMIT = 64 << 20, COLUMN_COUNT = 6 };

struct pieces {
    struct bytes rest;
    struct rng *rng; /* NULL: all at once */
};

static int read_piece(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct pieces *pieces = arg;
    size_t count = pieces->rest.size < size ? pieces->rest.size : size;

    (void)err;
    if (pieces->rng && count)
        count = 1 + rng_below(pieces->rng, count < 999 ? count : 999);
    if (count)
        memcpy(to, pieces->rest.data, count);
    pieces->rest = bytes_skip(pieces->rest, count);
    *got = count;
    return 0;
}

static int write_piece(void *arg, struct bytes bytes, struct err *err)
{
    (void)err;
    buf_put(arg, bytes);
    return 0;
}

/* Reads all of it; *count is that of whole rows. */
static int read_all(struct bytes file, size_t *count, struct err *err)
{
    struct pieces pieces = {file, NULL};
    struct avro_reader *reader;
    const struct avro_value *row = NULL;
    int rc = avro_reader_open(read_piece, &pieces, &reader, err);

    *count = 0;
    while (!rc) {
        rc = avro_reader_next(reader, &row, err);
        if (rc || !row)
            break;
        ++*count;
    }
    avro_reader_close(reader);
    return rc;
}

static const struct avro_column COLUMNS[COLUMN_COUNT] = {
    {"flag", AVRO_BOOLEAN, true}, {"number", AVRO_LONG, false}, {"real", AVRO_DOUBLE, true},
    {"text", AVRO_STRING, true},  {"raw", AVRO_BYTES, false},   {"words", AVRO_LIST, true},
};

static struct bytes random_text(struct rng *rng, struct arena *arena, size_t size_max)
{
    size_t size = rng_below(rng, size_max + 1);
    char *text = arena_alloc(arena, size + 1);

    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + rng_below(rng, 26));
    return bytes_make(text, size);
}

static void random_value(struct rng *rng, struct arena *arena, const struct avro_column *column,
                         struct avro_value *value)
{
    struct bytes *items;

    *value = (struct avro_value){.kind = column->kind};
    if (column->optional && rng_below(rng, 3) == 0)
        value->kind = AVRO_NULL;
    else if (column->kind == AVRO_BOOLEAN)
        value->number = (int64_t)rng_below(rng, 2);
    else if (column->kind == AVRO_LONG)
        value->number = (int64_t)(rng_next(rng) >> rng_below(rng, 64));
    else if (column->kind == AVRO_DOUBLE)
        value->real = (double)(int64_t)rng_next(rng) / 7;
    else if (column->kind != AVRO_LIST)
        value->text = random_text(rng, arena, rng_below(rng, 50) ? 20 : 100000);
    else {
        value->count = rng_below(rng, 5);
        items = arena_array(arena, value->count + 1, sizeof(*items));
        for (size_t i = 0; i < value->count; i++)
            items[i] = random_text(rng, arena, 10);
        value->items = items;
    }
}

static void check_equal(const struct avro_value *a, const struct avro_value *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_true(a->number == b->number && memcmp(&a->real, &b->real, sizeof(a->real)) == 0);
    assert_true(bytes_equal(a->text, b->text));
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_true(bytes_equal(a->items[i], b->items[i]));
}

static void check_rows(struct bytes file, struct rng *rng, struct avro_value (*rows)[COLUMN_COUNT],
                       size_t count)
{
    struct pieces pieces = {file, rng};
    struct avro_reader *reader;
    const struct avro_value *row;
    size_t column_count;
    struct err err;

    assert_int_equal(avro_reader_open(read_piece, &pieces, &reader, &err), 0);
    assert_int_equal(avro_reader_columns(reader, &column_count)[5].kind, AVRO_LIST);
    assert_int_equal(column_count, COLUMN_COUNT);
    assert_int_equal(avro_reader_find(reader, "raw"), 4);
    assert_int_equal(avro_reader_find(reader, "ra"), -1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(avro_reader_next(reader, &row, &err), 0);
        assert_non_null(row);
        for (size_t c = 0; c < COLUMN_COUNT; c++)
            check_equal(&rows[i][c], &row[c]);
    }
    assert_int_equal(avro_reader_next(reader, &row, &err), 0);
    assert_null(row);
    assert_int_equal(avro_reader_offset(reader), file.size);
    avro_reader_close(reader);
}

static void rows_come_back_as_they_were_written(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);

    (void)state;
    print_message("seed %ju\n", (uintmax_t)seed);
    for (int round = 0; round < 40; round++) {
        struct arena *arena = arena_new();
        struct buf file = BUF_INIT(LIMIT);
        size_t count = rng_below(&rng, 300);
        struct avro_value(*rows)[COLUMN_COUNT] = arena_array(arena, count + 1, sizeof(*rows));
        struct avro_writer *writer =
            avro_writer_new("row", COLUMNS, COLUMN_COUNT, round % 2, write_piece, &file);
        struct err err;

        for (size_t i = 0; i < count; i++) {
            for (size_t c = 0; c < COLUMN_COUNT; c++)
                random_value(&rng, arena, &COLUMNS[c], &rows[i][c]);
            assert_int_equal(avro_writer_put(writer, rows[i], &err), 0);
        }
        assert_int_equal(avro_writer_end(writer, &err), 0);
        avro_writer_free(writer);
        check_rows(buf_bytes(&file), &rng, rows, count);
        buf_release(&file);
        arena_free(arena);
    }
}

static void what_no_reader_would_take_is_not_written(void **state)
{
    struct buf file = BUF_INIT(LIMIT);
    struct avro_writer *writer = avro_writer_new("row", &COLUMNS[1], 1, true, write_piece, &file);
    struct avro_value value = {.kind = AVRO_NULL};
    struct err err;
    size_t count;

    (void)state;
    assert_int_equal(avro_writer_put(writer, &value, &err), ERR_INVALID);
    assert_string_equal(err.text, "the value of \"number\" is null, which the column may not be");
    value = (struct avro_value){.kind = AVRO_LONG, .number = -5};
    assert_int_equal(avro_writer_put(writer, &value, &err), 0);
    assert_int_equal(avro_writer_end(writer, &err), 0);
    avro_writer_free(writer);
    assert_int_equal(read_all(buf_bytes(&file), &count, &err), 0);
    assert_int_equal(count, 1);
    buf_release(&file);
}

/* ---- files of others, written by hand after Avro's specification ---- */

/* A head with this schema, its map in a block that tells its size, and a mark of sixteen dots. */
static void put_head(struct buf *out, const char *schema, const char *codec)
{
    size_t size = strlen(schema);

    buf_put_raw(out, "Obj\x01\x01\x02\x16", 7); /* -1 pairs, a size (unused), a name of 11 */
    buf_put_text(out, "avro.schema");
    if (size < 64) {
        buf_put_byte(out, (uint8_t)(size << 1));
    } else {
        buf_put_byte(out, (uint8_t)(0x80 | (size << 1 & 0x7f)));
        buf_put_byte(out, (uint8_t)(size >> 6));
    }
    buf_put_text(out, schema);
    if (codec) {
        buf_put_raw(out, "\x02\x14", 2);
        buf_put_text(out, "avro.codec");
        buf_put_byte(out, (uint8_t)(strlen(codec) << 1));
        buf_put_text(out, codec);
    }
    buf_put_byte(out, 0);
    buf_put_text(out, "................");
}

static void put_block(struct buf *out, uint8_t count, const char *rows, size_t size)
{
    buf_put_byte(out, (uint8_t)(count << 1));
    buf_put_byte(out, (uint8_t)(size << 1));
    buf_put_raw(out, rows, size);
    buf_put_text(out, "................");
}

static void a_file_of_another_program_is_read(void **state)
{
    struct buf file = BUF_INIT(LIMIT);
    struct pieces pieces;
    struct avro_reader *reader;
    const struct avro_value *row;
    struct err err;

    (void)state;
    put_head(&file,
             "{\"type\": \"record\", \"name\": \"r\", \"doc\": \"x\", \"fields\": [\n"
             " {\"name\": \"i\", \"type\": {\"type\": \"int\", \"logicalType\": \"date\"}},\n"
             " {\"name\": \"f\", \"type\": \"float\"},\n"
             " {\"name\": \"s\", \"type\": [{\"type\": \"string\"}, \"null\", \"long\"]},\n"
             " {\"name\": \"e\", \"type\": {\"type\": \"enum\", \"name\": \"E\","
             " \"symbols\": [\"A\", \"B\"]}},\n"
             " {\"name\": \"x\", \"type\": {\"type\": \"fixed\", \"name\": \"F\", \"size\": 2}},\n"
             " {\"name\": \"l\", \"type\": {\"type\": \"array\", \"items\": \"string\"}}]}",
             "null");
    put_block(&file, 0, "", 0);
    put_block(
        &file, 2,
        "\x03\x00\x00\xc0\x3f\x00\x04hi\x02zz\x01\x04\x02q\x02\x00\x00" /* list: -1, q; 1, "" */
        "\x04\x00\x00\x00\x00\x04\x54\x00zz\x00",
        19 + 11);
    pieces = (struct pieces){buf_bytes(&file), NULL};
    assert_int_equal(avro_reader_open(read_piece, &pieces, &reader, &err), 0);
    assert_int_equal(avro_reader_next(reader, &row, &err), 0);
    assert_int_equal(row[0].number, -2);
    assert_true(row[1].real == 1.5);
    assert_true(bytes_equal_text(row[2].text, "hi"));
    assert_true(bytes_equal_text(row[3].text, "B"));
    assert_true(bytes_equal_text(row[4].text, "zz"));
    assert_int_equal(row[5].count, 2);
    assert_true(bytes_equal_text(row[5].items[0], "q") && row[5].items[1].size == 0);
    assert_int_equal(avro_reader_next(reader, &row, &err), 0);
    assert_int_equal(row[2].kind, AVRO_LONG);
    assert_int_equal(row[2].number, 42);
    assert_true(bytes_equal_text(row[3].text, "A"));
    assert_int_equal(avro_reader_next(reader, &row, &err), 0);
    assert_null(row);
    avro_reader_close(reader);
    buf_release(&file);
}

#define ONE(type)                                                                                  \
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":" type "}]}"

static void check_schema(const char *schema, const char *codec, int code, const char *text)
{
    struct buf file = BUF_INIT(LIMIT);
    struct err err = {0};
    size_t count;

    put_head(&file, schema, codec);
    assert_int_equal(read_all(buf_bytes(&file), &count, &err), code);
    if (!strstr(err.text, text))
        print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, text));
    buf_release(&file);
}

static void what_is_no_table_is_refused_by_name(void **state)
{
    (void)state;
    check_schema("\"string\"", NULL, ERR_UNSUPPORTED, "not a record");
    check_schema("{\"type\":", NULL, ERR_INVALID, "the schema: line 1");
    check_schema(ONE("\"Other\""), NULL, ERR_UNSUPPORTED,
                 "field \"a\": values of type \"Other\" are not supported");
    check_schema(ONE("{\"type\":\"map\",\"values\":\"int\"}"), NULL, ERR_UNSUPPORTED, "\"map\"");
    check_schema(ONE("{\"type\":\"array\",\"items\":\"int\"}"), NULL, ERR_UNSUPPORTED, "list");
    check_schema(ONE("{\"type\":\"fixed\",\"size\":-1}"), NULL, ERR_INVALID, "size");
    check_schema(ONE("{\"type\":\"enum\",\"symbols\":[]}"), NULL, ERR_INVALID, "symbols");
    check_schema(ONE("[]"), NULL, ERR_LIMIT, "union");
    check_schema(ONE("{}"), NULL, ERR_UNSUPPORTED, "of type \"\"");
    check_schema(ONE("\"int\""), "snappy", ERR_UNSUPPORTED, "deflate");
}

static void check_block(const char *schema, uint8_t count, const char *rows, size_t size,
                        const char *text)
{
    struct buf file = BUF_INIT(LIMIT);
    struct err err = {0};
    size_t got;

    put_head(&file, schema, NULL);
    put_block(&file, count, rows, size);
    assert_int_equal(read_all(buf_bytes(&file), &got, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, text));
    buf_release(&file);
}

static void a_claim_that_the_bytes_do_not_bear_is_refused(void **state)
{
    struct buf file = BUF_INIT(LIMIT);
    struct err err;
    size_t count;

    (void)state;
    check_block(ONE("\"null\""), 9, "", 0, "more rows than bytes");
    check_block(ONE("\"int\""), 1, "\x02\x02", 2, "after its last row");
    check_block(ONE("\"int\""), 1, "\xff\xff\xff\xff\x7f", 5, "column \"a\"");
    check_block(ONE("\"boolean\""), 1, "\x02", 1, "column \"a\"");
    check_block(ONE("\"string\""), 1, "\x04\xff\xff", 3, "column \"a\"");
    check_block(ONE("\"string\""), 1, "\x01", 1, "column \"a\"");
    check_block(ONE("[\"null\",\"int\"]"), 1, "\x04", 1, "column \"a\"");
    check_block(ONE("{\"type\":\"array\",\"items\":\"string\"}"), 1,
                "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "column \"a\"");
    check_block(ONE("{\"type\":\"array\",\"items\":\"string\"}"), 1,
                "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 11, "column \"a\"");
    put_head(&file, ONE("\"int\""), NULL);
    buf_put_raw(&file, "\x02\xfe\xff\xff\xff\x1f", 6); /* a block of 4 GB */
    assert_int_equal(read_all(buf_bytes(&file), &count, &err), ERR_LIMIT);
    buf_release(&file);
}

static void a_packed_block_that_swells_is_refused(void **state)
{
    struct buf file = BUF_INIT(LIMIT);
    struct bytes zeros = {mem_zero(AVRO_VALUE_SIZE_MAX), AVRO_VALUE_SIZE_MAX};
    struct avro_column columns[] = {{"a", AVRO_BYTES, false}, {"b", AVRO_BYTES, false}};
    struct avro_writer *writer = avro_writer_new("r", columns, 2, true, write_piece, &file);
    struct avro_value row[] = {{.kind = AVRO_BYTES, .text = zeros},
                               {.kind = AVRO_BYTES, .text = zeros}};
    struct err err;

    (void)state;
    assert_int_equal(avro_writer_put(writer, row, &err), ERR_LIMIT);
    row[1].text.size = 0;
    assert_int_equal(avro_writer_put(writer, row, &err), 0);
    avro_writer_free(writer);
    free((void *)zeros.data);
    buf_release(&file);
}

/* A file cut anywhere, or with any byte changed, is read as far as it holds or refused. */
static void cut_and_damaged_files_end_in_an_error_or_in_fewer_rows(void **state)
{
    struct rng rng = rng_seeded(7);
    struct arena *arena = arena_new();

    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        struct buf file = BUF_INIT(LIMIT);
        struct avro_writer *writer =
            avro_writer_new("row", COLUMNS, COLUMN_COUNT, packed, write_piece, &file);
        struct avro_value row[COLUMN_COUNT];
        struct err err;
        size_t count;

        for (size_t i = 0; i < 8; i++) {
            for (size_t c = 0; c < COLUMN_COUNT; c++)
                random_value(&rng, arena, &COLUMNS[c], &row[c]);
            row[4].text.size %= 20;
            assert_int_equal(avro_writer_put(writer, row, &err), 0);
            if (i % 3 == 2)
                assert_int_equal(avro_writer_end(writer, &err), 0);
        }
        assert_int_equal(avro_writer_end(writer, &err), 0);
        avro_writer_free(writer);
        for (size_t size = 0; size < file.size && size < 3000; size++) {
            int rc = read_all(bytes_make(file.data, size), &count, &err);

            assert_true(rc == ERR_INVALID || (rc == 0 && count < 8));
        }
        for (size_t i = 0; i < file.size && i < 3000; i++) {
            file.data[i] ^= (uint8_t)(1 + rng_below(&rng, 255));
            (void)read_all(buf_bytes(&file), &count, &err);
        }
        buf_release(&file);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_as_they_were_written),
        cmocka_unit_test(what_no_reader_would_take_is_not_written),
        cmocka_unit_test(a_file_of_another_program_is_read),
        cmocka_unit_test(what_is_no_table_is_refused_by_name),
        cmocka_unit_test(a_claim_that_the_bytes_do_not_bear_is_refused),
        cmocka_unit_test(a_packed_block_that_swells_is_refused),
        cmocka_unit_test(cut_and_damaged_files_end_in_an_error_or_in_fewer_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

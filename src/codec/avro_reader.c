/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avro_reader.c - reads Avro files (avro_file.h): the head, then block by block.
 *
 * A size that the file tells is never asked for at once: bytes are taken as they come, so a short
 * file costs as much memory as it has bytes. Each row of a block has at least one byte, which
 * bounds the rows that a block may claim.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "base/varint.h"
#include "codec/avro_file.h"
#include "codec/avro_type.h"
#include "codec/bounds.h"
#include "codec/gzip.h"

enum { MARK_SIZE = 16, STEP_SIZE = 64 << 10, AVRO_MAGIC_SIZE = 4 };

enum { AVRO_READER_MAGIC = OBJECT_MAGIC('a', 'v', 'r', 'r') };

struct avro_reader {
    uint32_t magic;
    int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err);
    void *arg;
    struct arena *arena; /* owned: the schema */
    struct arena *lists; /* owned: of a row */
    struct avro_table table;
    struct avro_value *row;
    bool packed;
    uint64_t rows; /* left of the block */
    uint64_t offset;
    uint8_t mark[MARK_SIZE];
    struct buf stored; /* the block as the file has it */
    struct buf plain;  /* and unpacked */
    struct bytes rest; /* of the block, behind the last row that was given */
    size_t at;         /* in `came` */
    size_t came_size;
    uint8_t came[STEP_SIZE];
};

static int damaged(const struct avro_reader *reader, struct err *err, const char *what)
{
    return err_set(err, ERR_INVALID, "%s, before byte %ju of the file", what,
                   (uintmax_t)reader->offset);
}

/* ---- the source ---- */

static int refill(struct avro_reader *reader, struct err *err)
{
    reader->at = 0;
    reader->came_size = 0;
    return reader->read(reader->arg, reader->came, STEP_SIZE, &reader->came_size, err);
}

static int at_end(struct avro_reader *reader, bool *end, struct err *err)
{
    int rc = reader->at == reader->came_size ? refill(reader, err) : 0;

    *end = !rc && reader->came_size == 0;
    return rc;
}

/* Appends so many bytes of the source. */
static int pull(struct avro_reader *reader, size_t size, struct buf *to, struct err *err)
{
    while (size) {
        size_t there;
        bool end;
        int rc = at_end(reader, &end, err);

        if (rc)
            return rc;
        if (end)
            return damaged(reader, err, "the file is cut short");
        there = reader->came_size - reader->at;
        there = there < size ? there : size;
        buf_put_raw(to, reader->came + reader->at, there);
        reader->at += there;
        reader->offset += there;
        size -= there;
    }
    return buf_failed(to) ? damaged(reader, err, "the head is too long") : 0;
}

/* A number of the source, as Avro writes it. */
static int pull_long(struct avro_reader *reader, int64_t *value, struct err *err)
{
    struct buf bytes = BUF_INIT(VARINT_SIZE_MAX);
    struct bytes in;
    uint64_t raw = 0;
    int rc;

    do
        rc = pull(reader, 1, &bytes, err);
    while (!rc && (bytes.data[bytes.size - 1] & 0x80) && bytes.size < VARINT_SIZE_MAX);
    in = buf_bytes(&bytes);
    if (!rc && !varint_get(&in, &raw))
        rc = damaged(reader, err, "a number has too many bytes");
    *value = zigzag_decode(raw);
    buf_release(&bytes);
    return rc;
}

/* ---- the head ---- */

/* A name or a value of the head, which has at most AVRO_HEAD_SIZE_MAX bytes in all. */
static int pull_text(struct avro_reader *reader, struct buf *to, struct err *err)
{
    int64_t size;
    int rc = pull_long(reader, &size, err);

    buf_reset(to);
    if (!rc && (size < 0 || reader->offset + (uint64_t)size > AVRO_HEAD_SIZE_MAX))
        rc = err_set(err, ERR_LIMIT, "what stands before the rows has more than %d bytes",
                     AVRO_HEAD_SIZE_MAX);
    return rc ? rc : pull(reader, (size_t)size, to, err);
}

static int keep_pair(struct avro_reader *reader, struct bytes name, struct bytes value,
                     struct err *err)
{
    if (bytes_equal_text(name, "avro.schema")) {
        if (reader->table.count)
            return damaged(reader, err, "there are two schemas");
        return avro_table_read(value, reader->arena, &reader->table, err);
    }
    if (!bytes_equal_text(name, "avro.codec") || bytes_equal_text(value, "null"))
        return 0;
    if (!bytes_equal_text(value, "deflate"))
        return err_set(err, ERR_UNSUPPORTED,
                       "its blocks are packed otherwise than by \"deflate\" or \"null\": "
                       "write it with one of those");
    reader->packed = true;
    return 0;
}

static int read_pairs(struct avro_reader *reader, int64_t count, struct buf *name,
                      struct buf *value, struct err *err)
{
    int rc = 0;

    while (!rc && count-- > 0) {
        rc = pull_text(reader, name, err);
        if (!rc)
            rc = pull_text(reader, value, err);
        if (!rc)
            rc = keep_pair(reader, buf_bytes(name), buf_bytes(value), err);
    }
    return rc;
}

/* A map of Avro: blocks of pairs until one of none; a negative count is followed by a size. */
static int read_head(struct avro_reader *reader, struct err *err)
{
    struct buf name = BUF_INIT(AVRO_HEAD_SIZE_MAX);
    struct buf value = BUF_INIT(AVRO_HEAD_SIZE_MAX);
    int64_t count = 1;
    int64_t skipped;
    int rc = pull(reader, AVRO_MAGIC_SIZE, &name, err);

    if (!rc && !bytes_equal_text(buf_bytes(&name), "Obj\x01"))
        rc = err_set(err, ERR_INVALID, "it is not an Avro file");
    while (!rc && count) {
        rc = pull_long(reader, &count, err);
        if (!rc && count < 0)
            rc = pull_long(reader, &skipped, err);
        if (!rc && count == INT64_MIN)
            rc = damaged(reader, err, "a count is out of range");
        if (!rc)
            rc = read_pairs(reader, count < 0 ? -count : count, &name, &value, err);
    }
    if (!rc && !reader->table.count)
        rc = damaged(reader, err, "there is no schema");
    buf_reset(&name);
    if (!rc)
        rc = pull(reader, MARK_SIZE, &name, err);
    if (!rc)
        memcpy(reader->mark, name.data, MARK_SIZE);
    buf_release(&name);
    buf_release(&value);
    return rc;
}

int avro_reader_open(int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err),
                     void *arg, struct avro_reader **opened, struct err *err)
{
    struct avro_reader *reader = mem_zero(sizeof(*reader));
    int rc;

    object_begin(reader, AVRO_READER_MAGIC);
    reader->read = read;
    reader->arg = arg;
    reader->arena = arena_new();
    reader->lists = arena_new();
    buf_init(&reader->stored, AVRO_BLOCK_SIZE_MAX + MARK_SIZE);
    buf_init(&reader->plain, AVRO_BLOCK_SIZE_MAX + STEP_SIZE);
    *opened = NULL;
    rc = read_head(reader, err);
    if (rc) {
        avro_reader_close(reader);
        return rc;
    }
    reader->row = arena_array(reader->arena, reader->table.count, sizeof(*reader->row));
    *opened = reader;
    return 0;
}

void avro_reader_close(struct avro_reader *reader)
{
    if (!reader)
        return;
    object_check(reader, AVRO_READER_MAGIC);
    arena_free(reader->arena);
    arena_free(reader->lists);
    buf_release(&reader->stored);
    buf_release(&reader->plain);
    object_end(reader, AVRO_READER_MAGIC);
    free(reader);
}

const struct avro_column *avro_reader_columns(const struct avro_reader *reader, size_t *count)
{
    object_check(reader, AVRO_READER_MAGIC);
    *count = reader->table.count;
    return reader->table.columns;
}

int avro_reader_find(const struct avro_reader *reader, const char *name)
{
    object_check(reader, AVRO_READER_MAGIC);
    for (size_t i = 0; i < reader->table.count; i++) {
        if (strcmp(reader->table.columns[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

uint64_t avro_reader_offset(const struct avro_reader *reader)
{
    object_check(reader, AVRO_READER_MAGIC);
    return reader->offset;
}

/* ---- blocks ---- */

static int unpack(struct avro_reader *reader, struct err *err)
{
    int rc;

    if (!reader->packed) {
        reader->rest = buf_bytes(&reader->stored);
        return 0;
    }
    buf_reset(&reader->plain);
    rc = deflate_unpack(buf_bytes(&reader->stored), AVRO_BLOCK_SIZE_MAX, &reader->plain, err);
    if (rc)
        return err_wrap(err, "a block before byte %ju of the file", (uintmax_t)reader->offset);
    reader->rest = buf_bytes(&reader->plain);
    return 0;
}

/* The next block, checked; the source has not ended. */
static int read_block(struct avro_reader *reader, struct err *err)
{
    int64_t count = 0;
    int64_t size = 0;
    int rc = pull_long(reader, &count, err);

    if (!rc)
        rc = pull_long(reader, &size, err);
    if (rc)
        return rc;
    if (count < 0 || size < 0 || size > AVRO_BLOCK_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a block of %jd rows and %jd bytes before byte %ju of the file; "
                       "at most %d bytes are read at once",
                       (intmax_t)count, (intmax_t)size, (uintmax_t)reader->offset,
                       AVRO_BLOCK_SIZE_MAX);
    buf_reset(&reader->stored);
    rc = pull(reader, (size_t)size + MARK_SIZE, &reader->stored, err);
    if (rc)
        return rc;
    if (memcmp(reader->stored.data + size, reader->mark, MARK_SIZE) != 0)
        return damaged(reader, err, "a block does not end with the file's mark");
    buf_truncate(&reader->stored, (size_t)size);
    rc = unpack(reader, err);
    if (!rc && (uint64_t)count > reader->rest.size)
        rc = damaged(reader, err, "a block says that it has more rows than bytes");
    reader->rows = rc ? 0 : (uint64_t)count;
    return rc;
}

/* ---- values ---- */

static bool take_long(struct avro_reader *reader, int64_t *value)
{
    uint64_t raw;

    if (!varint_get(&reader->rest, &raw))
        return false;
    *value = zigzag_decode(raw);
    return true;
}

static bool take_raw(struct avro_reader *reader, size_t size, struct bytes *bytes)
{
    if (size > reader->rest.size)
        return false;
    *bytes = bytes_make(reader->rest.data, size);
    reader->rest = bytes_skip(reader->rest, size);
    return true;
}

static bool take_text(struct avro_reader *reader, struct bytes *text)
{
    int64_t size;

    return take_long(reader, &size) && size >= 0 && size <= AVRO_VALUE_SIZE_MAX &&
           take_raw(reader, (size_t)size, text);
}

static bool take_string(struct avro_reader *reader, struct bytes *text)
{
    return take_text(reader, text) && text_is_utf8(*text);
}

static bool take_boolean(struct avro_reader *reader, struct avro_value *value)
{
    struct bytes byte;

    if (!take_raw(reader, 1, &byte) || byte.data[0] > 1)
        return false;
    value->number = byte.data[0];
    return true;
}

static bool take_real(struct avro_reader *reader, bool is_float, struct avro_value *value)
{
    struct bytes raw;
    uint64_t wide;
    uint32_t narrow;
    float single;

    if (!take_raw(reader, is_float ? sizeof(narrow) : sizeof(wide), &raw))
        return false;
    if (is_float) {
        narrow = get_le32(raw.data);
        memcpy(&single, &narrow, sizeof(single));
        value->real = single;
    } else {
        wide = get_le64(raw.data);
        memcpy(&value->real, &wide, sizeof(value->real));
    }
    return true;
}

static bool take_symbol(struct avro_reader *reader, const struct avro_branch *branch,
                        struct avro_value *value)
{
    int64_t index;

    if (!take_long(reader, &index) || index < 0 || (uint64_t)index >= branch->size)
        return false;
    value->text = branch->symbols[index];
    return true;
}

/* Blocks of strings until one of none; each string has a byte at least. */
static bool take_list(struct avro_reader *reader, struct avro_value *value)
{
    struct bytes *items = NULL;
    size_t room = 0;
    int64_t count;
    int64_t skipped;

    value->count = 0;
    for (;;) {
        if (!take_long(reader, &count) || (count < 0 && !take_long(reader, &skipped)))
            return false;
        if (count == 0)
            break;
        count = count < 0 && count != INT64_MIN ? -count : count;
        if (count < 0 || (uint64_t)count > reader->rest.size ||
            (uint64_t)count > AVRO_LIST_COUNT_MAX - value->count)
            return false;
        if (value->count + (size_t)count > room) {
            struct bytes *more;

            room = (value->count + (size_t)count) * 2;
            more = arena_array(reader->lists, room, sizeof(*more));
            if (value->count)
                memcpy(more, items, value->count * sizeof(*more));
            items = more;
        }
        while (count-- > 0) {
            if (!take_string(reader, &items[value->count++]))
                return false;
        }
    }
    value->items = items;
    return true;
}

static bool take_branch(struct avro_reader *reader, const struct avro_branch *branch,
                        struct avro_value *value)
{
    switch (branch->wire) {
    case AVRO_WIRE_NULL:
        return true;
    case AVRO_WIRE_BOOLEAN:
        return take_boolean(reader, value);
    case AVRO_WIRE_INT:
        return take_long(reader, &value->number) && value->number >= INT32_MIN &&
               value->number <= INT32_MAX;
    case AVRO_WIRE_LONG:
        return take_long(reader, &value->number);
    case AVRO_WIRE_FLOAT:
        return take_real(reader, true, value);
    case AVRO_WIRE_DOUBLE:
        return take_real(reader, false, value);
    case AVRO_WIRE_BYTES:
        return take_text(reader, &value->text);
    case AVRO_WIRE_STRING:
        return take_string(reader, &value->text);
    case AVRO_WIRE_ENUM:
        return take_symbol(reader, branch, value);
    case AVRO_WIRE_FIXED:
        return take_raw(reader, branch->size, &value->text);
    case AVRO_WIRE_LIST:
        return take_list(reader, value);
    }
    return false;
}

static bool take_value(struct avro_reader *reader, const struct avro_type *type,
                       struct avro_value *value)
{
    int64_t which = 0;

    *value = (struct avro_value){0};
    if (type->is_union &&
        (!take_long(reader, &which) || which < 0 || (uint64_t)which >= type->count))
        return false;
    value->kind = avro_wire_kind(type->branches[which].wire);
    return take_branch(reader, &type->branches[which], value);
}

static int take_row(struct avro_reader *reader, struct err *err)
{
    arena_reset(reader->lists);
    for (size_t i = 0; i < reader->table.count; i++) {
        if (!take_value(reader, &reader->table.types[i], &reader->row[i]))
            return err_set(err, ERR_INVALID,
                           "column \"%s\" of row %ju from the end of the block before byte %ju is "
                           "no %s within its bounds",
                           reader->table.columns[i].name, (uintmax_t)reader->rows,
                           (uintmax_t)reader->offset,
                           avro_kind_name(reader->table.columns[i].kind));
    }
    reader->rows--;
    if (!reader->rows && reader->rest.size)
        return damaged(reader, err, "a block has bytes after its last row");
    return 0;
}

int avro_reader_next(struct avro_reader *reader, const struct avro_value **row, struct err *err)
{
    bool end = false;
    int rc = 0;

    object_check(reader, AVRO_READER_MAGIC);
    *row = NULL;
    while (!rc && !end && !reader->rows) {
        rc = at_end(reader, &end, err);
        if (!rc && !end)
            rc = read_block(reader, err);
    }
    if (rc || end)
        return rc;
    rc = take_row(reader, err);
    if (!rc)
        *row = reader->row;
    return rc;
}

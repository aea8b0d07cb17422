/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avro_writer.c - writes Avro files (avro_file.h): rows gather in a block until it is as large as
 * other writers make theirs.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "base/text.h"
#include "base/varint.h"
#include "codec/avro_file.h"
#include "codec/bounds.h"
#include "codec/gzip.h"

enum { MARK_SIZE = 16, BLOCK_SIZE = 64 << 10 };

enum { AVRO_WRITER_MAGIC = OBJECT_MAGIC('a', 'v', 'r', 'w') };

struct avro_writer {
    uint32_t magic;
    int (*write)(void *arg, struct bytes bytes, struct err *err);
    void *arg;
    bool packed;
    size_t column_count;
    struct avro_column *columns; /* owned, names too */
    uint64_t rows;               /* in the block */
    struct buf block;
    struct buf out; /* what is written next; the head before the first block */
    uint8_t mark[MARK_SIZE];
};

static void put_long(struct buf *out, int64_t value)
{
    varint_put(out, zigzag_encode(value));
}

static void put_text(struct buf *out, struct bytes text)
{
    put_long(out, (int64_t)text.size);
    buf_put(out, text);
}

static void put_schema(const struct avro_writer *writer, const char *record, struct buf *out)
{
    buf_printf(out, "{\"type\":\"record\",\"name\":\"%s\",\"fields\":[", record);
    for (size_t i = 0; i < writer->column_count; i++) {
        const struct avro_column *column = &writer->columns[i];

        buf_printf(out, "%s{\"name\":\"%s\",\"type\":%s", i ? "," : "", column->name,
                   column->optional ? "[\"null\"," : "");
        if (column->kind == AVRO_LIST)
            buf_put_text(out, "{\"type\":\"array\",\"items\":\"string\"}");
        else
            buf_printf(out, "\"%s\"", avro_kind_name(column->kind));
        buf_put_text(out, column->optional ? "]}" : "}");
    }
    buf_put_text(out, "]}");
}

static void put_head(struct avro_writer *writer, const char *record)
{
    struct buf schema = BUF_INIT(AVRO_HEAD_SIZE_MAX / 2);

    put_schema(writer, record, &schema);
    assert(!buf_failed(&schema));
    buf_put_raw(&writer->out, "Obj\x01", 4);
    put_long(&writer->out, 2);
    put_text(&writer->out, bytes_of("avro.schema"));
    put_text(&writer->out, buf_bytes(&schema));
    put_text(&writer->out, bytes_of("avro.codec"));
    put_text(&writer->out, bytes_of(writer->packed ? "deflate" : "null"));
    put_long(&writer->out, 0);
    buf_put_raw(&writer->out, writer->mark, MARK_SIZE);
    buf_release(&schema);
}

struct avro_writer *avro_writer_new(const char *record, const struct avro_column *columns,
                                    size_t count, bool packed,
                                    int (*write)(void *arg, struct bytes bytes, struct err *err),
                                    void *arg)
{
    struct avro_writer *writer = mem_zero(sizeof(*writer));

    assert(count && count <= AVRO_COLUMN_COUNT_MAX);
    object_begin(writer, AVRO_WRITER_MAGIC);
    writer->write = write;
    writer->arg = arg;
    writer->packed = packed;
    writer->column_count = count;
    writer->columns = mem_array(count, sizeof(*columns));
    for (size_t i = 0; i < count; i++) {
        assert(columns[i].kind != AVRO_NULL && strlen(columns[i].name) <= AVRO_NAME_SIZE_MAX);
        writer->columns[i] = columns[i];
        writer->columns[i].name = mem_strdup(columns[i].name);
    }
    random_fill(writer->mark, MARK_SIZE);
    buf_init(&writer->block, AVRO_BLOCK_SIZE_MAX);
    buf_init(&writer->out, (size_t)2 * AVRO_BLOCK_SIZE_MAX);
    put_head(writer, record);
    return writer;
}

void avro_writer_free(struct avro_writer *writer)
{
    if (!writer)
        return;
    object_check(writer, AVRO_WRITER_MAGIC);
    for (size_t i = 0; i < writer->column_count; i++)
        free((char *)writer->columns[i].name);
    free(writer->columns);
    buf_release(&writer->block);
    buf_release(&writer->out);
    object_end(writer, AVRO_WRITER_MAGIC);
    free(writer);
}

static void put_list(struct buf *out, const struct avro_value *value)
{
    if (value->count)
        put_long(out, (int64_t)value->count);
    for (size_t i = 0; i < value->count; i++)
        put_text(out, value->items[i]);
    put_long(out, 0);
}

static void put_value(struct buf *out, const struct avro_value *value)
{
    uint8_t wide[sizeof(uint64_t)];
    uint64_t raw;

    switch (value->kind) {
    case AVRO_NULL:
        break;
    case AVRO_BOOLEAN:
        buf_put_byte(out, value->number != 0);
        break;
    case AVRO_LONG:
        put_long(out, value->number);
        break;
    case AVRO_DOUBLE:
        memcpy(&raw, &value->real, sizeof(raw));
        put_le64(wide, raw);
        buf_put_raw(out, wide, sizeof(wide));
        break;
    case AVRO_STRING:
    case AVRO_BYTES:
        put_text(out, value->text);
        break;
    case AVRO_LIST:
        put_list(out, value);
        break;
    }
}

/* What readers would refuse is not written. */
static const char *wrong(const struct avro_column *column, const struct avro_value *value)
{
    if (value->kind == AVRO_NULL)
        return column->optional ? NULL : "is null, which the column may not be";
    if (value->kind != column->kind)
        return "is of another kind";
    if (value->text.size > AVRO_VALUE_SIZE_MAX || value->count > AVRO_LIST_COUNT_MAX)
        return "is too long";
    if (value->kind == AVRO_STRING && !text_is_utf8(value->text))
        return "is not UTF-8";
    for (size_t i = 0; value->kind == AVRO_LIST && i < value->count; i++) {
        if (!text_is_utf8(value->items[i]))
            return "is not UTF-8";
    }
    return NULL;
}

static int write_block(struct avro_writer *writer, struct err *err)
{
    struct buf packed = BUF_INIT((size_t)2 * AVRO_BLOCK_SIZE_MAX);
    struct bytes stored = buf_bytes(&writer->block);
    int rc;

    if (writer->rows) {
        if (writer->packed) {
            deflate_pack(stored, &packed);
            stored = buf_bytes(&packed);
        }
        put_long(&writer->out, (int64_t)writer->rows);
        put_text(&writer->out, stored);
        buf_put_raw(&writer->out, writer->mark, MARK_SIZE);
    }
    assert(!buf_failed(&writer->out) && !buf_failed(&packed));
    rc = writer->out.size ? writer->write(writer->arg, buf_bytes(&writer->out), err) : 0;
    buf_release(&packed);
    if (rc)
        return rc;
    buf_reset(&writer->out);
    buf_reset(&writer->block);
    writer->rows = 0;
    return 0;
}

int avro_writer_put(struct avro_writer *writer, const struct avro_value *row, struct err *err)
{
    size_t before;

    object_check(writer, AVRO_WRITER_MAGIC);
    before = writer->block.size;
    for (size_t i = 0; i < writer->column_count; i++) {
        const struct avro_column *column = &writer->columns[i];
        const char *fault = wrong(column, &row[i]);

        if (fault) {
            buf_truncate(&writer->block, before);
            return err_set(err, ERR_INVALID, "the value of \"%s\" %s", column->name, fault);
        }
        if (column->optional)
            put_long(&writer->block, row[i].kind != AVRO_NULL);
        put_value(&writer->block, &row[i]);
    }
    if (buf_failed(&writer->block)) {
        writer->block.failed = false;
        buf_truncate(&writer->block, before);
        return err_set(err, ERR_LIMIT, "a row of more than %d bytes",
                       AVRO_BLOCK_SIZE_MAX - BLOCK_SIZE);
    }
    writer->rows++;
    return writer->block.size < BLOCK_SIZE ? 0 : write_block(writer, err);
}

int avro_writer_end(struct avro_writer *writer, struct err *err)
{
    object_check(writer, AVRO_WRITER_MAGIC);
    return write_block(writer, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* table_json.c - JSON lines: one object per line. A member that is missing or null is an empty
 * cell; lists and objects are not cells, and refused where one is asked for. */
#include <inttypes.h>

#include "base/text.h"
#include "codec/placed_json.h"
#include "numerator/table_ops.h"

/* The next line that is not empty, as an object in `row`. */
static int next_object(struct table_reader *reader, const struct placed_json **object, bool *found,
                       struct err *err)
{
    const struct placed_json *list;
    struct bytes line;
    int rc;

    do {
        rc = table_line(reader, true, &line, found, err);
    } while (rc == 0 && *found && line.size == 0);
    if (rc || !*found)
        return rc;
    arena_reset(reader->row);
    rc = placed_json_read_all(line, reader->row, &list, err);
    if (rc)
        return rc;
    if (list->count != 1 || list->first->kind != PLACED_OBJECT || line.data[0] != '{')
        return err_set(err, ERR_INVALID, "expected one object per line");
    *object = list->first;
    return 0;
}

static int json_read_columns(struct table_reader *reader, struct err *err)
{
    const struct placed_json *object;
    bool found;
    int rc = next_object(reader, &object, &found, err);

    if (rc)
        return rc;
    if (!found)
        return err_set(err, ERR_INVALID, "it is empty: its first line names the columns");
    for (const struct placed_json *node = object->first; rc == 0 && node; node = node->next)
        rc = table_add_column(reader, node->key, err);
    reader->rest = buf_bytes(&reader->window); /* the first piece has the line, and is read again */
    reader->line = 0;
    return rc;
}

static int take_members(const struct table_reader *reader, const struct placed_json *object,
                        struct bytes *cells, struct err *err)
{
    for (uint32_t i = 0; i < reader->pick_count; i++)
        cells[i] = BYTES_EMPTY;
    for (const struct placed_json *node = object->first; node; node = node->next) {
        uint32_t at = 0;

        while (at < reader->column_count && !bytes_equal(reader->columns[at], node->key))
            at++;
        if (at == reader->column_count)
            return err_set(err, ERR_INVALID,
                           "\"%.*s\" is not in the first line, which has to have all columns, as "
                           "null where there is no value",
                           BYTES_ARG(node->key));
        if (reader->slots[at] < 0 || node->kind == PLACED_NULL)
            continue;
        if (node->kind == PLACED_LIST || node->kind == PLACED_OBJECT)
            return err_set(err, ERR_INVALID, "\"%.*s\" is not a single value",
                           BYTES_ARG(node->key));
        cells[reader->slots[at]] = node->text;
    }
    return 0;
}

static int json_next(struct table_reader *reader, struct bytes *cells, bool *found, struct err *err)
{
    const struct placed_json *object = NULL;
    int rc = next_object(reader, &object, found, err);

    if (rc || !*found)
        return rc;
    return take_members(reader, object, cells, err);
}

static int json_put_columns(struct table_writer *writer, struct err *err)
{
    (void)err;
    (void)writer; /* every row tells them */
    return 0;
}

static int json_put(struct table_writer *writer, const struct table_cell *cells, struct err *err)
{
    (void)err;
    for (uint32_t i = 0; i < writer->column_count; i++) {
        buf_put_byte(&writer->row, i > 0 ? ',' : '{');
        text_put_json(&writer->row, bytes_of(writer->columns[i].name));
        buf_put_byte(&writer->row, ':');
        if (writer->columns[i].kind == TABLE_INTEGER)
            buf_printf(&writer->row, "%" PRIu64, cells[i].integer);
        else
            text_put_json(&writer->row, cells[i].text);
    }
    buf_put_text(&writer->row, "}\n");
    return 0;
}

const struct table_ops table_json_ops = {
    .endings = {".jsonl", ".ndjson"},
    .read_columns = json_read_columns,
    .next = json_next,
    .put_columns = json_put_columns,
    .put = json_put,
};

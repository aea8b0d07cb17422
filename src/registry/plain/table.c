/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h. */
#include "registry/plain/table.h"

#include "base/text.h"
#include "codec/bounds.h"
#include "registry/bounds.h"

struct table {
    struct bytes rest;
    size_t line; /* of rest's first byte, from 1 */
    uint8_t delimiter;
    struct arena *arena;
    struct buf cell; /* being read, without its quotes */
    struct bytes names[PLAIN_COLUMN_COUNT_MAX];
    size_t name_count;
};

static uint8_t guess_delimiter(struct bytes text)
{
    static const char candidates[] = ",;\t|";
    size_t counts[4] = {0};
    bool quoted = false;
    size_t best = 0;

    for (size_t i = 0; i < text.size && (quoted || (text.data[i] != '\n' && text.data[i] != '\r'));
         i++) {
        const char *found = text.data[i] ? strchr(candidates, text.data[i]) : NULL;

        if (text.data[i] == '"')
            quoted = !quoted;
        else if (found && !quoted)
            counts[found - candidates]++;
    }
    for (size_t i = 1; i < 4; i++)
        best = counts[i] > counts[best] ? i : best;
    return (uint8_t)candidates[best];
}

static uint8_t peek(const struct table *table)
{
    return table->rest.size ? table->rest.data[0] : 0;
}

static uint8_t take(struct table *table)
{
    uint8_t byte = peek(table);

    if (!table->rest.size)
        return 0;
    table->rest = bytes_skip(table->rest, 1);
    table->line += byte == '\n' || (byte == '\r' && peek(table) != '\n');
    return byte;
}

static int read_quoted(struct table *table, struct err *err)
{
    size_t line = table->line;

    take(table);
    while (table->rest.size) {
        uint8_t byte = take(table);

        if (byte != '"')
            buf_put_byte(&table->cell, byte);
        else if (peek(table) == '"')
            buf_put_byte(&table->cell, take(table));
        else
            return 0;
    }
    return err_set(err, ERR_INVALID, "line %zu: a quote is not closed", line);
}

/* The next cell; *is_last: the line ends behind it. */
static int read_cell(struct table *table, struct bytes *cell, bool *is_last, struct err *err)
{
    int rc = 0;

    buf_reset(&table->cell);
    if (peek(table) == '"')
        rc = read_quoted(table, err);
    while (!rc && table->rest.size && peek(table) != table->delimiter && peek(table) != '\n' &&
           peek(table) != '\r')
        buf_put_byte(&table->cell, take(table));
    if (!rc && buf_failed(&table->cell))
        rc = err_set(err, ERR_LIMIT, "line %zu: a cell of more than %d bytes", table->line,
                     PLAIN_CELL_SIZE_MAX);
    if (rc)
        return rc;
    *cell = buf_bytes(&table->cell);
    *is_last = !table->rest.size || peek(table) != table->delimiter;
    if (take(table) == '\r' && peek(table) == '\n')
        take(table);
    return 0;
}

static int read_names(struct table *table, struct err *err)
{
    bool is_last = false;

    while (!is_last) {
        struct bytes cell;
        int rc = read_cell(table, &cell, &is_last, err);

        if (rc)
            return rc;
        if (table->name_count == PLAIN_COLUMN_COUNT_MAX)
            return err_set(err, ERR_LIMIT, "line 1: more than %d columns", PLAIN_COLUMN_COUNT_MAX);
        for (size_t i = 0; i < table->name_count; i++)
            if (bytes_equal(table->names[i], cell))
                return err_set(err, ERR_INVALID, "line 1: two columns are called \"%.*s\"",
                               BYTES_ARG(cell));
        table->names[table->name_count++] = arena_copy(table->arena, cell);
    }
    return 0;
}

static void add(struct json_node *parent, struct json_node **last, struct json_node *node)
{
    if (*last)
        (*last)->next = node;
    else
        parent->first = node;
    *last = node;
    parent->count++;
}

/* *row stays NULL when the line is empty. */
static int read_row(struct table *table, struct json_node **row, struct err *err)
{
    struct json_node *object = arena_zero(table->arena, sizeof(*object));
    struct json_node *last = NULL;
    size_t line = table->line;
    bool is_last = false;
    size_t i;
    int rc = 0;

    object->kind = JSON_OBJECT;
    for (i = 0; !rc && !is_last; i++) {
        struct bytes cell;
        struct json_node *node;

        rc = read_cell(table, &cell, &is_last, err);
        if (rc || !cell.size)
            continue;
        if (i >= table->name_count)
            return err_set(err, ERR_INVALID, "line %zu: has %zu cells; the first line names %zu",
                           line, i + 1, table->name_count);
        node = arena_zero(table->arena, sizeof(*node));
        node->kind = JSON_STRING;
        node->name = table->names[i];
        node->text = arena_copy(table->arena, cell);
        add(object, &last, node);
    }
    *row = object->count ? object : NULL;
    return rc;
}

int table_read(struct bytes csv, struct arena *arena, const struct json_node **list,
               struct err *err)
{
    struct json_node *root = arena_zero(arena, sizeof(*root));
    struct table *table = arena_zero(arena, sizeof(*table));
    struct json_node *last = NULL;
    size_t size_before = arena_size(arena);
    int rc = 0;

    root->kind = JSON_LIST;
    *list = root;
    if (bytes_begin(csv, (struct bytes)BYTES_LITERAL("\xef\xbb\xbf")))
        csv = bytes_skip(csv, 3);
    if (!csv.size)
        return err_set(err, ERR_INVALID, "the CSV is empty: its first line names the columns");
    if (!text_is_utf8(csv) || memchr(csv.data, 0, csv.size))
        return err_set(err, ERR_INVALID, "the CSV is not valid UTF-8");
    *table = (struct table){.rest = csv,
                            .line = 1,
                            .delimiter = guess_delimiter(csv),
                            .arena = arena,
                            .cell = BUF_INIT(PLAIN_CELL_SIZE_MAX)};
    rc = read_names(table, err);
    while (!rc && table->rest.size) {
        struct json_node *row;

        rc = read_row(table, &row, err);
        if (!rc && row)
            add(root, &last, row);
        if (!rc && arena_size(arena) > MESSAGE_MEMORY_MAX + size_before)
            rc = err_set(err, ERR_LIMIT,
                         "the CSV takes more than %d MB when it is read; send less at a time",
                         MESSAGE_MEMORY_MAX >> 20);
    }
    buf_release(&table->cell);
    return rc;
}

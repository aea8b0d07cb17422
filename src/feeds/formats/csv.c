/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - price lists in CSV (codec/csv_cells.h): which column is what, and its cells as rows.
 *
 * A CSV file has no end mark. Where its last line does not end with a break, that line is believed
 * if it has all its cells and the source is known to have come whole; else the file counts as cut
 * short.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "codec/csv_cells.h"
#include "feeds/bounds.h"
#include "feeds/formats/format.h"
#include "feeds/formats/text.h"
#include "feeds/formats/value.h"

struct column {
    enum feed_field field;
    struct bytes attribute; /* arena's */
    struct bytes unit;
};

struct csv_feed {
    struct feed_reader base;
    struct feed_text text;
    struct bytes block;     /* not looked at yet */
    struct csv_cells cells; /* of the record at hand */
    struct arena *arena;    /* names of columns */
    struct column columns[FEED_COLUMN_COUNT_MAX];
    size_t column_count;
    bool told_nameless; /* that a column without a name has values */
};

static struct csv_feed *csv_of(struct feed_reader *reader)
{
    return container_of(reader, struct csv_feed, base);
}

static struct feed_reader *csv_create(void)
{
    struct csv_feed *csv = mem_zero(sizeof(*csv));

    feed_text_init(&csv->text);
    csv_cells_init(&csv->cells, FEED_ROW_SIZE_MAX, FEED_COLUMN_COUNT_MAX);
    csv->arena = arena_new();
    return &csv->base;
}

static void csv_destroy(struct feed_reader *reader)
{
    struct csv_feed *csv = csv_of(reader);

    feed_text_release(&csv->text);
    csv_cells_release(&csv->cells);
    arena_free(csv->arena);
    free(csv);
}

static struct bytes cell_at(const struct csv_feed *csv, size_t index)
{
    return csv_cells_at(&csv->cells, index);
}

/* The cells of the next record. *found = false at the end. */
static int read_record(struct csv_feed *csv, bool *found, struct err *err)
{
    bool ended = false;
    int rc = 0;

    csv_cells_begin(&csv->cells);
    *found = true;
    while (!rc && !ended) {
        if (csv->block.size == 0)
            rc = feed_text_next(&csv->text, &csv->base, &csv->block, err);
        if (rc)
            return rc;
        if (csv->block.size == 0) {
            rc = csv_cells_finish(&csv->cells, found, err);
            if (csv->cells.quote_open)
                csv->base.cut = "the last row has a quote that is not closed";
            return rc;
        }
        rc = csv_cells_take(&csv->cells, &csv->block, &ended, err);
    }
    return rc;
}

static bool is_blank_record(const struct csv_feed *csv)
{
    return csv->cells.count == 1 && feed_trim(cell_at(csv, 0)).size == 0;
}

/* A column "Вес [кг]" is an attribute with a unit. */
static void set_attribute(struct csv_feed *csv, struct column *column, struct bytes name)
{
    const uint8_t *open = name.size ? memrchr(name.data, '[', name.size) : NULL;

    column->field = FEED_FIELD_ATTRIBUTE;
    if (open && name.data[name.size - 1] == ']') {
        size_t start = (size_t)(open - name.data);

        column->unit = feed_trim(bytes_make(open + 1, name.size - start - 2));
        name = feed_trim(bytes_make(name.data, start));
    }
    column->attribute = arena_copy(csv->arena, name);
    column->unit = arena_copy(csv->arena, column->unit);
}

static void set_column(struct csv_feed *csv, size_t index, bool taken[FEED_FIELD_SINGLE_COUNT])
{
    struct column *column = &csv->columns[index];
    struct bytes name = feed_trim(cell_at(csv, index));
    struct bytes attribute;

    column->field = feed_field_find(name, &attribute);
    if (column->field == FEED_FIELD_ATTRIBUTE) {
        set_attribute(csv, column, attribute);
    } else if (column->field < FEED_FIELD_SINGLE_COUNT && taken[column->field]) {
        set_attribute(csv, column, name); /* a second column for one thing describes it further */
    } else if (column->field < FEED_FIELD_SINGLE_COUNT) {
        taken[column->field] = true;
    }
}

/* All of the cells at once; then none may begin inside a character that another has begun. */
static bool cells_are_utf8(const struct csv_feed *csv)
{
    size_t i;

    for (i = 0; i < csv->cells.count; i++) {
        struct bytes cell = cell_at(csv, i);

        if (cell.size && (cell.data[0] & 0xc0) == 0x80)
            return false;
    }
    return text_is_utf8(buf_bytes(&csv->cells.text));
}

/* Facebook's templates begin with lines "# Required | …". */
static bool is_remark(const struct csv_feed *csv)
{
    struct bytes cell = feed_trim(cell_at(csv, 0));

    return cell.size > 1 && cell.data[0] == '#' && cell.data[1] == ' ';
}

static int read_header(struct csv_feed *csv, struct err *err)
{
    bool taken[FEED_FIELD_SINGLE_COUNT] = {false};
    struct feed_word word;
    bool found = true;
    size_t i;
    int rc;

    do {
        rc = read_record(csv, &found, err);
        if (rc)
            return rc;
    } while (found && (is_blank_record(csv) || is_remark(csv)));
    if (!cells_are_utf8(csv))
        return err_set(err, ERR_INVALID, "line %" PRIu64 ": not UTF-8; name the file's encoding",
                       csv->cells.record_line);
    for (i = 0; i < csv->cells.count; i++) {
        if (cell_at(csv, i).size > FEED_NAME_SIZE_MAX)
            return err_set(err, ERR_LIMIT,
                           "line %" PRIu64 ": column %zu has a name of more than %d bytes",
                           csv->cells.record_line, i + 1, FEED_NAME_SIZE_MAX);
        set_column(csv, i, taken);
        if (feed_fold(cell_at(csv, i), &word) && strcmp(word.text, "imagelink") == 0)
            feed_builder_default_decimal(&csv->base.builder, '.'); /* Google's and Facebook's */
    }
    csv->column_count = csv->cells.count;
    if (!taken[FEED_FIELD_ID] && !taken[FEED_FIELD_TITLE])
        return err_set(err, ERR_INVALID,
                       "line %" PRIu64
                       ": no column is named id or title (название): the first line "
                       "must name the columns",
                       csv->cells.record_line);
    if (csv->base.cut)
        return err_set(err, ERR_INVALID, "the feed ends in its first line: %s", csv->base.cut);
    return 0;
}

static int csv_start(struct feed_reader *reader, struct err *err)
{
    struct csv_feed *csv = csv_of(reader);
    int rc;

    rc = feed_text_next(&csv->text, reader, &csv->block, err);
    if (rc)
        return rc;
    reader->builder.lists_photos = true;
    csv->cells.delimiter = (uint8_t)reader->options.delimiter;
    if (csv->block.size > 5 && bytes_begin(csv->block, bytes_of("sep=")) &&
        strchr(",;\t|", csv->block.data[4])) { /* as Excel likes it */
        csv->cells.delimiter = csv->block.data[4];
        csv->block = bytes_skip(csv->block, 5);
    }
    if (!csv->cells.delimiter)
        csv->cells.delimiter = csv_guess_delimiter(csv->block);
    return read_header(csv, err);
}

/* Bytes that are no UTF-8 must not go further. */
static void mask_high_bytes(struct csv_feed *csv)
{
    size_t i;

    for (i = 0; i < csv->cells.text.size; i++) {
        if (csv->cells.text.data[i] >= 0x80)
            csv->cells.text.data[i] = '?';
    }
}

/* The numbers that a data frame is written with, for example: told once, as every row has them. */
static void skip_nameless(struct csv_feed *csv, size_t index)
{
    if (csv->told_nameless || !feed_trim(cell_at(csv, index)).size)
        return;
    csv->told_nameless = true;
    violations_add(feed_builder_faults(&csv->base.builder, FEED_FIELD_ATTRIBUTE), "attributes",
                   "column %zu has no name in the first line: it is left out of all rows",
                   index + 1);
}

static void put_cells(struct csv_feed *csv)
{
    struct feed_builder *builder = &csv->base.builder;
    struct violations *problems = feed_builder_problems(builder);
    size_t i;

    if (!cells_are_utf8(csv)) {
        violations_add(problems, "row", "is not valid UTF-8");
        mask_high_bytes(csv);
    }
    for (i = 0; i < csv->cells.count && i < csv->column_count; i++) {
        const struct column *column = &csv->columns[i];

        if (column->field == FEED_FIELD_ATTRIBUTE && !column->attribute.size)
            skip_nameless(csv, i);
        else if (column->field == FEED_FIELD_ATTRIBUTE)
            feed_builder_attribute(builder, column->attribute, cell_at(csv, i), column->unit);
        else
            feed_builder_put(builder, column->field, cell_at(csv, i));
    }
    for (; i < csv->cells.count; i++) {
        if (feed_trim(cell_at(csv, i)).size) {
            violations_add(problems, "row", "has %zu cells; the first line names %zu columns",
                           csv->cells.count, csv->column_count);
            break;
        }
    }
}

/* Of a row that has fewer cells than there are columns: spreadsheets leave empty ones at the end
 * out. In the middle of a line that the file ends in, nobody knows what is missing. */
static void tell_short(struct csv_feed *csv)
{
    struct feed_builder *builder = &csv->base.builder;

    if (csv->cells.line_ended)
        violations_add(&builder->row.notes, "row",
                       "has %zu cells; the first line names %zu columns: the others count as empty",
                       csv->cells.count, csv->column_count);
    else
        violations_add(feed_builder_problems(builder), "row",
                       "has %zu cells; the first line names %zu columns", csv->cells.count,
                       csv->column_count);
}

/* The end, behind a line that has no break of its own. */
static void look_at_end(struct csv_feed *csv)
{
    struct feed_reader *reader = &csv->base;

    if (csv->cells.line_ended || reader->cut)
        return;
    if (csv->cells.count < csv->column_count)
        reader->cut = "the last row has not all its cells";
    else if (!feed_source_is_whole(reader->source))
        reader->cut = "the last line does not end with a line break: its last cell may be cut";
}

static int csv_next(struct feed_reader *reader, bool *found, struct err *err)
{
    struct csv_feed *csv = csv_of(reader);
    int rc;

    do {
        rc = read_record(csv, found, err);
        if (rc || !*found)
            return rc;
    } while (is_blank_record(csv));
    rc = feed_begin_row(reader, csv->cells.record_line, err);
    if (rc)
        return rc;
    look_at_end(csv);
    if (csv->cells.quote_open)
        violations_add(feed_builder_problems(&reader->builder), "row",
                       "has a quote that is not closed");
    else if (csv->cells.count < csv->column_count)
        tell_short(csv);
    put_cells(csv);
    return 0;
}

const struct feed_format_ops feed_csv_ops = {
    .create = csv_create,
    .start = csv_start,
    .next = csv_next,
    .destroy = csv_destroy,
};

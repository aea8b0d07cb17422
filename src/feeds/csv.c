/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - CSV as of RFC 4180, read leniently: a quote inside an unquoted cell is a character,
 * lines end with LF, CR LF or CR, the delimiter is guessed from the first line.
 *
 * The text comes in blocks of any size and goes through one state machine into the cells of the
 * record at hand: all of them in one buffer, each ended by its offset. Nothing else is kept.
 * A CSV file has no end mark: it counts as cut short if its last line does not end with a break.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "feeds/bounds.h"
#include "feeds/format.h"
#include "feeds/text.h"
#include "feeds/value.h"

enum cell_state {
    CELL_START,
    CELL_PLAIN,
    CELL_QUOTED,
    CELL_QUOTE_SEEN, /* in a quoted cell: it ends, or a quote is meant */
};

struct column {
    enum feed_field field;
    struct bytes attribute; /* arena's */
    struct bytes unit;
};

struct csv_feed {
    struct feed_reader base;
    struct feed_text text;
    struct bytes block; /* not looked at yet */
    uint8_t delimiter;
    bool after_cr; /* an LF now belongs to the line's end before it */
    uint64_t line;
    uint64_t record_line; /* where the record at hand begins */
    enum cell_state state;
    bool line_ended;              /* the record at hand has its line's end */
    enum cell_state state_at_end; /* of the text */
    struct buf cells;
    size_t ends[FEED_COLUMN_COUNT_MAX]; /* ends[i]: of cell i in cells */
    size_t cell_count;
    struct arena *arena; /* names of columns */
    struct column columns[FEED_COLUMN_COUNT_MAX];
    size_t column_count;
};

static struct csv_feed *csv_of(struct feed_reader *reader)
{
    return container_of(reader, struct csv_feed, base);
}

static struct feed_reader *csv_create(void)
{
    struct csv_feed *csv = mem_zero(sizeof(*csv));

    feed_text_init(&csv->text);
    buf_init(&csv->cells, FEED_ROW_SIZE_MAX);
    csv->arena = arena_new();
    csv->line = 1;
    return &csv->base;
}

static void csv_destroy(struct feed_reader *reader)
{
    struct csv_feed *csv = csv_of(reader);

    feed_text_release(&csv->text);
    buf_release(&csv->cells);
    arena_free(csv->arena);
    free(csv);
}

static struct bytes cell_at(const struct csv_feed *csv, size_t index)
{
    size_t start = index ? csv->ends[index - 1] : 0;

    return bytes_make(csv->cells.data + start, csv->ends[index] - start);
}

static int end_cell(struct csv_feed *csv, struct err *err)
{
    if (csv->cell_count == FEED_COLUMN_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "line %" PRIu64 ": more than %d cells", csv->record_line,
                       FEED_COLUMN_COUNT_MAX);
    csv->ends[csv->cell_count++] = csv->cells.size;
    csv->state = CELL_START;
    return 0;
}

/* Takes a run of characters without meaning in this state; how many. */
static size_t take_run(struct csv_feed *csv)
{
    const uint8_t *data = csv->block.data;
    size_t size = csv->block.size;
    size_t i = 0;

    if (csv->state == CELL_QUOTED) {
        for (; i < size && data[i] != '"' && data[i] != '\n' && data[i] != '\r'; i++)
            continue;
    } else if (csv->state == CELL_PLAIN) {
        for (; i < size && data[i] != csv->delimiter && data[i] != '\n' && data[i] != '\r'; i++)
            continue;
    }
    buf_put_raw(&csv->cells, data, i);
    return i;
}

/* One character with a meaning. *ended: it ended the record. */
static int take_character(struct csv_feed *csv, uint8_t c, bool *ended, struct err *err)
{
    bool after_cr = csv->after_cr;
    int rc = 0;

    csv->after_cr = c == '\r';
    if (c == '\r' || (c == '\n' && !after_cr))
        csv->line++;
    if (csv->state == CELL_QUOTED) {
        if (c == '"')
            csv->state = CELL_QUOTE_SEEN;
        else
            buf_put_byte(&csv->cells, c);
    } else if (csv->state == CELL_START && c == '"') {
        csv->state = CELL_QUOTED;
    } else if (csv->state == CELL_QUOTE_SEEN && c == '"') {
        buf_put_byte(&csv->cells, c);
        csv->state = CELL_QUOTED;
    } else if (c == '\n' && after_cr) {
        return 0;
    } else if (c == '\n' || c == '\r') {
        rc = end_cell(csv, err);
        csv->line_ended = *ended = true;
    } else if (c == csv->delimiter) {
        rc = end_cell(csv, err);
    } else {
        buf_put_byte(&csv->cells, c);
        csv->state = CELL_PLAIN;
    }
    return rc;
}

/* At the end of the text: what is there of a record is one. */
static int end_of_text(struct csv_feed *csv, bool *found, struct err *err)
{
    *found = csv->cells.size || csv->cell_count || csv->state != CELL_START;
    csv->state_at_end = csv->state;
    if (csv->state == CELL_QUOTED)
        csv->base.cut = "the last row has a quote that is not closed";
    return *found ? end_cell(csv, err) : 0;
}

/* The cells of the next record. *found = false at the end. */
static int read_record(struct csv_feed *csv, bool *found, struct err *err)
{
    bool ended = false;
    int rc = 0;

    buf_reset(&csv->cells);
    csv->cell_count = 0;
    csv->line_ended = false;
    csv->state = CELL_START;
    csv->record_line = csv->line;
    while (!rc && !ended) {
        size_t run;

        if (csv->block.size == 0)
            rc = feed_text_next(&csv->text, &csv->base, &csv->block, err);
        if (rc)
            return rc;
        if (csv->block.size == 0)
            return end_of_text(csv, found, err);
        run = take_run(csv);
        if (run) {
            csv->after_cr = false;
            csv->block = bytes_skip(csv->block, run);
        } else {
            rc = take_character(csv, csv->block.data[0], &ended, err);
            csv->block = bytes_skip(csv->block, 1);
        }
        if (buf_failed(&csv->cells))
            return err_set(err, ERR_LIMIT, "line %" PRIu64 ": the row is larger than %d bytes%s",
                           csv->record_line, FEED_ROW_SIZE_MAX,
                           csv->state == CELL_QUOTED ? "; is a quote not closed?" : "");
    }
    *found = true;
    return rc;
}

static bool is_blank_record(const struct csv_feed *csv)
{
    return csv->cell_count == 1 && feed_trim(cell_at(csv, 0)).size == 0;
}

/* The one of , ; tab | that the first line has most of, outside of quotes. */
static uint8_t guess_delimiter(struct bytes text)
{
    static const char candidates[] = ",;\t|";
    size_t counts[4] = {0};
    bool quoted = false;
    size_t best = 0;
    size_t i;

    for (i = 0; i < text.size && (quoted || (text.data[i] != '\n' && text.data[i] != '\r')); i++) {
        const char *found = strchr(candidates, text.data[i]);

        if (text.data[i] == '"')
            quoted = !quoted;
        else if (found && !quoted)
            counts[found - candidates]++;
    }
    for (i = 1; i < 4; i++)
        best = counts[i] > counts[best] ? i : best;
    return (uint8_t)candidates[best];
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

    for (i = 0; i < csv->cell_count; i++) {
        struct bytes cell = cell_at(csv, i);

        if (cell.size && (cell.data[0] & 0xc0) == 0x80)
            return false;
    }
    return text_is_utf8(buf_bytes(&csv->cells));
}

static int read_header(struct csv_feed *csv, struct err *err)
{
    bool taken[FEED_FIELD_SINGLE_COUNT] = {false};
    bool found = true;
    size_t i;
    int rc;

    do {
        rc = read_record(csv, &found, err);
        if (rc)
            return rc;
    } while (found && is_blank_record(csv));
    if (!cells_are_utf8(csv))
        return err_set(err, ERR_INVALID, "line %" PRIu64 ": not UTF-8; name the file's encoding",
                       csv->record_line);
    for (i = 0; i < csv->cell_count; i++) {
        if (cell_at(csv, i).size > FEED_NAME_SIZE_MAX)
            return err_set(err, ERR_LIMIT,
                           "line %" PRIu64 ": column %zu has a name of more than %d bytes",
                           csv->record_line, i + 1, FEED_NAME_SIZE_MAX);
        set_column(csv, i, taken);
    }
    csv->column_count = csv->cell_count;
    if (!taken[FEED_FIELD_ID] && !taken[FEED_FIELD_TITLE])
        return err_set(err, ERR_INVALID,
                       "line %" PRIu64
                       ": no column is named id or title (название): the first line "
                       "must name the columns",
                       csv->record_line);
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
    csv->delimiter = (uint8_t)reader->options.delimiter;
    if (csv->block.size > 5 && bytes_begin(csv->block, bytes_of("sep=")) &&
        strchr(",;\t|", csv->block.data[4])) { /* as Excel likes it */
        csv->delimiter = csv->block.data[4];
        csv->block = bytes_skip(csv->block, 5);
    }
    if (!csv->delimiter)
        csv->delimiter = guess_delimiter(csv->block);
    return read_header(csv, err);
}

/* Bytes that are no UTF-8 must not go further. */
static void mask_high_bytes(struct csv_feed *csv)
{
    size_t i;

    for (i = 0; i < csv->cells.size; i++) {
        if (csv->cells.data[i] >= 0x80)
            csv->cells.data[i] = '?';
    }
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
    for (i = 0; i < csv->cell_count && i < csv->column_count; i++) {
        const struct column *column = &csv->columns[i];

        if (column->field == FEED_FIELD_ATTRIBUTE)
            feed_builder_attribute(builder, column->attribute, cell_at(csv, i), column->unit);
        else
            feed_builder_put(builder, column->field, cell_at(csv, i));
    }
    for (; i < csv->cell_count; i++) {
        if (feed_trim(cell_at(csv, i)).size) {
            violations_add(problems, "row", "has %zu cells; the first line names %zu columns",
                           csv->cell_count, csv->column_count);
            break;
        }
    }
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
    rc = feed_begin_row(reader, csv->record_line, err);
    if (rc)
        return rc;
    if (!csv->line_ended && !reader->cut)
        reader->cut =
            csv->cell_count < csv->column_count
                ? "the last row has not all its cells"
                : "the last line does not end with a line break: its last cell may be cut";
    if (csv->state_at_end == CELL_QUOTED)
        violations_add(feed_builder_problems(&reader->builder), "row",
                       "has a quote that is not closed");
    else if (csv->cell_count < csv->column_count)
        violations_add(feed_builder_problems(&reader->builder), "row",
                       "has %zu cells; the first line names %zu columns", csv->cell_count,
                       csv->column_count);
    put_cells(csv);
    return 0;
}

const struct feed_format_ops feed_csv_ops = {
    .create = csv_create,
    .start = csv_start,
    .next = csv_next,
    .destroy = csv_destroy,
};

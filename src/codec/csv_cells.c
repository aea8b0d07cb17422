/* SPDX-License-Identifier: Apache-2.0 */
/* csv_cells.c - see csv_cells.h: one state machine, runs of plain characters at once. */
#include "codec/csv_cells.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void csv_cells_init(struct csv_cells *cells, size_t size_max, size_t count_max)
{
    *cells = (struct csv_cells){.line = 1, .count_max = count_max};
    buf_init(&cells->text, size_max);
    cells->ends = mem_array(count_max, sizeof(*cells->ends));
}

void csv_cells_release(struct csv_cells *cells)
{
    buf_release(&cells->text);
    free(cells->ends);
}

uint8_t csv_guess_delimiter(struct bytes text)
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

void csv_cells_begin(struct csv_cells *cells)
{
    assert(cells->delimiter);
    buf_reset(&cells->text);
    cells->count = 0;
    cells->line_ended = false;
    cells->state = CSV_START;
    cells->record_line = cells->line;
}

static int end_cell(struct csv_cells *cells, struct err *err)
{
    if (cells->count == cells->count_max)
        return err_set(err, ERR_LIMIT, "line %" PRIu64 ": more than %zu cells", cells->record_line,
                       cells->count_max);
    cells->ends[cells->count++] = cells->text.size;
    cells->state = CSV_START;
    return 0;
}

/* Takes a run of characters without meaning in this state; how many. */
static size_t take_run(struct csv_cells *cells, struct bytes block)
{
    const uint8_t *data = block.data;
    size_t i = 0;

    if (cells->state == CSV_QUOTED) {
        while (i < block.size && data[i] != '"' && data[i] != '\n' && data[i] != '\r')
            i++;
    } else if (cells->state == CSV_PLAIN) {
        while (i < block.size && data[i] != cells->delimiter && data[i] != '\n' && data[i] != '\r')
            i++;
    }
    buf_put_raw(&cells->text, data, i);
    return i;
}

/* One character with a meaning. *ended: it ended the record. */
static int take_character(struct csv_cells *cells, uint8_t c, bool *ended, struct err *err)
{
    bool after_cr = cells->after_cr;
    int rc = 0;

    cells->after_cr = c == '\r';
    if (c == '\r' || (c == '\n' && !after_cr))
        cells->line++;
    if (cells->state == CSV_QUOTED) {
        if (c == '"')
            cells->state = CSV_QUOTE_SEEN;
        else
            buf_put_byte(&cells->text, c);
    } else if (cells->state == CSV_START && c == '"') {
        cells->state = CSV_QUOTED;
    } else if (cells->state == CSV_QUOTE_SEEN && c == '"') {
        buf_put_byte(&cells->text, c);
        cells->state = CSV_QUOTED;
    } else if (c == '\n' && after_cr) {
        return 0;
    } else if (c == '\n' || c == '\r') {
        rc = end_cell(cells, err);
        cells->line_ended = *ended = true;
    } else if (c == cells->delimiter) {
        rc = end_cell(cells, err);
    } else {
        buf_put_byte(&cells->text, c);
        cells->state = CSV_PLAIN;
    }
    return rc;
}

int csv_cells_take(struct csv_cells *cells, struct bytes *block, bool *ended, struct err *err)
{
    int rc = 0;

    *ended = false;
    while (!rc && !*ended && block->size) {
        size_t run = take_run(cells, *block);

        if (run)
            cells->after_cr = false;
        else
            rc = take_character(cells, block->data[0], ended, err);
        *block = bytes_skip(*block, run ? run : 1);
        if (buf_failed(&cells->text))
            return err_set(err, ERR_LIMIT, "line %" PRIu64 ": the row is larger than %zu bytes%s",
                           cells->record_line, cells->text.limit,
                           cells->state == CSV_QUOTED ? "; is a quote not closed?" : "");
    }
    return rc;
}

int csv_cells_finish(struct csv_cells *cells, bool *found, struct err *err)
{
    *found = cells->text.size || cells->count || cells->state != CSV_START;
    cells->quote_open = cells->state == CSV_QUOTED;
    return *found ? end_cell(cells, err) : 0;
}

struct bytes csv_cells_at(const struct csv_cells *cells, size_t index)
{
    size_t start = index ? cells->ends[index - 1] : 0;

    assert(index < cells->count);
    return bytes_make(cells->text.data + start, cells->ends[index] - start);
}

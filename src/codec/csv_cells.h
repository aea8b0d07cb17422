/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_cells.h - the cells of a CSV record, read from blocks of any size. RFC 4180, leniently: a
 * quote inside an unquoted cell is a character, what stands behind a closed quote belongs to the
 * cell, lines end with LF, CR LF or CR.
 *
 *   begin ─► take, with a block each ─► the record has ended ─► cells
 *                                 └─► no more blocks: finish ─► the last one, if there is any
 *
 * All cells of a record lie in one buffer, each ended by its offset; nothing else is kept.
 * Threads: one.
 */
#ifndef TORG_CODEC_CSV_CELLS_H
#define TORG_CODEC_CSV_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

enum csv_state {
    CSV_START, /* of a cell */
    CSV_PLAIN,
    CSV_QUOTED,
    CSV_QUOTE_SEEN, /* in a quoted cell: it ends, or a quote is meant */
};

struct csv_cells {
    uint8_t delimiter;
    uint64_t line;        /* of what comes next, from 1 */
    uint64_t record_line; /* where the record begins */
    enum csv_state state;
    bool after_cr;   /* an LF now belongs to the line's end before it */
    bool line_ended; /* the record has its line's end */
    bool quote_open; /* the text ended inside of quotes */
    struct buf text; /* of all cells */
    size_t *ends;    /* ends[i]: of cell i in text */
    size_t count, count_max;
};

/* A record has at most so many bytes and cells. The delimiter is the caller's to set. */
void csv_cells_init(struct csv_cells *cells, size_t size_max, size_t count_max);
void csv_cells_release(struct csv_cells *cells);

/* The one of , ; tab | that the first line of the text has most of, outside of quotes. */
uint8_t csv_guess_delimiter(struct bytes text);

void csv_cells_begin(struct csv_cells *cells);
/* Takes of the block up to the record's end, *ended, or all of it. ERR_LIMIT tells the line. */
int csv_cells_take(struct csv_cells *cells, struct bytes *block, bool *ended, struct err *err);
/* There is no more text: what is there of a record is one, *found. */
int csv_cells_finish(struct csv_cells *cells, bool *found, struct err *err);

struct bytes csv_cells_at(const struct csv_cells *cells, size_t index);

#endif

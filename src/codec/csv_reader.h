/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_reader.h - CSV, as csv_cells.h reads it, record by record from a stream: only one record is
 * held at a time.
 *
 * Cells are parted by the one of , ; tab | that the first line has most of outside of quotes. Empty
 * lines are passed over. UTF-8, with or without a mark at the beginning. What is wrong is
 * ERR_INVALID or ERR_LIMIT with the line. Threads: one.
 */
#ifndef TORG_CODEC_CSV_READER_H
#define TORG_CODEC_CSV_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

struct csv_reader;

/* read: up to size bytes of the source, *got = 0 at its end. A record has at most so many bytes. */
struct csv_reader *csv_reader_new(int (*read)(void *arg, void *to, size_t size, size_t *got,
                                              struct err *err),
                                  void *arg, size_t record_size_max);
void csv_reader_free(struct csv_reader *reader); /* NULL is fine */

/* The cells of the next record, valid until the next call; *count = 0: there is none. */
int csv_reader_next(struct csv_reader *reader, const struct bytes **cells, size_t *count,
                    struct err *err);
/* Where the record begins, from 1. */
uint64_t csv_reader_line(const struct csv_reader *reader);

#endif

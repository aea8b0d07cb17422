/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_column.h - a column made elsewhere, mapped into memory (mmap) and read in place, as pages
 * of other columns are.
 *
 * A number may have another owner than when the file was made. Its value is older than the owner
 * then, and is none of it: whoever keeps the column tells the births of numbers (settle), and codes
 * of younger owners become null. The mapping is private (copy on write), so the file stays as it
 * is, and memory is only taken where that has happened.
 *
 * Threads: one writer settles; readers without locks, as of other columns (column_code.h).
 */
#ifndef TORG_INDEX_COLUMNS_OUTSIDE_COLUMN_H
#define TORG_INDEX_COLUMNS_OUTSIDE_COLUMN_H

#include "base/err.h"
#include "index/columns/column_page.h"
#include "index/columns/outside_file.h"

struct outside_column;

/* Maps the file and compares it with its checksums. Values are those of the file until they are
 * settled. ERR_CORRUPT, ERR_LIMIT, ERR_UNSUPPORTED, naming the file. */
int outside_column_open(const char *path, struct outside_column **column, struct err *err);
void outside_column_close(struct outside_column *column); /* NULL is fine */

const struct outside_head *outside_column_head(const struct outside_column *column);
uint32_t outside_column_window_count(const struct outside_column *column);

void outside_column_view(const struct outside_column *column, uint32_t window,
                         struct column_view *view);

/* The number's owner was born in that generation; COLUMN_NULL: it is not known, and the value may
 * be another's. */
void outside_column_settle(struct outside_column *column, docid id, int64_t birth);
void outside_column_settle_window(struct outside_column *column, uint32_t window,
                                  const int64_t births[WINDOW_SIZE]);

#endif

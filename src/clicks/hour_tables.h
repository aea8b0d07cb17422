/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hour_tables.h - what visitors did in an hour, as a table in the blob store: for whoever
 * computes something from it elsewhere, or over a longer time than counts are kept here.
 *
 *   click_hour ── an hour is over ──> clicks/2026-11-18T09.avro: one row per offer
 *     (codec/avro_file.h): offer, category: string | shows, looks (millionths), clicks, contacts,
 *     favourites: long
 *
 * A table appears when it is whole. The last hour that was written is remembered behind that: a
 * crash writes one again, and so do two who write at once, both the same.
 *
 * Threads: the task `clicks` (rater.h).
 */
#ifndef TORG_CLICKS_HOUR_TABLES_H
#define TORG_CLICKS_HOUR_TABLES_H

#include "base/err.h"
#include "blob/blob.h"
#include "store/store.h"

enum { HOUR_TABLE_NAME_SIZE = 32 };

/* "clicks/2026-11-18T09.avro"; hour: since 1970. */
void hour_table_name(int64_t hour, char name[HOUR_TABLE_NAME_SIZE]);

/* Writes the tables of hours that are over, and removes old ones; *count: those written. */
int hour_tables_write(struct store *store, struct blob *blob, int64_t now_us, size_t *count,
                      struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - numbers without a hole that a reader could pass: allotted inside transactions.
 *
 * A sequence is a row, and allotting locks it until the transaction ends. So a number becomes
 * visible only after every lower one was committed or rolled back, and a reader that asks for
 * "seq > last seen" misses nothing. A rolled back transaction gives its numbers back.
 * Contention is per name: spread busy ones over shards.
 */
#ifndef TORG_STORE_SEQUENCE_H
#define TORG_STORE_SEQUENCE_H

#include "store/store.h"

/* Takes count (> 0) numbers from the named sequence: *first, *first + 1, …; the first ever is 1. */
int store_next_seq(struct store_tx *tx, const char *name, int64_t count, int64_t *first,
                   struct err *err);

#endif

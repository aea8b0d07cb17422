/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parked.h - offers that could not be made into documents, until they can.
 *
 * One row an offer, durable before the topic's offset passes its record. Nothing of the record is
 * kept: the next try reads the newest offer, which is the only one worth indexing.
 */
#ifndef TORG_DOCUMENTS_PARKED_H
#define TORG_DOCUMENTS_PARKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "store/store.h"

struct parked {
    const char *offer_id;
    uint32_t partition;
    uint64_t offset;
    int64_t attempt_count;
    int64_t first_us;
    int64_t next_us;
    const char *reason;
};

/* Adds it, or tells a parked one its newest record and reason; the time of the next try is kept. */
int parked_add(struct store *store, const struct parked *parked, struct err *err);
/* Another try has failed. */
int parked_delay(struct store *store, const struct parked *parked, struct err *err);
/* It was sent; a row whose record is newer than this stays. */
int parked_remove(struct store *store, const char *offer_id, uint64_t offset, struct err *err);
/* Those whose time has come, at most max. */
int parked_due(struct store *store, int64_t now_us, size_t max, struct arena *arena,
               struct parked **list, size_t *count, struct err *err);
/* In order of ids, behind `after`. */
int parked_list(struct store *store, const char *after, size_t max, struct arena *arena,
                struct parked **list, size_t *count, struct err *err);
/* Their time has come: one, or all (""); *count: how many. */
int parked_hurry(struct store *store, const char *offer_id, int64_t now_us, int64_t *count,
                 struct err *err);
/* Inside a transaction; false in *found: it is not parked. */
int parked_find(struct store_tx *tx, const char *offer_id, struct arena *arena,
                struct parked *parked, bool *found, struct err *err);
int parked_count(struct store *store, int64_t *count, struct err *err);

#endif

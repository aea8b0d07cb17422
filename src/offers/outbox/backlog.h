/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.h - how many changes offers have had, and how many wait to be exported: over all
 * shards, whoever owns them. */
#ifndef TORG_OFFERS_OUTBOX_BACKLOG_H
#define TORG_OFFERS_OUTBOX_BACKLOG_H

#include "store/store.h"

struct backlog {
    int64_t change_count; /* ever made */
    int64_t wait_count;   /* from the oldest row to the newest of a shard: a few less are there */
    int64_t since_us;     /* when the oldest was made; 0: none waits */
};

/* Two short questions for each shard that has rows, two in all when none has. */
int backlog_read(struct store_tx *tx, struct backlog *backlog, struct err *err);

#endif

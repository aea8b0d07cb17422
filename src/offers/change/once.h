/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once.h - a write with an idempotency key happens once: its answer is kept in its transaction.
 *
 * Repeating the call within ONCE_LIFETIME_S returns the kept answer; a different call with the key
 * is refused. Failed calls keep nothing: they may be tried again.
 */
#ifndef TORG_OFFERS_CHANGE_ONCE_H
#define TORG_OFFERS_CHANGE_ONCE_H

#include "base/arena.h"
#include "store/store.h"

struct once {
    const char *owner; /* as of drafts: 's:' and a seller, 'a:' and an anonymous id */
    struct bytes key;  /* empty: none was sent, and nothing is kept */
    uint64_t hash;     /* of the method and the request */
    int64_t now_us;
};

/* ERR_INVALID when it is too long or has unprintable bytes. */
int once_check_key(struct bytes key, struct err *err);

/* The kept answer; one with NULL data when there is none. ERR_PRECONDITION: it was another call. */
int once_find(struct store_tx *tx, const struct once *once, struct arena *arena,
              struct bytes *answer, struct err *err);
/* Keeps the answer; *outrun when another call has kept one meanwhile. */
int once_keep(struct store_tx *tx, const struct once *once, struct bytes answer, bool *outrun,
              struct err *err);

/* Deletes up to max that are too old. */
int once_forget(struct store_tx *tx, int64_t now_us, size_t max, int64_t *forgotten,
                struct err *err);

#endif

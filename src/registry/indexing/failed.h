/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failed.h - the lane failed: documents that could not be sent to the index, or that searchers
 * could not apply (refusals.h), each with its reason.
 *
 * At most one a key, the newest. It is tried again with growing pauses; after the last try it is
 * parked: it waits for a person, who has it tried again (replay) or gives it up (drop). A newer
 * write of the key that is sent takes it off the list. Written by the owner of the shard, under its
 * fence, by the reader of refusals and by operators; they may meet at one row, so the owner takes
 * off what it has seen and nothing that came since.
 */
#ifndef TORG_REGISTRY_INDEXING_FAILED_H
#define TORG_REGISTRY_INDEXING_FAILED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "registry/receiving/order.h"
#include "store/store.h"

struct failed_element {
    uint32_t shard;
    struct bytes pk;
    struct order order;
    int64_t attempt_count;
    int64_t next_us; /* 0: parked */
    int64_t first_us;
    struct bytes reason;
    int64_t refused_epoch; /* searchers of this epoch could not apply it; 0: it was not sent */
};

/* How long to wait after so many attempts: doubled with each, with up to a quarter more, so that
 * those that failed together do not come back together. */
int64_t failed_pause_us(int64_t attempt_count);

/* Puts it in, in the place of what the key had. is_again: only if it is still there, for somebody
 * may have dropped it meanwhile. */
int failed_put(struct store_tx *tx, int64_t client_id, const struct failed_element *element,
               bool is_again, struct err *err);
/* Takes the keys off, whatever they have; *count (may be NULL): how many there were. */
int failed_remove(struct store_tx *tx, int64_t client_id, uint32_t shard, const struct bytes *pks,
                  size_t pk_count, int64_t *count, struct err *err);

/* Takes these off, but for those that have been put anew since they were read: a searcher may
 * refuse what was sent before the sender has noted that it was. */
int failed_clear(struct store_tx *tx, int64_t client_id, const struct failed_element *elements,
                 size_t count, struct err *err);

/* Calls found with each of the keys that is in; its texts are good until it returns. */
int failed_among(struct store_tx *tx, int64_t client_id, uint32_t shard, const struct bytes *pks,
                 size_t pk_count, int (*found)(void *arg, const struct failed_element *element),
                 void *arg, struct err *err);

/* Those whose time has come, the longest waiting first, at most max. */
int failed_due(struct store_tx *tx, int64_t client_id, uint32_t shard, int64_t now_us, size_t max,
               struct arena *arena, struct failed_element **elements, size_t *count,
               struct err *err);

struct failed_state {
    int64_t waiting_count;
    int64_t parked_count;
    int64_t oldest_us; /* when the first of them failed; 0: there are none */
};
int failed_state(struct store_tx *tx, int64_t client_id, uint32_t shard, struct failed_state *state,
                 struct err *err);

/* How many are not found in the epoch: its searchers could not apply them, or they could not be
 * sent to it. One that the serving epoch has refused, too, counts there. */
int failed_count(struct store_tx *tx, int64_t client_id, int64_t epoch, int64_t *count,
                 struct err *err);

/* --- for operators --- */

struct failed_filter {
    int64_t shard; /* -1: all */
    bool parked_only;
    struct bytes pk_prefix;   /* empty: all */
    struct bytes reason_part; /* empty: all */
    uint32_t after_shard;     /* of the page before ... */
    struct bytes after_pk;    /* ... its last; empty: the first page */
};

/* In order of shard and pk, at most max. */
int failed_list(struct store_tx *tx, int64_t client_id, const struct failed_filter *filter,
                size_t max, struct arena *arena, struct failed_element **elements, size_t *count,
                struct err *err);
int failed_find(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
                struct arena *arena, struct failed_element *element, bool *found, struct err *err);
/* Tries it again at once, its count of tries back at zero; an empty pk: all of the client, at most
 * max of them that are not due yet. */
int failed_replay(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
                  int64_t now_us, size_t max, int64_t *count, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - the keys in the store: made, listed, revoked; each change with its audit entry.
 *
 * Rows are never deleted: a revoked key stays in the list, and its id is never used again.
 * Threads: any; they block, so not on a reactor (that one asks key_ring.h).
 */
#ifndef TORG_ACCESS_KEYS_H
#define TORG_ACCESS_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "access/key.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/violation.h"
#include "store/store.h"

struct key_request {
    const char *name;
    const char *const *scopes;
    size_t scope_count;
    const char *seller; /* "" = none */
    const char *client;
    int64_t expires_us; /* 0 = never */
};

/* Makes a key and writes what its holder gets, which is kept nowhere. ERR_INVALID with all that
 * is wrong in violations; ERR_EXISTS when a key of that name is not revoked; ERR_LIMIT. */
int keys_create(struct store *store, const struct key_request *request, const char *principal,
                int64_t now_us, struct violations *violations, struct key *key,
                char text[KEY_TEXT_LENGTH + 1], struct err *err);

/* In order of ids, from the one after after_id ("": from the first). */
int keys_list(struct store *store, const char *after_id, size_t max, struct arena *arena,
              struct key **keys, size_t *count, struct err *err);

/* Makes a second key of the same name, scopes, bindings and end; the one in use ends at old_ends_us
 * at the latest (now, if that has passed). ERR_PRECONDITION: it is not in use, or there are two
 * already. */
int keys_rotate(struct store *store, const char *id_or_name, int64_t old_ends_us,
                const char *principal, int64_t now_us, struct arena *arena, struct key *key,
                char text[KEY_TEXT_LENGTH + 1], struct err *err);

/* Names the key by its id or, while it is in use, its name: then all keys of that name. *key is the
 * newest of them. ERR_NOT_FOUND; revoking an id again changes nothing and is fine. */
int keys_revoke(struct store *store, const char *id_or_name, const char *principal, int64_t now_us,
                struct key *key, struct err *err);

/* How many could be used now. */
int keys_count_usable(struct store *store, int64_t now_us, int64_t *count, struct err *err);

/* --- inside a transaction --- */

/* Two numbers that only grow, one of them with every change, in whatever order the transactions
 * committed (a greatest sequence number would miss one that commits late). */
struct keys_state {
    int64_t count;
    int64_t revoked_count;
};

int keys_read_state(struct store_tx *tx, struct keys_state *state, struct err *err);
int keys_read_page(struct store_tx *tx, const char *after_id, struct key *keys, size_t max,
                   size_t *count, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ring.h - all keys in memory, for reactors to ask: who is calling?
 *
 * A thread compares the store's state with what is held twice a second and loads the keys anew
 * when it differs, so a key revoked on another machine is refused here within a second; one
 * revoked by this process at once (key_ring_refresh). When the store does not answer the keys
 * held go on being valid for KEY_STALE_MS_MAX, then stored keys are refused: a revocation that
 * cannot be learned must not be ignored for ever. Those that can only search have an hour
 * (KEY_STALE_SEARCH_MS_MAX): buyers' searches outlive the store.
 *
 * Temporary keys (the start key, the operators' key) are in memory alone and end with it.
 * Threads: any. Asking takes a read lock that writers hold only to swap a pointer.
 */
#ifndef TORG_ACCESS_KEY_RING_H
#define TORG_ACCESS_KEY_RING_H

#include "access/key.h"
#include "access/tokens.h"
#include "base/clock.h"
#include "base/err.h"
#include "model/identity.h"
#include "store/store.h"

struct key_ring;

struct key_ring_options {
    struct store *store;       /* borrowed */
    struct tokens *tokens;     /* borrowed; NULL: no tokens, keys alone */
    const struct clock *clock; /* NULL: the system's */
    bool manual;               /* tests: no thread; key_ring_refresh alone learns of changes */
};

/* Loaded when it returns 0. */
int key_ring_open(const struct key_ring_options *options, struct key_ring **ring, struct err *err);
void key_ring_close(struct key_ring *ring);

/* Makes a key that is kept nowhere but here; writes what its holder shows. */
void key_ring_add_temporary(struct key_ring *ring, const char *name, const char *scopes,
                            char text[KEY_TEXT_LENGTH + 1]);

/* Learns of all changes committed before the call. */
int key_ring_refresh(struct key_ring *ring, struct err *err);

/* Puts the number of refused credentials into the audit log, if there were any; done once a minute,
 * and at the end: a row for each would be a way to fill the store. */
int key_ring_tell_refused(struct key_ring *ring, struct err *err);

/* How long ago the reading of the store began that was answered last. */
int64_t key_ring_age_us(struct key_ring *ring);

/* For the server; lives as long as the ring. */
struct authenticator *key_ring_authenticator(struct key_ring *ring);

#endif

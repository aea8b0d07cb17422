/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h - what operators did: who, when, what, to what. Rows are added, never changed.
 *
 * An action on the store is recorded in the action's own transaction, so neither exists alone.
 * Each is also a log line, written after the commit. Rows are chained: audit_chain.h.
 */
#ifndef TORG_ACCESS_AUDIT_H
#define TORG_ACCESS_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"

struct audit_entry {
    int64_t seq; /* set by the store */
    int64_t at_us;
    const char *principal; /* the key's name, or "local" for one who has the data directory; as
                            * call_actor tells it, "NAME#KEY", it brings the key with it */
    const char *key;       /* the key's id; NULL: of the principal, if that has one */
    const char *action;    /* "key.create" */
    const char *target;
    const char *detail;
    const char *hash; /* of the chain, in hex: set by audit_list */
};

/* Adds the row inside a transaction; audit_log is called once that is committed. */
int audit_add(struct store_tx *tx, const struct audit_entry *entry, struct err *err);
void audit_log(const struct audit_entry *entry);

/* Both at once, for actions that change no table. */
int audit_record(struct store *store, const struct audit_entry *entry, struct err *err);

/* The newest `max` entries older than before_seq (0: the newest of all), newest first. */
int audit_list(struct store *store, int64_t before_seq, size_t max, struct arena *arena,
               struct audit_entry **entries, size_t *count, struct err *err);

#endif

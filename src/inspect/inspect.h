/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h - where is a change, and do all stages agree?
 *
 *   offers, parked ┐
 *   registry rows ─┤
 *   queue, failed ─┼─ one read transaction a page ─┐
 *   numbers       ─┘                               ├─> steps of a trace, findings of a check,
 *   searchers     ── pages by number (door.h) ─────┘   how far a write has come (change.h)
 *
 * Everything is read while all stages go on. The store is read by pages, in short transactions, and
 * nothing is held between two calls but a shard that is being rebuilt (rebuild.h), one at a time.
 * Nothing is written but elements of the queue, when a check is asked to put things right.
 *
 * Threads: any, at once.
 */
#ifndef TORG_INSPECT_INSPECT_H
#define TORG_INSPECT_INSPECT_H

#include <stdatomic.h>

#include "base/clock.h"
#include "inspect/doors/door.h"
#include "registry/clients/clients.h"
#include "registry/receiving/rows.h"
#include "store/store.h"

struct catalog;
struct rebuilds;
struct topics;

/* All borrowed. */
struct inspect {
    struct store *store;
    struct clients *clients;
    struct dictionaries *dictionaries;
    const struct clock *clock;
    struct index_door door;
    struct rebuilds *rebuilds;
    struct topics *topics; /* NULL: what is in topics is not told */
    /* A reference to the catalogue in use, by which offers that differ are composed again. NULL:
     * they are only told. */
    struct catalog *(*catalog)(void *arg);
    void *catalog_arg;
    int64_t tombstone_life_us; /* of the registry: a deletion is not known there for longer */
    atomic_int waiter_count;   /* callers that wait for a change now; see change.h */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch.h - when may memory that readers found without a lock be freed? Epoch-based reclamation.
 *
 * A reader thread joins once and owns a slot of one cache line. It enters before it loads the
 * first shared pointer and exits after the last use of what it found: two stores, no counting.
 * A writer unlinks a thing (stores another pointer over it), then retires it; the thing is freed
 * once every slot has been seen outside, or inside from a later time.
 *
 * Why it is right: `now` grows after the unlinking and before the slots are looked at, all in the
 * one order of sequentially consistent operations. A reader whose entry the writer did not see
 * loads `now` after its entry, so it reads the grown value and with it every earlier unlinking.
 *
 * Threads: any number of readers, each with its own slot; any thread may retire and reclaim.
 */
#ifndef TORG_INDEX_EPOCH_H
#define TORG_INDEX_EPOCH_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct epoch;

struct epoch_slot {
    alignas(64) _Atomic uint64_t entered; /* 0: outside */
    struct epoch *epoch;                  /* borrowed */
    _Atomic uint32_t taken;
};

/* Frees `thing`, or the part of it that `part` names. */
typedef void epoch_free_fn(void *thing, uint64_t part);

struct epoch *epoch_new(void);

/* Nobody may be inside; frees everything retired. NULL is fine. */
void epoch_free(struct epoch *epoch);

/* A slot for the calling thread; ERR_LIMIT when EPOCH_SLOT_COUNT_MAX are taken. */
int epoch_join(struct epoch *epoch, struct epoch_slot **slot, struct err *err);
void epoch_leave(struct epoch_slot *slot); /* NULL is fine */

/* Not nested. What was loaded between enter and exit is valid until exit. */
void epoch_enter(struct epoch_slot *slot);

static inline void epoch_exit(struct epoch_slot *slot)
{
    atomic_store_explicit(&slot->entered, 0, memory_order_release);
}

/* Frees thing when no reader can hold it. It must be out of every new reader's reach already. */
void epoch_retire(struct epoch *epoch, epoch_free_fn *free_thing, void *thing, uint64_t part);

/* Stores next where readers find it, and retires what was there (unless NULL). */
void epoch_publish(struct epoch *epoch, _Atomic(void *) *place, void *next,
                   epoch_free_fn *free_thing);

/* Frees what can be freed; returns how many things still wait. epoch_retire calls it at times. */
size_t epoch_reclaim(struct epoch *epoch);

#endif

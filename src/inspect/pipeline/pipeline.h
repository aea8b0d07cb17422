/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h - how far is every stage, from a seller's change to a buyer's search?
 *
 *   store: sequences, queue, lanes, failed, parked, numbers ─┐
 *   topics: ends, committed offsets of groups                ├─ one reading ──> message Pipeline
 *   searchers (door.h), metrics of this process             ─┘   (told again for half a second)
 *
 * Nothing is asked of the stages themselves, so it does not matter in which process they run; what
 * only a process knows of itself (searches answered, failed tries) is told of this one. A source
 * that does not answer makes its stages UNKNOWN, and hides no other.
 *
 * Threads: any, at once; one of them reads.
 */
#ifndef TORG_INSPECT_PIPELINE_PIPELINE_H
#define TORG_INSPECT_PIPELINE_PIPELINE_H

#include "base/arena.h"
#include "base/clock.h"
#include "inspect/doors/door.h"
#include "store/store.h"
#include "topic/topic.h"
#include "torg/v1/pipeline.pb-c.h"

struct pipeline;

struct pipeline_options { /* all borrowed as long as it lives */
    struct store *store;
    struct topics *topics;
    const struct clock *clock;
    /* Whether the role runs in this process. */
    bool (*has_role)(void *arg, const char *role);
    void *has_role_arg;
    int64_t number_hold_us;        /* as the indexer has it */
    const struct index_door *door; /* to searchers; its freshness is NULL where there is none */
};

struct pipeline *pipeline_new(const struct pipeline_options *options);
void pipeline_free(struct pipeline *pipeline); /* NULL is fine */

/* The answer is in the arena. */
int pipeline_get(struct pipeline *pipeline, struct arena *arena, Torg__V1__Pipeline **told,
                 struct err *err);

#endif

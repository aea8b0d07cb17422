/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lateness.h - how long has the oldest element of a lane waited, by the reader's clock alone?
 *
 * Elements say when they were put, by the writer's clock; the reader's may differ by seconds. So
 * the reader notes now and then which element is the newest, and when it saw it. An element at or
 * below such a mark that is not passed yet has waited at least since then.
 *
 *   marks (idx, moment):   [ 40, 1.00 s ]  [ 55, 1.06 s ]  [ 71, 1.12 s ]      position 38: late
 *                                                                              since 1.00 s
 * Threads: the reader's.
 */
#ifndef TORG_REGISTRY_INDEXING_LATENESS_H
#define TORG_REGISTRY_INDEXING_LATENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/bounds.h"

struct lateness_mark {
    int64_t idx;
    int64_t seen_us; /* monotonic */
};

struct lateness {
    struct lateness_mark marks[INDEXER_MARK_COUNT]; /* ascending, not passed yet */
    uint32_t count;
};

/* Everything up to the position is dealt with. */
void lateness_pass(struct lateness *lateness, int64_t position);
/* Whether it is time for a mark. */
bool lateness_wants(const struct lateness *lateness, int64_t now_us);
/* The newest element is this one. With no room for a mark every second of the others goes: old ones
 * lie further apart than new ones. */
void lateness_mark(struct lateness *lateness, int64_t position, int64_t newest, int64_t now_us);
/* At the least; 0: nothing waits that was there at an earlier look. */
int64_t lateness_us(const struct lateness *lateness, int64_t now_us);

#endif

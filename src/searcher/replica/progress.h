/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - what a shard knows about the senders of its messages; kept as the shard's note.
 *
 *     4 | varint ticket | flags byte | varint pour | varint its ticket | varint time |
 *         varint T | varint S | varint V | varint G | varint count | varint idx of each lane
 *
 * Version 1 had no pour, version 2 no time, version 3 no T.S.V.G.
 *
 * It belongs to an offset of the topic, as the shard's content does: both are published, saved and
 * loaded together.
 */
#ifndef TORG_SEARCHER_REPLICA_PROGRESS_H
#define TORG_SEARCHER_REPLICA_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

enum { PROGRESS_LANE_COUNT = 4 }; /* QueueLane.Name */

struct progress {
    uint64_t ticket;                    /* the highest that was seen */
    int64_t lanes[PROGRESS_LANE_COUNT]; /* every element of the lane up to this is in */
    bool has_gap;                       /* messages were lost: the index is not whole ... */
    int64_t pour;                       /* ... before the end of this pour; 0: none has begun;
                                         * below: what is there is of no use, as of version 1 */
    uint64_t pour_ticket;               /* of who began it */
    int64_t time_us;                    /* of the newest message that is in; 0: not known */
    uint32_t numbers[4];                /* T.S.V.G of the numbers that it has; T 0: not known */
};

void progress_encode(const struct progress *progress, struct buf *out);
/* An empty note is the beginning. ERR_CORRUPT: it is none of ours. */
int progress_decode(struct bytes note, struct progress *progress, struct err *err);

#endif

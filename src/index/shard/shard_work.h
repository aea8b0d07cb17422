/* SPDX-License-Identifier: Apache-2.0 */
/* shard_work.h - between shard_work.c and shard_background.c: when to work, and when to pause. */
#ifndef TORG_INDEX_SHARD_SHARD_WORK_H
#define TORG_INDEX_SHARD_SHARD_WORK_H

#include "index/shard/shard_parts.h"

/* Tells the background that something may be due. Under the lock. */
void shard_work_wanted(struct shard *shard);
/* Waits for a publication or the end of a piece of work. Under the lock, which it gives up. */
void shard_wait_published(struct shard *shard, int64_t ms);
/* Called by long work every millisecond or so; true: give up. context: the shard. */
bool shard_pause(void *context);

/* Freezes the oldest buffer before `until` (NULL: the one that is written). Under work. */
int shard_freeze(struct shard *shard, const struct part *until, bool *did, struct err *err);

/* One step towards fewer parts: freezes or merges. Under work. */
int shard_relieve(struct shard *shard, bool *did, struct err *err);

/* One step for stored fields: a dictionary, or a worn file. Under work. */
int shard_tend_stored(struct shard *shard, bool *did, struct err *err);

/* One step of reading the files of segments before a query has to: it would wait for the disk and
 * for the sums. Only for a shard with a background. Under work. */
int shard_read_on(struct shard *shard, bool *did, struct err *err);
/* The same for the whole file of a part that nobody sees yet. */
int shard_read_part(struct shard *shard, struct part *part, struct err *err);

/* The background thread, if the options want one. */
int shard_background_start(struct shard *shard, struct err *err);
void shard_background_stop(struct shard *shard);

#endif

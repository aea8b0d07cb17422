/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writers.h - the threads that make records durable: many callers, one sync (group commit).
 *
 * Each partition belongs to one of TOPIC_WRITER_COUNT threads. While a thread syncs, callers queue
 * up; then it takes all that came, writes one run of frames per partition, syncs each file once,
 * and calls everybody back. Records in flight are bounded: callers wait for room.
 */
#ifndef TORG_TOPIC_WRITERS_H
#define TORG_TOPIC_WRITERS_H

#include "base/clock.h"
#include "topic/partition.h"
#include "topic/topic_ops.h"

struct writers;

/* Called by a writer when new records of the partition can be read. */
typedef void (*writers_published_fn)(void *arg, struct partition *partition);

struct writers *writers_new(writers_published_fn published, void *arg, const struct clock *clock);
void writers_free(struct writers *writers); /* finishes what is queued */

/* Queues the records for partitions[submit->partitions[i]]. With wait false it is queued at once,
 * however much is in flight: for the broker's own few records. */
int writers_submit(struct writers *writers, struct partition *partitions,
                   const struct submit *submit, bool wait, struct err *err);

/* Waits until all that was submitted before has been called back. */
int writers_flush(struct writers *writers, int timeout_ms, struct err *err);

#endif

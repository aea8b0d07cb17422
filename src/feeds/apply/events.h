/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - feeds that arrive through the topic feed-events; and the upkeep of all feeds' tasks.
 *
 * A record is a FeedEvent that names its seller, feed and task; its key is SELLER/FEED, so that the
 * events of a feed stay in order. Offsets are committed after what they stand for is durable, that
 * of an end when nothing is left to delete; what comes again is recognised. A record that makes no
 * sense, or is of a task that is over, is parked (stage/parked.h) and passed by those behind it;
 * the count of its end then differs, and the task is held. While the store fails, a record is tried
 * again.
 *
 * Threads: one for the topic (stage/reader.h), one for keeping (keep.h).
 */
#ifndef TORG_FEEDS_APPLY_EVENTS_H
#define TORG_FEEDS_APPLY_EVENTS_H

#include "offers/change/offers.h"
#include "topic/topic.h"

struct feed_events;

/* Makes the topic if it is not there, and starts. Both are borrowed until it stops. */
int feed_events_start(const struct offers *offers, struct topics *topics,
                      struct feed_events **events, struct err *err);
void feed_events_stop(struct feed_events *events); /* NULL is fine */

#endif

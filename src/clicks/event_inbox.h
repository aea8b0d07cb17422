/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_inbox.h - events that arrive by topic instead of by call: for front ends that collect them
 * themselves.
 *
 * A record of the topic `events` is one RecordEventsRequest, its key the session. It is counted as
 * one that was called for, once however often it comes (events.h); one that cannot be read, or has
 * something wrong in it, is parked (stage/parked.h) and passed.
 */
#ifndef TORG_CLICKS_EVENT_INBOX_H
#define TORG_CLICKS_EVENT_INBOX_H

#include "clicks/events.h"
#include "topic/topic.h"

struct event_inbox;

/* Makes the topic if it is not there. All are borrowed until it stops. On failure *inbox is NULL.
 */
int event_inbox_start(const struct events *events, struct topics *topics,
                      struct event_inbox **inbox, struct err *err);
void event_inbox_stop(struct event_inbox *inbox); /* NULL is fine */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - events of one task as they come, one by one, gathered into batches.
 *
 * Used by everything that events come from: the stream of a call, a call with some, the topic. What
 * was added is durable when feed_intake_flush, or the end, returned 0.
 */
#ifndef TORG_FEEDS_APPLY_INTAKE_H
#define TORG_FEEDS_APPLY_INTAKE_H

#include "feeds/apply/end.h"
#include "feeds/bounds.h"

struct feed_intake {
    const struct offers *offers;
    enum language language; /* of reasons */
    struct feed_key key;    /* its texts are the owner's */
    struct arena *arena;    /* owned: of the events that wait */
    Torg__V1__FeedEvent *events[FEED_BATCH_COUNT];
    size_t count;
    size_t size;
    bool is_open;
};

void feed_intake_init(struct feed_intake *intake, const struct offers *offers,
                      enum language language, const struct feed_key *key);
void feed_intake_release(struct feed_intake *intake);

/* An event that was checked (feed_event_check); it is copied. With an end, everything up to it is
 * applied and *task is what the task is then; else *task is left alone. */
int feed_intake_add(struct feed_intake *intake, const Torg__V1__FeedEvent *event,
                    const struct feed_patience *patience, struct arena *arena,
                    struct feed_task *task, struct err *err);
int feed_intake_flush(struct feed_intake *intake, struct err *err);

#endif

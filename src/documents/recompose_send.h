/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recompose_send.h - a page of offers, as documents of one catalogue, handed to the receiver.
 *
 * Documents go where those of live changes go: to the partition of `documents` that belongs to the
 * offer's partition of `offer-updates`. Returns when the receiver has taken them.
 *
 * Threads: one.
 */
#ifndef TORG_DOCUMENTS_RECOMPOSE_SEND_H
#define TORG_DOCUMENTS_RECOMPOSE_SEND_H

#include "base/clock.h"
#include "base/metrics.h"
#include "base/task.h"
#include "catalog/catalog.h"
#include "documents/recompose_mark.h"
#include "documents/recomposer.h"
#include "topic/topic.h"

struct recompose_sender { /* all borrowed */
    struct topics *topics;
    struct store *store; /* of parked offers */
    const struct clock *clock;
    const char *taker_group; /* NULL: nobody is waited for */
    struct task *task;       /* whose work it is: it is asked to stop */
    uint32_t source_count;   /* partitions */
    uint32_t target_count;
    bool has_every_status; /* deletions of offers that are not to be found are sent, too */
    struct counter *sent, *hidden, *failed;
};

int recompose_sender_init(struct recompose_sender *sender, struct topics *topics,
                          struct store *store, const struct clock *clock, const char *taker_group,
                          struct task *task, struct err *err);

/* How long to wait before the page is read again, 0: not at all. An offer that is to be hidden and
 * has just changed may be about to be parked, which decides how it is hidden. */
int64_t recompose_hold_us(const struct recompose_sender *sender, const struct catalog *catalog,
                          const struct recompose_page *page);

/* Counts what it did in the mark. ERR_CANCELLED: it is time to stop; some may have been sent. */
int recompose_send(struct recompose_sender *sender, const struct catalog *catalog,
                   const struct recompose_page *page, struct arena *arena,
                   struct recompose_mark *mark, struct err *err);

#endif

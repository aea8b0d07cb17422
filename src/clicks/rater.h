/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rater.h - changed counts of events become rates of clicks in the index.
 *
 *   click_hour ── changed since the last round ──> rate of each offer (rate.h) ══ documents ══>
 *
 * A rate is sent as a change of the offer's side field "ctr" (docs/documents.md), ordered by the
 * moment of its round: the document is not touched. Rounds are remembered in the store after their
 * changes were acknowledged: a crash sends some again, which is harmless, and so are two raters.
 *
 * A table that was pushed (rate_table.h) is sent in the same way, a page at a time: changes are
 * ordered by the epoch in force, then by the moment, so newer hours win over the table.
 *
 * Rows of hours that no rate is of any more, and of tables that were in force, leave a page at a
 * time, after the rates of their offers without them were acknowledged.
 *
 * Threads: a task of its own.
 */
#ifndef TORG_CLICKS_RATER_H
#define TORG_CLICKS_RATER_H

#include "base/clock.h"
#include "base/err.h"
#include "store/store.h"
#include "topic/topic.h"

struct blob; /* blob/blob.h */

struct rater_options { /* all borrowed */
    struct store *store;
    struct topics *topics;
    const struct clock *clock;
    struct blob *blob; /* where the task puts tables of hours (hour_tables.h); NULL: nowhere */
};

/* One round; *count: rates that were sent. What was counted in the last seconds is left for the
 * next: transactions that began before may still commit. */
int rater_round(const struct rater_options *options, size_t *count, struct err *err);

struct rater;
int rater_start(const struct rater_options *options, struct rater **rater, struct err *err);
void rater_wake(struct rater *rater); /* a round begins at once, instead of within a minute */
void rater_stop(struct rater *rater); /* NULL is fine */

#endif

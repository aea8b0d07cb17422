/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h - the events of a task, applied to offers.
 *
 * Rows are applied in batches, each durable when it has been; a row that comes again is recognised
 * and changes nothing. An end is end.h's.
 */
#ifndef TORG_FEEDS_APPLY_APPLY_H
#define TORG_FEEDS_APPLY_APPLY_H

#include "feeds/tasks/task.h"

/* An event with neither row nor end, a row without a number, …: ERR_INVALID. */
int feed_event_check(const Torg__V1__FeedEvent *event, struct violations *violations,
                     struct err *err);

/* Upserts and deletes that were checked, in order, of a task that was opened. */
int feed_apply_rows(const struct offers *offers, const struct feed_key *key, enum language language,
                    Torg__V1__FeedEvent *const *events, size_t count, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * end.h - the end of a task: it is held for a decision, or the offers that it calls unavailable are
 * withdrawn and everything of the feed that is older is deleted.
 *
 * Both go by chunks, each of them a few transactions that leave the task ENDING; nobody has
 * to remember where it stood. Whoever may go on calls feed_end_go_on until the task is DONE.
 */
#ifndef TORG_FEEDS_APPLY_END_H
#define TORG_FEEDS_APPLY_END_H

#include <stdatomic.h>

#include "feeds/tasks/task.h"

/* How long to go on: until a time of the clock (NULL: for ever), or until told (may be NULL). */
struct feed_patience {
    const struct clock *clock;
    int64_t until_us;
    const atomic_bool *stopping;
};

bool feed_patience_ends(const struct feed_patience *patience);

/* The event end: decides whether the task is held, and else goes on. Of a task that has ended
 * already it changes nothing. *task is what it is then. */
int feed_end(const struct offers *offers, const struct feed_key *key, const Torg__V1__FeedEnd *end,
             const struct feed_patience *patience, struct arena *arena, struct feed_task *task,
             struct err *err);
/* The end did not come: RUNNING becomes HELD, with what it would delete told. *task is what it is
 * then. */
int feed_end_cut(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                 struct feed_task *task, struct err *err);
/* Fills what a HELD task tells of the offers that it would delete and withdraw: the first of them.
 */
int feed_end_tell_items(const struct offers *offers, const struct feed_key *key,
                        struct arena *arena, struct feed_task *task, struct err *err);
/* Withdraws and deletes while the task is ENDING and patience lasts; at least one chunk. */
int feed_end_go_on(const struct offers *offers, const struct feed_key *key,
                   const struct feed_patience *patience, struct arena *arena,
                   struct feed_task *task, struct err *err);

#endif

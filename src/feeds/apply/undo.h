/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undo.h - takes back what a task has done: created offers are deleted, others get their
 * content and status back.
 *
 * An offer that was touched since (by its seller, a moderator, time, a later task) is left, and its
 * row of the report says why. It goes by the report, the last row first, and can be gone on with by
 * anyone, as an end (end.h).
 */
#ifndef TORG_FEEDS_APPLY_UNDO_H
#define TORG_FEEDS_APPLY_UNDO_H

#include "feeds/apply/end.h"

/* ERR_PRECONDITION: it is too late, the task has not ended, or it was a dry run. */
int feed_undo(const struct offers *offers, const struct feed_key *key,
              const struct feed_patience *patience, struct arena *arena, struct feed_task *task,
              struct err *err);
/* While the task is UNDOING and patience lasts. */
int feed_undo_go_on(const struct offers *offers, const struct feed_key *key,
                    const struct feed_patience *patience, struct arena *arena,
                    struct feed_task *task, struct err *err);

#endif

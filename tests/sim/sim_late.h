/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_late.h - a commit in doubt that takes place later: its caller is told that nobody knows,
 * looks, finds nothing, goes on, and then it is there.
 *
 *   statements and what they gave ──► rolled back, the caller is told ──► some seconds
 *                                                                               │
 *       one gives something else: as if it had never been ◄── run again ◄───────┘
 *
 * So does a server whose COMMIT waits (for its disk, for a replica) when the connection is lost.
 * Meanwhile its locks are held: who writes a row that it has written would wait for it, or fail;
 * here he goes before it, and it is rolled back.
 * Threads: all but late_wait by the server's thread that writes.
 */
#ifndef TORG_TESTS_SIM_LATE_H
#define TORG_TESTS_SIM_LATE_H

#include "base/clock.h"
#include "store/store_ops.h"

struct late;

struct late *late_new(void);
void late_free(struct late *late); /* NULL is fine; not after late_start */

/* What a statement was and what it gave. */
void late_exec(struct late *late, const struct store_call *call);
void late_select(struct late *late, const struct store_call *call,
                 const struct store_cursor *cursor);
/* rc: of the step. */
void late_next(struct late *late, const struct store_cursor *cursor, int rc);

/* It is run again in the store, by a thread of its own, when so much time has passed. */
void late_start(struct late *late, struct store *store, const struct clock *clock,
                int64_t after_us);
/* Somebody else runs this: what has written the same is rolled back. */
void late_meet(const struct store_call *call);
/* Returns when none is left. */
void late_wait(const struct clock *clock);

#endif

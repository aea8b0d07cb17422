/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.h - keeps out the writes of an owner that has been replaced without knowing it, by fencing
 * tokens.
 *
 * Ownership of a shard comes with a ticket that grows with each owner (coord). Every guarded
 * write checks its ticket in its own transaction: the highest ticket seen is a row, so a lower one
 * is refused however late it comes.
 */
#ifndef TORG_STORE_FENCE_H
#define TORG_STORE_FENCE_H

#include "store/store.h"

/* ERR_STALE when a higher ticket has written under this name; a higher one is recorded. */
int store_check_fence(struct store_tx *tx, const char *name, int64_t ticket, struct err *err);

#endif

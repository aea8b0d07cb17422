/* SPDX-License-Identifier: Apache-2.0 */
/* sweeper.h - the task that removes photos which nobody refers to (ledger.h). */
#ifndef TORG_PHOTOS_SWEEPER_H
#define TORG_PHOTOS_SWEEPER_H

#include "photos/ledger.h"

struct sweeper;

/* keep_us: how long they are kept; 0: for ever. The ledger is borrowed until it has stopped. */
int sweeper_start(struct ledger *ledger, int64_t keep_us, struct sweeper **sweeper,
                  struct err *err);
void sweeper_stop(struct sweeper *sweeper); /* NULL is fine */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_checkpointer.h - moves the write-ahead log into the database, off the commit path.
 *
 * A thread with a connection of its own. The writer reports the log's length after each commit;
 * past store_options.wal_page_count the thread copies pages while the writer continues, and only
 * for the short rest asks it to pause, so the log starts from its beginning again. A reader on an
 * old snapshot can prevent that: the log then grows, groups are slowed down and finally refused.
 */
#ifndef TORG_STORE_SQLITE_CHECKPOINTER_H
#define TORG_STORE_SQLITE_CHECKPOINTER_H

#include "store/sqlite_connection.h"

struct sqlite_checkpointer;

int sqlite_checkpointer_start(const struct sqlite_place *place,
                              struct sqlite_checkpointer **checkpointer, struct err *err);
void sqlite_checkpointer_stop(struct sqlite_checkpointer *checkpointer); /* NULL is fine */

/* The writer, before a group: waits while the log may not grow. ERR_UNAVAILABLE when it is full.
 */
int sqlite_checkpointer_enter(struct sqlite_checkpointer *checkpointer, struct err *err);

/* The writer, after a group: the log has this many pages (0: unknown, nothing was written). */
void sqlite_checkpointer_leave(struct sqlite_checkpointer *checkpointer, int page_count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_writer.h - the one writer of a SQLite file: many callers' transactions, one commit (group
 * commit).
 *
 * Callers queue and sleep; the writer's thread takes all that wait, runs them one after the other
 * in one SQLite transaction, commits (one sync of the log), and only then wakes them. The queue is
 * bounded by the number of callers. If a caller's function fails, only that caller is rolled back.
 * When the commit fails, every caller of the group fails.
 */
#ifndef TORG_STORE_SQLITE_WRITER_H
#define TORG_STORE_SQLITE_WRITER_H

#include "store/sqlite_checkpointer.h"
#include "store/sqlite_connection.h"

struct sqlite_writer;

/* Opens (and creates) the database and starts the thread. */
int sqlite_writer_start(const struct sqlite_place *place, struct sqlite_writer **writer,
                        struct err *err);
void sqlite_writer_stop(struct sqlite_writer *writer); /* NULL is fine */

/* Runs fn as one transaction; 0 once it is durable. */
int sqlite_writer_run(struct sqlite_writer *writer, store_fn fn, void *arg, struct err *err);

#endif

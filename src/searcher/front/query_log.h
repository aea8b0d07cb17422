/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_log.h - the last queries that were asked here, so that another epoch can be tried with
 * them.
 *
 * A ring in memory: one query in QUERY_LOG_PAUSE_MS at most, so that a busy process pays nothing
 * for it and the ring covers more than a moment; none twice. Gone with the process. Threads: any.
 */
#ifndef TORG_SEARCHER_FRONT_QUERY_LOG_H
#define TORG_SEARCHER_FRONT_QUERY_LOG_H

#include "base/arena.h"
#include "base/clock.h"
#include "torg/v1/searcher.pb-c.h"

struct query_log;

struct query_log *query_log_new(const struct clock *clock);
void query_log_free(struct query_log *log); /* NULL is fine */

/* A page behind the first, and what names its epoch, is of no use to another one: left out, as is
 * what is larger than QUERY_LOG_SIZE_MAX. */
void query_log_add(struct query_log *log, const char *client,
                   const Torg__V1__SearchRequest *request);

/* Those of the client, the newest first, decoded to the arena; returns how many. */
size_t query_log_list(struct query_log *log, const char *client, struct arena *arena,
                      Torg__V1__Query ***queries);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild.h - a shard of an epoch rebuilt in memory from the registry, to compare its content with
 * what a searcher has.
 *
 * Rows become messages by the indexer's own conversion, and messages become documents by the
 * searcher's own application: what is compared is everything between them, queue, topic, order,
 * replays, checkpoints, merges.
 *
 * It is built over several calls, as much memory as the shard takes: one a process at a time. One
 * that nobody has gone on with for REBUILD_IDLE_MS makes room for the next.
 */
#ifndef TORG_INSPECT_VERIFY_REBUILD_H
#define TORG_INSPECT_VERIFY_REBUILD_H

#include "inspect/inspect.h"

struct rebuild;

struct rebuilds *rebuilds_new(void);
void rebuilds_free(struct rebuilds *rebuilds); /* NULL is fine */

/* Begins one. ERR_UNAVAILABLE: another is under way. */
int rebuild_begin(const struct inspect *inspect, const char *client, int64_t epoch, uint32_t shard,
                  uint64_t *id, struct err *err);
/* Goes on with it, for this call alone. ERR_NOT_FOUND: it was given up; begin again. */
int rebuild_take(const struct inspect *inspect, uint64_t id, struct rebuild **rebuild,
                 struct err *err);
/* Until the next call; is_done: it is over. */
void rebuild_put(const struct inspect *inspect, struct rebuild *rebuild, bool is_done);

/* The next rows, about VERIFY_REBUILD_COUNT; *count of them, 0: that was all. */
int rebuild_go_on(const struct inspect *inspect, struct rebuild *rebuild, struct arena *arena,
                  size_t *count, struct err *err);
/* Of all there is, without what has ended by now, as searchers have it. */
int rebuild_content(const struct inspect *inspect, struct rebuild *rebuild, uint64_t *content,
                    uint64_t *doc_count, struct err *err);
/* Whether something has ended by now: a searcher that was asked may be a moment ahead or behind. */
bool rebuild_has_ended(const struct inspect *inspect, const struct rebuild *rebuild);

/* What a searcher would have of some rows, in a shard of this call alone: contents as ListIndexed
 * tells them; 0: it would not have it, or it cannot be told. */
int rebuild_sample(const struct inspect *inspect, const struct client_view *client, int64_t epoch,
                   const struct row *rows, const uint32_t *doc_ids, size_t count,
                   struct arena *arena, uint64_t *contents, struct err *err);

#endif

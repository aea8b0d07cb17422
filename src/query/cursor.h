/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - where a page ended, so that the next one goes on behind it.
 *
 * Holds the last hit's place, the weights its scores were computed with (so that the order does not
 * move with merges), the time its ages were (nor with that), and a hash of the query: a cursor of
 * another query is refused. Keywords are told by their texts: their ranks move with each new one.
 * A capped list is walked from its beginning, so its cursor also has how deep the last hit was.
 */
#ifndef TORG_QUERY_CURSOR_H
#define TORG_QUERY_CURSOR_H

#include "query/sort_plan.h"

struct page_cursor {
    uint64_t query_hash;
    uint32_t depth; /* hits of the list up to and with the last one */
    int64_t now;    /* of the first page */
    struct query_place last;
    struct query_words words; /* none: scores are computed with the shard's own */
};

struct bytes cursor_encode(const struct page_cursor *cursor, struct arena *arena);

/* ERR_INVALID when the bytes are not a cursor, or one of another query. Texts are in the bytes. */
int cursor_decode(struct bytes bytes, uint64_t query_hash, uint32_t key_count, struct arena *arena,
                  struct page_cursor *cursor, struct err *err);

/* Of everything that decides which hits there are and in which order. */
uint64_t query_hash(const struct query_plan *plan, const struct query_stage *stage);

#endif

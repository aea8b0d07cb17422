/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_mark.h - the cursor of an answer: where its page ended in each shard, of which epoch and
 * query, and the counts of words that its scores were computed with.
 *
 *     SearchCursor (searcher.proto) | hash of it u64
 *
 * The hash tells a cursor that was cut from one that is whole; it is no seal, and what a cursor
 * says is checked as any input.
 */
#ifndef TORG_SEARCHER_PAGE_MARK_H
#define TORG_SEARCHER_PAGE_MARK_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "torg/v1/searcher.pb-c.h"

/* Of everything that decides which hits the stage has, and in which order. */
uint64_t page_mark_hash(const Torg__V1__Query *query, uint32_t stage, struct arena *arena);

struct bytes page_mark_encode(const Torg__V1__SearchCursor *mark, struct arena *arena);

/* ERR_INVALID: it is none, or one of another query. */
int page_mark_decode(struct bytes cursor, uint64_t query_hash, struct arena *arena,
                     Torg__V1__SearchCursor **mark, struct err *err);

#endif

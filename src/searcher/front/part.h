/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - what a front and a shard tell each other of one stage, as messages (searcher.proto):
 * counts of words, and where a hit stands.
 */
#ifndef TORG_SEARCHER_FRONT_PART_H
#define TORG_SEARCHER_FRONT_PART_H

#include "query/query.h"
#include "torg/v1/searcher.pb-c.h"

/* Messages are in the arena and borrow from what they tell; what is read borrows from the message.
 * NULL becomes NULL. */
Torg__V1__WordCounts *part_tell_words(const struct query_words *words, struct arena *arena);
const struct query_words *part_read_words(const Torg__V1__WordCounts *message, struct arena *arena);

Torg__V1__HitPlace *part_tell_place(const struct query_place *place, struct arena *arena);
/* At most SORT_COUNT_MAX keys: whoever took the message has checked that. */
struct query_place part_read_place(const Torg__V1__HitPlace *message);

/* Of everything in the query that decides which hits the stage has, and in which order: of what was
 * sent, as each shard may know other fields of it. */
uint64_t part_query_hash(const Torg__V1__Query *query, uint32_t stage, struct arena *arena);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fronts.h - a search asked of searchers in other processes, one after another until one answers.
 *
 * Each can be asked for all shards (front.h). Those that answered when they were asked for their
 * freshness (peers.h) are asked first, in turn. All but the last get half of the time that is left,
 * and less than a second unless writes are waited for: one that hangs leaves some to the others.
 *
 * Threads: any.
 */
#ifndef TORG_SEARCHER_FRONT_FRONTS_H
#define TORG_SEARCHER_FRONT_FRONTS_H

#include "searcher/front/peers.h"

/* deadline_us: monotonic. The response is in the arena. What is wrong with the request is told as
 * the searcher tells it, everything else with its address. */
int fronts_search(struct peers *peers, const Torg__V1__SearchRequest *request, int64_t deadline_us,
                  struct arena *arena, Torg__V1__SearchResponse *response, struct err *err);

/* How long one searcher is waited for: with others behind it not longer than a process that stands
 * still may cost its callers, unless the request waits for writes. */
int64_t fronts_patience_ms(const Torg__V1__SearchRequest *request, int64_t left_ms, bool is_last);

#endif

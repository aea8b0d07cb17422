/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.h - a shard of this process, asked by message: what SearchShard and CountWords do, and what
 * a front does with the shards that it has itself.
 */
#ifndef TORG_SEARCHER_FRONT_LOCAL_H
#define TORG_SEARCHER_FRONT_LOCAL_H

#include "query/request/reading.h"
#include "searcher/replica/replica.h"
#include "torg/v1/searcher.pb-c.h"

/* Memory is the arena's; the answers borrow from the request and the reading, which is of
 * request->query. Both wait for request->wait until the deadline (monotonic). */
int local_count_words(struct replica *replica, const Torg__V1__ShardRequest *request,
                      struct reading *reading, int64_t deadline_us, struct arena *arena,
                      Torg__V1__ShardWords **words, struct err *err);
int local_search(struct replica *replica, const Torg__V1__ShardRequest *request,
                 struct reading *reading, int64_t deadline_us, struct arena *arena,
                 Torg__V1__ShardAnswer **answer, struct err *err);

#endif

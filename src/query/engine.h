/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - the scratch of one thread: query.c runs with it, explain.c asks with it. */
#ifndef TORG_QUERY_ENGINE_H
#define TORG_QUERY_ENGINE_H

#include "query/stage.h"

struct query_engine {
    struct shard *shard;         /* borrowed */
    struct shard_reader *reader; /* borrowed */
    struct analysis *analysis;
    struct window_hits *hits;
    struct arena *memory; /* of one query: what its answer does not need */
};

#endif

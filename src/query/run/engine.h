/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - the scratch of one thread: query.c runs with it, explain.c asks with it. */
#ifndef TORG_QUERY_RUN_ENGINE_H
#define TORG_QUERY_RUN_ENGINE_H

#include "base/object.h"
#include "query/run/stage.h"

enum { QUERY_ENGINE_MAGIC = OBJECT_MAGIC('q', 'e', 'n', 'g') };

struct query_engine {
    uint32_t magic;
    struct shard *shard;         /* borrowed */
    struct shard_reader *reader; /* borrowed */
    struct analysis *analysis;
    struct window_hits *hits;
    struct arena *memory; /* of one query: what its answer does not need */
};

#endif

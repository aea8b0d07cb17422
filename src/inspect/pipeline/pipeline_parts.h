/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_parts.h - what the files of pipeline.h share. */
#ifndef TORG_INSPECT_PIPELINE_PIPELINE_PARTS_H
#define TORG_INSPECT_PIPELINE_PIPELINE_PARTS_H

#include <pthread.h>

#include "base/buf.h"
#include "base/object.h"
#include "inspect/bounds.h"
#include "inspect/pipeline/pipeline.h"
#include "numerator/number_count.h"
#include "registry/clients/clients.h"
#include "topic/bounds.h"

/* In the order of the flow. */
enum stage {
    STAGE_OFFERS,
    STAGE_EXPORT,
    STAGE_UPDATES,
    STAGE_COMPOSER,
    STAGE_DOCUMENTS,
    STAGE_RECEIVER,
    STAGE_QUEUE,
    STAGE_INDEXER,
    STAGE_INDEX,
    STAGE_SEARCHER,
    STAGE_SEARCH,
    STAGE_COUNT
};

/* What was seen of a stage before. */
struct stage_watch {
    uint64_t done_count, error_count;
    int64_t moved_us;  /* monotonic: something was done, or nothing waited */
    int64_t failed_us; /* the last failure; 0: none */
};

struct number_memo {
    int64_t client_id;
    uint32_t shard;
    struct number_count count;
};

struct topic_memo {
    char name[TOPIC_NAME_SIZE_MAX + 1];
    uint32_t partition_count; /* for ever; 0: not known yet */
};

enum { TOPIC_MEMO_COUNT = 2 };

enum { PIPELINE_MAGIC = OBJECT_MAGIC('p', 'i', 'p', 'e') };

struct pipeline {
    uint32_t magic;
    struct pipeline_options options;
    struct clients *clients;
    pthread_mutex_t lock; /* of the answer; held for a copy */
    struct buf answer;
    int64_t read_us;         /* monotonic, of the answer; 0: there is none */
    pthread_mutex_t reading; /* held by whoever reads, of all that follows */
    struct stage_watch watches[STAGE_COUNT];
    struct topic_memo topics[TOPIC_MEMO_COUNT];
    struct number_memo numbers[PIPELINE_SHARD_COUNT_MAX];
    size_t number_count;
    int64_t numbers_us; /* monotonic, when they were counted; 0: never */
};

/* One reading. */
struct look {
    struct pipeline *pipeline;
    struct arena *arena;
    int64_t now_us; /* wall */
    Torg__V1__Pipeline *told;
    Torg__V1__PipelineStage *stages[STAGE_COUNT];
    const struct client_view **clients;
    size_t client_count; /* of those whose shards are told */
};

/* The stages from to to cannot be told, for this reason. */
void look_unknown(struct look *look, enum stage from, enum stage to, const struct err *err);
/* What waits has waited since then; 0: nobody knows. The longest wait is told. */
void look_since(const struct look *look, Torg__V1__PipelineStage *stage, int64_t since_us);

void look_at_store(struct look *look);  /* needs the clients */
void look_at_topics(struct look *look); /* after the store */
void look_at_index(struct look *look);  /* index topics and searchers; after the store */

#endif

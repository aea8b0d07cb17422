/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_topics.c - what topics and searchers say of the pipeline: see pipeline.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "documents/composer.h"
#include "inspect/pipeline/pipeline_parts.h"
#include "model/topics.h"
#include "registry/indexing/indexer.h"
#include "registry/receiving/document_inbox.h"

enum { AGE_WAIT_MS = 20 };

/* --- topics with a reader --- */

/* 0: it is not there yet. */
static int partitions_of(struct pipeline *pipeline, size_t at, const char *name, uint32_t *count,
                         struct err *err)
{
    struct topic_memo *memo = &pipeline->topics[at];
    struct topic_config config;
    int rc = 0;

    if (!memo->partition_count) {
        rc = topic_describe(pipeline->options.topics, name, &config, err);
        if (!rc)
            memo->partition_count = config.partition_count;
    }
    *count = memo->partition_count;
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

/* When the first record that waits was written; 0: not known. */
static int64_t first_waiting_us(const struct look *look, const char *name, uint32_t partition,
                                const struct topic_lag *lag)
{
    const struct topic_message *messages;
    size_t count = 0;
    struct err err;

    if (topic_read(look->pipeline->options.topics, name, partition, lag->end - lag->lag, 1,
                   AGE_WAIT_MS, look->arena, &messages, &count, &err) ||
        !count)
        return 0;
    return messages[0].timestamp_us;
}

static void look_at_reader(struct look *look, size_t memo, const char *name, const char *group,
                           enum stage topic, enum stage reader, bool counts_records)
{
    struct topics *topics = look->pipeline->options.topics;
    Torg__V1__PipelineStage *stage = look->stages[reader];
    uint32_t partition_count, aged_count = 0;
    struct err err;
    int rc = partitions_of(look->pipeline, memo, name, &partition_count, &err);

    for (uint32_t i = 0; i < partition_count && !rc; i++) {
        struct topic_lag lag;

        rc = topic_lag(topics, group, name, i, &lag, &err);
        if (rc)
            break;
        look->stages[topic]->done_count += lag.end;
        stage->lag_count += lag.lag;
        if (counts_records)
            stage->done_count += lag.end - lag.lag;
        if (lag.lag && aged_count++ < PIPELINE_AGE_COUNT)
            look_since(look, stage, first_waiting_us(look, name, i, &lag));
    }
    if (rc)
        look_unknown(look, topic, reader, &err);
}

void look_at_topics(struct look *look)
{
    look_at_reader(look, 0, TOPIC_OFFER_UPDATES, COMPOSER_GROUP, STAGE_UPDATES, STAGE_COMPOSER,
                   true);
    /* A record is a batch; the receiver's documents are counted by the queue. */
    look_at_reader(look, 1, TOPIC_DOCUMENTS, DOCUMENT_GROUP, STAGE_DOCUMENTS, STAGE_RECEIVER,
                   false);
}

/* --- the index --- */

static void tell_replica(struct look *look, Torg__V1__PipelineShard *shard,
                         const Torg__V1__ShardFreshness *found)
{
    Torg__V1__PipelineReplica *told = MESSAGE_NEW(pipeline_replica, look->arena);

    told->replica = found->replica;
    told->offset = found->offset;
    told->is_ready = found->is_ready;
    told->reason = found->reason;
    told->doc_count = found->doc_count;
    told->passed_count = found->passed_count;
    look->stages[STAGE_SEARCHER]->failed_count += found->passed_count;
    shard->replicas[shard->n_replicas++] = told;
}

static void find_replicas(struct look *look, const struct client_view *client,
                          const Torg__V1__Freshness *freshness, Torg__V1__PipelineShard *shard)
{
    shard->replicas = arena_array(look->arena, freshness->n_shards + 1, sizeof(shard->replicas[0]));
    for (size_t i = 0; i < freshness->n_shards; i++)
        if (freshness->shards[i]->shard == shard->shard &&
            freshness->shards[i]->epoch == client->serving_epoch)
            tell_replica(look, shard, freshness->shards[i]);
}

/* The slowest of its replicas counts. */
static void judge_shard(struct look *look, const char *client, const Torg__V1__PipelineShard *shard)
{
    Torg__V1__PipelineStage *searcher = look->stages[STAGE_SEARCHER];
    uint64_t slowest = shard->index_end;

    for (size_t i = 0; i < shard->n_replicas; i++) {
        const Torg__V1__PipelineReplica *replica = shard->replicas[i];

        if (replica->offset < slowest)
            slowest = replica->offset;
        if (!replica->is_ready && !*searcher->reason)
            searcher->reason =
                arena_printf(look->arena, "shard %" PRIu32 " of %s on %s: %s", shard->shard, client,
                             *replica->replica ? replica->replica : "this process",
                             *replica->reason ? replica->reason : "replays");
    }
    if (!shard->n_replicas && shard->index_end) {
        searcher->state = TORG__V1__PIPELINE_STAGE__STATE__FAILING;
        searcher->reason = arena_printf(look->arena, "no searcher has shard %" PRIu32 " of %s",
                                        shard->shard, client);
    }
    searcher->done_count += slowest;
    searcher->lag_count += shard->index_end - slowest;
}

static void look_at_shards(struct look *look, size_t at, const Torg__V1__Freshness *freshness)
{
    const struct client_view *client = look->clients[at];
    Torg__V1__PipelineClient *told = look->told->clients[at];
    char topic[INDEX_TOPIC_SIZE];

    index_topic_name(client->name, client->serving_epoch, topic);
    for (size_t i = 0; i < told->n_shards; i++) {
        Torg__V1__PipelineShard *shard = told->shards[i];
        uint64_t first;
        struct err err;
        int rc = topic_range(look->pipeline->options.topics, topic, shard->shard, &first,
                             &shard->index_end, &err);

        if (rc == ERR_NOT_FOUND)
            shard->index_end = 0; /* nothing was sent yet */
        else if (rc)
            look_unknown(look, STAGE_INDEX, STAGE_SEARCHER, &err);
        look->stages[STAGE_INDEX]->done_count += shard->index_end;
        if (freshness) {
            find_replicas(look, client, freshness, shard);
            judge_shard(look, client->name, shard);
        }
    }
}

void look_at_index(struct look *look)
{
    const struct index_door *door = look->pipeline->options.door;
    struct err err;

    if (!door->freshness) {
        err_set(&err, ERR_PRECONDITION,
                "this process has no searcher: ask the console of one that has");
        look_unknown(look, STAGE_SEARCHER, STAGE_SEARCHER, &err);
    }
    for (size_t i = 0; i < look->client_count; i++) {
        Torg__V1__Freshness *freshness = NULL;

        if (door->freshness &&
            door->freshness(door->arg, look->clients[i]->name, look->arena, &freshness, &err)) {
            look_unknown(look, STAGE_SEARCHER, STAGE_SEARCHER, &err);
            freshness = NULL;
        }
        look_at_shards(look, i, freshness);
    }
}

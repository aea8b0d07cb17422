/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_store.c - what the store says of the pipeline: see pipeline.h. Each part is a snapshot
 * of its own: no figure is compared with one of another part. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "catalog/versions.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "documents/recompose_mark.h"
#include "feeds/schedule/schedule.h"
#include "feeds/tasks/task.h"
#include "inspect/pipeline/pipeline_parts.h"
#include "offers/outbox/backlog.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/queue.h"
#include "stage/parked.h"

/* --- offers --- */

static int read_backlog(struct store_tx *tx, void *arg, struct err *err)
{
    return backlog_read(tx, arg, err);
}

static void look_at_offers(struct look *look)
{
    Torg__V1__PipelineStage *export = look->stages[STAGE_EXPORT];
    struct backlog backlog;
    struct err err;

    if (store_read(look->pipeline->options.store, read_backlog, &backlog, &err)) {
        look_unknown(look, STAGE_OFFERS, STAGE_EXPORT, &err);
        return;
    }
    look->stages[STAGE_OFFERS]->done_count = (uint64_t)backlog.change_count;
    export->lag_count = (uint64_t)backlog.wait_count;
    export->done_count = (uint64_t)(backlog.change_count - backlog.wait_count);
    look_since(look, export, backlog.since_us);
}

/* Documents of offers that are not by the catalogue in use. They are in no topic and no queue. */
static void look_at_catalog(struct look *look)
{
    struct store *store = look->pipeline->options.store;
    Torg__V1__PipelineStage *composer = look->stages[STAGE_COMPOSER];
    Torg__V1__PipelineCatalog *told;
    struct recompose_mark mark;
    int64_t version;
    struct err err;
    int rc = versions_current(store, &version, &err);

    if (composer->is_here)
        composer->error_count += metrics_sum("torg_composer_catalog_errors_total", "");
    if (!rc)
        rc = recompose_mark_read(store, &mark, &err);
    if (rc)
        look_unknown(look, STAGE_COMPOSER, STAGE_COMPOSER, &err);
    if (rc || mark.done_version >= version)
        return;
    told = look->told->catalog = MESSAGE_NEW(pipeline_catalog, look->arena);
    told->version = version;
    told->done_version = mark.done_version;
    if (mark.target_version <= mark.done_version) {
        composer->reason = arena_printf(
            look->arena, "offers follow version %" PRId64 " of the catalogue: about to begin",
            version);
        return;
    }
    told->target_version = mark.target_version;
    told->offer_count = (uint64_t)mark.offer_count;
    told->seen_count = (uint64_t)mark.seen_count;
    composer->reason = arena_printf(look->arena,
                                    "offers follow version %" PRId64 " of the catalogue: %" PRId64
                                    " of %" PRId64 " are composed again",
                                    mark.target_version, mark.seen_count, mark.offer_count);
}

/* How much is parked by a stage, or by several readers that are parts of one. */
static void look_at_parked(struct look *look, enum stage stage, const char *const *names,
                           size_t count)
{
    int64_t sum = 0;
    struct err err;
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        struct parked_total total;

        rc = parked_total(look->pipeline->options.store, names[i], &total, &err);
        sum += rc ? 0 : total.count;
    }
    if (rc)
        look_unknown(look, stage, stage, &err);
    else
        look->stages[stage]->parked_count = (uint64_t)sum;
}

/* Some stages are in no picture, as those of snippets' topics; what they park is told all the
 * same. */
static void look_at_all_parked(struct look *look)
{
    struct parked_total total;

    if (!parked_total(look->pipeline->options.store, "", &total, NULL))
        look->told->parked_count = (uint64_t)total.count;
}

static void look_at_feeds(struct look *look)
{
    Torg__V1__Pipeline *told = look->told;
    struct err err;

    told->feeds = arena_array(look->arena, PIPELINE_FEED_COUNT, sizeof(told->feeds[0]));
    if (feed_task_list_busy(look->pipeline->options.store, PIPELINE_FEED_COUNT, look->arena,
                            told->feeds, &told->n_feeds, &err))
        told->n_feeds = 0;
    told->failing_feeds =
        arena_array(look->arena, PIPELINE_FEED_COUNT, sizeof(told->failing_feeds[0]));
    if (feed_schedule_list_failing(look->pipeline->options.store, PIPELINE_FEED_COUNT, look->arena,
                                   told->failing_feeds, &told->n_failing_feeds, &err))
        told->n_failing_feeds = 0;
}

/* --- the queue --- */

struct lanes {
    struct look *look;
    uint64_t done, end, lag, waiting, parked;
    int64_t since_us;
};

static Torg__V1__LaneState *add_lane(struct lanes *lanes, Torg__V1__PipelineClient *client,
                                     uint32_t shard, enum lane lane, int64_t since_us)
{
    Torg__V1__LaneState *told = MESSAGE_NEW(lane_state, lanes->look->arena);

    told->shard = shard;
    told->lane = (Torg__V1__QueueLane__Name)lane;
    if (since_us)
        told->oldest_time = moment_message(since_us, lanes->look->arena);
    client->lanes[client->n_lanes++] = told;
    return told;
}

static int read_lane(struct store_tx *tx, struct lanes *lanes, int64_t client_id,
                     Torg__V1__PipelineClient *client, uint32_t shard, enum lane lane,
                     struct err *err)
{
    struct lane_state state;
    Torg__V1__LaneState *told;
    int rc = queue_state(tx, client_id, lane, shard, &state, err);

    if (rc)
        return rc;
    told = add_lane(lanes, client, shard, lane, state.oldest_us);
    told->offset = state.offset;
    told->end = state.end;
    told->lag = state.end - state.offset;
    lanes->done += (uint64_t)state.offset;
    lanes->end += (uint64_t)state.end;
    lanes->lag += (uint64_t)told->lag;
    if (state.oldest_us && (!lanes->since_us || state.oldest_us < lanes->since_us))
        lanes->since_us = state.oldest_us;
    return 0;
}

static int read_failed(struct store_tx *tx, struct lanes *lanes, int64_t client_id,
                       Torg__V1__PipelineClient *client, uint32_t shard, struct err *err)
{
    struct failed_state state;
    Torg__V1__LaneState *told;
    int rc = failed_state(tx, client_id, shard, &state, err);

    if (rc)
        return rc;
    told = add_lane(lanes, client, shard, LANE_FAILED, state.oldest_us);
    told->lag = state.waiting_count;
    told->parked_count = state.parked_count;
    lanes->waiting += (uint64_t)state.waiting_count;
    lanes->parked += (uint64_t)state.parked_count;
    return 0;
}

static int read_lanes(struct store_tx *tx, void *arg, struct err *err)
{
    static const enum lane order[] = {LANE_EMERGENCY, LANE_MAIN, LANE_BACKFILL};
    struct lanes *lanes = arg;
    struct look *look = lanes->look;
    int rc = 0;

    *lanes = (struct lanes){.look = look};
    for (size_t i = 0; i < look->client_count; i++) {
        Torg__V1__PipelineClient *client = look->told->clients[i];

        client->n_lanes = 0;
        for (uint32_t shard = 0; shard < look->clients[i]->shard_count && !rc; shard++) {
            for (size_t k = 0; k < ARRAY_COUNT(order) && !rc; k++)
                rc = read_lane(tx, lanes, look->clients[i]->id, client, shard, order[k], err);
            if (!rc)
                rc = read_failed(tx, lanes, look->clients[i]->id, client, shard, err);
        }
    }
    return rc;
}

static void look_at_queue(struct look *look)
{
    Torg__V1__PipelineStage *queue = look->stages[STAGE_QUEUE];
    Torg__V1__PipelineStage *indexer = look->stages[STAGE_INDEXER];
    struct lanes lanes = {.look = look};
    struct err err;

    for (size_t i = 0; i < look->client_count; i++)
        look->told->clients[i]->lanes = arena_array(
            look->arena, look->clients[i]->shard_count * LANE_COUNT, sizeof(Torg__V1__LaneState *));
    if (store_read(look->pipeline->options.store, read_lanes, &lanes, &err)) {
        look_unknown(look, STAGE_RECEIVER, STAGE_INDEXER, &err);
        return;
    }
    look->stages[STAGE_RECEIVER]->done_count = lanes.end; /* each change accepted is an element */
    queue->done_count = lanes.end;
    queue->parked_count = lanes.parked;
    queue->failed_count = lanes.waiting;
    indexer->done_count = lanes.done;
    indexer->lag_count = lanes.lag;
    look_since(look, indexer, lanes.since_us);
}

/* --- numbers --- */

static int count_numbers(struct store_tx *tx, void *arg, struct err *err)
{
    struct look *look = arg;
    struct pipeline *pipeline = look->pipeline;
    int64_t since_us = look->now_us - pipeline->options.number_hold_us;
    int rc = 0;

    pipeline->number_count = 0;
    for (size_t i = 0; i < look->client_count; i++) {
        const struct client_view *client = look->clients[i];
        const struct numbering *numbering =
            client_numbering(client, client_epoch(client, client->serving_epoch));

        for (uint32_t shard = 0; shard < numbering->scheme && !rc; shard++) {
            struct number_memo *memo = &pipeline->numbers[pipeline->number_count];

            memo->client_id = client->id;
            memo->shard = shard;
            rc = number_count_read(tx, numbering->space, shard, since_us, &memo->count, err);
            pipeline->number_count += !rc;
        }
    }
    return rc;
}

static void tell_number(const struct pipeline *pipeline, int64_t client_id,
                        Torg__V1__PipelineShard *shard)
{
    for (size_t i = 0; i < pipeline->number_count; i++) {
        const struct number_memo *memo = &pipeline->numbers[i];
        int64_t unused = memo->count.gone + memo->count.held + memo->count.free;

        if (memo->client_id != client_id || memo->shard != shard->shard)
            continue;
        shard->generation = memo->count.generation;
        shard->given_count = (uint64_t)memo->count.given;
        shard->gone_count = (uint64_t)memo->count.gone;
        shard->held_count = (uint64_t)memo->count.held;
        shard->free_count = (uint64_t)memo->count.free;
        shard->used_count = memo->count.given > unused ? (uint64_t)(memo->count.given - unused) : 0;
        return;
    }
}

static void look_at_numbers(struct look *look)
{
    struct pipeline *pipeline = look->pipeline;
    int64_t now_us = clock_mono_us(pipeline->options.clock);
    struct err err;

    if (!pipeline->numbers_us ||
        now_us - pipeline->numbers_us >= (int64_t)PIPELINE_NUMBERS_MS * MS_US) {
        pipeline->numbers_us = now_us;
        if (store_read(pipeline->options.store, count_numbers, look, &err))
            pipeline->number_count = 0; /* what cannot be counted is told as none */
    }
    for (size_t i = 0; i < look->client_count; i++)
        for (size_t k = 0; k < look->told->clients[i]->n_shards; k++)
            tell_number(pipeline, look->clients[i]->id, look->told->clients[i]->shards[k]);
}

void look_at_store(struct look *look)
{
    static const char *const of_offers[] = {PARKED_BY_OPINIONS,    PARKED_BY_PHOTOS,
                                            PARKED_BY_MESSAGES,    PARKED_BY_FEEDS,
                                            PARKED_BY_PHOTO_FIRST, PARKED_BY_PHOTO_FETCH};
    static const char *const of_composer[] = {PARKED_BY_COMPOSER, PARKED_BY_EVENTS};
    static const char *const of_receiver[] = {PARKED_BY_RECEIVER, PARKED_BY_TAKEDOWNS};
    static const char *const of_indexer[] = {PARKED_BY_REFUSALS};

    look_at_offers(look);
    look_at_catalog(look);
    look_at_parked(look, STAGE_OFFERS, of_offers, ARRAY_COUNT(of_offers));
    look_at_parked(look, STAGE_COMPOSER, of_composer, ARRAY_COUNT(of_composer));
    look_at_parked(look, STAGE_RECEIVER, of_receiver, ARRAY_COUNT(of_receiver));
    look_at_parked(look, STAGE_INDEXER, of_indexer, ARRAY_COUNT(of_indexer));
    look_at_all_parked(look);
    look_at_feeds(look);
    look_at_queue(look);
    look_at_numbers(look);
}

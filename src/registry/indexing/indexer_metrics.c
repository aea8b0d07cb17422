/* SPDX-License-Identifier: Apache-2.0 */
/* indexer_metrics.c - what an indexer tells of itself; see indexer.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/bounds.h"
#include "base/object.h"
#include "registry/indexing/indexer_parts.h"

static void init_lane(struct indexer_metrics *metrics, const char *client, uint32_t shard,
                      enum lane lane)
{
    char labels[METRIC_LABELS_SIZE_MAX];

    snprintf(labels, sizeof(labels), "client=\"%s\",lane=\"%s\"", client, lane_name(lane));
    metrics->sent[lane] = metrics_counter("torg_indexer_sent_total", labels,
                                          "Documents and removals sent to the index.");
    metrics->superseded[lane] =
        metrics_counter("torg_indexer_superseded_total", labels,
                        "Elements of the queue skipped, because a newer write has its own.");
    metrics->failed[lane] =
        metrics_counter("torg_indexer_failed_total", labels, "Times a document could not be sent.");
    snprintf(labels, sizeof(labels), "lane=\"%s\"", lane_name(lane));
    metrics->latency[lane] = metrics_histogram("torg_indexer_latency_seconds", labels,
                                               "From the acceptance of a document to its sending.");
    snprintf(labels, sizeof(labels), "client=\"%s\",shard=\"%" PRIu32 "\",lane=\"%s\"", client,
             shard, lane_name(lane));
    metrics->lag_items[lane] =
        metrics_gauge("torg_queue_lag_elements", labels, "Elements that wait to be indexed.");
    metrics->lag_seconds[lane] =
        metrics_gauge("torg_queue_lag_seconds", labels, "Age of the oldest element that waits.");
}

void indexer_metrics_init(struct indexer_metrics *metrics, const char *client, uint32_t shard)
{
    char labels[METRIC_LABELS_SIZE_MAX];

    for (int lane = 0; lane < LANE_COUNT; lane++)
        init_lane(metrics, client, shard, (enum lane)lane);
    metrics->rounds = metrics_histogram("torg_indexer_round_seconds", NULL,
                                        "Reading, converting and sending one batch.");
    snprintf(labels, sizeof(labels), "client=\"%s\"", client);
    metrics->parked = metrics_counter("torg_indexer_parked_total", labels,
                                      "Documents that failed their last try.");
    metrics->unfit = metrics_counter("torg_indexer_unfit_total", labels,
                                     "Documents not sent to an epoch besides their own, because "
                                     "they do not fit its schema.");
    snprintf(labels, sizeof(labels), "client=\"%s\",shard=\"%" PRIu32 "\"", client, shard);
    metrics->parked_count = metrics_gauge("torg_queue_parked_elements", labels,
                                          "Documents that wait for a person: torg queue list.");
}

static void count_unfit(const struct batch *batch, const struct item *item)
{
    const struct client_view *client = batch->indexer->client;

    if (item->element.order.epoch != item->row->order.epoch)
        return; /* poured into one epoch only */
    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (!item->documents[i])
            counter_add(batch->indexer->metrics.unfit, 1);
}

void indexer_metrics_count(const struct batch *batch, int64_t begun_us)
{
    const struct indexer_metrics *metrics = &batch->indexer->metrics;
    int64_t now_us = clock_wall_us(batch->indexer->base->clock);

    histogram_add(metrics->rounds, clock_mono_us(batch->indexer->base->clock) - begun_us);
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        switch (item->state) {
        case ITEM_PUT:
            count_unfit(batch, item);
            counter_add(metrics->sent[item->lane], 1);
            break;
        case ITEM_REMOVE:
        case ITEM_FIELDS:
            counter_add(metrics->sent[item->lane], 1);
            break;
        case ITEM_SUPERSEDED:
            counter_add(metrics->superseded[item->lane], 1);
            break;
        case ITEM_FAILED:
            counter_add(metrics->failed[item->lane], 1);
            break;
        case ITEM_GONE:
            break;
        }
        if (item->element.put_us && (item->state <= ITEM_GONE || item->state == ITEM_FIELDS))
            histogram_add(metrics->latency[item->lane], now_us - item->element.put_us);
    }
}

void indexer_metrics_clear(const struct indexer_metrics *metrics)
{
    for (int lane = 0; lane < LANE_COUNT; lane++) {
        gauge_set(metrics->lag_items[lane], 0);
        gauge_set(metrics->lag_seconds[lane], 0);
    }
    gauge_set(metrics->parked_count, 0);
}

/* --- lag --- */

struct lag {
    const struct indexer *indexer;
    struct lane_state lanes[LANE_COUNT];
    struct failed_state failed;
};

static int read_lag(struct store_tx *tx, void *arg, struct err *err)
{
    struct lag *lag = arg;
    int64_t client = lag->indexer->client->id;
    uint32_t shard = lag->indexer->shard;
    int rc = failed_state(tx, client, shard, &lag->failed, err);

    for (int lane = 0; lane < LANE_FAILED && !rc; lane++)
        rc = queue_state(tx, client, (enum lane)lane, shard, &lag->lanes[lane], err);
    lag->lanes[LANE_FAILED] =
        (struct lane_state){.end = lag->failed.waiting_count,
                            .oldest_us = lag->failed.waiting_count ? lag->failed.oldest_us : 0};
    return rc;
}

int indexer_tell_lag(struct indexer *indexer, struct err *err)
{
    const struct indexer_metrics *metrics = &indexer->metrics;
    struct lag lag = {.indexer = indexer};
    int64_t now_us = clock_wall_us(indexer->base->clock);
    int rc;

    object_check(indexer, INDEXER_MAGIC);
    if (!indexer->client)
        return 0;
    rc = store_read(indexer->base->store, read_lag, &lag, err);
    for (int lane = 0; lane < LANE_COUNT && !rc; lane++) {
        const struct lane_state *state = &lag.lanes[lane];
        int64_t late_us = state->oldest_us ? now_us - state->oldest_us : 0;

        gauge_set(metrics->lag_items[lane], state->end - state->offset);
        gauge_set(metrics->lag_seconds[lane], late_us > 0 ? late_us / SECOND_US : 0);
    }
    if (!rc)
        gauge_set(metrics->parked_count, lag.failed.parked_count);
    return rc;
}

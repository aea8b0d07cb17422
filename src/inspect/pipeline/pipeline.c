/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - see pipeline.h. Whoever finds the answer too old reads a new one; those who come
 * meanwhile get the old one, and wait only when there is none. */
#include "inspect/pipeline/pipeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "inspect/pipeline/pipeline_parts.h"
#include "model/topics.h"
#include "stage/parked.h"

#define STATE(name) TORG__V1__PIPELINE_STAGE__STATE__##name
#define OF_STAGE(stage) "stage=\"" stage "\""
#define SEARCH_METHOD "method=\"/torg.v1.SearchService/SearchOffers\""

static const struct {
    const char *name;
    const char *role;   /* "" = a place where work lies */
    const char *errors; /* counter of tries that failed; "" = none */
    const char *label;  /* of that counter; "" = all of them */
} stage_table[STAGE_COUNT] = {
    [STAGE_OFFERS] = {"offers", "offers", "", ""},
    [STAGE_EXPORT] = {"export", "offers-worker", "torg_offers_worker_errors_total", ""},
    [STAGE_UPDATES] = {TOPIC_OFFER_UPDATES, "", "", ""},
    [STAGE_COMPOSER] = {"composer", "composer", "torg_stage_errors_total",
                        OF_STAGE(PARKED_BY_COMPOSER)},
    [STAGE_DOCUMENTS] = {"documents", "", "", ""},
    [STAGE_RECEIVER] = {"receiver", "receiver", "torg_stage_errors_total",
                        OF_STAGE(PARKED_BY_RECEIVER)},
    [STAGE_QUEUE] = {"queue", "", "", ""},
    [STAGE_INDEXER] = {"indexer", "indexer", "torg_indexer_errors_total", ""},
    [STAGE_INDEX] = {"index", "", "", ""},
    [STAGE_SEARCHER] = {"searcher", "searcher", "", ""},
    [STAGE_SEARCH] = {"search", "search", "", ""},
};

/* --- what the parts use --- */

void look_unknown(struct look *look, enum stage from, enum stage to, const struct err *err)
{
    for (int i = from; i <= (int)to; i++) {
        look->stages[i]->state = STATE(UNKNOWN);
        look->stages[i]->reason = arena_strdup(look->arena, err->text);
    }
}

void look_since(const struct look *look, Torg__V1__PipelineStage *stage, int64_t since_us)
{
    int64_t ms = (look->now_us - since_us) / MS_US;

    if (!since_us)
        return;
    if (stage->_lag_ms_case != TORG__V1__PIPELINE_STAGE___LAG_MS_LAG_MS || ms > stage->lag_ms)
        stage->lag_ms = ms > 0 ? ms : 0;
    stage->_lag_ms_case = TORG__V1__PIPELINE_STAGE___LAG_MS_LAG_MS;
}

/* --- stages --- */

static void begin_stages(struct look *look)
{
    const struct pipeline_options *options = &look->pipeline->options;
    Torg__V1__Pipeline *told = look->told;

    told->stages = arena_array(look->arena, STAGE_COUNT, sizeof(told->stages[0]));
    told->n_stages = STAGE_COUNT;
    for (int i = 0; i < STAGE_COUNT; i++) {
        Torg__V1__PipelineStage *stage = MESSAGE_NEW(pipeline_stage, look->arena);

        stage->name = (char *)stage_table[i].name;
        stage->role = (char *)stage_table[i].role;
        stage->is_here = *stage->role && options->has_role(options->has_role_arg, stage->role);
        if (*stage_table[i].errors)
            stage->error_count = metrics_sum(stage_table[i].errors, stage_table[i].label);
        look->stages[i] = told->stages[i] = stage;
    }
}

static void look_at_search(struct look *look)
{
    static const char *const faults[] = {"UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED",
                                         "RESOURCE_EXHAUSTED", "DATA_LOSS"};
    Torg__V1__PipelineStage *stage = look->stages[STAGE_SEARCH];
    struct err err;

    if (!stage->is_here) {
        err_set(&err, ERR_PRECONDITION, "each process that has the role search counts its own");
        look_unknown(look, STAGE_SEARCH, STAGE_SEARCH, &err);
        return;
    }
    stage->done_count = metrics_sum("torg_rpc_requests_total", SEARCH_METHOD);
    stage->spent_us = atomic_load(&metrics_histogram("torg_rpc_duration_seconds", SEARCH_METHOD,
                                                     "From a request's first byte to its answer.")
                                       ->sum_us);
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++)
        stage->error_count +=
            metrics_sum("torg_rpc_requests_total",
                        arena_printf(look->arena, SEARCH_METHOD ",code=\"%s\"", faults[i]));
}

static void judge(struct look *look, enum stage at)
{
    struct stage_watch *watch = &look->pipeline->watches[at];
    Torg__V1__PipelineStage *stage = look->stages[at];
    int64_t now_us = clock_mono_us(look->pipeline->options.clock);
    int64_t still_us = (int64_t)PIPELINE_STILL_MS * MS_US;

    if (watch->moved_us && stage->error_count > watch->error_count) /* not at the first look */
        watch->failed_us = now_us;
    if (stage->done_count != watch->done_count || !stage->lag_count || !watch->moved_us)
        watch->moved_us = now_us;
    watch->done_count = stage->done_count;
    watch->error_count = stage->error_count;
    if (stage->state == STATE(UNKNOWN) || stage->state == STATE(FAILING))
        return;
    if (now_us - watch->moved_us >= still_us) {
        stage->state = STATE(FAILING);
        stage->reason =
            arena_printf(look->arena, "%" PRIu64 " wait and none was taken for %" PRId64 " s%s%s",
                         stage->lag_count, (now_us - watch->moved_us) / SECOND_US,
                         stage->is_here ? "" : ": does a process run the role ",
                         stage->is_here ? "" : stage->role);
    } else if (watch->failed_us && now_us - watch->failed_us < still_us) {
        stage->state = STATE(FAILING);
        stage->reason = arena_strdup(
            look->arena, "its last tries failed and are repeated: see the log of this process");
    } else if (stage->lag_count || *stage->reason) {
        stage->state = STATE(WAITING);
    }
}

/* --- clients --- */

/* Of the index that is asked. */
static uint32_t serving_shards(const struct client_view *client)
{
    return client_numbering(client, client_epoch(client, client->serving_epoch))->scheme;
}

static void tell_client(struct look *look, const struct client_view *client)
{
    Torg__V1__PipelineClient *told = MESSAGE_NEW(pipeline_client, look->arena);
    uint32_t shard_count;

    told->client = arena_strdup(look->arena, client->name);
    told->writing_epoch = client->writing_epoch;
    told->serving_epoch = client->serving_epoch;
    told->epochs = arena_array(look->arena, EPOCHS_MAX, sizeof(told->epochs[0]));
    for (uint32_t i = 0; i < client->epoch_count; i++) {
        Torg__V1__PipelineEpoch *epoch = MESSAGE_NEW(pipeline_epoch, look->arena);

        epoch->epoch = client->epochs[i].epoch;
        epoch->state = client->epochs[i].state;
        epoch->start_time = moment_message(client->epochs[i].started_us, look->arena);
        epoch->field_count = client->epochs[i].field_count;
        told->epochs[told->n_epochs++] = epoch;
    }
    shard_count = serving_shards(client);
    told->shards = arena_array(look->arena, shard_count, sizeof(told->shards[0]));
    for (; told->n_shards < shard_count; told->n_shards++) {
        told->shards[told->n_shards] = MESSAGE_NEW(pipeline_shard, look->arena);
        told->shards[told->n_shards]->shard = (uint32_t)told->n_shards;
    }
    look->told->clients[look->told->n_clients++] = told;
}

/* *count: of all views, to be given back; those whose shards fit come first. */
static void look_at_clients(struct look *look, size_t *count)
{
    uint32_t shard_count = 0;
    struct err err;

    *count = 0;
    if (clients_list(look->pipeline->clients, false, look->arena, &look->clients, count, NULL,
                     &err)) {
        look_unknown(look, STAGE_RECEIVER, STAGE_SEARCHER, &err);
        return;
    }
    look->told->clients = arena_array(look->arena, *count + 1, sizeof(look->told->clients[0]));
    for (size_t i = 0; i < *count; i++) {
        shard_count += serving_shards(look->clients[i]);
        if (shard_count > PIPELINE_SHARD_COUNT_MAX)
            look->told->left_out_count += serving_shards(look->clients[i]);
        else if (!look->told->left_out_count)
            tell_client(look, look->clients[i]);
    }
    look->client_count = look->told->n_clients;
}

/* --- reading --- */

static void read_all(struct pipeline *pipeline, struct arena *arena, Torg__V1__Pipeline *told)
{
    struct look look = {.pipeline = pipeline,
                        .arena = arena,
                        .now_us = clock_wall_us(pipeline->options.clock),
                        .told = told};
    size_t view_count;

    told->time = moment_message(look.now_us, arena);
    begin_stages(&look);
    look_at_clients(&look, &view_count);
    look_at_store(&look);
    look_at_topics(&look);
    look_at_index(&look);
    look_at_search(&look);
    for (int i = 0; i < STAGE_COUNT; i++)
        judge(&look, (enum stage)i);
    for (size_t i = 0; i < view_count; i++)
        client_unref(look.clients[i]);
}

/* The reader's mutex is held. */
static int renew(struct pipeline *pipeline, struct err *err)
{
    struct arena *arena = arena_new();
    struct buf packed = BUF_INIT(PIPELINE_SIZE_MAX);
    Torg__V1__Pipeline told = TORG__V1__PIPELINE__INIT;
    int rc = 0;

    read_all(pipeline, arena, &told);
    message_encode(&told.base, &packed);
    if (buf_failed(&packed)) {
        rc = err_set(err, ERR_LIMIT, "the state of the pipeline is larger than %d bytes",
                     PIPELINE_SIZE_MAX);
    } else {
        struct buf old;

        pthread_mutex_lock(&pipeline->lock);
        old = pipeline->answer;
        pipeline->answer = packed;
        pipeline->read_us = clock_mono_us(pipeline->options.clock);
        pthread_mutex_unlock(&pipeline->lock);
        packed = old;
    }
    buf_release(&packed);
    arena_free(arena);
    return rc;
}

/* False: there is none so young. */
static bool copy_answer(struct pipeline *pipeline, int64_t age_ms, struct arena *arena,
                        struct bytes *answer)
{
    bool is_young;

    pthread_mutex_lock(&pipeline->lock);
    is_young = pipeline->read_us &&
               clock_mono_us(pipeline->options.clock) - pipeline->read_us < age_ms * MS_US;
    if (is_young)
        *answer = arena_copy(arena, buf_bytes(&pipeline->answer));
    pthread_mutex_unlock(&pipeline->lock);
    return is_young;
}

int pipeline_get(struct pipeline *pipeline, struct arena *arena, Torg__V1__Pipeline **told,
                 struct err *err)
{
    ProtobufCMessage *message;
    struct bytes answer;
    bool is_there = copy_answer(pipeline, PIPELINE_FRESH_MS, arena, &answer);
    int rc = 0;

    object_check(pipeline, PIPELINE_MAGIC);
    if (!is_there) {
        bool is_reader = pthread_mutex_trylock(&pipeline->reading) == 0;

        if (!is_reader)
            is_there = copy_answer(pipeline, PIPELINE_STALE_MS, arena, &answer);
        if (!is_reader && !is_there) {
            pthread_mutex_lock(&pipeline->reading);
            is_reader = true;
        }
        if (is_reader) { /* somebody may have been faster */
            is_there = copy_answer(pipeline, PIPELINE_FRESH_MS, arena, &answer);
            if (!is_there)
                rc = renew(pipeline, err);
            pthread_mutex_unlock(&pipeline->reading);
        }
        if (!rc && !is_there)
            (void)copy_answer(pipeline, INT64_MAX / MS_US, arena, &answer);
    }
    if (!rc)
        rc = message_decode(answer, &torg__v1__pipeline__descriptor, arena, &message, err);
    if (!rc)
        *told = (Torg__V1__Pipeline *)message;
    return rc;
}

/* --- life --- */

struct pipeline *pipeline_new(const struct pipeline_options *options)
{
    struct pipeline *pipeline = mem_zero(sizeof(*pipeline));

    object_begin(pipeline, PIPELINE_MAGIC);
    pipeline->options = *options;
    pipeline->clients = clients_new(options->store, options->clock);
    buf_init(&pipeline->answer, PIPELINE_SIZE_MAX);
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_mutex_init(&pipeline->reading, NULL);
    return pipeline;
}

void pipeline_free(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    object_check(pipeline, PIPELINE_MAGIC);
    pthread_mutex_destroy(&pipeline->reading);
    pthread_mutex_destroy(&pipeline->lock);
    buf_release(&pipeline->answer);
    clients_free(pipeline->clients);
    object_end(pipeline, PIPELINE_MAGIC);
    free(pipeline);
}

/* --- the service --- */

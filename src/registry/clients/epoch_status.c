/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_status.c - how far epochs are, and what is missing in one: see epoch_desk.h. */
#include <assert.h>
#include <inttypes.h>

#include "base/log.h"
#include "base/memory.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/topics.h"
#include "registry/clients/epoch_desk.h"
#include "registry/indexing/backfill.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/indexer.h"
#include "registry/indexing/queue.h"

/* --- what is missing --- */

static void add_lack(struct epoch_lacks *lacks, char *text)
{
    char **list = arena_array(lacks->arena, lacks->count + 1, sizeof(*list));

    for (size_t i = 0; i < lacks->count; i++)
        list[i] = lacks->list[i];
    list[lacks->count++] = text;
    lacks->list = list;
}

static void judge(const struct backfill *backfill, const struct lane_state *lane,
                  const struct epoch_view *epoch, uint32_t shard, struct epoch_lacks *lacks)
{
    if (!backfill->is_numbered)
        add_lack(lacks, arena_printf(lacks->arena,
                                     "documents of shard %" PRIu32 " are being numbered by %s",
                                     shard, epoch->number_by));
    else if (!backfill->is_done)
        add_lack(lacks,
                 arena_printf(lacks->arena,
                              "shard %" PRIu32 " still pours stored documents, %" PRId64 " so far",
                              shard, backfill->poured_count));
    else if (lane->offset < backfill->end_idx)
        add_lack(lacks, arena_printf(lacks->arena,
                                     "%" PRId64 " poured documents of shard %" PRIu32
                                     " wait to be sent to the index",
                                     backfill->end_idx - lane->offset, shard));
}

static int look_at_shard(struct store_tx *tx, const struct client_view *client,
                         const struct epoch_view *epoch, uint32_t shard, struct backfill *backfill,
                         struct lane_state *lane, struct err *err)
{
    bool found;
    int rc = backfill_find(tx, client->id, epoch->epoch, shard, backfill, &found, err);

    backfill->is_done = backfill->is_done || !found;
    return rc ? rc
              : queue_state(tx, client->id, LANE_BACKFILL, client_queue_shard(client, epoch, shard),
                            lane, err);
}

int epoch_find_lacks(struct store_tx *tx, const struct client_view *client, int64_t epoch,
                     struct epoch_lacks *lacks, struct err *err)
{
    const struct epoch_view *view = client_epoch(client, epoch);
    int rc = 0;

    lacks->list = NULL;
    lacks->count = 0;
    for (uint32_t i = 0; i < client_numbering(client, view)->scheme && !rc; i++) {
        struct backfill backfill;
        struct lane_state lane;

        rc = look_at_shard(tx, client, view, i, &backfill, &lane, err);
        if (!rc)
            judge(&backfill, &lane, view, i, lacks);
    }
    return rc;
}

/* --- searchers --- */

static bool is_behind(const Torg__V1__ShardFreshness *replica, const Torg__V1__EpochShard *shard)
{
    for (size_t i = 0; i < replica->n_lanes; i++)
        if (replica->lanes[i]->lane == TORG__V1__QUEUE_LANE__NAME__BACKFILL &&
            replica->lanes[i]->idx >= shard->backfill_offset)
            return false;
    return shard->backfill_offset > 0;
}

static void count_searchers(const Torg__V1__Freshness *freshness, const Torg__V1__EpochState *epoch)
{
    for (size_t i = 0; i < freshness->n_shards; i++) {
        const Torg__V1__ShardFreshness *replica = freshness->shards[i];

        if (replica->epoch != epoch->epoch || replica->shard >= epoch->n_shards)
            continue;
        epoch->shards[replica->shard]->searcher_count++;
        epoch->shards[replica->shard]->ready_count +=
            replica->is_ready && !is_behind(replica, epoch->shards[replica->shard]);
    }
    for (size_t i = 0; i < epoch->n_shards; i++)
        epoch->shards[i]->knows_searchers = true;
}

/* What the registry has sent is one thing; whether searchers have it, they tell themselves. */
static void look_at_searchers(const struct epoch_desk *desk, const char *client,
                              struct epoch_lacks *lacks, Torg__V1__EpochStatus *status)
{
    Torg__V1__Freshness *freshness = NULL;
    struct err err = {0};
    int rc;

    if (!desk->freshness)
        return;
    rc = desk->freshness(desk->freshness_arg, client, lacks->arena, &freshness, &err);
    for (size_t i = 0; i < status->n_epochs; i++) {
        const Torg__V1__EpochState *epoch = status->epochs[i];
        bool is_built = epoch->state == TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING;

        if (!rc)
            count_searchers(freshness, epoch);
        else if (is_built)
            add_lack(lacks, arena_strdup(lacks->arena, err.text));
        for (size_t k = 0; k < epoch->n_shards && is_built && !rc; k++)
            if (!epoch->shards[k]->ready_count)
                add_lack(lacks,
                         arena_printf(lacks->arena, "no searcher has all of shard %zu yet", k));
    }
}

/* --- status --- */

struct looking {
    const struct client_view *client;
    struct arena *arena;
    Torg__V1__EpochStatus *status;
    struct epoch_lacks lacks;
};

static int tell_shard(struct store_tx *tx, const struct looking *looking,
                      const struct epoch_view *epoch, uint32_t shard, Torg__V1__EpochShard *told,
                      struct err *err)
{
    struct backfill backfill;
    struct lane_state lane, main;
    int rc = look_at_shard(tx, looking->client, epoch, shard, &backfill, &lane, err);

    if (!rc)
        rc = queue_state(tx, looking->client->id, LANE_MAIN,
                         client_queue_shard(looking->client, epoch, shard), &main, err);
    if (rc)
        return rc;
    told->shard = shard;
    told->poured_count = backfill.poured_count;
    told->refused_count = backfill.refused_count;
    told->late_count = backfill.late_count;
    told->is_poured = backfill.is_done;
    told->backfill_offset = lane.offset;
    told->backfill_end = lane.end;
    told->main_lag = main.end - main.offset;
    return 0;
}

static int tell_epoch(struct store_tx *tx, const struct looking *looking,
                      const struct epoch_view *epoch, Torg__V1__EpochState *told, struct err *err)
{
    const struct numbering *numbering = client_numbering(looking->client, epoch);
    uint32_t count = numbering->scheme;
    int rc = 0;

    told->epoch = epoch->epoch;
    told->state = epoch->state;
    told->start_time = moment_message(epoch->started_us, looking->arena);
    told->field_count = epoch->field_count;
    told->numbers = arena_printf(looking->arena, "%" PRIu32 ".%" PRIu32 ".%" PRIu32,
                                 numbering->kind, numbering->scheme, numbering->rebuild);
    told->numbered_by = arena_strdup(looking->arena, epoch->number_by);
    told->shards = arena_array(looking->arena, count, sizeof(Torg__V1__EpochShard *));
    for (; told->n_shards < count && !rc; told->n_shards++) {
        Torg__V1__EpochShard *shard = MESSAGE_NEW(epoch_shard, looking->arena);

        told->shards[told->n_shards] = shard;
        rc = tell_shard(tx, looking, epoch, (uint32_t)told->n_shards, shard, err);
        told->misfit_count += shard->refused_count + shard->late_count;
    }
    if (!rc)
        rc = failed_count(tx, looking->client->id, epoch->epoch, &told->failed_count, err);
    told->misfit_count += told->failed_count;
    return rc;
}

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;
    const struct client_view *client = looking->client;
    const struct epoch_view *built = epoch_in(client, TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING);
    Torg__V1__EpochStatus *status = looking->status;
    int rc = 0;

    status->n_epochs = 0;
    status->epochs =
        arena_array(looking->arena, client->epoch_count + 1, sizeof(Torg__V1__EpochState *));
    for (uint32_t i = 0; i < client->epoch_count && !rc; i++) {
        Torg__V1__EpochState *epoch = MESSAGE_NEW(epoch_state, looking->arena);

        status->epochs[status->n_epochs++] = epoch;
        rc = tell_epoch(tx, looking, &client->epochs[i], epoch, err);
    }
    if (!rc && built)
        rc = epoch_find_lacks(tx, client, built->epoch, &looking->lacks, err);
    status->is_safe = !rc && built;
    return rc;
}

/* Topics may not be there yet. */
static void look_at_topics(const struct epoch_desk *desk, const char *client,
                           Torg__V1__EpochStatus *status)
{
    for (size_t i = 0; i < status->n_epochs; i++) {
        char topic[INDEX_TOPIC_SIZE];

        index_topic_name(client, status->epochs[i]->epoch, topic);
        for (size_t k = 0; k < status->epochs[i]->n_shards; k++) {
            Torg__V1__EpochShard *shard = status->epochs[i]->shards[k];
            uint64_t first;
            struct err err;

            if (topic_range(desk->topics, topic, shard->shard, &first, &shard->index_end, &err))
                shard->index_end = 0;
        }
    }
}

int epoch_desk_status(const struct epoch_desk *desk, const char *client, struct arena *arena,
                      Torg__V1__EpochStatus *status, struct err *err)
{
    struct looking looking = {.arena = arena, .status = status, .lacks = {.arena = arena}};
    int rc = clients_find(desk->clients, client, true, &looking.client, err);

    assert(desk->store && desk->clients && desk->clock);
    if (rc)
        return rc;
    status->client = arena_strdup(arena, client);
    status->writing_epoch = looking.client->writing_epoch;
    status->serving_epoch = looking.client->serving_epoch;
    rc = store_read(desk->store, look, &looking, err);
    client_unref(looking.client);
    if (!rc && desk->topics)
        look_at_topics(desk, client, status);
    if (!rc)
        look_at_searchers(desk, client, &looking.lacks, status);
    status->waits_for = looking.lacks.list;
    status->n_waits_for = looking.lacks.count;
    status->is_safe = status->is_safe && !looking.lacks.count;
    if (!rc && desk->coord) { /* an announcement may have failed after its switch */
        struct err why;

        if (clients_announce(desk->clients, desk->coord, &why))
            log_warn("searchers could not be notified of clients' epochs",
                     LOG_TEXT("error", why.text));
    }
    return rc;
}

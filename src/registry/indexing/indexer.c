/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer.c - rounds of an indexer, and what they commit; see indexer.h.
 *
 * One transaction does two things: it commits what the rounds before have sent, and numbers the new
 * keys of this one. Any failure makes the indexer forget what it holds; the next round claims the
 * shard anew and begins at the offsets of the store.
 */
#include "registry/indexing/indexer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "registry/bounds.h"
#include "registry/indexing/backfill.h"
#include "registry/indexing/indexer_parts.h"
#include "store/fence.h"

enum { CONFIRM_ATTEMPT_MAX = 5 };

/* --- life --- */

struct indexer *indexer_new(const struct indexer_base *base, const char *client, uint32_t shard,
                            uint64_t ticket, struct coord_shards *shards)
{
    struct indexer *indexer = mem_zero(sizeof(*indexer));

    object_begin(indexer, INDEXER_MAGIC);
    indexer->base = base;
    indexer->shards = shards;
    indexer->shard = shard;
    indexer->ticket = ticket;
    indexer->item_us = INDEXER_ITEM_US;
    indexer->pending.arena = arena_new();
    snprintf(indexer->name, sizeof(indexer->name), "%s", client);
    indexer_metrics_init(&indexer->metrics, client, shard);
    return indexer;
}

void indexer_free(struct indexer *indexer)
{
    if (!indexer)
        return;
    object_check(indexer, INDEXER_MAGIC);
    indexer_metrics_clear(&indexer->metrics);
    indexer_close_numbers(indexer);
    indexer_rank_free(indexer);
    client_unref(indexer->client);
    arena_free(indexer->pending.arena);
    free(indexer->pending.failures);
    free(indexer->pending.left);
    free(indexer->pending.cleared);
    free(indexer->pending.late);
    object_end(indexer, INDEXER_MAGIC);
    free(indexer);
}

/* --- what waits to be committed --- */

static void pending_clear(struct pending *pending)
{
    arena_reset(pending->arena);
    pending->element_count = 0;
    pending->failure_count = 0;
    pending->left_count = 0;
    pending->cleared_count = 0;
    pending->late_count = 0;
}

static void add_key(struct pending *pending, struct bytes pk, struct bytes **list, size_t *count,
                    size_t *capacity)
{
    *list = mem_grow(*list, *count + 1, sizeof(**list), &*capacity);
    assert(*count < *capacity);
    (*list)[(*count)++] = arena_copy(pending->arena, pk);
}

static void add_cleared(struct pending *pending, const struct failed_element *seen)
{
    struct failed_element *added;

    pending->cleared = mem_grow(pending->cleared, pending->cleared_count + 1,
                                sizeof(*pending->cleared), &pending->cleared_capacity);
    added = &pending->cleared[pending->cleared_count++];
    *added = *seen;
    added->pk = arena_copy(pending->arena, seen->pk);
}

/* What a pour has queued fails for the epoch that is built alone. Where the same write has failed
 * for other epochs already, the lane, which has one element a key, must go on with all of them:
 * that failure, committed or not; NULL: there is none. */
static const struct failed_element *failed_elsewhere(const struct pending *pending,
                                                     const struct item *item)
{
    const struct order *order = &item->element.order;
    const struct failed_element *failed = item->failed;

    if (order->epoch <= item->row->order.epoch)
        return NULL;
    for (size_t i = 0; i < pending->failure_count; i++)
        if (bytes_equal(pending->failures[i].element.pk, item->element.pk))
            failed = &pending->failures[i].element;
    return failed && failed->order.epoch != order->epoch &&
                   failed->order.version == order->version &&
                   failed->order.modify_us == order->modify_us
               ? failed
               : NULL;
}

static void add_failure(struct indexer *indexer, const struct item *item, int64_t now_us)
{
    struct pending *pending = &indexer->pending;
    int64_t attempt_count = item->attempt_count + 1;
    bool is_parked = attempt_count >= indexer->base->rules.try_count;
    const struct failed_element *before = failed_elsewhere(pending, item);
    struct failed_element failed = {
        .shard = indexer->shard,
        .pk = arena_copy(pending->arena, item->element.pk),
        .order = before ? item->row->order : item->element.order,
        .attempt_count = attempt_count,
        .next_us = is_parked ? 0 : now_us + failed_pause_us(attempt_count),
        .first_us = before           ? before->first_us
                    : item->first_us ? item->first_us
                                     : now_us,
        .reason = arena_copy(pending->arena, bytes_of(item->reason)),
        .refused_epoch = before ? before->refused_epoch : 0,
    };

    assert(item->state == ITEM_FAILED && item->reason);
    pending->failures = mem_grow(pending->failures, pending->failure_count + 1,
                                 sizeof(*pending->failures), &pending->failure_capacity);
    pending->failures[pending->failure_count++] =
        (struct pending_failure){.element = failed, .is_again = item->lane == LANE_FAILED};
    if (is_parked) {
        counter_add(indexer->metrics.parked, 1);
        log_warn("a document is parked: torg queue show says why",
                 LOG_TEXT("client", indexer->client->name), LOG_BYTES("pk", item->element.pk),
                 LOG_TEXT("reason", item->reason));
    }
}

static void add_late(struct pending *pending, int64_t epoch, uint32_t shard)
{
    for (size_t i = 0; i < pending->late_count; i++) {
        if (pending->late[i].epoch == epoch && pending->late[i].shard == shard) {
            pending->late[i].count++;
            return;
        }
    }
    pending->late = mem_grow(pending->late, pending->late_count + 1, sizeof(*pending->late),
                             &pending->late_capacity);
    pending->late[pending->late_count++] = (struct late_writes){epoch, shard, 1};
}

/* What was sent to one epoch and does not fit another: whoever switches to that wants to know it.
 */
static void count_late(struct batch *batch, const struct item *item)
{
    const struct client_view *client = batch->indexer->client;

    if (item->lane == LANE_BACKFILL && !item->element.put_us) /* counted when it was written */
        return;
    for (uint32_t i = 0; i < client->epoch_count && item->state == ITEM_PUT; i++)
        if (item->is_unfit[i])
            add_late(&batch->indexer->pending, client->epochs[i].epoch,
                     number_key_shard(item->row->hash,
                                      client_numbering(client, &client->epochs[i])->scheme));
}

/* What a pour has queued was sent to the epoch that is built alone: that says nothing of what
 * another epoch could not take. */
static bool clears_failure(const struct item *item)
{
    if (!item->failed || (item->state == ITEM_SUPERSEDED && item->lane != LANE_FAILED))
        return false;
    return item->element.order.epoch <= item->row->order.epoch ||
           item->element.order.epoch == item->failed->order.epoch;
}

/* The batch has been sent: its place is behind it. */
static void remember(struct batch *batch)
{
    struct indexer *indexer = batch->indexer;
    struct pending *pending = &indexer->pending;

    assert(indexer->is_claimed && batch->count <= INDEXER_BATCH_COUNT);
    if (!pending->element_count)
        pending->since_us = clock_mono_us(indexer->base->clock);
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        pending->element_count++;
        count_late(batch, item);
        if (item->state == ITEM_REMOVE)
            add_key(pending, item->element.pk, &pending->left, &pending->left_count,
                    &pending->left_capacity);
        if (item->state == ITEM_FAILED)
            add_failure(indexer, item, batch->now_us);
        else if (clears_failure(item))
            add_cleared(pending, item->failed);
    }
    for (int lane = 0; lane < LANE_FAILED; lane++)
        indexer->position[lane] = batch_position(batch, (enum lane)lane);
    for (int lane = 0; lane < LANE_FAILED; lane++)
        assert(indexer->position[lane] >= indexer->committed[lane]);
}

static int move_lane(struct store_tx *tx, struct indexer *indexer, enum lane lane, struct err *err)
{
    int64_t trimmed;
    int rc;

    if (indexer->position[lane] == indexer->committed[lane])
        return 0;
    rc = queue_move(tx, indexer->client->id, lane, indexer->shard, indexer->committed[lane],
                    indexer->position[lane], err);
    if (!rc)
        rc = queue_trim(tx, indexer->client->id, lane, indexer->shard, indexer->position[lane],
                        INDEXER_TRIM_COUNT, &trimmed, err);
    return rc;
}

static int commit_failed(struct store_tx *tx, struct indexer *indexer, struct err *err)
{
    const struct pending *pending = &indexer->pending;
    int rc = failed_clear(tx, indexer->client->id, pending->cleared, pending->cleared_count, err);

    for (size_t i = 0; i < pending->failure_count && !rc; i++)
        rc = failed_put(tx, indexer->client->id, &pending->failures[i].element,
                        pending->failures[i].is_again, err);
    return rc;
}

/* With the lanes' moves the store learns how far the topics go: whoever owns the shard next sees
 * that a record is missing which was sent before. One that was cut is seen to first. */
static int commit_ends(struct store_tx *tx, struct indexer *indexer, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < indexer->client->epoch_count && !rc; i++) {
        const struct epoch_view *epoch = &indexer->client->epochs[i];
        uint32_t each = client_shards_each(indexer->client, epoch);

        for (uint32_t k = 0; k < each && !rc; k++) {
            uint32_t shard = first_shard(indexer, epoch) + k;
            const struct told_end *told = indexer_told_end(indexer, epoch, shard);
            const struct backfill_place at = {indexer->client->id, epoch->epoch, shard};

            if (!told->is_cut && told->end > told->noted_end)
                rc = backfill_note_topic(tx, &at, told->end, err);
        }
    }
    return rc;
}

static int commit_pending(struct store_tx *tx, struct indexer *indexer, int64_t now_us,
                          struct err *err)
{
    const struct pending *pending = &indexer->pending;
    int rc = 0;

    for (int lane = 0; lane < LANE_FAILED && !rc; lane++)
        rc = move_lane(tx, indexer, (enum lane)lane, err);
    if (!rc)
        rc = commit_failed(tx, indexer, err);
    if (!rc && pending->element_count)
        rc = commit_ends(tx, indexer, err);
    for (size_t i = 0; i < pending->late_count && !rc; i++)
        rc = backfill_add_late(tx, indexer->client->id, pending->late[i].epoch,
                               pending->late[i].shard, pending->late[i].count, err);
    if (!rc && pending->left_count)
        rc = indexer_leave_numbers(tx, indexer, pending->left, pending->left_count, now_us, err);
    return rc;
}

/* --- transactions --- */

struct commit {
    struct indexer *indexer;
    int64_t now_us;
    struct arena *arena;                  /* of the asks, and what giving needs */
    struct number_ask **asks[EPOCHS_MAX]; /* keys to be numbered, by numbering */
    size_t ask_counts[EPOCHS_MAX];
};

static int commit_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct commit *commit = arg;
    struct indexer *indexer = commit->indexer;
    int rc = store_check_fence(tx, indexer->fence, (int64_t)indexer->ticket, err);

    object_check(indexer, INDEXER_MAGIC);
    if (!rc)
        rc = commit_pending(tx, indexer, commit->now_us, err);
    for (uint32_t i = 0; i < indexer->client->numbering_count && !rc; i++)
        if (commit->ask_counts[i])
            rc = indexer_give_numbers(tx, indexer, i, commit->asks[i], commit->ask_counts[i],
                                      commit->now_us, commit->arena, err);
    return rc;
}

static int run_commit(struct commit *commit, struct err *err)
{
    struct indexer *indexer = commit->indexer;
    int rc = store_write(indexer->base->store, commit_tx, commit, err);

    assert(indexer->is_claimed);
    indexer_settle_numbers(indexer, rc == 0);
    if (rc)
        return rc;
    memcpy(indexer->committed, indexer->position, sizeof(indexer->committed));
    for (size_t i = 0; i < EPOCHS_MAX && indexer->pending.element_count; i++)
        for (size_t k = 0; k < CLIENT_SHARD_COUNT_MAX; k++)
            if (!indexer->told[i].ends[k].is_cut)
                indexer->told[i].ends[k].noted_end = indexer->told[i].ends[k].end;
    pending_clear(&indexer->pending);
    return 0;
}

int indexer_settle(struct indexer *indexer, struct err *err)
{
    struct commit commit = {.indexer = indexer, .now_us = clock_wall_us(indexer->base->clock)};
    int rc;

    object_check(indexer, INDEXER_MAGIC);
    if (!indexer->is_claimed || !indexer->pending.element_count)
        return 0;
    rc = run_commit(&commit, err);
    if (rc) /* it may have been committed all the same: the next round asks the store */
        indexer->is_claimed = false;
    return rc;
}

static int claim_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct indexer *indexer = arg;
    int rc = store_check_fence(tx, indexer->fence, (int64_t)indexer->ticket, err);

    object_check(indexer, INDEXER_MAGIC);
    for (int lane = 0; lane < LANE_FAILED && !rc; lane++)
        rc = queue_offset(tx, indexer->client->id, (enum lane)lane, indexer->shard,
                          &indexer->committed[lane], err);
    return rc;
}

static int refresh(struct indexer *indexer, bool fresh, struct err *err)
{
    const struct client_view *client;
    int rc = clients_find(indexer->base->clients, indexer->name, fresh, &client, err);

    if (rc)
        return rc;
    if (!indexer->client)
        queue_fence_name(client->id, indexer->shard, indexer->fence);
    assert(!indexer->client || indexer->client->id == client->id);
    client_unref(indexer->client);
    indexer->client = client;
    return 0;
}

/* The owners before can commit nothing from here on; so what is read now stays as it is. */
static int claim(struct indexer *indexer, struct err *err)
{
    int rc = 0;

    assert(!indexer->is_claimed);
    pending_clear(&indexer->pending);
    if (!indexer->client)
        rc = refresh(indexer, false, err);
    if (!rc)
        rc = store_write(indexer->base->store, claim_tx, indexer, err);
    if (!rc)
        rc = indexer_open_numbers(indexer, true, err);
    if (rc)
        return rc;
    indexer->is_idle = false;
    memcpy(indexer->position, indexer->committed, sizeof(indexer->position));
    indexer->is_claimed = true;
    return 0;
}

/* --- a round --- */

/* New keys of the batch get their numbers. Where there is none left the document fails and is tried
 * again later, as numbers come free; the others of the batch go on. */
static int number_batch(struct batch *batch, struct err *err)
{
    struct indexer *indexer = batch->indexer;
    struct commit commit = {.indexer = indexer, .now_us = batch->now_us, .arena = batch->arena};
    int rc;

    for (uint32_t n = 0; n < indexer->client->numbering_count; n++) {
        commit.asks[n] = arena_array(batch->arena, batch->count + 1, sizeof(commit.asks[n][0]));
        for (size_t i = 0; i < batch->count; i++)
            if (item_is_new(&batch->items[i], n))
                commit.asks[n][commit.ask_counts[n]++] = batch->items[i].asks[n];
    }
    rc = run_commit(&commit, err);
    for (size_t i = 0; i < batch->count && !rc; i++) {
        struct item *item = &batch->items[i];

        for (uint32_t n = 0; n < indexer->client->numbering_count; n++)
            if (item->state == ITEM_PUT && item->is_wanted[n] && item->asks[n]->lack)
                item_fail(batch, item, item->asks[n]->lack);
    }
    return rc;
}

static int changes_too_fast(const struct indexer *indexer, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "client %s changes too fast to be read",
                   indexer->client->name);
}

/* At the topics of all epochs, before anything is sent that hides what is lost. */
static int look_first(struct indexer *indexer, struct err *err)
{
    int rc = 0;

    for (int i = 0; i < CONFIRM_ATTEMPT_MAX && !rc; i++) {
        rc = indexer_look(indexer, err);
        if (rc != ERR_CONFLICT)
            return rc;
        rc = refresh(indexer, true, err);
    }
    return rc ? rc : changes_too_fast(indexer, err);
}

static int gather(struct batch *batch, struct err *err)
{
    int rc = refresh(batch->indexer, false, err);

    for (int i = 0; i < CONFIRM_ATTEMPT_MAX && !rc; i++) {
        rc = indexer_open_numbers(batch->indexer, false, err);
        if (!rc)
            rc = batch_gather(batch, err);
        if (rc != ERR_CONFLICT)
            return rc;
        rc = refresh(batch->indexer, true, err);
    }
    return rc ? rc : changes_too_fast(batch->indexer, err);
}

/* A new field or epoch is told even when no document waits. */
static bool has_news(const struct indexer *indexer)
{
    const struct client_view *client = indexer->client;
    uint32_t known_count = 0;

    for (uint32_t i = 0; i < client->epoch_count; i++)
        for (size_t k = 0; k < EPOCHS_MAX; k++)
            known_count += indexer->told[k].epoch == client->epochs[i].epoch &&
                           indexer->told[k].is_told &&
                           indexer->told[k].field_count == client->epochs[i].field_count;
    return !indexer->is_announced || known_count < client->epoch_count;
}

/* Moves of offsets may wait. Not so what later batches read: failures, and keys that have left. */
static bool must_commit(const struct indexer *indexer)
{
    const struct pending *pending = &indexer->pending;

    return pending->failure_count || pending->cleared_count || pending->left_count ||
           pending->element_count >= INDEXER_PENDING_COUNT ||
           (pending->element_count &&
            clock_mono_us(indexer->base->clock) - pending->since_us > INDEXER_PENDING_MS * MS_US);
}

static void learn_pace(struct batch *batch, int64_t begun_us)
{
    struct indexer *indexer = batch->indexer;
    int64_t took_us = clock_mono_us(indexer->base->clock) - begun_us;

    if (batch->count < INDEXER_BACKFILL_COUNT_MIN)
        return; /* the fixed costs are not an element's */
    indexer->item_us = (indexer->item_us * 3 + took_us / (int64_t)batch->count) / 4;
    if (indexer->item_us < 1)
        indexer->item_us = 1;
}

static int run_batch(struct batch *batch, struct err *err)
{
    struct indexer *indexer = batch->indexer;
    int64_t begun_us = clock_mono_us(indexer->base->clock);
    int rc = gather(batch, err);

    if (!rc)
        rc = batch_convert(batch, err);
    if (!rc && batch->new_count)
        rc = number_batch(batch, err);
    if (!rc && (batch->count || has_news(indexer)))
        rc = batch_send(batch, err);
    if (rc)
        return rc;
    indexer->is_idle = batch->count == 0;
    remember(batch);
    if (batch->count) {
        indexer_metrics_count(batch, begun_us);
        learn_pace(batch, begun_us);
    }
    return batch->count == 0 || must_commit(indexer) ? indexer_settle(indexer, err) : 0;
}

static void tell_round(const struct batch *batch, struct indexer_round *round)
{
    *round = (struct indexer_round){.element_count = batch->count,
                                    .more = batch->more,
                                    .is_settled = !batch->indexer->pending.element_count};
    for (size_t i = 0; i < batch->count; i++)
        round->sent_count += batch->items[i].state == ITEM_PUT ||
                             batch->items[i].state == ITEM_REMOVE ||
                             batch->items[i].state == ITEM_FIELDS;
}

int indexer_round(struct indexer *indexer, struct indexer_round *round, struct err *err)
{
    struct batch batch = {
        .indexer = indexer, .arena = arena_new(), .now_us = clock_wall_us(indexer->base->clock)};
    int rc = 0;

    object_check(indexer, INDEXER_MAGIC);
    *round = (struct indexer_round){0};
    if (!indexer->is_claimed) {
        rc = claim(indexer, err);
        if (!rc)
            rc = look_first(indexer, err);
    }
    if (!rc)
        rc = run_batch(&batch, err);
    if (!rc)
        tell_round(&batch, round);
    else
        indexer->is_claimed = false;
    arena_free(batch.arena);
    return rc;
}

/* --- numbers of the dead --- */

struct sweep {
    struct indexer *indexer;
    int64_t now_us;
};

static int sweep_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct sweep *sweep = arg;
    const struct indexer *indexer = sweep->indexer;
    int rc = store_check_fence(tx, indexer->fence, (int64_t)indexer->ticket, err);
    uint32_t count;

    for (size_t i = 0; i < indexer->number_count && !rc; i++)
        rc = numbers_sweep(indexer->numbers[i].numbers, tx, sweep->now_us, INDEXER_SWEEP_COUNT,
                           &count, err);
    return rc;
}

int indexer_sweep(struct indexer *indexer, struct err *err)
{
    struct sweep sweep = {.indexer = indexer, .now_us = clock_wall_us(indexer->base->clock)};
    int rc;

    object_check(indexer, INDEXER_MAGIC);
    if (!indexer->is_claimed)
        return 0;
    rc = store_write(indexer->base->store, sweep_tx, &sweep, err);
    indexer_settle_numbers(indexer, rc == 0);
    if (rc)
        indexer->is_claimed = false;
    return rc;
}

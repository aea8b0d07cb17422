/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_pour.c - stored documents of the shard go into an epoch that is built, or once more into
 * one that is poured again (indexer_tend.c); see indexer.h.
 *
 * A chunk is read with how far the pouring is, checked with the epoch's schema outside of any
 * transaction, and appended to the lane backfill together with the move, under the fence. What is
 * written meanwhile has an element of its own in another lane, which is sent to the epoch too; the
 * poured one is superseded then. So a crash, or a new owner, goes on where the last commit was.
 *
 * Where numbers are to follow a field, all of the shard are given before (indexer_rank.c).
 */
#include <assert.h>

#include "base/log.h"
#include "base/object.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"
#include "registry/clients/convert.h"
#include "registry/indexing/backfill.h"
#include "registry/indexing/indexer_parts.h"
#include "store/fence.h"

struct pouring {
    struct indexer *indexer;
    const struct epoch_view *epoch;
    uint32_t shard; /* of its index */
    struct arena *arena;
    int64_t last; /* hash of the shard */
    struct backfill before, after;
    bool is_over; /* nothing is left to be poured */
    bool is_full; /* the lane is */
    struct row *rows;
    size_t row_count;
    struct queue_element *elements;
    size_t element_count;
};

static int read_chunk(struct store_tx *tx, void *arg, struct err *err)
{
    struct pouring *pouring = arg;
    const struct indexer *indexer = pouring->indexer;
    struct lane_state lane;
    bool found;
    int rc;

    pouring->is_over = pouring->is_full = false;
    rc = backfill_find(tx, indexer->client->id, pouring->epoch->epoch, pouring->shard,
                       &pouring->before, &found, err);
    if (rc)
        return rc;
    /* an older program knows of no numbers, and has poured without; they come first all the same */
    pouring->is_over = !found || (pouring->before.is_done && pouring->before.is_numbered);
    if (pouring->is_over || !pouring->before.is_numbered)
        return 0;
    pouring->is_full = pouring->before.pour_no && pouring->before.mark_offset < 0;
    if (pouring->is_full) /* not before its first mark is in the topic */
        return 0;
    rc = queue_state(tx, indexer->client->id, LANE_BACKFILL, indexer->shard, &lane, err);
    if (rc)
        return rc;
    pouring->is_full = lane.end - lane.offset + POUR_COUNT > POUR_LANE_COUNT_MAX;
    if (pouring->is_full)
        return 0;
    return rows_scan(tx, indexer->client->id, pouring->before.hash, pouring->last, POUR_COUNT, true,
                     pouring->arena, &pouring->rows, &pouring->row_count, err);
}

/* *fits: the epoch's index can have it. One that cannot be read goes along when documents are
 * poured again: shards may have had it, so it is to be seen in the lane failed that they lose it.
 */
static int check_row(struct pouring *pouring, const struct row *row, bool *fits, struct err *err)
{
    const struct indexer *indexer = pouring->indexer;
    struct arena *arena = arena_new();
    Torg__V1__IndexDocument converted = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__RawDocument *document;
    struct err why = {0};
    int rc =
        row_unpack(indexer->base->dictionaries, indexer->client->id, row, arena, &document, &why);

    *fits = rc && pouring->before.pour_no;
    if (!rc) {
        rc = convert_document(document, pouring->epoch, arena, &converted, &why);
        *fits = !rc;
    }
    arena_free(arena);
    if (rc && !row_is_at_fault(rc))
        return err_set(err, rc, "%s", why.text);
    if (rc)
        log_debug("a stored document does not fit the epoch that is built",
                  LOG_BYTES("pk", row->pk), LOG_INT("epoch", pouring->epoch->epoch),
                  LOG_TEXT("reason", why.text));
    return 0;
}

/* Whether the row is for this pour: the dead never are, and rows of an epoch that is built were
 * sent to it when they were written, unless it had no numbers then. */
static bool is_wanted(const struct pouring *pouring, const struct row *row)
{
    return row->status == ROW_ALIVE && (pouring->before.pour_no || *pouring->epoch->number_by ||
                                        row->order.epoch < pouring->epoch->epoch);
}

/* An element for an epoch that is built goes to that one alone. When documents are poured again, or
 * are of that epoch, it has the row's own order and goes to every epoch, as if it was written now;
 * but it is no write that an epoch it does not fit would count. */
static struct queue_element element_of(const struct pouring *pouring, const struct row *row,
                                       int64_t now_us)
{
    struct queue_element element = {.pk = row->pk, .order = row->order};

    if (!pouring->before.pour_no && row->order.epoch < pouring->epoch->epoch) {
        element.order.epoch = pouring->epoch->epoch;
        element.put_us = now_us;
    }
    return element;
}

static int check_chunk(struct pouring *pouring, struct err *err)
{
    int64_t now_us = clock_wall_us(pouring->indexer->base->clock);
    int rc = 0;

    pouring->after = pouring->before;
    pouring->elements =
        arena_array(pouring->arena, pouring->row_count + 1, sizeof(*pouring->elements));
    for (size_t i = 0; i < pouring->row_count && !rc; i++) {
        const struct row *row = &pouring->rows[i];
        bool fits;

        pouring->after.hash = row->hash;
        if (!is_wanted(pouring, row))
            continue;
        rc = check_row(pouring, row, &fits, err);
        if (!rc && fits)
            pouring->elements[pouring->element_count++] = element_of(pouring, row, now_us);
        pouring->after.refused_count += !rc && !fits;
    }
    pouring->after.poured_count += (int64_t)pouring->element_count;
    pouring->after.is_done = pouring->row_count < POUR_COUNT;
    return rc;
}

static int append_chunk(struct store_tx *tx, void *arg, struct err *err)
{
    struct pouring *pouring = arg;
    const struct indexer *indexer = pouring->indexer;
    int rc = store_check_fence(tx, indexer->fence, (int64_t)indexer->ticket, err);

    if (!rc)
        rc = client_confirm(tx, indexer->client, err);
    if (!rc && pouring->element_count) {
        rc = queue_append(tx, indexer->client->id, LANE_BACKFILL, indexer->shard, pouring->elements,
                          pouring->element_count, err);
        pouring->after.end_idx = pouring->elements[pouring->element_count - 1].idx;
    }
    if (!rc)
        rc = backfill_move(tx, indexer->client->id, pouring->epoch->epoch, pouring->shard,
                           pouring->before.hash, &pouring->after, err);
    return rc;
}

static int pour_chunk(struct pouring *pouring, struct err *err)
{
    struct indexer *indexer = pouring->indexer;
    int64_t first;
    int rc;

    number_shard_range(pouring->shard, client_numbering(indexer->client, pouring->epoch)->scheme,
                       &first, &pouring->last);
    rc = store_read(indexer->base->store, read_chunk, pouring, err);
    if (!rc && pouring->is_over && indexer->again.epoch)
        indexer->again.epoch = 0;
    else if (!rc && pouring->is_over)
        indexer->pour.shard++;
    if (rc || pouring->is_over || pouring->is_full)
        return rc;
    if (!pouring->before.is_numbered)
        return indexer_rank(indexer, pouring->epoch, pouring->shard, pouring->arena, err);
    rc = check_chunk(pouring, err);
    if (!rc)
        rc = store_write(indexer->base->store, append_chunk, pouring, err);
    if (!rc && pouring->after.is_done)
        log_info("stored documents of a shard are poured into an epoch",
                 LOG_TEXT("client", indexer->client->name), LOG_INT("shard", pouring->shard),
                 LOG_INT("epoch", pouring->epoch->epoch),
                 LOG_INT("poured", pouring->after.poured_count),
                 LOG_INT("refused", pouring->after.refused_count));
    return rc;
}

/* The epoch that documents are poured into, and the shard of its index; NULL: none. */
static const struct epoch_view *find_epoch(struct indexer *indexer, uint32_t *shard)
{
    uint32_t at = built_place(indexer->client);
    const struct epoch_view *epoch;
    uint32_t first;

    if (indexer->again.epoch) {
        *shard = indexer->again.shard;
        return client_epoch(indexer->client, indexer->again.epoch);
    }
    if (at == EPOCHS_MAX)
        return NULL;
    epoch = &indexer->client->epochs[at];
    first = first_shard(indexer, epoch);
    if (indexer->pour.epoch != epoch->epoch)
        indexer->pour = (struct epoch_shard){epoch->epoch, first};
    *shard = indexer->pour.shard;
    return *shard < first + client_shards_each(indexer->client, epoch) ? epoch : NULL;
}

int indexer_pour(struct indexer *indexer, bool *is_poured, struct err *err)
{
    struct pouring pouring = {.indexer = indexer};
    int rc;

    object_check(indexer, INDEXER_MAGIC);
    *is_poured = false;
    if (!indexer->is_claimed)
        return 0;
    if (built_place(indexer->client) == EPOCHS_MAX) /* it was given up meanwhile */
        indexer_rank_free(indexer);
    pouring.epoch = find_epoch(indexer, &pouring.shard);
    if (!pouring.epoch)
        return 0;
    pouring.arena = arena_new();
    rc = pour_chunk(&pouring, err);
    *is_poured =
        !rc && !pouring.is_full && (!pouring.is_over || find_epoch(indexer, &pouring.shard));
    arena_free(pouring.arena);
    if (rc == ERR_CONFLICT) /* the client has changed: the next round reads it anew */
        return 0;
    if (rc)
        indexer->is_claimed = false;
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_rank.c - stored documents of a shard get their numbers in the order of a field, before
 * the first of them is poured into the epoch that is built; see indexer.h.
 *
 *   rows, chunk by chunk ─► what does it say of the field? ─► rank_list (memory)
 *                                                               │ best first
 *   is_numbered ◄── all are given ◄── numbers_give, chunk by chunk, under the fence
 *
 * Until then changes of documents are not sent to the shard (item_is_awaited): they would be
 * numbered as they come. Its pour, which comes after, has every document that was written before.
 * What is new since the rows were read is numbered by the pour, or as it is written: behind.
 *
 * The list is a hint. A chunk is given to documents that are alive in the transaction that gives
 * it: one that is deleted later finds its number and leaves it. Who takes the shard over reads
 * anew; what has a number keeps it, and those were the best. Threads: the indexer's.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "numerator/bounds.h"
#include "numerator/rank_list.h"
#include "registry/bounds.h"
#include "registry/clients/convert.h"
#include "registry/indexing/backfill.h"
#include "registry/indexing/indexer_parts.h"
#include "store/fence.h"

struct ranking {
    struct epoch_shard at;
    struct rank_list *list; /* owned */
    int64_t before;         /* no hash of the shard is up to this one */
    int64_t hash, last;     /* all up to this one are read, of the shard's */
    bool is_read;
    bool is_full;                  /* others are numbered behind, in no order */
    int64_t given[RANK_CHUNK_MAX]; /* hashes of the chunk that is given, ... */
    size_t given_count;            /* ... until it is committed */
    bool is_last;
};

void indexer_rank_free(struct indexer *indexer)
{
    if (indexer->ranking)
        rank_list_free(indexer->ranking->list);
    free(indexer->ranking);
    indexer->ranking = NULL;
}

/* Of this shard; one of another is given up. */
static struct ranking *obtain(struct indexer *indexer, const struct epoch_view *epoch,
                              uint32_t shard)
{
    uint64_t count_max = indexer->base->rules.rank_count_max;
    struct ranking *ranking = indexer->ranking;
    int64_t first;

    if (ranking && ranking->at.epoch == epoch->epoch && ranking->at.shard == shard)
        return ranking;
    indexer_rank_free(indexer);
    ranking = mem_zero(sizeof(*ranking));
    ranking->at = (struct epoch_shard){epoch->epoch, shard};
    ranking->list = rank_list_new(count_max ? count_max : NUMBER_RANK_COUNT_MAX);
    number_shard_range(shard, client_numbering(indexer->client, epoch)->scheme, &first,
                       &ranking->last);
    ranking->before = ranking->hash = first == INT64_MIN ? first : first - 1;
    indexer->ranking = ranking;
    return ranking;
}

/* --- reading --- */

struct ranking_step {
    struct indexer *indexer;
    const struct epoch_view *epoch;
    struct ranking *ranking;
    struct arena *arena;
    struct row *rows;
    size_t row_count;
};

static int read_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct ranking_step *step = arg;

    return rows_scan(tx, step->indexer->client->id, step->ranking->hash, step->ranking->last,
                     POUR_COUNT, true, step->arena, &step->rows, &step->row_count, err);
}

static bool is_there(const struct row *row, int64_t now_us)
{
    return row->status == ROW_ALIVE && !(row->expires_us && row->expires_us <= now_us);
}

/* *fits: the epoch will have the document. */
static int rank_row(const struct ranking_step *step, const struct row *row, uint64_t *rank,
                    bool *fits, struct err *err)
{
    const struct indexer *indexer = step->indexer;
    const struct epoch_field *field =
        epoch_find_field(step->epoch, bytes_of(step->epoch->number_by));
    struct arena *arena = arena_new();
    Torg__V1__IndexDocument converted = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__RawDocument *document;
    struct err why = {0};
    int rc =
        row_unpack(indexer->base->dictionaries, indexer->client->id, row, arena, &document, &why);

    assert(field); /* of an epoch none goes */
    *rank = RANK_NONE;
    if (!rc)
        rc = convert_document(document, step->epoch, arena, &converted, &why);
    if (!rc)
        rc = convert_side(row->side, step->epoch, arena, &converted, &why);
    *fits = !rc;
    for (size_t i = 0; i < converted.n_values && !rc; i++)
        if (converted.values[i]->number == field->number)
            *rank = rank_of(converted.values[i]->integer, step->epoch->is_ascending);
    arena_free(arena);
    return rc && !row_is_at_fault(rc) ? err_set(err, rc, "%s", why.text) : 0;
}

struct ranked_row {
    uint64_t rank;
    int64_t hash;
};

/* A chunk that fails is read again: none of it is in the list by then. */
static int read_chunk(struct ranking_step *step, struct err *err)
{
    int64_t now_us = clock_wall_us(step->indexer->base->clock);
    struct ranking *ranking = step->ranking;
    int rc = store_read(step->indexer->base->store, read_rows, step, err);
    struct ranked_row *ranked;
    size_t count = 0;

    if (rc)
        return rc;
    ranked = arena_array(step->arena, step->row_count + 1, sizeof(*ranked));
    for (size_t i = 0; i < step->row_count && !rc; i++) {
        const struct row *row = &step->rows[i];
        bool fits = false;

        ranked[count].hash = row->hash;
        if (is_there(row, now_us))
            rc = rank_row(step, row, &ranked[count].rank, &fits, err);
        count += fits;
    }
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (!rank_list_add(ranking->list, ranked[i].rank, ranked[i].hash))
            ranking->is_full = true;
    if (step->row_count)
        ranking->hash = step->rows[step->row_count - 1].hash;
    ranking->is_read = step->row_count < POUR_COUNT || ranking->is_full;
    return 0;
}

/* --- giving --- */

/* In the order of the chunk; hashes of two keys may be the same. */
static uint32_t ask_in_order(const struct ranking_step *step, struct number_ask *asks)
{
    const struct ranking *ranking = step->ranking;
    int64_t now_us = clock_wall_us(step->indexer->base->clock);
    uint32_t count = 0;
    size_t first = 0; /* rows come about in the order of the hashes */

    for (size_t i = 0; i < ranking->given_count; i++)
        for (size_t k = 0; k < step->row_count; k++) {
            size_t at = (first + k) % step->row_count;
            struct row *row = &step->rows[at];

            if (row->hash != ranking->given[i])
                continue;
            if (is_there(row, now_us))
                asks[count++] = (struct number_ask){.key = row->pk};
            row->status = 0; /* each once */
            first = at + 1;
            if (at + 1 == step->row_count || step->rows[at + 1].hash != row->hash)
                break;
        }
    return count;
}

static int give_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct ranking_step *step = arg;
    const struct indexer *indexer = step->indexer;
    const struct ranking *ranking = step->ranking;
    const struct backfill_place place = {indexer->client->id, ranking->at.epoch, ranking->at.shard};
    struct number_ask *asks;
    uint32_t count;
    int rc = store_check_fence(tx, indexer->fence, (int64_t)indexer->ticket, err);

    if (!rc)
        rc = client_confirm(tx, indexer->client, err);
    if (!rc)
        rc = rows_find_hashes(tx, indexer->client->id, ranking->given, ranking->given_count,
                              step->arena, &step->rows, &step->row_count, err);
    if (rc)
        return rc;
    asks = arena_array(step->arena, step->row_count + 1, sizeof(*asks));
    count = ask_in_order(step, asks);
    if (count)
        rc = numbers_give(indexer_numbers(indexer, step->epoch->numbering, ranking->at.shard), tx,
                          asks, count, clock_wall_us(indexer->base->clock), err);
    return rc || !ranking->is_last ? rc : backfill_note_numbered(tx, &place, ranking->before, err);
}

static int give_chunk(struct ranking_step *step, struct err *err)
{
    struct indexer *indexer = step->indexer;
    struct ranking *ranking = step->ranking;
    int rc;

    if (!ranking->given_count && !ranking->is_last) {
        ranking->given_count = rank_list_next(ranking->list, ranking->given, RANK_CHUNK_MAX);
        ranking->is_last = ranking->given_count < RANK_CHUNK_MAX;
    }
    rc = store_write(indexer->base->store, give_tx, step, err);
    indexer_settle_numbers(indexer, rc == 0);
    if (rc)
        return rc;
    ranking->given_count = 0;
    if (!ranking->is_last)
        return 0;
    log_info("stored documents of a shard are numbered by a field",
             LOG_TEXT("client", indexer->client->name), LOG_INT("shard", ranking->at.shard),
             LOG_INT("epoch", step->epoch->epoch), LOG_TEXT("field", step->epoch->number_by),
             LOG_INT("documents", (int64_t)rank_list_count(ranking->list)));
    if (ranking->is_full)
        log_warn("a shard has more documents than are numbered by a field: others come behind",
                 LOG_TEXT("client", indexer->client->name), LOG_INT("shard", ranking->at.shard));
    indexer_rank_free(indexer);
    return 0;
}

int indexer_rank(struct indexer *indexer, const struct epoch_view *epoch, uint32_t shard,
                 struct arena *arena, struct err *err)
{
    struct ranking_step step = {.indexer = indexer, .epoch = epoch, .arena = arena};

    object_check(indexer, INDEXER_MAGIC);
    assert(indexer->is_claimed && *epoch->number_by);
    step.ranking = obtain(indexer, epoch, shard);
    return step.ranking->is_read ? give_chunk(&step, err) : read_chunk(&step, err);
}

/* --- what waits for it --- */

int batch_find_awaited(struct store_tx *tx, struct batch *batch, struct err *err)
{
    struct indexer *indexer = batch->indexer;
    uint32_t at = built_place(indexer->client);
    const struct epoch_view *epoch;
    struct backfill_place first = {.client_id = indexer->client->id};
    int rc;

    batch->unnumbered = 0;
    if (at == EPOCHS_MAX)
        return 0;
    epoch = &indexer->client->epochs[at];
    if (!*epoch->number_by || indexer->numbered_epoch == epoch->epoch)
        return 0;
    first.epoch = epoch->epoch;
    first.shard = first_shard(indexer, epoch);
    rc = backfill_find_unnumbered(tx, &first, client_shards_each(indexer->client, epoch),
                                  &batch->unnumbered, err);
    if (!rc && !batch->unnumbered) /* and never again */
        indexer->numbered_epoch = epoch->epoch;
    return rc;
}

bool item_is_awaited(const struct batch *batch, const struct item *item, uint32_t place)
{
    const struct indexer *indexer = batch->indexer;
    const struct epoch_view *epoch = &indexer->client->epochs[place];
    uint32_t scheme = client_numbering(indexer->client, epoch)->scheme;

    return batch->unnumbered && place == built_place(indexer->client) &&
           batch->unnumbered >>
                   (number_key_shard(item->row->hash, scheme) - first_shard(indexer, epoch)) &
               1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_tend.c - the topics of a shard's epochs are kept whole and short; see indexer.h.
 *
 * A topic is whole from an offset on when every document was sent at that offset or later. That is
 * its beginning, until documents are poured again: then it is the first mark of the last pour that
 * has both (backfill.h). It is a compaction of the log, so to speak, by a party that knows which
 * documents are alive:
 *
 *   0 … records … BEGIN 1 … documents and changes … END 1 … changes … BEGIN 2 … END 2 …
 *                 └ whole from here on: what lies before may go, after a delay
 *
 * Documents are poured again when the topic does not reach back to that offset (retention took it),
 * so that a shard without files can come back; when it ends before what was acknowledged (a disk
 * has lost its tail, somebody cut it or recreated it); and when it has many more records than there
 * are documents. Nobody has to ask for it: the owner of the shard notices. Removals that were lost
 * with a tail are found by the auditor.
 *
 * The end of a topic is noted in the store with each move of the lanes, and checked before a new
 * owner sends its first record: records sent after a cut may reach as far as those that were lost.
 * A topic that is cut under its owner is detected by the offsets of the next records.
 */
#include <assert.h>
#include <inttypes.h>

#include "base/log.h"
#include "base/object.h"
#include "model/topics.h"
#include "numerator/number_count.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"
#include "registry/indexing/backfill.h"
#include "registry/indexing/indexer_parts.h"
#include "store/fence.h"

struct tending {
    struct indexer *indexer;
    uint32_t place; /* of the epoch, in the view */
    struct backfill_place at;
    char topic[INDEX_TOPIC_SIZE];
    int64_t first, end; /* of the topic */
    int64_t seen_end;   /* where it was seen to end before */
    struct told_end *told;
    struct backfill backfill;
    bool found;
    int64_t live_count;   /* documents, about; counted only when it matters */
    uint64_t mark_offset; /* of the BEGIN that was sent */
};

/* --- looking --- */

static const struct numbering *numbering_of(const struct tending *tending)
{
    const struct client_view *client = tending->indexer->client;

    return client_numbering(client, &client->epochs[tending->place]);
}

static bool is_long(const struct tending *tending)
{
    int64_t slack = tending->indexer->base->rules.slack_count;

    return slack && tending->end - tending->backfill.whole_offset > slack;
}

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct tending *tending = arg;
    struct number_count count;
    int rc = backfill_find(tx, tending->at.client_id, tending->at.epoch, tending->at.shard,
                           &tending->backfill, &tending->found, err);

    tending->live_count = 0;
    if (!rc)
        rc = backfill_find_end(tx, &tending->at, &tending->seen_end, err);
    if (rc || !is_long(tending))
        return rc;
    rc = number_count_read(tx, numbering_of(tending)->space, tending->at.shard, 0, &count, err);
    if (!rc)
        tending->live_count = count.given - count.gone - count.held - count.free;
    return rc;
}

/* Whether the topic has the offset that it was whole from, or will be. */
static bool has_lost(const struct tending *tending, int64_t offset)
{
    return tending->first > offset || tending->end < offset;
}

/* Why documents are poured again; NULL: there is no need. */
static const char *find_need(const struct tending *tending)
{
    const struct backfill *backfill = &tending->backfill;

    if ((tending->end < tending->told->end || tending->told->is_cut) &&
        (backfill->is_whole || backfill->mark_offset >= 0))
        return "the topic ends before what was sent to it: it was cut, or recreated";
    if (!backfill->is_whole)
        return backfill->mark_offset >= 0 && has_lost(tending, backfill->mark_offset)
                   ? "the topic has lost the pour's beginning"
                   : NULL;
    if (has_lost(tending, backfill->whole_offset))
        return "the topic has lost records that a new shard needs";
    if (tending->found && !backfill->is_done) /* the epoch is built */
        return NULL;
    if (is_long(tending) &&
        tending->end - backfill->whole_offset >
            tending->indexer->base->rules.slack_count + POUR_SHARE * tending->live_count)
        return "the topic has many more records than documents";
    return NULL;
}

/* --- steps, each under the fence --- */

static int check_owner(struct store_tx *tx, const struct tending *tending, struct err *err)
{
    const struct indexer *indexer = tending->indexer;
    int rc = store_check_fence(tx, indexer->fence, (int64_t)indexer->ticket, err);

    return rc ? rc : client_confirm(tx, indexer->client, err);
}

static int note_topic_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct tending *tending = arg;
    int rc = check_owner(tx, tending, err);

    return rc ? rc : backfill_note_topic(tx, &tending->at, tending->end, err);
}

static int begin_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct tending *tending = arg;
    int64_t first, last;
    int rc = check_owner(tx, tending, err);

    number_shard_range(tending->at.shard, numbering_of(tending)->scheme, &first, &last);
    return rc ? rc
              : backfill_begin_again(tx, &tending->at, &tending->backfill,
                                     first == INT64_MIN ? first : first - 1, err);
}

static int note_begin_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct tending *tending = arg;
    int rc = check_owner(tx, tending, err);

    return rc ? rc
              : backfill_note_begin(tx, &tending->at, tending->backfill.pour_no,
                                    tending->indexer->ticket, tending->mark_offset, err);
}

static int note_end_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct tending *tending = arg;
    int rc = check_owner(tx, tending, err);

    return rc ? rc
              : backfill_note_end(tx, &tending->at, tending->backfill.pour_no,
                                  clock_wall_us(tending->indexer->base->clock), err);
}

static int begin_again(struct tending *tending, const char *need, struct err *err)
{
    int rc = store_write(tending->indexer->base->store, begin_tx, tending, err);

    if (rc)
        return rc;
    tending->backfill.pour_no++;
    tending->backfill.is_whole = tending->backfill.is_done = false;
    tending->backfill.mark_offset = -1;
    log_info("documents of a shard are poured again", LOG_TEXT("topic", tending->topic),
             LOG_INT("shard", tending->at.shard), LOG_INT("pour", tending->backfill.pour_no),
             LOG_TEXT("reason", need), LOG_INT("first", tending->first),
             LOG_INT("end", tending->end));
    return 0;
}

static int send_begin(struct tending *tending, struct err *err)
{
    Torg__V1__IndexPour mark = TORG__V1__INDEX_POUR__INIT;
    int rc;

    mark.mark = TORG__V1__INDEX_POUR__MARK__BEGIN;
    mark.number = tending->backfill.pour_no;
    mark.begin_ticket = tending->indexer->ticket;
    rc = indexer_send_mark(tending->indexer, tending->place, tending->at.shard, &mark,
                           &tending->mark_offset, err);
    if (!rc)
        rc = store_write(tending->indexer->base->store, note_begin_tx, tending, err);
    if (!rc)
        tending->backfill.mark_offset = (int64_t)tending->mark_offset;
    return rc;
}

static int send_end(struct tending *tending, struct err *err)
{
    Torg__V1__IndexPour mark = TORG__V1__INDEX_POUR__INIT;
    uint64_t offset;
    int rc;

    mark.mark = TORG__V1__INDEX_POUR__MARK__END;
    mark.number = tending->backfill.pour_no;
    mark.begin_ticket = tending->backfill.mark_ticket;
    rc =
        indexer_send_mark(tending->indexer, tending->place, tending->at.shard, &mark, &offset, err);
    if (!rc)
        rc = store_write(tending->indexer->base->store, note_end_tx, tending, err);
    if (rc)
        return rc;
    log_info("documents of a shard have been poured again", LOG_TEXT("topic", tending->topic),
             LOG_INT("shard", tending->at.shard), LOG_INT("pour", tending->backfill.pour_no),
             LOG_INT("documents", tending->backfill.poured_count),
             LOG_INT("refused", tending->backfill.refused_count),
             LOG_INT("from", tending->backfill.mark_offset), LOG_INT("to", (int64_t)offset));
    return 0;
}

/* --- all of it --- */

static int go_on(struct tending *tending, struct err *err)
{
    struct indexer *indexer = tending->indexer;
    const struct backfill *backfill = &tending->backfill;
    int rc = 0;

    if (backfill->mark_offset < 0)
        rc = send_begin(tending, err);
    else if (backfill->is_done && indexer->position[LANE_BACKFILL] >= backfill->end_idx)
        return send_end(tending, err);
    if (!rc && !backfill->is_done)
        indexer->again = (struct epoch_shard){tending->at.epoch, tending->at.shard};
    indexer->tend_us = clock_after_us(indexer->base->clock, TEND_BUSY_MS * MS_US);
    return rc;
}

/* A topic that cannot be trimmed is only long. */
static void trim(const struct tending *tending)
{
    const struct indexer_base *base = tending->indexer->base;
    const struct backfill *backfill = &tending->backfill;
    struct err err = {0};

    if (tending->first >= backfill->whole_offset || tending->end < backfill->whole_offset ||
        clock_wall_us(base->clock) - backfill->whole_us < base->rules.trim_delay_us)
        return;
    if (topic_trim(base->topics, tending->topic, tending->at.shard,
                   (uint64_t)backfill->whole_offset, &err))
        log_warn("an index topic could not be trimmed; this is tried again",
                 LOG_TEXT("topic", tending->topic), LOG_INT("shard", tending->at.shard),
                 LOG_TEXT("error", err.text));
}

static int tend_shard(struct tending *tending, struct err *err)
{
    const struct indexer_base *base = tending->indexer->base;
    struct told_end *told = indexer_told_end(
        tending->indexer, &tending->indexer->client->epochs[tending->place], tending->at.shard);
    uint64_t first = 0, end = 0;
    int out = topic_range(base->topics, tending->topic, tending->at.shard, &first, &end, err);
    const char *need;
    int rc;

    tending->told = told;
    tending->first = (int64_t)first;
    tending->end = (int64_t)end;
    rc = store_read(base->store, look, tending, err);
    if (rc)
        return rc;
    if (told->end < tending->seen_end)
        told->end = tending->seen_end;
    if (out) /* nothing was sent yet, or it does not answer: then rounds tell it */
        return 0;
    need = find_need(tending);
    if (need)
        rc = begin_again(tending, need, err);
    if (!rc && tending->end != tending->seen_end)
        rc = store_write(base->store, note_topic_tx, tending, err);
    if (rc)
        return rc;
    told->end = told->noted_end = tending->end;
    told->is_cut = false;
    if (!tending->backfill.is_whole)
        rc = go_on(tending, err);
    if (!rc)
        trim(tending);
    return rc;
}

int indexer_look(struct indexer *indexer, struct err *err)
{
    int rc = 0;

    object_check(indexer, INDEXER_MAGIC);
    assert(indexer->is_claimed);
    indexer->tend_us = clock_after_us(indexer->base->clock, TEND_MS * MS_US);
    indexer->again.epoch = 0;
    for (uint32_t i = 0; i < indexer->client->epoch_count && !rc; i++) {
        const struct epoch_view *epoch = &indexer->client->epochs[i];
        uint32_t each = client_shards_each(indexer->client, epoch);

        for (uint32_t k = 0; k < each && !rc; k++) {
            struct tending tending = {
                .indexer = indexer,
                .place = i,
                .at = {indexer->client->id, epoch->epoch, first_shard(indexer, epoch) + k}};

            index_topic_name(indexer->client->name, tending.at.epoch, tending.topic);
            rc = tend_shard(&tending, err);
        }
    }
    return rc;
}

int indexer_tend(struct indexer *indexer, struct err *err)
{
    int rc;

    object_check(indexer, INDEXER_MAGIC);
    if (!indexer->is_claimed || clock_mono_us(indexer->base->clock) < indexer->tend_us)
        return 0;
    rc = indexer_look(indexer, err);
    if (rc == ERR_CONFLICT) /* the client has changed: the next round reads it anew */
        return 0;
    if (rc)
        indexer->is_claimed = false;
    return rc;
}

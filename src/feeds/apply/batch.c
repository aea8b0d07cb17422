/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - see batch.h. */
#include "feeds/apply/batch.h"

#include <assert.h>
#include <inttypes.h>

#include "base/bell.h"
#include "base/object.h"
#include "offers/bounds.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"

/* --- reading --- */

/* The ban of one that is deleted is what the newest opinion says: the record may have another. */
static int see_opinion(struct store_tx *tx, struct feed_batch *batch, struct feed_batch_row *row,
                       struct err *err)
{
    Torg__V1__Offer *before = row->before;
    int rc;

    row->opinion = (struct opinion_seen){0};
    if (!before || before->status != TORG__V1__OFFER__STATUS__DELETED)
        return 0;
    rc = photo_use_find_swept(tx, before->content, err);
    if (!rc)
        rc = opinion_see(tx, row->item.offer_id, batch->arena, &row->opinion, err);
    if (rc)
        return rc;
    /* An unban shows it as one that is published: it has not been seen since it was deleted. */
    if (!opinion_bans(&row->opinion, before))
        before->status_before_ban = TORG__V1__OFFER__STATUS__STATUS_UNSPECIFIED;
    else if (!before->status_before_ban)
        before->status_before_ban = TORG__V1__OFFER__STATUS__WAITING;
    return 0;
}

static bool is_of_end(const struct feed_batch_row *row)
{
    return row->kind == FEED_ROW_ABSENT || row->kind == FEED_ROW_AWAY;
}

/* What a row has asked to be deleted or withdrawn is told as that row's when it is. */
static int find_record(struct store_tx *tx, struct feed_batch *batch, struct feed_batch_row *row,
                       struct err *err)
{
    int rc;

    if (!is_of_end(row))
        return feed_rows_find(tx, batch->task.no, row->number, row->external_id, batch->arena,
                              &row->kept, err);
    rc = feed_rows_find_last(tx, batch->task.no, row->external_id, batch->arena, &row->kept, err);
    row->number = row->kept.row ? row->kept.row : FEED_ROW_GONE;
    row->event_hash = row->kept.event_hash; /* sent again, it is recognised */
    return rc;
}

static int find_kept(struct store_tx *tx, struct feed_batch *batch, struct feed_batch_row *row,
                     struct err *err)
{
    int rc = find_record(tx, batch, row, err);

    row->kept_told = NULL;
    if (rc || !row->kept.detail.size)
        return rc;
    return feed_detail_open(row->kept.detail, batch->arena, &row->kept_told, err);
}

static int read_row(struct store_tx *tx, struct feed_batch *batch, struct feed_batch_row *row,
                    struct err *err)
{
    const char *seller = batch->key->seller;
    int rc = find_kept(tx, batch, row, err);

    row->before = NULL;
    if (row->heir)
        return rc; /* what was there is read once a name */
    if (!rc)
        rc = external_item_find(tx, seller, row->external_id, batch->arena, &row->item, err);
    if (!rc && row->item.offer_id)
        rc = record_find(tx, row->item.offer_id, batch->arena, &row->before, err);
    return rc ? rc : see_opinion(tx, batch, row, err);
}

static int check_task(struct store_tx *tx, struct feed_batch *batch, struct err *err)
{
    const struct feed_key *key = batch->key;
    int rc = feed_task_find(tx, key, batch->arena, &batch->task, err);

    if (!rc && !batch->task.message)
        rc = err_set(err, ERR_NOT_FOUND, "there is no task %" PRId64 " of a feed \"%s\"",
                     key->task_id, key->feed);
    return rc;
}

static int read_batch(struct store_tx *tx, void *arg, struct err *err)
{
    struct feed_batch *batch = arg;
    int rc = check_task(tx, batch, err);

    object_check(batch, FEED_BATCH_MAGIC);
    for (size_t i = 0; i < batch->count && !rc; i++)
        rc = read_row(tx, batch, &batch->rows[i], err);
    return rc;
}

/* --- writing --- */

static int refuse_outrun(struct feed_batch *batch, struct err *err)
{
    batch->outrun = true;
    return err_set(err, ERR_CONFLICT, "the feed's offers were changed by others at the same time");
}

static int write_item(struct store_tx *tx, struct feed_batch *batch, struct feed_batch_row *row,
                      struct err *err)
{
    bool outrun = false;
    int rc = external_item_put(tx, batch->key->seller, row->external_id, &row->item,
                               &row->item_after, &outrun, err);

    return !rc && outrun ? refuse_outrun(batch, err) : rc;
}

struct item_writing {
    struct feed_batch *batch;
    struct feed_batch_row *row;
};

static int write_with_offer(struct store_tx *tx, struct offer_save *save, void *arg,
                            struct err *err)
{
    struct item_writing *writing = arg;

    writing->row->item_after.offer_id = save->id;
    writing->row->record.offer_id = save->id;
    return write_item(tx, writing->batch, writing->row, err);
}

static int64_t *count_of(Torg__V1__FeedCounts *counts, Torg__V1__FeedReportRow__Outcome outcome)
{
    switch (outcome) {
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__CREATED:
        return &counts->created;
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__UPDATED:
        return &counts->updated;
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__UNCHANGED:
        return &counts->unchanged;
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__BANNED:
        return &counts->banned;
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__REFUSED:
        return &counts->refused;
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__LEFT:
        return &counts->left;
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__DELETED:
        return &counts->deleted;
    case TORG__V1__FEED_REPORT_ROW__OUTCOME__REVIVED:
        return &counts->revived;
    default:
        assert(!"an outcome");
        return NULL;
    }
}

static void count_row(struct feed_batch *batch, const struct feed_batch_row *row)
{
    Torg__V1__FeedCounts *counts = batch->task.message->counts;

    if (row->kept.row)
        (*count_of(counts, row->kept.outcome))--;
    else if (!is_of_end(row))
        counts->rows++;
    if (row->kept_told && row->kept_told->withdrawn)
        counts->withdrawn--;
    counts->withdrawn += row->withdraws;
    (*count_of(counts, row->record.outcome))++;
}

/* An opinion on a deleted offer leaves its record alone, so its revision does not tell. */
static int check_opinion(struct store_tx *tx, struct feed_batch *batch, struct feed_batch_row *row,
                         struct err *err)
{
    bool outrun = false;
    int rc = 0;

    if (row->before && row->before->status == TORG__V1__OFFER__STATUS__DELETED)
        rc = opinion_check_seen(tx, row->item.offer_id, &row->opinion, &outrun, err);
    return !rc && outrun ? refuse_outrun(batch, err) : rc;
}

static int write_row(struct store_tx *tx, struct feed_batch *batch, struct feed_batch_row *row,
                     struct err *err)
{
    struct item_writing writing = {batch, row};
    bool outrun = false;
    int rc = row->saves ? check_opinion(tx, batch, row, err) : 0;

    if (rc)
        return rc;
    if (row->saves) {
        row->save.also = write_with_offer;
        row->save.also_arg = &writing;
        row->save.id = row->before ? row->item.offer_id : 0;
        rc = offer_save_in(tx, &row->save, err);
        batch->outrun = batch->outrun || row->save.outrun;
        if (!rc)
            batch->task.message->freshness_token = row->save.receipt->freshness_token;
    } else if (row->touches) {
        rc = write_item(tx, batch, row, err);
    }
    if (!rc)
        rc = feed_rows_put(tx, batch->task.no, &row->kept, &row->record, &outrun, err);
    if (!rc && outrun)
        rc = refuse_outrun(batch, err);
    if (!rc)
        count_row(batch, row);
    return rc;
}

static int write_batch(struct store_tx *tx, void *arg, struct err *err)
{
    struct feed_batch *batch = arg;
    int rc;

    object_check(batch, FEED_BATCH_MAGIC);
    batch->outrun = false;
    rc = check_task(tx, batch, err);
    if (!rc && batch->task.message->state != (Torg__V1__FeedTask__State)batch->state)
        return err_set(err, ERR_PRECONDITION, "task %" PRId64 " of the feed \"%s\" is %s, not %s",
                       batch->key->task_id, batch->key->feed,
                       feed_state_name((enum feed_state)batch->task.message->state),
                       feed_state_name(batch->state));
    if (!rc && batch->state == FEED_RUNNING)
        rc = feed_task_check_newest(tx, batch->key, err);
    for (size_t i = 0; i < batch->count && !rc; i++) {
        if (!batch->rows[i].is_settled)
            rc = write_row(tx, batch, &batch->rows[i], err);
    }
    return rc ? rc : feed_task_put(tx, batch->offers, &batch->task, batch->arena, err);
}

/* --- all of it --- */

static void release_saves(struct feed_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        offer_save_release(&batch->rows[i].save);
}

static int try_batch(struct feed_batch *batch, struct err *err)
{
    bool settled = true;
    int rc;

    batch->outrun = false;
    rc = store_read(batch->offers->store, read_batch, batch, err);
    for (size_t i = batch->count; i > 0 && !rc; i--) {
        rc = feed_row_decide(batch, &batch->rows[i - 1], err);
        settled = settled && batch->rows[i - 1].is_settled;
    }
    if (!rc && !settled)
        rc = store_write(batch->offers->store, write_batch, batch, err);
    if (!rc && !settled)
        bell_ring(batch->offers->bell);
    release_saves(batch);
    return rc;
}

int feed_batch_run(struct feed_batch *batch, struct err *err)
{
    int rc = 0;

    object_check(batch, FEED_BATCH_MAGIC);
    if (!batch->count)
        return 0;
    for (int i = 0; i < OFFER_ATTEMPT_COUNT_MAX; i++) {
        rc = try_batch(batch, err);
        if (!batch->outrun)
            break;
    }
    return rc;
}

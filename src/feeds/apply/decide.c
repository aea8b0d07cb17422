/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.c - what becomes of one row of a feed; see batch.h.
 *
 * A row that is refused still says that the feed has the item: its offer stays as it is and is not
 * deleted at the end. What is banned is updated and stays banned, what is withdrawn or sold by hand
 * stays so; what has expired and is in the feed is offered again.
 *
 * What the feed calls not available is withdrawn, and comes back when it is available again, unless
 * its seller has decided since (Offer.FeedWithdrawal, a part of the offer: so the mark, the status
 * and the row are one transaction, and an opinion or a hand that was faster is seen). What buyers
 * would lose by it waits for the end of the task (external_item.away), where the guard counts it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/object.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "feeds/apply/batch.h"
#include "feeds/apply/faults.h"
#include "feeds/tasks/rules.h"
#include "offers/bounds.h"
#include "offers/change/offer_change.h"
#include "offers/record/offer_record.h"

#define OUTCOME(name) TORG__V1__FEED_REPORT_ROW__OUTCOME__##name
#define BY_FEED TORG__V1__OFFER__FEED_WITHDRAWAL__WITHDRAWN_BY_FEED
#define REPUBLISHED TORG__V1__OFFER__FEED_WITHDRAWAL__REPUBLISHED_SINCE
#define NO_WITHDRAWAL TORG__V1__OFFER__FEED_WITHDRAWAL__FEED_WITHDRAWAL_UNSPECIFIED

enum { CONTENT_SIZE_MAX = 8 << 20 };

/* --- comparing --- */

static Torg__V1__OfferContent *without_states(const Torg__V1__OfferContent *content,
                                              struct arena *arena)
{
    Torg__V1__OfferContent *bare = arena_alloc(arena, sizeof(*bare));
    size_t count = content->n_photos;

    *bare = *content;
    bare->photos = arena_array(arena, count ? count : 1, sizeof(Torg__V1__Photo *));
    for (size_t i = 0; i < count; i++) {
        bare->photos[i] = MESSAGE_NEW(photo, arena);
        bare->photos[i]->source_url = content->photos[i]->source_url;
    }
    return bare;
}

uint64_t feed_state_hash(const Torg__V1__Offer *offer, struct arena *arena)
{
    struct buf wire = BUF_INIT(CONTENT_SIZE_MAX);
    /* What waited for its photo and is shown now was touched by nobody. */
    bool is_shown = offer->status == TORG__V1__OFFER__STATUS__WAITING;
    uint64_t hash;

    message_encode(&without_states(offer->content, arena)->base, &wire);
    hash = hash64_seeded(buf_bytes(&wire),
                         (uint64_t)(is_shown ? TORG__V1__OFFER__STATUS__ACTIVE : offer->status));
    buf_release(&wire);
    return hash;
}

static bool is_same(const Torg__V1__Offer *before, const Torg__V1__Offer *after)
{
    struct buf was = BUF_INIT(CONTENT_SIZE_MAX);
    struct buf is = BUF_INIT(CONTENT_SIZE_MAX);
    bool same;

    message_encode(&before->content->base, &was);
    message_encode(&after->content->base, &is);
    same = before->status == after->status && before->feed_withdrawal == after->feed_withdrawal &&
           bytes_equal(buf_bytes(&was), buf_bytes(&is));
    buf_release(&was);
    buf_release(&is);
    return same;
}

static bool is_banned(const Torg__V1__Offer *offer)
{
    return offer->status == TORG__V1__OFFER__STATUS__BANNED;
}

static bool is_sold(const Torg__V1__Offer *offer)
{
    return offer->status == TORG__V1__OFFER__STATUS__SOLD_ON_SITE ||
           offer->status == TORG__V1__OFFER__STATUS__SOLD_ELSEWHERE;
}

/* --- what is written --- */

/* The row of the item as this task leaves it. */
static void touch(const struct feed_batch *batch, struct feed_batch_row *row, int64_t gone_us)
{
    row->touches = true;
    row->item_after = (struct external_item){.offer_id = row->item.offer_id,
                                             .feed_id = batch->key->feed,
                                             .task_id = batch->key->task_id,
                                             .gone_us = gone_us};
    /* What the task has said of it before stays said. */
    if (!gone_us && !row->item.gone_us &&
        (row->item.away == batch->key->task_id || row->item.away == EXTERNAL_ITEM_AWAY))
        row->item_after.away = row->item.away;
}

static void note_outcome(struct feed_batch_row *row, Torg__V1__FeedReportRow__Outcome outcome)
{
    row->record = (struct feed_record){.row = row->number,
                                       .external_id = row->external_id,
                                       .event_hash = row->event_hash,
                                       .offer_id = row->item.gone_us ? 0 : row->item.offer_id,
                                       .outcome = outcome};
}

static void refuse(const struct feed_batch *batch, struct feed_batch_row *row)
{
    note_outcome(row, OUTCOME(REFUSED));
    if (row->item.offer_id && !row->item.gone_us && *row->item.feed_id &&
        strcmp(row->item.feed_id, batch->key->feed) != 0)
        return; /* another feed's: not to be touched */
    if (row->item.offer_id && !row->item.gone_us)
        touch(batch, row, 0);
}

/* The image of before is that of the first change by this row: a repeated row keeps it. */
static int keep_before(struct feed_batch *batch, struct feed_batch_row *row, bool with_content,
                       struct err *err)
{
    const struct feed_record *kept = &row->kept;
    struct feed_record *record = &row->record;
    struct buf body = BUF_INIT(2 * OFFER_SIZE_MAX);
    int rc = 0;

    record->changed = true;
    record->after_hash = feed_state_hash(row->save.after, batch->arena);
    if (kept->row && kept->changed && row->before && kept->offer_id == row->item.offer_id) {
        record->before_status = kept->before_status;
        record->before_body = kept->before_body;
        if (kept->outcome == OUTCOME(CREATED) && record->outcome == OUTCOME(UPDATED))
            record->outcome = OUTCOME(CREATED);
        with_content = with_content && kept->outcome != OUTCOME(CREATED);
    } else {
        record->before_status = row->before ? (enum offer_status)row->before->status : OFFER_NONE;
    }
    if (row->before && row->before->status == TORG__V1__OFFER__STATUS__WAITING)
        with_content = true; /* how long it waits is forgotten with the wait */
    if (with_content && row->before && !record->before_body.size) {
        rc = record_pack_within(&row->before->base, "the offer", OFFER_STORED_SIZE_MAX, &body, err);
        if (!rc)
            record->before_body = arena_copy(batch->arena, buf_bytes(&body));
    }
    buf_release(&body);
    return rc;
}

/* What the feed says of a live offer's availability. */
static enum offer_move move_of(const struct feed_batch_row *row)
{
    const Torg__V1__Offer *before = row->before;
    enum offer_status status = (enum offer_status)before->status;

    if (row->is_unavailable)
        return before->feed_withdrawal != REPUBLISHED && offer_status_allows(status, MOVE_WITHDRAW)
                   ? MOVE_WITHDRAW
                   : MOVE_UPDATE;
    if (status == OFFER_WITHDRAWN && before->feed_withdrawal == BY_FEED)
        return MOVE_REPUBLISH;
    return status == OFFER_EXPIRED ? MOVE_PROLONG : MOVE_UPDATE;
}

static bool is_seen(const Torg__V1__Offer *offer)
{
    return offer->status == TORG__V1__OFFER__STATUS__ACTIVE ||
           offer->status == TORG__V1__OFFER__STATUS__WAITING;
}

/* Whose word the status is by now. A new offer of what is not available is withdrawn in the same
 * change; while it is banned, the feed waits. */
static int heed_availability(const struct feed_batch_row *row, struct offer_change *change,
                             struct err *err)
{
    bool is_new = change->move == MOVE_PUBLISH || change->move == MOVE_REVIVE;
    int rc;

    if (change->move == MOVE_DELETE || is_banned(change->after))
        return 0;
    if (row->is_unavailable && is_new) {
        change->before = change->after;
        change->before->revision--;
        change->move = MOVE_WITHDRAW;
        change->content = NULL;
        rc = offer_change_build(change, err);
        if (rc)
            return rc;
    }
    if (change->move == MOVE_WITHDRAW)
        change->after->feed_withdrawal = BY_FEED;
    else if (!row->is_unavailable)
        change->after->feed_withdrawal = NO_WITHDRAWAL;
    return 0;
}

static void note_availability(struct feed_batch_row *row)
{
    const Torg__V1__Offer *before = row->before;
    const Torg__V1__Offer *after = row->save.after;
    bool was_away = before && before->status == TORG__V1__OFFER__STATUS__WITHDRAWN;

    if (row->item_after.away > 0)
        violations_add(&row->notes, "available",
                       "is not available: the offer is withdrawn at the end of the task");
    else if (after->status == TORG__V1__OFFER__STATUS__WITHDRAWN && row->is_unavailable &&
             !was_away)
        violations_add(&row->notes, "available", "is not available: the offer is withdrawn");
    else if (was_away && after->status != TORG__V1__OFFER__STATUS__WITHDRAWN)
        violations_add(&row->notes, "available", "is available again: the offer is back");
    else if (row->is_unavailable && after->feed_withdrawal == REPUBLISHED)
        violations_add(&row->notes, "available",
                       "is not available, and stays as its seller has republished it since");
}

/* Builds the offer after the move and what saves it; what stands against it refuses the row. */
static int build(struct feed_batch *batch, struct feed_batch_row *row, enum offer_move move,
                 Torg__V1__Offer *before, bool *refused, struct err *err)
{
    struct violations found = violations_in(batch->arena);
    const struct author author = {.seller = batch->key->seller,
                                  .language = batch->language,
                                  .arena = batch->arena,
                                  .violations = &found};
    struct offer_change change = {.offers = batch->offers,
                                  .author = &author,
                                  .id = before ? row->item.offer_id : 0,
                                  .move = move,
                                  .content = move == MOVE_DELETE ? NULL : row->content,
                                  .before = before};
    int rc = offer_change_build(&change, err);

    if (!rc)
        rc = heed_availability(row, &change, err);
    row->save = (struct offer_save){.offers = batch->offers,
                                    .before = before,
                                    .after = change.after,
                                    .arena = batch->arena,
                                    .owns_item = true,
                                    .is_bulk = true};
    if (!rc && !(before && is_same(before, change.after)))
        rc = offer_save_prepare(&row->save, err);
    *refused = rc == ERR_INVALID || rc == ERR_PRECONDITION || rc == ERR_LIMIT;
    if (!*refused)
        return rc;
    for (const struct violation *one = found.first; one; one = one->next)
        violations_add(&row->problems, one->field, "%s", one->reason);
    if (!found.count)
        violations_add(&row->problems, "", "%s", err->text);
    refuse(batch, row);
    return 0;
}

/* --- the cases --- */

static int create(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    bool refused;
    int rc = build(batch, row, MOVE_PUBLISH, NULL, &refused, err);

    if (rc || refused)
        return rc;
    row->before = NULL; /* a name that comes back too late is another offer */
    note_outcome(row, OUTCOME(CREATED));
    note_availability(row);
    touch(batch, row, 0);
    row->saves = true;
    return keep_before(batch, row, false, err);
}

static int revive(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    bool refused;
    int rc = build(batch, row, MOVE_REVIVE, row->before, &refused, err);

    if (rc || refused)
        return rc;
    note_outcome(row, is_banned(row->save.after) ? OUTCOME(BANNED) : OUTCOME(REVIVED));
    note_availability(row);
    touch(batch, row, 0);
    row->saves = true;
    return keep_before(batch, row, true, err);
}

/* What the item is by a row that says so. */
static int64_t away_by(const struct feed_batch *batch, const struct feed_batch_row *row,
                       bool at_end)
{
    if (at_end)
        return batch->key->task_id;
    return row->is_unavailable && row->save.after->feed_withdrawal != REPUBLISHED
               ? EXTERNAL_ITEM_AWAY
               : 0;
}

static int update(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    enum offer_move move = move_of(row);
    bool is_lost = move == MOVE_WITHDRAW && is_seen(row->before);
    bool at_end = is_lost && !batch->task.message->dry_run;
    bool refused;
    int rc;

    if (at_end)
        move = MOVE_UPDATE;
    if (is_sold(row->before)) {
        note_outcome(row, OUTCOME(UNCHANGED));
        violations_add(&row->notes, "", "the offer is %s and stays so",
                       offer_status_name((enum offer_status)row->before->status));
        touch(batch, row, 0);
        return 0;
    }
    rc = build(batch, row, move, row->before, &refused, err);
    if (rc || refused)
        return rc;
    if (row->item.task_id == batch->key->task_id && !row->kept.row)
        violations_add(&row->notes, "external_id",
                       "is that of an earlier row of this file too: the later row holds");
    touch(batch, row, 0);
    row->item_after.away = away_by(batch, row, at_end);
    row->withdraws = is_lost && !at_end;
    row->saves = !is_same(row->before, row->save.after);
    if (is_banned(row->save.after))
        note_outcome(row, OUTCOME(BANNED));
    else
        note_outcome(row, row->saves ? OUTCOME(UPDATED) : OUTCOME(UNCHANGED));
    note_availability(row);
    if (move == MOVE_PROLONG)
        violations_add(&row->notes, "", "the offer had expired and is prolonged");
    return row->saves ? keep_before(batch, row, true, err) : 0;
}

static int drop(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    bool refused;
    int rc = build(batch, row, MOVE_DELETE, row->before, &refused, err);

    if (rc || refused)
        return rc;
    note_outcome(row, OUTCOME(DELETED));
    touch(batch, row, moment_own_us(row->save.after->update_time));
    row->saves = true;
    return keep_before(batch, row, false, err);
}

static void take_told(Torg__V1__FeedProblem *const *list, size_t count,
                      struct violations *violations)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i]->field, "available") != 0)
            violations_add(violations, list[i]->field, "%s", list[i]->reason);
    }
}

/* What a row of the task has called not available, at the end of the task; unless it is out of
 * sight by now, or its seller has decided otherwise. It is told as that row's. */
static int withdraw(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    bool goes = row->before->feed_withdrawal != REPUBLISHED && is_seen(row->before);
    Torg__V1__FeedReportRow__Outcome outcome =
        row->kept.row ? row->kept.outcome : OUTCOME(UNCHANGED);
    bool refused = false;
    int rc = goes ? build(batch, row, MOVE_WITHDRAW, row->before, &refused, err) : 0;

    if (rc)
        return rc;
    goes = goes && !refused;
    if (row->kept_told) {
        take_told(row->kept_told->problems, row->kept_told->n_problems, &row->problems);
        take_told(row->kept_told->notes, row->kept_told->n_notes, &row->notes);
    }
    note_outcome(row, goes && outcome == OUTCOME(UNCHANGED) ? OUTCOME(UPDATED) : outcome);
    touch(batch, row, 0);
    row->item_after.away = EXTERNAL_ITEM_AWAY;
    row->withdraws = row->saves = goes;
    if (!goes)
        return 0;
    violations_add(&row->notes, "available", "is not available: the offer is withdrawn");
    return keep_before(batch, row, true, err);
}

/* The guard counts it with what the feed no longer has: until it has looked, nothing is deleted. So
 * the item is left as one that the task has not seen. */
static void leave_to_end(const struct feed_batch *batch, struct feed_batch_row *row)
{
    note_outcome(row, OUTCOME(UNCHANGED));
    violations_add(&row->notes, "", "is deleted at the end of the task");
    touch(batch, row, 0);
    row->item_after.task_id = batch->key->task_id - 1;
    row->item_after.away = 0;
}

/* What another feed, or a later task, has. True: the row is decided. */
static bool is_others(struct feed_batch *batch, struct feed_batch_row *row)
{
    const struct external_item *item = &row->item;
    bool ours = strcmp(item->feed_id, batch->key->feed) == 0;

    if (ours && item->task_id > batch->key->task_id) {
        note_outcome(row, OUTCOME(LEFT));
        return true;
    }
    if (item->gone_us || ours || !*item->feed_id)
        return false;
    violations_add(&row->problems, "external_id",
                   "the feed \"%s\" has an offer of this name: end it there first", item->feed_id);
    refuse(batch, row);
    return true;
}

/* However late: as another offer, one that is banned would be rid of its ban. */
static bool may_revive(const struct feed_batch *batch, const struct feed_batch_row *row)
{
    int64_t now_us = clock_wall_us(batch->offers->clock);

    return row->before && row->before->status == TORG__V1__OFFER__STATUS__DELETED &&
           (row->before->status_before_ban ||
            now_us - row->item.gone_us <= feed_rules_of(batch->offers)->revive_us);
}

/* The seller mends all at once. */
static void add_faults(const struct feed_batch *batch, struct feed_batch_row *row)
{
    const struct offers *offers = batch->offers;
    struct catalog *catalog;

    if (row->kind != FEED_ROW_UPSERT)
        return;
    catalog = offers->catalog(offers->catalog_arg);
    if (catalog)
        feed_faults_add(row->content, catalog, batch->language, &row->problems);
    catalog_unref(catalog);
}

static int decide(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    bool is_there = row->item.offer_id && !row->item.gone_us && row->before;

    if (row->item.offer_id && is_others(batch, row))
        return 0;
    if (row->problems.count) {
        add_faults(batch, row);
        refuse(batch, row);
        return 0;
    }
    if (row->kind == FEED_ROW_UPSERT) {
        if (is_there)
            return update(batch, row, err);
        return row->item.gone_us && may_revive(batch, row) ? revive(batch, row, err)
                                                           : create(batch, row, err);
    }
    if (is_there && row->kind == FEED_ROW_DELETE && !batch->task.message->dry_run) {
        leave_to_end(batch, row);
        return 0;
    }
    if (is_there && row->kind == FEED_ROW_AWAY)
        return withdraw(batch, row, err);
    if (is_there)
        return drop(batch, row, err);
    note_outcome(row, OUTCOME(UNCHANGED));
    violations_add(&row->notes, "external_id", "there is no such offer");
    if (row->kind != FEED_ROW_DELETE) /* a name without an offer: not to be found for ever */
        touch(batch, row, clock_wall_us(batch->offers->clock));
    return 0;
}

/* --- all of it --- */

static void keep_first(struct violations *violations, size_t count)
{
    struct violations kept = violations_in(violations->arena);
    const struct violation *one = violations->first;

    for (size_t i = 0; i < count && one; i++, one = one->next)
        violations_add(&kept, one->field, "%s", one->reason);
    *violations = kept;
}

/* A row sent again changes nothing; one that was refused may be good by now, while rows are
 * taken. */
static bool was_applied(const struct feed_batch *batch, const struct feed_batch_row *row)
{
    return row->kept.row && row->kept.event_hash == row->event_hash &&
           (row->kept.outcome != OUTCOME(REFUSED) ||
            batch->task.message->state != TORG__V1__FEED_TASK__STATE__RUNNING);
}

/* Meanwhile deleted, touched by a later task, or (of a dry run) told already. */
static bool is_absent_no_more(const struct feed_batch *batch, const struct feed_batch_row *row)
{
    return row->item.gone_us || row->item.task_id >= batch->key->task_id ||
           strcmp(row->item.feed_id, batch->key->feed) != 0 ||
           (batch->task.message->dry_run && row->kept.row);
}

/* Meanwhile withdrawn by another who goes on with the task, or said otherwise. */
static bool is_away_no_more(const struct feed_batch *batch, const struct feed_batch_row *row)
{
    return row->item.gone_us || row->item.away != batch->key->task_id ||
           row->item.task_id != batch->key->task_id ||
           strcmp(row->item.feed_id, batch->key->feed) != 0;
}

static bool is_done(const struct feed_batch *batch, const struct feed_batch_row *row)
{
    switch (row->kind) {
    case FEED_ROW_ABSENT:
        return is_absent_no_more(batch, row);
    case FEED_ROW_AWAY:
        return is_away_no_more(batch, row);
    default:
        return was_applied(batch, row);
    }
}

/* Of a row that is repeated with other content: what the first did stays to be undone. */
static void merge_kept(struct feed_batch_row *row)
{
    struct feed_record *record = &row->record;

    if (!row->kept.row || !row->kept.changed || record->changed)
        return;
    record->changed = true;
    record->before_status = row->kept.before_status;
    record->before_body = row->kept.before_body;
    record->after_hash = row->kept.after_hash;
    record->offer_id = row->kept.offer_id;
    if (record->outcome == OUTCOME(UNCHANGED))
        record->outcome = row->kept.outcome;
}

/* What was there is known by the row behind it. */
static void inherit(struct feed_batch_row *row)
{
    const struct feed_batch_row *heir = row->heir;

    row->item = heir->item;
    row->before = heir->before;
    row->opinion = heir->opinion;
}

/* A name is written once. */
static void untouch_heirs(struct feed_batch_row *row)
{
    for (struct feed_batch_row *heir = row->heir; heir; heir = heir->heir)
        heir->touches = false;
}

static int decide_among(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    int rc;

    if (row->heir && row->heir->counts) {
        row->counts = row->heir->counts;
        note_outcome(row, OUTCOME(UNCHANGED));
        violations_add(&row->notes, "external_id",
                       "row %" PRId64 " has the same id and counts instead", row->counts->number);
        return 0;
    }
    rc = decide(batch, row, err);
    if (rc)
        return rc;
    row->counts = row->record.outcome == OUTCOME(REFUSED) ? NULL : row;
    untouch_heirs(row);
    return 0;
}

static int tell(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    Torg__V1__FeedReportRow *told = row->kind == FEED_ROW_AWAY && row->kept_told
                                        ? row->kept_told /* with its photos */
                                        : MESSAGE_NEW(feed_report_row, batch->arena);
    bool was_withdrawn = told->withdrawn;
    int rc;

    told->withdrawn = row->withdraws;
    if (row->line > 0)
        told->line = row->line;
    feed_problems_of(&row->problems, batch->arena, &told->problems, &told->n_problems);
    feed_problems_of(&row->notes, batch->arena, &told->notes, &told->n_notes);
    rc = feed_detail_pack(told, batch->arena, &row->record.detail, err);
    told->withdrawn = was_withdrawn;
    return rc;
}

int feed_row_decide(struct feed_batch *batch, struct feed_batch_row *row, struct err *err)
{
    int rc;

    object_check(batch, FEED_BATCH_MAGIC);
    row->saves = row->touches = row->withdraws = false;
    row->save = (struct offer_save){0};
    row->item_after = (struct external_item){0};
    row->counts = NULL;
    if (row->heir)
        inherit(row);
    row->is_settled = is_done(batch, row);
    if (row->is_settled) { /* one behind it may count for those before it all the same */
        row->counts = row->heir ? row->heir->counts : NULL;
        return 0;
    }
    keep_first(&row->problems, row->sent_problem_count);
    keep_first(&row->notes, row->sent_note_count);
    rc = decide_among(batch, row, err);
    if (!rc && batch->task.message->dry_run) {
        row->saves = row->touches = false;
        row->record.changed = false;
        row->record.before_body = BYTES_EMPTY;
    }
    if (!rc)
        merge_kept(row);
    return rc ? rc : tell(batch, row, err);
}

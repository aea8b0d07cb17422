/* SPDX-License-Identifier: Apache-2.0 */
/* undo.c - see undo.h. Undoing is the one change of an offer that is no move: it gives
 * back a state that was there, but for its ban: that is the newest opinion's. */
#include "feeds/apply/undo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bell.h"
#include "base/memory.h"
#include "codec/moment.h"
#include "feeds/apply/batch.h"
#include "offers/bounds.h"
#include "offers/change/moderation.h"
#include "offers/change/offer_change.h"
#include "offers/change/photos.h"
#include "offers/record/offer_content.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"

struct undo_row {
    struct feed_record record;
    struct external_item item;
    Torg__V1__Offer *offer;      /* as it is now */
    Torg__V1__Offer *was;        /* as the record has it; NULL: as it is but for its status */
    struct opinion_seen opinion; /* on a deleted one */
    const char *left;            /* why it stays so; NULL: it is given back */
    struct bytes detail;
    struct external_item item_after;
    struct offer_save save;
};

struct undo_page {
    const struct offers *offers;
    const struct feed_key *key;
    struct arena *arena;
    const struct feed_place *before; /* NULL: from the end */
    struct feed_task task;
    struct feed_record records[FEED_BATCH_COUNT];
    struct undo_row rows[FEED_BATCH_COUNT];
    size_t count;
    bool outrun;
};

/* --- reading --- */

/* An offer that the page has already waits for the next one. */
static bool has_offer(const struct undo_page *page, size_t count, offerid id)
{
    for (size_t i = 0; i < count; i++) {
        if (page->rows[i].record.offer_id == id)
            return true;
    }
    return false;
}

static int read_row(struct store_tx *tx, struct undo_page *page, struct undo_row *row,
                    struct err *err)
{
    offerid id = row->record.offer_id;
    int rc = external_item_find(tx, page->key->seller, row->record.external_id, page->arena,
                                &row->item, err);

    if (!rc)
        rc = record_find(tx, id, page->arena, &row->offer, err);
    if (!rc && row->offer && row->offer->status == TORG__V1__OFFER__STATUS__DELETED) {
        rc = opinion_see(tx, id, page->arena, &row->opinion, err);
        if (!rc)
            rc = photo_use_find_swept(tx, row->offer->content, err);
    }
    if (!rc && row->record.before_body.size)
        rc = record_open_offer(id, row->record.before_body, page->arena, &row->was, err);
    if (!rc && row->was)
        rc = photo_use_find_swept(tx, row->was->content, err);
    return rc;
}

static int read_page(struct store_tx *tx, void *arg, struct err *err)
{
    struct undo_page *page = arg;
    size_t found = 0;
    int rc = feed_task_find(tx, page->key, page->arena, &page->task, err);

    page->count = 0;
    if (!rc && page->task.message)
        rc = feed_rows_page_back(tx, page->task.no, page->before, FEED_BATCH_COUNT, page->arena,
                                 page->records, &found, err);
    for (size_t i = 0; i < found && !rc; i++) {
        struct undo_row *row = &page->rows[i];

        if (has_offer(page, i, page->records[i].offer_id))
            break;
        *row = (struct undo_row){.record = page->records[i]};
        rc = read_row(tx, page, row, err);
        page->count++;
    }
    return rc;
}

/* --- deciding --- */

/* Why the offer is to be left; NULL: it is as the task made it. */
static const char *find_touch(const struct undo_page *page, const struct undo_row *row)
{
    const struct external_item *item = &row->item;
    bool has_item = item->offer_id == row->record.offer_id;

    if (!row->offer)
        return "the offer is no longer there";
    if (item->offer_id && !has_item)
        return "its external id is another offer's by now";
    if (has_item && strcmp(item->feed_id, page->key->feed) != 0)
        return "another feed has it by now";
    if (has_item && item->task_id > page->key->task_id)
        return arena_printf(page->arena, "task %" PRId64 " has had it since", item->task_id);
    if (feed_state_hash(row->offer, page->arena) != row->record.after_hash)
        return "it has been changed since";
    return NULL;
}

/* What is to be seen by buyers obeys the rules of today; *fault is NULL if it does. */
static int find_fault(const struct undo_page *page, const Torg__V1__Offer *after,
                      const char **fault, struct err *err)
{
    struct violations violations = violations_in(page->arena);
    struct catalog *catalog;

    *fault = NULL;
    if (after->status != TORG__V1__OFFER__STATUS__ACTIVE)
        return 0;
    catalog = page->offers->catalog(page->offers->catalog_arg);
    if (!catalog)
        return err_set(err, ERR_UNAVAILABLE, "no catalogue is in use yet: torg catalog apply FILE");
    offer_content_check(after->content, catalog, LANGUAGE_EN, &violations, NULL);
    catalog_unref(catalog);
    if (violations.count)
        *fault = arena_printf(page->arena, "what it was breaks the rules of today: %s: %s",
                              violations.first->field, violations.first->reason);
    return 0;
}

/* Results that came meanwhile were not taken: what still lacks its photo asks again. */
static void ask_for_photos(const struct undo_page *page, Torg__V1__Offer *after)
{
    if (after->status == TORG__V1__OFFER__STATUS__DELETED)
        return;
    after->content = (Torg__V1__OfferContent *)record_copy(&after->content->base, page->arena);
    photos_ask(after, true);
}

/* The ban as of now; `after` has what was there before, and what the offer has now of a ban. */
static int obey_opinion(struct undo_page *page, struct undo_row *row, Torg__V1__Offer **after,
                        struct err *err)
{
    struct violations found = violations_in(page->arena);
    const struct author author = {.arena = page->arena, .violations = &found};
    bool bans = opinion_bans(&row->opinion, row->offer);
    struct offer_change change = {.offers = page->offers,
                                  .author = &author,
                                  .move = bans ? MOVE_BAN : MOVE_UNBAN,
                                  .before = *after};
    int rc;

    if ((*after)->status == TORG__V1__OFFER__STATUS__DELETED)
        return 0;
    if ((*after)->status == TORG__V1__OFFER__STATUS__BANNED && !(*after)->status_before_ban)
        (*after)->status = TORG__V1__OFFER__STATUS__ACTIVE; /* that ban has ended since */
    if ((*after)->status != TORG__V1__OFFER__STATUS__BANNED)
        (*after)->status_before_ban = TORG__V1__OFFER__STATUS__STATUS_UNSPECIFIED;
    if (bans == ((*after)->status == TORG__V1__OFFER__STATUS__BANNED))
        return 0;
    (*after)->revision--; /* both are one change */
    rc = offer_change_build(&change, err);
    *after = change.after;
    return rc;
}

/* The offer as it was before the task. */
static int build(struct undo_page *page, struct undo_row *row, Torg__V1__Offer **after,
                 struct err *err)
{
    const struct feed_record *record = &row->record;
    int64_t now_us = clock_wall_us(page->offers->clock);
    int64_t last_us = moment_own_us(row->offer->update_time);
    const Torg__V1__Offer *was = row->was;

    *after = arena_alloc(page->arena, sizeof(**after));
    **after = *row->offer;
    (*after)->revision++;
    (*after)->content_revision = 0;
    (*after)->update_time = moment_or_none(now_us > last_us ? now_us : last_us + 1, page->arena);
    (*after)->status = TORG__V1__OFFER__STATUS__DELETED;
    if (record->before_status != OFFER_NONE)
        (*after)->status = (Torg__V1__Offer__Status)record->before_status;
    if (!was) {
        ask_for_photos(page, *after);
        return obey_opinion(page, row, after, err);
    }
    (*after)->content = was->content;
    ask_for_photos(page, *after);
    (*after)->feed_withdrawal = was->feed_withdrawal;
    (*after)->expire_time = was->expire_time;
    (*after)->wait_until = was->wait_until;
    (*after)->wait_reason = was->wait_reason;
    return obey_opinion(page, row, after, err);
}

static int tell_left(struct undo_page *page, struct undo_row *row, struct err *err)
{
    Torg__V1__FeedReportRow *told;
    int rc = feed_detail_open(row->record.detail, page->arena, &told, err);

    row->detail = row->record.detail;
    if (rc || !row->left)
        return rc;
    told->undo_reason = arena_strdup(page->arena, row->left);
    return feed_detail_pack(told, page->arena, &row->detail, err);
}

static int decide(struct undo_page *page, struct undo_row *row, struct err *err)
{
    Torg__V1__Offer *after = NULL;
    int rc = 0;

    row->left = find_touch(page, row);
    if (!row->left) {
        rc = build(page, row, &after, err);
        if (!rc)
            rc = find_fault(page, after, &row->left, err);
    }
    if (!rc && !row->left) {
        bool deleted = after->status == TORG__V1__OFFER__STATUS__DELETED;

        row->save = (struct offer_save){.offers = page->offers,
                                        .before = row->offer,
                                        .after = after,
                                        .arena = page->arena,
                                        .owns_item = true,
                                        .takes_reserve = true, /* it had that content already */
                                        .is_bulk = true};
        row->item_after = (struct external_item){
            .offer_id = row->record.offer_id,
            .feed_id = page->key->feed,
            .task_id = row->item.offer_id ? row->item.task_id : page->key->task_id,
            .gone_us = deleted ? moment_own_us(after->update_time) : 0};
        rc = offer_save_prepare(&row->save, err);
    }
    return rc ? rc : tell_left(page, row, err);
}

/* --- writing --- */

struct item_writing {
    struct undo_page *page;
    struct undo_row *row;
};

static int write_item(struct store_tx *tx, struct offer_save *save, void *arg, struct err *err)
{
    struct item_writing *writing = arg;
    struct undo_row *row = writing->row;
    int rc = external_item_put(tx, writing->page->key->seller, row->record.external_id, &row->item,
                               &row->item_after, &save->outrun, err);

    if (!rc && save->outrun)
        rc = err_set(err, ERR_CONFLICT, "the offer was changed by others at the same time");
    return rc;
}

/* An opinion on a deleted offer leaves its record alone, so its revision does not tell. */
static int check_opinion(struct store_tx *tx, struct undo_page *page, struct undo_row *row,
                         struct err *err)
{
    bool outrun = false;
    int rc = 0;

    if (row->offer->status == TORG__V1__OFFER__STATUS__DELETED)
        rc = opinion_check_seen(tx, row->record.offer_id, &row->opinion, &outrun, err);
    if (rc || !outrun)
        return rc;
    page->outrun = true;
    return err_set(err, ERR_CONFLICT, "an opinion on the offer has come at the same time");
}

static int write_row(struct store_tx *tx, struct undo_page *page, struct undo_row *row,
                     struct err *err)
{
    Torg__V1__FeedCounts *counts = page->task.message->counts;
    struct item_writing writing = {page, row};
    bool outrun = false;
    int rc = 0;

    if (!row->left)
        rc = check_opinion(tx, page, row, err);
    if (!row->left && !rc) {
        row->save.id = row->record.offer_id;
        row->save.also = write_item;
        row->save.also_arg = &writing;
        rc = offer_save_in(tx, &row->save, err);
        page->outrun = page->outrun || row->save.outrun;
        if (!rc)
            page->task.message->freshness_token = row->save.receipt->freshness_token;
    }
    if (!rc)
        rc = feed_rows_mark_undone(tx, page->task.no, &row->record,
                                   row->left ? TORG__V1__FEED_REPORT_ROW__UNDO__UNDO_LEFT
                                             : TORG__V1__FEED_REPORT_ROW__UNDO__UNDONE,
                                   row->detail, &outrun, err);
    if (!rc && outrun) { /* of a row that is left nothing else tells that another was here */
        page->outrun = true;
        rc = err_set(err, ERR_CONFLICT, "another undoes the task at the same time");
    }
    counts->undone += !row->left;
    counts->undo_left += row->left != NULL;
    return rc;
}

static int write_page(struct store_tx *tx, void *arg, struct err *err)
{
    struct undo_page *page = arg;
    int rc = feed_task_find(tx, page->key, page->arena, &page->task, err);

    page->outrun = false;
    if (!rc &&
        (!page->task.message || page->task.message->state != TORG__V1__FEED_TASK__STATE__UNDOING))
        rc = err_set(err, ERR_PRECONDITION, "the task is no longer being undone");
    for (size_t i = 0; i < page->count && !rc; i++)
        rc = write_row(tx, page, &page->rows[i], err);
    return rc ? rc : feed_task_put(tx, page->offers, &page->task, page->arena, err);
}

static int try_page(struct undo_page *page, struct err *err)
{
    int rc = store_read(page->offers->store, read_page, page, err);

    page->outrun = false;
    for (size_t i = 0; i < page->count && !rc; i++)
        rc = decide(page, &page->rows[i], err);
    if (!rc && page->count)
        rc = store_write(page->offers->store, write_page, page, err);
    if (!rc)
        bell_ring(page->offers->bell);
    for (size_t i = 0; i < page->count; i++)
        offer_save_release(&page->rows[i].save);
    return rc;
}

/* One page; *place moves on, *more: there was one. */
static int undo_page(const struct offers *offers, const struct feed_key *key,
                     struct feed_place *place, bool *more, struct arena *arena, struct err *err)
{
    struct undo_page *page = mem_alloc(sizeof(*page));
    int rc = 0;

    *page = (struct undo_page){
        .offers = offers, .key = key, .arena = arena, .before = place->row ? place : NULL};
    for (int i = 0; i < OFFER_ATTEMPT_COUNT_MAX; i++) {
        rc = try_page(page, err);
        if (!page->outrun)
            break;
    }
    *more = !rc && page->count;
    if (*more)
        *place = (struct feed_place){page->rows[page->count - 1].record.row,
                                     page->rows[page->count - 1].record.external_id};
    free(page);
    return rc;
}

/* --- all of it --- */

/* Whether another has gone on with it to its end: then nothing is left to be refused. */
static bool has_ended(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                      struct feed_task *task)
{
    return !feed_task_get(offers, key, arena, task, NULL) &&
           task->message->state != TORG__V1__FEED_TASK__STATE__UNDOING;
}

int feed_undo_go_on(const struct offers *offers, const struct feed_key *key,
                    const struct feed_patience *patience, struct arena *arena,
                    struct feed_task *task, struct err *err)
{
    char name[OFFER_EXTERNAL_ID_SIZE_MAX + 1] = "";
    struct feed_place place = {0};
    struct arena *scratch = arena_new();
    bool more = true;
    int rc = feed_task_get(offers, key, arena, task, err);

    if (rc || task->message->state != TORG__V1__FEED_TASK__STATE__UNDOING)
        goto out;
    do {
        rc = undo_page(offers, key, &place, &more, scratch, err);
        if (more) { /* the scratch has it */
            snprintf(name, sizeof(name), "%s", place.external_id);
            place.external_id = name;
        }
        arena_reset(scratch);
    } while (!rc && more && !feed_patience_ends(patience));
    if (!rc && !more)
        rc = feed_task_move(offers, key, FEED_UNDOING, FEED_UNDONE, arena, task, err);
    else if (!rc)
        rc = feed_task_get(offers, key, arena, task, err);
    else if (rc == ERR_PRECONDITION)
        rc = has_ended(offers, key, arena, task) ? 0 : rc;
out:
    arena_free(scratch);
    return rc;
}

static int check_undo(const struct offers *offers, const Torg__V1__FeedTask *task, struct err *err)
{
    const char *state = feed_state_name((enum feed_state)task->state);

    if (task->dry_run)
        return err_set(err, ERR_PRECONDITION, "task %" PRId64 " was a dry run: nothing to undo",
                       task->task_id);
    if (task->state != TORG__V1__FEED_TASK__STATE__DONE &&
        task->state != TORG__V1__FEED_TASK__STATE__CANCELLED)
        return err_set(err, ERR_PRECONDITION,
                       "task %" PRId64 " is %s: only one that is DONE or CANCELLED can be undone",
                       task->task_id, state);
    if (clock_wall_us(offers->clock) > moment_own_us(task->undo_until))
        return err_set(err, ERR_PRECONDITION, "the time to undo task %" PRId64 " is over",
                       task->task_id);
    return 0;
}

int feed_undo(const struct offers *offers, const struct feed_key *key,
              const struct feed_patience *patience, struct arena *arena, struct feed_task *task,
              struct err *err)
{
    enum feed_state state;
    int rc = feed_task_get(offers, key, arena, task, err);

    if (rc)
        return rc;
    state = (enum feed_state)task->message->state;
    if (state != FEED_UNDOING && state != FEED_UNDONE) { /* asked again: it goes on */
        rc = check_undo(offers, task->message, err);
        if (!rc)
            rc = feed_task_move(offers, key, state, FEED_UNDOING, arena, task, err);
    }
    return rc ? rc : feed_undo_go_on(offers, key, patience, arena, task, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* list_check.c - see list_check.h. */
#include "offers/lists/list_check.h"

#include <assert.h>
#include <string.h>

#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/lists/recount.h"
#include "offers/record/offer_counts.h"
#include "offers/record/offer_record.h"

enum { ROW_COUNT_MAX = PRESET_ID_COUNT }; /* of one offer */

/* What of an offer decides on its rows. */
struct subject {
    offerid id;
    const char *seller; /* in the page's arena */
    int64_t created_us;
    enum offer_status status;
    int64_t row_presets[ROW_COUNT_MAX];
    size_t row_count;
};

static bool belongs(const struct subject *subject, int64_t preset)
{
    return preset == preset_of(subject->status) ||
           (preset == PRESET_ALL && status_is_listed(subject->status));
}

static bool has_row(const struct subject *subject, int64_t preset)
{
    for (size_t i = 0; i < subject->row_count; i++) {
        if (subject->row_presets[i] == preset)
            return true;
    }
    return false;
}

/* False: it cannot be read. */
static bool read_subject(offerid id, struct bytes body, struct arena *arena,
                         struct subject *subject)
{
    Torg__V1__Offer *offer;
    struct err err;

    *subject = (struct subject){.id = id};
    if (record_open_offer(id, body, arena, &offer, &err) ||
        !offer_status_is_known((int)offer->status))
        return false;
    subject->seller = offer->seller;
    subject->created_us = moment_own_us(offer->create_time);
    subject->status = (enum offer_status)offer->status;
    return true;
}

/* The rows at the offer's key, in whichever list. */
static int read_presets(struct store_tx *tx, struct subject *subject, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT preset_id FROM user_offer_presets WHERE seller_id = $1 "
                     "AND preset_id IN (" PRESET_IDS_SQL ") AND created_us = $2 "
                     "AND offer_id = $3",
                     STORE_WITH(STORE_V_STRING(subject->seller), STORE_V_INT(subject->created_us),
                                STORE_V_INT(subject->id)));

    for (subject->row_count = 0; store_next(&rows); subject->row_count++) {
        assert(subject->row_count < ROW_COUNT_MAX);
        subject->row_presets[subject->row_count] = rows.columns[0].integer;
    }
    return store_rows_end(&rows, err);
}

/* --- repairs --- */

static int insert_row(struct store_tx *tx, const struct subject *subject, int64_t preset,
                      struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO user_offer_presets (seller_id, preset_id, created_us, offer_id) "
                      "VALUES ($1, $2, $3, $4)",
                      STORE_WITH(STORE_V_STRING(subject->seller), STORE_V_INT(preset),
                                 STORE_V_INT(subject->created_us), STORE_V_INT(subject->id)),
                      NULL, err);
}

static int delete_row(struct store_tx *tx, const char *seller, const struct list_place *place,
                      int64_t *changed, struct err *err)
{
    return store_exec(tx,
                      "DELETE FROM user_offer_presets WHERE seller_id = $1 AND preset_id = $2 "
                      "AND created_us = $3 AND offer_id = $4",
                      STORE_WITH(STORE_V_STRING(seller), STORE_V_INT(place->preset),
                                 STORE_V_INT(place->created_us), STORE_V_INT(place->id)),
                      changed, err);
}

struct repair {
    const struct checking *checking;
    struct findings *findings;
    size_t first_finding;
    struct arena *arena;
    offerid id;
    const char *seller;      /* of a row too much */
    struct list_place place; /* of it */
};

static int find_subject(struct store_tx *tx, struct repair *repair, struct subject *subject,
                        bool *found, struct err *err)
{
    Torg__V1__Offer *offer;
    int rc = record_find(tx, repair->id, repair->arena, &offer, err);

    *found = !rc && offer && offer_status_is_known((int)offer->status);
    if (*found)
        *subject = (struct subject){.id = repair->id,
                                    .seller = offer->seller,
                                    .created_us = moment_own_us(offer->create_time),
                                    .status = (enum offer_status)offer->status};
    return rc;
}

static int add_missing(struct store_tx *tx, void *arg, struct err *err)
{
    struct repair *repair = arg;
    struct subject subject;
    int64_t wanted[2];
    bool found;
    int rc = find_subject(tx, repair, &subject, &found, err);

    repair->findings->count = repair->first_finding;
    if (rc || !found)
        return rc;
    rc = read_presets(tx, &subject, err);
    wanted[0] = preset_of(subject.status);
    wanted[1] = status_is_listed(subject.status) ? PRESET_ALL : wanted[0];
    for (size_t i = 0; i < 2 && !rc; i++) {
        if (has_row(&subject, wanted[i]) || (i > 0 && wanted[i] == wanted[0]))
            continue;
        rc = insert_row(tx, &subject, wanted[i], err);
        findings_add_row(repair->findings, DIFFERENCE(MISSING_IN_LIST), subject.seller, wanted[i],
                         subject.id);
    }
    if (!rc && repair->findings->count > repair->first_finding)
        rc = recount_forget(tx, subject.seller, err);
    if (!rc)
        rc = findings_fixed(tx, repair->checking, repair->findings, repair->first_finding, err);
    return rc;
}

static bool fits(const struct subject *subject, const char *seller, const struct list_place *place)
{
    return strcmp(subject->seller, seller) == 0 && subject->created_us == place->created_us &&
           belongs(subject, place->preset);
}

static int remove_extra(struct store_tx *tx, void *arg, struct err *err)
{
    struct repair *repair = arg;
    struct subject subject;
    int64_t changed = 0;
    bool found;
    int rc = find_subject(tx, repair, &subject, &found, err);

    repair->findings->count = repair->first_finding;
    if (rc || (found && fits(&subject, repair->seller, &repair->place)))
        return rc;
    rc = delete_row(tx, repair->seller, &repair->place, &changed, err);
    if (rc || !changed)
        return rc;
    findings_add_row(repair->findings, DIFFERENCE(EXTRA_IN_LIST), repair->seller,
                     repair->place.preset, repair->id);
    rc = recount_forget(tx, repair->seller, err);
    if (!rc)
        rc = findings_fixed(tx, repair->checking, repair->findings, repair->first_finding, err);
    return rc;
}

static int run_repair(struct repair *repair, store_fn fn, struct err *err)
{
    int rc = store_write(repair->checking->store, fn, repair, err);

    if (rc)
        repair->findings->count = repair->first_finding;
    return rc;
}

/* --- offers, for rows that are missing --- */

struct page {
    const struct checking *checking;
    struct findings *findings;
    size_t first_finding;
    const char *seller;
    struct arena *arena; /* of the page */
    offerid after;
    struct list_place place;
    offerid last;
    struct list_place last_place;
    size_t count;
    struct subject *subjects; /* that are readable */
    size_t subject_count;
};

/* columns: id, body */
static void take_offer(struct page *page, const struct store_value *columns)
{
    struct subject *subject = &page->subjects[page->subject_count];

    assert(page->count < LIST_CHECK_COUNT);
    page->last = columns[0].integer;
    page->count++;
    if (columns[1].type == STORE_NULL)
        return; /* of another shard than the seller's */
    if (!read_subject(page->last, columns[1].bytes, page->arena, subject)) {
        Torg__V1__CounterDifference *one =
            findings_add(page->findings, DIFFERENCE(UNREADABLE), "", "");

        one->offer_id = offer_id_text(page->findings->arena, page->last);
    } else if (!page->seller || strcmp(page->seller, subject->seller) == 0) {
        page->subject_count++;
    }
}

static int read_offers(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    const struct store_value params[] = {
        STORE_V_INT(page->after), STORE_V_INT(LIST_CHECK_COUNT),
        STORE_V_INT(page->seller ? seller_shard(page->seller) : 0)};
    struct store_rows rows;
    int rc;

    page->findings->count = page->first_finding;
    page->last = page->after;
    page->count = page->subject_count = 0;
    if (page->seller) /* the whole page is counted, so that it is bounded */
        rows = store_select(tx,
                            "SELECT id, CASE WHEN shard_id = $3 THEN body END FROM offer "
                            "WHERE id > $1 AND kind = 'offer' ORDER BY id LIMIT $2",
                            params, 3);
    else
        rows = store_select(tx,
                            "SELECT id, body FROM offer WHERE id > $1 AND kind = 'offer' "
                            "ORDER BY id LIMIT $2",
                            params, 2);
    while (store_next(&rows))
        take_offer(page, rows.columns);
    rc = store_rows_end(&rows, err);
    for (size_t i = 0; i < page->subject_count && !rc; i++)
        rc = read_presets(tx, &page->subjects[i], err);
    return rc;
}

static bool lacks_row(const struct subject *subject)
{
    return !has_row(subject, preset_of(subject->status)) ||
           (status_is_listed(subject->status) && !has_row(subject, PRESET_ALL));
}

static void tell_missing(struct findings *findings, const struct subject *subject)
{
    if (!has_row(subject, preset_of(subject->status)))
        findings_add_row(findings, DIFFERENCE(MISSING_IN_LIST), subject->seller,
                         preset_of(subject->status), subject->id);
    if (status_is_listed(subject->status) && !has_row(subject, PRESET_ALL))
        findings_add_row(findings, DIFFERENCE(MISSING_IN_LIST), subject->seller, PRESET_ALL,
                         subject->id);
}

static int settle_offer(struct page *page, const struct subject *subject, struct err *err)
{
    struct repair repair = {.checking = page->checking,
                            .findings = page->findings,
                            .first_finding = page->findings->count,
                            .arena = page->arena,
                            .id = subject->id};

    if (!lacks_row(subject))
        return 0;
    if (page->checking->fix)
        return run_repair(&repair, add_missing, err);
    tell_missing(page->findings, subject);
    return 0;
}

int list_check_offers(const struct checking *checking, const char *seller, offerid *after,
                      struct findings *findings, size_t *looked_at, struct err *err)
{
    struct page page = {.checking = checking,
                        .findings = findings,
                        .first_finding = findings->count,
                        .seller = seller,
                        .arena = arena_new(),
                        .after = *after};
    int rc;

    page.subjects = arena_array(page.arena, LIST_CHECK_COUNT, sizeof(*page.subjects));
    rc = store_read(checking->store, read_offers, &page, err);
    for (size_t i = 0; i < page.subject_count && !rc; i++)
        rc = settle_offer(&page, &page.subjects[i], err);
    if (!rc)
        *after = page.last;
    *looked_at = rc ? 0 : page.count;
    arena_free(page.arena);
    return rc;
}

/* --- a seller's rows, for those that are too much --- */

/* columns: preset_id, created_us, offer_id, body */
static void take_row(struct page *page, const struct store_value *columns)
{
    struct subject *subject = &page->subjects[page->subject_count];
    const struct list_place place = {columns[0].integer, columns[1].integer, columns[2].integer};

    assert(page->count < LIST_CHECK_COUNT);
    page->last_place = place;
    page->count++;
    if (columns[3].type != STORE_NULL) {
        if (!read_subject(place.id, columns[3].bytes, page->arena, subject))
            return; /* told when offers are gone through */
        if (fits(subject, page->seller, &place))
            return;
    }
    *subject = (struct subject){.id = place.id, .created_us = place.created_us, .row_count = 1};
    subject->row_presets[0] = place.preset;
    page->subject_count++;
}

static int read_list(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    struct store_rows rows =
        store_select(tx,
                     "SELECT p.preset_id, p.created_us, p.offer_id, o.body "
                     "FROM user_offer_presets p "
                     "LEFT JOIN offer o ON o.id = p.offer_id AND o.kind = 'offer' "
                     "WHERE p.seller_id = $1 "
                     "AND (p.preset_id, p.created_us, p.offer_id) > ($2, $3, $4) "
                     "ORDER BY p.preset_id, p.created_us, p.offer_id LIMIT $5",
                     STORE_WITH(STORE_V_STRING(page->seller), STORE_V_INT(page->place.preset),
                                STORE_V_INT(page->place.created_us), STORE_V_INT(page->place.id),
                                STORE_V_INT(LIST_CHECK_COUNT)));

    page->last_place = page->place;
    page->count = page->subject_count = 0;
    while (store_next(&rows))
        take_row(page, rows.columns);
    return store_rows_end(&rows, err);
}

static int settle_row(struct page *page, const struct subject *extra, struct err *err)
{
    struct repair repair = {.checking = page->checking,
                            .findings = page->findings,
                            .first_finding = page->findings->count,
                            .arena = page->arena,
                            .id = extra->id,
                            .seller = page->seller,
                            .place = {extra->row_presets[0], extra->created_us, extra->id}};

    if (page->checking->fix)
        return run_repair(&repair, remove_extra, err);
    findings_add_row(page->findings, DIFFERENCE(EXTRA_IN_LIST), page->seller, extra->row_presets[0],
                     extra->id);
    return 0;
}

int list_check_seller(const struct checking *checking, const char *seller, struct list_place *after,
                      struct findings *findings, size_t *looked_at, struct err *err)
{
    struct page page = {.checking = checking,
                        .findings = findings,
                        .seller = seller,
                        .arena = arena_new(),
                        .place = *after};
    int rc;

    page.subjects = arena_array(page.arena, LIST_CHECK_COUNT, sizeof(*page.subjects));
    rc = store_read(checking->store, read_list, &page, err);
    for (size_t i = 0; i < page.subject_count && !rc; i++)
        rc = settle_row(&page, &page.subjects[i], err);
    if (!rc)
        *after = page.last_place;
    *looked_at = rc ? 0 : page.count;
    arena_free(page.arena);
    return rc;
}

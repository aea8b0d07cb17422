/* SPDX-License-Identifier: Apache-2.0 */
/* cabinet.c - see cabinet.h. */
#include "offers/lists/cabinet.h"

#include <assert.h>

#include "codec/message.h"
#include "offers/change/offer_save.h"
#include "offers/record/offer_counts.h"
#include "offers/record/offer_record.h"

const char cabinet_list_sql[] = "SELECT p.created_us, p.offer_id, o.body FROM user_offer_presets p "
                                "JOIN offer o ON o.id = p.offer_id AND o.kind = 'offer' "
                                "WHERE p.seller_id = $1 AND p.preset_id = $2 "
                                "AND (p.created_us, p.offer_id) < ($3, $4) "
                                "ORDER BY p.created_us DESC, p.offer_id DESC LIMIT $5";
const char cabinet_counts_sql[] =
    "SELECT preset_id, counter FROM user_offer_presets_count WHERE seller_id = $1";
const char cabinet_totals_sql[] = "SELECT counter_id, CAST(SUM(counter_value) AS BIGINT) "
                                  "FROM user_total_counters WHERE shard_id = $1 AND seller_id = $2 "
                                  "GROUP BY counter_id ORDER BY counter_id";

const struct cabinet_place cabinet_start = {.created_us = INT64_MAX, .id = INT64_MAX};

/* --- lists --- */

struct listing {
    const char *seller;
    int64_t preset;
    struct cabinet_place from;
    struct cabinet_place last;
    size_t max;
    struct arena *arena;
    Torg__V1__Offer **list;
    size_t count;
};

static int read_list(struct store_tx *tx, void *arg, struct err *err)
{
    struct listing *listing = arg;
    struct store_rows rows =
        store_select(tx, cabinet_list_sql,
                     STORE_WITH(STORE_V_STRING(listing->seller), STORE_V_INT(listing->preset),
                                STORE_V_INT(listing->from.created_us),
                                STORE_V_INT(listing->from.id), STORE_V_INT((int64_t)listing->max)));

    for (listing->count = 0; store_next(&rows); listing->count++) {
        assert(listing->count < listing->max);
        listing->last = (struct cabinet_place){rows.columns[0].integer, rows.columns[1].integer};
        rows.rc = record_open_offer(listing->last.id, rows.columns[2].bytes, listing->arena,
                                    &listing->list[listing->count], err);
    }
    return store_rows_end(&rows, err);
}

int cabinet_list(const struct offers *offers, const char *seller, int64_t preset,
                 struct cabinet_place *place, size_t max, struct arena *arena,
                 Torg__V1__Offer **list, size_t *count, struct err *err)
{
    struct listing listing = {.seller = seller,
                              .preset = preset,
                              .from = *place,
                              .last = *place,
                              .max = max,
                              .arena = arena,
                              .list = list};
    int rc = store_read(offers->store, read_list, &listing, err);

    assert(offers->store && offers->clock);
    *count = rc ? 0 : listing.count;
    *place = listing.last;
    return rc;
}

/* --- counts --- */

struct counting {
    const char *seller;
    const char *owner;
    int64_t *counts;
};

static int read_counts(struct store_tx *tx, void *arg, struct err *err)
{
    struct counting *counting = arg;
    const struct store_value seller[] = {STORE_V_STRING(counting->seller)};
    const struct store_value owner[] = {STORE_V_STRING(counting->owner)};
    struct store_rows rows = store_select(tx, cabinet_counts_sql, seller, 1);
    int rc;

    for (size_t i = 0; i < CABINET_PRESET_COUNT; i++)
        counting->counts[i] = 0;
    while (store_next(&rows)) {
        int64_t preset = rows.columns[0].integer;

        if (preset > 0 && preset < CABINET_PRESET_COUNT)
            counting->counts[preset] = rows.columns[1].integer;
    }
    rc = store_rows_end(&rows, err);
    if (!rc)
        rc = store_find_integer(tx, "SELECT COUNT(*) FROM current_draft WHERE owner_id = $1", owner,
                                1, &counting->counts[TORG__V1__CABINET__PRESET__DRAFTS], err);
    return rc;
}

int cabinet_counts(const struct offers *offers, const char *seller,
                   int64_t counts[CABINET_PRESET_COUNT], struct err *err)
{
    struct arena *arena = arena_new();
    struct counting counting = {
        .seller = seller, .owner = arena_printf(arena, "s:%s", seller), .counts = counts};
    int rc = store_read(offers->store, read_counts, &counting, err);

    assert(offers->store && offers->clock);
    arena_free(arena);
    return rc;
}

/* --- totals --- */

struct totalling {
    const char *seller;
    struct arena *arena;
    Torg__V1__GetTotalsResponse *totals;
};

static void take_total(const struct totalling *totalling, struct bytes name, int64_t value)
{
    static const struct bytes money = BYTES_LITERAL("money:");
    Torg__V1__GetTotalsResponse *totals = totalling->totals;
    Torg__V1__Price *price;

    if (bytes_equal_text(name, "active"))
        totals->active = value;
    else if (bytes_equal_text(name, "expired"))
        totals->expired = value;
    else if (bytes_equal_text(name, "banned"))
        totals->banned = value;
    else if (bytes_equal_text(name, "sold"))
        totals->sold = value;
    else if (bytes_begin(name, money) && totals->n_earned < CABINET_CURRENCY_MAX) {
        price = MESSAGE_NEW(price, totalling->arena);
        price->amount = value;
        price->currency = arena_text(totalling->arena, bytes_skip(name, money.size));
        totals->earned[totals->n_earned++] = price;
    }
}

static int read_totals(struct store_tx *tx, void *arg, struct err *err)
{
    struct totalling *totalling = arg;
    struct store_rows rows = store_select(tx, cabinet_totals_sql,
                                          STORE_WITH(STORE_V_INT(seller_shard(totalling->seller)),
                                                     STORE_V_STRING(totalling->seller)));

    torg__v1__get_totals_response__init(totalling->totals);
    totalling->totals->earned =
        arena_array(totalling->arena, CABINET_CURRENCY_MAX, sizeof(Torg__V1__Price *));
    while (store_next(&rows))
        take_total(totalling, rows.columns[0].bytes, rows.columns[1].integer);
    return store_rows_end(&rows, err);
}

int cabinet_totals(const struct offers *offers, const char *seller, struct arena *arena,
                   Torg__V1__GetTotalsResponse *totals, struct err *err)
{
    struct totalling totalling = {.seller = seller, .arena = arena, .totals = totals};

    assert(offers->store && offers->clock);
    return store_read(offers->store, read_totals, &totalling, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* offers_fixture.c - see offers_fixture.h. */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/change/offer_save.h"
#include "offers/record/offer_counts.h"
#include "offers/record/offer_record.h"

static const char catalog_json[] =
    "{\"attributes\": [{\"id\": \"color\", \"name\": {\"en\": \"Colour\"}, \"type\": \"TEXT\","
    "  \"lengthMax\": 20, \"required\": true}],"
    " \"defaults\": {\"policy\": {\"titleMin\": 3, \"titleMax\": 50, \"descriptionMax\": 30000,"
    "  \"photosMax\": 3, \"currencies\": [\"RUB\", \"USD\", \"EUR\"], \"price\": \"ALLOWED\","
    "  \"lifetimeDays\": 30}},"
    " \"categories\": [{\"id\": \"bikes\", \"name\": {\"en\": \"Bicycles\"},"
    "  \"attributes\": [\"color\"]}, {\"id\": \"books\", \"name\": {\"en\": \"Books\"}},"
    "  {\"id\": \"rings\", \"name\": {\"en\": \"Rings\"}, \"policy\":"
    "    {\"publish\": \"WITH_PHOTO\"}},"
    "  {\"id\": \"lamps\", \"name\": {\"en\": \"Lamps\"}, \"policy\":"
    "    {\"publish\": \"WITH_PHOTO_OR_LATER\", \"photoWaitS\": 600}},"
    "  {\"id\": \"boats\", \"name\": {\"en\": \"Boats\"}, \"policy\":"
    "    {\"publish\": \"WITH_PHOTO_OR_LATER\", \"photoWaitS\": 600, \"photosMin\": 1}}]}";

static struct catalog *give_catalog(void *arg)
{
    return catalog_ref(arg);
}

bool offers_place_open(struct offers_place *place, bool postgres)
{
    return offers_place_open_as(place, postgres, "");
}

bool offers_place_open_as(struct offers_place *place, bool postgres, const char *wrapper)
{
    struct err err = {0};

    memset(place, 0, sizeof(*place));
    place->postgres = postgres;
    if (!store_place_open(&place->at, postgres, wrapper, &place->store))
        return false;
    if (catalog_from_json(bytes_of(catalog_json), NULL, &place->catalog, &err))
        fail_msg("%s", err.text);
    clock_manual_init(&place->clock, INT64_C(1800000000000000));
    place->offers = (struct offers){.store = place->store,
                                    .clock = &place->clock.base,
                                    .catalog = give_catalog,
                                    .catalog_arg = place->catalog};
    return true;
}

void offers_place_close(struct offers_place *place)
{
    catalog_unref(place->catalog);
    store_place_close(&place->at, place->store);
}

struct author author_of(const char *seller, struct arena *arena)
{
    struct violations *violations = arena_alloc(arena, sizeof(*violations));

    *violations = violations_in(arena);
    return (struct author){
        .seller = seller, .language = LANGUAGE_EN, .arena = arena, .violations = violations};
}

Torg__V1__OfferContent *content_of(struct arena *arena, const char *category, int number,
                                   int64_t amount, const char *currency)
{
    Torg__V1__OfferContent *content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);
    Torg__V1__AttributeValue *value;

    content->category = arena_strdup(arena, category);
    content->title = arena_printf(arena, "thing %d", number);
    if (amount >= 0) {
        content->price = (Torg__V1__Price *)message_new(&torg__v1__price__descriptor, arena);
        content->price->amount = amount;
        content->price->currency = arena_strdup(arena, currency);
    }
    if (strcmp(category, "bikes") == 0) {
        value =
            (Torg__V1__AttributeValue *)message_new(&torg__v1__attribute_value__descriptor, arena);
        value->attribute_id = arena_strdup(arena, "color");
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT;
        value->text = arena_strdup(arena, "red");
        content->attributes = arena_array(arena, 1, sizeof(value));
        content->attributes[0] = value;
        content->n_attributes = 1;
    }
    return content;
}

offerid id_of(const char *text)
{
    struct err err;
    offerid id;

    if (offer_id_parse(bytes_of(text), &id, &err))
        fail_msg("%s", err.text);
    return id;
}

void place_recount_figures(struct offers_place *place)
{
    static const char *const wrong[] = {
        /* a count that differs from its list */
        "SELECT COUNT(*) FROM user_offer_presets_count c WHERE c.counter <> (SELECT COUNT(*) "
        "FROM user_offer_presets p WHERE p.seller_id = c.seller_id AND p.preset_id = c.preset_id)",
        /* a list without a count */
        "SELECT COUNT(*) FROM user_offer_presets p WHERE NOT EXISTS (SELECT 1 FROM "
        "user_offer_presets_count c WHERE c.seller_id = p.seller_id AND c.preset_id = p.preset_id)",
        /* a total that differs from its list, row by row of the ten */
        "SELECT COUNT(*) FROM user_total_counters t JOIN (SELECT 'active' AS name, 2 AS preset "
        "UNION ALL SELECT 'expired', 3 UNION ALL SELECT 'banned', 5) n ON n.name = t.counter_id "
        "WHERE t.counter_value <> (SELECT COUNT(*) FROM user_offer_presets p WHERE p.seller_id = "
        "t.seller_id AND p.preset_id = n.preset AND p.offer_id % 10 = t.seq_no)",
        /* an offer that is not in exactly one list besides "all" */
        "SELECT COUNT(*) FROM offer o LEFT JOIN (SELECT offer_id, COUNT(*) AS n FROM "
        "user_offer_presets WHERE preset_id <> 1 GROUP BY offer_id) p ON p.offer_id = o.id "
        "WHERE o.kind = 'offer' AND COALESCE(p.n, 0) <> 1",
        /* a draft that nobody has, or a current draft that is not there */
        "SELECT COUNT(*) FROM draft d WHERE NOT EXISTS (SELECT 1 FROM current_draft c WHERE "
        "c.owner_id = d.owner_id AND c.draft_id = d.id)",
        "SELECT COUNT(*) FROM current_draft c WHERE NOT EXISTS (SELECT 1 FROM draft d WHERE "
        "c.owner_id = d.owner_id AND c.draft_id = d.id)",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int64_t count = read_integer(place->store, wrong[i]);

        if (count)
            fail_msg("%" PRId64 " by: %s", count, wrong[i]);
    }
}

void place_recount(struct offers_place *place)
{
    place_recount_figures(place);
    /* as many queue rows as changes */
    assert_int_equal(read_integer(place->store, "SELECT CAST((SELECT COUNT(*) FROM queue) - "
                                                "(SELECT COALESCE(SUM(revision), 0) FROM offer "
                                                "WHERE kind = 'offer') AS BIGINT)"),
                     0);
}

/* --- many offers at once --- */

enum {
    FILL_GROUP_COUNT = 12,   /* offers of one statement */
    FILL_CHUNK_COUNT = 2400, /* of one transaction */
    FILL_PARAM_COUNT = 3 + 4 * FILL_GROUP_COUNT,
    LIST_PARAM_COUNT = 1 + 3 * FILL_GROUP_COUNT,
    SQL_SIZE = 4096,
};

struct fill {
    struct offers_place *place;
    const char *seller;
    size_t count;
    size_t begin;
    struct arena *arena;
    char offer_sql[SQL_SIZE];
    char list_sql[SQL_SIZE];
};

enum offer_status fill_status(size_t place)
{
    static const enum offer_status cycle[] = {
        OFFER_ACTIVE, OFFER_EXPIRED,   OFFER_ACTIVE, OFFER_SOLD_ON_SITE, OFFER_ACTIVE,
        OFFER_BANNED, OFFER_WITHDRAWN, OFFER_ACTIVE, OFFER_DELETED,      OFFER_ACTIVE,
    };

    return cycle[place / 3 % (sizeof(cycle) / sizeof(cycle[0]))];
}

static offerid fill_id(const struct fill *fill, size_t place)
{
    /* In another order than that of creation, as ids drawn at random are. */
    uint64_t step = (uint64_t)place * 7919 % fill->count;

    return offer_id_make(step * (UINT64_MAX / fill->count) + hash64(bytes_of(fill->seller)) % 9999);
}

static struct bytes fill_body(struct fill *fill, size_t place, int64_t created_us)
{
    Torg__V1__Offer *offer =
        (Torg__V1__Offer *)message_new(&torg__v1__offer__descriptor, fill->arena);
    struct buf body = BUF_INIT(1 << 20);
    struct err err = {0};
    struct bytes kept;

    offer->seller = (char *)fill->seller;
    offer->revision = 1;
    offer->status = (Torg__V1__Offer__Status)fill_status(place);
    offer->content = content_of(fill->arena, "books", (int)place, 100, "RUB");
    offer->create_time = offer->update_time = moment_or_none(created_us, fill->arena);
    offer->expire_time = moment_or_none(created_us + 30 * 86400 * (int64_t)SECOND_US, fill->arena);
    if (fill_status(place) == OFFER_SOLD_ON_SITE) {
        offer->sale = (Torg__V1__Sale *)message_new(&torg__v1__sale__descriptor, fill->arena);
        offer->sale->time = offer->create_time;
        offer->sale->price = offer->content->price;
    }
    if (record_pack(&offer->base, "the offer", &body, &err))
        fail_msg("%s", err.text);
    kept = arena_copy(fill->arena, buf_bytes(&body));
    buf_release(&body);
    return kept;
}

static int fill_group(struct store_tx *tx, struct fill *fill, size_t begin, struct err *err)
{
    struct store_value offers[FILL_PARAM_COUNT] = {STORE_V_INT(seller_shard(fill->seller)),
                                                   STORE_V_TEXT(bytes_of("books")), STORE_V_INT(1)};
    struct store_value lists[LIST_PARAM_COUNT] = {STORE_V_TEXT(bytes_of(fill->seller))};
    struct store_value all[LIST_PARAM_COUNT] = {lists[0]};
    int rc;

    for (size_t i = 0; i < FILL_GROUP_COUNT; i++) {
        int64_t created_us = clock_wall_us(&fill->place->clock.base) - (int64_t)(begin + i) * 1000;
        enum offer_status status = fill_status(begin + i);
        struct store_value id = STORE_V_INT(fill_id(fill, begin + i));

        offers[3 + 4 * i] = id;
        offers[4 + 4 * i] = STORE_V_INT(created_us);
        offers[5 + 4 * i] =
            STORE_V_INT(status == OFFER_ACTIVE ? created_us + 30 * 86400 * (int64_t)SECOND_US : 0);
        offers[6 + 4 * i] = STORE_V_BLOB(fill_body(fill, begin + i, created_us));
        lists[1 + 3 * i] = STORE_V_INT(preset_of(status));
        all[1 + 3 * i] = STORE_V_INT(status_is_listed(status) ? PRESET_ALL : PRESET_DELETED);
        lists[2 + 3 * i] = all[2 + 3 * i] = STORE_V_INT(created_us);
        lists[3 + 3 * i] = all[3 + 3 * i] = id;
    }
    rc = store_exec(tx, fill->offer_sql, offers, FILL_PARAM_COUNT, NULL, err);
    if (!rc)
        rc = store_exec(tx, fill->list_sql, lists, LIST_PARAM_COUNT, NULL, err);
    if (!rc) /* of a deleted one it is the same row again */
        rc = store_exec(tx, fill->list_sql, all, LIST_PARAM_COUNT, NULL, err);
    return rc;
}

static int fill_chunk(struct store_tx *tx, void *arg, struct err *err)
{
    struct fill *fill = arg;
    int rc = 0;

    for (size_t i = fill->begin; i < fill->begin + FILL_CHUNK_COUNT && i < fill->count && !rc;
         i += FILL_GROUP_COUNT)
        rc = fill_group(tx, fill, i, err);
    return rc;
}

static void fill_sql(struct fill *fill)
{
    size_t offer_size = (size_t)snprintf(
        fill->offer_sql, SQL_SIZE,
        "INSERT INTO offer (id, kind, shard_id, revision, updated_us, expires_us, category_id, "
        "body) VALUES ");
    size_t list_size = (size_t)snprintf(
        fill->list_sql, SQL_SIZE,
        "INSERT INTO user_offer_presets (seller_id, preset_id, created_us, offer_id) VALUES ");

    for (unsigned i = 0; i < FILL_GROUP_COUNT; i++) {
        unsigned at = 4 * (i + 1);

        offer_size += (size_t)snprintf(fill->offer_sql + offer_size, SQL_SIZE - offer_size,
                                       "%s($%u, 'offer', $1, $3, $%u, $%u, $2, $%u)", i ? ", " : "",
                                       at, at + 1, at + 2, at + 3);
        at = 3 * i + 2;
        list_size += (size_t)snprintf(fill->list_sql + list_size, SQL_SIZE - list_size,
                                      "%s($1, $%u, $%u, $%u)", i ? ", " : "", at, at + 1, at + 2);
    }
    snprintf(fill->list_sql + list_size, SQL_SIZE - list_size, " ON CONFLICT DO NOTHING");
}

/* The figures of a filled seller; one offer costs 1.00 RUB. */
static int count_filled(struct store_tx *tx, void *arg, struct err *err)
{
    static const char *const totals[] = {
        "SELECT $2, $1, 'active', offer_id % 10, COUNT(*) FROM user_offer_presets "
        "WHERE seller_id = $1 AND preset_id = 2",
        "SELECT $2, $1, 'expired', offer_id % 10, COUNT(*) FROM user_offer_presets "
        "WHERE seller_id = $1 AND preset_id = 3",
        "SELECT $2, $1, 'banned', offer_id % 10, COUNT(*) FROM user_offer_presets "
        "WHERE seller_id = $1 AND preset_id = 5",
        "SELECT $2, $1, 'sold', offer_id % 10, COUNT(*) FROM user_offer_presets "
        "WHERE seller_id = $1 AND preset_id = 4",
        "SELECT $2, $1, 'money:RUB', offer_id % 10, 100 * COUNT(*) FROM user_offer_presets "
        "WHERE seller_id = $1 AND preset_id = 4",
    };
    const struct fill *fill = arg;
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(fill->seller)),
                                         STORE_V_INT(seller_shard(fill->seller))};
    char sql[SQL_SIZE];
    int rc = store_exec(tx,
                        "INSERT INTO user_offer_presets_count (seller_id, preset_id, counter) "
                        "SELECT seller_id, preset_id, COUNT(*) FROM user_offer_presets "
                        "WHERE seller_id = $1 GROUP BY seller_id, preset_id",
                        params, 1, NULL, err);

    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]) && !rc; i++) {
        snprintf(sql, sizeof(sql),
                 "INSERT INTO user_total_counters (shard_id, seller_id, counter_id, seq_no, "
                 "counter_value) %s GROUP BY offer_id %% 10",
                 totals[i]);
        rc = store_exec(tx, sql, params, 2, NULL, err);
    }
    return rc;
}

void place_fill(struct offers_place *place, const char *seller, size_t count)
{
    struct fill fill = {.place = place, .seller = seller, .count = count, .arena = arena_new()};
    struct err err = {0};

    assert_true(count % FILL_GROUP_COUNT == 0 && count % 7919 != 0);
    fill_sql(&fill);
    for (; fill.begin < count; fill.begin += FILL_CHUNK_COUNT) {
        if (store_write(place->store, fill_chunk, &fill, &err))
            fail_msg("%s", err.text);
        arena_reset(fill.arena);
    }
    if (store_write(place->store, count_filled, &fill, &err))
        fail_msg("%s", err.text);
    arena_free(fill.arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* offers_fixture.c - see offers_fixture.h. */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/message.h"
#include "store/migrate.h"

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

static const char *server_url(void)
{
    const char *url = getenv("TORG_TEST_POSTGRES");

    return url && url[0] ? url : NULL;
}

static int run_sql(struct store_tx *tx, void *arg, struct err *err)
{
    return store_exec(tx, arg, NULL, 0, NULL, err);
}

static void admin(const char *format, const char *schema)
{
    struct store *store;
    struct err err = {0};
    char sql[128];

    snprintf(sql, sizeof(sql), format, schema);
    if (store_open(server_url(), &store, &err) || store_write(store, run_sql, sql, &err))
        fail_msg("%s: %s", sql, err.text);
    store_close(store);
}

bool offers_place_open(struct offers_place *place, bool postgres)
{
    const char *required = getenv("TORG_REQUIRE");
    char url[1024] = "sqlite::memory:";
    struct err err = {0};

    memset(place, 0, sizeof(*place));
    place->postgres = postgres;
    if (postgres && !server_url()) {
        if (required && strstr(required, "postgres"))
            fail_msg("TORG_REQUIRE names postgres, and TORG_TEST_POSTGRES is not set");
        return false;
    }
    if (postgres) {
        snprintf(place->schema, sizeof(place->schema), "o%016" PRIx64, random_u64());
        admin("CREATE SCHEMA %s", place->schema);
        snprintf(url, sizeof(url), "%s%soptions=-csearch_path%%3D%s", server_url(),
                 strchr(server_url(), '?') ? "&" : "?", place->schema);
    }
    if (store_open(url, &place->store, &err) || store_migrate(place->store, NULL, &err))
        fail_msg("%s: %s", url, err.text);
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
    store_close(place->store);
    catalog_unref(place->catalog);
    if (place->postgres && place->schema[0])
        admin("DROP SCHEMA %s CASCADE", place->schema);
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

struct asking {
    const char *sql;
    const struct store_value *params;
    size_t count;
    int64_t integer;
};

static int take_integer(void *arg, const struct store_value *columns, size_t column_count,
                        struct err *err)
{
    *(int64_t *)arg = columns[0].integer;
    return 0;
}

static int ask(struct store_tx *tx, void *arg, struct err *err)
{
    struct asking *asking = arg;

    return store_query(tx, asking->sql, asking->params, asking->count, take_integer,
                       &asking->integer, err);
}

int64_t place_integer(struct offers_place *place, const char *sql, const struct store_value *params,
                      size_t count)
{
    struct asking asking = {.sql = sql, .params = params, .count = count, .integer = -1};
    struct err err = {0};

    if (store_read(place->store, ask, &asking, &err))
        fail_msg("%s: %s", sql, err.text);
    return asking.integer;
}

void place_recount(struct offers_place *place)
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
        /* as many queue rows as changes */
        "SELECT CAST((SELECT COUNT(*) FROM queue) - (SELECT COALESCE(SUM(revision), 0) FROM offer "
        "WHERE kind = 'offer') AS BIGINT)",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int64_t count = place_integer(place, wrong[i], NULL, 0);

        if (count)
            fail_msg("%" PRId64 " by: %s", count, wrong[i]);
    }
}

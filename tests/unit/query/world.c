/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - see world.h. */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "index/bounds.h"

static const char *const vocabulary[] = {
    "велосипед", "велосипеда", "велосипеды", "городской", "городская", "городские", "детский",
    "детские",   "продам",     "продаю",     "диван",     "дивана",    "диваны",    "новый",
    "новая",     "новые",      "телефон",    "телефона",  "телефоны",  "кожаный",   "кожаная",
    "зимний",    "зимняя",     "шина",       "шины",      "квартира",  "квартиры",  "комната",
    "комнаты",   "стол",       "столы",      "стул",      "стулья",    "кошка",     "кошки",
    "bike",      "bikes",      "road",       "roads",     "leather",   "sofa",      "sofas",
    "phone",     "phones",     "wireless",   "charger",   "chargers",  "winter",    "tyre",
    "tyres",     "table",      "tables",     "chair",     "chairs",    "cat",       "cats",
    "running",   "runs",       "run",        "quickly",   "15",        "128",       "2024",
    "pro",       "max",        "mini",       "ultra",     "x",
};

static const char *const brands[] = {"apple", "bosch", "canyon", "dell", "esmaltec", "форвард"};
static const char *const tags[] = {"new", "used", "urgent", "gift", "сток", "торг"};
static const char *const labels[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
static const char *const places[] = {"transport",       "transport/cars", "transport/cars/audi",
                                     "transport/bikes", "home",           "home/sofas",
                                     "homework",        "pets/cats"};
static const char *const colors[] = {"red", "green", "blue"};

static const struct field specs[WORLD_FIELD_COUNT] = {
    [WORLD_TITLE] = {.type = FIELD_TEXT, .weight = 2.5f, .name = "title"},
    [WORLD_BODY] = {.type = FIELD_TEXT, .weight = 1, .name = "body"},
    [WORLD_BRAND] = {.type = FIELD_KEYWORD, .filterable = true, .name = "brand"},
    [WORLD_TAGS] = {.type = FIELD_KEYWORD,
                    .multiple = true,
                    .filterable = true,
                    .value_count_max = 40,
                    .name = "tags"},
    [WORLD_LABELS] = {.type = FIELD_KEYWORD, .multiple = true, .name = "labels"},
    [WORLD_PRICE] = {.type = FIELD_INTEGER, .filterable = true, .name = "price"},
    [WORLD_WEIGHT] = {.type = FIELD_DECIMAL, .scale = 2, .name = "weight"},
    [WORLD_DATE] = {.type = FIELD_DATE, .filterable = true, .name = "date"},
    [WORLD_SOLD] = {.type = FIELD_BOOLEAN, .name = "sold"},
    [WORLD_PLACE] = {.type = FIELD_CATEGORY, .filterable = true, .name = "place"},
    [WORLD_SHELVES] = {.type = FIELD_CATEGORY,
                       .multiple = true,
                       .filterable = true,
                       .name = "shelves"},
    [WORLD_POINT] = {.type = FIELD_GEO, .filterable = true, .name = "point"},
    [WORLD_NOTE] = {.type = FIELD_STORED, .name = "note"},
    [WORLD_COLOR] = {.type = FIELD_KEYWORD, .filterable = true, .name = "color"},
    [WORLD_SIZE] = {.type = FIELD_INTEGER, .name = "size"},
};

const char *world_field_name(uint32_t field)
{
    return specs[field].name;
}

const struct field *world_field_spec(uint32_t field)
{
    return &specs[field];
}

#define NAMES(list) (*count = sizeof(list) / sizeof((list)[0]), (list))

const char *const *world_names(uint32_t field, uint32_t *count)
{
    switch (field) {
    case WORLD_BRAND:
        return NAMES(brands);
    case WORLD_TAGS:
        return NAMES(tags);
    case WORLD_LABELS:
        return NAMES(labels);
    case WORLD_COLOR:
        return NAMES(colors);
    default:
        return NAMES(places);
    }
}

uint32_t world_find_form(const struct world *world, struct bytes text)
{
    uint32_t i;

    for (i = 0; i < world->form_count; i++)
        if (bytes_equal_text(text, world->forms[i].text))
            break;
    return i;
}

static void add_forms(struct world *world)
{
    struct bytes stems[WORLD_FORM_MAX];
    char copies[WORLD_FORM_MAX][TOKEN_SIZE_MAX];
    uint32_t i;
    uint32_t k;

    world->form_count = sizeof(vocabulary) / sizeof(vocabulary[0]);
    for (i = 0; i < world->form_count; i++) {
        struct token_list list = analysis_run(world->analysis, bytes_of(vocabulary[i]));
        struct bytes stem;

        assert_int_equal(list.count, 1);
        stem =
            analysis_stem(world->analysis, list.tokens[0].form, (enum script)list.tokens[0].script);
        assert_true(stem.size <= TOKEN_SIZE_MAX);
        memcpy(copies[i], stem.data, stem.size);
        stems[i] = bytes_make(copies[i], stem.size);
        world->forms[i] = (struct world_form){.text = vocabulary[i]};
        for (k = 0; !bytes_equal(stems[k], stems[i]); k++)
            ;
        world->forms[i].stem = k;
    }
}

static void add_field(struct world *world)
{
    struct err err;
    uint16_t id;

    assert_int_equal(shard_add_field(world->shard, &specs[world->field_count], &id, &err), 0);
    assert_int_equal(id, world->field_count);
    world->field_count++;
}

void world_open(struct world *world, struct rng rng, struct shard_options *options)
{
    struct err err;

    *world = (struct world){.rng = rng, .now = 1700000000};
    world->analysis = analysis_new();
    world->docs = mem_array(WORLD_DOC_MAX, sizeof(*world->docs));
    add_forms(world);
    options->average_lengths[0] = 4;
    options->average_lengths[1] = 12;
    if (shard_open(options, &world->shard, &err))
        fail_msg("shard_open: %s", err.text);
    while (world->field_count < WORLD_COLOR)
        add_field(world);
}

void world_close(struct world *world)
{
    shard_close(world->shard);
    analysis_free(world->analysis);
    free(world->docs);
}

/* ---- random values ---- */

static const struct {
    uint32_t slot;
    docid id;
} crowds[] = {{0, 0}, {200, 4000}, {320, 8150}, {440, 12250}};

docid world_id(uint32_t slot)
{
    size_t i = sizeof(crowds) / sizeof(crowds[0]) - 1;

    while (crowds[i].slot > slot)
        i--;
    return crowds[i].id + (slot - crowds[i].slot);
}

uint32_t world_slot(docid id)
{
    size_t i = sizeof(crowds) / sizeof(crowds[0]) - 1;

    while (crowds[i].id > id)
        i--;
    return crowds[i].slot + (id - crowds[i].id);
}

uint32_t world_random_slot(struct rng *rng)
{
    return (uint32_t)rng_below(rng, WORLD_DOC_MAX);
}

static uint64_t random_names(struct rng *rng, uint32_t field)
{
    uint64_t names = 0;
    uint32_t count;
    uint32_t i;

    world_names(field, &count);
    for (i = (uint32_t)rng_below(rng, 4); i > 0; i--)
        names |= UINT64_C(1) << rng_below(rng, count);
    if (!specs[field].multiple && names)
        names &= -names;
    return names;
}

static int64_t random_number(struct rng *rng, uint32_t field)
{
    if (rng_below(rng, 6) == 0)
        return COLUMN_NULL;
    switch (field) {
    case WORLD_PRICE:
        return rng_below(rng, 20) ? (int64_t)rng_below(rng, 50) * 100
                                  : (int64_t)(rng_next(rng) >> 2) - (INT64_MAX >> 2);
    case WORLD_WEIGHT:
        return (int64_t)rng_below(rng, 400) - 200;
    case WORLD_DATE:
        return 1700000000 - (int64_t)rng_below(rng, 100) * 86400;
    case WORLD_SOLD:
        return (int64_t)rng_below(rng, 2);
    case WORLD_POINT:
        return geo_pack((int32_t)(557500000 + (int64_t)rng_below(rng, 4000000) - 2000000),
                        (int32_t)(376200000 + (int64_t)rng_below(rng, 8000000) - 4000000));
    default:
        return (int64_t)rng_below(rng, 10);
    }
}

static bool has_names(uint32_t field)
{
    return specs[field].type == FIELD_KEYWORD || specs[field].type == FIELD_CATEGORY;
}

static void random_value(struct rng *rng, struct world_doc *doc, uint32_t field)
{
    if (has_names(field))
        doc->names[field] = random_names(rng, field);
    else if (field >= WORLD_PRICE && field != WORLD_NOTE)
        doc->numbers[field] = random_number(rng, field);
}

static void random_words(struct world *world, struct rng *rng, struct world_doc *doc)
{
    uint32_t field;

    doc->word_count = 0;
    for (field = 0; field < WORLD_TEXT_COUNT; field++) {
        uint32_t count = (uint32_t)rng_below(rng, field ? WORLD_WORD_MAX : 8);
        uint32_t i;

        doc->lengths[field] = count;
        for (i = 0; i < count; i++) {
            /* Some words are much more frequent than others. */
            uint32_t form = (uint32_t)rng_below(rng, 1 + rng_below(rng, world->form_count));

            doc->words[doc->word_count++] = (struct world_word){form, field, i};
        }
    }
}

/* ---- putting ---- */

struct values {
    struct shard_value list[WORLD_FIELD_COUNT];
    uint32_t count;
    char texts[WORLD_TEXT_COUNT][WORLD_WORD_MAX * 32];
    struct bytes names[WORLD_FIELD_COUNT][64];
};

static void add_text(const struct world *world, const struct world_doc *doc, uint32_t field,
                     struct values *values)
{
    char *text = values->texts[field];
    size_t size = 0;
    uint32_t i;

    for (i = 0; i < doc->word_count; i++)
        if (doc->words[i].field == field)
            size += (size_t)snprintf(text + size, sizeof(values->texts[field]) - size, "%s%s",
                                     size ? " " : "", world->forms[doc->words[i].form].text);
    assert_true(size < sizeof(values->texts[field]));
    values->list[values->count++] = (struct shard_value){
        .field = (uint16_t)field, .kind = VALUE_TEXT, .text = bytes_make(text, size)};
}

static void add_value(const struct world_doc *doc, uint32_t field, struct values *values)
{
    struct shard_value value = {.field = (uint16_t)field, .kind = VALUE_NONE};
    int32_t lat;
    int32_t lon;

    if (has_names(field) && doc->names[field]) {
        uint32_t count;
        const char *const *names = world_names(field, &count);
        uint64_t rest;

        value.kind = VALUE_KEYWORDS;
        value.keywords.names = values->names[field];
        value.keywords.count = 0;
        for (rest = doc->names[field]; rest; rest &= rest - 1)
            values->names[field][value.keywords.count++] = bytes_of(names[__builtin_ctzll(rest)]);
    } else if (field == WORLD_POINT && doc->numbers[field] != COLUMN_NULL) {
        geo_unpack(doc->numbers[field], &lat, &lon);
        value.kind = VALUE_GEO;
        value.geo.lat = lat;
        value.geo.lon = lon;
    } else if (!has_names(field) && doc->numbers[field] != COLUMN_NULL) {
        value.kind = VALUE_NUMBER;
        value.number = doc->numbers[field];
    }
    values->list[values->count++] = value;
}

static void put_document(struct world *world, uint32_t slot)
{
    struct world_doc *doc = &world->docs[slot];
    struct values *values = mem_zero(sizeof(*values));
    struct shard_document document = {.id = world_id(slot), .expires_at = doc->expires_at};
    struct err err;
    uint32_t i;

    for (i = 0; i < world->field_count; i++) {
        if (i < WORLD_TEXT_COUNT)
            add_text(world, doc, i, values);
        else if (i != WORLD_NOTE)
            add_value(doc, i, values);
    }
    document.values = values->list;
    document.count = values->count;
    if (shard_put(world->shard, &document, &err))
        fail_msg("shard_put of %u: %s", document.id, err.text);
    for (i = 0; i < doc->word_count; i++)
        if (!world->forms[doc->words[i].form].known)
            world->forms[doc->words[i].form].known = true;
    free(values);
}

static void step_put(struct world *world)
{
    uint32_t slot = world_random_slot(&world->rng);
    struct world_doc *doc = &world->docs[slot];
    uint32_t i;

    *doc = (struct world_doc){.lives = true};
    if (rng_below(&world->rng, 8) == 0)
        doc->expires_at = world->now + 1 + (int64_t)rng_below(&world->rng, 50);
    random_words(world, &world->rng, doc);
    for (i = 0; i < WORLD_FIELD_COUNT; i++) {
        doc->numbers[i] = COLUMN_NULL;
        if (i < world->field_count)
            random_value(&world->rng, doc, i);
    }
    put_document(world, slot);
}

static void step_change(struct world *world)
{
    uint32_t slot = world_random_slot(&world->rng);
    struct world_doc *doc = &world->docs[slot];
    struct values *values = mem_zero(sizeof(*values));
    uint32_t first = WORLD_BRAND + (uint32_t)rng_below(&world->rng, world->field_count - 2);
    uint32_t i;
    struct err err;
    int rc;

    for (i = first; i < world->field_count && values->count < 3; i++) {
        if (i == WORLD_NOTE)
            continue;
        if (doc->lives)
            random_value(&world->rng, doc, i);
        add_value(doc, i, values);
    }
    rc = values->count
             ? shard_change(world->shard, world_id(slot), values->list, values->count, &err)
             : 0;
    if (values->count)
        assert_int_equal(rc, doc->lives ? 0 : ERR_NOT_FOUND);
    free(values);
}

static void step_expire(struct world *world)
{
    uint32_t gone = 0;
    uint32_t i;

    world->now += (int64_t)rng_below(&world->rng, 10);
    for (i = 0; i < WORLD_DOC_MAX; i++) {
        struct world_doc *doc = &world->docs[i];

        if (doc->lives && doc->expires_at && doc->expires_at <= world->now) {
            doc->lives = false;
            gone++;
        }
    }
    assert_int_equal(shard_expire(world->shard, world->now), gone);
}

void world_step(struct world *world)
{
    uint64_t dice = rng_below(&world->rng, 100);
    uint32_t slot;

    if (dice < 70) {
        step_put(world);
    } else if (dice < 85) {
        step_change(world);
    } else if (dice < 95) {
        slot = world_random_slot(&world->rng);
        assert_int_equal(shard_remove(world->shard, world_id(slot)), world->docs[slot].lives);
        world->docs[slot].lives = false;
    } else if (dice < 99) {
        step_expire(world);
    } else if (world->field_count < WORLD_FIELD_COUNT && rng_below(&world->rng, 4) == 0) {
        add_field(world);
    }
}

void world_rewrite(struct world *world, struct rng *rng)
{
    uint32_t slot = world_random_slot(rng);

    if (world->docs[slot].lives)
        put_document(world, slot);
}

void world_publish(struct world *world)
{
    struct err err;

    if (shard_publish(world->shard, ++world->offset, &err))
        fail_msg("shard_publish: %s", err.text);
}

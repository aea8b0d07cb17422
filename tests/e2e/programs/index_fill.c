/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_fill.c - makes a small shard with a field of every type, to be looked into.
 *
 * usage: index-fill DIR COUNT
 *
 * The first eight documents are listings of a bazaar; those behind them, up to COUNT, are numbered
 * boxes. Ends with a checkpoint.
 */
#include <stdio.h>
#include <stdlib.h>

#include "index/shard/shard.h"

enum { TITLE, BODY, SELLER, TAGS, PLACE, PRICE, WEIGHT, DATE, USED, POINT, NOTE, FIELD_COUNT };

static const struct field fields[FIELD_COUNT] = {
    [TITLE] = {.type = FIELD_TEXT, .weight = 2.5F, .name = "title"},
    [BODY] = {.type = FIELD_TEXT, .weight = 1, .name = "body"},
    [SELLER] = {.type = FIELD_KEYWORD, .filterable = true, .name = "seller"},
    [TAGS] = {.type = FIELD_KEYWORD, .multiple = true, .filterable = true, .name = "tags"},
    [PLACE] = {.type = FIELD_CATEGORY, .filterable = true, .name = "category"},
    [PRICE] = {.type = FIELD_INTEGER, .filterable = true, .name = "price"},
    [WEIGHT] = {.type = FIELD_DECIMAL, .scale = 2, .name = "weight"},
    [DATE] = {.type = FIELD_DATE, .filterable = true, .name = "date"},
    [USED] = {.type = FIELD_BOOLEAN, .name = "used"},
    [POINT] = {.type = FIELD_GEO, .filterable = true, .name = "point"},
    [NOTE] = {.type = FIELD_STORED, .name = "note"},
};

struct listing {
    const char *title, *body, *seller, *category;
    const char *tags[2];
    int64_t price, weight, date; /* -1: none */
    int used;
    int32_t lat, lon; /* 0: none */
    const char *note;
};

enum { DAY = 86400, NOVEMBER = 1793491200 }; /* 2026-11-01 */

static const struct listing listings[] = {
    {"Городской велосипед Форвард",
     "Почти новый, рама 19 дюймов, тормоза дисковые",
     "anna",
     "transport/bikes",
     {"new", "urgent"},
     12000,
     1450,
     NOVEMBER,
     0,
     557512000,
     376184000,
     "звонить вечером"},
    {"Велосипеды детские",
     "Два велосипеда, красный и синий",
     "anna",
     "transport/bikes",
     {"gift", NULL},
     5500,
     980,
     NOVEMBER + DAY,
     1,
     559300000,
     372500000,
     NULL},
    {"Road bike Canyon",
     "A fast road bike, carbon frame",
     "boris",
     "transport/bikes",
     {"new", NULL},
     95000,
     720,
     NOVEMBER + 2 * DAY,
     0,
     599343000,
     303351000,
     NULL},
    {"Диван кожаный",
     "Большой кожаный диван, самовывоз",
     "vera",
     "home/sofas",
     {NULL, NULL},
     30000,
     -1,
     NOVEMBER + 3 * DAY,
     1,
     557000000,
     376000000,
     NULL},
    {"Телефон iPhone 15 128 гб",
     "Телефон в отличном состоянии",
     "boris",
     "electronics/phones",
     {"urgent", NULL},
     60000,
     17,
     NOVEMBER + 4 * DAY,
     1,
     0,
     0,
     "без торга"},
    {"Зимние шины R16",
     "Комплект зимних шин, 4 штуки",
     "gleb",
     "transport/cars/tyres",
     {NULL, NULL},
     18000,
     4000,
     NOVEMBER + 5 * DAY,
     1,
     557600000,
     376500000,
     NULL},
    {"Велосипед горный",
     "Горный велосипед, требует ремонта <срочно>",
     "anna",
     "transport/bikes",
     {"urgent", "gift"},
     7000,
     1575,
     NOVEMBER + 6 * DAY,
     1,
     557900000,
     376100000,
     NULL},
    {"Стол письменный",
     "Письменный стол из дуба",
     "vera",
     "home/tables",
     {NULL, NULL},
     -1,
     -1,
     -1,
     0,
     0,
     0,
     NULL},
};

enum { LISTING_COUNT = sizeof(listings) / sizeof(listings[0]) };

static void die_if(int rc, const struct err *err)
{
    if (!rc)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(2);
}

static void add_text(struct shard_document *document, struct shard_value *values, uint16_t field,
                     const char *text)
{
    if (text)
        values[document->count++] =
            (struct shard_value){.field = field, .kind = VALUE_TEXT, .text = bytes_of(text)};
}

static void add_number(struct shard_document *document, struct shard_value *values, uint16_t field,
                       int64_t number)
{
    if (number >= 0)
        values[document->count++] =
            (struct shard_value){.field = field, .kind = VALUE_NUMBER, .number = number};
}

static void add_names(struct shard_document *document, struct shard_value *values, uint16_t field,
                      const struct bytes *names, uint32_t count)
{
    if (!count)
        return;
    values[document->count] = (struct shard_value){.field = field, .kind = VALUE_KEYWORDS};
    values[document->count].keywords.names = names;
    values[document->count++].keywords.count = count;
}

static void put(struct shard *shard, docid id, const struct listing *listing)
{
    struct bytes seller = bytes_of(listing->seller);
    struct bytes category = bytes_of(listing->category);
    struct shard_value values[FIELD_COUNT];
    struct shard_document document = {.id = id, .values = values};
    struct bytes tags[2];
    uint32_t tag_count = 0;
    struct err err = {0};
    int i;

    for (i = 0; i < 2; i++)
        if (listing->tags[i])
            tags[tag_count++] = bytes_of(listing->tags[i]);
    add_text(&document, values, TITLE, listing->title);
    add_text(&document, values, BODY, listing->body);
    add_names(&document, values, SELLER, &seller, 1);
    add_names(&document, values, TAGS, tags, tag_count);
    add_names(&document, values, PLACE, &category, 1);
    add_number(&document, values, PRICE, listing->price);
    add_number(&document, values, WEIGHT, listing->weight);
    add_number(&document, values, DATE, listing->date);
    add_number(&document, values, USED, listing->used);
    if (listing->lat) {
        values[document.count] = (struct shard_value){.field = POINT, .kind = VALUE_GEO};
        values[document.count].geo.lat = listing->lat;
        values[document.count++].geo.lon = listing->lon;
    }
    add_text(&document, values, NOTE, listing->note);
    die_if(shard_put(shard, &document, &err), &err);
}

static void put_box(struct shard *shard, docid id)
{
    char title[32];
    struct listing box = {.title = title,
                          .body = "an empty box",
                          .seller = "depot",
                          .category = "home/boxes",
                          .price = id,
                          .weight = -1,
                          .date = -1,
                          .used = 0};

    snprintf(title, sizeof(title), "Box number %u", id);
    put(shard, id, &box);
}

int main(int argc, char **argv)
{
    struct shard_options options = {.epoch = 3, .place = {1, 0, 2, 0}};
    struct shard *shard;
    struct err err = {0};
    unsigned long count;
    docid id;

    if (argc != 3)
        return 2;
    options.dir = argv[1];
    count = strtoul(argv[2], NULL, 10);
    die_if(shard_open(&options, &shard, &err), &err);
    for (id = 0; id < FIELD_COUNT; id++)
        die_if(shard_add_field(shard, &fields[id], NULL, &err), &err);
    for (id = 1; id <= count; id++) {
        if (id <= LISTING_COUNT)
            put(shard, id, &listings[id - 1]);
        else
            put_box(shard, id);
    }
    die_if(shard_publish(shard, count, &err), &err);
    die_if(shard_checkpoint(shard, &err), &err);
    shard_close(shard);
    return 0;
}

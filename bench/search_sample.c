/* SPDX-License-Identifier: Apache-2.0 */
/* bench/search_sample.c - see search_sample.h. */
#include "search_sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "codec/message.h"
#include "offers/record/offer_id.h"

enum {
    WORD_COUNT = 20000,
    WORD_SIZE = 32,
    TITLE_WORDS = 3,
    DESCRIPTION_WORDS = 30,
    SELLER_SHARE = 50, /* offers of a seller, about */
    AGE_S = 90 * 24 * 3600,
    LIFE_S = 30 * 24 * 3600,
    ATTRIBUTE_PERCENT = 80,
};

#define NEW(type, lower) ((Torg__V1__##type *)message_new(&torg__v1__##lower##__descriptor, arena))
#define TYPE(name) TORG__V1__ATTRIBUTE__TYPE__##name

struct samples {
    const struct category **leaves;
    size_t leaf_count;
    char (*words)[WORD_SIZE];
    int64_t now_us;
};

/* --- words --- */

static void make_word(uint64_t number, char word[WORD_SIZE])
{
    static const char *const first[] = {"ба", "ве", "го", "ди", "ка", "ло", "ми", "не", "по", "ра",
                                        "со", "ту", "фи", "ша", "зе", "ку", "ре", "та", "ви", "бо"};
    static const char *const last[] = {"к",   "р",  "лка", "нец", "т",  "ва",  "сть",
                                       "на",  "ль", "м",   "жа",  "ст", "нка", "тор",
                                       "рис", "в",  "ный", "ра",  "с",  "лет"};
    size_t base = ARRAY_COUNT(first);

    snprintf(word, WORD_SIZE, "%s%s%s%s", first[number % base], first[number / base % base],
             number / base / base % 5 ? first[number / base / base % base] : "",
             last[number / base / base / 2 % ARRAY_COUNT(last)]);
}

/* Few of many: the share of the k-th goes down with k. */
static uint64_t draw_few(struct rng *rng, uint64_t count)
{
    double u = (double)rng_below(rng, 1 << 24) / (1 << 24);

    return (uint64_t)((double)count * u * u * u);
}

static const char *draw_word(const struct samples *samples, struct rng *rng)
{
    return samples->words[draw_few(rng, WORD_COUNT)];
}

struct samples *samples_new(const struct catalog *catalog)
{
    struct samples *samples = mem_zero(sizeof(*samples));
    size_t count;
    const struct category *const *all = catalog_categories(catalog, &count);

    samples->leaves = mem_array(count, sizeof(samples->leaves[0]));
    for (size_t i = 0; i < count; i++) {
        if (!all[i]->child_count)
            samples->leaves[samples->leaf_count++] = all[i];
    }
    samples->words = mem_array(WORD_COUNT, WORD_SIZE);
    for (uint64_t i = 0; i < WORD_COUNT; i++)
        make_word(i, samples->words[i]);
    samples->now_us = clock_wall_us(clock_system());
    return samples;
}

void samples_free(struct samples *samples)
{
    free(samples->leaves);
    free(samples->words);
    free(samples);
}

/* --- offers --- */

static int64_t draw_number(const struct attribute *attribute, struct rng *rng)
{
    int64_t min = attribute->has_min ? attribute->min.millionths / DECIMAL_ONE : 0;
    int64_t max = attribute->has_max ? attribute->max.millionths / DECIMAL_ONE : min + 1000;

    return min + (int64_t)draw_few(rng, (uint64_t)(max - min) + 1);
}

static bool put_value(const struct attribute *attribute, struct rng *rng, struct arena *arena,
                      Torg__V1__AttributeValue *value)
{
    switch (attribute->type) {
    case TYPE(OPTION):
    case TYPE(OPTIONS):
        value->options = arena_array(arena, 1, sizeof(value->options[0]));
        value->options[value->n_options++] =
            (char *)attribute->options[draw_few(rng, attribute->option_count)]->id;
        return true;
    case TYPE(INTEGER):
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_INTEGER;
        value->integer = draw_number(attribute, rng);
        return true;
    case TYPE(YEAR):
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_YEAR;
        value->year = (int32_t)draw_number(attribute, rng);
        return true;
    case TYPE(DECIMAL):
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_DECIMAL;
        value->decimal = arena_printf(arena, "%" PRId64, draw_number(attribute, rng));
        return true;
    case TYPE(FLAG):
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_FLAG;
        value->flag = rng_below(rng, 2) != 0;
        return true;
    default:
        return false;
    }
}

static void put_attributes(const struct category *category, struct rng *rng, struct arena *arena,
                           Torg__V1__OfferContent *content)
{
    content->attributes =
        arena_array(arena, category->attribute_count + 1, sizeof(content->attributes[0]));
    for (size_t i = 0; i < category->attribute_count; i++) {
        const struct attribute *attribute = category->attributes[i];
        Torg__V1__AttributeValue *value = NEW(AttributeValue, attribute_value);

        value->attribute_id = (char *)attribute->id;
        if (rng_below(rng, 100) < ATTRIBUTE_PERCENT && put_value(attribute, rng, arena, value))
            content->attributes[content->n_attributes++] = value;
    }
}

/* The category, a value of it, and some words. */
static char *make_title(const struct samples *samples, const struct category *category,
                        struct rng *rng, struct arena *arena)
{
    char *title = arena_strdup(arena, category->name.in[LANGUAGE_RU]);

    for (size_t i = 0; i < TITLE_WORDS; i++)
        title = arena_printf(arena, "%s %s", title, draw_word(samples, rng));
    return title;
}

static char *make_description(const struct samples *samples, struct rng *rng, struct arena *arena)
{
    char *text = arena_alloc(arena, (DESCRIPTION_WORDS + 1) * WORD_SIZE);
    size_t size = 0;

    for (size_t i = 0; i < DESCRIPTION_WORDS; i++)
        size +=
            (size_t)snprintf(text + size, WORD_SIZE, "%s%s", i ? " " : "", draw_word(samples, rng));
    return text;
}

static Google__Protobuf__Timestamp *make_time(int64_t us, struct arena *arena)
{
    Google__Protobuf__Timestamp *time =
        (Google__Protobuf__Timestamp *)message_new(&google__protobuf__timestamp__descriptor, arena);

    time->seconds = us / SECOND_US;
    time->nanos = (int32_t)(us % SECOND_US) * 1000;
    return time;
}

static Torg__V1__Address *make_address(struct rng *rng, struct arena *arena)
{
    static const struct {
        const char *name;
        double latitude, longitude;
    } cities[] = {{"Москва", 55.75, 37.62},      {"Санкт-Петербург", 59.94, 30.31},
                  {"Новосибирск", 55.03, 82.92}, {"Екатеринбург", 56.84, 60.61},
                  {"Казань", 55.79, 49.11},      {"Самара", 53.2, 50.15},
                  {"Омск", 54.99, 73.37},        {"Уфа", 54.73, 55.97}};
    size_t city = draw_few(rng, ARRAY_COUNT(cities));
    Torg__V1__Address *address = NEW(Address, address);

    address->text = (char *)cities[city].name;
    address->point = NEW(GeoPoint, geo_point);
    address->point->latitude = cities[city].latitude + (double)rng_below(rng, 3000) / 10000;
    address->point->longitude = cities[city].longitude + (double)rng_below(rng, 3000) / 10000;
    return address;
}

const Torg__V1__Offer *sample_offer(const struct samples *samples, uint64_t number,
                                    int64_t changed_us, struct arena *arena)
{
    struct rng rng = rng_seeded(number * 0x9e3779b97f4a7c15U + 1);
    Torg__V1__Offer *offer = NEW(Offer, offer);
    Torg__V1__OfferContent *content = NEW(OfferContent, offer_content);
    const struct category *category = samples->leaves[draw_few(&rng, samples->leaf_count)];
    int64_t created_us = samples->now_us - (int64_t)rng_below(&rng, AGE_S) * SECOND_US;

    offer->id = arena_alloc(arena, OFFER_ID_TEXT_SIZE);
    offer_id_format(offer_id_make(number * 0xd1342543de82ef95U + 99), offer->id);
    offer->seller = arena_printf(arena, "seller-%" PRIu64, number / SELLER_SHARE);
    offer->revision = 1;
    offer->status = TORG__V1__OFFER__STATUS__ACTIVE;
    offer->create_time = make_time(created_us, arena);
    offer->update_time = make_time(changed_us ? changed_us : created_us, arena);
    offer->expire_time = make_time(samples->now_us + LIFE_S * (int64_t)SECOND_US, arena);
    offer->content = content;
    content->category = (char *)category->id;
    content->title = make_title(samples, category, &rng, arena);
    content->condition = (Torg__V1__OfferContent__Condition)(1 + draw_few(&rng, 3));
    content->address = make_address(&rng, arena);
    put_attributes(category, &rng, arena, content);
    if (changed_us && number % 2) /* a price alone touches no text */
        rng = rng_seeded((uint64_t)changed_us);
    content->description = make_description(samples, &rng, arena);
    if (changed_us)
        rng = rng_seeded((uint64_t)changed_us + number);
    content->price = NEW(Price, price);
    content->price->amount = 10000 + (int64_t)draw_few(&rng, 100000000);
    content->price->currency = (char *)"RUB";
    return offer;
}

/* --- requests --- */

/* One or two words of the title; those of the category's name are the most frequent. */
static char *draw_text(const char *title, struct rng *rng, struct arena *arena)
{
    char *copy = arena_strdup(arena, title);
    const char *words[16];
    size_t count = 0;
    size_t first, second;

    for (char *at = copy; at && count < ARRAY_COUNT(words);) {
        char *blank = strchr(at, ' ');

        if (blank)
            *blank = 0;
        words[count++] = at;
        at = blank ? blank + 1 : NULL;
    }
    first = rng_below(rng, count);
    second = rng_below(rng, count);
    if (first == second)
        return (char *)words[first];
    return arena_printf(arena, "%s %s", words[first], words[second]);
}

static Torg__V1__FilterChoice *add_choice(Torg__V1__SearchOffersRequest *request, const char *id,
                                          struct arena *arena)
{
    Torg__V1__FilterChoice *choice = NEW(FilterChoice, filter_choice);

    choice->id = (char *)id;
    request->filters[request->n_filters++] = choice;
    return choice;
}

/* Whether buyers choose from a list of its values. */
static bool is_listed(const struct samples *samples, const char *category_id, const char *id)
{
    for (size_t i = 0; i < samples->leaf_count; i++) {
        if (strcmp(samples->leaves[i]->id, category_id) == 0)
            return attribute_find(samples->leaves[i], id)->filter ==
                   TORG__V1__ATTRIBUTE__FILTER__LIST;
    }
    return false;
}

static void add_filters(const struct samples *samples, const Torg__V1__Offer *offer,
                        struct rng *rng, struct arena *arena,
                        Torg__V1__SearchOffersRequest *request)
{
    const Torg__V1__OfferContent *content = offer->content;
    Torg__V1__FilterChoice *choice;

    request->filters = arena_array(arena, 2, sizeof(request->filters[0]));
    for (size_t i = 0; i < content->n_attributes && !request->n_filters; i++) {
        const Torg__V1__AttributeValue *value = content->attributes[i];

        if (!value->n_options || !is_listed(samples, content->category, value->attribute_id))
            continue;
        choice = add_choice(request, arena_printf(arena, "a.%s", value->attribute_id), arena);
        choice->values = value->options;
        choice->n_values = 1;
    }
    if (!request->n_filters || rng_below(rng, 2)) {
        choice = add_choice(request, "price", arena);
        choice->min = arena_printf(arena, "%" PRId64, content->price->amount / 2);
        choice->max = arena_printf(arena, "%" PRId64, content->price->amount * 2);
    }
}

Torg__V1__SearchOffersRequest *sample_request(const struct samples *samples, struct rng *rng,
                                              uint64_t offer_count, struct arena *arena)
{
    const Torg__V1__Offer *offer = sample_offer(samples, rng_below(rng, offer_count), 0, arena);
    Torg__V1__SearchOffersRequest *request = NEW(SearchOffersRequest, search_offers_request);
    uint64_t kind = rng_below(rng, 10);

    if (kind < 5 || kind == 9)
        request->text = draw_text(offer->content->title, rng, arena);
    request->keep_spelling = true; /* words that are made up were never learnt */
    if (kind >= 3 && kind < 9)
        request->category = offer->content->category;
    if (kind == 7 || kind == 8)
        add_filters(samples, offer, rng, arena, request);
    if (kind == 9)
        request->order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST;
    if (rng_below(rng, 8) == 0) {
        request->offset = 20 + 20 * (uint32_t)draw_few(rng, 5);
        request->only_offers = true;
    }
    return request;
}

Torg__V1__SuggestRequest *sample_typing(const struct samples *samples, struct rng *rng,
                                        size_t letter_count, struct arena *arena)
{
    Torg__V1__SuggestRequest *request = NEW(SuggestRequest, suggest_request);
    const char *word = draw_word(samples, rng);

    /* two bytes a letter: they are all Cyrillic */
    request->text = arena_printf(arena, "%.*s", (int)(2 * letter_count), word);
    return request;
}

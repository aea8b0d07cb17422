/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/offers_sample.c - see offers_sample.h.
 *
 * The description is made of some thousand Russian-looking words, common ones often and rare ones
 * seldom: zstd makes 2 KB of it about as small as 2 KB of what people write.
 */
#include "offers_sample.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "codec/message.h"

enum { WORD_COUNT = 4096, WORD_SIZE = 48, DESCRIPTION_SIZE_MAX = 4096, PHOTO_COUNT = 3 };

static char words[WORD_COUNT][WORD_SIZE];

static void make_words(void)
{
    static const char *const syllables[] = {
        "ве",  "ло",  "си",  "пед", "ра",  "ма",  "ко",   "ле", "со",  "про", "да",
        "ю",   "но",  "вый", "то",  "раз", "ный", "при",  "го", "род", "ска", "я",
        "тор", "моз", "пе",  "ре",  "клю", "ча",  "тель", "ци", "на",  "дет", "ский",
        "хо",  "ро",  "ши",  "й",   "ши",  "ны",  "ста",  "ль", "мес", "ту"};
    struct rng rng = rng_seeded(7);

    for (size_t i = 0; i < WORD_COUNT; i++) {
        size_t parts = 1 + rng_below(&rng, 4);
        size_t size = 0;

        for (size_t j = 0; j < parts; j++)
            size += (size_t)snprintf(words[i] + size, WORD_SIZE - size, "%s",
                                     syllables[rng_below(&rng, ARRAY_COUNT(syllables))]);
    }
}

/* A word, common ones far oftener: the product of two draws leans to small numbers. */
static const char *draw_word(struct rng *rng)
{
    if (!words[0][0])
        make_words();
    return words[rng_below(rng, WORD_COUNT) * rng_below(rng, WORD_COUNT) / WORD_COUNT];
}

static char *draw_text(struct rng *rng, struct arena *arena, size_t size)
{
    struct buf text = BUF_INIT(DESCRIPTION_SIZE_MAX);
    char *result;

    while (text.size < size)
        buf_printf(&text, "%s%s", draw_word(rng), rng_below(rng, 9) ? " " : ". ");
    while (text.size > size || (text.size && (text.data[text.size - 1] & 0x80)))
        buf_truncate(&text, text.size - 1); /* to the end of a word: letters are two bytes */
    while (text.size && text.data[text.size - 1] == ' ')
        buf_truncate(&text, text.size - 1);
    result = arena_text(arena, buf_bytes(&text));
    buf_release(&text);
    return result;
}

static Torg__V1__AttributeValue *option(struct arena *arena, const char *attribute,
                                        const char *chosen)
{
    Torg__V1__AttributeValue *value =
        (Torg__V1__AttributeValue *)message_new(&torg__v1__attribute_value__descriptor, arena);

    value->attribute_id = arena_strdup(arena, attribute);
    value->options = arena_array(arena, 1, sizeof(char *));
    value->options[0] = arena_strdup(arena, chosen);
    value->n_options = 1;
    return value;
}

static void add_photos(Torg__V1__OfferContent *content, struct rng *rng, struct arena *arena)
{
    content->photos = arena_array(arena, PHOTO_COUNT, sizeof(Torg__V1__Photo *));
    content->n_photos = PHOTO_COUNT;
    for (size_t i = 0; i < PHOTO_COUNT; i++) {
        content->photos[i] = (Torg__V1__Photo *)message_new(&torg__v1__photo__descriptor, arena);
        content->photos[i]->source_url =
            arena_printf(arena, "https://photos.example/%016jx.jpg", (uintmax_t)rng_next(rng));
        content->photos[i]->state = TORG__V1__PHOTO__STATE__WAITING;
    }
}

static void add_place(Torg__V1__OfferContent *content, struct rng *rng, struct arena *arena)
{
    content->address = (Torg__V1__Address *)message_new(&torg__v1__address__descriptor, arena);
    content->address->text =
        arena_printf(arena, "Москва, %s, %ju", draw_word(rng), (uintmax_t)(1 + rng_below(rng, 99)));
    content->address->point =
        (Torg__V1__GeoPoint *)message_new(&torg__v1__geo_point__descriptor, arena);
    content->address->point->latitude = 55.5 + (double)rng_below(rng, 100000) / 200000;
    content->address->point->longitude = 37.3 + (double)rng_below(rng, 100000) / 200000;
    content->contacts = (Torg__V1__Contacts *)message_new(&torg__v1__contacts__descriptor, arena);
    content->contacts->name = arena_strdup(arena, draw_word(rng));
    content->contacts->phones = arena_array(arena, 1, sizeof(char *));
    content->contacts->n_phones = 1;
    content->contacts->phones[0] =
        arena_printf(arena, "+79%09ju", (uintmax_t)rng_below(rng, 1000000000));
}

Torg__V1__OfferContent *sample_content(struct rng *rng, struct arena *arena)
{
    static const char *const types[] = {"mountain", "road", "city", "bmx", "folding"};
    static const char *const colors[] = {"black", "white", "red", "blue"};
    Torg__V1__OfferContent *content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);
    size_t size;

    content->category = arena_strdup(arena, "bikes");
    content->title = draw_text(rng, arena, 50);
    content->price = (Torg__V1__Price *)message_new(&torg__v1__price__descriptor, arena);
    content->price->amount = (int64_t)(100000 + rng_below(rng, 10000000));
    content->price->currency = arena_strdup(arena, "RUB");
    content->attributes = arena_array(arena, 2, sizeof(Torg__V1__AttributeValue *));
    content->n_attributes = 2;
    content->attributes[0] = option(arena, "bike-type", types[rng_below(rng, ARRAY_COUNT(types))]);
    content->attributes[1] = option(arena, "color", colors[rng_below(rng, ARRAY_COUNT(colors))]);
    content->condition = TORG__V1__OFFER_CONTENT__CONDITION__USED;
    add_photos(content, rng, arena);
    add_place(content, rng, arena);
    size = protobuf_c_message_get_packed_size(&content->base);
    content->description = draw_text(rng, arena, SAMPLE_SIZE - size);
    return content;
}

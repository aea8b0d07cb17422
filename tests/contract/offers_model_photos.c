/* SPDX-License-Identifier: Apache-2.0 */
/* offers_model_photos.c - see offers_model_photos.h. */
#include "contract/offers_model_photos.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/record/offer_record.h"

static int below(struct rng *rng, int bound)
{
    return (int)rng_below(rng, (uint64_t)bound);
}

static char *url_text(struct arena *arena, int url)
{
    return arena_printf(arena, "https://photos.example/%d.jpg", url);
}

static int url_number(const char *text)
{
    return (int)strtol(text + strlen("https://photos.example/"), NULL, 10);
}

void m_photos_draw(struct m_photos *photos, struct rng *rng)
{
    *photos = (struct m_photos){.count = below(rng, M_PHOTO_COUNT_MAX + 1)};
    for (int i = 0; i < photos->count; i++)
        photos->list[i].url = below(rng, M_URL_COUNT);
}

void m_photos_fill(const struct m_photos *photos, struct arena *arena,
                   Torg__V1__OfferContent *content)
{
    content->photos = arena_array(arena, M_PHOTO_COUNT_MAX, sizeof(*content->photos));
    content->n_photos = (size_t)photos->count;
    for (int i = 0; i < photos->count; i++) {
        Torg__V1__Photo *photo =
            (Torg__V1__Photo *)message_new(&torg__v1__photo__descriptor, arena);

        photo->source_url = url_text(arena, photos->list[i].url);
        photo->state = TORG__V1__PHOTO__STATE__READY; /* a client's word is not looked at */
        photo->attempt = 99;
        content->photos[i] = photo;
    }
}

static const struct m_photo *find(const struct m_photos *photos, int url)
{
    for (int i = 0; i < photos->count; i++) {
        if (photos->list[i].url == url)
            return &photos->list[i];
    }
    return NULL;
}

static void ask(struct m_photo *photo, int64_t revision, int64_t now_us, int count)
{
    *photo = (struct m_photo){.url = photo->url,
                              .state = M_ASKED,
                              .asked = revision,
                              .asked_us = now_us,
                              .ask_count = count};
}

void m_photos_replace(struct m_photos *photos, const struct m_photos *wished, int64_t revision,
                      int64_t now_us)
{
    struct m_photos before = *photos;

    photos->count = wished->count;
    for (int i = 0; i < wished->count; i++) {
        const struct m_photo *known = find(&before, wished->list[i].url);

        photos->list[i] = known ? *known : wished->list[i];
        if (!known)
            ask(&photos->list[i], revision, now_us, 1);
    }
}

void m_photos_ask_again(struct m_photos *photos, int64_t revision, int64_t now_us)
{
    for (int i = 0; i < photos->count; i++)
        if (photos->list[i].state == M_ASKED)
            ask(&photos->list[i], revision, now_us, 1);
}

void m_photos_ask_late(struct m_photos *photos, bool is_named, int64_t revision, int64_t now_us)
{
    for (int i = 0; i < photos->count; i++) {
        struct m_photo *photo = &photos->list[i];
        int64_t passed_s = (now_us - photo->asked_us) / SECOND_US;

        if (photo->state == M_FAILED && is_named && passed_s >= 60)
            ask(photo, revision, now_us, photo->ask_count + 1);
        else if (photo->state == M_ASKED && passed_s >= 24 * 3600 && photo->ask_count < 3)
            ask(photo, revision, now_us, photo->ask_count + 1);
        else if (photo->state == M_ASKED && passed_s >= 24 * 3600)
            photo->state = M_FAILED;
    }
}

enum offer_status m_photos_settle(struct m_photos *photos, enum m_category category,
                                  bool was_waiting, int64_t revision, int64_t now_us)
{
    int64_t limit_us = now_us + M_WAIT_S * SECOND_US;
    int ready = 0, pending = 0, asked_now = 0;

    for (int i = 0; i < photos->count; i++) {
        ready += photos->list[i].state == M_READY;
        pending += photos->list[i].state == M_ASKED;
        asked_now += photos->list[i].asked == revision && photos->list[i].ask_count <= 1;
    }
    if (was_waiting && photos->wait_us && !asked_now)
        limit_us = photos->wait_us;
    photos->wait_us = 0;
    photos->is_stuck = false;
    if (ready || !photos->count)
        return OFFER_ACTIVE;
    switch (category) {
    case M_RINGS: /* with a photo, however long */
        photos->is_stuck = !pending;
        return OFFER_WAITING;
    case M_LAMPS: /* or later */
        if (now_us >= limit_us)
            return OFFER_ACTIVE;
        photos->wait_us = limit_us;
        return OFFER_WAITING;
    case M_BOATS: /* or later, but not without hope for one */
        if (now_us >= limit_us && pending)
            return OFFER_ACTIVE;
        photos->wait_us = limit_us;
        photos->is_stuck = now_us >= limit_us;
        return OFFER_WAITING;
    default:
        return OFFER_ACTIVE;
    }
}

static Torg__V1__PhotoResult__Item *item_of(const struct m_photo *photo, struct rng *rng,
                                            struct arena *arena)
{
    Torg__V1__PhotoResult__Item *item = (Torg__V1__PhotoResult__Item *)message_new(
        &torg__v1__photo_result__item__descriptor, arena);
    Torg__V1__PhotoSize *size;
    uint8_t *hash = arena_alloc(arena, 1);
    int what = 1 + below(rng, 2);

    item->url = url_text(arena, photo && below(rng, 6) ? photo->url : below(rng, M_URL_COUNT));
    item->attempt = 1 + below(rng, 3);
    if (below(rng, 2)) {
        item->state = TORG__V1__PHOTO__STATE__FAILED;
        item->reason = arena_printf(arena, "%d", what);
        return item;
    }
    size = (Torg__V1__PhotoSize *)message_new(&torg__v1__photo_size__descriptor, arena);
    size->key = arena_printf(arena, "photos/%d", what);
    size->width = size->height = size->size = 7;
    item->state = TORG__V1__PHOTO__STATE__READY;
    item->sizes = arena_array(arena, 1, sizeof(size));
    item->sizes[0] = size;
    item->n_sizes = 1;
    *hash = (uint8_t)what;
    item->hash.data = hash;
    item->hash.len = 1;
    return item;
}

Torg__V1__PhotoResult *m_photos_result(const struct m_photos *photos, struct rng *rng,
                                       struct arena *arena)
{
    Torg__V1__PhotoResult *result =
        (Torg__V1__PhotoResult *)message_new(&torg__v1__photo_result__descriptor, arena);
    const struct m_photo *first = photos->count ? &photos->list[below(rng, photos->count)] : NULL;

    result->revision = first && below(rng, 5) ? first->asked : 1 + below(rng, 5);
    result->photos = arena_array(arena, 2, sizeof(*result->photos));
    result->n_photos = 1 + (size_t)below(rng, 2);
    for (size_t i = 0; i < result->n_photos; i++)
        result->photos[i] = item_of(
            photos->count && i ? &photos->list[below(rng, photos->count)] : first, rng, arena);
    if (result->n_photos == 2 && strcmp(result->photos[0]->url, result->photos[1]->url) == 0)
        result->n_photos = 1;
    return result;
}

bool m_photos_take(struct m_photos *photos, const Torg__V1__PhotoResult *result)
{
    bool changed = false;

    for (size_t i = 0; i < result->n_photos; i++) {
        const Torg__V1__PhotoResult__Item *item = result->photos[i];
        bool is_ready = item->state == TORG__V1__PHOTO__STATE__READY;
        int what = is_ready ? item->hash.data[0] : (int)strtol(item->reason, NULL, 10);

        for (int j = 0; j < photos->count; j++) {
            struct m_photo *photo = &photos->list[j];

            if (photo->url != url_number(item->url) || photo->asked != result->revision)
                continue;
            if (item->attempt <= photo->attempt)
                continue; /* came late, or again */
            if (photo->state == M_READY && !is_ready)
                continue; /* what is there is good */
            if (photo->state == (is_ready ? M_READY : M_FAILED) && photo->what == what)
                continue; /* the same */
            photo->state = is_ready ? M_READY : M_FAILED;
            photo->attempt = item->attempt;
            photo->what = what;
            changed = true;
        }
    }
    return changed;
}

bool m_photos_equal(const struct m_photos *photos, const Torg__V1__Offer *offer)
{
    const Torg__V1__OfferContent *content = offer->content;

    if ((int)content->n_photos != photos->count ||
        moment_own_us(offer->wait_until) != photos->wait_us ||
        !*offer->wait_reason == photos->is_stuck)
        return false;
    for (int i = 0; i < photos->count; i++) {
        const struct m_photo *one = &photos->list[i];
        const Torg__V1__Photo *photo = content->photos[i];
        bool is_ready = one->state == M_READY;
        bool is_failed = one->state == M_FAILED;

        if (url_number(photo->source_url) != one->url || (int)photo->state != (int)one->state ||
            photo->request_revision != one->asked || photo->attempt != one->attempt)
            return false;
        if (photo->n_sizes != is_ready || photo->hash.len != is_ready ||
            (is_ready && photo->hash.data[0] != one->what))
            return false;
        if (!*photo->reason == is_failed ||
            (is_failed && strtol(photo->reason, NULL, 10) != one->what))
            return false;
    }
    return true;
}

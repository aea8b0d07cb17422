/* SPDX-License-Identifier: Apache-2.0 */
/* photos.c - see photos.h. */
#include "offers/change/photos.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "catalog/bounds.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/bounds.h"
#include "model/photo_address.h"
#include "offers/bounds.h"
#include "offers/change/offer_change.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"

enum { FIELD_SIZE = 64 };

#define STATE(name) TORG__V1__PHOTO__STATE__##name

/* --- asking --- */

/* By this revision, and as if nothing had been told of it. */
static void ask(const Torg__V1__Offer *offer, Torg__V1__Photo *photo, int32_t count)
{
    char *url = photo->source_url;

    torg__v1__photo__init(photo);
    photo->source_url = url;
    photo->state = STATE(WAITING);
    photo->request_revision = offer->revision;
    photo->ask_time = offer->update_time;
    photo->ask_count = count;
}

void photos_ask(Torg__V1__Offer *offer, bool again)
{
    for (size_t i = 0; i < offer->content->n_photos; i++) {
        Torg__V1__Photo *photo = offer->content->photos[i];

        if (photo->state == STATE(WAITING) && (!photo->request_revision || again))
            ask(offer, photo, 1);
    }
}

/* Its request was lost: deleted unread, or dropped by a person. */
static void chase(const Torg__V1__Offer *offer, Torg__V1__Photo *photo)
{
    if (photo->ask_count < PHOTO_ASK_COUNT_MAX) {
        ask(offer, photo, photo->ask_count + 1);
        return;
    }
    photo->state = STATE(FAILED);
    photo->reason = (char *)"nobody has fetched it for days: save the offer to have it tried again";
}

/* Who saves his offers every minute does not ask for what is gone each time. */
static int64_t by_hand_s(const Torg__V1__Photo *photo)
{
    int64_t wait_s = PHOTO_ASK_BY_HAND_S;

    for (int32_t i = 1; i < photo->ask_count && wait_s < PHOTO_ASK_AGAIN_S; i++)
        wait_s *= 2;
    return wait_s < PHOTO_ASK_AGAIN_S ? wait_s : PHOTO_ASK_AGAIN_S;
}

static bool may_ask(const Torg__V1__Photo *photo, enum photos_named named, int64_t passed_us)
{
    switch (named) {
    case PHOTOS_NOT_NAMED:
        return false;
    case PHOTOS_BY_FEED:
        return passed_us >= (int64_t)PHOTO_ASK_AGAIN_S * SECOND_US;
    case PHOTOS_BY_HAND: /* an upload is looked up, not fetched */
        return photo_address_is_upload(photo->source_url) ||
               passed_us >= by_hand_s(photo) * SECOND_US;
    }
    return false;
}

void photos_ask_late(Torg__V1__Offer *offer, enum photos_named named)
{
    for (size_t i = 0; i < offer->content->n_photos; i++) {
        Torg__V1__Photo *photo = offer->content->photos[i];
        int64_t passed_us = moment_own_us(offer->update_time) - moment_own_us(photo->ask_time);

        if (photo->state == STATE(FAILED) && may_ask(photo, named, passed_us))
            ask(offer, photo, photo->ask_count + 1);
        else if (photo->state == STATE(WAITING) && photo->request_revision &&
                 passed_us >= (int64_t)PHOTO_SILENCE_S * SECOND_US)
            chase(offer, photo);
    }
}

int64_t photos_due_us(const Torg__V1__Offer *offer)
{
    int64_t due_us = 0;

    for (size_t i = 0; i < offer->content->n_photos; i++) {
        const Torg__V1__Photo *photo = offer->content->photos[i];
        int64_t at_us = moment_own_us(photo->ask_time) + (int64_t)PHOTO_SILENCE_S * SECOND_US;

        if (photo->state == STATE(WAITING) && (!due_us || at_us < due_us))
            due_us = at_us;
    }
    return due_us;
}

static bool is_asked(const Torg__V1__PhotoRequest *request, const char *url)
{
    for (size_t i = 0; i < request->n_photos; i++) {
        if (strcmp(request->photos[i]->url, url) == 0)
            return true;
    }
    return false;
}

Torg__V1__PhotoRequest *photos_request(const Torg__V1__Offer *offer, int64_t revision,
                                       struct arena *arena)
{
    const Torg__V1__OfferContent *content = offer->content;
    Torg__V1__PhotoRequest *request = MESSAGE_NEW(photo_request, arena);

    if (!content->n_photos || offer->status == TORG__V1__OFFER__STATUS__DELETED)
        return NULL;
    request->offer_id = offer->id;
    request->revision = revision;
    request->photos = arena_array(arena, content->n_photos, sizeof(*request->photos));
    for (size_t i = 0; i < content->n_photos; i++) {
        const Torg__V1__Photo *photo = content->photos[i];
        Torg__V1__PhotoRequest__Item *item;

        if (photo->state != STATE(WAITING) || photo->request_revision != revision ||
            is_asked(request, photo->source_url))
            continue;
        item = MESSAGE_NEW(photo_request__item, arena);
        item->url = photo->source_url;
        item->position = (uint32_t)i;
        request->photos[request->n_photos++] = item;
    }
    return request->n_photos ? request : NULL;
}

/* --- checking --- */

static void check_size(const Torg__V1__PhotoSize *size, const char *field,
                       struct violations *violations)
{
    size_t length = strlen(size->key);

    if (length < 1 || length > PHOTO_KEY_SIZE_MAX)
        violations_add(violations, field, "a key of %zu bytes; expected 1 to %d", length,
                       PHOTO_KEY_SIZE_MAX);
    if (!size->width || !size->height || !size->size)
        violations_add(violations, field, "width, height and size are expected to be above 0");
}

static void check_item(const Torg__V1__PhotoResult__Item *item, const char *field,
                       struct violations *violations)
{
    bool is_ready = item->state == STATE(READY);

    if (!*item->url || strlen(item->url) > OFFER_URL_SIZE_MAX)
        violations_add(violations, field, "a url of %zu bytes; expected 1 to %d", strlen(item->url),
                       OFFER_URL_SIZE_MAX);
    if (item->attempt < 1)
        violations_add(violations, field, "attempt %d; expected 1 or more", item->attempt);
    if (!is_ready && item->state != STATE(FAILED))
        violations_add(violations, field, "a state that is neither READY nor FAILED");
    if (is_ready && (!item->n_sizes || item->n_sizes > PHOTO_SIZE_COUNT_MAX))
        violations_add(violations, field, "%zu sizes; expected 1 to %d", item->n_sizes,
                       PHOTO_SIZE_COUNT_MAX);
    if (is_ready && (!item->hash.len || item->hash.len > PHOTO_HASH_SIZE_MAX))
        violations_add(violations, field, "a hash of %zu bytes; expected 1 to %d", item->hash.len,
                       PHOTO_HASH_SIZE_MAX);
    if (item->preview.len > PHOTO_PREVIEW_SIZE_MAX)
        violations_add(violations, field, "a preview of %zu bytes; the limit is %d",
                       item->preview.len, PHOTO_PREVIEW_SIZE_MAX);
    if (item->state == STATE(FAILED) &&
        (!*item->reason || strlen(item->reason) > PHOTO_REASON_SIZE_MAX))
        violations_add(violations, field, "a reason of %zu bytes; expected 1 to %d",
                       strlen(item->reason), PHOTO_REASON_SIZE_MAX);
    for (size_t i = 0; i < item->n_sizes && i < PHOTO_SIZE_COUNT_MAX; i++)
        check_size(item->sizes[i], field, violations);
}

size_t photo_result_check(const Torg__V1__PhotoResult *result, struct violations *violations)
{
    size_t before = violations->count;
    char field[FIELD_SIZE];
    struct err err;
    offerid id;

    if (offer_id_parse(bytes_of(result->offer_id), &id, &err))
        violations_add(violations, "offer_id", "%s", err.text);
    if (result->revision < 1)
        violations_add(violations, "revision", "expected 1 or more");
    if (!result->n_photos || result->n_photos > CATALOG_PHOTO_COUNT_MAX)
        violations_add(violations, "photos", "%zu photos; expected 1 to %d", result->n_photos,
                       CATALOG_PHOTO_COUNT_MAX);
    for (size_t i = 0; i < result->n_photos && i < CATALOG_PHOTO_COUNT_MAX; i++) {
        snprintf(field, sizeof(field), "photos[%zu]", i);
        check_item(result->photos[i], field, violations);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(result->photos[j]->url, result->photos[i]->url) == 0)
                violations_add(violations, field, "has the same url as photos[%zu]", j);
        }
    }
    return violations->count - before;
}

/* --- applying --- */

struct applying {
    const struct offers *offers;
    const Torg__V1__PhotoResult *result;
    bool is_full; /* the offer has no room for the forms: they are told to have failed */
    bool is_swept[CATALOG_PHOTO_COUNT_MAX]; /* of this try: pictures that waited too long for us */
};

/* Whether it tells anything the offer does not know. */
static bool is_news(const Torg__V1__Photo *photo, const Torg__V1__PhotoResult__Item *item)
{
    if (item->attempt <= photo->attempt)
        return false;
    if (photo->state != STATE(READY))
        return item->state != photo->state || strcmp(item->reason, photo->reason) != 0;
    /* What we have is good, whatever has happened since at its source. */
    return item->state == STATE(READY) &&
           !bytes_equal(bytes_make(item->hash.data, item->hash.len),
                        bytes_make(photo->hash.data, photo->hash.len));
}

static void note_result(Torg__V1__Photo *photo, const Torg__V1__PhotoResult__Item *item,
                        bool is_full)
{
    char *url = photo->source_url;
    const Torg__V1__Photo asked = *photo;

    torg__v1__photo__init(photo);
    photo->source_url = url;
    photo->request_revision = asked.request_revision;
    photo->attempt = item->attempt;
    photo->state = is_full ? STATE(FAILED) : item->state;
    if (photo->state == STATE(FAILED)) {
        photo->ask_time = asked.ask_time;
        photo->ask_count = asked.ask_count;
    }
    if (is_full) {
        photo->reason = (char *)"the offer has no room for it: shorten its texts";
    } else if (item->state == STATE(READY)) {
        photo->sizes = item->sizes;
        photo->n_sizes = item->n_sizes;
        photo->hash = item->hash;
        photo->preview = item->preview;
        photo->look = item->look;
    } else {
        photo->reason = item->reason;
    }
}

/* As one that was never asked for: this change asks. */
static void ask_anew(Torg__V1__Photo *photo)
{
    char *url = photo->source_url;

    torg__v1__photo__init(photo);
    photo->source_url = url;
    photo->state = STATE(WAITING);
}

static bool merge(Torg__V1__OfferContent *content, const struct applying *applying)
{
    const Torg__V1__PhotoResult *result = applying->result;
    bool changed = false;

    for (size_t i = 0; i < result->n_photos; i++) {
        const Torg__V1__PhotoResult__Item *item = result->photos[i];

        for (size_t j = 0; j < content->n_photos; j++) {
            Torg__V1__Photo *photo = content->photos[j];

            if (photo->request_revision != result->revision ||
                strcmp(photo->source_url, item->url) != 0 || !is_news(photo, item))
                continue;
            if (applying->is_swept[i])
                ask_anew(photo);
            else
                note_result(photo, item, applying->is_full);
            changed = true;
        }
    }
    return changed;
}

static int look_for_pictures(struct store_tx *tx, struct applying *applying, struct err *err)
{
    const Torg__V1__PhotoResult *result = applying->result;
    int rc = 0;

    for (size_t i = 0; i < result->n_photos && !rc; i++)
        rc = photo_use_is_swept(tx, (const Torg__V1__PhotoSize *const *)result->photos[i]->sizes,
                                result->photos[i]->n_sizes, &applying->is_swept[i], err);
    return rc;
}

/* The content of this try, with the answers. */
static int merge_content(struct store_tx *tx, struct offer_change *change, struct err *err)
{
    int rc;

    if (!change->before) /* which is refused for this */
        return 0;
    rc = look_for_pictures(tx, change->arg, err);
    if (rc)
        return rc;
    change->content = (Torg__V1__OfferContent *)record_copy(&change->before->content->base,
                                                            change->author->arena);
    return merge(change->content, change->arg) ? 0
                                               : err_set(err, ERR_STALE, "nothing of it is new");
}

static const Torg__V1__Photo *photo_of(const Torg__V1__Offer *offer, const char *url)
{
    for (size_t i = 0; i < offer->content->n_photos; i++) {
        if (strcmp(offer->content->photos[i]->source_url, url) == 0)
            return offer->content->photos[i];
    }
    return NULL;
}

/* Whether it had failed, now or before it was asked for again. */
static bool had_failed(const Torg__V1__Photo *before)
{
    return before && (before->state == STATE(FAILED) || before->ask_count > 1);
}

static bool is_told(const Torg__V1__Photo *before, const char *reason)
{
    return before && before->state == STATE(FAILED) && strcmp(before->reason, reason) == 0;
}

/* What could not be had is told in the report of the feed that the offer is of, and taken out of it
 * when it could be had after all. */
static int tell_feed(struct store_tx *tx, struct offer_save *save, void *arg, struct err *err)
{
    const struct applying *applying = arg;
    const Torg__V1__OfferContent *content = save->after->content;
    int rc = 0;

    if (!applying->offers->note_photo_failure)
        return 0;
    for (size_t i = 0; i < content->n_photos && !rc; i++) {
        const Torg__V1__Photo *photo = content->photos[i];
        const Torg__V1__Photo *before = photo_of(save->before, photo->source_url);
        bool has_failed = photo->state == STATE(FAILED);

        if (has_failed ? !is_told(before, photo->reason)
                       : photo->state == STATE(READY) && had_failed(before))
            rc = applying->offers->note_photo_failure(tx, save->after, photo->source_url,
                                                      has_failed ? photo->reason : NULL,
                                                      save->arena, err);
    }
    return rc;
}

static int run(const struct offers *offers, offerid id, struct applying *applying,
               struct arena *arena, struct err *err)
{
    struct violations violations = violations_in(arena);
    const struct author worker = {.arena = arena, .violations = &violations};
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct offer_change change = {.offers = offers,
                                  .author = &worker,
                                  .id = id,
                                  .move = MOVE_PHOTOS,
                                  .takes_reserve = applying->is_full,
                                  .read = merge_content,
                                  .also = tell_feed,
                                  .arg = applying};

    return offer_change_run(&change, &receipt, err);
}

int photos_apply(const struct offers *offers, const Torg__V1__PhotoResult *result,
                 struct arena *arena, bool *changed, struct err *err)
{
    struct applying applying = {.offers = offers, .result = result};
    offerid id;
    int rc = offer_id_parse(bytes_of(result->offer_id), &id, err);

    assert(offers->store && offers->clock);
    *changed = false;
    if (rc)
        return rc;
    rc = run(offers, id, &applying, arena, err);
    if (rc == ERR_LIMIT) {
        applying.is_full = true;
        rc = run(offers, id, &applying, arena, err);
    }
    *changed = !rc;
    /* No news, or of an offer that is deleted. */
    return rc == ERR_STALE || rc == ERR_PRECONDITION ? 0 : rc;
}

/* --- telling --- */

int photos_failed(const struct offers *offers, const offerid *ids, size_t id_count,
                  struct arena *arena, struct photo_failure **list, size_t *count, struct err *err)
{
    const struct reader all = {.sees_all = true};
    Torg__V1__Offer **found = arena_array(arena, id_count, sizeof(*found));
    size_t max = 0;
    int rc = offers_get_many(offers, &all, ids, id_count, arena, found, err);

    assert(offers->store && offers->clock);
    *count = 0;
    *list = NULL;
    if (rc)
        return rc;
    for (size_t i = 0; i < id_count; i++)
        max += found[i] ? found[i]->content->n_photos : 0;
    *list = arena_array(arena, max, sizeof(**list));
    for (size_t i = 0; i < id_count; i++) {
        for (size_t j = 0; found[i] && j < found[i]->content->n_photos; j++) {
            const Torg__V1__Photo *photo = found[i]->content->photos[j];

            if (photo->state == STATE(FAILED))
                (*list)[(*count)++] =
                    (struct photo_failure){ids[i], photo->source_url, photo->reason};
        }
    }
    return 0;
}

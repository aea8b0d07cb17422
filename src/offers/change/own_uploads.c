/* SPDX-License-Identifier: Apache-2.0 */
/* own_uploads.c - see own_uploads.h. */
#include "offers/change/own_uploads.h"

#include "codec/message.h"
#include "model/photo_address.h"
#include "model/photo_key.h"
#include "offers/record/photo_use.h"

#define STATE(name) TORG__V1__PHOTO__STATE__##name

enum { SETTLED_ATTEMPT = 1 };

struct settling {
    Torg__V1__Offer *offer;
    struct arena *arena;
};

static bool is_asked(const Torg__V1__Offer *offer, const Torg__V1__Photo *photo)
{
    return photo->state == STATE(WAITING) && photo->request_revision == offer->revision &&
           photo_address_is_upload(photo->source_url);
}

/* What its pictures are; *item NULL: that was not kept, or they are of another time. */
static int find_item(struct store_tx *tx, const char *url, struct arena *arena, bool *is_there,
                     Torg__V1__PhotoResult__Item **item, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT p.made_ms, s.body FROM photo p LEFT JOIN photo_source s "
                     "ON s.url = $2 AND s.photo = p.photo WHERE p.photo = $1",
                     STORE_WITH(STORE_V_TEXT(photo_upload_stem(url)), STORE_V_STRING(url)));
    ProtobufCMessage *decoded = NULL;
    int64_t made_ms = 0;
    int rc;

    *is_there = store_next(&rows);
    if (*is_there) {
        made_ms = rows.columns[0].integer;
        if (rows.columns[1].bytes.size &&
            message_decode(arena_copy(arena, rows.columns[1].bytes),
                           &torg__v1__photo_result__item__descriptor, arena, &decoded, err))
            decoded = NULL; /* a damaged one is as good as none */
    }
    rc = store_rows_end(&rows, err);
    *item = rc ? NULL : (Torg__V1__PhotoResult__Item *)decoded;
    if (*item && (!(*item)->n_sizes || photo_key_made_ms((*item)->sizes[0]->key) != made_ms))
        *item = NULL;
    return rc;
}

static void settle_failed(Torg__V1__Photo *photo)
{
    photo->state = STATE(FAILED);
    photo->reason = (char *)"the uploaded file is gone: upload it again";
}

static void settle_ready(Torg__V1__Photo *photo, const Torg__V1__PhotoResult__Item *item)
{
    photo->state = STATE(READY);
    photo->ask_time = NULL;
    photo->ask_count = 0;
    photo->attempt = SETTLED_ATTEMPT;
    photo->sizes = item->sizes;
    photo->n_sizes = item->n_sizes;
    photo->hash = item->hash;
    photo->preview = item->preview;
    photo->look = item->look;
}

static int settle_one(struct store_tx *tx, const struct settling *settling, Torg__V1__Photo *photo,
                      struct err *err)
{
    Torg__V1__PhotoResult__Item *item = NULL;
    bool is_there;
    bool is_own = false;
    int rc = find_item(tx, photo->source_url, settling->arena, &is_there, &item, err);

    if (!rc && is_there)
        rc = photo_use_is_own_upload(tx, settling->offer->seller, photo->source_url, &is_own, err);
    if (!rc && is_there && !is_own)
        settle_failed(photo);
    else if (!rc && item)
        settle_ready(photo, item);
    return rc;
}

static int settle_all(struct store_tx *tx, void *arg, struct err *err)
{
    struct settling *settling = arg;
    Torg__V1__OfferContent *content = settling->offer->content;
    int rc = 0;

    for (size_t i = 0; i < content->n_photos && !rc; i++)
        if (is_asked(settling->offer, content->photos[i]))
            rc = settle_one(tx, settling, content->photos[i], err);
    return rc;
}

int own_uploads_settle(struct store *store, Torg__V1__Offer *offer, struct arena *arena,
                       struct err *err)
{
    struct settling settling = {offer, arena};

    for (size_t i = 0; i < offer->content->n_photos; i++)
        if (is_asked(offer, offer->content->photos[i]))
            return store_read(store, settle_all, &settling, err);
    return 0;
}

static Torg__V1__PhotoResult__Item *item_of(const Torg__V1__Photo *photo, struct arena *arena)
{
    Torg__V1__PhotoResult__Item *item = MESSAGE_NEW(photo_result__item, arena);

    item->url = photo->source_url;
    item->attempt = photo->attempt;
    item->state = photo->state;
    item->sizes = photo->sizes;
    item->n_sizes = photo->n_sizes;
    item->hash = photo->hash;
    item->preview = photo->preview;
    item->look = photo->look;
    return item;
}

static bool is_told(const Torg__V1__PhotoResult *result, const char *url)
{
    for (size_t i = 0; result && i < result->n_photos; i++) {
        if (strcmp(result->photos[i]->url, url) == 0)
            return true;
    }
    return false;
}

Torg__V1__PhotoResult *own_uploads_result(const Torg__V1__Offer *offer, int64_t revision,
                                          struct arena *arena)
{
    const Torg__V1__OfferContent *content = offer->content;
    Torg__V1__PhotoResult *result = NULL;

    for (size_t i = 0; i < content->n_photos; i++) {
        const Torg__V1__Photo *photo = content->photos[i];

        if (photo->state != STATE(READY) || photo->request_revision != revision ||
            photo->attempt != SETTLED_ATTEMPT || !photo_address_is_upload(photo->source_url) ||
            is_told(result, photo->source_url))
            continue;
        if (!result) {
            result = MESSAGE_NEW(photo_result, arena);
            result->offer_id = offer->id;
            result->revision = revision;
            result->photos = arena_array(arena, content->n_photos, sizeof(*result->photos));
        }
        result->photos[result->n_photos++] = item_of(photo, arena);
    }
    return result;
}

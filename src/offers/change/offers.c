/* SPDX-License-Identifier: Apache-2.0 */
/* offers.c - see offers.h. */
#include "offers/change/offers.h"

#include <assert.h>
#include <string.h>

#include "base/random.h"
#include "offers/change/offer_change.h"
#include "offers/change/once.h"
#include "offers/record/offer_record.h"

uint64_t offers_draw(const struct offers *offers)
{
    assert(offers->store && offers->clock);
    return offers->draw ? offers->draw(offers->draw_arg) : random_u64();
}

/* --- reading --- */

int offer_refuse_missing(offerid id, struct err *err)
{
    char text[OFFER_ID_TEXT_SIZE];

    offer_id_format(id, text);
    return err_set(err, ERR_NOT_FOUND, "there is no offer %s", text);
}

/* What the reader may see of it; NULL: nothing. */
static Torg__V1__Offer *seen_by(const struct reader *reader, Torg__V1__Offer *offer)
{
    if (!offer || reader->sees_all || (*reader->seller && !strcmp(reader->seller, offer->seller)))
        return offer;
    if (offer->status != TORG__V1__OFFER__STATUS__ACTIVE)
        return NULL;
    if (offer->content->contacts) { /* the rest is asked for: service_contact.c */
        offer->content->contacts->n_phones = 0;
        offer->content->contacts->email = (char *)protobuf_c_empty_string;
    }
    offer->content->external_id = (char *)protobuf_c_empty_string;
    offer->sale = NULL;
    for (size_t i = 0; i < offer->content->n_photos; i++)
        offer->content->photos[i]->reason = (char *)protobuf_c_empty_string;
    return offer;
}

struct reading {
    const offerid *ids;
    size_t count;
    struct arena *arena;
    Torg__V1__Offer **list;
};

static int read_many(struct store_tx *tx, void *arg, struct err *err)
{
    struct reading *reading = arg;
    int rc = 0;

    for (size_t i = 0; i < reading->count && !rc; i++)
        rc = record_find(tx, reading->ids[i], reading->arena, &reading->list[i], err);
    return rc;
}

int offers_get_many(const struct offers *offers, const struct reader *reader, const offerid *ids,
                    size_t count, struct arena *arena, Torg__V1__Offer **list, struct err *err)
{
    struct reading reading = {.ids = ids, .count = count, .arena = arena, .list = list};
    int rc = store_read(offers->store, read_many, &reading, err);

    assert(offers->store && offers->clock);
    for (size_t i = 0; i < count && !rc; i++)
        list[i] = seen_by(reader, list[i]);
    return rc;
}

int offers_get(const struct offers *offers, const struct reader *reader, offerid id,
               struct arena *arena, Torg__V1__Offer **offer, struct err *err)
{
    int rc = offers_get_many(offers, reader, &id, 1, arena, offer, err);

    assert(offers->store && offers->clock);
    if (!rc && !*offer)
        rc = offer_refuse_missing(id, err);
    return rc;
}

/* --- writing --- */

int offers_create(const struct offers *offers, const struct author *author,
                  Torg__V1__OfferContent *content, Torg__V1__OfferReceipt *receipt, struct err *err)
{
    struct offer_change change = {
        .offers = offers, .author = author, .move = MOVE_PUBLISH, .content = content};

    assert(offers->store && offers->clock);
    assert(content && author->seller && *author->seller);
    return offer_change_run(&change, receipt, err);
}

int offers_update(const struct offers *offers, const struct author *author, offerid id,
                  int64_t expected_revision, Torg__V1__OfferContent *content,
                  Torg__V1__OfferReceipt *receipt, struct err *err)
{
    struct offer_change change = {.offers = offers,
                                  .author = author,
                                  .id = id,
                                  .expected_revision = expected_revision,
                                  .move = MOVE_UPDATE,
                                  .is_by_hand = true,
                                  .content = content};

    assert(offers->store && offers->clock);
    assert(id && content && expected_revision > 0);
    return offer_change_run(&change, receipt, err);
}

int offers_move(const struct offers *offers, const struct author *author, offerid id,
                int64_t expected_revision, enum offer_move move, Torg__V1__OfferReceipt *receipt,
                struct err *err)
{
    struct offer_change change = {.offers = offers,
                                  .author = author,
                                  .id = id,
                                  .expected_revision = expected_revision,
                                  .move = move};

    assert(offers->store && offers->clock);
    assert(id && move != MOVE_PUBLISH && move != MOVE_UPDATE && move != MOVE_PHOTOS);
    return offer_change_run(&change, receipt, err);
}

/* --- keeping house --- */

struct forgetting {
    int64_t now_us;
    size_t max;
    int64_t forgotten;
};

static int forget(struct store_tx *tx, void *arg, struct err *err)
{
    struct forgetting *forgetting = arg;

    return once_forget(tx, forgetting->now_us, forgetting->max, &forgetting->forgotten, err);
}

int offers_forget_answers(const struct offers *offers, size_t max, int64_t *forgotten,
                          struct err *err)
{
    struct forgetting forgetting = {.now_us = clock_wall_us(offers->clock), .max = max};
    int rc = store_write(offers->store, forget, &forgetting, err);

    assert(offers->store && offers->clock);
    *forgotten = forgetting.forgotten;
    return rc;
}

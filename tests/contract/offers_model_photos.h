/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_model_photos.h - the rules of photos and of waiting for them, told a second time for the
 * model: arrays, loops, a case a category of the fixture.
 */
#ifndef TORG_TESTS_CONTRACT_OFFERS_MODEL_PHOTOS_H
#define TORG_TESTS_CONTRACT_OFFERS_MODEL_PHOTOS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "offers/record/offer_status.h"
#include "torg/v1/photo.pb-c.h"

enum { M_PHOTO_COUNT_MAX = 3, M_URL_COUNT = 4, M_WAIT_S = 600 };
enum m_category { M_NONE, M_BIKES, M_BOOKS, M_RINGS, M_LAMPS, M_BOATS, M_CATEGORY_COUNT };

enum m_state { M_ASKED = 1, M_READY, M_FAILED }; /* as in the message */

struct m_photo {
    int url;
    enum m_state state;
    int64_t asked; /* the revision that asked */
    int64_t asked_us;
    int ask_count;
    int attempt;
    int what; /* the hash of a ready one, the reason of a failed one */
};

struct m_photos {
    struct m_photo list[M_PHOTO_COUNT_MAX];
    int count;
    int64_t wait_us; /* 0: no limit, or it does not wait */
    bool is_stuck;
};

/* Random addresses, states not set; and the same in a message. */
void m_photos_draw(struct m_photos *photos, struct rng *rng);
void m_photos_fill(const struct m_photos *photos, struct arena *arena,
                   Torg__V1__OfferContent *content);

/* The list becomes `wished`; what was there keeps its state, the rest is asked for now. */
void m_photos_replace(struct m_photos *photos, const struct m_photos *wished, int64_t revision,
                      int64_t now_us);
void m_photos_ask_again(struct m_photos *photos, int64_t revision, int64_t now_us);
/* What has failed, if a person names it, and what was not answered for a day. */
void m_photos_ask_late(struct m_photos *photos, bool is_named, int64_t revision, int64_t now_us);

/* ACTIVE or WAITING for an offer that is to be shown, changed at now_us to this revision. */
enum offer_status m_photos_settle(struct m_photos *photos, enum m_category category,
                                  bool was_waiting, int64_t revision, int64_t now_us);

/* A random result, mostly one that fits; and whether it changes anything, with the change. */
Torg__V1__PhotoResult *m_photos_result(const struct m_photos *photos, struct rng *rng,
                                       struct arena *arena);
bool m_photos_take(struct m_photos *photos, const Torg__V1__PhotoResult *result);

bool m_photos_equal(const struct m_photos *photos, const Torg__V1__Offer *offer);

#endif

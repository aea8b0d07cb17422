/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_model.c - random sequences of all operations, compared with a naive model step by step.
 *
 * The model is arrays and loops: offers in the order of their creation, the log of changes, a draft
 * an owner; counts, totals and lists are computed from them anew each time. Every sequence has
 * sellers and visitors of its own in one store, a clock that also steps back, ids that are drawn
 * again on purpose, and calls repeated with their idempotency keys.
 *
 * TORG_MODEL_SEQUENCES (PostgreSQL: a twentieth of it) and TORG_MODEL_SEED repeat and deepen a run.
 */
#include "codec/moment.h"
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "contract/offers_model_photos.h"
#include "long.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/change/photos.h"
#include "offers/lists/cabinet.h"
#include "offers/record/freshness.h"
#include "offers/record/offer_record.h"
#include "store/store_seal.h"

enum {
    SEQUENCE_COUNT = 2000,
    SEQUENCE_COUNT_LONG = 50000,
    STEP_COUNT_MAX = 16,
    SELLER_COUNT = 2,
    OWNER_COUNT = SELLER_COUNT + 2, /* visitors behind the sellers */
    OFFER_COUNT_MAX = STEP_COUNT_MAX,
    LOG_COUNT_MAX = STEP_COUNT_MAX,
    DRAW_COUNT_MAX = 256,
    CURRENCY_COUNT = 3,
};

static const char *const currencies[CURRENCY_COUNT] = {"EUR", "RUB", "USD"}; /* in order */
static const char *const categories[M_CATEGORY_COUNT] = {"",      "bikes", "books",
                                                         "rings", "lamps", "boats"};

struct m_offer {
    offerid id;
    int seller;
    enum offer_status status;
    enum offer_status before_ban;
    int64_t revision;
    int64_t created_us;
    int64_t updated_us;
    int64_t expires_us;
    int category;
    int number;
    int64_t amount; /* < 0: no price */
    int currency;
    bool is_sold; /* ever, on the site */
    int64_t sold_amount;
    int sold_currency;
    int64_t sold_us;
    struct m_photos photos;
    int64_t content_revision; /* since then only results of photos have come */
};

struct m_draft {
    offerid id; /* 0: none */
    int64_t revision;
    int64_t updated_us;
    int category;
    int number; /* of its title; 0: it has none */
    struct m_photos photos;
    int64_t content_revision; /* since then only results of photos have come */
};

struct m_log {
    uint32_t shard;
    offerid id;
    int64_t revision;
};

struct model {
    struct offers_place *place;
    struct rng rng;
    uint64_t seed;
    int sequence;
    int step;
    char sellers[SELLER_COUNT][32];
    char owners[OWNER_COUNT][32];
    struct m_offer offers[OFFER_COUNT_MAX];
    int offer_count;
    struct m_draft drafts[OWNER_COUNT];
    struct m_log log[LOG_COUNT_MAX];
    int log_count;
    int64_t queue_start[OFFER_SHARD_COUNT]; /* the highest seq before the sequence */
    uint64_t draws[DRAW_COUNT_MAX];
    int draw_count;
    int number; /* of the next title */
    struct arena *arena;
    const char *what; /* the step, for messages */
};

#define CHECK(model, condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %" PRIu64 ", sequence %d, step %d (%s): %s", (model)->seed,             \
                     (model)->sequence, (model)->step, (model)->what, #condition);                 \
    } while (0)

static int below(struct model *model, int bound)
{
    return (int)rng_below(&model->rng, (uint64_t)bound);
}

static int64_t now_us(const struct model *model)
{
    return clock_wall_us(&model->place->clock.base);
}

static int64_t later(const struct model *model, int64_t last)
{
    return now_us(model) > last ? now_us(model) : last + 1;
}

/* Every fourth draw repeats an earlier one: its id may be taken. */
static uint64_t draw(void *arg)
{
    struct model *model = arg;
    uint64_t bits = rng_next(&model->rng);

    if (model->draw_count && bits % 4 == 0)
        return model->draws[bits / 4 % (uint64_t)model->draw_count];
    if (model->draw_count < DRAW_COUNT_MAX)
        model->draws[model->draw_count++] = bits;
    return bits;
}

static struct m_offer *offer_with(struct model *model, offerid id)
{
    for (int i = 0; i < model->offer_count; i++) {
        if (model->offers[i].id == id)
            return &model->offers[i];
    }
    return NULL;
}

/* --- the rules, told a second time --- */

static bool is_live(enum offer_status status)
{
    return status == OFFER_ACTIVE || status == OFFER_EXPIRED || status == OFFER_WITHDRAWN ||
           status == OFFER_WAITING;
}

static bool is_sold(enum offer_status status)
{
    return status == OFFER_SOLD_ON_SITE || status == OFFER_SOLD_ELSEWHERE;
}

/* The status after a move; OFFER_NONE: refused. */
static enum offer_status after_move(const struct m_offer *offer, enum offer_move move)
{
    enum offer_status from = offer->status;

    switch (move) {
    case MOVE_UPDATE:
        return is_live(from) || from == OFFER_BANNED ? from : OFFER_NONE;
    case MOVE_PROLONG:
        return from == OFFER_ACTIVE || from == OFFER_EXPIRED ? OFFER_ACTIVE : OFFER_NONE;
    case MOVE_REPUBLISH:
        return from == OFFER_WITHDRAWN || is_sold(from) ? OFFER_ACTIVE : OFFER_NONE;
    case MOVE_WITHDRAW:
        return is_live(from) && from != OFFER_WITHDRAWN ? OFFER_WITHDRAWN : OFFER_NONE;
    case MOVE_SELL_ON_SITE:
        return is_live(from) ? OFFER_SOLD_ON_SITE : OFFER_NONE;
    case MOVE_SELL_ELSEWHERE:
        return is_live(from) ? OFFER_SOLD_ELSEWHERE : OFFER_NONE;
    case MOVE_DELETE:
        return from != OFFER_DELETED ? OFFER_DELETED : OFFER_NONE;
    case MOVE_EXPIRE:
        return from == OFFER_ACTIVE ? OFFER_EXPIRED : OFFER_NONE;
    case MOVE_SHOW:
        return from == OFFER_WAITING ? OFFER_ACTIVE : OFFER_NONE;
    case MOVE_BAN:
        return is_live(from) || is_sold(from) ? OFFER_BANNED : OFFER_NONE;
    case MOVE_UNBAN:
        return from == OFFER_BANNED ? offer->before_ban : OFFER_NONE;
    case MOVE_REVIVE:
        if (from != OFFER_DELETED)
            return OFFER_NONE;
        return offer->before_ban ? OFFER_BANNED : OFFER_ACTIVE;
    default:
        return OFFER_NONE;
    }
}

static bool is_expected(const struct m_offer *offer, int64_t revision)
{
    return revision >= offer->content_revision && revision <= offer->revision;
}

static void log_change(struct model *model, struct m_offer *offer)
{
    offer->content_revision = ++offer->revision;
    offer->updated_us = later(model, offer->updated_us);
    model->log[model->log_count++] =
        (struct m_log){seller_shard(model->sellers[offer->seller]), offer->id, offer->revision};
}

/* The change is logged; its status follows. */
static void end_change(struct m_offer *offer, enum offer_move move, enum offer_status to)
{
    enum offer_status from = offer->status;
    bool is_published = to == OFFER_WAITING || (to == OFFER_ACTIVE && move != MOVE_UNBAN);
    bool was_shown = move == MOVE_PROLONG || from == OFFER_ACTIVE;

    if (is_published && !was_shown) {
        to = m_photos_settle(&offer->photos, (enum m_category)offer->category,
                             from == OFFER_WAITING, offer->revision, offer->updated_us);
    } else {
        is_published = move == MOVE_PROLONG;
        offer->photos.wait_us = 0;
        offer->photos.is_stuck = false;
    }
    if (is_published && to == OFFER_ACTIVE)
        offer->expires_us = offer->updated_us + INT64_C(30) * 86400 * SECOND_US;
    offer->status = to;
}

static void move_in_model(struct model *model, struct m_offer *offer, enum offer_move move,
                          enum offer_status to)
{
    log_change(model, offer);
    if (move == MOVE_REVIVE)
        m_photos_ask_again(&offer->photos, offer->revision, offer->updated_us);
    if (move == MOVE_REVIVE || move == MOVE_SHOW)
        m_photos_ask_late(&offer->photos, false, offer->revision, offer->updated_us);
    if (to == OFFER_BANNED && move == MOVE_BAN)
        offer->before_ban = offer->status;
    if (move == MOVE_UNBAN)
        offer->before_ban = OFFER_NONE;
    if (move == MOVE_SELL_ON_SITE && !offer->is_sold) {
        offer->is_sold = true;
        offer->sold_amount = offer->amount < 0 ? 0 : offer->amount;
        offer->sold_currency = offer->currency;
        offer->sold_us = offer->updated_us;
    }
    end_change(offer, move, to);
}

static void add_in_model(struct model *model, offerid id, int seller, int category, int number,
                         int64_t amount, int currency, const struct m_photos *photos)
{
    struct m_offer *offer = &model->offers[model->offer_count++];

    *offer = (struct m_offer){.id = id,
                              .seller = seller,
                              .category = category,
                              .number = number,
                              .amount = amount,
                              .currency = currency};
    log_change(model, offer);
    offer->created_us = offer->updated_us;
    m_photos_replace(&offer->photos, photos, offer->revision, offer->updated_us);
    end_change(offer, MOVE_PUBLISH, OFFER_ACTIVE);
}

/* --- comparing --- */

static void check_receipt(struct model *model, const Torg__V1__OfferReceipt *receipt,
                          const struct m_offer *offer)
{
    struct freshness freshness;
    struct seal seal;
    struct err err;

    CHECK(model, store_seal(model->place->store, &seal, &err) == 0);
    CHECK(model, id_of(receipt->id) == offer->id);
    CHECK(model, receipt->revision == offer->revision);
    CHECK(model, (int)receipt->status == (int)offer->status);
    CHECK(model, moment_own_us(receipt->update_time) == offer->updated_us);
    CHECK(model, freshness_parse(bytes_of(receipt->freshness_token), &seal, &freshness, &err) == 0);
    CHECK(model, freshness.offer == offer->id && freshness.revision == offer->revision);
    CHECK(model, freshness.shard == seller_shard(model->sellers[offer->seller]));
}

static void check_message(struct model *model, const Torg__V1__Offer *message,
                          const struct m_offer *offer)
{
    const Torg__V1__OfferContent *content = message->content;

    CHECK(model, id_of(message->id) == offer->id);
    CHECK(model, strcmp(message->seller, model->sellers[offer->seller]) == 0);
    CHECK(model, message->revision == offer->revision);
    CHECK(model, (int)message->status == (int)offer->status);
    CHECK(model, (int)message->status_before_ban == (int)offer->before_ban);
    CHECK(model, moment_own_us(message->create_time) == offer->created_us);
    CHECK(model, moment_own_us(message->update_time) == offer->updated_us);
    CHECK(model, moment_own_us(message->expire_time) == offer->expires_us);
    CHECK(model, strcmp(content->category, categories[offer->category]) == 0);
    CHECK(model,
          strcmp(content->title, arena_printf(model->arena, "thing %d", offer->number)) == 0);
    CHECK(model, !content->price == (offer->amount < 0));
    CHECK(model, !content->price || content->price->amount == offer->amount);
    CHECK(model, !!message->sale == offer->is_sold);
    CHECK(model, !message->sale || moment_own_us(message->sale->time) == offer->sold_us);
    CHECK(model, !message->sale || !message->sale->price ||
                     message->sale->price->amount == offer->sold_amount);
    CHECK(model, m_photos_equal(&offer->photos, message));
}

static bool is_in(const struct m_offer *offer, int64_t preset)
{
    switch (preset) {
    case TORG__V1__CABINET__PRESET__ALL:
        return offer->status != OFFER_DELETED;
    case TORG__V1__CABINET__PRESET__ACTIVE:
        return offer->status == OFFER_ACTIVE;
    case TORG__V1__CABINET__PRESET__EXPIRED:
        return offer->status == OFFER_EXPIRED;
    case TORG__V1__CABINET__PRESET__SOLD:
        return is_sold(offer->status);
    case TORG__V1__CABINET__PRESET__BANNED:
        return offer->status == OFFER_BANNED;
    case TORG__V1__CABINET__PRESET__WITHDRAWN:
        return offer->status == OFFER_WITHDRAWN;
    case TORG__V1__CABINET__PRESET__WAITING:
        return offer->status == OFFER_WAITING;
    default:
        return false;
    }
}

/* The seller's newest offer of the preset that is not as new as `before`; NULL: none. */
static const struct m_offer *next_in(const struct model *model, int seller, int64_t preset,
                                     const struct m_offer *before)
{
    const struct m_offer *best = NULL;

    for (int i = 0; i < model->offer_count; i++) {
        const struct m_offer *one = &model->offers[i];

        if (one->seller != seller || !is_in(one, preset))
            continue;
        if (before && (one->created_us > before->created_us ||
                       (one->created_us == before->created_us && one->id >= before->id)))
            continue;
        if (!best || one->created_us > best->created_us ||
            (one->created_us == best->created_us && one->id > best->id))
            best = one;
    }
    return best;
}

static void check_list(struct model *model, int seller, int64_t preset)
{
    struct cabinet_place place = cabinet_start;
    const struct m_offer *expected = NULL;
    size_t max = 1 + (size_t)below(model, 3);
    Torg__V1__Offer *page[3];
    struct err err = {0};
    size_t count;

    do {
        CHECK(model, cabinet_list(&model->place->offers, model->sellers[seller], preset, &place,
                                  max, model->arena, page, &count, &err) == 0);
        for (size_t i = 0; i < count; i++) {
            expected = next_in(model, seller, preset, expected);
            CHECK(model, expected);
            check_message(model, page[i], expected);
        }
    } while (count == max);
    CHECK(model, !next_in(model, seller, preset, expected));
}

static void check_counts(struct model *model, int seller)
{
    int64_t counts[CABINET_PRESET_COUNT];
    struct err err = {0};

    CHECK(model, cabinet_counts(&model->place->offers, model->sellers[seller], counts, &err) == 0);
    for (int preset = 1; preset < CABINET_PRESET_COUNT; preset++) {
        int64_t expected = preset == TORG__V1__CABINET__PRESET__DRAFTS && model->drafts[seller].id;

        for (int i = 0; i < model->offer_count; i++)
            expected += model->offers[i].seller == seller && is_in(&model->offers[i], preset);
        CHECK(model, counts[preset] == expected);
    }
}

static void check_totals(struct model *model, int seller)
{
    int64_t earned[CURRENCY_COUNT] = {0};
    int64_t by_status[OFFER_STATUS_COUNT] = {0};
    Torg__V1__GetTotalsResponse totals;
    struct err err = {0};
    int64_t sold = 0;
    size_t place = 0;

    for (int i = 0; i < model->offer_count; i++) {
        const struct m_offer *one = &model->offers[i];

        if (one->seller != seller)
            continue;
        by_status[one->status]++;
        sold += one->is_sold;
        if (one->is_sold)
            earned[one->sold_currency] += one->sold_amount;
    }
    CHECK(model, cabinet_totals(&model->place->offers, model->sellers[seller], model->arena,
                                &totals, &err) == 0);
    CHECK(model, totals.active == by_status[OFFER_ACTIVE]);
    CHECK(model, totals.expired == by_status[OFFER_EXPIRED]);
    CHECK(model, totals.banned == by_status[OFFER_BANNED]);
    CHECK(model, totals.sold == sold);
    for (int i = 0; i < CURRENCY_COUNT; i++) {
        if (!earned[i])
            continue;
        CHECK(model, place < totals.n_earned);
        CHECK(model, strcmp(totals.earned[place]->currency, currencies[i]) == 0);
        CHECK(model, totals.earned[place++]->amount == earned[i]);
    }
    CHECK(model, place == totals.n_earned);
}

static void check_draft(struct model *model, int owner, const struct draft *draft)
{
    const struct m_draft *expected = &model->drafts[owner];

    CHECK(model, !draft == !expected->id);
    if (!draft)
        return;
    CHECK(model, draft->id == expected->id);
    CHECK(model, draft->revision == expected->revision);
    CHECK(model, draft->updated_us == expected->updated_us);
    CHECK(model, strcmp(draft->content->category, categories[expected->category]) == 0);
    CHECK(model, strcmp(draft->content->title,
                        expected->number ? arena_printf(model->arena, "thing %d", expected->number)
                                         : "") == 0);
}

struct queue_walk {
    struct model *model;
    uint32_t shard;
    int place; /* in the log */
};

static int walk_queue(struct store_tx *tx, void *arg, struct err *err)
{
    struct queue_walk *walk = arg;
    struct model *model = walk->model;
    const struct store_value params[] = {STORE_V_INT(walk->shard),
                                         STORE_V_INT(model->queue_start[walk->shard])};
    struct store_rows rows =
        store_select(tx,
                     "SELECT offer_id, revision FROM queue WHERE shard_id = $1 AND seq > $2 "
                     "ORDER BY seq",
                     params, 2);

    for (walk->place = 0; store_next(&rows); walk->place++) {
        while (walk->place < model->log_count && model->log[walk->place].shard != walk->shard)
            walk->place++;
        CHECK(model, walk->place < model->log_count);
        CHECK(model, rows.columns[0].integer == model->log[walk->place].id);
        CHECK(model, rows.columns[1].integer == model->log[walk->place].revision);
    }
    return store_rows_end(&rows, err);
}

static void check_queue(struct model *model, int seller)
{
    struct queue_walk walk = {.model = model, .shard = seller_shard(model->sellers[seller])};
    struct err err = {0};

    CHECK(model, store_read(model->place->store, walk_queue, &walk, &err) == 0);
    while (walk.place < model->log_count && model->log[walk.place].shard != walk.shard)
        walk.place++;
    CHECK(model, walk.place == model->log_count);
}

static void check_seller(struct model *model, int seller, bool whole)
{
    const struct reader reader = {.sees_all = true};
    struct draft *draft;
    struct err err = {0};

    check_counts(model, seller);
    check_totals(model, seller);
    check_queue(model, seller);
    for (int preset = 1; preset < CABINET_PRESET_COUNT; preset++) {
        if (preset == TORG__V1__CABINET__PRESET__DRAFTS)
            continue;
        if (whole || preset == 1 || below(model, 5) == 0)
            check_list(model, seller, preset);
    }
    for (int owner = 0; owner < OWNER_COUNT; owner++) {
        CHECK(model, draft_get(&model->place->offers, model->owners[owner], model->arena, &draft,
                               &err) == 0);
        check_draft(model, owner, draft);
    }
    for (int i = 0; whole && i < model->offer_count; i++) {
        Torg__V1__Offer *message;

        CHECK(model, offers_get(&model->place->offers, &reader, model->offers[i].id, model->arena,
                                &message, &err) == 0);
        check_message(model, message, &model->offers[i]);
    }
}

/* --- steps --- */

static struct author author_for(struct model *model, const char *seller)
{
    struct author author = author_of(seller, model->arena);

    if (seller && below(model, 3) == 0) {
        author.once_key =
            bytes_of(arena_printf(model->arena, "%d-%d", model->sequence, model->step));
        author.once_hash = (uint64_t)model->step;
    }
    return author;
}

/* Content that may be published, with photos in `photos`. */
static Torg__V1__OfferContent *draw_content(struct model *model, int category, int64_t amount,
                                            int currency, struct m_photos *photos)
{
    Torg__V1__OfferContent *content = content_of(model->arena, categories[category],
                                                 ++model->number, amount, currencies[currency]);

    m_photos_draw(photos, &model->rng);
    if (category == M_BOATS && !photos->count)
        photos->count = 1;
    m_photos_fill(photos, model->arena, content);
    return content;
}

static int draw_category(struct model *model)
{
    return 1 + below(model, M_CATEGORY_COUNT - 1);
}

static void step_create(struct model *model)
{
    int seller = below(model, SELLER_COUNT);
    int category = draw_category(model);
    int currency = below(model, CURRENCY_COUNT);
    int64_t amount = below(model, 3) ? below(model, 1000) : -1;
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_for(model, model->sellers[seller]);
    bool is_bad = below(model, 6) == 0;
    struct m_photos photos;
    Torg__V1__OfferContent *content = draw_content(model, category, amount, currency, &photos);
    struct err err = {0};
    int rc;

    model->what = "create";
    if (is_bad)
        content->title = (char *)"x";
    rc = offers_create(&model->place->offers, &author, content, &receipt, &err);
    CHECK(model, rc == (is_bad ? ERR_INVALID : 0));
    CHECK(model, author.violations->count == is_bad);
    if (rc)
        return;
    CHECK(model, !offer_with(model, id_of(receipt.id)));
    add_in_model(model, id_of(receipt.id), seller, category, model->number, amount, currency,
                 &photos);
    check_receipt(model, &receipt, &model->offers[model->offer_count - 1]);
    if (author.once_key.size) {
        Torg__V1__OfferReceipt again = TORG__V1__OFFER_RECEIPT__INIT;

        CHECK(model, offers_create(&model->place->offers, &author, content, &again, &err) == 0);
        check_receipt(model, &again, &model->offers[model->offer_count - 1]);
    }
}

/* Some offer, some seller who asks for a change of it. */
static struct m_offer *pick(struct model *model, int *seller)
{
    struct m_offer *offer = &model->offers[below(model, model->offer_count)];

    *seller = below(model, 5) ? offer->seller : below(model, SELLER_COUNT);
    return offer;
}

static void step_update(struct model *model)
{
    int seller;
    struct m_offer *offer = pick(model, &seller);
    int category = draw_category(model);
    int currency = below(model, CURRENCY_COUNT);
    int64_t amount = below(model, 3) ? below(model, 1000) : -1;
    int64_t expected =
        below(model, 5) ? offer->revision : offer->revision + 1 - 2 * below(model, 2);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_for(model, model->sellers[seller]);
    struct m_photos photos;
    Torg__V1__OfferContent *content = draw_content(model, category, amount, currency, &photos);
    int wanted = 0;
    struct err err = {0};

    model->what = "update";
    expected = expected ? expected : 9;
    if (seller != offer->seller)
        wanted = ERR_NOT_FOUND;
    else if (!is_expected(offer, expected))
        wanted = ERR_CONFLICT;
    else if (after_move(offer, MOVE_UPDATE) == OFFER_NONE)
        wanted = ERR_PRECONDITION;
    CHECK(model, offers_update(&model->place->offers, &author, offer->id, expected, content,
                               &receipt, &err) == wanted);
    if (wanted)
        return;
    log_change(model, offer);
    offer->category = category;
    offer->number = model->number;
    offer->amount = amount;
    offer->currency = currency;
    m_photos_replace(&offer->photos, &photos, offer->revision, offer->updated_us);
    m_photos_ask_late(&offer->photos, true, offer->revision, offer->updated_us);
    end_change(offer, MOVE_UPDATE, offer->status);
    check_receipt(model, &receipt, offer);
    /* The same call again is answered alike although the revision is another one now. */
    if (author.once_key.size)
        CHECK(model, offers_update(&model->place->offers, &author, offer->id, expected, content,
                                   &receipt, &err) == 0);
}

static void step_move(struct model *model)
{
    int seller;
    struct m_offer *offer = pick(model, &seller);
    enum offer_move move =
        (enum offer_move)(MOVE_PROLONG + below(model, MOVE_PHOTOS - MOVE_PROLONG));
    bool by_seller = move <= MOVE_DELETE;
    int64_t expected = below(model, 3) ? 0 : offer->revision + (below(model, 4) == 0);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_for(model, by_seller ? model->sellers[seller] : NULL);
    enum offer_status to = after_move(offer, move);
    struct err err = {0};
    int wanted = 0;

    model->what = offer_move_name(move);
    if (by_seller && seller != offer->seller)
        wanted = ERR_NOT_FOUND;
    else if (expected && !is_expected(offer, expected))
        wanted = ERR_CONFLICT;
    else if (to == OFFER_NONE)
        wanted = ERR_PRECONDITION;
    CHECK(model, offers_move(&model->place->offers, &author, offer->id, expected, move, &receipt,
                             &err) == wanted);
    if (wanted)
        return;
    move_in_model(model, offer, move, to);
    check_receipt(model, &receipt, offer);
    if (author.once_key.size)
        CHECK(model, offers_move(&model->place->offers, &author, offer->id, expected, move,
                                 &receipt, &err) == 0);
}

/* What the photos role says of some offer, fitting or not, and at times twice. */
static void step_photos(struct model *model)
{
    struct m_offer *offer = &model->offers[below(model, model->offer_count)];
    Torg__V1__PhotoResult *result = m_photos_result(&offer->photos, &model->rng, model->arena);
    struct violations violations = violations_in(model->arena);
    bool changed, expected;
    struct err err = {0};

    model->what = "results of photos";
    result->offer_id = offer_id_text(model->arena, offer->id);
    CHECK(model, photo_result_check(result, &violations) == 0);
    CHECK(model, photos_apply(&model->place->offers, result, model->arena, &changed, &err) == 0);
    expected = offer->status != OFFER_DELETED && m_photos_take(&offer->photos, result);
    CHECK(model, changed == expected);
    if (changed) {
        int64_t since = offer->content_revision;

        log_change(model, offer);
        offer->content_revision = since;
        end_change(offer, MOVE_PHOTOS, offer->status);
    }
    CHECK(model, photos_apply(&model->place->offers, result, model->arena, &changed, &err) == 0);
    CHECK(model, !changed);
}

static void reset_in_model(struct model *model, struct m_draft *draft, int category)
{
    draft->category = category;
    draft->number = 0;
    draft->revision++;
    draft->updated_us = later(model, draft->updated_us);
}

/* The three cases of the login, as the specification tells them. */
static void open_in_model(struct model *model, int seller, int visitor, int category)
{
    struct m_draft none = {0};
    struct m_draft *of_seller = seller >= 0 ? &model->drafts[seller] : &none;
    struct m_draft *of_visitor = visitor >= 0 ? &model->drafts[visitor] : &none;
    bool seller_fits = of_seller->id && of_seller->category == category;
    bool visitor_fits = of_visitor->id && of_visitor->category == category;
    struct m_draft kept;

    if (!of_seller->id && !of_visitor->id) {
        kept = (struct m_draft){.id = -1};
        reset_in_model(model, &kept, category);
    } else if (category && !seller_fits && !visitor_fits) {
        kept = of_seller->id ? *of_seller : *of_visitor;
        reset_in_model(model, &kept, category);
    } else if (category && seller_fits != visitor_fits) {
        kept = seller_fits ? *of_seller : *of_visitor;
    } else if (!of_seller->id || !of_visitor->id) {
        kept = of_seller->id ? *of_seller : *of_visitor;
    } else {
        kept = of_visitor->updated_us > of_seller->updated_us ? *of_visitor : *of_seller;
    }
    *of_seller = none;
    *of_visitor = none;
    model->drafts[seller >= 0 ? seller : visitor] = kept;
}

static void step_open(struct model *model)
{
    int seller = below(model, 4) ? below(model, SELLER_COUNT) : -1;
    int visitor = seller < 0 || below(model, 2) ? SELLER_COUNT + below(model, 2) : -1;
    int owner = seller >= 0 ? seller : visitor;
    int category = below(model, M_CATEGORY_COUNT);
    struct draft *draft;
    struct err err = {0};

    model->what = "open a draft";
    CHECK(model, draft_open(&model->place->offers, seller >= 0 ? model->owners[seller] : NULL,
                            visitor >= 0 ? model->owners[visitor] : NULL, categories[category],
                            model->arena, &draft, &err) == 0);
    open_in_model(model, seller, visitor, category);
    if (model->drafts[owner].id < 0)
        model->drafts[owner].id = draft->id;
    check_draft(model, owner, draft);
}

static void step_save(struct model *model)
{
    int owner = below(model, OWNER_COUNT);
    struct m_draft *draft = &model->drafts[owner];
    struct m_draft *meant = &model->drafts[below(model, 4) ? owner : below(model, OWNER_COUNT)];
    int category = below(model, M_CATEGORY_COUNT);
    int64_t expected = below(model, 2) ? 0 : draft->revision + (below(model, 4) == 0);
    struct author author = author_for(model, model->owners[owner]);
    struct m_photos photos;
    Torg__V1__OfferContent *content = draw_content(model, category, 50, 1, &photos);
    offerid id = meant->id ? meant->id : offer_id_make(1);
    struct draft saved;
    struct err err = {0};
    int wanted = 0;

    model->what = "save a draft";
    if (!draft->id || draft->id != id)
        wanted = ERR_NOT_FOUND;
    else if (expected && expected != draft->revision)
        wanted = ERR_CONFLICT;
    CHECK(model, draft_save(&model->place->offers, &author, id, expected, content, &saved, &err) ==
                     wanted);
    if (wanted)
        return;
    draft->revision++;
    draft->updated_us = later(model, draft->updated_us);
    draft->category = category;
    draft->number = model->number;
    draft->photos = photos;
    check_draft(model, owner, &saved);
    if (author.once_key.size) {
        CHECK(model,
              draft_save(&model->place->offers, &author, id, expected, content, &saved, &err) == 0);
        check_draft(model, owner, &saved);
    }
}

static void step_discard(struct model *model)
{
    int owner = below(model, OWNER_COUNT);
    struct m_draft *draft = &model->drafts[owner];
    struct author author = author_for(model, model->owners[owner]);
    offerid id = draft->id && below(model, 4) ? draft->id : offer_id_make(1);
    struct err err = {0};
    int rc;

    model->what = "discard a draft";
    rc = draft_discard(&model->place->offers, &author, id, &err);
    CHECK(model, rc == (id == draft->id ? 0 : ERR_NOT_FOUND));
    if (!rc)
        *draft = (struct m_draft){0};
}

static void step_publish(struct model *model)
{
    int seller = below(model, SELLER_COUNT);
    struct m_draft *draft = &model->drafts[seller];
    struct author author = author_for(model, model->sellers[seller]);
    offerid id = draft->id ? draft->id : offer_id_make(1);
    int64_t expected = below(model, 2) ? 0 : draft->revision + (below(model, 4) == 0);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct err err = {0};
    int wanted = 0;

    model->what = "publish a draft";
    if (!draft->id)
        wanted = ERR_NOT_FOUND;
    else if (expected && expected != draft->revision)
        wanted = ERR_CONFLICT;
    else if (!draft->category || !draft->number)
        wanted = ERR_INVALID;
    CHECK(model,
          draft_publish(&model->place->offers, &author, id, expected, &receipt, &err) == wanted);
    CHECK(model, (author.violations->count > 0) == (wanted == ERR_INVALID));
    if (wanted)
        return;
    /* It has the draft's id unless another offer was given that. */
    CHECK(model, !offer_with(model, id_of(receipt.id)));
    CHECK(model, offer_with(model, id) || id_of(receipt.id) == id);
    add_in_model(model, id_of(receipt.id), seller, draft->category, draft->number, 50, 1,
                 &draft->photos);
    check_receipt(model, &receipt, &model->offers[model->offer_count - 1]);
    *draft = (struct m_draft){0};
    if (author.once_key.size)
        CHECK(model,
              draft_publish(&model->place->offers, &author, id, expected, &receipt, &err) == 0);
}

static void take_step(struct model *model)
{
    int kind = below(model, 24);

    /* Mostly forward, at times not at all or back. */
    clock_manual_advance(&model->place->clock,
                         below(model, 4) ? below(model, 3000000) : -below(model, 2000000));
    if (below(model, 6) == 0) /* so that some have waited long enough */
        clock_manual_advance(&model->place->clock, below(model, M_WAIT_S) * SECOND_US);
    if (kind < 5 || (kind < 11 && !model->offer_count))
        step_create(model);
    else if (kind < 7)
        step_update(model);
    else if (kind < 11)
        step_move(model);
    else if (kind < 14)
        step_open(model);
    else if (kind < 17)
        step_save(model);
    else if (kind < 18)
        step_discard(model);
    else if (kind < 20)
        step_publish(model);
    else if (model->offer_count)
        step_photos(model);
}

static void run_sequence(struct model *model, int step_count)
{
    for (int i = 0; i < SELLER_COUNT; i++)
        snprintf(model->sellers[i], sizeof(model->sellers[i]), "q%d-%d", model->sequence, i);
    for (int i = 0; i < OWNER_COUNT; i++)
        snprintf(model->owners[i], sizeof(model->owners[i]), "%c:q%d-%d",
                 i < SELLER_COUNT ? 's' : 'a', model->sequence, i);
    for (int i = 0; i < SELLER_COUNT; i++) {
        uint32_t shard = seller_shard(model->sellers[i]);
        const struct store_value params[] = {STORE_V_INT(shard)};

        model->queue_start[shard] = read_integer_of(
            model->place->store, "SELECT COALESCE(MAX(seq), 0) FROM queue WHERE shard_id = $1",
            params, 1);
    }
    for (model->step = 0; model->step < step_count; model->step++) {
        take_step(model);
        check_seller(model, below(model, SELLER_COUNT), false);
    }
    for (int i = 0; i < SELLER_COUNT; i++)
        check_seller(model, i, true);
}

static int64_t from_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

static void run_model(bool postgres)
{
    uint64_t seed = (uint64_t)from_environment("TORG_MODEL_SEED", (int64_t)(random_u64() >> 1));
    int64_t sequence_count =
        test_count("TORG_MODEL_SEQUENCES", SEQUENCE_COUNT, SEQUENCE_COUNT_LONG);
    struct model *model = calloc(1, sizeof(*model));
    struct offers_place place;
    struct rng rng = rng_seeded(seed);

    if (!offers_place_open(&place, postgres)) {
        free(model);
        skip();
    }
    if (postgres)
        sequence_count = (sequence_count + 19) / 20;
    print_message("seed %" PRIu64 ", %" PRId64 " sequences\n", seed, sequence_count);
    for (int64_t i = 0; i < sequence_count; i++) {
        *model = (struct model){.place = &place,
                                .rng = rng_seeded(rng_next(&rng)),
                                .seed = seed,
                                .sequence = (int)i,
                                .what = "",
                                .arena = arena_new()};
        place.offers.draw = draw;
        place.offers.draw_arg = model;
        run_sequence(model, 1 + below(model, STEP_COUNT_MAX));
        arena_free(model->arena);
    }
    place_recount(&place);
    offers_place_close(&place);
    free(model);
}

static void offers_are_as_the_model(void **state)
{
    run_model(case_on_servers(state));
}

static const struct test_case cases[] = {
    CASE(offers_are_as_the_model),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "offers-model"};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

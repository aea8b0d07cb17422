/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_offers.c - sellers: offers made at once or by a draft, changed and moved through their
 * life.
 *
 * A write is kept in the slot until it is answered; one that is not is asked again with the same
 * idempotency key, which has to give the same answer, or is found out by reading.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "offers/record/offer_status.h"
#include "sim/crowd.h"
#include "torg/v1/draft.pb-c.h"

static const char *const categories[CATEGORY_COUNT] = {[CATEGORY_BOOKS] = "books",
                                                       [CATEGORY_BIKES] = "bikes",
                                                       [CATEGORY_RINGS] = "rings",
                                                       [CATEGORY_LAMPS] = "lamps"};
enum { DAY_S = 24 * 60 * 60, LAMP_WAIT_S = 20 }; /* as the catalogue has it (world.c) */

/* ---- contents ---- */

Torg__V1__OfferContent *offer_content_of(const struct slot *slot, uint32_t stamp,
                                         struct arena *arena)
{
    Torg__V1__OfferContent *content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);

    content->category = (char *)categories[slot->category];
    content->title = arena_printf(arena, "Thing s%u", stamp);
    content->description = arena_printf(arena, "one of a kind, number %u", stamp);
    content->price = (Torg__V1__Price *)message_new(&torg__v1__price__descriptor, arena);
    content->price->amount = stamp;
    content->price->currency = "RUB";
    if (slot->category == CATEGORY_BIKES) {
        Torg__V1__AttributeValue *value =
            (Torg__V1__AttributeValue *)message_new(&torg__v1__attribute_value__descriptor, arena);

        value->attribute_id = "weight";
        value->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_DECIMAL;
        value->decimal = arena_printf(arena, "%u.5", stamp);
        content->attributes = arena_array(arena, 1, sizeof(*content->attributes));
        content->attributes[content->n_attributes++] = value;
    }
    if (slot->has_photo) {
        Torg__V1__Photo *photo =
            (Torg__V1__Photo *)message_new(&torg__v1__photo__descriptor, arena);

        photo->source_url = "http://photos.example/one.jpg";
        content->photos = arena_array(arena, 1, sizeof(*content->photos));
        content->photos[content->n_photos++] = photo;
    }
    return content;
}

uint32_t offer_stamp(const char *title, const Torg__V1__Price *price)
{
    unsigned stamp;

    if (!price || sscanf(title, "Thing s%u", &stamp) != 1 || price->amount != stamp)
        return 0;
    return stamp;
}

/* ---- what a write will make of the offer ---- */

static int predict(const struct slot *slot, enum offer_move move)
{
    enum offer_status to = OFFER_NONE;
    bool waits = (slot->category == CATEGORY_RINGS || slot->category == CATEGORY_LAMPS) &&
                 !slot->is_photo_ready;

    offer_status_move((enum offer_status)slot->status, move,
                      (enum offer_status)slot->status_before_ban, "it", &to, NULL);
    if (to == OFFER_ACTIVE && waits && (move == MOVE_PUBLISH || move == MOVE_REPUBLISH))
        to = OFFER_WAITING;
    return to;
}

static struct entry entry_of(const struct slot *slot, enum offer_move move, int status,
                             uint32_t stamp)
{
    bool is_new = move == MOVE_PUBLISH || move == MOVE_REPUBLISH || move == MOVE_PROLONG;
    int64_t now_us = now_wall_us();
    struct entry entry = {.stamp = stamp, .is_shown = status == OFFER_ACTIVE};

    if (entry.is_shown)
        entry.ends_us = is_new ? now_us + (int64_t)DAY_S * SECOND_US : slot->ends_us;
    if (status == OFFER_WAITING && slot->category == CATEGORY_LAMPS)
        entry.shows_us = is_new ? now_us + (int64_t)LAMP_WAIT_S * SECOND_US : slot->shows_us;
    return entry;
}

static void ask(struct actor *actor, struct slot *slot, enum offer_move move)
{
    struct model *model = actor->crowd->model;
    bool is_content = move == MOVE_PUBLISH || move == MOVE_UPDATE;
    int status = predict(slot, move);
    struct entry entry;

    model_lock();
    entry = entry_of(slot, move, status,
                     is_content && !slot->is_drafted ? model_stamp(model, slot)
                     : move == MOVE_UPDATE           ? model_stamp(model, slot)
                                                     : slot->stamp);
    slot_ask(slot, (int)move + 1, &entry);
    slot->ask.number = status;
    slot->ask.once = ++model->once_count;
    model->asked_count++;
    model_step(model, slot, "ask %s -> %s, stamp %u", offer_move_name(move),
               offer_status_name((enum offer_status)status), entry.stamp);
    model_unlock();
}

/* ---- calls ---- */

static int call_offers(struct actor *actor, const struct slot *slot, const char *method,
                       uint32_t once, const ProtobufCMessage *request, struct arena *arena,
                       ProtobufCMessage **response, struct err *err)
{
    const struct caller caller = {.seller = seller_names[slot->owner],
                                  .once_key = once ? arena_printf(arena, "once-%u", once) : NULL};

    return world_call(actor->crowd->world, &torg__v1__offer_service__descriptor, method, &caller,
                      request, arena, response, err);
}

static int send_move(struct actor *actor, const struct slot *slot, enum offer_move move,
                     uint32_t once, struct arena *arena, ProtobufCMessage **answer, struct err *err)
{
    static const char *const methods[] = {[MOVE_PROLONG] = "ProlongOffer",
                                          [MOVE_REPUBLISH] = "RepublishOffer",
                                          [MOVE_WITHDRAW] = "WithdrawOffer",
                                          [MOVE_DELETE] = "DeleteOffer"};
    Torg__V1__MarkOfferSoldRequest sell = TORG__V1__MARK_OFFER_SOLD_REQUEST__INIT;
    Torg__V1__MoveOfferRequest request = TORG__V1__MOVE_OFFER_REQUEST__INIT;

    if (move == MOVE_SELL_ON_SITE || move == MOVE_SELL_ELSEWHERE) {
        sell.id = (char *)slot->key;
        sell.where = move == MOVE_SELL_ON_SITE
                         ? TORG__V1__MARK_OFFER_SOLD_REQUEST__WHERE__ON_SITE
                         : TORG__V1__MARK_OFFER_SOLD_REQUEST__WHERE__ELSEWHERE;
        return call_offers(actor, slot, "MarkOfferSold", once, &sell.base, arena, answer, err);
    }
    request.id = (char *)slot->key;
    request.expected_revision = once % 2 ? slot->revision : 0;
    return call_offers(actor, slot, methods[move], once, &request.base, arena, answer, err);
}

/* The slot's open write, for the first time or again. */
static int send(struct actor *actor, const struct slot *slot, struct arena *arena,
                ProtobufCMessage **answer, struct err *err)
{
    Torg__V1__CreateOfferRequest create = TORG__V1__CREATE_OFFER_REQUEST__INIT;
    Torg__V1__UpdateOfferRequest update = TORG__V1__UPDATE_OFFER_REQUEST__INIT;
    enum offer_move move = (enum offer_move)(slot->ask.what - 1);

    if (move == MOVE_PUBLISH && slot->is_drafted)
        return drafted_publish(actor, slot, arena, answer, err);
    if (move == MOVE_PUBLISH) {
        create.content = offer_content_of(slot, slot->ask.stamp, arena);
        return call_offers(actor, slot, "CreateOffer", slot->ask.once, &create.base, arena, answer,
                           err);
    }
    if (move == MOVE_UPDATE) {
        update.id = (char *)slot->key;
        update.expected_revision = slot->revision;
        update.content = offer_content_of(slot, slot->ask.stamp, arena);
        return call_offers(actor, slot, "UpdateOffer", slot->ask.once, &update.base, arena, answer,
                           err);
    }
    return send_move(actor, slot, move, slot->ask.once, arena, answer, err);
}

/* What the answer says is what was asked for; with the lock. */
static void check_receipt(struct model *model, struct slot *slot,
                          const Torg__V1__OfferReceipt *receipt, bool is_moving)
{
    if (*slot->key && strcmp(slot->key, receipt->id) != 0)
        model_fail(model, slot, "a write of %s was answered with the id %s", slot->key,
                   receipt->id);
    if (!is_moving &&
        (receipt->revision != slot->revision + 1 || (int)receipt->status != (int)slot->ask.number))
        model_fail(model, slot, "revision %d, status %s was expected, and %d, %s was told",
                   (int)slot->revision + 1, offer_status_name((enum offer_status)slot->ask.number),
                   (int)receipt->revision, offer_status_name((enum offer_status)receipt->status));
}

static void take_receipt(struct actor *actor, struct slot *slot,
                         const Torg__V1__OfferReceipt *receipt)
{
    struct model *model = actor->crowd->model;
    bool is_moving = slot_is_moving(slot, now_wall_us());
    struct entry *entry;

    model_lock();
    check_receipt(model, slot, receipt, is_moving);
    entry = &slot->entries[slot->ask.entry % ENTRY_COUNT_MAX];
    entry->is_shown = receipt->status == TORG__V1__OFFER__STATUS__ACTIVE;
    snprintf(slot->key, sizeof(slot->key), "%s", receipt->id);
    snprintf(slot->token, sizeof(slot->token), "%s", receipt->freshness_token);
    slot->token_entry = slot->ask.entry;
    slot->token_age = ++model->token_count;
    slot->revision = receipt->revision;
    slot->status = (int)receipt->status;
    slot->stamp = slot->ask.stamp;
    slot->ends_us = entry->ends_us;
    slot->shows_us = entry->shows_us;
    if (!slot->asks_us && slot->has_photo && !slot->is_photo_ready)
        slot->asks_us = now_wall_us() + (int64_t)DAY_S * SECOND_US;
    slot->is_over = slot->status == OFFER_DELETED;
    model_step(model, slot, "told revision %d, %s", (int)slot->revision,
               offer_status_name((enum offer_status)slot->status));
    slot_settle(slot, true);
    model_unlock();
}

/* The same call with the same key is answered as the first one was, and changes nothing. */
static void send_twice(struct actor *actor, const struct slot *slot,
                       const Torg__V1__OfferReceipt *first)
{
    struct arena *arena = arena_new();
    const Torg__V1__OfferReceipt *second;
    ProtobufCMessage *answer;
    struct err err;
    int rc = send(actor, slot, arena, &answer, &err);

    second = (const Torg__V1__OfferReceipt *)answer;
    if (rc && !is_unsure(rc))
        model_fail(actor->crowd->model, slot, "the same call again was refused: %s", err.text);
    if (!rc && (second->revision != first->revision || strcmp(second->id, first->id) != 0))
        model_fail(actor->crowd->model, slot,
                   "the same call again: %s at revision %d, not %s at %d", second->id,
                   (int)second->revision, first->id, (int)first->revision);
    arena_free(arena);
}

static void send_and_take(struct actor *actor, struct slot *slot)
{
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;
    int rc = send(actor, slot, arena, &answer, &err);

    if (!rc) {
        if (draw_chance(&actor->rng, 100))
            send_twice(actor, slot, (Torg__V1__OfferReceipt *)answer);
        take_receipt(actor, slot, (Torg__V1__OfferReceipt *)answer);
    } else if (!is_unsure(rc)) {
        if (!slot_is_moving(slot, now_wall_us()))
            model_fail(actor->crowd->model, slot, "a right write was refused: %s", err.text);
        model_lock();
        slot_settle(slot, false);
        model_unlock();
    } else {
        model_lock();
        actor->crowd->model->unsure_count++;
        model_step(actor->crowd->model, slot, "not sure: %s", err.text);
        model_unlock();
    }
    arena_free(arena);
}

/* ---- finding out ---- */

int offer_read(struct actor *actor, const struct slot *slot, struct arena *arena,
               Torg__V1__Offer **offer, struct err *err)
{
    Torg__V1__GetOfferRequest request = TORG__V1__GET_OFFER_REQUEST__INIT;
    ProtobufCMessage *answer;
    int rc;

    request.id = (char *)slot->key;
    rc = call_offers(actor, slot, "GetOffer", 0, &request.base, arena, &answer, err);
    *offer = rc ? NULL : (Torg__V1__Offer *)answer;
    return rc;
}

void slot_take_photo_ask(struct slot *slot, const Torg__V1__Offer *offer)
{
    const Torg__V1__Photo *photo = offer->content->n_photos ? offer->content->photos[0] : NULL;

    slot->asks_us = photo && photo->state == TORG__V1__PHOTO__STATE__WAITING && photo->ask_time
                        ? (photo->ask_time->seconds + DAY_S) * SECOND_US
                        : 0;
}

/* The offer as it is becomes what is known, if it may be so; with the lock. */
static void adopt(struct actor *actor, struct slot *slot, const Torg__V1__Offer *offer)
{
    struct model *model = actor->crowd->model;
    uint32_t stamp = offer_stamp(offer->content->title, offer->content->price);
    bool has_happened = slot->ask.what && (slot->ask.has_rival ? stamp == slot->ask.stamp
                                                               : offer->revision > slot->revision);
    int status = slot->ask.what && has_happened ? (int)slot->ask.number : slot->status;
    bool is_moving = slot_is_moving(slot, now_wall_us());
    /* its photo was asked for anew, no more */
    bool still_waits = status == OFFER_WAITING && (int)offer->status == OFFER_WAITING;

    if (offer->revision < slot->revision)
        model_fail(model, slot, "revision %d was acknowledged, and it is at %d",
                   (int)slot->revision, (int)offer->revision);
    if (stamp != (has_happened ? slot->ask.stamp : slot->stamp))
        model_fail(model, slot, "it has the content of stamp %u", stamp);
    if ((int)offer->status != status && !is_moving)
        model_fail(model, slot, "it is %s, and should be %s",
                   offer_status_name((enum offer_status)offer->status),
                   offer_status_name((enum offer_status)status));
    if (slot->ask.what) {
        if (!has_happened && slot->floor == slot->ask.entry)
            model_fail(model, slot, "what searches have shown did not happen");
        if (has_happened)
            slot->shows_us = slot->entries[slot->ask.entry % ENTRY_COUNT_MAX].shows_us;
        slot_settle(slot, has_happened);
        slot->token[0] = '\0';
    }
    if (offer->revision > slot->revision + has_happened && !is_moving)
        model_fail(model, slot, "it is at revision %d, and nobody has changed it since %d",
                   (int)offer->revision, (int)slot->revision + has_happened);
    if (offer->revision > slot->revision + has_happened) {
        const struct entry entry = {.stamp = stamp,
                                    .is_shown = offer->status == TORG__V1__OFFER__STATUS__ACTIVE,
                                    .ends_us = slot->ends_us,
                                    .shows_us = still_waits ? slot->shows_us : 0};

        slot_ask(slot, 1, &entry);
        slot_settle(slot, true);
        slot->shows_us = entry.shows_us;
    }
    slot_take_photo_ask(slot, offer);
    slot->revision = offer->revision;
    slot->status = (int)offer->status;
    slot->stamp = stamp;
    slot->ends_us = offer->status == TORG__V1__OFFER__STATUS__ACTIVE && offer->expire_time
                        ? offer->expire_time->seconds * SECOND_US
                        : 0;
    if (slot->status == OFFER_BANNED)
        slot->status_before_ban = (int)offer->status_before_ban;
    slot->is_over = slot->status == OFFER_DELETED;
    model_step(model, slot, "read: revision %d, %s, stamp %u", (int)slot->revision,
               offer_status_name((enum offer_status)slot->status), stamp);
}

bool offer_resolve(struct actor *actor, struct slot *slot)
{
    struct arena *arena;
    Torg__V1__Offer *offer;
    struct err err;
    int rc;

    if (slot->ask.what > MOVE_DELETE + 1)
        return others_resolve(actor, slot);
    if (slot->ask.what && !slot->ask.has_rival &&
        (!*slot->key || slot_is_moving(slot, now_wall_us()) || draw_chance(&actor->rng, 500))) {
        send_and_take(actor, slot); /* again, with the same key */
        return slot->ask.what == 0;
    }
    arena = arena_new();
    rc = offer_read(actor, slot, arena, &offer, &err);
    if (rc && !is_unsure(rc) && !(rc == ERR_NOT_FOUND && !slot->revision))
        model_fail(actor->crowd->model, slot, "an acknowledged offer cannot be read: %s", err.text);
    model_lock();
    if (!rc) {
        adopt(actor, slot, offer);
    } else if (rc == ERR_NOT_FOUND) { /* a draft that was not published */
        slot_settle(slot, false);
        slot->is_over = true;
    }
    model_unlock();
    arena_free(arena);
    return !rc || rc == ERR_NOT_FOUND;
}

/* ---- steps ---- */

static unsigned live_count(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    unsigned count = 0;

    model_lock();
    for (uint32_t i = 0; i < model->slot_count; i++)
        count += model->slots[i].kind == SLOT_OFFER && model->slots[i].owner == actor->number &&
                 !model->slots[i].is_over;
    model_unlock();
    return count;
}

static void create(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    struct slot *slot;

    model_lock();
    slot = model_add(model, SLOT_OFFER, actor->number);
    if (slot) {
        slot->is_busy = true;
        slot->category = draw_below(&actor->rng, CATEGORY_COUNT);
        slot->has_photo = slot->category >= CATEGORY_RINGS || draw_chance(&actor->rng, 200);
    }
    model_unlock();
    if (!slot)
        return;
    if (draw_chance(&actor->rng, 300) && drafted_prepare(actor, slot)) {
        slot->is_drafted = true;
        ask(actor, slot, MOVE_PUBLISH);
    } else if (!slot->is_over) {
        ask(actor, slot, MOVE_PUBLISH);
    }
    if (slot->ask.what)
        send_and_take(actor, slot);
    slot_give(slot);
}

/* What the offer's status does not allow is refused, and changes nothing. */
static void ask_wrongly(struct actor *actor, struct slot *slot)
{
    static const enum offer_move moves[] = {MOVE_PROLONG, MOVE_REPUBLISH, MOVE_WITHDRAW,
                                            MOVE_SELL_ON_SITE};
    enum offer_move move = moves[draw_below(&actor->rng, 4)];
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    if (!offer_status_allows((enum offer_status)slot->status, move)) {
        rc = send_move(actor, slot, move, 0, arena, &answer, &err);
        if (rc != ERR_PRECONDITION && !is_unsure(rc) && !slot_is_moving(slot, now_wall_us()))
            model_fail(actor->crowd->model, slot, "\"%s\" of an offer that is %s was answered %s",
                       offer_move_name(move), offer_status_name((enum offer_status)slot->status),
                       err_name(rc));
        model_lock();
        actor->crowd->model->refused_count++;
        model_unlock();
    }
    arena_free(arena);
}

/* The newest that was before more than results of photos; 0: there is none, or nobody tells. */
static int64_t outdated_revision(struct actor *actor, struct slot *slot, struct arena *arena)
{
    Torg__V1__Offer *offer;
    struct err err;
    int rc = offer_read(actor, slot, arena, &offer, &err);

    return rc ? 0 : (offer->content_revision ? offer->content_revision : offer->revision) - 1;
}

/* Who has read an older revision is told so, and changes nothing. */
static void ask_outdated(struct actor *actor, struct slot *slot)
{
    struct model *model = actor->crowd->model;
    Torg__V1__UpdateOfferRequest update = TORG__V1__UPDATE_OFFER_REQUEST__INIT;
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;
    uint32_t stamp;
    int rc;

    model_lock();
    stamp = model_stamp(model, slot);
    model->refused_count++;
    model_unlock();
    update.id = slot->key;
    update.expected_revision = outdated_revision(actor, slot, arena);
    if (!update.expected_revision) {
        arena_free(arena);
        return;
    }
    update.content = offer_content_of(slot, stamp, arena);
    rc = call_offers(actor, slot, "UpdateOffer", 0, &update.base, arena, &answer, &err);
    if (rc != ERR_CONFLICT && !is_unsure(rc))
        model_fail(model, slot, "a change of revision %d, which is %d, was answered %s",
                   (int)update.expected_revision, (int)slot->revision, rc ? err_name(rc) : "well");
    arena_free(arena);
}

/* ---- two at once ---- */

struct rival {
    struct actor *actor;
    struct slot slot; /* as the other has it, but for the key */
    struct arena *arena;
    ProtobufCMessage *answer;
    struct err err;
    int rc;
};

static void *run_rival(void *arg)
{
    struct rival *rival = arg;

    rival->rc = send(rival->actor, &rival->slot, rival->arena, &rival->answer, &rival->err);
    return NULL;
}

/* Both change what they have read, the same revision: one of them is told that it was done. */
static void change_with_rival(struct actor *actor, struct slot *slot)
{
    struct model *model = actor->crowd->model;
    struct rival *rivals[2];
    pthread_t thread;

    ask(actor, slot, MOVE_UPDATE);
    slot->ask.has_rival = true;
    for (unsigned i = 0; i < 2; i++) {
        rivals[i] = mem_zero(sizeof(*rivals[i]));
        rivals[i]->actor = actor;
        rivals[i]->arena = arena_new();
        rivals[i]->slot = *slot;
    }
    model_lock();
    rivals[1]->slot.ask.once = ++model->once_count;
    model_unlock();
    if (pthread_create(&thread, NULL, run_rival, rivals[1]))
        abort();
    run_rival(rivals[0]);
    pthread_join(thread, NULL);
    if (!rivals[0]->rc && !rivals[1]->rc)
        model_fail(model, slot, "two changes of revision %d were acknowledged",
                   (int)slot->revision);
    for (unsigned i = 0; i < 2; i++) {
        int rc = rivals[i]->rc;

        if (rc && rc != ERR_CONFLICT && !is_unsure(rc) && !slot_is_moving(slot, now_wall_us()))
            model_fail(model, slot, "a right write was refused: %s", rivals[i]->err.text);
        if (!rc)
            take_receipt(actor, slot, (Torg__V1__OfferReceipt *)rivals[i]->answer);
        arena_free(rivals[i]->arena);
        free(rivals[i]);
    }
}

static void change(struct actor *actor, struct slot *slot)
{
    static const struct {
        enum offer_move move;
        unsigned weight;
    } wishes[] = {{MOVE_UPDATE, 10}, {MOVE_WITHDRAW, 3},     {MOVE_REPUBLISH, 6},
                  {MOVE_PROLONG, 1}, {MOVE_SELL_ON_SITE, 1}, {MOVE_SELL_ELSEWHERE, 1},
                  {MOVE_DELETE, 2}};
    enum offer_move drawn[32];
    unsigned count = 0;

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        if (!offer_status_allows((enum offer_status)slot->status, wishes[i].move))
            continue;
        for (unsigned n = 0; n < wishes[i].weight; n++)
            drawn[count++] = wishes[i].move;
    }
    if (count == 0)
        return;
    ask(actor, slot, drawn[draw_below(&actor->rng, count)]);
    send_and_take(actor, slot);
}

void seller_step(struct actor *actor)
{
    struct slot *slot;

    if (live_count(actor) < OFFER_LIVE_MAX && draw_chance(&actor->rng, 300)) {
        create(actor);
        return;
    }
    slot = slot_draw(actor, SLOT_OFFER, actor->number);
    if (!slot)
        return;
    if (slot->ask.what || slot_is_moving(slot, now_wall_us()))
        offer_resolve(actor, slot);
    else if (draw_chance(&actor->rng, 100))
        ask_wrongly(actor, slot);
    else if (slot->revision > 1 && draw_chance(&actor->rng, 50))
        ask_outdated(actor, slot);
    else if (offer_status_allows((enum offer_status)slot->status, MOVE_UPDATE) &&
             draw_chance(&actor->rng, 100))
        change_with_rival(actor, slot);
    else
        change(actor, slot);
    slot_give(slot);
}

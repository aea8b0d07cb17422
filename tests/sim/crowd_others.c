/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_others.c - moderators and those who fetch photos: writes of offers that are not their
 * seller's. An opinion is a call, or a record of a topic; a photo's result is a record. What goes
 * by a topic is waited for, so that an offer has one writer at a time; a life that ends meanwhile
 * leaves it to be sent again, which changes nothing if it had come.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "model/topics.h"
#include "offers/offer_status.h"
#include "sim/crowd.h"
#include "torg/v1/moderation.pb-c.h"
#include "torg/v1/photo.pb-c.h"

enum { LOOK_COUNT = 400, LOOK_US = 50 * MS_US }; /* for what goes by a topic */

static int produce(struct actor *actor, const char *topic, const char *key,
                   const ProtobufCMessage *message, struct err *err)
{
    struct buf value = BUF_INIT(1 << 20);
    struct topic_record record = {.key = bytes_of(key)};
    int rc;

    message_encode(message, &value);
    record.value = buf_bytes(&value);
    rc = topic_produce(actor->crowd->world->process.backends.topics, topic, &record, 1, NULL, err);
    buf_release(&value);
    return rc;
}

/* ---- what both write into the slot ---- */

static void ask(struct actor *actor, struct slot *slot, enum offer_move move, int status)
{
    struct model *model = actor->crowd->model;
    struct entry entry = {.stamp = slot->stamp, .is_shown = status == OFFER_ACTIVE};

    if (entry.is_shown)
        entry.ends_us = slot->ends_us;
    if (status == OFFER_WAITING && slot->category == CATEGORY_LAMPS)
        entry.shows_us = now_wall_us(); /* an unban begins its wait anew, or ends it */
    model_lock();
    slot_ask(slot, (int)move + 1, &entry);
    slot->ask.number = status;
    model->asked_count++;
    model_step(model, slot, "ask %s -> %s", offer_move_name(move),
               offer_status_name((enum offer_status)status));
    model_unlock();
}

/* The offer is as it was asked for: so it happened. */
static void settle(struct actor *actor, struct slot *slot, const Torg__V1__Offer *offer)
{
    struct model *model = actor->crowd->model;
    bool is_moving = slot_is_moving(slot, now_wall_us());

    model_lock();
    if ((int)offer->status != (int)slot->ask.number && !is_moving)
        model_fail(model, slot, "it is %s, and should be %s",
                   offer_status_name((enum offer_status)offer->status),
                   offer_status_name((enum offer_status)slot->ask.number));
    if (slot->status != OFFER_BANNED && offer->status == TORG__V1__OFFER__STATUS__BANNED)
        slot->status_before_ban = slot->status;
    slot->status = (int)offer->status;
    slot->revision = offer->revision;
    slot->token[0] = '\0'; /* it is of an older write */
    if (slot->status == OFFER_ACTIVE && offer->expire_time)
        slot->ends_us = offer->expire_time->seconds * SECOND_US;
    slot->entries[slot->ask.entry % ENTRY_COUNT_MAX].ends_us = slot->ends_us;
    slot->shows_us = slot->status == OFFER_WAITING && slot->category == CATEGORY_LAMPS
                         ? now_wall_us() /* an unban begins its wait anew, or ends it */
                         : 0;
    model_step(model, slot, "read: revision %d, %s", (int)slot->revision,
               offer_status_name((enum offer_status)slot->status));
    slot_settle(slot, true);
    model_unlock();
}

/* ---- moderators ---- */

static int give_opinion(struct actor *actor, const struct slot *slot, bool by_topic,
                        struct err *err)
{
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    char *reasons[] = {"forbidden thing"};
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    int rc;

    opinion.offer_id = (char *)slot->key;
    opinion.revision = slot->opinion_revision + 1;
    opinion.moderator = "sim";
    opinion.verdict = slot->ask.what == MOVE_BAN + 1 ? TORG__V1__MODERATION_OPINION__VERDICT__BAN
                                                     : TORG__V1__MODERATION_OPINION__VERDICT__PASS;
    opinion.reasons = reasons;
    opinion.n_reasons = slot->ask.what == MOVE_BAN + 1;
    rc = by_topic ? produce(actor, TOPIC_OPINIONS, slot->key, &opinion.base, err)
                  : world_call(actor->crowd->world, &torg__v1__moderation_service__descriptor,
                               "GiveOpinion", NULL, &opinion.base, arena, &answer, err);
    arena_free(arena);
    return rc;
}

/* The offer was touched by the opinion, or is not (yet). */
static bool look(struct actor *actor, struct slot *slot)
{
    struct arena *arena = arena_new();
    Torg__V1__Offer *offer;
    struct err err;
    bool is_there = false;
    int rc = offer_read(actor, slot, arena, &offer, &err);

    if (rc && !is_unsure(rc))
        model_fail(actor->crowd->model, slot, "an acknowledged offer cannot be read: %s", err.text);
    if (!rc && slot->ask.what == MOVE_PHOTOS + 1)
        is_there = offer->content->n_photos == 1 &&
                   offer->content->photos[0]->state == TORG__V1__PHOTO__STATE__READY;
    else if (!rc)
        is_there =
            (slot->ask.what == MOVE_BAN + 1) == (offer->status == TORG__V1__OFFER__STATUS__BANNED);
    if (is_there) {
        if (slot->ask.what != MOVE_PHOTOS + 1)
            slot->opinion_revision++;
        else
            slot->is_photo_ready = true;
        settle(actor, slot, offer);
    }
    arena_free(arena);
    return is_there;
}

static bool wait_for(struct actor *actor, struct slot *slot)
{
    for (unsigned i = 0; i < LOOK_COUNT; i++) {
        if (look(actor, slot))
            return true;
        if (task_is_started(&actor->task) && task_is_stopping(&actor->task))
            return false;
        pause_us(LOOK_US);
    }
    model_fail(actor->crowd->model, slot, "what was sent by a topic did not come");
}

static bool send_opinion(struct actor *actor, struct slot *slot)
{
    bool by_topic = draw_chance(&actor->rng, 400);
    struct err err;
    int rc = give_opinion(actor, slot, by_topic, &err);

    if (rc && !is_unsure(rc))
        model_fail(actor->crowd->model, slot, "a right opinion was refused: %s", err.text);
    if (rc)
        return false;
    if (by_topic)
        return wait_for(actor, slot);
    if (!look(actor, slot))
        model_fail(actor->crowd->model, slot, "an acknowledged opinion is not obeyed");
    return true;
}

void moderator_step(struct actor *actor)
{
    struct slot *slot = slot_draw(actor, SLOT_OFFER, draw_below(&actor->rng, SELLER_COUNT));

    if (!slot)
        return;
    if (slot->ask.what || !*slot->key || slot_is_moving(slot, now_wall_us())) {
        offer_resolve(actor, slot);
    } else if (slot->status == OFFER_BANNED) {
        ask(actor, slot, MOVE_UNBAN, slot->status_before_ban);
        send_opinion(actor, slot);
    } else if (offer_status_allows((enum offer_status)slot->status, MOVE_BAN)) {
        ask(actor, slot, MOVE_BAN, OFFER_BANNED);
        send_opinion(actor, slot);
    }
    slot_give(slot);
}

/* ---- photos ---- */

static bool send_photo(struct actor *actor, struct slot *slot)
{
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    Torg__V1__PhotoResult__Item item = TORG__V1__PHOTO_RESULT__ITEM__INIT;
    Torg__V1__PhotoResult__Item *items[] = {&item};
    Torg__V1__PhotoSize size = TORG__V1__PHOTO_SIZE__INIT;
    Torg__V1__PhotoSize *sizes[] = {&size};
    struct arena *arena = arena_new();
    Torg__V1__Offer *offer;
    struct err err;
    int rc = offer_read(actor, slot, arena, &offer, &err);

    if (!rc) {
        assert(offer->content->n_photos == 1);
        size.key = "one";
        size.width = size.height = size.size = 100;
        item.url = offer->content->photos[0]->source_url;
        item.attempt = 1;
        item.state = TORG__V1__PHOTO__STATE__READY;
        item.sizes = sizes;
        item.n_sizes = 1;
        item.hash.data = (uint8_t *)"hash";
        item.hash.len = 4;
        result.offer_id = slot->key;
        result.revision = offer->content->photos[0]->request_revision;
        result.photos = items;
        result.n_photos = 1;
        rc = produce(actor, TOPIC_PHOTO_RESULTS, slot->key, &result.base, &err);
    }
    arena_free(arena);
    return !rc && wait_for(actor, slot);
}

void photographer_step(struct actor *actor)
{
    struct slot *slot = slot_draw(actor, SLOT_OFFER, draw_below(&actor->rng, SELLER_COUNT));

    if (!slot)
        return;
    if (!slot->ask.what && *slot->key && slot->has_photo && !slot->is_photo_ready &&
        !slot_is_moving(slot, now_wall_us())) {
        if (slot->status_before_ban != OFFER_WAITING || slot->status != OFFER_BANNED) {
            ask(actor, slot, MOVE_PHOTOS,
                slot->status == OFFER_WAITING ? OFFER_ACTIVE : slot->status);
            send_photo(actor, slot);
        }
    }
    slot_give(slot);
}

bool others_resolve(struct actor *actor, struct slot *slot)
{
    if (slot->ask.what == MOVE_PHOTOS + 1)
        return send_photo(actor, slot);
    return send_opinion(actor, slot);
}

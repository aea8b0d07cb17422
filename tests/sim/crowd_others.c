/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_others.c - moderators and those who fetch photos: writes of offers that are not their
 * seller's. An opinion is a call, or a record of a topic; a photo's result is a record. What goes
 * by a topic is waited for, so that an offer has one writer at a time; a life that ends meanwhile
 * leaves it to be sent again, which changes nothing if it had come.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/message.h"
#include "model/topics.h"
#include "offers/record/offer_status.h"
#include "sim/crowd.h"
#include "torg/v1/moderation.pb-c.h"
#include "torg/v1/photo.pb-c.h"

enum { LOOK_COUNT = 400, LOOK_US = 50 * MS_US }; /* for what goes by a topic */

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

/* What an unban has to give back. A ban that waited for its disk may find that time has moved the
 * offer on: then it was changed twice. With the lock. */
static void take_ban(struct actor *actor, struct slot *slot, const Torg__V1__Offer *offer,
                     bool is_moving)
{
    int before = (int)offer->status_before_ban;

    if (before != slot->status && (!is_moving || offer->revision == slot->revision + 1))
        model_fail(actor->crowd->model, slot, "it was %s before its ban, and should have been %s",
                   offer_status_name((enum offer_status)before),
                   offer_status_name((enum offer_status)slot->status));
    slot->status_before_ban = before;
}

/* The offer is as it was asked for: so it happened. */
static void settle(struct actor *actor, struct slot *slot, const Torg__V1__Offer *offer)
{
    struct model *model = actor->crowd->model;
    bool is_moving = slot_is_moving(slot, now_wall_us());
    struct entry *entry;

    model_lock();
    if (offer->revision != slot->revision + 1 && !is_moving && !slot->ask.has_rival)
        model_fail(model, slot, "it was at revision %d, and one change has made it %d",
                   (int)slot->revision, (int)offer->revision);
    if ((int)offer->status != (int)slot->ask.number && !is_moving)
        model_fail(model, slot, "it is %s, and should be %s",
                   offer_status_name((enum offer_status)offer->status),
                   offer_status_name((enum offer_status)slot->ask.number));
    if (slot->status != OFFER_BANNED && offer->status == TORG__V1__OFFER__STATUS__BANNED)
        take_ban(actor, slot, offer, is_moving);
    slot->status = (int)offer->status;
    slot->revision = offer->revision;
    slot->token[0] = '\0'; /* it is of an older write */
    if (slot->status == OFFER_ACTIVE && offer->expire_time)
        slot->ends_us = offer->expire_time->seconds * SECOND_US;
    entry = &slot->entries[slot->ask.entry % ENTRY_COUNT_MAX];
    entry->ends_us = slot->ends_us;
    if (is_moving) /* and time has moved it on since */
        entry->is_shown = slot->status == OFFER_ACTIVE;
    slot->shows_us = slot->status == OFFER_WAITING && slot->category == CATEGORY_LAMPS
                         ? now_wall_us() /* an unban begins its wait anew, or ends it */
                         : 0;
    slot_take_photo_ask(slot, offer);
    model_step(model, slot, "read: revision %d, %s", (int)slot->revision,
               offer_status_name((enum offer_status)slot->status));
    slot_settle(slot, true);
    model_unlock();
}

/* ---- moderators ---- */

static int give_opinion(struct actor *actor, const struct slot *slot, int64_t revision, bool bans,
                        bool by_topic, struct err *err)
{
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    char *reasons[] = {"forbidden thing"};
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    int rc;

    opinion.offer_id = (char *)slot->key;
    opinion.revision = revision;
    opinion.moderator = "sim";
    opinion.verdict = bans ? TORG__V1__MODERATION_OPINION__VERDICT__BAN
                           : TORG__V1__MODERATION_OPINION__VERDICT__PASS;
    opinion.reasons = reasons;
    opinion.n_reasons = bans;
    rc = by_topic ? topic_send(actor, TOPIC_OPINIONS, slot->key, &opinion.base, err)
                  : world_call(actor->crowd->world, &torg__v1__moderation_service__descriptor,
                               "GiveOpinion", NULL, &opinion.base, arena, &answer, err);
    arena_free(arena);
    return rc;
}

/* Of the open one; where two were given at once it is the newer. */
static int64_t next_opinion(const struct slot *slot)
{
    return slot->opinion_revision + 1 + slot->ask.has_rival;
}

static void take_photo(struct actor *actor, struct slot *slot, const Torg__V1__Photo *photo)
{
    bool is_ready = photo->state == TORG__V1__PHOTO__STATE__READY;

    if (photo->attempt != slot->ask.attempt || is_ready == slot->ask.is_photo_failed)
        model_fail(actor->crowd->model, slot, "its photo has state %d by attempt %d, after %d",
                   (int)photo->state, photo->attempt, slot->ask.attempt);
    slot->photo_attempt = photo->attempt;
    slot->is_photo_ready = is_ready;
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
                   offer->content->photos[0]->attempt >= slot->ask.attempt;
    else if (!rc)
        is_there =
            (slot->ask.what == MOVE_BAN + 1) == (offer->status == TORG__V1__OFFER__STATUS__BANNED);
    if (is_there) {
        if (slot->ask.what != MOVE_PHOTOS + 1)
            slot->opinion_revision = next_opinion(slot);
        else
            take_photo(actor, slot, offer->content->photos[0]);
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
    int rc = give_opinion(actor, slot, next_opinion(slot), slot->ask.what == MOVE_BAN + 1, by_topic,
                          &err);

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

/* ---- two moderators at once ---- */

struct dissent {
    struct actor *actor;
    const struct slot *slot;
    int64_t revision;
    int rc;
    struct err err;
};

static void *give_dissent(void *arg)
{
    struct dissent *dissent = arg;

    dissent->rc =
        give_opinion(dissent->actor, dissent->slot, dissent->revision, true, false, &dissent->err);
    return NULL;
}

/* One bans what the other lets pass; the newer opinion is the second one's, whoever comes first. */
static void argue(struct actor *actor, struct slot *slot)
{
    struct model *model = actor->crowd->model;
    struct dissent dissent = {.actor = actor, .slot = slot, .revision = slot->opinion_revision + 1};
    const struct entry banned = {.stamp = slot->stamp};
    pthread_t thread;
    struct err err;
    int rc;

    model_lock();
    slot_ask(slot, MOVE_BAN + 1, &banned);
    slot_settle(slot, true); /* for a while, or not at all */
    model_unlock();
    ask(actor, slot, MOVE_UNBAN, slot->status);
    slot->ask.has_rival = true;
    if (pthread_create(&thread, NULL, give_dissent, &dissent))
        abort();
    rc = give_opinion(actor, slot, next_opinion(slot), false, false, &err);
    pthread_join(thread, NULL);
    if ((rc && !is_unsure(rc)) || (dissent.rc && !is_unsure(dissent.rc)))
        model_fail(model, slot, "a right opinion was refused: %s",
                   rc ? err.text : dissent.err.text);
    if (!rc && !look(actor, slot))
        model_fail(model, slot, "the newest of two opinions is not obeyed");
}

static bool has_room_for_two(const struct slot *slot)
{
    return slot->entry_count - slot->floor + 1 < ENTRY_COUNT_MAX - 1;
}

void moderator_step(struct actor *actor)
{
    struct slot *slot = slot_draw(actor, SLOT_OFFER, draw_below(&actor->rng, SELLER_COUNT));

    if (!slot)
        return;
    if (slot->ask.what || !*slot->key || slot_is_moving(slot, now_wall_us())) {
        offer_resolve(actor, slot);
    } else if (slot->status == OFFER_BANNED && actor->crowd->model->wall_ahead_us) {
        /* Its time may have passed meanwhile, and then it ends as it comes back. */
    } else if (slot->status == OFFER_BANNED) {
        ask(actor, slot, MOVE_UNBAN, slot->status_before_ban);
        send_opinion(actor, slot);
    } else if (slot->status == OFFER_ACTIVE && has_room_for_two(slot) &&
               draw_chance(&actor->rng, 300)) {
        argue(actor, slot);
    } else if (offer_status_allows((enum offer_status)slot->status, MOVE_BAN)) {
        ask(actor, slot, MOVE_BAN, OFFER_BANNED);
        send_opinion(actor, slot);
    }
    slot_give(slot);
}

/* ---- photos ---- */

/* What the one who fetches has found: the photo, or that there is none. */
static void fill_item(Torg__V1__PhotoResult__Item *item, int32_t attempt, bool is_failed,
                      const char *hash, struct arena *arena)
{
    Torg__V1__PhotoSize *size =
        (Torg__V1__PhotoSize *)message_new(&torg__v1__photo_size__descriptor, arena);

    item->attempt = attempt;
    item->state = is_failed ? TORG__V1__PHOTO__STATE__FAILED : TORG__V1__PHOTO__STATE__READY;
    if (is_failed) {
        item->reason = arena_printf(arena, "attempt %d has found nothing", attempt);
        return;
    }
    size->key = "one";
    size->width = size->height = size->size = 100;
    item->sizes = arena_array(arena, 1, sizeof(*item->sizes));
    item->sizes[item->n_sizes++] = size;
    item->hash.data = (uint8_t *)hash;
    item->hash.len = strlen(hash);
}

static int send_result(struct actor *actor, const struct slot *slot, int32_t attempt,
                       bool is_failed, const char *hash)
{
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    Torg__V1__PhotoResult__Item item = TORG__V1__PHOTO_RESULT__ITEM__INIT;
    Torg__V1__PhotoResult__Item *items[] = {&item};
    struct arena *arena = arena_new();
    Torg__V1__Offer *offer;
    struct err err;
    int rc = offer_read(actor, slot, arena, &offer, &err);

    if (!rc) {
        assert(offer->content->n_photos == 1);
        fill_item(&item, attempt, is_failed, hash, arena);
        item.url = offer->content->photos[0]->source_url;
        result.offer_id = (char *)slot->key;
        result.revision = offer->content->photos[0]->request_revision;
        result.photos = items;
        result.n_photos = 1;
        rc = topic_send(actor, TOPIC_PHOTO_RESULTS, slot->key, &result.base, &err);
    }
    arena_free(arena);
    return rc;
}

static bool send_photo(struct actor *actor, struct slot *slot)
{
    return !send_result(actor, slot, slot->ask.attempt, slot->ask.is_photo_failed, "hash") &&
           wait_for(actor, slot);
}

/* Of an attempt that was answered for already: whoever told it was late, and it changes nothing. */
static void send_late(struct actor *actor, struct slot *slot)
{
    int32_t attempt = 1 + (int32_t)draw_below(&actor->rng, (unsigned)slot->photo_attempt);
    bool is_failed = draw_chance(&actor->rng, 300);

    model_lock();
    model_step(actor->crowd->model, slot, "a late result of attempt %d: %s", attempt,
               is_failed ? "failed" : "ready");
    model_unlock();
    send_result(actor, slot, attempt, is_failed, "late");
}

void photographer_step(struct actor *actor)
{
    struct slot *slot = slot_draw(actor, SLOT_OFFER, draw_below(&actor->rng, SELLER_COUNT));
    bool is_failed = draw_chance(&actor->rng, 250);

    if (!slot)
        return;
    if (slot->ask.what || !*slot->key || !slot->has_photo || !slot->revision ||
        slot_is_moving(slot, now_wall_us())) {
        slot_give(slot);
        return;
    }
    if (slot->is_photo_ready && draw_chance(&actor->rng, 300)) { /* what has failed begins anew */
        send_late(actor, slot);
    } else if (!slot->is_photo_ready &&
               (slot->status_before_ban != OFFER_WAITING || slot->status != OFFER_BANNED)) {
        ask(actor, slot, MOVE_PHOTOS,
            slot->status == OFFER_WAITING && !is_failed ? OFFER_ACTIVE : slot->status);
        slot->ask.attempt = slot->photo_attempt + 1 + (int32_t)draw_below(&actor->rng, 2);
        slot->ask.is_photo_failed = is_failed;
        send_photo(actor, slot);
    }
    slot_give(slot);
}

bool others_resolve(struct actor *actor, struct slot *slot)
{
    if (slot->ask.what == MOVE_PHOTOS + 1)
        return send_photo(actor, slot);
    return send_opinion(actor, slot);
}

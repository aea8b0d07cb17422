/* SPDX-License-Identifier: Apache-2.0 */
/* rest.c - see rest.h. */
#include "sim/rest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "offers/record/offer_status.h"
#include "sim/rest_checks.h"
#include "torg/v1/epoch.pb-c.h"
#include "torg/v1/inspect.pb-c.h"
#include "torg/v1/parked.pb-c.h"

/* A try of what has failed may be a minute away. */
enum { REST_TRY_COUNT = 600, REST_TRY_US = 200 * MS_US };
/* Of so many seeds one writes a document anew in a newer epoch: building one is costly. */
enum { RENEWED_SHARE = 8 };

/* ---- what was not answered ---- */

static bool resolve(struct actor *actor, struct slot *slot)
{
    if (slot->kind == SLOT_DOCUMENT)
        return (slot->ask.what == 0 || document_resolve(actor, slot)) &&
               fields_resolve(actor, slot);
    if (slot->kind != SLOT_OFFER || slot->is_over)
        return true;
    if (slot->revision == 0 && !slot->ask.what)
        return true; /* it was never made */
    return offer_resolve(actor, slot) && slot->ask.what == 0;
}

static void resolve_all(struct actor *actor)
{
    struct model *model = actor->crowd->model;

    for (unsigned tries = 0; !mended_resolve(actor); tries++) {
        if (tries == REST_TRY_COUNT)
            model_fail(model, NULL, "an opinion cannot be sent");
        pause_us(REST_TRY_US);
    }
    for (unsigned tries = 0; !misfits_resolve(actor); tries++) {
        if (tries == REST_TRY_COUNT)
            model_fail(model, NULL, "a misfit cannot be read");
        pause_us(REST_TRY_US);
    }
    for (unsigned number = 0; number < SNIPPET_COUNT; number++)
        for (unsigned tries = 0; !snippet_resolve(actor, number); tries++) {
            if (tries == REST_TRY_COUNT)
                model_fail(model, NULL, "snippet k%u cannot be written", number);
            pause_us(REST_TRY_US);
        }
    for (unsigned feed = 0; feed < FEED_COUNT; feed++)
        for (unsigned tries = 0; !feed_resolve(actor, feed); tries++) {
            if (tries == REST_TRY_COUNT)
                model_fail(model, NULL, "feed %u does not come to an end", feed);
            pause_us(REST_TRY_US);
        }
    for (uint32_t i = 0; i < model->slot_count; i++) {
        unsigned tries = 0;

        while (!resolve(actor, &model->slots[i]) && tries++ < REST_TRY_COUNT)
            pause_us(REST_TRY_US);
        if (tries > REST_TRY_COUNT)
            model_fail(model, &model->slots[i], "its last write cannot be found out");
    }
}

/* A lamp's wait for its photo ends by itself: what is judged after this stands still. */
static void end_waits(struct actor *actor)
{
    struct model *model = actor->crowd->model;

    for (uint32_t i = 0; i < model->slot_count; i++) {
        struct slot *slot = &model->slots[i];
        unsigned tries = 0;

        if (slot->kind != SLOT_OFFER || slot->category != CATEGORY_LAMPS)
            continue;
        while (slot->status == OFFER_WAITING && tries++ < REST_TRY_COUNT) {
            pause_us(REST_TRY_US);
            offer_resolve(actor, slot);
        }
        if (slot->status == OFFER_WAITING)
            model_fail(model, slot, "its wait for a photo does not end");
    }
}

/* ---- what is found ---- */

/* How far a change has come is told with what is wrong. */
static void tell_trace(struct world *world, struct model *model, const struct slot *slot)
{
    Torg__V1__TraceDocumentRequest document = TORG__V1__TRACE_DOCUMENT_REQUEST__INIT;
    Torg__V1__TraceOfferRequest offer = TORG__V1__TRACE_OFFER_REQUEST__INIT;
    bool is_document = slot->kind == SLOT_DOCUMENT;
    struct arena *arena = arena_new();
    const Torg__V1__Trace *trace;
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    if (is_document)
        document.client = (char *)client_names[slot->owner];
    document.pk = offer.id = (char *)slot->key;
    rc = world_call(world, &torg__v1__inspect_service__descriptor,
                    is_document ? "TraceDocument" : "TraceOffer", NULL,
                    is_document ? &document.base : &offer.base, arena, &answer, &err);
    trace = (const Torg__V1__Trace *)answer;
    if (rc)
        model_step(model, slot, "trace: %s", err.text);
    for (size_t i = 0; !rc && i < trace->n_steps; i++)
        model_step(model, slot, "trace: %s %d %s", trace->steps[i]->stage,
                   (int)trace->steps[i]->state, trace->steps[i]->text);
    arena_free(arena);
}

/* The first slot whose thing is not found as it should be; NULL: all are. */
static struct slot *find_difference(struct actor *actor, uint32_t *found)
{
    struct model *model = actor->crowd->model;
    uint32_t shown[1 + CLIENT_COUNT][SLOT_COUNT_MAX];
    int64_t now_us;

    while (!offers_look(actor, shown[0]))
        pause_us(REST_TRY_US);
    for (unsigned client = 0; client < CLIENT_COUNT; client++)
        while (!documents_look(actor, client, shown[1 + client]))
            pause_us(REST_TRY_US);
    now_us = now_wall_us();
    for (uint32_t i = 0; i < model->slot_count; i++) {
        struct slot *slot = &model->slots[i];

        *found = shown[slot->kind == SLOT_DOCUMENT ? 1 + slot->owner : 0][i];
        if (*found != slot_final(slot, now_us) ||
            (*found && slot->kind == SLOT_DOCUMENT && slot->stock_shown != slot->stock))
            return slot;
    }
    return NULL;
}

static void settle(struct actor *actor)
{
    struct slot *slot;
    uint32_t found;

    for (unsigned i = 0; i < REST_TRY_COUNT; i++) {
        slot = find_difference(actor, &found);
        if (!slot)
            return;
        if (slot->kind == SLOT_OFFER && slot_is_moving(slot, now_wall_us()))
            offer_resolve(actor, slot);
        pause_us(REST_TRY_US);
    }
    tell_trace(actor->crowd->world, actor->crowd->model, slot);
    model_fail(actor->crowd->model, slot,
               "at rest a search shows stamp %u and not %u, stock %u and not %u", found,
               slot_final(slot, now_wall_us()), slot->stock_shown, slot->stock);
}

/* What an operator would do: a catalogue that fits the epoch again, and all that is parked tried
 * once more. */
static void mend(struct actor *actor)
{
    Torg__V1__ReplayParkedRequest replay = TORG__V1__REPLAY_PARKED_REQUEST__INIT;
    struct world *world = actor->crowd->world;
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;

    replay.all = true;
    if (world_mend_catalog(world, &err) ||
        world_call(world, &torg__v1__parked_service__descriptor, "ReplayParked", NULL, &replay.base,
                   arena, &answer, &err))
        model_fail(actor->crowd->model, NULL, "at rest: %s", err.text);
    arena_free(arena);
}

/* ---- epochs ---- */

/* An epoch begins and serves. False: it cannot, just now. */
static bool move_to_next_epoch(struct actor *actor, unsigned client)
{
    const ProtobufCServiceDescriptor *service = &torg__v1__epoch_service__descriptor;
    Torg__V1__StartEpochRequest start = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__SwitchEpochRequest change = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    struct world *world = actor->crowd->world;
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    start.client = change.client = (char *)client_names[client];
    rc = world_call(world, service, "StartEpoch", NULL, &start.base, arena, &answer, &err);
    for (unsigned i = 0; i < REST_TRY_COUNT && !(i && !rc); i++) {
        pause_us(REST_TRY_US);
        rc = world_call(world, service, "SwitchEpoch", NULL, &change.base, arena, &answer, &err);
    }
    actor->crowd->model->switched_us[client] = now_mono_us();
    arena_free(arena);
    return !rc;
}

/* What is written for a newer epoch is newer, whatever its version: who rebuilds his documents
 * counts from the beginning. */
static void renew_document(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    unsigned client = (unsigned)(model->seed / RENEWED_SHARE % CLIENT_COUNT);

    if (model->seed % RENEWED_SHARE)
        return;
    for (uint32_t i = 0; i < model->slot_count; i++) {
        struct slot *slot = &model->slots[i];

        if (slot->kind != SLOT_DOCUMENT || slot->owner != client || slot->revision < 2 ||
            !slot_has_room(slot))
            continue;
        if (move_to_next_epoch(actor, client))
            document_put_anew(actor, slot);
        return;
    }
}

void rest_resolve(struct world *world, struct model *model)
{
    struct crowd crowd = {.world = world, .model = model};
    struct actor actor = {.crowd = &crowd, .rng = draw_for(model->seed, model->life, 98)};

    resolve_all(&actor);
}

void rest_judge(struct world *world, struct model *model)
{
    struct crowd crowd = {.world = world, .model = model};
    struct actor actor = {.crowd = &crowd, .rng = draw_for(model->seed, model->life, 99)};

    mend(&actor);
    resolve_all(&actor);
    misfits_judge(&actor);
    snippets_judge(&actor);
    renew_document(&actor);
    end_waits(&actor);
    check_composed(world, model);
    settle(&actor);
    check_lanes(world, model);
    resolve_all(&actor); /* what came by topics last has moved nothing that is not known */
    check_categories(world, model);
    check_parked(world, model);
    check_counters(world, model);
    check_cabinets(world, model);
    check_verify(world, model);
    check_auditor(world, model);
}

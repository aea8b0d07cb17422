/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_operators.c - who changes catalogues, moves epochs, replays and drops what is parked, and
 * what comes into topics that nobody can read. None of it changes what is to be found.
 */
#include "codec/message.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "sim/crowd.h"
#include "torg/v1/epoch.pb-c.h"
#include "torg/v1/moderation.pb-c.h"
#include "torg/v1/parked.pb-c.h"
#include "torg/v1/queue.pb-c.h"

/* What an operator asks for may be impossible just now; anything else is a fault. */
static void call(struct actor *actor, const ProtobufCServiceDescriptor *service, const char *method,
                 const char *whom, const ProtobufCMessage *request)
{
    struct model *model = actor->crowd->model;
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err = {.text = "done"};
    int rc = world_call(actor->crowd->world, service, method, NULL, request, arena, &answer, &err);

    if (rc && !is_unsure(rc) && rc != ERR_PRECONDITION && rc != ERR_NOT_FOUND && rc != ERR_CONFLICT)
        model_fail(model, NULL, "%s of %s: %s", method, whom, err.text);
    model_lock();
    model_step(model, NULL, "%s of %s: %s", method, whom, err.text);
    model_unlock();
    arena_free(arena);
}

/* ---- catalogues ---- */

static void change_catalog(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    bool has_digits = model->seed % 8 == 0;
    unsigned which = draw_below(&actor->rng, WORLD_CATALOG_COUNT - !has_digits);
    struct err err = {.text = ""};
    int rc;

    model_lock();
    model->catalog = which;
    model_step(model, NULL, "catalogue %u", which);
    model_unlock();
    rc = world_apply_catalog(actor->crowd->world, which, &err);
    if (rc && !is_unsure(rc))
        model_fail(model, NULL, "catalogue %u: %s", which, err.text);
}

/* ---- epochs ---- */

/* Orders of writes begin with the epoch: what was decided before is not what is decided now. */
static void note_epochs(struct model *model)
{
    model_lock();
    model->epoch_moves++;
    model_unlock();
}

/* Another numbering, in some; where there are misfits, what their code is. */
static void dress(struct actor *actor, unsigned index, Torg__V1__StartEpochRequest *start,
                  struct arena *arena)
{
    Torg__V1__SchemaField *code;

    start->renumber = draw_chance(&actor->rng, 200);
    if (draw_chance(&actor->rng, 200))
        start->shard_count = 2U << draw_below(&actor->rng, 2);
    if (index || !misfits_are_on(actor->crowd->model))
        return;
    code = MESSAGE_NEW(schema_field, arena);
    code->name = "code";
    code->type = draw_chance(&actor->rng, 500) ? TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD
                                               : TORG__V1__SCHEMA_FIELD__TYPE__INTEGER;
    start->fields = arena_array(arena, 1, sizeof(start->fields[0]));
    start->fields[start->n_fields++] = code;
}

void epoch_move(struct actor *actor, unsigned index)
{
    static const char *const clients[INDEX_COUNT] = {"shop", "news", OFFER_CLIENT};
    struct model *model = actor->crowd->model;
    char *client = (char *)clients[index];
    Torg__V1__StartEpochRequest start = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__SwitchEpochRequest change = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    Torg__V1__RollbackEpochRequest back = TORG__V1__ROLLBACK_EPOCH_REQUEST__INIT;
    Torg__V1__AbandonEpochRequest abandon = TORG__V1__ABANDON_EPOCH_REQUEST__INIT;
    const ProtobufCServiceDescriptor *service = &torg__v1__epoch_service__descriptor;
    unsigned drawn = draw_below(&actor->rng, 100);
    struct arena *arena = arena_new();

    start.client = change.client = back.client = abandon.client = client;
    dress(actor, index, &start, arena);
    if (!index && misfits_may_be_left_out(model))
        change.accept_losses = back.accept_losses = draw_chance(&actor->rng, 900);
    if (change.accept_losses && drawn >= 40 && drawn < 85)
        model->is_loss_accepted = true;
    note_epochs(model);
    if (drawn >= 40 && drawn < 85)
        model->switched_us[index] = INT64_MAX; /* until it is done */
    if (drawn < 40)
        call(actor, service, "StartEpoch", client, &start.base);
    else if (drawn < 75)
        call(actor, service, "SwitchEpoch", client, &change.base);
    else if (drawn < 85)
        call(actor, service, "RollbackEpoch", client, &back.base);
    else
        call(actor, service, "AbandonEpoch", client, &abandon.base);
    if (drawn >= 40 && drawn < 85)
        model->switched_us[index] = now_mono_us();
    note_epochs(model);
    arena_free(arena);
}

/* ---- what cannot be read ---- */

const char *const garbage_stages[GARBAGE_STAGE_COUNT] = {"receiver", "opinions", "photos", "feeds"};
static const struct bytes garbage = {(const uint8_t *)"\xff\xff no message", 12};
#define MENDED_KEY "mended"

static void produce_garbage(struct actor *actor)
{
    static const char *const topics[GARBAGE_STAGE_COUNT] = {TOPIC_DOCUMENTS, TOPIC_OPINIONS,
                                                            TOPIC_PHOTO_RESULTS, TOPIC_FEED_EVENTS};
    unsigned stage = draw_below(&actor->rng, GARBAGE_STAGE_COUNT);
    const struct topic_record record = {.key = bytes_of("garbage"), .value = garbage};
    struct model *model = actor->crowd->model;
    struct err err;

    model_lock();
    model->garbage_count++;
    model_step(model, NULL, "garbage to %s", topics[stage]);
    model_unlock();
    if (topic_produce(actor->crowd->world->process.backends.topics, topics[stage], &record, 1, NULL,
                      &err))
        return;
    model_lock();
    model->is_garbage_kept[stage] = true;
    model_unlock();
}

static void drop_garbage(struct actor *actor)
{
    Torg__V1__DropParkedRequest drop = TORG__V1__DROP_PARKED_REQUEST__INIT;
    unsigned stage = draw_below(&actor->rng, GARBAGE_STAGE_COUNT);

    model_lock();
    actor->crowd->model->is_garbage_kept[stage] = false;
    model_unlock();
    drop.stage = (char *)garbage_stages[stage];
    drop.key = "garbage";
    drop.all = draw_chance(&actor->rng, 500);
    call(actor, &torg__v1__parked_service__descriptor, "DropParked", drop.stage, &drop.base);
}

/* An opinion that is old news, so that it changes nothing; of the key of the unreadable one. */
bool mended_resolve(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    Torg__V1__ModerationOpinion opinion = TORG__V1__MODERATION_OPINION__INIT;
    struct err err;

    if (!model->mended_slot)
        return true;
    opinion.offer_id = model->slots[model->mended_slot - 1].key;
    opinion.revision = 1;
    opinion.moderator = "sim";
    opinion.verdict = TORG__V1__MODERATION_OPINION__VERDICT__PASS;
    if (topic_send(actor, TOPIC_OPINIONS, MENDED_KEY, &opinion.base, &err))
        return false;
    model_lock();
    model_step(model, NULL, "opinion after garbage of its key");
    model->mended_slot = 0;
    model_unlock();
    return true;
}

/* With the lock: an offer that has had an opinion; 0: none has. */
static uint32_t find_judged(const struct model *model)
{
    for (uint32_t i = 0; i < model->slot_count; i++)
        if (model->slots[i].opinion_revision)
            return i + 1;
    return 0;
}

/* What cannot be read is parked, and goes when something newer of its key was used. */
static void mend_garbage(struct actor *actor)
{
    const struct topic_record record = {.key = bytes_of(MENDED_KEY), .value = garbage};
    struct model *model = actor->crowd->model;
    struct err err;

    model_lock();
    if (!model->mended_slot)
        model->mended_slot = find_judged(model);
    if (model->mended_slot)
        model_step(model, NULL, "garbage among opinions");
    model_unlock();
    if (!model->mended_slot || topic_produce(actor->crowd->world->process.backends.topics,
                                             TOPIC_OPINIONS, &record, 1, NULL, &err))
        return;
    pause_us((int64_t)draw_below(&actor->rng, 2) * SECOND_US);
    mended_resolve(actor);
}

static void replay(struct actor *actor)
{
    Torg__V1__ReplayParkedRequest parked = TORG__V1__REPLAY_PARKED_REQUEST__INIT;
    Torg__V1__ReplayFailedRequest failed = TORG__V1__REPLAY_FAILED_REQUEST__INIT;

    parked.all = failed.all = true;
    failed.client = (char *)client_names[draw_below(&actor->rng, CLIENT_COUNT)];
    call(actor, &torg__v1__parked_service__descriptor, "ReplayParked", "all", &parked.base);
    call(actor, &torg__v1__queue_service__descriptor, "ReplayFailed", failed.client, &failed.base);
}

void operator_step(struct actor *actor)
{
    unsigned drawn = draw_below(&actor->rng, 100);

    if (drawn < 20)
        change_catalog(actor);
    else if (drawn < 60)
        epoch_move(actor, draw_below(&actor->rng, INDEX_COUNT));
    else if (drawn < 72)
        produce_garbage(actor);
    else if (drawn < 80)
        mend_garbage(actor);
    else if (drawn < 90)
        drop_garbage(actor);
    else
        replay(actor);
}

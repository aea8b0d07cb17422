/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.c - see crowd.h. */
#include "sim/crowd.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/message.h"

const char *const seller_names[SELLER_COUNT] = {"anna", "boris"};
const char *const client_names[CLIENT_COUNT] = {"shop", "news"};

static void run_actor(struct task *task, void *arg)
{
    struct actor *actor = arg;

    while (task_pause(task, 1 + (int64_t)rng_below(&actor->rng, (uint64_t)actor->pause_us * 2)))
        actor->step(actor);
}

static const struct part {
    const char *name;
    void (*step)(struct actor *actor);
    unsigned count;
    unsigned slowness; /* times the usual pause */
} parts[] = {
    {"seller", seller_step, SELLER_COUNT, 1},
    {"moderator", moderator_step, 1, 3},
    {"photographer", photographer_step, 1, 2},
    {"feeder", feeder_step, FEED_COUNT, 6},
    {"client", client_step, CLIENT_COUNT, 1},
    {"buyer", buyer_step, 1, 1},
    {"reader", reader_step, 1, 1},
    {"operator", operator_step, 1, 12},
    {"misfit", misfit_step, 1, 2},
    {"snippeteer", snippeteer_step, 1, 1},
};

void crowd_start(struct crowd *crowd, struct world *world, struct model *model, int64_t pause_us)
{
    *crowd = (struct crowd){.world = world, .model = model};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        for (unsigned number = 0; number < parts[i].count; number++) {
            struct actor *actor = &crowd->actors[crowd->actor_count];
            unsigned who = (unsigned)crowd->actor_count++;

            assert(who < ACTOR_COUNT_MAX);
            *actor = (struct actor){.crowd = crowd,
                                    .number = number,
                                    .rng = draw_for(model->seed, model->life, who),
                                    .step = parts[i].step,
                                    .pause_us = pause_us * parts[i].slowness};
        }
    }
    for (size_t i = 0, k = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        for (unsigned number = 0; number < parts[i].count; number++, k++) {
            const struct task_options options = {.name = parts[i].name,
                                                 .run = run_actor,
                                                 .arg = &crowd->actors[k],
                                                 .clock = clock_system()};

            if (task_start(&crowd->actors[k].task, &options, NULL))
                abort();
        }
    }
}

void crowd_stop(struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->actor_count; i++)
        task_ask_stop(&crowd->actors[i].task);
    for (size_t i = 0; i < crowd->actor_count; i++)
        task_stop(&crowd->actors[i].task);
}

/* ---- what they share ---- */

bool is_unsure(int rc)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_TIMEOUT || rc == ERR_CANCELLED || rc == ERR_LIMIT;
}

int topic_send(struct actor *actor, const char *topic, const char *key,
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

bool slot_take(struct slot *slot)
{
    bool is_free;

    model_lock();
    is_free = !slot->is_busy && !slot->is_over && slot_has_room(slot);
    slot->is_busy |= is_free;
    model_unlock();
    return is_free;
}

void slot_give(struct slot *slot)
{
    model_lock();
    slot->is_busy = false;
    model_unlock();
}

struct slot *slot_draw(struct actor *actor, enum slot_kind kind, unsigned owner)
{
    struct model *model = actor->crowd->model;
    uint32_t found[SLOT_COUNT_MAX];
    uint32_t count = 0;
    struct slot *slot;

    model_lock();
    for (uint32_t i = 0; i < model->slot_count; i++) {
        slot = &model->slots[i];
        if (slot->kind == kind && slot->owner == owner && !slot->is_over)
            found[count++] = i;
    }
    model_unlock();
    if (count == 0)
        return NULL;
    slot = &model->slots[found[draw_below(&actor->rng, count)]];
    return slot_take(slot) ? slot : NULL;
}

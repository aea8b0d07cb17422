/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_feeds.c - sellers who send all they have again and again, by calls or by a topic: rows go
 * and come back, change or stay, and a task is undone now and then. Between two tasks they change
 * an offer of theirs by hand, which undoing the task leaves as it is. Nobody else touches them.
 *
 * A task that was not answered is sent again as it was, until it is over.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "model/topics.h"
#include "sim/crowd.h"
#include "torg/v1/feed.pb-c.h"

enum { EVENT_COUNT_MAX = FEED_ROW_COUNT + 2, LOOK_COUNT = 200, LOOK_US = 100 * MS_US };
typedef Torg__V1__FeedEvent Event;
typedef Torg__V1__FeedTask Task;

static const char *const names[FEED_COUNT] = {"fedor", "foma"};

/* ---- what a task makes of the rows ---- */

/* With the lock. */
static struct slot *row_slot(struct model *model, unsigned number, unsigned row)
{
    struct model_feed *feed = &model->feeds[number];
    struct slot *slot;

    if (feed->slots[row])
        return &model->slots[feed->slots[row] - 1];
    slot = model_add(model, SLOT_ROW, number);
    if (slot) {
        slot->category = row % 2 ? CATEGORY_BIKES : CATEGORY_BOOKS;
        feed->slots[row] = model_slot_number(model, slot) + 1;
    }
    return slot;
}

/* With the lock: what becomes of each row when `next` is what the feed has. */
static void ask_rows(struct model *model, unsigned number, const struct feed_state *next)
{
    struct model_feed *feed = &model->feeds[number];

    feed->before = feed->now;
    feed->now = *next;
    for (unsigned row = 0; row < FEED_ROW_COUNT; row++) {
        struct slot *slot = feed->slots[row] ? row_slot(model, number, row) : NULL;
        const struct entry entry = {.stamp = next->stamps[row], .is_shown = next->stamps[row] != 0};

        if (!slot || feed->before.stamps[row] == next->stamps[row])
            continue;
        slot_ask(slot, 1, &entry);
        model_step(model, slot, "row %u of %s, task %d: stamp %u", row, names[number],
                   (int)feed->task, entry.stamp);
    }
    model->asked_count++;
}

static void settle_rows(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct model_feed *feed = &model->feeds[number];

    model_lock();
    for (unsigned row = 0; row < FEED_ROW_COUNT; row++) {
        struct slot *slot = feed->slots[row] ? row_slot(model, number, row) : NULL;

        if (!slot || !slot->ask.what)
            continue;
        slot->stamp = slot->ask.stamp;
        slot_settle(slot, true);
    }
    model_step(model, NULL, "task %d of %s is over", (int)feed->task, names[number]);
    feed->can_undo = feed->doing == FEED_SENDING;
    feed->doing = FEED_IDLE;
    memset(feed->is_touched, 0, sizeof(feed->is_touched));
    model_unlock();
}

/* Room for an entry in each row. */
static bool has_room(struct model *model, unsigned number)
{
    struct model_feed *feed = &model->feeds[number];

    for (unsigned row = 0; row < FEED_ROW_COUNT; row++)
        if (feed->slots[row] && !slot_has_room(&model->slots[feed->slots[row] - 1]))
            return false;
    return true;
}

/* ---- calls ---- */

static int call_feeds(struct actor *actor, unsigned number, const char *method,
                      const ProtobufCMessage *request, struct arena *arena, Task **task,
                      struct err *err)
{
    const struct caller caller = {.seller = names[number]};
    ProtobufCMessage *answer = NULL;
    int rc = world_call(actor->crowd->world, &torg__v1__feed_service__descriptor, method, &caller,
                        request, arena, &answer, err);

    *task = (Task *)answer;
    return rc;
}

static int ask_task(struct actor *actor, unsigned number, const char *method, struct arena *arena,
                    Task **task, struct err *err)
{
    Torg__V1__FeedTaskRequest request = TORG__V1__FEED_TASK_REQUEST__INIT;

    request.feed = "main";
    request.task_id = actor->crowd->model->feeds[number].task;
    return call_feeds(actor, number, method, &request.base, arena, task, err);
}

static Event *add_event(Event **events, size_t *count, int kind, int64_t task, struct arena *arena)
{
    Event *event = (Event *)message_new(&torg__v1__feed_event__descriptor, arena);

    event->feed = "main";
    event->task_id = task;
    event->event_case = (Torg__V1__FeedEvent__EventCase)kind;
    events[(*count)++] = event;
    return event;
}

static size_t make_events(const struct model *model, unsigned number, Event **events,
                          struct arena *arena)
{
    const struct model_feed *feed = &model->feeds[number];
    int64_t row_count = 0;
    size_t count = 0;
    Event *event;

    event = add_event(events, &count, TORG__V1__FEED_EVENT__EVENT_OPEN, feed->task, arena);
    event->open = (Torg__V1__FeedOpen *)message_new(&torg__v1__feed_open__descriptor, arena);
    for (unsigned row = 0; row < FEED_ROW_COUNT; row++) {
        if (!feed->now.stamps[row])
            continue;
        event = add_event(events, &count, TORG__V1__FEED_EVENT__EVENT_UPSERT, feed->task, arena);
        event->upsert =
            (Torg__V1__FeedUpsert *)message_new(&torg__v1__feed_upsert__descriptor, arena);
        event->upsert->row = ++row_count;
        event->upsert->external_id = arena_printf(arena, "row-%u", row);
        event->upsert->content =
            offer_content_of(&model->slots[feed->slots[row] - 1], feed->now.stamps[row], arena);
    }
    event = add_event(events, &count, TORG__V1__FEED_EVENT__EVENT_END, feed->task, arena);
    event->end = (Torg__V1__FeedEnd *)message_new(&torg__v1__feed_end__descriptor, arena);
    event->end->row_count = row_count;
    return count;
}

/* Record by record; what becomes of it is asked for afterwards. */
static int send_by_topic(struct actor *actor, unsigned number, Event *const *events, size_t count,
                         struct arena *arena, struct err *err)
{
    const char *key = arena_printf(arena, "%s/main", names[number]);
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        events[i]->seller = (char *)names[number];
        rc = topic_send(actor, TOPIC_FEED_EVENTS, key, &events[i]->base, err);
    }
    return rc;
}

/* By the topic, in one call, or in two. */
static int send_task(struct actor *actor, unsigned number, struct arena *arena, Task **task,
                     struct err *err)
{
    Torg__V1__SendFeedEventsRequest request = TORG__V1__SEND_FEED_EVENTS_REQUEST__INIT;
    Event *events[EVENT_COUNT_MAX];
    size_t count = make_events(actor->crowd->model, number, events, arena);
    size_t first = draw_chance(&actor->rng, 500) ? count : 1 + draw_below(&actor->rng, count - 1);
    int rc;

    if (draw_chance(&actor->rng, 300)) {
        rc = send_by_topic(actor, number, events, count, arena, err);
        return rc ? rc : ask_task(actor, number, "GetTask", arena, task, err);
    }
    request.events = events;
    request.n_events = first;
    rc = call_feeds(actor, number, "SendEvents", &request.base, arena, task, err);
    if (rc || first == count)
        return rc;
    request.events = events + first;
    request.n_events = count - first;
    return call_feeds(actor, number, "SendEvents", &request.base, arena, task, err);
}

/* ---- going on with a task ---- */

static void check_failure(struct actor *actor, unsigned number, int rc, const struct err *err)
{
    struct model *model = actor->crowd->model;

    if (rc && !is_unsure(rc))
        model_fail(model, NULL, "task %d of %s: %s", (int)model->feeds[number].task, names[number],
                   err->text);
    model_lock();
    model->unsure_count += rc != 0;
    model_unlock();
}

static bool is_under_way(int rc, const Task *task, int wanted)
{
    return rc == ERR_NOT_FOUND || (!rc && (int)task->state != wanted);
}

/* ---- by hand ---- */

static int call_offers(struct actor *actor, unsigned number, const char *method, uint32_t once,
                       const ProtobufCMessage *request, struct arena *arena,
                       ProtobufCMessage **answer, struct err *err)
{
    const struct caller caller = {.seller = names[number],
                                  .once_key = once ? arena_printf(arena, "once-%u", once) : NULL};

    return world_call(actor->crowd->world, &torg__v1__offer_service__descriptor, method, &caller,
                      request, arena, answer, err);
}

/* The change of the touched row, for the first time or again. */
static void send_touch(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct model_feed *feed = &model->feeds[number];
    struct slot *slot = &model->slots[feed->slots[feed->touch_row] - 1];
    Torg__V1__UpdateOfferRequest update = TORG__V1__UPDATE_OFFER_REQUEST__INIT;
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;
    int rc;

    update.id = slot->key;
    update.expected_revision = feed->touch_revision;
    update.content = offer_content_of(slot, slot->ask.stamp, arena);
    update.content->external_id = arena_printf(arena, "row-%u", feed->touch_row);
    rc = call_offers(actor, number, "UpdateOffer", feed->touch_once, &update.base, arena, &answer,
                     &err);
    if (rc && !is_unsure(rc))
        model_fail(model, slot, "a right change by hand was refused: %s", err.text);
    model_lock();
    model->unsure_count += rc != 0;
    if (!rc) {
        feed->now.stamps[feed->touch_row] = slot->stamp = slot->ask.stamp;
        feed->is_touched[feed->touch_row] = true;
        feed->doing = FEED_IDLE;
        slot_settle(slot, true);
        model_step(model, slot, "row %u of %s was changed by hand: stamp %u", feed->touch_row,
                   names[number], slot->stamp);
    }
    model_unlock();
    arena_free(arena);
}

/* A row that searches have shown: its offer's id is known from there. */
static void begin_touch(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct model_feed *feed = &model->feeds[number];
    unsigned row = draw_below(&actor->rng, FEED_ROW_COUNT);
    struct slot *slot = feed->slots[row] ? &model->slots[feed->slots[row] - 1] : NULL;
    Torg__V1__GetOfferRequest get = TORG__V1__GET_OFFER_REQUEST__INIT;
    struct entry entry = {.is_shown = true};
    struct arena *arena = arena_new();
    ProtobufCMessage *answer;
    struct err err;

    if (slot && *slot->key && feed->now.stamps[row]) {
        get.id = slot->key;
        if (!call_offers(actor, number, "GetOffer", 0, &get.base, arena, &answer, &err)) {
            model_lock();
            entry.stamp = model_stamp(model, slot);
            slot_ask(slot, 1, &entry);
            feed->touch_row = row;
            feed->touch_once = ++model->once_count;
            feed->touch_revision = ((Torg__V1__Offer *)answer)->revision;
            feed->doing = FEED_TOUCHING;
            model_unlock();
            send_touch(actor, number);
        }
    }
    arena_free(arena);
}

/* ---- all ---- */

bool feed_resolve(struct actor *actor, unsigned number)
{
    struct model_feed *feed = &actor->crowd->model->feeds[number];
    struct arena *arena;
    struct err err;
    Task *task;
    int wanted, rc;

    if (feed->doing == FEED_TOUCHING)
        send_touch(actor, number);
    if (feed->doing == FEED_IDLE || feed->doing == FEED_TOUCHING)
        return feed->doing == FEED_IDLE;
    arena = arena_new();
    wanted = feed->doing == FEED_SENDING ? TORG__V1__FEED_TASK__STATE__DONE
                                         : TORG__V1__FEED_TASK__STATE__UNDONE;
    rc = ask_task(actor, number, "GetTask", arena, &task, &err);
    if (rc == ERR_NOT_FOUND || (!rc && (int)task->state != wanted))
        rc = feed->doing == FEED_SENDING ? send_task(actor, number, arena, &task, &err)
                                         : ask_task(actor, number, "UndoTask", arena, &task, &err);
    for (unsigned i = 0; i < LOOK_COUNT && is_under_way(rc, task, wanted); i++) {
        if (!rc && task->state == TORG__V1__FEED_TASK__STATE__HELD)
            model_fail(actor->crowd->model, NULL, "task %d of %s is held: %d", (int)feed->task,
                       names[number], (int)task->hold);
        pause_us(LOOK_US);
        rc = ask_task(actor, number, "GetTask", arena, &task, &err);
    }
    if (rc != ERR_NOT_FOUND) /* what went by the topic is not read yet */
        check_failure(actor, number, rc, &err);
    if (!rc && (int)task->state == wanted)
        settle_rows(actor, number);
    arena_free(arena);
    return feed->doing == FEED_IDLE;
}

/* ---- steps ---- */

/* With the lock. */
static struct feed_state draw_next(struct actor *actor, unsigned number)
{
    struct model *model = actor->crowd->model;
    struct model_feed *feed = &model->feeds[number];
    struct feed_state next = {.stamps = {0}};
    unsigned always = draw_below(&actor->rng, FEED_ROW_COUNT); /* an empty one would be held */

    for (unsigned row = 0; row < FEED_ROW_COUNT; row++) {
        struct slot *slot;

        if (row != always && !draw_chance(&actor->rng, 800))
            continue;
        slot = row_slot(model, number, row);
        if (!slot)
            continue;
        next.stamps[row] = feed->now.stamps[row] && draw_chance(&actor->rng, 500)
                               ? feed->now.stamps[row]
                               : model_stamp(model, slot);
    }
    return next;
}

/* What undoing the newest task gives back. */
static struct feed_state state_before(const struct model_feed *feed)
{
    struct feed_state before = feed->before;

    for (unsigned row = 0; row < FEED_ROW_COUNT; row++)
        if (feed->is_touched[row])
            before.stamps[row] = feed->now.stamps[row];
    return before;
}

void feeder_step(struct actor *actor)
{
    struct model *model = actor->crowd->model;
    unsigned number = actor->number;
    struct model_feed *feed = &model->feeds[number];
    struct feed_state next;

    if (model->wall_step_us) /* rows end by themselves then, which the model does not follow */
        return;
    if (feed->doing == FEED_IDLE && has_room(model, number) && draw_chance(&actor->rng, 300)) {
        begin_touch(actor, number);
    } else if (feed->doing == FEED_IDLE && has_room(model, number)) {
        model_lock();
        if (feed->can_undo && draw_chance(&actor->rng, 300)) {
            next = state_before(feed);
            feed->doing = FEED_UNDOING;
        } else {
            next = draw_next(actor, number);
            feed->task++;
            feed->doing = FEED_SENDING;
        }
        ask_rows(model, number, &next);
        model_unlock();
    }
    feed_resolve(actor, number);
}

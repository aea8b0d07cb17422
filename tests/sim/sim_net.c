/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_net.c - see sim_net.h.
 *
 * One lock for all: chance, rates, states and wires. Nothing is called with it held.
 */
#include "sim/sim_net.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/random.h"
#include "coord/backend.h"
#include "sim/sim_backends.h"
#include "sim/sim_late.h"
#include "store/store.h"
#include "topic/topic.h"

/* Of the store: readers are quicker behind a short log. */
enum { WAL_PAGE_COUNT = 400 };
enum state { RUNNING, FROZEN, DEAD };

struct event {
    struct event *next;
    const void *owner;
    int64_t due_us;
    void (*run)(void *arg);
    void *arg;
};

struct sim_node {
    struct clock clock;
    struct sim_node *next;
    struct sim_net *net;
    char name[SIM_NODE_NAME_SIZE];
    char life[SIM_NODE_NAME_SIZE + 16]; /* the name and a number */
    _Atomic int64_t wall_off_us;
    _Atomic int64_t mono_off_us;
    _Atomic int state;
    unsigned group; /* the runtime's number of its threads */
    bool is_cut[SIM_SERVICE_COUNT];

    pthread_t wire;
    bool is_closing;
    struct event *events;  /* by their times */
    const void *delivered; /* the owner whose event is being run */
};

struct sim_net {
    const struct clock *clock;
    struct store *store;   /* owned */
    struct topics *topics; /* owned */
    char board[SIM_NODE_NAME_SIZE];

    struct condition changed; /* of a state or a wire */
    struct rng rng;
    struct sim_rates rates[SIM_SERVICE_COUNT];
    bool is_away[SIM_SERVICE_COUNT];
    _Atomic bool is_dripping;
    struct sim_node *members;
    unsigned life_count;
    sim_record_fn *watch;
    void *watch_arg;
};

/* The program's, so that a runtime kills nobody who has it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_net *the_net; /* that URLs mean */
static _Thread_local unsigned serving;

/*
 * Of a runtime that has the threads in its hand (sim.h): they belong to members, who are frozen and
 * killed wherever they are. Without one they are stopped where they meet the clock or a server.
 * Member 0 is never stopped: the servers and the crowd.
 */
unsigned sim_member_new(const char *name) __attribute__((weak));
unsigned sim_member_current(void) __attribute__((weak));
void sim_member_enter(unsigned member) __attribute__((weak));
void sim_member_freeze(unsigned member, bool is_frozen) __attribute__((weak));
void sim_member_kill(unsigned member) __attribute__((weak));
void sim_member_set_wall(unsigned member, int64_t ahead_us) __attribute__((weak));

static const char *const service_names[] = {"store", "topics", "coordination"};

/* --- the net --- */

int sim_net_open(uint64_t seed, const struct clock *clock, const char *dir, struct sim_net **net,
                 struct err *err)
{
    static _Atomic unsigned number;
    struct sim_net *self = mem_zero(sizeof(*self));
    struct store_options store = {.clock = clock_or_system(clock),
                                  .wal_page_count = WAL_PAGE_COUNT};
    struct topics_options topics = {.clock = clock_or_system(clock)};
    char url[4096];
    int rc;

    assert(!the_net);
    self->clock = clock_or_system(clock);
    self->rng = rng_seeded(seed);
    snprintf(self->board, sizeof(self->board), "memory:sim-%u", atomic_fetch_add(&number, 1));
    condition_init(&self->changed, self->clock);
    snprintf(url, sizeof(url), dir ? "sqlite:%s/store.db" : "sqlite::memory:", dir);
    rc = store_open_with(url, &store, &self->store, err);
    if (!rc)
        rc = topics_open("memory:", &topics, &self->topics, err);
    the_net = self;
    if (rc) {
        sim_net_close(self);
        return rc;
    }
    sim_backends_add();
    *net = self;
    return 0;
}

void sim_net_close(struct sim_net *net)
{
    late_wait(net->clock);
    sim_backends_remove();
    the_net = NULL;
    if (net->members)
        return;
    topics_close(net->topics);
    store_close(net->store);
    condition_release(&net->changed);
    free(net);
}

void sim_net_set_rates(struct sim_net *net, enum sim_service service, const struct sim_rates *rates)
{
    pthread_mutex_lock(&lock);
    net->rates[service] = *rates;
    pthread_mutex_unlock(&lock);
}

void sim_net_set_away(struct sim_net *net, enum sim_service service, bool is_away)
{
    pthread_mutex_lock(&lock);
    net->is_away[service] = is_away;
    pthread_mutex_unlock(&lock);
}

void sim_net_drip(struct sim_net *net)
{
    atomic_store(&net->is_dripping, true);
}

bool sim_net_drips(const struct sim_net *net, const char *topic)
{
    return atomic_load(&net->is_dripping) && strncmp(topic, "index.", 6) == 0;
}

void sim_net_calm(struct sim_net *net)
{
    atomic_store(&net->is_dripping, false);
    pthread_mutex_lock(&lock);
    memset(net->rates, 0, sizeof(net->rates));
    memset(net->is_away, 0, sizeof(net->is_away));
    for (struct sim_node *each = net->members; each; each = each->next)
        memset(each->is_cut, 0, sizeof(each->is_cut));
    pthread_mutex_unlock(&lock);
}

uint64_t sim_net_draw(struct sim_net *net, uint64_t bound)
{
    uint64_t drawn;

    pthread_mutex_lock(&lock);
    drawn = rng_below(&net->rng, bound);
    pthread_mutex_unlock(&lock);
    return drawn;
}

bool sim_net_chance(struct sim_net *net, unsigned permille)
{
    return permille > 0 && sim_net_draw(net, 1000) < permille;
}

void sim_net_watch(struct sim_net *net, sim_record_fn *watch, void *arg)
{
    net->watch = watch;
    net->watch_arg = arg;
}

void sim_see_record(struct sim_node *member, const char *topic, struct bytes value)
{
    if (member->net->watch)
        member->net->watch(member->net->watch_arg, member->life, topic, value);
}

struct store *sim_net_store(struct sim_net *net)
{
    return net->store;
}

struct topics *sim_net_topics(struct sim_net *net)
{
    return net->topics;
}

const struct clock *sim_net_clock(struct sim_net *net)
{
    return net->clock;
}

const char *sim_net_board(const struct sim_net *net)
{
    return net->board;
}

/* --- a member's threads stop here while it is frozen, and for ever once it is dead --- */

static void pass_gate(const struct sim_node *member)
{
    struct sim_net *net = member->net;

    if (serving || atomic_load(&member->state) == RUNNING)
        return;
    pthread_mutex_lock(&lock);
    while (atomic_load(&member->state) != RUNNING)
        condition_wait(&net->changed, &lock);
    pthread_mutex_unlock(&lock);
}

void sim_serve_begin(void)
{
    serving++;
}

void sim_serve_end(void)
{
    assert(serving > 0);
    serving--;
}

static void enter_group(unsigned group)
{
    if (sim_member_enter)
        sim_member_enter(group);
}

/* The thread is the server's, or the member's again. */
void sim_arrive(void)
{
    enter_group(0);
    sim_serve_begin();
}

void sim_leave(struct sim_node *member)
{
    sim_serve_end();
    if (!serving) { /* else a server's thread runs a member's function, which calls a server */
        enter_group(member->group);
        pass_gate(member);
    }
}

void sim_node_run(struct sim_node *member, void (*run)(void *arg), void *arg)
{
    unsigned before = sim_member_current ? sim_member_current() : 0;

    enter_group(member->group);
    run(arg);
    enter_group(before);
}

/* --- a member's clock --- */

static const struct sim_node *member_of(const struct clock *clock)
{
    return container_of(clock, const struct sim_node, clock);
}

static int64_t member_wall(const struct clock *clock)
{
    const struct sim_node *member = member_of(clock);

    pass_gate(member);
    return clock_wall_us(member->net->clock) + atomic_load(&member->wall_off_us);
}

static int64_t member_mono(const struct clock *clock)
{
    const struct sim_node *member = member_of(clock);

    pass_gate(member);
    return clock_mono_us(member->net->clock) + atomic_load(&member->mono_off_us);
}

static bool member_wait(const struct clock *clock, pthread_cond_t *changed, pthread_mutex_t *with,
                        int64_t until_us)
{
    const struct sim_node *member = member_of(clock);
    const struct clock *ours = member->net->clock;
    bool in_time;

    if (until_us != CLOCK_NEVER)
        until_us -= atomic_load(&member->mono_off_us);
    in_time = ours->wait(ours, changed, with, until_us);
    pass_gate(member);
    return in_time;
}

const struct clock *sim_node_clock(const struct sim_node *member)
{
    return &member->clock;
}

void sim_node_set_clock(struct sim_node *member, int64_t wall_off_us, int64_t mono_off_us)
{
    atomic_store(&member->wall_off_us, wall_off_us);
    atomic_store(&member->mono_off_us, mono_off_us);
}

void sim_node_jump(struct sim_node *member, int64_t by_us)
{
    atomic_fetch_add(&member->wall_off_us, by_us);
}

/* --- wires --- */

/* With the lock: the first event, if its time has come and the member lives; else waits for that.
 * False: the wire is taken down. */
static bool next_event(struct sim_node *member, struct event *taken)
{
    struct sim_net *net = member->net;

    for (;;) {
        struct event *first = member->events;

        if (member->is_closing)
            return false;
        if (atomic_load(&member->state) != RUNNING || !first) {
            condition_wait(&net->changed, &lock);
        } else if (clock_mono_us(net->clock) < first->due_us) {
            (void)condition_wait_until(&net->changed, &lock, first->due_us);
        } else {
            *taken = *first;
            member->events = first->next;
            free(first);
            return true;
        }
    }
}

static void *run_wire(void *arg)
{
    struct sim_node *member = arg;
    struct sim_net *net = member->net;
    struct event event;

    pthread_mutex_lock(&lock);
    while (next_event(member, &event)) {
        member->delivered = event.owner;
        pthread_mutex_unlock(&lock);
        event.run(event.arg);
        pthread_mutex_lock(&lock);
        member->delivered = NULL;
        condition_broadcast(&net->changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

void sim_wire_post(struct sim_node *member, const void *owner, int64_t due_us,
                   void (*run)(void *arg), void *arg)
{
    struct sim_net *net = member->net;
    struct event *event = mem_zero(sizeof(*event));
    struct event **link = &member->events;

    *event = (struct event){.owner = owner, .due_us = due_us, .run = run, .arg = arg};
    pthread_mutex_lock(&lock);
    while (*link && (*link)->due_us <= due_us)
        link = &(*link)->next;
    event->next = *link;
    *link = event;
    condition_broadcast(&net->changed);
    pthread_mutex_unlock(&lock);
}

void sim_wire_forget(struct sim_node *member, const void *owner, void (*drop)(void *arg))
{
    struct sim_net *net = member->net;
    struct event **link = &member->events;

    pthread_mutex_lock(&lock);
    while (*link) {
        struct event *event = *link;

        if (event->owner != owner) {
            link = &event->next;
            continue;
        }
        *link = event->next;
        if (drop)
            drop(event->arg);
        free(event);
    }
    while (member->delivered == owner)
        condition_wait(&net->changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* --- members --- */

static void start_wire(void *arg)
{
    struct sim_node *member = arg;

    if (pthread_create(&member->wire, NULL, run_wire, member))
        abort();
}

struct sim_node *sim_node_new(struct sim_net *net, const char *name)
{
    struct sim_node *member = mem_zero(sizeof(*member));

    member->clock =
        (struct clock){.wall_us = member_wall, .mono_us = member_mono, .wait = member_wait};
    member->net = net;
    snprintf(member->name, sizeof(member->name), "%s", name);
    pthread_mutex_lock(&lock);
    snprintf(member->life, sizeof(member->life), "%s/%u", name, ++net->life_count);
    member->next = net->members;
    net->members = member;
    pthread_mutex_unlock(&lock);
    if (sim_member_new)
        member->group = sim_member_new(name);
    sim_node_run(member, start_wire, member);
    return member;
}

void sim_node_free(struct sim_node *member)
{
    struct sim_net *net;
    struct sim_node **link;

    if (!member)
        return;
    net = member->net;
    pthread_mutex_lock(&lock);
    assert(atomic_load(&member->state) == RUNNING);
    for (link = &net->members; *link != member;)
        link = &(*link)->next;
    *link = member->next;
    member->is_closing = true;
    condition_broadcast(&net->changed);
    pthread_mutex_unlock(&lock);
    pthread_join(member->wire, NULL);
    assert(!member->events);
    free(member);
}

static void set_state(struct sim_node *member, enum state state)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&member->state) != DEAD)
        atomic_store(&member->state, state);
    condition_broadcast(&member->net->changed);
    pthread_mutex_unlock(&lock);
    if (sim_member_kill && state == DEAD)
        sim_member_kill(member->group);
    else if (sim_member_freeze)
        sim_member_freeze(member->group, state == FROZEN);
}

void sim_node_freeze(struct sim_node *member)
{
    set_state(member, FROZEN);
}

void sim_node_thaw(struct sim_node *member)
{
    set_state(member, RUNNING);
}

void sim_node_kill(struct sim_node *member)
{
    set_state(member, DEAD);
}

bool sim_kills_at_once(void)
{
    return sim_member_kill != NULL;
}

void sim_node_cut(struct sim_node *member, enum sim_service service, bool is_cut)
{
    pthread_mutex_lock(&lock);
    member->is_cut[service] = is_cut;
    pthread_mutex_unlock(&lock);
}

int sim_node_find(const char *name, struct sim_node **member, struct err *err)
{
    struct sim_node *found = NULL;

    assert(the_net);
    pthread_mutex_lock(&lock);
    for (struct sim_node *each = the_net->members; each && !found; each = each->next) {
        if (strcmp(each->name, name) == 0 && atomic_load(&each->state) != DEAD)
            found = each;
    }
    pthread_mutex_unlock(&lock);
    *member = found;
    return found ? 0 : err_set(err, ERR_NOT_FOUND, "sim: there is no living member %.60s", name);
}

struct sim_net *sim_node_net(const struct sim_node *member)
{
    return member->net;
}

/* --- calls --- */

struct fate {
    bool is_away;
    bool is_lost;
    int64_t delay_us;
};

static struct fate draw_fate(struct sim_node *member, enum sim_service service, bool is_answer)
{
    struct sim_net *net = member->net;
    struct fate fate;

    pthread_mutex_lock(&lock);
    const struct sim_rates *rates = &net->rates[service];
    unsigned lose = is_answer ? rates->lose_answer : rates->lose_call;

    fate = (struct fate){.is_away = net->is_away[service] || member->is_cut[service],
                         .is_lost = lose && rng_below(&net->rng, 1000) < lose};
    if (rates->slow_ms && (fate.is_lost || rng_below(&net->rng, 1000) < rates->slow))
        fate.delay_us = (int64_t)rng_below(&net->rng, (uint64_t)rates->slow_ms * MS_US);
    pthread_mutex_unlock(&lock);
    return fate;
}

static int tell_lost(enum sim_service service, const struct fate *fate, bool is_answer,
                     struct err *err)
{
    if (!fate->is_away && !fate->is_lost)
        return 0;
    return err_set(err, ERR_UNAVAILABLE, "sim: %s: %s", service_names[service],
                   fate->is_away ? "the server is away"
                   : is_answer   ? "the answer was lost"
                                 : "the call was lost");
}

int sim_lose_answer(struct sim_node *member, enum sim_service service, struct err *err)
{
    struct fate fate = draw_fate(member, service, true);

    return tell_lost(service, &fate, true, err);
}

static int meet_fate(struct sim_node *member, enum sim_service service, bool is_answer,
                     struct err *err)
{
    struct fate fate = draw_fate(member, service, is_answer);

    if (fate.delay_us)
        clock_sleep(&member->clock, fate.delay_us);
    pass_gate(member);
    return tell_lost(service, &fate, is_answer, err);
}

int sim_call(struct sim_node *member, enum sim_service service, struct err *err)
{
    int rc;

    pass_gate(member);
    rc = meet_fate(member, service, false, err);
    if (!rc)
        sim_arrive();
    return rc;
}

int sim_answer(struct sim_node *member, enum sim_service service, int rc, struct err *err)
{
    struct err lost;
    int lost_rc;

    sim_leave(member);
    lost_rc = meet_fate(member, service, true, &lost);
    if (lost_rc && err)
        *err = lost;
    return lost_rc ? lost_rc : rc;
}

bool sim_strikes(struct sim_node *member, enum sim_service service)
{
    struct sim_net *net = member->net;
    bool strikes;

    pthread_mutex_lock(&lock);
    strikes = net->rates[service].strike && rng_below(&net->rng, 1000) < net->rates[service].strike;
    pthread_mutex_unlock(&lock);
    return strikes;
}

int64_t sim_delay_us(struct sim_node *member, enum sim_service service)
{
    struct fate fate = draw_fate(member, service, true);

    return fate.delay_us;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair.c - see fair.h.
 *
 * Callers with jobs are a heap by tag, the virtual time at which their next job starts; the time of
 * the queue is the tag of the last job taken. A caller with running_max running jobs is in a list
 * instead, until one of them has ended. Flows of a caller are in two lists (as flows of fq_codel
 * are): new ones, of which no job was taken since they came, go first; a flow with more jobs behind
 * its first goes to the end of the old ones, which take turns. After FAIR_DEEP new ones an old one
 * is next. A flow is forgotten when it is empty, a caller when all its flows are and the queue's
 * time has passed its tag.
 */
#include "base/fair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/workers.h"

enum {
    TABLE_SIZE = 1024, /* chains; callers and flows are some thousands at most */
    FIRST_COST_US = 1000,
    COST_WEIGHT = 8, /* of what is known, beside one new cost */
    LOOK_COUNT = 64, /* flows that are looked at to reckon a wait */
};

enum { FLOWS_NEW, FLOWS_OLD, FLOWS_COUNT };

struct flow {
    struct flow *next_same; /* of the chain */
    struct caller *caller;
    uint64_t id;
    struct flow *next; /* of the list */
    struct flow *previous;
    unsigned list; /* FLOWS_* */
    struct job *first;
    struct job *last;
    unsigned count;
};

struct caller {
    struct caller *next_same; /* of the chain */
    uint64_t id;
    int64_t tag_us;
    int64_t cost_us;  /* of one of its jobs, as far as is known */
    int64_t spent_us; /* by the clock */
    size_t place;     /* in the heap, from 1; 0: no job waits, or it is sated */
    struct caller *next_sated;
    unsigned count; /* jobs that wait */
    unsigned running;
    unsigned new_taken; /* jobs of new flows since one of an old flow was taken */
    struct flow *first[FLOWS_COUNT];
    struct flow *last[FLOWS_COUNT];
    unsigned flow_counts[FLOWS_COUNT];
};

enum { FAIR_MAGIC = OBJECT_MAGIC('f', 'a', 'i', 'r') };

struct fair {
    uint32_t magic;
    unsigned job_max;
    unsigned running_max;
    unsigned count;
    unsigned running;
    int64_t now_us;                     /* virtual */
    int64_t most_us;                    /* the greatest tag there ever was */
    struct caller *callers[TABLE_SIZE]; /* owned */
    size_t caller_count;
    struct flow *flows[TABLE_SIZE]; /* owned */
    struct caller **heap;           /* from 1 */
    size_t heap_count;
    struct caller *sated; /* jobs of them wait, and as many run as may */
    size_t sated_count;
};

struct fair *fair_new(unsigned job_max, unsigned running_max)
{
    struct fair *fair = mem_zero(sizeof(*fair));

    object_begin(fair, FAIR_MAGIC);
    fair->job_max = job_max;
    fair->running_max = running_max;
    fair->heap = mem_array((size_t)job_max + 2, sizeof(*fair->heap)); /* a caller has a job */
    return fair;
}

void fair_free(struct fair *fair)
{
    if (!fair)
        return;
    object_check(fair, FAIR_MAGIC);
    assert(fair->count == 0);
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        assert(!fair->flows[i]);
        while (fair->callers[i]) {
            struct caller *next = fair->callers[i]->next_same;

            free(fair->callers[i]);
            fair->callers[i] = next;
        }
    }
    free(fair->heap);
    object_end(fair, FAIR_MAGIC);
    free(fair);
}

unsigned fair_count(const struct fair *fair)
{
    return fair->count;
}

bool fair_has_next(const struct fair *fair)
{
    object_check(fair, FAIR_MAGIC);
    return fair->heap_count > 0;
}

/* --- the heap --- */

static void put(struct fair *fair, struct caller *caller, size_t place)
{
    fair->heap[place] = caller;
    caller->place = place;
}

static void sift_up(struct fair *fair, struct caller *caller, size_t place)
{
    while (place > 1 && fair->heap[place / 2]->tag_us >= caller->tag_us) { /* new ones first */
        put(fair, fair->heap[place / 2], place);
        place /= 2;
    }
    put(fair, caller, place);
}

static void sift_down(struct fair *fair, struct caller *caller, size_t place)
{
    for (;;) {
        size_t child = 2 * place;

        if (child > fair->heap_count)
            break;
        if (child < fair->heap_count && fair->heap[child + 1]->tag_us < fair->heap[child]->tag_us)
            child++;
        if (fair->heap[child]->tag_us >= caller->tag_us)
            break;
        put(fair, fair->heap[child], place);
        place = child;
    }
    put(fair, caller, place);
}

static void heap_add(struct fair *fair, struct caller *caller)
{
    assert(!caller->place && fair->heap_count < (size_t)fair->job_max + 1);
    fair->heap_count++;
    sift_up(fair, caller, fair->heap_count);
}

static void heap_remove(struct fair *fair, struct caller *caller)
{
    struct caller *last = fair->heap[fair->heap_count];
    size_t place = caller->place;

    assert(place && fair->heap[place] == caller);
    caller->place = 0;
    fair->heap_count--;
    if (last == caller)
        return;
    sift_down(fair, last, place);
    sift_up(fair, last, last->place);
}

static bool is_sated(const struct fair *fair, const struct caller *caller)
{
    return fair->running_max && caller->id && caller->running >= fair->running_max;
}

/* It has jobs that wait. */
static void stand_in_line(struct fair *fair, struct caller *caller)
{
    assert(caller->count > 0);
    if (!is_sated(fair, caller)) {
        heap_add(fair, caller);
        return;
    }
    caller->next_sated = fair->sated;
    fair->sated = caller;
    fair->sated_count++;
}

static void leave_sated(struct fair *fair, struct caller *caller)
{
    struct caller **at = &fair->sated;

    while (*at != caller)
        at = &(*at)->next_sated;
    *at = caller->next_sated;
    assert(fair->sated_count > 0);
    fair->sated_count--;
}

static void leave_line(struct fair *fair, struct caller *caller)
{
    if (caller->place)
        heap_remove(fair, caller);
    else
        leave_sated(fair, caller);
}

static void move(struct fair *fair, struct caller *caller, int64_t tag_us)
{
    caller->tag_us = tag_us;
    if (tag_us > fair->most_us)
        fair->most_us = tag_us;
    if (!caller->place)
        return;
    sift_down(fair, caller, caller->place);
    sift_up(fair, caller, caller->place);
}

/* --- callers --- */

static struct caller **chain_of(struct fair *fair, uint64_t id)
{
    return &fair->callers[(id ^ id >> 32) % TABLE_SIZE];
}

static struct caller *find_caller(const struct fair *fair, uint64_t id)
{
    struct caller *caller = *chain_of((struct fair *)fair, id);

    while (caller && caller->id != id)
        caller = caller->next_same;
    return caller;
}

/* Forgets those who owe nothing; when all owe, those who have nothing here. */
static void sweep(struct fair *fair, bool owing)
{
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        struct caller **at = &fair->callers[i];

        while (*at) {
            struct caller *caller = *at;

            if (caller->count || caller->running || (caller->tag_us > fair->now_us && !owing)) {
                at = &caller->next_same;
                continue;
            }
            *at = caller->next_same;
            fair->caller_count--;
            free(caller);
        }
    }
}

static struct caller *get_caller(struct fair *fair, uint64_t id)
{
    struct caller *caller = find_caller(fair, id);

    if (caller)
        return caller;
    if (fair->caller_count >= FAIR_CALLER_COUNT_MAX)
        sweep(fair, false);
    if (fair->caller_count >= FAIR_CALLER_COUNT_MAX)
        sweep(fair, true);
    caller = mem_zero(sizeof(*caller));
    caller->id = id;
    caller->cost_us = caller->spent_us = FIRST_COST_US;
    caller->next_same = *chain_of(fair, id);
    *chain_of(fair, id) = caller;
    fair->caller_count++;
    return caller;
}

/* --- flows --- */

static struct flow **flow_chain(struct fair *fair, uint64_t caller, uint64_t id)
{
    uint64_t mixed = (caller ^ id * 0x9e3779b97f4a7c15u);

    return &fair->flows[(mixed ^ mixed >> 32) % TABLE_SIZE];
}

static void list_flow(struct flow *flow, unsigned list)
{
    struct caller *caller = flow->caller;

    flow->list = list;
    flow->next = NULL;
    flow->previous = caller->last[list];
    if (flow->previous)
        flow->previous->next = flow;
    else
        caller->first[list] = flow;
    caller->last[list] = flow;
    caller->flow_counts[list]++;
}

static void unlist_flow(struct flow *flow)
{
    struct caller *caller = flow->caller;

    assert(caller->flow_counts[flow->list] > 0);
    caller->flow_counts[flow->list]--;
    if (flow->next)
        flow->next->previous = flow->previous;
    else
        caller->last[flow->list] = flow->previous;
    if (flow->previous)
        flow->previous->next = flow->next;
    else
        caller->first[flow->list] = flow->next;
}

static struct flow *find_flow(const struct fair *fair, const struct caller *caller, uint64_t id)
{
    struct flow *flow = *flow_chain((struct fair *)fair, caller->id, id);

    while (flow && (flow->caller != caller || flow->id != id))
        flow = flow->next_same;
    return flow;
}

static struct flow *get_flow(struct fair *fair, struct caller *caller, uint64_t id)
{
    struct flow **chain = flow_chain(fair, caller->id, id);
    struct flow *flow = find_flow(fair, caller, id);

    if (flow)
        return flow;
    flow = mem_zero(sizeof(*flow));
    flow->caller = caller;
    flow->id = id;
    flow->next_same = *chain;
    *chain = flow;
    list_flow(flow, FLOWS_NEW);
    return flow;
}

static void forget_flow(struct fair *fair, struct flow *flow)
{
    struct flow **at = flow_chain(fair, flow->caller->id, flow->id);

    assert(flow->count == 0);
    unlist_flow(flow);
    while (*at != flow)
        at = &(*at)->next_same;
    *at = flow->next_same;
    free(flow);
}

/* Of a caller with jobs: the flow whose turn it is. */
static struct flow *next_flow(const struct caller *caller)
{
    struct flow *newest = caller->first[FLOWS_NEW];
    struct flow *oldest = caller->first[FLOWS_OLD];

    assert(caller->count > 0 && (newest || oldest)); /* a caller with jobs has a flow */
    if (!oldest || (newest && caller->new_taken < FAIR_DEEP))
        return newest;
    return oldest;
}

/* --- jobs --- */

void fair_push(struct fair *fair, struct job *job)
{
    struct caller *caller = get_caller(fair, job->caller);
    struct flow *flow = get_flow(fair, caller, job->flow);

    object_check(fair, FAIR_MAGIC);
    assert(fair->count < fair->job_max);
    job->next = NULL;
    if (flow->last)
        flow->last->next = job;
    else
        flow->first = job;
    job->previous = flow->last;
    flow->last = job;
    flow->count++;
    fair->count++;
    if (caller->count++)
        return;
    if (caller->tag_us < fair->now_us)
        caller->tag_us = fair->now_us; /* not owed for the time it was away */
    stand_in_line(fair, caller);
}

static void took(struct fair *fair, struct flow *flow)
{
    struct caller *caller = flow->caller;

    flow->count--;
    fair->count--;
    caller->count--;
    if (!caller->count)
        leave_line(fair, caller);
}

struct job *fair_pop(struct fair *fair)
{
    struct caller *caller;
    struct flow *flow;
    struct job *job;

    object_check(fair, FAIR_MAGIC);
    if (!fair->heap_count)
        return NULL;
    caller = fair->heap[1];
    if (caller->tag_us > fair->now_us)
        fair->now_us = caller->tag_us;
    flow = next_flow(caller);
    caller->new_taken = flow->list == FLOWS_NEW ? caller->new_taken + 1 : 0;
    job = flow->first;
    flow->first = job->next;
    if (flow->first)
        flow->first->previous = NULL;
    else
        flow->last = NULL;
    job->next = NULL;
    took(fair, flow);
    if (flow->count) {
        unlist_flow(flow);
        list_flow(flow, FLOWS_OLD);
    } else {
        forget_flow(fair, flow);
    }
    caller->running++;
    fair->running++;
    if (caller->count && is_sated(fair, caller)) {
        heap_remove(fair, caller);
        stand_in_line(fair, caller);
    }
    job->cost_us = caller->cost_us;
    move(fair, caller, caller->tag_us + job->cost_us);
    return job;
}

bool fair_next_is_new(const struct fair *fair)
{
    const struct caller *next;

    object_check(fair, FAIR_MAGIC);
    if (!fair->heap_count)
        return false;
    next = fair->heap[1];
    return next->running == 0 ||
           (next->cost_us >= FAIR_DEAR_US && next_flow(next)->list == FLOWS_NEW);
}

bool fair_next_is_dear(const struct fair *fair)
{
    object_check(fair, FAIR_MAGIC);
    return fair->heap_count && fair->heap[1]->cost_us >= FAIR_DEAR_US;
}

/* Drawn near to what one more job took. */
static int64_t learn(int64_t known_us, int64_t taken_us)
{
    known_us += (taken_us - known_us) / COST_WEIGHT;
    return known_us < 1 ? 1 : known_us;
}

void fair_done(struct fair *fair, uint64_t id, int64_t taken_for_us, int64_t cost_us,
               int64_t spent_us)
{
    struct caller *caller = find_caller(fair, id);
    int64_t tag_us;

    object_check(fair, FAIR_MAGIC);
    assert(caller && caller->running && fair->running); /* kept while it runs */
    if (cost_us < 1)
        cost_us = 1;
    tag_us = caller->tag_us + cost_us - taken_for_us;
    move(fair, caller,
         tag_us > fair->now_us ? tag_us : fair->now_us); /* not before who comes now */
    caller->cost_us = learn(caller->cost_us, cost_us);
    caller->spent_us = learn(caller->spent_us, spent_us);
    if (caller->count && !caller->place) {
        leave_sated(fair, caller);
        heap_add(fair, caller);
    }
    caller->running--;
    fair->running--;
    if (!fair->running && !fair->count)
        fair->now_us = fair->most_us; /* all have what they came for */
}

/* --- when there is too much --- */

static int64_t work_us(const struct caller *caller)
{
    return (int64_t)caller->count * caller->cost_us;
}

static struct caller *greediest(const struct fair *fair)
{
    struct caller *worst = fair->sated;

    for (struct caller *caller = worst; caller; caller = caller->next_sated)
        if (work_us(caller) > work_us(worst))
            worst = caller;
    for (size_t i = 1; i <= fair->heap_count; i++)
        if (!worst || work_us(fair->heap[i]) > work_us(worst))
            worst = fair->heap[i];
    return worst;
}

static struct flow *deepest(const struct caller *caller)
{
    struct flow *deep = NULL;

    for (size_t i = 0; i < FLOWS_COUNT; i++)
        for (struct flow *flow = caller->first[i]; flow; flow = flow->next)
            if (!deep || flow->count > deep->count)
                deep = flow;
    return deep;
}

struct job *fair_drop(struct fair *fair, uint64_t id)
{
    struct caller *worst = greediest(fair);
    struct flow *flow;
    struct job *job;

    object_check(fair, FAIR_MAGIC);
    if (!worst || worst->id == id)
        return NULL;
    flow = deepest(worst);
    job = flow->last;
    if (!job->dropped)
        return NULL;
    flow->last = job->previous;
    if (flow->last)
        flow->last->next = NULL;
    else
        flow->first = NULL;
    took(fair, flow);
    if (!flow->count)
        forget_flow(fair, flow);
    return job;
}

/* How many jobs of a caller go before the one behind `depth` of its flow: as many of each flow as
 * they take turns, reckoned by some of the flows. */
static uint64_t before(const struct caller *caller, unsigned depth)
{
    uint64_t flow_count = caller->flow_counts[FLOWS_NEW] + caller->flow_counts[FLOWS_OLD];
    uint64_t sum = 0;
    unsigned seen = 0;

    for (size_t i = 0; i < FLOWS_COUNT; i++)
        for (const struct flow *flow = caller->first[i]; flow && seen < LOOK_COUNT;
             flow = flow->next, seen++)
            sum += flow->count < depth ? flow->count : depth;
    return sum * flow_count / seen;
}

int64_t fair_wait_us(const struct fair *fair, uint64_t id, uint64_t flow_id, unsigned running_max)
{
    const struct caller *caller = find_caller(fair, id);
    const struct flow *flow;
    uint64_t count;

    object_check(fair, FAIR_MAGIC);
    if (!caller || !caller->count)
        return 0;
    flow = find_flow(fair, caller, flow_id);
    count = flow ? before(caller, flow->count) : caller->flow_counts[FLOWS_NEW];
    return (int64_t)count * caller->spent_us * (int64_t)(fair->heap_count + fair->sated_count) /
           (int64_t)running_max;
}

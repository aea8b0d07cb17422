/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.c - see intake.h.
 *
 * A gate has a list of waiting calls, in the order they came. A call that finds it idle leads: it
 * takes the first and all that may go with it, runs them, hands out their results, and wakes the
 * first of the rest to lead next.
 */
#include "registry/receiving/intake.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/object.h"
#include "registry/bounds.h"

struct waiter {
    struct acceptance *acceptance;
    struct waiter *next;
    struct condition woken; /* it leads now, or its leader has done its work too */
    bool is_done;
    bool leads;
    int rc;
    struct err err;
};

struct gate {
    pthread_mutex_t lock;
    bool is_busy;
    struct waiter *first;
    struct waiter **last;
};

enum { INTAKE_MAGIC = OBJECT_MAGIC('i', 'n', 't', 'k') };

struct intake {
    uint32_t magic;
    struct store *store;
    bool is_direct;
    struct gate gates[INTAKE_GATE_COUNT];
};

struct intake *intake_new(struct store *store)
{
    struct intake *intake = mem_zero(sizeof(*intake));

    object_begin(intake, INTAKE_MAGIC);
    intake->store = store;
    intake->is_direct = store_is_local(store);
    for (size_t i = 0; i < INTAKE_GATE_COUNT; i++) {
        pthread_mutex_init(&intake->gates[i].lock, NULL);
        intake->gates[i].last = &intake->gates[i].first;
    }
    return intake;
}

void intake_free(struct intake *intake)
{
    if (!intake)
        return;
    object_check(intake, INTAKE_MAGIC);
    for (size_t i = 0; i < INTAKE_GATE_COUNT; i++) {
        assert(!intake->gates[i].is_busy && !intake->gates[i].first);
        pthread_mutex_destroy(&intake->gates[i].lock);
    }
    object_end(intake, INTAKE_MAGIC);
    free(intake);
}

static bool grows(const struct acceptance *acceptance)
{
    for (size_t i = 0; i < acceptance->count; i++) {
        if (acceptance->list[i]->added.count)
            return true;
    }
    return false;
}

static bool may_join(const struct acceptance *first, const struct acceptance *other, size_t count)
{
    return first->client->id == other->client->id &&
           first->client->state_no == other->client->state_no && first->lane == other->lane &&
           count + other->count <= INTAKE_COUNT_MAX && !grows(other);
}

/* Takes the group of the first off the list; the lock is ours. */
static struct waiter *take_group(struct gate *gate, size_t *count)
{
    struct waiter *first = gate->first;
    struct waiter *last = first;
    struct waiter **at = &first->next;
    bool is_alone = grows(first->acceptance);

    *count = first->acceptance->count;
    gate->first = first->next;
    while (*at && !is_alone && may_join(first->acceptance, (*at)->acceptance, *count)) {
        last = *at;
        *count += last->acceptance->count;
        at = &last->next;
    }
    gate->first = *at;
    if (!gate->first)
        gate->last = &gate->first;
    last->next = NULL;
    assert(*count > 0 && !first->is_done);
    return first;
}

static void run_alone(struct intake *intake, struct waiter *waiter)
{
    waiter->rc = store_write(intake->store, accept_documents, waiter->acceptance, &waiter->err);
}

/* All of them as one; what one of them could not be told for is not the others' fault. */
static void run_group(struct intake *intake, struct waiter *group, size_t count)
{
    struct acceptance all = *group->acceptance;
    struct err err = {0};
    int rc;

    if (!group->next) {
        run_alone(intake, group);
        return;
    }
    all.list = mem_array(count, sizeof(struct candidate *));
    all.count = 0;
    for (const struct waiter *one = group; one; one = one->next) {
        for (size_t i = 0; i < one->acceptance->count; i++)
            all.list[all.count++] = one->acceptance->list[i];
    }
    assert(all.count == count && count <= INTAKE_COUNT_MAX);
    rc = store_write(intake->store, accept_documents, &all, &err);
    for (struct waiter *one = group; one; one = one->next) {
        one->rc = rc;
        one->err = err;
        one->acceptance->is_outrun = all.is_outrun;
        if (rc && !err_is_passing(rc))
            run_alone(intake, one);
    }
    free(all.list);
}

/* Runs one group; the lock is ours before and after. */
static void lead(struct intake *intake, struct gate *gate)
{
    struct waiter *group;
    size_t count;

    assert(gate->is_busy && gate->first);
    group = take_group(gate, &count);
    pthread_mutex_unlock(&gate->lock);
    run_group(intake, group, count);
    pthread_mutex_lock(&gate->lock);
    while (group) {
        struct waiter *next = group->next; /* it is gone once it is told */

        assert(!group->is_done); /* told once */
        group->is_done = true;
        condition_signal(&group->woken);
        group = next;
    }
    gate->is_busy = gate->first != NULL;
    if (gate->first) {
        gate->first->leads = true;
        condition_signal(&gate->first->woken);
    }
}

int intake_accept(struct intake *intake, struct acceptance *acceptance, struct err *err)
{
    struct gate *gate = &intake->gates[(uint64_t)acceptance->client->id % INTAKE_GATE_COUNT];
    struct waiter waiter = {.acceptance = acceptance};

    object_check(intake, INTAKE_MAGIC);
    if (intake->is_direct)
        return store_write(intake->store, accept_documents, acceptance, err);
    condition_init(&waiter.woken, store_clock(intake->store));
    pthread_mutex_lock(&gate->lock);
    *gate->last = &waiter;
    gate->last = &waiter.next;
    waiter.leads = !gate->is_busy;
    gate->is_busy = true;
    while (!waiter.leads && !waiter.is_done)
        condition_wait(&waiter.woken, &gate->lock);
    if (!waiter.is_done)
        lead(intake, gate);
    assert(waiter.is_done);
    pthread_mutex_unlock(&gate->lock);
    condition_release(&waiter.woken);
    if (waiter.rc && err)
        *err = waiter.err;
    return waiter.rc;
}

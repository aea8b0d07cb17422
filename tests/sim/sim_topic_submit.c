/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_topic_submit.c - records on their way to the broker, and the reports of them; see
 * sim_topic.c.
 *
 * The fate of a submit is drawn when it is made. A lost one is reported as failed, without having
 * been stored; one whose report is lost is reported as failed, and was stored.
 */
#include "sim/sim_topic.h"

#include <stdlib.h>

#include "base/memory.h"

struct flight {
    struct sim_topics *topics;
    submit_done_fn done;
    void *arg;
    int rc;
    struct err err;
};

struct sim_topics *sim_topics_of(struct topics *topics)
{
    return container_of(topics, struct sim_topics, base);
}

bool sim_topics_drain(struct sim_topics *self, int64_t until_us)
{
    bool in_time = true;
    bool is_empty;

    pthread_mutex_lock(&self->lock);
    while (self->flight_count && in_time)
        in_time = condition_wait_until(&self->changed, &self->lock, until_us);
    is_empty = self->flight_count == 0;
    pthread_mutex_unlock(&self->lock);
    return is_empty;
}

/* On the member's wire. */
static void report(void *arg)
{
    struct flight *flight = arg;
    struct sim_topics *self = flight->topics;

    flight->done(flight->arg, flight->rc, flight->rc ? &flight->err : NULL);
    free(flight);
    pthread_mutex_lock(&self->lock);
    self->flight_count--;
    condition_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void post_report(struct flight *flight)
{
    struct sim_topics *self = flight->topics;
    const struct clock *clock = sim_net_clock(sim_node_net(self->member));
    int64_t due_us = clock_mono_us(clock) + sim_delay_us(self->member, SIM_TOPICS);

    pthread_mutex_lock(&self->lock);
    if (due_us < self->last_report_us)
        due_us = self->last_report_us;
    self->last_report_us = due_us;
    pthread_mutex_unlock(&self->lock);
    sim_wire_post(self->member, self, due_us, report, flight);
}

/* On a thread of the broker. */
static void take_result(void *arg, int rc, const struct err *err)
{
    struct flight *flight = arg;

    if (!flight->rc && rc) {
        flight->rc = rc;
        flight->err = *err;
    }
    post_report(flight);
}

int sim_topics_submit(struct topics *topics, const struct submit *submit, struct err *err)
{
    struct sim_topics *self = sim_topics_of(topics);
    struct flight *flight = mem_zero(sizeof(*flight));
    struct submit passed = *submit;
    bool is_lost;
    int rc;

    *flight = (struct flight){.topics = self, .done = submit->done, .arg = submit->arg};
    flight->rc = sim_call(self->member, SIM_TOPICS, &flight->err);
    is_lost = flight->rc != 0;
    if (!is_lost)
        flight->rc = sim_lose_answer(self->member, SIM_TOPICS, &flight->err);
    pthread_mutex_lock(&self->lock);
    self->flight_count++;
    pthread_mutex_unlock(&self->lock);
    if (is_lost) {
        post_report(flight);
        return 0;
    }
    for (size_t i = 0; i < submit->count; i++)
        sim_see_record(self->member, submit->name, submit->records[i].value);
    passed.done = take_result;
    passed.arg = flight;
    rc = self->inner->ops->submit(self->inner, &passed, err);
    sim_leave(self->member);
    if (rc) {
        pthread_mutex_lock(&self->lock);
        self->flight_count--;
        condition_broadcast(&self->changed);
        pthread_mutex_unlock(&self->lock);
        free(flight);
    }
    return rc;
}

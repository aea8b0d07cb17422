/* SPDX-License-Identifier: Apache-2.0 */
/* sim_topic.h - what the two files of the simulated topics share: a member's handle. */
#ifndef TORG_TESTS_SIM_TOPIC_H
#define TORG_TESTS_SIM_TOPIC_H

#include <pthread.h>

#include "base/condition.h"
#include "sim/sim_net.h"
#include "topic/topic_ops.h"

struct sim_topics {
    struct topics base;
    struct sim_node *member; /* borrowed */
    struct topics *inner;    /* the net's */

    pthread_mutex_t lock;
    struct condition changed;
    size_t flight_count;    /* submits that were not called back */
    int64_t last_report_us; /* reports come in the order of what they are of */
};

struct sim_topics *sim_topics_of(struct topics *topics);

int sim_topics_submit(struct topics *topics, const struct submit *submit, struct err *err);
/* Until nothing is in flight; false: that time of the handle's clock has come. */
bool sim_topics_drain(struct sim_topics *self, int64_t until_us);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* halt.c - see halt.h. */
#include "base/halt.h"

#include <time.h>

#include "base/clock.h"

enum { NS_PER_US = 1000, NS_PER_S = 1000 * 1000 * 1000 };

void halt_init(struct halt *halt)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&halt->asked, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&halt->lock, NULL);
    atomic_init(&halt->is_asked, false);
}

void halt_release(struct halt *halt)
{
    pthread_cond_destroy(&halt->asked);
    pthread_mutex_destroy(&halt->lock);
}

void halt_ask(struct halt *halt)
{
    pthread_mutex_lock(&halt->lock);
    atomic_store(&halt->is_asked, true);
    pthread_cond_broadcast(&halt->asked);
    pthread_mutex_unlock(&halt->lock);
}

bool halt_wait(struct halt *halt, int64_t timeout_us)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_us / SECOND_US;
    until.tv_nsec += timeout_us % SECOND_US * NS_PER_US;
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= NS_PER_S;
    }
    pthread_mutex_lock(&halt->lock);
    while (!halt_is_asked(halt) && !rc)
        rc = pthread_cond_timedwait(&halt->asked, &halt->lock, &until);
    pthread_mutex_unlock(&halt->lock);
    return halt_is_asked(halt);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c - see submit.h. */
#include "topic/submit.h"

void submit_wait_init(struct submit_wait *wait, const struct clock *clock)
{
    *wait = (struct submit_wait){.lock = PTHREAD_MUTEX_INITIALIZER};
    condition_init(&wait->changed, clock);
}

void submit_wait_done(void *arg, int rc, const struct err *err)
{
    struct submit_wait *wait = arg;

    pthread_mutex_lock(&wait->lock);
    wait->done = true;
    wait->rc = rc;
    if (rc && err)
        wait->err = *err;
    condition_signal(&wait->changed);
    pthread_mutex_unlock(&wait->lock);
}

int submit_wait(struct submit_wait *wait, struct err *err)
{
    pthread_mutex_lock(&wait->lock);
    while (!wait->done)
        condition_wait(&wait->changed, &wait->lock);
    pthread_mutex_unlock(&wait->lock);
    if (wait->rc && err)
        *err = wait->err;
    return wait->rc;
}

void submit_wait_release(struct submit_wait *wait)
{
    condition_release(&wait->changed);
    pthread_mutex_destroy(&wait->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* halt.h - what a thread waits on that is not told of its work: a time, or that it has to stop. */
#ifndef TORG_BASE_HALT_H
#define TORG_BASE_HALT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct halt {
    pthread_mutex_t lock;
    pthread_cond_t asked;
    atomic_bool is_asked;
};

void halt_init(struct halt *halt);
void halt_release(struct halt *halt);
void halt_ask(struct halt *halt);
/* Waits so long; true: it is time to stop. */
bool halt_wait(struct halt *halt, int64_t timeout_us);

static inline bool halt_is_asked(struct halt *halt)
{
    return atomic_load(&halt->is_asked);
}

#endif

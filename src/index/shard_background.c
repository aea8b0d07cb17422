/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_background.c - the thread that does a shard's work while the shard is used.
 *
 * It runs at a low priority, not at the lowest: it holds the shard's lock for short steps, and
 * who waits for the lock should not wait for a processor that nobody else wants.
 */
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "index/shard_work.h"

enum { NICE = 10, IDLE_MS = 50, RETRY_MS = 1000, TRIM_MS = 5000 };

static struct timespec time_in(int64_t ms)
{
    int64_t until_us = clock_mono_us(clock_system()) + ms * MS_US;

    return (struct timespec){until_us / SECOND_US, until_us % SECOND_US * 1000};
}

void shard_wait_published(struct shard *shard, int64_t ms)
{
    struct timespec until = time_in(ms);

    (void)pthread_cond_timedwait(&shard->published, &shard->lock, &until);
}

void shard_work_wanted(struct shard *shard)
{
    pthread_cond_signal(&shard->wanted);
}

bool shard_pause(void *context)
{
    struct shard *shard = context;

    if (shard->options.background)
        sched_yield();
    return atomic_load_explicit(&shard->is_stopping, memory_order_relaxed);
}

/* Sleeps until something may be due. */
static void rest(struct shard *shard, int64_t ms)
{
    struct timespec until = time_in(ms);

    pthread_mutex_lock(&shard->lock);
    if (!atomic_load_explicit(&shard->is_stopping, memory_order_relaxed))
        (void)pthread_cond_timedwait(&shard->wanted, &shard->lock, &until);
    pthread_mutex_unlock(&shard->lock);
}

/* After work that freed much, when there is nothing else to do. */
static void trim(bool did, bool *is_due, int64_t *last_us)
{
    int64_t now_us = clock_mono_us(clock_system());

    if (!did && *is_due && now_us - *last_us > (int64_t)TRIM_MS * MS_US) {
        mem_trim();
        *last_us = now_us;
        *is_due = false;
    }
    *is_due |= did;
}

static void *run(void *context)
{
    struct shard *shard = context;
    int64_t trimmed_us = 0;
    bool is_trim_due = false;

    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    while (!atomic_load_explicit(&shard->is_stopping, memory_order_relaxed)) {
        struct err err = {0};
        bool did;
        int rc = shard_work(shard, &did, &err);

        pthread_mutex_lock(&shard->lock);
        shard->work_error = err;
        shard->work_error.code = rc;
        if (rc && rc != ERR_CANCELLED) {
            shard->failure = shard->work_error;
            shard->failure_count++;
        }
        pthread_cond_broadcast(&shard->published);
        pthread_mutex_unlock(&shard->lock);
        if (rc && rc != ERR_CANCELLED)
            log_error("the background work of a shard failed",
                      LOG_TEXT("dir", shard->options.dir ? shard->options.dir : "memory"),
                      LOG_TEXT("error", err.text));
        trim(did, &is_trim_due, &trimmed_us);
        if (!did || rc)
            rest(shard, rc ? RETRY_MS : IDLE_MS);
    }
    return NULL;
}

int shard_background_start(struct shard *shard, struct err *err)
{
    if (!shard->options.background)
        return 0;
    shard->has_thread = !pthread_create(&shard->thread, NULL, run, shard);
    return shard->has_thread ? 0 : err_set(err, ERR_UNAVAILABLE, "no thread for the shard's work");
}

uint64_t shard_failures(struct shard *shard, struct err *last)
{
    uint64_t count;

    pthread_mutex_lock(&shard->lock);
    count = shard->failure_count;
    *last = shard->failure;
    pthread_mutex_unlock(&shard->lock);
    return count;
}

void shard_background_stop(struct shard *shard)
{
    if (!shard->has_thread)
        return;
    pthread_mutex_lock(&shard->lock);
    atomic_store_explicit(&shard->is_stopping, true, memory_order_relaxed);
    pthread_cond_signal(&shard->wanted);
    pthread_mutex_unlock(&shard->lock);
    pthread_join(shard->thread, NULL);
    shard->has_thread = false;
}

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
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/shard/shard_work.h"

enum {
    NICE = 10,
    IDLE_MS = 50,       /* after a look that found nothing to do ... */
    IDLE_MS_MAX = 1000, /* ... doubled up to this, while nothing is applied either */
    RETRY_MS = 1000,
    TRIM_MS = 5000,
};

void shard_wait_published(struct shard *shard, int64_t ms)
{
    object_check(shard, SHARD_MAGIC);
    (void)condition_wait_until(&shard->published, &shard->lock,
                               clock_after_us(shard_clock(shard), ms * MS_US));
}

void shard_work_wanted(struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    condition_signal(&shard->wanted);
}

bool shard_pause(void *context)
{
    struct shard *shard = context;

    object_check(shard, SHARD_MAGIC);
    if (shard->options.background)
        sched_yield();
    if (task_is_started(&shard->task))
        task_says(&shard->task, "freezing, merging or saving");
    return task_is_stopping(&shard->task);
}

/* Sleeps until something may be due. */
static void rest(struct shard *shard, int64_t ms)
{
    pthread_mutex_lock(&shard->lock);
    if (!task_is_stopping(&shard->task))
        (void)task_wait_on(&shard->task, &shard->wanted, &shard->lock,
                           clock_after_us(shard_clock(shard), ms * MS_US));
    pthread_mutex_unlock(&shard->lock);
}

/* After work that freed much, when there is nothing else to do. */
static void trim(struct shard *shard, bool did, bool *is_due, int64_t *last_us)
{
    int64_t now_us = clock_mono_us(shard_clock(shard));

    if (!did && *is_due && now_us - *last_us > (int64_t)TRIM_MS * MS_US) {
        mem_trim();
        *last_us = now_us;
        *is_due = false;
    }
    *is_due |= did;
}

/* How long to rest after a look that found nothing. */
static int64_t idle_ms(struct shard *shard, int64_t last_ms, uint64_t *change_count)
{
    uint64_t count;

    shard_lock(shard);
    count = shard->change_count;
    shard_unlock(shard);
    last_ms = count == *change_count ? last_ms * 2 : IDLE_MS;
    *change_count = count;
    return last_ms < IDLE_MS_MAX ? last_ms : IDLE_MS_MAX;
}

static void run(struct task *task, void *context)
{
    struct shard *shard = context;
    int64_t rest_ms = IDLE_MS;
    uint64_t change_count = 0;
    int64_t trimmed_us = 0;
    bool is_trim_due = false;

    object_check(shard, SHARD_MAGIC);
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    while (!task_is_stopping(task)) {
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
        condition_broadcast(&shard->published);
        pthread_mutex_unlock(&shard->lock);
        if (rc && rc != ERR_CANCELLED)
            log_error("the background work of a shard failed",
                      LOG_TEXT("dir", shard->options.dir ? shard->options.dir : "memory"),
                      LOG_TEXT("error", err.text));
        trim(shard, did, &is_trim_due, &trimmed_us);
        rest_ms = did ? IDLE_MS : idle_ms(shard, rest_ms, &change_count);
        if (!did || rc)
            rest(shard, rc ? RETRY_MS : rest_ms);
    }
}

int shard_background_start(struct shard *shard, struct err *err)
{
    const struct task_options options = {
        .name = "shard", .run = run, .arg = shard, .clock = shard_clock(shard)};

    object_check(shard, SHARD_MAGIC);
    return shard->options.background ? task_start(&shard->task, &options, err) : 0;
}

uint64_t shard_failures(struct shard *shard, struct err *last)
{
    uint64_t count;

    object_check(shard, SHARD_MAGIC);
    pthread_mutex_lock(&shard->lock);
    count = shard->failure_count;
    *last = shard->failure;
    pthread_mutex_unlock(&shard->lock);
    return count;
}

void shard_background_stop(struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    pthread_mutex_lock(&shard->lock);
    task_ask_stop(&shard->task);
    condition_signal(&shard->wanted);
    pthread_mutex_unlock(&shard->lock);
    task_stop(&shard->task);
}

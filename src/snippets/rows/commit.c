/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.c - see commit.h.
 *
 * Who has an answer asks again at once, most often. A group that began with the first who is back
 * would leave all others to the next, so that each waits for two syncs and every sync serves half
 * of them. So the committer waits until as many are back as are about: those it has just answered
 * and those who came meanwhile; but no longer than a quarter of what a commit takes. Who writes
 * alone is never waited for. Where syncs are quick and the processor is what is short, they come
 * back too slowly for that to pay: after a wait in which fewer came than would have been written,
 * the next group goes at once, after another such the next two, and so on.
 */
#include "snippets/rows/commit.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "snippets/bounds.h"

enum {
    GATHER_SHARE = 4,    /* of a commit's time: a quarter */
    REST_COUNT_MAX = 64, /* groups that go at once before waiting is tried again */
};

enum { SNIPPET_COMMITTER_MAGIC = OBJECT_MAGIC('s', 'n', 'c', 'm') };

struct snippet_committer {
    uint32_t magic;
    struct store *store;         /* borrowed */
    struct snippet_cache *cache; /* borrowed; NULL: none */
    struct task task;
    pthread_mutex_t lock;
    struct condition wanted;     /* requests have left rows: the committer sleeps on it */
    struct snippet_write *first; /* the queue */
    struct snippet_write **last;
    size_t waiting_count;
    size_t about_count;  /* requests of the last group, and those that came meanwhile */
    size_t signal_count; /* so many waiting wake the committer */
    int64_t commit_us;   /* what the last one took */
    unsigned rest_count; /* groups that are to go at once */
    unsigned rest_next;  /* as many as that, if the next wait does not pay either */
    struct counter *commits, *members;
};

/* Whether a wait in which so many have come was worth its time: more than had been written in it.
 */
static void judge(struct snippet_committer *self, size_t before_count, size_t come_count,
                  int64_t waited_us)
{
    if ((int64_t)come_count * self->commit_us > (int64_t)before_count * waited_us) {
        self->rest_next = 1;
        return;
    }
    self->rest_count = self->rest_next;
    self->rest_next = self->rest_next < REST_COUNT_MAX ? self->rest_next * 2 : REST_COUNT_MAX;
}

/* Those who are about; under the lock. */
static void wait_for_others(struct snippet_committer *self, struct task *task)
{
    const struct clock *clock = self->wanted.clock;
    int64_t gather_us = self->commit_us / GATHER_SHARE, begun_us;
    size_t before_count = self->waiting_count;
    bool in_time = true;

    if (self->rest_count) {
        self->rest_count--;
        return;
    }
    if (before_count >= self->about_count)
        return;
    if (gather_us > SNIPPET_COMMIT_GATHER_US_MAX)
        gather_us = SNIPPET_COMMIT_GATHER_US_MAX;
    begun_us = clock_mono_us(clock);
    self->signal_count = self->about_count;
    while (self->waiting_count < self->about_count && in_time && !task_is_stopping(task))
        in_time = task_wait_on(task, &self->wanted, &self->lock, begun_us + gather_us);
    judge(self, before_count, self->waiting_count - before_count, clock_mono_us(clock) - begun_us);
}

/* Waits for a first request, and for those who are about; false: there will be none. */
static bool gather(struct snippet_committer *self, struct task *task)
{
    bool is_there;

    task_says(task, "gathers a group");
    pthread_mutex_lock(&self->lock);
    self->signal_count = 1;
    while (!self->first && !task_is_stopping(task))
        task_wait_on(task, &self->wanted, &self->lock, CLOCK_NEVER);
    if (self->first)
        wait_for_others(self, task);
    is_there = self->first != NULL;
    pthread_mutex_unlock(&self->lock);
    return is_there;
}

/* The next group: all that wait, up to a limit of writes and of bytes; the first whatever it
 * has. */
static size_t take_group(struct snippet_committer *self, struct snippet_write **group,
                         struct snippet_part *parts)
{
    size_t count = 0, size = 0, row_count = 0;

    pthread_mutex_lock(&self->lock);
    while (self->first && count < SNIPPET_COMMIT_COUNT_MAX) {
        struct snippet_write *write = self->first;

        for (size_t i = 0; i < write->part.count; i++)
            size += write->part.rows[i].body.size;
        row_count += write->part.count;
        if (count && (size > SNIPPET_COMMIT_SIZE_MAX || row_count > SNIPPET_COMMIT_ROW_COUNT_MAX))
            break;
        parts[count] = write->part;
        group[count++] = write;
        self->first = write->next;
    }
    if (!self->first)
        self->last = &self->first;
    assert(count <= self->waiting_count);
    self->waiting_count -= count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

static void commit(struct snippet_committer *self, struct snippet_write **group,
                   const struct snippet_part *parts, size_t count)
{
    int64_t begun_us = clock_mono_us(self->wanted.clock);
    struct err err;
    int rc = snippet_cache_write(self->cache, self->store, parts, count, NULL, NULL, &err);
    bool by_itself = rc && rc != ERR_UNAVAILABLE && count > 1;

    pthread_mutex_lock(&self->lock);
    self->commit_us = clock_mono_us(self->wanted.clock) - begun_us;
    self->about_count = count + self->waiting_count;
    if (self->about_count > SNIPPET_COMMIT_COUNT_MAX)
        self->about_count = SNIPPET_COMMIT_COUNT_MAX;
    pthread_mutex_unlock(&self->lock);
    counter_add(self->commits, 1);
    counter_add(self->members, count);
    for (size_t i = 0; i < count; i++) {
        struct err own = err;
        int own_rc = rc;

        if (by_itself)
            own_rc = snippet_cache_write(self->cache, self->store, &parts[i], 1, NULL, NULL, &own);
        group[i]->done(group[i], own_rc, &own);
    }
}

static void run(struct task *task, void *arg)
{
    struct snippet_committer *self = arg;
    struct snippet_write *group[SNIPPET_COMMIT_COUNT_MAX];
    struct snippet_part parts[SNIPPET_COMMIT_COUNT_MAX];

    object_check(self, SNIPPET_COMMITTER_MAGIC);
    for (;;) {
        size_t count;

        if (!gather(self, task))
            return; /* it is to stop, and nothing waits */
        count = take_group(self, group, parts);
        task_says(task, "commits a group");
        commit(self, group, parts, count);
    }
}

int snippet_committer_submit(struct snippet_committer *self, struct snippet_write *write,
                             struct err *err)
{
    object_check(self, SNIPPET_COMMITTER_MAGIC);
    assert(write->done && !task_is_stopping(&self->task));
    write->next = NULL;
    pthread_mutex_lock(&self->lock);
    if (self->waiting_count == SNIPPET_COMMIT_QUEUE_COUNT) {
        pthread_mutex_unlock(&self->lock);
        return err_set(err, ERR_UNAVAILABLE,
                       "%d writes of snippets wait already (SNIPPET_COMMIT_QUEUE_COUNT): come back "
                       "in a moment",
                       SNIPPET_COMMIT_QUEUE_COUNT);
    }
    *self->last = write;
    self->last = &write->next;
    self->waiting_count++;
    /* Under the lock: behind it the write may be answered, and the committer freed. */
    if (self->waiting_count == self->signal_count)
        condition_signal(&self->wanted);
    pthread_mutex_unlock(&self->lock);
    return 0;
}

int snippet_committer_start(struct store *store, struct snippet_cache *cache,
                            const struct clock *clock, struct snippet_committer **committer,
                            struct err *err)
{
    struct snippet_committer *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "snippet-commits", .run = run, .arg = self, .clock = clock};
    int rc;

    object_begin(self, SNIPPET_COMMITTER_MAGIC);
    self->store = store;
    self->cache = cache;
    self->last = &self->first;
    self->rest_next = 1;
    pthread_mutex_init(&self->lock, NULL);
    condition_init(&self->wanted, clock);
    self->commits = metrics_counter("torg_snippets_commits_total", NULL,
                                    "Transactions of single writes of snippets.");
    self->members = metrics_counter("torg_snippets_committed_total", NULL,
                                    "Requests that those transactions wrote.");
    rc = task_start(&self->task, &task, err);
    *committer = self;
    if (rc) {
        snippet_committer_stop(self);
        *committer = NULL;
    }
    return rc;
}

void snippet_committer_stop(struct snippet_committer *self)
{
    if (!self)
        return;
    object_check(self, SNIPPET_COMMITTER_MAGIC);
    if (task_is_started(&self->task)) {
        pthread_mutex_lock(&self->lock);
        task_ask_stop(&self->task);
        condition_signal(&self->wanted);
        pthread_mutex_unlock(&self->lock);
        task_stop(&self->task);
    }
    assert(!self->first && !self->waiting_count);
    condition_release(&self->wanted);
    pthread_mutex_destroy(&self->lock);
    object_end(self, SNIPPET_COMMITTER_MAGIC);
    free(self);
}

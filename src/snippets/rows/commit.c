/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - see commit.h. */
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
    struct counter *commits, *members;
};

/* The next group: all that wait, up to a limit of writes and of bytes; the first whatever it
 * has. */
static size_t take(struct snippet_committer *self, struct snippet_write **group,
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
    struct err err;
    int rc = snippet_cache_write(self->cache, self->store, parts, count, NULL, NULL, &err);
    bool by_itself = rc && rc != ERR_UNAVAILABLE && count > 1;

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

        pthread_mutex_lock(&self->lock);
        while (!self->first && !task_is_stopping(task))
            task_wait_on(task, &self->wanted, &self->lock, CLOCK_NEVER);
        pthread_mutex_unlock(&self->lock);
        count = take(self, group, parts);
        if (!count)
            return; /* it is to stop, and nothing waits */
        task_says(task, "commits a group");
        commit(self, group, parts, count);
    }
}

int snippet_committer_submit(struct snippet_committer *self, struct snippet_write *write,
                             struct err *err)
{
    bool was_empty;

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
    was_empty = !self->first;
    *self->last = write;
    self->last = &write->next;
    self->waiting_count++;
    pthread_mutex_unlock(&self->lock);
    if (was_empty)
        condition_signal(&self->wanted);
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

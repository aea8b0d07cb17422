/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - see page.h. */
#include "snippets/requests/page.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/workers.h"
#include "snippets/bounds.h"
#include "snippets/requests/message.h"

enum { SNIPPET_PAGES_MAGIC = OBJECT_MAGIC('s', 'n', 'p', 'g') };

struct snippet_pages {
    uint32_t magic;
    struct snippets *snippets;
    const struct clock *clock;
    int64_t wait_us;
    struct workers *workers;
    struct counter *late_count;
};

/* Owned by both sides: whoever is the last frees it. */
struct page_job {
    struct job job;
    struct snippet_pages *pages;
    pthread_mutex_t lock;
    struct condition changed; /* the job is done: its page waits no longer than it wants to */
    bool is_done, is_left;    /* with the lock */
    struct arena *arena;
    struct bytes *names, *keys;
    size_t name_count, key_count;
    struct bytes language;
    Torg__V1__Snippet **list;
    size_t count;
    int rc;
    struct err err;
};

static void job_free(struct page_job *job)
{
    condition_release(&job->changed);
    pthread_mutex_destroy(&job->lock);
    arena_free(job->arena);
    free(job);
}

static void read_batch(struct page_job *job)
{
    struct snippet_found *found = NULL;

    job->rc =
        snippets_batch(job->pages->snippets, job->names, job->name_count, job->keys, job->key_count,
                       job->language, job->arena, &found, &job->count, &job->err);
    if (job->rc)
        job->count = 0;
    job->list = snippet_messages(found, job->count, job->arena);
}

static void run(struct job *base)
{
    struct page_job *job = container_of(base, struct page_job, job);
    bool is_left;

    read_batch(job);
    pthread_mutex_lock(&job->lock);
    job->is_done = true;
    is_left = job->is_left;
    condition_signal(&job->changed);
    pthread_mutex_unlock(&job->lock);
    if (is_left)
        job_free(job);
}

struct snippet_pages *snippet_pages_new(struct snippets *snippets, const struct clock *clock,
                                        int64_t wait_us)
{
    struct snippet_pages *pages = mem_zero(sizeof(*pages));

    object_begin(pages, SNIPPET_PAGES_MAGIC);
    pages->snippets = snippets;
    pages->clock = clock;
    pages->wait_us = wait_us;
    pages->workers = workers_new("page-snippets", SNIPPET_PAGE_THREAD_COUNT,
                                 SNIPPET_PAGE_QUEUE_COUNT, NULL, clock);
    pages->late_count = metrics_counter("torg_snippets_late_total", NULL,
                                        "Pages that went without their snippets.");
    return pages;
}

void snippet_pages_free(struct snippet_pages *pages)
{
    if (!pages)
        return;
    workers_free(pages->workers);
    object_end(pages, SNIPPET_PAGES_MAGIC);
    free(pages);
}

static struct bytes *copy_texts(char *const *texts, size_t count, struct arena *arena)
{
    struct bytes *list = snippet_texts(texts, count, arena);
    size_t i;

    for (i = 0; i < count; i++)
        list[i] = arena_copy(arena, list[i]);
    return list;
}

static struct page_job *job_new(struct snippet_pages *pages, char *const *names, size_t name_count,
                                char *const *keys, size_t key_count, const char *language)
{
    struct page_job *job = mem_zero(sizeof(*job));

    job->job.run = run;
    job->pages = pages;
    pthread_mutex_init(&job->lock, NULL);
    condition_init(&job->changed, pages->clock);
    job->arena = arena_new();
    job->names = copy_texts(names, name_count, job->arena);
    job->name_count = name_count;
    job->keys = copy_texts(keys, key_count, job->arena);
    job->key_count = key_count;
    job->language = arena_copy(job->arena, bytes_of(language));
    return job;
}

/* False: it was not in time, and is the worker's to free. */
static bool wait_for(struct snippet_pages *pages, struct page_job *job)
{
    int64_t until_us = clock_after_us(pages->clock, pages->wait_us);
    bool is_done;

    worker_waits(); /* others may compute */
    pthread_mutex_lock(&job->lock);
    while (!job->is_done && condition_wait_until(&job->changed, &job->lock, until_us))
        ;
    is_done = job->is_done;
    job->is_left = !is_done;
    pthread_mutex_unlock(&job->lock);
    worker_goes_on();
    return is_done;
}

/* What is in memory needs no other thread. */
static bool read_at_hand(struct snippet_pages *pages, char *const *names, size_t name_count,
                         char *const *keys, size_t key_count, const char *language,
                         struct arena *arena, Torg__V1__Snippet ***list, size_t *count)
{
    struct snippet_found *found;

    if (!snippets_batch_at_hand(pages->snippets, snippet_texts(names, name_count, arena),
                                name_count, snippet_texts(keys, key_count, arena), key_count,
                                bytes_of(language), arena, &found, count))
        return false;
    *list = snippet_messages(found, *count, arena);
    return true;
}

int snippet_pages_read(struct snippet_pages *pages, char *const *names, size_t name_count,
                       char *const *keys, size_t key_count, const char *language,
                       struct arena *arena, Torg__V1__Snippet ***list, size_t *count,
                       struct err *err)
{
    struct page_job *job;
    int rc;

    object_check(pages, SNIPPET_PAGES_MAGIC);
    if (read_at_hand(pages, names, name_count, keys, key_count, language, arena, list, count))
        return 0;
    job = job_new(pages, names, name_count, keys, key_count, language);
    if (workers_submit(pages->workers, &job->job)) {
        job_free(job);
        counter_add(pages->late_count, 1);
        return err_set(err, ERR_LIMIT, "too many pages wait for their snippets");
    }
    if (!wait_for(pages, job)) {
        counter_add(pages->late_count, 1);
        return err_set(err, ERR_TIMEOUT, "the snippets did not come in time");
    }
    rc = job->rc;
    if (rc) {
        counter_add(pages->late_count, 1);
        if (err)
            *err = job->err;
    } else {
        *list = job->list;
        *count = job->count;
        arena_adopt(arena, job->arena);
        job->arena = NULL;
    }
    job_free(job);
    return rc;
}

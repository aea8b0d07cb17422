/* SPDX-License-Identifier: Apache-2.0 */
/* holder.c - see holder.h. */
#include "catalog/holder.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "catalog/bounds.h"
#include "catalog/versions.h"

enum { CATALOG_HOLDER_MAGIC = OBJECT_MAGIC('c', 'h', 'l', 'd') };

struct catalog_holder {
    uint32_t magic;
    struct store *store; /* borrowed */

    pthread_mutex_t lock;    /* guards these two; held for a pointer and a count */
    struct catalog *current; /* a reference */
    int64_t sure_us;         /* the beginning of the last look that agreed with it */

    pthread_mutex_t refreshing; /* one at a time: an older reading never replaces a newer one */
    bool failing;               /* guarded by refreshing: the log is told once */

    struct task task;
};

struct catalog *catalog_holder_ref(struct catalog_holder *holder)
{
    struct catalog *catalog;

    object_check(holder, CATALOG_HOLDER_MAGIC);
    pthread_mutex_lock(&holder->lock);
    catalog = catalog_ref(holder->current);
    pthread_mutex_unlock(&holder->lock);
    return catalog;
}

struct catalog *catalog_in_use(void *holder)
{
    return catalog_holder_ref(holder);
}

int64_t catalog_holder_sure_us(struct catalog_holder *holder)
{
    int64_t sure_us;

    object_check(holder, CATALOG_HOLDER_MAGIC);
    pthread_mutex_lock(&holder->lock);
    sure_us = holder->sure_us;
    pthread_mutex_unlock(&holder->lock);
    return sure_us;
}

static void be_sure(struct catalog_holder *holder, int64_t looked_us)
{
    pthread_mutex_lock(&holder->lock);
    assert(looked_us >= holder->sure_us); /* looks follow one another: see refreshing */
    holder->sure_us = looked_us;
    pthread_mutex_unlock(&holder->lock);
}

static void swap(struct catalog_holder *holder, struct catalog *next)
{
    struct catalog *old;

    pthread_mutex_lock(&holder->lock);
    old = holder->current;
    assert(next && next != old);
    holder->current = next;
    pthread_mutex_unlock(&holder->lock);
    if (old)
        log_info("another catalogue is in use", LOG_INT("from", catalog_version(old)),
                 LOG_INT("to", catalog_version(next)));
    catalog_unref(old);
}

/* One that cannot be loaded is left out: documents of moved categories are then found in their
 * places as they are composed anew. The same versions in every process, however far documents are:
 * cursors have a hash of the filters, and go from one process to another. */
static void add_formers(struct store *store, struct catalog *catalog)
{
    int64_t version = catalog_version(catalog);

    for (int64_t i = 1; i <= CATALOG_FORMER_COUNT_MAX && i < version; i++) {
        struct arena *arena = arena_new();
        struct catalog *older;
        struct err err;

        if (versions_load(store, version - i, arena, NULL, &older, &err)) {
            log_warn("an older catalogue cannot be read: offers of categories that were moved "
                     "since may be missing there for a while",
                     LOG_INT("version", version - i), LOG_TEXT("error", err.text));
        } else {
            catalog_add_former(catalog, older);
            catalog_unref(older);
        }
        arena_free(arena);
    }
}

static int follow(struct catalog_holder *holder, struct err *err)
{
    struct catalog *next;
    struct arena *arena;
    int64_t looked_us = clock_mono_us(store_clock(holder->store));
    int64_t version;
    int rc = versions_current(holder->store, &version, err);

    if (rc)
        return rc;
    /* Only a holder of `refreshing` changes current. */
    if (holder->current && version == catalog_version(holder->current)) {
        be_sure(holder, looked_us);
        return 0;
    }
    arena = arena_new();
    rc = versions_load(holder->store, version, arena, NULL, &next, err);
    arena_free(arena);
    if (rc)
        return rc;
    add_formers(holder->store, next);
    swap(holder, next);
    be_sure(holder, looked_us);
    return 0;
}

int catalog_holder_refresh(struct catalog_holder *holder, struct err *err)
{
    struct err own;
    int rc;

    object_check(holder, CATALOG_HOLDER_MAGIC);
    pthread_mutex_lock(&holder->refreshing);
    rc = follow(holder, &own);
    if (rc && !holder->failing)
        log_warn("the catalogue in use cannot be read; the one known stays",
                 LOG_TEXT("error", own.text));
    if (!rc && holder->failing)
        log_info("the catalogue can be read again");
    holder->failing = rc != 0;
    pthread_mutex_unlock(&holder->refreshing);
    return rc ? err_set(err, rc, "%s", own.text) : 0;
}

/* --- the thread --- */

static void watch_for_ever(struct task *task, void *arg)
{
    struct catalog_holder *holder = arg;

    object_check(holder, CATALOG_HOLDER_MAGIC);
    while (task_pause(task, (int64_t)CATALOG_REFRESH_MS * MS_US)) {
        task_says(task, "looking for another catalogue");
        catalog_holder_refresh(holder, NULL); /* a failure is logged, and tried again */
    }
}

int catalog_holder_open(struct store *store, bool watch, struct catalog_holder **holder,
                        struct err *err)
{
    struct catalog_holder *made = mem_zero(sizeof(*made));
    const struct task_options task = {
        .name = "catalog", .run = watch_for_ever, .arg = made, .clock = store_clock(store)};
    int rc;

    object_begin(made, CATALOG_HOLDER_MAGIC);
    *holder = NULL;
    made->store = store;
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->refreshing, NULL);
    rc = follow(made, err);
    if (rc)
        err_wrap(err, "load the catalogue");
    if (!rc && watch)
        rc = task_start(&made->task, &task, err);
    if (rc)
        catalog_holder_close(made);
    else
        *holder = made;
    return rc;
}

void catalog_holder_close(struct catalog_holder *holder)
{
    if (!holder)
        return;
    object_check(holder, CATALOG_HOLDER_MAGIC);
    task_stop(&holder->task);
    catalog_unref(holder->current);
    pthread_mutex_destroy(&holder->refreshing);
    pthread_mutex_destroy(&holder->lock);
    object_end(holder, CATALOG_HOLDER_MAGIC);
    free(holder);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* synonym_holder.c - see synonym_holder.h. */
#include "search/synonyms/synonym_holder.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "search/bounds.h"
#include "search/synonyms/shipped_synonyms.h"
#include "search/synonyms/synonym_sets.h"

enum { SYNONYM_HOLDER_MAGIC = OBJECT_MAGIC('s', 'h', 'l', 'd') };

struct synonym_holder {
    uint32_t magic;
    struct store *store; /* borrowed */
    bool has_shipped;

    pthread_mutex_t lock;     /* guards the pointer */
    struct synonyms *current; /* a reference */

    pthread_mutex_t refreshing; /* one at a time, and guards these */
    int64_t mark;               /* of the sets that current is made of */
    bool failing;               /* the log is told once */

    struct task task;
};

struct synonyms *synonyms_in_force(void *arg)
{
    struct synonym_holder *holder = arg;
    struct synonyms *synonyms;

    object_check(holder, SYNONYM_HOLDER_MAGIC);
    pthread_mutex_lock(&holder->lock);
    synonyms = synonyms_ref(holder->current);
    pthread_mutex_unlock(&holder->lock);
    return synonyms;
}

static void swap(struct synonym_holder *holder, struct synonyms *next)
{
    struct synonyms *old;

    pthread_mutex_lock(&holder->lock);
    old = holder->current;
    holder->current = next;
    pthread_mutex_unlock(&holder->lock);
    if (old)
        log_info("other synonyms are in force", LOG_INT("terms", (int64_t)synonyms_count(next)));
    synonyms_unref(old);
}

static int load(const struct synonym_holder *holder, struct arena *arena,
                struct synonyms **synonyms, struct err *err)
{
    struct synonym_rules rules[SYNONYM_LANGUAGE_COUNT_MAX + 1];
    struct violations none = violations_in(arena);
    struct synonym_sets sets;
    size_t count;
    int rc = synonym_sets_read(holder->store, arena, &sets, err);

    for (size_t i = 0; i < sets.count && !rc; i++) {
        struct violations faults = violations_in(arena);

        rc = synonyms_parse(sets.list[i].text, arena, &rules[i], &faults, err);
        if (rc)
            err_wrap(err, "the synonyms in \"%s\"", sets.list[i].language);
    }
    count = sets.count; /* behind them, as the first come first */
    if (!rc && holder->has_shipped)
        rc = synonyms_parse(shipped_synonyms(), arena, &rules[count++], &none, err);
    if (!rc)
        *synonyms = synonyms_new(rules, count);
    return rc;
}

static int follow(struct synonym_holder *holder, struct err *err)
{
    struct synonyms *next;
    struct arena *arena;
    int64_t mark;
    int rc = synonym_sets_mark(holder->store, &mark, err);

    if (rc || mark == holder->mark)
        return rc;
    arena = arena_new();
    rc = load(holder, arena, &next, err);
    arena_free(arena);
    if (rc)
        return rc;
    holder->mark = mark; /* a set that was changed since is seen by the next look */
    swap(holder, next);
    return 0;
}

int synonym_holder_refresh(struct synonym_holder *holder, struct err *err)
{
    struct err own;
    int rc;

    object_check(holder, SYNONYM_HOLDER_MAGIC);
    pthread_mutex_lock(&holder->refreshing);
    rc = follow(holder, &own);
    if (rc && !holder->failing)
        log_warn("the synonyms cannot be read; those known stay in force",
                 LOG_TEXT("error", own.text));
    if (!rc && holder->failing)
        log_info("the synonyms can be read again");
    holder->failing = rc != 0;
    pthread_mutex_unlock(&holder->refreshing);
    return rc ? err_set(err, rc, "%s", own.text) : 0;
}

static void watch_for_ever(struct task *task, void *arg)
{
    while (task_pause(task, (int64_t)SYNONYM_REFRESH_MS * MS_US)) {
        task_says(task, "looking for other synonyms");
        synonym_holder_refresh(arg, NULL); /* a failure is logged, and tried again */
    }
}

int synonym_holder_open(struct store *store, bool watch, bool has_shipped,
                        struct synonym_holder **holder, struct err *err)
{
    struct synonym_holder *made = mem_zero(sizeof(*made));
    const struct task_options task = {
        .name = "synonyms", .run = watch_for_ever, .arg = made, .clock = store_clock(store)};
    int rc;

    object_begin(made, SYNONYM_HOLDER_MAGIC);
    *holder = NULL;
    made->store = store;
    made->has_shipped = has_shipped;
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->refreshing, NULL);
    made->current = synonyms_new(NULL, 0);
    made->mark = -1;
    rc = follow(made, err);
    if (rc)
        err_wrap(err, "load the synonyms");
    if (!rc && watch)
        rc = task_start(&made->task, &task, err);
    if (rc)
        synonym_holder_close(made);
    else
        *holder = made;
    return rc;
}

void synonym_holder_close(struct synonym_holder *holder)
{
    if (!holder)
        return;
    object_check(holder, SYNONYM_HOLDER_MAGIC);
    task_stop(&holder->task);
    synonyms_unref(holder->current);
    pthread_mutex_destroy(&holder->refreshing);
    pthread_mutex_destroy(&holder->lock);
    object_end(holder, SYNONYM_HOLDER_MAGIC);
    free(holder);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readiness.c - see readiness.h.
 *
 * The store is known to answer by the keys, which are read all the time, and ZooKeeper by the
 * lease, which is renewed all the time: neither is asked once more. A server that stands still
 * answers nothing and refuses nothing, so the time since its last answer counts, not a failure.
 */
#include "roles/processes/readiness.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/bounds.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "roles/bounds.h"

enum { KIND_COUNT = 3 }; /* the store, the topics, coordination */

static const char starting[] = "it is starting";

struct watched {
    const char *name;
    unsigned need; /* of role.needs */
    bool is_remote;
    bool was_silent;
    struct gauge *answers;
};

enum { READINESS_MAGIC = OBJECT_MAGIC('r', 'e', 'd', 'y') };

struct readiness {
    uint32_t magic;
    struct process *process; /* borrowed */
    unsigned needs;          /* of its roles */
    struct watched kinds[KIND_COUNT];
    _Atomic int64_t topics_us; /* when the broker answered last */
    char *lack;                /* owned; as the server was told */
    bool is_serving;
    struct task asker;
    struct task judge;
};

/* What callers need; of a process that nobody calls, what its work needs. */
static unsigned needs_of(const struct process *process)
{
    unsigned callers = 0, all = 0;
    bool has_callers = false;

    for (size_t i = 0; i < process->role_count; i++) {
        const struct role *role = process->roles[i];

        all |= role->needs;
        callers |= role->has_callers ? role->needs : 0;
        has_callers |= role->has_callers;
    }
    return has_callers ? callers : all;
}

static int64_t now_us(const struct readiness *self)
{
    return clock_mono_us(self->process->clock);
}

static void ask_for_ever(struct task *task, void *arg)
{
    struct readiness *self = arg;

    object_check(self, READINESS_MAGIC);
    struct arena *arena = arena_new();

    do {
        int64_t asked_us = now_us(self);
        const char **names;
        struct err err;
        size_t count;

        task_says(task, "asking the broker");
        if (!topic_list(self->process->backends.topics, arena, &names, &count, &err))
            atomic_store(&self->topics_us, asked_us);
        arena_reset(arena);
    } while (task_pause(task, (int64_t)READY_ASK_MS * MS_US));
    arena_free(arena);
}

static int64_t silence_us(struct readiness *self, const struct watched *watched)
{
    const struct process *process = self->process;

    switch (watched->need) {
    case NEEDS_STORE:
        return key_ring_age_us(process->ring);
    case NEEDS_TOPICS:
        return now_us(self) - atomic_load(&self->topics_us);
    default:
        return coord_silence_us(process->backends.coord);
    }
}

/* Stored keys are trusted for a while without the store; then their holders are refused. */
static bool is_needed(const struct readiness *self, unsigned need, int64_t silent_us)
{
    return (self->needs & need) || (need == NEEDS_STORE && (self->needs & NEEDS_KEYS) &&
                                    silent_us > (int64_t)KEY_STALE_SEARCH_MS_MAX * MS_US);
}

static void note_change(struct watched *watched, bool is_silent)
{
    gauge_set(watched->answers, !is_silent);
    if (is_silent && !watched->was_silent)
        log_warn("a server does not answer", LOG_TEXT("server", watched->name),
                 LOG_INT("silent_ms", READY_SILENCE_MS));
    if (!is_silent && watched->was_silent)
        log_info("a server answers again", LOG_TEXT("server", watched->name));
    watched->was_silent = is_silent;
}

static void add_lack(struct buf *lack, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_lack(struct buf *lack, const char *format, ...)
{
    va_list args;

    if (lack->size)
        buf_put_text(lack, ", ");
    va_start(args, format);
    buf_vprintf(lack, format, args);
    va_end(args);
}

static bool has_checks(const struct process *process)
{
    for (size_t i = 0; i < process->role_count; i++)
        if (process->roles[i]->check)
            return true;
    return false;
}

/* False when callers of one are refused. */
static bool ask_roles(const struct readiness *self, struct buf *lack)
{
    bool all_serve = true;

    for (size_t i = 0; i < self->process->role_count; i++) {
        const struct role *role = self->process->roles[i];
        struct err err = {0};
        bool is_serving = true;

        if (!role->check || !role->check(self->process, &is_serving, &err))
            continue;
        add_lack(lack, "%s", err.text);
        all_serve &= is_serving;
    }
    return all_serve;
}

/* The text tells how long, so the server is told anew as long as one is silent. */
static void judge_once(struct readiness *self)
{
    struct buf lack = BUF_INIT(SIZE_MAX); /* a few short texts */
    bool is_serving = ask_roles(self, &lack);
    const char *text;

    for (size_t i = 0; i < KIND_COUNT; i++) {
        struct watched *watched = &self->kinds[i];
        int64_t silent_us = watched->is_remote ? silence_us(self, watched) : 0;
        bool is_silent = silent_us > (int64_t)READY_SILENCE_MS * MS_US;

        if (!watched->is_remote)
            continue;
        note_change(watched, is_silent);
        if (!is_silent)
            continue;
        if (is_needed(self, watched->need, silent_us))
            is_serving = false;
        add_lack(&lack, "%s has not answered for %" PRId64 " s", watched->name,
                 silent_us / SECOND_US);
    }
    text = buf_text(&lack);
    if (strcmp(text, self->lack) != 0 || is_serving != self->is_serving)
        server_set_lack(self->process->server, *text ? text : NULL, is_serving);
    free(self->lack);
    self->lack = mem_strdup(text);
    self->is_serving = is_serving;
    buf_release(&lack);
}

static void judge_for_ever(struct task *task, void *arg)
{
    struct readiness *self = arg;

    object_check(self, READINESS_MAGIC);
    while (task_pause(task, (int64_t)(self->is_serving ? READY_LOOK_MS : READY_WAIT_MS) * MS_US)) {
        task_says(task, "looking at the servers' last answers");
        judge_once(self);
    }
}

static void set_kind(struct readiness *self, size_t place, const char *name, unsigned need,
                     enum setting_id setting, const char *scheme)
{
    const char *url = config_text(self->process->config, setting);
    char labels[64];

    snprintf(labels, sizeof(labels), "server=\"%s\"", name);
    self->kinds[place] =
        (struct watched){.name = name,
                         .need = need,
                         .is_remote = strncmp(url, scheme, strlen(scheme)) == 0,
                         .answers = metrics_gauge("torg_backend_answers", labels,
                                                  "1 while the server answers, or while the "
                                                  "backend is embedded.")};
    gauge_set(self->kinds[place].answers, 1);
}

void readiness_hold(struct process *process)
{
    if (has_checks(process))
        server_set_lack(process->server, starting, false);
}

struct readiness *readiness_start(struct process *process)
{
    struct readiness *self = mem_zero(sizeof(*self));
    const struct task_options asker = {
        .name = "broker-asker", .run = ask_for_ever, .arg = self, .clock = process->clock};
    const struct task_options judge = {
        .name = "readiness", .run = judge_for_ever, .arg = self, .clock = process->clock};
    int rc;

    object_begin(self, READINESS_MAGIC);
    self->process = process;
    self->needs = needs_of(process);
    self->is_serving = !has_checks(process); /* as readiness_hold told it */
    self->lack = mem_strdup(self->is_serving ? "" : starting);
    set_kind(self, 0, "PostgreSQL", NEEDS_STORE, SETTING_STORE_URL, "postgres");
    set_kind(self, 1, "Kafka", NEEDS_TOPICS, SETTING_TOPIC_URL, "kafka:");
    set_kind(self, 2, "ZooKeeper", NEEDS_COORD, SETTING_COORD_URL, "zookeeper:");
    if (!self->kinds[0].is_remote && !self->kinds[1].is_remote && !self->kinds[2].is_remote &&
        !has_checks(process)) {
        free(self->lack);
        object_end(self, READINESS_MAGIC);
        free(self);
        return NULL;
    }
    atomic_store(&self->topics_us, now_us(self));
    judge_once(self); /* what is ready at once is so when it is told to be up */
    if (self->kinds[1].is_remote) {
        rc = task_start(&self->asker, &asker, NULL);
        assert(rc == 0);
    }
    rc = task_start(&self->judge, &judge, NULL);
    assert(rc == 0);
    return self;
}

void readiness_stop(struct readiness *self)
{
    if (!self)
        return;
    object_check(self, READINESS_MAGIC);
    task_stop(&self->judge);
    task_stop(&self->asker);
    free(self->lack);
    object_end(self, READINESS_MAGIC);
    free(self);
}

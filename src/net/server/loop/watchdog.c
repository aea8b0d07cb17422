/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.c - see watchdog.h. */
#include "net/server/loop/watchdog.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "net/bounds.h"

enum {
    LOOK_COUNT = 5,         /* of one limit */
    SPIN_TURNS_PER_MS = 1,  /* in vain; fewer are events that came to nothing */
    TROUBLE_SIZE_MAX = 512, /* /readyz tells no more than that anyway */
};

enum state { RUNNING, STUCK, SPINNING };

struct watched {
    struct reactor *reactor; /* borrowed */
    uint64_t half_turns;     /* as seen by the last look */
    uint64_t vain_turns;
    unsigned still_count; /* looks in a row that found the same turn */
    unsigned spin_count;  /* looks in a row that found many turns in vain */
    enum state state;
};

enum { WATCHDOG_MAGIC = OBJECT_MAGIC('w', 'd', 'o', 'g') };

struct watchdog {
    uint32_t magic;
    struct watchdog_options options; /* without its list */
    struct watched *watched;         /* owned */
    char trouble[TROUBLE_SIZE_MAX];  /* as reported */
    struct task task;
};

static enum state judge(struct watched *watched, unsigned look_ms)
{
    const struct reactor *reactor = watched->reactor;
    uint64_t half_turns = atomic_load_explicit(&reactor->half_turns, memory_order_relaxed);
    uint64_t vain_turns = atomic_load_explicit(&reactor->vain_turns, memory_order_relaxed);
    bool is_still = half_turns % 2 && half_turns == watched->half_turns;
    bool is_spin = vain_turns - watched->vain_turns >= (uint64_t)look_ms * SPIN_TURNS_PER_MS;

    watched->still_count = is_still ? watched->still_count + 1 : 0;
    watched->spin_count = is_spin ? watched->spin_count + 1 : 0;
    watched->half_turns = half_turns;
    watched->vain_turns = vain_turns;
    if (watched->still_count >= LOOK_COUNT)
        return STUCK;
    return watched->spin_count >= LOOK_COUNT ? SPINNING : RUNNING;
}

static void note_change(struct watched *watched, enum state state, unsigned limit_ms)
{
    const char *name = watched->reactor->name;

    if (state == watched->state)
        return;
    if (state == RUNNING)
        log_info("a reactor goes on", LOG_TEXT("reactor", name));
    else if (state == STUCK)
        log_error("a reactor is stuck: its connections wait", LOG_TEXT("reactor", name),
                  LOG_TEXT("busy_with", atomic_load(&watched->reactor->busy_with)),
                  LOG_INT("longer_than_ms", limit_ms));
    else
        log_error("a reactor spins: it takes turn after turn and does no work",
                  LOG_TEXT("reactor", name), LOG_INT("longer_than_ms", limit_ms));
    watched->state = state;
}

/* As many of them as there is room for. */
static void describe(const struct watched *watched, unsigned limit_ms, struct buf *out)
{
    if (out->size > TROUBLE_SIZE_MAX / 2)
        return;
    buf_printf(out, "%s%s %s for more than %u ms", out->size ? "; " : "", watched->reactor->name,
               watched->state == STUCK ? "is stuck" : "spins", limit_ms);
    if (watched->state == STUCK)
        buf_printf(out, ", busy with %.100s", atomic_load(&watched->reactor->busy_with));
}

static void look(struct watchdog *self)
{
    unsigned limit_ms = self->options.limit_ms;
    struct buf trouble = BUF_INIT(TROUBLE_SIZE_MAX);
    const char *text;

    for (size_t i = 0; i < self->options.count; i++) {
        struct watched *watched = &self->watched[i];
        enum state state = judge(watched, limit_ms / LOOK_COUNT);

        note_change(watched, state, limit_ms);
        if (state != RUNNING)
            describe(watched, limit_ms, &trouble);
    }
    text = buf_text(&trouble);
    if (strcmp(text, self->trouble) != 0) {
        snprintf(self->trouble, sizeof(self->trouble), "%s", text);
        self->options.report(self->options.arg, *text ? text : NULL);
    }
    buf_release(&trouble);
}

/* After a burst: the C library keeps what was freed, some of it for ever. */
static void trim(const struct watchdog *self, int64_t *trimmed_us)
{
    int64_t now_us = clock_mono_us(self->task.clock);

    if (now_us - *trimmed_us < NET_LOOSE_LOOK_MS * (int64_t)MS_US)
        return;
    *trimmed_us = now_us;
    if (mem_loose_size() > NET_LOOSE_SIZE_MAX)
        mem_trim();
}

static void look_for_ever(struct task *task, void *arg)
{
    struct watchdog *self = arg;
    int64_t trimmed_us = clock_mono_us(self->task.clock);

    object_check(self, WATCHDOG_MAGIC);
    while (task_pause(task, (int64_t)self->options.limit_ms * MS_US / LOOK_COUNT)) {
        task_says(task, "looking at the reactors");
        look(self);
        trim(self, &trimmed_us);
    }
}

int watchdog_start(const struct watchdog_options *options, struct watchdog **watchdog,
                   struct err *err)
{
    struct watchdog *self = mem_zero(sizeof(*self));
    const struct task_options task = {.name = "watchdog",
                                      .run = look_for_ever,
                                      .arg = self,
                                      .clock = clock_or_system(options->clock)};
    int rc;

    object_begin(self, WATCHDOG_MAGIC);
    assert(options->limit_ms >= LOOK_COUNT);
    self->options = *options;
    self->options.reactors = NULL;
    self->watched = mem_array(options->count + 1, sizeof(*self->watched));
    for (size_t i = 0; i < options->count; i++)
        self->watched[i] = (struct watched){.reactor = options->reactors[i]};
    rc = task_start(&self->task, &task, err);
    if (rc)
        watchdog_stop(self);
    else
        *watchdog = self;
    return rc;
}

void watchdog_stop(struct watchdog *watchdog)
{
    if (!watchdog)
        return;
    object_check(watchdog, WATCHDOG_MAGIC);
    task_stop(&watchdog->task);
    free(watchdog->watched);
    object_end(watchdog, WATCHDOG_MAGIC);
    free(watchdog);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* announce.c - see announce.h. */
#include "searcher/front/announce.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "codec/message.h"
#include "coord/bounds.h"
#include "searcher/bounds.h"
#include "torg/v1/index_message.pb-c.h"

enum { ANNOUNCER_MAGIC = OBJECT_MAGIC('a', 'n', 'n', 'o'), ATTEMPT_COUNT_MAX = 20 };

struct announcer {
    uint32_t magic;
    struct announcer_options options;
    char *address; /* owned */
    struct task task;
};

static const Torg__V1__SearcherList *parse(struct bytes bytes, struct arena *arena)
{
    ProtobufCMessage *message = NULL;
    struct err err;

    if (message_decode(bytes, &torg__v1__searcher_list__descriptor, arena, &message, &err)) {
        log_warn("the list of searchers cannot be read; a new one is begun",
                 LOG_TEXT("reason", err.text));
        return MESSAGE_NEW(searcher_list, arena);
    }
    return (const Torg__V1__SearcherList *)message;
}

/* Those who are there still, and this one unless it goes. */
static void renew(const struct announcer *self, const Torg__V1__SearcherList *before, bool is_going,
                  struct arena *arena, struct buf *out)
{
    int64_t now_us = clock_wall_us(self->options.clock);
    Torg__V1__SearcherList after = TORG__V1__SEARCHER_LIST__INIT;
    Torg__V1__SearcherList__Searcher own = TORG__V1__SEARCHER_LIST__SEARCHER__INIT;

    own.address = self->address;
    own.seen_us = now_us;
    after.searchers = arena_array(arena, before->n_searchers + 1, sizeof(after.searchers[0]));
    for (size_t i = 0; i < before->n_searchers; i++)
        if (strcmp(before->searchers[i]->address, self->address) != 0 &&
            before->searchers[i]->seen_us > now_us - ANNOUNCE_LIFE_MS * (int64_t)MS_US)
            after.searchers[after.n_searchers++] = before->searchers[i];
    if (!is_going)
        after.searchers[after.n_searchers++] = &own;
    message_encode(&after.base, out);
}

static int announce_once(const struct announcer *self, bool is_going, struct err *err)
{
    struct arena *arena = arena_new();
    struct buf there = BUF_INIT(COORD_VALUE_SIZE_MAX);
    struct buf list = BUF_INIT(COORD_VALUE_SIZE_MAX);
    uint64_t version = 0;
    int rc = coord_get(self->options.coord, ANNOUNCE_KEY, &there, &version, err);

    if (rc == ERR_NOT_FOUND)
        rc = 0;
    if (!rc)
        renew(self, parse(buf_bytes(&there), arena), is_going, arena, &list);
    if (!rc && buf_failed(&list))
        rc = err_set(err, ERR_LIMIT, "the list of searchers is larger than a register");
    if (!rc)
        rc = coord_set(self->options.coord, ANNOUNCE_KEY, buf_bytes(&list), version, NULL, err);
    buf_release(&list);
    buf_release(&there);
    arena_free(arena);
    return rc;
}

/* Others write the same register. */
static int announce(const struct announcer *self, bool is_going)
{
    struct err err;
    int rc = ERR_CONFLICT;

    for (int i = 0; i < ATTEMPT_COUNT_MAX && rc == ERR_CONFLICT; i++)
        rc = announce_once(self, is_going, &err);
    if (rc)
        log_warn("this searcher could not be announced to others", LOG_TEXT("reason", err.text));
    return rc;
}

static void run(struct task *task, void *arg)
{
    struct announcer *self = arg;
    int rc;

    object_check(self, ANNOUNCER_MAGIC);
    do {
        task_says(task, "announcing this searcher");
        rc = announce(self, false);
    } while (task_pause(task, (rc ? ANNOUNCE_RETRY_MS : ANNOUNCE_MS) * (int64_t)MS_US));
    (void)announce(self, true);
}

int announcer_start(const struct announcer_options *options, struct announcer **announcer,
                    struct err *err)
{
    struct announcer *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "announcer", .run = run, .arg = self, .clock = clock_or_system(options->clock)};
    int rc;

    object_begin(self, ANNOUNCER_MAGIC);
    self->options = *options;
    self->options.clock = task.clock;
    self->address = mem_strdup(options->address);
    rc = task_start(&self->task, &task, err);
    *announcer = self;
    if (rc) {
        free(self->address);
        object_end(self, ANNOUNCER_MAGIC);
        free(self);
        *announcer = NULL;
    }
    return rc;
}

void announcer_stop(struct announcer *self)
{
    if (!self)
        return;
    object_check(self, ANNOUNCER_MAGIC);
    task_stop(&self->task);
    free(self->address);
    object_end(self, ANNOUNCER_MAGIC);
    free(self);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fetcher.c - see fetcher.h. */
#include "feeds/schedule/fetcher.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "feeds/bounds.h"
#include "feeds/schedule/run.h"
#include "net/client/hosts.h"

#define FETCH_SET "feed-fetch"

enum { FEED_FETCHER_MAGIC = OBJECT_MAGIC('f', 'f', 'c', 'h'), OUTCOME_COUNT = 5 };

/* A thread: the first looks for what is due, and wakes those who fetch it. */
struct fetching {
    struct feed_fetcher *fetcher;
    struct task task;
    struct log_pace pace;
    struct coord_shard shard; /* of the feed at hand */
};

struct feed_fetcher {
    uint32_t magic;
    struct feed_fetcher_options options;
    struct coord_shards *shards; /* owned, as the next */
    struct hosts *hosts;
    struct feed_turns *turns;
    struct fetching threads[1 + FEED_FETCH_THREAD_COUNT];
    struct counter *runs[OUTCOME_COUNT]; /* by outcome */
    struct counter *errors;
    struct gauge *failing;
    struct gauge *stopped;
};

/* --- a run --- */

static bool is_left(const void *arg)
{
    struct fetching *self = (struct fetching *)arg;

    task_says(&self->task, "reading a feed");
    return task_is_stopping(&self->task) ||
           !coord_valid(self->fetcher->shards, self->shard.shard, self->shard.ticket);
}

static int fetch(void *arg, const char *address, const char *etag, const char *modified,
                 struct arena *arena, struct feed_fetched *fetched, struct err *err)
{
    struct fetching *self = arg;
    const struct feed_fetcher_options *options = &self->fetcher->options;
    struct feed_fetch_options asking = {.hosts = self->fetcher->hosts,
                                        .clock = options->offers->clock,
                                        .dir = options->dir,
                                        .is_stopping = &self->task.is_stopping,
                                        .takes_private_addresses =
                                            options->takes_private_addresses};
    int rc;

    task_says(&self->task, "fetching a feed");
    task_rest(&self->task, true); /* another's server takes its time, within FEED_FETCH_MS_MAX */
    rc = feed_fetch(&asking, address, etag, modified, arena, fetched, err);
    task_rest(&self->task, false);
    return rc;
}

static void tell(struct feed_fetcher *fetcher, const Torg__V1__FeedSchedule *schedule)
{
    const Torg__V1__FeedRun *run = schedule->runs[0];

    counter_add(fetcher->runs[run->outcome], 1);
    if (schedule->state == TORG__V1__FEED_SCHEDULE__STATE__STOPPED)
        log_warn("a feed is no longer fetched: too many runs in a row have failed",
                 LOG_TEXT("seller", schedule->seller), LOG_TEXT("feed", schedule->feed),
                 LOG_TEXT("reason", schedule->reason));
}

static int run_one(struct fetching *self, struct feed_due *due, struct arena *arena,
                   struct err *err)
{
    const struct feed_patience patience = {.stopping = &self->task.is_stopping};
    const struct feed_runner runner = {.offers = self->fetcher->options.offers,
                                       .fetch = fetch,
                                       .fetch_arg = self,
                                       .is_left = is_left,
                                       .is_left_arg = self,
                                       .patience = &patience};
    Torg__V1__FeedSchedule *schedule;
    int rc = feed_run(&runner, due, arena, &schedule, err);

    if (!rc)
        tell(self->fetcher, schedule);
    return rc == ERR_STALE ? 0 : rc; /* what it is now is found by the next look */
}

/* --- turns --- */

/* What is due of the shards that we own and keep, with the tickets by number; none: nothing of
 * it. */
static int find_waiting(struct feed_fetcher *fetcher, struct arena *arena,
                        struct coord_shard kept[FEED_FETCH_SHARD_COUNT], struct feed_waiting **list,
                        size_t *count, struct err *err)
{
    struct coord_shard owned[FEED_FETCH_SHARD_COUNT];
    size_t owned_count = coord_owned(fetcher->shards, owned, FEED_FETCH_SHARD_COUNT);
    bool is_kept[FEED_FETCH_SHARD_COUNT] = {false};
    size_t all = 0;
    int rc =
        owned_count ? feed_schedule_waiting(fetcher->options.offers, arena, list, &all, err) : 0;

    for (size_t i = 0; i < owned_count; i++) {
        kept[owned[i].shard] = owned[i];
        is_kept[owned[i].shard] = !owned[i].leaving;
    }
    *count = 0;
    for (size_t i = 0; i < all && !rc; i++) {
        if (is_kept[(*list)[i].shard])
            (*list)[(*count)++] = (*list)[i];
    }
    return rc;
}

/* Fetches the feed whose turn it is, if there is one. */
static int fetch_next(struct fetching *self, bool *found, struct err *err)
{
    struct feed_fetcher *fetcher = self->fetcher;
    size_t number = (size_t)(self - fetcher->threads) - 1;
    struct coord_shard kept[FEED_FETCH_SHARD_COUNT];
    const struct feed_waiting *waiting = NULL;
    struct arena *arena = arena_new();
    struct feed_waiting *list = NULL;
    struct feed_due due = {0};
    size_t count = 0;
    int rc = find_waiting(fetcher, arena, kept, &list, &count, err);

    if (!rc)
        waiting = feed_turns_take(fetcher->turns, number, list, count);
    *found = waiting;
    if (waiting) {
        self->shard = kept[waiting->shard];
        rc = feed_schedule_find_due(fetcher->options.offers, waiting, arena, &due, err);
        if (!rc && due.key.seller && !is_left(self))
            rc = run_one(self, &due, arena, err);
        feed_turns_give_back(fetcher->turns, number);
    }
    arena_free(arena);
    return rc == ERR_CANCELLED ? 0 : rc;
}

/* --- rounds --- */

/* Of what the process owns; one thread tells it for all. */
static int tell_failing(struct feed_fetcher *fetcher, struct err *err)
{
    struct coord_shard owned[FEED_FETCH_SHARD_COUNT];
    size_t count = coord_owned(fetcher->shards, owned, FEED_FETCH_SHARD_COUNT);
    int64_t failing[FEED_FETCH_SHARD_COUNT];
    int64_t stopped[FEED_FETCH_SHARD_COUNT];
    int64_t failing_sum = 0;
    int64_t stopped_sum = 0;
    int rc = feed_schedule_failing(fetcher->options.offers, failing, stopped, err);

    for (size_t i = 0; i < count && !rc; i++) {
        failing_sum += failing[owned[i].shard];
        stopped_sum += stopped[owned[i].shard];
    }
    if (!rc) {
        gauge_set(fetcher->failing, failing_sum);
        gauge_set(fetcher->stopped, stopped_sum);
    }
    return rc;
}

/* Of a shard that is to leave no run is begun. One that was chosen before finds its ticket no
 * longer good. */
static void release_leaving(struct feed_fetcher *fetcher)
{
    struct coord_shard owned[FEED_FETCH_SHARD_COUNT];
    size_t count = coord_owned(fetcher->shards, owned, FEED_FETCH_SHARD_COUNT);

    for (size_t i = 0; i < count; i++) {
        if (owned[i].leaving && !feed_turns_has(fetcher->turns, owned[i].shard))
            coord_release(fetcher->shards, owned[i].shard, owned[i].ticket);
    }
}

static int look(struct fetching *self, struct err *err)
{
    struct feed_fetcher *fetcher = self->fetcher;
    struct coord_shard kept[FEED_FETCH_SHARD_COUNT];
    struct arena *arena = arena_new();
    struct feed_waiting *list = NULL;
    size_t count = 0;
    int rc;

    release_leaving(fetcher);
    rc = find_waiting(fetcher, arena, kept, &list, &count, err);
    if (!rc && feed_turns_wait(fetcher->turns, list, count)) {
        for (size_t i = 1; i < ARRAY_COUNT(fetcher->threads); i++)
            task_wake(&fetcher->threads[i].task);
    }
    arena_free(arena);
    return rc ? rc : tell_failing(fetcher, err);
}

static int fetch_due(struct fetching *self, struct err *err)
{
    bool found = true;
    int rc = 0;

    while (found && !rc && !task_is_stopping(&self->task))
        rc = fetch_next(self, &found, err);
    return rc;
}

static void fetch_main(struct task *task, void *arg)
{
    struct fetching *self = arg;
    bool is_looking = self == self->fetcher->threads;
    struct err err = {0};
    int64_t wait_ms;

    object_check(self->fetcher, FEED_FETCHER_MAGIC);
    do {
        task_says(task, "looking for feeds to fetch");
        wait_ms = is_looking ? FEED_FETCH_LOOK_MS : FEED_FETCH_IDLE_MS;
        if (is_looking ? look(self, &err) : fetch_due(self, &err)) {
            wait_ms = FEED_FETCH_REST_MS;
            counter_add(self->fetcher->errors, 1);
            if (log_pace_is_due(&self->pace, &err))
                log_warn("fetching feeds failed and is tried again", LOG_TEXT("error", err.text));
        }
    } while (task_pause(task, wait_ms * MS_US));
}

/* --- life --- */

static void make_metrics(struct feed_fetcher *fetcher)
{
    static const char *const labels[OUTCOME_COUNT] = {
        [TORG__V1__FEED_RUN__OUTCOME__OUTCOME_UNSPECIFIED] = "outcome=\"unknown\"",
        [TORG__V1__FEED_RUN__OUTCOME__UNCHANGED] = "outcome=\"unchanged\"",
        [TORG__V1__FEED_RUN__OUTCOME__APPLIED] = "outcome=\"applied\"",
        [TORG__V1__FEED_RUN__OUTCOME__HELD] = "outcome=\"held\"",
        [TORG__V1__FEED_RUN__OUTCOME__FAILED] = "outcome=\"failed\"",
    };

    for (size_t i = 0; i < OUTCOME_COUNT; i++)
        fetcher->runs[i] = metrics_counter("torg_feed_runs_total", labels[i],
                                           "Feeds fetched by their addresses, by what came of it.");
    fetcher->errors = metrics_counter("torg_feed_fetch_errors_total", NULL,
                                      "Failures of our own while feeds were fetched, tried again.");
    fetcher->failing = metrics_gauge("torg_feed_schedules_failing", NULL,
                                     "Feeds whose last run failed, of those this process fetches.");
    fetcher->stopped = metrics_gauge("torg_feed_schedules_stopped", NULL,
                                     "Those of them that are no longer fetched.");
}

static int start_threads(struct feed_fetcher *fetcher, struct err *err)
{
    int rc = 0;

    /* Who looks is last: it wakes the others. */
    for (size_t i = ARRAY_COUNT(fetcher->threads); i > 0 && !rc; i--) {
        struct fetching *self = &fetcher->threads[i - 1];
        char name[TASK_NAME_SIZE];
        const struct task_options options = {.name = name,
                                             .run = fetch_main,
                                             .arg = self,
                                             .clock = fetcher->options.offers->clock,
                                             .silence_us_max = (int64_t)FEED_FETCH_MS_MAX * MS_US};

        snprintf(name, sizeof(name), i > 1 ? "feed-fetch-%zu" : "feed-fetch", i - 1);
        self->fetcher = fetcher;
        rc = task_start(&self->task, &options, err);
    }
    return rc;
}

int feed_fetcher_start(const struct feed_fetcher_options *options, struct feed_fetcher **fetcher,
                       struct err *err)
{
    struct feed_fetcher *self = mem_zero(sizeof(*self));
    int rc;

    object_begin(self, FEED_FETCHER_MAGIC);
    *fetcher = NULL;
    self->options = *options;
    self->hosts = hosts_new(options->offers->clock);
    self->turns = feed_turns_new(FEED_FETCH_THREAD_COUNT);
    make_metrics(self);
    rc = coord_join(options->coord, FETCH_SET, FEED_FETCH_SHARD_COUNT, &self->shards, err);
    if (!rc)
        rc = start_threads(self, err);
    if (rc)
        feed_fetcher_stop(self);
    else
        *fetcher = self;
    return rc;
}

void feed_fetcher_stop(struct feed_fetcher *fetcher)
{
    if (!fetcher)
        return;
    object_check(fetcher, FEED_FETCHER_MAGIC);
    for (size_t i = 0; i < ARRAY_COUNT(fetcher->threads); i++)
        task_ask_stop(&fetcher->threads[i].task);
    for (size_t i = 0; i < ARRAY_COUNT(fetcher->threads); i++) /* the one that wakes others first */
        task_stop(&fetcher->threads[i].task);
    if (fetcher->shards)
        coord_leave(fetcher->shards);
    hosts_free(fetcher->hosts);
    feed_turns_free(fetcher->turns);
    object_end(fetcher, FEED_FETCHER_MAGIC);
    free(fetcher);
}

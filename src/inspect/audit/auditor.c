/* SPDX-License-Identifier: Apache-2.0 */
/* auditor.c - see auditor.h. */
#include "inspect/audit/auditor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "codec/message.h"
#include "inspect/audit/auditor_book.h"
#include "inspect/bounds.h"
#include "inspect/verify/digests.h"
#include "inspect/verify/verify.h"
#include "model/offer_fields.h"

#define KIND(name) TORG__V1__VERIFY_CHECK__KIND__##name

enum { AUDITOR_MAGIC = OBJECT_MAGIC('a', 'u', 'd', 'i') };

struct auditor {
    uint32_t magic;
    struct auditor_options options;
    struct coord_shards *shards; /* NULL: there is nobody to share with */
    struct arena *plan_arena;    /* of a round */
    struct arena *arena;         /* of a step */
    struct digests digests;
    struct task task;

    struct counter *keys;
    struct counter *errors;
    struct gauge *equal;
    struct gauge *round_s;
    struct gauge *differing;
    struct gauge *parked;
};

/* What it goes through, as it is called. Files and content are read whole by `torg verify`; numbers
 * and what waits in queues are seen by what they lead to. */
static const char *check_name(int kind)
{
    switch (kind) {
    case KIND(OFFERS):
        return "offers";
    case KIND(REGISTRY):
        return "registry";
    case KIND(INDEX):
        return "index";
    default:
        return NULL;
    }
}

static bool is_owner(struct auditor *self)
{
    struct coord_shard owned;

    if (!self->shards)
        return true;
    if (!coord_owned(self->shards, &owned, 1))
        return false;
    if (owned.leaving)
        coord_release(self->shards, owned.shard, owned.ticket);
    return !owned.leaving;
}

/* --- what was found --- */

static void count_finding(const char *check, const Torg__V1__VerifyFinding *finding,
                          struct arena *arena)
{
    const char *labels = arena_printf(arena, "check=\"%s\",reason=\"%s\"", check,
                                      *finding->reason ? finding->reason : "other");

    counter_add(metrics_counter("torg_auditor_differences_total", labels,
                                "Differences between stages that were no changes on their way."),
                1);
    if (finding->is_fixed)
        counter_add(metrics_counter("torg_auditor_repairs_total", labels,
                                    "Differences that were composed or queued again."),
                    1);
}

static int take_findings(struct auditor *self, const Torg__V1__VerifyCheck *check,
                         const Torg__V1__VerifyStepResponse *response, struct err *err)
{
    const struct inspect *inspect = self->options.inspect;
    const char *name = check_name(check->kind);

    for (size_t i = 0; i < response->n_findings; i++) {
        const Torg__V1__VerifyFinding *finding = response->findings[i];

        count_finding(name, finding, self->arena);
        if (i >= AUDITOR_LOGGED_COUNT)
            continue;
        log_warn("stages differ", LOG_TEXT("check", name), LOG_TEXT("client", check->client),
                 LOG_INT("epoch", check->epoch), LOG_TEXT("replica", check->replica),
                 LOG_TEXT("pk", finding->pk), LOG_TEXT("reason", finding->reason),
                 LOG_TEXT("text", finding->text), LOG_INT("repaired", finding->is_fixed));
    }
    return auditor_book_findings(inspect->store, name, check->client, response->findings,
                                 response->n_findings, clock_wall_us(inspect->clock), err);
}

/* --- a round --- */

/* What a page took: by the clock, and of that the CPU of this thread. */
struct effort {
    int64_t clock_us, cpu_us;
};

static struct effort effort_now(const struct auditor *self)
{
    return (struct effort){.clock_us = clock_mono_us(self->options.inspect->clock),
                           .cpu_us = clock_thread_us()};
}

static int64_t longest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* So that it keeps to its rate, and to its part of a core; and leaves alone whoever it waits for: a
 * server of the store, a searcher, the processes of a busy machine. */
static int pace(struct auditor *self, uint64_t key_count, struct effort began, struct err *err)
{
    struct effort now = effort_now(self);
    int64_t took_us = now.clock_us - began.clock_us;
    int64_t cpu_us = now.cpu_us - began.cpu_us;
    int64_t pause_us = (int64_t)key_count * SECOND_US / self->options.rate - took_us;

    pause_us = longest(pause_us, cpu_us * AUDITOR_REST_RATIO);
    pause_us = longest(pause_us, (took_us - cpu_us) * AUDITOR_WAIT_REST_RATIO);
    pause_us = pause_us > AUDITOR_PAUSE_MS_MAX * MS_US ? AUDITOR_PAUSE_MS_MAX * MS_US : pause_us;
    if (pause_us > 0 ? task_pause(&self->task, pause_us) : !task_is_stopping(&self->task))
        return 0;
    return err_set(err, ERR_CANCELLED, "it is time to stop");
}

/* Where a check stands. */
struct place {
    uint8_t cursor[AUDITOR_CURSOR_SIZE];
    size_t size; /* 0: at its begin, or its end */
};

/* Of the registry's rows those without an offer are found by sums, which the registry's own check
 * makes: it comes first. */
static bool is_to_wait(const struct auditor *self, const Torg__V1__VerifyCheck *check,
                       bool has_waited)
{
    return check->kind == KIND(OFFERS) && self->digests.takes_rows && !has_waited;
}

/* From its place on, to its end or to where it has to wait for others. */
static int run_check(struct auditor *self, Torg__V1__VerifyCheck *check, struct place *place,
                     struct auditor_round *round, struct err *err)
{
    const struct inspect *inspect = self->options.inspect;
    const struct verify_by by = {.principal = "auditor",
                                 .lane = LANE_BACKFILL,
                                 .is_light = true,
                                 .task = &self->task,
                                 .digests = &self->digests};
    Torg__V1__VerifyStepRequest request = TORG__V1__VERIFY_STEP_REQUEST__INIT;
    bool has_waited = place->size > 0;
    int rc = 0;

    request.check = check;
    request.fix = true;
    request.cursor.data = place->cursor;
    do {
        struct effort began = effort_now(self);
        Torg__V1__VerifyStepResponse *response;

        request.cursor.len = place->size;
        arena_reset(self->arena);
        response = MESSAGE_NEW(verify_step_response, self->arena);
        task_says(&self->task, "comparing stages");
        rc = verify_step_by(inspect, &request, &by, self->arena, response, err);
        if (rc)
            break;
        assert(response->cursor.len <= sizeof(place->cursor));
        place->size = response->cursor.len;
        if (place->size)
            memcpy(place->cursor, response->cursor.data, place->size);
        round->checked_count += (int64_t)response->checked_count;
        round->difference_count += (int64_t)response->finding_count;
        round->repaired_count += (int64_t)response->fixed_count;
        round->waiting_count += (int64_t)response->waiting_count;
        round->parked_count += (int64_t)response->parked_count;
        counter_add(self->keys, response->checked_count);
        rc = take_findings(self, check, response, err);
        if (!rc)
            rc = pace(self, response->checked_count, began, err);
        if (!rc && !is_owner(self))
            rc = err_set(err, ERR_CANCELLED, "another auditor has taken over");
    } while (!rc && place->size && !is_to_wait(self, check, has_waited));
    return rc;
}

/* What failed is told here; ERR_CANCELLED alone ends the round. */
static int try_check(struct auditor *self, Torg__V1__VerifyCheck *check, struct place *place,
                     struct auditor_round *round, int *failed, struct err *err)
{
    int rc = run_check(self, check, place, round, err);

    if (!rc || rc == ERR_CANCELLED)
        return rc;
    *failed = rc; /* a searcher that is away keeps nobody else waiting */
    place->size = 0;
    if (check->kind == KIND(REGISTRY) && strcmp(check->client, OFFER_CLIENT) == 0)
        digests_drop_rows(&self->digests);
    counter_add(self->errors, 1);
    log_warn("stages could not be compared", LOG_TEXT("client", check->client),
             LOG_TEXT("check", check_name(check->kind)), LOG_TEXT("replica", check->replica),
             LOG_TEXT("error", err->text));
    return 0;
}

static int run_checks(struct auditor *self, const Torg__V1__VerifyPlan *plan,
                      struct auditor_round *round, int *failed, struct err *err)
{
    Torg__V1__VerifyCheck *offers = NULL;
    struct place place = {.size = 0}, waits = place;
    int rc = 0;

    for (size_t i = 0; i < plan->n_checks && !rc; i++) {
        Torg__V1__VerifyCheck *check = plan->checks[i];

        if (!check_name(check->kind))
            continue;
        place.size = 0;
        rc = try_check(self, check, &place, round, failed, err);
        if (place.size) {
            offers = check;
            waits = place;
        }
    }
    return rc || !offers ? rc : try_check(self, offers, &waits, round, failed, err);
}

static int run_round(struct auditor *self, struct err *err)
{
    const struct inspect *inspect = self->options.inspect;
    Torg__V1__PlanVerifyRequest request = TORG__V1__PLAN_VERIFY_REQUEST__INIT;
    Torg__V1__VerifyPlan plan = TORG__V1__VERIFY_PLAN__INIT;
    struct auditor_round round = {.began_us = clock_wall_us(inspect->clock)};
    int failed = 0;
    int rc;

    arena_reset(self->plan_arena);
    digests_begin_round(&self->digests);
    rc = verify_plan(inspect, &request, self->plan_arena, &plan, err);
    if (!rc)
        rc = run_checks(self, &plan, &round, &failed, err);
    if (rc || failed)
        return rc; /* not the whole was seen: it is no round */
    round.ended_us = clock_wall_us(inspect->clock);
    round.looked_count = (int64_t)self->digests.looked_count;
    round.content_count = (int64_t)self->digests.content_count;
    rc = auditor_book_round(inspect->store, &round, err);
    gauge_set(self->round_s, (round.ended_us - round.began_us) / SECOND_US);
    gauge_set(self->differing, round.difference_count - round.repaired_count);
    gauge_set(self->parked, round.parked_count);
    if (!rc && !round.difference_count)
        gauge_set(self->equal, round.ended_us / SECOND_US);
    if (!rc && round.difference_count)
        log_warn("the auditor has found differences", LOG_INT("keys", round.checked_count),
                 LOG_INT("differences", round.difference_count),
                 LOG_INT("repaired", round.repaired_count));
    return rc;
}

static void run(struct task *task, void *arg)
{
    struct auditor *self = arg;
    struct err err;

    object_check(self, AUDITOR_MAGIC);
    while (task_pause(task, self->options.pause_us)) {
        int rc = is_owner(self) ? run_round(self, &err) : 0;

        if (!rc || rc == ERR_CANCELLED)
            continue;
        counter_add(self->errors, 1);
        log_warn("a round of the auditor failed", LOG_TEXT("error", err.text));
    }
}

/* --- life --- */

static void open_metrics(struct auditor *self)
{
    self->keys = metrics_counter("torg_auditor_keys_total", NULL,
                                 "Keys that the auditor has compared between stages.");
    self->errors =
        metrics_counter("torg_auditor_errors_total", NULL,
                        "Checks of the auditor that failed; the next round tries again.");
    self->equal = metrics_gauge("torg_auditor_equal_time_seconds", NULL,
                                "When a whole round found no difference, since 1970.");
    self->round_s = metrics_gauge("torg_auditor_round_seconds", NULL, "How long the last took.");
    self->differing = metrics_gauge("torg_auditor_differing", NULL,
                                    "Differences of the last round that it could not repair.");
    self->parked = metrics_gauge("torg_auditor_parked", NULL,
                                 "Documents of the last round that stand parked with a reason.");
}

static void free_auditor(struct auditor *self)
{
    if (self->shards)
        coord_leave(self->shards);
    digests_release(&self->digests);
    arena_free(self->arena);
    arena_free(self->plan_arena);
    object_end(self, AUDITOR_MAGIC);
    free(self);
}

int auditor_start(const struct auditor_options *options, struct auditor **auditor, struct err *err)
{
    struct auditor *self = mem_zero(sizeof(*self));
    const struct task_options task = {.name = "auditor",
                                      .run = run,
                                      .arg = self,
                                      .clock = options->inspect->clock,
                                      .silence_us_max = 2 * (int64_t)VERIFY_PEER_MS *
                                                        MS_US}; /* it may ask a searcher so long */
    int rc = 0;

    assert(options->rate > 0);
    object_begin(self, AUDITOR_MAGIC);
    *auditor = NULL;
    self->options = *options;
    self->arena = arena_new();
    self->plan_arena = arena_new();
    digests_init(&self->digests);
    open_metrics(self);
    if (options->coord)
        rc = coord_join(options->coord, AUDITOR_SET, 1, &self->shards, err);
    if (!rc)
        rc = task_start(&self->task, &task, err);
    if (rc)
        free_auditor(self);
    else
        *auditor = self;
    return rc;
}

void auditor_stop(struct auditor *self)
{
    if (!self)
        return;
    object_check(self, AUDITOR_MAGIC);
    task_stop(&self->task);
    free_auditor(self);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rest_checks.c - see rest_checks.h. */
#include "sim/rest_checks.h"

#include <inttypes.h>
#include <string.h>

#include "offers/record/offer_status.h"
#include "sim/crowd.h"
#include "torg/v1/cabinet.pb-c.h"
#include "torg/v1/composer.pb-c.h"
#include "torg/v1/counters.pb-c.h"
#include "torg/v1/inspect.pb-c.h"
#include "torg/v1/parked.pb-c.h"
#include "torg/v1/pipeline.pb-c.h"
#include "torg/v1/queue.pb-c.h"
#include "torg/v1/search.pb-c.h"

enum { WAIT_COUNT = 300, WAIT_US = 200 * MS_US, PARKED_COUNT_MAX = 500 };

static const ProtobufCMessage *ask(struct world *world, struct model *model,
                                   const ProtobufCServiceDescriptor *service, const char *method,
                                   const char *seller, const ProtobufCMessage *request,
                                   struct arena *arena)
{
    const struct caller caller = {.seller = seller};
    ProtobufCMessage *answer;
    struct err err;

    if (world_call(world, service, method, &caller, request, arena, &answer, &err))
        model_fail(model, NULL, "%s at rest: %s", method, err.text);
    return answer;
}

/* ---- queues and topics ---- */

static const char *find_lag(struct world *world, struct model *model, struct arena *arena)
{
    Torg__V1__GetPipelineRequest get = TORG__V1__GET_PIPELINE_REQUEST__INIT;
    const Torg__V1__Pipeline *pipeline =
        (const Torg__V1__Pipeline *)ask(world, model, &torg__v1__pipeline_service__descriptor,
                                        "GetPipeline", NULL, &get.base, arena);

    for (size_t i = 0; i < pipeline->n_stages; i++) {
        const Torg__V1__PipelineStage *stage = pipeline->stages[i];

        if (stage->lag_count || stage->failed_count ||
            stage->state == TORG__V1__PIPELINE_STAGE__STATE__FAILING)
            return arena_printf(arena, "%s: %d wait, %d failed %s", stage->name,
                                (int)stage->lag_count, (int)stage->failed_count, stage->reason);
    }
    for (size_t i = 0; i < pipeline->n_clients; i++)
        for (size_t k = 0; k < pipeline->clients[i]->n_lanes; k++) {
            const Torg__V1__LaneState *lane = pipeline->clients[i]->lanes[k];

            if (lane->lag || lane->parked_count)
                return arena_printf(arena, "lane %d of %s: %d wait, %d parked", (int)lane->lane,
                                    lane->client, (int)lane->lag, (int)lane->parked_count);
        }
    return NULL;
}

void check_lanes(struct world *world, struct model *model)
{
    struct arena *arena = arena_new();
    const char *lag = find_lag(world, model, arena);

    for (unsigned i = 0; lag && i < WAIT_COUNT; i++) {
        arena_free(arena);
        pause_us(WAIT_US);
        arena = arena_new();
        lag = find_lag(world, model, arena);
    }
    if (lag)
        model_fail(model, NULL, "at rest something waits: %s", lag);
    arena_free(arena);
}

/* ---- documents ---- */

static const Torg__V1__CatalogProgress *ask_progress(struct world *world, struct model *model,
                                                     struct arena *arena)
{
    Torg__V1__GetCatalogProgressRequest get = TORG__V1__GET_CATALOG_PROGRESS_REQUEST__INIT;

    return (const Torg__V1__CatalogProgress *)ask(world, model,
                                                  &torg__v1__composer_service__descriptor,
                                                  "GetCatalogProgress", NULL, &get.base, arena);
}

void check_composed(struct world *world, struct model *model)
{
    struct arena *arena = arena_new();
    const Torg__V1__CatalogProgress *progress = ask_progress(world, model, arena);

    for (unsigned i = 0; progress->done_version < progress->version && i < WAIT_COUNT; i++) {
        pause_us(WAIT_US);
        arena_reset(arena);
        progress = ask_progress(world, model, arena);
    }
    if (progress->done_version < progress->version)
        model_fail(model, NULL,
                   "at rest documents are of catalogue %" PRId64 ", and %" PRId64 " is in use",
                   progress->done_version, progress->version);
    arena_free(arena);
}

/* ---- what is parked ---- */

/* What a stage could not read stands in its list until somebody drops it. The first that lacks it;
 * NULL: none does. */
static const char *find_unkept(const struct model *model,
                               const Torg__V1__ListParkedResponse *parked)
{
    for (size_t stage = 0; stage < GARBAGE_STAGE_COUNT; stage++) {
        bool is_there = !model->is_garbage_kept[stage];

        for (size_t i = 0; i < parked->n_records && !is_there; i++)
            is_there = strcmp(parked->records[i]->stage, garbage_stages[stage]) == 0;
        if (!is_there)
            return garbage_stages[stage];
    }
    return NULL;
}

/* The first that was not unreadable by itself; NULL: there is none. */
static const Torg__V1__ParkedRecord *find_odd(const Torg__V1__ListParkedResponse *parked)
{
    for (size_t i = 0; i < parked->n_records; i++)
        if (strcmp(parked->records[i]->key, "garbage") != 0 &&
            strncmp(parked->records[i]->key, "-/", 2) != 0) /* of a stage with keys of its own */
            return parked->records[i];
    return NULL;
}

static const Torg__V1__ListParkedResponse *list_parked(struct world *world, struct model *model,
                                                       struct arena *arena)
{
    Torg__V1__ListParkedRequest list = TORG__V1__LIST_PARKED_REQUEST__INIT;

    list.limit = PARKED_COUNT_MAX;
    return (const Torg__V1__ListParkedResponse *)ask(
        world, model, &torg__v1__parked_service__descriptor, "ListParked", NULL, &list.base, arena);
}

void check_parked(struct world *world, struct model *model)
{
    struct arena *arena = arena_new();
    const Torg__V1__ListParkedResponse *parked = list_parked(world, model, arena);

    /* What was sent last, the garbage or what ends its parking, may not have been read yet. */
    for (unsigned i = 0; (find_unkept(model, parked) || find_odd(parked)) && i < WAIT_COUNT; i++) {
        pause_us(WAIT_US);
        arena_reset(arena);
        parked = list_parked(world, model, arena);
    }
    if (find_odd(parked))
        model_fail(model, NULL, "parked by %s: %s, since %s", find_odd(parked)->stage,
                   find_odd(parked)->key, find_odd(parked)->reason);
    if (parked->count > model->garbage_count)
        model_fail(model, NULL, "%d records are parked, and %u were unreadable", (int)parked->count,
                   model->garbage_count);
    if (find_unkept(model, parked))
        model_fail(model, NULL, "%s has nothing parked, and got what cannot be read",
                   find_unkept(model, parked));
    arena_free(arena);
}

/* ---- sellers' figures ---- */

static int take_counters(void *arg, const ProtobufCMessage *message, struct err *err)
{
    const Torg__V1__VerifyCountersResponse *answer =
        (const Torg__V1__VerifyCountersResponse *)message;

    (void)err;
    for (size_t i = 0; i < answer->n_differences; i++)
        model_fail(arg, NULL, "a recount differs: %s of %s, offer %s, was %d, is %d",
                   answer->differences[i]->name, answer->differences[i]->seller,
                   answer->differences[i]->offer_id, (int)answer->differences[i]->was,
                   (int)answer->differences[i]->is);
    return 0;
}

void check_counters(struct world *world, struct model *model)
{
    Torg__V1__VerifyCountersRequest request = TORG__V1__VERIFY_COUNTERS_REQUEST__INIT;
    struct err err;

    if (world_stream(world, &torg__v1__counters_service__descriptor, "VerifyCounters",
                     &request.base, take_counters, model, &err))
        model_fail(model, NULL, "VerifyCounters at rest: %s", err.text);
}

static int64_t count_status(const struct model *model, unsigned seller, int status, int other)
{
    int64_t count = 0;

    for (uint32_t i = 0; i < model->slot_count; i++)
        count += model->slots[i].kind == SLOT_OFFER && model->slots[i].owner == seller &&
                 model->slots[i].revision > 0 &&
                 (model->slots[i].status == status || model->slots[i].status == other);
    return count;
}

void check_cabinets(struct world *world, struct model *model)
{
    static const int statuses[][2] = {
        [TORG__V1__CABINET__PRESET__ACTIVE] = {OFFER_ACTIVE, OFFER_ACTIVE},
        [TORG__V1__CABINET__PRESET__EXPIRED] = {OFFER_EXPIRED, OFFER_EXPIRED},
        [TORG__V1__CABINET__PRESET__SOLD] = {OFFER_SOLD_ON_SITE, OFFER_SOLD_ELSEWHERE},
        [TORG__V1__CABINET__PRESET__BANNED] = {OFFER_BANNED, OFFER_BANNED},
        [TORG__V1__CABINET__PRESET__WITHDRAWN] = {OFFER_WITHDRAWN, OFFER_WITHDRAWN},
        [TORG__V1__CABINET__PRESET__WAITING] = {OFFER_WAITING, OFFER_WAITING},
    };
    struct arena *arena = arena_new();

    for (unsigned seller = 0; seller < SELLER_COUNT; seller++) {
        Torg__V1__GetCountsRequest request = TORG__V1__GET_COUNTS_REQUEST__INIT;
        const Torg__V1__GetCountsResponse *counts = (const Torg__V1__GetCountsResponse *)ask(
            world, model, &torg__v1__cabinet_service__descriptor, "GetCounts", seller_names[seller],
            &request.base, arena);

        for (size_t i = 0; i < counts->n_counts; i++) {
            unsigned preset = counts->counts[i]->preset;
            int64_t expected;

            if (preset >= sizeof(statuses) / sizeof(statuses[0]) || !statuses[preset][0])
                continue;
            expected = count_status(model, seller, statuses[preset][0], statuses[preset][1]);
            if (counts->counts[i]->count != expected)
                model_fail(model, NULL, "%s has %d offers of preset %u, and should have %d",
                           seller_names[seller], (int)counts->counts[i]->count, preset,
                           (int)expected);
        }
    }
    arena_free(arena);
}

/* ---- categories ---- */

static bool is_within(const struct slot *slot, const char *category)
{
    static const char *const names[CATEGORY_COUNT] = {[CATEGORY_BOOKS] = "books",
                                                      [CATEGORY_BIKES] = "bikes",
                                                      [CATEGORY_RINGS] = "rings",
                                                      [CATEGORY_LAMPS] = "lamps"};

    return strcmp(category, "goods") == 0 || strcmp(category, names[slot->category]) == 0;
}

/* How many offers it finds, and how many it should. */
static void count_within(struct world *world, struct model *model, const char *category,
                         uint64_t *found, uint64_t *wanted)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct arena *arena = arena_new();

    request.category = (char *)category;
    *found = ((const Torg__V1__SearchOffersResponse *)ask(
                  world, model, &torg__v1__search_service__descriptor, "SearchOffers", NULL,
                  &request.base, arena))
                 ->total;
    *wanted = 0;
    for (uint32_t i = 0; i < model->slot_count; i++) {
        struct slot *slot = &model->slots[i];

        *wanted += slot->kind != SLOT_DOCUMENT && is_within(slot, category) &&
                   slot_final(slot, now_wall_us()) != 0;
    }
    arena_free(arena);
}

void check_categories(struct world *world, struct model *model)
{
    static const char *const categories[] = {"goods", "bikes", "books", "rings", "lamps"};

    for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
        uint64_t found = 0, wanted = 1;

        for (unsigned k = 0; k < WAIT_COUNT && found != wanted; k++) {
            if (k > 0)
                pause_us(WAIT_US);
            count_within(world, model, categories[i], &found, &wanted);
        }
        if (found != wanted)
            model_fail(model, NULL, "the category %s has %d offers, and should have %d",
                       categories[i], (int)found, (int)wanted);
    }
}

/* ---- verify ---- */

static void run_check(struct world *world, struct model *model, Torg__V1__VerifyCheck *check)
{
    Torg__V1__VerifyStepRequest request = TORG__V1__VERIFY_STEP_REQUEST__INIT;
    struct arena *arena = arena_new();

    request.check = check;
    do {
        const Torg__V1__VerifyStepResponse *step = (const Torg__V1__VerifyStepResponse *)ask(
            world, model, &torg__v1__inspect_service__descriptor, "VerifyStep", NULL, &request.base,
            arena);

        if (step->finding_count || step->waiting_count)
            model_fail(model, NULL, "verify, check %d of %s: %d findings, %d wait: %s %s",
                       (int)check->kind, check->client, (int)step->finding_count,
                       (int)step->waiting_count, step->n_findings ? step->findings[0]->pk : "",
                       step->n_findings ? step->findings[0]->text : "");
        request.cursor = step->cursor;
    } while (request.cursor.len > 0);
    arena_free(arena);
}

void check_verify(struct world *world, struct model *model)
{
    Torg__V1__PlanVerifyRequest request = TORG__V1__PLAN_VERIFY_REQUEST__INIT;
    struct arena *arena = arena_new();
    const Torg__V1__VerifyPlan *plan;

    request.rebuild = true;
    plan = (const Torg__V1__VerifyPlan *)ask(world, model, &torg__v1__inspect_service__descriptor,
                                             "PlanVerify", NULL, &request.base, arena);
    for (size_t i = 0; i < plan->n_checks; i++)
        run_check(world, model, plan->checks[i]);
    arena_free(arena);
}

/* What is parked is told of and left alone. */
void check_auditor(struct world *world, struct model *model)
{
    Torg__V1__GetAuditRequest request = TORG__V1__GET_AUDIT_REQUEST__INIT;
    struct arena *arena = arena_new();
    const Torg__V1__Audit *audit =
        (const Torg__V1__Audit *)ask(world, model, &torg__v1__inspect_service__descriptor,
                                     "GetAudit", NULL, &request.base, arena);

    for (size_t i = 0; i < audit->n_differences; i++) {
        const Torg__V1__AuditDifference *one = audit->differences[i];

        if (strncmp(one->pk, "misfit", 6) == 0) /* of an epoch that was given up */
            continue;
        if (one->is_repaired || strcmp(one->reason, "parked") != 0)
            model_fail(model, NULL, "the auditor, check %s of %s: %s %s: %s", one->check,
                       one->client, one->pk, one->reason, one->text);
    }
    arena_free(arena);
}

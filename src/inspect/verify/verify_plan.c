/* SPDX-License-Identifier: Apache-2.0 */
/* verify_plan.c - what there is to check: see verify.h. */
#include <assert.h>
#include <string.h>

#include "codec/message.h"
#include "inspect/verify/verify.h"
#include "model/offer_fields.h"

#define KIND(name) TORG__V1__VERIFY_CHECK__KIND__##name

struct planning {
    const struct inspect *inspect;
    struct arena *arena;
    bool rebuild;
    Torg__V1__VerifyPlan *plan;
    size_t capacity;
};

static Torg__V1__VerifyCheck *add_check(struct planning *planning, int kind, const char *client,
                                        uint32_t shard)
{
    Torg__V1__VerifyPlan *plan = planning->plan;
    Torg__V1__VerifyCheck *check = MESSAGE_NEW(verify_check, planning->arena);

    if (plan->n_checks == planning->capacity) {
        Torg__V1__VerifyCheck **before = plan->checks;

        planning->capacity = planning->capacity ? planning->capacity * 2 : 64;
        plan->checks = arena_array(planning->arena, planning->capacity, sizeof(check));
        for (size_t i = 0; i < plan->n_checks; i++)
            plan->checks[i] = before[i];
    }
    check->kind = (Torg__V1__VerifyCheck__Kind)kind;
    check->client = arena_strdup(planning->arena, client);
    check->shard = shard;
    plan->checks[plan->n_checks++] = check;
    return check;
}

static void add_index_checks(struct planning *planning, const struct client_view *client,
                             uint32_t shard, int64_t epoch, const char *replica)
{
    static const int kinds[] = {KIND(INDEX), KIND(FILES), KIND(CONTENT)};
    bool with_content = planning->rebuild && epoch == client->serving_epoch;

    for (size_t i = 0; i < (with_content ? 3 : 2); i++) {
        Torg__V1__VerifyCheck *check = add_check(planning, kinds[i], client->name, shard);

        check->epoch = epoch;
        check->replica = arena_strdup(planning->arena, replica);
    }
}

/* The epoch that serves, and those beside it (being built, kept for the way back) where a searcher
 * has them: it has opened them a little after they began. A shard that no searcher has is asked of
 * this process, which tells that it has it not. */
static void plan_shard(struct planning *planning, const struct client_view *client, uint32_t shard,
                       const Torg__V1__Freshness *freshness)
{
    const struct epoch_view *serving = client_epoch(client, client->serving_epoch);
    bool is_served = false;

    add_check(planning, KIND(REGISTRY), client->name, shard);
    add_check(planning, KIND(NUMBERS), client->name, shard);
    if (shard < client->shard_count)
        add_check(planning, KIND(QUEUE), client->name, shard);
    for (size_t i = 0; i < freshness->n_shards; i++) {
        const Torg__V1__ShardFreshness *one = freshness->shards[i];
        const struct epoch_view *epoch = client_epoch(client, one->epoch);
        bool is_serving = one->epoch == client->serving_epoch;

        if (one->shard != shard || !epoch || epoch->numbering != serving->numbering ||
            (!is_serving && !one->is_ready))
            continue;
        is_served = is_served || is_serving;
        add_index_checks(planning, client, shard, one->epoch, one->replica);
    }
    if (!is_served)
        add_index_checks(planning, client, shard, client->serving_epoch, "");
}

/* Other numbers than those of the epoch that serves, and the epochs that have them. Whether each
 * document has one is told by their indexes. */
static void plan_numbering(struct planning *planning, const struct client_view *client,
                           uint32_t numbering, const Torg__V1__Freshness *freshness)
{
    int64_t named = 0;

    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (client->epochs[i].numbering == numbering)
            named = client->epochs[i].epoch;
    for (uint32_t shard = 0; shard < client->numberings[numbering].scheme; shard++)
        add_check(planning, KIND(NUMBERS), client->name, shard)->epoch = named;
    for (size_t i = 0; i < freshness->n_shards; i++) {
        const Torg__V1__ShardFreshness *one = freshness->shards[i];
        const struct epoch_view *epoch = client_epoch(client, one->epoch);

        if (epoch && epoch->numbering == numbering && one->is_ready &&
            one->shard < client->numberings[numbering].scheme)
            add_index_checks(planning, client, one->shard, one->epoch, one->replica);
    }
}

static int plan_client(struct planning *planning, const struct client_view *client, struct err *err)
{
    const struct epoch_view *serving = client_epoch(client, client->serving_epoch);
    Torg__V1__Freshness *freshness;
    int rc = planning->inspect->door.freshness(planning->inspect->door.arg, client->name,
                                               planning->arena, &freshness, err);

    if (rc)
        return err_wrap(err, "the searchers of %s", client->name);
    if (strcmp(client->name, OFFER_CLIENT) == 0)
        add_check(planning, KIND(OFFERS), client->name, 0);
    for (uint32_t shard = 0; shard < client_numbering(client, serving)->scheme; shard++)
        plan_shard(planning, client, shard, freshness);
    for (uint32_t i = 0; i < client->numbering_count; i++)
        if (i != serving->numbering)
            plan_numbering(planning, client, i, freshness);
    return 0;
}

/* Offers whose documents nobody has ever received. */
static int plan_offers(struct planning *planning, struct err *err)
{
    int64_t found = 0;
    int rc = store_read_integer(planning->inspect->store,
                                "SELECT 1 FROM offer WHERE kind = 'offer' LIMIT 1", NULL, 0, &found,
                                err);

    if (!rc && found)
        add_check(planning, KIND(OFFERS), OFFER_CLIENT, 0);
    return rc;
}

static bool has_offers(const Torg__V1__VerifyPlan *plan)
{
    for (size_t i = 0; i < plan->n_checks; i++)
        if (strcmp(plan->checks[i]->client, OFFER_CLIENT) == 0)
            return true;
    return false;
}

int verify_plan(const struct inspect *inspect, const Torg__V1__PlanVerifyRequest *request,
                struct arena *arena, Torg__V1__VerifyPlan *plan, struct err *err)
{
    struct planning planning = {
        .inspect = inspect, .arena = arena, .rebuild = request->rebuild, .plan = plan};
    const char *const only[] = {request->client, NULL};
    const char *const none[] = {NULL};
    const char *const *unreadable = none;
    const struct client_view **list = NULL;
    const struct client_view *one = NULL;
    size_t count = 0;
    int rc;

    assert(inspect->store && inspect->clients && inspect->clock);
    if (*request->client) {
        rc = clients_find(inspect->clients, request->client, true, &one, err);
        list = &one;
        count = rc ? 0 : 1;
        unreadable = rc == ERR_CORRUPT ? only : none;
        rc = rc == ERR_CORRUPT ? 0 : rc;
        if (rc == ERR_NOT_FOUND && strcmp(request->client, OFFER_CLIENT) == 0)
            rc = plan_offers(&planning, err);
    } else {
        rc = clients_list(inspect->clients, true, arena, &list, &count, &unreadable, err);
    }
    for (; !rc && *unreadable; unreadable++) /* one check, which tells why */
        add_check(&planning, KIND(REGISTRY), *unreadable, 0);
    for (size_t i = 0; i < count; i++) {
        if (!rc)
            rc = plan_client(&planning, list[i], err);
        client_unref(list[i]);
    }
    if (!rc && !*request->client && !has_offers(plan))
        rc = plan_offers(&planning, err);
    return rc;
}

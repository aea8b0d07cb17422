/* SPDX-License-Identifier: Apache-2.0 */
/* verify_plan.c - what there is to check: see verify.h. */
#include <assert.h>
#include <string.h>

#include "codec/message.h"
#include "inspect/verify.h"

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
                             uint32_t shard, const char *replica)
{
    static const int kinds[] = {KIND(INDEX), KIND(FILES), KIND(CONTENT)};

    for (size_t i = 0; i < (planning->rebuild ? 3 : 2); i++) {
        Torg__V1__VerifyCheck *check = add_check(planning, kinds[i], client->name, shard);

        check->epoch = client->serving_epoch;
        check->replica = arena_strdup(planning->arena, replica);
    }
}

/* A shard that no searcher has is asked of this process, which tells that it has it not. */
static int plan_client(struct planning *planning, const struct client_view *client, struct err *err)
{
    Torg__V1__Freshness *freshness;
    int rc = planning->inspect->door.freshness(planning->inspect->door.arg, client->name,
                                               planning->arena, &freshness, err);

    if (rc)
        return err_wrap(err, "the searchers of %s", client->name);
    for (uint32_t shard = 0; shard < client->shard_count; shard++) {
        bool is_served = false;

        add_check(planning, KIND(REGISTRY), client->name, shard);
        add_check(planning, KIND(NUMBERS), client->name, shard);
        add_check(planning, KIND(QUEUE), client->name, shard);
        for (size_t i = 0; i < freshness->n_shards; i++) {
            const Torg__V1__ShardFreshness *one = freshness->shards[i];

            if (one->shard != shard || one->epoch != client->serving_epoch)
                continue;
            is_served = true;
            add_index_checks(planning, client, shard, one->replica);
        }
        if (!is_served)
            add_index_checks(planning, client, shard, "");
    }
    return 0;
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
    return rc;
}

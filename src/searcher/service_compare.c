/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_compare.c - the last queries, sent to the serving epoch and to another one: what would
 * buyers see that they do not see now, and what would disappear? See service.h.
 */
#include <string.h>

#include "codec/message.h"
#include "searcher/bounds.h"
#include "searcher/service.h"

struct comparing {
    const struct searcher *searcher;
    const char *client;
    int64_t left, right; /* epochs: the one that serves, the other */
    int64_t deadline_us;
    struct arena *arena; /* of the answer */
    Torg__V1__CompareEpochsResponse *response;
};

static int ask(const struct comparing *comparing, const Torg__V1__Query *query, int64_t epoch,
               struct arena *arena, const Torg__V1__QueryAnswer **answer, struct err *err)
{
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;
    Torg__V1__SearchResponse *response = MESSAGE_NEW(search_response, arena);
    const struct front *front = &comparing->searcher->front;
    int64_t deadline_us = front_deadline_us(front, clock_mono_us(front->clock));
    int rc;

    request.query = (Torg__V1__Query *)query;
    request.epoch = epoch;
    if (deadline_us > comparing->deadline_us)
        deadline_us = comparing->deadline_us;
    rc = front_search(front, comparing->client, &request, deadline_us, arena, response, err);
    if (!rc && response->is_partial)
        rc = err_set(err, ERR_UNAVAILABLE, "not all shards have answered");
    *answer = response->answer;
    return rc ? err_wrap(err, "epoch %jd", (intmax_t)epoch) : 0;
}

static bool has_hit(const Torg__V1__StageAnswer *stage, const char *pk)
{
    for (size_t i = 0; i < stage->n_hits; i++)
        if (strcmp(stage->hits[i]->pk, pk) == 0)
            return true;
    return false;
}

/* Keys of the one's hits that the other does not show. */
static size_t tell_keys(const Torg__V1__StageAnswer *of, const Torg__V1__StageAnswer *not_of,
                        struct arena *arena, char ***keys)
{
    size_t count = 0;

    *keys = arena_array(arena, COMPARE_KEY_COUNT_MAX, sizeof(**keys));
    for (size_t i = 0; i < of->n_hits && count < COMPARE_KEY_COUNT_MAX; i++)
        if (!has_hit(not_of, of->hits[i]->pk))
            (*keys)[count++] = arena_strdup(arena, of->hits[i]->pk);
    return count;
}

static bool is_same(const Torg__V1__StageAnswer *left, const Torg__V1__StageAnswer *right)
{
    if (left->total != right->total || left->n_hits != right->n_hits)
        return false;
    for (size_t i = 0; i < left->n_hits; i++)
        if (strcmp(left->hits[i]->pk, right->hits[i]->pk) != 0)
            return false;
    return true;
}

static Torg__V1__EpochDifference *add_difference(struct comparing *comparing,
                                                 const Torg__V1__Query *query)
{
    Torg__V1__CompareEpochsResponse *response = comparing->response;
    Torg__V1__EpochDifference *made;

    if (response->n_differences == COMPARE_DIFFERENCE_COUNT_MAX)
        return NULL;
    made = MESSAGE_NEW(epoch_difference, comparing->arena);
    made->query = (Torg__V1__Query *)query;
    response->differences[response->n_differences++] = made;
    return made;
}

static void compare_stages(struct comparing *comparing, const Torg__V1__Query *query,
                           const Torg__V1__QueryAnswer *left, const Torg__V1__QueryAnswer *right)
{
    Torg__V1__EpochDifference *made;
    size_t i = 0;

    while (i < query->n_stages && is_same(left->stages[i], right->stages[i]))
        i++;
    if (i == query->n_stages) {
        comparing->response->equal_count++;
        return;
    }
    comparing->response->different_count++;
    made = add_difference(comparing, query);
    if (!made)
        return;
    made->stage = (uint32_t)i;
    made->serving_total = left->stages[i]->total;
    made->other_total = right->stages[i]->total;
    made->n_gone_pks =
        tell_keys(left->stages[i], right->stages[i], comparing->arena, &made->gone_pks);
    made->n_new_pks =
        tell_keys(right->stages[i], left->stages[i], comparing->arena, &made->new_pks);
}

static void compare_query(struct comparing *comparing, const Torg__V1__Query *query)
{
    struct arena *arena = arena_new();
    const Torg__V1__QueryAnswer *left, *right;
    struct err err = {0};
    int rc = ask(comparing, query, comparing->left, arena, &left, &err);

    rc = rc ? rc : ask(comparing, query, comparing->right, arena, &right, &err);
    comparing->response->asked_count++;
    if (rc) {
        Torg__V1__EpochDifference *made = add_difference(comparing, query);

        comparing->response->failed_count++;
        if (made)
            made->error = arena_strdup(comparing->arena, err.text);
    } else {
        compare_stages(comparing, query, left, right);
    }
    arena_free(arena);
}

/* 0: the one that is built, else the one that is kept. */
static int choose(struct comparing *comparing, const struct index_client *client, int64_t epoch,
                  struct err *err)
{
    const struct index_epoch *serving, *other = NULL;
    int rc = front_find_epoch(client, 0, &serving, err);

    if (rc)
        return rc;
    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (client->epochs[i].epoch != serving->epoch &&
            (epoch ? client->epochs[i].epoch == epoch
                   : !other ||
                         client->epochs[i].state == TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING))
            other = &client->epochs[i];
    if (!other)
        return err_set(err, ERR_PRECONDITION,
                       "epoch: client %s is served by epoch %jd and has no other%s to compare it "
                       "with",
                       client->name, (intmax_t)serving->epoch, epoch ? " of that number" : "");
    comparing->left = serving->epoch;
    comparing->right = other->epoch;
    return 0;
}

int searcher_compare(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                     struct err *err)
{
    const Torg__V1__CompareEpochsRequest *request = (const Torg__V1__CompareEpochsRequest *)message;
    struct comparing comparing = {.searcher = call_context(call),
                                  .arena = call_arena(call),
                                  .response = (Torg__V1__CompareEpochsResponse *)answer,
                                  .deadline_us = call_deadline_us(call)};
    const struct front *front = &comparing.searcher->front;
    const struct index_view *view = follower_view(front->follower);
    const struct index_client *client;
    Torg__V1__Query **queries;
    size_t count = 0;
    int rc = searcher_client(call, request->client, &comparing.client, err);

    rc = rc ? rc : front_find_client(view, comparing.client, &client, err);
    rc = rc ? rc : choose(&comparing, client, request->epoch, err);
    view_release(view);
    if (rc)
        return rc;
    comparing.response->differences = arena_array(comparing.arena, COMPARE_DIFFERENCE_COUNT_MAX,
                                                  sizeof(comparing.response->differences[0]));
    comparing.response->serving_epoch = comparing.left;
    comparing.response->other_epoch = comparing.right;
    if (front->queries)
        count = query_log_list(front->queries, comparing.client, comparing.arena, &queries);
    for (size_t i = 0; i < count && clock_mono_us(front->clock) < comparing.deadline_us; i++)
        compare_query(&comparing, queries[i]);
    comparing.response->left_out_count = (uint32_t)count - comparing.response->asked_count;
    return 0;
}

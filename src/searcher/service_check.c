/* SPDX-License-Identifier: Apache-2.0 */
/* service_check.c - whether a shard's files are whole, and what it holds: see service.h. */
#include "searcher/bounds.h"
#include "searcher/service.h"

int searcher_check_shard(const struct searcher *searcher, const char *client,
                         const Torg__V1__CheckShardRequest *request, int64_t deadline_us,
                         struct arena *arena, Torg__V1__CheckShardResponse *response,
                         struct err *err)
{
    const struct index_view *view = follower_view(searcher->front.follower);
    struct replica_state *state = arena_alloc(arena, sizeof(*state));
    struct replica *replica;
    int rc = searcher_find_shard(view, client, request->epoch, request->shard, &replica, err);

    if (!rc && request->files)
        rc = replica_check_files(replica, err);
    if (!rc && request->content)
        rc = replica_content(replica, deadline_us, &response->content, state, err);
    else if (!rc)
        replica_state(replica, state);
    if (!rc) {
        response->offset = state->offset;
        response->doc_count = state->doc_count;
        response->n_lanes = searcher_tell_lanes(&state->progress, arena, &response->lanes);
    }
    view_release(view);
    return rc;
}

int searcher_check(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                   struct err *err)
{
    const Torg__V1__CheckShardRequest *request = (const Torg__V1__CheckShardRequest *)message;
    const struct searcher *searcher = call_context(call);
    int64_t deadline_us =
        clock_mono_us(searcher->front.clock) + SEARCHER_DEADLINE_MS_MAX * (int64_t)MS_US;
    const char *name;
    int rc = searcher_client(call, request->client, &name, err);

    if (call_deadline_us(call) < deadline_us)
        deadline_us = call_deadline_us(call);
    return rc ? rc
              : searcher_check_shard(call_context(call), name, request, deadline_us,
                                     call_arena(call), (Torg__V1__CheckShardResponse *)answer, err);
}

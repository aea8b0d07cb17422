/* SPDX-License-Identifier: Apache-2.0 */
/* front_check.c - whose index is asked, and whether searches are answered: see front.h. */
#include "searcher/front/front.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

static bool is_elsewhere(const struct front *front, const struct index_client *client,
                         int64_t epoch, uint32_t shard)
{
    struct peer *found;

    return peers_with(front->gatherer.peers, client->name, epoch, shard, &found, 1) > 0;
}

static void tell(const struct replica *replica, const struct replica_state *state, struct err *err)
{
    err_set(err, ERR_UNAVAILABLE,
            "shard %u of %s, epoch %jd, is not ready (message %" PRIu64 " of %" PRIu64 "%s%.120s)",
            replica_shard(replica), replica_client(replica), (intmax_t)replica_epoch(replica),
            state->offset, state->end, *state->reason ? ": " : "", state->reason);
}

/* Counts the client; what is missing is told once, of the first. */
static void check_client(const struct front *front, const struct index_client *client,
                         struct front_state *state, struct err *err)
{
    const struct index_epoch *epoch = client_serving(client);
    struct replica_state *now = mem_alloc(sizeof(*now));
    bool is_ours = false, is_opening = false, is_broken = false, is_old = false;

    for (uint32_t i = 0; epoch && i < epoch->shard_count; i++) {
        if (!epoch->shards[i])
            continue;
        is_ours = true;
        replica_state(epoch->shards[i], now);
        if (now->is_ready || is_elsewhere(front, client, epoch->epoch, i))
            continue;
        if (now->old_us)
            is_old = true;
        else if (now->progress.has_gap)
            is_broken = true;
        else
            is_opening = true;
        if (!err->code)
            tell(epoch->shards[i], now, err);
    }
    state->opening_count += is_opening;
    state->broken_count += is_broken && !is_opening;
    state->old_count += is_old && !is_opening && !is_broken;
    state->answered_count += is_ours && !is_opening && !is_broken && !is_old;
    free(now);
}

int front_check(const struct front *front, struct front_state *state, struct err *err)
{
    const struct index_view *view;

    assert(front->follower && front->clock);
    *state = (struct front_state){0};
    *err = (struct err){0};
    if (!follower_has_looked(front->follower)) {
        state->opening_count = 1;
        return err_set(err, ERR_UNAVAILABLE,
                       "which indexes there are is not known: the map of them could not be read "
                       "so far");
    }
    view = follower_view(front->follower);
    for (uint32_t i = 0; i < view->client_count; i++)
        check_client(front, &view->clients[i], state, err);
    if (!err->code && view->trouble)
        err_set(err, ERR_LIMIT, "%s", view->trouble);
    view_release(view);
    return err->code;
}

int front_find_client(const struct index_view *view, const char *name,
                      const struct index_client **client, struct err *err)
{
    *client = view_find(view, name);
    if (*client)
        return 0;
    return err_set(err, ERR_NOT_FOUND,
                   "there is no index of client \"%s\": it is made by the first document that is "
                   "sent (DocumentService.PutDocuments); is the name right, and is the key bound "
                   "to it?",
                   name);
}

int front_find_epoch(const struct index_client *client, int64_t epoch,
                     const struct index_epoch **found, struct err *err)
{
    *found = epoch ? client_find_epoch(client, epoch) : client_serving(client);
    if (*found)
        return 0;
    if (epoch)
        return err_set(err, ERR_NOT_FOUND, "client \"%s\" has no epoch %jd", client->name,
                       (intmax_t)epoch);
    return err_set(err, ERR_UNAVAILABLE,
                   "client \"%s\" has no epoch that serves yet: the first is being built",
                   client->name);
}

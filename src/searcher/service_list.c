/* SPDX-License-Identifier: Apache-2.0 */
/* service_list.c - what a shard has, and how fresh it is: see service.h. */
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "model/change_token.h"
#include "query/request/response.h"
#include "searcher/bounds.h"
#include "searcher/range_sum.h"
#include "searcher/service.h"

/* ---- ListIndexed ---- */

struct lister {
    struct replica *replica;
    const struct visit *visit;
    const struct snapshot *snapshot;
    struct arena *arena;
    struct buf record;
    struct stored_value *stored;
    uint16_t key_field, version_field;
    bool with_content;
    Torg__V1__ListIndexedResponse *response;
};

static int list_document(struct lister *lister, docid id, struct err *err)
{
    Torg__V1__IndexedDocument *document = MESSAGE_NEW(indexed_document, lister->arena);
    int64_t version, sent_us, shown_us;
    uint32_t count;
    int rc = shard_stored(lister->snapshot, lister->visit->shard, id, &lister->record,
                          lister->stored, STORED_VALUE_COUNT_MAX, &count, err);

    if (rc)
        return rc;
    document->doc_id = id;
    for (uint32_t i = 0; i < count; i++)
        if (lister->stored[i].field == lister->key_field)
            document->pk = arena_text(lister->arena, lister->stored[i].text);
    columns_get(lister->snapshot->columns, id, &lister->version_field, 1, &version);
    document->version = version == COLUMN_NULL ? 0 : version;
    document->birth = shard_birth(lister->visit->shard, id);
    if (lister->with_content)
        document->content =
            shard_hash_document(lister->visit->shard, lister->snapshot, id, lister->stored, count);
    if (replica_arrival(lister->replica, id, &sent_us, &shown_us)) {
        document->sent_us = sent_us;
        document->shown_us = shown_us;
    }
    lister->response->documents[lister->response->n_documents++] = document;
    return 0;
}

/* The next living one from there on; false: there is none. */
static bool find_living(const struct snapshot *snapshot, uint64_t *id)
{
    uint64_t end = (uint64_t)snapshot->window_count * WINDOW_SIZE;

    for (; *id < end; (*id)++) {
        if (!live_page(snapshot->alive, window_of((docid)*id)))
            *id |= WINDOW_SIZE - 1;
        else if (live_has(snapshot->alive, (docid)*id))
            return true;
    }
    return false;
}

static int list_documents(struct lister *lister, uint32_t from, uint32_t limit, struct err *err)
{
    Torg__V1__ListIndexedResponse *response = lister->response;
    int rc = 0;

    for (uint64_t id = from; !rc && find_living(lister->snapshot, &id); id++) {
        if (response->n_documents == limit) {
            response->next_id = (uint32_t)id;
            break;
        }
        rc = list_document(lister, (docid)id, err);
    }
    return rc;
}

/* Sums of documents instead of them. */
static void list_ranges(struct lister *lister, uint32_t from, uint32_t size, uint32_t limit)
{
    Torg__V1__ListIndexedResponse *response = lister->response;
    Torg__V1__IndexedRange *range = NULL;

    response->ranges = arena_array(lister->arena, limit, sizeof(response->ranges[0]));
    for (uint64_t id = from; find_living(lister->snapshot, &id); id++) {
        uint32_t first = (uint32_t)(id - id % size);
        int64_t version;

        if (!range || range->first_id != first) {
            if (response->n_ranges == limit) {
                response->next_id = (uint32_t)id;
                break;
            }
            range = MESSAGE_NEW(indexed_range, lister->arena);
            range->first_id = first;
            response->ranges[response->n_ranges++] = range;
        }
        columns_get(lister->snapshot->columns, (docid)id, &lister->version_field, 1, &version);
        range->doc_count++;
        range->sum += range_sum((docid)id, version == COLUMN_NULL ? 0 : version);
    }
}

static int list_shard(struct replica *replica, const Torg__V1__ListIndexedRequest *request,
                      uint32_t limit, struct arena *arena, Torg__V1__ListIndexedResponse *response,
                      struct err *err)
{
    struct lister lister = {.replica = replica, .arena = arena, .response = response};
    const struct field *key, *version;
    struct visit *visit = NULL;
    int rc = replica_visit(replica, 0, &visit, err);

    rc = rc ? rc : shard_enter(visit->reader, &lister.snapshot, err);
    if (rc) {
        visit_end(visit);
        return rc;
    }
    lister.visit = visit;
    key = schema_find(lister.snapshot->schema, bytes_of(RESPONSE_KEY_FIELD));
    version = schema_find(lister.snapshot->schema, bytes_of("_version"));
    lister.key_field = key->id;
    lister.version_field = version->id;
    lister.stored = arena_array(arena, STORED_VALUE_COUNT_MAX, sizeof(lister.stored[0]));
    buf_init(&lister.record, 2 * (size_t)STORED_RECORD_SIZE_MAX);
    response->documents = arena_array(arena, limit + 1, sizeof(response->documents[0]));
    response->offset = lister.snapshot->offset;
    lister.with_content = request->with_content;
    if (request->range_size)
        list_ranges(&lister, request->from_id, request->range_size, limit);
    else
        rc = list_documents(&lister, request->from_id, limit, err);
    buf_release(&lister.record);
    shard_exit(visit->reader);
    visit_end(visit);
    return rc;
}

int searcher_find_shard(const struct index_view *view, const char *name, int64_t epoch_no,
                        uint32_t shard, struct replica **replica, struct err *err)
{
    const struct index_client *client;
    const struct index_epoch *epoch;
    int rc = front_find_client(view, name, &client, err);

    rc = rc ? rc : front_find_epoch(client, epoch_no, &epoch, err);
    if (!rc && shard >= epoch->shard_count)
        rc = err_set(err, ERR_INVALID, "shard: %u, and client \"%s\" has %u, counted from 0", shard,
                     name, epoch->shard_count);
    if (!rc && !epoch->shards[shard])
        rc = err_set(err, ERR_NOT_FOUND,
                     "shard: %u is not of this process; ask a searcher that GetFreshness names",
                     shard);
    *replica = rc ? NULL : epoch->shards[shard];
    return rc;
}

int searcher_list_indexed(const struct searcher *searcher, const char *client,
                          const Torg__V1__ListIndexedRequest *request, struct arena *arena,
                          Torg__V1__ListIndexedResponse *response, struct err *err)
{
    const struct index_view *view = follower_view(searcher->front.follower);
    uint32_t limit = request->limit ? request->limit : SEARCHER_LIST_COUNT;
    struct replica *replica = NULL;
    int rc = 0;

    if (limit > SEARCHER_LIST_COUNT_MAX)
        rc = err_set(err, ERR_INVALID, "limit: %u, at most %d are listed", limit,
                     SEARCHER_LIST_COUNT_MAX);
    if (!rc && request->range_size &&
        (request->range_size < SEARCHER_RANGE_SIZE_MIN ||
         request->range_size > SEARCHER_RANGE_SIZE_MAX))
        rc = err_set(err, ERR_INVALID, "rangeSize: %u, expected %d to %d", request->range_size,
                     SEARCHER_RANGE_SIZE_MIN, SEARCHER_RANGE_SIZE_MAX);
    if (!rc)
        rc = searcher_find_shard(view, client, request->epoch, request->shard, &replica, err);
    if (!rc)
        rc = list_shard(replica, request, limit, arena, response, err);
    view_release(view);
    return rc;
}

int searcher_list(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                  struct err *err)
{
    const Torg__V1__ListIndexedRequest *request = (const Torg__V1__ListIndexedRequest *)message;
    const char *name;
    int rc = searcher_client(call, request->client, &name, err);

    return rc ? rc
              : searcher_list_indexed(call_context(call), name, request, call_arena(call),
                                      (Torg__V1__ListIndexedResponse *)answer, err);
}

/* ---- GetFreshness ---- */

size_t searcher_tell_lanes(const struct progress *progress, struct arena *arena,
                           Torg__V1__LaneFreshness ***out)
{
    Torg__V1__LaneFreshness *lanes = arena_array(arena, PROGRESS_LANE_COUNT, sizeof(*lanes));

    *out = arena_array(arena, PROGRESS_LANE_COUNT, sizeof((*out)[0]));
    for (int i = 0; i < PROGRESS_LANE_COUNT; i++) {
        torg__v1__lane_freshness__init(&lanes[i]);
        lanes[i].lane = (Torg__V1__QueueLane__Name)i;
        lanes[i].idx = progress->lanes[i];
        (*out)[i] = &lanes[i];
    }
    return PROGRESS_LANE_COUNT;
}

static char *tell_numbers(const uint32_t numbers[4], struct arena *arena)
{
    return arena_printf(arena, "%u.%u.%u.%u", numbers[0], numbers[1], numbers[2], numbers[3]);
}

struct telling {
    Torg__V1__ShardFreshness *message;
    struct arena *arena;
};

static void tell_columns(void *arg, struct shard *shard)
{
    struct telling *telling = arg;
    struct shard_lent list[OUTSIDE_COLUMN_COUNT_MAX];
    uint32_t count = telling->message->n_columns ? 0 : shard_lent(shard, list);

    telling->message->columns =
        arena_array(telling->arena, OUTSIDE_COLUMN_COUNT_MAX, sizeof(telling->message->columns[0]));
    for (uint32_t i = 0; i < count; i++) {
        Torg__V1__ShardColumn *column = MESSAGE_NEW(shard_column, telling->arena);

        column->name = arena_strdup(telling->arena, list[i].name);
        column->mark = list[i].has_values ? list[i].mark : 0;
        column->trouble = arena_strdup(telling->arena, list[i].trouble);
        telling->message->columns[telling->message->n_columns++] = column;
    }
}

static Torg__V1__ShardFreshness *tell_replica(struct replica *replica, struct arena *arena)
{
    Torg__V1__ShardFreshness *message = MESSAGE_NEW(shard_freshness, arena);
    struct replica_state *state = arena_alloc(arena, sizeof(*state));
    Torg__V1__PassedMessage *passed = arena_array(arena, REPLICA_PASSED_COUNT, sizeof(*passed));

    replica_state(replica, state);
    message->client = arena_strdup(arena, replica_client(replica));
    message->epoch = replica_epoch(replica);
    message->shard = replica_shard(replica);
    message->offset = state->offset;
    message->end = state->end;
    message->is_ready = state->is_ready;
    message->reason = arena_strdup(arena, state->reason);
    message->doc_count = state->doc_count;
    message->passed_count = state->passed_count;
    message->fill_ms = state->fill_ms;
    message->old_seconds = replica_old_seconds(replica, state);
    if (state->progress.numbers[0])
        message->numbers = tell_numbers(state->progress.numbers, arena);
    message->n_lanes = searcher_tell_lanes(&state->progress, arena, &message->lanes);
    message->passed = arena_array(arena, REPLICA_PASSED_COUNT, sizeof(message->passed[0]));
    for (uint32_t i = 0; i < state->passed_kept; i++) {
        torg__v1__passed_message__init(&passed[i]);
        passed[i].offset = state->passed[i].offset;
        passed[i].pk = state->passed[i].pk;
        passed[i].reason = state->passed[i].reason;
        message->passed[message->n_passed++] = &passed[i];
    }
    replica_each_shard(replica, tell_columns, &(struct telling){message, arena});
    return message;
}

static void tell_clients(const struct index_view *view, const char *only, struct arena *arena,
                         Torg__V1__Freshness *freshness)
{
    freshness->shards =
        arena_array(arena, SEARCHER_REPLICA_COUNT_MAX + 1, sizeof(freshness->shards[0]));
    for (uint32_t i = 0; i < view->client_count; i++) {
        const struct index_client *client = &view->clients[i];

        if (only && strcmp(client->name, only) != 0)
            continue;
        for (uint32_t k = 0; k < client->epoch_count; k++)
            for (uint32_t s = 0; s < client->epochs[k].shard_count; s++)
                if (client->epochs[k].shards[s])
                    freshness->shards[freshness->n_shards++] =
                        tell_replica(client->epochs[k].shards[s], arena);
    }
}

void searcher_tell_freshness(const struct searcher *searcher, const char *client,
                             struct arena *arena, Torg__V1__Freshness *freshness)
{
    const struct index_view *view = follower_view(searcher->front.follower);

    tell_clients(view, client, arena, freshness);
    peers_freshness(searcher->front.gatherer.peers, client, arena, &freshness->shards,
                    &freshness->n_shards);
    view_release(view);
}

/* The write's shard is another process's: it is asked. */
static int ask_another(const struct searcher *searcher, const char *client, int64_t epoch,
                       const Torg__V1__GetFreshnessRequest *request, uint32_t shard,
                       struct arena *arena, bool *is_searchable, struct err *err)
{
    Torg__V1__GetFreshnessRequest passed = *request;
    struct buf packed = BUF_INIT(4096);
    struct buf answer = BUF_INIT(SEARCHER_ANSWER_SIZE_MAX);
    ProtobufCMessage *message = NULL;
    struct peer *peer;
    int rc = 0;

    if (!peers_with(searcher->front.gatherer.peers, client, epoch, shard, &peer, 1))
        return 0;
    passed.client = (char *)client;
    passed.is_passed_on = true;
    message_encode(&passed.base, &packed);
    rc = peer_call(peer, "GetFreshness", buf_bytes(&packed),
                   (int64_t)request->wait_ms + SEARCHER_PEER_POLL_MS, &answer, err);
    rc = rc ? rc
            : message_decode(buf_bytes(&answer), &torg__v1__freshness__descriptor, arena, &message,
                             err);
    if (!rc)
        *is_searchable = ((const Torg__V1__Freshness *)message)->is_searchable;
    buf_release(&packed);
    buf_release(&answer);
    return rc;
}

/* It is in one of the shards that its shard of the queue feeds, and all of those tell how far they
 * are. */
static int find_write(const struct searcher *searcher, const struct index_client *client,
                      const Torg__V1__GetFreshnessRequest *request, int64_t deadline_us,
                      struct arena *arena, bool *is_searchable, struct err *err)
{
    const struct index_epoch *epoch = NULL;
    struct change_token token;
    bool is_first = true, is_here = false;
    int rc = change_token_parse(bytes_of(request->token), NULL, &token, err);

    if (!rc && (token.client_id != client->id || token.shard >= client->shard_count ||
                token.lane >= PROGRESS_LANE_COUNT))
        rc = err_set(err, ERR_INVALID, "token: belongs to another client's write");
    rc = rc ? rc : front_find_epoch(client, 0, &epoch, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < epoch->shard_count && !rc; i++) {
        bool is_there = false;

        if (!client_feeds(client, epoch, token.shard, i) ||
            (!epoch->shards[i] && request->is_passed_on)) /* another of us is asked for it */
            continue;
        if (epoch->shards[i]) {
            rc = replica_wait(epoch->shards[i], token.lane, token.idx, deadline_us, err);
            is_there = rc == 0;
            is_here = true;
            rc = rc == ERR_TIMEOUT ? 0 : rc;
        } else {
            rc = ask_another(searcher, client->name, epoch->epoch, request, i, arena, &is_there,
                             err);
        }
        *is_searchable = is_there && (is_first || *is_searchable);
        is_first = false;
    }
    if (!rc && is_here && *is_searchable && searcher->is_found)
        rc = searcher->is_found(searcher->is_found_arg, request->token, arena, is_searchable, err);
    return rc;
}

static int tell_call(struct call *call, const char *name,
                     const Torg__V1__GetFreshnessRequest *request, Torg__V1__Freshness *freshness,
                     struct err *err)
{
    const struct searcher *searcher = call_context(call);
    int64_t deadline_us = clock_mono_us(searcher->front.clock) + (int64_t)request->wait_ms * MS_US;
    const struct index_view *view;
    struct arena *arena = call_arena(call);
    const struct index_client *client;
    bool is_searchable = false;
    int rc = 0;

    if (*request->token)
        rc = follower_view_with(searcher->front.follower, name, deadline_us, &view, err);
    else
        view = follower_view(searcher->front.follower);
    if (!rc && (*request->token || !request->is_passed_on))
        rc = front_find_client(view, name, &client, err);
    if (!rc && *request->token)
        rc = find_write(searcher, client, request, deadline_us, arena, &is_searchable, err);
    freshness->is_searchable = is_searchable;
    if (!rc && request->is_passed_on)
        tell_clients(view, *call_identity(call)->client ? name : NULL, arena, freshness);
    view_release(view);
    if (!rc && !request->is_passed_on)
        searcher_tell_freshness(searcher, name, arena, freshness);
    return rc;
}

int searcher_freshness(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    const Torg__V1__GetFreshnessRequest *request = (const Torg__V1__GetFreshnessRequest *)message;
    Torg__V1__GetFreshnessRequest looking = *request;
    Torg__V1__Freshness *freshness = (Torg__V1__Freshness *)answer;
    const char *name;
    int rc = searcher_client(call, request->client, &name, err);

    if (!rc && request->wait_ms > SEARCHER_DEADLINE_MS_MAX)
        rc = err_set(err, ERR_INVALID, "waitMs: %u, at most %d is allowed", request->wait_ms,
                     SEARCHER_DEADLINE_MS_MAX);
    if (rc)
        return rc;
    looking.wait_ms = 0;
    rc = tell_call(call, name, &looking, freshness, err);
    if (!*request->token || !request->wait_ms || (rc && rc != ERR_NOT_FOUND) ||
        freshness->is_searchable)
        return rc;
    switch (searcher_wait(call, searcher_deadline_us(call, request->wait_ms))) {
    case WAIT_OVER:
        return rc;
    case WAIT_COMES_BACK:
        return err_set(err, ERR_TIMEOUT, "the write is not searchable yet");
    case WAIT_HERE:
        break;
    }
    torg__v1__freshness__init(freshness);
    return tell_call(call, name, request, freshness, err);
}

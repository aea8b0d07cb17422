/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_explain.c - why a document is a hit, or is not, by its key: the query is read, the
 * registry is asked, then the numerator, then the shard. See service.h.
 */
#include <string.h>

#include "codec/message.h"
#include "index/bounds.h"
#include "numerator/numerator.h"
#include "query/request/response.h"
#include "searcher/bounds.h"
#include "searcher/service.h"

struct explaining {
    const struct searcher *searcher;
    const Torg__V1__ExplainRequest *request;
    const struct index_client *client;
    const struct index_epoch *epoch;
    uint32_t shard;
    struct arena *arena;
    enum key_state state;
    int64_t version;
    uint32_t doc_id; /* NUMBER_NONE: it has none */
};

static Torg__V1__Explanation *say(struct arena *arena, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static Torg__V1__Explanation *say(struct arena *arena, bool holds, const char *format, ...)
{
    Torg__V1__Explanation *said = MESSAGE_NEW(explanation, arena);
    va_list args;

    va_start(args, format);
    said->text = arena_vprintf(arena, format, args);
    va_end(args);
    said->holds = holds;
    return said;
}

static int find_number(struct store_tx *tx, void *arg, struct err *err)
{
    struct explaining *explaining = arg;
    struct number_ask ask = {.key = bytes_of(explaining->request->pk), .doc_id = NUMBER_NONE};
    int rc = numbers_find(tx, explaining->epoch->space, explaining->shard, &ask, 1, err);

    explaining->doc_id = ask.doc_id;
    return rc;
}

static int look_up(struct explaining *explaining, struct err *err)
{
    const struct searcher *searcher = explaining->searcher;
    int rc = 0;

    explaining->state = KEY_ALIVE;
    if (!searcher->store)
        return err_set(err, ERR_UNSUPPORTED,
                       "this searcher has no store: documents are not explained by key");
    if (searcher->key_state)
        rc = searcher->key_state(searcher->key_state_arg, explaining->client->id,
                                 explaining->request->pk, &explaining->state, &explaining->version,
                                 err);
    return rc ? rc : store_read(searcher->store, find_number, explaining, err);
}

/* Whether the shard has the document of this key, and which version. */
static int find_indexed(const struct explaining *explaining, const struct visit *visit, bool *found,
                        int64_t *version, struct err *err)
{
    struct stored_value *stored =
        arena_array(explaining->arena, STORED_VALUE_COUNT_MAX, sizeof(*stored));
    struct buf record = BUF_INIT(2 * (size_t)STORED_RECORD_SIZE_MAX);
    const struct snapshot *snapshot;
    const struct field *key, *version_field;
    uint32_t count = 0;
    int rc = shard_enter(visit->reader, &snapshot, err);

    *found = false;
    if (rc)
        return rc;
    rc = shard_stored(snapshot, visit->shard, explaining->doc_id, &record, stored,
                      STORED_VALUE_COUNT_MAX, &count, err);
    key = schema_find(snapshot->schema, bytes_of(RESPONSE_KEY_FIELD));
    version_field = schema_find(snapshot->schema, bytes_of("_version"));
    for (uint32_t i = 0; i < count && !rc; i++)
        if (stored[i].field == key->id)
            *found = bytes_equal_text(stored[i].text, explaining->request->pk);
    if (!rc)
        columns_get(snapshot->columns, explaining->doc_id, &version_field->id, 1, version);
    shard_exit(visit->reader);
    buf_release(&record);
    return rc;
}

/* What is wrong with the query is told whatever has become of the document. */
static int read_query(const struct explaining *explaining, const struct visit *visit,
                      struct query_request *query, struct err *err)
{
    const Torg__V1__ExplainRequest *request = explaining->request;
    int rc;

    if (!request->query)
        return err_set(err, ERR_INVALID, "query: is missing");
    rc = request_read(request->query, shard_schema(visit->shard),
                      clock_wall_us(explaining->searcher->front.clock) / SECOND_US,
                      explaining->arena, query, err);
    if (!rc && request->stage >= query->plan.stage_count)
        rc = err_set(err, ERR_INVALID, "stage: %u; the query has %u, counted from 0",
                     request->stage, query->plan.stage_count);
    return rc;
}

/* Why it is not in the index; NULL: it is. */
static Torg__V1__Explanation *find_absence(const struct explaining *explaining, bool is_indexed)
{
    const char *pk = explaining->request->pk;
    struct arena *arena = explaining->arena;

    if (explaining->state == KEY_UNKNOWN)
        return say(arena, false,
                   "there is no document \"%s\": it was never sent, or forgotten "
                   "some time after it was deleted",
                   pk);
    if (explaining->state == KEY_DELETED)
        return say(arena, false, "document \"%s\" was deleted, with version %jd", pk,
                   (intmax_t)explaining->version);
    if (explaining->doc_id == NUMBER_NONE)
        return say(arena, false,
                   "document \"%s\" has no number yet: its change waits in the queue to the index "
                   "(torg queue)",
                   pk);
    if (!is_indexed)
        return say(arena, false,
                   "document \"%s\", number %u, is not in shard %u of epoch %jd yet: its change is "
                   "on the way, or could not be indexed (GetFreshness, torg queue)",
                   pk, explaining->doc_id, explaining->shard, (intmax_t)explaining->epoch->epoch);
    return NULL;
}

static int explain_here(struct explaining *explaining, Torg__V1__ExplainResponse *response,
                        struct err *err)
{
    struct visit *visit = NULL;
    struct query_request query;
    bool is_indexed = false;
    int64_t version = 0;
    int rc = replica_visit(explaining->epoch->shards[explaining->shard], 0, &visit, err);

    rc = rc ? rc : read_query(explaining, visit, &query, err);
    rc = rc ? rc : look_up(explaining, err);
    if (!rc && explaining->doc_id != NUMBER_NONE)
        rc = find_indexed(explaining, visit, &is_indexed, &version, err);
    if (!rc)
        response->explanation = find_absence(explaining, is_indexed);
    if (!rc && !response->explanation)
        rc = response_explain(visit->engine, &query, explaining->request->stage, explaining->doc_id,
                              explaining->arena, &response->explanation, err);
    if (!rc && is_indexed && explaining->state == KEY_ALIVE && explaining->searcher->key_state &&
        version != explaining->version) {
        Torg__V1__Explanation *whole = response->explanation;
        Torg__V1__Explanation **parts =
            arena_array(explaining->arena, whole->n_parts + 1, sizeof(parts[0]));

        parts[0] = say(explaining->arena, true,
                       "the index has version %jd of the document, the registry %jd: a newer "
                       "change is on the way",
                       (intmax_t)version, (intmax_t)explaining->version);
        if (whole->n_parts)
            memcpy(parts + 1, whole->parts, whole->n_parts * sizeof(parts[0]));
        whole->parts = parts;
        whole->n_parts++;
    }
    visit_end(visit);
    return rc;
}

static int explain_there(struct explaining *explaining, struct peer *peer,
                         Torg__V1__ExplainResponse *response, struct err *err)
{
    Torg__V1__ExplainRequest passed = *explaining->request;
    struct buf packed = BUF_INIT(4 << 20);
    struct buf answer = BUF_INIT(4 << 20);
    ProtobufCMessage *message = NULL;
    int rc;

    passed.is_passed_on = true;
    passed.client = (char *)explaining->client->name;
    passed.epoch = explaining->epoch->epoch;
    message_encode(&passed.base, &packed);
    rc = peer_call(peer, "Explain", buf_bytes(&packed), SEARCHER_DEADLINE_MS, &answer, err);
    if (!rc)
        rc = message_decode(buf_bytes(&answer), &torg__v1__explain_response__descriptor,
                            explaining->arena, &message, err);
    if (!rc)
        response->explanation = ((Torg__V1__ExplainResponse *)message)->explanation;
    buf_release(&packed);
    buf_release(&answer);
    return rc;
}

int searcher_explain(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                     struct err *err)
{
    const struct searcher *searcher = call_context(call);
    const Torg__V1__ExplainRequest *request = (const Torg__V1__ExplainRequest *)message;
    const struct index_view *view = follower_view(searcher->front.follower);
    struct explaining explaining = {
        .searcher = searcher, .request = request, .arena = call_arena(call), .doc_id = NUMBER_NONE};
    struct peer *peer;
    const char *name;
    int rc = searcher_client(call, request->client, &name, err);

    rc = rc ? rc : front_find_client(view, name, &explaining.client, err);
    rc = rc ? rc : front_find_epoch(explaining.client, request->epoch, &explaining.epoch, err);
    if (!rc && !*request->pk)
        rc = err_set(err, ERR_INVALID, "pk: the key of the document is missing");
    if (!rc) {
        explaining.shard =
            number_key_shard(number_key_hash(bytes_of(request->pk)), explaining.epoch->shard_count);
        if (explaining.epoch->shards[explaining.shard])
            rc = explain_here(&explaining, (Torg__V1__ExplainResponse *)answer, err);
        else if (!request->is_passed_on &&
                 peers_with(searcher->front.gatherer.peers, name, explaining.epoch->epoch,
                            explaining.shard, &peer, 1))
            rc = explain_there(&explaining, peer, (Torg__V1__ExplainResponse *)answer, err);
        else
            rc = err_set(err, ERR_UNAVAILABLE, "no searcher has shard %u ready", explaining.shard);
    }
    view_release(view);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_plain.c - documents of a client by the ordinary methods of HTTP.
 *
 *   POST   /v1/clients/NAME/documents       a JSON array, JSON lines, one object, CSV
 *   GET    /v1/clients/NAME/documents/ID    as it was sent
 *   DELETE /v1/clients/NAME/documents/ID
 *
 * Who may do so, and which write wins, is as for DocumentService.
 */
#include <assert.h>

#include "base/memory.h"
#include "codec/json_value.h"
#include "model/bounds.h"
#include "model/change_token.h"
#include "registry/bounds.h"
#include "registry/plain/plain.h"
#include "registry/service.h"

/* What became of a request's documents. */
struct outcome {
    uint32_t counts[TORG__V1__VERDICT__KIND__UNAVAILABLE + 1]; /* by verdict */
    uint32_t refused_count;
    struct buf problems; /* members of a JSON list */
    uint32_t problem_count;
    char **tokens; /* of the last accepted one of each shard */
    uint32_t *shards;
    uint32_t token_count;
};

static void put_member(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "\"%s\":", name);
    json_put_text(out, bytes_of(text));
}

static void tell_problem(struct outcome *outcome, const struct plain_document *one,
                         const char *kind, const char *field, const char *reason)
{
    struct buf *out = &outcome->problems;

    if (outcome->problem_count++ >= PLAIN_PROBLEM_COUNT_MAX)
        return;
    buf_printf(out, "%s{\"document\":%u,", out->size ? "," : "", one->place);
    if (one->id) {
        put_member(out, "id", one->id);
        buf_put_byte(out, ',');
    }
    put_member(out, "kind", kind);
    if (*field) {
        buf_put_byte(out, ',');
        put_member(out, "field", field);
    }
    buf_put_byte(out, ',');
    put_member(out, "reason", reason);
    buf_put_byte(out, '}');
}

/* Of each shard the last: a search that waits for those has seen all. */
static void keep_token(struct outcome *outcome, char *text)
{
    struct change_token token;
    uint32_t i;

    if (!*text || change_token_parse(bytes_of(text), NULL, &token, NULL))
        return;
    for (i = 0; i < outcome->token_count && outcome->shards[i] != token.shard; i++)
        continue;
    if (i == SEARCHER_WAIT_COUNT_MAX)
        return;
    outcome->shards[i] = token.shard;
    outcome->tokens[i] = text;
    outcome->token_count += i == outcome->token_count;
}

static const char *kind_name(Torg__V1__Verdict__Kind kind)
{
    static const char *const names[] = {
        [TORG__V1__VERDICT__KIND__STALE] = "stale",
        [TORG__V1__VERDICT__KIND__INVALID] = "invalid",
        [TORG__V1__VERDICT__KIND__EPOCH_TOO_OLD] = "epoch_too_old",
        [TORG__V1__VERDICT__KIND__UNAVAILABLE] = "unavailable",
    };

    return (unsigned)kind < ARRAY_COUNT(names) && names[kind] ? names[kind] : "unknown";
}

static void take_verdict(struct outcome *outcome, const struct plain_batch *batch,
                         const struct plain_document *one, const Torg__V1__Verdict *verdict,
                         struct arena *arena)
{
    const Torg__V1__Reason *reason = verdict->n_reasons ? verdict->reasons[0] : NULL;

    if ((unsigned)verdict->kind < ARRAY_COUNT(outcome->counts))
        outcome->counts[verdict->kind]++;
    if (verdict->kind == TORG__V1__VERDICT__KIND__ACCEPTED)
        keep_token(outcome, verdict->token);
    else if (verdict->kind != TORG__V1__VERDICT__KIND__DUPLICATE)
        tell_problem(outcome, one, kind_name(verdict->kind),
                     reason ? plain_path(batch, one, reason->field, arena) : "",
                     reason ? reason->text : "send it again");
}

/* Puts those that are documents, so many at a time as one batch may have. */
static int put_all(const struct receiver *receiver, const char *client,
                   const struct plain_batch *batch, struct outcome *outcome, struct arena *arena,
                   struct err *err)
{
    Torg__V1__RawDocument **documents =
        arena_array(arena, DOCUMENT_BATCH_COUNT_MAX, sizeof(*documents));
    const struct plain_document **ones =
        arena_array(arena, DOCUMENT_BATCH_COUNT_MAX, sizeof(*ones));
    Torg__V1__Verdict **verdicts;
    uint32_t i = 0;

    while (i < batch->count) {
        size_t count = 0;
        int rc;

        for (; i < batch->count && count < DOCUMENT_BATCH_COUNT_MAX; i++) {
            const struct plain_document *one = &batch->list[i];

            if (one->document) {
                ones[count] = one;
                documents[count++] = one->document;
            } else {
                outcome->refused_count++;
                tell_problem(outcome, one, "invalid", one->field, one->reason);
            }
        }
        if (!count)
            continue;
        rc = receiver_put(receiver, client, LANE_MAIN, documents, count, arena, &verdicts, err);
        if (rc)
            return rc;
        for (size_t k = 0; k < count; k++)
            take_verdict(outcome, batch, ones[k], verdicts[k], arena);
    }
    return 0;
}

/* The schema of the epoch that is written to; NULL: the client has none yet. */
static int find_epoch(const struct receiver *receiver, const char *client,
                      const struct client_view **view, const struct epoch_view **epoch,
                      struct err *err)
{
    struct err missing = {0};
    int rc = clients_find(receiver->clients, client, false, view, &missing);

    *epoch = NULL;
    if (rc == ERR_NOT_FOUND)
        return 0;
    if (rc)
        return err_set(err, rc, "%s", missing.text);
    *epoch = client_epoch(*view, (*view)->writing_epoch);
    return 0;
}

static struct bytes parameter(const struct rest_request *request, const char *name)
{
    const struct rest_parameter *found = rest_parameter_find(request, name);

    return found ? found->value : BYTES_EMPTY;
}

static int check_parameters(const struct rest_request *request, struct err *err)
{
    for (size_t i = 0; i < request->parameter_count; i++) {
        struct bytes name = request->parameters[i].name;

        if (!bytes_equal_text(name, "key") && !bytes_equal_text(name, "types") &&
            !bytes_equal_text(name, "format"))
            return err_set(err, ERR_INVALID,
                           "%.*s: is not a parameter of this address; known are key, types, format",
                           BYTES_ARG(name));
    }
    return 0;
}

/* By ?format=, else by the content type; curl's own means nothing, and is JSON. */
static int form_of(const struct rest_request *request, enum plain_form *form, struct err *err)
{
    struct bytes format = parameter(request, "format");

    if (!format.size)
        *form = bytes_begin(request->content_type, bytes_of("text/csv")) ? PLAIN_CSV : PLAIN_JSON;
    else if (bytes_equal_text(format, "csv"))
        *form = PLAIN_CSV;
    else if (bytes_equal_text(format, "json"))
        *form = PLAIN_JSON;
    else
        return err_set(err, ERR_INVALID, "format: expected json or csv");
    return 0;
}

static void write_outcome(const struct outcome *outcome, struct buf *out)
{
    buf_printf(out, "{\"accepted\":%u,\"unchanged\":%u,\"refused\":%u",
               outcome->counts[TORG__V1__VERDICT__KIND__ACCEPTED],
               outcome->counts[TORG__V1__VERDICT__KIND__DUPLICATE], outcome->problem_count);
    if (outcome->problem_count) {
        buf_put_text(out, ",\"problems\":[");
        buf_put(out, buf_bytes(&outcome->problems));
        buf_put_byte(out, ']');
    }
    buf_put_text(out, ",\"wait\":\"");
    for (uint32_t i = 0; i < outcome->token_count; i++)
        buf_printf(out, "%s%s", i ? "," : "", outcome->tokens[i]);
    buf_put_text(out, "\"}\n");
}

static int put_plain(struct call *call, const char *client, const struct plain_batch *batch,
                     struct rest_answer *answer, struct err *err)
{
    struct arena *arena = call_arena(call);
    struct outcome outcome = {.problems = BUF_INIT(1 << 20)};
    int rc;

    outcome.tokens = arena_array(arena, SEARCHER_WAIT_COUNT_MAX, sizeof(*outcome.tokens));
    outcome.shards = arena_array(arena, SEARCHER_WAIT_COUNT_MAX, sizeof(*outcome.shards));
    rc = put_all(call_context(call), client, batch, &outcome, arena, err);
    if (!rc) {
        answer->content_type = "application/json";
        if (outcome.counts[TORG__V1__VERDICT__KIND__UNAVAILABLE])
            answer->http_status = 503;
        else if (outcome.problem_count == batch->count)
            answer->http_status = 400; /* none was taken */
        write_outcome(&outcome, answer->body);
    }
    buf_release(&outcome.problems);
    return rc;
}

static int post_documents(struct call *call, const struct rest_request *request,
                          struct rest_answer *answer, struct err *err)
{
    struct arena *arena = call_arena(call);
    struct plain_options options = {.key = parameter(request, "key"),
                                    .types = parameter(request, "types")};
    const struct client_view *view = NULL;
    struct plain_batch batch;
    const char *client;
    int rc = caller_writes(call, arena_text(arena, request->variables[0]), &client, err);

    rc = rc ? rc : check_parameters(request, err);
    rc = rc ? rc : form_of(request, &options.form, err);
    rc = rc ? rc : find_epoch(call_context(call), client, &view, &options.epoch, err);
    rc = rc ? rc : plain_read(request->body, &options, arena, &batch, err);
    rc = rc ? rc : put_plain(call, client, &batch, answer, err);
    client_unref(view);
    return rc;
}

static int delete_document(struct call *call, const struct rest_request *request,
                           struct rest_answer *answer, struct err *err)
{
    struct arena *arena = call_arena(call);
    Torg__V1__StoredDocument stored = TORG__V1__STORED_DOCUMENT__INIT;
    Torg__V1__RawDocument document = TORG__V1__RAW_DOCUMENT__INIT;
    struct plain_document one = {.place = 1, .field = "", .document = &document};
    struct plain_batch batch = {.list = &one, .count = 1};
    const char *client;
    int rc = caller_writes(call, arena_text(arena, request->variables[0]), &client, err);

    one.id = arena_text(arena, request->variables[1]);
    if (!rc)
        rc = receiver_get(call_context(call), client, one.id, arena, &stored, err);
    if (rc)
        return rc;
    document.pk = (char *)one.id;
    document.event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    document.version = stored.document->version; /* its moment is later: it wins */
    return put_plain(call, client, &batch, answer, err);
}

static int get_document(struct call *call, const struct rest_request *request,
                        struct rest_answer *answer, struct err *err)
{
    struct arena *arena = call_arena(call);
    Torg__V1__StoredDocument stored = TORG__V1__STORED_DOCUMENT__INIT;
    const char *id = arena_text(arena, request->variables[1]);
    const char *client;
    int rc = caller_client(call, arena_text(arena, request->variables[0]), &client, err);

    if (!rc)
        rc = receiver_get(call_context(call), client, id, arena, &stored, err);
    if (!rc && stored.is_deleted)
        rc = err_set(err, ERR_NOT_FOUND, "client %s has no document %s any more", client, id);
    if (rc)
        return rc;
    answer->content_type = "application/json";
    for (size_t i = 0; i < stored.document->n_fields; i++) {
        const Torg__V1__RawField *field = stored.document->fields[i];

        if (strcmp(field->name, PLAIN_SOURCE_FIELD) == 0 && field->_stored_case) {
            buf_put_text(answer->body, field->stored);
            buf_put_byte(answer->body, '\n');
            return 0;
        }
    }
    return err_set(err, ERR_PRECONDITION,
                   "document %s was not sent as plain JSON: DocumentService/GetDocument shows it",
                   id);
}

/* As write_outcome writes it. */
#define OUTCOME_SCHEMA                                                                             \
    "{\"type\":\"object\",\"properties\":{\"accepted\":{\"type\":\"integer\",\"minimum\":0},"      \
    "\"unchanged\":{\"type\":\"integer\",\"minimum\":0},\"refused\":{\"type\":\"integer\","        \
    "\"minimum\":0},\"problems\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"            \
    "\"wait\":{\"type\":\"string\",\"description\":"                                               \
    "\"For ?wait= of a search that has to see them.\"}},\"required\":[\"accepted\","               \
    "\"unchanged\",\"refused\",\"wait\"]}"
#define OUTCOME REST_CONTENT("application/json", OUTCOME_SCHEMA)

/* As form_of knows them. */
static const char forms[] =
    "{\"application/json\":{\"schema\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
    "\"example\":[{\"id\":\"17\",\"title\":\"A bicycle\",\"price\":9000}]},"
    "\"application/x-ndjson\":{\"schema\":{\"type\":\"string\"},\"example\":\"{\\\"id\\\":"
    "\\\"17\\\",\\\"title\\\":\\\"A bicycle\\\"}\\n\"},\"text/csv\":{\"schema\":{\"type\":"
    "\"string\"},\"example\":\"id,title,price\\n17,A bicycle,9000\\n\"}}";

static const struct rest_field parameters[] = {
    {"key", REST_TEXT, "The field that is a document's id; id unless said."},
    {"types", REST_TEXT, "Of fields, as price:decimal,title:text; else they are guessed."},
    {"format", "{\"type\":\"string\",\"enum\":[\"json\",\"csv\"]}",
     "Of the body, where its Content-Type does not say."},
    {0},
};

static const struct rest_method methods[] = {
    {.verb = "POST",
     .path = "/v1/clients/{client}/documents",
     .run = post_documents,
     .scope = "documents",
     .flags = RPC_OF_CLIENT,
     .about = "Documents as a JSON array, JSON lines or CSV; types are guessed.",
     .query = parameters,
     .body = forms,
     .answer = OUTCOME},
    {.verb = "GET",
     .path = "/v1/clients/{client}/documents/{id}",
     .run = get_document,
     .scope = "documents",
     .flags = RPC_BRIEF | RPC_OF_CLIENT,
     .about = "A document as it was sent.",
     .answer = REST_CONTENT("application/json", "{\"type\":\"object\"}")},
    {.verb = "DELETE",
     .path = "/v1/clients/{client}/documents/{id}",
     .run = delete_document,
     .scope = "documents",
     .flags = RPC_OF_CLIENT,
     .about = "Deletes a document.",
     .answer = OUTCOME},
};

struct rest_service plain_document_service(struct receiver *receiver)
{
    assert(receiver->store && receiver->clients);
    return (struct rest_service){.methods = methods,
                                 .method_count = ARRAY_COUNT(methods),
                                 .context = receiver,
                                 .remote = !store_is_local(receiver->store)};
}

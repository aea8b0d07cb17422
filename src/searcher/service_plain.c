/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_plain.c - searches of a client's documents by the ordinary methods of HTTP; see
 * service_plain.h.
 *
 *   GET /v1/clients                  whose documents there are
 *   GET /v1/clients/NAME/search      ?q= and the rest
 *   GET /v1/clients/NAME/fields      what may be filtered, sorted and counted by
 *
 * Who may ask is as for SearcherService.
 */
#include "searcher/service_plain.h"

#include <string.h>

#include "base/memory.h"
#include "codec/json_value.h"
#include "codec/message.h"
#include "searcher/bounds.h"

/* A shard of the client that this process has, and that is ready. It stays until visit_end. */
static struct visit *visit_any(const struct index_view *view, const char *name)
{
    const struct index_client *client = view_find(view, name);
    const struct index_epoch *epoch = client ? client_serving(client) : NULL;
    struct visit *visit = NULL;

    for (uint32_t i = 0; epoch && i < epoch->shard_count && !visit; i++)
        if (!epoch->shards[i] || replica_visit(epoch->shards[i], 0, &visit, NULL))
            visit = NULL;
    return visit;
}

#define STAGE "stages[0]"

/* "stages[0].filter.in.field: there is no ..." is told as "filter: there is no ...". */
static void shorten(struct err *err)
{
    char *dot = strncmp(err->text, STAGE ".", strlen(STAGE ".")) == 0
                    ? err->text + strlen(STAGE ".")
                    : err->text;
    char *end = dot + strcspn(dot, ".[:");
    char *colon = strstr(dot, ": ");
    char text[ERR_TEXT_SIZE];

    memcpy(text, err->text, sizeof(text));
    if (strncmp(text, STAGE ": ", strlen(STAGE ": ")) == 0)
        err_set(err, err->code, "%s", text + strlen(STAGE ": "));
    if (dot == err->text || !colon)
        return;
    err_set(err, err->code, "%.*s%s", (int)(end - dot), text + (dot - err->text),
            text + (colon - err->text));
}

static int run(struct call *call, const char *client, struct plain_query *query,
               struct rest_answer *answer, struct err *err)
{
    const struct searcher *searcher = call_context(call);
    int64_t began_us = clock_mono_us(searcher->front.clock);
    int64_t deadline_us = front_deadline_us(&searcher->front, began_us);
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    Torg__V1__ExplainResponse explained = TORG__V1__EXPLAIN_RESPONSE__INIT;
    int64_t took_us;
    int rc;

    if (call_deadline_us(call) < deadline_us)
        deadline_us = call_deadline_us(call);
    rc = searcher_search(call, client, query->request, deadline_us, &response, err);
    took_us = clock_mono_us(searcher->front.clock) - began_us;
    if (!rc && query->explain_id.size) {
        Torg__V1__ExplainRequest request = TORG__V1__EXPLAIN_REQUEST__INIT;

        request.client = (char *)client;
        request.query = query->request->query;
        request.pk = arena_text(query->arena, query->explain_id);
        rc = searcher_explain(call, &request.base, &explained.base, err);
        if (rc == ERR_INVALID)
            err_wrap(err, "explain");
    }
    if (rc) {
        shorten(err);
        return rc;
    }
    answer->content_type = "application/json";
    plain_answer_write(query, &response, explained.explanation, took_us, answer->body);
    return 0;
}

/* Writes that have to be seen are waited for by a search of nothing, before the parameters are
 * read: of a client's first documents the fields come with them. */
static int wait_for(struct call *call, const char *client, struct bytes tokens, struct err *err)
{
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    struct plain_query query = {.arena = call_arena(call)};
    struct rest_request nothing = {.parameter_count = 2};
    int rc;

    if (!tokens.size)
        return 0;
    nothing.parameters[0] = (struct rest_parameter){bytes_of("wait"), tokens};
    nothing.parameters[1] = (struct rest_parameter){bytes_of("limit"), bytes_of("0")};
    rc = plain_query_read(&nothing, &query, err);
    return rc ? rc
              : searcher_search(call, client, query.request,
                                searcher_deadline_us(call, SEARCHER_DEADLINE_MS_MAX), &response,
                                err);
}

static int search(struct call *call, const struct rest_request *request, struct rest_answer *answer,
                  struct err *err)
{
    const struct searcher *searcher = call_context(call);
    struct plain_query query = {.arena = call_arena(call)};
    const struct index_view *view = NULL;
    const struct rest_parameter *wait = rest_parameter_find(request, "wait");
    struct visit *visit = NULL;
    const char *client;
    int rc = searcher_client(call, arena_text(query.arena, request->variables[0]), &client, err);

    if (!rc && wait)
        rc = wait_for(call, client, wait->value, err);
    if (rc)
        return rc;
    view = follower_view(searcher->front.follower);
    visit = visit_any(view, client);
    query.schema = visit ? shard_schema(visit->shard) : NULL;
    rc = rc ? rc : plain_query_read(request, &query, err);
    rc = rc ? rc : run(call, client, &query, answer, err);
    visit_end(visit);
    view_release(view);
    return rc;
}

static int fields(struct call *call, const struct rest_request *request, struct rest_answer *answer,
                  struct err *err)
{
    const struct searcher *searcher = call_context(call);
    const struct index_view *view = follower_view(searcher->front.follower);
    const struct index_client *found;
    struct visit *visit = NULL;
    bool is_first = true;
    const char *client;
    int rc =
        searcher_client(call, arena_text(call_arena(call), request->variables[0]), &client, err);

    rc = rc ? rc : front_find_client(view, client, &found, err);
    if (!rc)
        visit = visit_any(view, client);
    if (!rc && !visit)
        rc =
            err_set(err, ERR_UNAVAILABLE, "no shard of client %s is ready in this process", client);
    if (!rc) {
        const struct schema *schema = shard_schema(visit->shard);

        buf_put_text(answer->body, "{\"fields\":[");
        for (uint32_t i = 0; i < schema_count(schema); i++) {
            const struct field *field = schema_field(schema, i);

            if (field_is_hidden(field) || strncmp(field->name, "plain-", 6) == 0)
                continue;
            buf_put_text(answer->body, is_first ? "{\"name\":" : ",{\"name\":");
            is_first = false;
            json_put_text(answer->body, bytes_of(field->name));
            buf_printf(answer->body, ",\"type\":\"%s\"}",
                       field->type == FIELD_KEYWORD && field->multiple
                           ? "keywords"
                           : field_type_name(field->type));
        }
        buf_put_text(answer->body, "]}\n");
        answer->content_type = "application/json";
    }
    visit_end(visit);
    view_release(view);
    return rc;
}

static void put_client(const struct index_client *client, bool is_first, struct buf *out)
{
    const struct index_epoch *epoch = client_serving(client);
    uint64_t count = 0;
    bool is_whole = epoch != NULL;

    for (uint32_t i = 0; epoch && i < epoch->shard_count; i++) {
        struct replica_state state;

        if (!epoch->shards[i]) {
            is_whole = false;
            continue;
        }
        replica_state(epoch->shards[i], &state);
        count += state.doc_count;
    }
    buf_put_text(out, is_first ? "{\"name\":" : ",{\"name\":");
    json_put_text(out, bytes_of(client->name));
    if (is_whole)
        buf_printf(out, ",\"documents\":%ju", (uintmax_t)count);
    buf_put_byte(out, '}');
}

static int clients(struct call *call, const struct rest_request *request,
                   struct rest_answer *answer, struct err *err)
{
    const struct searcher *searcher = call_context(call);
    const struct index_view *view = follower_view(searcher->front.follower);
    const char *bound = call_identity(call)->client;
    bool is_first = true;

    (void)request;
    (void)err;
    buf_put_text(answer->body, "{\"clients\":[");
    for (uint32_t i = 0; i < view->client_count; i++) {
        if (*bound && strcmp(bound, view->clients[i].name) != 0)
            continue;
        put_client(&view->clients[i], is_first, answer->body);
        is_first = false;
    }
    buf_put_text(answer->body, "]}\n");
    answer->content_type = "application/json";
    view_release(view);
    return 0;
}

/* As plain_answer_write writes it. */
#define FOUND_SCHEMA                                                                               \
    "{\"type\":\"object\",\"properties\":{\"total\":{\"type\":\"integer\",\"minimum\":0},"         \
    "\"hits\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"description\":"                 \
    "\"The document, and beside its fields _score and _marked.\"}},\"facets\":{\"type\":"          \
    "\"object\",\"additionalProperties\":{\"type\":\"object\",\"additionalProperties\":{"          \
    "\"type\":\"integer\",\"minimum\":0}}},\"ranges\":{\"type\":\"object\","                       \
    "\"additionalProperties\":{\"type\":\"object\",\"nullable\":true}},\"cursor\":{\"type\":"      \
    "\"string\"},\"explanation\":{\"type\":\"object\"},\"partial\":{\"type\":\"boolean\"},"        \
    "\"ms\":{\"type\":\"number\"}},\"required\":[\"total\",\"hits\",\"ms\"]}"
#define FIELDS_SCHEMA                                                                              \
    "{\"type\":\"object\",\"properties\":{\"fields\":{\"type\":\"array\",\"items\":{\"type\":"     \
    "\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"type\":{\"type\":"                \
    "\"string\"}},\"required\":[\"name\",\"type\"]}}},\"required\":[\"fields\"]}"
#define CLIENTS_SCHEMA                                                                             \
    "{\"type\":\"object\",\"properties\":{\"clients\":{\"type\":\"array\",\"items\":{\"type\":"    \
    "\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"documents\":{\"type\":"           \
    "\"integer\",\"minimum\":0}},\"required\":[\"name\"]}}},\"required\":[\"clients\"]}"

static const struct rest_field parameters[] = {
    {"q", REST_TEXT, "What is looked for: all words, \"a phrase\", -without, begin*."},
    {"filter", REST_TEXT, "As \"price <= 10000 AND color = red\"."},
    {"facets", REST_TEXT, "Names of fields whose values are counted, by commas."},
    {"facet_limit", REST_NUMBER, "How many values of each are given."},
    {"sort", REST_TEXT, "Names of fields, by commas; -price: the highest first."},
    {"limit", REST_NUMBER, "Documents answered."},
    {"offset", REST_NUMBER, "Documents left out before them."},
    {"cursor", REST_TEXT, "Of an earlier answer: the next page."},
    {"fields", REST_TEXT, "Names of the fields that are answered, by commas; all unless said."},
    {"highlight", REST_TEXT, "Names of texts whose words are marked."},
    {"any", REST_FLAG, "Not all words are needed."},
    {"wait", REST_TEXT, "Tokens of writes that have to be seen, by commas."},
    {"explain", REST_TEXT, "The id of a document: why it is found, or is not."},
    {0},
};

static const struct rest_method methods[] = {
    {.verb = "GET",
     .path = "/v1/clients",
     .run = clients,
     .scope = "search",
     .flags = RPC_OF_CLIENT,
     .about = "Whose documents there are.",
     .answer = REST_CONTENT("application/json", CLIENTS_SCHEMA)},
    {.verb = "GET",
     .path = "/v1/clients/{client}/search",
     .run = search,
     .scope = "search",
     .flags = RPC_OF_CLIENT | RPC_COMPUTE,
     .about = "Searches a client's documents: ?q=, filter, facets, sort, limit.",
     .query = parameters,
     .answer = REST_CONTENT("application/json", FOUND_SCHEMA)},
    {.verb = "GET",
     .path = "/v1/clients/{client}/fields",
     .run = fields,
     .scope = "search",
     .flags = RPC_OF_CLIENT,
     .about = "The fields of a client's documents, with their types.",
     .answer = REST_CONTENT("application/json", FIELDS_SCHEMA)},
};

struct rest_service plain_search_service(struct searcher *searcher)
{
    return (struct rest_service){
        .methods = methods, .method_count = ARRAY_COUNT(methods), .context = searcher};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - SnippetService (service.h). */
#include "snippets/service.h"

#include "base/memory.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "snippets/bounds.h"
#include "snippets/requests/message.h"
#include "snippets/requests/snippets_parts.h"
#include "snippets/service_parts.h"
#include "torg/v1/snippet.pb-c.h"

static int get_snippets(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetSnippetsRequest *request = (const Torg__V1__GetSnippetsRequest *)message;
    Torg__V1__GetSnippetsResponse *answer = (Torg__V1__GetSnippetsResponse *)response;
    struct arena *arena = call_arena(call);
    struct snippet_found *list = NULL;
    struct bytes *names, *keys;
    size_t count = 0;
    int rc;

    if (request->n_names > SNIPPET_BATCH_NAME_COUNT_MAX)
        return call_invalid(call, err, "names", "%zu names; at most %d at once", request->n_names,
                            SNIPPET_BATCH_NAME_COUNT_MAX);
    if (request->n_keys > SNIPPET_BATCH_KEY_COUNT_MAX)
        return call_invalid(call, err, "keys", "%zu keys; at most %d at once", request->n_keys,
                            SNIPPET_BATCH_KEY_COUNT_MAX);
    names = snippet_texts(request->names, request->n_names, arena);
    keys = snippet_texts(request->keys, request->n_keys, arena);
    rc = snippets_batch(call_context(call), names, request->n_names, keys, request->n_keys,
                        bytes_of(request->language), arena, &list, &count, err);
    if (rc)
        return rc;
    answer->snippets = snippet_messages(list, count, arena);
    answer->n_snippets = count;
    return 0;
}

int snippet_format_of(struct call *call, Torg__V1__SnippetFormat format, struct snippet_body *body,
                      struct err *err)
{
    if (format < 0 || format > TORG__V1__SNIPPET_FORMAT__BINARY)
        return call_invalid(call, err, "format", "there is no such format");
    body->has_format = format != TORG__V1__SNIPPET_FORMAT__SNIPPET_FORMAT_UNSPECIFIED;
    if (body->has_format)
        body->format = (enum snippet_format)(format - 1);
    return 0;
}

static int try_snippet(struct call *call, struct bytes name, const struct snippet_body *body,
                       ProtobufCMessage *response, struct err *err)
{
    Torg__V1__PutSnippetResponse *answer = (Torg__V1__PutSnippetResponse *)response;
    struct arena *arena = call_arena(call);
    struct snippet_found *list;
    size_t count = 0;
    int rc;

    if (call_leave_brief(call))
        return err_set(err, ERR_UNAVAILABLE, "this takes longer and goes on elsewhere");
    rc = snippets_try(call_context(call), name, body, arena, &list, &count, err);
    answer->snippets = snippet_messages(list, count, arena);
    answer->n_snippets = count;
    return rc;
}

static int put_snippet(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__PutSnippetRequest *request = (const Torg__V1__PutSnippetRequest *)message;
    struct snippet_body body = {.key = bytes_of(request->key),
                                .language = bytes_of(request->language),
                                .body = bytes_make(request->body.data, request->body.len)};

    if (snippet_format_of(call, request->format, &body, err))
        return err->code;
    if (request->dry_run)
        return try_snippet(call, bytes_of(request->name), &body, response, err);
    return snippet_call_put(call, bytes_of(request->name), &body, err);
}

static int delete_snippet(struct call *call, const ProtobufCMessage *message,
                          ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__DeleteSnippetRequest *request = (const Torg__V1__DeleteSnippetRequest *)message;

    (void)response;
    return snippet_call_delete(call, bytes_of(request->name), bytes_of(request->key),
                               bytes_of(request->language), err);
}

static void describe_snippet(const struct snippet *snippet, struct arena *arena,
                             Torg__V1__SnippetSection *section)
{
    unsigned format;
    size_t i;

    section->is_snippet = true;
    section->output = (Torg__V1__SnippetFormat)(snippet->output + 1);
    section->inputs = arena_array(arena, SNIPPET_FORMAT_COUNT, sizeof(*section->inputs));
    for (format = 0; format < SNIPPET_FORMAT_COUNT; format++) {
        if (snippet->inputs & 1u << format)
            section->inputs[section->n_inputs++] = (Torg__V1__SnippetFormat)(format + 1);
    }
    section->languages = arena_array(arena, snippet->language_count, sizeof(*section->languages));
    section->n_languages = snippet->language_count;
    for (i = 0; i < snippet->language_count; i++)
        section->languages[i] = arena_text(arena, snippet->languages[i]);
    section->ttl_minutes = snippet->ttl_us / 60000000;
    section->topic = arena_strdup(arena, snippet->topic ? snippet->topic : "");
    section->prefix = snippet->prefix;
    section->validator = arena_strdup(arena, snippet->validator ? snippet->validator->name : "");
    section->convertor = arena_strdup(arena, snippet->convertor ? snippet->convertor->name : "");
    section->has_input_schema = snippet->input_schema != NULL;
    section->has_output_schema = snippet->output_schema != NULL;
}

static Torg__V1__SnippetSection *describe_section(const struct snippet_section *from,
                                                  struct arena *arena)
{
    Torg__V1__SnippetSection *section = MESSAGE_NEW(snippet_section, arena);
    size_t i;

    section->name = arena_strdup(arena, from->name);
    section->targets = arena_array(arena, from->target_count, sizeof(*section->targets));
    section->n_targets = from->target_count;
    for (i = 0; i < from->target_count; i++)
        section->targets[i] = arena_strdup(arena, from->targets[i]->name);
    if (from->own)
        describe_snippet(from->own, arena, section);
    return section;
}

static void describe_work(struct snippets *snippets, struct arena *arena,
                          Torg__V1__DescribeSnippetsResponse *answer)
{
    struct snippet_failure *list = arena_array(arena, SNIPPET_FAILURE_COUNT, sizeof(*list));
    size_t count = snippet_failures_list(snippets->failures, list);

    answer->counts = MESSAGE_NEW(snippet_counts, arena);
    answer->counts->puts = (int64_t)counter_value(snippets->put_count);
    answer->counts->deletes = (int64_t)counter_value(snippets->delete_count);
    answer->counts->gets = (int64_t)counter_value(snippets->get_count);
    answer->counts->batches = (int64_t)counter_value(snippets->batch_count);
    answer->counts->failures = (int64_t)counter_value(snippets->refused_count);
    answer->failures = arena_array(arena, count, sizeof(*answer->failures));
    for (size_t i = 0; i < count; i++) {
        Torg__V1__SnippetFailure *failure = MESSAGE_NEW(snippet_failure, arena);

        failure->time = moment_message(list[i].time_us, arena);
        failure->name = list[i].name;
        failure->key = list[i].key;
        failure->reason = list[i].reason;
        answer->failures[answer->n_failures++] = failure;
    }
}

static int describe_snippets(struct call *call, const ProtobufCMessage *message,
                             ProtobufCMessage *response, struct err *err)
{
    Torg__V1__DescribeSnippetsResponse *answer = (Torg__V1__DescribeSnippetsResponse *)response;
    struct snippets *snippets = call_context(call);
    struct snippet_config *config = snippets_config(snippets);
    struct arena *arena = call_arena(call);
    const struct snippet_section *sections;
    struct snippets_state state;
    const Torg__V1__DescribeSnippetsRequest *request =
        (const Torg__V1__DescribeSnippetsRequest *)message;
    size_t count, i;

    sections = snippet_config_sections(config, &count);
    answer->sections = arena_array(arena, count, sizeof(*answer->sections));
    for (i = 0; i < count; i++) {
        if (*sections[i].name)
            answer->sections[answer->n_sections++] = describe_section(&sections[i], arena);
    }
    snippet_config_unref(config);
    snippets_state(snippets, &state);
    answer->load_time = state.loaded_us ? moment_message(state.loaded_us, arena) : NULL;
    answer->refused = arena_strdup(arena, state.refused);
    describe_work(snippets, arena, answer);
    if (!request->prefix)
        return 0;
    return snippet_rows_count(snippets_store(snippets), request->prefix, SNIPPET_COUNT_MAX,
                              &answer->row_count, err);
}

static const struct rpc_method methods[] = {
    {.name = "GetSnippets", .unary = get_snippets, .flags = RPC_BRIEF, .scope = "snippets.read"},
    {.name = "PutSnippet",
     .unary = put_snippet,
     .flags = RPC_BRIEF | RPC_PROMPT,
     .scope = "snippets.write"},
    {.name = "DeleteSnippet",
     .unary = delete_snippet,
     .flags = RPC_BRIEF | RPC_PROMPT,
     .scope = "snippets.write"},
    {.name = "WatchSnippets",
     .stream = snippet_watch,
     .flags = RPC_SERVER_STREAM,
     .scope = "snippets.read"},
    {.name = "DescribeSnippets", .unary = describe_snippets, .scope = "snippets.read"},
    {.name = "BeginSnippetLoad", .unary = snippet_begin_load, .scope = "snippets.write"},
    {.name = "AddSnippets", .unary = snippet_add_loaded, .scope = "snippets.write"},
    {.name = "FinishSnippetLoad", .unary = snippet_finish_load, .scope = "snippets.write"},
    {.name = "AbandonSnippetLoad", .unary = snippet_abandon_load, .scope = "snippets.write"},
    {.name = "RollBackSnippets", .unary = snippet_roll_back, .scope = "snippets.write"},
};

struct rpc_service snippet_service(struct snippets *snippets)
{
    struct rpc_service service = RPC_SERVICE(snippet, methods, snippets);

    service.remote = !store_is_local(snippets_store(snippets));
    return service;
}

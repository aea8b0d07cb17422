/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - SnippetService (service.h). */
#include "snippets/service.h"

#include "base/memory.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "snippets/bounds.h"
#include "snippets/message.h"
#include "torg/v1/snippet.pb-c.h"

static int get_snippets(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetSnippetsRequest *request = (const Torg__V1__GetSnippetsRequest *)message;
    Torg__V1__GetSnippetsResponse *answer = (Torg__V1__GetSnippetsResponse *)response;
    struct arena *arena = call_arena(call);
    struct snippet_found *list = NULL;
    struct bytes *names, *keys;
    size_t i, count = 0;
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
    answer->snippets = arena_array(arena, count, sizeof(*answer->snippets));
    for (i = 0; i < count; i++)
        answer->snippets[i] = snippet_message(&list[i], arena);
    answer->n_snippets = count;
    return 0;
}

static int put_snippet(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__PutSnippetRequest *request = (const Torg__V1__PutSnippetRequest *)message;
    struct snippet_body body = {.key = bytes_of(request->key),
                                .language = bytes_of(request->language),
                                .has_format = request->format !=
                                              TORG__V1__SNIPPET_FORMAT__SNIPPET_FORMAT_UNSPECIFIED,
                                .body = bytes_make(request->body.data, request->body.len)};

    (void)response;
    if (body.has_format &&
        (request->format < 0 || request->format > TORG__V1__SNIPPET_FORMAT__BINARY))
        return call_invalid(call, err, "format", "there is no such format");
    if (body.has_format)
        body.format = (enum snippet_format)(request->format - 1);
    return snippets_put(call_context(call), bytes_of(request->name), &body, call_arena(call), err);
}

static int delete_snippet(struct call *call, const ProtobufCMessage *message,
                          ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__DeleteSnippetRequest *request = (const Torg__V1__DeleteSnippetRequest *)message;

    (void)response;
    return snippets_delete(call_context(call), bytes_of(request->name), bytes_of(request->key),
                           bytes_of(request->language), call_arena(call), err);
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
    if (!request->prefix)
        return 0;
    return snippet_rows_count(snippets_store(snippets), request->prefix, SNIPPET_COUNT_MAX,
                              &answer->row_count, err);
}

static const struct rpc_method methods[] = {
    {.name = "GetSnippets", .unary = get_snippets, .flags = RPC_BRIEF, .scope = "snippets.read"},
    {.name = "PutSnippet", .unary = put_snippet, .scope = "snippets.write"},
    {.name = "DeleteSnippet", .unary = delete_snippet, .scope = "snippets.write"},
    {.name = "DescribeSnippets", .unary = describe_snippets, .scope = "snippets.read"},
};

struct rpc_service snippet_service(struct snippets *snippets)
{
    struct rpc_service service = RPC_SERVICE(snippet, methods, snippets);

    service.remote = !store_is_local(snippets_store(snippets));
    return service;
}

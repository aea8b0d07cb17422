/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_rest.c - PUT, GET and DELETE /snippets/NAME/KEY[/LANGUAGE] (service.h); on a port of
 * their own without the prefix, too.
 *
 * A name has slashes itself, so it is the longest one of the config that leaves one part, the key,
 * or two, the language too. A key with a slash is written with %2F.
 */
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "snippets/bounds.h"
#include "snippets/service.h"
#include "snippets/service_parts.h"

struct address {
    struct bytes name;
    struct bytes key;
    struct bytes language;
};

static struct bytes join(const struct rest_request *request, size_t count, struct arena *arena)
{
    struct buf name = BUF_INIT(SNIPPET_NAME_SIZE_MAX + 1);
    struct bytes copy;
    size_t i;

    for (i = 0; i < count; i++) {
        if (i)
            buf_put_byte(&name, '/');
        buf_put(&name, request->tail[i]);
    }
    copy = buf_failed(&name) ? BYTES_EMPTY : arena_copy(arena, buf_bytes(&name));
    buf_release(&name);
    return copy;
}

static int find_address(struct call *call, const struct rest_request *request,
                        struct address *address, struct err *err)
{
    struct snippets *snippets = call_context(call);
    struct snippet_config *config = snippets_config(snippets);
    size_t left;
    int rc = ERR_NOT_FOUND;

    for (left = 1; left <= 2 && left < request->tail_count && rc; left++) {
        size_t count = request->tail_count - left;

        address->name = join(request, count, call_arena(call));
        if (!address->name.size || !snippet_config_find(config, address->name))
            continue;
        address->key = request->tail[count];
        address->language = left == 2 ? request->tail[count + 1] : BYTES_EMPTY;
        rc = 0;
    }
    snippet_config_unref(config);
    if (rc)
        return err_set(err, ERR_NOT_FOUND,
                       "no snippet or group of the config is named in this address: "
                       "/snippets/NAME/KEY[/LANGUAGE]");
    return 0;
}

/* "json", "application/json; charset=utf-8", … */
static int find_format(struct bytes type, struct snippet_body *body, struct err *err)
{
    static const struct {
        const char *name;
        enum snippet_format format;
    } names[] = {
        {"application/json", SNIPPET_JSON},
        {"application/octet-stream", SNIPPET_BINARY},
        {"application/protobuf", SNIPPET_PB},
        {"application/x-protobuf", SNIPPET_PB},
        {"application/xml", SNIPPET_XML},
        {"binary", SNIPPET_BINARY},
        {"json", SNIPPET_JSON},
        {"pb", SNIPPET_PB},
        {"text", SNIPPET_TEXT},
        {"text/html", SNIPPET_TEXT},
        {"text/plain", SNIPPET_TEXT},
        {"text/xml", SNIPPET_XML},
        {"xml", SNIPPET_XML},
    };
    const uint8_t *end = type.size ? memchr(type.data, ';', type.size) : NULL;
    size_t i, size = end ? (size_t)(end - type.data) : type.size;

    while (size && type.data[size - 1] == ' ')
        size--;
    body->has_format = size > 0;
    /* What curl says of every body by itself says nothing. */
    if (size == 33 &&
        strncasecmp((const char *)type.data, "application/x-www-form-urlencoded", 33) == 0)
        body->has_format = false;
    if (!body->has_format)
        return 0;
    for (i = 0; i < ARRAY_COUNT(names); i++) {
        if (strlen(names[i].name) == size &&
            strncasecmp((const char *)type.data, names[i].name, size) == 0) {
            body->format = names[i].format;
            return 0;
        }
    }
    return err_set(err, ERR_INVALID,
                   "the Content-Type \"%.*s\" is not known: json, pb, text, xml "
                   "and binary are, and their MIME names",
                   (int)(size > 100 ? 100 : size), (const char *)type.data);
}

static int put(struct call *call, const struct rest_request *request, struct rest_answer *answer,
               struct err *err)
{
    struct snippet_body body = {.body = request->body};
    struct address address;
    int rc = find_address(call, request, &address, err);

    if (!rc)
        rc = find_format(request->content_type, &body, err);
    if (rc)
        return rc;
    body.key = address.key;
    body.language =
        address.language.size ? address.language : call_header(call, "content-language");
    return snippet_call_put(call, address.name, &body, err);
}

static int delete (struct call *call, const struct rest_request *request,
                   struct rest_answer *answer, struct err *err)
{
    struct address address;
    int rc = find_address(call, request, &address, err);

    if (rc)
        return rc;
    if (!address.language.size)
        address.language = call_header(call, "content-language");
    return snippet_call_delete(call, address.name, address.key, address.language, err);
}

/* JSON as it is, texts as strings, all else as base64 under a mark. */
static void put_content(const struct snippet_found *found, struct buf *out)
{
    switch (found->format) {
    case SNIPPET_JSON:
        buf_put(out, found->row.body);
        break;
    case SNIPPET_TEXT:
    case SNIPPET_XML:
        text_put_json(out, found->row.body);
        break;
    default:
        buf_put_text(out, "{\"base64\":\"");
        text_put_base64(out, found->row.body);
        buf_put_text(out, "\"}");
    }
}

static int get(struct call *call, const struct rest_request *request, struct rest_answer *answer,
               struct err *err)
{
    struct snippet_found *list;
    struct address address;
    size_t count, i;
    int rc = find_address(call, request, &address, err);

    if (!rc)
        rc = snippets_get(call_context(call), address.name, address.key, address.language,
                          call_arena(call), &list, &count, err);
    if (rc)
        return rc;
    for (i = 0; i < count; i++) {
        buf_printf(answer->body, "%s\"%s\":", i ? "," : "{", list[i].name);
        put_content(&list[i], answer->body);
    }
    buf_put_text(answer->body, "}\n");
    answer->content_type = "application/json";
    return 0;
}

/* As find_format knows them. */
static const char forms[] =
    "{\"application/json\":{\"schema\":{},\"example\":{\"stars\":5}},\"text/plain\":{\"schema\":{"
    "\"type\":\"string\"}},\"application/xml\":{\"schema\":{\"type\":\"string\"}},"
    "\"application/protobuf\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}},"
    "\"application/octet-stream\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}}";

static const struct rest_method methods[] = {
    {.verb = "GET",
     .path = "/snippets/{name...}",
     .run = get,
     .flags = RPC_BRIEF,
     .scope = "snippets.read",
     .about = "Snippets by NAME/KEY or NAME/KEY/LANGUAGE: absolute names and contents.",
     .answer =
         REST_CONTENT("application/json", "{\"type\":\"object\",\"additionalProperties\":{}}")},
    {.verb = "PUT",
     .path = "/snippets/{name...}",
     .run = put,
     .flags = RPC_BRIEF | RPC_PROMPT,
     .scope = "snippets.write",
     .about = "Stores a snippet, or all of a group; 200: it is durable.",
     .body = forms,
     .answer = ""},
    {.verb = "DELETE",
     .path = "/snippets/{name...}",
     .run = delete,
     .flags = RPC_BRIEF | RPC_PROMPT,
     .scope = "snippets.write",
     .about = "Removes a snippet, or all of a group; 200: that is durable.",
     .answer = ""},
};

static struct rest_service service_of(struct snippets *snippets, const struct rest_method *list)
{
    return (struct rest_service){.methods = list,
                                 .method_count = ARRAY_COUNT(methods),
                                 .context = snippets,
                                 .remote = !store_is_local(snippets_store(snippets))};
}

struct rest_service snippet_resources(struct snippets *snippets)
{
    return service_of(snippets, methods);
}

struct rest_service snippet_root_resources(struct snippets *snippets)
{
    static struct rest_method at_root[ARRAY_COUNT(methods)]; /* one a process, as their server */

    for (size_t i = 0; i < ARRAY_COUNT(methods); i++) {
        at_root[i] = methods[i];
        at_root[i].path = "/{name...}";
    }
    return service_of(snippets, at_root);
}

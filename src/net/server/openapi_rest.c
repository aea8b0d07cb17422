/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_rest.c - the parts of the OpenAPI document that are not methods of a .proto: resources
 * (rest.h) and files. Their declarations say what they take and return; where they do not, it is
 * bytes.
 */
#include <string.h>

#include "base/text.h"
#include "net/server/openapi_parts.h"

static const char bytes_of_any_form[] =
    "{\"application/octet-stream\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}}";

/* Of the path, as text; of the query, as the resource declares them. */
static void put_parameters(struct printer *printer, const char *path,
                           const struct rest_field *query)
{
    struct buf *out = printer->out;
    const char *before = "\"parameters\":[";
    const char *open;

    for (const char *at = path; (open = strchr(at, '{')); at = strchr(open, '}')) {
        buf_printf(out,
                   "%s{\"name\":\"%.*s\",\"in\":\"path\",\"required\":true,\"schema\":"
                   "{\"type\":\"string\",\"minLength\":1}}",
                   before, (int)strcspn(open + 1, ".}"), open + 1);
        before = ",";
    }
    for (; query && query->name; query++) {
        buf_printf(out, "%s{\"name\":\"%s\",\"in\":\"query\",\"description\":", before,
                   query->name);
        text_put_json(out, bytes_of(query->about));
        buf_printf(out, ",\"schema\":%s}", query->schema);
        before = ",";
    }
    if (*before == ',')
        buf_put_text(out, "],");
}

/* content NULL: bytes; empty: none. Ends the operation. */
static void put_answer(struct printer *printer, const char *about, int status, const char *content)
{
    struct buf *out = printer->out;

    if (about) {
        buf_put_text(out, "\"description\":");
        text_put_json(out, bytes_of(about));
        buf_put_byte(out, ',');
    }
    buf_printf(out, "\"responses\":{\"%d\":{\"description\":\"What is there.\"", status);
    if (!content || *content)
        buf_printf(out, ",\"content\":%s", content ? content : bytes_of_any_form);
    buf_put_text(out, "},\"default\":{\"$ref\":\"#/components/responses/Error\"}}}");
}

void openapi_put_folder(struct printer *printer, const struct folder *folder)
{
    const char *path = "{name}";

    openapi_put_path(printer, "%s%s", folder->prefix, path);
    buf_printf(printer->out, "\"get\":{\"operationId\":\"get%s\",\"tags\":[\"files\"],",
               folder->prefix);
    buf_put_text(printer->out, "\"security\":[],");
    put_parameters(printer, path, NULL);
    put_answer(printer, folder->about, 200, NULL);
    buf_put_byte(printer->out, '}');
}

/* "{name...}" is "{name}" to OpenAPI, which has no word for several parts. */
static void put_plain_path(struct buf *out, const char *path)
{
    for (; *path; path++)
        if (strncmp(path, "...}", 4) != 0)
            buf_put_byte(out, (uint8_t)*path);
        else
            path += 2;
}

static bool is_same_path(const struct resource *a, const struct resource *b)
{
    return strcmp(a->rest->path, b->rest->path) == 0;
}

static void put_verb(struct printer *printer, const struct rest_method *rest)
{
    struct buf *out = printer->out;
    bool has_body = strcmp(rest->verb, "GET") != 0 && strcmp(rest->verb, "DELETE") != 0;

    buf_put_byte(out, '"');
    for (const char *at = rest->verb; *at; at++)
        buf_put_byte(out, (uint8_t)(*at | 0x20));
    buf_printf(out, "\":{\"operationId\":\"%s %s\",\"tags\":[\"resources\"],", rest->verb,
               rest->path);
    openapi_put_security(printer, rest->flags);
    put_parameters(printer, rest->path, rest->query);
    if (has_body)
        buf_printf(out, "\"requestBody\":{\"required\":true,\"content\":%s},",
                   rest->body ? rest->body : bytes_of_any_form);
    put_answer(printer, rest->about, rest->status ? rest->status : 200, rest->answer);
}

void openapi_put_resource(struct printer *printer, const struct resources *resources, size_t index)
{
    const struct resource *first = resources->list[index];
    struct buf path = BUF_INIT(1024);

    for (size_t i = 0; i < index; i++)
        if (is_same_path(resources->list[i], first))
            return;
    put_plain_path(&path, first->rest->path);
    openapi_put_path(printer, "%s", buf_text(&path));
    buf_release(&path);
    for (size_t i = index; i < resources->count; i++) {
        if (!is_same_path(resources->list[i], first))
            continue;
        if (i != index)
            buf_put_byte(printer->out, ',');
        put_verb(printer, resources->list[i]->rest);
    }
    buf_put_byte(printer->out, '}');
}

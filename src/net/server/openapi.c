/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.c - see openapi.h.
 *
 * Paths first, noting every type they mention; then the schemas of those types, which note the
 * types they mention, until none is new. Schemas follow the JSON mapping of json.h.
 */
#include "net/server/openapi.h"

#include <string.h>

#include "base/text.h"
#include "codec/descriptors.h"

/* Field numbers of descriptor.proto that paths continue with. */
enum { MESSAGE_FIELD = 2 };

struct printer {
    struct buf *out;
    struct descriptors descriptors;
    const struct symbol **wanted; /* types that need a schema, each once */
    size_t wanted_count;
};

/* --- comments --- */

static bool is_at(const Google__Protobuf__SourceCodeInfo__Location *location,
                  const struct symbol *symbol, int32_t number, size_t index)
{
    size_t size = symbol->path_size + (number ? 2 : 0);

    if (location->n_path != size ||
        memcmp(location->path, symbol->path, symbol->path_size * sizeof(int32_t)) != 0)
        return false;
    return !number ||
           (location->path[size - 2] == number && location->path[size - 1] == (int32_t)index);
}

static struct bytes trimmed(const char *text)
{
    struct bytes bytes = bytes_of(text);

    while (bytes.size && strchr(" \n", bytes.data[0]))
        bytes = bytes_skip(bytes, 1);
    while (bytes.size && strchr(" \n", bytes.data[bytes.size - 1]))
        bytes.size--;
    return bytes;
}

/* What the .proto says of the symbol, or of its field `number`, element `index`. */
static struct bytes comment_of(const struct printer *printer, const struct symbol *symbol,
                               int32_t number, size_t index)
{
    const Google__Protobuf__SourceCodeInfo *info =
        printer->descriptors.files[symbol->file].proto->source_code_info;
    size_t i;

    for (i = 0; info && i < info->n_location; i++) {
        const Google__Protobuf__SourceCodeInfo__Location *location = info->location[i];

        if (!is_at(location, symbol, number, index))
            continue;
        if (location->leading_comments)
            return trimmed(location->leading_comments);
        return location->trailing_comments ? trimmed(location->trailing_comments) : BYTES_EMPTY;
    }
    return BYTES_EMPTY;
}

/* A comment's lines begin with the blank after the slashes; a description has none there. */
static void put_description(struct buf *out, struct bytes comment)
{
    struct buf text = BUF_INIT(out->limit);
    size_t i;

    if (!comment.size)
        return;
    for (i = 0; i < comment.size; i++) {
        buf_put_byte(&text, comment.data[i]);
        if (comment.data[i] == '\n' && i + 1 < comment.size && comment.data[i + 1] == ' ')
            i++;
    }
    buf_put_text(out, "\"description\":");
    text_put_json(out, buf_bytes(&text));
    buf_put_byte(out, ',');
    buf_release(&text);
}

/* --- types --- */

static void put_reference(struct printer *printer, const char *name)
{
    const struct symbol *symbol = descriptors_find(&printer->descriptors, name);
    size_t i;

    if (!symbol) {
        buf_put_text(printer->out, "{}");
        return;
    }
    for (i = 0; i < printer->wanted_count && printer->wanted[i] != symbol; i++)
        ;
    if (i == printer->wanted_count)
        printer->wanted[printer->wanted_count++] = symbol;
    buf_printf(printer->out, "{\"$ref\":\"#/components/schemas/%s\"}", symbol->name);
}

/* Messages that are something else in JSON; NULL for all others. */
static const char *special_schema(const char *name)
{
    static const struct {
        const char *name;
        const char *schema;
    } special[] = {
        {".google.protobuf.Timestamp", "{\"type\":\"string\",\"format\":\"date-time\"}"},
        {".google.protobuf.Duration",
         "{\"type\":\"string\",\"pattern\":\"^-?[0-9]+(\\\\.[0-9]{1,9})?s$\","
         "\"example\":\"1.5s\"}"},
        {".google.protobuf.Any", "{\"type\":\"object\",\"properties\":{\"@type\":{\"type\":"
                                 "\"string\"}},\"required\":[\"@type\"]}"},
    };
    size_t i;

    for (i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
        if (strcmp(special[i].name, name) == 0)
            return special[i].schema;
    }
    return NULL;
}

static const char *scalar_schema(Google__Protobuf__FieldDescriptorProto__Type type)
{
    switch (type) {
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_BOOL:
        return "{\"type\":\"boolean\"}";
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_FLOAT:
        return "{\"type\":\"number\",\"format\":\"float\"}";
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_DOUBLE:
        return "{\"type\":\"number\",\"format\":\"double\"}";
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_STRING:
        return "{\"type\":\"string\"}";
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_BYTES:
        return "{\"type\":\"string\",\"format\":\"byte\"}";
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_UINT32:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_FIXED32:
        return "{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":0,\"maximum\":4294967295}";
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_UINT64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_FIXED64:
        return "{\"type\":\"string\",\"format\":\"uint64\",\"pattern\":\"^[0-9]+$\"}";
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_INT64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_SINT64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_SFIXED64:
        return "{\"type\":\"string\",\"format\":\"int64\",\"pattern\":\"^-?[0-9]+$\"}";
    default:
        return "{\"type\":\"integer\",\"format\":\"int32\"}";
    }
}

/* One value of the field, whether it is a list or not. */
static void put_value_schema(struct printer *printer,
                             const Google__Protobuf__FieldDescriptorProto *field)
{
    const char *schema;

    if (!field->type_name || !field->type_name[0]) {
        buf_put_text(printer->out, scalar_schema(field->type));
        return;
    }
    schema = special_schema(field->type_name);
    if (schema)
        buf_put_text(printer->out, schema);
    else
        put_reference(printer, field->type_name);
}

static void put_field_schema(struct printer *printer,
                             const Google__Protobuf__FieldDescriptorProto *field)
{
    const struct symbol *type =
        field->type_name ? descriptors_find(&printer->descriptors, field->type_name) : NULL;

    if (field->label != GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED) {
        put_value_schema(printer, field);
    } else if (type && type->kind == SYMBOL_MESSAGE && type->message->options &&
               type->message->options->map_entry) {
        buf_put_text(printer->out, "{\"type\":\"object\",\"additionalProperties\":");
        put_value_schema(printer, type->message->field[1]);
        buf_put_byte(printer->out, '}');
    } else {
        buf_put_text(printer->out, "{\"type\":\"array\",\"items\":");
        put_value_schema(printer, field);
        buf_put_byte(printer->out, '}');
    }
}

/* A $ref takes no description beside it, hence allOf around every documented field. */
static void put_property(struct printer *printer, const struct symbol *message, size_t index)
{
    const Google__Protobuf__FieldDescriptorProto *field = message->message->field[index];
    struct bytes comment = comment_of(printer, message, MESSAGE_FIELD, index);

    text_put_json(printer->out, bytes_of(field->json_name ? field->json_name : field->name));
    buf_put_byte(printer->out, ':');
    if (!comment.size) {
        put_field_schema(printer, field);
        return;
    }
    buf_put_byte(printer->out, '{');
    put_description(printer->out, comment);
    buf_put_text(printer->out, "\"allOf\":[");
    put_field_schema(printer, field);
    buf_put_text(printer->out, "]}");
}

static void put_schema(struct printer *printer, const struct symbol *symbol)
{
    struct buf *out = printer->out;
    size_t i;

    text_put_json(out, bytes_of(symbol->name));
    buf_put_text(out, ":{");
    put_description(out, comment_of(printer, symbol, 0, 0));
    if (symbol->kind == SYMBOL_ENUM) {
        buf_put_text(out, "\"type\":\"string\",\"enum\":[");
        for (i = 0; i < symbol->enumeration->n_value; i++)
            buf_printf(out, "%s\"%s\"", i ? "," : "", symbol->enumeration->value[i]->name);
        buf_put_text(out, "]}");
        return;
    }
    buf_put_text(out, "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (i = 0; i < symbol->message->n_field; i++) {
        if (i)
            buf_put_byte(out, ',');
        put_property(printer, symbol, i);
    }
    buf_put_text(out, "}}");
}

/* --- methods --- */

static bool is_listed(const struct symbol *symbol)
{
    return symbol->kind == SYMBOL_METHOD && strncmp(symbol->name, "torg.", 5) == 0 &&
           !symbol->method->client_streaming && !symbol->method->server_streaming;
}

static void put_responses(struct printer *printer, const struct symbol *method)
{
    buf_put_text(printer->out, "\"responses\":{\"200\":{\"description\":\"The answer.\","
                               "\"content\":{\"application/json\":{\"schema\":");
    put_reference(printer, method->method->output_type);
    buf_put_text(printer->out, "}}},\"default\":{\"$ref\":\"#/components/responses/Error\"}}");
}

static void put_method(struct printer *printer, const struct symbol *symbol)
{
    struct buf *out = printer->out;
    const char *dot = strrchr(symbol->name, '.');
    int service_size = (int)(dot - symbol->name);

    buf_printf(out, "\"/%.*s/%s\":{\"post\":{\"operationId\":\"%s\",\"tags\":[\"%.*s\"],",
               service_size, symbol->name, dot + 1, symbol->name, service_size, symbol->name);
    put_description(out, comment_of(printer, symbol, 0, 0));
    buf_put_text(out, "\"requestBody\":{\"required\":true,\"content\":{\"application/json\":"
                      "{\"schema\":");
    put_reference(printer, symbol->method->input_type);
    buf_put_text(out, "}}},");
    put_responses(printer, symbol);
    buf_put_text(out, "}}");
}

/* The field behind the prefix is a part of the path, the others are the query's. */
static void put_parameter(struct printer *printer, const struct symbol *message, size_t index,
                          struct bytes path_field)
{
    const Google__Protobuf__FieldDescriptorProto *field = message->message->field[index];
    const char *name = field->json_name ? field->json_name : field->name;
    bool is_path = bytes_equal_text(path_field, name);

    buf_put_text(printer->out, "{\"name\":");
    text_put_json(printer->out, bytes_of(name));
    buf_put_text(printer->out,
                 is_path ? ",\"in\":\"path\",\"required\":true," : ",\"in\":\"query\",");
    put_description(printer->out, comment_of(printer, message, MESSAGE_FIELD, index));
    buf_put_text(printer->out, "\"schema\":");
    put_field_schema(printer, field);
    buf_put_byte(printer->out, '}');
}

static int put_get(struct printer *printer, const struct get_address *get, struct err *err)
{
    struct buf *out = printer->out;
    struct buf name = BUF_INIT(256);
    const struct symbol *method, *request = NULL;
    int service_size;

    buf_put(&name, bytes_skip(get->method, 1)); /* "/torg.v1.Service/Method" */
    for (size_t i = 0; i < name.size; i++)
        name.data[i] = name.data[i] == '/' ? '.' : name.data[i];
    method = descriptors_find(&printer->descriptors, buf_text(&name));
    buf_release(&name);
    if (method && method->kind == SYMBOL_METHOD)
        request = descriptors_find(&printer->descriptors, method->method->input_type);
    if (!request)
        return err_set(err, ERR_INVALID, "the address %.*s is of a method that is not there: %.*s",
                       BYTES_ARG(get->prefix), BYTES_ARG(get->method));
    service_size = (int)(strrchr(method->name, '.') - method->name);
    buf_printf(out, ",\"%.*s{%.*s}\":{\"get\":{\"operationId\":\"%s.get\",\"tags\":[\"%.*s\"],",
               BYTES_ARG(get->prefix), BYTES_ARG(get->field), method->name, service_size,
               method->name);
    put_description(out, comment_of(printer, method, 0, 0));
    buf_put_text(out, "\"parameters\":[");
    for (size_t i = 0; i < request->message->n_field; i++) {
        if (i)
            buf_put_byte(out, ',');
        put_parameter(printer, request, i, get->field);
    }
    buf_put_text(out, "],");
    put_responses(printer, method);
    buf_put_text(out, "}}");
    return 0;
}

/* How errors look, and how a caller says who it is: of the server, not of any .proto. */
static const char common[] =
    "\"securitySchemes\":{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
    "\"responses\":{\"Error\":{\"description\":\"What was refused, and why.\",\"content\":"
    "{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Error\"}}}}},"
    "\"schemas\":{\"Error\":{\"type\":\"object\",\"properties\":{"
    "\"code\":{\"type\":\"string\",\"description\":\"The gRPC status in lower case.\","
    "\"example\":\"invalid_argument\"},\"message\":{\"type\":\"string\"},"
    "\"details\":{\"type\":\"array\",\"description\":\"The fields at fault.\",\"items\":"
    "{\"type\":\"object\",\"properties\":{\"field\":{\"type\":\"string\"},"
    "\"reason\":{\"type\":\"string\"}}}}},\"required\":[\"code\",\"message\"]}";

static int put_document(struct printer *printer, const struct gets *gets, struct err *err)
{
    struct buf *out = printer->out;
    bool first = true;
    int rc = 0;
    size_t i;

    buf_put_text(out,
                 "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"Torg\",\"version\":\"" TORG_VERSION
                 "\"},\"security\":[{\"bearer\":[]}],\"paths\":{");
    for (i = 0; i < printer->descriptors.symbol_count; i++) {
        if (!is_listed(&printer->descriptors.symbols[i]))
            continue;
        if (!first)
            buf_put_byte(out, ',');
        first = false;
        put_method(printer, &printer->descriptors.symbols[i]);
    }
    for (i = 0; gets && i < gets->count && !rc; i++)
        rc = put_get(printer, &gets->list[i], err);
    buf_put_text(out, "},\"components\":{");
    buf_put_text(out, common);
    for (i = 0; i < printer->wanted_count; i++) { /* grows while it is walked */
        buf_put_byte(out, ',');
        put_schema(printer, printer->wanted[i]);
    }
    buf_put_text(out, "}}}\n");
    return rc;
}

int openapi_print(const struct bytes *descriptor_sets, size_t count, const struct gets *gets,
                  struct buf *out, struct err *err)
{
    struct arena *arena = arena_new();
    struct printer printer = {.out = out};
    int rc = descriptors_load(descriptor_sets, count, arena, &printer.descriptors, err);

    if (!rc) {
        printer.wanted =
            arena_array(arena, printer.descriptors.symbol_count, sizeof(*printer.wanted));
        rc = put_document(&printer, gets, err);
    }
    arena_free(arena);
    return rc;
}

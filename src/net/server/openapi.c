/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.c - see openapi.h.
 *
 * Paths first, noting every type they mention; then the schemas of those types, which note the
 * types they mention, until none is new. Schemas follow the JSON mapping of json.h.
 */
#include "net/server/openapi.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "codec/descriptors.h"
#include "codec/message.h"
#include "net/server/openapi_parts.h"
#include "net/server/routes/router.h"
#include "torg/v1/limits.pb-c.h"

/* Field numbers of descriptor.proto that paths continue with. */
enum { MESSAGE_FIELD = 2 };

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

/* A line "Example: {…}" of a method's comment is its request's example. */
static struct bytes example_of(struct bytes comment)
{
    static const char mark[] = "Example: ";
    const uint8_t *at =
        comment.size ? memmem(comment.data, comment.size, mark, strlen(mark)) : NULL;

    return at ? bytes_skip(comment, (size_t)(at - comment.data)) : BYTES_EMPTY;
}

/* A comment's lines begin with the blank after the slashes; a description has none there. */
static void put_description(struct buf *out, struct bytes comment)
{
    struct buf text = BUF_INIT(out->limit);
    size_t i;

    comment.size -= example_of(comment).size;
    while (comment.size && strchr(" \n", comment.data[comment.size - 1]))
        comment.size--;
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

static void want(struct printer *printer, const struct symbol *symbol)
{
    for (size_t i = 0; i < printer->wanted_count; i++)
        if (printer->wanted[i] == symbol)
            return;
    printer->wanted[printer->wanted_count++] = symbol;
}

static void put_reference(struct printer *printer, const char *name)
{
    const struct symbol *symbol = descriptors_find(&printer->descriptors, name);

    if (!symbol) {
        buf_put_text(printer->out, "{}");
        return;
    }
    want(printer, symbol);
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

/* --- limits --- */

enum { FIELD_LIMITS = 50817 }; /* torg/v1/limits.proto: protobuf-c knows no extensions */

/* What [(limits)…] of a field says; its parts may stand apart, and are one message together. */
static const Torg__V1__FieldLimits *limits_of(const struct printer *printer,
                                              const Google__Protobuf__FieldDescriptorProto *field)
{
    const ProtobufCMessage *options = field->options ? &field->options->base : NULL;
    struct buf wire = BUF_INIT(printer->out->limit);
    ProtobufCMessage *limits = NULL;
    struct err err;

    for (size_t i = 0; options && i < options->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *one = &options->unknown_fields[i];
        struct bytes bytes = bytes_make(one->data, one->len);

        if (one->tag != FIELD_LIMITS || one->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
            continue;
        while (bytes.size && bytes.data[0] & 0x80) /* the length, which is that of the rest */
            bytes = bytes_skip(bytes, 1);
        buf_put(&wire, bytes_skip(bytes, 1));
    }
    if (wire.size)
        message_decode(buf_bytes(&wire), &torg__v1__field_limits__descriptor, printer->arena,
                       &limits, &err);
    buf_release(&wire);
    return (const Torg__V1__FieldLimits *)limits;
}

static bool is_number(const Google__Protobuf__FieldDescriptorProto *field)
{
    return strstr(scalar_schema(field->type), "\"integer\"") ||
           strstr(scalar_schema(field->type), "\"number\"");
}

/* A schema of the type's own, and behind it what is allowed of it. */
static void put_limited(struct printer *printer,
                        const Google__Protobuf__FieldDescriptorProto *field)
{
    static const char of_type[] = ",\"minimum\":0,\"maximum\":4294967295";
    const Torg__V1__FieldLimits *limits = limits_of(printer, field);
    const char *schema = scalar_schema(field->type);
    const char *cut = limits && limits->maximum ? strstr(schema, of_type) : NULL;

    buf_put(printer->out, bytes_make(schema, cut ? (size_t)(cut - schema) : strlen(schema) - 1));
    if (limits && is_number(field) && (limits->minimum || limits->maximum))
        buf_printf(printer->out, ",\"minimum\":%jd,\"maximum\":%jd", (intmax_t)limits->minimum,
                   (intmax_t)limits->maximum);
    if (limits && limits->length_max)
        buf_printf(printer->out, ",\"maxLength\":%u", limits->length_max);
    if (limits && *limits->pattern) {
        buf_put_text(printer->out, ",\"pattern\":");
        text_put_json(printer->out, bytes_of(limits->pattern));
    }
    buf_put_byte(printer->out, '}');
}

/* One value of the field, whether it is a list or not. */
static void put_value_schema(struct printer *printer,
                             const Google__Protobuf__FieldDescriptorProto *field)
{
    const char *schema;

    if (!field->type_name || !field->type_name[0]) {
        put_limited(printer, field);
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
        const Torg__V1__FieldLimits *limits = limits_of(printer, field);

        buf_put_text(printer->out, "{\"type\":\"array\",\"items\":");
        put_value_schema(printer, field);
        if (limits && limits->required)
            buf_put_text(printer->out, ",\"minItems\":1");
        if (limits && limits->count_max)
            buf_printf(printer->out, ",\"maxItems\":%u", limits->count_max);
        buf_put_byte(printer->out, '}');
    }
}

/* Of version 3.0 a $ref takes no description beside it, hence allOf around it; other schemas do. */
static void put_property(struct printer *printer, const struct symbol *message, size_t index)
{
    const Google__Protobuf__FieldDescriptorProto *field = message->message->field[index];
    struct bytes comment = comment_of(printer, message, MESSAGE_FIELD, index);
    struct buf *out = printer->out;
    struct buf schema = BUF_INIT(out->limit);
    bool is_reference;

    text_put_json(out, bytes_of(field->json_name ? field->json_name : field->name));
    buf_put_byte(out, ':');
    if (!comment.size) {
        put_field_schema(printer, field);
        return;
    }
    printer->out = &schema;
    put_field_schema(printer, field);
    printer->out = out;
    is_reference = bytes_begin(buf_bytes(&schema), bytes_of("{\"$ref\""));
    buf_put_byte(out, '{');
    put_description(out, comment);
    if (is_reference)
        buf_printf(out, "\"allOf\":[%s]}", buf_text(&schema));
    else
        buf_put(out, bytes_skip(buf_bytes(&schema), 1));
    buf_release(&schema);
}

/* Whether answers always have the field: as json_encode_answer writes them. */
static bool is_always_there(const Google__Protobuf__FieldDescriptorProto *field)
{
    if (field->label == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED)
        return true;
    return !field->has_oneof_index &&
           field->type != GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_STRING &&
           field->type != GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_BYTES &&
           field->type != GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_MESSAGE;
}

static bool is_demanded(const struct printer *printer,
                        const Google__Protobuf__FieldDescriptorProto *field)
{
    const Torg__V1__FieldLimits *limits = limits_of(printer, field);

    return limits && limits->required;
}

/* What is part of a request, too, may be left out there, unless its limits say otherwise. */
static void put_required(struct printer *printer, const struct symbol *symbol, bool is_asked)
{
    const char *before = ",\"required\":[";

    for (size_t i = 0; i < symbol->message->n_field; i++) {
        const Google__Protobuf__FieldDescriptorProto *field = symbol->message->field[i];

        if (is_asked ? !is_demanded(printer, field) : !is_always_there(field))
            continue;
        buf_put_text(printer->out, before);
        text_put_json(printer->out, bytes_of(field->json_name ? field->json_name : field->name));
        before = ",";
    }
    if (*before == ',' && !before[1])
        buf_put_byte(printer->out, ']');
}

static void put_schema(struct printer *printer, const struct symbol *symbol, bool is_asked)
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
    buf_put_byte(out, '}');
    put_required(printer, symbol, is_asked);
    buf_put_byte(out, '}');
}

/* --- methods --- */

/* By JSON, which takes one message. */
static bool is_listed(const struct symbol *symbol)
{
    return symbol->kind == SYMBOL_METHOD && strncmp(symbol->name, "torg.", 5) == 0 &&
           !symbol->method->client_streaming;
}

/* The handler's flags; 0 when no service of this process has the method. */
static unsigned flags_of(const struct printer *printer, const struct symbol *symbol)
{
    const struct openapi_source *source = printer->source;
    const char *dot = strrchr(symbol->name, '.');
    struct bytes name = bytes_make(symbol->name, (size_t)(dot - symbol->name));

    for (size_t i = 0; i < source->service_count; i++)
        if (bytes_equal_text(name, source->services[i]->descriptor->name)) {
            const struct rpc_method *method = service_method(source->services[i], dot + 1);

            return method ? method->flags : 0;
        }
    return 0;
}

void openapi_put_security(struct printer *printer, unsigned flags)
{
    if (flags & RPC_PUBLIC)
        buf_put_text(printer->out, "\"security\":[],");
}

void openapi_put_path(struct printer *printer, const char *format, ...)
{
    va_list args;

    buf_put_text(printer->out, printer->is_first ? "\"" : ",\"");
    printer->is_first = false;
    va_start(args, format);
    buf_vprintf(printer->out, format, args);
    va_end(args);
    buf_put_text(printer->out, "\":{");
}

static void put_responses(struct printer *printer, const struct symbol *method)
{
    bool is_stream = method->method->server_streaming;

    buf_printf(printer->out,
               "\"responses\":{\"200\":{\"description\":\"%s\",\"content\":{\"%s\":{\"schema\":",
               is_stream ? "The answers, one per line." : "The answer.",
               is_stream ? "application/x-ndjson" : "application/json");
    put_reference(printer, method->method->output_type);
    buf_put_text(printer->out, "}}},\"default\":{\"$ref\":\"#/components/responses/Error\"}}");
}

static void put_method(struct printer *printer, const struct symbol *symbol)
{
    struct buf *out = printer->out;
    const char *dot = strrchr(symbol->name, '.');
    int service_size = (int)(dot - symbol->name);
    struct bytes comment = comment_of(printer, symbol, 0, 0);
    struct bytes example = example_of(comment);

    openapi_put_path(printer, "/%.*s/%s", service_size, symbol->name, dot + 1);
    buf_printf(out, "\"post\":{\"operationId\":\"%s\",\"tags\":[\"%.*s\"],", symbol->name,
               service_size, symbol->name);
    openapi_put_security(printer, flags_of(printer, symbol));
    put_description(out, comment);
    buf_put_text(out, "\"requestBody\":{\"required\":true,\"content\":{\"application/json\":"
                      "{\"schema\":");
    put_reference(printer, symbol->method->input_type);
    if (example.size)
        buf_printf(out, ",\"example\":%.*s", BYTES_ARG(bytes_skip(example, strlen("Example: "))));
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
    openapi_put_path(printer, "%.*s{%.*s}", BYTES_ARG(get->prefix), BYTES_ARG(get->field));
    buf_printf(out, "\"get\":{\"operationId\":\"%s.get\",\"tags\":[\"%.*s\"],", method->name,
               service_size, method->name);
    openapi_put_security(printer, flags_of(printer, method));
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

/* --- the whole --- */

/* How errors look, and how a caller says who it is: of the server, not of any .proto. */
static const char common[] =
    "\"securitySchemes\":{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
    "\"responses\":{\"Error\":{\"description\":\"What was refused, and why.\",\"content\":"
    "{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Error\"}}}}},"
    "\"schemas\":{\"Error\":{\"type\":\"object\",\"properties\":{"
    "\"code\":{\"type\":\"string\",\"description\":\"The gRPC status in lower case.\","
    "\"example\":\"invalid_argument\"},\"message\":{\"type\":\"string\"},"
    "\"details\":{\"type\":\"array\",\"description\":\"Messages of google.rpc: the fields at fault "
    "(BadRequest), when to come back (RetryInfo).\",\"items\":"
    "{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\",\"example\":"
    "\"google.rpc.BadRequest\"},\"value\":{\"type\":\"string\",\"description\":\"The message in "
    "base64, not padded.\"},\"debug\":{\"type\":\"object\",\"description\":\"The message as "
    "JSON.\",\"properties\":{\"fieldViolations\":{\"type\":\"array\",\"items\":{\"type\":"
    "\"object\",\"properties\":{\"field\":{\"type\":\"string\"},\"description\":{\"type\":"
    "\"string\"}}}},\"retryDelay\":{\"type\":\"string\"}}}},\"required\":[\"type\",\"value\"]}}},"
    "\"required\":[\"code\",\"message\"]}";

static bool is_special(const char *type_name)
{
    return special_schema(type_name) != NULL;
}

/* Types that requests are made of come first among the wanted. */
static void find_asked(struct printer *printer)
{
    for (size_t i = 0; i < printer->descriptors.symbol_count; i++)
        if (is_listed(&printer->descriptors.symbols[i])) {
            const Google__Protobuf__MethodDescriptorProto *method =
                printer->descriptors.symbols[i].method;

            want(printer, descriptors_find(&printer->descriptors, method->input_type));
        }
    for (size_t i = 0; i < printer->wanted_count; i++) { /* grows while it is walked */
        const struct symbol *symbol = printer->wanted[i];

        for (size_t k = 0; symbol->kind == SYMBOL_MESSAGE && k < symbol->message->n_field; k++) {
            const char *name = symbol->message->field[k]->type_name;
            const struct symbol *type = NULL;

            if (name && *name && !is_special(name))
                type = descriptors_find(&printer->descriptors, name);
            if (type && type->kind == SYMBOL_MESSAGE && type->message->options &&
                type->message->options->map_entry) {
                name = type->message->field[1]->type_name;
                type = name && *name && !is_special(name)
                           ? descriptors_find(&printer->descriptors, name)
                           : NULL;
            }
            if (type)
                want(printer, type);
        }
    }
    printer->asked_count = printer->wanted_count;
}

static int put_paths(struct printer *printer, struct err *err)
{
    const struct openapi_source *source = printer->source;
    int rc = 0;

    printer->is_first = true;
    for (size_t i = 0; i < printer->descriptors.symbol_count; i++)
        if (is_listed(&printer->descriptors.symbols[i]))
            put_method(printer, &printer->descriptors.symbols[i]);
    for (size_t i = 0; source->gets && i < source->gets->count && !rc; i++)
        rc = put_get(printer, &source->gets->list[i], err);
    for (size_t i = 0; i < source->folder_count; i++)
        openapi_put_folder(printer, source->folders[i]);
    for (size_t i = 0; source->resources && i < source->resources->count; i++)
        openapi_put_resource(printer, source->resources, i);
    return rc;
}

static int put_document(struct printer *printer, struct err *err)
{
    struct buf *out = printer->out;
    int rc;

    find_asked(printer);
    buf_put_text(out,
                 "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"Torg\",\"version\":\"" TORG_VERSION
                 "\"},\"servers\":[{\"url\":\"/\"}],\"security\":[{\"bearer\":[]}],\"paths\":{");
    rc = put_paths(printer, err);
    buf_put_text(out, "},\"components\":{");
    buf_put_text(out, common);
    for (size_t i = 0; i < printer->wanted_count; i++) { /* grows while it is walked */
        buf_put_byte(out, ',');
        put_schema(printer, printer->wanted[i], i < printer->asked_count);
    }
    buf_put_text(out, "}}}\n");
    return rc;
}

int openapi_print(const struct openapi_source *source, struct buf *out, struct err *err)
{
    struct arena *arena = arena_new();
    struct printer printer = {.out = out, .source = source, .arena = arena};
    int rc = descriptors_load(source->sets, source->set_count, arena, &printer.descriptors, err);

    if (!rc) {
        printer.wanted =
            arena_array(arena, printer.descriptors.symbol_count, sizeof(*printer.wanted));
        rc = put_document(&printer, err);
    }
    arena_free(arena);
    return rc;
}

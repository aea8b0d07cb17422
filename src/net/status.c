/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - see status.h. One row a gRPC status; the HTTP column is Connect's mapping. */
#include "net/status.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "google/protobuf/any.pb-c.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"

struct row {
    const char *name;
    const char *json_name;
    int http;
};

static const struct row rows[STATUS_COUNT] = {
    {"OK", "ok", 200},
    {"CANCELLED", "canceled", 499},
    {"UNKNOWN", "unknown", 500},
    {"INVALID_ARGUMENT", "invalid_argument", 400},
    {"DEADLINE_EXCEEDED", "deadline_exceeded", 504},
    {"NOT_FOUND", "not_found", 404},
    {"ALREADY_EXISTS", "already_exists", 409},
    {"PERMISSION_DENIED", "permission_denied", 403},
    {"RESOURCE_EXHAUSTED", "resource_exhausted", 429},
    {"FAILED_PRECONDITION", "failed_precondition", 400},
    {"ABORTED", "aborted", 409},
    {"OUT_OF_RANGE", "out_of_range", 400},
    {"UNIMPLEMENTED", "unimplemented", 501},
    {"INTERNAL", "internal", 500},
    {"UNAVAILABLE", "unavailable", 503},
    {"DATA_LOSS", "data_loss", 500},
    {"UNAUTHENTICATED", "unauthenticated", 401},
};

/* By -err_code. A stale owner's caller reads again and finds the new owner: ABORTED too. */
static const uint8_t by_err[] = {
    [0] = 0,
    [-ERR_INVALID] = 3,
    [-ERR_NOT_FOUND] = 5,
    [-ERR_EXISTS] = 6,
    [-ERR_DENIED] = 7,
    [-ERR_UNAUTHENTICATED] = 16,
    [-ERR_LIMIT] = 8,
    [-ERR_PRECONDITION] = 9,
    [-ERR_CONFLICT] = 10,
    [-ERR_RANGE] = 11,
    [-ERR_UNSUPPORTED] = 12,
    [-ERR_INTERNAL] = 13,
    [-ERR_UNAVAILABLE] = 14,
    [-ERR_CORRUPT] = 15,
    [-ERR_TIMEOUT] = 4,
    [-ERR_CANCELLED] = 1,
    [-ERR_STALE] = 10,
};

int status_of_err(int err_code)
{
    size_t at = err_code > 0 ? ARRAY_COUNT(by_err) : (size_t)-err_code;

    return at < ARRAY_COUNT(by_err) ? by_err[at] : STATUS_UNKNOWN;
}

int err_of_status(int status)
{
    for (size_t i = 1; i < ARRAY_COUNT(by_err); i++)
        if (by_err[i] == status)
            return -(int)i;
    return ERR_INTERNAL;
}

int status_of_json_name(const char *name)
{
    for (int status = 0; status < STATUS_COUNT; status++)
        if (strcmp(rows[status].json_name, name) == 0)
            return status;
    return STATUS_UNKNOWN;
}

int status_http(int status)
{
    assert(status >= 0 && status < STATUS_COUNT);
    return rows[status].http;
}

const char *status_name(int status)
{
    assert(status >= 0 && status < STATUS_COUNT);
    return rows[status].name;
}

const char *status_json_name(int status)
{
    assert(status >= 0 && status < STATUS_COUNT);
    return rows[status].json_name;
}

const char *status_http_reason(int http_status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {204, "No Content"},
        {206, "Partial Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {416, "Range Not Satisfiable"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {499, "Client Closed Request"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(reasons); i++)
        if (reasons[i].status == http_status)
            return reasons[i].reason;
    return "Status";
}

/* Texts may quote what a client sent: what is not UTF-8 is shown as '?'. */
static char *clean(const char *text, struct arena *arena)
{
    char *copy;

    if (text_is_utf8(bytes_of(text)))
        return (char *)text;
    copy = arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        *at = (unsigned char)*at < 0x80 ? *at : '?';
    return copy;
}

/* The details of an error: what google.rpc.Status, and Connect's JSON, are made of. */
struct details {
    size_t count;
    struct detail {
        const char *type;
        const ProtobufCMessage *message;
    } list[2];
};

static void add_fields(struct details *details, const struct violations *violations,
                       struct arena *arena)
{
    Google__Rpc__BadRequest *bad = arena_alloc(arena, sizeof(*bad));

    google__rpc__bad_request__init(bad);
    bad->field_violations = arena_array(arena, violations->count, sizeof(*bad->field_violations));
    for (const struct violation *v = violations->first; v; v = v->next) {
        Google__Rpc__BadRequest__FieldViolation *field = arena_alloc(arena, sizeof(*field));

        google__rpc__bad_request__field_violation__init(field);
        field->field = clean(v->field, arena);
        field->description = clean(v->reason, arena);
        bad->field_violations[bad->n_field_violations++] = field;
    }
    details->list[details->count++] = (struct detail){"google.rpc.BadRequest", &bad->base};
}

static struct details make_details(const struct violations *violations, unsigned retry_after_s,
                                   struct arena *arena)
{
    struct details details = {0};
    Google__Rpc__RetryInfo *retry;

    if (violations && violations->first)
        add_fields(&details, violations, arena);
    if (retry_after_s) {
        retry = arena_alloc(arena, sizeof(*retry));
        google__rpc__retry_info__init(retry);
        retry->retry_delay = arena_alloc(arena, sizeof(*retry->retry_delay));
        google__protobuf__duration__init(retry->retry_delay);
        retry->retry_delay->seconds = retry_after_s;
        details.list[details.count++] = (struct detail){"google.rpc.RetryInfo", &retry->base};
    }
    return details;
}

static struct bytes pack(const ProtobufCMessage *message, struct arena *arena)
{
    uint8_t *packed = arena_alloc(arena, protobuf_c_message_get_packed_size(message) + 1);

    return bytes_make(packed, protobuf_c_message_pack(message, packed));
}

struct bytes status_pack(int status, const char *text, const struct violations *violations,
                         unsigned retry_after_s, struct arena *arena)
{
    struct details details = make_details(violations, retry_after_s, arena);
    Google__Rpc__Status message = GOOGLE__RPC__STATUS__INIT;
    Google__Protobuf__Any any[ARRAY_COUNT(details.list)];
    Google__Protobuf__Any *list[ARRAY_COUNT(details.list)];

    message.code = status;
    message.message = clean(text, arena);
    message.details = list;
    for (; message.n_details < details.count; message.n_details++) {
        const struct detail *detail = &details.list[message.n_details];
        struct bytes value = pack(detail->message, arena);
        Google__Protobuf__Any *one = list[message.n_details] = &any[message.n_details];

        google__protobuf__any__init(one);
        one->type_url = arena_printf(arena, "type.googleapis.com/%s", detail->type);
        one->value = (ProtobufCBinaryData){value.size, (uint8_t *)value.data};
    }
    return pack(&message.base, arena);
}

static void put_detail(struct buf *out, const struct detail *detail, struct arena *arena)
{
    buf_printf(out, "{\"type\":\"%s\",\"value\":\"", detail->type);
    text_put_base64(out, pack(detail->message, arena));
    while (!buf_failed(out) && out->data[out->size - 1] == '=')
        buf_truncate(out, out->size - 1);
    buf_put_text(out, "\",\"debug\":");
    json_encode(detail->message, out);
    buf_put_byte(out, '}');
}

void status_put_json(struct buf *out, int status, const char *text,
                     const struct violations *violations, unsigned retry_after_s)
{
    struct arena *arena = arena_new();
    struct details details = make_details(violations, retry_after_s, arena);

    buf_printf(out, "{\"code\":\"%s\",\"message\":", status_json_name(status));
    text_put_json(out, bytes_of(clean(text, arena)));
    for (size_t i = 0; i < details.count; i++) {
        buf_put_text(out, i ? "," : ",\"details\":[");
        put_detail(out, &details.list[i], arena);
    }
    buf_put_text(out, details.count ? "]}" : "}");
    arena_free(arena);
}

struct bytes status_message(const char *text, struct arena *arena)
{
    size_t size = strlen(text);
    char *encoded = arena_alloc(arena, size * 3 + 1);
    size_t used = 0;

    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= ' ' && c <= '~' && c != '%')
            encoded[used++] = (char)c;
        else
            used += (size_t)snprintf(encoded + used, 4, "%%%02X", c);
    }
    return bytes_make(encoded, used);
}

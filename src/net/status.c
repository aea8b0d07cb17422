/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - see status.h. One row a gRPC status; the HTTP column is Connect's mapping. */
#include "net/status.h"

#include <assert.h>
#include <stdio.h>

#include "base/err.h"
#include "base/memory.h"
#include "base/text.h"
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

static Google__Protobuf__Any *pack_any(const char *type, const ProtobufCMessage *detail,
                                       struct arena *arena)
{
    Google__Protobuf__Any *any = arena_alloc(arena, sizeof(*any));

    google__protobuf__any__init(any);
    any->type_url = arena_printf(arena, "type.googleapis.com/%s", type);
    any->value.len = protobuf_c_message_get_packed_size(detail);
    any->value.data = arena_alloc(arena, any->value.len + 1);
    protobuf_c_message_pack(detail, any->value.data);
    return any;
}

static Google__Protobuf__Any *pack_fields(const struct violations *violations, struct arena *arena)
{
    Google__Rpc__BadRequest bad = GOOGLE__RPC__BAD_REQUEST__INIT;
    size_t kept = 0;

    bad.field_violations = arena_array(arena, violations->count, sizeof(*bad.field_violations));
    for (const struct violation *v = violations->first; v; v = v->next) {
        Google__Rpc__BadRequest__FieldViolation *field = arena_alloc(arena, sizeof(*field));

        google__rpc__bad_request__field_violation__init(field);
        field->field = (char *)v->field;
        field->description = (char *)v->reason;
        bad.field_violations[kept++] = field;
    }
    bad.n_field_violations = kept;
    return pack_any("google.rpc.BadRequest", &bad.base, arena);
}

struct bytes status_pack(int status, const char *text, const struct violations *violations,
                         unsigned retry_after_s, struct arena *arena)
{
    Google__Rpc__Status message = GOOGLE__RPC__STATUS__INIT;
    Google__Rpc__RetryInfo retry = GOOGLE__RPC__RETRY_INFO__INIT;
    Google__Protobuf__Duration delay = GOOGLE__PROTOBUF__DURATION__INIT;
    Google__Protobuf__Any *details[2];
    uint8_t *packed;

    message.code = status;
    message.message = (char *)text;
    message.details = details;
    if (violations && violations->first)
        details[message.n_details++] = pack_fields(violations, arena);
    if (retry_after_s) {
        delay.seconds = retry_after_s;
        retry.retry_delay = &delay;
        details[message.n_details++] = pack_any("google.rpc.RetryInfo", &retry.base, arena);
    }
    packed = arena_alloc(arena, google__rpc__status__get_packed_size(&message) + 1);
    return bytes_make(packed, google__rpc__status__pack(&message, packed));
}

/* Texts may quote what a client sent: what is not UTF-8 is shown as '?'. */
static void put_text(struct buf *out, const char *text)
{
    struct buf clean = BUF_INIT(ERR_TEXT_SIZE);

    if (text_is_utf8(bytes_of(text))) {
        text_put_json(out, bytes_of(text));
        return;
    }
    for (size_t i = 0; i < ERR_TEXT_SIZE && text[i]; i++)
        buf_put_byte(&clean, (unsigned char)text[i] < 0x80 ? (uint8_t)text[i] : '?');
    text_put_json(out, buf_bytes(&clean));
    buf_release(&clean);
}

void status_put_json(struct buf *out, int status, const char *text,
                     const struct violations *violations)
{
    buf_printf(out, "{\"code\":\"%s\",\"message\":", status_json_name(status));
    put_text(out, text);
    if (violations && violations->first) {
        buf_put_text(out, ",\"details\":[");
        for (const struct violation *v = violations->first; v; v = v->next) {
            buf_put_text(out, v == violations->first ? "{\"field\":" : ",{\"field\":");
            put_text(out, v->field);
            buf_put_text(out, ",\"reason\":");
            put_text(out, v->reason);
            buf_put_byte(out, '}');
        }
        buf_put_byte(out, ']');
    }
    buf_put_byte(out, '}');
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

/* SPDX-License-Identifier: Apache-2.0 */
/* json_scalar.c - single JSON values into fields; see json_reader.h. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "codec/json_reader.h"
#include "codec/json_value.h"
#include "codec/message.h"
#include "google/protobuf/duration.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"

enum { ENUM_NAME_SIZE_MAX = 128, NAMES_TOLD_MAX = 8 };

static bool expected(struct json_reader *reader, const char *what, struct json_token token)
{
    struct bytes text = json_clip(token.text);
    const char *quote = token.kind == JSON_TOKEN_STRING ? "\"" : "";

    return json_reject(reader, "expected %s, got %s%.*s%s", what, quote, BYTES_ARG(text), quote);
}

/* An integer token within [-low, high]. */
static bool integer(struct json_reader *reader, struct json_token token, const char *what,
                    uint64_t low, uint64_t high, int64_t *value)
{
    bool negative;
    uint64_t magnitude;

    if (token.kind == JSON_TOKEN_BOOL || !json_integer(token.text, &negative, &magnitude) ||
        magnitude > (negative ? low : high))
        return expected(reader, what, token);
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

static bool real(struct json_reader *reader, struct json_token token, bool narrow,
                 union json_scalar *value)
{
    double number;

    if (token.kind == JSON_TOKEN_BOOL || !json_double(token.text, &number))
        return expected(reader, "a number that fits a double, \"NaN\" or \"Infinity\"", token);
    if (!narrow) {
        value->real64 = number;
        return true;
    }
    /* A number just above FLT_MAX still rounds to it; one that becomes infinite does not fit. */
    value->real32 = (float)number;
    if (isfinite(number) && !isfinite(value->real32))
        return expected(reader, "a number that fits a float", token);
    return true;
}

static bool text(struct json_reader *reader, struct json_token token, char **value)
{
    if (token.kind != JSON_TOKEN_STRING)
        return expected(reader, "a string", token);
    if (token.text.size && memchr(token.text.data, 0, token.text.size))
        return json_reject(reader, "the text holds U+0000, which is not allowed");
    if (!json_account(reader, token.text.size + 1))
        return false;
    *value = arena_text(reader->arena, token.text);
    return true;
}

static bool binary(struct json_reader *reader, struct json_token token, ProtobufCBinaryData *value)
{
    struct buf decoded = BUF_INIT(token.text.size);
    bool good = false;

    if (token.kind != JSON_TOKEN_STRING || !text_from_base64(token.text, &decoded)) {
        expected(reader, "base64", token);
    } else if (json_account(reader, decoded.size)) {
        value->len = decoded.size;
        value->data =
            decoded.size ? (uint8_t *)arena_copy(reader->arena, buf_bytes(&decoded)).data : NULL;
        good = true;
    }
    buf_release(&decoded);
    return good;
}

static bool unknown_name(struct json_reader *reader, const ProtobufCEnumDescriptor *type,
                         struct bytes name)
{
    struct buf names = BUF_INIT(1024);
    unsigned i;
    struct bytes clipped = json_clip(name);

    for (i = 0; i < type->n_values && i < NAMES_TOLD_MAX; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", type->values[i].name);
    json_reject(reader, "\"%.*s\" is not a %s; known: %s%s", BYTES_ARG(clipped), type->short_name,
                buf_text(&names), type->n_values > NAMES_TOLD_MAX ? ", …" : "");
    buf_release(&names);
    return false;
}

static bool enumerated(struct json_reader *reader, const ProtobufCEnumDescriptor *type,
                       struct json_token token, int32_t *value)
{
    char name[ENUM_NAME_SIZE_MAX + 1];
    const ProtobufCEnumValue *found;
    int64_t number = 0;

    if (token.kind != JSON_TOKEN_STRING) {
        if (!integer(reader, token, "a name or an int32", (uint64_t)INT32_MAX + 1, INT32_MAX,
                     &number))
            return false;
        *value = (int32_t)number; /* numbers without a name are kept: the client may be newer */
        return true;
    }
    if (token.text.size > ENUM_NAME_SIZE_MAX ||
        (token.text.size && memchr(token.text.data, 0, token.text.size)))
        return unknown_name(reader, type, token.text);
    memcpy(name, token.text.data, token.text.size);
    name[token.text.size] = 0;
    found = protobuf_c_enum_descriptor_get_value_by_name(type, name);
    if (!found)
        return unknown_name(reader, type, token.text);
    *value = found->value;
    return true;
}

/* Timestamp and Duration: messages that are strings in JSON. */
static bool moment(struct json_reader *reader, const struct json_type *type,
                   struct json_token token, ProtobufCMessage **value)
{
    Google__Protobuf__Timestamp *time;
    Google__Protobuf__Duration *duration;
    int64_t seconds;
    int32_t nanos;
    bool is_time = type->kind == JSON_KIND_TIMESTAMP;

    if (!is_time && type->kind != JSON_KIND_DURATION)
        return expected(reader, "an object", token);
    if (token.kind != JSON_TOKEN_STRING ||
        !(is_time ? json_timestamp : json_duration)(token.text, &seconds, &nanos))
        return expected(reader,
                        is_time ? "a time as \"2026-11-15T08:41:26.5Z\"" : "a duration as \"1.5s\"",
                        token);
    if (!json_account(reader, type->descriptor->sizeof_message))
        return false;
    *value = message_new(type->descriptor, reader->arena);
    if (is_time) {
        time = (Google__Protobuf__Timestamp *)*value;
        time->seconds = seconds;
        time->nanos = nanos;
    } else {
        duration = (Google__Protobuf__Duration *)*value;
        duration->seconds = seconds;
        duration->nanos = nanos;
    }
    return true;
}

/* Integer fields; the value's width follows from the type. */
static bool number(struct json_reader *reader, ProtobufCType type, struct json_token token,
                   union json_scalar *value)
{
    int64_t number64 = 0;

    switch (type) {
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        if (!integer(reader, token, "an integer from 0 to 4294967295", 0, UINT32_MAX, &number64))
            return false;
        value->uint32 = (uint32_t)number64;
        return true;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return integer(reader, token, "an integer from 0 to 18446744073709551615", 0, UINT64_MAX,
                       &value->int64);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return integer(reader, token, "an integer from -9223372036854775808 to 9223372036854775807",
                       (uint64_t)INT64_MAX + 1, INT64_MAX, &value->int64);
    default:
        if (!integer(reader, token, "an integer from -2147483648 to 2147483647",
                     (uint64_t)INT32_MAX + 1, INT32_MAX, &number64))
            return false;
        value->int32 = (int32_t)number64;
        return true;
    }
}

bool json_scalar(struct json_reader *reader, const struct json_field *field,
                 struct json_token token, union json_scalar *value)
{
    switch (field->field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        if (token.kind != JSON_TOKEN_BOOL)
            return expected(reader, "true or false", token);
        value->truth = bytes_equal_text(token.text, "true");
        return true;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE:
        return real(reader, token, field->field->type == PROTOBUF_C_TYPE_FLOAT, value);
    case PROTOBUF_C_TYPE_ENUM:
        return enumerated(reader, field->field->descriptor, token, &value->int32);
    case PROTOBUF_C_TYPE_STRING:
        return text(reader, token, &value->text);
    case PROTOBUF_C_TYPE_BYTES:
        return binary(reader, token, &value->binary);
    case PROTOBUF_C_TYPE_MESSAGE:
        return moment(reader, field->type, token, &value->message);
    default:
        return number(reader, field->field->type, token, value);
    }
}

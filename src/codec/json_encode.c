/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_encode.c - messages as JSON, written straight into the buffer; see json.h.
 *
 * Recursion is as deep as the message, and ends at MESSAGE_DEPTH_MAX: no reader of ours would take
 * more. A message deeper than that fails the buffer.
 */
#include <string.h>

#include "base/text.h"
#include "codec/bounds.h"
#include "codec/json.h"
#include "codec/json_type.h"
#include "codec/json_value.h"
#include "codec/message.h"
#include "codec/message_field.h"
#include "google/protobuf/any.pb-c.h"
#include "google/protobuf/duration.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"

/* What is written, and whether values that are all zero are, too. */
struct writer {
    struct buf *out;
    bool zeros;
};

static void put_message(const struct writer *writer, const struct json_type *type,
                        const ProtobufCMessage *message, unsigned depth);

static void put_fields(const struct writer *writer, const struct json_type *type,
                       const ProtobufCMessage *message, bool first, unsigned depth);

static struct bytes text_at(const void *slot)
{
    const char *text = *(char *const *)slot;

    return text ? bytes_of(text) : BYTES_EMPTY;
}

static bool is_zero(ProtobufCType type, const void *slot)
{
    switch (type) {
    case PROTOBUF_C_TYPE_FLOAT:
        return *(const float *)slot == 0;
    case PROTOBUF_C_TYPE_DOUBLE:
        return *(const double *)slot == 0;
    case PROTOBUF_C_TYPE_STRING:
        return !*(char *const *)slot || !**(char *const *)slot;
    case PROTOBUF_C_TYPE_BYTES:
        return ((const ProtobufCBinaryData *)slot)->len == 0;
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void *const *)slot == NULL;
    default:
        if (field_value_size(type) == sizeof(uint64_t))
            return *(const uint64_t *)slot == 0;
        return *(const uint32_t *)slot == 0; /* protobuf_c_boolean is an int */
    }
}

static bool is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    _Static_assert(sizeof(protobuf_c_boolean) == sizeof(uint32_t), "is_zero reads it so");

    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return *field_count(message, field) > 0;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *field_case(message, field) == field->id;
    if (field_has_flag(field))
        return *(const protobuf_c_boolean *)((const uint8_t *)message + field->quantifier_offset);
    return !is_zero(field->type, field_member(message, field));
}

/* A list, a number, a truth or a name of an enumeration says something when it is none, 0, false or
 * the first; an empty text says no more than none. */
static bool zero_matters(const ProtobufCFieldDescriptor *field)
{
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return true;
    return !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) && !field_has_flag(field) &&
           field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_BYTES &&
           field->type != PROTOBUF_C_TYPE_MESSAGE;
}

static void put_enum(struct buf *out, const ProtobufCEnumDescriptor *type, int32_t number)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, number);

    if (!value) {
        json_put_i64(out, number);
        return;
    }
    buf_put_byte(out, '"');
    buf_put_text(out, value->name);
    buf_put_byte(out, '"');
}

static void put_value(const struct writer *writer, const struct json_field *field, const void *slot,
                      unsigned depth)
{
    const ProtobufCBinaryData *binary = slot;
    struct buf *out = writer->out;

    switch (field->field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        buf_put_text(out, *(const protobuf_c_boolean *)slot ? "true" : "false");
        return;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        json_put_i64(out, *(const int32_t *)slot);
        return;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        json_put_u64(out, *(const uint32_t *)slot);
        return;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        buf_put_byte(out, '"');
        json_put_i64(out, *(const int64_t *)slot);
        buf_put_byte(out, '"');
        return;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        buf_put_byte(out, '"');
        json_put_u64(out, *(const uint64_t *)slot);
        buf_put_byte(out, '"');
        return;
    case PROTOBUF_C_TYPE_FLOAT:
        json_put_float(out, *(const float *)slot);
        return;
    case PROTOBUF_C_TYPE_DOUBLE:
        json_put_double(out, *(const double *)slot);
        return;
    case PROTOBUF_C_TYPE_ENUM:
        put_enum(out, field->field->descriptor, *(const int32_t *)slot);
        return;
    case PROTOBUF_C_TYPE_STRING:
        json_put_text(out, text_at(slot));
        return;
    case PROTOBUF_C_TYPE_BYTES:
        buf_put_byte(out, '"');
        text_put_base64(out, bytes_make(binary->data, binary->len));
        buf_put_byte(out, '"');
        return;
    case PROTOBUF_C_TYPE_MESSAGE:
        put_message(writer, field->type, *(ProtobufCMessage *const *)slot, depth + 1);
        return;
    }
}

static void put_list(const struct writer *writer, const struct json_field *field,
                     const ProtobufCMessage *message, unsigned depth)
{
    struct buf *out = writer->out;
    const uint8_t *items = *(const uint8_t *const *)field_member(message, field->field);
    size_t size = field_value_size(field->field->type);
    size_t count = *field_count(message, field->field);
    size_t i;

    buf_put_byte(out, '[');
    for (i = 0; i < count && !buf_failed(out); i++) {
        if (i)
            buf_put_byte(out, ',');
        put_value(writer, field, items + i * size, depth);
    }
    buf_put_byte(out, ']');
}

void json_put_key(struct buf *out, const struct json_field *key, const ProtobufCMessage *entry)
{
    const struct writer writer = {.out = out};
    const void *slot = field_member(entry, key->field);
    ProtobufCType type = key->field->type;
    bool quoted = type == PROTOBUF_C_TYPE_STRING ||
                  (field_value_size(type) == sizeof(uint64_t)); /* quoted as values too */

    if (!quoted)
        buf_put_byte(out, '"');
    put_value(&writer, key, slot, 0);
    if (!quoted)
        buf_put_byte(out, '"');
}

static void put_map(const struct writer *writer, const struct json_field *field,
                    const ProtobufCMessage *message, unsigned depth)
{
    struct buf *out = writer->out;
    const struct json_field *pair = field->type->fields;
    ProtobufCMessage *const *items =
        *(ProtobufCMessage *const *const *)field_member(message, field->field);
    size_t count = *field_count(message, field->field);
    size_t i;

    buf_put_byte(out, '{');
    for (i = 0; i < count && !buf_failed(out); i++) {
        if (i)
            buf_put_byte(out, ',');
        json_put_key(out, &pair[0], items[i]);
        buf_put_byte(out, ':');
        put_value(writer, &pair[1], field_member(items[i], pair[1].field), depth + 1);
    }
    buf_put_byte(out, '}');
}

static void put_any(const struct writer *writer, const Google__Protobuf__Any *any, unsigned depth)
{
    struct buf *out = writer->out;
    const char *slash = any->type_url ? strrchr(any->type_url, '/') : NULL;
    const ProtobufCMessageDescriptor *type = slash ? json_type_any(bytes_of(slash + 1)) : NULL;
    struct bytes value = bytes_make(any->value.data, any->value.len);
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;

    buf_put_text(out, "{\"@type\":");
    json_put_text(out, text_at(&any->type_url));
    if (type && message_decode(value, type, arena, &message, NULL) == 0) {
        put_fields(writer, json_type_get(type), message, false, depth + 1);
    } else {
        buf_put_text(out, ",\"value\":\"");
        text_put_base64(out, value);
        buf_put_byte(out, '"');
    }
    buf_put_byte(out, '}');
    arena_free(arena);
}

/* Members without the braces. */
static void put_fields(const struct writer *writer, const struct json_type *type,
                       const ProtobufCMessage *message, bool first, unsigned depth)
{
    struct buf *out = writer->out;
    unsigned i;

    for (i = 0; i < type->descriptor->n_fields && !buf_failed(out); i++) {
        const struct json_field *field = &type->fields[i];

        if (!is_present(message, field->field) && !(writer->zeros && zero_matters(field->field)))
            continue;
        buf_put(out, bytes_skip(field->literal, first));
        first = false;
        if (field->is_map)
            put_map(writer, field, message, depth);
        else if (field->field->label == PROTOBUF_C_LABEL_REPEATED)
            put_list(writer, field, message, depth);
        else
            put_value(writer, field, field_member(message, field->field), depth);
    }
}

static void put_message(const struct writer *writer, const struct json_type *type,
                        const ProtobufCMessage *message, unsigned depth)
{
    struct buf *out = writer->out;
    const Google__Protobuf__Timestamp *time = (const void *)message;
    const Google__Protobuf__Duration *duration = (const void *)message;

    if (depth >= MESSAGE_DEPTH_MAX) {
        out->failed = true;
        return;
    }
    if (!message) { /* a map's value, or a oneof's member, that the wire left out: all defaults */
        buf_put_text(out, type->kind == JSON_KIND_TIMESTAMP  ? "\"1970-01-01T00:00:00Z\""
                          : type->kind == JSON_KIND_DURATION ? "\"0s\""
                                                             : "{}");
        return;
    }
    switch (type->kind) {
    case JSON_KIND_TIMESTAMP:
        json_put_timestamp(out, time->seconds, time->nanos);
        return;
    case JSON_KIND_DURATION:
        json_put_duration(out, duration->seconds, duration->nanos);
        return;
    case JSON_KIND_ANY:
        put_any(writer, (const Google__Protobuf__Any *)message, depth);
        return;
    case JSON_KIND_MESSAGE:
        buf_put_byte(out, '{');
        put_fields(writer, type, message, true, depth);
        buf_put_byte(out, '}');
        return;
    }
}

void json_encode(const ProtobufCMessage *message, struct buf *out)
{
    const struct writer writer = {.out = out};

    put_message(&writer, json_type_get(message->descriptor), message, 0);
}

void json_encode_answer(const ProtobufCMessage *message, struct buf *out)
{
    const struct writer writer = {.out = out, .zeros = true};

    put_message(&writer, json_type_get(message->descriptor), message, 0);
}

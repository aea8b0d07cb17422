/* SPDX-License-Identifier: Apache-2.0 */
/* random_message.c - see random_message.h. */
#include "random_message.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "codec/json_type.h"
#include "codec/message.h"
#include "codec/message_field.h"
#include "google/protobuf/duration.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"

static uint64_t random_bits(struct rng *rng)
{
    static const uint64_t extremes[] = {
        0,          1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, INT32_MAX, (uint64_t)INT32_MIN,
        UINT32_MAX,
    };

    if (rng_below(rng, 3) == 0)
        return extremes[rng_below(rng, ARRAY_COUNT(extremes))];
    return rng_next(rng) >> rng_below(rng, 64);
}

static double random_real(struct rng *rng)
{
    static const double extremes[] = {0.1,    -0.1, 1e21,     -1e-7,     1.7976931348623157e308,
                                      5e-324, 3.4,  INFINITY, -INFINITY, 123456789.125};

    if (rng_below(rng, 2))
        return extremes[rng_below(rng, ARRAY_COUNT(extremes))];
    return (double)(int64_t)rng_next(rng) / (double)(1 + rng_below(rng, 1u << 30));
}

static char *random_text(struct rng *rng, struct arena *arena)
{
    static const char *const parts[] = {
        "a",    "велосипед", "\"",        "\\", "\n", "\t", "\x01",
        "\x7f", "😀",         "</script>", "é",  " ",  "0",  "longer ascii text"};
    size_t count = rng_below(rng, 8);
    char *text = arena_zero(arena, count * 20 + 1);
    size_t size = 0;

    while (count--) {
        const char *part = parts[rng_below(rng, ARRAY_COUNT(parts))];

        memcpy(text + size, part, strlen(part));
        size += strlen(part);
    }
    return text;
}

static void random_time(struct rng *rng, ProtobufCMessage *message)
{
    Google__Protobuf__Timestamp *time = (Google__Protobuf__Timestamp *)message;
    Google__Protobuf__Duration *duration = (Google__Protobuf__Duration *)message;
    static const int32_t nanos[] = {0, 1, 999999999, 500000000, 1000, 123456000, 7000000};
    int32_t nano = nanos[rng_below(rng, ARRAY_COUNT(nanos))];

    if (message->descriptor == &google__protobuf__timestamp__descriptor) {
        time->seconds = (int64_t)rng_below(rng, 315537897600u) - INT64_C(62135596800);
        time->nanos = nano;
    } else {
        duration->seconds = (int64_t)rng_below(rng, 315576000000u);
        duration->nanos = nano;
        if (rng_below(rng, 2)) {
            duration->seconds = -duration->seconds;
            duration->nanos = -nano;
        }
    }
}

static void fill_value(struct rng *rng, const ProtobufCFieldDescriptor *field, void *slot,
                       struct arena *arena, unsigned depth)
{
    const ProtobufCEnumDescriptor *names = field->descriptor;
    ProtobufCBinaryData *binary = slot;
    uint64_t bits = random_bits(rng);
    size_t i;

    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)slot = bits & 1;
        return;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)slot = (float)random_real(rng);
        return;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)slot = random_real(rng);
        return;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)slot = random_text(rng, arena);
        return;
    case PROTOBUF_C_TYPE_BYTES:
        binary->len = rng_below(rng, 10);
        binary->data = arena_zero(arena, binary->len + 1);
        for (i = 0; i < binary->len; i++)
            binary->data[i] = (uint8_t)rng_next(rng);
        return;
    case PROTOBUF_C_TYPE_ENUM: /* also numbers without a name */
        *(int32_t *)slot =
            rng_below(rng, 5) ? names->values[bits % names->n_values].value : (int32_t)bits;
        return;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)slot = random_message(rng, field->descriptor, arena, depth);
        return;
    default:
        memcpy(slot, &bits, field_value_size(field->type));
    }
}

/* Keys of a map get a number, so that none comes twice. */
static void number_key(ProtobufCMessage *entry, size_t number, struct arena *arena)
{
    const ProtobufCFieldDescriptor *key = &entry->descriptor->fields[0];
    void *slot = field_member(entry, key);

    if (key->type == PROTOBUF_C_TYPE_STRING)
        *(char **)slot = arena_printf(arena, "%s%zu", *(char **)slot, number);
    else
        memcpy(slot, &number, field_value_size(key->type));
}

static void fill_list(struct rng *rng, const struct json_field *info, ProtobufCMessage *message,
                      struct arena *arena, unsigned depth)
{
    const ProtobufCFieldDescriptor *field = info->field;
    size_t size = field_value_size(field->type);
    size_t count = rng_below(rng, 5);
    uint8_t *items = arena_array(arena, count + 1, size);
    const ProtobufCMessageDescriptor *entry = field->descriptor;
    size_t i;

    for (i = 0; i < count; i++) {
        fill_value(rng, field, items + i * size, arena, depth);
        if (!info->is_map)
            continue;
        number_key(((ProtobufCMessage **)items)[i], i, arena);
        if (entry->fields[1].type == PROTOBUF_C_TYPE_MESSAGE) /* never left out */
            fill_value(rng, &entry->fields[1],
                       field_member(((ProtobufCMessage **)items)[i], &entry->fields[1]), arena, 0);
    }
    *field_count(message, field) = count;
    *(void **)field_member(message, field) = items;
}

ProtobufCMessage *random_message(struct rng *rng, const ProtobufCMessageDescriptor *type,
                                 struct arena *arena, unsigned depth_max)
{
    const struct json_type *info = json_type_get(type);
    ProtobufCMessage *message = message_new(type, arena);
    unsigned i;

    if (info->kind == JSON_KIND_TIMESTAMP || info->kind == JSON_KIND_DURATION) {
        random_time(rng, message);
        return message;
    }
    for (i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        bool deep = info->fields[i].type && info->fields[i].type->kind == JSON_KIND_MESSAGE;

        if (rng_below(rng, 2) || (deep && !depth_max))
            continue;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            fill_list(rng, &info->fields[i], message, arena, depth_max - deep);
            continue;
        }
        field_set_present(message, field);
        fill_value(rng, field, field_member(message, field), arena, depth_max - deep);
    }
    return message;
}

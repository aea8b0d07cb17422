/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_field.h - reaching into protobuf-c's structs by field descriptor.
 *
 * A list is a count and a pointer; a oneof is the number of its set member beside a union; a proto3
 * `optional` is a oneof of one; a proto2 optional scalar has a has_ flag. For code that walks
 * messages field by field: the readers and writers of net/, comparisons.
 */
#ifndef TORG_CODEC_MESSAGE_FIELD_H
#define TORG_CODEC_MESSAGE_FIELD_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void *field_member(const ProtobufCMessage *message,
                                 const ProtobufCFieldDescriptor *field)
{
    return (uint8_t *)message + field->offset;
}

/* How many elements a list has. */
static inline size_t *field_count(const ProtobufCMessage *message,
                                  const ProtobufCFieldDescriptor *field)
{
    return (size_t *)((uint8_t *)message + field->quantifier_offset);
}

/* The number of the member that is set in the field's oneof; 0 for none. */
static inline uint32_t *field_case(const ProtobufCMessage *message,
                                   const ProtobufCFieldDescriptor *field)
{
    return (uint32_t *)((uint8_t *)message + field->quantifier_offset);
}

static inline bool field_has_flag(const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_OPTIONAL && field->quantifier_offset != 0;
}

/* What tells a singular field from an absent one, if anything but its value does. */
static inline void field_set_present(ProtobufCMessage *message,
                                     const ProtobufCFieldDescriptor *field)
{
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        *field_case(message, field) = field->id;
    else if (field_has_flag(field))
        *(protobuf_c_boolean *)((uint8_t *)message + field->quantifier_offset) = 1;
}

/* Size of one value in the struct or in a list. */
static inline size_t field_value_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return 4; /* the 32-bit numbers, float, enum */
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_type.h - what the JSON reader and writer want to know of a message type, prepared once.
 *
 * Made from protobuf-c's descriptor at the first use of a type, together with every type it
 * reaches, and kept for the life of the process: looking one up takes no lock.
 */
#ifndef TORG_CODEC_JSON_TYPE_H
#define TORG_CODEC_JSON_TYPE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

enum json_kind {
    JSON_KIND_MESSAGE,
    JSON_KIND_TIMESTAMP,
    JSON_KIND_DURATION,
    JSON_KIND_ANY,
};

struct json_type;

struct json_field {
    const ProtobufCFieldDescriptor *field;
    const struct json_type *type; /* of a message field; else NULL */
    const char *name;             /* as JSON has it */
    struct bytes literal;         /* ",\"name\":": the first of a message goes without the comma */
    bool is_map;                  /* a list of entries, an object in JSON */
};

struct json_type {
    const ProtobufCMessageDescriptor *descriptor;
    enum json_kind kind;
    struct json_field *fields; /* in the descriptor's order: field i is descriptor->fields[i] */
    struct json_slot {         /* both names of every field; open addressing */
        struct bytes name;
        const struct json_field *field;
    } * slots;
    size_t slot_mask;
};

const struct json_type *json_type_get(const ProtobufCMessageDescriptor *descriptor);

/* By either of its names; NULL when there is none. */
const struct json_field *json_type_find(const struct json_type *type, struct bytes name);

/* A map entry's key as the JSON string it is, whatever its type. */
void json_put_key(struct buf *out, const struct json_field *key, const ProtobufCMessage *entry);

/* The type an Any of that full name may hold; NULL when it is not linked in. */
const ProtobufCMessageDescriptor *json_type_any(struct bytes full_name);

#endif

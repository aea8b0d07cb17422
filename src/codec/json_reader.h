/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_reader.h - the state of one json_decode, shared by its files: json_decode.c follows the
 * structure (objects, lists, keys), json_scalar.c turns single values into fields, json_report.c
 * tells what is wrong.
 */
#ifndef TORG_CODEC_JSON_READER_H
#define TORG_CODEC_JSON_READER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/violation.h"
#include "codec/bounds.h"
#include "codec/json_type.h"
#include "google/protobuf/any.pb-c.h"

enum frame_kind { FRAME_MESSAGE, FRAME_LIST, FRAME_MAP };

/* An object or list that has been opened. */
struct frame {
    enum frame_kind kind;
    ProtobufCMessage *message;    /* being filled; of a list or map: the one that has the field */
    const struct json_type *type; /* of a message; NULL in an Any before its "@type" */
    const struct json_field
        *field; /* of the last key, NULL: skip its value; of a list or map: its own */
    Google__Protobuf__Any *any; /* that gets the encoded message at its end; else NULL */
    bool is_any_type;           /* the last key was "@type" */
    uint64_t *seen;             /* of a message: a bit per field that has come */
    void *items;                /* of a list or map: what was good so far */
    size_t count;
    size_t capacity;
    size_t index;            /* of a list: of the value being read, for paths */
    struct bytes bad_key;    /* of a map: the last, while it is being refused, for paths */
    ProtobufCMessage *entry; /* of a map: that the value belongs to; NULL: skip the value */
};

struct json_reader {
    struct arena *arena;
    const struct json_type *root_type;
    ProtobufCMessage *root;
    struct violations *violations;
    const struct violation *first; /* of this reading */
    struct err *err;
    int rc;              /* < 0: give up; err is set */
    size_t memory_size;  /* taken by the message so far */
    unsigned skip_depth; /* opened within a value that is skipped */
    unsigned depth;      /* messages from the root to here, map entries counted */
    unsigned frame_count;
    struct frame frames[2 * MESSAGE_DEPTH_MAX]; /* a message and the list it is in */
};

enum json_token_kind { JSON_TOKEN_STRING, JSON_TOKEN_NUMBER, JSON_TOKEN_BOOL };

struct json_token {
    enum json_token_kind kind;
    struct bytes text; /* "true" or "false" for a bool */
};

/* One value as the struct holds it. */
union json_scalar {
    protobuf_c_boolean truth;
    int32_t int32;
    uint32_t uint32;
    int64_t int64;
    uint64_t uint64;
    float real32;
    double real64;
    char *text;
    ProtobufCBinaryData binary;
    ProtobufCMessage *message;
};

/* The fields of a map entry's type, by index. */
enum { MAP_KEY = 0, MAP_VALUE = 1 };

enum { JSON_PATH_SIZE_MAX = 1024 };

/* From the root to the value being read: everything.manyChildren[3].anInt32 */
void json_put_path(const struct json_reader *reader, struct buf *path);

/* Records what is wrong with a key of the object being read. */
void json_reject_key(struct json_reader *reader, struct bytes key, const char *reason);
void json_reject_unknown(struct json_reader *reader, const struct json_type *type,
                         struct bytes key);

/* Records what is wrong with the value being read; false, so that a parser ends with it. */
bool json_reject(struct json_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Counts memory about to be taken; false when that is too much, which ends the reading. */
bool json_account(struct json_reader *reader, size_t size);

/* At most 64 bytes of a text of the client, whole characters, for an error text. */
struct bytes json_clip(struct bytes text);

/* What is wrong with a text before it is read: empty, no UTF-8, half of a surrogate pair. */
int json_check_text(struct bytes json, struct err *err);

/* Turns a token into a value of the field; false after json_reject. */
bool json_scalar(struct json_reader *reader, const struct json_field *field,
                 struct json_token token, union json_scalar *value);

#endif

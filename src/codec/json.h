/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - the same messages as JSON, by the canonical proto3 mapping.
 *
 * Names are lowerCamelCase (the .proto's own are accepted too), 64-bit integers are strings
 * (numbers accepted), enums are names (numbers accepted), bytes are base64, Timestamp is
 * RFC 3339, Duration "1.5s", maps are objects, null is the same as absent. Fields without presence
 * that hold their default are not written. Any carries "@type" (which must come first).
 * Stricter than the mapping asks: unknown fields, keys that come twice, two members of one
 * oneof, invalid UTF-8, lone surrogates and U+0000 are refused.
 *
 * Which messages are map entries, and custom json_name options, protobuf-c does not keep: they come
 * from descriptor sets. The model's own is known; others are added by json_add_types.
 *
 * Threads: any, at once.
 */
#ifndef TORG_CODEC_JSON_H
#define TORG_CODEC_JSON_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/violation.h"

/*
 * Decodes a whole message; its memory is the arena's. What is wrong with single fields is collected
 * in violations (may be NULL) by path, "everything.manyChildren[3].anInt32", and reading goes
 * on behind it; ERR_INVALID then tells the first. Broken JSON ends it at once: ERR_INVALID
 * with the byte; ERR_LIMIT names the limit. On failure *message is NULL.
 */
int json_decode(struct bytes json, const ProtobufCMessageDescriptor *type, struct arena *arena,
                ProtobufCMessage **message, struct violations *violations, struct err *err);

/*
 * Appends the message as one line of JSON. The buffer remembers if it did not fit. What has no JSON
 * form is still written as valid JSON: a Timestamp or Duration out of range as null, bytes of
 * a text that are not UTF-8 as U+FFFD, an Any of a type not linked in with its base64 "value".
 */
void json_encode(const ProtobufCMessage *message, struct buf *out);

/*
 * The same for a reader who does not know the .proto: numbers, truths, enumerations, lists and
 * maps are there when they are 0, false, the first or empty, too. Texts and bytes that are empty
 * are left out as ever, and so is what says itself whether it is there: messages, oneofs,
 * `optional`.
 */
void json_encode_answer(const ProtobufCMessage *message, struct buf *out);

/*
 * Makes the types of a FileDescriptorSet known; to be called before their first use. Types of no
 * known set work too: what looks exactly like the entry protoc makes of a map field is one then.
 */
int json_add_types(struct bytes descriptor_set, struct err *err);

/* Appends the path of a field, "offer.filters[2].page_size", by the names of the JSON or by those
 * of the .proto, whichever it came with. What the type does not have stays as it is. */
void json_put_field_path(struct buf *out, const char *path, const ProtobufCMessageDescriptor *type,
                         bool as_json);
/* How much of "offer.filters[2].page_size: is too large" is the path of a field of the type, up to
 * the colon; 0: the text does not begin with one. */
size_t json_field_path_size(const char *text, const ProtobufCMessageDescriptor *type);

#endif

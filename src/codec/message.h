/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - protobuf messages between the wire and C structs, within bounds.
 *
 * The structs are protobuf-c's. Decoding is our own: the library's recurses without a limit and
 * takes no bound on the memory that a few wire bytes may ask for (three bytes an empty
 * submessage). Everything decoded lives in the caller's arena and needs no freeing.
 *
 * As in every proto3 reader: the last value of a singular field wins, a submessage that comes twice
 * is merged, packed and unpacked lists are both read, unknown fields are kept and written again.
 * A map is a list of entries; a key that comes twice on the wire is there twice.
 * Stricter than most: text must be valid UTF-8 without U+0000 (a C string would end there),
 * and a known field with a foreign wire type is refused, as are groups.
 *
 * Threads: no state; any thread.
 */
#ifndef TORG_CODEC_MESSAGE_H
#define TORG_CODEC_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

/*
 * Decodes a whole message. ERR_INVALID names the field ("everything.many_children[3].a_string"),
 * ERR_LIMIT the limit (MESSAGE_* of bounds.h). On failure *message is NULL; what the
 * attempt took stays in the arena until that is freed.
 */
int message_decode(struct bytes wire, const ProtobufCMessageDescriptor *type, struct arena *arena,
                   ProtobufCMessage **message, struct err *err);

/*
 * Appends the wire form. The buffer remembers if it did not fit. To send an empty text in a oneof
 * or an `optional`, point it at a "" of your own: protobuf_c_empty_string counts as not set.
 */
void message_encode(const ProtobufCMessage *message, struct buf *out);

/* An initialised message of this type: every field at its default. */
void *message_new(const ProtobufCMessageDescriptor *type, struct arena *arena);
/* By its name in C: a Torg__V1__PhotoSize is MESSAGE_NEW(photo_size, arena). */
#define MESSAGE_NEW(name, arena) message_new(&torg__v1__##name##__descriptor, arena)

#endif

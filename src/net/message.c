/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - see message.h. */
#include "net/message.h"

ProtobufCMessage *message_new(const ProtobufCMessageDescriptor *type, struct arena *arena)
{
    ProtobufCMessage *message = arena_alloc(arena, type->sizeof_message);

    type->message_init(message);
    return message;
}

void message_encode(const ProtobufCMessage *message, struct buf *out)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *room = buf_reserve(out, size);

    if (room)
        buf_advance(out, protobuf_c_message_pack(message, room));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_decode.c - any bytes as a protobuf message: refused with a reason, or read; and what was
 * read has a wire form that protobuf-c reads too, and a JSON form.
 */
#include <stdlib.h>

#include "codec/bounds.h"
#include "codec/json.h"
#include "codec/message.h"
#include "echo.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ProtobufCMessageDescriptor *type = &torg__test__v1__everything__descriptor;
    struct arena *arena = arena_new();
    struct buf wire = BUF_INIT(MESSAGE_MEMORY_MAX);
    struct buf again = BUF_INIT(MESSAGE_MEMORY_MAX);
    struct err err = {0};
    ProtobufCMessage *message;
    ProtobufCMessage *theirs;

    if (message_decode(bytes_make(data, size), type, arena, &message, &err) != 0) {
        require(!message && err.text[0]);
    } else {
        message_encode(message, &wire);
        require(!buf_failed(&wire));
        theirs = protobuf_c_message_unpack(type, NULL, wire.size, wire.data);
        require(theirs != NULL);
        message_encode(theirs, &again);
        require(bytes_equal(buf_bytes(&wire), buf_bytes(&again)));
        protobuf_c_message_free_unpacked(theirs, NULL);
        buf_reset(&again);
        json_encode(message, &again);
        require(!buf_failed(&again));
    }
    buf_release(&wire);
    buf_release(&again);
    arena_free(arena);
    return 0;
}

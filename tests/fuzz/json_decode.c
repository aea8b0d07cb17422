/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_decode.c - any bytes as JSON: refused with a reason, or read; and what was read is
 * written and read again as the same message.
 */
#include <stdlib.h>

#include "codec/bounds.h"
#include "codec/json.h"
#include "codec/message.h"
#include "echo.pb-c.h"
#include "echo_descriptors.h"
#include "google/rpc/status.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check(struct bytes json, const ProtobufCMessageDescriptor *type)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct buf text = BUF_INIT(MESSAGE_MEMORY_MAX);
    struct buf before = BUF_INIT(MESSAGE_MEMORY_MAX);
    struct buf after = BUF_INIT(MESSAGE_MEMORY_MAX);
    struct err err = {0};
    ProtobufCMessage *message;
    ProtobufCMessage *again;

    if (json_decode(json, type, arena, &message, &violations, &err) != 0) {
        require(!message && err.text[0]);
    } else {
        require(violations.count == 0);
        json_encode(message, &text);
        require(!buf_failed(&text));
        require(json_decode(buf_bytes(&text), type, arena, &again, NULL, &err) == 0);
        message_encode(message, &before);
        message_encode(again, &after);
        require(bytes_equal(buf_bytes(&before), buf_bytes(&after)));
        require(message_decode(buf_bytes(&before), type, arena, &again, &err) == 0);
    }
    buf_release(&text);
    buf_release(&before);
    buf_release(&after);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int added;
    struct err err;

    if (!added)
        require(json_add_types(bytes_make(echo_descriptors, echo_descriptors_size), &err) == 0);
    added = 1;
    check(bytes_make(data, size), &torg__test__v1__everything__descriptor);
    check(bytes_make(data, size), &google__rpc__status__descriptor);
    return 0;
}

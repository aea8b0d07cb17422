/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_web.c - see grpc_web.h. */
#include "net/server/calls/grpc_web.h"

#include "base/endian.h"
#include "base/object.h"
#include "base/text.h"
#include "net/server/calls/call.h"

enum { GROUP_SIZE = 4 };

bool grpc_web_take(struct call *call, struct bytes text)
{
    object_check(call, CALL_MAGIC);
    for (size_t i = 0; i < text.size; i++) {
        call->text_rest[call->text_rest_size++] = text.data[i];
        if (call->text_rest_size < GROUP_SIZE)
            continue;
        call->text_rest_size = 0;
        if (!text_from_base64(bytes_make(call->text_rest, GROUP_SIZE), &call->body))
            return buf_failed(&call->body); /* too large is told as such */
    }
    return true;
}

bool grpc_web_end(struct call *call)
{
    struct bytes rest = bytes_make(call->text_rest, call->text_rest_size);

    object_check(call, CALL_MAGIC);
    call->text_rest_size = 0;
    return !rest.size || text_from_base64(rest, &call->body);
}

void grpc_web_encode(struct call *call, struct buf *out, size_t start)
{
    object_check(call, CALL_MAGIC);
    if (call->format != CALL_GRPC_WEB_TEXT || buf_failed(out))
        return;
    buf_reset(&call->message);
    buf_put_raw(&call->message, out->data + start, out->size - start);
    buf_truncate(out, start);
    text_put_base64(out, buf_bytes(&call->message));
    if (buf_failed(&call->message))
        out->failed = true;
}

void grpc_web_put_trailers(const struct call *call, const struct header *trailers, size_t count,
                           struct buf *out)
{
    struct buf frame = BUF_INIT(NET_HEAD_SIZE_MAX);
    uint8_t head[FRAME_HEAD_SIZE] = {FRAME_WEB_TRAILERS};

    object_check(call, CALL_MAGIC);
    buf_put_raw(&frame, head, sizeof(head));
    for (size_t i = 0; i < count; i++) {
        buf_put(&frame, trailers[i].name);
        buf_put_text(&frame, ": ");
        buf_put(&frame, trailers[i].value);
        buf_put_text(&frame, "\r\n");
    }
    if (buf_failed(&frame)) {
        out->failed = true;
    } else {
        put_be32(frame.data + 1, (uint32_t)(frame.size - FRAME_HEAD_SIZE));
        if (call->format == CALL_GRPC_WEB_TEXT)
            text_put_base64(out, buf_bytes(&frame));
        else
            buf_put(out, buf_bytes(&frame));
    }
    buf_release(&frame);
}

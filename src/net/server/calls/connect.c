/* SPDX-License-Identifier: Apache-2.0 */
/* connect.c - see connect.h. */
#include "net/server/calls/connect.h"

#include <string.h>

#include "base/endian.h"
#include "base/object.h"
#include "base/text.h"
#include "net/server/calls/call.h"
#include "net/server/routes/address.h"
#include "net/status.h"

enum { GET_VALUE_SIZE_MAX = NET_HEAD_SIZE_MAX };

bool connect_check_version(struct call *call)
{
    struct bytes version = call_header(call, "connect-protocol-version");

    object_check(call, CALL_MAGIC);
    if (!version.size || bytes_equal_text(version, "1"))
        return true;
    call_refuse(call, 0, ERR_INVALID, "connect-protocol-version '%.*s' is not known here: send 1",
                BYTES_ARG(version));
    return false;
}

/* The value of a parameter as it stands in the address; data is NULL when there is none. */
static struct bytes find_parameter(struct bytes query, const char *name)
{
    while (query.size) {
        struct bytes value = address_cut(&query, '&');

        if (bytes_equal_text(address_cut(&value, '='), name))
            return value.data ? value : bytes_of("");
    }
    return (struct bytes){.data = NULL};
}

/* As address_decode, but a message may be any bytes. */
static bool unescape(struct bytes value, struct buf *plain)
{
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] != '%') {
            buf_put_byte(plain, value.data[i] == '+' ? ' ' : value.data[i]);
            continue;
        }
        if (i + 2 >= value.size || !text_from_hex(bytes_make(value.data + i + 1, 2), plain))
            return false;
        i += 2;
    }
    return !buf_failed(plain);
}

/* The message itself, into the call's body. */
static bool take_message(struct call *call)
{
    struct bytes value = find_parameter(call->query, "message");
    bool is_base64 = bytes_equal_text(find_parameter(call->query, "base64"), "1");
    struct buf plain = BUF_INIT(GET_VALUE_SIZE_MAX);
    bool taken = value.data && unescape(value, is_base64 ? &plain : &call->body);

    if (taken && is_base64)
        taken = text_from_base64(buf_bytes(&plain), &call->body);
    buf_release(&plain);
    if (!taken)
        call_refuse(call, 0, ERR_INVALID,
                    value.data ? "message: cannot be read: check its percent "
                                 "signs, and its base64 where base64=1"
                               : "message: a call by GET has its request "
                                 "here: ?encoding=json&message=%%7B%%7D");
    return taken;
}

bool connect_take_get(struct call *call)
{
    struct bytes version = find_parameter(call->query, "connect");
    struct bytes encoding = find_parameter(call->query, "encoding");
    struct bytes compression = find_parameter(call->query, "compression");

    object_check(call, CALL_MAGIC);
    call->is_get = true;
    if (version.data && !bytes_equal_text(version, "v1")) {
        call_refuse(call, 0, ERR_INVALID, "connect: '%.*s' is not known here: send v1",
                    BYTES_ARG(version));
        return false;
    }
    if (!bytes_equal_text(encoding, "json") && !bytes_equal_text(encoding, "proto")) {
        call_refuse(call, 415, ERR_UNSUPPORTED, "encoding: a call by GET says json or proto here");
        return false;
    }
    if (compression.size && !bytes_equal_text(compression, "gzip") &&
        !bytes_equal_text(compression, "identity")) {
        call_refuse(call, 415, ERR_UNSUPPORTED,
                    "compression: '%.*s' is not known here: use gzip or identity",
                    BYTES_ARG(compression));
        return false;
    }
    call->format = encoding.data[0] == 'j' ? CALL_JSON : CALL_PROTO;
    call->packed = bytes_equal_text(compression, "gzip");
    return take_message(call);
}

void connect_put_end(const struct call *call, const char *text, unsigned retry_after_s,
                     struct buf *out)
{
    uint8_t head[FRAME_HEAD_SIZE] = {FRAME_CONNECT_END};
    size_t start = out->size;

    object_check(call, CALL_MAGIC);
    buf_put_raw(out, head, sizeof(head));
    buf_put_byte(out, '{');
    if (call->reply.status) {
        buf_put_text(out, "\"error\":");
        status_put_json(out, call->reply.status, text, &call->violations, retry_after_s);
    }
    buf_put_byte(out, '}');
    if (!buf_failed(out))
        put_be32(out->data + start + 1, (uint32_t)(out->size - start - FRAME_HEAD_SIZE));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* convert_json_pb.c - "json-pb:torg.v1.Money": JSON to protobuf and back, by a message type. */
#include "codec/json.h"
#include "codec/message.h"
#include "snippets/bounds.h"
#include "snippets/parts/parts.h"

static bool can(enum snippet_format from, enum snippet_format to)
{
    return (from == SNIPPET_JSON || from == SNIPPET_PB) && (to == SNIPPET_JSON || to == SNIPPET_PB);
}

static int convert(const void *state, const struct snippet_input *input, enum snippet_format to,
                   struct bytes language, struct arena *arena, struct bytes *output,
                   struct err *err)
{
    struct buf out = BUF_INIT(SNIPPET_BODY_SIZE_MAX);
    ProtobufCMessage *message;
    int rc;

    if (input->format == SNIPPET_JSON)
        rc = json_decode(input->body, state, arena, &message, NULL, err);
    else
        rc = message_decode(input->body, state, arena, &message, err);
    if (rc)
        return rc;
    if (to == SNIPPET_JSON)
        json_encode(message, &out);
    else
        message_encode(message, &out);
    if (buf_failed(&out))
        rc = err_set(err, ERR_LIMIT, "the converted snippet has more than %d bytes",
                     SNIPPET_BODY_SIZE_MAX);
    *output = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return rc;
}

const struct snippet_convertor convertor_json_pb = {
    .name = "json-pb",
    .about = "json-pb:torg.v1.Money: JSON to protobuf and back, by a message type",
    .make = message_type_find,
    .can = can,
    .convert = convert,
};

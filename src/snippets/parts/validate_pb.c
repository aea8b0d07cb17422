/* SPDX-License-Identifier: Apache-2.0 */
/* validate_pb.c - "pb:torg.v1.Money": a message of this type of the program. */
#include "codec/message.h"
#include "snippets/parts/parts.h"

static int check(const void *state, const struct snippet_input *input, struct arena *arena,
                 struct err *err)
{
    ProtobufCMessage *message;

    return message_decode(input->body, state, arena, &message, err);
}

const struct snippet_validator validator_pb = {
    .name = "pb",
    .about = "pb:torg.v1.Money: a message of this type of the program",
    .make = message_type_find,
    .formats = 1u << SNIPPET_PB,
    .check = check,
};

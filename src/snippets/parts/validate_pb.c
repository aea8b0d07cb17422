/* SPDX-License-Identifier: Apache-2.0 */
/* validate_pb.c - "pb:torg.v1.Money": a message of this type of the program. */
#include "codec/json_type.h"
#include "codec/message.h"
#include "snippets/parts/parts.h"

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    *state = json_type_any(setup->argument);
    if (*state)
        return 0;
    return err_set(err, ERR_INVALID, "the program has no message \"%.*s\"",
                   BYTES_ARG(setup->argument));
}

static int check(const void *state, const struct snippet_input *input, struct arena *arena,
                 struct err *err)
{
    ProtobufCMessage *message;

    return message_decode(input->body, state, arena, &message, err);
}

const struct snippet_validator validator_pb = {
    .name = "pb",
    .about = "pb:torg.v1.Money: a message of this type of the program",
    .make = make,
    .formats = 1u << SNIPPET_PB,
    .check = check,
};

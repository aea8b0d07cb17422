/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_types.c - the message types that a config may name (parts.h).
 *
 * C has no table of all types that are linked in: another one becomes a line here. Types of others
 * come with their .proto in proto/.
 */
#include "base/memory.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "snippets/parts/parts.h"
#include "torg/v1/offer.pb-c.h"
#include "torg/v1/snippet.pb-c.h"

int message_type_find(const struct part_setup *setup, const void **type, struct err *err)
{
    static const ProtobufCMessageDescriptor *const types[] = {
        &google__protobuf__timestamp__descriptor,
        &torg__v1__geo_point__descriptor,
        &torg__v1__offer__descriptor,
        &torg__v1__price__descriptor,
        &torg__v1__snippet__descriptor,
    };
    size_t i;

    for (i = 0; i < ARRAY_COUNT(types); i++) {
        if (bytes_equal_text(setup->argument, types[i]->name)) {
            *type = types[i];
            return 0;
        }
    }
    return err_set(err, ERR_INVALID,
                   "the program has no message \"%.*s\" for snippets: one is a "
                   "line of parts/message_types.c",
                   BYTES_ARG(setup->argument));
}

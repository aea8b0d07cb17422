/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - see print.h. */
#include "roles/commands/print.h"

#include <assert.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "codec/json.h"

enum { OUTPUT_SIZE_MAX = 64 << 20, SECONDS_LENGTH = 19 }; /* of 2026-11-15T08:41:26 */

void print_json(const ProtobufCMessage *message)
{
    struct buf out = BUF_INIT(OUTPUT_SIZE_MAX);

    json_encode(message, &out);
    assert(!buf_failed(&out)); /* all keys there may be are a quarter of it */
    puts(buf_text(&out));
    buf_release(&out);
}

const char *time_text(const Google__Protobuf__Timestamp *timestamp, struct arena *arena)
{
    char text[CLOCK_TEXT_SIZE];

    if (!timestamp)
        return "-";
    clock_format(timestamp->seconds * SECOND_US, text);
    return arena_printf(arena, "%.*sZ", SECONDS_LENGTH, text);
}

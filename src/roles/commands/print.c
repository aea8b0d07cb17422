/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - see print.h. */
#include "roles/commands/print.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "codec/json.h"

enum {
    OUTPUT_SIZE_MAX = 64 << 20,
    SHOWN_COUNT = 10,
    SECONDS_LENGTH = 19
}; /* of 2026-11-15T08:41:26 */

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

void print_audit(const Torg__V1__Audit *audit, struct arena *arena)
{
    if (!audit->round_count)
        return;
    printf("auditor: all equal at %s; last round ended %s: %" PRId64 " keys, %" PRId64
           " differences, %" PRId64 " repaired, %" PRId64 " parked; %" PRId64 " differences ever\n",
           time_text(audit->equal_time, arena), time_text(audit->end_time, arena),
           audit->checked_count, audit->difference_count, audit->repaired_count,
           audit->parked_count, audit->difference_sum);
    for (size_t i = 0; i < audit->n_differences && i < SHOWN_COUNT && audit->difference_count; i++)
        printf("      %s  %s of %s: %s: %s%s\n", time_text(audit->differences[i]->last_time, arena),
               audit->differences[i]->check, audit->differences[i]->client,
               audit->differences[i]->pk, audit->differences[i]->text,
               audit->differences[i]->is_repaired ? ": repaired" : "");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* findings.c - see findings.h. */
#include "offers/lists/findings.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "access/audit.h"
#include "base/buf.h"
#include "codec/message.h"
#include "offers/record/offer_counts.h"
#include "offers/record/offer_record.h"

enum { ROOM_MIN = 16, DETAIL_COUNT_MAX = 10, DETAIL_SIZE_MAX = 2048 };

const char *preset_name(int64_t preset)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&torg__v1__cabinet__preset__descriptor, (int)preset);

    if (preset == PRESET_DELETED)
        return "DELETED";
    return value ? value->name : "UNKNOWN";
}

Torg__V1__CounterDifference *findings_add(struct findings *findings,
                                          Torg__V1__CounterDifference__Kind kind,
                                          const char *seller, const char *name)
{
    Torg__V1__CounterDifference *one = MESSAGE_NEW(counter_difference, findings->arena);

    if (findings->count == findings->room) {
        size_t room = findings->room ? 2 * findings->room : ROOM_MIN;
        Torg__V1__CounterDifference **list = arena_array(findings->arena, room, sizeof(*list));

        if (findings->count)
            memcpy(list, findings->list, findings->count * sizeof(*list));
        findings->list = list;
        findings->room = room;
    }
    one->kind = kind;
    one->seller = arena_strdup(findings->arena, seller);
    one->name = arena_strdup(findings->arena, name);
    findings->list[findings->count++] = one;
    return one;
}

void findings_add_row(struct findings *findings, Torg__V1__CounterDifference__Kind kind,
                      const char *seller, int64_t preset, offerid id)
{
    Torg__V1__CounterDifference *one = findings_add(findings, kind, seller, preset_name(preset));

    one->offer_id = offer_id_text(findings->arena, id);
    one->was = kind == DIFFERENCE(EXTRA_IN_LIST);
    one->is = kind == DIFFERENCE(MISSING_IN_LIST);
}

static void put_difference(struct buf *detail, const Torg__V1__CounterDifference *one, bool more)
{
    buf_printf(detail, "%s%s", more ? ", " : "", one->name);
    if (one->kind == DIFFERENCE(TOTAL))
        buf_printf(detail, "[%d]", one->row);
    buf_printf(detail, "%s%s %" PRId64 " -> %" PRId64, *one->offer_id ? " " : "", one->offer_id,
               one->was, one->is);
}

int findings_fixed(struct store_tx *tx, const struct checking *checking, struct findings *findings,
                   size_t first, struct err *err)
{
    struct audit_entry entry = {
        .at_us = checking->now_us, .principal = checking->principal, .action = "counters.fix"};
    struct buf detail = BUF_INIT(DETAIL_SIZE_MAX);
    int rc;

    if (first == findings->count)
        return 0;
    entry.target = findings->list[first]->seller;
    for (size_t i = first; i < findings->count; i++) {
        findings->list[i]->fixed = true;
        if (i - first < DETAIL_COUNT_MAX)
            put_difference(&detail, findings->list[i], i > first);
    }
    if (findings->count - first > DETAIL_COUNT_MAX)
        buf_printf(&detail, " and %zu more", findings->count - first - DETAIL_COUNT_MAX);
    assert(!buf_failed(&detail));
    entry.detail = arena_text(findings->arena, buf_bytes(&detail));
    rc = audit_add(tx, &entry, err);
    buf_release(&detail);
    return rc;
}

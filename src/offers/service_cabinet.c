/* SPDX-License-Identifier: Apache-2.0 */
/* service_cabinet.c - torg.v1.CabinetService. */
#include <assert.h>

#include "base/memory.h"
#include "base/token.h"
#include "base/varint.h"
#include "codec/message.h"
#include "offers/bounds.h"
#include "offers/lists/cabinet.h"
#include "offers/service.h"

enum { PLACE_SIZE_MAX = 3 * VARINT_SIZE_MAX };

/* --- where a page ended: varints of preset, time and id --- */

static char *place_text(int64_t preset, const struct cabinet_place *place, struct arena *arena)
{
    struct buf binary = BUF_INIT(PLACE_SIZE_MAX);
    char *text;

    varint_put(&binary, (uint64_t)preset);
    varint_put(&binary, (uint64_t)place->created_us);
    varint_put(&binary, (uint64_t)place->id);
    text = token_text(buf_bytes(&binary), arena);
    buf_release(&binary);
    return text;
}

static int place_parse(struct call *call, const char *text, int64_t preset,
                       struct cabinet_place *place, struct err *err)
{
    uint64_t numbers[3] = {0};
    struct bytes rest;
    bool ok;

    *place = cabinet_start;
    if (!*text)
        return 0;
    ok = token_parse(bytes_of(text), PLACE_SIZE_MAX, call_arena(call), &rest);
    for (size_t i = 0; ok && i < 3; i++)
        ok = varint_get(&rest, &numbers[i]) && numbers[i] <= INT64_MAX;
    if (!ok || rest.size || numbers[0] != (uint64_t)preset)
        return call_invalid(call, err, "page_token", "expected next_page_token of this preset");
    *place = (struct cabinet_place){(int64_t)numbers[1], (offerid)numbers[2]};
    return 0;
}

/* --- handlers --- */

static int list_drafts(struct call *call, const char *seller, Torg__V1__ListOffersResponse *answer,
                       struct err *err)
{
    const struct offers *offers = call_context(call);
    struct arena *arena = call_arena(call);
    struct draft *draft;
    int rc = draft_get(offers, arena_printf(arena, "s:%s", seller), arena, &draft, err);

    if (rc || !draft)
        return rc;
    answer->drafts = arena_array(arena, 1, sizeof(Torg__V1__Draft *));
    answer->drafts[0] = MESSAGE_NEW(draft, arena);
    answer->n_drafts = 1;
    return draft_message(call, offers, draft, answer->drafts[0], err);
}

static int check_list(struct call *call, const Torg__V1__ListOffersRequest *wanted, int64_t preset,
                      struct err *err)
{
    if (wanted->page_size < 0 || wanted->page_size > OFFER_BATCH_COUNT_MAX)
        return call_invalid(call, err, "page_size", "expected 0 to %d", OFFER_BATCH_COUNT_MAX);
    if (preset < 0 || preset >= CABINET_PRESET_COUNT)
        return call_invalid(call, err, "preset", "is not known");
    return 0;
}

static int list_offers(struct call *call, const ProtobufCMessage *request,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ListOffersRequest *wanted = (const Torg__V1__ListOffersRequest *)request;
    Torg__V1__ListOffersResponse *answer = (Torg__V1__ListOffersResponse *)response;
    size_t max = wanted->page_size > 0 ? (size_t)wanted->page_size : OFFER_PAGE_COUNT;
    int64_t preset = wanted->preset ? (int64_t)wanted->preset : TORG__V1__CABINET__PRESET__ALL;
    struct arena *arena = call_arena(call);
    struct cabinet_place place;
    const char *seller;
    int rc;

    rc = caller_seller(call, &seller, err);
    if (!rc)
        rc = check_list(call, wanted, preset, err);
    if (!rc)
        rc = place_parse(call, wanted->page_token, preset, &place, err);
    if (rc)
        return rc;
    if (preset == TORG__V1__CABINET__PRESET__DRAFTS)
        return list_drafts(call, seller, answer, err);
    answer->offers = arena_array(arena, max, sizeof(Torg__V1__Offer *));
    rc = cabinet_list(call_context(call), seller, preset, &place, max, arena, answer->offers,
                      &answer->n_offers, err);
    if (!rc && answer->n_offers == max)
        answer->next_page_token = place_text(preset, &place, arena);
    return rc;
}

static int get_counts(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    Torg__V1__GetCountsResponse *answer = (Torg__V1__GetCountsResponse *)response;
    struct arena *arena = call_arena(call);
    int64_t counts[CABINET_PRESET_COUNT];
    const char *seller;
    int rc = caller_seller(call, &seller, err);

    if (!rc)
        rc = cabinet_counts(call_context(call), seller, counts, err);
    if (rc)
        return rc;
    answer->counts =
        arena_array(arena, CABINET_PRESET_COUNT, sizeof(Torg__V1__GetCountsResponse__Count *));
    for (int i = 1; i < CABINET_PRESET_COUNT; i++) {
        Torg__V1__GetCountsResponse__Count *count = MESSAGE_NEW(get_counts_response__count, arena);

        count->preset = (Torg__V1__Cabinet__Preset)i;
        count->count = counts[i];
        answer->counts[answer->n_counts++] = count;
    }
    return 0;
}

static int get_totals(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const char *seller;
    int rc = caller_seller(call, &seller, err);

    if (!rc)
        rc = cabinet_totals(call_context(call), seller, call_arena(call),
                            (Torg__V1__GetTotalsResponse *)response, err);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "ListOffers", .unary = list_offers, .scope = "offers.read", .flags = RPC_OF_SELLER},
    {.name = "GetCounts", .unary = get_counts, .scope = "offers.read", .flags = RPC_OF_SELLER},
    {.name = "GetTotals", .unary = get_totals, .scope = "offers.read", .flags = RPC_OF_SELLER},
};

struct rpc_service cabinet_service(struct offers *offers)
{
    assert(offers->store && offers->clock);
    return RPC_SERVICE(cabinet, methods, offers);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#include "search/service.h"

#include "base/limits.h"
#include "base/memory.h"

static int search_offers_call(struct call *call, const ProtobufCMessage *message,
                              ProtobufCMessage *response, struct err *err)
{
    const struct search *search = call_context(call);
    const Torg__V1__SearchOffersRequest *request = (const Torg__V1__SearchOffersRequest *)message;
    int64_t deadline_us = clock_mono_us(search->clock) + (int64_t)SEARCH_DEADLINE_MS * 1000;
    enum language language = language_of(*request->language ? bytes_of(request->language)
                                                            : call_header(call, "accept-language"));

    if (call_deadline_us(call) < deadline_us)
        deadline_us = call_deadline_us(call);
    return search_offers(search, request, language, deadline_us, call_arena(call),
                         (Torg__V1__SearchOffersResponse *)response, err);
}

static const struct rpc_method methods[] = {
    {.name = "SearchOffers", .unary = search_offers_call, .flags = RPC_PUBLIC},
};

struct rpc_service search_service(struct search *search)
{
    return (struct rpc_service){
        .descriptor = &torg__v1__search_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = search,
    };
}

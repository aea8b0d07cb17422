/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_composer.c - torg composer list, replay: offers that could not be made into documents. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "documents/service.h"
#include "roles/operation.h"

static struct composer_context context_of(const struct operation *operation)
{
    return (struct composer_context){.store = operation->store, .clock = clock_system()};
}

static int ask_page(const struct operation *operation, struct arena *arena,
                    const Torg__V1__ListParkedOffersRequest *request,
                    Torg__V1__ListParkedOffersResponse **response, struct err *err)
{
    struct composer_context context = context_of(operation);
    Torg__V1__ListParkedOffersResponse local = TORG__V1__LIST_PARKED_OFFERS_RESPONSE__INIT;
    ProtobufCMessage *answer = NULL;
    int rc;

    if (operation->remote) {
        rc = remote_call(operation->remote, "torg.v1.ComposerService/ListParkedOffers",
                         &request->base, &torg__v1__list_parked_offers_response__descriptor,
                         &answer, err);
        *response = (Torg__V1__ListParkedOffersResponse *)answer;
        return rc;
    }
    rc = composer_list_parked(&context, arena, request, &local, err);
    *response = arena_alloc(arena, sizeof(**response));
    **response = local;
    return rc;
}

static void print_offer(const Torg__V1__ParkedOffer *offer, struct arena *arena)
{
    printf("%s  since %s, %" PRId64 " tries since, next %s\n    %s\n", offer->offer_id,
           time_text(offer->first_time, arena), offer->attempt_count,
           time_text(offer->next_time, arena), offer->reason);
}

enum exit_code cmd_composer_list(const struct invocation *invocation)
{
    Torg__V1__ListParkedOffersRequest request = TORG__V1__LIST_PARKED_OFFERS_REQUEST__INIT;
    Torg__V1__ListParkedOffersResponse *page = NULL;
    const char *limit = invocation_option(invocation, "limit");
    struct operation operation;
    uint64_t count = 0;
    struct err err;
    int rc;

    if (limit && (!text_to_u64(bytes_of(limit), &count) || !count || count > UINT32_MAX)) {
        complain("--limit=%.64s: expected a number from 1 to 500", limit);
        return EXIT_USAGE;
    }
    request.limit = (uint32_t)count;
    if (operation_open(invocation, false, &operation, &err))
        return fail(&err);
    rc = ask_page(&operation, invocation->arena, &request, &page, &err);
    operation_close(&operation);
    if (rc)
        return fail(&err);
    if (invocation->json) {
        print_json(&page->base);
        return EXIT_OK;
    }
    for (size_t i = 0; i < page->n_offers; i++)
        print_offer(page->offers[i], invocation->arena);
    printf("%" PRId64 " parked%s\n", page->count,
           *page->next_page_token ? ", of which the first are shown" : "");
    return EXIT_OK;
}

enum exit_code cmd_composer_replay(const struct invocation *invocation)
{
    Torg__V1__ReplayParkedOffersRequest request = TORG__V1__REPLAY_PARKED_OFFERS_REQUEST__INIT;
    Torg__V1__ReplayParkedOffersResponse local = TORG__V1__REPLAY_PARKED_OFFERS_RESPONSE__INIT;
    ProtobufCMessage *response = &local.base;
    bool all = invocation_option(invocation, "all") != NULL;
    struct composer_context context;
    struct operation operation;
    struct err err;
    int rc;

    if (all == (invocation->argument_count == 1)) {
        complain("name an offer, or say --all");
        return EXIT_USAGE;
    }
    request.offer_id = (char *)(all ? "" : invocation->arguments[0]);
    if (operation_open(invocation, false, &operation, &err))
        return fail(&err);
    context = context_of(&operation);
    if (operation.remote)
        rc = remote_call(operation.remote, "torg.v1.ComposerService/ReplayParkedOffers",
                         &request.base, &torg__v1__replay_parked_offers_response__descriptor,
                         &response, &err);
    else
        rc = composer_replay_parked(&context, &request, &local, &err);
    operation_close(&operation);
    if (rc)
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        printf("%" PRId64 " will be tried\n",
               ((const Torg__V1__ReplayParkedOffersResponse *)response)->count);
    return EXIT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_composer.c - torg composer list, replay: offers that could not be made into documents;
 * status: how far documents have followed the catalogue.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "roles/desk.h"
#include "roles/print.h"
#include "torg/v1/composer.pb-c.h"

static void print_offer(const Torg__V1__ParkedOffer *offer, struct arena *arena)
{
    printf("%s  since %s, %" PRId64 " tries since, next %s\n    %s\n", offer->offer_id,
           time_text(offer->first_time, arena), offer->attempt_count,
           time_text(offer->next_time, arena), offer->reason);
}

enum exit_code cmd_composer_list(const struct invocation *invocation)
{
    Torg__V1__ListParkedOffersRequest request = TORG__V1__LIST_PARKED_OFFERS_REQUEST__INIT;
    const Torg__V1__ListParkedOffersResponse *page;
    const char *limit = invocation_option(invocation, "limit");
    ProtobufCMessage *response;
    uint64_t count = 0;
    struct err err;

    if (limit && (!text_to_u64(bytes_of(limit), &count) || !count || count > UINT32_MAX)) {
        complain("--limit=%.64s: expected a number from 1 to 500", limit);
        return EXIT_USAGE;
    }
    request.limit = (uint32_t)count;
    if (desk_ask(invocation, false, &torg__v1__composer_service__descriptor, "ListParkedOffers",
                 &request.base, &response, &err))
        return fail(&err);
    page = (const Torg__V1__ListParkedOffersResponse *)response;
    if (invocation->json) {
        print_json(response);
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
    ProtobufCMessage *response;
    bool all = invocation_option(invocation, "all") != NULL;
    struct err err;

    if (all == (invocation->argument_count == 1)) {
        complain("name an offer, or say --all");
        return EXIT_USAGE;
    }
    request.offer_id = (char *)(all ? "" : invocation->arguments[0]);
    if (desk_ask(invocation, false, &torg__v1__composer_service__descriptor, "ReplayParkedOffers",
                 &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        printf("%" PRId64 " will be tried\n",
               ((const Torg__V1__ReplayParkedOffersResponse *)response)->count);
    return EXIT_OK;
}

static void print_progress(const Torg__V1__CatalogProgress *progress, struct arena *arena)
{
    bool is_going = progress->target_version > progress->done_version;

    printf("catalogue version %" PRId64 ", followed by all documents up to version %" PRId64 "\n",
           progress->version, progress->done_version);
    if (is_going)
        printf("version %" PRId64 ": %" PRId64 " of %" PRId64 " offers since %s, at category %s\n",
               progress->target_version, progress->seen_count, progress->offer_count,
               time_text(progress->begin_time, arena),
               *progress->category ? progress->category : "-");
    else if (progress->version > progress->done_version)
        printf("version %" PRId64 " is about to begin\n", progress->version);
    if (progress->move_time)
        printf("%s: %" PRId64 " composed anew, %" PRId64
               " hidden (their category is gone), %" PRId64 " failed; last step %s\n",
               is_going ? "so far" : "the last time", progress->sent_count, progress->hidden_count,
               progress->failed_count, time_text(progress->move_time, arena));
}

enum exit_code cmd_composer_status(const struct invocation *invocation)
{
    Torg__V1__GetCatalogProgressRequest request = TORG__V1__GET_CATALOG_PROGRESS_REQUEST__INIT;
    ProtobufCMessage *progress;
    struct err err;

    if (desk_ask(invocation, false, &torg__v1__composer_service__descriptor, "GetCatalogProgress",
                 &request.base, &progress, &err))
        return fail(&err);
    if (invocation->json)
        print_json(progress);
    else
        print_progress((const Torg__V1__CatalogProgress *)progress, invocation->arena);
    return EXIT_OK;
}

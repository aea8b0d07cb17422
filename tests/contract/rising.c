/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole way of a click, on SQLite and PostgreSQL, memory and Kafka: visitors search, look at
 * the list and click its last offer; within an hour of given time it is the first one, by itself.
 *
 *   search ─► events ─► click_hour ─► rater ══ documents ══► registry ─► indexer ══► searcher
 *     ▲                                                                                 │
 *     └──────────────────────────────── the order BEST ◄────────────────────────────────┘
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "clicks/events.h"
#include "clicks/rater.h"
#include "codec/message.h"
#include "contract/indexer_fixture.h"
#include "coord/coord.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "patience.h"
#include "registry/receiving/document_inbox.h"
#include "search/search.h"
#include "searcher/front/front.h"
#include "searcher/replica/follower.h"
#include "stage/make_topics.h"

static struct index_place place;
static struct receiver receiver; /* of the inbox: its reader waits by the system's clock */
static struct document_inbox *inbox;
static struct indexer *indexer;
static struct coord *coord;
static struct follower *follower;
static struct front front;
static struct catalog *catalog;
static struct search search;
static struct events events;

/* --- what it stands on --- */

static int fetch(void *arg, const char *id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    (void)arg;
    (void)err;
    *offer = MESSAGE_NEW(offer, arena);
    (*offer)->id = arena_strdup(arena, id);
    (*offer)->seller = (char *)"shop";
    (*offer)->content = MESSAGE_NEW(offer_content, arena);
    (*offer)->content->category = (char *)"things";
    return 0;
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    return front_search(arg, request->client, request, deadline_us, arena, response, err);
}

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(arg);
}

static void begin(void **state)
{
    struct follower_options options = {.clock = clock_system()};
    struct err err = {0};

    if (!index_place_open(&place, case_on_servers(state), 1))
        skip();
    snprintf(place.client, sizeof(place.client), "%s", OFFER_CLIENT);
    receiver = place.receiver;
    receiver.clock = clock_system();
    OK(stage_make_topic(place.topics, TOPIC_DOCUMENTS, &err));
    OK(document_inbox_start(&receiver, place.topics, &inbox, &err));
    for (const char *pk = "abcde"; *pk; pk++)
        place_put(&place, LANE_MAIN, (char[]){*pk, '\0'}, 1, 10);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    OK(coord_open(arena_printf(place.arena, "memory:%s", place.prefix), "test", NULL, &coord,
                  &err));
    OK(clients_announce(place.receiver.clients, coord, &err));
    options.topics = place.topics;
    options.coord = coord;
    OK(follower_start(&options, &follower, &err));
    front = (struct front){.follower = follower, .clock = clock_system()};
    OK(catalog_from_json(bytes_of("{}"), NULL, &catalog, &err));
    search = (struct search){.clock = clock_system(),
                             .catalog = catalog_of,
                             .catalog_arg = catalog,
                             .ask = ask,
                             .ask_arg = &front,
                             .by_clicks = true};
    events = (struct events){.store = place.store, .clock = &place.clock.base, .fetch = fetch};
}

static void end(void)
{
    follower_stop(follower);
    coord_close(coord);
    indexer_free(indexer);
    document_inbox_stop(inbox);
    catalog_unref(catalog);
    index_place_close(&place);
}

/* --- visitors --- */

/* The list that a visitor sees: the ids of its offers, one letter each. "": not yet. */
static const char *list(void)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    Torg__V1__SearchOffersResponse response = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
    char *ids = arena_zero(place.arena, 27);
    struct err err = {0};

    request.text = (char *)"thing";
    request.only_offers = true;
    if (search_offers(&search, &request, LANGUAGE_EN,
                      clock_mono_us(clock_system()) + (int64_t)PATIENCE_MS * MS_US, place.arena,
                      &response, &err))
        return "";
    for (size_t i = 0; i < response.n_offers && i < 26; i++)
        ids[i] = response.offers[i]->id[0];
    return ids;
}

static void wait_for_first(char wanted)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)PATIENCE_MS * MS_US;
    const char *found = list();

    while (found[0] != wanted || strlen(found) != 5) {
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("\"%s\" is found, and %c does not come first", found, wanted);
        pause_ms(20);
        place_run(indexer);
        found = list();
    }
}

static void add(Torg__V1__RecordEventsRequest *request, Torg__V1__Event__Kind kind, char offer,
                uint32_t position)
{
    Torg__V1__Event *event = MESSAGE_NEW(event, place.arena);

    event->id = arena_printf(place.arena, "%zu", request->n_events);
    event->kind = kind;
    event->offer_id = arena_printf(place.arena, "%c", offer);
    event->position = position;
    request->events[request->n_events++] = event;
}

/* Looks at the whole list, and clicks one offer of it or none. */
static void visit(int number, const char *offers, char clicked)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    const struct event_sender visitor = {.seller = ""};
    struct violations reasons = violations_in(place.arena);
    struct err err = {0};
    uint32_t counted;

    request.session = arena_printf(place.arena, "visit-%d", number);
    request.events = arena_array(place.arena, 2 * strlen(offers), sizeof(request.events[0]));
    for (uint32_t i = 0; offers[i]; i++) {
        add(&request, TORG__V1__EVENT__KIND__SHOW, offers[i], i + 1);
        if (offers[i] == clicked)
            add(&request, TORG__V1__EVENT__KIND__CLICK, offers[i], i + 1);
    }
    OK(events_record(&events, &visitor, &request, &reasons, &counted, &err));
    assert_int_equal(counted, request.n_events);
}

static void an_offer_that_is_clicked_rises_within_the_hour(void **state)
{
    struct rater_options rater = {.clock = &place.clock.base};
    struct err err = {0};
    const char *before;
    size_t count;
    char last;

    begin(state);
    rater.store = place.store;
    rater.topics = place.topics;
    wait_for_first('a'); /* nobody has clicked: by words alike, in the order of their numbers */
    before = list();
    assert_string_equal(before, "abcde");
    last = before[4];
    for (int minute = 0; minute < 59; minute++) { /* a visitor a minute, as many rounds */
        visit(minute, list(), minute % 2 ? last : 0);
        clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
        OK(rater_round(&rater, &count, &err));
        place_run(indexer);
    }
    wait_for_first(last); /* what was sent within the hour is on its way */
    assert_int_equal(strlen(list()), 5);
    end();
}

static const struct test_case cases[] = {
    CASE(an_offer_that_is_clicked_rises_within_the_hour),
};

int main(int argc, char **argv)
{
    static struct case_list cases_of = {.name = "rising"};

    cases_embedded(&cases_of, cases, ARRAY_COUNT(cases));
    cases_on_servers(&cases_of, cases, ARRAY_COUNT(cases));
    return cases_run(&cases_of, argc, argv);
}

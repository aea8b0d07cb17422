/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of visitors, on SQLite and PostgreSQL: which count, and that an offer which is clicked has
 * a higher rate in the index within the hour, by itself; in simulated time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "clicks/bounds.h"
#include "clicks/events.h"
#include "clicks/rate.h"
#include "clicks/rater.h"
#include "codec/message.h"
#include "contract/indexer_fixture.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "stage/make_topics.h"

static struct index_place place;
static struct events events;
static struct rater_options rater;
static uint64_t read_from[64]; /* offsets of the topic documents */

/* Offers "a" to "z" of the seller "shop", all of one category but for "z". */
static int fetch(void *arg, const char *id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    (void)arg;
    if (strlen(id) != 1)
        return err_set(err, ERR_NOT_FOUND, "no offer %s", id);
    *offer = MESSAGE_NEW(offer, arena);
    (*offer)->id = arena_strdup(arena, id);
    (*offer)->seller = (char *)"shop";
    (*offer)->content = MESSAGE_NEW(offer_content, arena);
    (*offer)->content->category = (char *)(*id == 'z' ? "boats" : "bikes");
    return 0;
}

static void begin(void **state)
{
    struct topic_config config;
    struct err err = {0};
    uint64_t first;

    if (!index_place_open(&place, case_on_servers(state), 1))
        skip();
    snprintf(place.client, sizeof(place.client), "%s", OFFER_CLIENT);
    events = (struct events){.store = place.store, .clock = &place.clock.base, .fetch = fetch};
    rater = (struct rater_options){
        .store = place.store, .topics = place.topics, .clock = &place.clock.base};
    if (stage_make_topic(place.topics, TOPIC_DOCUMENTS, &err) ||
        topic_describe(place.topics, TOPIC_DOCUMENTS, &config, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < config.partition_count; i++) /* what is there is not ours */
        OK(topic_range(place.topics, TOPIC_DOCUMENTS, i, &first, &read_from[i], &err));
}

static uint32_t record(const char *session, const char *seller, Torg__V1__Event__Kind kind,
                       const char *offer, const char *id, uint32_t position)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct violations reasons = violations_in(place.arena);
    Torg__V1__Event event = TORG__V1__EVENT__INIT;
    Torg__V1__Event *list[] = {&event};
    struct err err = {0};
    uint32_t counted;

    event.id = (char *)id;
    event.kind = kind;
    event.offer_id = (char *)offer;
    event.position = position;
    request.session = (char *)session;
    request.events = list;
    request.n_events = 1;
    if (events_record(&events, &(struct event_sender){seller, 0}, &request, &reasons, &counted,
                      &err))
        fail_msg("%s", err.text);
    return counted;
}

static uint32_t click(const char *session, const char *offer, const char *id)
{
    return record(session, "", TORG__V1__EVENT__KIND__CLICK, offer, id, 1);
}

static void only_what_a_person_did_first_is_counted(void **state)
{
    begin(state);
    assert_int_equal(click("s1", "a", "1"), 1);
    assert_int_equal(click("s1", "a", "1"), 0); /* came again */
    assert_int_equal(click("s2", "a", "1"), 1); /* of another session it is another */
    assert_int_equal(click("s1", "nobody", "2"), 0);
    assert_int_equal(record("s3", "shop", TORG__V1__EVENT__KIND__CLICK, "a", "3", 1), 0);
    assert_int_equal(record("s3", "other", TORG__V1__EVENT__KIND__CONTACT, "a", "4", 1), 1);
    assert_int_equal(read_integer(place.store, "SELECT clicks FROM click_hour"), 2);
    assert_int_equal(read_integer(place.store, "SELECT contacts FROM click_hour"), 1);
    /* a robot */
    for (int i = 0; i < EVENT_SESSION_COUNT_MAX; i++)
        click("robot", i % 2 ? "nobody" : "b", arena_printf(place.arena, "%d", i));
    assert_int_equal(click("robot", "b", "one more"), 0);
    clock_manual_advance(&place.clock, INT64_C(3600) * SECOND_US);
    assert_int_equal(click("robot", "b", "an hour later"), 1);
    index_place_close(&place);
}

static uint32_t send_page(uint64_t address, const char *session, const char *offer)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct violations reasons = violations_in(place.arena);
    Torg__V1__Event list[EVENT_COUNT_MAX];
    Torg__V1__Event *events_of[EVENT_COUNT_MAX];
    struct err err = {0};
    uint32_t counted;

    for (uint32_t i = 0; i < EVENT_COUNT_MAX; i++) {
        torg__v1__event__init(&list[i]);
        list[i].id = arena_printf(place.arena, "%" PRIu32, i);
        list[i].kind = TORG__V1__EVENT__KIND__SHOW;
        list[i].offer_id = (char *)offer;
        events_of[i] = &list[i];
    }
    request.session = (char *)session;
    request.events = events_of;
    request.n_events = EVENT_COUNT_MAX;
    if (events_record(&events, &(struct event_sender){"", address}, &request, &reasons, &counted,
                      &err))
        fail_msg("%s", err.text);
    return counted;
}

/* Sessions are the caller's to name: an address that makes up one after the other fills no table.
 */
static void an_address_is_limited_whatever_its_sessions_are(void **state)
{
    int64_t kept;

    begin(state);
    for (int i = 0; i < EVENT_ADDRESS_COUNT_MAX / EVENT_COUNT_MAX; i++)
        send_page(7, arena_printf(place.arena, "s%d", i), "nobody");
    kept = read_integer(place.store, "SELECT COUNT(*) FROM click_session");
    assert_int_equal(send_page(7, "one more", "a"), 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_session"), kept);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_seen"), 0);
    assert_int_equal(send_page(8, "a neighbour", "a"), EVENT_COUNT_MAX);
    assert_int_equal(send_page(0, "of a front end", "a"), EVENT_COUNT_MAX);
    clock_manual_advance(&place.clock, INT64_C(3600) * SECOND_US);
    assert_int_equal(send_page(7, "an hour later", "a"), EVENT_COUNT_MAX);
    index_place_close(&place);
}

static void what_is_wrong_is_told_and_counts_nothing(void **state)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct violations reasons;
    Torg__V1__Event event = TORG__V1__EVENT__INIT;
    Torg__V1__Event *list[] = {&event};
    struct err err = {0};
    uint32_t counted;

    begin(state);
    reasons = violations_in(place.arena);
    request.events = list;
    request.n_events = 1;
    event.position = EVENT_POSITION_MAX + 1;
    assert_int_equal(
        events_record(&events, &(struct event_sender){"", 1}, &request, &reasons, &counted, &err),
        ERR_INVALID);
    assert_int_equal(reasons.count, 4); /* session, id, kind, position */
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 0);
    index_place_close(&place);
}

/* --- rates --- */

static void a_rate_follows_clicks_positions_and_the_category(void **state)
{
    const struct rate_counts bikes = {.clicks = 100, .looks = INT64_C(1000) * RATE_UNIT};
    const struct rate_counts none = {0};
    const struct rate_counts few = {.clicks = 1, .looks = INT64_C(1) * RATE_UNIT};
    const struct rate_counts many = {.clicks = 1000, .looks = INT64_C(1000) * RATE_UNIT};

    (void)state;
    assert_int_equal(rate_look(1), RATE_UNIT);
    assert_int_equal(rate_look(3), RATE_UNIT / 2);
    assert_true(rate_look(10) < rate_look(9));
    assert_int_equal(rate_of(&none, &none), 0);
    assert_true(llabs(rate_of(&none, &bikes) - 98039) <= 1); /* unseen: the category's */
    assert_true(rate_of(&few, &bikes) < 150000);             /* one click in one look says little */
    assert_true(rate_of(&many, &bikes) > 980000);
    assert_int_equal(rate_appeal(&none, &bikes), RATE_UNIT);
    assert_int_equal(rate_appeal(&none, &none), RATE_UNIT);
    assert_true(rate_appeal(&few, &bikes) > RATE_UNIT);
    assert_true(rate_appeal(&many, &bikes) > INT64_C(9) * RATE_UNIT);
}

/* The field changes in the topic, taken by the receiver. */
static void receive(void)
{
    struct arena *arena = arena_new();
    struct topic_config config;
    struct err err = {0};

    if (topic_describe(place.topics, TOPIC_DOCUMENTS, &config, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < config.partition_count; i++) {
        const struct topic_message *messages;
        const Torg__V1__QualifiedBatch *batch;
        Torg__V1__Verdict **verdicts;
        ProtobufCMessage *decoded;
        uint64_t first, end;
        size_t count;

        OK(topic_range(place.topics, TOPIC_DOCUMENTS, i, &first, &end, &err));
        while (read_from[i] < end) {
            OK(topic_read(place.topics, TOPIC_DOCUMENTS, i, read_from[i], 1, 1000, arena, &messages,
                          &count, &err));
            assert_int_equal(count, 1);
            OK(message_decode(messages[0].value, &torg__v1__qualified_batch__descriptor, arena,
                              &decoded, &err));
            read_from[i]++;
            batch = (const Torg__V1__QualifiedBatch *)decoded;
            if (batch->n_changes) /* others' tests may share the servers */
                OK(receiver_put_fields(&place.receiver, batch->client, batch->changes,
                                       batch->n_changes, arena, &verdicts, &err));
        }
    }
    arena_free(arena);
}

static double in_registry(const char *pk, const char *field)
{
    Torg__V1__StoredDocument found = TORG__V1__STORED_DOCUMENT__INIT;
    struct err err = {0};

    OK(receiver_get(&place.receiver, place.client, pk, place.arena, &found, &err));
    for (size_t i = 0; i < found.n_side; i++)
        if (strcmp(found.side[i]->field->name, field) == 0)
            return strtod(found.side[i]->field->decimal, NULL);
    return -1;
}

static double rate_in_registry(const char *pk)
{
    return in_registry(pk, OFFER_FIELD_CTR);
}

static void an_offer_that_is_clicked_rises_within_the_hour(void **state)
{
    static const char *const offers[] = {"a", "b", "c"};
    struct err err = {0};
    size_t count;
    double before;

    begin(state);
    for (size_t i = 0; i < ARRAY_COUNT(offers); i++)
        place_put(&place, LANE_MAIN, offers[i], 1, 10);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(count, 0);
    for (int visit = 0; visit < 60; visit++) { /* a minute each: an hour of visitors */
        const char *session = arena_printf(place.arena, "v%d", visit);

        clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
        for (uint32_t i = 0; i < ARRAY_COUNT(offers); i++)
            record(session, "", TORG__V1__EVENT__KIND__SHOW, offers[i], offers[i], i + 1);
        if (visit % 2)
            click(session, "c", "click"); /* the last on the page, and clicked most */
        else if (visit % 10 == 0)
            click(session, "a", "click");
        OK(rater_round(&rater, &count, &err));
    }
    clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
    OK(rater_round(&rater, &count, &err));
    receive();
    assert_true(rate_in_registry("c") > rate_in_registry("a"));
    assert_true(rate_in_registry("a") > rate_in_registry("b"));
    assert_true(rate_in_registry("b") > 0); /* its category is clicked */
    assert_true(in_registry("c", OFFER_FIELD_APPEAL) > 1);
    assert_true(in_registry("b", OFFER_FIELD_APPEAL) < 1);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(count, 0); /* all is sent */
    /* old events fade */
    before = rate_in_registry("c");
    clock_manual_advance(&place.clock, INT64_C(3600) * (RATE_WINDOW_HOURS + 2) * SECOND_US);
    record("late", "", TORG__V1__EVENT__KIND__SHOW, "c", "1", 1);
    clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
    for (int i = 0; i < 4; i++) /* and their rows go, an hour at a time */
        OK(rater_round(&rater, &count, &err));
    receive();
    assert_true(rate_in_registry("c") < before);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 1);
    index_place_close(&place);
}

/* More rows than one transaction takes away, and more offers than one batch has. */
static void much_is_sent_and_swept_by_one_round(void **state)
{
    const int64_t hour_us = INT64_C(3600) * SECOND_US;
    struct err err = {0};
    size_t count;

    begin(state);
    OK(store_write_one(
        place.store,
        "INSERT INTO click_hour (hour, offer, category, shows, looks, clicks, contacts, "
        "favourites, changed_us) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 1200) SELECT CAST($1 AS BIGINT), 'o' || i, 'bikes', 1, 1000000, "
        "1, 0, 0, CAST($2 AS BIGINT) + i FROM n",
        STORE_WITH(STORE_V_INT(clock_wall_us(&place.clock.base) / hour_us),
                   STORE_V_INT(clock_wall_us(&place.clock.base))),
        NULL, &err));
    OK(store_write_one(
        place.store,
        "INSERT INTO click_seen (hour, event) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 1200) SELECT CAST($1 AS BIGINT), i FROM n",
        STORE_WITH(STORE_V_INT(clock_wall_us(&place.clock.base) / hour_us)), NULL, &err));
    clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(count, 1200);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_seen"), 1200);
    clock_manual_advance(&place.clock, hour_us * (RATE_WINDOW_HOURS + 2));
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(count, 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_seen"), 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 0);
    index_place_close(&place);
}

static uint32_t retype(const char *session, const char *text, const char *retyped)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct violations reasons = violations_in(place.arena);
    Torg__V1__Event event = TORG__V1__EVENT__INIT;
    Torg__V1__Event *list[] = {&event};
    struct err err = {0};
    uint32_t counted;

    event.id = (char *)"1";
    event.kind = TORG__V1__EVENT__KIND__RETYPE;
    event.offer_id = (char *)"a";
    event.text = (char *)text;
    event.retyped = (char *)retyped;
    request.session = (char *)session;
    request.events = list;
    request.n_events = 1;
    OK(events_record(&events, &(struct event_sender){"", 0}, &request, &reasons, &counted, &err));
    return counted;
}

static void retyped_queries_are_counted_by_visits_and_forgotten(void **state)
{
    struct err err = {0};
    size_t count;

    begin(state);
    assert_int_equal(retype("s1", " bike  red", "bicycle red"), 1);
    assert_int_equal(retype("s1", "bike red", "bicycle red "), 0); /* the same, in one visit */
    assert_int_equal(retype("s2", "bike red", "bicycle red"), 1);
    assert_int_equal(retype("s2", "bike red", "bike"), 1); /* the id is not what counts */
    assert_int_equal(read_integer(place.store, "SELECT visits FROM query_retyped WHERE "
                                               "before_text = 'bike red' AND after_text = "
                                               "'bicycle red'"),
                     2);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 0);
    clock_manual_advance(&place.clock, INT64_C(3600) * SECOND_US * (RETYPED_HOURS - 1));
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM query_retyped"), 2);
    assert_int_equal(retype("s3", "bike red", "bike"), 1);
    clock_manual_advance(&place.clock, INT64_C(3600) * SECOND_US * 2);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM query_retyped"), 1);
    index_place_close(&place);
}

static const struct test_case cases[] = {
    CASE(only_what_a_person_did_first_is_counted),
    CASE(an_address_is_limited_whatever_its_sessions_are),
    CASE(what_is_wrong_is_told_and_counts_nothing),
    CASE(a_rate_follows_clicks_positions_and_the_category),
    CASE(an_offer_that_is_clicked_rises_within_the_hour),
    CASE(much_is_sent_and_swept_by_one_round),
    CASE(retyped_queries_are_counted_by_visits_and_forgotten),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "clicks"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

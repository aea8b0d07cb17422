/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of visitors, on SQLite and PostgreSQL: which count, and that an offer which is clicked has
 * a higher rate in the index within the hour, by itself; in simulated time.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "clicks/bounds.h"
#include "clicks/event_inbox.h"
#include "clicks/experiments.h"
#include "clicks/hour_tables.h"
#include "clicks/rate.h"
#include "codec/avro_file.h"
#include "codec/message.h"
#include "contract/clicks_fixture.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "patience.h"
#include "stage/make_topics.h"
#include "topic/bounds.h"

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
    assert_int_equal(click("robot", "c", "an hour later"), 1);
    index_place_close(&place);
}

static const Torg__V1__Event__Kind SHOW = TORG__V1__EVENT__KIND__SHOW;
static const Torg__V1__Event__Kind CLICK = TORG__V1__EVENT__KIND__CLICK;
static const Torg__V1__Event__Kind CONTACT = TORG__V1__EVENT__KIND__CONTACT;

static uint32_t do_from(uint64_t address, const char *session, Torg__V1__Event__Kind kind,
                        const char *offer, const char *id, uint32_t position)
{
    return record_from(&(struct event_sender){"", address}, session, kind, offer, id, position);
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
    assert_int_equal(send_page(8, "a neighbour", "a"), 1);
    assert_int_equal(send_page(0, "of a front end", "a"), 1);
    clock_manual_advance(&place.clock, INT64_C(3600) * SECOND_US);
    assert_int_equal(send_page(7, "an hour later", "a"), 1);
    index_place_close(&place);
}

static void expect_counts(const char *offer, int64_t clicks, double looks)
{
    const char *of =
        arena_printf(place.arena, "AS BIGINT) FROM click_hour WHERE offer = '%s'", offer);
    int64_t seen =
        read_integer(place.store, arena_printf(place.arena, "SELECT CAST(SUM(looks) %s", of));

    assert_int_equal(
        read_integer(place.store, arena_printf(place.arena, "SELECT CAST(SUM(clicks) %s", of)),
        clicks);
    assert_int_equal(seen, llround(looks * RATE_UNIT));
}

/* A seller who does not sign in lifts his own offer no more than any other buyer does. */
static void who_clicks_an_offer_again_and_again_counts_once(void **state)
{
    struct err err = {0};
    size_t count;

    begin(state);
    for (int i = 0; i < 40; i++) {
        const char *name = arena_printf(place.arena, "%d", i);

        assert_int_equal(do_from(7, "one session", CLICK, "a", name, 1), i == 0);
        assert_int_equal(do_from(7, name, CLICK, "a", "other sessions", 1), 0);
    }
    assert_int_equal(do_from(7, "one session", CONTACT, "a", "contact", 1), 1);
    assert_int_equal(do_from(7, "one session", CLICK, "b", "of b", 1), 1);
    expect_counts("a", 1, 0);
    assert_int_equal(do_from(8, "a neighbour", CLICK, "a", "1", 1), 1);
    for (int i = 0; i < 10; i++) { /* a front end tells its visitors apart by their sessions */
        const char *name = arena_printf(place.arena, "%d", i);

        assert_int_equal(do_from(0, "of a front end", CLICK, "a", name, 1), i == 0);
        assert_int_equal(do_from(0, name, CLICK, "a", "1", 1), 1);
    }
    expect_counts("a", 13, 0);
    clock_manual_advance(&place.clock, INT64_C(50) * 3600 * SECOND_US);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(do_from(7, "two days later", CLICK, "a", "1", 1), 1);
    index_place_close(&place);
}

/* So that nobody takes a new offer its place among the new ones (search.new_every) by himself. */
static void who_looks_at_an_offer_again_and_again_has_looked_once(void **state)
{
    begin(state);
    for (int i = 0; i < 40; i++)
        do_from(7, arena_printf(place.arena, "s%d", i), SHOW, "a", "1", 1);
    do_from(8, "a neighbour", SHOW, "a", "1", 3);
    do_from(8, "a neighbour", SHOW, "a", "2", 1); /* where it was seen first */
    expect_counts("a", 0, 1.5);
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

/* Clicks without looks, as one caller alone could send them: those who are clicked more stay ahead.
 */
static void clicks_without_looks_level_no_category(void **state)
{
    const struct rate_counts bikes = {.clicks = 20000, .looks = INT64_C(5000) * RATE_UNIT};
    const struct rate_counts some = {.clicks = 5, .looks = INT64_C(60) * RATE_UNIT};
    const struct rate_counts few = {.clicks = 1, .looks = INT64_C(60) * RATE_UNIT};

    (void)state;
    assert_int_equal(rate_of(&(struct rate_counts){0}, &bikes), RATE_UNIT);
    assert_int_equal(rate_of(&some, &bikes), 25 * RATE_UNIT / 80);
    assert_true(rate_appeal(&some, &bikes) > rate_appeal(&few, &bikes));
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
    assert_true(fabs(in_registry("a", OFFER_FIELD_LOOKS) - 60) < 0.001); /* at the top each time */
    assert_true(fabs(in_registry("c", OFFER_FIELD_LOOKS) - 30) < 0.001); /* by half at its place */
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
    assert_int_equal(count, 1200); /* without what leaves */
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_seen"), 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 0);
    index_place_close(&place);
}

static int64_t hour_now(void)
{
    return clock_wall_us(&place.clock.base) / (INT64_C(3600) * SECOND_US);
}

/* Counts of many offers in an hour, some time ago, each looked at once and clicked by one of two.
 */
static void insert_hour(int64_t hour, const char *category, int count)
{
    struct err err = {0};

    OK(store_write_one(
        place.store,
        "INSERT INTO click_hour (hour, offer, category, shows, looks, clicks, contacts, "
        "favourites, changed_us) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < $4) SELECT CAST($1 AS BIGINT), 'o' || i, CAST($3 AS TEXT), 1, 1000000, "
        "i % 2, 0, 0, CAST($2 AS BIGINT) + i FROM n",
        STORE_WITH(STORE_V_INT(hour), STORE_V_INT(clock_wall_us(&place.clock.base)),
                   STORE_V_STRING(category), STORE_V_INT(count)),
        NULL, &err));
}

/* A batch has room for so many rows, of which fewer are offers: the round goes on. */
static void offers_of_several_hours_are_sent_by_one_round(void **state)
{
    struct err err = {0};
    size_t count;

    begin(state);
    for (int i = 0; i < 3; i++)
        insert_hour(hour_now() - i, "bikes", RATER_BATCH_COUNT);
    clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(read_integer(place.store, "SELECT value FROM click_value WHERE name = "
                                               "'sent_us'"),
                     read_integer(place.store, "SELECT MAX(changed_us) FROM click_hour"));
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(count, 0);
    index_place_close(&place);
}

static void an_offer_is_of_the_category_it_was_clicked_in_last(void **state)
{
    struct err err = {0};
    size_t count;

    begin(state);
    place_put(&place, LANE_MAIN, "o2", 1, 10);
    insert_hour(hour_now() - 1, "yachts", 1000); /* half of the looks are clicked */
    insert_hour(hour_now(), "bikes", 2);
    OK(store_write_one(place.store, "UPDATE click_hour SET clicks = 0 WHERE category = 'bikes'",
                       NULL, 0, NULL, &err));
    clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
    OK(rater_round(&rater, &count, &err));
    receive();
    assert_true(in_registry("o2", OFFER_FIELD_CTR) == 0); /* of a category that nobody clicks */
    index_place_close(&place);
}

/* What happened more than a week ago sinks and lifts nobody, though nothing happens to it since. */
static void rates_fade_when_their_counts_leave(void **state)
{
    const int64_t hour_us = INT64_C(3600) * SECOND_US;
    struct err err = {0};
    size_t count;

    begin(state);
    place_put(&place, LANE_MAIN, "a", 1, 10);
    place_put(&place, LANE_MAIN, "b", 1, 10);
    for (int i = 0; i < 40; i++) {
        const char *session = arena_printf(place.arena, "v%d", i);

        record(session, "", TORG__V1__EVENT__KIND__SHOW, "b", "1", 1);
        click(session, "a", "2");
    }
    clock_manual_advance(&place.clock, 2 * hour_us);
    click("later", "a", "1"); /* of a the last hour leaves two hours later */
    clock_manual_advance(&place.clock, INT64_C(60) * SECOND_US);
    OK(rater_round(&rater, &count, &err));
    receive();
    assert_true(in_registry("a", OFFER_FIELD_APPEAL) > 1.2);
    assert_true(in_registry("b", OFFER_FIELD_APPEAL) < 0.5);
    clock_manual_advance(&place.clock, hour_us * (RATE_WINDOW_HOURS - 1));
    OK(rater_round(&rater, &count, &err));
    receive();
    assert_int_equal(count, 2);
    assert_true(in_registry("b", OFFER_FIELD_APPEAL) == 1);
    assert_true(in_registry("b", OFFER_FIELD_LOOKS) == 0);
    assert_true(in_registry("a", OFFER_FIELD_APPEAL) > 1); /* by the click that is left */
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 1);
    clock_manual_advance(&place.clock, 3 * hour_us);
    OK(rater_round(&rater, &count, &err));
    receive();
    assert_true(in_registry("a", OFFER_FIELD_APPEAL) == 1);
    assert_true(in_registry("a", OFFER_FIELD_CTR) == 0); /* nothing is known of the category */
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 0);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(count, 0);
    index_place_close(&place);
}

/* An hour whose table could not be written is kept until it is, a month at most. */
static void counts_wait_for_their_table(void **state)
{
    const int64_t hour_us = INT64_C(3600) * SECOND_US;
    struct blob *blob = NULL;
    struct err err = {0};
    size_t count;

    begin(state);
    OK(blob_open("memory:", &blob, &err));
    rater.blob = blob;
    for (int i = 0; i < 2; i++) {
        click("s", i ? "b" : "a", i ? "2" : "1");
        clock_manual_advance(&place.clock, hour_us * (RATE_WINDOW_HOURS + 2));
        OK(rater_round(&rater, &count, &err));
        assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 1);
        if (i == 0)
            OK(hour_tables_write(place.store, blob, clock_wall_us(&place.clock.base), &count,
                                 &err));
        else
            clock_manual_advance(&place.clock, hour_us * HOUR_TABLE_WAIT_HOURS);
        OK(rater_round(&rater, &count, &err));
        assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM click_hour"), 0);
    }
    blob_close(blob);
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

/* --- what is clicked after a text --- */

static uint32_t click_after(const char *text, uint64_t address, const char *session,
                            const char *seller, const char *offer)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct violations reasons = violations_in(place.arena);
    Torg__V1__Event event = TORG__V1__EVENT__INIT;
    Torg__V1__Event *list[] = {&event};
    struct err err = {0};
    uint32_t counted;

    event.id = (char *)offer;
    event.kind = TORG__V1__EVENT__KIND__CLICK;
    event.offer_id = (char *)offer;
    event.text = (char *)text;
    request.session = (char *)session;
    request.events = list;
    request.n_events = 1;
    OK(events_record(&events, &(struct event_sender){seller, address}, &request, &reasons, &counted,
                     &err));
    return counted;
}

static int64_t visits_after(const char *text, const char *category)
{
    return read_integer(
        place.store, arena_printf(place.arena,
                                  "SELECT CAST(COALESCE(SUM(visits), 0) AS BIGINT) FROM click_text "
                                  "WHERE text = '%s' AND category = '%s'",
                                  text, category));
}

static void who_clicks_after_a_text_teaches_once(void **state)
{
    const int64_t day_us = INT64_C(24) * 3600 * SECOND_US;
    struct err err = {0};
    size_t count;

    begin(state);
    assert_int_equal(click_after(" red   bike", 1, "s1", "", "a"), 1);
    assert_int_equal(click_after("red bike", 1, "s1", "", "b"), 1);      /* it counts as a click */
    assert_int_equal(click_after("red bike", 1, "another", "", "a"), 0); /* sessions are cheap */
    assert_int_equal(visits_after("red bike", "bikes"), 1);
    click_after("red bike", 2, "s2", "", "a");
    click_after("red bike", 2, "s2", "", "z");
    click_after("red bike", 3, "own", "shop", "a"); /* the seller's own offer */
    click_after("red bike", 3, "none", "", "nobody");
    assert_int_equal(visits_after("red bike", "bikes"), 2);
    assert_int_equal(visits_after("red bike", "boats"), 1);
    assert_int_equal(click_after("bike", 2, "s3", "", "a"),
                     0); /* no other click, yet it is meant */
    assert_int_equal(visits_after("bike", "bikes"), 1);
    click_after("red bike", 0, "of a front end", "", "a"); /* it names its visitors */
    click_after("red bike", 0, "of another visitor", "", "a");
    assert_int_equal(visits_after("red bike", "bikes"), 4);
    clock_manual_advance(&place.clock, day_us * CLICK_TEXT_DAYS);
    OK(rater_round(&rater, &count, &err)); /* who came long ago may teach again */
    click_after("red bike", 1, "later", "", "a");
    assert_int_equal(visits_after("red bike", "bikes"), 5);
    clock_manual_advance(&place.clock, day_us);
    OK(rater_round(&rater, &count, &err)); /* the old ones go */
    assert_int_equal(visits_after("red bike", "bikes"), 1);
    index_place_close(&place);
}

/* The bits of all rows of these words, whatever the category and the day. */
static int marks_after(const char *text)
{
    struct store_rows rows =
        store_read_rows(place.store, "SELECT marks FROM click_text WHERE LOWER(text) LIKE $1",
                        STORE_WITH(STORE_V_STRING(arena_printf(place.arena, "%%%s%%", text))));
    struct err err = {0};
    uint64_t marks = 0;

    while (store_next(&rows))
        marks |= (uint64_t)rows.columns[0].integer;
    OK(store_rows_end(&rows, &err));
    return __builtin_popcountll(marks);
}

/* Marks are the same on each run: of these visitors each has another. */
static void who_clicks_on_many_days_is_one_person(void **state)
{
    struct err err = {0};
    size_t count;

    begin(state);
    for (int day = 0; day < 9; day += 3) { /* what was counted once is forgotten between */
        click_after("Ivan Petrov", 1, arena_printf(place.arena, "s%d", day), "", "a");
        click_after("petrov,  ivan", 1, arena_printf(place.arena, "t%d", day), "", "z");
        click_after("red ivan", 0, "of a front end", "", "a");
        clock_manual_advance(&place.clock, INT64_C(3) * 24 * 3600 * SECOND_US);
        OK(rater_round(&rater, &count, &err));
    }
    assert_int_equal(visits_after("Ivan Petrov", "bikes"), 3);
    assert_int_equal(visits_after("petrov, ivan", "boats"), 3);
    assert_int_equal(marks_after("petrov"), 1);
    assert_int_equal(visits_after("red ivan", "bikes"), 3);
    assert_int_equal(marks_after("red ivan"), 1);
    click_after("Ivan Petrov", 2, "another", "", "a");
    click_after("ivan petrov", 3, "a third", "", "a");
    assert_int_equal(marks_after("petrov"), 3);
    click_after("red ivan", 0, "of another visitor", "", "a");
    assert_int_equal(marks_after("red ivan"), 2);
    index_place_close(&place);
}

/* --- tables of an hour --- */

struct piece {
    struct buf content;
    size_t at;
};

static int read_piece(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct piece *piece = arg;
    size_t left = piece->content.size - piece->at;

    (void)err;
    *got = left < size ? left : size;
    memcpy(to, piece->content.data + piece->at, *got);
    piece->at += *got;
    return 0;
}

/* The hour's offers with their clicks, "a 2 b 1 "; "-": there is no table of it. */
static const char *table_of(struct blob *blob, int64_t hour)
{
    struct piece piece = {.content = BUF_INIT(1 << 20)};
    const char *text = "";
    const struct avro_value *row;
    struct avro_reader *reader;
    char name[HOUR_TABLE_NAME_SIZE];
    struct err err = {0};

    hour_table_name(hour, name);
    if (blob_get(blob, name, &piece.content, &err) == ERR_NOT_FOUND)
        return "-";
    OK(avro_reader_open(read_piece, &piece, &reader, &err));
    for (;;) {
        OK(avro_reader_next(reader, &row, &err));
        if (!row)
            break;
        text = arena_printf(place.arena, "%s%s %" PRId64 " ", text,
                            arena_text(place.arena, row[avro_reader_find(reader, "offer")].text),
                            row[avro_reader_find(reader, "clicks")].number);
    }
    avro_reader_close(reader);
    buf_release(&piece.content);
    return text;
}

static void an_hour_that_is_over_is_a_table(void **state)
{
    const int64_t hour_us = INT64_C(3600) * SECOND_US;
    struct blob *blob = NULL;
    struct err err = {0};
    int64_t first;
    size_t count;

    begin(state);
    OK(blob_open("memory:", &blob, &err));
    first = clock_wall_us(&place.clock.base) / hour_us;
    click("s1", "b", "1");
    click("s1", "a", "2");
    click("s2", "a", "1");
    OK(hour_tables_write(place.store, blob, clock_wall_us(&place.clock.base), &count, &err));
    assert_int_equal(count, 0);                      /* it goes on */
    clock_manual_advance(&place.clock, 2 * hour_us); /* nothing happens in the next */
    click("s3", "z", "1");
    OK(hour_tables_write(place.store, blob, clock_wall_us(&place.clock.base), &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(table_of(blob, first), "a 2 b 1 ");
    assert_string_equal(table_of(blob, first + 1), "-");
    assert_string_equal(table_of(blob, first + 2), "-");
    clock_manual_advance(&place.clock, 2 * hour_us);
    OK(hour_tables_write(place.store, blob, clock_wall_us(&place.clock.base), &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(table_of(blob, first + 2), "z 1 ");
    OK(hour_tables_write(place.store, blob, clock_wall_us(&place.clock.base), &count, &err));
    assert_int_equal(count, 0);
    clock_manual_advance(&place.clock, HOUR_TABLE_KEEP_HOURS * hour_us);
    click("late", "a", "1");
    clock_manual_advance(&place.clock, 2 * hour_us);
    OK(hour_tables_write(place.store, blob, clock_wall_us(&place.clock.base), &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(table_of(blob, first), "-"); /* too old */
    assert_string_equal(table_of(blob, first + 4 + HOUR_TABLE_KEEP_HOURS), "a 1 ");
    blob_close(blob);
    index_place_close(&place);
}

/* --- by topic --- */

static void produce(struct topic_record record)
{
    struct err err = {0};

    OK(topic_produce(place.topics, TOPIC_EVENTS, &record, 1, NULL, &err));
}

/* Each of an offer of its own. */
static void produce_click(const char *session, const char *offer, const char *seller)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    Torg__V1__Event event = TORG__V1__EVENT__INIT;
    Torg__V1__Event *list[] = {&event};

    event.id = (char *)offer;
    event.kind = TORG__V1__EVENT__KIND__CLICK;
    event.offer_id = (char *)offer;
    request.session = (char *)session;
    request.seller = (char *)seller;
    request.events = list;
    request.n_events = 1;
    message_encode(&request.base, &wire);
    produce((struct topic_record){.key = bytes_of(session), .value = buf_bytes(&wire)});
    buf_release(&wire);
}

static void wait_for(int64_t (*read)(void), int64_t wanted)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)PATIENCE_MS * MS_US;

    while (read() != wanted) {
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("%" PRId64 ", wanted %" PRId64, read(), wanted);
        pause_ms(5);
    }
}

static int64_t read_clicks(void)
{
    return read_integer(place.store,
                        "SELECT CAST(COALESCE(SUM(clicks), 0) AS BIGINT) FROM click_hour");
}

static int64_t count_parked(void)
{
    return read_integer(place.store, "SELECT COUNT(*) FROM parked WHERE stage = 'events'");
}

static void events_of_the_topic_count_once_beside_the_call(void **state)
{
    struct event_inbox *inbox = NULL;
    struct err err = {0};

    begin(state);
    events.clock = clock_system(); /* a reader of its own waits by it */
    OK(stage_make_topic(place.topics, TOPIC_EVENTS, &err));
    assert_int_equal(click("t1", "a", "a"), 1);
    produce_click("t1", "a", "");     /* came by the call */
    produce_click("t1", "b", "shop"); /* the seller's own */
    produce_click("t1", "c", "");
    produce_click("t1", "c", "");                                                  /* sent twice */
    produce((struct topic_record){.key = bytes_of("t1"), .value = bytes_of("x")}); /* is none */
    produce_click("t1", "d", "");
    if (event_inbox_start(&events, place.topics, &inbox, &err))
        fail_msg("%s", err.text);
    wait_for(count_parked, 1);
    wait_for(read_clicks, 3);
    event_inbox_stop(inbox);
    assert_int_equal(read_clicks(), 3);
    index_place_close(&place);
}

/* --- two formulas compared --- */

enum { LIST_COUNT = 10, EVENTS_OF_VISIT = 3 * LIST_COUNT };

static const struct experiment compared = {.formulas = {"score", "score * 2"}, .id = 0xBEEF};

/* Visitors, some of whom are robots and sellers. */
struct visitor {
    const char *session, *seller;
    uint64_t seed;         /* of the list that he is shown */
    const char *orders[2]; /* offers, by each formula */
    Torg__V1__Event *events[EVENTS_OF_VISIT];
    size_t count;
};

static void do_event(struct visitor *visitor, Torg__V1__Event__Kind kind, char offer, uint32_t at)
{
    Torg__V1__Event *event = MESSAGE_NEW(event, place.arena);
    char name[EXPERIMENT_LIST_SIZE];

    experiment_list_name(&compared, visitor->seed, name);
    event->id = arena_printf(place.arena, "%zu", visitor->count);
    event->kind = kind;
    event->offer_id = arena_printf(place.arena, "%c", offer);
    event->position = at + 1;
    event->query_id = arena_printf(place.arena, "%s.page", name);
    visitor->events[visitor->count++] = event;
}

static uint32_t send_visit(struct visitor *visitor)
{
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    struct violations reasons = violations_in(place.arena);
    const struct event_sender sender = {visitor->seller, 0};
    struct err err = {0};
    uint32_t counted;

    request.session = (char *)visitor->session;
    request.events = visitor->events;
    request.n_events = visitor->count;
    if (events_record(&events, &sender, &request, &reasons, &counted, &err))
        fail_msg("%s", err.text);
    return counted;
}

/* A list of both orders; who looks at it clicks what he likes: the offers behind "e". */
static void visit(struct visitor *visitor, struct rng *rng)
{
    bool is_there[256] = {false};

    for (uint32_t at = 0; at < LIST_COUNT; at++) {
        const char *order = visitor->orders[experiment_side_at(visitor->seed, at)];

        while (is_there[(unsigned char)*order])
            order++;
        is_there[(unsigned char)*order] = true;
        do_event(visitor, TORG__V1__EVENT__KIND__SHOW, *order, at);
        if (rng_below(rng, 100) >= (*order > 'e' ? 40 : 10) / (1 + at / 3))
            continue;
        do_event(visitor, TORG__V1__EVENT__KIND__CLICK, *order, at);
        if (rng_below(rng, 3) == 0)
            do_event(visitor, TORG__V1__EVENT__KIND__CONTACT, *order, at);
    }
    send_visit(visitor);
}

static const Torg__V1__Experiment *compare(const char *order_a, const char *order_b, int visits)
{
    Torg__V1__ListExperimentsResponse *response =
        MESSAGE_NEW(list_experiments_response, place.arena);
    struct rng rng = rng_seeded(21); /* of equal ones, one seed of twenty is told to differ */
    struct err err = {0};

    events.experiment = &compared;
    for (int i = 0; i < visits; i++) {
        struct visitor one = {.session = arena_printf(place.arena, "visit-%d", i),
                              .seller = "",
                              .seed = rng_next(&rng),
                              .orders = {order_a, order_b}};

        visit(&one, &rng);
    }
    OK(experiments_list(place.store, &compared, place.arena, response, &err));
    assert_int_equal(response->n_experiments, 1);
    assert_true(response->experiments[0]->is_running);
    return response->experiments[0];
}

static void the_formula_that_buyers_prefer_is_told(void **state)
{
    const Torg__V1__Experiment *told;

    begin(state);
    told = compare("abcdefghij", "fghijabcde", 300);
    assert_int_equal(told->control->shows + told->tried->shows, 300 * LIST_COUNT);
    assert_int_equal(told->control->shows, told->tried->shows); /* a place of two each */
    assert_true(told->tried->clicks > told->control->clicks);
    assert_true(told->lists->low > 0.5);
    assert_true(told->contacts->share > 0.5);
    assert_true(told->tried->click_rate->low > told->control->click_rate->share);
    assert_string_equal(told->tried->formula, "score * 2");
    index_place_close(&place);
}

static void equal_formulas_are_told_to_be_equal(void **state)
{
    const Torg__V1__Experiment *told;

    begin(state);
    told = compare("afbgchdiej", "afbgchdiej", 300);
    assert_true(told->lists->count > 100);
    assert_true(told->lists->low < 0.5 && told->lists->high > 0.5);
    assert_true(told->contacts->low < 0.5 && told->contacts->high > 0.5);
    index_place_close(&place);
}

static void expect_lists(int64_t control, int64_t tried)
{
    assert_int_equal(
        read_integer(place.store,
                     "SELECT CAST(COALESCE(SUM(lists), 0) AS BIGINT) FROM experiment_count "
                     "WHERE side = 0"),
        control);
    assert_int_equal(
        read_integer(place.store,
                     "SELECT CAST(COALESCE(SUM(lists), 0) AS BIGINT) FROM experiment_count "
                     "WHERE side = 1"),
        tried);
}

/* One after the other, as they come in calls of their own. */
static uint32_t click_place(const char *session, const char *seller, const char *id, uint32_t at)
{
    struct visitor one = {.session = session, .seller = seller, .seed = 1};

    do_event(&one, TORG__V1__EVENT__KIND__CLICK, (char)('a' + at % 26), at); /* a place each */
    one.events[0]->id = (char *)id;
    return send_visit(&one);
}

/* Each tenth is a new offer's. */
static void places_of_new_offers_are_credited_to_nobody(void **state)
{
    struct experiment with_new = compared;

    begin(state);
    with_new.new_every = 10;
    events.experiment = &with_new;
    for (uint32_t at = 0; at < 20; at++)
        assert_int_equal(click_place("s", "", arena_printf(place.arena, "%u", at), at), 1);
    assert_int_equal(
        read_integer(place.store, "SELECT CAST(SUM(clicks) AS BIGINT) FROM experiment_count"), 18);
    index_place_close(&place);
}

static void a_list_is_won_by_who_has_more_clicks_and_robots_win_none(void **state)
{
    uint32_t of_a = experiment_side_at(1, 0) == EXPERIMENT_A ? 0 : 1, of_b = 1 - of_a;
    uint32_t of_b_too = experiment_side_at(1, 2) == EXPERIMENT_B ? 2 : 3;
    struct err err = {0};
    size_t count;

    begin(state);
    events.experiment = &compared;
    assert_int_equal(click_place("s", "", "1", of_a), 1);
    expect_lists(1, 0);
    assert_int_equal(click_place("s", "", "1", of_a), 0); /* came again */
    assert_int_equal(click_place("s", "", "2", of_b), 1);
    expect_lists(0, 0);
    assert_int_equal(click_place("s", "", "3", of_b_too), 1);
    expect_lists(0, 1);
    assert_int_equal(click_place("s", "shop", "4", of_a), 0); /* the seller's own offer */
    assert_int_equal(click_place("s", "", "5", EXPERIMENT_PLACE_COUNT), 1); /* behind them */
    for (int i = 0; i < EVENT_SESSION_COUNT_MAX; i++)
        click("robot", "nobody", arena_printf(place.arena, "%d", i));
    assert_int_equal(click_place("robot", "", "6", of_a), 0);
    assert_int_equal(
        read_integer(place.store, "SELECT CAST(SUM(clicks) AS BIGINT) FROM experiment_count"), 3);
    events.experiment = NULL; /* it is over */
    assert_int_equal(click_place("late", "", "7", of_a), 1);
    assert_int_equal(
        read_integer(place.store, "SELECT CAST(SUM(clicks) AS BIGINT) FROM experiment_count"), 3);
    clock_manual_advance(&place.clock, INT64_C(3600) * SECOND_US * 50);
    OK(rater_round(&rater, &count, &err));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM experiment_list"), 0);
    index_place_close(&place);
}

static void few_say_little(void **state)
{
    Torg__V1__ExperimentShare share = TORG__V1__EXPERIMENT_SHARE__INIT;

    (void)state;
    experiment_share(0, 0, &share);
    assert_true(share.low == 0 && share.high == 1);
    experiment_share(3, 3, &share);
    assert_true(share.low > 0.4 && share.low < 0.5 && share.high == 1);
    experiment_share(60, 100, &share); /* as tables of Wilson's interval have it */
    assert_true(share.low > 0.5019 && share.low < 0.5021);
    assert_true(share.high > 0.6905 && share.high < 0.6907);
}

static const struct test_case cases[] = {
    CASE(only_what_a_person_did_first_is_counted),
    CASE(an_address_is_limited_whatever_its_sessions_are),
    CASE(who_clicks_an_offer_again_and_again_counts_once),
    CASE(who_looks_at_an_offer_again_and_again_has_looked_once),
    CASE(what_is_wrong_is_told_and_counts_nothing),
    CASE(a_rate_follows_clicks_positions_and_the_category),
    CASE(clicks_without_looks_level_no_category),
    CASE(an_offer_that_is_clicked_rises_within_the_hour),
    CASE(much_is_sent_and_swept_by_one_round),
    CASE(offers_of_several_hours_are_sent_by_one_round),
    CASE(an_offer_is_of_the_category_it_was_clicked_in_last),
    CASE(rates_fade_when_their_counts_leave),
    CASE(counts_wait_for_their_table),
    CASE(retyped_queries_are_counted_by_visits_and_forgotten),
    CASE(who_clicks_after_a_text_teaches_once),
    CASE(who_clicks_on_many_days_is_one_person),
    CASE(an_hour_that_is_over_is_a_table),
    CASE(events_of_the_topic_count_once_beside_the_call),
    CASE(the_formula_that_buyers_prefer_is_told),
    CASE(equal_formulas_are_told_to_be_equal),
    CASE(places_of_new_offers_are_credited_to_nobody),
    CASE(a_list_is_won_by_who_has_more_clicks_and_robots_win_none),
    CASE(few_say_little),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "clicks"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

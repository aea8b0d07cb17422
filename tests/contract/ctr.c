/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of clicks that were made elsewhere, on SQLite and PostgreSQL: a table is in force from one
 * moment to the next, what was counted here since is added, and an older one never wins.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "clicks/bounds.h"
#include "clicks/rate.h"
#include "clicks/rate_table.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "contract/clicks_fixture.h"
#include "model/offer_fields.h"

static const int64_t hour_us = INT64_C(3600) * SECOND_US;

static struct rate_desk desk_here(void)
{
    return (struct rate_desk){.store = place.store, .clock = &place.clock.base};
}

static int try_begin_of(const char *who, int64_t epoch_us, int64_t *push, struct err *err)
{
    Torg__V1__BeginCtrPushRequest request = TORG__V1__BEGIN_CTR_PUSH_REQUEST__INIT;
    const struct rate_desk desk = desk_here();

    request.epoch_time = moment_message(epoch_us, place.arena);
    return rate_table_begin(&desk, &request, who, push, err);
}

static int try_begin(int64_t epoch_us, int64_t *push, struct err *err)
{
    return try_begin_of("tester", epoch_us, push, err);
}

static int64_t begin_push_of(const char *who, int64_t epoch_us)
{
    struct err err = {0};
    int64_t push = 0;

    OK(try_begin_of(who, epoch_us, &push, &err));
    return push;
}

static int64_t begin_push(int64_t epoch_us)
{
    struct err err = {0};
    int64_t push = 0;

    OK(try_begin(epoch_us, &push, &err));
    return push;
}

struct table_row {
    const char *offer, *category;
    int64_t clicks, looks;
};

static int try_add(int64_t push, const struct table_row *rows, size_t count,
                   struct violations *reasons, struct err *err)
{
    Torg__V1__PushCtrRequest request = TORG__V1__PUSH_CTR_REQUEST__INIT;
    const struct rate_desk desk = desk_here();

    request.push = push;
    request.counts = arena_array(place.arena, count + 1, sizeof(request.counts[0]));
    for (size_t i = 0; i < count; i++) {
        Torg__V1__CtrCount *made = MESSAGE_NEW(ctr_count, place.arena);

        made->offer_id = (char *)rows[i].offer;
        made->category = (char *)rows[i].category;
        made->clicks = rows[i].clicks;
        made->looks = rows[i].looks * RATE_UNIT;
        made->line = (int64_t)i + 2;
        request.counts[request.n_counts++] = made;
    }
    return rate_table_add(&desk, &request, reasons, err);
}

static void add_rows(int64_t push, const struct table_row *rows, size_t count)
{
    struct violations reasons = violations_in(place.arena);
    struct err err = {0};

    OK(try_add(push, rows, count, &reasons, &err));
}

static int try_end(int64_t push, int64_t row_count, bool give_up, struct err *err)
{
    Torg__V1__EndCtrPushRequest request = TORG__V1__END_CTR_PUSH_REQUEST__INIT;
    const struct rate_desk desk = desk_here();

    request.push = push;
    request.row_count = row_count;
    request.give_up = give_up;
    return rate_table_end(&desk, &request, "tester", err);
}

static void push_rows(int64_t epoch_us, const struct table_row *rows, size_t count)
{
    int64_t push = begin_push(epoch_us);
    struct err err = {0};

    add_rows(push, rows, count);
    OK(try_end(push, (int64_t)count, false, &err));
}

static size_t round_of_rates(void)
{
    struct err err = {0};
    size_t count;

    OK(rater_round(&rater, &count, &err));
    receive();
    return count;
}

static void later(int64_t us)
{
    clock_manual_advance(&place.clock, us);
}

static int64_t now(void)
{
    return clock_wall_us(&place.clock.base);
}

static int64_t this_hour(void)
{
    return now() / hour_us * hour_us;
}

static double rate(const char *offer)
{
    return in_registry(offer, OFFER_FIELD_CTR);
}

static void put_offers(void)
{
    static const char *const offers[] = {"a", "b", "c"};

    for (size_t i = 0; i < ARRAY_COUNT(offers); i++)
        place_put(&place, LANE_MAIN, offers[i], 1, 10);
}

/* One thousand looks each. */
static const struct table_row usual[] = {
    {"a", "bikes", 10, 1000}, {"b", "bikes", 200, 1000}, {"gone", "bikes", 1, 1000}};

/* The rate of usual's category, and of an offer by it. */
static double rate_by(double clicks, double looks)
{
    const double prior = 211. / (3000 + RATE_PRIOR_LOOKS);

    return (clicks + RATE_PRIOR_LOOKS * prior) / (looks + RATE_PRIOR_LOOKS);
}

static bool is_near(double value, double wanted)
{
    return fabs(value - wanted) < 0.000002;
}

static void a_table_is_in_force_when_it_is_whole(void **state)
{
    struct err err = {0};
    int64_t push;

    begin(state);
    put_offers();
    push = begin_push(this_hour());
    add_rows(push, usual, 2);
    assert_int_equal(round_of_rates(), 0); /* nothing is seen of it */
    assert_true(rate("a") < 0);
    assert_int_equal(try_end(push, 3, false, &err), ERR_PRECONDITION); /* a row was lost */
    assert_int_equal(round_of_rates(), 0);
    add_rows(push, usual + 2, 1);
    OK(try_end(push, 3, false, &err));
    assert_int_equal(round_of_rates(), 3);
    assert_true(is_near(rate("a"), rate_by(10, 1000)));
    assert_true(is_near(rate("b"), rate_by(200, 1000)));
    assert_true(rate("c") < 0); /* it is not in it */
    assert_int_equal(round_of_rates(), 0);
    OK(try_end(push, 3, false, &err)); /* as the answer may be lost */
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM audit WHERE action = 'ctr.push'"), 1);
    assert_int_equal(round_of_rates(), 0);
    assert_int_equal(try_end(push, 2, false, &err), ERR_NOT_FOUND); /* it is over */
    assert_int_equal(try_end(push, 3, true, &err), ERR_NOT_FOUND);
    index_place_close(&place);
}

static void hours_since_are_added_and_those_before_replaced(void **state)
{
    begin(state);
    put_offers();
    clock_manual_advance(&place.clock, this_hour() + hour_us - now()); /* the beginning of one */
    click("before", "a", "1"); /* of these the table tells */
    click("before", "c", "2");
    later(hour_us);
    push_rows(this_hour(), usual, 3);
    click("since", "a", "1");
    later(SECOND_US * 60);
    round_of_rates();
    assert_true(rate("a") > rate_by(10, 1000) && rate("a") < rate_by(12, 1000));
    assert_true(rate("c") > rate_by(0, 0)); /* it is not in the table: as it was counted */
    later(SECOND_US);
    for (int i = 0; i < 50; i++)
        click(arena_printf(place.arena, "s%d", i), "a", "1");
    later(SECOND_US * 60);
    assert_int_equal(round_of_rates(), 1); /* of its own accord, over the table's */
    assert_true(rate("a") > rate_by(60, 1000) && rate("a") < rate_by(63, 1000));
    index_place_close(&place);
}

static void an_older_table_never_wins(void **state)
{
    static const struct table_row other[] = {{"a", "bikes", 900, 1000}};
    struct err err = {0};
    int64_t slow, push = 0;
    double newest;

    begin(state);
    put_offers();
    slow = begin_push(this_hour() - hour_us);
    add_rows(slow, other, 1);
    push_rows(this_hour(), usual, 3);
    round_of_rates();
    newest = rate("a");
    assert_int_equal(try_end(slow, 1, false, &err), ERR_NOT_FOUND); /* it is swept already */
    assert_int_equal(try_begin(this_hour(), &push, &err), ERR_PRECONDITION); /* as late */
    assert_int_equal(try_begin(this_hour() - hour_us, &push, &err), ERR_PRECONDITION);
    assert_int_equal(try_begin(now() + SECOND_US, &push, &err), ERR_INVALID); /* of the future */
    round_of_rates();
    assert_true(is_near(rate("a"), newest));
    /* and a later one does, though it says less */
    later(hour_us);
    push_rows(this_hour(), other, 1);
    round_of_rates();
    assert_true(rate("a") > 0.5);
    index_place_close(&place);
}

static void an_empty_table_is_refused(void **state)
{
    struct err err = {0};
    int64_t push;

    begin(state);
    put_offers();
    push_rows(this_hour() - hour_us, usual, 3);
    push = begin_push(this_hour());
    assert_int_equal(try_end(push, 0, false, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "row_count: 0"));
    round_of_rates();
    assert_true(is_near(rate("a"), rate_by(10, 1000)));
    OK(try_end(push, 0, true, &err));
    index_place_close(&place);
}

/* Of two that are loaded at once the later epoch stays, whoever ends last. */
static void who_ends_last_does_not_win(void **state)
{
    static const struct table_row other[] = {{"a", "bikes", 900, 1000}};
    struct err err = {0};
    int64_t slow;

    begin(state);
    put_offers();
    slow = begin_push(this_hour() - hour_us);
    add_rows(slow, other, 1);
    push_rows(this_hour(), usual, 3);
    assert_int_equal(try_end(slow, 1, false, &err), ERR_PRECONDITION);
    round_of_rates();
    assert_true(is_near(rate("a"), rate_by(10, 1000)));
    index_place_close(&place);
}

static void expect_refused(int64_t push, const struct table_row *rows, size_t count,
                           const char *what)
{
    struct violations reasons = violations_in(place.arena);
    struct err err = {0};

    assert_int_equal(try_add(push, rows, count, &reasons, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, what));
}

static void a_row_that_is_wrong_is_named(void **state)
{
    static const struct table_row twice[] = {{"a", "", 1, 1}, {"b", "", 1, 1}, {"a", "", 2, 2}};
    static const struct table_row nameless[] = {{"b", "", 1, 1}, {"", "", 1, 1}};
    static const struct table_row negative[] = {{"b", "", -1, 1}};
    static const struct table_row one[] = {{"a", "", 1, 1}};
    struct violations reasons;
    struct err err = {0};
    int64_t push;

    begin(state);
    push = begin_push(this_hour());
    reasons = violations_in(place.arena);
    expect_refused(push, twice, 3, "line 4, offer: \"a\" comes twice");
    expect_refused(push, nameless, 2, "line 3, offer: has 0 bytes");
    expect_refused(push, negative, 1, "line 2, clicks: is -1");
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_count"), 0);
    add_rows(push, one, 1);
    expect_refused(push, one, 1, "line 2, offer: \"a\" comes twice"); /* and of another call */
    OK(try_end(push, 0, true, &err));
    assert_int_equal(try_add(push, one, 1, &reasons, &err), ERR_PRECONDITION); /* given up */
    assert_int_equal(try_add(push + 1, one, 1, &reasons, &err), ERR_PRECONDITION);
    index_place_close(&place);
}

static void categories_of_a_table_are_bounded(void **state)
{
    static const struct table_row last[] = {{"a", "last", 1, 10}};
    static const struct table_row more[] = {{"b", "one more", 1, 10}};
    static const struct table_row known[] = {{"b", "last", 1, 10}};
    struct err err = {0};
    int64_t push;

    begin(state);
    push = begin_push(this_hour());
    OK(store_write_one(
        place.store,
        "INSERT INTO ctr_category (load, category, clicks, looks) WITH RECURSIVE "
        "n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2) "
        "SELECT CAST($1 AS BIGINT), CAST(i AS TEXT), 1, 1 FROM n",
        STORE_WITH(STORE_V_INT(push), STORE_V_INT(RATE_TABLE_CATEGORY_COUNT_MAX - 1)), NULL, &err));
    add_rows(push, last, 1);
    expect_refused(push, more, 1, "category: a table names at most 20000");
    add_rows(push, known, 1); /* what was refused has left nothing */
    OK(try_end(push, 2, false, &err));
    index_place_close(&place);
}

static void tables_that_are_not_in_force_are_removed(void **state)
{
    struct err err = {0};
    int64_t left;

    begin(state);
    push_rows(this_hour() - 2 * hour_us, usual, 3);
    left = begin_push(this_hour());
    add_rows(left, usual, 2);
    round_of_rates();
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_count"), 5);
    push_rows(this_hour() - hour_us, usual, 3);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_count"), 8);
    round_of_rates();
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_count"), 5);
    later((int64_t)RATE_TABLE_IDLE_S * SECOND_US);
    assert_int_equal(try_end(left, 2, false, &err), ERR_NOT_FOUND); /* nobody went on with it */
    round_of_rates();
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_count"), 3);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_load"), 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_category"), 1);
    index_place_close(&place);
}

/* Of an offer that the new table lacks the rate is by what is counted here, and not by the old one.
 */
static void a_table_that_is_replaced_leaves_no_rates(void **state)
{
    static const struct table_row before[] = {{"a", "bikes", 900, 1000}, {"b", "bikes", 0, 1000}};
    static const struct table_row after[] = {{"c", "bikes", 10, 1000}};
    int64_t push;

    begin(state);
    put_offers();
    push_rows(this_hour() - hour_us, before, 2);
    round_of_rates();
    assert_true(in_registry("a", OFFER_FIELD_APPEAL) > 1.5);
    assert_true(in_registry("b", OFFER_FIELD_APPEAL) < 0.5);
    later(SECOND_US);
    click("here", "b", "1");
    push = begin_push(this_hour());
    add_rows(push, after, 1);
    assert_int_equal(try_end(push, 1, false, &(struct err){0}), 0);
    later(SECOND_US * 60);
    round_of_rates();
    assert_true(in_registry("a", OFFER_FIELD_APPEAL) == 1);
    assert_true(in_registry("a", OFFER_FIELD_LOOKS) == 0);
    assert_true(in_registry("b", OFFER_FIELD_APPEAL) > 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_count"), 1);
    assert_int_equal(round_of_rates(), 0);
    index_place_close(&place);
}

/* A clock of another server that is ahead, and meanwhile rows come. */
static struct {
    int asked;
    int64_t push;
} ahead;

static int64_t ahead_us(const struct clock *clock)
{
    static const struct table_row more[] = {{"c", "bikes", 1, 10}};

    (void)clock;
    if (++ahead.asked == 2) { /* once it was found, before it is swept */
        later(SECOND_US);
        add_rows(ahead.push, more, 1);
    }
    return now() - (ahead.asked > 1 ? SECOND_US : 0) + (int64_t)RATE_TABLE_IDLE_S * SECOND_US;
}

static void rows_of_a_load_that_goes_on_stay(void **state)
{
    const struct clock clock = {.wall_us = ahead_us};
    struct rate_dead dead;
    struct err err = {0};
    struct rate_desk desk;
    size_t swept;

    begin(state);
    desk = (struct rate_desk){.store = place.store, .clock = &clock};
    ahead.asked = 0;
    ahead.push = begin_push(this_hour());
    add_rows(ahead.push, usual, 2);
    OK(rate_table_find_dead(&desk, &dead, &err));
    OK(rate_table_sweep(&desk, &dead, BYTES_EMPTY, &swept, &err));
    assert_int_equal(swept, 0);
    assert_true(ahead.asked >= 2);
    OK(try_end(ahead.push, 3, false, &err));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM ctr_count"), 3);
    index_place_close(&place);
}

static void loads_at_once_are_bounded(void **state)
{
    struct err err = {0};
    int64_t push;

    begin(state);
    for (int i = 0; i < RATE_TABLE_PUSH_COUNT_MAX; i++)
        push = begin_push_of("other", this_hour() - i * hour_us);
    assert_int_equal(try_begin(this_hour(), &push, &err), ERR_LIMIT);
    later((int64_t)RATE_TABLE_STILL_S * SECOND_US);
    assert_int_equal(try_begin(this_hour(), &push, &err), ERR_LIMIT); /* not of this caller */
    later((int64_t)RATE_TABLE_IDLE_S * SECOND_US);
    OK(try_begin(this_hour(), &push, &err));
    index_place_close(&place);
}

/* Of the same caller: those of the same epoch at once, others when they stand still. */
static void killed_pushes_give_way(void **state)
{
    struct violations reasons;
    struct err err = {0};
    int64_t first, push;

    begin(state);
    reasons = violations_in(place.arena);
    first = begin_push(this_hour());
    for (int i = 0; i < RATE_TABLE_PUSH_COUNT_MAX; i++)
        push = begin_push(this_hour());
    assert_int_equal(try_add(first, usual, 1, &reasons, &err), ERR_PRECONDITION);
    for (int i = 1; i < RATE_TABLE_PUSH_COUNT_MAX; i++)
        push = begin_push(this_hour() - i * hour_us);
    assert_int_equal(try_begin(this_hour() - SECOND_US, &push, &err), ERR_LIMIT);
    later((int64_t)RATE_TABLE_STILL_S * SECOND_US);
    OK(try_begin(this_hour() - SECOND_US, &push, &err));
    add_rows(push, usual, 3);
    OK(try_end(push, 3, false, &err));
    index_place_close(&place);
}

static int asked_count;

static void *switch_table(void *arg)
{
    push_rows(this_hour(), usual, 3);
    return arg;
}

/* When it is asked the second time, at the second step of a round, a table comes into force. */
static int64_t switching_us(const struct clock *clock)
{
    pthread_t thread;

    (void)clock;
    if (++asked_count == 2) { /* a thread of its own: here a transaction is under way */
        assert_int_equal(pthread_create(&thread, NULL, switch_table, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    return now();
}

static void a_table_amid_a_round_has_its_own_categories(void **state)
{
    static const struct table_row before[] = {{"a", "bikes", 900, 1000}};
    const struct clock clock = {.wall_us = switching_us};
    struct err err = {0};
    size_t count;

    begin(state);
    put_offers();
    push_rows(this_hour() - hour_us, before, 1);
    round_of_rates();
    OK(store_write_one(place.store,
                       "INSERT INTO click_hour (hour, offer, category, shows, looks, clicks, "
                       "contacts, favourites, changed_us) "
                       "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                       "WHERE i < $1) SELECT CAST($2 AS BIGINT), 'o' || CAST(i AS TEXT), 'boats', "
                       "1, 1, 1, 0, 0, CAST($3 AS BIGINT) FROM n",
                       STORE_WITH(STORE_V_INT(RATER_BATCH_COUNT), STORE_V_INT(now() / hour_us),
                                  STORE_V_INT(now())),
                       NULL, &err));
    later(SECOND_US * 60);
    asked_count = 0;
    rater.clock = &clock;
    OK(rater_round(&rater, &count, &err));
    receive();
    assert_int_equal(count, RATER_BATCH_COUNT + 3);
    assert_true(is_near(rate("a"), rate_by(10, 1000)));
    index_place_close(&place);
}

static void fill(struct table_row *rows, size_t count, int page)
{
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct table_row){arena_printf(place.arena, "o%d-%zu", page, i), "bikes", 1, 10};
}

/* More than a page of the rater's; it goes on where it was, and not from the beginning. */
static void a_large_table_is_sent_page_by_page(void **state)
{
    struct table_row rows[RATE_TABLE_ADD_COUNT];
    Torg__V1__GetCtrResponse told = TORG__V1__GET_CTR_RESPONSE__INIT;
    struct rate_desk desk;
    struct err err = {0};
    int64_t push;

    begin(state);
    desk = desk_here();
    push = begin_push(this_hour());
    for (int page = 0; page < 11; page++) {
        fill(rows, ARRAY_COUNT(rows), page);
        add_rows(push, rows, ARRAY_COUNT(rows));
    }
    OK(try_end(push, 11 * (int64_t)ARRAY_COUNT(rows), false, &err));
    assert_int_equal(round_of_rates(), RATER_BATCH_COUNT * RATER_ROUND_COUNT);
    OK(rate_table_list(&desk, place.arena, &told, &err));
    assert_false(told.current->is_sent);
    assert_int_equal(round_of_rates(),
                     11 * ARRAY_COUNT(rows) - (size_t)RATER_BATCH_COUNT * RATER_ROUND_COUNT);
    OK(rate_table_list(&desk, place.arena, &told, &err));
    assert_true(told.current->is_sent);
    assert_int_equal(told.current->row_count, 11 * ARRAY_COUNT(rows));
    assert_string_equal(told.current->loaded_by, "tester");
    assert_int_equal(round_of_rates(), 0);
    index_place_close(&place);
}

static const struct test_case cases[] = {
    CASE(a_table_is_in_force_when_it_is_whole),
    CASE(hours_since_are_added_and_those_before_replaced),
    CASE(an_older_table_never_wins),
    CASE(an_empty_table_is_refused),
    CASE(who_ends_last_does_not_win),
    CASE(a_row_that_is_wrong_is_named),
    CASE(categories_of_a_table_are_bounded),
    CASE(tables_that_are_not_in_force_are_removed),
    CASE(a_table_that_is_replaced_leaves_no_rates),
    CASE(rows_of_a_load_that_goes_on_stay),
    CASE(loads_at_once_are_bounded),
    CASE(killed_pushes_give_way),
    CASE(a_table_amid_a_round_has_its_own_categories),
    CASE(a_large_table_is_sent_page_by_page),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "ctr"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

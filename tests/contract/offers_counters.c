/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_counters.c - lists, counts and totals are verified and put right while others write, on
 * every backend.
 */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/inbox/messages.h"
#include "offers/lists/cabinet.h"
#include "offers/lists/counters.h"
#include "offers/record/offer_counts.h"

enum {
    LARGE_COUNT = 3 * RECOUNT_CHUNK_COUNT + 150, /* four chunks */
    WRITER_COUNT = 3,
    CHECKER_COUNT = 2,
    WRITE_COUNT = 60, /* of a writer, at the least */
    CHECK_COUNT = 4,  /* runs of a checker, at the least */
};

static struct offers_place *start(void **state)
{
    struct offers_place *place = *state;

    if (!place->store)
        skip();
    return place;
}

/* --- running it --- */

/* What one run told; texts of differences, a line each. */
struct told {
    struct arena *arena;
    char *lines;
    int64_t count;
    int64_t fixed;
    int64_t seller_count;
    bool done;
    char position[128];
};

static int take(void *arg, const Torg__V1__VerifyCountersResponse *answer, struct err *err)
{
    struct told *told = arg;

    for (size_t i = 0; i < answer->n_differences; i++) {
        const Torg__V1__CounterDifference *one = answer->differences[i];

        told->lines = arena_printf(told->arena, "%s%d %s %s %d %s %" PRId64 " %" PRId64 " %d\n",
                                   told->lines, (int)one->kind, one->seller, one->name, one->row,
                                   *one->offer_id ? "offer" : "-", one->was, one->is, one->fixed);
    }
    told->count = answer->difference_count;
    told->fixed = answer->fixed_count;
    told->seller_count = answer->seller_count;
    told->done = answer->done;
    snprintf(told->position, sizeof(told->position), "%s", answer->position);
    return 0;
}

/* Threads use it too: a failure is for the caller to tell. */
static int check(struct offers_place *place, bool fix, const char *seller, struct told *told,
                 struct err *err)
{
    Torg__V1__VerifyCountersRequest request = TORG__V1__VERIFY_COUNTERS_REQUEST__INIT;
    const struct counters_teller teller = {.tell = take, .arg = told};
    struct counters_run run;
    int rc;

    *told = (struct told){.arena = told->arena, .lines = arena_strdup(told->arena, "")};
    request.fix = fix;
    request.seller = (char *)seller;
    rc = counters_start(&run, place->store, &place->clock.base, "test", &request, err);
    return rc ? rc : counters_go(&run, &teller, err);
}

static void check_ok(struct offers_place *place, bool fix, const char *seller, struct told *told)
{
    struct err err = {0};

    if (check(place, fix, seller, told, &err))
        fail_msg("%s", err.text);
    assert_true(told->done);
}

static void assert_nothing_differs(struct offers_place *place)
{
    struct told told = {.arena = arena_new()};

    check_ok(place, false, "", &told);
    if (told.count)
        fail_msg("%" PRId64 " differences:\n%s", told.count, told.lines);
    assert_int_equal(
        read_integer(place->store,
                     "SELECT CAST((SELECT COUNT(*) FROM user_offer_presets_count WHERE mark_us IS "
                     "NOT NULL) + (SELECT COUNT(*) FROM user_total_counters WHERE mark_us IS NOT "
                     "NULL) AS BIGINT)"),
        0);
    place_recount_figures(place);
    arena_free(told.arena);
}

static void assert_told(const struct told *told, const char *line)
{
    if (!strstr(told->lines, line))
        fail_msg("\"%s\" is not among:\n%s", line, told->lines);
}

/* --- what is broken is found, named, and put right --- */

static offerid create(struct offers_place *place, const char *seller)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(seller, arena);
    struct err err = {0};
    offerid id;

    if (offers_create(&place->offers, &author, content_of(arena, "books", 0, 100, "RUB"), &receipt,
                      &err))
        fail_msg("%s", err.text);
    id = id_of(receipt.id);
    arena_free(arena);
    return id;
}

static int move(struct offers_place *place, const char *seller, offerid id, enum offer_move move,
                struct err *err)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(seller, arena);
    int rc = offers_move(&place->offers, &author, id, 0, move, &receipt, err);

    arena_free(arena);
    return rc;
}

static void must_move(struct offers_place *place, const char *seller, offerid id,
                      enum offer_move how)
{
    struct err err = {0};

    if (move(place, seller, id, how, &err))
        fail_msg("%s", err.text);
}

static void broken_counters_are_named_and_fixed(void **state)
{
    struct offers_place *place = start(state);
    struct told told = {.arena = arena_new()};
    offerid ann[3];
    char sql[300];

    for (int i = 0; i < 3; i++)
        ann[i] = create(place, "ann");
    create(place, "bob");
    must_move(place, "ann", ann[0], MOVE_SELL_ON_SITE);
    must_move(place, "ann", ann[1], MOVE_DELETE);
    assert_nothing_differs(place);
    exec(place->store, "UPDATE user_offer_presets_count SET counter = 7 WHERE seller_id = 'ann' "
                       "AND preset_id = 2");
    exec(place->store, "UPDATE user_total_counters SET counter_value = 5 WHERE seller_id = 'ann' "
                       "AND counter_id = 'sold'");
    exec(place->store, "UPDATE user_total_counters SET counter_value = 55 WHERE seller_id = 'ann' "
                       "AND counter_id = 'money:RUB'");
    exec(place->store, "DELETE FROM user_offer_presets_count WHERE seller_id = 'bob' "
                       "AND preset_id = 1");
    snprintf(sql, sizeof(sql),
             "INSERT INTO user_total_counters (shard_id, seller_id, counter_id, seq_no, "
             "counter_value) VALUES (%u, 'ghost', 'banned', 4, 9)",
             seller_shard("ghost"));
    exec(place->store, sql);
    for (int fix = 0; fix < 2; fix++) {
        check_ok(place, fix, "", &told);
        assert_int_equal(told.count, 5);
        assert_int_equal(told.fixed, fix ? 5 : 0);
        assert_told(&told, fix ? "3 ann ACTIVE 0 - 7 1 1" : "3 ann ACTIVE 0 - 7 1 0");
        assert_told(&told, fix ? "3 bob ALL 0 - 0 1 1" : "3 bob ALL 0 - 0 1 0");
        assert_told(&told, "ann sold ");
        assert_told(&told, " - 5 1 ");
        assert_told(&told, "ann money:RUB ");
        assert_told(&told, " - 55 100 ");
        assert_told(&told, fix ? "4 ghost banned 4 - 9 0 1" : "4 ghost banned 4 - 9 0 0");
    }
    assert_nothing_differs(place);
    place_recount(place);
    assert_int_equal(read_integer(place->store,
                                  "SELECT repair_no FROM user_offer_presets_count WHERE "
                                  "seller_id = 'ann' AND preset_id = 2"),
                     1);
    assert_int_equal(
        read_integer(place->store, "SELECT COUNT(*) FROM audit WHERE action = 'counters.fix'"), 3);
    arena_free(told.arena);
}

static void create_waiting(struct offers_place *place, const char *seller)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(seller, arena);
    Torg__V1__OfferContent *content = content_of(arena, "rings", 1, 9, "RUB");
    Torg__V1__Photo *photo = (Torg__V1__Photo *)message_new(&torg__v1__photo__descriptor, arena);
    struct err err = {0};

    photo->source_url = arena_strdup(arena, "https://example.org/1.jpg");
    content->photos = &photo;
    content->n_photos = 1;
    if (offers_create(&place->offers, &author, content, &receipt, &err))
        fail_msg("%s", err.text);
    assert_int_equal(receipt.status, TORG__V1__OFFER__STATUS__WAITING);
    arena_free(arena);
}

/* Every status has a list that is recounted. */
static void an_offer_of_every_status_is_recounted(void **state)
{
    struct offers_place *place = start(state);
    struct told told = {.arena = arena_new()};
    char sql[300];

    place_fill(place, "big", 36); /* of all but those that wait */
    create_waiting(place, "big");
    assert_nothing_differs(place);
    for (size_t i = 0; i < PRESET_ID_COUNT; i++) {
        snprintf(sql, sizeof(sql),
                 "UPDATE user_offer_presets_count SET counter = counter + 5 WHERE preset_id = %d",
                 (int)preset_ids[i]);
        exec(place->store, sql);
        check_ok(place, true, "", &told);
        assert_int_equal(told.fixed, 1);
        assert_told(&told, preset_name(preset_ids[i]));
    }
    assert_nothing_differs(place);
    arena_free(told.arena);
}

static void broken_lists_are_named_and_fixed(void **state)
{
    struct offers_place *place = start(state);
    struct told told = {.arena = arena_new()};
    offerid ann[4];
    struct err err = {0};
    char sql[300];

    for (int i = 0; i < 4; i++)
        ann[i] = create(place, "ann");
    create(place, "bob");
    /* Missing in one list, and in all; at a wrong place; of an offer that is not there. */
    snprintf(sql, sizeof(sql),
             "DELETE FROM user_offer_presets WHERE preset_id = 2 AND offer_id = %" PRId64, ann[0]);
    exec(place->store, sql);
    snprintf(sql, sizeof(sql), "DELETE FROM user_offer_presets WHERE offer_id = %" PRId64, ann[1]);
    exec(place->store, sql);
    snprintf(sql, sizeof(sql), "INSERT INTO user_offer_presets VALUES ('bob', 4, 77, %" PRId64 ")",
             ann[2]);
    exec(place->store, sql);
    exec(place->store, "INSERT INTO user_offer_presets VALUES ('eve', 1, 77, 1000000000000007)");
    /* A move of the seller's meets it. */
    assert_int_equal(move(place, "ann", ann[0], MOVE_WITHDRAW, &err), ERR_CORRUPT);
    check_ok(place, false, "ann", &told);
    assert_told(&told, "1 ann ACTIVE 0 offer 0 1 0");
    assert_told(&told, "1 ann ALL 0 offer 0 1 0");
    assert_null(strstr(told.lines, "bob"));
    check_ok(place, true, "", &told);
    assert_int_equal(told.count, 5);
    assert_int_equal(told.fixed, 5);
    assert_told(&told, "2 bob SOLD 0 offer 1 0 1");
    assert_told(&told, "2 eve ALL 0 offer 1 0 1");
    assert_null(strstr(told.lines, "3 ann")); /* the counts were right all the time */
    assert_nothing_differs(place);
    must_move(place, "ann", ann[0], MOVE_WITHDRAW);
    place_recount(place);
    arena_free(told.arena);
}

static void what_cannot_be_read_is_told_and_left(void **state)
{
    struct offers_place *place = start(state);
    struct told told = {.arena = arena_new()};

    create(place, "ann");
    create(place, "bob");
    exec(place->store,
         "UPDATE offer SET body = CAST('x' AS BYTEA) WHERE id IN (SELECT offer_id FROM "
         "user_offer_presets WHERE seller_id = 'ann')");
    exec(place->store, "UPDATE user_offer_presets_count SET counter = 3");
    check_ok(place, true, "", &told);
    assert_told(&told, "5   0 offer"); /* by the offers, whose seller is unknown then */
    assert_told(&told, "5 ann  0 offer");
    assert_told(&told, "3 bob ALL 0 - 3 1 1");
    assert_null(strstr(told.lines, "3 ann"));
    arena_free(told.arena);
}

/* --- a seller of many chunks --- */

/* So many steps of a run, which is then left as by a kill. */
static void steps(struct offers_place *place, struct counters_run *run, int count)
{
    struct findings findings = {.arena = arena_new()};
    struct err err = {0};

    for (int i = 0; i < count; i++) {
        if (counters_step(run, &findings, &err))
            fail_msg("%s", err.text);
    }
    assert_int_equal(findings.count, 0);
    arena_free(findings.arena);
}

static struct counters_run begin_run(struct offers_place *place, bool fix)
{
    Torg__V1__VerifyCountersRequest request = TORG__V1__VERIFY_COUNTERS_REQUEST__INIT;
    struct counters_run run;
    struct err err = {0};

    request.fix = fix;
    assert_int_equal(counters_start(&run, place->store, &place->clock.base, "test", &request, &err),
                     0);
    return run;
}

/* Up to the seller's first two chunks: the mark is in the middle. */
static void go_to_the_middle(struct offers_place *place, struct counters_run *run)
{
    static const char marks[] = "SELECT COUNT(*) FROM user_offer_presets_count WHERE "
                                "mark_us IS NOT NULL";

    for (int i = 0; read_integer(place->store, marks) == 0; i++) {
        assert_true(i < 100);
        steps(place, run, 1);
    }
    steps(place, run, 1);
}

static offerid listed(struct offers_place *place, int preset, const char *order)
{
    char sql[200];

    snprintf(sql, sizeof(sql),
             "SELECT offer_id FROM user_offer_presets WHERE seller_id = 'big' AND preset_id = %d "
             "ORDER BY created_us %s LIMIT 1",
             preset, order);
    return read_integer(place->store, sql);
}

/* Every kind of change on both sides of the mark. */
static void change_both_sides(struct offers_place *place)
{
    for (int i = 0; i < 2; i++) {
        const char *order = i ? "DESC" : "";

        must_move(place, "big", listed(place, 2, order), MOVE_WITHDRAW);
        must_move(place, "big", listed(place, 2, order), MOVE_SELL_ON_SITE);
        must_move(place, "big", listed(place, 4, order), MOVE_REPUBLISH);
        must_move(place, "big", listed(place, 3, order), MOVE_DELETE);
        must_move(place, "big", listed(place, 6, order), MOVE_REPUBLISH);
        must_move(place, NULL, listed(place, 2, order), MOVE_BAN);
        must_move(place, NULL, listed(place, 100, order), MOVE_REVIVE);
        must_move(place, "big", listed(place, 4, order), MOVE_DELETE);
    }
    create(place, "big");
}

static void a_killed_recount_is_gone_on_with(void **state)
{
    struct offers_place *place = start(state);
    struct told told = {.arena = arena_new()};
    struct counters_run run;

    place_fill(place, "big", LARGE_COUNT);
    place_recount_figures(place);
    run = begin_run(place, false);
    go_to_the_middle(place, &run);
    change_both_sides(place);
    exec(place->store, "UPDATE user_offer_presets_count SET counter = counter + 3 WHERE "
                       "preset_id = 4");
    exec(place->store, "UPDATE user_total_counters SET counter_value = counter_value - 1 WHERE "
                       "counter_id = 'banned' AND seq_no = 7");
    check_ok(place, false, "", &told); /* from the mark on */
    assert_int_equal(told.count, 2);
    assert_told(&told, "3 big SOLD 0 - ");
    assert_told(&told, "4 big banned 7 - ");
    check_ok(place, true, "big", &told);
    assert_int_equal(told.fixed, 2);
    assert_nothing_differs(place);
    arena_free(told.arena);
}

static void two_at_once_move_one_mark(void **state)
{
    struct offers_place *place = start(state);
    struct counters_run first, second;

    place_fill(place, "big", LARGE_COUNT);
    first = begin_run(place, false);
    second = begin_run(place, true);
    for (int i = 0; i < 200 && (first.phase != COUNTERS_DONE || second.phase != COUNTERS_DONE);
         i++) {
        steps(place, i % 3 ? &first : &second, 1);
        if (i % 4 == 0)
            create(place, "big");
        if (i % 5 == 0)
            must_move(place, "big", listed(place, 2, i % 2 ? "" : "DESC"), MOVE_DELETE);
    }
    assert_int_equal(first.phase, COUNTERS_DONE);
    assert_int_equal(second.phase, COUNTERS_DONE);
    assert_nothing_differs(place);
}

/* A currency that is new to the seller makes rows without a mark. */
static void a_new_currency_meanwhile_is_counted(void **state)
{
    struct offers_place *place = start(state);
    struct arena *arena = arena_new();
    struct author author = author_of("big", arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct told told = {.arena = arena};
    struct counters_run run;
    struct err err = {0};

    place_fill(place, "big", LARGE_COUNT);
    run = begin_run(place, false);
    go_to_the_middle(place, &run);
    assert_int_equal(offers_create(&place->offers, &author, content_of(arena, "books", 1, 9, "USD"),
                                   &receipt, &err),
                     0);
    must_move(place, "big", id_of(receipt.id), MOVE_SELL_ON_SITE);
    check_ok(place, false, "", &told);
    assert_int_equal(told.count, 0);
    assert_nothing_differs(place);
    arena_free(arena);
}

static void a_position_goes_on(void **state)
{
    struct offers_place *place = start(state);
    Torg__V1__VerifyCountersRequest request = TORG__V1__VERIFY_COUNTERS_REQUEST__INIT;
    struct told told = {.arena = arena_new()};
    const struct counters_teller teller = {.tell = take, .arg = &told};
    static const char *const wrong[] = {"x", "offers:", "offers:-1", "totals:3", "sellers"};
    struct counters_run run;
    struct err err = {0};

    create(place, "ann");
    create(place, "bob");
    exec(place->store, "UPDATE user_offer_presets_count SET counter = 3 WHERE preset_id = 1");
    request.position = (char *)"sellers:ann";
    told.lines = arena_strdup(told.arena, "");
    assert_int_equal(counters_start(&run, place->store, &place->clock.base, "test", &request, &err),
                     0);
    assert_int_equal(counters_go(&run, &teller, &err), 0);
    assert_int_equal(told.count, 1);
    assert_told(&told, "3 bob ALL 0 - 3 1 0");
    assert_string_equal(told.position, "done");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        request.position = (char *)wrong[i];
        assert_int_equal(
            counters_start(&run, place->store, &place->clock.base, "test", &request, &err),
            ERR_INVALID);
    }
    arena_free(told.arena);
}

/* --- while others write --- */

struct crowd {
    struct offers_place *place;
    atomic_int checkers_left;
    atomic_int broken;
    _Atomic int64_t found;
    _Atomic int64_t fixed;
    atomic_int round_count;
    char what[4096]; /* of a broken one */
};

struct member {
    struct crowd *crowd;
    int number;
    uint64_t seed;
};

static void tell_broken(struct crowd *crowd, const char *what, const char *text)
{
    if (atomic_fetch_add(&crowd->broken, 1) == 0)
        snprintf(crowd->what, sizeof(crowd->what), "%s: %.3900s", what, text);
}

/* Publishes an offer and leads it, or an old one, through some of its life. */
static void write_once(struct crowd *crowd, struct rng *rng, offerid *kept)
{
    static const enum offer_move moves[] = {MOVE_WITHDRAW, MOVE_REPUBLISH, MOVE_SELL_ON_SITE,
                                            MOVE_BAN,      MOVE_UNBAN,     MOVE_DELETE,
                                            MOVE_REVIVE};
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("big", arena);
    struct err err = {0};
    int rc = 0;

    if (!*kept || rng_below(rng, 3) == 0) {
        rc = offers_create(&crowd->place->offers, &author, content_of(arena, "books", 1, 5, "RUB"),
                           &receipt, &err);
        if (!rc)
            rc = offer_id_parse(bytes_of(receipt.id), kept, &err);
    }
    for (int i = 0; i < 3 && !rc; i++) {
        author.seller = NULL;
        rc = offers_move(&crowd->place->offers, &author, *kept, 0, moves[rng_below(rng, 7)],
                         &receipt, &err);
        if (rc == ERR_PRECONDITION) /* not from here */
            rc = 0;
    }
    if (rc)
        tell_broken(crowd, "a writer", err.text);
    arena_free(arena);
}

static void *run_writer(void *arg)
{
    struct member *member = arg;
    struct crowd *crowd = member->crowd;
    struct rng rng = rng_seeded(member->seed);
    offerid kept = 0;

    for (int i = 0; i < WRITE_COUNT || crowd->checkers_left; i++) {
        write_once(crowd, &rng, &kept);
        if (crowd->broken)
            break;
    }
    return NULL;
}

static void *run_checker(void *arg)
{
    struct member *member = arg;
    struct crowd *crowd = member->crowd;

    for (int i = 0; i < CHECK_COUNT && !crowd->broken; i++) {
        struct told told = {.arena = arena_new()};
        struct err err = {0};

        if (check(crowd->place, (member->number + i) % 2, i % 3 ? "big" : "", &told, &err))
            tell_broken(crowd, "a checker", err.text);
        crowd->found += told.count;
        crowd->fixed += told.fixed;
        if (told.count && told.lines)
            snprintf(crowd->what, sizeof(crowd->what), "%.4000s", told.lines);
        crowd->round_count++;
        arena_free(told.arena);
    }
    crowd->checkers_left--;
    return NULL;
}

static void run_crowd(struct crowd *crowd)
{
    pthread_t threads[WRITER_COUNT + CHECKER_COUNT];
    struct member members[WRITER_COUNT + CHECKER_COUNT];
    uint64_t seed = random_u64();

    print_message("# seed %" PRIu64 "\n", seed);
    crowd->checkers_left = CHECKER_COUNT;
    for (int i = 0; i < WRITER_COUNT + CHECKER_COUNT; i++) {
        members[i] = (struct member){crowd, i, seed + (uint64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i < WRITER_COUNT ? run_writer : run_checker, &members[i]),
                         0);
    }
    for (int i = 0; i < WRITER_COUNT + CHECKER_COUNT; i++)
        pthread_join(threads[i], NULL);
    if (crowd->broken)
        fail_msg("%s", crowd->what);
    assert_int_equal(crowd->round_count, CHECKER_COUNT * CHECK_COUNT);
}

static void a_right_counter_is_never_told_to_be_broken(void **state)
{
    struct crowd crowd = {.place = start(state)};

    place_fill(crowd.place, "big", LARGE_COUNT);
    run_crowd(&crowd);
    if (crowd.found)
        fail_msg("%" PRId64 " differences, the last:\n%s", crowd.found, crowd.what);
    assert_nothing_differs(crowd.place);
}

static void a_broken_counter_is_fixed_once_while_others_write(void **state)
{
    struct crowd crowd = {.place = start(state)};
    struct told told = {.arena = arena_new()};

    place_fill(crowd.place, "big", LARGE_COUNT);
    exec(crowd.place->store, "UPDATE user_offer_presets_count SET counter = counter + 1000 "
                             "WHERE seller_id = 'big' AND preset_id = 2");
    exec(crowd.place->store, "UPDATE user_total_counters SET counter_value = counter_value - 5 "
                             "WHERE seller_id = 'big' AND counter_id = 'money:RUB' AND seq_no = 3");
    run_crowd(&crowd);
    assert_int_equal(crowd.fixed, 2); /* two recounts of one error correct it once */
    assert_true(crowd.found >= 2);
    assert_nothing_differs(crowd.place);
    arena_free(told.arena);
}

/* --- phones --- */

static int run_sql(struct store_tx *tx, void *arg, struct err *err)
{
    return store_exec(tx, arg, NULL, 0, NULL, err);
}

static int64_t reveals_of(struct offers_place *place, const char *seller)
{
    struct err err;
    int64_t count;

    if (reveals_count(&place->offers, seller, &count, &err))
        fail_msg("%s", err.text);
    return count;
}

/* Rows of before have no total until the next of the seller; from then on it is that row alone, as
 * the last question shows, whose answer is a lie. */
static void reveals_are_told_by_one_row(void **state)
{
    struct offers_place *place = start(state);
    struct err err;

    assert_int_equal(reveals_of(place, "ann"), 0);
    OK(store_write(place->store, run_sql,
                   "INSERT INTO offer_reveal (seller_id, offer_id, counter) "
                   "VALUES ('ann', 1, 20), ('ann', 2, 3), ('bob', 1, 5)",
                   &err));
    assert_int_equal(reveals_of(place, "ann"), 23);
    OK(reveals_add(&place->offers, "ann", 2, &err));
    assert_int_equal(reveals_of(place, "ann"), 24);
    OK(reveals_add(&place->offers, "ann", 3, &err));
    OK(reveals_add(&place->offers, "carl", 4, &err));
    assert_int_equal(reveals_of(place, "ann"), 25);
    assert_int_equal(reveals_of(place, "bob"), 5);
    assert_int_equal(reveals_of(place, "carl"), 1);
    OK(store_write(place->store, run_sql,
                   "UPDATE offer_reveal SET counter = 1000 WHERE offer_id = 3", &err));
    assert_int_equal(reveals_of(place, "ann"), 25);
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(reveals_are_told_by_one_row),
    CASE(broken_counters_are_named_and_fixed),
    CASE(broken_lists_are_named_and_fixed),
    CASE(an_offer_of_every_status_is_recounted),
    CASE(what_cannot_be_read_is_told_and_left),
    CASE(a_killed_recount_is_gone_on_with),
    CASE(two_at_once_move_one_mark),
    CASE(a_new_currency_meanwhile_is_counted),
    CASE(a_position_goes_on),
    CASE(a_right_counter_is_never_told_to_be_broken),
    CASE(a_broken_counter_is_fixed_once_while_others_write),
};

static int set_up(void **state)
{
    static struct offers_place place;

    offers_place_open(&place, case_on_servers(state));
    *state = &place;
    return 0;
}

static int tear_down(void **state)
{
    offers_place_close(*state);
    return 0;
}

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-counters", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

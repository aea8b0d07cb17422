/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_threads.c - offers, drafts and idempotency keys under concurrent calls, on every backend.
 *
 * Threads only act and count; the cases check afterwards.
 */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/inbox/messages.h"
#include "offers/lists/cabinet.h"

enum { THREAD_COUNT = 6, ROUND_COUNT = 25, SIGN_COUNT = 26000, SIGN_FIT_COUNT = 25500 };

struct crowd {
    struct offers_place *place;
    void (*act)(struct crowd *crowd, int thread, int round, struct arena *arena);
    offerid target;
    struct bytes once_key;
    atomic_int done;
    atomic_int refused;
    atomic_int broken; /* answers that should not be */
    _Atomic int64_t first_id;
    atomic_int other_ids;
    char what[256]; /* of a broken one */
};

struct member {
    struct crowd *crowd;
    int number;
    int round_count;
};

static void *run_member(void *arg)
{
    struct member *member = arg;

    for (int i = 0; i < member->round_count; i++) {
        struct arena *arena = arena_new();

        member->crowd->act(member->crowd, member->number, i, arena);
        arena_free(arena);
    }
    return NULL;
}

static void run_crowd(struct crowd *crowd, int round_count)
{
    pthread_t threads[THREAD_COUNT];
    struct member members[THREAD_COUNT];

    for (int i = 0; i < THREAD_COUNT; i++) {
        members[i] = (struct member){crowd, i, round_count};
        assert_int_equal(pthread_create(&threads[i], NULL, run_member, &members[i]), 0);
    }
    for (int i = 0; i < THREAD_COUNT; i++)
        pthread_join(threads[i], NULL);
    if (crowd->broken)
        fail_msg("%d answers are wrong: %s", crowd->broken, crowd->what);
}

static void count(struct crowd *crowd, int rc, int allowed, const struct err *err)
{
    if (!rc) {
        crowd->done++;
    } else if (rc == allowed) {
        crowd->refused++;
    } else {
        crowd->broken++;
        snprintf(crowd->what, sizeof(crowd->what), "%d: %.200s", rc, err->text);
    }
}

static void note_id(struct crowd *crowd, offerid id)
{
    int64_t none = 0;

    if (!atomic_compare_exchange_strong(&crowd->first_id, &none, id) && none != id)
        crowd->other_ids++;
}

static struct offers_place *start(void **state)
{
    struct offers_place *place = *state;

    if (!place->store)
        skip();
    return place;
}

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

/* --- many changes of one seller --- */

static void sell_and_buy(struct crowd *crowd, int thread, int round, struct arena *arena)
{
    static const enum offer_move moves[] = {MOVE_WITHDRAW, MOVE_REPUBLISH, MOVE_SELL_ON_SITE,
                                            MOVE_BAN, MOVE_UNBAN};
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("crowd", arena);
    struct err err = {0};
    offerid id;
    int rc = offers_create(&crowd->place->offers, &author,
                           content_of(arena, "books", round, 5, thread % 2 ? "RUB" : "USD"),
                           &receipt, &err);

    count(crowd, rc, 0, &err);
    if (rc || offer_id_parse(bytes_of(receipt.id), &id, &err))
        return;
    for (int i = 0; i <= round % 5; i++) {
        rc = offers_move(&crowd->place->offers, &author, id, 0, moves[i], &receipt, &err);
        count(crowd, rc, 0, &err);
    }
}

static void no_update_of_a_counter_is_lost(void **state)
{
    struct crowd crowd = {.place = start(state), .act = sell_and_buy};
    Torg__V1__GetTotalsResponse totals;
    int64_t counts[CABINET_PRESET_COUNT];
    struct arena *arena = arena_new();
    struct err err = {0};

    run_crowd(&crowd, ROUND_COUNT);
    assert_int_equal(crowd.done, THREAD_COUNT * ROUND_COUNT * (1 + 3)); /* 1 to 5 moves each */
    place_recount(crowd.place);
    assert_int_equal(cabinet_counts(&crowd.place->offers, "crowd", counts, &err), 0);
    assert_int_equal(counts[1], THREAD_COUNT * ROUND_COUNT);
    assert_int_equal(cabinet_totals(&crowd.place->offers, "crowd", arena, &totals, &err), 0);
    assert_int_equal(totals.sold, THREAD_COUNT * ROUND_COUNT * 3 / 5); /* rounds 2, 3, 4 of 5 */
    assert_int_equal(totals.n_earned, 2);
    assert_int_equal(totals.earned[0]->amount, totals.sold / 2 * 5);
    assert_int_equal(totals.earned[1]->amount, totals.sold / 2 * 5);
    arena_free(arena);
}

/* --- one offer, many writers --- */

static void update_what_was_read(struct crowd *crowd, int thread, int round, struct arena *arena)
{
    const struct reader reader = {.seller = "crowd"};
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("crowd", arena);
    struct err err = {0};
    Torg__V1__Offer *offer;
    int number = 0;
    int rc = offers_get(&crowd->place->offers, &reader, crowd->target, arena, &offer, &err);

    if (!rc)
        sscanf(offer->content->title, "thing %d", &number);
    if (!rc)
        rc = offers_update(&crowd->place->offers, &author, crowd->target, offer->revision,
                           content_of(arena, "books", number + 1, 100, "RUB"), &receipt, &err);
    count(crowd, rc, ERR_CONFLICT, &err);
}

static void no_update_of_an_offer_is_lost(void **state)
{
    struct crowd crowd = {.place = start(state), .act = update_what_was_read};
    const struct reader reader = {.sees_all = true};
    struct arena *arena = arena_new();
    Torg__V1__Offer *offer;
    struct err err = {0};

    crowd.target = create(crowd.place, "crowd");
    run_crowd(&crowd, ROUND_COUNT);
    assert_int_equal(crowd.done + crowd.refused, THREAD_COUNT * ROUND_COUNT);
    assert_true(crowd.done > 0);
    assert_int_equal(offers_get(&crowd.place->offers, &reader, crowd.target, arena, &offer, &err),
                     0);
    /* The number in the title was counted up once for every write that was acknowledged. */
    assert_int_equal(offer->revision, 1 + crowd.done);
    assert_string_equal(offer->content->title, arena_printf(arena, "thing %d", crowd.done));
    place_recount(crowd.place);
    arena_free(arena);
}

static void prolong(struct crowd *crowd, int thread, int round, struct arena *arena)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("crowd", arena);
    struct err err = {0};
    int rc =
        offers_move(&crowd->place->offers, &author, crowd->target, 0, MOVE_PROLONG, &receipt, &err);

    /* Without an expected revision, who is outrun tries again; only after many times it gives up.
     */
    count(crowd, rc, ERR_CONFLICT, &err);
}

static void who_is_outrun_tries_again(void **state)
{
    struct crowd crowd = {.place = start(state), .act = prolong};

    crowd.target = create(crowd.place, "crowd");
    run_crowd(&crowd, ROUND_COUNT);
    assert_true(crowd.done >= THREAD_COUNT * ROUND_COUNT * 9 / 10);
    assert_int_equal(read_integer(crowd.place->store, "SELECT revision FROM offer"),
                     1 + crowd.done);
    place_recount(crowd.place);
}

/* --- drafts --- */

static void open_draft(struct crowd *crowd, int thread, int round, struct arena *arena)
{
    struct draft *draft = NULL;
    struct err err = {0};
    int rc = draft_open(&crowd->place->offers, "s:crowd", thread % 2 ? "a:visitor" : NULL, "",
                        arena, &draft, &err);

    count(crowd, rc, 0, &err);
    if (!rc)
        note_id(crowd, draft->id);
}

static void an_owner_has_one_draft_however_many_ask(void **state)
{
    struct crowd crowd = {.place = start(state), .act = open_draft};

    run_crowd(&crowd, 5);
    assert_int_equal(crowd.other_ids, 0);
    assert_int_equal(read_integer(crowd.place->store, "SELECT COUNT(*) FROM draft"), 1);
    place_recount(crowd.place);
}

/* Visitors write while they log in, with and without a wished category: whatever the order, one
 * draft is left to the seller and none to the visitor. */
static void log_in(struct crowd *crowd, int thread, int round, struct arena *arena)
{
    static const char *const wishes[] = {"", "bikes", "books"};
    struct draft *draft = NULL;
    struct err err = {0};
    int rc;

    if (thread < 2)
        rc = draft_open(&crowd->place->offers, NULL, "a:visitor", wishes[round % 3], arena, &draft,
                        &err);
    else
        rc = draft_open(&crowd->place->offers, "s:crowd", "a:visitor", wishes[(thread + round) % 3],
                        arena, &draft, &err);
    count(crowd, rc, 0, &err);
    if (!rc && thread >= 2 && *wishes[(thread + round) % 3] &&
        strcmp(draft->content->category, wishes[(thread + round) % 3]) != 0) {
        crowd->broken++;
        snprintf(crowd->what, sizeof(crowd->what), "wished %s, got %s",
                 wishes[(thread + round) % 3], draft->content->category);
    }
}

static void logins_at_once_leave_one_draft(void **state)
{
    struct crowd crowd = {.place = start(state), .act = log_in};
    struct arena *arena = arena_new();
    struct draft *draft = NULL;
    struct err err = {0};

    run_crowd(&crowd, 10);
    assert_int_equal(
        draft_open(&crowd.place->offers, "s:crowd", "a:visitor", "", arena, &draft, &err), 0);
    assert_int_equal(read_integer(crowd.place->store, "SELECT COUNT(*) FROM draft"), 1);
    place_recount(crowd.place);
    arena_free(arena);
}

static void abandoned_drafts_are_purged(void **state)
{
    struct offers_place *place = start(state);
    const int64_t day_us = INT64_C(86400) * SECOND_US;
    struct arena *arena = arena_new();
    struct author author = author_of("a:2", arena);
    static const char *const owners[] = {"a:1", "a:2", "a:3", "a:4", "s:1", "s:a:5"};
    struct draft *drafts[6];
    struct draft saved;
    struct err err = {0};
    size_t purged;
    int64_t before_us;

    for (size_t i = 0; i < 6; i++)
        assert_int_equal(draft_open(&place->offers, *owners[i] == 's' ? owners[i] : NULL,
                                    *owners[i] == 'a' ? owners[i] : NULL, "", arena, &drafts[i],
                                    &err),
                         0);
    clock_manual_advance(&place->clock, 29 * day_us);
    assert_int_equal(draft_save(&place->offers, &author, drafts[1]->id, 0,
                                content_of(arena, "bikes", 1, -1, NULL), &saved, &err),
                     0);
    before_us = clock_wall_us(&place->clock.base) - 30 * day_us;
    assert_int_equal(draft_purge(&place->offers, DRAFT_OF_VISITORS, before_us, 2, &purged, &err),
                     0);
    assert_int_equal(purged, 0);
    clock_manual_advance(&place->clock, 2 * day_us);
    before_us += 2 * day_us;
    for (size_t i = 2; i > 0; i--) { /* two of the three, then the third */
        assert_int_equal(
            draft_purge(&place->offers, DRAFT_OF_VISITORS, before_us, 2, &purged, &err), 0);
        assert_int_equal(purged, i);
    }
    assert_int_equal(read_integer(place->store, "SELECT COUNT(*) FROM draft"), 3);
    assert_int_equal(draft_get(&place->offers, "a:2", arena, &drafts[1], &err), 0);
    assert_non_null(drafts[1]); /* it was changed meanwhile */
    assert_int_equal(draft_purge(&place->offers, DRAFT_OF_SELLERS, before_us, 9, &purged, &err), 0);
    assert_int_equal(purged, 2);
    place_recount(place);
    arena_free(arena);
}

static void publish(struct crowd *crowd, int thread, int round, struct arena *arena)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("crowd", arena);
    struct err err = {0};

    count(crowd, draft_publish(&crowd->place->offers, &author, crowd->target, 0, &receipt, &err),
          ERR_NOT_FOUND, &err);
}

static void a_draft_is_published_once(void **state)
{
    struct crowd crowd = {.place = start(state), .act = publish};
    struct arena *arena = arena_new();
    struct author author = author_of("s:crowd", arena);
    struct draft *draft = NULL;
    struct draft saved;
    struct err err = {0};

    assert_int_equal(draft_open(&crowd.place->offers, "s:crowd", NULL, "", arena, &draft, &err), 0);
    assert_int_equal(draft_save(&crowd.place->offers, &author, draft->id, 0,
                                content_of(arena, "bikes", 1, -1, NULL), &saved, &err),
                     0);
    crowd.target = draft->id;
    run_crowd(&crowd, 3);
    assert_int_equal(crowd.done, 1);
    assert_int_equal(read_integer(crowd.place->store, "SELECT COUNT(*) FROM offer"), 1);
    assert_int_equal(read_integer(crowd.place->store, "SELECT id FROM offer"), draft->id);
    assert_int_equal(read_integer(crowd.place->store, "SELECT COUNT(*) FROM draft"), 0);
    place_recount(crowd.place);
    arena_free(arena);
}

/* --- idempotency keys --- */

static void create_once(struct crowd *crowd, int thread, int round, struct arena *arena)
{
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of("crowd", arena);
    struct err err = {0};
    int rc;

    author.once_key = bytes_of("key-1");
    author.once_hash = 42;
    rc = offers_create(&crowd->place->offers, &author, content_of(arena, "books", 1, 1, "RUB"),
                       &receipt, &err);
    count(crowd, rc, 0, &err);
    if (!rc)
        note_id(crowd, id_of(receipt.id));
}

static void a_key_creates_one_offer(void **state)
{
    struct crowd crowd = {.place = start(state), .act = create_once};

    run_crowd(&crowd, 5);
    assert_int_equal(crowd.other_ids, 0);
    assert_int_equal(read_integer(crowd.place->store, "SELECT COUNT(*) FROM offer"), 1);
    place_recount(crowd.place);
}

static void a_key_is_for_one_call_and_a_day(void **state)
{
    struct offers_place *place = start(state);
    struct arena *arena = arena_new();
    struct author author = author_of("s", arena);
    Torg__V1__OfferReceipt first = TORG__V1__OFFER_RECEIPT__INIT;
    Torg__V1__OfferReceipt again = TORG__V1__OFFER_RECEIPT__INIT;
    int64_t forgotten = -1;
    struct err err = {0};

    author.once_key = bytes_of("k");
    author.once_hash = 1;
    assert_int_equal(offers_create(&place->offers, &author, content_of(arena, "books", 1, 1, "RUB"),
                                   &first, &err),
                     0);
    assert_int_equal(offers_create(&place->offers, &author, content_of(arena, "books", 1, 1, "RUB"),
                                   &again, &err),
                     0);
    assert_string_equal(first.id, again.id);
    assert_string_equal(first.freshness_token, again.freshness_token);
    author.once_hash = 2;
    assert_int_equal(offers_create(&place->offers, &author, content_of(arena, "books", 2, 1, "RUB"),
                                   &again, &err),
                     ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "used for another call"));
    /* Another seller's key of that name is another key. */
    author.seller = "t";
    assert_int_equal(offers_create(&place->offers, &author, content_of(arena, "books", 2, 1, "RUB"),
                                   &again, &err),
                     0);
    assert_string_not_equal(first.id, again.id);
    clock_manual_advance(&place->clock, INT64_C(86400) * SECOND_US);
    author.seller = "s";
    assert_int_equal(offers_create(&place->offers, &author, content_of(arena, "books", 2, 1, "RUB"),
                                   &again, &err),
                     0);
    assert_string_not_equal(first.id, again.id);
    assert_int_equal(offers_forget_answers(&place->offers, 100, &forgotten, &err), 0);
    assert_int_equal(forgotten, 1); /* t's; that of s was replaced */
    assert_int_equal(read_integer(place->store, "SELECT COUNT(*) FROM idempotency"), 1);
    arena_free(arena);
}

/* --- messages --- */

static void put_message(struct offers_place *place, uint64_t id, char *seller, struct arena *arena)
{
    Torg__V1__SellerMessage message = TORG__V1__SELLER_MESSAGE__INIT;
    struct err err = {0};
    bool is_new;

    message.id = id;
    message.seller = seller;
    message.text = message.reply_to = "+70009925766";
    message.time = moment_message(clock_wall_us(place->offers.clock), arena);
    assert_int_equal(messages_apply(&place->offers, &message, &is_new, &err), 0);
    assert_true(is_new);
    assert_int_equal(messages_apply(&place->offers, &message, &is_new, &err), 0);
    assert_false(is_new);
}

/* Those of a seller to whom nobody writes any more, too. */
static void old_messages_are_removed(void **state)
{
    struct offers_place *place = *state;
    struct arena *arena = arena_new();
    int64_t forgotten = -1;
    struct err err = {0};

    assert_int_equal(messages_forget(&place->offers, 10, &forgotten, &err), 0);
    assert_int_equal(forgotten, 0);
    for (uint64_t i = 1; i <= 3; i++)
        put_message(place, i, i == 3 ? "t" : "s", arena);
    clock_manual_advance(&place->clock, INT64_C(86400) * SECOND_US);
    put_message(place, 4, "t", arena);
    assert_int_equal(messages_forget(&place->offers, 10, &forgotten, &err), 0);
    assert_int_equal(forgotten, 0);
    clock_manual_advance(&place->clock, (MESSAGE_LIFE_DAYS - 1) * INT64_C(86400) * SECOND_US + 1);
    assert_int_equal(messages_forget(&place->offers, 2, &forgotten, &err), 0);
    assert_int_equal(forgotten, 2);
    assert_int_equal(messages_forget(&place->offers, 2, &forgotten, &err), 0);
    assert_int_equal(forgotten, 1);
    assert_int_equal(read_integer(place->store, "SELECT COUNT(*) FROM seller_message"), 1);
    assert_int_equal(read_integer(place->store, "SELECT id FROM seller_message"), 4);
    arena_free(arena);
}

/* --- ids that are taken --- */

static uint64_t draw_thrice(void *arg)
{
    int *count = arg;

    return (uint64_t)((*count)++ / 3);
}

static uint64_t draw_same(void *arg)
{
    return 7;
}

static void a_taken_id_is_drawn_again(void **state)
{
    struct offers_place *place = start(state);
    int draw_count = 0;
    offerid ids[4];

    place->offers.draw = draw_thrice;
    place->offers.draw_arg = &draw_count;
    for (int i = 0; i < 4; i++) {
        ids[i] = create(place, "s");
        assert_int_equal(ids[i], offer_id_make((uint64_t)i));
    }
    place_recount(place);
}

static void ids_without_end_are_an_error(void **state)
{
    struct offers_place *place = start(state);
    struct arena *arena = arena_new();
    struct author author = author_of("s", arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct err err = {0};

    place->offers.draw = draw_same;
    create(place, "s");
    assert_int_equal(offers_create(&place->offers, &author, content_of(arena, "books", 1, 1, "RUB"),
                                   &receipt, &err),
                     ERR_INTERNAL);
    place_recount(place);
    arena_free(arena);
}

/* --- sizes --- */

static void an_offer_has_a_largest_size(void **state)
{
    struct offers_place *place = start(state);
    const struct reader reader = {.seller = "s"};
    struct arena *arena = arena_new();
    struct author author = author_of("s", arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    Torg__V1__OfferContent *content = content_of(arena, "books", 1, 1, "RUB");
    struct rng rng = rng_seeded(1);
    Torg__V1__Offer *offer;
    struct err err = {0};

    /* Random signs of four bytes each, so that compression does not save it. */
    content->description = arena_zero(arena, SIGN_COUNT * 4 + 1);
    for (size_t i = 0; i < SIGN_COUNT; i++) {
        content->description[4 * i] = (char)0xf0;
        content->description[4 * i + 1] = (char)(0x90 + rng_below(&rng, 0x30));
        content->description[4 * i + 2] = (char)(0x80 + rng_below(&rng, 0x40));
        content->description[4 * i + 3] = (char)(0x80 + rng_below(&rng, 0x40));
    }
    assert_int_equal(offers_create(&place->offers, &author, content, &receipt, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "102400"));
    assert_int_equal(read_integer(place->store, "SELECT COUNT(*) FROM queue"), 0);
    content->description[SIGN_FIT_COUNT * 4] = 0;
    assert_int_equal(offers_create(&place->offers, &author, content, &receipt, &err), 0);
    assert_int_equal(offers_get(&place->offers, &reader, id_of(receipt.id), arena, &offer, &err),
                     0);
    assert_string_equal(offer->content->description, content->description);
    /* What repeats itself is kept small. */
    memset(content->description, 'x', SIGN_FIT_COUNT);
    content->description[SIGN_FIT_COUNT] = 0;
    assert_int_equal(offers_create(&place->offers, &author, content, &receipt, &err), 0);
    assert_true(read_integer(place->store, "SELECT MIN(LENGTH(body)) FROM offer") < 1000);
    arena_free(arena);
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(no_update_of_a_counter_is_lost),  CASE(no_update_of_an_offer_is_lost),
    CASE(who_is_outrun_tries_again),       CASE(an_owner_has_one_draft_however_many_ask),
    CASE(logins_at_once_leave_one_draft),  CASE(a_draft_is_published_once),
    CASE(abandoned_drafts_are_purged),     CASE(a_key_creates_one_offer),
    CASE(a_key_is_for_one_call_and_a_day), CASE(a_taken_id_is_drawn_again),
    CASE(ids_without_end_are_an_error),    CASE(an_offer_has_a_largest_size),
    CASE(old_messages_are_removed),
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
        .name = "offers-threads", .set_up = set_up, .tear_down = tear_down};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

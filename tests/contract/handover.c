/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masters of several data centres (numerator/master.h), on every coordinator: the holder is frozen
 * at each step while others go on, and comes back; then random orders of steps, freezes, kills,
 * failed calls and lost answers, with two masters of one cluster and states declared void, in
 * simulated time. Never two states made of the same one, never a lost number.
 * TORG_MODEL_SEED repeats an order.
 */
#include "contract/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "contract/coord_fixture.h"
#include "coord/fault.h"
#include "numerator/master.h"

/* The last two are of the first two clusters, too, and share their stores. */
enum { CLUSTER_COUNT = 3, MASTER_COUNT = 5, LIMIT_S = 60, ROUND_COUNT = 3000, ORDER_SIZE = 60 };
enum step { ASK, COPY, RUN, PUBLISH, STEP_END };

static const char *const clusters[CLUSTER_COUNT] = {"vla", "sas", "iva"};

struct centre {
    struct site *site; /* all of them */
    struct coord *coord;
    struct blob *store;
    struct master_options options;
    struct master master;
    enum step step; /* that comes next */
};

struct site {
    struct backend backend;
    struct clock_manual clock;
    struct centre centres[MASTER_COUNT];
    int key_count;             /* that the next run brings */
    uint64_t published;        /* the ticket of the last published */
    struct number_state *last; /* as published; NULL: none yet */
    struct number_state *previous;
    uint64_t previous_ticket;
    uint32_t rebuild_max; /* V of all that were */
    uint64_t count;
};

static int reach(void *arg, const char *cluster, struct blob **blob, bool *is_borrowed,
                 struct err *err)
{
    struct site *site = arg;

    *is_borrowed = true;
    for (int i = 0; i < CLUSTER_COUNT; i++)
        if (strcmp(clusters[i], cluster) == 0)
            *blob = site->centres[i].store;
    return *blob ? 0 : err_set(err, ERR_NOT_FOUND, "no %s", cluster);
}

static void open_site(struct site *site, const char *backend)
{
    struct err err = {0};

    memset(site, 0, sizeof(*site));
    fixture_begin(&site->backend, backend);
    clock_manual_init(&site->clock, INT64_C(1700000000) * SECOND_US);
    for (int i = 0; i < MASTER_COUNT; i++) {
        struct centre *centre = &site->centres[i];

        centre->site = site;
        centre->coord = fixture_open(site->backend.url, clusters[i % CLUSTER_COUNT], KEPT_MS);
        if (i < CLUSTER_COUNT)
            OK(blob_open("memory:", &centre->store, &err));
        else
            centre->store = site->centres[i - CLUSTER_COUNT].store;
        centre->options = (struct master_options){
            .coord = centre->coord,
            .clock = &site->clock.base,
            .numbering = "blue",
            .cluster = clusters[i % CLUSTER_COUNT],
            .limit_us = LIMIT_S * SECOND_US,
            .store = centre->store,
            .reach = reach,
            .arg = site,
            .batch = {.input_offers = "blob:offers.csv", .ttl = 1000, .hold = -1},
        };
    }
}

static void close_site(struct site *site)
{
    for (int i = 0; i < MASTER_COUNT; i++) {
        coord_close(site->centres[i].coord);
        if (i < CLUSTER_COUNT)
            blob_close(site->centres[i].store);
    }
    number_state_free(site->last);
    number_state_free(site->previous);
    fixture_end(&site->backend);
}

/* Each run brings two keys that nobody had; some of the others are away. */
static void write_offers(struct centre *centre)
{
    struct buf table = BUF_INIT(1 << 20);
    struct err err = {0};

    buf_put_text(&table, "pk\n");
    for (int i = centre->site->key_count % 3; i < centre->site->key_count + 2; i += 3)
        buf_printf(&table, "key-%d\n", i);
    for (int i = 0; i < 2; i++)
        buf_printf(&table, "key-%d\n", centre->site->key_count++);
    OK(blob_put(centre->store, "offers.csv", buf_bytes(&table), &err));
    buf_release(&table);
}

/* It has all numbers of the one before. */
static void check_goes_on(const struct number_state *last, struct number_state *state)
{
    for (uint64_t i = 0; i < number_state_key_count(last); i++) {
        struct number_entry before = number_state_entry(last, i), after;

        assert_true(number_state_find(state, before.key, &after));
        assert_int_equal(after.doc_id, before.doc_id);
        assert_int_equal(after.birth, before.birth);
    }
    assert_int_equal(number_state_version(state).rebuild, number_state_version(last).rebuild);
    assert_int_equal(number_state_version(state).generation,
                     number_state_version(last).generation + 1);
}

/* What was published is made of what was published before it; where that is void, under a V that
 * nothing had. */
static void check_published(struct centre *centre)
{
    bool is_void = centre->options.is_last_void;
    struct site *site = centre->site;
    struct number_state *state;
    struct err err = {0};
    uint32_t rebuild;

    assert_true(centre->master.made.ticket > site->published);
    OK(number_state_load(centre->master.output, centre->store, &state, &err));
    rebuild = number_state_version(state).rebuild;
    if (is_void)
        assert_true(rebuild > site->rebuild_max || !site->published);
    else if (site->last)
        check_goes_on(site->last, state);
    number_state_free(is_void ? site->last : site->previous);
    site->previous = is_void ? site->previous : site->last;
    site->previous_ticket = is_void ? site->previous_ticket : site->published;
    site->last = state;
    site->rebuild_max = rebuild > site->rebuild_max ? rebuild : site->rebuild_max;
    site->published = centre->master.made.ticket;
    site->count++;
}

/* The centre's next step; what it answers. A failure brings it back to the first. */
static int step(struct centre *centre, struct err *err)
{
    struct number_batch_result result = {0};
    enum step now = centre->step;
    int rc = 0;

    centre->step = now + 1 == STEP_END ? ASK : now + 1;
    switch (now) {
    case ASK:
        rc = master_ask(&centre->master, &centre->options, err);
        break;
    case COPY:
        rc = master_copy(&centre->master, err);
        break;
    case RUN:
        write_offers(centre);
        rc = master_run(&centre->master, &result, err);
        number_batch_release(&result);
        break;
    case PUBLISH:
        rc = master_publish(&centre->master, err);
        if (rc == 0)
            check_published(centre);
        break;
    case STEP_END:
        fail();
    }
    if (rc && (now == COPY || now == RUN))
        master_give_up(&centre->master);
    if (rc)
        centre->step = ASK;
    return rc;
}

static void go_round(struct centre *centre)
{
    struct err err = {0};

    do {
        OK(step(centre, &err));
    } while (centre->step != ASK);
}

static void masters_take_turns(void **state)
{
    struct site site;
    struct handover now;
    struct err err = {0};

    open_site(&site, *state);
    for (int i = 0; i < 2 * CLUSTER_COUNT; i++)
        go_round(&site.centres[i % CLUSTER_COUNT]);
    OK(handover_look(site.centres[0].coord, "blue", &now, &err));
    assert_int_equal(now.ticket, 6);
    assert_int_equal(now.last.ticket, 6);
    assert_int_equal(now.previous.ticket, 5);
    assert_string_equal(now.last.cluster, "iva");
    assert_string_equal(now.holder, "");
    assert_int_equal(number_state_key_count(site.last), 12);
    close_site(&site);
}

static void a_lock_that_is_held_is_refused_until_its_time_is_over(void **state)
{
    struct site site;
    struct err err = {0};

    open_site(&site, *state);
    OK(step(&site.centres[0], &err));
    assert_int_equal(step(&site.centres[1], &err), ERR_EXISTS);
    assert_non_null(strstr(err.text, "vla makes the next state, with ticket 1"));
    clock_manual_advance(&site.clock, LIMIT_S * SECOND_US);
    go_round(&site.centres[1]);
    assert_int_equal(site.published, 2);
    close_site(&site);
}

/* Frozen after so many steps; another makes a state, perhaps; then it goes on with its old ticket.
 */
static void freeze(const char *backend, int after, bool do_others_go_on)
{
    struct site site;
    struct centre *frozen = &site.centres[0];
    struct err err = {0};
    int rc = 0;

    open_site(&site, backend);
    go_round(&site.centres[2]);
    for (int i = 0; i < after; i++)
        OK(step(frozen, &err));
    clock_manual_advance(&site.clock, LIMIT_S * SECOND_US);
    if (do_others_go_on) {
        go_round(&site.centres[1]);
        go_round(&site.centres[2]);
    }
    do {
        rc = step(frozen, &err);
    } while (rc == 0 && frozen->step != ASK);
    assert_true(rc == ERR_PRECONDITION || rc == ERR_NOT_FOUND); /* or its base is removed */
    assert_int_equal(site.count, do_others_go_on ? 3 : 1);
    clock_manual_advance(&site.clock, LIMIT_S * SECOND_US);
    go_round(frozen);
    close_site(&site);
}

static void a_holder_that_was_frozen_is_refused(void **state)
{
    for (int after = 1; after < STEP_END; after++) {
        freeze(*state, after, true);
        freeze(*state, after, false);
    }
}

static void a_state_that_is_not_handed_on_stops_the_next_until_it_is_void(void **state)
{
    struct site site;
    struct centre *next = &site.centres[1];
    struct handover now;
    struct err err = {0};

    open_site(&site, *state);
    go_round(&site.centres[0]);
    go_round(&site.centres[0]);
    OK(blob_delete(site.centres[0].store, site.centres[0].master.made.name, &err));
    OK(step(next, &err));
    assert_int_equal(step(next, &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "ticket 2 of vla, is not handed on"));
    next->options.is_last_void = true;
    number_state_free(site.last); /* numbers of the void one are not kept */
    site.last = NULL;
    go_round(next);
    OK(handover_look(next->coord, "blue", &now, &err));
    assert_int_equal(now.last.ticket, 4);
    assert_int_equal(now.previous.ticket, 1);
    assert_int_equal(now.last.version.rebuild, 1);
    close_site(&site);
}

/* --- random orders --- */

static struct handover look(const struct site *site)
{
    struct handover now;
    struct err err = {0};

    OK(handover_look(site->centres[0].coord, "blue", &now, &err));
    return now;
}

/* Calls of the coordinator fail, some of them after having had their effect. */
static void step_in_trouble(struct centre *centre, struct rng *rng)
{
    const struct handover before = look(centre->site);
    enum step was = centre->step;
    struct handover after;
    struct err err = {0};
    int rc;

    if (was == ASK)
        centre->options.is_last_void = rng_below(rng, 20) == 0;
    if (rng_below(rng, 2))
        coord_fault_next(COORD_FAULT_SET, 1 + (int)rng_below(rng, 9), rng_below(rng, 3) > 0);
    if (rng_below(rng, 8) == 0)
        coord_fault_next(COORD_FAULT_GET, 1 + (int)rng_below(rng, 9), false);
    rc = step(centre, &err);
    coord_fault_clear();
    after = look(centre->site);
    if (was == ASK && rc == ERR_EXISTS) /* another has it, and not this one itself */
        assert_int_equal(after.ticket, before.ticket);
    if (was != PUBLISH || rc == 0 || after.last.ticket != centre->master.made.ticket)
        return;
    assert_int_equal(rc, ERR_UNAVAILABLE); /* not known: it is published */
    check_published(centre);
}

static void random_orders_make_one_row_of_states(void **state)
{
    const char *text = getenv("TORG_MODEL_SEED");
    uint64_t seed = text && text[0] ? strtoull(text, NULL, 10) : random_u64(), count = 0;
    struct rng rng = rng_seeded(seed);

    print_message("seed %" PRIu64 "\n", seed);
    for (int round = 0; round < ROUND_COUNT; round++) {
        struct site site;

        open_site(&site, *state);
        for (int i = 0; i < ORDER_SIZE; i++) {
            struct centre *centre = &site.centres[rng_below(&rng, MASTER_COUNT)];
            uint64_t what = rng_below(&rng, 100);

            if (what < 3)
                centre->step = ASK; /* killed; begins anew */
            else if (what < 20)
                clock_manual_advance(&site.clock, (int64_t)rng_below(&rng, LIMIT_S) * SECOND_US);
            else
                step_in_trouble(centre, &rng);
        }
        assert_int_equal(look(&site).last.ticket, site.published);
        assert_int_equal(look(&site).previous.ticket, site.previous_ticket);
        count += site.count;
        close_site(&site);
    }
    assert_true(count > ROUND_COUNT);
}

int main(int argc, char **argv)
{
    static const char *const backends[] = {"memory", "local", "zookeeper"};
    static const struct test_case all[] = {
        CASE(masters_take_turns),
        CASE(a_lock_that_is_held_is_refused_until_its_time_is_over),
        CASE(a_holder_that_was_frozen_is_refused),
        CASE(a_state_that_is_not_handed_on_stops_the_next_until_it_is_void),
    };
    static const struct test_case simulated[] = {CASE(random_orders_make_one_row_of_states)};
    static struct case_list list = {.name = "handover"};

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        cases_add(&list, all, ARRAY_COUNT(all), backends[i], backends[i]);
    cases_add(&list, simulated, ARRAY_COUNT(simulated), "fault:memory", "fault:memory");
    return cases_run(&list, argc, argv);
}

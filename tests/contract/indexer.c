/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue and the indexer of registry/, embedded and on servers: what is accepted is sent at
 * least once, in order of its key, whatever fails in between; lanes; owners that were replaced.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "contract/indexer_fixture.h"
#include "registry/bounds.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/queue_desk.h"
#include "topic/bounds.h"
#include "torg/v1/document.pb-c.h"

static struct index_place place;
static struct shelf shelf;

static void begin(void **state, uint32_t shard_count)
{
    bool on_servers = case_on_servers(state);

    if (!index_place_open(&place, on_servers, shard_count))
        skip();
    memset(&shelf, 0, sizeof(shelf));
}

static void end(struct indexer *indexer)
{
    indexer_free(indexer);
    index_place_close(&place);
}

static struct indexer_round do_round(struct indexer *indexer)
{
    struct indexer_round round;
    struct err err = {0};

    if (indexer_round(indexer, &round, &err))
        fail_msg("%s", err.text);
    return round;
}

static uint64_t counted(const char *name, const char *lane)
{
    char labels[128];

    snprintf(labels, sizeof(labels), "client=\"%s\",lane=\"%s\"", place.client, lane);
    return counter_value(metrics_counter(name, labels, ""));
}

/* --- sending --- */

static void documents_arrive_with_numbers_schema_and_progress(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 10);
    place_put(&place, LANE_MAIN, "b", 1, 20);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.field_count, 2);
    assert_int_equal(shelf_find(&shelf, "a")->price, 10);
    assert_int_equal(shelf_find(&shelf, "b")->price, 20);
    assert_int_equal(shelf.progress[LANE_MAIN], 2);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 0);
    assert_int_equal(read_integer(place.store, "SELECT idx FROM registry_offset WHERE lane = 0"),
                     2);

    place_put(&place, LANE_MAIN, "a", 2, 11);
    place_put(&place, LANE_MAIN, "b", 2, -1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->price, 11);
    assert_null(shelf_find(&shelf, "b"));
    place_put(&place, LANE_MAIN, "b", 3, 21); /* comes back to its own number */
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM number_slot"), 2);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM number_slot WHERE gone_us > 0"), 0);
    end(indexer);
}

/* Deleted by one batch and back with the next, before anything was committed in between. */
static void a_key_that_is_back_at_once_keeps_its_number(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    place_put(&place, LANE_MAIN, "a", 2, -1);
    do_round(indexer);
    place_put(&place, LANE_MAIN, "a", 3, 1);
    place_run(indexer);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM number_slot WHERE gone_us > 0"), 0);
    clock_manual_advance(&place.clock, 2 * place.base.rules.numbers.ttl_us);
    assert_int_equal(indexer_sweep(indexer, &err), 0);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM number_slot WHERE key IS NOT NULL"), 1);
    shelves_equal_registry(&shelf, 1, &place);
    end(indexer);
}

static void a_superseded_element_is_skipped_and_counted(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    for (int version = 1; version <= 5; version++)
        place_put(&place, LANE_MAIN, "a", version, version);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.put_count, 1);
    assert_int_equal(shelf_find(&shelf, "a")->version, 5);
    assert_int_equal(shelf.progress[LANE_MAIN], 5);
    assert_int_equal(counted("torg_indexer_superseded_total", "main"), 4);
    assert_int_equal(counted("torg_indexer_sent_total", "main"), 1);
    end(indexer);
}

static void a_deletion_of_what_was_never_sent_is_only_progress(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    place_put(&place, LANE_MAIN, "a", 2, -1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.put_count + shelf.removal_count, 0);
    assert_int_equal(shelf.progress[LANE_MAIN], 2);
    end(indexer);
}

/* What was there is removed by the write itself, however late the sweep of the registry is. */
static void a_document_that_comes_after_its_end_is_not_shown(void **state)
{
    struct indexer *indexer;
    int64_t end_us;

    begin(state, 1);
    end_us = clock_wall_us(&place.clock.base) + 10 * SECOND_US;
    place_put_until(&place, end_us, "known", 1, 10);
    place_put_until(&place, end_us + SECOND_US, "open", 1, 20);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "known")->price, 10);

    clock_manual_advance(&place.clock, end_us - clock_wall_us(&place.clock.base));
    place_put_until(&place, end_us, "known", 2, 11);
    place_put_until(&place, end_us, "new", 1, 30);
    place_put_until(&place, end_us + SECOND_US, "open", 2, 21);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_null(shelf_find(&shelf, "known"));
    assert_null(shelf_find(&shelf, "new"));
    assert_int_equal(shelf_find(&shelf, "open")->price, 21);
    assert_int_equal(shelf.put_count, 3);
    assert_int_equal(shelf.removal_count, 1);
    assert_int_equal(shelf.progress[LANE_MAIN], 5);

    place_put(&place, LANE_MAIN, "known", 3, 12); /* without an end it is back */
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "known")->price, 12);
    end(indexer);
}

/* Whatever the receiver takes for a class, the numerator takes too: one document must not hold up
 * its shard. */
static void the_longest_placement_class_is_numbered(void **state)
{
    char class[DOCUMENT_CLASS_SIZE_MAX + 1];
    struct indexer *indexer;

    begin(state, 1);
    memset(class, 'c', DOCUMENT_CLASS_SIZE_MAX);
    class[DOCUMENT_CLASS_SIZE_MAX] = 0;
    place_put_in(&place, class, "long", 1, 10);
    place_put_in(&place, class, "other", 1, 20);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "long")->price, 10);
    assert_int_equal(shelf_find(&shelf, "other")->price, 20);
    end(indexer);
}

static void a_batch_of_updates_needs_one_write(void **state)
{
    struct indexer *indexer;
    struct indexer_round round;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    place_put(&place, LANE_MAIN, "a", 2, 2);
    store_fault_arm(place.store, STORE_FAULT_COMMIT, 1, 1); /* the read may pass, no write after */
    round = do_round(indexer);
    assert_int_equal(round.sent_count, 1);
    assert_false(round.is_settled);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->version, 2);
    store_fault_arm(place.store, STORE_FAULT_COMMIT, 0, 0);
    assert_true(do_round(indexer).is_settled);
    end(indexer);
}

/* Idle shards are looked at some twenty times a second where other machines write. */
static void a_shard_where_nothing_waits_asks_twice(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    assert_int_equal(do_round(indexer).element_count, 0);
    store_fault_arm(place.store, STORE_FAULT_EXEC, 2, 1); /* the client, and all lanes at once */
    assert_int_equal(do_round(indexer).element_count, 0);
    store_fault_arm(place.store, STORE_FAULT_EXEC, 0, 0);
    for (int lane = 0; lane < LANE_FAILED; lane++) {
        place_put(&place, (enum lane)lane, "a", lane + 2, lane + 2);
        assert_int_equal(do_round(indexer).element_count, 1);
        assert_int_equal(do_round(indexer).element_count, 0);
    }
    end(indexer);
}

static void a_new_owner_tells_schema_and_progress_without_documents(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    indexer_free(indexer);
    indexer = place_indexer(&place, 0, 7);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.ticket, 7);
    assert_int_equal(shelf.record_count, 5); /* schema, put, progress; schema, progress */
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.record_count, 5);
    end(indexer);
}

static void each_shard_has_its_partition(void **state)
{
    static struct shelf shelves[3];
    char pk[16];

    begin(state, 3);
    memset(shelves, 0, sizeof(shelves));
    for (int i = 0; i < 60; i++) {
        snprintf(pk, sizeof(pk), "k%d", i);
        place_put(&place, LANE_MAIN, pk, 1, i);
    }
    for (uint32_t shard = 0; shard < 3; shard++) {
        struct indexer *indexer = place_indexer(&place, shard, 1);

        place_run(indexer);
        indexer_free(indexer);
        shelves[shard].shard = shard;
    }
    shelves_equal_registry(shelves, 3, &place);
    for (uint32_t shard = 0; shard < 3; shard++)
        assert_true(shelf_count(&shelves[shard]) > 5);
    index_place_close(&place);
}

/* --- lanes --- */

static void an_emergency_overtakes_all(void **state)
{
    struct indexer *indexer;
    char pk[16];

    begin(state, 1);
    for (int i = 0; i < 30; i++) {
        snprintf(pk, sizeof(pk), "m%d", i);
        place_put(&place, LANE_MAIN, pk, 1, i);
    }
    place_put(&place, LANE_EMERGENCY, "m29", 2, -1);
    place_put(&place, LANE_EMERGENCY, "urgent", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.documents[0].version, 1);
    assert_string_equal(shelf.documents[0].pk, "urgent"); /* numbered first, so sent first */
    assert_null(shelf_find(&shelf, "m29"));
    assert_int_equal(shelf.progress[LANE_EMERGENCY], 2);
    end(indexer);
}

struct pouring {
    int64_t client_id;
    int64_t first;
    enum lane lane;
};

/* Elements of keys that the registry does not have: skipped, but read and passed as any other. */
static int pour(struct store_tx *tx, void *arg, struct err *err)
{
    enum { COUNT = 1000 };
    const struct pouring *pouring = arg;
    struct queue_element elements[COUNT] = {0};
    char pks[COUNT][16];

    for (size_t i = 0; i < COUNT; i++) {
        snprintf(pks[i], sizeof(pks[i]), "p%" PRId64, pouring->first + (int64_t)i);
        elements[i] =
            (struct queue_element){.pk = bytes_of(pks[i]), .order = {1, 1, 1}, .put_us = 1};
    }
    return queue_append(tx, pouring->client_id, pouring->lane, 0, elements, COUNT, err);
}

static void a_backfill_does_not_delay_main(void **state)
{
    struct pouring pouring = {.lane = LANE_BACKFILL};
    struct indexer *indexer;
    int64_t total = case_on_servers(state) ? 10000 : 100000;
    size_t passed = 0, round_count = 0;
    struct err err = {0};
    char pk[16];

    begin(state, 1);
    place_put(&place, LANE_MAIN, "first", 1, 1);
    pouring.client_id = place_client_id(&place);
    for (; pouring.first < total; pouring.first += 1000)
        if (store_write(place.store, pour, &pouring, &err))
            fail_msg("%s", err.text);
    indexer = place_indexer(&place, 0, 1);
    place.base.rules.backfill_weight = 1;
    while (passed < (size_t)total) { /* whatever waits there, main is in the very next round */
        struct indexer_round round;

        snprintf(pk, sizeof(pk), "m%zu", round_count++);
        if (round_count <= 50)
            place_put(&place, LANE_MAIN, pk, 1, 1);
        round = do_round(indexer);
        assert_true(round.element_count <= INDEXER_BATCH_COUNT);
        passed += round.element_count - (round_count == 1 ? 2 : round_count <= 50);
        if (round_count <= 50) {
            shelf_follow(&shelf, &place);
            assert_non_null(shelf_find(&shelf, pk));
        }
    }
    assert_int_equal(counted("torg_indexer_superseded_total", "backfill"), total);
    end(indexer);
}

/* Ten rounds of main and ten of backfill wait: the takedown is in the first. */
static void a_takedown_waits_for_nobody(void **state)
{
    struct pouring pouring = {.lane = LANE_MAIN};
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    place_put(&place, LANE_MAIN, "banned", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    pouring.client_id = place_client_id(&place);
    for (; pouring.first < 20000; pouring.first += 1000) {
        pouring.lane = pouring.first % 2000 ? LANE_BACKFILL : LANE_MAIN;
        if (store_write(place.store, pour, &pouring, &err))
            fail_msg("%s", err.text);
    }
    place_put(&place, LANE_EMERGENCY, "banned", 2, -1);
    assert_true(do_round(indexer).more);
    shelf_follow(&shelf, &place);
    assert_null(shelf_find(&shelf, "banned"));
    assert_int_equal(shelf.progress[LANE_EMERGENCY], 1);
    assert_true(shelf.progress[LANE_MAIN] < 1000 && shelf.progress[LANE_BACKFILL] < 1000);
    end(indexer);
}

/* A takedown, and the same document again far behind it: who waits for the takedown must not find
 * what was there before. */
static void progress_past_a_superseded_write_means_that_it_or_a_newer_one_is_in(void **state)
{
    struct pouring pouring = {.lane = LANE_MAIN};
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    place_put(&place, LANE_MAIN, "a", 2, -1);
    pouring.client_id = place_client_id(&place);
    if (store_write(place.store, pour, &pouring, &err))
        fail_msg("%s", err.text);
    place_put(&place, LANE_MAIN, "a", 3, 3);
    assert_true(do_round(indexer).more);
    shelf_follow(&shelf, &place);
    assert_in_range(shelf.progress[LANE_MAIN], 2, INDEXER_BATCH_COUNT);
    assert_int_equal(shelf_find(&shelf, "a")->version, 3);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->version, 3);
    end(indexer);
}

/* Main has more than a round takes; then time passes. */
static void a_backfill_waits_while_main_is_late(void **state)
{
    struct pouring pouring = {.lane = LANE_BACKFILL};
    struct indexer *indexer;
    struct err err = {0};
    uint64_t poured;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "first", 1, 1);
    pouring.client_id = place_client_id(&place);
    for (int i = 0; i < 3; i++) {
        if (store_write(place.store, pour, &pouring, &err))
            fail_msg("%s", err.text);
        pouring.lane = LANE_MAIN;
    }
    indexer = place_indexer(&place, 0, 1);
    do_round(indexer);
    poured = counted("torg_indexer_superseded_total", "backfill");
    assert_true(poured > 0);
    for (int i = 0; i < 2; i++) {
        clock_manual_advance(&place.clock, 2 * INDEXER_LATE_MS * MS_US);
        do_round(indexer);
        assert_int_equal(counted("torg_indexer_superseded_total", "backfill"), poured);
    }
    do_round(indexer);
    assert_int_equal(counted("torg_indexer_superseded_total", "main"), 2000);
    assert_true(counted("torg_indexer_superseded_total", "backfill") > poured);
    end(indexer);
}

/* Writers are on a machine whose clock is behind, or before: that alone makes nothing late. */
static void clocks_of_writers_starve_no_backfill(void **state)
{
    struct pouring pouring = {.lane = LANE_BACKFILL};
    struct clock_manual writers;
    struct indexer *indexer;
    struct err err = {0};
    uint64_t poured = 0;
    char pk[16];

    begin(state, 1);
    clock_manual_init(&writers, clock_wall_us(&place.clock.base) - 5 * SECOND_US);
    place.receiver.clock = &writers.base;
    place_put(&place, LANE_MAIN, "first", 1, 1);
    pouring.client_id = place_client_id(&place);
    if (store_write(place.store, pour, &pouring, &err))
        fail_msg("%s", err.text);
    indexer = place_indexer(&place, 0, 1);
    place.base.rules.backfill_weight = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t before = poured;

        snprintf(pk, sizeof(pk), "m%d", i);
        place_put(&place, LANE_MAIN, pk, 1, 1);
        do_round(indexer);
        clock_manual_advance(&place.clock, INDEXER_MARK_MS * MS_US);
        poured = counted("torg_indexer_superseded_total", "backfill");
        assert_true(poured > before);
    }
    end(indexer);
}

/* --- owners --- */

/* However little main is to have, it has some; and a batch has no more than it can hold. */
static void no_weight_starves_a_lane(void **state)
{
    static const int64_t weights[][2] = {{1, 1000}, {1, 9}, {1000, 1}, {1, 0}};
    struct indexer *indexer;
    char pk[16];

    begin(state, 1);
    indexer = place_indexer(&place, 0, 1);
    for (size_t i = 0; i < ARRAY_COUNT(weights); i++) {
        place.base.rules.main_weight = weights[i][0];
        place.base.rules.backfill_weight = weights[i][1];
        snprintf(pk, sizeof(pk), "m%zu", i);
        place_put(&place, LANE_MAIN, pk, 1, 10);
        snprintf(pk, sizeof(pk), "b%zu", i);
        place_put(&place, LANE_BACKFILL, pk, 1, 20);
        place_run(indexer);
        shelf_follow(&shelf, &place);
        assert_int_equal(shelf_count(&shelf), 2 * (i + 1));
    }
    end(indexer);
}

static void a_replaced_owner_can_commit_and_number_nothing(void **state)
{
    struct indexer *old, *new;
    struct indexer_round round;
    struct err err = {0};
    int64_t offset;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    old = place_indexer(&place, 0, 1);
    place_run(old);
    place_put(&place, LANE_MAIN, "a", 2, 2);
    assert_false(do_round(old).is_settled); /* sent, and frozen before its commit */
    new = place_indexer(&place, 0, 2);
    place_run(new);
    offset = read_integer(place.store, "SELECT idx FROM registry_offset WHERE lane = 0");
    assert_int_equal(indexer_settle(old, &err), ERR_STALE);
    place_put(&place, LANE_MAIN, "fresh", 1, 1);
    assert_int_equal(indexer_round(old, &round, &err), ERR_STALE);
    assert_int_equal(indexer_round(old, &round, &err), ERR_STALE);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM number_slot"), 1);
    assert_int_equal(read_integer(place.store, "SELECT idx FROM registry_offset WHERE lane = 0"),
                     offset);
    place_run(new);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(shelf.stale_count, 0);
    indexer_free(old);
    end(new);
}

/* It has numbers for all its keys, so nothing of the store is asked before it sends. */
static void what_a_frozen_owner_sends_late_is_left_alone(void **state)
{
    struct indexer *old, *new;
    struct indexer_round round;
    struct err err = {0};

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    old = place_indexer(&place, 0, 1);
    place_run(old);
    new = place_indexer(&place, 0, 2);
    place_run(new);
    place_put(&place, LANE_MAIN, "a", 2, 2);
    assert_int_equal(indexer_round(old, &round, &err), 0);
    assert_int_equal(indexer_settle(old, &err), ERR_STALE);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->version, 1);
    assert_true(shelf.stale_count > 0);
    place_run(new);
    shelves_equal_registry(&shelf, 1, &place);
    indexer_free(old);
    end(new);
}

/* --- faults --- */

struct fault {
    const char *name;
    int point; /* of the store; below 0: of the topic */
};

static const struct fault faults[] = {
    {"begin", STORE_FAULT_BEGIN},
    {"statement", STORE_FAULT_EXEC},
    {"commit", STORE_FAULT_COMMIT},
    {"lost answer", STORE_FAULT_ACK},
    {"produce", -1},
    {"lost ack", -2},
};

static bool is_struck(const struct fault *fault, unsigned skip)
{
    struct topic_faults *topic = topics_faults(place.topics);

    if (fault->point >= 0) {
        store_fault_arm(place.store, (enum store_fault_point)fault->point, skip, 1);
        return true;
    }
    if (skip) /* one produce a round */
        return false;
    atomic_store(fault->point == -1 ? &topic->fail_produce : &topic->lose_ack, 1);
    return true;
}

/* New, changed and deleted documents, in all lanes, and one that fails. */
static void make_work(unsigned run)
{
    int64_t version = run + 2;
    char pk[32];

    snprintf(pk, sizeof(pk), "new%u", run);
    place_put(&place, LANE_MAIN, pk, 1, 5);
    place_put(&place, LANE_MAIN, "changed", version, version);
    place_put(&place, run % 2 ? LANE_EMERGENCY : LANE_BACKFILL, "flips", version,
              run % 2 ? -1 : version);
}

static void a_failure_between_any_two_steps_loses_nothing(void **state)
{
    unsigned run = 0, struck = 0;
    uint64_t ticket = 1;

    begin(state, 1);
    place_put(&place, LANE_MAIN, "changed", 1, 1);
    place_put(&place, LANE_MAIN, "flips", 1, 1);
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++)
        for (unsigned skip = 0; skip < (place.on_servers ? 8U : 24U); skip++) {
            struct indexer *indexer = place_indexer(&place, 0, ticket++);
            struct indexer_round round = {.more = true};
            struct err err = {0};
            int rc = 0;

            make_work(run++);
            if (!is_struck(&faults[i], skip)) {
                indexer_free(indexer);
                continue;
            }
            for (int k = 0; k < 3 && !rc; k++)
                rc = indexer_round(indexer, &round, &err);
            struck += rc != 0;
            if (faults[i].point >= 0)
                store_fault_arm(place.store, (enum store_fault_point)faults[i].point, 0, 0);
            if (rc && skip % 2) { /* the same owner goes on, or it has died */
                place_run(indexer);
                indexer_free(indexer);
            } else {
                indexer_free(indexer);
                indexer = place_indexer(&place, 0, ticket++);
                place_run(indexer);
                indexer_free(indexer);
            }
            shelves_equal_registry(&shelf, 1, &place);
            assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 0);
            assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
        }
    assert_true(struck > 10);
    index_place_close(&place);
}

/* --- epochs --- */

/* As the start of an epoch does it: beside the one that serves, with its own schema. */
static void start_epoch(int64_t epoch, const char *state_fields)
{
    char sql[512];

    snprintf(sql, sizeof(sql),
             "INSERT INTO registry_epoch (client_id, epoch, state, started_us) "
             "SELECT id, %" PRId64 ", 0, 1 FROM registry_client",
             epoch);
    exec(place.store, sql);
    snprintf(sql, sizeof(sql),
             "INSERT INTO registry_field (client_id, epoch, name, number, field) "
             "SELECT client_id, %" PRId64 ", name, number, field FROM registry_field "
             "WHERE epoch = 1 AND name IN (%s)",
             epoch, state_fields);
    exec(place.store, sql);
    exec(place.store, "UPDATE registry_client SET state_no = state_no + 1");
}

/* A schema that just fits a record, as one of 8 000 fields does: here of one field more. */
static void widen_schema(int64_t epoch)
{
    enum { NAME_SIZE = TOPIC_VALUE_SIZE_MAX - 1000 };
    Torg__V1__SchemaField field = TORG__V1__SCHEMA_FIELD__INIT;
    struct buf packed = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct err err = {0};

    field.name = arena_alloc(place.arena, NAME_SIZE + 1);
    memset(field.name, 'x', NAME_SIZE);
    field.name[NAME_SIZE] = 0;
    field.type = TORG__V1__SCHEMA_FIELD__TYPE__STORED;
    message_encode(&field.base, &packed);
    OK(store_write_one(place.store,
                       "INSERT INTO registry_field (client_id, epoch, name, number, field) "
                       "SELECT id, $1, 'wide', 3, $2 FROM registry_client",
                       STORE_WITH(STORE_V_INT(epoch), STORE_V_BLOB(buf_bytes(&packed))), NULL,
                       &err));
    buf_release(&packed);
}

/* Its schemas are more than one produce takes: all get theirs, and what is in the queue arrives. */
static void a_wide_schema_is_told_to_many_shards(void **state)
{
    enum { SHARD_COUNT = 20 };
    struct indexer *indexer;

    static_assert(SHARD_COUNT * (TOPIC_VALUE_SIZE_MAX - 1000) > TOPIC_BATCH_SIZE_MAX,
                  "all of them are too many for one produce");
    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    start_epoch(2, "'price', 'title'");
    widen_schema(2);
    exec(place.store, "UPDATE registry_epoch SET space = 1000, shard_count = 20 WHERE epoch = 2");
    exec(place.store, "UPDATE registry_client SET state_no = state_no + 1");
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        shelf = (struct shelf){.epoch = 2, .shard = i};
        shelf_follow(&shelf, &place);
        assert_int_equal(shelf.field_count, 3);
        assert_int_equal(shelf.progress[LANE_MAIN], 1);
    }
    end(indexer);
}

static void every_epoch_gets_what_fits_it(void **state)
{
    static struct shelf second;
    struct indexer *indexer;

    begin(state, 1);
    memset(&second, 0, sizeof(second));
    second.epoch = 2;
    place_put(&place, LANE_MAIN, "a", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    start_epoch(2, "'price', 'title'");
    place_put(&place, LANE_MAIN, "b", 1, 1);
    place_run(indexer); /* sees the epoch at once: the snapshot tells its number of the state */
    shelf_follow(&shelf, &place);
    shelf_follow(&second, &place);
    assert_int_equal(shelf_count(&shelf), 2);
    assert_int_equal(shelf_count(&second), 1);
    assert_int_equal(second.progress[LANE_MAIN], 2);
    place_put(&place, LANE_MAIN, "a", 2, -1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    shelf_follow(&second, &place);
    assert_int_equal(shelf_count(&shelf), 1);
    end(indexer);
}

static void a_document_that_fits_only_its_own_epoch_goes_there(void **state)
{
    static struct shelf second;
    struct indexer *indexer;

    begin(state, 1);
    memset(&second, 0, sizeof(second));
    second.epoch = 2;
    place_put(&place, LANE_MAIN, "a", 1, 1);
    start_epoch(2, "'price'"); /* without the title */
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    shelf_follow(&second, &place);
    assert_int_equal(shelf_count(&shelf), 1);
    assert_int_equal(shelf_count(&second), 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    end(indexer);
}

static void a_poured_element_goes_to_its_target_alone(void **state)
{
    static struct shelf second;
    struct indexer *indexer;

    begin(state, 1);
    memset(&second, 0, sizeof(second));
    second.epoch = 2;
    place_put(&place, LANE_MAIN, "a", 1, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    start_epoch(2, "'price', 'title'");
    exec(place.store,
         "INSERT INTO registry_queue (client_id, lane, shard, idx, pk, epoch, version, "
         "modify_us, put_us) SELECT client_id, 1, 0, 1, pk, 2, version, modify_us, 1 "
         "FROM registry");
    place_run(indexer);
    shelf_follow(&shelf, &place);
    shelf_follow(&second, &place);
    assert_int_equal(shelf.put_count, 1);
    assert_int_equal(second.put_count, 1);
    assert_int_equal(second.progress[LANE_BACKFILL], 1);
    end(indexer);
}

static const struct test_case cases[] = {
    CASE(documents_arrive_with_numbers_schema_and_progress),
    CASE(a_key_that_is_back_at_once_keeps_its_number),
    CASE(a_superseded_element_is_skipped_and_counted),
    CASE(progress_past_a_superseded_write_means_that_it_or_a_newer_one_is_in),
    CASE(a_deletion_of_what_was_never_sent_is_only_progress),
    CASE(a_document_that_comes_after_its_end_is_not_shown),
    CASE(the_longest_placement_class_is_numbered),
    CASE(a_batch_of_updates_needs_one_write),
    CASE(a_shard_where_nothing_waits_asks_twice),
    CASE(a_new_owner_tells_schema_and_progress_without_documents),
    CASE(each_shard_has_its_partition),
    CASE(an_emergency_overtakes_all),
    CASE(a_takedown_waits_for_nobody),
    CASE(a_backfill_does_not_delay_main),
    CASE(a_backfill_waits_while_main_is_late),
    CASE(clocks_of_writers_starve_no_backfill),
    CASE(no_weight_starves_a_lane),
    CASE(a_replaced_owner_can_commit_and_number_nothing),
    CASE(what_a_frozen_owner_sends_late_is_left_alone),
    CASE(a_failure_between_any_two_steps_loses_nothing),
    CASE(a_wide_schema_is_told_to_many_shards),
    CASE(every_epoch_gets_what_fits_it),
    CASE(a_document_that_fits_only_its_own_epoch_goes_there),
    CASE(a_poured_element_goes_to_its_target_alone),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "indexer"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

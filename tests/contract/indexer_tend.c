/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topics of the index are kept whole and short: a searcher that has lost everything comes back
 * without a new epoch, and a million changes of few documents leave a short topic. Embedded and on
 * servers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "contract/indexer_fixture.h"
#include "long.h"
#include "model/topics.h"
#include "registry/bounds.h"
#include "registry/clients/epoch_desk.h"

static struct index_place place;
static struct shelf shelf, fresh;
static struct indexer *indexer;
static char topic[INDEX_TOPIC_SIZE];

static void begin(void **state)
{
    if (!index_place_open(&place, case_on_servers(state), 1))
        skip();
    memset(&shelf, 0, sizeof(shelf));
    memset(&fresh, 0, sizeof(fresh));
    index_topic_name(place.client, SHELF_EPOCH, topic);
    indexer = place_indexer(&place, 0, 1);
}

static void end(void)
{
    indexer_free(indexer);
    index_place_close(&place);
}

static uint64_t first_of_topic(uint64_t *end_offset)
{
    uint64_t first;
    struct err err = {0};

    if (topic_range(place.topics, topic, 0, &first, end_offset, &err))
        fail_msg("%s", err.text);
    return first;
}

/* Retention takes the beginning of the topic, and with it documents that have not changed since. */
static uint64_t lose_beginning(int64_t *version)
{
    const struct topic_config small = {.partition_count = 1, .retention_size = 1};
    const struct topic_config large = {.partition_count = 1};
    uint64_t end_offset = 0;
    struct err err = {0};

    OK(topic_create(place.topics, topic, &small, &err));
    for (int i = 0; i < 100 && !first_of_topic(&end_offset); i++) {
        place_put_many(&place, 200, ++*version);
        place_run(indexer);
        shelf_follow(&shelf, &place);
        if (place.on_servers)
            OK(topic_trim(place.topics, topic, 0, end_offset, &err));
        else
            OK(topics_housekeep(place.topics, &err));
    }
    OK(topic_create(place.topics, topic, &large, &err));
    return first_of_topic(&end_offset);
}

static void a_topic_that_lost_its_beginning_is_poured_again(void **state)
{
    int64_t version = 1;
    uint64_t first;

    begin(state);
    place_put_many(&place, 600, version);
    place_put(&place, LANE_MAIN, "gone", 1, 1);
    place_run(indexer);
    place_put(&place, LANE_MAIN, "gone", 2, -1);
    shelf_follow(&shelf, &place);
    first = lose_beginning(&version);
    assert_true(first > 0);
    shelf_lose(&fresh, first);
    shelf_follow(&fresh, &place);
    assert_true(fresh.has_gap); /* it does not take what there is for everything */
    place_tend(&place, indexer, 0);
    shelf_follow(&fresh, &place);
    assert_false(fresh.has_gap);
    assert_int_equal(shelf_count(&fresh), 600);
    shelves_equal_registry(&fresh, 1, &place);
    shelves_equal_registry(&shelf, 1, &place); /* and to others nothing has happened */
    assert_int_equal(fresh.progress[LANE_MAIN], shelf.progress[LANE_MAIN]);
    end();
}

static void a_pour_survives_every_failure_and_change_of_owner(void **state)
{
    uint64_t ticket = 1;

    begin(state);
    place_put_many(&place, 600, 1);
    place_run(indexer);
    shelf_lose(&fresh, 0);
    place.base.rules.slack_count = 10;
    for (unsigned at = 0; at < 60; at++) {
        enum store_fault_point point = at % 2 ? STORE_FAULT_ACK : STORE_FAULT_COMMIT;
        struct topic_faults *faults = topics_faults(place.topics);
        struct indexer_round round;
        struct err err = {0};
        bool is_poured;

        store_fault_arm(place.store, point, at % 7, 1);
        atomic_store(at % 3 ? &faults->lose_ack : &faults->fail_produce, at % 5 == 0);
        clock_manual_advance(&place.clock, (int64_t)TEND_MS * MS_US);
        if (!indexer_round(indexer, &round, &err) && !indexer_tend(indexer, &err) &&
            !indexer_pour(indexer, &is_poured, &err))
            (void)indexer_round(indexer, &round, &err);
        if (at % 4 == 3) { /* kill -9, and another begins */
            indexer_free(indexer);
            indexer = place_indexer(&place, 0, ++ticket);
        }
        store_fault_arm(place.store, point, 0, 0);
        atomic_store(&faults->lose_ack, 0);
        atomic_store(&faults->fail_produce, 0);
        place_put(&place, LANE_MAIN, "busy", at + 1, at);
        shelf_follow(&fresh, &place);
        if (!fresh.has_gap) { /* whole: then it has all that was there when the pour began */
            assert_true(shelf_count(&fresh) >= 600);
            shelf_lose(&fresh, fresh.next);
        }
    }
    for (int version = 2; version < 8; version++) { /* enough for one more pour */
        place_put_many(&place, 600, version);
        place_run(indexer); /* each is sent: the next does not supersede it in the queue */
    }
    place_tend(&place, indexer, 0);
    shelf_follow(&fresh, &place);
    assert_false(fresh.has_gap);
    shelves_equal_registry(&fresh, 1, &place);
    shelves_equal_registry(&shelf, 1, &place);
    end();
}

/* Somebody makes the topic anew: nothing of what was sent is left. */
static void lose_topic(void)
{
    const struct topic_config config = {.partition_count = 1};
    struct err err = {0};

    OK(topic_remove(place.topics, topic, &err));
    OK(topic_create(place.topics, topic, &config, &err));
}

static void put_others(size_t count)
{
    char pk[16];

    for (size_t i = 0; i < count; i++) {
        snprintf(pk, sizeof(pk), "other%zu", i);
        place_put(&place, LANE_MAIN, pk, 1, 1);
    }
}

static void check_fresh(size_t count)
{
    place_tend(&place, indexer, 0);
    shelf_lose(&fresh, 0);
    shelf_follow(&fresh, &place);
    assert_int_equal(shelf_count(&fresh), count);
    shelves_equal_registry(&fresh, 1, &place);
}

/* It is longer than before when its owner first looks at it. */
static void what_is_sent_after_a_loss_does_not_hide_it(void **state)
{
    begin(state);
    place_put_many(&place, 200, 1);
    place_run(indexer);
    indexer_free(indexer);
    lose_topic();
    put_others(250);
    indexer = place_indexer(&place, 0, 2);
    check_fresh(450);
    end();
}

static void a_loss_under_its_owner_is_told_by_offsets(void **state)
{
    begin(state);
    place_put_many(&place, 200, 1);
    place_tend(&place, indexer, 0);
    lose_topic();
    put_others(250);
    place_run(indexer); /* all of it before the next look */
    check_fresh(450);
    end();
}

/* The client changes while a new owner looks at the topics for the first time: it looks again, at
 * all of them. */
static void a_change_of_the_client_does_not_hide_a_loss(void **state)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    const struct topic_config config = {.partition_count = 1};
    struct clients *others;
    const struct client_view *known;
    struct violations reasons;
    struct epoch_desk desk;
    struct err err = {0};

    begin(state);
    others = clients_new(place.store, &place.clock.base);
    reasons = violations_in(place.arena);
    desk = (struct epoch_desk){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .clock = &place.clock.base};
    place_put_many(&place, 200, 1);
    place_run(indexer);
    OK(epoch_desk_start(&desk, place.client, "test", &request, &reasons, &status, &err));
    place_tend(&place, indexer, 0);
    indexer_free(indexer);
    lose_topic();
    index_topic_name(place.client, 2, topic);
    OK(topic_remove(place.topics, topic, &err));
    OK(topic_create(place.topics, topic, &config, &err));
    put_others(450); /* more than was lost */
    OK(clients_find(others, place.client, true, &known, &err));
    client_unref(known);
    place_declare_stock(&place); /* which the next owner does not know yet */
    place.base.clients = others;
    indexer = place_indexer(&place, 0, 2);
    place_run(indexer);
    fresh.epoch = 2;
    check_fresh(650);
    place.base.clients = place.receiver.clients;
    clients_free(others);
    end();
}

static void a_loss_in_the_midst_of_a_pour_begins_it_again(void **state)
{
    struct err err = {0};
    bool is_poured;

    begin(state);
    place_put_many(&place, 600, 1);
    place_run(indexer);
    for (int version = 2; version < 8; version++) {
        place_put_many(&place, 600, version);
        place_run(indexer);
    }
    place.base.rules.slack_count = 10;
    clock_manual_advance(&place.clock, (int64_t)TEND_MS * MS_US);
    OK(indexer_tend(indexer, &err));
    OK(indexer_pour(indexer, &is_poured, &err));
    assert_true(is_poured);
    place_run(indexer);
    lose_topic();
    check_fresh(600);
    end();
}

static void a_topic_that_was_removed_is_made_and_poured(void **state)
{
    struct indexer_round round;
    struct err err = {0};

    begin(state);
    place_put_many(&place, 200, 1);
    place_run(indexer);
    OK(topic_remove(place.topics, topic, &err));
    put_others(1);
    (void)indexer_round(indexer, &round, &err); /* finds that it is gone, or makes it */
    check_fresh(201);
    end();
}

/* What cannot be read is not left out in silence. */
static void a_document_that_cannot_be_poured_again_is_seen(void **state)
{
    int64_t version = 1;
    uint64_t first;

    begin(state);
    place_put_many(&place, 300, version);
    place_run(indexer);
    exec(place.store, place.on_servers
                          ? "UPDATE registry SET document = CAST('no' AS BYTEA) WHERE pk = 'k250'"
                          : "UPDATE registry SET document = CAST('no' AS BLOB) WHERE pk = 'k250'");
    first = lose_beginning(&version);
    shelf_lose(&fresh, first);
    place_tend(&place, indexer, 0);
    shelf_follow(&fresh, &place);
    assert_false(fresh.has_gap);
    assert_int_equal(shelf_count(&fresh), 299);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed "
                                               "WHERE pk = 'k250'"),
                     1);
    end();
}

/* 1 000 documents, changed again and again: 60 000 changes, a million in the long run. */
static void many_changes_of_few_documents_leave_a_short_topic(void **state)
{
    enum { DOCUMENT_COUNT = 1000, SLACK = 5000 };
    bool on_servers = case_on_servers(state);
    long round_count = (long)(on_servers ? test_count("TORG_TREND_COUNT", 20, 100)
                                         : test_count("TORG_TREND_COUNT", 60, 1000));
    uint64_t longest = 0, end_offset = 0;

    begin(state);
    place.base.rules.slack_count = SLACK;
    for (long i = 0; i < round_count; i++) {
        uint64_t first;

        place_put_many(&place, DOCUMENT_COUNT, i + 1);
        place_tend(&place, indexer, 0);
        shelf_follow(&shelf, &place); /* reads on before what it needs goes */
        first = first_of_topic(&end_offset);
        longest = end_offset - first > longest ? end_offset - first : longest;
    }
    print_message("# %ld changes: %" PRIu64 " records sent, at most %" PRIu64 " kept\n",
                  round_count * DOCUMENT_COUNT, end_offset, longest);
    assert_true(end_offset >= (uint64_t)round_count * DOCUMENT_COUNT);
    /* four for each document, the slack, a pour, and a file of the topic that is not full yet */
    if (round_count >= 50)
        assert_true(longest < 35 * DOCUMENT_COUNT);
    shelf_lose(&fresh, first_of_topic(&end_offset));
    shelf_follow(&fresh, &place);
    assert_false(fresh.has_gap);
    shelves_equal_registry(&fresh, 1, &place);
    shelves_equal_registry(&shelf, 1, &place);
    end();
}

static const struct test_case cases[] = {
    CASE(a_topic_that_lost_its_beginning_is_poured_again),
    CASE(a_pour_survives_every_failure_and_change_of_owner),
    CASE(a_document_that_cannot_be_poured_again_is_seen),
    CASE(many_changes_of_few_documents_leave_a_short_topic),
};

/* Topics that are removed by hand. librdkafka keeps handles of such ones: not on servers. */
static const struct test_case losses[] = {
    CASE(what_is_sent_after_a_loss_does_not_hide_it),
    CASE(a_loss_under_its_owner_is_told_by_offsets),
    CASE(a_change_of_the_client_does_not_hide_a_loss),
    CASE(a_loss_in_the_midst_of_a_pour_begins_it_again),
    CASE(a_topic_that_was_removed_is_made_and_poured),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "indexer-tend"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_embedded(&list, losses, ARRAY_COUNT(losses));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents that cannot be indexed: kept with their reason, tried again with growing pauses,
 * parked, replayed, dropped, superseded; and one bad one stops nobody else. Embedded and on
 * servers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "contract/indexer_fixture.h"
#include "numerator/bounds.h"
#include "registry/bounds.h"
#include "registry/clients/epoch_desk.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/queue_desk.h"

static struct index_place place;
static struct shelf shelf;
static struct indexer *indexer;

static void begin(void **state)
{
    if (!index_place_open(&place, case_on_servers(state), 1))
        skip();
    memset(&shelf, 0, sizeof(shelf));
    indexer = place_indexer(&place, 0, 1);
}

static void end(void)
{
    indexer_free(indexer);
    index_place_close(&place);
}

/* What the registry has of it cannot be read any more; and can again. */
static void damage(const char *pk)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "UPDATE registry SET document = (SELECT trained FROM registry_dictionary "
             "WHERE number = 999) WHERE pk = '%s'",
             pk);
    exec(place.store, sql);
}

static void prepare_damage(void)
{
    char sql[256];

    place_put(&place, LANE_MAIN, "good", 1, 7);
    place_run(indexer);
    snprintf(sql, sizeof(sql),
             "INSERT INTO registry_dictionary (client_id, number, trained) "
             "SELECT %" PRId64 ", 999, CAST('no document' AS %s)",
             place_client_id(&place), place.on_servers ? "BYTEA" : "BLOB");
    exec(place.store, sql);
}

static void mend(const char *pk)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "UPDATE registry SET document = (SELECT document FROM registry WHERE pk = 'good'), "
             "dictionary = (SELECT dictionary FROM registry WHERE pk = 'good') WHERE pk = '%s'",
             pk);
    exec(place.store, sql);
}

static int64_t failed_integer(const char *column)
{
    char sql[128];

    snprintf(sql, sizeof(sql), "SELECT %s FROM registry_failed ORDER BY pk LIMIT 1", column);
    return read_integer(place.store, sql);
}

static void a_bad_document_stops_nobody(void **state)
{
    begin(state);
    prepare_damage();
    place_put(&place, LANE_MAIN, "a", 1, 1);
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    place_put(&place, LANE_MAIN, "c", 1, 1);
    damage("bad");
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_non_null(shelf_find(&shelf, "a"));
    assert_null(shelf_find(&shelf, "bad"));
    assert_non_null(shelf_find(&shelf, "c"));
    assert_int_equal(shelf.progress[LANE_MAIN], 4);
    assert_int_equal(failed_integer("attempt_count"), 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 0);
    end();
}

static void tries_come_later_and_later_and_then_it_is_parked(void **state)
{
    int64_t pause_us = FAILED_PAUSE_MS_MIN * MS_US;

    begin(state);
    prepare_damage();
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    damage("bad");
    place_run(indexer);
    for (int64_t attempt = 1; attempt < place.base.rules.try_count; attempt++) {
        int64_t wait_us = failed_integer("next_us") - clock_wall_us(&place.clock.base);

        assert_int_equal(failed_integer("attempt_count"), attempt);
        assert_true(wait_us >= pause_us && wait_us <= pause_us + pause_us / 4);
        clock_manual_advance(&place.clock, pause_us - 1);
        place_run(indexer);
        assert_int_equal(failed_integer("attempt_count"), attempt);
        clock_manual_advance(&place.clock, pause_us / 4 + 1);
        place_run(indexer);
        pause_us *= 2;
    }
    assert_int_equal(failed_integer("attempt_count"), place.base.rules.try_count);
    assert_int_equal(failed_integer("next_us"), 0);
    clock_manual_advance(&place.clock, INT64_C(86400) * SECOND_US);
    mend("bad"); /* nobody looks at it until a person says so */
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_null(shelf_find(&shelf, "bad"));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 1);
    end();
}

static void a_try_that_succeeds_takes_it_off(void **state)
{
    begin(state);
    prepare_damage();
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    damage("bad");
    place_run(indexer);
    mend("bad");
    clock_manual_advance(&place.clock, 2 * FAILED_PAUSE_MS_MIN * MS_US);
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    end();
}

static void a_newer_write_takes_a_parked_one_off(void **state)
{
    begin(state);
    place.base.rules.try_count = 1;
    prepare_damage();
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    place_put(&place, LANE_MAIN, "worse", 1, 1);
    damage("bad");
    damage("worse");
    place_run(indexer);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM registry_failed WHERE next_us = 0"), 2);
    place_put(&place, LANE_MAIN, "bad", 2, 2);
    place_put(&place, LANE_MAIN, "worse", 2, -1);
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    end();
}

static void a_newer_failure_begins_its_tries_anew(void **state)
{
    begin(state);
    prepare_damage();
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    damage("bad");
    place_run(indexer);
    clock_manual_advance(&place.clock, 2 * FAILED_PAUSE_MS_MIN * MS_US);
    place_run(indexer);
    assert_int_equal(failed_integer("attempt_count"), 2);
    place_put(&place, LANE_MAIN, "bad", 2, 1);
    damage("bad");
    place_run(indexer);
    assert_int_equal(failed_integer("attempt_count"), 1);
    assert_int_equal(failed_integer("version"), 2);
    end();
}

/* A store or a topic that does not answer is nobody's fault: nothing is parked for it. */
static void a_fault_of_the_world_parks_nothing(void **state)
{
    struct indexer_round round;
    struct err err = {0};

    begin(state);
    place.base.rules.try_count = 1;
    place_put(&place, LANE_MAIN, "a", 1, 1);
    for (int i = 0; i < 10; i++) {
        if (i % 2)
            store_fault_arm(place.store, STORE_FAULT_EXEC, (unsigned)i, 1);
        else
            atomic_store(&topics_faults(place.topics)->fail_produce, 1);
        assert_true(indexer_round(indexer, &round, &err) < 0);
        store_fault_arm(place.store, STORE_FAULT_EXEC, 0, 0);
    }
    atomic_store(&topics_faults(place.topics)->fail_produce, 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    end();
}

/* --- another epoch --- */

static struct epoch_desk epochs_of(void)
{
    return (struct epoch_desk){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .topics = place.topics,
                               .clock = &place.clock.base};
}

/* The indexer knows the client as it is. */
static void refresh(void)
{
    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US);
    place_run(indexer);
}

/* field: changed to a keyword; NULL: none is. */
static void start_epoch(const char *field)
{
    const struct epoch_desk desk = epochs_of();
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    Torg__V1__SchemaField changed = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&changed};
    struct violations reasons = violations_in(place.arena);
    struct err err = {0};

    changed.name = (char *)field;
    changed.type = TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD;
    request.fields = fields;
    request.n_fields = field != NULL;
    if (epoch_desk_start(&desk, place.client, "ann", &request, &reasons, &status, &err))
        fail_msg("%s", err.text);
    refresh();
}

static void give_up_epoch(void)
{
    const struct epoch_desk desk = epochs_of();
    Torg__V1__AbandonEpochRequest request = TORG__V1__ABANDON_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct err err = {0};

    if (epoch_desk_abandon(&desk, place.client, "ann", &request, place.arena, &status, &err))
        fail_msg("%s", err.text);
    refresh();
}

/* What it queues waits in its lane. */
static void pour(void)
{
    bool is_poured = true;
    struct err err = {0};

    while (is_poured)
        if (indexer_pour(indexer, &is_poured, &err))
            fail_msg("%s", err.text);
}

static int64_t count_failed(const char *where)
{
    char sql[256];

    snprintf(sql, sizeof(sql), "SELECT COUNT(*) FROM registry_failed WHERE %s", where);
    return read_integer(place.store, sql);
}

/* It has failed for the epoch that serves, and then for the one that is built, which is given up.
 */
static void expect_failures_are_joined(void)
{
    assert_int_equal(count_failed("pk = 'bad' AND epoch = 1 AND next_us = 0"), 1);
    mend("bad");
    exec(place.store, "UPDATE registry_failed SET next_us = 1");
    give_up_epoch();
    shelves_equal_registry(&shelf, 1, &place);
    assert_non_null(shelf_find(&shelf, "bad"));
    assert_int_equal(count_failed("1 = 1"), 0);
}

static void a_failure_of_a_pour_hides_none_of_the_epoch_that_serves(void **state)
{
    int64_t first_us;

    begin(state);
    shelf.epoch = 1;
    place.base.rules.try_count = 1;
    prepare_damage();
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    damage("bad");
    place_run(indexer);
    first_us = failed_integer("first_us");
    mend("bad");
    start_epoch(NULL);
    pour();
    damage("bad");
    place_run(indexer);
    assert_int_equal(failed_integer("first_us"), first_us);
    expect_failures_are_joined();
    end();
}

static void nor_one_that_is_not_committed_yet(void **state)
{
    begin(state);
    shelf.epoch = 1;
    place.base.rules.try_count = 1;
    prepare_damage();
    start_epoch(NULL);
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    pour();
    damage("bad");
    place_run(indexer);
    expect_failures_are_joined();
    end();
}

static void failures_of_an_epoch_go_with_it(void **state)
{
    begin(state);
    place.base.rules.try_count = 1;
    prepare_damage();
    place_put(&place, LANE_MAIN, "bad", 1, 1);
    place_run(indexer);
    start_epoch(NULL);
    pour();
    damage("bad");
    place_run(indexer);
    assert_int_equal(count_failed("pk = 'bad' AND epoch = 2 AND next_us = 0"), 1);
    exec(place.store,
         "INSERT INTO registry_failed (client_id, shard, pk, epoch, version, modify_us, "
         "attempt_count, next_us, first_us, reason, refused_epoch) SELECT client_id, 0, pk, epoch, "
         "version, modify_us, 1, 0, 1, 'searchers of epoch 2', 2 FROM registry WHERE pk = 'good'");
    mend("bad");
    give_up_epoch();
    assert_int_equal(count_failed("1 = 1"), 0);
    end();
}

/* It was written for the epoch by name, and no other can have it. */
static void but_for_documents_of_its_own(void **state)
{
    Torg__V1__RawDocument *document;
    Torg__V1__RawField *price;
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    begin(state);
    place.base.rules.try_count = 1;
    prepare_damage();
    start_epoch("price");
    document = MESSAGE_NEW(raw_document, place.arena);
    price = MESSAGE_NEW(raw_field, place.arena);
    document->pk = (char *)"own";
    document->version = 1;
    document->epoch = 2;
    document->fields = &price;
    document->n_fields = 1;
    price->name = (char *)"price";
    price->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    price->keyword = (char *)"cheap";
    if (receiver_put(&place.receiver, place.client, LANE_MAIN, &document, 1, place.arena, &verdicts,
                     &err))
        fail_msg("%s", err.text);
    place_run(indexer);
    assert_int_equal(count_failed("1 = 1"), 0);
    exec(place.store,
         "INSERT INTO registry_failed (client_id, shard, pk, epoch, version, modify_us, "
         "attempt_count, next_us, first_us, reason, refused_epoch) SELECT client_id, 0, pk, epoch, "
         "version, modify_us, 1, 0, 1, 'searchers of epoch 2', 2 FROM registry WHERE pk = 'own'");
    give_up_epoch();
    assert_int_equal(count_failed("pk = 'own' AND next_us = 0 AND refused_epoch = 0 AND reason "
                                  "LIKE '%price%'"),
                     1);
    end();
}

/* --- the operator's side --- */

static struct queue_desk desk_of(void)
{
    return (struct queue_desk){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .clock = &place.clock.base};
}

static void park(int count)
{
    char pk[16];

    place.base.rules.try_count = 1;
    prepare_damage();
    for (int i = 0; i < count; i++) {
        snprintf(pk, sizeof(pk), i % 2 ? "odd%%%d" : "even_%d", i);
        place_put(&place, LANE_MAIN, pk, 1, 1);
        damage(pk);
    }
    place_run(indexer);
}

static Torg__V1__ListFailedResponse list(const char *prefix, const char *reason, int32_t page_size,
                                         const char *token)
{
    Torg__V1__ListFailedRequest request = TORG__V1__LIST_FAILED_REQUEST__INIT;
    Torg__V1__ListFailedResponse response = TORG__V1__LIST_FAILED_RESPONSE__INIT;
    const struct queue_desk desk = desk_of();
    struct err err = {0};

    request.pk_prefix = (char *)prefix;
    request.reason = (char *)reason;
    request.page_size = page_size;
    request.page_token = (char *)token;
    if (queue_desk_list(&desk, place.client, &request, place.arena, &response, &err))
        fail_msg("%s", err.text);
    return response;
}

static void failed_documents_are_listed_by_pages_and_filters(void **state)
{
    Torg__V1__ListFailedResponse found;
    const char *token = "";
    size_t count = 0;

    begin(state);
    park(10);
    assert_int_equal(list("", "", 0, "").n_documents, 10);
    assert_int_equal(list("odd%", "", 0, "").n_documents, 5);
    assert_int_equal(list("even%", "", 0, "").n_documents, 0); /* not a pattern */
    assert_int_equal(list("", "no such reason", 0, "").n_documents, 0);
    do {
        found = list("", "", 3, token);
        for (size_t i = 1; i < found.n_documents; i++)
            assert_true(strcmp(found.documents[i - 1]->pk, found.documents[i]->pk) < 0);
        count += found.n_documents;
        token = found.next_page_token;
    } while (*token);
    assert_int_equal(count, 10);
    end();
}

static void one_is_shown_replayed_and_dropped(void **state)
{
    Torg__V1__FailedDocument shown = TORG__V1__FAILED_DOCUMENT__INIT;
    Torg__V1__ReplayFailedRequest replay = TORG__V1__REPLAY_FAILED_REQUEST__INIT;
    struct queue_desk desk;
    struct err err = {0};
    int64_t count;

    begin(state);
    park(3);
    desk = desk_of();
    assert_int_equal(queue_desk_get(&desk, place.client, "even_0", place.arena, &shown, &err), 0);
    assert_true(shown.is_parked);
    assert_true(*shown.reason);
    assert_int_equal(queue_desk_get(&desk, place.client, "none", place.arena, &shown, &err),
                     ERR_NOT_FOUND);
    mend("even_0");
    replay.pk = (char *)"even_0";
    assert_int_equal(queue_desk_replay(&desk, place.client, "ann", &replay, &count, &err), 0);
    assert_int_equal(count, 1);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_non_null(shelf_find(&shelf, "even_0"));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 2);
    assert_int_equal(
        queue_desk_drop(&desk, place.client, "ann", "odd%1", place.arena, &shown, &err), 0);
    assert_int_equal(
        queue_desk_drop(&desk, place.client, "ann", "odd%1", place.arena, &shown, &err),
        ERR_NOT_FOUND);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 1);
    assert_int_equal(read_integer(place.store,
                                  "SELECT COUNT(*) FROM audit WHERE action IN "
                                  "('queue.replay', 'queue.drop') AND principal = 'ann'"),
                     2);
    end();
}

static void all_of_a_client_are_replayed(void **state)
{
    Torg__V1__ReplayFailedRequest replay = TORG__V1__REPLAY_FAILED_REQUEST__INIT;
    struct queue_desk desk;
    struct err err = {0};
    int64_t count;

    begin(state);
    park(7);
    desk = desk_of();
    assert_int_equal(queue_desk_replay(&desk, place.client, "ann", &replay, &count, &err),
                     ERR_INVALID);
    replay.all = true;
    assert_int_equal(queue_desk_replay(&desk, place.client, "ann", &replay, &count, &err), 0);
    assert_int_equal(count, 7);
    exec(place.store, "UPDATE registry SET document = (SELECT document FROM registry "
                      "WHERE pk = 'good'), dictionary = (SELECT dictionary FROM registry "
                      "WHERE pk = 'good')");
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    end();
}

/* Two numbers are left of a shard, and five new keys come at once. */
static void without_numbers_left_some_are_sent_and_the_others_wait(void **state)
{
    char sql[600];
    char pk[8];

    begin(state);
    place_put(&place, LANE_MAIN, "k0", 1, 1);
    snprintf(sql, sizeof(sql),
             "INSERT INTO number_space (space, shard, kind, scheme, rebuild, generation, "
             "change_no) VALUES (%" PRId64 ", 0, %" PRId64 ", 1, 0, 5, 1)",
             place_client_id(&place), place_client_id(&place));
    exec(place.store, sql);
    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE extent (first) AS (SELECT 0 UNION ALL SELECT first + %d FROM extent "
             "WHERE first < %d) INSERT INTO number_extent (space, shard, first_id, class, next_id) "
             "SELECT %" PRId64 ", 0, first, '', first + %d - CASE WHEN first = %d THEN 2 ELSE 0 "
             "END FROM extent",
             NUMBER_EXTENT_SIZE, NUMBER_ID_END - NUMBER_EXTENT_SIZE, place_client_id(&place),
             NUMBER_EXTENT_SIZE, NUMBER_ID_END - NUMBER_EXTENT_SIZE);
    exec(place.store, sql);
    for (int i = 1; i < 5; i++) {
        snprintf(pk, sizeof(pk), "k%d", i);
        place_put(&place, LANE_MAIN, pk, 1, 1);
    }
    place_run(indexer);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM number_slot"), 2);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 0);
    assert_int_equal(read_integer(place.store,
                                  "SELECT COUNT(*) FROM registry_failed WHERE next_us > 0 AND "
                                  "reason LIKE '%given all its%'"),
                     3);
    end();
}

static void lanes_tell_what_waits(void **state)
{
    Torg__V1__ListLanesResponse lanes = TORG__V1__LIST_LANES_RESPONSE__INIT;
    struct queue_desk desk;
    struct err err = {0};

    begin(state);
    park(2);
    place_put(&place, LANE_MAIN, "x", 1, 1);
    place_put(&place, LANE_MAIN, "y", 1, 1);
    desk = desk_of();
    assert_int_equal(queue_desk_lanes(&desk, NULL, place.arena, &lanes, &err), 0);
    assert_int_equal(lanes.n_lanes, 4);
    assert_int_equal(lanes.lanes[1]->lane, TORG__V1__QUEUE_LANE__NAME__MAIN);
    assert_int_equal(lanes.lanes[1]->offset, 3);
    assert_int_equal(lanes.lanes[1]->end, 5);
    assert_int_equal(lanes.lanes[1]->lag, 2);
    assert_non_null(lanes.lanes[1]->oldest_time);
    assert_int_equal(lanes.lanes[3]->parked_count, 2);
    assert_int_equal(queue_desk_lanes(&desk, "nobody", place.arena, &lanes, &err), ERR_NOT_FOUND);
    end();
}

static const struct test_case cases[] = {
    CASE(a_bad_document_stops_nobody),
    CASE(tries_come_later_and_later_and_then_it_is_parked),
    CASE(a_try_that_succeeds_takes_it_off),
    CASE(a_newer_write_takes_a_parked_one_off),
    CASE(a_newer_failure_begins_its_tries_anew),
    CASE(a_fault_of_the_world_parks_nothing),
    CASE(a_failure_of_a_pour_hides_none_of_the_epoch_that_serves),
    CASE(nor_one_that_is_not_committed_yet),
    CASE(failures_of_an_epoch_go_with_it),
    CASE(but_for_documents_of_its_own),
    CASE(failed_documents_are_listed_by_pages_and_filters),
    CASE(one_is_shown_replayed_and_dropped),
    CASE(all_of_a_client_are_replayed),
    CASE(without_numbers_left_some_are_sent_and_the_others_wait),
    CASE(lanes_tell_what_waits),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "indexer-failed"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

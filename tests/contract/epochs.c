/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs of a client, embedded and on servers: plans, pouring, switching, the way back; with
 * writes, faults and new owners in between. TORG_MODEL_SEED repeats a random run.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "codec/message.h"
#include "contract/indexer_fixture.h"
#include "coord/fault.h"
#include "model/topics.h"
#include "registry/bounds.h"
#include "registry/clients/epoch_desk.h"
#include "registry/clients/retired_topics.h"
#include "registry/indexing/failed.h"
#include "store/bounds.h"

enum { STEP_COUNT = 150, KEY_COUNT = 40 };

static struct index_place place;
static struct epoch_desk desk;
static struct shelf old_shelf, new_shelf;

static void begin(void **state, uint32_t shard_count)
{
    if (!index_place_open(&place, case_on_servers(state), shard_count))
        skip();
    desk = (struct epoch_desk){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .topics = place.topics,
                               .clock = &place.clock.base};
    memset(&old_shelf, 0, sizeof(old_shelf));
    memset(&new_shelf, 0, sizeof(new_shelf));
    old_shelf.epoch = 1;
    new_shelf.epoch = 2;
}

static void put_many(int count)
{
    char pk[32];

    for (int i = 0; i < count; i++) {
        snprintf(pk, sizeof(pk), "doc-%d", i);
        place_put(&place, LANE_MAIN, pk, 1, i);
    }
}

static Torg__V1__SchemaField *field(const char *name, Torg__V1__SchemaField__Type type)
{
    Torg__V1__SchemaField *made =
        (Torg__V1__SchemaField *)message_new(&torg__v1__schema_field__descriptor, place.arena);

    made->name = (char *)name;
    made->type = type;
    return made;
}

static int try_start(Torg__V1__SchemaField *change, Torg__V1__EpochStatus *status, struct err *err)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    struct violations reasons = violations_in(place.arena);

    torg__v1__epoch_status__init(status);
    request.fields = &change;
    request.n_fields = change != NULL;
    return epoch_desk_start(&desk, place.client, "ann", &request, &reasons, status, err);
}

static Torg__V1__EpochStatus start(Torg__V1__SchemaField *change)
{
    Torg__V1__EpochStatus status;
    struct err err = {0};

    if (try_start(change, &status, &err))
        fail_msg("%s", err.text);
    return status;
}

static Torg__V1__EpochStatus status_now(void)
{
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct err err = {0};

    if (epoch_desk_status(&desk, place.client, place.arena, &status, &err))
        fail_msg("%s", err.text);
    return status;
}

static int try_switch(bool force, struct err *err)
{
    Torg__V1__SwitchEpochRequest request = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;

    request.force = force;
    return epoch_desk_switch(&desk, place.client, "ann", &request, place.arena, &status, err);
}

static int try_rollback(struct err *err)
{
    Torg__V1__RollbackEpochRequest request = TORG__V1__ROLLBACK_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;

    return epoch_desk_rollback(&desk, place.client, "ann", &request, place.arena, &status, err);
}

static Torg__V1__PlanEpochResponse plan(Torg__V1__SchemaField *change)
{
    Torg__V1__PlanEpochRequest request = TORG__V1__PLAN_EPOCH_REQUEST__INIT;
    Torg__V1__PlanEpochResponse response = TORG__V1__PLAN_EPOCH_RESPONSE__INIT;
    struct violations reasons = violations_in(place.arena);
    struct err err = {0};

    request.fields = &change;
    request.n_fields = change != NULL;
    if (epoch_desk_plan(&desk, place.client, &request, &reasons, &response, &err))
        fail_msg("%s", err.text);
    return response;
}

/* Rounds and pouring until nothing is left to do; a lane is never longer than allowed. */
static void run_all(struct indexer *indexer)
{
    bool is_poured = true;
    struct err err = {0};

    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US); /* views are read anew */
    while (is_poured) {
        place_run(indexer);
        if (indexer_pour(indexer, &is_poured, &err))
            fail_msg("%s", err.text);
        assert_true(
            read_integer(place.store, "SELECT COUNT(*) FROM registry_queue WHERE lane = 1") <=
            POUR_LANE_COUNT_MAX);
    }
}

static void assert_waits_for(const Torg__V1__EpochStatus *status, const char *text)
{
    assert_false(status->is_safe);
    assert_true(status->n_waits_for > 0);
    assert_non_null(strstr(status->waits_for[0], text));
}

/* --- plans --- */

static void a_plan_tells_what_would_be_refused_and_changes_nothing(void **state)
{
    Torg__V1__PlanEpochResponse response;
    int64_t state_no;

    begin(state, 2);
    put_many(30);
    place_put(&place, LANE_MAIN, "dead", 1, 1);
    place_put(&place, LANE_MAIN, "dead", 2, -1);
    state_no = read_integer(place.store, "SELECT MAX(state_no) FROM registry_client");
    response = plan(field("colour", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD));
    assert_int_equal(response.checked_count, 30);
    assert_int_equal(response.refused_count, 0);
    response = plan(field("price", TORG__V1__SCHEMA_FIELD__TYPE__POINT));
    assert_int_equal(response.checked_count, 30);
    assert_int_equal(response.refused_count, 30);
    assert_int_equal(response.n_refusals, 1);
    assert_int_equal(response.refusals[0]->count, 30);
    assert_int_equal(response.refusals[0]->n_sample_pks, PLAN_SAMPLE_COUNT);
    assert_non_null(strstr(response.refusals[0]->reason, "price"));
    assert_string_equal(response.next_page_token, "");
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_epoch"), 1);
    assert_int_equal(read_integer(place.store, "SELECT MAX(state_no) FROM registry_client"),
                     state_no);
    index_place_close(&place);
}

static void a_wrong_schema_is_refused_with_the_field(void **state)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct violations reasons;
    Torg__V1__SchemaField *change;
    struct err err = {0};

    begin(state, 1);
    put_many(1);
    reasons = violations_in(place.arena);
    change = field("Wrong Name", TORG__V1__SCHEMA_FIELD__TYPE__TEXT);
    request.fields = &change;
    request.n_fields = 1;
    assert_int_equal(
        epoch_desk_start(&desk, place.client, "ann", &request, &reasons, &status, &err),
        ERR_INVALID);
    assert_string_equal(reasons.first->field, "fields[0].name");
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_epoch"), 1);
    assert_int_equal(epoch_desk_start(&desk, "nobody", "ann", &request, &reasons, &status, &err),
                     ERR_NOT_FOUND);
    index_place_close(&place);
}

/* --- from one to the next --- */

static void an_epoch_is_built_switched_to_and_back(void **state)
{
    struct indexer *indexer;
    Torg__V1__EpochStatus status;
    struct err err = {0};

    begin(state, 1);
    put_many(600);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    status = start(field("colour", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD));
    assert_int_equal(status.n_epochs, 2);
    assert_int_equal(status.epochs[1]->epoch, 2);
    assert_int_equal(status.epochs[1]->field_count, 3);
    assert_waits_for(&status, "shard 0 still pours stored documents");
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "still pours"));

    run_all(indexer);
    status = status_now();
    assert_true(status.is_safe);
    assert_int_equal(status.epochs[1]->shards[0]->poured_count, 600);
    assert_int_equal(status.epochs[1]->shards[0]->refused_count, 0);
    assert_true(status.epochs[1]->shards[0]->index_end >= 600);
    shelves_equal_registry(&new_shelf, 1, &place);
    assert_int_equal(new_shelf.field_count, 3);

    assert_int_equal(try_switch(false, &err), 0);
    status = status_now();
    assert_int_equal(status.writing_epoch, 2);
    assert_int_equal(status.serving_epoch, 2);
    assert_int_equal(status.epochs[0]->state, TORG__V1__INDEX_MAP__EPOCH__STATE__KEPT);
    assert_int_equal(status.epochs[1]->state, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING);
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "has no epoch that is built"));

    place_put(&place, LANE_MAIN, "doc-1", 2, 77); /* goes to both */
    place_put(&place, LANE_MAIN, "doc-2", 2, -1);
    run_all(indexer);
    shelves_equal_registry(&new_shelf, 1, &place);
    shelves_equal_registry(&old_shelf, 1, &place);
    assert_int_equal(try_rollback(&err), 0);
    status = status_now();
    assert_int_equal(status.serving_epoch, 1);
    assert_int_equal(status.writing_epoch, 2); /* writers never go back */
    place_put(&place, LANE_MAIN, "doc-1", 3, 78);
    run_all(indexer);
    shelves_equal_registry(&old_shelf, 1, &place);
    shelves_equal_registry(&new_shelf, 1, &place);
    assert_int_equal(try_rollback(&err), 0); /* and forward again */
    assert_int_equal(status_now().serving_epoch, 2);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM audit WHERE action LIKE 'epoch.%'"), 4);
    indexer_free(indexer);
    index_place_close(&place);
}

static void a_switch_can_be_forced(void **state)
{
    struct err err = {0};

    begin(state, 1);
    put_many(3);
    start(NULL);
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_int_equal(try_switch(true, &err), 0);
    assert_int_equal(status_now().serving_epoch, 2);
    index_place_close(&place);
}

static void the_next_epoch_gives_up_the_kept_one(void **state)
{
    struct indexer *indexer;
    Torg__V1__EpochStatus status;
    struct err err = {0};

    begin(state, 1);
    put_many(10);
    indexer = place_indexer(&place, 0, 1);
    assert_int_equal(try_rollback(&err), ERR_PRECONDITION);
    for (int64_t epoch = 2; epoch <= 4; epoch++) {
        status = start(NULL);
        assert_int_equal(status.n_epochs, 2);
        assert_int_equal(status.epochs[1]->epoch, epoch);
        run_all(indexer);
        assert_int_equal(try_switch(false, &err), 0);
    }
    assert_int_equal(try_rollback(&err), 0); /* 3 serves, writers are in 4 */
    status = start(NULL);
    assert_int_equal(status.n_epochs, 3);
    run_all(indexer);
    place_put(&place, LANE_MAIN, "doc-1", 2, 5);
    run_all(indexer);
    new_shelf.epoch = 5;
    shelves_equal_registry(&new_shelf, 1, &place);
    assert_int_equal(try_switch(false, &err), 0);
    status = status_now();
    assert_int_equal(status.n_epochs, 2);
    assert_int_equal(status.epochs[0]->epoch, 3);
    assert_int_equal(status.epochs[1]->epoch, 5);
    assert_int_equal(status.writing_epoch, 5);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_backfill"), 2);
    indexer_free(indexer);
    index_place_close(&place);
}

/* --- documents meanwhile --- */

static Torg__V1__Verdict *send(const char *pk, int64_t version, int64_t epoch,
                               Torg__V1__RawField *value)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, place.arena);
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    document->pk = (char *)pk;
    document->version = version;
    document->epoch = epoch;
    document->fields = arena_array(place.arena, 1, sizeof(document->fields[0]));
    document->fields[0] = value;
    document->n_fields = 1;
    clock_manual_advance(&place.clock, 1);
    if (receiver_put(&place.receiver, place.client, LANE_MAIN, &document, 1, place.arena, &verdicts,
                     &err))
        fail_msg("%s", err.text);
    return verdicts[0];
}

static Torg__V1__RawField *keyword(const char *name, const char *value)
{
    Torg__V1__RawField *made =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, place.arena);

    made->name = (char *)name;
    made->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    made->keyword = (char *)value;
    return made;
}

static Torg__V1__RawField *integer(const char *name, int64_t value)
{
    Torg__V1__RawField *made =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, place.arena);

    made->name = (char *)name;
    made->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    made->integer = value;
    return made;
}

static int try_abandon(int64_t epoch, struct err *err)
{
    Torg__V1__AbandonEpochRequest request = TORG__V1__ABANDON_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;

    request.epoch = epoch;
    return epoch_desk_abandon(&desk, place.client, "ann", &request, place.arena, &status, err);
}

/* In the middle of its pouring: nothing of it is left but its number, and the next can begin. */
static void an_epoch_that_is_built_can_be_given_up(void **state)
{
    struct indexer *indexer;
    Torg__V1__EpochStatus status;
    struct err err = {0};
    bool is_poured;

    begin(state, 1);
    put_many(600);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    assert_int_equal(try_abandon(0, &err), ERR_PRECONDITION);
    start(field("colour", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD));
    place_run(indexer);
    assert_int_equal(indexer_pour(indexer, &is_poured, &err), 0);
    assert_int_equal(send("doc-1", 2, 2, integer("price", 5))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(try_abandon(7, &err), ERR_PRECONDITION);
    assert_int_equal(try_abandon(2, &err), 0);
    status = status_now();
    assert_int_equal(status.n_epochs, 1);
    assert_int_equal(status.writing_epoch, 1);
    assert_int_equal(status.serving_epoch, 1);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM registry_backfill WHERE epoch > 1"), 0);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM registry_field WHERE epoch = 2"), 0);
    /* what was written for it by name goes on, and is newer than what was there */
    run_all(indexer);
    shelves_equal_registry(&old_shelf, 1, &place);
    assert_int_equal(send("doc-1", 4, 2, integer("price", 5))->kind,
                     TORG__V1__VERDICT__KIND__INVALID);
    place_put(&place, LANE_MAIN, "doc-1", 3, 77);
    place_put(&place, LANE_MAIN, "doc-2", 3, 78);
    run_all(indexer);
    shelves_equal_registry(&old_shelf, 1, &place);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);

    status = start(NULL); /* its number is not used again */
    assert_int_equal(status.epochs[1]->epoch, 3);
    run_all(indexer);
    assert_true(status_now().is_safe);
    assert_int_equal(try_switch(false, &err), 0);
    new_shelf.epoch = 3;
    shelves_equal_registry(&new_shelf, 1, &place);
    indexer_free(indexer);
    index_place_close(&place);
}

static bool has_topic(int64_t epoch)
{
    struct topic_config config;
    char name[INDEX_TOPIC_SIZE];
    struct err err = {0};
    int rc;

    index_topic_name(place.client, epoch, name);
    rc = topic_describe(place.topics, name, &config, &err);
    if (rc && rc != ERR_NOT_FOUND)
        fail_msg("%s", err.text);
    return !rc;
}

static size_t remove_retired(void)
{
    struct err err = {0};
    size_t count;

    if (retired_topics_remove(&place.base, NULL, &count, &err))
        fail_msg("%s", err.text);
    return count;
}

/* Those that serve, are built or kept stay, also on the way back and forth; a retired one goes. */
static void topics_of_retired_epochs_are_removed(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    put_many(20);
    indexer = place_indexer(&place, 0, 1);
    start(NULL);
    run_all(indexer);
    assert_int_equal(remove_retired(), 0); /* serving and built */
    assert_int_equal(try_switch(false, &err), 0);
    assert_int_equal(remove_retired(), 0); /* kept and serving: the way back is open */
    assert_int_equal(try_rollback(&err), 0);
    assert_int_equal(remove_retired(), 0);
    assert_int_equal(try_rollback(&err), 0);
    start(NULL);
    run_all(indexer);
    assert_int_equal(remove_retired(), 1);
    assert_false(has_topic(1));
    assert_true(has_topic(2) && has_topic(3));
    assert_int_equal(try_abandon(3, &err), 0);
    assert_int_equal(remove_retired(), 1);
    assert_int_equal(remove_retired(), 0);
    assert_true(has_topic(2) && !has_topic(3));
    place_put(&place, LANE_MAIN, "doc-1", 2, 77); /* and the indexer goes on */
    run_all(indexer);
    shelves_equal_registry(&new_shelf, 1, &place);
    indexer_free(indexer);
    index_place_close(&place);
}

/* Searchers that cannot be told may still look for it. */
static void a_retired_topic_waits_until_searchers_are_told(void **state)
{
    struct indexer *indexer;
    struct coord *coord;
    struct err err = {0};
    size_t count;

    begin(state, 1);
    if (coord_open("fault:memory:retired", "only", NULL, &coord, &err))
        fail_msg("%s", err.text);
    put_many(3);
    indexer = place_indexer(&place, 0, 1);
    start(NULL);
    run_all(indexer);
    assert_int_equal(try_abandon(2, &err), 0);
    coord_fault_next(COORD_FAULT_SET, 1, false);
    assert_int_equal(retired_topics_remove(&place.base, coord, &count, &err), ERR_UNAVAILABLE);
    assert_int_equal(count, 0);
    assert_true(has_topic(2));
    assert_int_equal(retired_topics_remove(&place.base, coord, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_false(has_topic(2));
    indexer_free(indexer);
    coord_close(coord);
    index_place_close(&place);
}

/* Embedded: with as many topics as there may be a new epoch has no room, until retired ones go. */
static void retired_epochs_make_room_for_new_ones(void **state)
{
    struct topic_config config = {.partition_count = 1};
    struct indexer_round round;
    struct indexer *indexer;
    struct err err = {0};
    char name[32];
    int rc = 0;

    begin(state, 1);
    if (place.on_servers) { /* Kafka has no such bound */
        index_place_close(&place);
        return;
    }
    put_many(3);
    indexer = place_indexer(&place, 0, 1);
    start(NULL);
    run_all(indexer);
    for (int i = 0; !rc; i++) {
        snprintf(name, sizeof(name), "other-%d", i);
        rc = topic_create(place.topics, name, &config, &err);
    }
    assert_int_equal(rc, ERR_LIMIT);
    assert_int_equal(try_abandon(2, &err), 0);
    start(NULL);
    assert_int_equal(indexer_round(indexer, &round, &err), ERR_LIMIT);
    assert_int_equal(remove_retired(), 1);
    run_all(indexer);
    assert_true(has_topic(3));
    assert_true(status_now().is_safe);
    indexer_free(indexer);
    index_place_close(&place);
}

static void what_does_not_fit_is_counted_and_left_out(void **state)
{
    struct indexer *indexer;
    Torg__V1__EpochStatus status;

    begin(state, 1);
    put_many(20);
    assert_int_equal(send("plain", 1, 0, keyword("colour", "red"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    start(field("price", TORG__V1__SCHEMA_FIELD__TYPE__POINT));
    run_all(indexer);
    status = status_now();
    assert_true(status.is_safe);
    assert_int_equal(status.epochs[1]->shards[0]->refused_count, 20);
    assert_int_equal(status.epochs[1]->shards[0]->poured_count, 1);
    place_put(&place, LANE_MAIN, "doc-1", 2, 5); /* in the old form */
    run_all(indexer);
    assert_int_equal(status_now().epochs[1]->shards[0]->late_count, 1);
    shelf_follow(&new_shelf, &place);
    assert_int_equal(shelf_count(&new_shelf), 1);
    shelves_equal_registry(&old_shelf, 1, &place);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    indexer_free(indexer);
    index_place_close(&place);
}

/* When documents are poured again what does not fit is counted once, not once more. */
static void a_pour_counts_anew_what_does_not_fit(void **state)
{
    struct indexer *indexer;
    Torg__V1__EpochShard *shard;
    char topic[INDEX_TOPIC_SIZE];
    uint64_t first, end;
    struct err err = {0};

    begin(state, 1);
    place.base.rules.slack_count = 10;
    put_many(20);
    assert_int_equal(send("plain", 1, 0, keyword("colour", "red"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    start(field("price", TORG__V1__SCHEMA_FIELD__TYPE__POINT));
    run_all(indexer);
    place_put(&place, LANE_MAIN, "doc-1", 2, 5);
    place_put(&place, LANE_MAIN, "doc-new", 1, 5);
    for (int64_t version = 2; version < 62; version++) {
        assert_int_equal(send("plain", version, 0, keyword("colour", "blue"))->kind,
                         TORG__V1__VERDICT__KIND__ACCEPTED);
        run_all(indexer);
    }
    shard = status_now().epochs[1]->shards[0];
    assert_int_equal(shard->refused_count + shard->late_count, 22);
    place_tend(&place, indexer, 0);
    assert_int_equal(
        read_integer(place.store, "SELECT MIN(pour_no) FROM registry_backfill WHERE epoch > 0"), 1);
    shard = status_now().epochs[1]->shards[0];
    assert_int_equal(shard->refused_count, 21);
    assert_int_equal(shard->late_count, 0);
    shelves_equal_registry(&old_shelf, 1, &place);
    index_topic_name(place.client, new_shelf.epoch, topic);
    if (topic_range(place.topics, topic, 0, &first, &end, &err))
        fail_msg("%s", err.text);
    shelf_lose(&new_shelf, first ? first : 1); /* as whoever does not read from the beginning */
    shelf_follow(&new_shelf, &place);
    assert_false(new_shelf.has_gap);
    assert_int_equal(shelf_count(&new_shelf), 1);
    indexer_free(indexer);
    index_place_close(&place);
}

/* Prices that were sent as integers are found as decimals, and those sent later too. */
static void what_can_be_read_as_the_new_type_is(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    put_many(20);
    indexer = place_indexer(&place, 0, 1);
    assert_int_equal(plan(field("price", TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL)).refused_count, 0);
    assert_int_equal(plan(field("title", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD)).refused_count, 0);
    assert_int_equal(plan(field("title", TORG__V1__SCHEMA_FIELD__TYPE__INTEGER)).refused_count, 20);
    assert_int_equal(plan(field("price", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS)).refused_count, 0);
    start(field("price", TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL));
    run_all(indexer);
    place_put(&place, LANE_MAIN, "later", 1, 5);
    run_all(indexer);
    shelves_equal_registry(&new_shelf, 1, &place);
    assert_int_equal(shelf_find(&new_shelf, "doc-7")->price, 700);
    assert_int_equal(shelf_find(&new_shelf, "later")->price, 500);
    indexer_free(indexer);
    index_place_close(&place);
}

/* What an epoch has of a document is as the registry has it, or it is not there. */
static void a_write_that_does_not_fit_takes_the_older_one_away(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    assert_int_equal(send("a", 1, 0, keyword("colour", "7"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    indexer = place_indexer(&place, 0, 1);
    start(field("colour", TORG__V1__SCHEMA_FIELD__TYPE__INTEGER));
    run_all(indexer);
    shelf_follow(&new_shelf, &place);
    assert_int_equal(shelf_find(&new_shelf, "a")->price, 7);
    send("a", 2, 0, keyword("colour", "red"));
    send("b", 1, 0, keyword("colour", "red"));
    run_all(indexer);
    shelf_follow(&new_shelf, &place);
    assert_null(shelf_find(&new_shelf, "a"));
    assert_null(shelf_find(&new_shelf, "b"));
    shelves_equal_registry(&old_shelf, 1, &place);
    send("a", 3, 0, keyword("colour", "8"));
    run_all(indexer);
    shelf_follow(&new_shelf, &place);
    assert_int_equal(shelf_find(&new_shelf, "a")->price, 8);
    assert_int_equal(status_now().epochs[1]->shards[0]->late_count, 2);
    indexer_free(indexer);
    index_place_close(&place);
}

static void a_document_of_the_new_epoch_goes_to_it_alone(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    put_many(5);
    indexer = place_indexer(&place, 0, 1);
    start(field("price", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD));
    run_all(indexer);
    assert_int_equal(send("early", 1, 2, keyword("price", "cheap"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(send("early", 2, 1, keyword("colour", "red"))->kind,
                     TORG__V1__VERDICT__KIND__STALE); /* it stays in its epoch */
    assert_int_equal(send("early", 2, 0, keyword("colour", "red"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(send("early", 3, 2, keyword("price", "cheap"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(send("late", 1, 0, keyword("price", "cheap"))->kind,
                     TORG__V1__VERDICT__KIND__INVALID);
    run_all(indexer);
    shelf_follow(&old_shelf, &place);
    shelf_follow(&new_shelf, &place);
    assert_null(shelf_find(&old_shelf, "early"));
    assert_non_null(shelf_find(&new_shelf, "early"));
    assert_int_equal(try_switch(false, &err), 0);
    assert_int_equal(send("old", 1, 1, keyword("colour", "red"))->kind,
                     TORG__V1__VERDICT__KIND__EPOCH_TOO_OLD);
    indexer_free(indexer);
    index_place_close(&place);
}

static void a_field_that_joins_meanwhile_joins_the_new_epoch_too(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    put_many(5);
    indexer = place_indexer(&place, 0, 1);
    start(NULL);
    run_all(indexer);
    assert_int_equal(send("new", 1, 0, keyword("colour", "red"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    run_all(indexer);
    shelves_equal_registry(&old_shelf, 1, &place);
    shelves_equal_registry(&new_shelf, 1, &place);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM registry_field WHERE name = 'colour'"), 2);
    indexer_free(indexer);
    index_place_close(&place);
}

/* The way back finds what gained a field since the switch. */
static void a_field_that_joins_the_new_epoch_joins_the_kept_one_too(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    put_many(5);
    indexer = place_indexer(&place, 0, 1);
    start(NULL);
    run_all(indexer);
    assert_int_equal(try_switch(false, &err), 0);
    assert_int_equal(send("doc-1", 2, 0, keyword("colour", "red"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    run_all(indexer);
    shelves_equal_registry(&new_shelf, 1, &place);
    shelves_equal_registry(&old_shelf, 1, &place);
    assert_int_equal(status_now().epochs[0]->misfit_count, 0);
    assert_int_equal(try_rollback(&err), 0);
    indexer_free(indexer);
    index_place_close(&place);
}

/* --- consent --- */

static int try_switch_with_losses(struct err *err)
{
    Torg__V1__SwitchEpochRequest request = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;

    request.accept_losses = true;
    return epoch_desk_switch(&desk, place.client, "ann", &request, place.arena, &status, err);
}

static Torg__V1__PlanEpochResponse misfits_of(int64_t epoch)
{
    Torg__V1__PlanEpochRequest request = TORG__V1__PLAN_EPOCH_REQUEST__INIT;
    Torg__V1__PlanEpochResponse response = TORG__V1__PLAN_EPOCH_RESPONSE__INIT;
    struct violations reasons = violations_in(place.arena);
    struct err err = {0};

    request.epoch = epoch;
    if (epoch_desk_plan(&desk, place.client, &request, &reasons, &response, &err))
        fail_msg("%s", err.text);
    return response;
}

static void losses_are_told_and_need_consent(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    put_many(20);
    send("plain", 1, 0, keyword("colour", "red"));
    indexer = place_indexer(&place, 0, 1);
    start(field("price", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD));
    run_all(indexer);
    assert_int_equal(send("early", 1, 2, keyword("price", "cheap"))->kind,
                     TORG__V1__VERDICT__KIND__ACCEPTED);
    send("plain", 2, 0, keyword("colour", "blue"));
    run_all(indexer);
    assert_int_equal(try_switch(false, &err), 0); /* all fit the new one */

    assert_int_equal(status_now().epochs[0]->misfit_count, 1);
    assert_int_equal(try_rollback(&err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "accept_losses"));
    assert_int_equal(misfits_of(1).refused_count, 1);
    assert_string_equal(misfits_of(1).refusals[0]->sample_pks[0], "early");
    assert_int_equal(status_now().serving_epoch, 2);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM audit WHERE action = 'epoch.rollback'"), 0);
    indexer_free(indexer);
    index_place_close(&place);
}

struct parking {
    int64_t client_id;
    const char *pk;
    int64_t epoch;         /* of the write, or of the pour that queued it */
    int64_t refused_epoch; /* by its searchers; 0: it could not be sent */
};

static int park_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct parking *parking = arg;
    const struct failed_element element = {.pk = bytes_of(parking->pk),
                                           .order = {parking->epoch, 1, 1},
                                           .attempt_count = 1,
                                           .first_us = 1,
                                           .reason = bytes_of("it is too heavy"),
                                           .refused_epoch = parking->refused_epoch};

    return failed_put(tx, parking->client_id, &element, false, err);
}

static void park(const char *pk, int64_t epoch, int64_t refused_epoch)
{
    struct parking parking = {place_client_id(&place), pk, epoch, refused_epoch};
    struct err err = {0};

    if (store_write(place.store, park_tx, &parking, &err))
        fail_msg("%s", err.text);
}

static int64_t count_due(const char *pk)
{
    const struct store_value params[] = {STORE_V_STRING(pk)};

    return read_integer_of(place.store,
                           "SELECT COUNT(*) FROM registry_failed WHERE next_us > 0 AND pk = $1",
                           params, 1);
}

/* They fit by all that the registry knows. */
static void what_an_epoch_refused_later_is_told_and_needs_consent(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    put_many(5);
    indexer = place_indexer(&place, 0, 1);
    start(NULL);
    run_all(indexer);
    park("doc-0", 1, 1); /* is lost already */
    park("doc-1", 1, 2);
    park("doc-2", 2, 0);
    assert_int_equal(status_now().epochs[0]->failed_count, 1);
    assert_int_equal(status_now().epochs[1]->failed_count, 2);
    assert_int_equal(status_now().epochs[1]->misfit_count, 2);
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "2 documents"));
    assert_non_null(strstr(err.text, "accept_losses"));
    assert_int_equal(try_switch_with_losses(&err), 0);
    assert_int_equal(count_due("doc-0"), 1); /* whoever serves now may refuse it, too */
    assert_int_equal(count_due("doc-1"), 0);

    assert_int_equal(try_rollback(&err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "1 documents"));
    park("doc-0", 1, 2); /* epoch 1 can apply it now */
    assert_int_equal(try_rollback(&err), 0);
    assert_int_equal(count_due("doc-0"), 1);
    assert_int_equal(count_due("doc-1"), 1);
    assert_int_equal(count_due("doc-2"), 0);
    indexer_free(indexer);
    index_place_close(&place);
}

static void a_switch_that_loses_documents_needs_consent(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    put_many(20);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    start(field("price", TORG__V1__SCHEMA_FIELD__TYPE__POINT));
    run_all(indexer);
    assert_int_equal(status_now().epochs[1]->misfit_count, 20);
    assert_int_equal(misfits_of(2).refused_count, 20);
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_int_equal(try_switch(true, &err), ERR_PRECONDITION); /* that is another word */
    assert_int_equal(status_now().serving_epoch, 1);
    assert_int_equal(try_switch_with_losses(&err), 0);
    assert_int_equal(status_now().serving_epoch, 2);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM audit WHERE action = "
                                               "'epoch.switch' AND detail LIKE '%losses: 20'"),
                     1);
    indexer_free(indexer);
    index_place_close(&place);
}

/* Nobody could be asked for consent: what was on its way when the epochs were switched. */
static void what_waits_through_a_switch_and_does_not_fit_is_to_be_seen(void **state)
{
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    send("a", 1, 0, keyword("colour", "7"));
    indexer = place_indexer(&place, 0, 1);
    start(field("colour", TORG__V1__SCHEMA_FIELD__TYPE__INTEGER));
    run_all(indexer);
    send("a", 2, 0, keyword("colour", "red"));
    assert_int_equal(try_switch(false, &err), 0);
    run_all(indexer);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed WHERE "
                                               "pk = 'a' AND version = 2 AND "
                                               "reason LIKE '%colour%'"),
                     1);
    start(field("colour", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD));
    run_all(indexer);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 1);
    assert_int_equal(try_switch(false, &err), 0);
    clock_manual_advance(&place.clock, (int64_t)FAILED_PAUSE_MS_MAX * 2 * MS_US);
    run_all(indexer);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    new_shelf.epoch = 3;
    shelf_follow(&new_shelf, &place);
    assert_int_equal(shelf_find(&new_shelf, "a")->version, 2);
    indexer_free(indexer);
    index_place_close(&place);
}

/* A searcher that tells what the test wants. */
struct told_searcher {
    bool is_known, is_there;
    int64_t idx;
};

static int tell_searchers(void *arg, const char *client, struct arena *arena,
                          Torg__V1__Freshness **freshness, struct err *err)
{
    const struct told_searcher *told = arg;
    Torg__V1__ShardFreshness *shard = MESSAGE_NEW(shard_freshness, arena);
    Torg__V1__LaneFreshness *lane = MESSAGE_NEW(lane_freshness, arena);

    (void)client;
    if (!told->is_known)
        return err_set(err, ERR_UNAVAILABLE, "nobody knows");
    *freshness = MESSAGE_NEW(freshness, arena);
    lane->lane = TORG__V1__QUEUE_LANE__NAME__BACKFILL;
    lane->idx = told->idx;
    shard->epoch = 2;
    shard->is_ready = true;
    shard->lanes = arena_array(arena, 1, sizeof(shard->lanes[0]));
    shard->lanes[shard->n_lanes++] = lane;
    (*freshness)->shards = arena_array(arena, 1, sizeof((*freshness)->shards[0]));
    (*freshness)->shards[0] = shard;
    (*freshness)->n_shards = told->is_there;
    return 0;
}

static void a_switch_needs_a_searcher_that_has_it(void **state)
{
    struct told_searcher told = {0};
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    put_many(20);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    start(NULL);
    run_all(indexer);
    desk.freshness = tell_searchers;
    desk.freshness_arg = &told;
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "nobody knows"));
    told.is_known = true;
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "no searcher has all of shard 0"));
    told.is_there = true;
    told.idx = 19;
    assert_int_equal(try_switch(false, &err), ERR_PRECONDITION);
    assert_int_equal(status_now().epochs[1]->shards[0]->searcher_count, 1);
    assert_int_equal(status_now().epochs[1]->shards[0]->ready_count, 0);
    told.idx = 20;
    assert_true(status_now().is_safe);
    assert_int_equal(try_switch(false, &err), 0);
    indexer_free(indexer);
    index_place_close(&place);
}

/* --- faults --- */

struct chaos {
    struct rng rng;
    struct indexer *indexer;
    uint64_t ticket;
    int failure_count;
    int64_t versions[KEY_COUNT];
};

static void arm(struct chaos *chaos)
{
    static const enum store_fault_point points[] = {STORE_FAULT_EXEC, STORE_FAULT_CONFLICT,
                                                    STORE_FAULT_COMMIT, STORE_FAULT_ACK};

    store_fault_arm(place.store, points[rng_below(&chaos->rng, ARRAY_COUNT(points))],
                    (unsigned)rng_below(&chaos->rng, 12), 1);
}

static void disarm(void)
{
    for (int i = 0; i < STORE_FAULT_POINT_COUNT; i++)
        store_fault_arm(place.store, (enum store_fault_point)i, 0, 0);
}

/* A failure is the end of the owner now and then: the next one begins at what was committed. */
static void step(struct chaos *chaos)
{
    struct indexer_round round;
    bool is_poured;
    struct err err = {0};
    int rc;

    if (rng_below(&chaos->rng, 3) == 0)
        arm(chaos);
    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US);
    rc = indexer_round(chaos->indexer, &round, &err);
    if (!rc)
        rc = indexer_pour(chaos->indexer, &is_poured, &err);
    disarm();
    chaos->failure_count += rc != 0;
    if (rng_below(&chaos->rng, rc ? 2 : 15) == 0) {
        indexer_free(chaos->indexer);
        chaos->indexer = place_indexer(&place, 0, ++chaos->ticket);
    }
}

static void write_some(struct chaos *chaos)
{
    for (uint64_t i = rng_below(&chaos->rng, 4); i > 0; i--) {
        uint64_t key = rng_below(&chaos->rng, KEY_COUNT);
        char pk[32];

        snprintf(pk, sizeof(pk), "doc-%" PRIu64, key * 17);
        place_put(&place, LANE_MAIN, pk, ++chaos->versions[key],
                  rng_below(&chaos->rng, 4) ? (int64_t)rng_below(&chaos->rng, 100) : -1);
    }
}

static void faults_and_writes_lose_nothing(void **state)
{
    const char *text = getenv("TORG_MODEL_SEED");
    uint64_t seed = text && text[0] ? strtoull(text, NULL, 10) : random_u64();
    struct chaos chaos = {.rng = rng_seeded(seed), .ticket = 1};
    struct err err = {0};
    int steps;

    print_message("seed %" PRIu64 "\n", seed);
    begin(state, 1);
    steps = place.on_servers ? STEP_COUNT / 5 : STEP_COUNT;
    put_many(KEY_COUNT * 17);
    for (int i = 0; i < KEY_COUNT; i++)
        chaos.versions[i] = 1;
    chaos.indexer = place_indexer(&place, 0, chaos.ticket);
    start(field("colour", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD));
    for (int i = 0; i < steps; i++) {
        write_some(&chaos);
        step(&chaos);
    }
    run_all(chaos.indexer);
    print_message("# %d failures\n", chaos.failure_count);
    assert_true(place.on_servers || chaos.failure_count > 0);
    shelves_equal_registry(&old_shelf, 1, &place);
    shelves_equal_registry(&new_shelf, 1, &place);
    assert_true(status_now().is_safe);
    assert_true(status_now().epochs[1]->shards[0]->poured_count <= KEY_COUNT * 17);
    assert_int_equal(try_switch(false, &err), 0);
    indexer_free(chaos.indexer);
    index_place_close(&place);
}

static void *start_main(void *arg)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct err err = {0};

    *(int *)arg = epoch_desk_start(&desk, place.client, "ann", &request, &reasons, &status, &err);
    arena_free(arena);
    return NULL;
}

static void of_two_starts_at_once_one_wins(void **state)
{
    pthread_t threads[4];
    int answers[4], won = 0;

    begin(state, 1);
    put_many(3);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_main, &answers[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        won += answers[i] == 0;
        assert_true(answers[i] == 0 || answers[i] == ERR_PRECONDITION);
    }
    assert_int_equal(won, 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_epoch"), 2);
    index_place_close(&place);
}

static int name_dictionary(struct store_tx *tx, void *arg, struct err *err)
{
    (void)arg;
    return store_exec(tx, "UPDATE registry SET dictionary = 77", NULL, 0, NULL, err);
}

/* A dictionary that the store does not give now is no reason to leave documents out for good. */
static void a_failure_of_the_store_is_no_refusal(void **state)
{
    struct indexer *indexer;
    bool is_poured;
    struct err err = {0};

    begin(state, 1);
    put_many(10);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    start(NULL);
    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US);
    place_run(indexer);
    assert_int_equal(store_write(place.store, name_dictionary, NULL, &err), 0);
    /* After the chunk was read: one transaction, the dictionary's, is given up. */
    store_fault_arm(place.store, STORE_FAULT_CONFLICT, 1, STORE_ATTEMPT_COUNT_MAX);
    assert_int_equal(indexer_pour(indexer, &is_poured, &err), 0);
    assert_false(is_poured);
    store_fault_arm(place.store, STORE_FAULT_CONFLICT, 0, 0);
    assert_int_equal(read_integer(place.store, "SELECT MAX(refused_count) FROM registry_backfill"),
                     0);
    assert_int_equal(
        read_integer(place.store, "SELECT MAX(is_done) FROM registry_backfill WHERE epoch > 1"), 0);
    indexer_free(indexer);
    index_place_close(&place);
}

static void a_replaced_owner_pours_nothing(void **state)
{
    struct indexer *old, *new;
    bool is_poured;
    struct err err = {0};

    begin(state, 1);
    put_many(10);
    old = place_indexer(&place, 0, 1);
    place_run(old);
    start(NULL);
    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US);
    place_run(old);
    new = place_indexer(&place, 0, 2);
    place_run(new);
    assert_int_equal(indexer_pour(old, &is_poured, &err), ERR_STALE);
    assert_int_equal(read_integer(place.store, "SELECT MAX(poured_count) FROM registry_backfill"),
                     0);
    run_all(new);
    shelves_equal_registry(&new_shelf, 1, &place);
    indexer_free(old);
    indexer_free(new);
    index_place_close(&place);
}

static const struct test_case cases[] = {
    CASE(a_plan_tells_what_would_be_refused_and_changes_nothing),
    CASE(a_wrong_schema_is_refused_with_the_field),
    CASE(an_epoch_is_built_switched_to_and_back),
    CASE(an_epoch_that_is_built_can_be_given_up),
    CASE(topics_of_retired_epochs_are_removed),
    CASE(a_retired_topic_waits_until_searchers_are_told),
    CASE(retired_epochs_make_room_for_new_ones),
    CASE(a_switch_can_be_forced),
    CASE(the_next_epoch_gives_up_the_kept_one),
    CASE(what_does_not_fit_is_counted_and_left_out),
    CASE(a_pour_counts_anew_what_does_not_fit),
    CASE(what_can_be_read_as_the_new_type_is),
    CASE(a_write_that_does_not_fit_takes_the_older_one_away),
    CASE(a_document_of_the_new_epoch_goes_to_it_alone),
    CASE(a_field_that_joins_meanwhile_joins_the_new_epoch_too),
    CASE(a_field_that_joins_the_new_epoch_joins_the_kept_one_too),
    CASE(losses_are_told_and_need_consent),
    CASE(what_an_epoch_refused_later_is_told_and_needs_consent),
    CASE(a_switch_that_loses_documents_needs_consent),
    CASE(what_waits_through_a_switch_and_does_not_fit_is_to_be_seen),
    CASE(a_switch_needs_a_searcher_that_has_it),
    CASE(faults_and_writes_lose_nothing),
    CASE(of_two_starts_at_once_one_wins),
    CASE(a_failure_of_the_store_is_no_refusal),
    CASE(a_replaced_owner_pours_nothing),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "epochs"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusals.c - a document that searchers cannot apply comes back: parked with its reason, told to
 * who asks with its token, sent again when it is replayed, ended by a newer write. Embedded and on
 * servers, with a real receiver, indexer and searcher.
 *
 * What they cannot apply here is one more brand than the field may have. And one that fits the
 * epoch that serves no more, to which somebody has consented, is told to who asks, too.
 */
#include "contract/indexer_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "codec/message.h"
#include "inspect/doors/searcher_door.h"
#include "inspect/trace/change.h"
#include "inspect/trace/trace.h"
#include "model/topics.h"
#include "patience.h"
#include "registry/bounds.h"
#include "registry/clients/epoch_desk.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/refusal_inbox.h"
#include "torg/v1/index_message.pb-c.h"

enum { BRAND_COUNT_MAX = 2 };

static struct index_place place;
static struct indexer *indexer;
static struct coord *coord;
static struct follower *follower;
static struct refusal_inbox *inbox;
static struct searcher searcher;
static struct inspect inspect;

static void read_refusals(void)
{
    const struct refusal_inbox_options options = {.topics = place.topics,
                                                  .store = place.store,
                                                  .clients = place.receiver.clients,
                                                  .clock = clock_system()};
    struct err err;

    OK(refusal_inbox_start(&options, &inbox, &err));
}

static void follow(void)
{
    const struct follower_options options = {
        .topics = place.topics, .coord = coord, .clock = clock_system()};
    struct err err;

    OK(clients_announce(place.receiver.clients, coord, &err));
    OK(follower_start(&options, &follower, &err));
    searcher.front.follower = follower;
}

static void begin(void **state)
{
    struct err err;
    char url[64];

    if (!index_place_open(&place, case_on_servers(state), 1))
        skip();
    indexer = place_indexer(&place, 0, 1);
    snprintf(url, sizeof(url), "memory:%s", place.client);
    OK(coord_open(url, "test", NULL, &coord, &err));
    searcher = (struct searcher){.front = {.clock = clock_system()}};
    inspect = (struct inspect){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .clock = clock_system(),
                               .door = searcher_door(&searcher),
                               .topics = place.topics,
                               .tombstone_life_us = INT64_C(86400) * SECOND_US};
}

static void end(void)
{
    refusal_inbox_stop(inbox);
    follower_stop(follower);
    coord_close(coord);
    indexer_free(indexer);
    index_place_close(&place);
    inbox = NULL;
    follower = NULL;
}

/* Its token. */
static char *put_brand(const char *pk, int64_t version, const char *brand)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, place.arena);
    Torg__V1__RawField *field =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, place.arena);
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    document->pk = (char *)pk;
    document->version = version;
    document->fields = arena_array(place.arena, 1, sizeof(field));
    document->fields[document->n_fields++] = field;
    field->name = "brand";
    field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    field->keyword = (char *)brand;
    field->options =
        (Torg__V1__FieldOptions *)message_new(&torg__v1__field_options__descriptor, place.arena);
    field->options->value_count_max = BRAND_COUNT_MAX;
    clock_manual_advance(&place.clock, 1);
    OK(receiver_put(&place.receiver, place.client, LANE_MAIN, &document, 1, place.arena, &verdicts,
                    &err));
    assert_int_equal(verdicts[0]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
    return verdicts[0]->token;
}

static struct change_progress look(const char *token)
{
    struct change_progress progress;
    struct change change;
    struct err err;

    OK(change_parse(&inspect, bytes_of(token), &change, &err));
    OK(change_look(&inspect, &change, place.arena, &progress, &err));
    return progress;
}

/* Until it is found, or stuck. */
static struct change_progress wait_for(const char *token)
{
    struct change_progress progress = look(token);

    for (int ms = 0; ms < PATIENCE_MS; ms += 5) {
        if (progress.next == CHANGE_STAGE_COUNT || progress.is_stuck)
            return progress;
        usleep(5000);
        progress = look(token);
    }
    fail_msg("it waits for stage %d: %s", (int)progress.next, progress.reason);
    return progress;
}

static void expect_stuck(const char *token, const char *pk)
{
    struct change_progress progress = wait_for(token);

    assert_true(progress.is_stuck);
    assert_int_equal(progress.next, CHANGE_SEARCHABLE);
    assert_non_null(strstr(progress.reason, "\"brand\" has 2 different values"));
    assert_non_null(strstr(progress.mend, "torg queue replay"));
    assert_non_null(strstr(progress.mend, pk));
    assert_true(progress.since_us > 0);
}

static int64_t count_parked(void)
{
    return read_integer(place.store, "SELECT COUNT(*) FROM registry_failed WHERE next_us = 0 "
                                     "AND refused_epoch = 1");
}

/* --- cases --- */

static void what_searchers_cannot_apply_is_parked_and_told(void **state)
{
    const char *tokens[4];

    begin(state);
    tokens[0] = put_brand("a", 1, "one");
    tokens[1] = put_brand("b", 1, "two");
    tokens[2] = put_brand("c", 1, "three");
    tokens[3] = put_brand("d", 1, "one");
    place_run(indexer);
    read_refusals();
    follow();
    assert_int_equal(wait_for(tokens[0]).next, CHANGE_STAGE_COUNT);
    assert_int_equal(wait_for(tokens[1]).next, CHANGE_STAGE_COUNT);
    expect_stuck(tokens[2], "c");
    assert_int_equal(wait_for(tokens[3]).next, CHANGE_STAGE_COUNT);
    assert_int_equal(count_parked(), 1);
    end();
}

static void a_replay_sends_it_again_and_it_may_come_back(void **state)
{
    int64_t replayed = 0;
    const char *token;
    struct err err;

    begin(state);
    put_brand("a", 1, "one");
    put_brand("b", 1, "two");
    token = put_brand("c", 1, "three");
    place_run(indexer);
    read_refusals();
    follow();
    expect_stuck(token, "c");
    OK(store_write_one(place.store, "UPDATE registry_failed SET next_us = 1, attempt_count = 0",
                       NULL, 0, &replayed, &err));
    assert_int_equal(replayed, 1);
    place_run(indexer);
    expect_stuck(token, "c"); /* by the searcher's second refusal, however late it comes */
    for (int ms = 0; count_parked() != 1 && ms < PATIENCE_MS; ms += 5)
        usleep(5000);
    assert_int_equal(count_parked(), 1);
    end();
}

static void a_newer_write_that_fits_ends_it(void **state)
{
    const char *token;

    begin(state);
    put_brand("a", 1, "one");
    put_brand("b", 1, "two");
    token = put_brand("c", 1, "three");
    place_run(indexer);
    read_refusals();
    follow();
    expect_stuck(token, "c");
    token = put_brand("c", 2, "two");
    place_run(indexer);
    assert_int_equal(wait_for(token).next, CHANGE_STAGE_COUNT);
    assert_int_equal(count_parked(), 0);
    end();
}

static int list_nothing(void *arg, const char *replica, const Torg__V1__ListIndexedRequest *request,
                        struct arena *arena, Torg__V1__ListIndexedResponse **response,
                        struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "the searcher is elsewhere");
}

/* Until the searcher is past the write. */
static void wait_past(int64_t idx)
{
    const struct index_view *view;
    struct err err;

    OK(follower_view_with(follower, place.client, INT64_MAX, &view, &err));
    OK(replica_wait(view->clients[0].epochs[0].shards[0], LANE_MAIN, idx, INT64_MAX, &err));
    view_release(view);
}

/* Positions alone say nothing while refusals are not read. */
static void expect_not_taken_for_a_hit(void **state, bool is_elsewhere)
{
    struct change_progress progress;
    const char *token;

    begin(state);
    if (is_elsewhere)
        inspect.door.list = list_nothing;
    put_brand("a", 1, "one");
    put_brand("b", 1, "two");
    token = put_brand("c", 1, "three");
    place_run(indexer);
    follow();
    wait_past(3);
    progress = look(token);
    assert_int_equal(progress.next, CHANGE_SEARCHABLE);
    assert_false(progress.is_stuck);
    assert_non_null(strstr(progress.reason, "do not show it"));
    read_refusals();
    expect_stuck(token, "c");
    end();
}

static void a_refusal_that_nobody_has_read_is_not_taken_for_a_hit(void **state)
{
    expect_not_taken_for_a_hit(state, false);
}

static void nor_is_that_of_a_searcher_elsewhere(void **state)
{
    expect_not_taken_for_a_hit(state, true);
}

static void send_refusal(const char *pk, int64_t version, const char *client)
{
    Torg__V1__IndexRefusal refusal = TORG__V1__INDEX_REFUSAL__INIT;
    struct topic_record record = {0};
    struct buf wire = BUF_INIT(1000);
    struct err err;

    refusal.client = (char *)client;
    refusal.epoch = 1;
    refusal.pk = (char *)pk;
    refusal.version = version;
    refusal.modify_us = 1;
    refusal.reason = "no room";
    message_encode(&refusal.base, &wire);
    record.key = bytes_of(arena_printf(place.arena, "%s/%s", client, pk));
    record.value = buf_bytes(&wire);
    OK(topic_produce(place.topics, TOPIC_REFUSALS, &record, 1, NULL, &err));
    buf_release(&wire);
}

static uint64_t unread_count(void)
{
    struct topic_config config;
    uint64_t sum = 0;
    struct err err;

    OK(topic_describe(place.topics, TOPIC_REFUSALS, &config, &err));
    for (uint32_t i = 0; i < config.partition_count; i++) {
        struct topic_lag lag;

        OK(topic_lag(place.topics, REFUSAL_GROUP, TOPIC_REFUSALS, i, &lag, &err));
        sum += lag.lag;
    }
    return sum;
}

/* Of a write that is not the newest any more, of a client or a document that is not there. */
static void a_refusal_that_is_no_news_changes_nothing(void **state)
{
    begin(state);
    put_brand("a", 5, "one");
    place_run(indexer);
    read_refusals();
    send_refusal("a", 4, place.client);
    send_refusal("z", 1, place.client);
    send_refusal("a", 5, "nobody");
    for (int ms = 0; unread_count() && ms < PATIENCE_MS; ms += 5)
        usleep(5000);
    assert_int_equal(unread_count(), 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    end();
}

/* What stands where the newest record of a document should: no searcher can read it. */
static void send_garbage(const char *pk)
{
    const struct topic_record record = {.key = bytes_of(pk), .value = bytes_of("\xff\xff\xff")};
    char topic[INDEX_TOPIC_SIZE];
    struct err err;

    index_topic_name(place.client, 1, topic);
    OK(topic_produce(place.topics, topic, &record, 1, NULL, &err));
}

static void wait_for_retries(int64_t count)
{
    for (int ms = 0; read_integer(place.store, "SELECT COUNT(*) FROM registry_failed WHERE "
                                               "next_us > 0 AND refused_epoch = 1") != count &&
                     ms < PATIENCE_MS;
         ms += 5)
        usleep(5000);
    assert_int_equal(
        read_integer(place.store, "SELECT COUNT(*) FROM registry_failed WHERE next_us > 0"), count);
}

/* Which write it was is not known, and need not be: the document comes again as it is, and one that
 * is gone goes again. */
static void a_record_that_cannot_be_decoded_is_sent_again(void **state)
{
    static struct shelf shelf;
    char *token;
    struct err err;

    begin(state);
    memset(&shelf, 0, sizeof(shelf));
    put_brand("a", 1, "one");
    put_brand("b", 1, "one");
    place_run(indexer);
    place_put(&place, LANE_MAIN, "b", 2, -1);
    token = put_brand("c", 1, "one");
    place_run(indexer);
    shelf_follow(&shelf, &place);
    shelf.put_count = shelf.removal_count = 0;
    send_garbage("a");
    send_garbage("b");
    send_garbage("nobody");
    read_refusals();
    follow();
    assert_int_equal(wait_for(token).next, CHANGE_STAGE_COUNT);
    wait_for_retries(2);
    OK(store_write_one(place.store, "UPDATE registry_failed SET next_us = 1", NULL, 0, NULL, &err));
    place_run(indexer);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    shelf.next += 3; /* past what nobody reads */
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.put_count, 1);
    assert_string_equal(shelf.last_put, "a");
    assert_int_equal(shelf.removal_count, 1);
    end();
}

/* The write of the document that the registry has, sent under numbers of another index. */
static void send_misnumbered(const char *pk, bool is_removal)
{
    static uint32_t numbers[] = {99, 1, 1, 1};
    Torg__V1__IndexMessage message = TORG__V1__INDEX_MESSAGE__INIT;
    Torg__V1__IndexDocument put = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__IndexRemoval removal = TORG__V1__INDEX_REMOVAL__INIT;
    const struct store_value key[] = {STORE_V_STRING(pk)};
    struct topic_record record = {.key = bytes_of(pk)};
    struct buf wire = BUF_INIT(1000);
    char topic[INDEX_TOPIC_SIZE];
    struct err err;

    put.pk = removal.pk = (char *)pk;
    put.version = removal.version =
        read_integer_of(place.store, "SELECT version FROM registry WHERE pk = $1", key, 1);
    put.modify_us = removal.modify_us =
        read_integer_of(place.store, "SELECT modify_us FROM registry WHERE pk = $1", key, 1);
    message.ticket = UINT32_MAX;
    message.n_place = ARRAY_COUNT(numbers);
    message.place = numbers;
    message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_PUT;
    message.put = &put;
    if (is_removal) {
        message.kind_case = TORG__V1__INDEX_MESSAGE__KIND_REMOVE;
        message.remove = &removal;
    }
    message_encode(&message.base, &wire);
    record.value = buf_bytes(&wire);
    index_topic_name(place.client, 1, topic);
    OK(topic_produce(place.topics, topic, &record, 1, NULL, &err));
    buf_release(&wire);
}

/* The searcher would refuse it again, as often as it is sent. */
static void what_has_numbers_of_another_index_is_parked(void **state)
{
    begin(state);
    put_brand("a", 1, "one");
    put_brand("b", 1, "one");
    place_run(indexer);
    place_put(&place, LANE_MAIN, "b", 2, -1);
    place_run(indexer);
    send_misnumbered("a", false);
    send_misnumbered("b", true);
    read_refusals();
    follow();
    for (int ms = 0;
         read_integer(place.store, "SELECT COUNT(*) FROM registry_failed") != 2 && ms < PATIENCE_MS;
         ms += 5)
        usleep(5000);
    assert_int_equal(count_parked(), 2);
    end();
}

/* --- what the owner of a shard takes off --- */

struct clearing {
    struct failed_element seen;
    bool is_put_anew; /* between the reading and the clearing */
};

static int clear(struct store_tx *tx, void *arg, struct err *err)
{
    struct clearing *clearing = arg;
    struct failed_element again = clearing->seen;
    int rc = failed_put(tx, 1, &clearing->seen, false, err);

    again.attempt_count++;
    if (!rc && clearing->is_put_anew)
        rc = failed_put(tx, 1, &again, false, err);
    return rc ? rc : failed_clear(tx, 1, &clearing->seen, 1, err);
}

/* A searcher may be faster than the commit of what was sent to it. */
static void what_was_refused_meanwhile_is_not_taken_off(void **state)
{
    struct clearing clearing = {.seen = {.pk = bytes_of("a"),
                                         .order = {1, 2, 3},
                                         .attempt_count = 1,
                                         .reason = bytes_of("no room"),
                                         .refused_epoch = 1}};
    struct err err;

    begin(state);
    OK(store_write(place.store, clear, &clearing, &err));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    clearing.is_put_anew = true;
    OK(store_write(place.store, clear, &clearing, &err));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 1);
    end();
}

/* --- epochs that it does not fit --- */

static struct epoch_desk desk_of_place(void)
{
    return (struct epoch_desk){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .topics = place.topics,
                               .coord = coord,
                               .clock = &place.clock.base};
}

static void build_epoch(const char *name, Torg__V1__SchemaField__Type type)
{
    const struct epoch_desk desk = desk_of_place();
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    Torg__V1__SchemaField changed = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&changed};
    struct violations reasons = violations_in(place.arena);
    bool is_poured = true;
    struct err err;

    changed.name = (char *)name;
    changed.type = type;
    request.fields = fields;
    request.n_fields = 1;
    OK(epoch_desk_start(&desk, place.client, "ann", &request, &reasons, &status, &err));
    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US);
    while (is_poured) {
        place_run(indexer);
        OK(indexer_pour(indexer, &is_poured, &err));
    }
}

static void serve_built_epoch(void)
{
    const struct epoch_desk desk = desk_of_place();
    Torg__V1__SwitchEpochRequest request = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct err err;

    request.force = request.accept_losses = true;
    OK(epoch_desk_switch(&desk, place.client, "ann", &request, place.arena, &status, &err));
    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US);
    place_run(indexer);
}

static const Torg__V1__TraceStep *traced(const char *pk, const char *stage)
{
    Torg__V1__Trace *trace =
        (Torg__V1__Trace *)message_new(&torg__v1__trace__descriptor, place.arena);
    struct err err;

    OK(trace_document(&inspect, place.client, pk, place.arena, trace, &err));
    for (size_t i = 0; i < trace->n_steps; i++)
        if (strcmp(trace->steps[i]->stage, stage) == 0)
            return trace->steps[i];
    fail_msg("no step %s", stage);
    return NULL;
}

/* To whom consented is its operator; its sender is told. */
static void expect_left_out(void **state, bool is_elsewhere)
{
    struct change_progress progress;
    const char *kept, *lost;

    begin(state);
    kept = put_brand("a", 1, "1");
    lost = put_brand("b", 1, "one");
    place_run(indexer);
    read_refusals();
    follow();
    assert_int_equal(wait_for(lost).next, CHANGE_STAGE_COUNT);
    build_epoch("brand", TORG__V1__SCHEMA_FIELD__TYPE__INTEGER);
    assert_int_equal(wait_for(lost).next, CHANGE_STAGE_COUNT);
    serve_built_epoch();
    assert_int_equal(wait_for(kept).next, CHANGE_STAGE_COUNT);
    if (is_elsewhere)
        inspect.door.list = list_nothing;
    progress = wait_for(lost);
    assert_int_equal(progress.next, CHANGE_SEARCHABLE);
    assert_true(progress.is_stuck);
    assert_non_null(strstr(progress.reason, "it does not fit epoch 2, which serves"));
    assert_non_null(strstr(progress.reason, "brand"));
    assert_non_null(strstr(progress.mend, "torg epoch status"));
    assert_int_equal(wait_for(kept).next, CHANGE_STAGE_COUNT);
    if (!is_elsewhere) {
        assert_int_equal(traced("b", "indexed")->state, TORG__V1__TRACE_STEP__STATE__STUCK);
        assert_non_null(strstr(traced("b", "indexed")->text, "does not fit epoch 2"));
        assert_int_equal(traced("b", "searchable")->state, TORG__V1__TRACE_STEP__STATE__STUCK);
        assert_int_equal(traced("a", "searchable")->state, TORG__V1__TRACE_STEP__STATE__DONE);
    }
    end();
}

static void what_fits_the_serving_epoch_no_more_is_stuck(void **state)
{
    expect_left_out(state, false);
}

static void so_it_is_of_a_searcher_elsewhere(void **state)
{
    expect_left_out(state, true);
}

/* The pour has left it out, for the registry's copy is damaged: that is an answer, and no error. */
static void what_cannot_be_read_is_stuck(void **state)
{
    struct change_progress progress;
    const char *lost;

    begin(state);
    put_brand("a", 1, "1");
    lost = put_brand("b", 1, "2");
    place_run(indexer);
    read_refusals();
    follow();
    exec(place.store, "UPDATE registry SET dictionary = 998 WHERE pk = 'b'"); /* there is none */
    build_epoch("brand", TORG__V1__SCHEMA_FIELD__TYPE__INTEGER);
    serve_built_epoch();
    progress = wait_for(lost);
    assert_int_equal(progress.next, CHANGE_SEARCHABLE);
    assert_true(progress.is_stuck);
    assert_non_null(strstr(progress.reason, "cannot be read"));
    assert_non_null(strstr(progress.reason, "dictionary 998"));
    assert_int_equal(traced("b", "indexed")->state, TORG__V1__TRACE_STEP__STATE__STUCK);
    assert_non_null(strstr(traced("b", "indexed")->text, "cannot be read"));
    end();
}

/* Written by name for the epoch that is built, it comes with the switch. */
static void what_is_of_an_epoch_that_is_built_waits_for_it(void **state)
{
    Torg__V1__RawDocument *document;
    Torg__V1__RawField *field;
    struct change_progress progress;
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    begin(state);
    place_put(&place, LANE_MAIN, "a", 1, 5); /* its price is an integer */
    place_run(indexer);
    read_refusals();
    follow();
    build_epoch("price", TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD);
    document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, place.arena);
    field = (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, place.arena);
    document->pk = "b";
    document->version = 1;
    document->epoch = 2;
    document->fields = arena_array(place.arena, 1, sizeof(field));
    document->fields[document->n_fields++] = field;
    field->name = "price";
    field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    field->keyword = "cheap";
    OK(receiver_put(&place.receiver, place.client, LANE_MAIN, &document, 1, place.arena, &verdicts,
                    &err));
    assert_int_equal(verdicts[0]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
    place_run(indexer);
    wait_past(2);
    progress = look(verdicts[0]->token);
    assert_int_equal(progress.next, CHANGE_SEARCHABLE);
    assert_false(progress.is_stuck);
    assert_non_null(strstr(progress.reason, "which is being built"));
    serve_built_epoch();
    assert_int_equal(wait_for(verdicts[0]->token).next, CHANGE_STAGE_COUNT);
    end();
}

static const struct test_case cases[] = {
    CASE(what_cannot_be_read_is_stuck),
    CASE(what_searchers_cannot_apply_is_parked_and_told),
    CASE(a_replay_sends_it_again_and_it_may_come_back),
    CASE(a_newer_write_that_fits_ends_it),
    CASE(a_refusal_that_nobody_has_read_is_not_taken_for_a_hit),
    CASE(nor_is_that_of_a_searcher_elsewhere),
    CASE(a_refusal_that_is_no_news_changes_nothing),
    CASE(a_record_that_cannot_be_decoded_is_sent_again),
    CASE(what_has_numbers_of_another_index_is_parked),
    CASE(what_was_refused_meanwhile_is_not_taken_off),
    CASE(what_fits_the_serving_epoch_no_more_is_stuck),
    CASE(so_it_is_of_a_searcher_elsewhere),
    CASE(what_is_of_an_epoch_that_is_built_waits_for_it),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "refusals"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

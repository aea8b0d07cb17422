/* SPDX-License-Identifier: Apache-2.0 */
/* registry_topic.c - documents of the topic: taken, tried again, kept apart when refused. */
#include "contract/registry_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/topics.h"
#include "patience.h"
#include "registry/bounds.h"
#include "registry/receiving/document_inbox.h"
#include "stage/bounds.h"
#include "stage/parked.h"
#include "store/migrate.h"
#include "store/store_fault.h"
#include "topic/bounds.h"
#include "topic/topic_fault.h"

enum { PARTITION_COUNT = 8 };

struct topic_place {
    struct registry_place registry;
    struct topics *topics;
    struct document_inbox *inbox;
    struct arena *arena;
};

static void open_place(struct topic_place *place)
{
    struct err err = {0};

    memset(place, 0, sizeof(*place));
    registry_place_open(&place->registry, false);
    place->arena = arena_new();
    if (topics_open("fault:memory:", NULL, &place->topics, &err))
        fail_msg("%s", err.text);
}

static void start_inbox(struct topic_place *place)
{
    struct err err = {0};

    if (document_inbox_start(&place->registry.receiver, place->topics, &place->inbox, &err))
        fail_msg("%s", err.text);
}

static void close_place(struct topic_place *place)
{
    document_inbox_stop(place->inbox);
    topics_close(place->topics);
    arena_free(place->arena);
    registry_place_close(&place->registry);
}

static void send_bytes(struct topic_place *place, const char *key, struct bytes value)
{
    const struct topic_config config = {.partition_count = PARTITION_COUNT};
    const struct topic_record record = {.key = bytes_of(key), .value = value};
    struct err err = {0};

    if (topic_create(place->topics, TOPIC_DOCUMENTS, &config, &err) ||
        topic_produce(place->topics, TOPIC_DOCUMENTS, &record, 1, NULL, &err))
        fail_msg("%s", err.text);
}

static void send_with_key(struct topic_place *place, const char *client, enum lane lane,
                          const char *key, Torg__V1__RawDocument *document)
{
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    struct buf wire = BUF_INIT(1 << 20);

    batch.client = (char *)client;
    batch.lane = (Torg__V1__QueueLane__Name)lane;
    batch.documents = &document;
    batch.n_documents = 1;
    message_encode(&batch.base, &wire);
    send_bytes(place, key, buf_bytes(&wire));
    buf_release(&wire);
}

static void send(struct topic_place *place, const char *client, enum lane lane,
                 Torg__V1__RawDocument *document)
{
    send_with_key(place, client, lane, document->pk, document);
}

/* One change of the side field "stock". */
static void send_stock(struct topic_place *place, const char *pk, int64_t sequence, bool if_there)
{
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    Torg__V1__FieldChange change = TORG__V1__FIELD_CHANGE__INIT;
    Torg__V1__FieldChange *changes[] = {&change};
    Torg__V1__RawField field = TORG__V1__RAW_FIELD__INIT;
    Torg__V1__RawField *fields[] = {&field};
    struct buf wire = BUF_INIT(1 << 20);

    field.name = (char *)"stock";
    field._integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field.integer = sequence;
    change.pk = (char *)pk;
    change.sequence = sequence;
    change.fields = fields;
    change.n_fields = 1;
    change.if_there = if_there;
    batch.client = (char *)"shop";
    batch.changes = changes;
    batch.n_changes = 1;
    message_encode(&batch.base, &wire);
    send_bytes(place, pk, buf_bytes(&wire));
    buf_release(&wire);
}

/* Until every record is committed. */
static void wait_for_all(struct topic_place *place)
{
    uint64_t lag = 1;

    for (int i = 0; i < PATIENCE_MS && lag; i++) {
        lag = 0;
        for (uint32_t j = 0; j < PARTITION_COUNT; j++) {
            struct topic_lag one;
            struct err err = {0};

            if (topic_lag(place->topics, DOCUMENT_GROUP, TOPIC_DOCUMENTS, j, &one, &err))
                fail_msg("%s", err.text);
            lag += one.lag;
        }
        if (lag)
            pause_ms(1);
    }
    assert_int_equal(lag, 0);
}

/* The parked record of this place, as a batch of one document. */
static const Torg__V1__QualifiedBatch *read_parked(struct topic_place *place,
                                                   const struct parked *of)
{
    ProtobufCMessage *message;
    struct err err = {0};

    if (message_decode(of->body, &torg__v1__qualified_batch__descriptor, place->arena, &message,
                       &err))
        fail_msg("%s: %s", of->key, err.text);
    return (const Torg__V1__QualifiedBatch *)message;
}

/* All that is parked of the receiver, with bodies; they are as many as this. */
static const struct parked *all_parked(struct topic_place *place, size_t expected)
{
    struct parked *all = arena_array(place->arena, expected, sizeof(*all));
    struct parked *list, *one;
    struct err err = {0};
    size_t count, one_count;

    if (parked_list(place->registry.store, PARKED_BY_RECEIVER, 0, 100, place->arena, &list, &count,
                    &err))
        fail_msg("%s", err.text);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        if (parked_of_key(place->registry.store, PARKED_BY_RECEIVER, list[i].key, 1, place->arena,
                          &one, &one_count, &err))
            fail_msg("%s", err.text);
        all[i] = one[0];
    }
    return all;
}

static const struct parked *find_parked(const struct parked *all, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].key, key) == 0)
            return &all[i];
    fail_msg("%s is not parked", key);
    return NULL;
}

static void documents_are_taken_and_bad_ones_kept_apart(void **state)
{
    struct topic_place place;
    const struct parked *all;
    const struct parked *bad;

    open_place(&place);
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "a", 1, "bicycle", 1));
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "b", -1, "bad", 1));
    send_bytes(&place, "a", (struct bytes)BYTES_LITERAL("\x0a\xff no message"));
    send(&place, "No Such", LANE_MAIN, document_of(place.arena, "c", 1, "bicycle", 1));
    send(&place, "shop", LANE_EMERGENCY, document_of(place.arena, "a", 2, "bicycle", 2));
    send(&place, "other", LANE_BACKFILL, document_of(place.arena, "a", 1, "bicycle", 1));
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "a", 1, "bicycle", 1));
    start_inbox(&place);
    wait_for_all(&place);

    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry"), 2);
    assert_int_equal(read_integer(place.registry.store, "SELECT MAX(version) FROM registry"), 2);
    assert_int_equal(
        read_integer(place.registry.store, "SELECT COUNT(*) FROM registry_queue WHERE lane = 2"),
        1);
    all = all_parked(&place, 3);
    bad = find_parked(all, 3, "shop/b");
    assert_string_equal(read_parked(&place, bad)->documents[0]->pk, "b");
    assert_int_equal(read_parked(&place, bad)->documents[0]->n_fields, 2);
    assert_non_null(strstr(bad->reason, "version"));
    for (size_t i = 0; i < 3; i++) { /* records that name nobody's document stand for themselves */
        assert_true(all[i].body.size > 0);
        assert_true(&all[i] == bad || strncmp(all[i].key, "-/", 2) == 0);
    }
    close_place(&place);
}

/* The document is mended by its owner: what was refused before is not worth keeping. */
static void a_newer_version_ends_the_parking(void **state)
{
    struct topic_place place;

    (void)state;
    open_place(&place);
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "b", -1, "bad", 1));
    start_inbox(&place);
    wait_for_all(&place);
    all_parked(&place, 1);
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "b", -2, "worse", 1));
    wait_for_all(&place);
    assert_string_equal(read_parked(&place, all_parked(&place, 1))->documents[0]->pk, "b");
    assert_int_equal(read_parked(&place, all_parked(&place, 1))->documents[0]->version, -2);
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "b", 1, "good", 1));
    wait_for_all(&place);
    all_parked(&place, 0);
    close_place(&place);
}

/* No room for one more client: what is sent for it is kept apart, and others go on. */
static void a_client_too_many_stops_nobody(void **state)
{
    struct topic_place place;
    struct err err = {0};

    open_place(&place);
    for (int i = 0; i < CLIENT_COUNT_MAX; i++) {
        const struct client_view *client;

        if (clients_obtain(place.registry.receiver.clients, arena_printf(place.arena, "c%d", i), 1,
                           &client, NULL, &err))
            fail_msg("%s", err.text);
        client_unref(client);
    }
    send(&place, "one-more", LANE_MAIN, document_of(place.arena, "a", 1, "bicycle", 1));
    send(&place, "c1", LANE_MAIN, document_of(place.arena, "a", 1, "bicycle", 1));
    start_inbox(&place);
    wait_for_all(&place);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry"), 1);
    assert_string_equal(all_parked(&place, 1)->key, "one-more/a");
    assert_string_equal(read_parked(&place, all_parked(&place, 1))->client, "one-more");
    assert_string_equal(read_parked(&place, all_parked(&place, 1))->documents[0]->pk, "a");
    close_place(&place);
}

/* A client whose rows cannot be read: likewise. */
static void an_unreadable_client_stops_nobody(void **state)
{
    struct topic_place place;

    open_place(&place);
    expect_kind(put_one(&place.registry, "broken", document_of(place.arena, "a", 1, "bicycle", 1),
                        place.arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    exec(place.registry.store, "UPDATE registry_field SET field = X'ff'");
    registry_place_forget(&place.registry);
    send_with_key(&place, "broken", LANE_MAIN, "one", document_of(place.arena, "b", 1, "bed", 1));
    send_with_key(&place, "whole", LANE_MAIN, "one", document_of(place.arena, "c", 1, "cap", 1));
    start_inbox(&place);
    wait_for_all(&place);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry"), 2);
    assert_string_equal(all_parked(&place, 1)->key, "broken/b");
    close_place(&place);
}

/* A key may be longer than keys of records, or than records: it is kept apart all the same. */
static void a_key_that_fits_nowhere_stops_nobody(void **state)
{
    static const size_t sizes[] = {TOPIC_KEY_SIZE_MAX + 1, 600 << 10};
    struct topic_place place;

    open_place(&place);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        Torg__V1__RawDocument *document = document_of(place.arena, "", 1, "bicycle", 1);

        document->pk = arena_alloc(place.arena, sizes[i] + 1);
        memset(document->pk, 'k', sizes[i]);
        document->pk[sizes[i]] = 0;
        send_with_key(&place, "shop", LANE_MAIN, "one", document);
    }
    send_with_key(&place, "shop", LANE_MAIN, "one", document_of(place.arena, "a", 1, "bicycle", 1));
    start_inbox(&place);
    wait_for_all(&place);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry"), 1);
    for (size_t i = 0; i < 2; i++) {
        const struct parked *parked = &all_parked(&place, 2)[i];

        assert_true(strlen(parked->key) <= PARKED_KEY_SIZE_MAX);
        assert_int_equal(strlen(read_parked(&place, parked)->documents[0]->pk), sizes[i]);
        assert_non_null(strstr(parked->reason, "pk"));
    }
    close_place(&place);
}

static void a_restart_takes_what_is_left(void **state)
{
    struct topic_place place;

    open_place(&place);
    for (int i = 0; i < 300; i++)
        send(&place, "shop", LANE_MAIN,
             document_of(place.arena, arena_printf(place.arena, "d%d", i % 50), i, "bicycle", i));
    for (int i = 0; i < 5; i++) { /* each stops somewhere */
        start_inbox(&place);
        document_inbox_stop(place.inbox);
        place.inbox = NULL;
    }
    start_inbox(&place);
    wait_for_all(&place);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry"), 50);
    assert_int_equal(read_integer(place.registry.store, "SELECT MIN(version) FROM registry"), 250);
    close_place(&place);
}

/* --- a store that fails --- */

static void open_faulty(struct topic_place *place)
{
    struct receiver *receiver = &place->registry.receiver;
    struct err err = {0};

    memset(place, 0, sizeof(*place));
    place->arena = arena_new();
    clock_manual_init(&place->registry.clock, INT64_C(1800000000000000));
    if (store_open("fault:sqlite::memory:", &place->registry.store, &err) ||
        store_migrate(place->registry.store, NULL, &err) ||
        topics_open("memory:", NULL, &place->topics, &err))
        fail_msg("%s", err.text);
    *receiver = (struct receiver){.store = place->registry.store,
                                  .clock = &place->registry.clock.base,
                                  .shard_count = 1,
                                  .tombstone_life_us = 1000 * (int64_t)SECOND_US};
    receiver->clients = clients_new(receiver->store, receiver->clock);
    receiver->dictionaries = dictionaries_new(receiver->store);
    receiver->intake = intake_new(receiver->store);
}

static void what_fails_is_unavailable_and_sent_again(void **state)
{
    static const enum store_fault_point points[] = {STORE_FAULT_BEGIN, STORE_FAULT_EXEC,
                                                    STORE_FAULT_COMMIT, STORE_FAULT_ACK};
    struct topic_place place;
    int64_t expected = 1;

    open_faulty(&place);
    expect_kind(
        put_one(&place.registry, "shop", document_of(place.arena, "a", 1, "x", 1), place.arena),
        TORG__V1__VERDICT__KIND__ACCEPTED);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        bool is_lost_answer = points[i] == STORE_FAULT_ACK;
        Torg__V1__RawDocument *document =
            document_of(place.arena, "a", 2 + (int64_t)i, "x", (int64_t)i);

        store_fault_arm(place.registry.store, points[i], 0, 1);
        expect_kind(put_one(&place.registry, "shop", document, place.arena),
                    TORG__V1__VERDICT__KIND__UNAVAILABLE);
        expected += is_lost_answer;
        assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry_queue"),
                         expected);
        clock_manual_advance(&place.registry.clock, 100);
        expect_kind(put_one(&place.registry, "shop", document, place.arena),
                    is_lost_answer ? TORG__V1__VERDICT__KIND__DUPLICATE
                                   : TORG__V1__VERDICT__KIND__ACCEPTED);
        expected += !is_lost_answer;
    }
    close_place(&place);
}

static void the_topic_waits_for_the_store(void **state)
{
    struct topic_place place;

    open_faulty(&place);
    for (int i = 0; i < 20; i++)
        send(&place, "shop", LANE_MAIN,
             document_of(place.arena, arena_printf(place.arena, "d%d", i), 1, "x", i));
    store_fault_arm(place.registry.store, STORE_FAULT_COMMIT, 1, 3);
    start_inbox(&place);
    wait_for_all(&place);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry"), 20);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM registry_queue"), 20);
    close_place(&place);
}

/* Whoever sends documents makes the topic too, perhaps at the same moment and in another way. */
static void the_topic_may_be_made_by_another_meanwhile(void **state)
{
    const struct topic_config config = {.partition_count = PARTITION_COUNT + 1};
    struct topic_place place;
    struct err err = {0};

    (void)state;
    open_place(&place);
    if (topic_create(place.topics, TOPIC_DOCUMENTS, &config, &err))
        fail_msg("%s", err.text);
    atomic_store(&topics_faults(place.topics)->hide_topic, 1);
    start_inbox(&place);
    close_place(&place);
}

static void wait_for_strikes(struct topic_place *place, int left)
{
    int i;

    for (i = 0; i < PATIENCE_MS && atomic_load(&topics_faults(place->topics)->fail_lag) > left;
         i++) {
        clock_manual_advance(&place->registry.clock, SECOND_US); /* it looks once a second */
        pause_ms(1);
    }
    assert_true(atomic_load(&topics_faults(place->topics)->fail_lag) <= left);
}

/* A topic that does not answer: the partitions are not asked one after the other. */
static void a_lag_that_cannot_be_asked_stays_as_it_was(void **state)
{
    enum { STRIKES = 1000, LAG = 7 };
    const struct topic_config config = {.partition_count = 1}; /* a strike is a look */
    struct topic_place place;
    struct err err = {0};
    struct gauge *lag;

    (void)state;
    open_place(&place);
    if (topic_create(place.topics, TOPIC_DOCUMENTS, &config, &err))
        fail_msg("%s", err.text);
    atomic_store(&topics_faults(place.topics)->fail_lag, STRIKES);
    start_inbox(&place);
    lag = metrics_gauge("torg_registry_topic_lag", NULL, "");
    wait_for_strikes(&place, STRIKES - 1);
    gauge_set(lag, LAG);
    wait_for_strikes(&place, STRIKES - 3); /* the look before has ended for certain */
    assert_int_equal(atomic_load(&lag->value), LAG);
    close_place(&place);
}

static int64_t stock_of(struct topic_place *place, const char *pk)
{
    Torg__V1__StoredDocument stored = TORG__V1__STORED_DOCUMENT__INIT;
    struct err err = {0};

    if (receiver_get(&place->registry.receiver, "shop", pk, place->arena, &stored, &err))
        return -1;
    return stored.n_side ? stored.side[0]->field->integer : 0;
}

static void side_fields_come_by_the_topic_and_wait_for_their_document(void **state)
{
    Torg__V1__DeclareSchemaRequest request = TORG__V1__DECLARE_SCHEMA_REQUEST__INIT;
    Torg__V1__FieldOptions options = TORG__V1__FIELD_OPTIONS__INIT;
    Torg__V1__SchemaField field = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&field};
    Torg__V1__Schema schema = TORG__V1__SCHEMA__INIT;
    struct topic_place place;
    struct violations reasons;
    struct err err = {0};

    (void)state;
    open_place(&place);
    reasons = violations_in(place.arena);
    options.side = true;
    field.name = (char *)"stock";
    field.type = TORG__V1__SCHEMA_FIELD__TYPE__INTEGER;
    field.options = &options;
    request.fields = fields;
    request.n_fields = 1;
    if (receiver_declare(&place.registry.receiver, "test", &request, "shop", &reasons, &schema,
                         &err))
        fail_msg("%s", err.text);
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "a", 1, "one", 1));
    start_inbox(&place);
    send_stock(&place, "a", 5, false);
    send_stock(&place, "a", 4, false); /* older */
    send_stock(&place, "b", 6, false); /* comes before its document */
    send_stock(&place, "c", 7, true);  /* has none, and need not */
    wait_for_all(&place);
    assert_int_equal(stock_of(&place, "a"), 5);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM parked"), 1);
    send(&place, "shop", LANE_MAIN, document_of(place.arena, "b", 1, "two", 2));
    wait_for_all(&place);
    for (int i = 0; i < PATIENCE_MS && stock_of(&place, "b") != 6; i++) {
        clock_manual_advance(&place.registry.clock, SECOND_US);
        pause_ms(1);
    }
    assert_int_equal(stock_of(&place, "b"), 6);
    for (int i = 0; i < PATIENCE_MS; i++)
        if (!read_integer(place.registry.store, "SELECT COUNT(*) FROM parked"))
            break;
        else
            pause_ms(1);
    assert_int_equal(read_integer(place.registry.store, "SELECT COUNT(*) FROM parked"), 0);
    close_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_taken_and_bad_ones_kept_apart),
        cmocka_unit_test(a_newer_version_ends_the_parking),
        cmocka_unit_test(a_client_too_many_stops_nobody),
        cmocka_unit_test(an_unreadable_client_stops_nobody),
        cmocka_unit_test(a_key_that_fits_nowhere_stops_nobody),
        cmocka_unit_test(a_restart_takes_what_is_left),
        cmocka_unit_test(the_topic_may_be_made_by_another_meanwhile),
        cmocka_unit_test(a_lag_that_cannot_be_asked_stays_as_it_was),
        cmocka_unit_test(what_fails_is_unavailable_and_sent_again),
        cmocka_unit_test(the_topic_waits_for_the_store),
        cmocka_unit_test(side_fields_come_by_the_topic_and_wait_for_their_document),
    };

    return cmocka_run_group_tests_name("registry topic", tests, NULL, NULL);
}

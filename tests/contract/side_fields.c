/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side fields of registry/, embedded and on servers: their own order, from the call to the index,
 * without the document's text and version. Crashes, owners and pours in any order: indexer_model.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "contract/indexer_fixture.h"
#include "registry/bounds.h"
#include "registry/clients/epoch_desk.h"
#include "registry/receiving/sweep.h"
#include "store/store_fault.h"

static struct index_place place;
static struct shelf shelf;

#define KIND(name) TORG__V1__VERDICT__KIND__##name

static void begin(void **state, uint32_t shard_count)
{
    if (!index_place_open(&place, case_on_servers(state), shard_count))
        skip();
    memset(&shelf, 0, sizeof(shelf));
    place_put(&place, LANE_MAIN, "a", 1, 10);
    place_declare_stock(&place);
}

static void end(struct indexer *indexer)
{
    indexer_free(indexer);
    index_place_close(&place);
}

static void expect(const Torg__V1__Verdict *verdict, Torg__V1__Verdict__Kind kind, const char *text)
{
    const char *told = verdict->n_reasons ? verdict->reasons[0]->text : "";

    if (verdict->kind != kind || !strstr(told, text))
        fail_msg("verdict %d, not %d: %s", verdict->kind, kind, told);
}

static Torg__V1__StoredDocument stored(const char *pk)
{
    Torg__V1__StoredDocument found = TORG__V1__STORED_DOCUMENT__INIT;
    struct err err = {0};

    if (receiver_get(&place.receiver, place.client, pk, place.arena, &found, &err))
        fail_msg("%s", err.text);
    return found;
}

/* --- verdicts --- */

static void each_change_is_decided_by_the_order_of_its_field(void **state)
{
    Torg__V1__StoredDocument found;

    begin(state, 1);
    expect(place_stock(&place, "a", 5, 7, 70), KIND(ACCEPTED), "");
    expect(place_stock(&place, "a", 5, 7, 70), KIND(DUPLICATE), "");
    expect(place_stock(&place, "a", 5, 7, 71), KIND(STALE), "epoch 5, sequence 7");
    expect(place_stock(&place, "a", 5, 6, 71), KIND(STALE), "not older");
    expect(place_stock(&place, "a", 4, 9, 71), KIND(STALE), "not older");
    expect(place_stock(&place, "b", 5, 7, 70), KIND(NOT_FOUND), "");
    found = stored("a");
    assert_int_equal(found.n_side, 1);
    assert_int_equal(found.side[0]->field->integer, 70);
    assert_int_equal(found.side[0]->sequence, 7);
    assert_int_equal(found.document->version, 1);
    assert_int_equal(found.document->n_fields, 2);
    expect(place_stock(&place, "a", 6, 0, -1), KIND(ACCEPTED), "");      /* taken away */
    expect(place_stock(&place, "a", 5, 100, 9), KIND(STALE), "epoch 6"); /* and stays so */
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 3);
    end(NULL);
}

static Torg__V1__Verdict *put_two_with(const char *first, const char *second, int64_t sequence,
                                       Torg__V1__FieldOptions *options)
{
    Torg__V1__FieldChange *change = MESSAGE_NEW(field_change, place.arena);
    const char *names[] = {first, second};
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    change->pk = (char *)"a";
    change->sequence = sequence;
    change->fields = arena_array(place.arena, 2, sizeof(change->fields[0]));
    for (int i = 0; i < 2; i++) {
        change->fields[i] = MESSAGE_NEW(raw_field, place.arena);
        change->fields[i]->name = (char *)names[i];
        change->fields[i]->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
        change->fields[i]->integer = 3;
        change->fields[i]->options = options;
    }
    change->n_fields = 2;
    if (receiver_put_fields(&place.receiver, place.client, &change, 1, place.arena, &verdicts,
                            &err))
        fail_msg("%s", err.text);
    return verdicts[0];
}

static Torg__V1__Verdict *put_two(const char *first, const char *second, int64_t sequence)
{
    return put_two_with(first, second, sequence, NULL);
}

static void new_fields_are_declared_by_the_first_change_that_has_them(void **state)
{
    Torg__V1__FieldOptions side = TORG__V1__FIELD_OPTIONS__INIT;

    begin(state, 1);
    side.side = true;
    expect(put_two_with("rating", "views", 1, &side), KIND(ACCEPTED), "");
    assert_int_equal(stored("a").n_side, 2);
    end(NULL);
}

static int forget(struct store_tx *tx, void *arg, struct err *err)
{
    const struct client_view *client = arg;
    struct row row;
    bool found;
    int rc = row_find(tx, client->id, bytes_of("a"), false, place.arena, &row, &found, err);

    assert_true(found);
    return rc ? rc : row_forget(tx, client->id, &row, err);
}

/* What the auditor does to a row that differs from its offer. */
static void a_repair_leaves_them(void **state)
{
    const struct client_view *client;
    struct err err = {0};

    begin(state, 1);
    place_put(&place, LANE_MAIN, "a", 5, 50);
    expect(place_stock(&place, "a", 1, 1, 70), KIND(ACCEPTED), "");
    OK(receiver_obtain(&place.receiver, place.client, &client, &err));
    OK(store_write(place.store, forget, (void *)client, &err));
    client_unref(client);
    place_put(&place, LANE_MAIN, "a", 3, 30); /* however old */
    assert_int_equal(stored("a").document->version, 3);
    assert_int_equal(stored("a").n_side, 1);
    assert_int_equal(stored("a").side[0]->field->integer, 70);
    end(NULL);
}

static void a_change_that_breaks_a_rule_changes_nothing(void **state)
{
    Torg__V1__RawDocument *document;
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    begin(state, 1);
    expect(put_two("stock", "rating", 1), KIND(INVALID), "declare it");
    expect(put_two("stock", "price", 1), KIND(INVALID), "documents bring it");
    expect(put_two("stock", "stock", 1), KIND(INVALID), "there already");
    assert_int_equal(stored("a").n_side, 0);
    /* nor does a document bring a side field */
    document = MESSAGE_NEW(raw_document, place.arena);
    document->pk = (char *)"a";
    document->version = 2;
    document->fields = arena_array(place.arena, 1, sizeof(document->fields[0]));
    document->fields[0] = MESSAGE_NEW(raw_field, place.arena);
    document->fields[0]->name = (char *)"stock";
    document->fields[0]->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    document->n_fields = 1;
    assert_int_equal(receiver_put(&place.receiver, place.client, LANE_MAIN, &document, 1,
                                  place.arena, &verdicts, &err),
                     0);
    expect(verdicts[0], KIND(INVALID), "PutFields");
    end(NULL);
}

/* --- the way to the index --- */

static void a_change_arrives_alone_and_survives_what_happens_to_its_document(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 5);
    assert_int_equal(shelf.put_count, 1); /* no document was sent for it */
    assert_int_equal(shelf.change_count, 1);
    assert_int_equal(shelf.change_version, 1); /* should it be refused: of that write */
    assert_int_equal(shelf.progress[LANE_MAIN], 2);
    place_put(&place, LANE_MAIN, "a", 2, 11);
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 5);
    place_put(&place, LANE_EMERGENCY, "a", 3, -1);
    expect(place_stock(&place, "a", 1, 2, 6), KIND(NOT_FOUND), "");
    place_put(&place, LANE_MAIN, "a", 4, 12); /* the same owner of the number: the same stock */
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 5);
    expect(place_stock(&place, "a", 1, 3, -1), KIND(ACCEPTED), "");
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 0);
    end(indexer);
}

/* The first and its changes in one batch: the put brings the newest, the changes find no number. */
static void a_new_document_brings_its_changes_along(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
    expect(place_stock(&place, "a", 1, 2, 6), KIND(ACCEPTED), "");
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 6);
    end(indexer);
}

/* One round: of the lane backfill it takes some, of main all that there is. */
static void run_a_round(struct indexer *indexer)
{
    struct indexer_round round;
    struct err err = {0};

    OK(indexer_round(indexer, &round, &err));
    shelf_follow(&shelf, &place);
}

/* Who waits for a change finds the document with it, in whichever lane the document waits: one that
 * was never sent, and one that was taken out of the index and came back. */
static void a_change_takes_its_document_along(void **state)
{
    struct indexer *indexer;
    int64_t newest;

    begin(state, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    place_put(&place, LANE_MAIN, "a", 2, -1);
    place_run(indexer);
    place_put_many_in(&place, LANE_BACKFILL, 600, 1);
    place_put(&place, LANE_BACKFILL, "a", 3, 10);
    place_put(&place, LANE_BACKFILL, "b", 1, 20);
    expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
    expect(place_stock(&place, "b", 1, 1, 6), KIND(ACCEPTED), "");
    newest = read_integer(place.store, "SELECT MAX(idx) FROM registry_queue WHERE lane = 0");
    run_a_round(indexer);
    assert_true(shelf.progress[LANE_BACKFILL] < 600);
    assert_int_equal(shelf.progress[LANE_MAIN], newest);
    assert_non_null(shelf_find(&shelf, "a"));
    assert_int_equal(shelf_find(&shelf, "a")->stock, 5);
    assert_non_null(shelf_find(&shelf, "b"));
    assert_int_equal(shelf_find(&shelf, "b")->stock, 6);
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    end(indexer);
}

enum { DEEP_COUNT = 5000 }; /* of a lane: more than rounds send before they commit */

static void fill_backfill(void)
{
    for (int64_t i = 0; i < DEEP_COUNT; i += 1000)
        place_put_many_in(&place, LANE_BACKFILL, 1000, 1 + i);
}

/* The same far behind; documents that are in the index are not sent again. */
static void a_change_takes_along_what_waits_far_behind(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    fill_backfill();
    place_put(&place, LANE_BACKFILL, "b", 1, 20);
    expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
    expect(place_stock(&place, "b", 1, 1, 6), KIND(ACCEPTED), "");
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue "
                                               "WHERE lane = 0 AND pk = 'a'"),
                     0);
    run_a_round(indexer);
    assert_true(shelf.progress[LANE_BACKFILL] < DEEP_COUNT);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 5);
    assert_non_null(shelf_find(&shelf, "b"));
    assert_int_equal(shelf_find(&shelf, "b")->stock, 6);
    end(indexer);
}

/* A clock that lets somebody else act between a removal that was sent and its commit, which asks
 * for the time: the index does not have the document then, and the store has its number still. */
static int64_t pass_between(const struct clock *clock)
{
    (void)clock;
    return clock_mono_us(&place.clock.base);
}

static int64_t act_between(const struct clock *clock)
{
    static bool is_acting;

    (void)clock;
    if (!is_acting) {
        is_acting = true;
        shelf_follow(&shelf, &place);
        if (!shelf_find(&shelf, "a") && stored("a").is_deleted) {
            place_put(&place, LANE_BACKFILL, "a", 3, 30);
            expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
        }
        is_acting = false;
    }
    return clock_wall_us(&place.clock.base);
}

static void a_change_takes_along_what_comes_back_while_it_is_removed(void **state)
{
    const struct clock between = {.wall_us = act_between, .mono_us = pass_between};
    struct indexer *indexer;
    int64_t newest;

    begin(state, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    fill_backfill();
    place_put(&place, LANE_MAIN, "a", 2, -1);
    place.base.clock = &between;
    run_a_round(indexer);
    place.base.clock = &place.clock.base;
    assert_false(stored("a").is_deleted);
    newest = read_integer(place.store, "SELECT MAX(idx) FROM registry_queue WHERE lane = 0");
    run_a_round(indexer);
    assert_true(shelf.progress[LANE_BACKFILL] < DEEP_COUNT);
    assert_int_equal(shelf.progress[LANE_MAIN], newest);
    assert_non_null(shelf_find(&shelf, "a"));
    assert_int_equal(shelf_find(&shelf, "a")->stock, 5);
    end(indexer);
}

/* Who has waited for a change finds it, or a newer one, whatever is sent again. */
static void what_is_sent_again_is_as_new_as_what_was_sent(void **state)
{
    struct indexer *first, *second;
    struct indexer_round round;
    struct err err = {0};

    begin(state, 1);
    first = place_indexer(&place, 0, 1);
    place_run(first);
    for (int64_t i = 1; i <= 2; i++) { /* sent, and not committed */
        expect(place_stock(&place, "a", 1, i, 4 + i), KIND(ACCEPTED), "");
        OK(indexer_round(first, &round, &err));
        assert_int_equal(round.sent_count, 1);
    }
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 6);
    shelf.stock_min = 0;
    shelf.change_count = 0;
    second = place_indexer(&place, 0, 2);
    place_run(second);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf.change_count, 2);
    assert_int_equal(shelf.stock_min, 6);
    indexer_free(second);
    end(first);
}

/* A store that is away is no reason to refuse what it has not been asked about. */
static void a_field_that_cannot_be_declared_now_is_not_refused(void **state)
{
    Torg__V1__FieldOptions side = TORG__V1__FIELD_OPTIONS__INIT;

    begin(state, 1);
    side.side = true;
    store_fault_arm(place.store, STORE_FAULT_COMMIT, 0, 1);
    expect(put_two_with("rating", "views", 1, &side), KIND(UNAVAILABLE), "send it again");
    expect(put_two_with("rating", "views", 1, &side), KIND(ACCEPTED), "");
    end(NULL);
}

static void the_next_owner_of_a_number_begins_without(void **state)
{
    const struct client_view *client;
    struct sweep_counts counts = {0};
    struct indexer *indexer;
    struct err err = {0};
    bool is_full;

    begin(state, 1);
    place.receiver.tombstone_life_us = SECOND_US;
    place.base.rules.numbers.ttl_us = SECOND_US;
    expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    place_put(&place, LANE_MAIN, "a", 2, -1);
    place_run(indexer);
    clock_manual_advance(&place.clock, (int64_t)2 * SWEEP_DELAY_S * SECOND_US);
    assert_int_equal(indexer_sweep(indexer, &err), 0);
    assert_int_equal(clients_find(place.receiver.clients, place.client, true, &client, &err), 0);
    assert_int_equal(sweep_client(&place.receiver, client, clock_wall_us(&place.clock.base),
                                  &counts, &is_full, &err),
                     0);
    client_unref(client);
    assert_int_equal(counts.forgotten, 1);
    place_put(&place, LANE_MAIN, "b", 1, 1);
    place_put(&place, LANE_MAIN, "a", 1, 1);
    place_run(indexer);
    shelves_equal_registry(&shelf, 1, &place);
    assert_int_equal(shelf_find(&shelf, "b") - shelf.documents, 0); /* the number that was a's */
    assert_int_equal(shelf_find(&shelf, "b")->stock, 0);
    assert_int_equal(shelf_find(&shelf, "a")->stock, 0);
    end(indexer);
}

/* Of an element of the queue: what came before and comes after it is sent. */
static void a_damaged_change_stops_nobody(void **state)
{
    struct indexer *indexer;

    begin(state, 1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
    exec(place.store, place.on_servers ? "UPDATE registry_queue SET fields = CAST('no' AS BYTEA) "
                                         "WHERE fields IS NOT NULL"
                                       : "UPDATE registry_queue SET fields = CAST('no' AS BLOB) "
                                         "WHERE fields IS NOT NULL");
    place_put(&place, LANE_MAIN, "b", 1, 20);
    expect(place_stock(&place, "b", 1, 1, 7), KIND(ACCEPTED), "");
    place_run(indexer);
    shelf_follow(&shelf, &place);
    assert_int_equal(shelf_find(&shelf, "b")->stock, 7);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 0);
    end(indexer);
}

static void another_epoch_gets_them_with_the_pour_and_with_changes(void **state)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    static struct shelf next;
    struct epoch_desk desk;
    struct violations reasons;
    struct indexer *indexer;
    struct err err = {0};

    begin(state, 1);
    reasons = violations_in(place.arena);
    desk = (struct epoch_desk){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .clock = &place.clock.base};
    place_put(&place, LANE_MAIN, "b", 1, 20);
    expect(place_stock(&place, "a", 1, 1, 5), KIND(ACCEPTED), "");
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    if (epoch_desk_start(&desk, place.client, "test", &request, &reasons, &status, &err))
        fail_msg("%s", err.text);
    expect(place_stock(&place, "b", 1, 2, 6), KIND(ACCEPTED), "");
    place_tend(&place, indexer, 0);
    expect(place_stock(&place, "b", 1, 3, 7), KIND(ACCEPTED), "");
    place_run(indexer);
    memset(&next, 0, sizeof(next));
    next.epoch = 2;
    shelf_follow(&next, &place);
    assert_int_equal(shelf_find(&next, "a")->stock, 5);
    assert_int_equal(shelf_find(&next, "b")->stock, 7);
    shelves_equal_registry(&shelf, 1, &place);
    end(indexer);
}

/* Changes of one key in a batch are decided one after the other; elements are split by size. */
static void a_large_batch_is_split_and_keeps_its_order(void **state)
{
    enum { COUNT = DOCUMENT_BATCH_COUNT_MAX, KEY_COUNT = 700 };
    Torg__V1__FieldChange *changes[COUNT];
    static struct shelf shelves[2];
    struct indexer *indexers[2];
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    begin(state, 2);
    place_put_many(&place, KEY_COUNT, 1);
    for (int i = 0; i < COUNT; i++) {
        changes[i] = MESSAGE_NEW(field_change, place.arena);
        changes[i]->pk = arena_printf(place.arena, "k%d", i % KEY_COUNT);
        changes[i]->sequence = i;
        changes[i]->fields = arena_array(place.arena, 1, sizeof(changes[i]->fields[0]));
        changes[i]->fields[0] = MESSAGE_NEW(raw_field, place.arena);
        changes[i]->fields[0]->name = (char *)"stock";
        changes[i]->fields[0]->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
        changes[i]->fields[0]->integer = i + 1;
        changes[i]->n_fields = 1;
    }
    memset(shelves, 0, sizeof(shelves));
    for (uint32_t i = 0; i < 2; i++) {
        shelves[i].shard = i;
        indexers[i] = place_indexer(&place, i, 1);
        place_run(indexers[i]);
    }
    if (receiver_put_fields(&place.receiver, place.client, changes, COUNT, place.arena, &verdicts,
                            &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < COUNT; i++)
        expect(verdicts[i], KIND(ACCEPTED), "");
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 2);
    for (uint32_t i = 0; i < 2; i++)
        place_run(indexers[i]);
    shelves_equal_registry(shelves, 2, &place);
    for (int i = 0; i < KEY_COUNT; i++) {
        const char *pk = arena_printf(place.arena, "k%d", i);
        const struct shelf_document *found = shelf_find(&shelves[0], pk);

        found = found ? found : shelf_find(&shelves[1], pk);
        assert_int_equal(found->stock, (i + KEY_COUNT < COUNT ? i + KEY_COUNT : i) + 1);
    }
    indexer_free(indexers[1]);
    end(indexers[0]);
}

static const struct test_case cases[] = {
    CASE(each_change_is_decided_by_the_order_of_its_field),
    CASE(new_fields_are_declared_by_the_first_change_that_has_them),
    CASE(a_field_that_cannot_be_declared_now_is_not_refused),
    CASE(a_repair_leaves_them),
    CASE(a_change_that_breaks_a_rule_changes_nothing),
    CASE(a_change_arrives_alone_and_survives_what_happens_to_its_document),
    CASE(a_new_document_brings_its_changes_along),
    CASE(a_change_takes_its_document_along),
    CASE(a_change_takes_along_what_waits_far_behind),
    CASE(a_change_takes_along_what_comes_back_while_it_is_removed),
    CASE(what_is_sent_again_is_as_new_as_what_was_sent),
    CASE(the_next_owner_of_a_number_begins_without),
    CASE(a_damaged_change_stops_nobody),
    CASE(another_epoch_gets_them_with_the_pour_and_with_changes),
    CASE(a_large_batch_is_split_and_keeps_its_order),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "side-fields"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

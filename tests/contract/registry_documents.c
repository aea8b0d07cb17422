/* SPDX-License-Identifier: Apache-2.0 */
/* registry_documents.c - verdicts, schemas, ends and dictionaries of the registry, on every store.
 */
#include "contract/registry_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/moment.h"
#include "model/change_token.h"
#include "patience.h"
#include "registry/bounds.h"
#include "registry/receiving/accept.h"
#include "registry/receiving/dictionaries.h"
#include "registry/receiving/document.h"
#include "registry/receiving/sweep.h"

static void start(void **state, struct registry_place *place)
{
    if (!registry_place_open(place, case_on_servers(state)))
        skip();
}

static Torg__V1__Verdict **put(struct registry_place *place, const char *client, enum lane lane,
                               Torg__V1__RawDocument **documents, size_t count, struct arena *arena)
{
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    if (receiver_put(&place->receiver, client, lane, documents, count, arena, &verdicts, &err))
        fail_msg("%s", err.text);
    return verdicts;
}

static struct change_token token_of(const Torg__V1__Verdict *verdict)
{
    struct change_token token = {0};
    struct err err = {0};

    if (change_token_parse(bytes_of(verdict->token), NULL, &token, &err))
        fail_msg("%s", err.text);
    return token;
}

static Torg__V1__RawField *with_text(struct arena *arena, Torg__V1__RawDocument *document,
                                     const char *name, const char *text)
{
    Torg__V1__RawField *field = add_field(arena, document, name);

    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field->text = arena_strdup(arena, text);
    return field;
}

static Torg__V1__RawField *with_integer(struct arena *arena, Torg__V1__RawDocument *document,
                                        const char *name, int64_t integer)
{
    Torg__V1__RawField *field = add_field(arena, document, name);

    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = integer;
    return field;
}

static size_t field_count(struct registry_place *place, const char *client, struct arena *arena)
{
    Torg__V1__Schema schema = TORG__V1__SCHEMA__INIT;
    struct err err = {0};

    if (receiver_schema(&place->receiver, client, 0, arena, &schema, &err))
        fail_msg("%s", err.text);
    return schema.n_fields;
}

/* --- cases --- */

static void a_refused_document_stops_no_other(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[3];
    Torg__V1__Verdict **verdicts;

    start(state, &place);
    documents[0] = document_of(arena, "", 1, "no key", 1);
    verdicts = put(&place, "shop", LANE_MAIN, documents, 1, arena);
    expect_kind(verdicts[0], TORG__V1__VERDICT__KIND__INVALID);
    assert_string_equal(verdicts[0]->reasons[0]->field, "pk");
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_client"), 0);

    documents[1] = document_of(arena, "a", 1, "bicycle", 1);
    documents[2] = document_of(arena, "b", -1, "bicycle", 1);
    verdicts = put(&place, "shop", LANE_MAIN, documents, 3, arena);
    expect_kind(verdicts[0], TORG__V1__VERDICT__KIND__INVALID);
    expect_kind(verdicts[1], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[2], TORG__V1__VERDICT__KIND__INVALID);
    assert_string_equal(verdicts[1]->pk, "a");
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry"), 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 1);
    registry_place_close(&place);
    arena_free(arena);
}

static int declare(struct registry_place *place, const char *client, int64_t epoch,
                   Torg__V1__SchemaField__Type type, struct arena *arena, struct err *err)
{
    Torg__V1__DeclareSchemaRequest request = TORG__V1__DECLARE_SCHEMA_REQUEST__INIT;
    Torg__V1__SchemaField field = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&field};
    Torg__V1__Schema schema = TORG__V1__SCHEMA__INIT;
    struct violations reasons = violations_in(arena);

    field.name = "title";
    field.type = type;
    request.epoch = epoch;
    request.fields = fields;
    request.n_fields = 1;
    return receiver_declare(&place->receiver, "tester", &request, client, &reasons, &schema, err);
}

static void a_declaration_that_is_refused_makes_no_client(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    struct err err = {0};

    start(state, &place);
    assert_int_equal(
        declare(&place, "shop", 0, TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED, arena, &err),
        ERR_INVALID);
    assert_int_equal(declare(&place, "shop", 7, TORG__V1__SCHEMA_FIELD__TYPE__TEXT, arena, &err),
                     ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "client shop has no epoch 7"));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_client"), 0);
    if (declare(&place, "shop", 1, TORG__V1__SCHEMA_FIELD__TYPE__TEXT, arena, &err))
        fail_msg("%s", err.text);
    assert_int_equal(field_count(&place, "shop", arena), 1);
    registry_place_close(&place);
    arena_free(arena);
}

static void the_same_again_is_a_duplicate(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();

    start(state, &place);
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "bicycle", 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    clock_manual_advance(&place.clock, 10 * SECOND_US);
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "bicycle", 1), arena),
                TORG__V1__VERDICT__KIND__DUPLICATE);
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "bicycle", 2), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    clock_manual_advance(&place.clock, -20 * (int64_t)SECOND_US); /* a clock that is behind */
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "bicycle", 3), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 3);
    registry_place_close(&place);
    arena_free(arena);
}

static void one_key_many_times_in_a_batch(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[5];
    Torg__V1__Verdict **verdicts;

    start(state, &place);
    documents[0] = document_of(arena, "a", 1, "one", 1);
    documents[1] = document_of(arena, "a", 3, "three", 3);
    documents[2] = document_of(arena, "a", 2, "two", 2);
    documents[3] = deletion_of(arena, "a", 4);
    documents[4] = deletion_of(arena, "a", 4);
    verdicts = put(&place, "shop", LANE_EMERGENCY, documents, 5, arena);
    expect_kind(verdicts[0], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[1], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[2], TORG__V1__VERDICT__KIND__STALE);
    expect_kind(verdicts[3], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[4], TORG__V1__VERDICT__KIND__DUPLICATE);
    assert_int_equal(token_of(verdicts[0]).idx, token_of(verdicts[3]).idx);
    assert_int_equal(token_of(verdicts[0]).lane, LANE_EMERGENCY);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 1);
    assert_int_equal(read_integer(place.store, "SELECT version FROM registry_queue"), 4);
    assert_int_equal(read_integer(place.store, "SELECT status FROM registry"), ROW_TOMBSTONE);
    registry_place_close(&place);
    arena_free(arena);
}

static void clients_see_nothing_of_each_other(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__StoredDocument stored = TORG__V1__STORED_DOCUMENT__INIT;
    Torg__V1__RawDocument *other;
    struct err err = {0};

    start(state, &place);
    expect_kind(put_one(&place, "one", document_of(arena, "a", 5, "bicycle", 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    other = deletion_of(arena, "x", 1);
    expect_kind(put_one(&place, "two", other, arena), TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(receiver_get(&place.receiver, "two", "a", arena, &stored, &err),
                     ERR_NOT_FOUND);
    /* Its own, older, with another type of the same field. */
    other = deletion_of(arena, "a", 1);
    other->event = TORG__V1__RAW_DOCUMENT__EVENT__UPSERT;
    with_text(arena, other, "price", "cheap");
    expect_kind(put_one(&place, "two", other, arena), TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(receiver_get(&place.receiver, "one", "a", arena, &stored, &err), 0);
    assert_int_equal(stored.document->version, 5);
    assert_int_equal(stored.document->n_fields, 2);
    registry_place_close(&place);
    arena_free(arena);
}

static void a_schema_grows_with_what_is_accepted(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[4];
    Torg__V1__Verdict **verdicts;

    start(state, &place);
    documents[0] = document_of(arena, "a", 1, "one", -1);
    with_integer(arena, documents[0], "size", 1);
    documents[1] = document_of(arena, "b", 1, "two", -1);
    with_text(arena, documents[1], "size", "large");
    documents[2] = document_of(arena, "c", 1, "three", -1);
    with_integer(arena, documents[2], "size", 3);
    with_integer(arena, documents[2], "weight", 3);
    verdicts = put(&place, "shop", LANE_MAIN, documents, 3, arena);
    expect_kind(verdicts[0], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[1], TORG__V1__VERDICT__KIND__INVALID);
    expect_kind(verdicts[2], TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_string_equal(verdicts[1]->reasons[0]->field, "fields[1].text");
    assert_non_null(strstr(verdicts[1]->reasons[0]->text, "is integer in epoch 1"));
    assert_int_equal(field_count(&place, "shop", arena), 3);

    /* The first is stale and brings nothing, so the second's type is the one. */
    documents[0] = document_of(arena, "a", 0, "old", -1);
    with_integer(arena, documents[0], "color", 1);
    documents[1] = document_of(arena, "d", 1, "four", -1);
    with_text(arena, documents[1], "color", "red");
    verdicts = put(&place, "shop", LANE_MAIN, documents, 2, arena);
    expect_kind(verdicts[0], TORG__V1__VERDICT__KIND__STALE);
    expect_kind(verdicts[1], TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(field_count(&place, "shop", arena), 4);

    /* Two texts more: the limit is four, and the fifth is told. */
    documents[0] = document_of(arena, "e", 1, "five", -1);
    with_text(arena, documents[0], "x1", "");
    documents[1] = document_of(arena, "f", 1, "six", -1);
    with_text(arena, documents[1], "x2", "");
    documents[2] = document_of(arena, "g", 1, "seven", -1);
    with_text(arena, documents[2], "x3", "");
    verdicts = put(&place, "shop", LANE_MAIN, documents, 3, arena);
    expect_kind(verdicts[0], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[1], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[2], TORG__V1__VERDICT__KIND__INVALID);
    registry_place_close(&place);
    arena_free(arena);
}

/* A field that joins an epoch joins the one that is built, and that counts within the batch. */
static void a_field_joins_later_epochs_at_once(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[2];
    Torg__V1__Verdict **verdicts;

    start(state, &place);
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "one", -1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    exec(place.store, "INSERT INTO registry_epoch (client_id, epoch, state, started_us) "
                      "VALUES (1, 2, 0, 0)");
    exec(place.store, "UPDATE registry_client SET state_no = state_no + 1");
    documents[0] = document_of(arena, "b", 1, "two", -1);
    with_integer(arena, documents[0], "size", 1);
    documents[1] = document_of(arena, "c", 1, "three", -1);
    documents[1]->epoch = 2;
    with_text(arena, documents[1], "size", "large");
    verdicts = put(&place, "shop", LANE_MAIN, documents, 2, arena);
    expect_kind(verdicts[0], TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(verdicts[1], TORG__V1__VERDICT__KIND__INVALID);
    assert_non_null(strstr(verdicts[1]->reasons[0]->text, "is integer in epoch 2"));
    registry_place_close(&place);
    arena_free(arena);
}

/* --- two receivers --- */

struct racer {
    pthread_t thread;
    struct receiver receiver; /* knows nothing of the other's views */
    int number;
    int round;
    pthread_barrier_t *barrier;
    Torg__V1__Verdict__Kind kind;
    char failure[256];
};

static void *race(void *arg)
{
    struct racer *racer = arg;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *document =
        document_of(arena, racer->number ? "b" : "a", racer->round, "race", -1);
    char name[16];
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    snprintf(name, sizeof(name), "f%d", racer->round);
    if (racer->number) {
        Torg__V1__RawField *field = add_field(arena, document, name);

        field->_boolean_case = TORG__V1__RAW_FIELD___BOOLEAN_BOOLEAN;
        field->boolean = true;
    } else {
        with_integer(arena, document, name, 1);
    }
    pthread_barrier_wait(racer->barrier);
    if (receiver_put(&racer->receiver, "shop", LANE_MAIN, &document, 1, arena, &verdicts, &err))
        snprintf(racer->failure, sizeof(racer->failure), "%s", err.text);
    else
        racer->kind = verdicts[0]->kind;
    arena_free(arena);
    return NULL;
}

static void two_receivers_grow_a_schema_at_once(void **state)
{
    enum { ROUND_COUNT = 20 };
    struct registry_place place;
    struct arena *arena = arena_new();
    struct racer racers[2];
    pthread_barrier_t barrier;

    start(state, &place);
    for (int i = 0; i < 2; i++) {
        racers[i] = (struct racer){.receiver = place.receiver, .number = i, .barrier = &barrier};
        racers[i].receiver.clients = clients_new(place.store, &place.clock.base);
        racers[i].receiver.intake = intake_new(place.store);
    }
    for (int round = 0; round < ROUND_COUNT; round++) { /* the first makes the client, too */
        pthread_barrier_init(&barrier, NULL, 2);
        for (int i = 0; i < 2; i++) {
            racers[i].round = round;
            assert_int_equal(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
        }
        for (int i = 0; i < 2; i++)
            pthread_join(racers[i].thread, NULL);
        pthread_barrier_destroy(&barrier);
        assert_string_equal(racers[0].failure, "");
        assert_string_equal(racers[1].failure, "");
        if (racers[0].kind == TORG__V1__VERDICT__KIND__ACCEPTED)
            assert_int_equal(racers[1].kind, TORG__V1__VERDICT__KIND__INVALID);
        else
            assert_int_equal(racers[1].kind, TORG__V1__VERDICT__KIND__ACCEPTED);
        clock_manual_advance(&place.clock, SECOND_US);
    }
    assert_int_equal(field_count(&place, "shop", arena), ROUND_COUNT + 1);
    for (int i = 0; i < 2; i++) {
        clients_free(racers[i].receiver.clients);
        intake_free(racers[i].receiver.intake);
    }
    registry_place_close(&place);
    arena_free(arena);
}

/* --- many callers of one receiver --- */

enum { CALLER_COUNT = 12, CALL_COUNT = 20, SHARED_KEY_COUNT = 5 };

struct caller {
    pthread_t thread;
    struct registry_place *place;
    int number;
    int accepted;
    int failed;
};

/* Versions are apart for all, and rise with each caller's calls. */
static void *call_often(void *arg)
{
    struct caller *caller = arg;

    for (int i = 0; i < CALL_COUNT; i++) {
        struct arena *arena = arena_new();
        Torg__V1__RawDocument *document =
            document_of(arena, arena_printf(arena, "k%d", i % SHARED_KEY_COUNT),
                        1 + i * CALLER_COUNT + caller->number, "bicycle", i);
        Torg__V1__Verdict **verdicts;
        struct err err;

        if (i == CALL_COUNT / 2) /* one that grows the schema goes between the others */
            with_integer(arena, document, arena_printf(arena, "n%d", caller->number), 1);
        if (receiver_put(&caller->place->receiver, "shop", LANE_MAIN, &document, 1, arena,
                         &verdicts, &err))
            caller->failed++;
        else if (verdicts[0]->kind == TORG__V1__VERDICT__KIND__ACCEPTED)
            caller->accepted++;
        else if (verdicts[0]->kind != TORG__V1__VERDICT__KIND__STALE)
            caller->failed++;
        arena_free(arena);
    }
    return NULL;
}

static void callers_at_the_same_time_are_decided_on_in_order(void **state)
{
    struct registry_place place;
    struct caller callers[CALLER_COUNT];
    int accepted = 0;
    int64_t elements;

    start(state, &place);
    for (int i = 0; i < CALLER_COUNT; i++) {
        callers[i] = (struct caller){.place = &place, .number = i};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLER_COUNT; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].failed, 0);
        accepted += callers[i].accepted;
    }
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry"), SHARED_KEY_COUNT);
    for (int i = 0; i < SHARED_KEY_COUNT; i++) {
        char sql[80];

        snprintf(sql, sizeof(sql), "SELECT version FROM registry WHERE pk = 'k%d'", i);
        assert_int_equal(read_integer(place.store, sql),
                         (CALL_COUNT - SHARED_KEY_COUNT + i) * CALLER_COUNT + CALLER_COUNT);
    }
    /* Some were overtaken within their group; no idx is left out or there twice. */
    elements = read_integer(place.store, "SELECT COUNT(*) FROM registry_queue");
    assert_true(elements <= accepted && elements >= SHARED_KEY_COUNT);
    assert_int_equal(read_integer(place.store, "SELECT MAX(idx) FROM registry_queue"), elements);
    registry_place_close(&place);
}

/* --- no gap --- */

struct slow_append {
    int64_t client_id;
    atomic_bool has_appended;
    atomic_bool may_commit;
    int rc;
    struct store *store;
};

static int append_slowly(struct store_tx *tx, void *arg, struct err *err)
{
    struct slow_append *slow = arg;
    struct queue_element element = {.pk = bytes_of("slow"), .order = {1, 1, 1}, .put_us = 1};
    int rc = queue_append(tx, slow->client_id, LANE_MAIN, 0, &element, 1, err);

    atomic_store(&slow->has_appended, true);
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&slow->may_commit); i++)
        pause_ms(1);
    return rc;
}

static void *run_slow(void *arg)
{
    struct slow_append *slow = arg;
    struct err err;

    slow->rc = store_write(slow->store, append_slowly, slow, &err);
    return NULL;
}

struct fast_put {
    struct registry_place *place;
    atomic_bool is_done;
    Torg__V1__Verdict__Kind kind;
};

static void *run_fast(void *arg)
{
    struct fast_put *fast = arg;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *document = document_of(arena, "fast", 1, "bicycle", 1);
    Torg__V1__Verdict **verdicts;
    struct err err;

    if (!receiver_put(&fast->place->receiver, "shop", LANE_MAIN, &document, 1, arena, &verdicts,
                      &err))
        fast->kind = verdicts[0]->kind;
    atomic_store(&fast->is_done, true);
    arena_free(arena);
    return NULL;
}

/* A commit that takes long: no element with a higher idx may be seen before its own. */
static void no_element_appears_behind_a_reader(void **state)
{
    static const char highest[] = "SELECT COALESCE(MAX(idx), 0) FROM registry_queue";
    struct registry_place place;
    struct arena *arena = arena_new();
    struct slow_append slow = {0};
    struct fast_put fast = {.place = &place};
    pthread_t threads[2];

    start(state, &place);
    expect_kind(put_one(&place, "shop", document_of(arena, "first", 1, "bicycle", 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    slow.client_id = read_integer(place.store, "SELECT id FROM registry_client");
    slow.store = place.store;
    assert_int_equal(pthread_create(&threads[0], NULL, run_slow, &slow), 0);
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&slow.has_appended); i++)
        pause_ms(1);
    assert_true(atomic_load(&slow.has_appended));
    assert_int_equal(pthread_create(&threads[1], NULL, run_fast, &fast), 0);
    /* By the clock: who waits for a lock of PostgreSQL gives up after half a minute. */
    for (int64_t until_us = clock_mono_us(clock_system()) + 150 * MS_US;
         clock_mono_us(clock_system()) < until_us; pause_ms(1))
        assert_int_equal(read_integer(place.store, highest), 1);
    assert_false(atomic_load(&fast.is_done));
    atomic_store(&slow.may_commit, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_int_equal(slow.rc, 0);
    expect_kind(&(Torg__V1__Verdict){.kind = fast.kind}, TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(read_integer(place.store, highest), 3);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 3);
    registry_place_close(&place);
    arena_free(arena);
}

/* --- a transaction that is run again --- */

struct outrun {
    struct acceptance acceptance;
    bool is_rolled_back;
};

static int accept_or_not(struct store_tx *tx, void *arg, struct err *err)
{
    struct outrun *outrun = arg;
    int rc = accept_documents(tx, &outrun->acceptance, err);

    return rc || !outrun->is_rolled_back ? rc : err_set(err, ERR_CANCELLED, "somebody was faster");
}

/* A write that tells no moment comes after what is kept when it is committed, not after what was
 * kept when the transaction was first tried. */
static void a_run_that_was_rolled_back_settles_nothing(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct candidate candidate = {.document = document_of(arena, "a", 1, "slow", 1)};
    struct candidate *list = &candidate;
    struct outrun outrun = {.is_rolled_back = true};
    struct document_check check = {.reasons = &reasons, .arena = arena};
    struct err err = {0};

    start(state, &place);
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "first", 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(clients_find(place.receiver.clients, "shop", true, &check.client, &err), 0);
    document_check(&check, candidate.document, 0, &candidate.row);
    assert_int_equal(row_pack(place.receiver.dictionaries, check.client->id, candidate.document,
                              arena, &candidate.row, &err),
                     0);
    candidate.checked_epoch = check.epoch->epoch;
    clock_manual_advance(&place.clock, 1);
    outrun.acceptance = (struct acceptance){.client = check.client,
                                            .now_us = clock_wall_us(&place.clock.base),
                                            .list = &list,
                                            .count = 1};
    assert_int_equal(store_write(place.store, accept_or_not, &outrun, &err), ERR_CANCELLED);
    clock_manual_advance(&place.clock, 1);
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "fast", 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    outrun.is_rolled_back = false;
    assert_int_equal(store_write(place.store, accept_or_not, &outrun, &err), 0);
    assert_int_equal(candidate.kind, TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(read_integer(place.store, "SELECT modify_us FROM registry"),
                     clock_wall_us(&place.clock.base) + 1);
    client_unref(check.client);
    registry_place_close(&place);
    arena_free(arena);
}

/* --- ends --- */

static void sweep(struct registry_place *place, struct sweep_counts *counts)
{
    const struct client_view *client;
    bool is_full;
    struct err err = {0};

    *counts = (struct sweep_counts){0};
    if (clients_find(place->receiver.clients, "shop", true, &client, &err) ||
        sweep_client(&place->receiver, client, clock_wall_us(&place->clock.base), counts, &is_full,
                     &err))
        fail_msg("%s", err.text);
    client_unref(client);
}

static void an_end_is_a_write_like_any_other(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *document = document_of(arena, "a", 7, "bicycle", 1);
    int64_t begun_us;
    struct sweep_counts counts;

    start(state, &place);
    begun_us = clock_wall_us(&place.clock.base);
    document->modify_timestamp = moment_message(begun_us, arena);
    document->expire_time = moment_message(begun_us + 5 * SECOND_US, arena);
    expect_kind(put_one(&place, "shop", document, arena), TORG__V1__VERDICT__KIND__ACCEPTED);
    sweep(&place, &counts);
    assert_int_equal(counts.ended, 0);
    clock_manual_advance(&place.clock, 6 * SECOND_US);
    sweep(&place, &counts);
    assert_int_equal(counts.ended, 1);
    assert_int_equal(read_integer(place.store, "SELECT status FROM registry"), ROW_TOMBSTONE);
    assert_int_equal(
        read_integer(place.store, "SELECT modify_us FROM registry_queue WHERE idx = 2"),
        begun_us + 1);
    /* The same again comes late, and does not bring it back; a newer one does. */
    expect_kind(put_one(&place, "shop", document, arena), TORG__V1__VERDICT__KIND__STALE);
    document->modify_timestamp = moment_message(begun_us + 2, arena);
    document->expire_time = NULL;
    expect_kind(put_one(&place, "shop", document, arena), TORG__V1__VERDICT__KIND__ACCEPTED);

    /* A tombstone stays while an element that waits could be its document's. */
    expect_kind(put_one(&place, "shop", deletion_of(arena, "a", 8), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    clock_manual_advance(&place.clock, place.receiver.tombstone_life_us + SECOND_US);
    sweep(&place, &counts);
    assert_int_equal(counts.delayed, 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry"), 1);
    exec(place.store, "DELETE FROM registry_queue");
    clock_manual_advance(&place.clock, (SWEEP_DELAY_S + 1) * (int64_t)SECOND_US);
    sweep(&place, &counts);
    assert_int_equal(counts.forgotten, 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry"), 0);
    registry_place_close(&place);
    arena_free(arena);
}

/* The element of a deletion may wait for longer than deletions are remembered, or the setting may
 * have been another: without its row it would tell the index nothing. */
static void a_tombstone_outlives_its_own_element(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    struct sweep_counts counts;

    start(state, &place);
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, "bicycle", 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    expect_kind(put_one(&place, "shop", deletion_of(arena, "a", 2), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    exec(place.store, "DELETE FROM registry_queue WHERE idx = 1");
    clock_manual_advance(&place.clock, place.receiver.tombstone_life_us + SECOND_US);
    place.receiver.tombstone_life_us *= 2;
    sweep(&place, &counts);
    assert_int_equal(counts.delayed, 1);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry"), 1);
    registry_place_close(&place);
    arena_free(arena);
}

/* --- dictionaries --- */

static void expect_title(struct registry_place *place, const char *pk, const char *title,
                         struct arena *arena)
{
    Torg__V1__StoredDocument stored = TORG__V1__STORED_DOCUMENT__INIT;
    struct err err = {0};

    if (receiver_get(&place->receiver, "shop", pk, arena, &stored, &err))
        fail_msg("%s", err.text);
    assert_string_equal(stored.document->fields[0]->text, title);
}

static void documents_before_and_after_a_dictionary_are_readable(void **state)
{
    enum { BATCH = 500, BATCH_COUNT = 8 };
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[BATCH];
    char title[600] = "";
    char first[600] = "";

    start(state, &place);
    for (int i = 0; i < BATCH_COUNT * BATCH; i++) {
        size_t length = (size_t)snprintf(title, sizeof(title), "bicycle number %d", i);

        while (length < 200 + (size_t)(i % 7) * 10)
            length += (size_t)snprintf(title + length, sizeof(title) - length,
                                       ", nearly new, red, wheels of %zu inches", length % 30);
        if (i == 0)
            memcpy(first, title, sizeof(first));
        documents[i % BATCH] = document_of(arena, arena_printf(arena, "d%d", i), 1, title, i);
        if (i % BATCH == BATCH - 1) {
            Torg__V1__Verdict **verdicts = put(&place, "shop", LANE_MAIN, documents, BATCH, arena);

            for (int j = 0; j < BATCH; j++)
                expect_kind(verdicts[j], TORG__V1__VERDICT__KIND__ACCEPTED);
        }
    }
    dictionaries_settle(place.receiver.dictionaries);
    expect_kind(put_one(&place, "shop", document_of(arena, "last", 1, title, 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_dictionary"), 1);
    assert_true(read_integer(place.store, "SELECT COUNT(*) FROM registry WHERE dictionary = 0") >
                0);
    assert_int_equal(read_integer(place.store, "SELECT dictionary FROM registry WHERE pk = 'last'"),
                     1);
    assert_true(read_integer(place.store, "SELECT CAST(LENGTH(document) AS BIGINT) FROM registry "
                                          "WHERE pk = 'last'") <
                read_integer(place.store, "SELECT CAST(LENGTH(document) AS BIGINT) FROM registry "
                                          "WHERE pk = 'd0'"));
    registry_place_forget(&place);
    expect_title(&place, "last", title, arena);
    expect_title(&place, "d0", first, arena);
    registry_place_close(&place);
    arena_free(arena);
}

/* A dictionary that is damaged: its mark, and nothing behind it that makes sense. */
#define DAMAGED "37a430ec0100000000000000ffffffffffffffff"

static void a_damaged_dictionary_costs_no_document(void **state)
{
    struct registry_place place;
    struct arena *arena = arena_new();
    Torg__V1__StoredDocument stored = TORG__V1__STORED_DOCUMENT__INIT;
    char title[400];
    struct err err = {0};

    start(state, &place);
    memset(title, 'w', sizeof(title) - 1);
    title[sizeof(title) - 1] = 0;
    expect_kind(put_one(&place, "shop", document_of(arena, "a", 1, title, 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    exec(place.store, place.postgres
                          ? "INSERT INTO registry_dictionary (client_id, number, trained) "
                            "SELECT id, 1, '\\x" DAMAGED "' FROM registry_client"
                          : "INSERT INTO registry_dictionary (client_id, number, trained) "
                            "SELECT id, 1, X'" DAMAGED "' FROM registry_client");
    registry_place_forget(&place);
    expect_kind(put_one(&place, "shop", document_of(arena, "b", 1, title, 1), arena),
                TORG__V1__VERDICT__KIND__ACCEPTED);
    if (receiver_get(&place.receiver, "shop", "b", arena, &stored, &err))
        fail_msg("%s", err.text);
    assert_string_equal(stored.document->pk, "b");
    exec(place.store, "UPDATE registry SET dictionary = 1 WHERE pk = 'b'");
    assert_int_equal(receiver_get(&place.receiver, "shop", "b", arena, &stored, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, "dictionary 1"));
    registry_place_close(&place);
    arena_free(arena);
}

static const struct test_case cases[] = {
    CASE(a_refused_document_stops_no_other),
    CASE(a_declaration_that_is_refused_makes_no_client),
    CASE(the_same_again_is_a_duplicate),
    CASE(one_key_many_times_in_a_batch),
    CASE(clients_see_nothing_of_each_other),
    CASE(a_schema_grows_with_what_is_accepted),
    CASE(a_field_joins_later_epochs_at_once),
    CASE(two_receivers_grow_a_schema_at_once),
    CASE(callers_at_the_same_time_are_decided_on_in_order),
    CASE(no_element_appears_behind_a_reader),
    CASE(a_run_that_was_rolled_back_settles_nothing),
    CASE(an_end_is_a_write_like_any_other),
    CASE(a_tombstone_outlives_its_own_element),
    CASE(documents_before_and_after_a_dictionary_are_readable),
    CASE(a_damaged_dictionary_costs_no_document),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "registry-documents"};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

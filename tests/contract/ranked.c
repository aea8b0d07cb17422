/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in the order of a field: an epoch whose stored documents are numbered before they are
 * poured, with writes, faults and new owners in between, beside a naive sort; embedded and on
 * servers. TORG_MODEL_SEED repeats a random run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "codec/message.h"
#include "contract/indexer_fixture.h"
#include "numerator/rank_list.h"
#include "registry/bounds.h"
#include "registry/clients/epoch_desk.h"

enum { SHELVES = 2, STEP_COUNT = 120, TOUCHED_COUNT = 60, DOCUMENT_COUNT = 700 };

static struct index_place place;
static struct epoch_desk desk;
static struct shelf old_shelf, shelves[SHELVES];

static void begin(void **state)
{
    if (!index_place_open(&place, case_on_servers(state), 1))
        skip();
    desk = (struct epoch_desk){.store = place.store,
                               .clients = place.receiver.clients,
                               .dictionaries = place.receiver.dictionaries,
                               .topics = place.topics,
                               .clock = &place.clock.base};
    memset(&old_shelf, 0, sizeof(old_shelf));
    old_shelf.epoch = 1;
}

static void watch(int64_t epoch)
{
    memset(shelves, 0, sizeof(shelves));
    for (uint32_t i = 0; i < SHELVES; i++) {
        shelves[i].epoch = epoch;
        shelves[i].shard = i;
    }
}

static struct rng seeded(void)
{
    const char *text = getenv("TORG_MODEL_SEED");
    uint64_t seed = text && text[0] ? strtoull(text, NULL, 10) : random_u64();

    print_message("# seed %" PRIu64 "\n", seed);
    return rng_seeded(seed);
}

static int try_start(const char *field, bool is_ascending, uint32_t shard_count, struct err *err)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct violations reasons = violations_in(place.arena);

    request.renumber = true;
    request.renumber_by = (char *)field;
    request.renumber_ascending = is_ascending;
    request.shard_count = shard_count;
    return epoch_desk_start(&desk, place.client, "ann", &request, &reasons, &status, err);
}

static void start_by(const char *field, bool is_ascending, uint32_t shard_count)
{
    struct err err = {0};

    if (try_start(field, is_ascending, shard_count, &err))
        fail_msg("%s", err.text);
}

static int try_switch(bool force, struct err *err)
{
    Torg__V1__SwitchEpochRequest request = TORG__V1__SWITCH_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;

    request.force = force;
    return epoch_desk_switch(&desk, place.client, "ann", &request, place.arena, &status, err);
}

static void do_switch(void)
{
    struct err err = {0};

    if (try_switch(false, &err))
        fail_msg("%s", err.text);
}

/* The view of the client is read anew. */
static void refresh(struct indexer *indexer)
{
    clock_manual_advance(&place.clock, 2 * CLIENT_REFRESH_MS * MS_US);
    place_run(indexer);
}

static bool pour(struct indexer *indexer)
{
    bool is_poured;
    struct err err = {0};

    if (indexer_pour(indexer, &is_poured, &err))
        fail_msg("%s", err.text);
    return is_poured;
}

static void run_all(struct indexer *indexer)
{
    do
        refresh(indexer);
    while (pour(indexer));
}

/* --- the naive sort --- */

struct ranked {
    uint64_t rank;
    int64_t hash;
    const struct shelf_document *document;
};

static int compare(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* stock 0: none */
static struct ranked ranked_of(const struct shelf_document *document, bool by_stock,
                               bool is_ascending)
{
    int64_t value = by_stock ? document->stock : document->price;

    return (struct ranked){
        .rank = by_stock && !value ? UINT64_MAX
                : is_ascending     ? (uint64_t)value
                                   : UINT64_MAX / 2 - (uint64_t)value,
        .hash = number_key_hash(bytes_of(document->pk)),
        .document = document,
    };
}

/* All documents have the numbers 0, 1, 2, ... in order. */
static void assert_in_order(const struct shelf *shelf, bool by_stock, bool is_ascending)
{
    static struct ranked list[SHELF_COUNT_MAX];
    size_t count = shelf_count(shelf);

    for (size_t i = 0; i < count; i++) {
        assert_true(shelf->documents[i].is_there); /* dense */
        list[i] = ranked_of(&shelf->documents[i], by_stock, is_ascending);
    }
    qsort(list, count, sizeof(list[0]), compare);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(list[i].document, &shelf->documents[i]);
}

static const char *key(uint64_t number, char pk[32])
{
    snprintf(pk, 32, "doc-%" PRIu64, number);
    return pk;
}

static void put_random(struct rng *rng, size_t count)
{
    char pk[32];

    for (size_t i = 0; i < count; i++)
        place_put(&place, LANE_MAIN, key(i, pk), 1, (int64_t)rng_below(rng, 40));
}

/* --- order --- */

static void numbers_follow_a_field(void **state)
{
    struct rng rng = seeded();
    struct indexer *indexer;
    char pk[32];

    begin(state);
    put_random(&rng, 400);
    for (uint64_t i = 0; i < 30; i++)
        place_put(&place, LANE_MAIN, key(rng_below(&rng, 400), pk), 2 + (int64_t)i, -1);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    for (int64_t epoch = 2; epoch <= 3; epoch++) {
        watch(epoch);
        start_by("price", epoch == 3, 0);
        run_all(indexer);
        shelves_equal_registry(shelves, 1, &place);
        assert_true(shelf_count(&shelves[0]) >= 370);
        assert_in_order(&shelves[0], false, epoch == 3);
        do_switch();
    }
    indexer_free(indexer);
    index_place_close(&place);
}

static void a_side_field_ranks_and_what_has_none_comes_last(void **state)
{
    struct rng rng = seeded();
    struct indexer *indexer;
    char pk[32];

    begin(state);
    put_random(&rng, 300);
    place_declare_stock(&place);
    for (int64_t i = 0; i < 200; i++)
        place_stock(&place, key(rng_below(&rng, 300), pk), 1, i + 1,
                    1 + (int64_t)rng_below(&rng, 50));
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    watch(2);
    start_by("stock", false, SHELVES);
    run_all(indexer);
    shelves_equal_registry(shelves, SHELVES, &place);
    for (uint32_t i = 0; i < SHELVES; i++) {
        assert_true(shelf_count(&shelves[i]) > 50);
        assert_in_order(&shelves[i], true, false);
    }
    do_switch();
    indexer_free(indexer);
    index_place_close(&place);
}

/* --- meanwhile --- */

static const struct shelf_document *found(const char *pk)
{
    const struct shelf_document *document = shelf_find(&shelves[0], pk);

    assert_non_null(document);
    return document;
}

static size_t number_of(const char *pk)
{
    return (size_t)(found(pk) - shelves[0].documents);
}

/* Of the new epoch, by name. */
static void put_named(const char *pk, int64_t price)
{
    Torg__V1__RawDocument *document = MESSAGE_NEW(raw_document, place.arena);
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    document->pk = (char *)pk;
    document->version = 1;
    document->epoch = 2;
    document->fields = arena_array(place.arena, 1, sizeof(document->fields[0]));
    document->fields[0] = MESSAGE_NEW(raw_field, place.arena);
    document->fields[0]->name = (char *)"price";
    document->fields[0]->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    document->fields[0]->integer = price;
    document->n_fields = 1;
    clock_manual_advance(&place.clock, 1);
    if (receiver_put(&place.receiver, place.client, LANE_MAIN, &document, 1, place.arena, &verdicts,
                     &err))
        fail_msg("%s", err.text);
    assert_int_equal(verdicts[0]->kind, TORG__V1__VERDICT__KIND__ACCEPTED);
}

static void assert_no_way_around(void)
{
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct err err = {0};

    assert_int_equal(epoch_desk_status(&desk, place.client, place.arena, &status, &err), 0);
    assert_false(status.is_safe);
    assert_string_equal(status.waits_for[0], "documents of shard 0 are being numbered by price");
    assert_string_equal(status.epochs[1]->numbered_by, "price");
    assert_int_equal(try_switch(true, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "is numbered by price, and shard 0"));
}

static void what_is_written_meanwhile_comes_behind_and_is_not_lost(void **state)
{
    enum { COUNT = 600 };
    struct rng rng = seeded();
    struct indexer *indexer;

    begin(state);
    put_random(&rng, COUNT);
    place_put(&place, LANE_MAIN, "best", 1, 5000);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    watch(2);
    start_by("price", false, 0);
    refresh(indexer);
    for (int i = 0; i < 3; i++) /* 250, 250 and the rest are read */
        assert_true(pour(indexer));
    place_put(&place, LANE_MAIN, "new", 1, 1000);
    put_named("named", 2000);
    place_put(&place, LANE_MAIN, "doc-1", 2, -1);   /* before it has a number */
    place_put(&place, LANE_MAIN, "doc-2", 2, 3000); /* it stays where it was read */
    refresh(indexer);
    shelf_follow(&shelves[0], &place);
    assert_int_equal(shelf_count(&shelves[0]), 0); /* nothing has a number yet */
    assert_no_way_around();
    assert_true(pour(indexer)); /* 500 have theirs */
    assert_in_range(read_integer(place.store, "SELECT COUNT(*) FROM number_slot WHERE space > "
                                              "4294967296"),
                    499, 500); /* doc-1 may have been among them */
    place_put(&place, LANE_MAIN, "newer", 1, 1000);
    place_put(&place, LANE_MAIN, "best", 2, -1); /* it has one */
    place_put(&place, LANE_MAIN, "doc-4", 2, -1);
    place_put(&place, LANE_MAIN, "doc-4", 3, 50); /* it comes back */
    refresh(indexer);
    assert_no_way_around();
    run_all(indexer);
    shelves_equal_registry(&old_shelf, 1, &place);
    shelves_equal_registry(&shelves[0], 1, &place);
    for (size_t i = 0; i < 3; i++) {
        static const char *const fresh[] = {"new", "newer", "named"};

        assert_in_range(number_of(fresh[i]), COUNT, COUNT + 2);
    }
    assert_true(number_of("doc-2") < COUNT);
    /* doc-1 never had one, and that of "best" is kept for it */
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM number_slot WHERE space > "
                                               "4294967296"),
                     COUNT + 3);
    assert_false(shelves[0].documents[0].is_there);
    do_switch();
    indexer_free(indexer);
    index_place_close(&place);
}

/* Numbered, and in the middle of its pour: what was withheld from it before comes with the rest. */
static void no_force_goes_there_before_all_is_poured(void **state)
{
    struct rng rng = seeded();
    struct indexer *indexer;
    char pk[32];
    struct err err = {0};

    begin(state);
    put_random(&rng, DOCUMENT_COUNT);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    watch(2);
    start_by("price", false, 0);
    refresh(indexer);
    assert_true(pour(indexer));
    for (uint64_t i = 0; i < 50; i++) /* anywhere in the shard */
        place_put(&place, LANE_MAIN, key(20000 + i, pk), 1, 1000);
    refresh(indexer);
    while (!read_integer(place.store, "SELECT is_numbered FROM registry_backfill WHERE epoch = 2"))
        assert_true(pour(indexer));
    assert_true(pour(indexer)); /* a first chunk */
    assert_int_equal(
        read_integer(place.store, "SELECT is_done FROM registry_backfill WHERE epoch = 2"), 0);
    assert_int_equal(try_switch(true, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "it cannot be forced"));
    while (!read_integer(place.store, "SELECT is_done FROM registry_backfill WHERE epoch = 2"))
        pour(indexer);
    if (try_switch(true, &err)) /* the rest waits in the queue, and is sent to it there */
        fail_msg("%s", err.text);
    refresh(indexer);
    shelves_equal_registry(&shelves[0], 1, &place);
    indexer_free(indexer);
    index_place_close(&place);
}

static void another_owner_goes_on_in_the_same_order(void **state)
{
    struct rng rng = seeded();
    struct indexer *old, *new;
    bool is_poured;
    struct err err = {0};

    begin(state);
    put_random(&rng, DOCUMENT_COUNT);
    old = place_indexer(&place, 0, 1);
    place_run(old);
    watch(2);
    start_by("price", false, 0);
    refresh(old);
    for (int i = 0; i < 4; i++) /* three are read, one is given */
        pour(old);
    new = place_indexer(&place, 0, 2);
    place_run(new);
    assert_int_equal(indexer_pour(old, &is_poured, &err), ERR_STALE);
    run_all(new);
    shelves_equal_registry(&shelves[0], 1, &place);
    assert_in_order(&shelves[0], false, false);
    do_switch();
    indexer_free(old);
    indexer_free(new);
    index_place_close(&place);
}

static void an_epoch_is_given_up_while_it_is_numbered(void **state)
{
    Torg__V1__AbandonEpochRequest request = TORG__V1__ABANDON_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct rng rng = seeded();
    struct indexer *indexer;
    struct err err = {0};

    begin(state);
    put_random(&rng, DOCUMENT_COUNT);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    for (int64_t epoch = 2; epoch <= 3; epoch++) {
        start_by("price", false, 0);
        refresh(indexer);
        for (int64_t i = 0; i < epoch; i++)
            pour(indexer);
        assert_int_equal(
            epoch_desk_abandon(&desk, place.client, "ann", &request, place.arena, &status, &err),
            0);
        place_put(&place, LANE_MAIN, "doc-1", epoch, 1000);
        run_all(indexer);
        shelves_equal_registry(&old_shelf, 1, &place);
    }
    start_by("price", true, 0);
    watch(4);
    run_all(indexer);
    shelves_equal_registry(&shelves[0], 1, &place);
    assert_in_order(&shelves[0], false, true);
    indexer_free(indexer);
    index_place_close(&place);
}

/* Those that were read have their order, the others come behind. */
static void a_shard_of_too_many_is_numbered_as_far_as_it_goes(void **state)
{
    struct rng rng = seeded();
    struct indexer *indexer;
    size_t last = 0;

    begin(state);
    place.base.rules.rank_count_max = 100;
    put_random(&rng, 400);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    watch(2);
    start_by("price", false, 0);
    run_all(indexer);
    shelves_equal_registry(&shelves[0], 1, &place);
    for (size_t i = 0; i < 400; i++) {
        assert_true(shelves[0].documents[i].is_there);
        if (i < 100 && shelves[0].documents[i].price > shelves[0].documents[last].price)
            fail_msg("number %zu has %" PRId64 ", and %zu %" PRId64, i,
                     shelves[0].documents[i].price, last, shelves[0].documents[last].price);
        last = i;
    }
    indexer_free(indexer);
    index_place_close(&place);
}

/* An indexer of an older version has poured in no order, as it took the shard for a while. What it
 * was not asked to send comes all the same, and the epoch can be switched to. */
static void what_an_older_indexer_has_poured_is_numbered_and_poured_again(void **state)
{
    static const char *const is_done =
        "SELECT is_done * is_numbered FROM registry_backfill WHERE epoch = 2";
    struct rng rng = seeded();
    struct indexer *indexer;
    char pk[32];

    begin(state);
    put_random(&rng, 400);
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    watch(2);
    start_by("price", false, 0);
    refresh(indexer);
    for (uint64_t i = 0; i < 20; i++)
        place_put(&place, LANE_MAIN, key(20000 + i, pk), 1, 1000);
    refresh(indexer); /* not to the epoch that waits for its numbers */
    exec(place.store, "UPDATE registry_backfill SET is_done = 1, poured_count = 400, "
                      "hash = 9223372036854775807 WHERE epoch = 2");
    run_all(indexer);
    assert_int_equal(read_integer(place.store, is_done), 1);
    shelves_equal_registry(&shelves[0], 1, &place);
    assert_int_equal(
        read_integer(place.store, "SELECT poured_count FROM registry_backfill WHERE epoch = 2"),
        420);
    do_switch();
    indexer_free(indexer);
    index_place_close(&place);
}

static void disarm(void)
{
    for (int i = 0; i < STORE_FAULT_POINT_COUNT; i++)
        store_fault_arm(place.store, (enum store_fault_point)i, 0, 0);
}

/* The last document of the first chunk asks the store for its dictionary, which does not answer. */
static void a_chunk_that_fails_is_ranked_once(void **state)
{
    struct rng rng = seeded();
    struct indexer *indexer;
    bool is_poured;
    struct err err = {0};

    begin(state);
    place.base.rules.rank_count_max = 450;
    put_random(&rng, 400);
    exec(place.store, "UPDATE registry SET dictionary = 998 WHERE hash = "
                      "(SELECT hash FROM registry ORDER BY hash LIMIT 1 OFFSET 249)");
    indexer = place_indexer(&place, 0, 1);
    place_run(indexer);
    watch(2);
    start_by("price", false, 0);
    refresh(indexer);
    for (unsigned skip = 0; !strstr(err.text, "document doc-"); skip++) {
        assert_true(skip < 20);
        store_fault_arm(place.store, STORE_FAULT_EXEC, skip, 1);
        assert_true(indexer_pour(indexer, &is_poured, &err) < 0);
        disarm();
        refresh(indexer); /* it claims the shard again */
    }
    run_all(indexer);
    shelf_follow(&shelves[0], &place);
    assert_int_equal(shelf_count(&shelves[0]), 399); /* that one cannot be read */
    assert_in_order(&shelves[0], false, false);
    indexer_free(indexer);
    index_place_close(&place);
}

static void what_is_no_order_is_refused(void **state)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    Torg__V1__EpochStatus status = TORG__V1__EPOCH_STATUS__INIT;
    struct violations reasons;
    struct err err = {0};

    begin(state);
    place_put(&place, LANE_MAIN, "doc-1", 1, 1);
    assert_int_equal(try_start("prize", false, 0, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "renumber_by: the new epoch has no field \"prize\""));
    assert_int_equal(try_start("title", false, 0, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "field \"title\" is text, which has no order of numbers"));
    assert_int_equal(try_start("", true, 0, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "renumber_ascending: name the field"));
    reasons = violations_in(place.arena);
    request.renumber_by = (char *)"price";
    assert_int_equal(
        epoch_desk_start(&desk, place.client, "ann", &request, &reasons, &status, &err),
        ERR_INVALID);
    assert_non_null(strstr(err.text, "when renumber is set"));
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_epoch"), 1);
    index_place_close(&place);
}

/* --- faults --- */

struct chaos {
    struct rng rng;
    struct indexer *indexer;
    uint64_t ticket;
    int failure_count;
    int64_t versions[TOUCHED_COUNT];
};

static void arm(struct chaos *chaos)
{
    static const enum store_fault_point points[] = {STORE_FAULT_EXEC, STORE_FAULT_CONFLICT,
                                                    STORE_FAULT_COMMIT, STORE_FAULT_ACK};

    store_fault_arm(place.store, points[rng_below(&chaos->rng, ARRAY_COUNT(points))],
                    (unsigned)rng_below(&chaos->rng, 20), 1);
}

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
    if (rng_below(&chaos->rng, rc ? 3 : 15) == 0) {
        indexer_free(chaos->indexer);
        chaos->indexer = place_indexer(&place, 0, ++chaos->ticket);
    }
}

/* The first TOUCHED_COUNT keys, and a few new ones. */
static void write_some(struct chaos *chaos)
{
    for (uint64_t i = rng_below(&chaos->rng, 3); i > 0; i--) {
        uint64_t which = rng_below(&chaos->rng, TOUCHED_COUNT);
        bool is_new = which % 10 == 0;
        char pk[32];

        place_put(&place, LANE_MAIN, key(is_new ? 10000 + which : which, pk),
                  ++chaos->versions[which],
                  rng_below(&chaos->rng, 4) ? (int64_t)rng_below(&chaos->rng, 40) : -1);
    }
}

/* Those that nobody has written since are in the order of their ranks among each other. */
static void assert_untouched_in_order(const struct shelf *shelf)
{
    struct ranked last = {0};
    size_t count = 0;

    for (size_t i = 0; i < SHELF_COUNT_MAX; i++) {
        const struct shelf_document *document = &shelf->documents[i];
        struct ranked next;
        uint64_t number;

        if (!document->is_there || sscanf(document->pk, "doc-%" SCNu64, &number) != 1 ||
            number < TOUCHED_COUNT || number >= 10000)
            continue;
        next = ranked_of(document, false, false);
        assert_true(!count || compare(&last, &next) < 0);
        assert_true(i < DOCUMENT_COUNT + TOUCHED_COUNT);
        last = next;
        count++;
    }
    assert_int_equal(count, DOCUMENT_COUNT - TOUCHED_COUNT);
}

static void faults_writes_and_owners_keep_the_order(void **state)
{
    struct chaos chaos = {.rng = seeded(), .ticket = 1};
    int steps;

    begin(state);
    put_random(&chaos.rng, DOCUMENT_COUNT);
    for (int i = 0; i < TOUCHED_COUNT; i++)
        chaos.versions[i] = 1;
    chaos.indexer = place_indexer(&place, 0, chaos.ticket);
    place_run(chaos.indexer);
    watch(2);
    start_by("price", false, 0);
    steps = place.on_servers ? STEP_COUNT / 5 : STEP_COUNT;
    for (int i = 0; i < steps; i++) {
        write_some(&chaos);
        step(&chaos);
    }
    run_all(chaos.indexer);
    print_message("# %d failures\n", chaos.failure_count);
    shelves_equal_registry(&old_shelf, 1, &place);
    shelves_equal_registry(&shelves[0], 1, &place);
    assert_untouched_in_order(&shelves[0]);
    do_switch();
    indexer_free(chaos.indexer);
    index_place_close(&place);
}

static const struct test_case cases[] = {
    CASE(numbers_follow_a_field),
    CASE(a_side_field_ranks_and_what_has_none_comes_last),
    CASE(what_is_written_meanwhile_comes_behind_and_is_not_lost),
    CASE(no_force_goes_there_before_all_is_poured),
    CASE(another_owner_goes_on_in_the_same_order),
    CASE(an_epoch_is_given_up_while_it_is_numbered),
    CASE(a_shard_of_too_many_is_numbered_as_far_as_it_goes),
    CASE(what_an_older_indexer_has_poured_is_numbered_and_poured_again),
    CASE(a_chunk_that_fails_is_ranked_once),
    CASE(what_is_no_order_is_refused),
    CASE(faults_writes_and_owners_keep_the_order),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "ranked"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

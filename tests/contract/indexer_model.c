/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random writes, owners, faults and times: whatever happens, a searcher that honours tickets ends
 * up with what the registry has. TORG_MODEL_COUNT sequences (400 embedded, 8 on servers).
 *
 * Owners that were replaced go on as if they did not know, for as long as they are kept. Numbers of
 * deleted documents are taken off them soon, so that others get them. Searchers lose what they
 * have, and their topics the beginning; documents are poured again all the time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "contract/indexer_fixture.h"
#include "long.h"
#include "registry/bounds.h"

enum { KEY_COUNT = 12, SHARD_COUNT = 2, OWNER_COUNT = 3, STEP_COUNT = 150, PLACE_COUNT = 200 };

static struct index_place place;
static struct shelf shelves[SHARD_COUNT];
static struct shelf reference;
static struct shelf late[SHARD_COUNT]; /* they lose everything now and then, and their topics too */

/* The newest owner of a shard is the last; those before it were replaced. */
struct owners {
    struct indexer *list[OWNER_COUNT];
    size_t count;
};

struct model {
    struct rng rng;
    int64_t versions[KEY_COUNT];
    int64_t sequence; /* of side fields */
    struct owners owners[SHARD_COUNT];
    uint64_t ticket;
};

static void put_some(struct model *model)
{
    static const enum lane lanes[] = {LANE_MAIN, LANE_MAIN, LANE_MAIN, LANE_BACKFILL,
                                      LANE_EMERGENCY};
    size_t key = rng_below(&model->rng, KEY_COUNT);
    char pk[16];

    snprintf(pk, sizeof(pk), "k%zu", key);
    place_put(&place, lanes[rng_below(&model->rng, ARRAY_COUNT(lanes))], pk, ++model->versions[key],
              rng_below(&model->rng, 3) ? (int64_t)key : -1);
}

/* Newer and older orders, of documents that are there and that are not. */
static void change_stock(struct model *model)
{
    int64_t sequence = rng_below(&model->rng, 4) ? ++model->sequence : model->sequence / 2;
    char pk[16];

    snprintf(pk, sizeof(pk), "k%zu", (size_t)rng_below(&model->rng, KEY_COUNT));
    place_stock(&place, pk, 1, sequence, rng_below(&model->rng, 5) ? sequence + 1 : -1);
}

static void add_owner(struct model *model, uint32_t shard)
{
    struct owners *owners = &model->owners[shard];

    if (owners->count == OWNER_COUNT) { /* the oldest dies */
        indexer_free(owners->list[0]);
        memmove(&owners->list[0], &owners->list[1], (OWNER_COUNT - 1) * sizeof(owners->list[0]));
        owners->count--;
    }
    owners->list[owners->count++] = place_indexer(&place, shard, ++model->ticket);
}

static void arm_fault(struct model *model)
{
    struct topic_faults *topic = topics_faults(place.topics);

    switch (rng_below(&model->rng, 8)) {
    case 0:
        store_fault_arm(place.store, STORE_FAULT_EXEC, (unsigned)rng_below(&model->rng, 30), 1);
        break;
    case 1:
        store_fault_arm(place.store, STORE_FAULT_COMMIT, (unsigned)rng_below(&model->rng, 4), 1);
        break;
    case 2:
        store_fault_arm(place.store, STORE_FAULT_ACK, (unsigned)rng_below(&model->rng, 4), 1);
        break;
    case 3:
        atomic_store(&topic->fail_produce, 1);
        break;
    case 4:
        atomic_store(&topic->lose_ack, 1);
        break;
    case 5:
        atomic_store(&topic->duplicate_produce, 1);
        break;
    default: /* none */
        break;
    }
}

static void disarm(void)
{
    struct topic_faults *topic = topics_faults(place.topics);

    store_fault_arm(place.store, STORE_FAULT_EXEC, 0, 0);
    store_fault_arm(place.store, STORE_FAULT_COMMIT, 0, 0);
    store_fault_arm(place.store, STORE_FAULT_ACK, 0, 0);
    atomic_store(&topic->fail_produce, 0);
    atomic_store(&topic->lose_ack, 0);
    atomic_store(&topic->duplicate_produce, 0);
}

/* Any owner, the replaced ones too; what fails has failed. */
static void work(struct model *model)
{
    struct owners *owners = &model->owners[rng_below(&model->rng, SHARD_COUNT)];
    struct indexer *indexer;
    struct indexer_round round;
    struct err err = {0};
    bool is_poured;

    if (!owners->count)
        return;
    indexer = owners->list[rng_below(&model->rng, owners->count)];
    arm_fault(model);
    switch (rng_below(&model->rng, 10)) {
    case 6:
    case 7:
    case 8:
        clock_manual_advance(&place.clock, (int64_t)TEND_BUSY_MS * MS_US);
        (void)indexer_tend(indexer, &err);
        (void)indexer_pour(indexer, &is_poured, &err);
        break;
    case 0:
        (void)indexer_settle(indexer, &err);
        break;
    case 1:
        (void)indexer_sweep(indexer, &err);
        break;
    default:
        (void)indexer_round(indexer, &round, &err);
        break;
    }
    disarm();
}

/* Something newer was written, and waits: a pour leaves the document to that one's own element. */
static bool is_outdated(const struct shelf_document *document)
{
    char sql[128 + sizeof(document->pk)];

    snprintf(sql, sizeof(sql),
             "SELECT version FROM registry WHERE client_id = %" PRId64 " AND pk = '%s'",
             place_client_id(&place), document->pk);
    return read_integer(place.store, sql) > document->version;
}

/* One that has become whole has what one has that has read everything up to there, but for what is
 * outdated. */
static void follow_late(struct shelf *shelf)
{
    bool had_gap = shelf->has_gap;

    shelf_follow_until(shelf, &place, UINT64_MAX);
    if (!had_gap || shelf->has_gap)
        return;
    memset(&reference, 0, sizeof(reference));
    reference.shard = shelf->shard;
    shelf_follow_until(&reference, &place, shelf->next);
    assert_int_equal(reference.next, shelf->next);
    for (size_t i = 0; i < SHELF_COUNT_MAX; i++) {
        const struct shelf_document *has = &shelf->documents[i], *want = &reference.documents[i];

        if (!has->is_there && want->is_there && is_outdated(want))
            continue;
        assert_int_equal(has->is_there, want->is_there);
        if (want->is_there) {
            assert_string_equal(has->pk, want->pk);
            assert_int_equal(has->version, want->version);
            assert_int_equal(has->stock, want->stock);
        }
    }
}

/* It is poured until each that has lost something is whole again, by the last owners alone. */
static void fill_again(struct model *model)
{
    bool is_whole = false;

    for (int i = 0; !is_whole; i++) {
        assert_true(i < 100);
        is_whole = true;
        for (uint32_t shard = 0; shard < SHARD_COUNT; shard++) {
            struct owners *owners = &model->owners[shard];

            place_tend(&place, owners->list[owners->count - 1], shard);
            follow_late(&late[shard]);
            is_whole = is_whole && !late[shard].has_gap;
        }
        for (int k = 0; k < KEY_COUNT && !is_whole; k++)
            put_some(model);
    }
}

static void lose(struct model *model)
{
    struct shelf *shelf = &late[rng_below(&model->rng, SHARD_COUNT)];

    follow_late(shelf);
    shelf_lose(shelf, rng_below(&model->rng, shelf->next + 1));
}

static void step(struct model *model)
{
    switch (rng_below(&model->rng, 17)) {
    case 14:
    case 15:
    case 16:
        change_stock(model);
        break;
    case 12:
        lose(model);
        break;
    case 13:
        follow_late(&late[rng_below(&model->rng, SHARD_COUNT)]);
        break;
    case 0:
        add_owner(model, (uint32_t)rng_below(&model->rng, SHARD_COUNT));
        break;
    case 1:
        clock_manual_advance(&place.clock, (int64_t)rng_below(&model->rng, 3) * SECOND_US);
        break;
    case 2:
        shelf_follow(&shelves[rng_below(&model->rng, SHARD_COUNT)], &place);
        break;
    case 3:
    case 4:
    case 5:
        put_some(model);
        break;
    default:
        work(model);
        break;
    }
}

/* Each document that is there has a number that is its own, and no other key has one that is. */
static void numbers_are_of_the_living(void)
{
    int64_t client_id = place_client_id(&place);
    char sql[128];
    int64_t alive;

    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM registry WHERE client_id = %" PRId64 " AND status = 1",
             client_id);
    alive = read_integer(place.store, sql);
    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM number_slot WHERE space = %" PRId64 " AND key IS NOT NULL "
             "AND gone_us = 0",
             client_id);
    assert_int_equal(read_integer(place.store, sql), alive);
}

static void run_sequence(uint64_t seed)
{
    struct model model = {.rng = rng_seeded(seed)};

    snprintf(place.client, sizeof(place.client), "s%016" PRIx64, random_u64());
    memset(shelves, 0, sizeof(shelves));
    memset(late, 0, sizeof(late));
    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        shelves[i].shard = late[i].shard = i;
    place.base.rules.trim_delay_us = INT64_MAX / 2; /* what is lost is for the model to say */
    place.base.rules.slack_count = 10;              /* no less: marks and schema are records too */
    put_some(&model);
    place_declare_stock(&place);
    for (int i = 0; i < STEP_COUNT; i++)
        step(&model);
    for (uint32_t shard = 0; shard < SHARD_COUNT; shard++) {
        struct owners *owners = &model.owners[shard];

        add_owner(&model, shard);
        place_run(owners->list[owners->count - 1]);
    }
    fill_again(&model);
    for (uint32_t shard = 0; shard < SHARD_COUNT; shard++)
        for (size_t i = 0; i < model.owners[shard].count; i++)
            indexer_free(model.owners[shard].list[i]);
    shelves_equal_registry(shelves, SHARD_COUNT, &place);
    shelves_equal_registry(late, SHARD_COUNT, &place);
    numbers_are_of_the_living();
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 0);
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
}

static void a_searcher_ends_with_what_the_registry_has(void **state)
{
    bool on_servers = case_on_servers(state);
    const char *seed_text = getenv("TORG_SEED");
    uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : random_u64();
    long count = (long)(on_servers ? test_count("TORG_MODEL_COUNT", 8, 80)
                                   : test_count("TORG_MODEL_COUNT", 200, 4000));

    for (long i = 0; i < count; i++) {
        if (i % PLACE_COUNT == 0 && !index_place_open(&place, on_servers, SHARD_COUNT))
            skip();
        place.base.rules.numbers = (struct number_rules){.ttl_us = SECOND_US};
        print_message("# seed %" PRIu64 "\n", seed + (uint64_t)i);
        run_sequence(seed + (uint64_t)i);
        if ((i + 1) % PLACE_COUNT == 0 || i + 1 == count)
            index_place_close(&place);
    }
}

static const struct test_case cases[] = {
    CASE(a_searcher_ends_with_what_the_registry_has),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "indexer-model"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

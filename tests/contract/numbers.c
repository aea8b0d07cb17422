/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.c - live numbers on every store: random transactions, some of which fail, beside a naive
 * model, and cases of their own.
 *
 * The model is an array of slots and loops over it. TORG_MODEL_SEED and TORG_NUMBER_STEPS
 * (PostgreSQL: a fifth of it) repeat and deepen a run.
 */
#include "contract/store_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/random.h"
#include "numerator/numerator.h"
#include "numerator/slots.h"
#include "numerator/state.h"
#include "store/fence.h"
#include "store/migrate.h"
#include "store/store_fault.h"

enum {
    STEP_COUNT = 300,
    ROUND_COUNT = 5,
    KEY_COUNT = 80,
    CLASS_COUNT = 4,
    BATCH_MAX = 70, /* more than a statement's list has */
    OP_MAX = 3,
    SPACE = 7,
    SHARD = 2,
    SCHEME = 3,
    SLOT_COUNT_MAX = CLASS_COUNT * NUMBER_EXTENT_SIZE,
};

static const struct numbering numbering = {.space = SPACE, .kind = SPACE, .scheme = SCHEME};
static const char *const classes[CLASS_COUNT] = {"", "cars", "flats", "велосипеды"};

enum op_kind { OP_GIVE, OP_LEAVE, OP_SWEEP };

struct op {
    enum op_kind kind;
    int keys[BATCH_MAX];
    int classes[BATCH_MAX];
    uint32_t count; /* of a sweep: its max */
    struct number_ask asks[BATCH_MAX];
    uint32_t swept;
    struct numbers *numbers; /* of a look */
};

/* A transaction: what it is to do, and what came of it. */
struct work {
    struct numbers *numbers;
    struct op ops[OP_MAX];
    int op_count;
    int64_t now_us;
    int64_t ticket; /* 0: none is checked */
    bool fails;     /* at its end */
};

enum slot_state { NEVER, OWNED, GONE, FREED };

struct m_slot {
    enum slot_state state;
    int key;
    uint32_t birth;
    uint32_t seen;
    int64_t since_us;
};

struct model {
    struct number_rules rules;
    struct m_slot slots[SLOT_COUNT_MAX];
    int extents[SLOT_COUNT_MAX / NUMBER_EXTENT_SIZE]; /* their classes */
    uint32_t extent_count;
    uint32_t generation;
    uint32_t before; /* the transaction */
    int reused_count;
};

static char key_text[KEY_COUNT][24];

static struct bytes key_of(int key)
{
    return bytes_of(key_text[key]);
}

static int run_op(struct work *work, struct op *op, struct store_tx *tx, struct err *err)
{
    struct bytes keys[BATCH_MAX];

    for (uint32_t i = 0; op->kind != OP_SWEEP && i < op->count; i++) {
        keys[i] = key_of(op->keys[i]);
        op->asks[i] =
            (struct number_ask){.key = keys[i], .place = bytes_of(classes[op->classes[i]])};
    }
    switch (op->kind) {
    case OP_GIVE:
        return numbers_give(work->numbers, tx, op->asks, op->count, work->now_us, err);
    case OP_LEAVE:
        return numbers_leave(work->numbers, tx, keys, op->count, work->now_us, err);
    case OP_SWEEP:
        return numbers_sweep(work->numbers, tx, work->now_us, op->count, &op->swept, err);
    }
    return ERR_INTERNAL;
}

static int run_work(struct store_tx *tx, void *arg, struct err *err)
{
    struct work *work = arg;
    int rc = 0;

    if (work->ticket > 0)
        rc = store_check_fence(tx, "numbers-test", work->ticket, err);
    for (int i = 0; rc == 0 && i < work->op_count; i++)
        rc = run_op(work, &work->ops[i], tx, err);
    if (rc == 0 && work->fails)
        rc = err_set(err, ERR_INTERNAL, "as it was told");
    return rc;
}

/* --- the model --- */

static int find_slot(const struct model *model, int key)
{
    for (uint32_t i = 0; i < model->extent_count * NUMBER_EXTENT_SIZE; i++)
        if ((model->slots[i].state == OWNED || model->slots[i].state == GONE) &&
            model->slots[i].key == key)
            return (int)i;
    return -1;
}

/* What the transaction itself has made is not looked at: a slot freed by it (`staged`) is given to
 * nobody, and generations are counted from the one before it. */
static int pick(struct model *model, int class, int64_t now_us, const bool *staged)
{
    int never = -1;

    for (uint32_t i = 0; i < model->extent_count * NUMBER_EXTENT_SIZE; i++) {
        const struct m_slot *slot = &model->slots[i];

        if (model->extents[i / NUMBER_EXTENT_SIZE] != class)
            continue;
        if (slot->state == FREED && !staged[i] &&
            model->before >= slot->seen + model->rules.hold_generations &&
            now_us >= slot->since_us + model->rules.hold_us)
            return (int)i;
        if (slot->state == NEVER && never < 0)
            never = (int)i;
    }
    if (never >= 0)
        return never;
    model->extents[model->extent_count++] = class;
    return (int)(model->extent_count - 1) * NUMBER_EXTENT_SIZE;
}

static void model_give(struct model *model, const struct op *op, int64_t now_us, const bool *staged)
{
    uint32_t generation = model->generation + 1;
    bool is_grown = false, is_new[KEY_COUNT] = {false};

    for (uint32_t i = 0; i < op->count; i++) {
        int at = find_slot(model, op->keys[i]);

        if (at < 0) {
            at = pick(model, op->classes[i], now_us, staged);
            model->reused_count += model->slots[at].state == FREED;
            model->slots[at] = (struct m_slot){OWNED, op->keys[i], generation, generation, 0};
            is_grown = is_new[op->keys[i]] = true;
        }
        model->slots[at].state = OWNED;
        assert_int_equal(op->asks[i].doc_id, at);
        assert_int_equal(op->asks[i].birth, model->slots[at].birth);
        assert_int_equal(op->asks[i].is_new, is_new[op->keys[i]]);
    }
    if (is_grown)
        model->generation = generation;
}

static void model_leave(struct model *model, const struct op *op, int64_t now_us)
{
    for (uint32_t i = 0; i < op->count; i++) {
        int at = find_slot(model, op->keys[i]);

        if (at < 0 || model->slots[at].state == GONE)
            continue;
        model->slots[at].state = GONE;
        model->slots[at].seen = model->generation;
        model->slots[at].since_us = now_us;
    }
}

static void model_sweep(struct model *model, const struct op *op, int64_t now_us, bool *staged)
{
    uint32_t looked_at = 0, freed = 0;
    bool seen[SLOT_COUNT_MAX] = {false};

    for (; looked_at < op->count; looked_at++) {
        struct m_slot *oldest = NULL;

        for (uint32_t i = 0; i < model->extent_count * NUMBER_EXTENT_SIZE; i++)
            if (model->slots[i].state == GONE && !seen[i] &&
                (!oldest || model->slots[i].since_us < oldest->since_us))
                oldest = &model->slots[i];
        if (!oldest || oldest->since_us > now_us - model->rules.ttl_us)
            break;
        seen[oldest - model->slots] = true;
        if (model->generation - oldest->seen < model->rules.ttl_generations)
            continue;
        oldest->state = FREED;
        oldest->seen = model->generation;
        oldest->since_us = now_us;
        staged[oldest - model->slots] = true;
        freed++;
    }
    assert_int_equal(op->swept, freed);
}

static void model_apply(struct model *model, const struct work *work)
{
    bool staged[SLOT_COUNT_MAX] = {false};

    model->before = model->generation;
    for (int i = 0; i < work->op_count; i++) {
        const struct op *op = &work->ops[i];

        if (op->kind == OP_GIVE)
            model_give(model, op, work->now_us, staged);
        else if (op->kind == OP_LEAVE)
            model_leave(model, op, work->now_us);
        else
            model_sweep(model, op, work->now_us, staged);
    }
}

/* --- random transactions --- */

struct run {
    struct fixture *fixture;
    struct rng rng;
    struct model *model;
    struct work work;
    int failed_count, lost_count;
    int known_count, partly_count; /* looks with all keys in memory, and with some */
};

static void open_numbers(struct run *run)
{
    struct err err = {0};

    if (numbers_open(run->fixture->store, &numbering, SHARD, &run->model->rules, &run->work.numbers,
                     &err))
        fail_msg("%s", err.text);
}

static void draw_work(struct run *run)
{
    struct work *work = &run->work;

    work->op_count = 1 + (int)rng_below(&run->rng, OP_MAX);
    for (int i = 0; i < work->op_count; i++) {
        struct op *op = &work->ops[i];
        uint64_t kind = rng_below(&run->rng, 8);

        op->kind = kind < 3 ? OP_GIVE : kind < 6 ? OP_LEAVE : OP_SWEEP;
        op->count = (uint32_t)rng_below(&run->rng, rng_below(&run->rng, 8) ? 10 : BATCH_MAX) + 1;
        for (uint32_t j = 0; j < op->count; j++) {
            op->keys[j] = (int)rng_below(&run->rng, KEY_COUNT);
            op->classes[j] = (int)rng_below(&run->rng, CLASS_COUNT);
        }
    }
    work->now_us += (int64_t)rng_below(&run->rng, 2000);
    work->fails = rng_below(&run->rng, 10) == 0;
}

static void arm(struct run *run)
{
    static const enum store_fault_point points[] = {STORE_FAULT_EXEC, STORE_FAULT_CONFLICT,
                                                    STORE_FAULT_COMMIT, STORE_FAULT_ACK};
    enum store_fault_point point = points[rng_below(&run->rng, ARRAY_COUNT(points))];

    for (size_t i = 0; i < ARRAY_COUNT(points); i++)
        store_fault_arm(run->fixture->store, points[i], 0, 0);
    if (rng_below(&run->rng, 6) == 0)
        store_fault_arm(run->fixture->store, point,
                        point == STORE_FAULT_EXEC ? (unsigned)rng_below(&run->rng, 8) : 0, 1);
}

static void disarm(struct run *run)
{
    for (int i = 0; i < STORE_FAULT_POINT_COUNT; i++)
        store_fault_arm(run->fixture->store, (enum store_fault_point)i, 0, 0);
}

/* Of a transaction whose answer failed: was it committed? */
static int64_t change_no(struct run *run)
{
    return read_integer(run->fixture->store,
                        "SELECT CAST(coalesce(max(change_no), 0) AS BIGINT) FROM number_space "
                        "WHERE space = 7");
}

static int64_t state_sum(struct run *run)
{
    return read_integer(run->fixture->store,
                        "SELECT CAST(coalesce(sum((doc_id + 1) * (gone_us % 1000003 + 1)), 0) AS "
                        "BIGINT) FROM number_slot WHERE space = 7");
}

static void step(struct run *run)
{
    int64_t change_before = change_no(run), sum_before = state_sum(run);
    struct err err = {0};
    int rc;

    draw_work(run);
    arm(run);
    rc = store_write(run->fixture->store, run_work, &run->work, &err);
    disarm(run);
    numbers_settle(run->work.numbers, rc == 0);
    if (rc == 0) {
        model_apply(run->model, &run->work);
    } else if (change_no(run) != change_before || state_sum(run) != sum_before) {
        model_apply(run->model, &run->work); /* committed, and the answer was lost */
        run->lost_count++;
        if (change_no(run) != change_before) {
            run->work.ops[0] = (struct op){.kind = OP_GIVE, .count = 1};
            run->work.op_count = 1;
            assert_int_equal(store_write(run->fixture->store, run_work, &run->work, &err),
                             ERR_PRECONDITION);
        }
        if (numbers_reload(run->work.numbers, &err))
            fail_msg("%s", err.text);
    } else {
        run->failed_count++;
    }
    if (rng_below(&run->rng, 30) == 0) {
        numbers_close(run->work.numbers);
        open_numbers(run);
    }
}

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct op *op = arg;

    return numbers_find_known(op->numbers, tx, op->asks, op->count, err);
}

/* Some keys, some of which are known in memory by then: as the model has them. */
static void compare_looked_up(struct run *run)
{
    struct op op = {
        .numbers = run->work.numbers,
        .count = 1 + (uint32_t)rng_below(&run->rng, rng_below(&run->rng, 4) ? 6 : BATCH_MAX)};
    struct err err = {0};

    for (uint32_t i = 0; i < op.count; i++) {
        op.keys[i] = (int)rng_below(&run->rng, KEY_COUNT);
        op.asks[i] = (struct number_ask){.key = key_of(op.keys[i])};
    }
    if (store_read(run->fixture->store, look, &op, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < op.count; i++) {
        int at = find_slot(run->model, op.keys[i]);

        assert_int_equal(op.asks[i].doc_id, at < 0 ? NUMBER_NONE : (uint32_t)at);
        if (at < 0)
            continue;
        assert_int_equal(op.asks[i].birth, run->model->slots[at].birth);
        assert_int_equal(op.asks[i].is_gone, run->model->slots[at].state == GONE);
    }
    run->known_count += numbers_known(run->work.numbers).is_all;
    run->partly_count +=
        numbers_known(run->work.numbers).key_count > 0 && !numbers_known(run->work.numbers).is_all;
}

/* What is stored is what the model has: every slot, and no other. */
static void compare_slot(const struct model *model, const struct store_value *columns)
{
    const struct m_slot *slot = &model->slots[columns[0].integer];

    assert_true(slot->state == OWNED || slot->state == GONE);
    assert_true(bytes_equal(columns[1].bytes, key_of(slot->key)));
    assert_int_equal(columns[2].integer, slot->birth);
    assert_int_equal(columns[3].integer > 0, slot->state == GONE);
    assert_true(bytes_equal_text(columns[4].bytes,
                                 classes[model->extents[columns[0].integer / NUMBER_EXTENT_SIZE]]));
}

static int compare_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT doc_id, key, birth_generation, gone_us, class FROM number_slot "
                     "WHERE space = 7 AND shard = 2",
                     NULL, 0);

    while (store_next(&rows))
        compare_slot(arg, rows.columns);
    return store_rows_end(&rows, err);
}

static void compare(struct run *run)
{
    int64_t count = 0, free_count = 0;
    struct err err = {0};

    for (uint32_t i = 0; i < SLOT_COUNT_MAX; i++) {
        count += run->model->slots[i].state == OWNED || run->model->slots[i].state == GONE;
        free_count += run->model->slots[i].state == FREED;
    }
    assert_int_equal(read_integer(run->fixture->store, "SELECT count(*) FROM number_slot"), count);
    assert_int_equal(read_integer(run->fixture->store, "SELECT count(*) FROM number_free"),
                     free_count);
    assert_int_equal(store_read(run->fixture->store, compare_fn, run->model, &err), 0);
    assert_int_equal(numbers_version(run->work.numbers).generation, run->model->generation);
}

/* The same as a state: all keys, and what is free by what it gives next. */
static void compare_export(struct run *run)
{
    struct number_state *state;
    uint64_t count = 0;
    struct err err = {0};

    if (number_state_export(run->fixture->store, SPACE, SHARD, SCHEME, &run->model->rules, &state,
                            &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < SLOT_COUNT_MAX; i++) {
        const struct m_slot *slot = &run->model->slots[i];
        struct number_entry entry;

        if (slot->state != OWNED && slot->state != GONE)
            continue;
        count++;
        assert_true(number_state_find(state, key_of(slot->key), &entry));
        assert_int_equal(entry.shard, SHARD);
        assert_int_equal(entry.doc_id, i);
        assert_int_equal(entry.birth, slot->birth);
        assert_int_equal(entry.seen, slot->state == GONE ? slot->seen : run->model->generation);
    }
    assert_int_equal(number_state_key_count(state), count);
    assert_int_equal(number_state_version(state).generation, run->model->generation);
    number_state_free(state);
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && text[0] ? strtoull(text, NULL, 10) : otherwise;
}

static struct fixture *start_migrated(void **state)
{
    struct fixture *fixture = start(state);
    struct err err = {0};

    if (store_migrate(fixture->store, NULL, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < KEY_COUNT; i++)
        snprintf(key_text[i], sizeof(key_text[i]), "key-%d", i);
    return fixture;
}

/* A space with rules of its own, so that many kinds of rules are met. */
static void run_round(struct run *run, uint64_t count)
{
    run->model = mem_zero(sizeof(*run->model));
    run->work.now_us = 1000000;
    run->model->rules = (struct number_rules){
        .ttl_generations = (uint32_t)rng_below(&run->rng, 6),
        .ttl_us = (int64_t)rng_below(&run->rng, 20000),
        .hold_generations = (uint32_t)rng_below(&run->rng, 6),
        .hold_us = (int64_t)rng_below(&run->rng, 20000),
    };
    open_numbers(run);
    for (uint64_t i = 0; i < count; i++) {
        step(run);
        if (rng_below(&run->rng, 4) == 0)
            compare_looked_up(run);
        if (i % 50 == 0)
            compare(run);
    }
    compare(run);
    compare_export(run);
    print_message("# %d numbers reused, %d transactions rolled back, %d committed without an "
                  "answer; %d looks knew all keys, %d some\n",
                  run->model->reused_count, run->failed_count, run->lost_count, run->known_count,
                  run->partly_count);
    numbers_close(run->work.numbers);
    free(run->model);
    exec(run->fixture->store, "DELETE FROM number_slot");
    exec(run->fixture->store, "DELETE FROM number_free");
    exec(run->fixture->store, "DELETE FROM number_extent");
    exec(run->fixture->store, "DELETE FROM number_space");
}

static void random_transactions_agree_with_a_naive_model(void **state)
{
    struct fixture *fixture = start_migrated(state);
    struct run *run = mem_zero(sizeof(*run));
    uint64_t seed = env_number("TORG_MODEL_SEED", random_u64());
    uint64_t count = env_number("TORG_NUMBER_STEPS", STEP_COUNT);

    count = fixture->backend->postgres ? (count + 4) / 5 : count;
    print_message("seed %" PRIu64 ", %" PRIu64 " transactions a round\n", seed, count);
    run->fixture = fixture;
    run->rng = rng_seeded(seed);
    for (int i = 0; i < ROUND_COUNT; i++)
        run_round(run, count);
    free(run);
}

/* --- cases --- */

static struct numbers *opened(struct fixture *fixture, const struct number_rules *rules)
{
    struct numbers *numbers;
    struct err err = {0};

    if (numbers_open(fixture->store, &numbering, SHARD, rules, &numbers, &err))
        fail_msg("%s", err.text);
    return numbers;
}

/* One transaction with one operation on consecutive keys; fails the test when it fails. */
static struct op *run_one(struct fixture *fixture, struct work *work, enum op_kind kind, int first,
                          uint32_t count)
{
    struct err err = {0};
    int rc;

    work->op_count = 1;
    work->ops[0] = (struct op){.kind = kind, .count = count};
    for (uint32_t i = 0; kind != OP_SWEEP && i < count; i++)
        work->ops[0].keys[i] = first + (int)i;
    rc = store_write(fixture->store, run_work, work, &err);
    numbers_settle(work->numbers, rc == 0);
    if (rc)
        fail_msg("%s", err.text);
    return &work->ops[0];
}

static void a_number_is_given_again_only_after_ttl_and_hold(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {
        .ttl_generations = 2, .ttl_us = 100, .hold_generations = 1, .hold_us = 50};
    struct work *work = mem_zero(sizeof(*work));

    work->numbers = opened(fixture, &rules);
    work->now_us = 1000;
    run_one(fixture, work, OP_GIVE, 0, 3); /* G 1: numbers 0 to 2 */
    run_one(fixture, work, OP_LEAVE, 1, 1);
    work->now_us = 2000;
    assert_int_equal(run_one(fixture, work, OP_SWEEP, 0, 10)->swept, 0);
    assert_int_equal(run_one(fixture, work, OP_GIVE, 10, 1)->asks[0].doc_id, 3); /* G 2 */
    assert_int_equal(run_one(fixture, work, OP_SWEEP, 0, 10)->swept, 0);
    assert_int_equal(run_one(fixture, work, OP_GIVE, 11, 1)->asks[0].doc_id, 4); /* G 3 */
    work->now_us = 1099;
    assert_int_equal(run_one(fixture, work, OP_SWEEP, 0, 10)->swept, 0);
    work->now_us = 1100;
    assert_int_equal(run_one(fixture, work, OP_SWEEP, 0, 10)->swept, 1);
    work->now_us = 2000;
    assert_int_equal(run_one(fixture, work, OP_GIVE, 12, 1)->asks[0].doc_id, 5); /* G 4: held */
    work->now_us = 1149;
    assert_int_equal(run_one(fixture, work, OP_GIVE, 13, 1)->asks[0].doc_id, 6); /* too early */
    work->now_us = 1150;
    run_one(fixture, work, OP_GIVE, 14, 1);
    assert_int_equal(work->ops[0].asks[0].doc_id, 1);
    assert_int_equal(work->ops[0].asks[0].birth, 6);
    run_one(fixture, work, OP_GIVE, 1, 1); /* the former owner is a new key */
    assert_int_equal(work->ops[0].asks[0].doc_id, 7);
    numbers_close(work->numbers);
    free(work);
}

static void a_key_that_comes_back_in_time_has_its_number_and_birth(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {.ttl_generations = 0, .ttl_us = 100};
    struct work *work = mem_zero(sizeof(*work));

    work->numbers = opened(fixture, &rules);
    work->now_us = 1000;
    run_one(fixture, work, OP_GIVE, 0, 2);
    run_one(fixture, work, OP_GIVE, 5, 2);
    run_one(fixture, work, OP_LEAVE, 0, 1);
    run_one(fixture, work, OP_GIVE, 0, 1);
    assert_int_equal(work->ops[0].asks[0].doc_id, 0);
    assert_int_equal(work->ops[0].asks[0].birth, 1);
    assert_false(work->ops[0].asks[0].is_new);
    assert_int_equal(numbers_version(work->numbers).generation, 2);
    work->now_us = 5000;
    assert_int_equal(run_one(fixture, work, OP_SWEEP, 0, 10)->swept, 0);
    numbers_close(work->numbers);
    free(work);
}

/* --- files beside numbers that are given again --- */

enum { FILE_COUNT = 40, FILE_STEP_COUNT = 200 };

/* Who has which number, and since when. A copy of it is what a table of numbers said when it was
 * exported, and what a column that is made from it says for ever. */
struct owners {
    uint32_t generation;
    int keys[NUMBER_EXTENT_SIZE]; /* -1: none */
    uint32_t births[NUMBER_EXTENT_SIZE];
};

static int read_owners(struct store_tx *tx, void *arg, struct err *err)
{
    struct owners *owners = arg;
    struct store_rows rows = store_select(
        tx, "SELECT key, doc_id, birth_generation FROM number_slot WHERE space = $1 AND shard = $2",
        STORE_WITH(STORE_V_INT(SPACE), STORE_V_INT(SHARD)));

    memset(owners->keys, 0xff, sizeof(owners->keys));
    while (store_next(&rows)) {
        int64_t doc_id = rows.columns[1].integer;
        int key = 0;

        while (!bytes_equal(rows.columns[0].bytes, key_of(key)))
            key++;
        owners->keys[doc_id] = key;
        owners->births[doc_id] = (uint32_t)rows.columns[2].integer;
    }
    return store_rows_end(&rows, err);
}

/* What a searcher shows of the file is the owner's, and what the file has of the owner is shown.
 * How many values there are of others, which are not shown. */
static int check_file(const struct owners *file, const struct owners *now)
{
    int hidden_count = 0;

    for (int i = 0; i < NUMBER_EXTENT_SIZE; i++) {
        if (now->keys[i] < 0)
            continue;
        if (now->births[i] <= file->generation)
            assert_int_equal(file->keys[i], now->keys[i]);
        else
            hidden_count += file->keys[i] >= 0;
    }
    return hidden_count;
}

/* Nothing is held, and all files are in use for ever: the birth alone keeps a value from the next
 * owner of its number, so that no hold has to wait for those who have a file mapped. */
static void a_file_of_any_age_has_nothing_of_another_owner(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {0};
    uint64_t seed = env_number("TORG_MODEL_SEED", random_u64());
    struct rng rng = rng_seeded(seed);
    struct work *work = mem_zero(sizeof(*work));
    struct owners *files = mem_array(FILE_COUNT, sizeof(*files)), *now = mem_zero(sizeof(*now));
    int steps = fixture->backend->postgres ? FILE_STEP_COUNT / 5 : FILE_STEP_COUNT;
    int file_count = 0, hidden_count = 0;
    struct err err = {0};

    print_message("seed %" PRIu64 "\n", seed);
    work->numbers = opened(fixture, &rules);
    for (int i = 0; i < steps; i++) {
        work->now_us = 1000 + i;
        run_one(fixture, work, (enum op_kind)rng_below(&rng, 3),
                (int)rng_below(&rng, KEY_COUNT - 9), 1 + (uint32_t)rng_below(&rng, 9));
        assert_int_equal(store_read(fixture->store, read_owners, now, &err), 0);
        now->generation = numbers_version(work->numbers).generation;
        for (int k = 0; k < file_count; k++)
            hidden_count += check_file(&files[k], now);
        if (file_count < FILE_COUNT && rng_below(&rng, 4) == 0)
            files[file_count++] = *now;
    }
    assert_true(hidden_count > 0); /* numbers were given again */
    numbers_close(work->numbers);
    free(files);
    free(now);
    free(work);
}

static void a_stale_ticket_gives_nothing(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {0};
    struct work *old = mem_zero(sizeof(*old)), *new = mem_zero(sizeof(*new));
    struct err err = {0};

    old->numbers = opened(fixture, &rules);
    new->numbers = opened(fixture, &rules);
    old->now_us = new->now_us = 1000;
    old->ticket = 1;
    new->ticket = 2;
    run_one(fixture, old, OP_GIVE, 0, 1);
    assert_int_equal(numbers_reload(new->numbers, &err), 0);
    assert_int_equal(run_one(fixture, new, OP_GIVE, 1, 1)->asks[0].doc_id, 1);
    old->ops[0] = (struct op){.kind = OP_GIVE, .keys = {2}, .count = 1};
    assert_int_equal(store_write(fixture->store, run_work, old, &err), ERR_STALE);
    numbers_settle(old->numbers, false);
    old->ticket = 0; /* without a fence, too, it is seen that it follows the store no more */
    assert_int_equal(store_write(fixture->store, run_work, old, &err), ERR_PRECONDITION);
    numbers_settle(old->numbers, false);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM number_slot"), 2);
    numbers_close(old->numbers);
    numbers_close(new->numbers);
    free(old);
    free(new);
}

struct many {
    struct numbers *numbers;
    struct number_ask *asks;
    uint32_t count;
};

static int give_many(struct store_tx *tx, void *arg, struct err *err)
{
    struct many *many = arg;

    return numbers_give(many->numbers, tx, many->asks, many->count, 1000, err);
}

static void classes_keep_to_their_extents(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {0};
    struct many many = {.count = 3 * NUMBER_EXTENT_SIZE};
    struct arena *arena = arena_new();
    int owner[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    struct err err = {0};

    many.asks = arena_array(arena, many.count, sizeof(*many.asks));
    for (uint32_t i = 0; i < many.count; i++)
        many.asks[i] = (struct number_ask){.key = bytes_of(arena_printf(arena, "many-%u", i)),
                                           .place = bytes_of(classes[i % 3 % 2])};
    many.numbers = opened(fixture, &rules);
    for (uint32_t done = 0, count = many.count; done < count; done += 1000) {
        struct many part = {many.numbers, many.asks + done,
                            count - done < 1000 ? count - done : 1000};

        if (store_write(fixture->store, give_many, &part, &err))
            fail_msg("%s", err.text);
        numbers_settle(many.numbers, true);
        if (done == 5000) { /* in the middle of extents */
            numbers_close(many.numbers);
            many.numbers = opened(fixture, &rules);
        }
    }
    for (uint32_t i = 0; i < many.count; i++) {
        int *window = &owner[many.asks[i].doc_id / NUMBER_EXTENT_SIZE];

        assert_true(many.asks[i].doc_id < 4 * NUMBER_EXTENT_SIZE);
        if (*window < 0)
            *window = (int)(i % 3 % 2);
        assert_int_equal(*window, i % 3 % 2);
        for (uint32_t j = i >= 3 ? i - 3 : 0; j < i; j++)
            assert_int_not_equal(many.asks[j].doc_id, many.asks[i].doc_id);
    }
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM number_extent"), 3);
    numbers_close(many.numbers);
    arena_free(arena);
}

/* All extents of the shard but the last are given; of that, `left` numbers are not. */
static void nearly_all_are_given(struct fixture *fixture, const char *class, uint32_t left)
{
    char sql[600];

    snprintf(sql, sizeof(sql),
             "INSERT INTO number_space (space, shard, kind, scheme, rebuild, generation, "
             "change_no) VALUES (%d, %d, %d, %d, 0, 5, 1)",
             SPACE, SHARD, SPACE, SCHEME);
    exec(fixture->store, sql);
    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE extent (first) AS (SELECT 0 UNION ALL SELECT first + %d FROM extent "
             "WHERE first < %d) INSERT INTO number_extent (space, shard, first_id, class, next_id) "
             "SELECT %d, %d, first, '%s', first + %d - CASE WHEN first = %d THEN %u ELSE 0 END "
             "FROM extent",
             NUMBER_EXTENT_SIZE, NUMBER_ID_END - NUMBER_EXTENT_SIZE, SPACE, SHARD, class,
             NUMBER_EXTENT_SIZE, NUMBER_ID_END - NUMBER_EXTENT_SIZE, left);
    exec(fixture->store, sql);
}

/* Fewer are left than are asked for: some get theirs, the others are told why not, and get them
 * when there are some again. */
static void what_is_left_is_given(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {0};
    static const char *const keys[] = {"a", "b", "a", "c", "d"};
    struct number_ask asks[ARRAY_COUNT(keys)] = {{.key = BYTES_EMPTY}};
    struct many many = {.asks = asks, .count = ARRAY_COUNT(keys)};
    struct err err = {0};

    nearly_all_are_given(fixture, "cars", 2);
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) /* another class has no extent of its own */
        asks[i] = (struct number_ask){.key = bytes_of(keys[i]), .place = bytes_of("flats")};
    many.numbers = opened(fixture, &rules);
    assert_int_equal(store_write(fixture->store, give_many, &many, &err), 0);
    assert_int_equal(asks[0].doc_id, NUMBER_ID_END - 2);
    assert_int_equal(asks[1].doc_id, NUMBER_ID_END - 1);
    assert_int_equal(asks[2].doc_id, NUMBER_ID_END - 2);
    assert_null(asks[2].lack);
    for (int i = 3; i < 5; i++) {
        assert_int_equal(asks[i].doc_id, NUMBER_NONE);
        assert_non_null(strstr(asks[i].lack, "given all its"));
    }
    numbers_settle(many.numbers, true);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM number_slot"), 2);
    assert_int_equal(
        read_integer(fixture->store, "SELECT count(*) FROM number_slot WHERE class = 'cars'"), 2);
    numbers_close(many.numbers);
    exec(fixture->store, "INSERT INTO number_free (space, shard, doc_id, class, generation, "
                         "freed_us) VALUES (7, 2, 12, 'cars', 1, 1)");
    many = (struct many){opened(fixture, &rules), asks + 3, 2};
    assert_int_equal(store_write(fixture->store, give_many, &many, &err), 0);
    assert_int_equal(asks[3].doc_id, 12);
    assert_non_null(asks[4].lack);
    numbers_settle(many.numbers, true);
    numbers_close(many.numbers);
}

static void bad_keys_change_nothing(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {0};
    static uint8_t long_key[NUMBER_KEY_SIZE_MAX + 1];
    struct number_ask asks[] = {{.key = bytes_of("good")}, {.key = BYTES_EMPTY}};
    struct many many = {opened(fixture, &rules), asks, 2};
    struct numbers *other;
    struct err err = {0};

    assert_int_equal(store_write(fixture->store, give_many, &many, &err), ERR_INVALID);
    asks[1].key = bytes_make(long_key, sizeof(long_key));
    assert_int_equal(store_write(fixture->store, give_many, &many, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "1025"));
    asks[1] = (struct number_ask){.key = bytes_of("k"), .place = bytes_make(long_key, 41)};
    assert_int_equal(store_write(fixture->store, give_many, &many, &err), ERR_INVALID);
    numbers_settle(many.numbers, false);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM number_slot"), 0);
    asks[1] = (struct number_ask){.key = bytes_of("k")};
    assert_int_equal(store_write(fixture->store, give_many, &many, &err), 0);
    numbers_settle(many.numbers, true);
    for (int i = 0; i < 3; i++) {
        struct numbering wrong = numbering;

        wrong.kind += i == 0;
        wrong.scheme += i == 1;
        wrong.rebuild += i == 2;
        assert_int_equal(numbers_open(fixture->store, &wrong, SHARD, &rules, &other, &err),
                         ERR_PRECONDITION);
        assert_non_null(strstr(err.text, "7.3.0"));
        assert_null(other);
    }
    numbers_close(many.numbers);
}

/* Without SQL per key: what memory knows is not asked of the store, as long as that is at the
 * change that memory is at. */
static void known_keys_are_not_asked_of_the_store(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {.ttl_us = 100};
    struct work *work = mem_zero(sizeof(*work));
    struct op *op;
    struct err err = {0};

    work->numbers = opened(fixture, &rules);
    work->now_us = 1000;
    op = run_one(fixture, work, OP_GIVE, 0, 3);
    op->numbers = work->numbers;
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    assert_true(numbers_known(work->numbers).is_all);
    assert_int_equal(numbers_known(work->numbers).key_count, 3);
    exec(fixture->store, "UPDATE number_slot SET doc_id = doc_id + 7");
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(op->asks[i].doc_id, i);
    exec(fixture->store, "UPDATE number_space SET change_no = change_no + 1"); /* another owner */
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(op->asks[i].doc_id, i + 7);
    assert_int_equal(numbers_reload(work->numbers, &err), 0);
    assert_int_equal(numbers_known(work->numbers).key_count, 0);
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    assert_int_equal(op->asks[2].doc_id, 9);
    numbers_close(work->numbers);
    free(work);
}

/* Its owner learns no more keys than it may: there is no room for those of all numbers. */
static void a_shard_of_very_many_takes_no_more_memory_than_it_may(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {0};
    struct work *work = mem_zero(sizeof(*work));
    struct op *op = &work->ops[0];
    struct err err = {0};

    nearly_all_are_given(fixture, "", 2);
    work->numbers = opened(fixture, &rules);
    *op = (struct op){.numbers = work->numbers, .count = 1};
    op->asks[0] = (struct number_ask){.key = key_of(1)};
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    assert_in_range(numbers_known(work->numbers).size, 1, 1 << 30);
    numbers_close(work->numbers);
    free(work);
}

/* What begins and ends a key's time to live counts as a change, so that no owner's memory misses
 * it. */
static void leaving_and_coming_back_are_changes(void **state)
{
    struct fixture *fixture = start_migrated(state);
    const struct number_rules rules = {.ttl_us = 100};
    struct work *work = mem_zero(sizeof(*work)), *late = mem_zero(sizeof(*late));
    struct err err = {0};
    struct op *op;

    work->numbers = opened(fixture, &rules);
    work->now_us = late->now_us = 1000;
    run_one(fixture, work, OP_GIVE, 0, 2);
    late->numbers = opened(fixture, &rules);
    op = &late->ops[0];
    *op = (struct op){.numbers = late->numbers, .count = 1};
    op->asks[0] = (struct number_ask){.key = key_of(1)};
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    assert_true(numbers_known(late->numbers).is_all && !op->asks[0].is_gone);
    run_one(fixture, work, OP_LEAVE, 1, 1);
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    assert_true(op->asks[0].is_gone);
    run_one(fixture, work, OP_GIVE, 1, 1);
    assert_int_equal(store_read(fixture->store, look, op, &err), 0);
    assert_false(op->asks[0].is_gone);
    numbers_close(late->numbers);
    numbers_close(work->numbers);
    free(late);
    free(work);
}

static const struct test_case cases[] = {
    CASE(random_transactions_agree_with_a_naive_model),
    CASE(a_number_is_given_again_only_after_ttl_and_hold),
    CASE(a_key_that_comes_back_in_time_has_its_number_and_birth),
    CASE(a_file_of_any_age_has_nothing_of_another_owner),
    CASE(a_stale_ticket_gives_nothing),
    CASE(classes_keep_to_their_extents),
    CASE(what_is_left_is_given),
    CASE(bad_keys_change_nothing),
    CASE(known_keys_are_not_asked_of_the_store),
    CASE(a_shard_of_very_many_takes_no_more_memory_than_it_may),
    CASE(leaving_and_coming_back_are_changes),
};

int main(int argc, char **argv)
{
    static const struct backend backends[] = {
        {.name = "sqlite", .fault = true}, {.name = "postgres", .postgres = true, .fault = true}};
    static struct case_list list = {.name = "numbers", .set_up = set_up, .tear_down = tear_down};

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        cases_add(&list, cases, ARRAY_COUNT(cases), backends[i].name, &backends[i]);
    return cases_run(&list, argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.c - live numbers of a shard: see numerator.h.
 *
 * `kept` is what the last settled transaction left in the store, `made` what the one under way has
 * made of it; the slots hold steps between the two. Every call begins with enter(), which reads the
 * count of changes: kept's means that the transaction is new (or is run again) and the steps are
 * taken back; made's that it goes on.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "numerator/numbers_parts.h"

/* --- reading what is there --- */

static int load(struct store_tx *tx, void *arg, struct err *err)
{
    struct numbers *numbers = arg;
    struct number_rules rules = numbers->slots.rules;
    int rc;

    object_check(numbers, NUMBERS_MAGIC);
    slots_release(&numbers->slots); /* may be run again */
    slots_init(&numbers->slots, &rules);
    rc = space_row_find(tx, &numbers->place, &numbers->kept, err);
    if (rc == 0)
        rc = extent_rows_load(tx, &numbers->place, &numbers->slots, err);
    if (rc == 0)
        rc = free_rows_load(tx, &numbers->place, &numbers->slots, err);
    slots_restored(&numbers->slots, numbers->kept.version.generation);
    return rc;
}

int numbers_reload(struct numbers *numbers, struct err *err)
{
    const struct numbering *wanted = &numbers->numbering;
    const struct number_version *has;
    int rc;

    object_check(numbers, NUMBERS_MAGIC);
    known_reset(numbers);
    rc = store_read(numbers->store, load, numbers, err);
    if (rc) {
        numbers->kept.change_no = -1; /* follows nothing */
        numbers->made = numbers->kept;
        return rc;
    }
    if (numbers->kept.change_no == 0)
        numbers->kept.version = (struct number_version){
            .kind = wanted->kind, .scheme = wanted->scheme, .rebuild = wanted->rebuild};
    numbers->made = numbers->kept;
    has = &numbers->kept.version;
    if (has->kind != wanted->kind || has->scheme != wanted->scheme ||
        has->rebuild != wanted->rebuild)
        return err_set(err, ERR_PRECONDITION,
                       "numbers of space %" PRId64 ", shard %" PRIu32 " are of %" PRIu32 ".%" PRIu32
                       ".%" PRIu32 " (type, sharding scheme, rebuild), and %" PRIu32 ".%" PRIu32
                       ".%" PRIu32 " was asked for",
                       numbers->place.space, numbers->place.shard, has->kind, has->scheme,
                       has->rebuild, wanted->kind, wanted->scheme, wanted->rebuild);
    return 0;
}

int numbers_open(struct store *store, const struct numbering *numbering, uint32_t shard,
                 const struct number_rules *rules, struct numbers **numbers, struct err *err)
{
    struct numbers *made = mem_zero(sizeof(*made));
    int rc;

    object_begin(made, NUMBERS_MAGIC);
    made->store = store;
    made->place = (struct number_place){numbering->space, shard};
    made->numbering = *numbering;
    made->arena = arena_new();
    slots_init(&made->slots, rules);
    rc = numbers_reload(made, err);
    if (rc) {
        numbers_close(made);
        made = NULL;
    }
    *numbers = made;
    return rc;
}

void numbers_close(struct numbers *numbers)
{
    if (!numbers)
        return;
    object_check(numbers, NUMBERS_MAGIC);
    known_reset(numbers);
    buf_release(&numbers->known.last);
    slots_release(&numbers->slots);
    arena_free(numbers->arena);
    object_end(numbers, NUMBERS_MAGIC);
    free(numbers);
}

struct number_version numbers_version(const struct numbers *numbers)
{
    object_check(numbers, NUMBERS_MAGIC);
    return numbers->kept.version;
}

/* --- following the store --- */

static int enter(struct numbers *numbers, struct store_tx *tx, struct err *err)
{
    struct space_row row;
    int rc;

    arena_reset(numbers->arena);
    rc = space_row_find(tx, &numbers->place, &row, err);
    if (rc)
        return rc;
    if (row.change_no == numbers->kept.change_no) {
        slots_rollback(&numbers->slots);
        known_settle(numbers, false);
        numbers->made = numbers->kept;
        return 0;
    }
    if (row.change_no == numbers->made.change_no)
        return 0;
    return err_set(err, ERR_PRECONDITION,
                   "numbers of space %" PRId64 ", shard %" PRIu32 ": the store has change %" PRId64
                   ", and %" PRId64 " is known here: load them again",
                   numbers->place.space, numbers->place.shard, row.change_no,
                   numbers->kept.change_no);
}

static int save_change(struct numbers *numbers, struct store_tx *tx, struct err *err)
{
    assert(numbers->made.change_no >= numbers->kept.change_no);
    numbers->made.change_no++;
    return space_row_save(tx, &numbers->place, &numbers->made, err);
}

void numbers_settle(struct numbers *numbers, bool is_committed)
{
    object_check(numbers, NUMBERS_MAGIC);
    if (is_committed) {
        /* changes and generations go on, never back */
        assert(numbers->made.change_no >= numbers->kept.change_no);
        assert(numbers->made.version.generation >= numbers->kept.version.generation);
        numbers->kept = numbers->made;
        slots_commit(&numbers->slots, numbers->kept.version.generation);
    } else {
        slots_rollback(&numbers->slots);
        numbers->made = numbers->kept;
    }
    known_settle(numbers, is_committed);
}

/* --- giving --- */

/* The different keys of a batch: a table of 1 + index of the first ask with the key. */
struct batch {
    struct number_ask *asks;
    uint32_t *firsts; /* of each ask, the first with its key */
    uint32_t *table;
    uint32_t mask;
    struct bytes *keys; /* the different ones ... */
    uint32_t key_count;
    struct bytes *returned; /* of them, those that were gone */
    uint32_t returned_count;
};

static uint32_t *place_of(const struct batch *batch, struct bytes key)
{
    uint64_t at = hash64(key);

    for (;; at++) {
        uint32_t *entry = &batch->table[at & batch->mask];

        if (*entry == 0 || bytes_equal(batch->asks[*entry - 1].key, key))
            return entry;
    }
}

static int check_ask(const struct number_ask *ask, struct err *err)
{
    if (ask->key.size == 0 || ask->key.size > NUMBER_KEY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a key of %zu bytes: expected 1 to %d", ask->key.size,
                       NUMBER_KEY_SIZE_MAX);
    if (ask->place.size > NUMBER_CLASS_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a placement class of %zu bytes: the limit is %d",
                       ask->place.size, NUMBER_CLASS_SIZE_MAX);
    return 0;
}

static int batch_init(struct batch *batch, struct number_ask *asks, uint32_t count,
                      struct arena *arena, struct err *err)
{
    uint32_t size = 16;

    while (size < 2 * (uint64_t)count)
        size *= 2;
    *batch = (struct batch){.asks = asks, .mask = size - 1};
    batch->table = arena_array(arena, size, sizeof(*batch->table));
    batch->firsts = arena_array(arena, count, sizeof(*batch->firsts));
    batch->keys = arena_array(arena, count, sizeof(*batch->keys));
    batch->returned = arena_array(arena, count, sizeof(*batch->returned));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *entry;
        int rc = check_ask(&asks[i], err);

        if (rc)
            return rc;
        asks[i].doc_id = NUMBER_NONE;
        asks[i].birth = 0;
        asks[i].is_new = false;
        asks[i].is_gone = false;
        asks[i].lack = NULL;
        entry = place_of(batch, asks[i].key);
        if (*entry == 0) {
            *entry = i + 1;
            batch->keys[batch->key_count++] = asks[i].key;
        }
        batch->firsts[i] = *entry - 1;
        assert(batch->firsts[i] <= i && batch->key_count <= i + 1);
    }
    return 0;
}

static int take_known(void *arg, const struct slot_row *row, struct err *err)
{
    struct batch *batch = arg;
    uint32_t *entry = place_of(batch, row->key);

    assert(*entry > 0 && batch->asks[*entry - 1].doc_id == NUMBER_NONE);
    batch->asks[*entry - 1].doc_id = row->doc_id;
    batch->asks[*entry - 1].birth = row->birth;
    batch->asks[*entry - 1].is_gone = row->gone_us > 0;
    if (row->gone_us > 0)
        batch->returned[batch->returned_count++] = batch->asks[*entry - 1].key;
    return 0;
}

static void answer_repeats(const struct batch *batch, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct number_ask *first = &batch->asks[batch->firsts[i]];

        batch->asks[i].doc_id = first->doc_id;
        batch->asks[i].birth = first->birth;
        batch->asks[i].is_new = first->is_new;
        batch->asks[i].is_gone = first->is_gone;
        batch->asks[i].lack = first->lack;
    }
}

int numbers_find(struct store_tx *tx, int64_t space, uint32_t shard, struct number_ask *asks,
                 uint32_t count, struct err *err)
{
    const struct number_place place = {space, shard};
    struct arena *arena = arena_new();
    struct batch batch;
    int rc;

    rc = batch_init(&batch, asks, count, arena, err);
    if (rc == 0)
        rc = slot_rows_find(tx, &place, batch.keys, batch.key_count, take_known, &batch, err);
    if (rc == 0)
        answer_repeats(&batch, count);
    arena_free(arena);
    return rc;
}

/* How far extents are used since a step, and what is free no more. */
static int save_steps(struct numbers *numbers, struct store_tx *tx, size_t from, struct err *err)
{
    const struct slots *slots = &numbers->slots;
    size_t step_count = slots->step_count - from, extent_count = 0;
    struct slot_step *extents = arena_array(numbers->arena, step_count, sizeof(*extents));
    uint32_t *taken = arena_array(numbers->arena, step_count, sizeof(*taken)), taken_count = 0;
    int rc;

    for (size_t i = from; i < slots->step_count; i++) {
        const struct slot_step *step = &slots->steps[i];
        size_t at = 0;

        if (step->kind == SLOT_HOLE)
            taken[taken_count++] = step->doc_id;
        if (step->kind != SLOT_NEXT)
            continue;
        while (at < extent_count &&
               extents[at].doc_id / NUMBER_EXTENT_SIZE != step->doc_id / NUMBER_EXTENT_SIZE)
            at++;
        extent_count += at == extent_count;
        extents[at] = *step;
    }
    rc = free_rows_take(tx, &numbers->place, taken, taken_count, err);
    for (size_t i = 0; rc == 0 && i < extent_count; i++) {
        uint32_t last = extents[i].doc_id;

        rc = extent_row_save(tx, &numbers->place, last - last % NUMBER_EXTENT_SIZE,
                             slots_class_name(slots, extents[i].class_no), last + 1, err);
    }
    return rc;
}

/* Picks for one key; without any left it is told so, and the others go on. */
static bool pick_new(struct numbers *numbers, struct number_ask *ask, uint32_t generation,
                     int64_t now_us, uint32_t *class_no)
{
    struct err why = {0};
    int rc;

    *class_no = slots_class(&numbers->slots, ask->place);
    if (generation == 0)
        rc = err_set(&why, ERR_LIMIT, "all generations are used up: renumber the shard");
    else
        rc = slots_pick(&numbers->slots, class_no, now_us, &ask->doc_id, &why);
    if (rc) {
        ask->lack = arena_strdup(numbers->arena, why.text);
        return false;
    }
    assert(ask->doc_id < NUMBER_ID_END && generation > 0);
    ask->birth = generation;
    ask->is_new = true;
    return true;
}

/* Numbers for those that were not found. */
static int give_new(struct numbers *numbers, struct store_tx *tx, const struct batch *batch,
                    uint32_t count, int64_t now_us, struct err *err)
{
    struct slots *slots = &numbers->slots;
    struct slot_row *rows = arena_array(numbers->arena, count, sizeof(*rows));
    uint32_t generation = numbers->made.version.generation + 1, row_count = 0;
    size_t step_count = slots->step_count;
    int rc;

    for (uint32_t i = 0; i < count; i++) {
        struct number_ask *ask = &batch->asks[i];
        uint32_t class_no;

        if (batch->firsts[i] != i || ask->doc_id != NUMBER_NONE)
            continue;
        if (!pick_new(numbers, ask, generation, now_us, &class_no))
            continue;
        rows[row_count++] = (struct slot_row){
            .doc_id = ask->doc_id,
            .key = ask->key,
            .class = arena_copy(numbers->arena, slots_class_name(slots, class_no)),
            .birth = generation,
        };
    }
    if (row_count == 0)
        return 0;
    rc = slot_rows_add(tx, &numbers->place, rows, row_count, generation, err);
    if (rc == 0)
        rc = save_steps(numbers, tx, step_count, err);
    for (uint32_t i = 0; i < row_count && rc == 0; i++)
        known_add(numbers, &rows[i]);
    assert(row_count <= count && slots->step_count >= step_count);
    numbers->made.version.generation = generation;
    if (rc == 0)
        rc = save_change(numbers, tx, err);
    return rc;
}

/* Those that have a number: from memory where it knows them, the others from the store. */
static int find_batch(struct numbers *numbers, struct store_tx *tx, struct batch *batch,
                      struct err *err)
{
    struct bytes *rest = arena_array(numbers->arena, batch->key_count, sizeof(*rest));
    uint32_t rest_count = 0;

    for (uint32_t i = 0; i < batch->key_count; i++) {
        struct number_ask *ask = &batch->asks[*place_of(batch, batch->keys[i]) - 1];

        if (!known_covers(numbers, ask->key)) {
            rest[rest_count++] = ask->key;
            continue;
        }
        key_table_find(numbers->known.table, ask, 1);
        if (ask->is_gone)
            batch->returned[batch->returned_count++] = ask->key;
    }
    return slot_rows_find(tx, &numbers->place, rest, rest_count, take_known, batch, err);
}

/* Gone keys have their numbers again. */
static int return_keys(struct numbers *numbers, struct store_tx *tx, const struct batch *batch,
                       struct err *err)
{
    int rc;

    if (batch->returned_count == 0)
        return 0;
    rc = slot_rows_return(tx, &numbers->place, batch->returned, batch->returned_count, err);
    for (uint32_t i = 0; i < batch->returned_count && rc == 0; i++)
        known_mark(numbers, batch->returned[i], false);
    return rc ? rc : save_change(numbers, tx, err);
}

int numbers_give(struct numbers *numbers, struct store_tx *tx, struct number_ask *asks,
                 uint32_t count, int64_t now_us, struct err *err)
{
    struct batch batch;
    int rc;

    object_check(numbers, NUMBERS_MAGIC);
    rc = enter(numbers, tx, err);
    if (rc == 0)
        rc = batch_init(&batch, asks, count, numbers->arena, err);
    if (rc == 0)
        rc = find_batch(numbers, tx, &batch, err);
    if (rc == 0)
        rc = return_keys(numbers, tx, &batch, err);
    if (rc == 0)
        rc = give_new(numbers, tx, &batch, count, now_us, err);
    if (rc == 0)
        answer_repeats(&batch, count);
    return rc;
}

/* --- leaving --- */

int numbers_leave(struct numbers *numbers, struct store_tx *tx, const struct bytes *keys,
                  uint32_t count, int64_t now_us, struct err *err)
{
    int64_t left_count = 0;
    int rc;

    object_check(numbers, NUMBERS_MAGIC);
    assert(now_us > 0);
    rc = enter(numbers, tx, err);
    if (rc == 0)
        rc = slot_rows_leave(tx, &numbers->place, keys, count, numbers->made.version.generation,
                             now_us, &left_count, err);
    for (uint32_t i = 0; i < count && rc == 0; i++)
        known_mark(numbers, keys[i], true);
    return rc || left_count == 0 ? rc : save_change(numbers, tx, err);
}

struct expired {
    const struct number_rules *rules;
    uint32_t generation;
    struct slots *slots;
    int64_t now_us;
    struct slot_row *rows; /* of the arena, keys too */
    uint32_t count;
    struct arena *arena;
};

static int take_expired(void *arg, const struct slot_row *row, struct err *err)
{
    struct expired *expired = arg;

    if ((uint64_t)row->seen + expired->rules->ttl_generations > expired->generation)
        return 0;
    expired->rows[expired->count++] = (struct slot_row){
        .key = arena_copy(expired->arena, row->key),
        .doc_id = row->doc_id,
        .class = arena_copy(expired->arena, row->class),
    };
    slots_give_back(expired->slots, row->doc_id, slots_class(expired->slots, row->class),
                    expired->generation, expired->now_us);
    return 0;
}

int numbers_sweep(struct numbers *numbers, struct store_tx *tx, int64_t now_us, uint32_t max,
                  uint32_t *count, struct err *err)
{
    const struct number_rules *rules = &numbers->slots.rules;
    struct expired expired = {
        .rules = rules, .slots = &numbers->slots, .now_us = now_us > 0 ? now_us : 1};
    int rc;

    object_check(numbers, NUMBERS_MAGIC);
    *count = 0;
    rc = enter(numbers, tx, err);
    if (rc)
        return rc;
    expired.generation = numbers->made.version.generation;
    expired.arena = numbers->arena;
    expired.rows = arena_array(numbers->arena, max, sizeof(*expired.rows));
    rc = slot_rows_gone(tx, &numbers->place, now_us - rules->ttl_us, max, take_expired, &expired,
                        err);
    if (rc || expired.count == 0)
        return rc;
    rc = slot_rows_free(tx, &numbers->place, expired.rows, expired.count, expired.generation,
                        expired.now_us, err);
    for (uint32_t i = 0; i < expired.count && rc == 0; i++)
        known_remove(numbers, expired.rows[i].key);
    if (rc == 0)
        rc = save_change(numbers, tx, err);
    *count = expired.count;
    return rc;
}

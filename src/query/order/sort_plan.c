/* SPDX-License-Identifier: Apache-2.0 */
/* sort_plan.c - see sort_plan.h. */
#include "query/order/sort_plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/filter/filter_plan.h"

#define KEY_NONE UINT64_MAX
#define SIGN_BIT (UINT64_C(1) << 63)

/* ---- keys ---- */

/* Ascending as the number does; below KEY_NONE for all but COLUMN_NULL. */
static uint64_t key_of_integer(int64_t value)
{
    return (uint64_t)value ^ SIGN_BIT;
}

static int64_t integer_of_key(uint64_t key)
{
    return (int64_t)(key ^ SIGN_BIT);
}

static uint64_t key_reverse(uint64_t key)
{
    return key == KEY_NONE ? KEY_NONE : KEY_NONE - 1 - key;
}

static uint64_t key_of_double(double value)
{
    uint64_t bits;

    if (isnan(value))
        return KEY_NONE;
    value += 0.0; /* -0 is 0 */
    memcpy(&bits, &value, sizeof(bits));
    return bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
}

static double double_of_key(uint64_t key)
{
    double value;

    key = key & SIGN_BIT ? key & ~SIGN_BIT : ~key;
    memcpy(&value, &key, sizeof(value));
    return value;
}

uint64_t sort_score_key(float score)
{
    return key_reverse(key_of_double((double)score));
}

uint64_t sort_formula_key(double value)
{
    return key_reverse(key_of_double(value));
}

double sort_key_value(const struct sort_key *sort, uint64_t key)
{
    bool reversed = sort->kind == SORT_RELEVANCE || sort->kind == SORT_FORMULA || sort->descending;

    if (key == KEY_NONE)
        return NAN;
    if (reversed)
        key = key_reverse(key);
    if (sort->kind != SORT_FIELD)
        return double_of_key(key);
    if (sort->ranks)
        return (double)key - 1;
    return (double)integer_of_key(key);
}

/* ---- making the plan ---- */

static void rank_keywords(struct sort_key *key)
{
    const struct dictionary_order *order = dictionary_order(column_dictionary(key->column));

    key->ranks = order->ranks;
    key->ordinals = order->ordinals;
    key->rank_count = order->count;
}

static int make_field_key(struct sort_key *key, const struct snapshot *snapshot,
                          const struct query_sort *sort, struct err *err)
{
    int rc = query_field(snapshot, sort->field, "sort", &key->field, err);

    if (rc)
        return rc;
    if (!field_has_column(key->field) || key->field->multiple ||
        (key->field->type == FIELD_GEO) != (sort->kind == SORT_DISTANCE))
        return err_set(err, ERR_INVALID, "sort: field \"%s\" is a %s%s: %s", key->field->name,
                       key->field->multiple ? "multiple " : "", field_type_name(key->field->type),
                       sort->kind == SORT_DISTANCE ? "distance needs a geo point"
                                                   : "one number, date, boolean or keyword a "
                                                     "document can be sorted by");
    key->column = columns_column(snapshot->columns, key->field->id);
    if (key->column && field_has_dictionary(key->field))
        rank_keywords(key);
    return 0;
}

int sort_plan_make(struct sort_plan *plan, const struct snapshot *snapshot,
                   const struct query_stage *stage, bool has_text, struct arena *arena,
                   struct err *err)
{
    uint32_t i;
    int rc;

    *plan = (struct sort_plan){.count = stage->sort_count};
    assert(stage->sort_count <= SORT_COUNT_MAX);
    if (!stage->sort_count && has_text) {
        plan->count = 1;
        plan->keys[0].kind = SORT_RELEVANCE;
        plan->uses_score = true;
    }
    for (i = 0; i < stage->sort_count; i++) {
        const struct query_sort *sort = &stage->sorts[i];
        struct sort_key *key = &plan->keys[i];

        key->kind = sort->kind;
        key->descending = sort->descending;
        key->lat = sort->lat;
        key->lon = sort->lon;
        rc = 0;
        if (sort->kind == SORT_FIELD || sort->kind == SORT_DISTANCE)
            rc = make_field_key(key, snapshot, sort, err);
        else if (sort->kind == SORT_FORMULA)
            rc = formula_compile(snapshot, sort->formula, stage, "sort.formula", arena,
                                 &key->formula, err);
        if (rc)
            return rc;
        plan->uses_score |=
            sort->kind == SORT_RELEVANCE || (key->formula && formula_uses_score(key->formula));
    }
    return 0;
}

void sort_plan_set_now(struct sort_plan *plan, int64_t now)
{
    uint32_t i;

    for (i = 0; i < plan->count; i++)
        if (plan->keys[i].formula)
            formula_set_now(plan->keys[i].formula, now);
}

/* ---- computing ---- */

/* From 1, so that a floor can lie before the first. */
static uint64_t key_of_rank(const struct sort_key *sort, uint32_t rank)
{
    uint64_t key = (uint64_t)rank + 1;

    return sort->descending ? key_reverse(key) : key;
}

static uint64_t key_of_value(const struct sort_key *sort, int64_t value)
{
    uint64_t key;
    int32_t lat;
    int32_t lon;

    if (value == COLUMN_NULL)
        return KEY_NONE;
    if (sort->kind == SORT_DISTANCE) {
        geo_unpack(value, &lat, &lon);
        key = key_of_double(geo_distance_m(lat, lon, sort->lat, sort->lon));
    } else if (sort->ranks) {
        /* A value that came after the plan: behind those that are known. */
        return key_of_rank(sort, (uint64_t)value < sort->rank_count ? sort->ranks[value]
                                                                    : sort->rank_count);
    } else {
        key = key_of_integer(value);
    }
    return sort->descending ? key_reverse(key) : key;
}

static void column_keys(const struct sort_key *sort, uint32_t window, const uint16_t *offsets,
                        uint32_t count, uint64_t *keys)
{
    int64_t values[WINDOW_SIZE];
    struct column_view view;
    uint32_t i;

    column_view(sort->column, window, &view);
    view_get_all(&view, offsets, count, values);
    for (i = 0; i < count; i++)
        keys[i] = key_of_value(sort, values[i]);
}

static void formula_keys(const struct sort_key *sort, uint32_t window, const uint16_t *offsets,
                         uint32_t count, const float *scores, uint64_t *keys)
{
    double values[WINDOW_SIZE];
    uint32_t i;

    formula_compute(sort->formula, window, offsets, count, scores, values);
    for (i = 0; i < count; i++)
        keys[i] = sort_formula_key(values[i]);
}

void sort_plan_keys(const struct sort_plan *plan, uint32_t index, uint32_t window,
                    const uint16_t *offsets, uint32_t count, const float *scores, uint64_t *keys)
{
    const struct sort_key *sort = &plan->keys[index];
    uint32_t i;

    switch (sort->kind) {
    case SORT_RELEVANCE:
        for (i = 0; i < count; i++)
            keys[i] = scores ? sort_score_key(scores[i]) : sort_score_key(0);
        break;
    case SORT_FORMULA:
        formula_keys(sort, window, offsets, count, scores, keys);
        break;
    default:
        column_keys(sort, window, offsets, count, keys);
        break;
    }
}

uint64_t sort_plan_bound(const struct sort_plan *plan, uint32_t window)
{
    const struct sort_key *sort = &plan->keys[0];
    struct column_view view;

    if (plan->count == 0 || sort->kind != SORT_FIELD || sort->ranks)
        return 0;
    column_view(sort->column, window, &view);
    if (view.kind == PAGE_ABSENT || view.min > view.max)
        return KEY_NONE;
    return sort->descending ? key_reverse(key_of_integer(view.max)) : key_of_integer(view.min);
}

void sort_plan_narrow(const struct sort_plan *plan, uint32_t window, uint64_t worst,
                      struct window_bits *bits)
{
    const struct sort_key *sort = &plan->keys[0];
    struct column_view view;
    int64_t value;

    if (plan->count == 0 || sort->kind != SORT_FIELD || sort->ranks || worst == KEY_NONE)
        return;
    column_view(sort->column, window, &view);
    value = integer_of_key(sort->descending ? key_reverse(worst) : worst);
    filter_range(&view, sort->descending ? value : INT64_MIN,
                 sort->descending ? COLUMN_NULL : value, bits);
}

/* ---- places ---- */

/* The name of a keyword's key. One that came after the plan is looked up as it is now. */
static struct bytes key_text(const struct sort_key *sort, uint64_t key, docid id,
                             const struct snapshot *snapshot)
{
    const struct dictionary *dictionary = column_dictionary(sort->column);
    uint64_t rank = (sort->descending ? key_reverse(key) : key) - 1;
    uint16_t field = sort->field->id;
    int64_t value;

    if (rank < sort->rank_count)
        return dictionary_name(dictionary, sort->ordinals[rank]);
    columns_get(snapshot->columns, id, &field, 1, &value);
    if (value != COLUMN_NULL && (uint64_t)value < dictionary_count(dictionary))
        return dictionary_name(dictionary, (uint32_t)value);
    return bytes_of("");
}

struct query_place place_of(const struct sort_plan *plan, const struct ranked *entry,
                            const struct snapshot *snapshot, struct arena *arena)
{
    struct query_place place = {.id = entry->id, .count = plan->count};
    uint32_t i;

    for (i = 0; i < plan->count; i++) {
        place.keys[i] = entry->keys[i];
        if (!plan->keys[i].ranks || entry->keys[i] == KEY_NONE)
            continue;
        place.texts[i] = bytes_of(
            arena_text(arena, key_text(&plan->keys[i], entry->keys[i], entry->id, snapshot)));
    }
    return place;
}

static struct bytes name_of_rank(const struct sort_key *sort, uint32_t rank)
{
    return dictionary_name(column_dictionary(sort->column), sort->ordinals[rank]);
}

/* Names below the text, and whether it is there. */
static uint32_t rank_of(const struct sort_key *sort, struct bytes text, bool *found)
{
    uint32_t low = 0;
    uint32_t high = sort->rank_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (bytes_compare(name_of_rank(sort, middle), text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < sort->rank_count && bytes_equal(name_of_rank(sort, low), text);
    return low;
}

struct ranked place_floor(const struct sort_plan *plan, const struct query_place *place)
{
    struct ranked floor = {.id = place->id};
    uint32_t i;

    for (i = 0; i < plan->count; i++) {
        const struct sort_key *sort = &plan->keys[i];
        uint32_t rank;
        bool found;

        floor.keys[i] = place->keys[i];
        if (!sort->ranks || !place->texts[i].data)
            continue;
        rank = rank_of(sort, place->texts[i], &found);
        if (found) {
            floor.keys[i] = key_of_rank(sort, rank);
            continue;
        }
        /* Behind all that has the last keyword before it. */
        floor.keys[i] = sort->descending ? key_of_rank(sort, rank) : rank;
        for (i++; i < plan->count; i++)
            floor.keys[i] = KEY_NONE;
        floor.id = UINT32_MAX;
    }
    return floor;
}

/* ---- the best ---- */

int ranked_compare(const struct ranked *a, const struct ranked *b, uint32_t key_count)
{
    uint32_t i;

    for (i = 0; i < key_count; i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] < b->keys[i] ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

void best_init(struct best *best, uint32_t count_max, uint32_t key_count, struct arena *arena)
{
    *best = (struct best){.count_max = count_max, .key_count = key_count};
    best->entries = arena_array(arena, count_max + 1, sizeof(*best->entries));
}

/* Puts the entry into the hole, moving worse ones up. */
static void sift_down(struct best *best, uint32_t hole, uint32_t count, const struct ranked *entry)
{
    for (;;) {
        uint32_t child = 2 * hole + 1;

        if (child >= count)
            break;
        if (child + 1 < count &&
            ranked_compare(&best->entries[child + 1], &best->entries[child], best->key_count) > 0)
            child++;
        if (ranked_compare(&best->entries[child], entry, best->key_count) <= 0)
            break;
        best->entries[hole] = best->entries[child];
        hole = child;
    }
    best->entries[hole] = *entry;
}

static void sift_up(struct best *best, uint32_t hole, const struct ranked *entry)
{
    while (hole > 0) {
        uint32_t parent = (hole - 1) / 2;

        if (ranked_compare(entry, &best->entries[parent], best->key_count) <= 0)
            break;
        best->entries[hole] = best->entries[parent];
        hole = parent;
    }
    best->entries[hole] = *entry;
}

void best_add(struct best *best, const struct ranked *entry)
{
    if (best->has_floor && ranked_compare(entry, &best->floor, best->key_count) <= 0)
        return;
    if (best->count < best->count_max) {
        sift_up(best, best->count++, entry);
        return;
    }
    if (best->count && ranked_compare(entry, &best->entries[0], best->key_count) < 0)
        sift_down(best, 0, best->count, entry);
}

void best_sort(struct best *best)
{
    uint32_t rest;

    for (rest = best->count; rest > 1; rest--) {
        struct ranked worst = best->entries[0];
        struct ranked last = best->entries[rest - 1];

        sift_down(best, 0, rest - 1, &last);
        best->entries[rest - 1] = worst;
    }
}

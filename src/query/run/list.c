/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - see list.h. */
#include "query/run/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/bounds.h"

enum { CAP_ROOM = 8, CAP_GROWTH = 4 };

/* Hits before the page, as far as is known: some may have come or gone since the page before. */
static uint64_t hits_before(const struct list *list)
{
    const struct query_stage *source = list->stage->source;

    if (list->has_cursor)
        return source->cap ? list->cursor.depth : 0;
    return source->offset;
}

int list_make(struct list *list, struct stage *stage, const struct query_plan *plan,
              struct err *err)
{
    const struct query_stage *source = stage->source;
    uint64_t count;
    int rc = 0;

    *list = (struct list){.stage = stage};
    stage->words = source->part ? source->part->words : NULL;
    list->has_cursor = source->cursor.size > 0;
    if (!source->part)
        list->hash = query_hash(plan, source);
    if (list->has_cursor)
        rc = cursor_decode(source->cursor, list->hash, stage->context->arena, &list->cursor, err);
    if (!rc && list->has_cursor &&
        (list->cursor.place_count != 1 || list->cursor.places[0].place.count != stage->sort.count))
        rc = err_set(err, ERR_INVALID,
                     "cursor: belongs to an index of several shards; begin without it");
    if (rc)
        return rc;
    if (list->has_cursor) {
        sort_plan_set_now(&stage->sort, list->cursor.now);
        list->last = place_floor(&stage->sort, &list->cursor.places[0].place);
        stage->words = list->cursor.words.count ? &list->cursor.words : NULL;
    }
    /* One more than the page's end tells whether there is a next page. */
    count = source->limit ? hits_before(list) + source->limit + 1 : 0;
    if (source->cap)
        count *= CAP_ROOM;
    if (source->rerank.size && count && count < source->rerank_count)
        count = source->rerank_count;
    list->count_max = count < QUERY_CAP_COLLECT_MAX ? (uint32_t)count : QUERY_CAP_COLLECT_MAX;
    return 0;
}

int list_begin(struct list *list, bool counts, struct err *err)
{
    struct stage *stage = list->stage;
    const struct query_part *part = stage->source->part;
    int rc = stage_begin(stage, list->count_max, counts, err);

    if (!rc && part && part->after) {
        stage->best.has_floor = true;
        stage->best.floor = place_floor(&stage->sort, part->after);
    }
    if (rc || !list->has_cursor)
        return rc;
    stage->best.has_floor = !stage->source->cap;
    stage->best.floor = list->last;
    return 0;
}

/* ---- scores and formulas of a few hits ---- */

static int compare_ids(const void *a, const void *b)
{
    docid x = (*(struct ranked *const *)a)->id;
    docid y = (*(struct ranked *const *)b)->id;

    return (x > y) - (x < y);
}

/* Computes the formula for entries of one window, whose scores are known. */
static void work_on_window(const struct stage *stage, struct formula *formula,
                           struct ranked **entries, const float *scores, uint32_t count,
                           double *values)
{
    const struct columns *columns = stage->context->snapshot->columns;
    uint16_t *offsets = stage->context->hits->offsets;
    uint32_t window = window_of(entries[0]->id);
    uint32_t begun;
    uint32_t i;

    for (i = 0; i < count; i++)
        offsets[i] = (uint16_t)(entries[i]->id & (WINDOW_SIZE - 1));
    do {
        begun = columns_read_begin(columns, window);
        formula_compute(formula, window, offsets, count, scores, values);
    } while (!columns_read_valid(columns, window, begun));
}

/* Scores, and with a formula its values, of entries that are put in order of id. */
static int work_on(struct list *list, struct formula *formula, struct ranked **by_id,
                   uint32_t count, double *values, struct err *err)
{
    struct stage *stage = list->stage;
    struct arena *arena = stage->context->arena;
    float *scores = arena_array(arena, count + 1, sizeof(*scores));
    docid *ids = arena_array(arena, count + 1, sizeof(*ids));
    uint32_t begin;
    uint32_t end;
    uint32_t i;
    int rc = 0;

    if (count)
        qsort(by_id, count, sizeof(struct ranked *), compare_ids);
    for (i = 0; i < count; i++)
        ids[i] = by_id[i]->id;
    if (stage->text)
        rc = text_plan_score_ids(stage->text, ids, count, scores, err);
    for (i = 0; i < count && !rc; i++)
        by_id[i]->score = scores[i];
    for (begin = 0; formula && begin < count && !rc; begin = end) {
        for (end = begin + 1; end < count && window_of(ids[end]) == window_of(ids[begin]);)
            end++;
        work_on_window(stage, formula, by_id + begin, scores + begin, end - begin, values + begin);
    }
    return rc;
}

static struct ranked **point_at(struct ranked *entries, uint32_t count, struct arena *arena)
{
    struct ranked **pointers = arena_array(arena, count + 1, sizeof(struct ranked *));
    uint32_t i;

    for (i = 0; i < count; i++)
        pointers[i] = &entries[i];
    return pointers;
}

/* ---- the second phase ---- */

struct reranked {
    uint64_t key;
    struct ranked entry;
};

static int compare_reranked(const void *a, const void *b)
{
    const struct reranked *x = a;
    const struct reranked *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->entry.id > y->entry.id) - (x->entry.id < y->entry.id);
}

static int rerank(struct list *list, struct ranked *entries, uint32_t count, struct err *err)
{
    struct stage *stage = list->stage;
    struct arena *arena = stage->context->arena;
    struct ranked **by_id;
    struct reranked *order;
    double *values;
    uint32_t i;
    int rc;

    if (count > stage->source->rerank_count)
        count = stage->source->rerank_count;
    if (count == 0)
        return 0;
    by_id = point_at(entries, count, arena);
    values = arena_array(arena, count, sizeof(*values));
    order = arena_array(arena, count, sizeof(*order));
    rc = work_on(list, stage->rerank, by_id, count, values, err);
    if (rc)
        return rc;
    for (i = 0; i < count; i++)
        order[i] = (struct reranked){sort_formula_key(values[i]), *by_id[i]};
    qsort(order, count, sizeof(*order), compare_reranked);
    for (i = 0; i < count; i++)
        entries[i] = order[i].entry;
    return 0;
}

/* The values of the second phase, which whoever merges the parts orders by. */
static int value_entries(struct list *list, struct ranked *entries, uint32_t count, double *values,
                         struct err *err)
{
    struct stage *stage = list->stage;
    struct arena *arena = stage->context->arena;
    struct ranked **by_id;
    double *found;
    uint32_t i;
    int rc;

    for (i = 0; i < count; i++)
        values[i] = NAN;
    if (!stage->rerank || !count)
        return 0;
    if (count > stage->source->rerank_count)
        count = stage->source->rerank_count;
    by_id = point_at(entries, count, arena);
    found = arena_array(arena, count + 1, sizeof(*found));
    rc = work_on(list, stage->rerank, by_id, count, found, err);
    for (i = 0; i < count && !rc; i++)
        values[by_id[i] - entries] = found[i];
    return rc;
}

/* ---- the cap ---- */

/* Whether the entry stands behind the page before: of a cursor it is known where that ended. */
static bool is_behind(const struct list *list, const struct ranked *entry)
{
    return !list->has_cursor || ranked_compare(entry, &list->last, list->stage->sort.count) > 0;
}

/* Leaves out what is too much of one value; stops when the page and one more are kept: *enough. */
static uint32_t apply_cap(const struct list *list, struct ranked *entries, uint32_t count,
                          bool *enough)
{
    const struct stage *stage = list->stage;
    const struct snapshot *snapshot = stage->context->snapshot;
    const struct column *column = columns_column(snapshot->columns, stage->cap_field->id);
    uint16_t field = stage->cap_field->id;
    uint32_t wanted = (list->has_cursor ? 0 : stage->source->offset) + stage->source->limit + 1;
    uint32_t known = column ? dictionary_count(column_dictionary(column)) : 0;
    uint32_t *seen = arena_array(stage->context->arena, (size_t)known + 1, sizeof(*seen));
    uint32_t kept = 0;
    uint32_t i;

    for (i = 0; i < count && wanted; i++) {
        int64_t value = COLUMN_NULL;

        if (column)
            columns_get(snapshot->columns, entries[i].id, &field, 1, &value);
        if (value != COLUMN_NULL && (uint64_t)value < known && ++seen[value] > stage->source->cap)
            continue;
        wanted -= is_behind(list, &entries[i]);
        entries[kept++] = entries[i];
    }
    *enough = wanted == 0;
    return kept;
}

/* ---- the page ---- */

static void put_hits(const struct list *list, const struct ranked *entries, uint32_t count,
                     struct query_answer *answer)
{
    const struct sort_plan *sort = &list->stage->sort;
    struct query_hit *hits = arena_array(list->stage->context->arena, count + 1, sizeof(*hits));
    uint32_t i;
    uint32_t k;

    for (i = 0; i < count; i++) {
        hits[i].id = entries[i].id;
        hits[i].score = entries[i].score;
        for (k = 0; k < SORT_COUNT_MAX; k++)
            hits[i].keys[k] =
                k < sort->count ? sort_key_value(&sort->keys[k], entries[i].keys[k]) : (double)NAN;
    }
    answer->hits = hits;
    answer->hit_count = count;
}

static struct bytes cap_value_of(const struct stage *stage, docid id)
{
    const struct columns *columns = stage->context->snapshot->columns;
    const struct column *column = columns_column(columns, stage->cap_field->id);
    uint16_t field = stage->cap_field->id;
    int64_t value = COLUMN_NULL;

    if (column)
        columns_get(columns, id, &field, 1, &value);
    if (value == COLUMN_NULL || (uint64_t)value >= dictionary_count(column_dictionary(column)))
        return BYTES_EMPTY;
    return arena_copy(stage->context->arena,
                      dictionary_name(column_dictionary(column), (uint32_t)value));
}

static int put_ranks(struct list *list, struct ranked *entries, uint32_t count,
                     struct query_answer *answer, struct err *err)
{
    struct stage *stage = list->stage;
    struct arena *arena = stage->context->arena;
    struct query_rank *ranks = arena_array(arena, count + 1, sizeof(*ranks));
    double *values = arena_array(arena, count + 1, sizeof(*values));
    uint32_t i;
    int rc = value_entries(list, entries, count, values, err);

    for (i = 0; i < count && !rc; i++) {
        ranks[i].place = place_of(&stage->sort, &entries[i], stage->context->snapshot, arena);
        ranks[i].rerank = values[i];
        if (stage->cap_field)
            ranks[i].cap_value = cap_value_of(stage, entries[i].id);
    }
    answer->ranks = ranks;
    if (!rc && count && stage->text && stage->source->part->tells_words) {
        struct query_words *words = arena_alloc(arena, sizeof(*words));

        text_plan_tell_words(stage->text, arena, words);
        answer->words = words;
    }
    return rc;
}

static struct bytes next_cursor(const struct list *list, const struct ranked *last, uint32_t depth)
{
    const struct stage *stage = list->stage;
    struct arena *arena = stage->context->arena;
    const struct cursor_place place = {
        .place = place_of(&stage->sort, last, stage->context->snapshot, arena)};
    struct page_cursor cursor = {.query_hash = list->hash,
                                 .depth = depth,
                                 .now = stage->source->now,
                                 .places = &place,
                                 .place_count = 1,
                                 .words = list->cursor.words};

    if (list->has_cursor)
        cursor.now = list->cursor.now;
    else if (stage->text)
        text_plan_tell_words(stage->text, arena, &cursor.words);
    return cursor_encode(&cursor, arena);
}

/* How many entries stand before the page. */
static uint32_t skipped(const struct list *list, const struct ranked *entries, uint32_t count)
{
    const struct query_stage *source = list->stage->source;
    uint32_t skip = source->offset;

    if (list->has_cursor)
        skip = 0;
    while (list->has_cursor && source->cap && skip < count && !is_behind(list, &entries[skip]))
        skip++;
    return skip < count ? skip : count;
}

int list_page(struct list *list, struct query_answer *answer, bool *again, struct err *err)
{
    struct stage *stage = list->stage;
    const struct query_stage *source = stage->source;
    struct ranked *entries = stage->best.entries;
    uint32_t count = stage->best.count;
    bool is_all = count < stage->best.count_max || count == QUERY_CAP_COLLECT_MAX;
    uint32_t skip;
    uint32_t shown;
    int rc = 0;

    *again = false;
    best_sort(&stage->best);
    if (stage->rerank && !source->part)
        rc = rerank(list, entries, count, err);
    if (source->cap && !rc && !(source->part && stage->rerank)) {
        bool enough;

        count = apply_cap(list, entries, count, &enough);
        *again = !enough && !is_all && source->limit > 0;
    }
    if (rc || *again) {
        if (*again)
            list->count_max = list->count_max < QUERY_CAP_COLLECT_MAX / CAP_GROWTH
                                  ? list->count_max * CAP_GROWTH
                                  : QUERY_CAP_COLLECT_MAX;
        return rc;
    }
    skip = skipped(list, entries, count);
    shown = count - skip < source->limit ? count - skip : source->limit;
    if (!stage->sort.uses_score && stage_has_scores(stage))
        rc = work_on(list, NULL, point_at(entries + skip, shown, stage->context->arena), shown,
                     NULL, err);
    if (rc)
        return rc;
    put_hits(list, entries + skip, shown, answer);
    if (source->part)
        return put_ranks(list, entries + skip, shown, answer, err);
    if (shown && shown < count - skip && !stage->rerank && !source->no_cursor)
        answer->cursor =
            next_cursor(list, &entries[skip + shown - 1],
                        (list->has_cursor ? list->cursor.depth : source->offset) + shown);
    return 0;
}

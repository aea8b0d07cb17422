/* SPDX-License-Identifier: Apache-2.0 */
/* text_list.c - see text_parts.h: the postings of one term in one part of the index. */
#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "index/postings/id_sort.h"
#include "query/bounds.h"
#include "query/text/text_parts.h"

void *plan_alloc(struct arena *arena, size_t size)
{
    enum { LINE = 64 };
    uintptr_t place = (uintptr_t)arena_alloc(arena, size + LINE);

    return (void *)((place + LINE - 1) & ~(uintptr_t)(LINE - 1));
}

static const struct code_table *code_table_new(struct text_plan *plan,
                                               const struct text_segment *segment, uint8_t fields)
{
    struct code_table *table = plan_alloc(plan->arena, sizeof(*table));
    uint32_t count = segment->info.code_count, code, i;

    table->field_count = 0;
    for (i = 0; i < plan->field_count; i++) {
        if (fields >> i & 1)
            table->fields[table->field_count++] = (uint8_t)i;
    }
    if (count > CODE_TABLE_SIZE)
        count = CODE_TABLE_SIZE;
    for (code = 0; code < count; code++) {
        uint32_t tfs = text_segment_tfs(segment, code);

        table->has[code] = 0;
        for (i = 0; i < table->field_count; i++) {
            uint32_t tf = tfs >> table->fields[i] * 8 & 255;

            table->factors[i][code] = plan->field_weights[table->fields[i]] * (float)tf;
            table->has[code] |= tf != 0;
        }
    }
    return table;
}

/* Σ weight · tf · norm; with tables for the common codes or from the frequencies, the same. */
static float sum_of_tfs(const struct text_plan *plan, uint8_t fields, uint32_t tfs,
                        uint32_t lengths)
{
    float t = 0;
    uint32_t i;

    for (i = 0; i < plan->field_count; i++) {
        if (fields >> i & 1)
            t += plan->field_weights[i] * (float)(tfs >> i * 8 & 255) *
                 plan->norms->of_length[i][lengths >> i * 8 & 255];
    }
    return t;
}

float sum_of_code(const struct text_plan *plan, const struct text_list *list, uint32_t code,
                  uint32_t lengths)
{
    const struct code_table *table = list->table;
    float t = 0;
    uint32_t i;

    if (code >= CODE_TABLE_SIZE)
        return sum_of_tfs(plan, list->fields, text_segment_tfs(list->scorer->segment, code),
                          lengths);
    for (i = 0; i < table->field_count; i++) {
        unsigned field = table->fields[i];

        t += table->factors[i][code] * plan->norms->of_length[field][lengths >> field * 8 & 255];
    }
    return t;
}

bool code_has(const struct text_segment *segment, const struct code_table *table, uint32_t code)
{
    uint32_t tfs, i;

    if (code < CODE_TABLE_SIZE)
        return table->has[code];
    tfs = text_segment_tfs(segment, code);
    for (i = 0; i < table->field_count; i++) {
        if (tfs >> table->fields[i] * 8 & 255)
            return true;
    }
    return false;
}

bool list_has_code(const struct text_list *list, uint32_t code)
{
    return code_has(list->matcher->segment, list->table, code);
}

const struct code_table *part_codes(struct text_plan *plan, struct text_part *part, uint8_t fields)
{
    if (!part->tables[fields])
        part->tables[fields] = code_table_new(plan, part->segment, fields);
    return part->tables[fields];
}

/* ---- opening ---- */

static float bound_of(const struct text_plan *plan, const struct text_list *list,
                      const uint8_t bounds[SEGMENT_FIELD_COUNT])
{
    float t = 0;
    uint32_t i;

    for (i = 0; i < list->table->field_count; i++) {
        unsigned field = list->table->fields[i];

        t += plan->bound_weights[field] * text_segment_bound_value(bounds[field]);
    }
    return isinf(t) ? list->weight : value_of(t, list->weight) * BOUND_SLACK;
}

static int open_segment(struct text_plan *plan, struct text_part *part,
                        const struct text_slot *slot, uint8_t fields, struct text_list **out,
                        struct err *err)
{
    uint8_t bounds[SEGMENT_FIELD_COUNT];
    struct text_list *list;
    uint32_t count = count_of(part, slot), span;
    int rc;

    *out = NULL;
    if (count == 0)
        return 0;
    list = arena_zero(plan->arena, sizeof(*list));
    list->matcher = plan_alloc(plan->arena, sizeof(*list->matcher));
    list->scorer = plan_alloc(plan->arena, sizeof(*list->scorer));
    list->term = slot->term;
    list->fields = fields;
    list->masked = fields != ALL_FIELDS;
    list->weight = slot->weight;
    list->count = count;
    list->table = part_codes(plan, part, fields);
    rc = postings_open(list->matcher, part->segment, slot->term, err);
    if (rc)
        return rc;
    postings_bounds(list->matcher, bounds);
    list->max = bound_of(plan, list, bounds);
    span = part->segment->info.last_id - part->segment->info.first_id;
    list->sparse = count < span / TEXT_SPARSE_SPAN + 1;
    *out = list;
    return 0;
}

/* Arrays from a buffer: few enough to be sorted for each query. */

static void sort_hits(struct text_plan *plan, struct buffer_hits *hits)
{
    size_t count = hits->count, i;
    struct id_place *order = arena_alloc(plan->arena, 2 * count * sizeof(*order));
    struct buffer_hit *sorted = arena_alloc(plan->arena, count * sizeof(*sorted));

    for (i = 0; i < count; i++)
        order[i] = (struct id_place){hits->list[i].id, (uint32_t)i};
    id_sort(order, order + count, count);
    for (i = 0; i < count; i++)
        sorted[i] = hits->list[order[i].place];
    hits->list = sorted;
}

void read_buffer(struct text_plan *plan, const struct snapshot_buffer *buffer, termid term,
                 struct buffer_hits *hits)
{
    struct buffer_cursor cursor;
    uint32_t capacity = 0;
    bool sorted = true;

    *hits = (struct buffer_hits){NULL, 0};
    if (term == TERMID_NONE)
        return;
    buffer_cursor_init(&cursor, buffer->buffer, buffer->mark, term);
    while (buffer_cursor_next(&cursor)) {
        if (hits->count == capacity) {
            struct buffer_hit *grown;

            capacity = capacity ? 2 * capacity : 64;
            grown = arena_alloc(plan->arena, capacity * sizeof(*grown));
            if (hits->count)
                memcpy(grown, hits->list, hits->count * sizeof(*grown));
            hits->list = grown;
        }
        sorted = sorted && (hits->count == 0 || hits->list[hits->count - 1].id < cursor.id);
        hits->list[hits->count++] = (struct buffer_hit){cursor.id, cursor.tfs, cursor.packed};
    }
    if (!sorted)
        sort_hits(plan, hits);
}

uint32_t tfs_mask(uint8_t fields)
{
    uint32_t mask = 0, i;

    for (i = 0; i < SEGMENT_FIELD_COUNT; i++)
        mask |= fields >> i & 1 ? UINT32_C(255) << i * 8 : 0;
    return mask;
}

static void open_buffer(struct text_plan *plan, struct text_part *part,
                        const struct text_slot *slot, uint8_t fields, struct text_list **out)
{
    const struct buffer_hits *hits = hits_of(part, slot);
    struct text_list *list;
    struct bytes *packed;
    uint32_t *tfs, i, kept = 0, mask = tfs_mask(fields);
    float *values;
    docid *ids;

    *out = NULL;
    if (hits->count == 0)
        return;
    list = arena_zero(plan->arena, sizeof(*list));
    list->ids = ids = arena_alloc(plan->arena, hits->count * sizeof(*ids));
    list->tfs = tfs = arena_alloc(plan->arena, hits->count * sizeof(*tfs));
    list->values = values = arena_alloc(plan->arena, hits->count * sizeof(*values));
    list->packed = packed = arena_alloc(plan->arena, hits->count * sizeof(*packed));
    for (i = 0; i < hits->count; i++) {
        const struct buffer_hit *hit = &hits->list[i];

        if (!(hit->tfs & mask))
            continue;
        ids[kept] = hit->id;
        tfs[kept] = hit->tfs;
        packed[kept] = hit->packed;
        values[kept] = value_of(
            sum_of_tfs(plan, fields, hit->tfs, lengths_of(plan, fields, hit->id)), slot->weight);
        list->max = values[kept] > list->max ? values[kept] : list->max;
        kept++;
    }
    list->is_array = true;
    list->sparse = true;
    list->fields = fields;
    list->weight = slot->weight;
    list->count = kept;
    if (kept)
        *out = list;
}

int list_open(struct text_plan *plan, struct text_part *part, const struct text_slot *slot,
              uint8_t fields, struct text_list **list, struct err *err)
{
    *list = NULL;
    if (slot->term == TERMID_NONE)
        return 0;
    if (part->segment)
        return open_segment(plan, part, slot, fields, list, err);
    open_buffer(plan, part, slot, fields, list);
    return 0;
}

/* ---- windows ---- */

/* The first of the array at or above id, from a place below it on: steps, then halves. */
static uint32_t array_seek(const struct text_list *list, uint32_t from, docid id)
{
    uint32_t step = 1, low = from, high;

    while (low + step < list->count && list->ids[low + step] < id) {
        low += step;
        step *= 2;
    }
    high = low + step < list->count ? low + step : list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int list_rewind(struct text_list *list, struct err *err)
{
    list->at = 0;
    if (list->is_array)
        return 0;
    list->matcher->floor = 0;
    return list->matcher->block ? postings_go(list->matcher, 0, err) : 0;
}

int list_next(struct text_list *list, docid from, docid *next, struct err *err)
{
    int rc;

    if (list->is_array) {
        list->at = array_seek(list, list->at, from);
        *next = list->at < list->count ? list->ids[list->at] : DOCID_END;
        return 0;
    }
    if (list->sparse)
        return postings_seek(list->matcher, from, next, err);
    rc = postings_seek_block(list->matcher, from, err);
    *next = postings_low(list->matcher);
    if (*next < from)
        *next = from;
    return rc;
}

/* Only what has the fields, by the codes. */
static int fill_masked(struct text_list *list, uint32_t window, struct window_bits *bits,
                       struct err *err)
{
    docid first = window_first(window), last = first + (WINDOW_SIZE - 1);
    struct postings *postings = list->matcher;
    int rc = postings_seek_block(postings, first, err);

    memset(bits, 0, sizeof(*bits));
    while (!rc && !postings_ended(postings) && block_first(postings) <= last) {
        const uint32_t *codes;
        const docid *ids;
        uint32_t i;

        rc = postings_ids(postings, &ids, err);
        if (!rc)
            rc = postings_codes(postings, &codes, err);
        if (rc)
            break;
        for (i = 0; i < postings->size; i++) {
            if (ids[i] >= first && ids[i] <= last && list_has_code(list, codes[i]))
                window_set(bits, ids[i] - first);
        }
        if (postings->last > last)
            break;
        rc = postings_next_block(postings, err);
    }
    return rc;
}

int list_fill(struct text_list *list, uint32_t window, struct window_bits *bits, struct err *err)
{
    docid first = window_first(window);

    if (!list->is_array)
        return list->masked ? fill_masked(list, window, bits, err)
                            : postings_fill(list->matcher, window, bits, err);
    memset(bits, 0, sizeof(*bits));
    list->at = array_seek(list, list->at, first);
    for (; list->at < list->count && window_of(list->ids[list->at]) == window; list->at++)
        window_set(bits, list->ids[list->at] - first);
    return 0;
}

int list_offsets(struct text_list *list, uint32_t window, uint16_t *offsets, uint32_t *count,
                 struct err *err)
{
    docid first = window_first(window), last = first + (WINDOW_SIZE - 1);
    struct postings *postings = list->matcher;
    uint32_t found = 0, i;
    int rc;

    *count = 0;
    if (list->is_array) {
        list->at = array_seek(list, list->at, first);
        for (; list->at < list->count && list->ids[list->at] <= last; list->at++)
            offsets[found++] = (uint16_t)(list->ids[list->at] - first);
        *count = found;
        return 0;
    }
    rc = postings_seek_block(postings, first, err);
    while (!rc && !postings_ended(postings) && block_first(postings) <= last) {
        const docid *ids;

        rc = postings_ids(postings, &ids, err);
        for (i = rc ? postings->size : 0; i < postings->size && ids[i] <= last; i++) {
            offsets[found] = (uint16_t)(ids[i] - first);
            found += ids[i] >= first;
        }
        if (rc || postings->last > last)
            break;
        rc = postings_next_block(postings, err);
    }
    *count = found;
    return rc;
}

int list_take(struct text_list *list, docid ids[BLOCK_SIZE], uint32_t *count, struct err *err)
{
    struct postings *postings = list->matcher;
    const docid *found;
    int rc;

    *count = 0;
    if (list->is_array) {
        *count = list->count - list->at < BLOCK_SIZE ? list->count - list->at : BLOCK_SIZE;
        memcpy(ids, list->ids + list->at, *count * sizeof(*ids));
        list->at += *count;
        return 0;
    }
    if (postings_ended(postings))
        return 0;
    rc = postings_ids(postings, &found, err);
    if (rc)
        return rc;
    *count = postings->size;
    memcpy(ids, found, *count * sizeof(*ids));
    return postings_next_block(postings, err);
}

/* ---- single documents ---- */

int list_open_scorer(struct text_list *list, struct err *err)
{
    int rc = 0;

    if (list->is_array || list->is_open)
        return 0;
    if (list->matcher->block_count == 1 && !postings_ended(list->matcher))
        *list->scorer = *list->matcher; /* unpacked already */
    else
        rc = postings_open(list->scorer, list->matcher->segment, list->term, err);
    list->is_open = !rc;
    return rc;
}

int list_find(struct text_list *list, docid id, bool *found, struct err *err)
{
    struct postings *postings = list->scorer;
    uint32_t code;
    int index = -1, rc;

    *found = false;
    if (list->is_array) {
        uint32_t from = list->index < list->count && list->ids[list->index] <= id ? list->index : 0;

        list->index = array_seek(list, from, id);
        *found = list->index < list->count && list->ids[list->index] == id;
        return 0;
    }
    rc = list_open_scorer(list, err);
    if (!rc && (postings_ended(postings) || id > postings->last || id < block_first(postings)))
        rc = postings_return_block(postings, id, err);
    if (!rc)
        rc = postings_index(postings, id, &index, err);
    if (rc || index < 0)
        return rc;
    list->index = (uint32_t)index;
    *found = true;
    if (list->masked) {
        rc = postings_code_at(postings, list->index, &code, err);
        *found = !rc && list_has_code(list, code);
    }
    return rc;
}

static uint32_t code_at(const struct text_list *list)
{
    uint32_t code = 0;

    (void)postings_code_at(list->scorer, list->index, &code, NULL); /* cannot fail */
    return code;
}

uint32_t list_tfs(const struct text_list *list)
{
    return list->is_array ? list->tfs[list->index]
                          : text_segment_tfs(list->scorer->segment, code_at(list));
}

float list_value(const struct text_plan *plan, const struct text_list *list, uint32_t lengths)
{
    if (list->is_array)
        return list->values[list->index];
    return value_of(sum_of_code(plan, list, code_at(list), lengths), list->weight);
}

static void values_in_block(const struct text_plan *plan, struct text_list *list,
                            const int16_t *indexes, const docid *ids, uint32_t count, float *values)
{
    enum { UNPACK_COUNT = 16 }; /* codes that are dearer one by one than all 256 at once */
    uint32_t i;

    if (count >= UNPACK_COUNT) {
        const uint32_t *codes;

        (void)postings_codes(list->scorer, &codes, NULL); /* cannot fail */
    }
    for (i = 0; i < count; i++) {
        values[i] = -1;
        if (indexes[i] < 0)
            continue;
        list->index = (uint32_t)indexes[i];
        values[i] = list_value(plan, list, lengths_of(plan, list->fields, ids[i]));
        if (list->masked && !list_has_code(list, code_at(list)))
            values[i] = -1;
    }
}

/* Of ids in the block at hand: those that it may lift to min. */
static int values_in_reach(const struct text_plan *plan, struct text_list *list, const docid *ids,
                           uint32_t count, const float *has, float min, float *values,
                           struct err *err)
{
    float max = list_block_max(list, list->scorer->block);
    uint16_t places[BLOCK_SIZE];
    int16_t indexes[BLOCK_SIZE];
    float found[BLOCK_SIZE];
    docid few[BLOCK_SIZE];
    uint32_t kept = 0, i;
    int rc = 0;

    for (i = 0; i < count; i++) {
        values[i] = -1;
        few[kept] = ids[i];
        places[kept] = (uint16_t)i;
        kept += (has[i] + max) * BOUND_SLACK >= min;
    }
    if (kept)
        rc = postings_indexes(list->scorer, few, kept, indexes, err);
    if (rc)
        return rc;
    values_in_block(plan, list, indexes, few, kept, found);
    for (i = 0; i < kept; i++)
        values[places[i]] = found[i];
    return 0;
}

int list_values(const struct text_plan *plan, struct text_list *list, const docid *ids,
                uint32_t count, const float *has, float min, float *values, struct err *err)
{
    struct postings *postings = list->scorer;
    int16_t indexes[BLOCK_SIZE];
    uint32_t i = 0, end;
    int rc;

    assert(count <= BLOCK_SIZE);
    if (list->is_array) {
        uint32_t at = 0;

        for (; i < count; i++) {
            at = array_seek(list, at, ids[i]);
            values[i] = at < list->count && list->ids[at] == ids[i] ? list->values[at] : -1;
        }
        return 0;
    }
    rc = list_open_scorer(list, err);
    while (i < count && !rc) {
        if (postings_ended(postings) || ids[i] > postings->last || ids[i] < block_first(postings))
            rc = postings_return_block(postings, ids[i], err);
        for (; i < count && !rc && (postings_ended(postings) || ids[i] < block_first(postings));
             i++)
            values[i] = -1;
        for (end = i; end < count && !rc && !postings_ended(postings) && ids[end] <= postings->last;
             end++)
            continue;
        if (rc || end == i)
            continue;
        if (list->reaches) {
            rc = values_in_reach(plan, list, ids + i, end - i, has + i, min, values + i, err);
        } else {
            rc = postings_indexes(postings, ids + i, end - i, indexes, err);
            if (!rc)
                values_in_block(plan, list, indexes, ids + i, end - i, values + i);
        }
        i = end;
    }
    return rc;
}

int list_reach(struct text_list *list, const docid *ids, uint32_t *count, struct err *err)
{
    struct postings *postings = list->scorer;
    uint32_t low = 1, high = *count;
    int rc = list_open_scorer(list, err);

    if (rc || list->is_array)
        return rc;
    if (postings_ended(postings) || ids[0] > postings->last || ids[0] < block_first(postings))
        rc = postings_return_block(postings, ids[0], err);
    if (rc || postings_ended(postings))
        return rc;
    while (low < high) { /* the first that is beyond the block, at least 1 */
        uint32_t middle = low + (high - low) / 2;

        if (ids[middle] > postings->last)
            high = middle;
        else
            low = middle + 1;
    }
    *count = low;
    return 0;
}

int list_find_run(struct text_list *list, const docid *ids, uint32_t count, int32_t *indexes,
                  struct err *err)
{
    struct postings *postings = list->scorer;
    int16_t found[BLOCK_SIZE];
    uint32_t below = 0, i;
    int rc = 0;

    for (i = 0; i < count && list->is_array; i++) {
        bool is_there;

        (void)list_find(list, ids[i], &is_there, err); /* cannot fail */
        indexes[i] = is_there ? (int32_t)list->index : -1;
    }
    if (list->is_array)
        return 0;
    for (; below < count && (postings_ended(postings) || ids[below] < block_first(postings));
         below++)
        indexes[below] = -1;
    if (below < count)
        rc = postings_indexes(postings, ids + below, count - below, found, err);
    for (i = below; i < count && !rc; i++) {
        uint32_t code;

        indexes[i] = found[i - below];
        if (!list->masked || indexes[i] < 0)
            continue;
        rc = postings_code_at(postings, (uint32_t)indexes[i], &code, err);
        indexes[i] = !rc && list_has_code(list, code) ? indexes[i] : -1;
    }
    return rc;
}

/* ---- postings by what is kept of them ---- */

uint32_t list_handle(const struct text_list *list)
{
    return list->is_array ? list->index : code_at(list);
}

float list_value_at(const struct text_plan *plan, const struct text_list *list, uint32_t handle,
                    uint32_t lengths)
{
    if (list->is_array)
        return list->values[handle];
    return value_of(sum_of_code(plan, list, handle, lengths), list->weight);
}

/* ---- blocks with values ---- */

int list_score_from(struct text_list *list, docid id, struct err *err)
{
    int rc = list_open_scorer(list, err);

    if (list->is_array)
        list->run = array_seek(list, 0, id);
    else if (!rc)
        rc = postings_return_block(list->scorer, id, err);
    return rc;
}

bool list_score_ended(const struct text_list *list)
{
    return list->is_array ? list->run >= list->count : postings_ended(list->scorer);
}

static uint32_t array_end(const struct text_list *list)
{
    return list->count - list->run < BLOCK_SIZE ? list->count : list->run + BLOCK_SIZE;
}

docid list_score_last(const struct text_list *list)
{
    return list->is_array ? list->ids[array_end(list) - 1] : list->scorer->last;
}

docid list_score_low(const struct text_list *list)
{
    return list->is_array ? list->ids[list->run] : block_first(list->scorer);
}

int list_score_next(struct text_list *list, struct err *err)
{
    if (!list->is_array)
        return postings_next_block(list->scorer, err);
    list->run = array_end(list);
    return 0;
}

int list_score_skip(const struct text_plan *plan, struct text_list *list, float min,
                    struct err *err)
{
    struct postings *postings = list->scorer;
    uint32_t block;

    if (list->is_array) {
        if (list->max < min)
            list->run = list->count;
        return 0;
    }
    for (block = postings->block; block < postings->block_count; block++) {
        if (bound_of(plan, list, postings_block_bounds(postings, block)) >= min)
            break;
    }
    return block == postings->block ? 0 : postings_go(postings, block, err);
}

int list_score_block(const struct text_plan *plan, struct text_list *list, docid first, docid last,
                     float min, struct scored_run *run, struct err *err)
{
    uint32_t i;

    run->count = 0;
    if (list->masked && min <= 0)
        min = FLT_MIN; /* nothing in the fields is nothing at all */
    if (!list->is_array)
        return list_score_packed(plan, list, first, last, min, run, err);
    for (i = array_seek(list, list->run, first); i < array_end(list) && list->ids[i] <= last; i++) {
        run->ids[run->count] = list->ids[i];
        run->values[run->count] = list->values[i];
        run->count += list->values[i] >= min;
    }
    return 0;
}

int list_score_ids(const struct text_list *list, struct scored_run *run, struct err *err)
{
    const docid *ids = list->is_array ? list->ids + list->run : NULL;
    int rc = list->is_array ? 0 : postings_ids(list->scorer, &ids, err);

    run->count = 0;
    if (rc)
        return rc;
    run->count = list->is_array ? array_end(list) - list->run : list->scorer->size;
    memcpy(run->ids, ids, run->count * sizeof(*ids));
    return 0;
}

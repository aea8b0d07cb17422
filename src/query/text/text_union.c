/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_union.c - see text_parts.h: the lists of a leaf that means any of many words.
 *
 * A prefix may have a thousand words, most of them rare. Short lists are read whole and merged into
 * one array with the best value of each document; long ones stay as they are. Where nobody asks for
 * values the array is of ids alone: nothing but ids and fields is read, by one cursor, and many of
 * them are put in order as bits of the part. Then long lists are taken too, unless there are other
 * words, beside which most of them need not be read.
 */
#include <stdlib.h>

#include "index/postings/id_sort.h"
#include "query/bounds.h"
#include "query/text/text_parts.h"

enum { MET_SPAN = 64 /* postings for so many ids of a part, or more: bits rather than a list */ };

/* ---- with values ---- */

struct any_hit {
    docid id;
    float value;
};

struct any_hits {
    struct any_hit *list;
    uint32_t count;
};

static int compare_any(const void *a, const void *b)
{
    const struct any_hit *left = a, *right = b;

    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->value < right->value) - (left->value > right->value); /* the best first */
}

/* All of a list, as long as there is room. */
static int add_list(const struct text_plan *plan, struct text_list *list, struct any_hits *hits,
                    struct err *err)
{
    struct scored_run run;
    uint32_t i;
    int rc = list_score_from(list, 0, err);

    while (!rc && !list_score_ended(list)) {
        rc = list_score_block(plan, list, 0, DOCID_END - 1, 0, &run, err);
        for (i = 0; i < run.count && !rc; i++) {
            if (run.values[i] > 0) /* else it has nothing in the fields */
                hits->list[hits->count++] = (struct any_hit){run.ids[i], run.values[i]};
        }
        if (!rc)
            rc = list_score_next(list, err);
    }
    return rc;
}

static struct text_list *merge_any(struct text_plan *plan, struct any_hits *hits)
{
    struct text_list *list = arena_zero(plan->arena, sizeof(*list));
    docid *ids = arena_alloc(plan->arena, hits->count * sizeof(*ids));
    float *values = arena_alloc(plan->arena, hits->count * sizeof(*values));
    uint32_t i;

    qsort(hits->list, hits->count, sizeof(*hits->list), compare_any);
    for (i = 0; i < hits->count; i++) {
        if (list->count && ids[list->count - 1] == hits->list[i].id)
            continue;
        ids[list->count] = hits->list[i].id;
        values[list->count++] = hits->list[i].value;
        list->max = hits->list[i].value > list->max ? hits->list[i].value : list->max;
    }
    list->is_array = true;
    list->sparse = true;
    list->ids = ids;
    list->values = values;
    return list;
}

static int open_scored(struct text_plan *plan, struct text_part *part, const struct text_leaf *leaf,
                       struct part_leaf *here, struct err *err)
{
    struct text_list **few = arena_array(plan->arena, leaf->count + 1, sizeof(struct text_list *));
    struct any_hits hits = {0};
    uint32_t few_count = 0, i;
    uint64_t total = 0;
    int rc = 0;

    here->lists = arena_array(plan->arena, leaf->count + 1, sizeof(struct text_list *));
    for (i = 0; i < leaf->count && !rc; i++) {
        struct text_list *list;

        rc = list_open(plan, part, &leaf_slots(plan, leaf)[i], leaf->fields, &list, err);
        if (rc || !list)
            continue;
        if (list->count <= UNION_SMALL_COUNT && total + list->count <= UNION_MERGE_COUNT_MAX) {
            total += list->count;
            few[few_count++] = list;
        } else {
            here->lists[here->list_count++] = list;
        }
    }
    if (few_count == 1)
        here->lists[here->list_count++] = few[0];
    if (rc || few_count < 2)
        return rc;
    hits.list = arena_alloc(plan->arena, total * sizeof(*hits.list));
    for (i = 0; i < few_count && !rc; i++)
        rc = add_list(plan, few[i], &hits, err);
    if (!rc && hits.count)
        here->lists[here->list_count++] = merge_any(plan, &hits);
    return rc;
}

/* ---- without values ---- */

/* Who has any of the words. */
struct met {
    docid first;    /* the id of bit 0 */
    uint64_t *bits; /* NULL: a list */
    struct id_place *list;
    uint32_t count; /* of the list, some twice */
};

static void met_add(struct met *met, const docid *ids, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count && met->bits; i++)
        met->bits[(ids[i] - met->first) / 64] |= UINT64_C(1) << (ids[i] - met->first) % 64;
    for (i = 0; i < count && !met->bits; i++)
        met->list[met->count++].id = ids[i];
}

/* Of a block those that have the word in the fields. */
static uint32_t keep_fields(const struct text_segment *segment, const struct code_table *table,
                            const docid *ids, const uint32_t *codes, uint32_t count, docid *kept)
{
    uint32_t kept_count = 0, i;

    for (i = 0; i < count; i++) {
        kept[kept_count] = ids[i];
        kept_count +=
            codes[i] < CODE_TABLE_SIZE ? table->has[codes[i]] : code_has(segment, table, codes[i]);
    }
    return kept_count;
}

static int meet_segment(struct text_plan *plan, struct text_part *part, termid term, uint8_t fields,
                        struct postings *cursor, struct met *met, struct err *err)
{
    const struct code_table *table = part_codes(plan, part, fields);
    docid kept[BLOCK_SIZE];
    const uint32_t *codes;
    const docid *ids;
    int rc = postings_open(cursor, part->segment, term, err);

    while (!rc && !postings_ended(cursor)) {
        rc = postings_ids(cursor, &ids, err);
        if (!rc && fields == ALL_FIELDS) {
            met_add(met, ids, cursor->size);
        } else if (!rc) {
            rc = postings_codes(cursor, &codes, err);
            if (!rc)
                met_add(met, kept,
                        keep_fields(part->segment, table, ids, codes, cursor->size, kept));
        }
        rc = rc ? rc : postings_next_block(cursor, err);
    }
    return rc;
}

static void meet_buffer(const struct buffer_hits *hits, uint8_t fields, struct met *met)
{
    uint32_t mask = tfs_mask(fields), i;

    for (i = 0; i < hits->count; i++) {
        if (hits->list[i].tfs & mask)
            met_add(met, &hits->list[i].id, 1);
    }
}

static docid *list_bits(const struct met *met, size_t word_count, struct arena *arena,
                        uint32_t *out)
{
    uint32_t count = 0;
    docid *ids;
    size_t i;

    for (i = 0; i < word_count; i++)
        count += (uint32_t)__builtin_popcountll(met->bits[i]);
    ids = arena_alloc(arena, (count + 1) * sizeof(*ids));
    *out = count;
    for (i = 0, count = 0; i < word_count; i++) {
        uint64_t word;

        for (word = met->bits[i]; word; word &= word - 1)
            ids[count++] = met->first + (docid)(i * 64) + (docid)__builtin_ctzll(word);
    }
    return ids;
}

static docid *list_ids(struct met *met, struct arena *arena, uint32_t *out)
{
    docid *ids = arena_alloc(arena, (met->count + 1) * sizeof(*ids));
    uint32_t count = 0, i;

    id_sort(met->list, met->list + met->count, met->count);
    for (i = 0; i < met->count; i++) {
        if (!count || ids[count - 1] != met->list[i].id)
            ids[count++] = met->list[i].id;
    }
    *out = count;
    return ids;
}

/* One array of those that have any of the slots, total postings in all. */
static int meet_slots(struct text_plan *plan, struct text_part *part, const struct text_leaf *leaf,
                      const struct text_slot *const *slots, uint32_t slot_count, uint64_t total,
                      struct text_list **out, struct err *err)
{
    struct text_list *list = arena_zero(plan->arena, sizeof(*list));
    struct postings *cursor = plan_alloc(plan->arena, sizeof(*cursor));
    size_t word_count = (size_t)part->span / 64 + 1;
    struct met met = {0};
    uint32_t i;
    int rc = 0;

    *out = NULL;
    if (part->segment && total > part->span / MET_SPAN) {
        met.first = part->segment->info.first_id;
        met.bits = arena_array(plan->arena, word_count, sizeof(*met.bits));
    } else {
        met.list = arena_alloc(plan->arena, 2 * total * sizeof(*met.list));
    }
    for (i = 0; i < slot_count && !rc; i++) {
        if (part->segment)
            rc = meet_segment(plan, part, slots[i]->term, leaf->fields, cursor, &met, err);
        else
            meet_buffer(hits_of(part, slots[i]), leaf->fields, &met);
    }
    if (rc)
        return rc;
    list->ids = met.bits ? list_bits(&met, word_count, plan->arena, &list->count)
                         : list_ids(&met, plan->arena, &list->count);
    list->is_array = true;
    list->sparse = list->count < part->span / TEXT_SPARSE_SPAN + 1;
    if (list->count)
        *out = list;
    return 0;
}

static int open_unscored(struct text_plan *plan, struct text_part *part,
                         const struct text_leaf *leaf, struct part_leaf *here, struct err *err)
{
    const struct text_slot **few =
        arena_array(plan->arena, leaf->count + 1, sizeof(struct text_slot *));
    struct text_list *list = NULL;
    uint32_t few_count = 0, i;
    bool is_alone = plan->leaf_count == 1;
    uint64_t total_max = is_alone ? UNION_MEET_COUNT_MAX : UNION_MERGE_COUNT_MAX;
    uint64_t total = 0;
    int rc = 0;

    here->lists = arena_array(plan->arena, leaf->count + 1, sizeof(struct text_list *));
    for (i = 0; i < leaf->count && !rc; i++) {
        const struct text_slot *slot = &leaf_slots(plan, leaf)[i];
        uint64_t count = count_of(part, slot);

        if (count && total + count <= total_max && (is_alone || count <= UNION_SMALL_COUNT)) {
            total += count;
            few[few_count++] = slot;
        } else if (count) {
            rc = list_open(plan, part, slot, leaf->fields, &here->lists[here->list_count], err);
            here->list_count += here->lists[here->list_count] != NULL;
        }
    }
    if (!rc && few_count == 1)
        rc = list_open(plan, part, few[0], leaf->fields, &list, err);
    else if (!rc && few_count)
        rc = meet_slots(plan, part, leaf, few, few_count, total, &list, err);
    if (!rc && list)
        here->lists[here->list_count++] = list;
    return rc;
}

int list_open_any(struct text_plan *plan, struct text_part *part, const struct text_leaf *leaf,
                  struct part_leaf *here, struct err *err)
{
    return plan->purpose.no_scores ? open_unscored(plan, part, leaf, here, err)
                                   : open_scored(plan, part, leaf, here, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_union.c - see text_parts.h: the lists of a leaf that means any of many words.
 *
 * A prefix may have a thousand words, most of them rare. Short lists are read whole and merged into
 * one array with the best value of each document; long ones stay as they are.
 */
#include <stdlib.h>

#include "query/text_parts.h"

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

int list_open_any(struct text_plan *plan, struct text_part *part, const struct text_leaf *leaf,
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

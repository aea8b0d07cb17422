/* SPDX-License-Identifier: Apache-2.0 */
/* text_leaf.c - see text_parts.h: words, phrases and unions in one part of the index. */
#include <string.h>

#include "query/text/text_parts.h"

static struct part_leaf *at(struct text_part *part, uint32_t leaf)
{
    return &part->leaves[leaf];
}

/* bits = those that lists from..to - 1 share. */
static int fill_all(struct text_plan *plan, const struct part_leaf *leaf, uint32_t from,
                    uint32_t to, uint32_t window, struct window_bits *bits, struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = from; i < to && !rc; i++) {
        struct window_bits *into = i == from ? bits : &plan->scratch->more;

        if (!leaf->lists[i]) {
            memset(bits, 0, sizeof(*bits));
            return 0;
        }
        rc = list_fill(leaf->lists[i], window, into, err);
        if (!rc && i > from)
            kernels()->window_and(bits, into);
    }
    return rc;
}

/* bits = those that have all words of one of the branches. */
static int fill_branches(struct text_plan *plan, const struct text_leaf *meant,
                         const struct part_leaf *here, uint32_t window, struct window_bits *bits,
                         struct err *err)
{
    const struct text_slot *slots = leaf_slots(plan, meant);
    struct window_bits *branch = &plan->scratch->branch;
    uint32_t from, to;
    int rc = 0;

    memset(bits, 0, sizeof(*bits));
    for (from = 0; from < meant->count && !rc; from = to) {
        to = branch_end(slots, from, meant->count);
        if (!here->lists[from])
            continue;
        rc = fill_all(plan, here, from, to, window, branch, err);
        if (!rc)
            kernels()->window_or(bits, branch);
    }
    return rc;
}

static int fill_any(struct text_plan *plan, const struct part_leaf *leaf, uint32_t window,
                    struct window_bits *bits, struct err *err)
{
    uint32_t i;
    int rc = 0;

    memset(bits, 0, sizeof(*bits));
    for (i = 0; i < leaf->list_count && !rc; i++) {
        docid next;

        rc = list_next(leaf->lists[i], window_first(window), &next, err);
        if (rc || window_of(next) != window)
            continue;
        rc = list_fill(leaf->lists[i], window, &plan->scratch->more, err);
        if (!rc)
            kernels()->window_or(bits, &plan->scratch->more);
    }
    return rc;
}

int leaf_fill(struct text_plan *plan, struct text_part *part, uint32_t leaf, uint32_t window,
              struct window_bits *bits, struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    struct part_leaf *here = at(part, leaf);

    switch ((enum leaf_kind)meant->kind) {
    case LEAF_ANY:
        return fill_any(plan, here, window, bits, err);
    case LEAF_TIED:
        return fill_branches(plan, meant, here, window, bits, err);
    default:
        return fill_all(plan, here, 0, meant->count, window, bits, err);
    }
}

/* The greatest of what the lists have next. */
static int next_of_all(const struct part_leaf *leaf, uint32_t from, uint32_t to, docid id,
                       docid *next, struct err *err)
{
    uint32_t i;
    int rc = 0;

    *next = id;
    for (i = from; i < to && !rc && *next != DOCID_END; i++) {
        docid found = DOCID_END;

        if (leaf->lists[i])
            rc = list_next(leaf->lists[i], *next, &found, err);
        *next = found;
    }
    return rc;
}

int leaf_next(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid from,
              docid *next, struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    struct part_leaf *here = at(part, leaf);
    docid found;
    uint32_t i, to;
    int rc = 0;

    if (meant->kind == LEAF_WORD || meant->kind == LEAF_PHRASE)
        return next_of_all(here, 0, meant->count, from, next, err);
    *next = DOCID_END;
    for (i = 0; meant->kind == LEAF_TIED && i < meant->count && !rc; i = to) {
        to = branch_end(leaf_slots(plan, meant), i, meant->count);
        rc = next_of_all(here, i, to, from, &found, err);
        *next = found < *next ? found : *next;
    }
    for (i = 0; meant->kind == LEAF_ANY && i < here->list_count && !rc; i++) {
        rc = list_next(here->lists[i], from, &found, err);
        *next = found < *next ? found : *next;
    }
    return rc;
}

/* ---- documents ---- */

static int find_all(const struct part_leaf *leaf, uint32_t from, uint32_t to, docid id, bool *found,
                    struct err *err)
{
    uint32_t i;
    int rc = 0;

    *found = true;
    for (i = from; i < to && !rc && *found; i++) {
        if (leaf->lists[i])
            rc = list_find(leaf->lists[i], id, found, err);
        else
            *found = false;
    }
    return rc;
}

int leaf_holds(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid id, bool *holds,
               struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    struct part_leaf *here = at(part, leaf);
    uint32_t i, to;
    int rc = 0;

    *holds = false;
    switch ((enum leaf_kind)meant->kind) {
    case LEAF_WORD:
        if (!here->lists[0])
            return 0;
        rc = list_find(here->lists[0], id, holds, err);
        if (rc || !*holds || meant->exact)
            return rc;
        return phrase_hold(plan, part, leaf, 0, 1, &id, 1, holds, err);
    case LEAF_PHRASE:
        return phrase_hold(plan, part, leaf, 0, meant->count, &id, 1, holds, err);
    case LEAF_TIED:
        for (i = 0; i < meant->count && !rc && !*holds; i = to) {
            to = branch_end(leaf_slots(plan, meant), i, meant->count);
            if (to > i + 1)
                rc = phrase_hold(plan, part, leaf, i, to, &id, 1, holds, err);
            else if (here->lists[i])
                rc = list_find(here->lists[i], id, holds, err);
        }
        return rc;
    case LEAF_ANY:
        for (i = 0; i < here->list_count && !rc && !*holds; i++)
            rc = list_find(here->lists[i], id, holds, err);
        return rc;
    }
    return 0;
}

/* A word in any form, in many documents. */
static int hold_word(struct text_list *list, const docid *ids, uint32_t count, bool *holds,
                     struct err *err)
{
    bool packed = !list->is_array && !list->masked;
    int32_t indexes[BLOCK_SIZE];
    int16_t found[BLOCK_SIZE];
    uint32_t done, run, i;
    int rc = 0;

    for (done = 0; done < count && !rc; done += run) {
        run = count - done;
        rc = list_reach(list, ids + done, &run, err);
        if (!rc && packed && !postings_ended(list->scorer) &&
            ids[done] >= block_first(list->scorer)) {
            rc = postings_indexes(list->scorer, ids + done, run, found, err);
            for (i = 0; i < run && !rc; i++)
                holds[done + i] = found[i] >= 0;
            continue;
        }
        if (!rc)
            rc = list_find_run(list, ids + done, run, indexes, err);
        for (i = 0; i < run && !rc; i++)
            holds[done + i] = indexes[i] >= 0;
    }
    return rc;
}

int leaf_hold(struct text_plan *plan, struct text_part *part, uint32_t leaf, const docid *ids,
              uint32_t count, bool *holds, struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    const struct part_leaf *here = at(part, leaf);
    uint32_t i;
    int rc = 0;

    assert(count <= BLOCK_SIZE);
    if (meant->kind == LEAF_WORD && meant->exact && here->count)
        return hold_word(here->lists[0], ids, count, holds, err);
    if (meant->kind == LEAF_WORD || meant->kind == LEAF_PHRASE)
        return phrase_hold(plan, part, leaf, 0, meant->count, ids, count, holds, err);
    for (i = 0; i < count && !rc; i++)
        rc = leaf_holds(plan, part, leaf, ids[i], &holds[i], err);
    return rc;
}

/* ---- values ---- */

static int sum_all(struct text_plan *plan, struct text_part *part, uint32_t leaf, uint32_t from,
                   uint32_t to, docid id, uint32_t lengths, bool sure, float *value, bool *holds,
                   struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    struct part_leaf *here = at(part, leaf);
    uint32_t i;
    int rc = 0;

    *value = 0;
    *holds = true;
    if (!sure && !meant->exact)
        rc = phrase_hold(plan, part, leaf, from, to, &id, 1, holds, err);
    if (!rc && *holds)
        rc = find_all(here, from, to, id, holds, err);
    for (i = from; !rc && *holds && i < to; i++)
        *value += list_value(plan, here->lists[i], lengths);
    return rc;
}

/* The greatest of those that it has. */
static int value_of_branches(struct text_plan *plan, struct text_part *part, uint32_t leaf,
                             docid id, uint32_t lengths, float *value, bool *holds, struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    const struct part_leaf *here = at(part, leaf);
    uint32_t i, to;
    int rc = 0;

    for (i = 0; i < meant->count && !rc; i = to) {
        bool found = false;
        float other = 0;

        to = branch_end(leaf_slots(plan, meant), i, meant->count);
        if (to > i + 1) {
            rc = sum_all(plan, part, leaf, i, to, id, lengths, false, &other, &found, err);
        } else if (here->lists[i]) {
            rc = list_find(here->lists[i], id, &found, err);
            other = found ? list_value(plan, here->lists[i], lengths) : 0;
        }
        *value = found && other > *value ? other : *value;
        *holds = *holds || found;
    }
    return rc;
}

int leaf_value(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid id,
               uint32_t lengths, bool sure, float *value, bool *holds, struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    struct part_leaf *here = at(part, leaf);
    bool found = false;
    float other;
    uint32_t i;
    int rc = 0;

    *value = 0;
    *holds = false;
    if (meant->kind == LEAF_WORD || meant->kind == LEAF_PHRASE)
        return sum_all(plan, part, leaf, 0, meant->count, id, lengths, sure, value, holds, err);
    if (meant->kind == LEAF_TIED)
        return value_of_branches(plan, part, leaf, id, lengths, value, holds, err);
    for (i = 0; i < here->list_count && !rc; i++) {
        rc = list_find(here->lists[i], id, &found, err);
        other = found ? list_value(plan, here->lists[i], lengths) : 0;
        *value = other > *value ? other : *value;
        *holds = *holds || found;
    }
    return rc;
}

struct text_list *leaf_driver(const struct text_plan *plan, const struct text_part *part,
                              uint32_t leaf)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    const struct part_leaf *here = &part->leaves[leaf];
    struct text_list *rarest = NULL;
    uint32_t i;

    if (meant->kind == LEAF_ANY)
        return here->list_count == 1 ? here->lists[0] : NULL;
    if (meant->kind == LEAF_TIED || here->count == 0)
        return NULL;
    for (i = 0; i < meant->count; i++) {
        if (!rarest || here->lists[i]->count < rarest->count)
            rarest = here->lists[i];
    }
    return rarest;
}

/* ---- steps ---- */

static void add_step(struct text_part *part, struct text_step step)
{
    uint32_t at = part->step_count++;

    /* Those that must, by count, come before those that should, by max; bonuses are the last. */
    for (; at > 0; at--) {
        const struct text_step *before = &part->steps[at - 1];

        if (before->must                  ? !step.must || before->count <= step.count
            : before->bonus != step.bonus ? step.bonus
                                          : !step.must && before->max >= step.max)
            break;
        part->steps[at] = *before;
    }
    part->steps[at] = step;
}

void part_steps(struct text_plan *plan, struct text_part *part)
{
    uint32_t leaf, i;

    part->steps = arena_array(plan->arena, plan->row_count + 1, sizeof(*part->steps));
    part->step_count = 0;
    for (leaf = 0; leaf < plan->leaf_count; leaf++) {
        const struct text_leaf *meant = &plan->leaves[leaf];
        const struct part_leaf *here = &part->leaves[leaf];
        bool must = meant->occur == OCCUR_MUST;
        struct text_step step = {.leaf = leaf,
                                 .row = meant->row,
                                 .must = must,
                                 .bonus = meant->occur == OCCUR_BONUS,
                                 .max = here->max,
                                 .count = here->count};

        if (meant->occur == OCCUR_NOT)
            continue;
        if (!(must && meant->kind == LEAF_PHRASE) && meant->kind != LEAF_WORD) {
            if (meant->kind == LEAF_ANY && here->list_count == 1)
                step.list = here->lists[0];
            add_step(part, step);
            continue;
        }
        for (i = 0; i < meant->count; i++) {
            struct text_list *list = here->lists[i];

            if (must || meant->exact)
                step.list = list;
            step.row = meant->row + i;
            step.max = list ? list->max : 0;
            step.count = list ? list->count : 0;
            add_step(part, step);
        }
    }
}

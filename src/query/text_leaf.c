/* SPDX-License-Identifier: Apache-2.0 */
/* text_leaf.c - see text_parts.h: words, phrases and unions in one part of the index. */
#include <string.h>

#include "query/text_parts.h"

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
    int rc;

    switch ((enum leaf_kind)meant->kind) {
    case LEAF_ANY:
        return fill_any(plan, here, window, bits, err);
    case LEAF_TIED:
        rc = fill_all(plan, here, 1, meant->count, window, bits, err);
        if (rc || !here->lists[0])
            return rc;
        rc = list_fill(here->lists[0], window, &plan->scratch->more, err);
        if (!rc)
            kernels()->window_or(bits, &plan->scratch->more);
        return rc;
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
    uint32_t i;
    int rc = 0;

    if (meant->kind == LEAF_WORD || meant->kind == LEAF_PHRASE)
        return next_of_all(here, 0, meant->count, from, next, err);
    *next = DOCID_END;
    if (meant->kind == LEAF_TIED) {
        rc = next_of_all(here, 1, meant->count, from, next, err);
        if (rc || !here->lists[0])
            return rc;
        rc = list_next(here->lists[0], from, &found, err);
        *next = found < *next ? found : *next;
        return rc;
    }
    for (i = 0; i < here->list_count && !rc; i++) {
        rc = list_next(here->lists[i], from, &found, err);
        *next = found < *next ? found : *next;
    }
    return rc;
}

/* ---- positions ---- */

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

/* Places of one field where the phrase may begin, by this slot's occurrences; those before it in
 * starts are kept when this slot has its word there too. Position + the field's high bits. */
struct start_filter {
    const struct text_slot *slot;
    uint32_t count; /* of starts */
    bool first;
};

enum { FIELD_SHIFT = 28 }; /* positions are below: a field has 64 k words */

static void filter_starts(struct start_filter *filter, uint32_t *starts, uint8_t fields,
                          const struct occurrence *occurrences, uint32_t tfs)
{
    uint32_t kept = 0, at_start = 0;
    unsigned field, i;

    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        uint32_t tf = tfs >> field * 8 & 255;

        for (i = 0; i < tf; i++, occurrences++) {
            uint32_t place = occurrences->position - filter->slot->position;

            if (!(fields >> field & 1) || occurrences->position < filter->slot->position ||
                place >> FIELD_SHIFT ||
                (filter->slot->form != FORM_ANY &&
                 occurrences->form != (uint32_t)filter->slot->form))
                continue;
            place |= field << FIELD_SHIFT;
            if (filter->first) {
                starts[kept++] = place;
                continue;
            }
            while (at_start < filter->count && starts[at_start] < place)
                at_start++;
            if (at_start < filter->count && starts[at_start] == place)
                starts[kept++] = starts[at_start++];
        }
    }
    filter->count = kept;
}

/* All lists have found the document: do its words stand as the slots say? */
static int stands(struct text_plan *plan, const struct text_leaf *meant, struct part_leaf *leaf,
                  uint32_t from, uint32_t to, bool *holds, struct err *err)
{
    struct start_filter filter = {.first = true};
    struct occurrence *occurrences = plan->scratch->occurrences;
    uint32_t tfs, count, i;
    int rc = 0;

    for (i = from; i < to && !rc && (filter.first || filter.count); i++) {
        rc = list_occurrences(leaf->lists[i], occurrences, &tfs, &count, err);
        if (rc)
            break;
        filter.slot = &leaf_slots(plan, meant)[i];
        filter_starts(&filter, plan->scratch->starts, meant->fields, occurrences, tfs);
        filter.first = false;
    }
    *holds = !rc && filter.count > 0;
    return rc;
}

static int phrase_holds(struct text_plan *plan, const struct text_leaf *meant,
                        struct part_leaf *leaf, uint32_t from, docid id, bool *holds,
                        struct err *err)
{
    int rc = find_all(leaf, from, meant->count, id, holds, err);

    if (rc || !*holds)
        return rc;
    return stands(plan, meant, leaf, from, meant->count, holds, err);
}

int leaf_holds(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid id, bool *holds,
               struct err *err)
{
    const struct text_leaf *meant = &plan->leaves[leaf];
    struct part_leaf *here = at(part, leaf);
    uint32_t i;
    int rc = 0;

    *holds = false;
    switch ((enum leaf_kind)meant->kind) {
    case LEAF_WORD:
        if (!here->lists[0])
            return 0;
        rc = list_find(here->lists[0], id, holds, err);
        if (rc || !*holds || meant->exact)
            return rc;
        return stands(plan, meant, here, 0, 1, holds, err);
    case LEAF_PHRASE:
        return phrase_holds(plan, meant, here, 0, id, holds, err);
    case LEAF_TIED:
        if (here->lists[0])
            rc = list_find(here->lists[0], id, holds, err);
        return rc || *holds ? rc : phrase_holds(plan, meant, here, 1, id, holds, err);
    case LEAF_ANY:
        for (i = 0; i < here->list_count && !rc && !*holds; i++)
            rc = list_find(here->lists[i], id, holds, err);
        return rc;
    }
    return 0;
}

/* ---- values ---- */

static int sum_all(struct text_plan *plan, const struct text_leaf *meant, struct part_leaf *leaf,
                   uint32_t from, docid id, uint32_t lengths, bool sure, float *value, bool *holds,
                   struct err *err)
{
    uint32_t i;
    int rc = find_all(leaf, from, meant->count, id, holds, err);

    *value = 0;
    if (!rc && *holds && !sure && !meant->exact)
        rc = stands(plan, meant, leaf, from, meant->count, holds, err);
    for (i = from; !rc && *holds && i < meant->count; i++)
        *value += list_value(plan, leaf->lists[i], lengths);
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
        return sum_all(plan, meant, here, 0, id, lengths, sure, value, holds, err);
    if (meant->kind == LEAF_TIED) {
        rc = sum_all(plan, meant, here, 1, id, lengths, false, value, holds, err);
        if (rc || !here->lists[0])
            return rc;
        rc = list_find(here->lists[0], id, &found, err);
        other = found ? list_value(plan, here->lists[0], lengths) : 0;
        *value = other > *value ? other : *value;
        *holds = *holds || found;
        return rc;
    }
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

    /* Those that must, by count, come before those that should, by max. */
    for (; at > 0; at--) {
        const struct text_step *before = &part->steps[at - 1];

        if (before->must ? !step.must || before->count <= step.count
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
        struct text_step step = {leaf, meant->row, NULL, must, here->max, here->count};

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

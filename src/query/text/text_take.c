/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_take.c - see text_parts.h: the documents of a part that match, as lists of ids.
 *
 * By the documents of the rarest word that must be there, a block at a time, which are looked for
 * in the other lists. Or by bits of windows: many that have the words are gathered, and then asked
 * for positions and forms, so that blocks are opened once.
 */
#include <string.h>

#include "base/object.h"
#include "query/text/text_parts.h"

enum {
    TAKE_LIST_SPAN = 32 /* a list of fewer than one in so many ids is gone through by blocks */
};

struct text_list *part_driver(const struct text_plan *plan, const struct text_part *part)
{
    struct text_list *list;

    if (plan->must_count == 0 || plan->should_min || plan_is_capped(plan) ||
        plan->tuning.use_windows > 0)
        return NULL;
    list = leaf_driver(plan, part, part->order[0]);
    if (!list || plan->tuning.use_windows < 0)
        return list;
    return list->count < part->span / TAKE_LIST_SPAN + 1 ? list : NULL;
}

/* Keeps those of the ids that hold the leaf, or do not. */
int part_keep(struct text_plan *plan, struct text_part *part, uint32_t leaf, bool wanted,
              docid *ids, uint32_t *count, struct err *err)
{
    bool holds[BLOCK_SIZE];
    uint32_t kept = 0, i;
    int rc = *count ? leaf_hold(plan, part, leaf, ids, *count, holds, err) : 0;

    for (i = 0; i < *count && !rc; i++) {
        ids[kept] = ids[i];
        kept += holds[i] == wanted;
    }
    *count = kept;
    return rc;
}

static int take_block(struct text_plan *plan, struct text_part *part, struct taking *taking,
                      struct err *err)
{
    struct text_list *driver = taking->driver;
    bool known = plan->leaves[part->order[0]].exact && !driver->masked;
    docid *ids = taking->ids + taking->count;
    uint32_t taken, kept = 0, i;
    int rc = list_take(driver, ids, &taken, err);

    if (part_is_whole(part))
        kept = taken;
    for (i = 0; i < taken && !part_is_whole(part) && !rc; i++) {
        docid id = ids[i];

        ids[kept] = id;
        kept += live_has(part->live, id);
    }
    taking->ended = taken == 0;
    for (i = known; i < plan->must_count && !rc; i++)
        rc = part_keep(plan, part, part->order[i], true, ids, &kept, err);
    for (i = 0; i < plan->leaf_count && plan->not_count && !rc; i++) {
        if (plan->leaves[i].occur == OCCUR_NOT && part->leaves[i].count)
            rc = part_keep(plan, part, i, false, ids, &kept, err);
    }
    taking->count += kept;
    return rc;
}

static int take_window(struct text_plan *plan, struct text_part *part, struct taking *taking,
                       struct err *err)
{
    uint32_t room = 2 * BLOCK_SIZE - taking->count, i;
    int rc = 0;

    if (taking->offset_at == taking->offset_count) {
        uint32_t from = taking->window == WINDOW_END ? 0 : taking->window + 1;

        taking->offset_at = taking->offset_count = 0;
        rc = part_next(plan, part, from, &taking->window, err);
        taking->ended = taking->window == WINDOW_END;
        if (rc || taking->ended)
            return rc;
        rc = part_match(plan, part, taking->window, NULL, true, err);
        if (!rc && part->has_matches)
            taking->offset_count = kernels()->window_list(&part->matched, taking->offsets);
    }
    if (room > taking->offset_count - taking->offset_at)
        room = taking->offset_count - taking->offset_at;
    for (i = 0; i < room; i++)
        taking->ids[taking->count++] =
            window_first(taking->window) + taking->offsets[taking->offset_at++];
    return rc;
}

void part_take_begin(struct text_plan *plan, struct text_part *part)
{
    struct taking *taking = &plan->scratch->taking;

    taking->driver = part_driver(plan, part);
    taking->window = WINDOW_END;
    taking->ended = false;
    taking->offset_at = taking->offset_count = taking->count = 0;
}

int part_take(struct text_plan *plan, struct text_part *part, docid ids[BLOCK_SIZE],
              uint32_t *count, struct err *err)
{
    struct taking *taking = &plan->scratch->taking;
    int rc = 0;

    while (taking->count < BLOCK_SIZE && !taking->ended && !rc)
        rc = taking->driver ? take_block(plan, part, taking, err)
                            : take_window(plan, part, taking, err);
    *count = rc ? 0 : taking->count < BLOCK_SIZE ? taking->count : BLOCK_SIZE;
    taking->count -= *count;
    memcpy(ids, taking->ids, *count * sizeof(*ids));
    memcpy(taking->ids, taking->ids + *count, taking->count * sizeof(*ids));
    return rc;
}

int part_sift(struct text_plan *plan, struct text_part *part, docid *ids, uint32_t *count,
              struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = 0; i < plan->must_count && !plan->scratch->taking.driver && !rc; i++) {
        if (!plan->leaves[part->order[i]].exact)
            rc = part_keep(plan, part, part->order[i], true, ids, count, err);
    }
    return rc;
}

/* ---- the plan ---- */

/* Whether the words, if they come together by chance alone, leave so few of a window's documents
 * that a list is better than bits. */
static bool leaves_few(const struct text_plan *plan, const struct text_part *part)
{
    enum { RAREST_SPAN = 16, FOUND_SPAN = 128 };
    double share = 1;
    uint32_t i;

    for (i = 0; i < plan->must_count; i++) {
        uint64_t count = part->leaves[part->order[i]].count;

        share *= count < part->span ? (double)count / part->span : 1;
    }
    return plan->must_count && share < 1.0 / FOUND_SPAN &&
           part->leaves[part->order[0]].count < part->span / RAREST_SPAN + 1;
}

bool text_plan_has_list(const struct text_plan *plan, bool at_all)
{
    uint32_t i;

    object_check(plan, TEXT_PLAN_MAGIC);
    if (plan->everything)
        return false;
    for (i = 0; i < plan->part_count && !at_all; i++) {
        if (!part_driver(plan, plan->parts[i]) && !leaves_few(plan, plan->parts[i]))
            return false;
    }
    return true;
}

int text_plan_take(struct text_plan *plan, docid ids[TEXT_TAKE_MAX], uint32_t *count,
                   struct err *err)
{
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    _Static_assert((int)TEXT_TAKE_MAX == (int)BLOCK_SIZE, "a part takes as many");
    *count = 0;
    while (plan->taken_parts < plan->part_count && *count == 0 && !plan->never && !rc) {
        struct text_part *part = plan->parts[plan->taken_parts];
        uint32_t taken;

        if (!plan->is_taking)
            part_take_begin(plan, part);
        plan->is_taking = true;
        rc = part_take(plan, part, ids, &taken, err);
        if (rc)
            break;
        *count = taken;
        rc = part_sift(plan, part, ids, count, err);
        plan->is_taking = taken > 0;
        plan->taken_parts += taken == 0;
    }
    return rc;
}

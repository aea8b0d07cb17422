/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_count.c - see text_plan.h: how many match, without a list of them.
 *
 * Part by part, the cheapest way that the words allow: by the documents of the rarest word, a block
 * at a time; of two words of which one is enough, by who has both; else by bits of windows.
 */
#include "base/object.h"
#include "query/text/text_parts.h"

enum {
    COUNT_LIST_SPAN = 64 /* a list of fewer than one in so many ids is gone through by blocks */
};

/* Any one of some words, and nothing else to look at. */
static bool is_plain_or(const struct text_plan *plan)
{
    uint32_t i;

    if (plan->must_count || plan->not_count || plan->should_min != 1 || plan_is_capped(plan))
        return false;
    for (i = 0; i < plan->leaf_count; i++) {
        if (plan->leaves[i].kind != LEAF_WORD || !plan->leaves[i].exact ||
            plan->leaves[i].occur == OCCUR_BONUS)
            return false;
    }
    return true;
}

static uint32_t count_live(const struct text_part *part, uint32_t window,
                           const struct window_bits *bits)
{
    const struct live_page *page = live_page(part->live, window);

    if (page == LIVE_NONE)
        return 0;
    return page == LIVE_ALL ? kernels()->window_count(bits)
                            : kernels()->window_and_count(bits, &page->bits);
}

static int count_plain_or(struct text_plan *plan, struct text_part *part, uint64_t *count,
                          struct err *err)
{
    struct window_bits *bits = &plan->scratch->bits, *more = &plan->scratch->more;
    uint32_t window = 0, i;
    int rc = 0;

    for (;;) {
        docid first = window_first(window), low = DOCID_END, next;
        uint32_t filled = 0;

        for (i = 0; i < plan->leaf_count && !rc; i++) {
            struct text_list *list = part->leaves[i].lists[0];

            rc = list ? list_next(list, first, &next, err) : 0;
            if (rc || !list)
                continue;
            if (window_of(next) == window) {
                rc = list_fill(list, window, filled ? more : bits, err);
                if (filled++)
                    kernels()->window_or(bits, more);
                next = first + WINDOW_SIZE; /* may have some */
            }
            low = next < low ? next : low;
        }
        if (rc)
            return rc;
        if (filled)
            *count += count_live(part, window, bits);
        if (low == DOCID_END || window_of(low) <= window)
            return 0;
        window = window_of(low);
    }
}

/* By the documents themselves: positions and forms are to be looked at, or few have the words. */
static int count_taken(struct text_plan *plan, struct text_part *part, uint64_t *count,
                       struct err *err)
{
    docid ids[BLOCK_SIZE];
    uint32_t taken;
    int rc;

    part_take_begin(plan, part);
    do {
        uint32_t kept;

        rc = part_take(plan, part, ids, &taken, err);
        kept = taken;
        if (!rc)
            rc = part_sift(plan, part, ids, &kept, err);
        *count += rc ? 0 : kept;
    } while (!rc && taken);
    return rc;
}

/* Of two words where nobody was masked: both counts are known, so it takes only those who have
 * both. *done: it was so. */
static int count_two(struct text_plan *plan, struct text_part *part, uint64_t *count, bool *done,
                     struct err *err)
{
    struct text_list *a = part->leaves[0].lists[0],
                     *b = part->leaves[plan->leaf_count - 1].lists[0];
    struct text_list *rare = a && b && a->count < b->count ? a : b;
    docid ids[BLOCK_SIZE];
    uint32_t taken, kept;
    uint64_t both = 0;
    int rc = 0;

    *done = plan->leaf_count == 2 && a && b && !a->masked && !b->masked && part_is_whole(part) &&
            plan->tuning.use_windows <= 0 && rare->count < part->span / COUNT_LIST_SPAN + 1;
    if (!*done)
        return 0;
    do {
        rc = list_take(rare, ids, &taken, err);
        kept = taken;
        if (!rc)
            rc = part_keep(plan, part, rare == a ? 1 : 0, true, ids, &kept, err);
        both += rc ? 0 : kept;
    } while (!rc && taken);
    *count += (uint64_t)a->count + b->count - both;
    return rc;
}

static bool has_exact_musts(const struct text_plan *plan)
{
    uint32_t i;

    for (i = 0; i < plan->leaf_count; i++) {
        if (plan->leaves[i].occur == OCCUR_MUST && !plan->leaves[i].exact)
            return false;
    }
    return true;
}

static int count_part(struct text_plan *plan, struct text_part *part, uint64_t *count,
                      struct err *err)
{
    uint32_t window;
    int rc;

    if (part_driver(plan, part) || !has_exact_musts(plan))
        return count_taken(plan, part, count, err);
    rc = part_next(plan, part, 0, &window, err);
    while (!rc && window != WINDOW_END) {
        rc = part_match(plan, part, window, NULL, false, err);
        if (!rc && part->has_matches)
            *count += kernels()->window_count(&part->matched);
        if (!rc)
            rc = part_next(plan, part, window + 1, &window, err);
    }
    return rc;
}

/* All but those that hold a NOT: parts have only these. */
static int count_everything(struct text_plan *plan, uint64_t *count, struct err *err)
{
    struct window_bits bits;
    uint32_t window;
    int rc = 0;

    for (window = text_plan_next(plan, 0); window != WINDOW_END && !rc;
         window = text_plan_next(plan, window + 1)) {
        rc = text_plan_match(plan, window, NULL, &bits, err);
        if (!rc)
            *count += kernels()->window_count(&bits);
    }
    return rc;
}

int text_plan_count(struct text_plan *plan, uint64_t *count, struct err *err)
{
    bool plain = is_plain_or(plan);
    uint32_t i;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    *count = 0;
    if (plan->never)
        return 0;
    if (plan->everything)
        return count_everything(plan, count, err);
    for (i = 0; i < plan->part_count && !rc; i++) {
        bool done = false;

        if (plain)
            rc = count_two(plan, plan->parts[i], count, &done, err);
        if (rc || done)
            continue;
        rc = plain ? count_plain_or(plan, plan->parts[i], count, err)
                   : count_part(plan, plan->parts[i], count, err);
    }
    return rc;
}

bool text_plan_is_cheap(const struct text_plan *plan)
{
    uint32_t i;

    object_check(plan, TEXT_PLAN_MAGIC);
    for (i = 0; i < plan->leaf_count; i++) {
        if (!plan->leaves[i].exact && plan->leaves[i].occur != OCCUR_BONUS)
            return false;
    }
    for (i = 0; i < plan->part_count && plan->must_count; i++) {
        if (!part_driver(plan, plan->parts[i]))
            return false;
    }
    return true;
}

int text_plan_rewind(struct text_plan *plan, struct err *err)
{
    uint32_t i, leaf, k;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    plan->taken_parts = 0;
    plan->is_taking = false;
    for (i = 0; i < plan->part_count; i++) {
        for (leaf = 0; leaf < plan->leaf_count; leaf++) {
            const struct part_leaf *here = &plan->parts[i]->leaves[leaf];

            for (k = 0; k < here->list_count && !rc; k++)
                rc = here->lists[k] ? list_rewind(here->lists[k], err) : 0;
        }
    }
    return rc;
}

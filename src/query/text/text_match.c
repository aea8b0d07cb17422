/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_match.c - see text_plan.h: which documents of a window match.
 *
 * Two ways, the same answer. By bits: lists fill bitmaps, which are combined; what is left is asked
 * for positions and forms. By ids: when the rarest word that must be there is sparse, its few
 * documents of the window are looked for in the other lists.
 */
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "query/text/text_parts.h"

static bool is_empty(const struct window_bits *bits)
{
    uint64_t any = 0;
    int i;

    for (i = 0; i < WINDOW_WORDS; i++)
        any |= bits->words[i];
    return any == 0;
}

/* Takes from bits whoever does not hold the leaf. */
static int keep_holders(struct text_plan *plan, struct text_part *part, uint32_t leaf,
                        uint32_t window, struct window_bits *bits, struct err *err)
{
    uint16_t *offsets = plan->scratch->others;
    uint32_t count = kernels()->window_list(bits, offsets), done, run, i;
    docid ids[BLOCK_SIZE];
    bool holds[BLOCK_SIZE];
    int rc = 0;

    for (done = 0; done < count && !rc; done += run) {
        run = count - done < BLOCK_SIZE ? count - done : BLOCK_SIZE;
        for (i = 0; i < run; i++)
            ids[i] = window_first(window) + offsets[done + i];
        rc = leaf_hold(plan, part, leaf, ids, run, holds, err);
        for (i = 0; i < run && !rc; i++) {
            if (!holds[i])
                window_clear(bits, offsets[done + i]);
        }
    }
    return rc;
}

/* ---- by bits ---- */

static int and_musts(struct text_plan *plan, struct text_part *part, uint32_t window,
                     struct window_bits *bits, struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = 0; i < plan->must_count && !rc; i++) {
        struct window_bits *into = i == 0 ? bits : &plan->scratch->bits;

        rc = leaf_fill(plan, part, part->order[i], window, into, err);
        if (rc || i == 0)
            continue;
        kernels()->window_and(bits, into);
        if (is_empty(bits))
            break;
    }
    return rc;
}

/* The documents that hold one of the leaves exactly. base: NULL, or where it matters. */
static int fill_exactly(struct text_plan *plan, struct text_part *part, uint32_t leaf,
                        uint32_t window, const struct window_bits *base, struct window_bits *bits,
                        struct err *err)
{
    int rc = leaf_fill(plan, part, leaf, window, bits, err);

    if (!rc && base)
        kernels()->window_and(bits, base);
    if (!rc && !plan->leaves[leaf].exact)
        rc = keep_holders(plan, part, leaf, window, bits, err);
    return rc;
}

/* Counts in bits: plane p has bit p of how many leaves a document holds. */
static int add_shoulds(struct text_plan *plan, struct text_part *part, uint32_t window,
                       const struct window_bits *base, struct err *err)
{
    struct plan_scratch *scratch = plan->scratch;
    uint32_t i, w, p;
    int rc = 0;

    memset(scratch->planes, 0, sizeof(scratch->planes));
    for (i = 0; i < plan->leaf_count && !rc; i++) {
        if (plan->leaves[i].occur != OCCUR_SHOULD || part->leaves[i].count == 0)
            continue;
        rc = fill_exactly(plan, part, i, window, base, &scratch->bits, err);
        for (w = 0; w < WINDOW_WORDS; w++) {
            uint64_t carry = scratch->bits.words[w];

            for (p = 0; p < ARRAY_COUNT(scratch->planes) && carry; p++) {
                uint64_t plane = scratch->planes[p].words[w];

                scratch->planes[p].words[w] = plane ^ carry;
                carry &= plane;
            }
        }
    }
    return rc;
}

/* Which documents of a word of the window hold at least `least` of the leaves. */
static uint64_t count_reaches(const struct plan_scratch *scratch, uint32_t word, uint32_t least)
{
    uint64_t above = 0, equal = UINT64_MAX;

    for (uint32_t p = ARRAY_COUNT(scratch->planes); p-- > 0;) {
        uint64_t plane = scratch->planes[p].words[word];
        uint64_t needed = least >> p & 1 ? UINT64_MAX : 0;

        above |= equal & plane & ~needed;
        equal &= ~(plane ^ needed);
    }
    return above | equal;
}

/* bits &= at least should_min of the leaves that should hold, and not more than should_max. */
static int and_shoulds(struct text_plan *plan, struct text_part *part, uint32_t window,
                       bool has_bits, struct window_bits *bits, struct err *err)
{
    struct plan_scratch *scratch = plan->scratch;
    uint32_t w;
    int rc = add_shoulds(plan, part, window, has_bits ? bits : NULL, err);

    for (w = 0; w < WINDOW_WORDS && !rc; w++) {
        uint64_t found = count_reaches(scratch, w, plan->should_min);

        if (plan_is_capped(plan))
            found &= ~count_reaches(scratch, w, plan->should_max + 1);
        bits->words[w] = has_bits ? bits->words[w] & found : found;
    }
    return rc;
}

/* One of several is the usual case: no counting. */
static int or_shoulds(struct text_plan *plan, struct text_part *part, uint32_t window,
                      struct window_bits *bits, struct err *err)
{
    bool first = true;
    uint32_t i;
    int rc = 0;

    memset(bits, 0, sizeof(*bits));
    for (i = 0; i < plan->leaf_count && !rc; i++) {
        struct window_bits *into = first ? bits : &plan->scratch->bits;

        if (plan->leaves[i].occur != OCCUR_SHOULD || part->leaves[i].count == 0)
            continue;
        rc = fill_exactly(plan, part, i, window, NULL, into, err);
        if (!rc && !first)
            kernels()->window_or(bits, into);
        first = false;
    }
    return rc;
}

static int drop_nots(struct text_plan *plan, struct text_part *part, uint32_t window,
                     struct window_bits *bits, struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = 0; i < plan->leaf_count && !rc && plan->not_count; i++) {
        if (plan->leaves[i].occur != OCCUR_NOT || part->leaves[i].count == 0)
            continue;
        rc = fill_exactly(plan, part, i, window, bits, &plan->scratch->bits, err);
        if (!rc)
            kernels()->window_andnot(bits, &plan->scratch->bits);
    }
    return rc;
}

static int match_by_bits(struct text_plan *plan, struct text_part *part, uint32_t window,
                         const struct window_bits *among, bool loosely, struct window_bits *bits,
                         struct err *err)
{
    uint32_t i;
    int rc = 0;

    if (plan->must_count) {
        rc = and_musts(plan, part, window, bits, err);
        if (!rc && (plan->should_min || plan_is_capped(plan)) && !is_empty(bits))
            rc = and_shoulds(plan, part, window, true, bits, err);
    } else if (plan->should_min == 1 && !plan_is_capped(plan)) {
        rc = or_shoulds(plan, part, window, bits, err);
    } else {
        rc = and_shoulds(plan, part, window, false, bits, err);
    }
    if (rc)
        return rc;
    if (among)
        kernels()->window_and(bits, among);
    if (!live_mask(part->live, window, bits) || is_empty(bits))
        return 0;
    rc = drop_nots(plan, part, window, bits, err);
    for (i = 0; i < plan->must_count && !rc && !loosely; i++) {
        if (!plan->leaves[part->order[i]].exact)
            rc = keep_holders(plan, part, part->order[i], window, bits, err);
    }
    return rc;
}

/* ---- by ids ---- */

/* The list whose documents are gone through; NULL: bits are better. */
static struct text_list *id_driver(const struct text_plan *plan, const struct text_part *part)
{
    struct text_list *list;

    if (plan->must_count == 0 || plan->tuning.use_windows > 0)
        return NULL;
    list = leaf_driver(plan, part, part->order[0]);
    return list && (list->sparse || plan->tuning.use_windows < 0) ? list : NULL;
}

/* known: the rarest leaf holds. */
static int matches(struct text_plan *plan, struct text_part *part, docid id, bool known,
                   bool *match, struct err *err)
{
    bool counts = plan->not_count || plan->should_min || plan_is_capped(plan);
    uint32_t should = 0, i;
    bool holds;
    int rc = 0;

    *match = true;
    for (i = known; i < plan->must_count && *match && !rc; i++)
        rc = leaf_holds(plan, part, part->order[i], id, match, err);
    for (i = 0; i < plan->leaf_count && *match && !rc && counts; i++) {
        if (plan->leaves[i].occur == OCCUR_MUST || plan->leaves[i].occur == OCCUR_BONUS)
            continue;
        if (plan->leaves[i].occur == OCCUR_SHOULD && should >= plan->should_min &&
            !plan_is_capped(plan))
            continue;
        rc = leaf_holds(plan, part, i, id, &holds, err);
        if (plan->leaves[i].occur == OCCUR_SHOULD)
            should += holds;
        else
            *match = !holds;
    }
    *match = *match && should >= plan->should_min && should <= plan->should_max;
    return rc;
}

static int match_by_ids(struct text_plan *plan, struct text_part *part, struct text_list *driver,
                        uint32_t window, const struct window_bits *among, struct window_bits *bits,
                        struct err *err)
{
    const struct live_page *page = live_page(part->live, window);
    bool known = plan->leaves[part->order[0]].exact && !driver->masked;
    uint16_t *offsets = plan->scratch->offsets;
    uint32_t count, i;
    int rc = list_offsets(driver, window, offsets, &count, err);

    memset(bits, 0, sizeof(*bits));
    if (!page)
        return rc;
    for (i = 0; i < count && !rc; i++) {
        bool match;

        if (!window_test(&page->bits, offsets[i]) || (among && !window_test(among, offsets[i])))
            continue;
        rc = matches(plan, part, window_first(window) + offsets[i], known, &match, err);
        if (!rc && match)
            window_set(bits, offsets[i]);
    }
    return rc;
}

int part_match(struct text_plan *plan, struct text_part *part, uint32_t window,
               const struct window_bits *among, bool loosely, struct err *err)
{
    struct text_list *driver = id_driver(plan, part);
    int rc = driver ? match_by_ids(plan, part, driver, window, among, &part->matched, err)
                    : match_by_bits(plan, part, window, among, loosely, &part->matched, err);

    part->has_matches = !rc && !is_empty(&part->matched);
    return rc;
}

int part_next(struct text_plan *plan, struct text_part *part, uint32_t from, uint32_t *next,
              struct err *err)
{
    docid first = window_first(from), best = DOCID_END, found;
    struct text_list *driver = id_driver(plan, part);
    uint32_t i;
    int rc = 0;

    if (driver) {
        rc = list_next(driver, first, &best, err); /* others are asked about its documents only */
    } else if (plan->must_count) {
        best = first;
        for (i = 0; i < plan->must_count && !rc && best != DOCID_END; i++) {
            rc = leaf_next(plan, part, part->order[i], best, &found, err);
            best = found;
        }
    } else {
        for (i = 0; i < plan->leaf_count && !rc; i++) {
            if (plan->leaves[i].occur != OCCUR_SHOULD || part->leaves[i].count == 0)
                continue;
            rc = leaf_next(plan, part, i, first, &found, err);
            best = found < best ? found : best;
        }
    }
    *next = best == DOCID_END ? WINDOW_END : window_of(best);
    return rc;
}

/* ---- the plan ---- */

uint32_t text_plan_next(struct text_plan *plan, uint32_t from)
{
    uint32_t best = WINDOW_END, i;

    object_check(plan, TEXT_PLAN_MAGIC);
    if (plan->never || from >= plan->snapshot->window_count)
        return WINDOW_END;
    if (plan->everything)
        return from;
    for (i = 0; i < plan->part_count && best > from; i++) {
        uint32_t next;

        /* What fails here fails again, and is told, when the window is matched. */
        if (part_next(plan, plan->parts[i], from, &next, NULL))
            return from;
        best = next < best ? next : best;
    }
    return best;
}

/* All that live, but for those that hold a NOT. */
static int match_everything(struct text_plan *plan, uint32_t window,
                            const struct window_bits *among, struct window_bits *bits,
                            struct err *err)
{
    uint32_t i, leaf;
    int rc = 0;

    memset(bits, UINT8_MAX, sizeof(*bits));
    if (among)
        *bits = *among;
    if (!live_mask(plan->snapshot->alive, window, bits))
        return 0;
    for (i = 0; i < plan->part_count; i++) {
        struct text_part *part = plan->parts[i];

        /* Only this part's own documents: others may have the word in an older version. */
        part->matched = *bits;
        part->has_matches = live_mask(part->live, window, &part->matched);
        for (leaf = 0; leaf < plan->leaf_count && !rc && part->has_matches; leaf++) {
            if (plan->leaves[leaf].occur != OCCUR_NOT || part->leaves[leaf].count == 0)
                continue;
            rc = fill_exactly(plan, part, leaf, window, &part->matched, &plan->scratch->bits, err);
            if (!rc)
                kernels()->window_andnot(bits, &plan->scratch->bits);
        }
        if (rc)
            return rc;
    }
    for (i = 0; i < plan->part_count; i++)
        kernels()->window_and(&plan->parts[i]->matched, bits);
    return 0;
}

int text_plan_match(struct text_plan *plan, uint32_t window, const struct window_bits *among,
                    struct window_bits *bits, struct err *err)
{
    uint32_t next, i;
    bool first = true;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    plan->window = window;
    if (plan->everything && !plan->never)
        return match_everything(plan, window, among, bits, err);
    memset(bits, 0, sizeof(*bits));
    for (i = 0; i < plan->part_count && !rc; i++) {
        struct text_part *part = plan->parts[i];

        part->has_matches = false;
        rc = part_next(plan, part, window, &next, err);
        if (rc || next != window)
            continue;
        rc = part_match(plan, part, window, among, false, err);
        if (rc || !part->has_matches)
            continue;
        if (first)
            *bits = part->matched;
        else
            kernels()->window_or(bits, &part->matched);
        first = false;
    }
    return rc;
}

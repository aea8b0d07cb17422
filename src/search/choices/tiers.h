/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiers.h - a list in two parts: the offers that have all words, followed by those that lack some.
 * Each is a list of the searcher, with a cursor of its own; a page may begin in one and end in the
 * other.
 *
 *     cursor: the searcher's                       goes on among those that have all words
 *             TIER_SOME, the searcher's            ... among those that lack some
 *             TIER_SOME, size, hash u64, text      these begin; text: as in query/run/cursor.h
 *             TIER_LIKELY, size u16, likely, one of the above
 *                                                  the order that the first page had (likely.h)
 *             TIER_ARRANGED, begun u8, count u8, seed u64, hashes u64, one of the above
 *                                                  what an arranged list has shown (arranged.h)
 *             TIER_CHOOSES, enum tier_chooses u8, one of the above
 *                                                  what the first page took words of the text for
 */
#ifndef TORG_SEARCH_CHOICES_TIERS_H
#define TORG_SEARCH_CHOICES_TIERS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "search/bounds.h"

/* An arranged list, as far as it was shown (arranged.h). */
struct arranged_state {
    uint64_t seed;
    uint64_t shown[ARRANGED_PLACE_COUNT]; /* hashes of offers' ids */
    uint32_t count;
    bool is_behind; /* the places that are arranged are over: the list goes on in one order */
};

/* What words of the text choose: a list goes on with the filters that its first page had. */
enum tier_chooses {
    TIER_CHOOSES_UNTOLD, /* it has to be found out */
    TIER_CHOOSES_PRICE,  /* sums of money are prices */
    TIER_CHOOSES_PAY,    /* they are salaries */
    TIER_CHOOSES_NOTHING,
    TIER_CHOOSES_COUNT
};

struct tier {
    bool is_some;        /* all of the first part was shown */
    struct bytes cursor; /* of the searcher; empty: from the beginning */
    const char *likely;  /* categories whose offers come sooner (likely_put); NULL: none */
    const struct arranged_state *arranged; /* NULL: the list is in one order */
    enum tier_chooses chooses;
};

/* Where a page begins, and the text that is to be searched for it. */
int tier_read(struct bytes cursor, const char *sent, struct arena *arena, struct tier *tier,
              const char **text, struct err *err);

/* The cursor of the next page. searched: what was searched for `sent`; the same pointer, if
 * that. */
struct bytes tier_cursor(const struct tier *next, const char *sent, const char *searched,
                         struct arena *arena);

#endif

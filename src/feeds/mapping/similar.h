/* SPDX-License-Identifier: Apache-2.0 */
/*
 * similar.h - which category the offers are in that are most like a feed's goods.
 *
 * Who has the offers is asked for those nearest to a title; those that share enough of its words
 * vote for their categories, the more they share the more (k nearest neighbours). Few votes, or
 * votes that do not agree, are no answer. Who is asked stands behind a function: feeds know nothing
 * of the search, whose nearest may have no more in common than a word of a long text.
 *
 * Threads: none of its own; the function is called on the caller's.
 */
#ifndef TORG_FEEDS_MAPPING_SIMILAR_H
#define TORG_FEEDS_MAPPING_SIMILAR_H

#include "base/arena.h"
#include "catalog/catalog.h"

struct feed_neighbour {
    const char *category; /* its id */
    const char *title;
};

struct feed_similar {
    /* The offers most like the title, the nearest first, at most max; in the arena. deadline_us:
     * monotonic. */
    int (*ask)(void *arg, const char *title, int64_t deadline_us, struct arena *arena,
               struct feed_neighbour *list, size_t max, size_t *count, struct err *err);
    void *arg;
    int64_t patience_us; /* for all questions of a file together */
    int64_t deadline_us; /* of a file that is being asked about: set by who asks */
};

/* What most of them are of; *found NULL: they do not agree, or there are too few. Negative: who was
 * asked does not answer. */
int feed_similar_vote(const struct feed_similar *similar, const struct catalog *catalog,
                      const char *const *titles, size_t title_count, struct arena *arena,
                      const struct category **found, struct err *err);

#endif

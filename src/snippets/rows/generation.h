/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation.h - full loads: all rows of a snippet at once, shown when they are complete.
 *
 *   begin ──> rows go to the generation that is loading, which nobody is shown
 *   switch ─> it is live; the one that was live is `back`, kept to go back to
 *   back ───> live and back change places
 *
 * Single writes go to all of them (rows.h), so that whichever is shown has what was put meanwhile.
 * Each step is one transaction, and names its generation: a load that another has replaced can do
 * nothing any more. What is neither live nor back nor loading is garbage and is removed piece by
 * piece (snippet_generation_sweep); numbers are not used again, so it is never taken for rows.
 *
 * All functions act on the prefixes of a name together. Threads: any.
 */
#ifndef TORG_SNIPPETS_ROWS_GENERATION_H
#define TORG_SNIPPETS_ROWS_GENERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "snippets/bounds.h"
#include "store/store.h"

struct snippet_prefix_list {
    const int64_t *list;
    size_t count;
};

/* Ends another load of these prefixes that is under way. */
int snippet_generation_begin(struct store *store, const struct snippet_prefix_list *prefixes,
                             int64_t *generation, struct err *err);

/* Of ERR_STALE here: this generation is not being loaded (any more). */
int snippet_generation_begun(struct store *store, const struct snippet_prefix_list *prefixes,
                             int64_t generation, int64_t *begun_us, struct err *err);
int snippet_generation_switch(struct store *store, const struct snippet_prefix_list *prefixes,
                              int64_t generation, struct err *err);
int snippet_generation_abandon(struct store *store, const struct snippet_prefix_list *prefixes,
                               int64_t generation, struct err *err);
/* ERR_PRECONDITION: there is nothing to go back to. */
int snippet_generation_back(struct store *store, const struct snippet_prefix_list *prefixes,
                            struct err *err);

/* What the switch would change. */
struct snippet_difference {
    int64_t before; /* rows that are shown */
    int64_t after;
    int64_t kept; /* of both, by key and language */
};

int snippet_generation_compare(struct store *store, const struct snippet_prefix_list *prefixes,
                               int64_t generation, struct snippet_difference *difference,
                               struct err *err);

/* Where the removal of garbage is; zero: at the beginning. */
struct snippet_sweep_place {
    int64_t prefix;
    int64_t unclean;
    int64_t generation;
    char key[SNIPPET_KEY_SIZE_MAX + 1];
    char language[SNIPPET_LANGUAGE_SIZE_MAX + 1];
};

/* One piece. Loads that have begun more than SNIPPET_LOAD_S_MAX ago are given up. *more: there is
 * another piece to look at. */
int snippet_generation_sweep(struct store *store, struct snippet_sweep_place *place, bool *more,
                             struct err *err);

#endif

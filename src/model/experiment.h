/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment.h - two formulas of the order BEST, compared on live queries by team-draft
 * interleaving: the search fills places of a list by them, events tell which of its places were
 * clicked. Both know who has filled a place from the list's name alone: nothing is kept of a list.
 *
 *     places   1 2 | 3 4 | 5 6 | ...      in each pair a coin of the list's seed says who is first
 *              A B   B A   A B            each takes its best offer that is not there yet
 *
 * A list is called x, 8 hex digits of the experiment, 16 of the seed; a page may add a point and a
 * name of its own, as one visitor's list of one query is the same list each time.
 */
#ifndef TORG_MODEL_EXPERIMENT_H
#define TORG_MODEL_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    EXPERIMENT_PLACE_COUNT = 100, /* of a list that both fill; what is behind is credited to none */
    EXPERIMENT_LIST_SIZE = 26,    /* of its name, with the zero */
};

enum experiment_side {
    EXPERIMENT_A, /* in force without it */
    EXPERIMENT_B, /* tried */
    EXPERIMENT_SIDE_COUNT,
};

struct experiment {
    const char *formulas[EXPERIMENT_SIDE_COUNT]; /* as the settings have them; borrowed */
    uint32_t id;                                 /* of the two: other formulas are another one */
    uint32_t new_every; /* of so many places one is neither's; 0: all are one's or the other's */
};

struct experiment experiment_of(const char *formula_a, const char *formula_b);

/* Who fills this place, from 0. */
enum experiment_side experiment_side_at(uint64_t seed, uint32_t place);

void experiment_list_name(const struct experiment *experiment, uint64_t seed,
                          char name[EXPERIMENT_LIST_SIZE]);
/* False: the name is of no list of this experiment. */
bool experiment_list_read(const struct experiment *experiment, const char *name, uint64_t *seed);

#endif

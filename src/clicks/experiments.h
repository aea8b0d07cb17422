/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiments.h - events of lists that two formulas have filled (model/experiment.h), credited to
 * the one that placed the offer.
 *
 *   counted event ── a place of a list of the experiment that runs ──> its side's shows, clicks,
 *                                                                       contacts
 *                └── a click ──> has the other side more clicks in this list by now? ──> lists won
 *
 * Clicks of one list belong together, as one visitor made them: what is compared are lists, each of
 * which counts once for the side with more clicks, as team-draft interleaving does.
 *
 * Threads: any.
 */
#ifndef TORG_CLICKS_EXPERIMENTS_H
#define TORG_CLICKS_EXPERIMENTS_H

#include "base/arena.h"
#include "base/err.h"
#include "model/experiment.h"
#include "store/store.h"
#include "torg/v1/event.pb-c.h"
#include "torg/v1/experiment.pb-c.h"

/* What the events of one call add, kept at once. */
struct experiment_tally {
    struct experiment_side_counts {
        int64_t shows, clicks, contacts, lists;
    } sides[EXPERIMENT_SIDE_COUNT];
    bool is_used;
};

struct experiment_visit {
    const struct experiment *experiment; /* that runs */
    uint64_t session;                    /* a hash of the visit's name */
    int64_t hour;
};

/* An event that counts. One of no list of this experiment adds nothing. */
int experiments_credit(struct store_tx *tx, const struct experiment_visit *visit,
                       const Torg__V1__Event *event, struct experiment_tally *tally,
                       struct err *err);
int experiments_keep(struct store_tx *tx, const struct experiment_visit *visit,
                     const struct experiment_tally *tally, int64_t now_us, struct err *err);

/* A share of count, and the interval in which it is with a probability of 95 % (Wilson's, which
 * holds for few, too). Of nothing: all of 0 to 1. */
void experiment_share(int64_t part, int64_t count, Torg__V1__ExperimentShare *share);

/* running: NULL: none does. */
int experiments_list(struct store *store, const struct experiment *running, struct arena *arena,
                     Torg__V1__ListExperimentsResponse *response, struct err *err);

#endif

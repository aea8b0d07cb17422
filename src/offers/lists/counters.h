/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - goes through lists and counters of all sellers, or of one, step by step.
 *
 * First the offers by their ids (is each in its lists?), then the sellers by their names (has a
 * list a row too much? do counts and totals fit?), then sellers of whom only totals are left. A
 * step is bounded; nothing is held between two steps, and the position says where another run may
 * continue. Threads: a run belongs to one; any number of runs may work on a store at once.
 */
#ifndef TORG_OFFERS_LISTS_COUNTERS_H
#define TORG_OFFERS_LISTS_COUNTERS_H

#include "base/clock.h"
#include "model/identity.h"
#include "offers/lists/list_check.h"

enum counters_phase { COUNTERS_OFFERS, COUNTERS_SELLERS, COUNTERS_TOTALS, COUNTERS_DONE };

struct counters_run {
    struct checking checking;
    const struct clock *clock;
    const char *only; /* this seller; NULL: all */

    enum counters_phase phase;
    offerid offer;                   /* the last one gone through */
    char last[IDENTITY_NAME_SIZE];   /* the last seller finished */
    int64_t last_shard;              /* of him, among those with totals only */
    char seller[IDENTITY_NAME_SIZE]; /* at work on him */
    int64_t shard;
    bool at_work;
    bool rows_done; /* of his lists */
    struct list_place row;

    int64_t offer_count; /* so far, as the rest */
    int64_t seller_count;
    int64_t difference_count;
    int64_t fixed_count;
};

/* The request is borrowed for the run. ERR_INVALID: the position is not one of ours. */
int counters_start(struct counters_run *run, struct store *store, const struct clock *clock,
                   const char *principal, const Torg__V1__VerifyCountersRequest *request,
                   struct err *err);

/* One bounded piece of work; what it found is added to findings. */
int counters_step(struct counters_run *run, struct findings *findings, struct err *err);

/* Whom a run tells how far it is and what it found. */
struct counters_teller {
    int (*tell)(void *arg, const Torg__V1__VerifyCountersResponse *answer, struct err *err);
    bool (*is_cancelled)(void *arg); /* may be NULL */
    void *arg;
};

/* All steps to the end; the last answer is `done`. */
int counters_go(struct counters_run *run, const struct counters_teller *teller, struct err *err);

#endif

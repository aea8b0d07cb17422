/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learner.h - spelling that knows what is on offer: it learns from changes of offers as they come.
 *
 *   offer-updates ── every partition, in order ──> title, names of values ──> speller
 *                                                  every minute, and at the end ──> snapshot
 *
 * Each process that corrects texts learns for itself, so this reads without a group: how far it has
 * read rests in the snapshot, with what was learnt up to there. A crash goes back to both together:
 * nothing is lost, nothing is counted twice. A change that leaves an offer's words as they were is
 * not learnt again (learnt.h); offers that are not ACTIVE are not learnt.
 *
 * The speller is opened with the first record: before there is an offer nothing is found, and so
 * nothing corrected. Opening takes a second; until then texts go uncorrected.
 *
 * Threads: one of its own, the speller's only writer. learner_speller is for any.
 */
#ifndef TORG_SEARCH_LEARNER_H
#define TORG_SEARCH_LEARNER_H

#include "base/buf.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "spell/speller.h"
#include "topic/topic.h"
#include "torg/v1/offer.pb-c.h"

#define LEARNER_SOURCE "offer-updates"

struct learner_options { /* all borrowed until it has stopped */
    struct topics *topics;
    const char *source; /* the topic; NULL: LEARNER_SOURCE */
    const struct clock *clock;
    struct catalog *(*catalog)(void *arg); /* a reference to the one in use */
    void *catalog_arg;
    struct bytes base; /* spell_base() or none */
    const char *path;  /* of the snapshot */
    int64_t save_us;   /* between two snapshots; 0: SPELL_SAVE_S */
};

struct learner;

struct learner *learner_start(const struct learner_options *options);
/* Saves what was learnt. Nobody may be using the speller any more; NULL is fine. */
void learner_stop(struct learner *learner);

/* NULL: it is not open yet. */
struct speller *learner_speller(const struct learner *learner);

/* What there is to learn from an offer, a line each: its title, and the names of its category and
 * of its attributes' values, in all languages. The buffer keeps a failure. */
void learner_text(const Torg__V1__Offer *offer, const struct catalog *catalog, struct buf *text);

#endif

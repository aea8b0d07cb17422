/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learner.h - spelling that knows what is on offer: it learns from changes of offers as they come.
 *
 *   offer-updates ── every partition, in order ──> title, names of values ──> speller
 *                                                  every minute, and at the end ──> snapshot
 *
 * Each process that corrects texts learns for itself, so this reads without a group: how far it has
 * read rests in the snapshot, with what was learnt up to there. A crash goes back to both together:
 * nothing is lost, nothing is counted twice. That is why it is no handler of stage/reader.h: a
 * group would share the partitions out and keep an offset that is not the snapshot's, and what one
 * of its readers cannot use would be parked once for each process, though the composer parks it. A
 * change that leaves an offer's words as they were is not learnt again (learnt.h); offers that are
 * not ACTIVE are not learnt.
 *
 * Now and then the index is counted anew, a page of it each SPELL_IDLE_MS: words that
 * no offer has any more, because it is gone or says something else, are forgotten. What the index
 * does not have yet comes back by the next count.
 *
 * Without a snapshot, and where the topic has forgotten its beginning, what is in the index is
 * learnt first.
 *
 * The speller is opened with the first record: before there is an offer nothing is found, and so
 * nothing corrected. Opening takes a second; until then texts go uncorrected.
 *
 * Threads: one of its own, the speller's only writer. learner_speller is for any.
 */
#ifndef TORG_SEARCH_LEARNING_LEARNER_H
#define TORG_SEARCH_LEARNING_LEARNER_H

#include "catalog/catalog.h"
#include "search/search.h"
#include "spell/speller.h"
#include "topic/topic.h"

struct learner_options { /* all borrowed until it has stopped */
    struct topics *topics;
    const char *source;          /* the topic; NULL: TOPIC_OFFER_UPDATES */
    const struct search *search; /* its clock, catalogue and index */
    struct bytes base;           /* spell_base() or none */
    const char *path;            /* of the snapshot */
    int64_t save_us;             /* between two snapshots; 0: SPELL_SAVE_S */
    int64_t recount_us;          /* between two counts of the index; 0: SPELL_RECOUNT_S */
};

struct learner;

struct learner *learner_start(const struct learner_options *options);
/* Saves what was learnt. Nobody may be using the speller any more; NULL is fine. */
void learner_stop(struct learner *learner);

/* NULL: it is not open yet. */
struct speller *learner_speller(const struct learner *learner);

#endif

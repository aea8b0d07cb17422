/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proposal.h - which category of the catalogue a feed's category probably is, for a person to
 * confirm.
 *
 * First the name as a whole: a name or a synonym of the catalogue, in any form of its words. Then
 * single words: those of the feed's name and of what its goods' titles have in common weigh by how
 * few categories share them; what the path has above decides between equals. A bag of words with
 * inverse document frequencies, no more: a person reads what comes of it. What similar offers are
 * is asked by category_tally.h, where the name says nothing (similar.h).
 *
 * Threads: one proposer, one thread. The catalogue is borrowed.
 */
#ifndef TORG_FEEDS_MAPPING_PROPOSAL_H
#define TORG_FEEDS_MAPPING_PROPOSAL_H

#include "base/arena.h"
#include "base/bytes.h"
#include "catalog/catalog.h"

struct feed_proposer;

enum feed_proposal_by {
    FEED_BY_NOTHING,
    FEED_BY_NAME,   /* the name is one of the catalogue's, or a synonym */
    FEED_BY_WORDS,  /* words of the name */
    FEED_BY_TITLES, /* words of the goods' titles alone */
    FEED_BY_OFFERS, /* what the offers are that are most like its goods */
};

struct feed_proposal {
    const struct category *category; /* NULL: none */
    enum feed_proposal_by by;
};

struct feed_proposer *feed_proposer_new(const struct catalog *catalog);
void feed_proposer_free(struct feed_proposer *proposer); /* NULL is fine */

/* path: "Мебель/Диваны прямые", may be empty. titles: some of its goods. */
struct feed_proposal feed_propose(struct feed_proposer *proposer, struct bytes path,
                                  const char *const *titles, size_t title_count);

/* Options of the category's required attributes that the path or all titles name, as a file of
 * --categories has them ("pram-type=2-in-1"); "" where there are none. In the arena. */
const char *feed_propose_options(const struct category *category, const char *path,
                                 const char *const *titles, size_t title_count,
                                 struct arena *arena);

const char *feed_proposal_name(
    enum feed_proposal_by by); /* "name", "words", "titles", "offers", "" */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * category_tally.h - the categories that the rows of a feed have, how many rows each, and a file of
 * --categories made of them for the seller to look through.
 *
 * Bounded by FEED_CATEGORY_COUNT_MAX; rows of further ones are counted as those of none.
 */
#ifndef TORG_FEEDS_MAPPING_CATEGORY_TALLY_H
#define TORG_FEEDS_MAPPING_CATEGORY_TALLY_H

#include "base/buf.h"
#include "feeds/formats/row.h"
#include "feeds/mapping/category_rules.h"
#include "feeds/mapping/proposal.h"
#include "feeds/mapping/similar.h"

enum { FEED_TALLY_TITLE_COUNT = 5 };

struct feed_tallied {
    const char *id;   /* either may be "" */
    const char *path; /* never cut */
    uint64_t row_count;
    const struct feed_placement *placement; /* what is known of it already; NULL: nothing */
    bool is_refused;                        /* the seller has said that it is none of ours */
    struct feed_proposal proposal;          /* of one without either; see feed_tally_propose */
    const char *attributes; /* proposed with it; "" or as a file of --categories has them */
    const char *titles[FEED_TALLY_TITLE_COUNT];
    size_t title_count;
};

struct feed_tally;

struct feed_tally *feed_tally_new(void);
void feed_tally_free(struct feed_tally *tally); /* NULL is fine */

/* placement lives as long as the tally does; NULL: the row goes nowhere, for that reason. */
void feed_tally_add(struct feed_tally *tally, const struct feed_row *row,
                    const struct feed_placement *placement, const char *reason);
/* similar: asked of the categories with the most rows; NULL: nobody knows other offers. */
void feed_tally_propose(struct feed_tally *tally, const struct catalog *catalog,
                        const struct feed_similar *similar);
/* Those with the most rows first; the tally's. */
struct feed_tallied *const *feed_tally_list(struct feed_tally *tally, size_t *count);
/* What its rows get as a file of --categories has it: set by such a file, or proposed. */
void feed_tally_put_attributes(const struct feed_tallied *one, struct buf *out);
/* CSV as category_rules.h reads it, with columns for people behind. */
void feed_tally_write(struct feed_tally *tally, struct buf *out);

#endif

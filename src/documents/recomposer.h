/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recomposer.h - documents follow the catalogue: when another version is in use, the offers whose
 * documents it changes are composed again.
 *
 *   versions done … in use ──> categories that differ ──> their offers, page by page ──> documents
 *                                                                             (lane backfill)
 *
 * Which: a category counts when any of the versions since the last one that was finished changes
 * what its documents have (category_digest.h), is new, or is gone; so it is right whatever version
 * between them a document was made with. An offer of a category that is gone is deleted from the
 * index, and comes back with its category. If its newest change is parked the deletion counts as
 * older than that change, which stays stuck for a caller that follows it.
 *
 * When: not before RECOMPOSE_SETTLE_MS have passed since the version was seen here. By then no
 * composer uses an older one (composer.h, sure_us), so an offer that changes before the page just
 * read is composed with the new version anyway, and one that was composed with an old version is
 * read.
 *
 * Order: a document composed again has the version of its offer and a later moment
 * (offer_document.h). It replaces only the one of the old catalogue; composing twice gives the same
 * document.
 *
 * Never in the way: a page is sent when the receiver has taken the previous one, so a live change
 * waits for one page at worst, and the lane backfill gives way to main in the queue. Offers that
 * have just changed go by main: their own change may be waiting there, and would be held up by a
 * newer document in a slower lane.
 *
 * Its position is a row of the store (recompose_mark.h), moved after a page has been taken: a crash
 * repeats one page. A newer version starts again, with the categories of both. Only one composer
 * works at a time, by coord; should two do so, the row reveals to one that it was overtaken.
 *
 * It reads the store of offers, not a topic, so it is no handler of stage/reader.h: there is
 * nothing to commit but its row, and an offer that cannot be composed is counted, its change being
 * parked by the composer.
 *
 * Threads: one of its own.
 */
#ifndef TORG_DOCUMENTS_RECOMPOSER_H
#define TORG_DOCUMENTS_RECOMPOSER_H

#include "base/clock.h"
#include "catalog/catalog.h"
#include "coord/coord.h"
#include "store/store.h"
#include "topic/topic.h"
#include "torg/v1/offer.pb-c.h"

#define RECOMPOSE_SET "composer-catalogue" /* of coord; one shard */

struct recompose_page {
    Torg__V1__Offer **offers; /* in the arena */
    size_t count;
    size_t damaged_count; /* could not be read */
    int64_t last;         /* the next page is behind it; 0: this was the last */
};

struct recomposer_options { /* all borrowed until it has stopped */
    struct topics *topics;
    struct store *store;
    const struct clock *clock;
    struct coord *coord;                   /* NULL: nobody else is there */
    struct catalog *(*catalog)(void *arg); /* a reference to the one in use */
    void *catalog_arg;
    /* Offers of a category, in order of numbers behind `after`, and how many there are. */
    int (*page)(void *arg, const char *category, int64_t after, size_t max, struct arena *arena,
                struct recompose_page *page, struct err *err);
    int (*count)(void *arg, const char *category, int64_t *count, struct err *err);
    void *offers_arg;
    const char *taker_group; /* of the receiver; NULL: nobody is waited for */
    size_t page_count;       /* 0: RECOMPOSE_PAGE_COUNT */
    int64_t settle_us;       /* 0: RECOMPOSE_SETTLE_MS */
};

struct recomposer;

/* The topics are there: a composer was started before. On failure *recomposer is NULL. */
int recomposer_start(const struct recomposer_options *options, struct recomposer **recomposer,
                     struct err *err);
void recomposer_stop(struct recomposer *recomposer); /* NULL is fine */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetcher.h - fetches the feeds that are due (schedule.h), in the background.
 *
 * A fetcher takes part in the set of shards "feed-fetch"; several, on many machines, share it, so
 * that one of them fetches a feed. One of its threads looks for what is due every
 * FEED_FETCH_LOOK_MS, and wakes those who fetch, who take turns (turns.h). A lease
 * that is lost in the middle of a run ends that at its next row; the run is still due, and the new
 * owner goes on with its task.
 */
#ifndef TORG_FEEDS_SCHEDULE_FETCHER_H
#define TORG_FEEDS_SCHEDULE_FETCHER_H

#include "coord/coord.h"
#include "offers/change/offers.h"

struct feed_fetcher;

struct feed_fetcher_options {
    const struct offers *offers; /* borrowed until it has stopped, as all */
    struct coord *coord;
    const char *dir;              /* where files lie while they are read */
    bool takes_private_addresses; /* those of this machine and its network */
};

int feed_fetcher_start(const struct feed_fetcher_options *options, struct feed_fetcher **fetcher,
                       struct err *err);
void feed_fetcher_stop(struct feed_fetcher *fetcher); /* NULL is fine */

#endif

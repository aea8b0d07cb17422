/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce.h - a searcher announces its address to the others: the register "searchers" of coord.
 *
 *   announcer: its address and the moment, again every ANNOUNCE_MS; gone when it stops
 *   peers.h:   reads the list when it changes, and asks whoever is on it
 *
 * So a searcher that is started is asked by all, and one that is stopped by nobody, without a
 * restart of the others. An entry that was not renewed for ANNOUNCE_LIFE_MS is dropped by the next
 * writer: its process was killed and has not come back.
 *
 * Threads: one of its own.
 */
#ifndef TORG_SEARCHER_FRONT_ANNOUNCE_H
#define TORG_SEARCHER_FRONT_ANNOUNCE_H

#include "base/clock.h"
#include "base/err.h"
#include "coord/coord.h"

#define ANNOUNCE_KEY "searchers"

struct announcer;

struct announcer_options {
    struct coord *coord;       /* borrowed, as the others */
    const struct clock *clock; /* NULL: the system's */
    const char *address;       /* http://host:port, as others reach it */
};

/* On failure *announcer is NULL. Whether coord answers does not matter: it is tried until it
 * does. */
int announcer_start(const struct announcer_options *options, struct announcer **announcer,
                    struct err *err);
void announcer_stop(struct announcer *announcer); /* NULL is fine */

#endif

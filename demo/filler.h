/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filler.h - publishes the demo's offers, by the same call as a seller's program does.
 *
 * Many threads, because a group of commits has as many as there are callers. What was published
 * before (by a start that was stopped, or killed) is found by its external id and left alone, so
 * that filling ends with every number once, however often it was begun.
 */
#ifndef TORG_DEMO_FILLER_H
#define TORG_DEMO_FILLER_H

#include "demo/generator.h"
#include "offers/change/offers.h"

struct filler;

struct filler_options {
    const struct offers *offers; /* borrowed, as the generator */
    const struct generator *generator;
    uint64_t first; /* numbers first … end - 1 */
    uint64_t end;
    bool is_resumed; /* some of them may be there already */
};

void filler_start(const struct filler_options *options, struct filler **filler);
/* How many are published, those found there included. */
uint64_t filler_saved_count(const struct filler *filler);
/* Of them, those that were published now. */
uint64_t filler_created_count(const struct filler *filler);
/* Of those, how many are shown when their photos are there. */
uint64_t filler_waiting_count(const struct filler *filler);
/* Whether it has ended: all are published, or it failed. */
bool filler_is_done(const struct filler *filler);
/* Ends it, done or not, and frees it. 0, or why not all are published (ERR_CANCELLED: stopped). */
int filler_stop(struct filler *filler, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - buyers of the demo shop: one a second searches, looks down the list, and clicks.
 *
 * What they look for is what some offer of the generator is called, or its category. Few look far
 * down. Some offers please more than others, each always as much: so rates of clicks come to
 * differ.
 */
#ifndef TORG_DEMO_CROWD_H
#define TORG_DEMO_CROWD_H

#include "clicks/events.h"
#include "demo/generator.h"
#include "offers/change/offers.h"
#include "search/search.h"

struct crowd;

/* All borrowed until it is stopped. */
struct crowd_options {
    const struct offers *offers;
    const struct search *search;
    const struct generator *generator;
    uint64_t offer_count; /* numbers below it are published */
};

int crowd_start(const struct crowd_options *options, struct crowd **crowd, struct err *err);
void crowd_stop(struct crowd *crowd); /* NULL is fine */

#endif

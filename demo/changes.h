/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - life in the demo shop: prices move, things are sold, new ones come, a few are banned.
 *
 * Each change is a call that a seller or a moderator could make. Whose offer it is follows from a
 * number of the generator; which of his offers, from his cabinet: so nothing is kept, and a start
 * on an old directory goes on as the first one did. As much comes as goes.
 */
#ifndef TORG_DEMO_CHANGES_H
#define TORG_DEMO_CHANGES_H

#include "demo/generator.h"
#include "offers/change/offers.h"

struct changes;

struct changes_options {
    const struct offers *offers; /* borrowed, as the generator */
    const struct generator *generator;
    uint64_t offer_count; /* numbers below it are published */
    unsigned rate;        /* a second, above 0 */
};

int changes_start(const struct changes_options *options, struct changes **changes, struct err *err);
void changes_stop(struct changes *changes); /* NULL is fine */

#endif

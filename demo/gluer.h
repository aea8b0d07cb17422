/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gluer.h - snippets of the demo shop: a rating, a promise of delivery and a badge for its offers.
 *
 * Ratings and delivery of all offers come by a full load each, made of what the index has when it
 * starts; then those of the newest offers, which a visitor sees first, change every other second.
 */
#ifndef TORG_DEMO_GLUER_H
#define TORG_DEMO_GLUER_H

#include <stdbool.h>

#include "base/err.h"
#include "search/search.h"
#include "snippets/requests/snippets.h"

struct gluer;

/* Writes the config of its snippets to this file of the directory, and what that names. */
int gluer_prepare(const char *dir, const char *file, struct err *err);

/* All borrowed until it is stopped. */
int gluer_start(struct snippets *snippets, const struct search *search, bool changes,
                struct gluer **gluer, struct err *err);
void gluer_stop(struct gluer *gluer); /* NULL is fine */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranking.h - the operator's formulas for the order BEST of a text (setting ranking.best).
 *
 *   score * (1 + 0.2 / (1 + max(age(created), 0) / 604800)) | cars: score * (1 + 0.1 * has_photo)
 *
 * A formula of query/order/formula.h for all offers, and one for each category that is to have its
 * own: its id and a colon before it. The one of the category that was chosen, or that the text
 * names, or of the nearest above it, is taken. `near` is how far an offer is from the buyer, in
 * metres; of a request without a point it has no value, as a field that an offer does not have.
 *
 * Threads: read once, at the start.
 */
#ifndef TORG_SEARCH_CHOICES_RANKING_H
#define TORG_SEARCH_CHOICES_RANKING_H

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "index/schema.h"
#include "search/bounds.h"
#include "torg/v1/offer.pb-c.h"

struct ranking {
    struct ranking_formula {
        const char *category; /* id; "": of all others */
        const char *text;
    } list[RANKING_FORMULA_COUNT_MAX];
    size_t count;
};

/* where: the setting's name, for errors. Of an empty text there are none. The formulas are in the
 * arena; they are not looked at. */
int ranking_read(const char *text, const char *where, struct arena *arena, struct ranking *ranking,
                 struct err *err);

/* Whether they are formulas of these fields, which get the field `near`. ERR_INVALID names the
 * formula and the byte of it. What may be right later (attributes and categories of another
 * catalogue), and what makes searches slow, is logged. */
int ranking_check(const struct ranking *ranking, struct schema *fields,
                  const struct catalog *catalog, const char *where, struct arena *arena,
                  struct err *err);

/* NULL: there is none for this category (NULL: for all), and relevance decides. */
const char *ranking_find(const struct ranking *ranking, const struct category *category);

/* Whether a formula, or a setting of several, names this field. */
bool ranking_names(const char *text, const char *field);

/* The formula with the place of the buyer; without one (NULL) it stays as it is. */
const char *ranking_near(const char *formula, const Torg__V1__GeoPoint *near, struct arena *arena);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * category_digest.h - a category's contribution to the documents of its offers, as one number.
 *
 * Two versions of a category with one digest make the same documents (offer_document.c): the path
 * with its names, attributes with the form that their values take, and the catalogue's currency, in
 * which prices are compared. Names of attributes, limits, policies, synonyms and standard filters
 * are not in documents; pages take them from the catalogue in use.
 */
#ifndef TORG_DOCUMENTS_CATEGORY_DIGEST_H
#define TORG_DOCUMENTS_CATEGORY_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "catalog/catalog.h"

uint64_t category_digest(const struct catalog *catalog, const struct category *category);

/* Ids of categories, in the order of their bytes, each once. */
struct category_ids {
    const char **list;
    size_t count;
    size_t room;
};

/* Adds those whose documents differ between the two; before may be NULL: no catalogue. Ids are
 * copied into the arena. */
void category_ids_add_changed(struct category_ids *ids, const struct catalog *before,
                              const struct catalog *after, struct arena *arena);
/* Brings what was added into order. */
void category_ids_settle(struct category_ids *ids);
void category_ids_release(struct category_ids *ids); /* of the list; not of the arena */

#endif

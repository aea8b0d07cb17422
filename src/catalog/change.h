/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - putting another catalogue into use: checked, compared, weighed against stored offers.
 *
 * CatalogService answers with these. A change names the version that it was made for, and is
 * refused when another is in use by then: an optimistic lock (versions.h).
 */
#ifndef TORG_CATALOG_CHANGE_H
#define TORG_CATALOG_CHANGE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/violation.h"
#include "catalog/bounds.h"
#include "catalog/catalog.h"
#include "store/store.h"

/* Stored offers of one category that would break a rule. */
struct catalog_broken {
    int64_t offer_count;
    const char *samples[CATALOG_SAMPLE_COUNT]; /* ids of the first of them; in the arena */
    size_t sample_count;
    const char *reason; /* of the first one; in the arena */
};

/*
 * Asks the keeper of offers. Called for each category whose rules change, before anything is
 * stored: after is the category in the new catalogue, NULL when it is no longer there.
 * broken is zeroed. An error ends the change.
 */
struct catalog_impact {
    int (*count_broken)(struct catalog_impact *self, const struct category *before,
                        const struct category *after, struct arena *arena,
                        struct catalog_broken *broken, struct err *err);
};

/* An attribute that the index cannot take as the catalogue would have it. */
struct catalog_unfit {
    const char *attribute; /* in the arena, as the reason */
    const char *reason;
};

/* Asks the keeper of documents, before anything is stored. An error ends the change. */
struct catalog_index {
    int (*find_unfit)(struct catalog_index *self, const struct catalog *next, struct arena *arena,
                      struct catalog_unfit **unfit, size_t *count, struct err *err);
};

/* Who asks, and what stands by. */
struct catalog_editor {
    struct store *store;
    struct catalog_impact *impact; /* NULL: there are no offers */
    struct catalog_index *index;   /* NULL: nothing is indexed */
    const char *principal;
    int64_t now_us;
    struct arena *arena; /* of the answer */
};

/* What would change between the catalogue in use and next. */
int catalog_diff(const struct catalog_editor *editor, const struct catalog *next,
                 Torg__V1__CatalogChange *change, struct err *err);

/*
 * Puts next into use if `expected` still is. ERR_CONFLICT: it is not. ERR_PRECONDITION: stored
 * offers would break, or the index cannot take an attribute, and force is not given. A catalogue
 * that equals the one in use changes nothing and keeps its version.
 */
int catalog_apply(const struct catalog_editor *editor, const struct catalog *next, int64_t expected,
                  bool force, Torg__V1__CatalogChange *change, struct err *err);

#endif

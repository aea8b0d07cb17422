/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synonym_sets.h - files of synonyms in the store: one for each language, all of them in force.
 *
 * A set is kept as it was applied, with a version that grows by one with each change; a change is a
 * compare-and-set on it, with an audit entry in the same transaction.
 */
#ifndef TORG_SEARCH_SYNONYMS_SYNONYM_SETS_H
#define TORG_SEARCH_SYNONYMS_SYNONYM_SETS_H

#include "search/synonyms/synonyms.h"
#include "store/store.h"

struct synonym_set {
    const char *language;
    int64_t version;
    struct bytes text;
    int64_t applied_us;
    const char *applied_by;
};

struct synonym_sets {
    struct synonym_set *list; /* by language */
    size_t count;
};

/* A name of a language: ERR_INVALID tells what it should be. */
int synonym_language_check(const char *language, struct err *err);

/* All sets, in the arena. */
int synonym_sets_read(struct store *store, struct arena *arena, struct synonym_sets *sets,
                      struct err *err);
/* A number that changes with each change of any of them. */
int synonym_sets_mark(struct store *store, int64_t *mark, struct err *err);

/* The set of the language; NULL: none was ever applied. */
const struct synonym_set *synonym_sets_find(const struct synonym_sets *sets, const char *language);

struct synonym_change {
    const char *language;
    struct bytes text;
    int64_t expected; /* the version in force; 0: none was applied */
    const char *principal;
    int64_t now_us;
};
/* The file was checked. ERR_CONFLICT, changing nothing: another version is in force. */
int synonym_sets_apply(struct store *store, const struct synonym_change *change, struct err *err);

#endif

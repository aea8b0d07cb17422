/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.h - one version of the catalogue, loaded: the tree with all inheritance resolved.
 *
 * Made from the message Catalog (a file as JSON, or a row of the store) in one go, with every
 * fault told at once and by its place in the file. Afterwards nothing in it changes, so any number
 * of threads read it without locks; who keeps it holds a reference (holder.h gives the one in use).
 *
 * Inheritance: a category has its parent's attributes, without those it hides, with its
 * overrides, and its own behind them. Within one category no two attributes share an id, or a name
 * in any language. Standard filters and the policy come down the tree likewise. An attribute that
 * a category does not change is its parent's very struct, so pointers compare.
 */
#ifndef TORG_CATALOG_CATALOG_H
#define TORG_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/violation.h"
#include "catalog/bounds.h"
#include "catalog/decimal.h"
#include "torg/v1/catalog.pb-c.h"

enum language { LANGUAGE_RU, LANGUAGE_EN, LANGUAGE_COUNT };

/* A text in each language; one that the file lacks is the other's. Never NULL. */
struct local_text {
    const char *in[LANGUAGE_COUNT];
};

struct attribute_option {
    const char *id;
    struct local_text name;
    const struct attribute_option *parent; /* NULL: none */
    uint32_t place;                        /* in the attribute as defined, before overrides */
};

struct attribute_unit {
    const char *id;
    struct local_text name;
    struct decimal factor; /* base units in one */
};

/* An attribute as a category has it. */
struct attribute {
    const char *id;
    struct local_text name;
    struct local_text folded; /* the name as it is compared */
    Torg__V1__Attribute__Type type;
    Torg__V1__Attribute__Filter filter; /* never UNSPECIFIED */
    bool required;
    bool has_min;
    bool has_max;
    struct decimal min; /* of numbers and years, in base units */
    struct decimal max;
    uint32_t length_min; /* of texts, in characters */
    uint32_t length_max;
    const struct attribute_option *const
        *options; /* those allowed here, in the order to show them */
    size_t option_count;
    const bool *allowed;                /* by the options' places; NULL: all are */
    uint32_t count_max;                 /* options of one value, at most CATALOG_CHOSEN_COUNT_MAX */
    const struct attribute_unit *units; /* the first is the base */
    size_t unit_count;
    uint32_t digits;                               /* after the point */
    const struct category *origin;                 /* which has added it */
    const struct attribute_definition *definition; /* what it is before overrides */
};

struct policy {
    uint32_t photos_min;
    uint32_t photos_max;
    Torg__V1__Policy__Publish publish; /* never UNSPECIFIED, as price */
    uint32_t photo_wait_s;
    const char *const *currencies;
    size_t currency_count;
    Torg__V1__Policy__Price price;
    uint32_t title_min; /* characters */
    uint32_t title_max;
    uint32_t description_min;
    uint32_t description_max;
    uint32_t lifetime_days;
};

/* Fields are for reading. */
struct category {
    const char *id;
    const struct category *parent; /* NULL: at the top */
    const struct category *const *children;
    size_t child_count;
    struct local_text name;
    const struct attribute *const *attributes; /* own and inherited */
    size_t attribute_count;
    uint32_t filters;     /* bit of each Category.Filter */
    struct policy policy; /* resolved */
    uint32_t depth;       /* 1 at the top */
    uint32_t number;      /* depth first; those below it are number + 1 … last */
    uint32_t last;
    uint32_t place;                    /* in the file */
    const Torg__V1__Category *message; /* as in the file */
    /* Its paths in versions before, the newest first: documents may still have them. */
    const char *former[CATALOG_FORMER_COUNT_MAX];
    size_t former_count;
    bool has_former; /* it, or one below it, has some */
};

struct catalog;

/*
 * Each loads a whole catalogue; faults go to violations (may be NULL) with their places,
 * "categories[3].overrides[0].min", and ERR_INVALID tells the first. On failure *catalog is NULL.
 */
int catalog_from_json(struct bytes json, struct violations *violations, struct catalog **catalog,
                      struct err *err);
int catalog_from_wire(struct bytes wire, struct violations *violations, struct catalog **catalog,
                      struct err *err);
int catalog_from_message(const Torg__V1__Catalog *message, struct violations *violations,
                         struct catalog **catalog, struct err *err);

struct catalog *catalog_ref(struct catalog *catalog);
void catalog_unref(struct catalog *catalog); /* the last one frees it; NULL is fine */

int64_t catalog_version(const struct catalog *catalog); /* of the store; 0: not from there */
void catalog_set_version(struct catalog *catalog, int64_t version); /* before it is shared */
/* Categories learn where they were in that version, before the catalogue is shared. */
void catalog_add_former(struct catalog *catalog, const struct catalog *older);
const Torg__V1__Catalog *catalog_message(const struct catalog *catalog);

/* What prices are compared in: the first currency of the defaults; where they name none, of the
 * first category at the top. */
const char *catalog_currency(const struct catalog *catalog);

/* NULL when there is none. */
const struct category *category_find(const struct catalog *catalog, const char *id);
const struct attribute *attribute_find(const struct category *category, const char *id);
const struct attribute_option *option_find(const struct attribute *attribute, const char *id);
const struct attribute_unit *unit_find(const struct attribute *attribute, const char *id);

/* All categories, depth first: place number is category->number. */
const struct category *const *catalog_categories(const struct catalog *catalog, size_t *count);
const struct category *const *catalog_top(const struct catalog *catalog, size_t *count);
size_t catalog_attribute_count(const struct catalog *catalog); /* defined */

/* Whether category is `above` or somewhere below it. */
static inline bool category_is_within(const struct category *category, const struct category *above)
{
    return category->number >= above->number && category->number <= above->last;
}

/* Standard filters are the numbers from 1 to this, the last of the .proto. */
int category_filter_last(void);

static inline bool category_has_filter(const struct category *category,
                                       Torg__V1__Category__Filter filter)
{
    return category->filters >> filter & 1;
}

/* From the top down to category; the array is in the arena, category->depth long. */
const struct category **category_path(const struct category *category, struct arena *arena);
/* The same as documents have it: "transport/cars". */
char *category_path_text(const struct category *category, struct arena *arena);

/*
 * The attributes of several categories, each id once, as the first category that has it has it:
 * what any has, or (common) what all have. Unknown categories are the caller's to refuse.
 */
const struct attribute **catalog_attributes_of(const struct category *const *categories,
                                               size_t category_count, bool common,
                                               struct arena *arena, size_t *count);

/*
 * Categories by words of their names and synonyms, in all languages, case and ё/е aside. Every
 * word of the query must begin a word (where nothing is found, be another form of one); a whole
 * name beats a whole word beats a beginning, names beat synonyms, higher categories beat lower
 * ones. under (may be NULL) limits it to a branch.
 */
const struct category **catalog_search(const struct catalog *catalog, struct bytes query,
                                       const struct category *under, size_t max,
                                       struct arena *arena, size_t *count);

/* The category whose name or synonym the query is, in any form of its words ("диванов") and any
 * order of them; NULL: none. Of several the one that catalog_search would tell first. said: that
 * name, folded. */
const struct category *catalog_named(const struct catalog *catalog, struct bytes query,
                                     struct arena *arena, const char **said);

/* Whether the text is the name of a value that some attribute has, in any form of its words; of at
 * most CATALOG_VALUE_WORD_MAX of them, and no bare number. */
bool catalog_has_value(const struct catalog *catalog, struct bytes text, struct arena *arena);

/* "ru", "en", also "en-US,en;q=0.9"; the first known one, else Russian. */
enum language language_of(struct bytes text);

#endif

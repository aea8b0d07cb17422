/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_parts.h - inside of a catalogue, for the files that build and search it.
 *
 * Built in this order, each step on what the one before has left, going on behind a fault as far as
 * that makes sense: definitions of attributes (catalog_define.c), the tree (catalog_load.c), what
 * each category inherits, top down (catalog_inherit.c, catalog_policy.c), words of names
 * (catalog_search.c). Everything lives in the catalogue's arena.
 */
#ifndef TORG_CATALOG_CATALOG_PARTS_H
#define TORG_CATALOG_CATALOG_PARTS_H

#include <stdatomic.h>

#include "base/object.h"
#include "catalog/catalog.h"
#include "catalog/id_table.h"

/* An attribute as the file defines it. */
struct attribute_definition {
    struct attribute attribute; /* without origin */
    struct id_table options;    /* id → struct attribute_option */
    size_t place;               /* in the file */
    bool broken;                /* faults were told: it is not looked at again */
};

/* A word of a name or synonym; the list is in order of words. */
struct posting {
    struct bytes word;
    uint32_t category; /* number */
    uint32_t weight;   /* names above synonyms, only words above one of many */
};

enum { CATALOG_MAGIC = OBJECT_MAGIC('c', 't', 'l', 'g') };

struct catalog {
    uint32_t magic;
    _Atomic unsigned refs;
    int64_t version;
    struct arena *arena; /* owned; holds all below */
    const Torg__V1__Catalog *message;
    struct attribute_definition *definitions; /* in the file's order */
    struct id_table definition_ids;
    struct category *in_file;           /* in the file's order */
    const struct category **categories; /* by number */
    size_t category_count;              /* of both */
    const struct category *const *top;  /* no parent */
    size_t top_count;
    struct id_table category_ids;
    struct posting *postings;
    size_t posting_count;
    const char **folded; /* by number: LANGUAGE_COUNT names each, as searched */
    uint64_t *values;    /* hashes of options' names, ascending */
    size_t value_count;
};

struct loading {
    struct catalog *catalog;
    struct arena *arena; /* the catalogue's */
    struct violations *violations;
};

/* A place in the file: "categories[3].overrides[0]". */
struct place {
    const char *list;
    size_t index;
    const char *part;  /* NULL: the item itself */
    size_t part_index; /* SIZE_MAX here or there: not a list */
};

/* Tells what is wrong with a field at a place ("" = with the place itself). */
void loading_fault(struct loading *loading, const struct place *place, const char *field,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether the id is well formed; if not it has been told. */
bool loading_check_id(struct loading *loading, const struct place *place, const char *id);
/* The name as a local_text; what is wrong with it has been told. */
struct local_text loading_name(struct loading *loading, const struct place *place,
                               const Torg__V1__LocalText *name);
struct local_text loading_fold(struct loading *loading, const struct local_text *name);

void loading_define(struct loading *loading); /* all attributes */
/* Fields that definitions and overrides share; both tell what is wrong. */
void loading_set_limits(struct loading *loading, const struct place *place,
                        struct attribute *attribute, const char *min, const char *max,
                        uint32_t length_min, uint32_t length_max, uint32_t count_max);
void loading_set_filter(struct loading *loading, const struct place *place,
                        struct attribute *attribute, Torg__V1__Attribute__Filter filter);

void loading_inherit(struct loading *loading, struct category *category);
void loading_inherit_policy(struct loading *loading, struct category *category);
void loading_inherit_filters(struct loading *loading, struct category *category);
/* What categories at the top inherit. */
struct policy loading_default_policy(struct loading *loading);
uint32_t loading_default_filters(struct loading *loading);

void loading_index_names(struct loading *loading);
void loading_index_values(struct loading *loading);

#endif

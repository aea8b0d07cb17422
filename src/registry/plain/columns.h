/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - the fields of documents in plain JSON or CSV: what is in them, and which type
 * follows.
 *
 * All documents of a request are examined before the first is made, so one type fits them all. A
 * field that the schema has keeps its type. A new one gets:
 *
 *   true, false                      boolean
 *   numbers                          decimal (PLAIN_SCALE digits or as many as there are); integer,
 *                                    if one is too great for that
 *   strings that are all dates       date
 *   {"lat": 55.7, "lon": 37.6}       point
 *   lists of strings or numbers      keywords
 *   long strings, and those called   text, as long as the epoch has room for texts
 *   title, name, description, ...
 *   other strings                    keyword; with numbers among them: what there is more of, and
 *                                    the others are refused
 *   anything else                    no field: kept, and its words are found
 *
 * Members of objects become fields: {"a": {"b": 1}} is a field a.b.
 */
#ifndef TORG_REGISTRY_PLAIN_COLUMNS_H
#define TORG_REGISTRY_PLAIN_COLUMNS_H

#include "codec/placed_json.h"
#include "registry/clients/clients.h"

/* The document as it was sent, shown with hits; the words of keywords, found by searches. */
#define PLAIN_SOURCE_FIELD "plain-source"
#define PLAIN_WORDS_FIELD "plain-words"

struct plain_column {
    const char *name;  /* in the index */
    struct bytes path; /* as it was sent first */
    uint64_t hash;
    uint32_t number_count; /* values that are numbers, and short strings: the more frequent wins */
    uint32_t string_count;
    unsigned seen;                    /* bits of what was there */
    uint32_t scale;                   /* digits after the point */
    bool is_known;                    /* the schema has it, or its type was said */
    Torg__V1__SchemaField__Type type; /* UNSPECIFIED: no field */
};

struct plain_columns {
    struct plain_column *list;
    uint32_t count;
    bool has_words;   /* there is, or may be, a field for words */
    bool is_table;    /* values are strings that may mean numbers */
    struct bytes key; /* the member that tells documents apart: no field */
    struct arena *arena;
};

/* A value on its way through a document: a member of an object that is no object itself. */
typedef void (*plain_leaf_fn)(void *arg, struct bytes path, const struct placed_json *value);
/* Calls back for every member that may be a field; names that begin with "_" are left out. */
void plain_walk(const struct placed_json *object, struct arena *arena, plain_leaf_fn leaf,
                void *arg);
/* Whether it is a place on earth, as {"lat", "lon"} or {"latitude", "longitude"}. */
bool plain_point(const struct placed_json *object, double *latitude, double *longitude);
/* A number as decimals are written, "-12.5", at most FIELD_SCALE_MAX digits after the point; false:
 * it is none, or too great. scale may be NULL. */
bool plain_decimal(struct bytes text, struct arena *arena, const char **decimal, uint32_t *scale);

/*
 * Looks at all objects of the list. epoch: the schema, NULL: there is none yet. types (may be
 * empty): "colour:keyword,price:integer", said by the caller; ERR_INVALID if it cannot be.
 */
int plain_columns_read(const struct placed_json *list, bool is_table,
                       const struct epoch_view *epoch, struct bytes key, struct bytes types,
                       struct arena *arena, struct plain_columns *columns, struct err *err);
/* NULL: the name cannot be one. */
const struct plain_column *plain_columns_find(const struct plain_columns *columns,
                                              struct bytes path);

#endif

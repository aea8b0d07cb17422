/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the fields of a shard's documents: names, types and what each is for.
 *
 * A schema grows while it is used: a field is added and stays, with its number, its type and its
 * settings. Adding it again, the same, changes nothing; with another type it is refused.
 *
 * Threads: one writer adds; anybody reads without locks. A field never moves.
 */
#ifndef TORG_INDEX_SCHEMA_H
#define TORG_INDEX_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

/* Stored: never renumbered. */
enum field_type {
    FIELD_TEXT = 1,     /* words, found by a search; weight */
    FIELD_KEYWORD = 2,  /* one of many values, or several of them */
    FIELD_INTEGER = 3,  /* int64 but the greatest */
    FIELD_DECIMAL = 4,  /* scaled by 10^scale into an integer */
    FIELD_DATE = 5,     /* seconds since 1970 */
    FIELD_BOOLEAN = 6,  /* 0 or 1 */
    FIELD_CATEGORY = 7, /* a path of a tree, "transport/cars" */
    FIELD_GEO = 8,      /* a point on earth */
    FIELD_STORED = 9,   /* for display only */
};

enum { FIELD_SCALE_MAX = 9 };

struct field {
    uint16_t id; /* given by the schema, from 0 */
    enum field_type type;
    bool multiple;            /* keyword, category: several values a document */
    bool filterable;          /* has a value set, range buckets or cells */
    uint8_t scale;            /* decimal: digits after the point */
    float weight;             /* text: > 0, 1 unless said */
    uint32_t value_count_max; /* keyword, category: different values; 0: the default */
    const char *name;
};

struct schema;

struct schema *schema_new(void);
void schema_free(struct schema *schema); /* NULL is fine */

/* Adds a copy of field (its id is ignored) unless it is there; *id may be NULL. ERR_INVALID for a
 * bad name or setting, ERR_PRECONDITION (naming both types) when it is there otherwise. */
int schema_add(struct schema *schema, const struct field *field, uint16_t *id, struct err *err);

uint32_t schema_count(const struct schema *schema);
const struct field *schema_field(const struct schema *schema, uint32_t id); /* NULL: none */
const struct field *schema_find(const struct schema *schema, struct bytes name);

/* Whether the first fields of both, so many, are the same. */
bool schema_begins_alike(const struct schema *one, const struct schema *other, uint32_t count);

/* ---- columns from outside ---- */

/* Numbers that were made elsewhere have names that documents' fields seldom have: x.NAME. They come
 * and go; they are not counted nor encoded, and their ids begin at SCHEMA_FIELD_COUNT_MAX. A name
 * keeps its id, its type and its digits as long as the schema lives, gone or not, so that a query
 * that was read before is about the same. */
#define FIELD_OUTSIDE_PREFIX "x."

/* A field of documents that has the name hides it. ERR_PRECONDITION: it is there otherwise;
 * ERR_LIMIT: there were too many names. */
int schema_lend(struct schema *schema, const struct field *field, uint16_t *id, struct err *err);
/* schema_find does not find it from now on. */
void schema_take_back(struct schema *schema, uint16_t id);
/* A field of documents, or a lent one, be it gone since; NULL: there was never one. */
const struct field *schema_any_field(const struct schema *schema, uint32_t id);
const struct field *schema_find_any(const struct schema *schema, struct bytes name);
/* Grows with each that comes or goes. */
uint32_t schema_lent_mark(const struct schema *schema);
/* Whether the same are lent to both, with the same ids. */
bool schema_lent_alike(const struct schema *one, const struct schema *other);

/* Whether documents have a column of it. */
bool field_has_column(const struct field *field);
bool field_has_dictionary(const struct field *field);
/* Of whoever keeps the shard, not of its documents: its name begins with "_". */
bool field_is_hidden(const struct field *field);
const char *field_type_name(enum field_type type);

/* Bytes with a checksum; decode adds all fields to an empty schema or changes nothing. */
void schema_encode(const struct schema *schema, struct buf *out);
int schema_decode(struct schema *schema, struct bytes encoded, struct err *err);

#endif

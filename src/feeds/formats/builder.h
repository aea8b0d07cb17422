/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - makes a row from the raw values that a format's reader finds, in any order.
 *
 * All meaning is here, so the same offer gives the same row in every format; a reader only knows
 * its syntax. Values are copied. Memory is one arena, emptied at each row, and bounded by the
 * limits of bounds.h: what passes them becomes a problem of the row.
 */
#ifndef TORG_FEEDS_FORMATS_BUILDER_H
#define TORG_FEEDS_FORMATS_BUILDER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/object.h"
#include "feeds/bounds.h"
#include "feeds/formats/field.h"
#include "feeds/formats/row.h"

enum { FEED_BUILDER_MAGIC = OBJECT_MAGIC('f', 'b', 'l', 'd') };

struct feed_builder {
    uint32_t magic;
    struct arena *arena;      /* owned */
    char default_currency[4]; /* of a price without one */
    char decimal;             /* before fractions; 0: not told */
    struct buf text;
    struct bytes single[FEED_FIELD_SINGLE_COUNT]; /* raw, trimmed */
    bool minor_price;                             /* price is in the smallest unit already */
    bool lists_photos;         /* a value is a list of addresses, divided by blanks; the format's */
    bool told_attribute_count; /* that there are more than are taken */
    struct feed_row row;
    struct bytes photos[FEED_PHOTO_COUNT_MAX];
    struct bytes phones[FEED_PHONE_COUNT_MAX];
    struct feed_attribute attributes[FEED_ATTRIBUTE_COUNT_MAX];
};

void feed_builder_init(struct feed_builder *builder, const char currency[4], char decimal);
void feed_builder_release(struct feed_builder *builder);

void feed_builder_begin(struct feed_builder *builder, uint64_t number, uint64_t line);
/* Empty values are not there. Texts must be valid UTF-8. */
void feed_builder_put(struct feed_builder *builder, enum feed_field field, struct bytes text);
void feed_builder_attribute(struct feed_builder *builder, struct bytes name, struct bytes value,
                            struct bytes unit);
/* A value under the name that the file has for it. */
void feed_builder_named(struct feed_builder *builder, struct bytes name, struct bytes value);
/* Of a field that a row has once. */
bool feed_builder_has(const struct feed_builder *builder, enum feed_field field);
/* Of an attribute that was put already; empty: there is none. */
struct bytes feed_builder_attribute_value(const struct feed_builder *builder, const char *name);
/* Another text for what was put already; one that does not fit changes nothing. */
void feed_builder_replace(struct feed_builder *builder, enum feed_field field, struct bytes text);
/* Before fractions, where nobody has told: what the format says. */
void feed_builder_default_decimal(struct feed_builder *builder, char decimal);
void feed_builder_minor_price(struct feed_builder *builder);
struct violations *feed_builder_problems(struct feed_builder *builder);
/* Where what is wrong with a field belongs: the problems, or the notes if its offer is good without
 * it. What a category demands it misses by itself. */
struct violations *feed_builder_faults(struct feed_builder *builder, enum feed_field field);
/* The builder's until the next begin. */
const struct feed_row *feed_builder_finish(struct feed_builder *builder);

#endif

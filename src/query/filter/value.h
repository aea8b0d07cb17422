/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - a number of a column as people write it: read and written by the type of its field.
 *
 *   integer  -12             boolean  true, false
 *   decimal  12.50           date     2026-11-15, 2026-11-15T08:00:00Z, ...T11:00:00+03:00
 *
 * What is written can be read, and is the same number then.
 */
#ifndef TORG_QUERY_FILTER_VALUE_H
#define TORG_QUERY_FILTER_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "index/schema.h"

/* Whether the field's column holds numbers that can be written so. */
bool value_is_number(const struct field *field);

/* A day is its first second; is_end: its last; what is beyond the years 1 to 9999, seconds. False:
 * it is not of the field's type, or has more digits after the point than the field. */
bool value_parse(const struct field *field, struct bytes text, bool is_end, int64_t *value);

/* Dates beyond the years 1 to 9999 as seconds. */
void value_put(const struct field *field, int64_t value, struct buf *out);

/* What is taken, for errors: "an integer", "true or false". */
const char *value_form(const struct field *field);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_value.h - single values of the proto3 JSON mapping: numbers, texts, times.
 *
 * Parsers take the whole text or refuse it. For readers and writers of JSON.
 */
#ifndef TORG_CODEC_JSON_VALUE_H
#define TORG_CODEC_JSON_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* An integer, exactly: "-12", "1e2", "1.50e1". False: not a JSON number, not integral or > 64 bits.
 */
bool json_integer(struct bytes text, bool *negative, uint64_t *magnitude);

/* A JSON number or NaN, Infinity, -Infinity; false also when it is too large for a double. */
bool json_double(struct bytes text, double *value);

/* RFC 3339 with any offset, years 1 to 9999, up to nine digits of a second. */
bool json_timestamp(struct bytes text, int64_t *seconds, int32_t *nanos);
/* "-1.5s", up to 10 000 years. */
bool json_duration(struct bytes text, int64_t *seconds, int32_t *nanos);

void json_put_u64(struct buf *out, uint64_t value);
void json_put_i64(struct buf *out, int64_t value);
/* The shortest of the usual forms that reads back as the same value. */
void json_put_double(struct buf *out, double value);
void json_put_float(struct buf *out, float value);
void json_put_text(struct buf *out, struct bytes text); /* bytes that are not UTF-8: U+FFFD */
void json_put_timestamp(struct buf *out, int64_t seconds, int32_t nanos); /* null out of range */
void json_put_duration(struct buf *out, int64_t seconds, int32_t nanos);

#endif

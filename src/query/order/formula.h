/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula.h - a ranking formula: text of a request or the config, compiled, computed for documents.
 *
 *   score * 2 + log(1 + ctr) - min(age(date) / 86400, 30) * 0.1
 *
 * Numbers; + - * / and unary -, brackets; score (of the text); the name of a number, date, decimal
 * (unscaled) or boolean field; age(FIELD): seconds from a date until now; distance(FIELD, LAT,
 * LON): metres to a point in degrees; log exp sqrt abs(x), min max pow(x, y), default(x, y): y
 * where x is none, if(x, y, z): y where x > 0, else z; has(FIELD, "value"): 1 where a keyword or a
 * category has it (of a category: it or one under it), else 0. A field without a value is NaN, and
 * so is what is made of it. Names with a point go on over hyphens, a.frame-size, as far as there is
 * such a field.
 *
 * Threads: once computed, a formula is immutable; it borrows the columns of its snapshot.
 */
#ifndef TORG_QUERY_ORDER_FORMULA_H
#define TORG_QUERY_ORDER_FORMULA_H

#include "query/query.h"

struct formula;

/* The stage tells the time, and whether fields may be unknown. where: its place in the request, for
 * errors, which also tell the byte. */
int formula_compile(const struct snapshot *snapshot, struct bytes text,
                    const struct query_stage *stage, const char *where, struct arena *arena,
                    struct formula **formula, struct err *err);

/* Whether this is a formula of such fields, by whoever has no snapshot: what a start of a process
 * is told. A name with a point that is no field may become one, as attributes do: *unknown is the
 * first such, in the text, else empty. *factor_max: as formula_factor_max. */
int formula_check(const struct schema *schema, struct bytes text, const char *where,
                  struct bytes *unknown, double *factor_max, struct err *err);

bool formula_uses_score(const struct formula *formula);

/* Of a formula that is the score times something else: what that is at most, so that whoever skips
 * by bounds of scores can. NaN: it is not, or may be anything. */
double formula_factor_max(const struct formula *formula);

/* Ages until another moment, before anything is computed. */
void formula_set_now(struct formula *formula, int64_t now);

/* Values of documents of one window; scores may be NULL when the formula does not use them. */
void formula_compute(const struct formula *formula, uint32_t window, const uint16_t *offsets,
                     uint32_t count, const float *scores, double *values);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - regular expressions of ECMA-262 (JavaScript) in time linear in the text.
 *
 *   text ── pattern_parse.c ──> tree ── pattern.c ──> program ── pattern_run.c ──> yes or no
 *                                                     (an NFA: Thompson's construction)
 *
 * All states are followed at once, so no pattern takes longer than its program times the text, and
 * both are bounded. What cannot be had so is refused when it is compiled, with its column: back
 * references, look-ahead and look-behind; so are Unicode properties but general categories (\p{L}).
 * Characters are code points; groups only group, and lazy is the same as greedy, since nothing asks
 * what matched.
 *
 * Threads: a compiled pattern is read by any.
 */
#ifndef TORG_SCHEMA_PATTERN_H
#define TORG_SCHEMA_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct pattern;

/* In the arena. text is valid UTF-8. ERR_INVALID and ERR_LIMIT tell the column of the pattern. */
int pattern_compile(struct bytes text, struct arena *arena, const struct pattern **pattern,
                    struct err *err);

/* Whether it matches anywhere in text, which is valid UTF-8. *steps is what it may still take;
 * ERR_LIMIT when that is not enough. Works in `scratch`, which is left as it was. */
int pattern_matches(const struct pattern *pattern, struct bytes text, struct arena *scratch,
                    uint64_t *steps, bool *matches, struct err *err);

#endif

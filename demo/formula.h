/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula.h - sums of demo/offers.grammar: numbers, variables, + - * / and brackets, and
 *
 *     rnd(a, b)       anything between, a and b included; whole when both are
 *     round(x, step)  the nearest multiple of step
 *     pow(a, b) min(a, b) max(a, b)
 */
#ifndef TORG_DEMO_FORMULA_H
#define TORG_DEMO_FORMULA_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/random.h"

struct formula_scope {
    struct rng *rng;
    /* The value of a variable; false: there is none, or it is no number. */
    bool (*find)(void *arg, struct bytes name, double *value);
    void *arg;
};

int formula_eval(const char *text, const struct formula_scope *scope, double *value,
                 struct err *err);

#endif

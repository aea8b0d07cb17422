/* SPDX-License-Identifier: Apache-2.0 */
/* formula.c - see formula.h: by recursive descent, to a bounded depth. */
#include "demo/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo/bounds.h"

struct formula {
    const char *at;
    const struct formula_scope *scope;
    unsigned depth;
    bool failed;
};

static double sum(struct formula *formula);

static void skip_blanks(struct formula *formula)
{
    formula->at += strspn(formula->at, " ");
}

static bool take_sign(struct formula *formula, char sign)
{
    skip_blanks(formula);
    if (*formula->at != sign)
        return false;
    formula->at++;
    return true;
}

static double fault(struct formula *formula)
{
    formula->failed = true;
    return 0;
}

static double draw(struct formula *formula, double low, double high)
{
    struct rng *rng = formula->scope->rng;

    if (high <= low)
        return low;
    if (low == floor(low) && high == floor(high))
        return low + (double)rng_below(rng, (uint64_t)(high - low) + 1);
    return low + (high - low) * (double)rng_below(rng, 1 << 20) / ((1 << 20) - 1);
}

static double call(struct formula *formula, struct bytes name)
{
    double a = sum(formula);
    double b = take_sign(formula, ',') ? sum(formula) : fault(formula);

    if (!take_sign(formula, ')'))
        return fault(formula);
    if (bytes_equal_text(name, "rnd"))
        return draw(formula, a, b);
    if (bytes_equal_text(name, "round"))
        return b > 0 ? round(a / b) * b : fault(formula);
    if (bytes_equal_text(name, "pow"))
        return pow(a, b);
    if (bytes_equal_text(name, "min"))
        return fmin(a, b);
    if (bytes_equal_text(name, "max"))
        return fmax(a, b);
    return fault(formula);
}

static double operand(struct formula *formula)
{
    const char *begin;
    struct bytes name;
    double value;
    char *end;

    if (take_sign(formula, '(')) {
        value = sum(formula);
        return take_sign(formula, ')') ? value : fault(formula);
    }
    if (isdigit((unsigned char)*formula->at)) {
        value = strtod(formula->at, &end);
        formula->at = end;
        return value;
    }
    begin = formula->at;
    while (isalnum((unsigned char)*formula->at) || *formula->at == '_')
        formula->at++;
    name = bytes_make(begin, (size_t)(formula->at - begin));
    if (name.size && take_sign(formula, '('))
        return call(formula, name);
    return name.size && formula->scope->find(formula->scope->arg, name, &value) ? value
                                                                                : fault(formula);
}

static double product(struct formula *formula)
{
    double value = operand(formula);

    while (!formula->failed) {
        if (take_sign(formula, '*')) {
            value *= operand(formula);
        } else if (take_sign(formula, '/')) {
            double by = operand(formula);

            value = by != 0 ? value / by : fault(formula);
        } else {
            break;
        }
    }
    return value;
}

static double sum(struct formula *formula)
{
    double value;

    if (++formula->depth > DEMO_DEPTH_MAX)
        return fault(formula);
    value = product(formula);
    while (!formula->failed) {
        if (take_sign(formula, '+'))
            value += product(formula);
        else if (take_sign(formula, '-'))
            value -= product(formula);
        else
            break;
    }
    formula->depth--;
    return value;
}

int formula_eval(const char *text, const struct formula_scope *scope, double *value,
                 struct err *err)
{
    struct formula formula = {.at = text, .scope = scope};

    *value = sum(&formula);
    skip_blanks(&formula);
    if (formula.failed || *formula.at || !isfinite(*value))
        return err_set(err, ERR_INVALID, "the formula \"%.100s\" cannot be worked out at \"%.40s\"",
                       text, formula.at);
    return 0;
}

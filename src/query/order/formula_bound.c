/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula_bound.c - see formula.h: the least and the greatest value that a formula can have
 * (interval arithmetic).
 *
 * The steps are run on ranges in place of numbers. A value is a range, or the score (never below 0)
 * times one; what is neither is anything. The rules follow formula.c: what has no value is none of
 * the range, since such documents are the last.
 */
#include <math.h>

#include "query/bounds.h"
#include "query/order/formula_steps.h"

enum { STACK_HEIGHT_MAX = 4 * (QUERY_FORMULA_DEPTH_MAX + 1) };

struct range {
    bool is_scaled;   /* the score times it */
    double low, high; /* low > high: never a value */
};

static const struct range anything = {false, -INFINITY, INFINITY};
static const struct range nothing = {false, INFINITY, -INFINITY};

static bool is_nothing(struct range a)
{
    return a.low > a.high;
}

static double times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static struct range product(struct range a, struct range b)
{
    double ends[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                     times(a.high, b.high)};
    struct range made = {a.is_scaled || b.is_scaled, ends[0], ends[0]};

    if (a.is_scaled && b.is_scaled)
        return anything;
    for (int i = 1; i < 4; i++) {
        made.low = fmin(made.low, ends[i]);
        made.high = fmax(made.high, ends[i]);
    }
    return made;
}

static struct range inverse(struct range a)
{
    if (a.is_scaled || (a.low <= 0 && a.high >= 0))
        return anything;
    return (struct range){false, 1 / a.high, 1 / a.low};
}

static struct range one(uint8_t kind, struct range a)
{
    if (kind == STEP_NEGATE)
        return (struct range){a.is_scaled, -a.high, -a.low};
    if (a.is_scaled)
        return anything;
    switch (kind) {
    case STEP_LOG:
        return (struct range){false, a.low > 0 ? log(a.low) : -INFINITY,
                              a.high > 0 ? log(a.high) : -INFINITY};
    case STEP_EXP:
        return (struct range){false, exp(a.low), exp(a.high)};
    case STEP_SQRT:
        return (struct range){false, a.low > 0 ? sqrt(a.low) : 0, a.high > 0 ? sqrt(a.high) : 0};
    default:
        return (struct range){false,
                              a.low > 0    ? a.low
                              : a.high < 0 ? -a.high
                                           : 0,
                              fmax(fabs(a.low), fabs(a.high))};
    }
}

/* Either of the two. */
static struct range both(struct range a, struct range b)
{
    if (is_nothing(a) || is_nothing(b))
        return is_nothing(a) ? b : a;
    if (a.is_scaled != b.is_scaled)
        return anything;
    return (struct range){a.is_scaled, fmin(a.low, b.low), fmax(a.high, b.high)};
}

static struct range two(uint8_t kind, struct range a, struct range b)
{
    if (kind == STEP_DEFAULT)
        return both(a, b);
    if (is_nothing(a) || is_nothing(b))
        return nothing;
    if (kind == STEP_MULTIPLY)
        return product(a, b);
    if (kind == STEP_DIVIDE)
        return product(a, inverse(b));
    if (a.is_scaled != b.is_scaled)
        return anything;
    switch (kind) {
    case STEP_ADD:
        return (struct range){a.is_scaled, a.low + b.low, a.high + b.high};
    case STEP_SUBTRACT:
        return (struct range){a.is_scaled, a.low - b.high, a.high - b.low};
    case STEP_MIN:
        return (struct range){a.is_scaled, fmin(a.low, b.low), fmin(a.high, b.high)};
    case STEP_MAX:
        return (struct range){a.is_scaled, fmax(a.low, b.low), fmax(a.high, b.high)};
    default:
        return anything;
    }
}

static struct range value(const struct step *step)
{
    switch (step->kind) {
    case STEP_NUMBER:
        return isnan(step->number) ? nothing : (struct range){false, step->number, step->number};
    case STEP_SCORE:
        return (struct range){true, 1, 1};
    case STEP_FIELD:
        return step->is_flag ? (struct range){false, 0, 1} : anything;
    case STEP_HAS:
        return (struct range){false, 0, 1};
    case STEP_DISTANCE:
        return (struct range){false, 0, INFINITY};
    default:
        return anything;
    }
}

double formula_find_factor(const struct step *steps, uint32_t count)
{
    struct range stack[STACK_HEIGHT_MAX];
    uint32_t height = 0, i;

    for (i = 0; i < count; i++) {
        uint8_t kind = steps[i].kind;

        if (kind <= STEP_HAS) {
            stack[height++] = value(&steps[i]);
        } else if (kind >= STEP_NEGATE && kind <= STEP_ABS) {
            if (!is_nothing(stack[height - 1]))
                stack[height - 1] = one(kind, stack[height - 1]);
        } else if (kind == STEP_IF) {
            height -= 2;
            stack[height - 1] = both(stack[height], stack[height + 1]);
        } else {
            height--;
            stack[height - 1] = two(kind, stack[height - 1], stack[height]);
        }
        if (isnan(stack[height - 1].low) || isnan(stack[height - 1].high))
            stack[height - 1] = anything;
    }
    if (!stack[0].is_scaled || is_nothing(stack[0]) || !isfinite(stack[0].high))
        return NAN;
    return fmax(stack[0].high, 0);
}

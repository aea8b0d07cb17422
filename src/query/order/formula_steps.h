/* SPDX-License-Identifier: Apache-2.0 */
/* formula_steps.h - the steps of a compiled formula; private to formula*.c. */
#ifndef TORG_QUERY_ORDER_FORMULA_STEPS_H
#define TORG_QUERY_ORDER_FORMULA_STEPS_H

#include <stdbool.h>
#include <stdint.h>

struct column;

enum step_kind {
    STEP_NUMBER,
    STEP_SCORE,
    STEP_FIELD,
    STEP_AGE,
    STEP_DISTANCE,
    STEP_HAS,
    STEP_ADD,
    STEP_SUBTRACT,
    STEP_MULTIPLY,
    STEP_DIVIDE,
    STEP_NEGATE,
    STEP_LOG,
    STEP_EXP,
    STEP_SQRT,
    STEP_ABS,
    STEP_MIN,
    STEP_MAX,
    STEP_POW,
    STEP_DEFAULT,
    STEP_IF,
};

struct step {
    uint8_t kind;
    double number; /* NUMBER; FIELD: the unit of a decimal */
    int32_t lat, lon;
    const struct column *column;
    const uint64_t *bits; /* HAS: by ordinal */
    uint32_t bit_count;
    bool is_flag; /* FIELD: 0 or 1 */
};

/* formula_factor_max of these. */
double formula_find_factor(const struct step *steps, uint32_t count);

#endif

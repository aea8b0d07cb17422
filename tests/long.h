/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long.h - how many random cases a test draws: few in `./dev test`, many in `./dev test long`.
 *
 * tests/e2e/kit/tap.py has the same for Python.
 */
#ifndef TORG_TESTS_LONG_H
#define TORG_TESTS_LONG_H

#include <inttypes.h>
#include <stdlib.h>

/* A number in the environment variable, if it is there, is taken instead. */
static inline int64_t test_count(const char *variable, int64_t few, int64_t many)
{
    const char *given = getenv(variable);

    if (given && *given)
        return strtoll(given, NULL, 10);
    return getenv("TORG_TEST_LONG") ? many : few;
}

#endif

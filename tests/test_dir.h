/* SPDX-License-Identifier: Apache-2.0 */
/* test_dir.h - a fresh directory for a test, in $TMPDIR or where the system keeps such. */
#ifndef TORG_TESTS_TEST_DIR_H
#define TORG_TESTS_TEST_DIR_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEST_DIR_SIZE = 200 };

/* The caller removes it, by dir_remove. */
static inline bool test_dir_make(char dir[TEST_DIR_SIZE])
{
    const char *above = getenv("TMPDIR");
    int length = snprintf(dir, TEST_DIR_SIZE, "%s/torg-test-XXXXXX", above ? above : P_tmpdir);

    return length > 0 && length < TEST_DIR_SIZE && mkdtemp(dir) != NULL;
}

#endif

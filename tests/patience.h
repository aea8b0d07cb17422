/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patience.h - the one limit of every wait in tests in C (tests/e2e/kit/tap.py has that of Python).
 *
 * It stops what hangs, and does not measure a busy machine: at load 20 all takes ten times as long.
 */
#ifndef TORG_TESTS_PATIENCE_H
#define TORG_TESTS_PATIENCE_H

enum { PATIENCE_S = 900, PATIENCE_MS = PATIENCE_S * 1000 };

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads_only.h - of a program's cases, those that have threads: the others have nothing for the
 * thread sanitizer to see, and have run under the address sanitizer.
 */
#ifndef TORG_TESTS_THREADS_ONLY_H
#define TORG_TESTS_THREADS_ONLY_H

/* Under the thread sanitizer only cases whose name matches run: * is any text. cmocka.h first. */
static inline void threads_only(const char *pattern)
{
#if defined(__SANITIZE_THREAD__)
    cmocka_set_test_filter(pattern);
#else
    (void)pattern;
#endif
}

#endif

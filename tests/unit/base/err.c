/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/err.h and violation.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/bounds.h"
#include "base/err.h"
#include "base/violation.h"

static void an_error_is_code_and_text(void **state)
{
    struct err err;
    char huge[2000];

    (void)state;
    assert_int_equal(err_set(&err, ERR_LIMIT, "%d is over %d", 5, 4), ERR_LIMIT);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "5 is over 4");
    assert_int_equal(err_wrap(&err, "offer %d", 7), ERR_LIMIT);
    assert_string_equal(err.text, "offer 7: 5 is over 4");
    assert_int_equal(err_set(NULL, ERR_STALE, "nobody reads it"), ERR_STALE);
    memset(huge, 'h', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = 0;
    err_set(&err, ERR_INVALID, "%s", huge);
    assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
    err_wrap(&err, "%s", huge);
    assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
}

static void errno_is_told(void **state)
{
    struct err err;

    (void)state;
    errno = ENOENT;
    assert_int_equal(err_errno(&err, "open %s", "x"), ERR_NOT_FOUND);
    assert_string_equal(err.text, "open x: No such file or directory");
    errno = ENOSPC;
    assert_int_equal(err_errno(&err, "write"), ERR_UNAVAILABLE);
    assert_string_equal(err.text, "write: No space left on device; make room on the disk");
    errno = EIO;
    assert_int_equal(err_errno(NULL, "write"), ERR_UNAVAILABLE);
}

static void every_code_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(err_name(0), "OK");
    assert_string_equal(err_name(ERR_INVALID), "INVALID");
    assert_string_equal(err_name(ERR_CONFLICT), "CONFLICT");
    assert_string_equal(err_name(ERR_UNSUPPORTED), "UNSUPPORTED");
    assert_string_equal(err_name(ERR_STALE), "STALE");
    assert_string_equal(err_name(ERR_STALE - 1), "UNKNOWN");
    assert_string_equal(err_name(1), "UNKNOWN");
}

static void violations_keep_their_order_and_bound(void **state)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    const struct violation *violation;
    char field[32] = "first";
    size_t kept = 0;
    int i;

    (void)state;
    violations_add(&violations, field, "is %d, at most %d", 9, 5);
    memset(field, 'x', 5); /* it was copied */
    for (i = 1; i < VIOLATION_COUNT_MAX + 50; i++)
        violations_add(&violations, "other", "%d", i);
    assert_int_equal(violations.count, VIOLATION_COUNT_MAX + 50);
    assert_string_equal(violations.first->field, "first");
    assert_string_equal(violations.first->reason, "is 9, at most 5");
    assert_string_equal(violations.first->next->reason, "1");
    for (violation = violations.first; violation; violation = violation->next)
        kept++;
    assert_int_equal(kept, VIOLATION_COUNT_MAX);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_code_and_text),
        cmocka_unit_test(errno_is_told),
        cmocka_unit_test(every_code_has_its_name),
        cmocka_unit_test(violations_keep_their_order_and_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

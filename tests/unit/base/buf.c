/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/buf.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"

static void a_full_buffer_fails_and_keeps_what_it_had(void **state)
{
    struct buf buf = BUF_INIT(8);

    (void)state;
    buf_put_text(&buf, "12345");
    assert_false(buf_failed(&buf));
    buf_put_text(&buf, "6789");
    assert_true(buf_failed(&buf));
    buf_put_text(&buf, "a");
    assert_int_equal(buf.size, 5);
    buf_reset(&buf);
    buf_printf(&buf, "%s", "12345678");
    assert_false(buf_failed(&buf));
    assert_int_equal(buf.size, 8);
    assert_string_equal(buf_text(&buf), "12345678");
    buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_buffer_fails_and_keeps_what_it_had),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

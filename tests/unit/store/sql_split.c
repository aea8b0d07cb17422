/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of store/sql_split.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/buf.h"
#include "store/sql_split.h"

static void expect(const char *text, const char *wanted)
{
    struct bytes rest = bytes_of(text);
    struct buf joined = BUF_INIT(4096);
    struct bytes statement;

    while (sql_next(&rest, &statement)) {
        buf_put(&joined, statement);
        buf_put_byte(&joined, '|');
    }
    assert_string_equal(buf_text(&joined), wanted);
    buf_release(&joined);
}

static void statements_end_at_semicolons(void **state)
{
    expect("", "");
    expect(" ;; \n ; ", "");
    expect("a;b", "a|b|");
    expect(" a b ;\n\tc; ", "a b |c|");
}

static void quotes_and_comments_hide_semicolons(void **state)
{
    expect("a 'x;''y;' b; c", "a 'x;''y;' b|c|");
    expect("a \";\" b", "a \";\" b|");
    expect("-- one; two\na", "a|");
    expect("/* ; */ a /* ; */ b; -- end;", "a /* ; */ b|");
    expect("a - b -- c;\n+ d", "a - b -- c;\n+ d|");
}

static void what_is_unfinished_takes_the_rest(void **state)
{
    expect("a 'b; c", "a 'b; c|");
    expect("a /* b; c", "a /* b; c|");
    expect("-- only", "");
    expect("'", "'|");
    expect("/", "/|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_end_at_semicolons),
        cmocka_unit_test(quotes_and_comments_hide_semicolons),
        cmocka_unit_test(what_is_unfinished_takes_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

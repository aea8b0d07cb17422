/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of store/statements.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/statements.h"

static struct statement *statement_new(const char *sql)
{
    struct statement *statement = mem_zero(sizeof(*statement));

    statement_init(statement, sql);
    return statement;
}

static void statement_free(struct statement *statement)
{
    if (statement)
        statement_release(statement);
    free(statement);
}

static void empty(struct statements *statements)
{
    struct statement *statement;

    for (;;) {
        statement = statements_take(statements);
        if (!statement)
            return;
        statement_free(statement);
    }
}

static void a_text_is_found_by_content_not_by_address(void **state)
{
    struct statements statements = {0};
    struct statement *kept = statement_new("SELECT 1");
    char sql[16];

    assert_null(statements_find(&statements, "SELECT 1"));
    assert_null(statements_keep(&statements, kept));
    snprintf(sql, sizeof(sql), "SELECT %d", 1);
    assert_ptr_equal(statements_find(&statements, sql), kept);
    snprintf(sql, sizeof(sql), "SELECT %d", 2);
    assert_null(statements_find(&statements, sql));
    empty(&statements);
}

static void a_busy_statement_is_not_given_twice(void **state)
{
    struct statements statements = {0};
    struct statement *kept = statement_new("SELECT 1");

    statements_keep(&statements, kept);
    kept->busy = true;
    assert_null(statements_find(&statements, "SELECT 1"));
    kept->busy = false;
    assert_ptr_equal(statements_find(&statements, "SELECT 1"), kept);
    empty(&statements);
}

/* Fills the table far past its size: it stays bounded, what is busy or was just used stays. */
static void the_least_used_make_room(void **state)
{
    enum { COUNT = 4 * STORE_STATEMENT_SET_COUNT * STORE_STATEMENT_WAY_COUNT };
    struct statements statements = {0};
    struct statement *busy = statement_new("busy");
    struct statement *favourite = statement_new("favourite");
    size_t kept_count = 0;
    char sql[32];
    int i;

    statements_keep(&statements, busy);
    statements_keep(&statements, favourite);
    busy->busy = true;
    for (i = 0; i < COUNT; i++) {
        struct statement *statement;

        snprintf(sql, sizeof(sql), "SELECT %d", i);
        statement = statement_new(sql);
        statement_free(statements_keep(&statements, statement));
        assert_true(statement->kept);
        assert_ptr_equal(statements_find(&statements, "favourite"), favourite);
    }
    busy->busy = false;
    assert_ptr_equal(statements_find(&statements, "busy"), busy);
    for (i = 0; i < COUNT; i++) {
        snprintf(sql, sizeof(sql), "SELECT %d", i);
        kept_count += statements_find(&statements, sql) != NULL;
    }
    assert_true(kept_count + 2 <= STORE_STATEMENT_SET_COUNT * STORE_STATEMENT_WAY_COUNT);
    assert_true(kept_count > STORE_STATEMENT_SET_COUNT);
    empty(&statements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_found_by_content_not_by_address),
        cmocka_unit_test(a_busy_statement_is_not_given_twice),
        cmocka_unit_test(the_least_used_make_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* many.c - statements for many rows: each row is in one of them, with values of its own. */
#include "registry/many.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(const void *rows, size_t place, struct store_value *own)
{
    const int64_t *numbers = rows;

    own[0] = STORE_V_INT(numbers[place]);
    own[1] = STORE_V_INT(-numbers[place]);
}

static struct many numbers_many(void)
{
    return (struct many){.head = "INSERT INTO t (a, b, c) VALUES ",
                         .row = "($1, ?, ?)",
                         .tail = " ON CONFLICT DO NOTHING",
                         .shared_count = 1,
                         .own_count = 2};
}

static void release(struct many *many)
{
    for (size_t i = 0; i < MANY_FORM_COUNT; i++)
        free(many->texts[i]);
}

/* Of how many rows: its commas outside of them. */
static size_t rows_of(const char *sql)
{
    size_t count = 0;

    for (const char *at = strstr(sql, "VALUES"); at; at = strstr(at + 1, "($1, "))
        count++;
    return count - 1;
}

static void a_statement_numbers_its_values(void **state)
{
    static const int64_t numbers[] = {7};
    const struct store_value shared = STORE_V_INT(3);
    struct many many = numbers_many();
    struct many_chunk chunk = {.done = 0};

    (void)state;
    assert_true(many_next(&many, &shared, numbers, 1, fill, &chunk));
    assert_string_equal(chunk.sql,
                        "INSERT INTO t (a, b, c) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");
    assert_int_equal(chunk.param_count, 3);
    assert_int_equal(chunk.params[0].integer, 3);
    assert_int_equal(chunk.params[1].integer, 7);
    assert_int_equal(chunk.params[2].integer, -7);
    assert_false(many_next(&many, &shared, numbers, 1, fill, &chunk));
    release(&many);
}

static void rows_are_joined_as_is_said(void **state)
{
    static const int64_t numbers[] = {1, 2, 3, 4};
    const struct store_value none = STORE_V_INT(0);
    struct many many = {
        .head = "SELECT ", .row = "(?=?)", .join = " OR ", .tail = ";", .own_count = 2};
    struct many_chunk chunk = {.done = 0};

    (void)state;
    assert_true(many_next(&many, &none, numbers, 4, fill, &chunk));
    assert_string_equal(chunk.sql, "SELECT ($1=$2) OR ($3=$4) OR ($5=$6) OR ($7=$8);");
    release(&many);
}

static void every_row_is_in_one_statement_whatever_their_number(void **state)
{
    enum { ROW_COUNT_MAX = 3 * MANY_ROW_COUNT_MAX + 7 };
    int64_t numbers[ROW_COUNT_MAX];
    const struct store_value shared = STORE_V_INT(3);
    struct many many = numbers_many();

    (void)state;
    for (int64_t i = 0; i < ROW_COUNT_MAX; i++)
        numbers[i] = 100 + i;
    for (size_t count = 0; count <= ROW_COUNT_MAX; count++) {
        struct many_chunk chunk = {.done = 0};
        size_t seen = 0;

        while (many_next(&many, &shared, numbers, count, fill, &chunk)) {
            size_t rows = rows_of(chunk.sql);

            assert_true(rows > 0 && rows <= MANY_ROW_COUNT_MAX);
            assert_int_equal(chunk.param_count, 1 + 2 * rows);
            assert_int_equal(chunk.done, seen + rows);
            for (size_t i = 0; i < rows; i++, seen++) {
                assert_int_equal(chunk.params[1 + 2 * i].integer, numbers[seen]);
                assert_int_equal(chunk.params[2 + 2 * i].integer, -numbers[seen]);
            }
        }
        assert_int_equal(seen, count);
    }
    release(&many);
}

static void a_text_is_made_once(void **state)
{
    static const int64_t numbers[] = {1, 2};
    const struct store_value shared = STORE_V_INT(3);
    struct many many = numbers_many();
    struct many_chunk first = {.done = 0}, second = {.done = 0};

    (void)state;
    assert_true(many_next(&many, &shared, numbers, 2, fill, &first));
    assert_true(many_next(&many, &shared, numbers, 2, fill, &second));
    assert_ptr_equal(first.sql, second.sql);
    release(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_numbers_its_values),
        cmocka_unit_test(rows_are_joined_as_is_said),
        cmocka_unit_test(every_row_is_in_one_statement_whatever_their_number),
        cmocka_unit_test(a_text_is_made_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

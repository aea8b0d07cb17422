/* SPDX-License-Identifier: Apache-2.0 */
/* unreadable.c - who cannot be read is told once, until he can. */
#include "registry/clients/unreadable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct unreadable unreadable;

static void one_is_counted_once(void **state)
{
    (void)state;
    unreadable_init(&unreadable);
    unreadable_note(&unreadable, "shop", "torn");
    unreadable_note(&unreadable, "shop", "torn again");
    unreadable_note(&unreadable, "news", "torn");
    assert_int_equal(unreadable.count, 2);
    unreadable_forget(&unreadable, "nobody");
    assert_int_equal(unreadable.count, 2);
}

static void who_is_forgotten_leaves_the_others(void **state)
{
    static const char *const names[] = {"a", "b", "c"};

    (void)state;
    unreadable_init(&unreadable);
    for (size_t i = 0; i < 3; i++)
        unreadable_note(&unreadable, names[i], "torn");
    unreadable_forget(&unreadable, "a");
    assert_int_equal(unreadable.count, 2);
    unreadable_note(&unreadable, "b", "torn");
    unreadable_note(&unreadable, "c", "torn");
    assert_int_equal(unreadable.count, 2);
    unreadable_note(&unreadable, "a", "torn");
    assert_int_equal(unreadable.count, 3);
    for (size_t i = 0; i < 3; i++)
        unreadable_forget(&unreadable, names[i]);
    assert_int_equal(unreadable.count, 0);
}

static void there_is_room_for_every_client_and_no_more(void **state)
{
    char name[CLIENT_NAME_SIZE_MAX + 2];

    (void)state;
    unreadable_init(&unreadable);
    for (int i = 0; i < CLIENT_COUNT_MAX + 5; i++) {
        snprintf(name, sizeof(name), "client-%d", i);
        unreadable_note(&unreadable, name, "torn");
    }
    assert_int_equal(unreadable.count, CLIENT_COUNT_MAX);
    unreadable_init(&unreadable);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    unreadable_note(&unreadable, name, "a name that no client can have");
    assert_int_equal(unreadable.count, 0);
    name[CLIENT_NAME_SIZE_MAX] = 0;
    unreadable_note(&unreadable, name, "the longest");
    assert_int_equal(unreadable.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_counted_once),
        cmocka_unit_test(who_is_forgotten_leaves_the_others),
        cmocka_unit_test(there_is_room_for_every_client_and_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a title that say what the thing is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "documents/title_head.h"

static const struct {
    const char *title, *head;
} cases[] = {
    {"Torrano 22 in. Gas Lawn Mower with Stanton Engine", "Lawn Mower"},
    {"Mower Blade for 22 in. Lawn Mowers", "Mower Blade"},
    {"Whirlwind 1.9 cu. ft. Over the Range Microwave in Stainless Steel", "Range Microwave"},
    {"DuraForge 20-Volt Max 1/2 in. Drill/Driver Kit", "Drill/Driver Kit"},
    {"Rydell 18-Volt Cordless Drill Kit (2-Tool)", "Cordless Drill Kit"},
    {"Weave Bamboo Rollup Shade - 96 in. W x 72 in. L", "Rollup Shade"},
    {"House of Farrow 3/4 in. x 8 ft. MDF Fluted Casing", "Fluted Casing"},
    {"36 in Vanity", "Vanity"},
    {"iPhone 13, case included", "iPhone"},
    {"Чехол для телефона", "Чехол"},
    {"Новый ноутбук Lenovo IdeaPad", "ноутбук"},
    {"Продам кожаный диван", "диван"},
    {"Ремонт телефонов", "Ремонт"},
    {"Samsung Galaxy S23, синий", "Samsung Galaxy"},
    {"Huawei nova 11 128 ГБ", "Huawei nova"},
    {"220 в", ""},
    {"", ""},
    {"(  ", ""},
};

static void heads_are_found(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(title_head(cases[i].title, arena), cases[i].head);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads_are_found)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

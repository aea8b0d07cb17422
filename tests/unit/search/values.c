/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/words/values.h: which values of attributes a text names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "search/words/values.h"

static Torg__V1__FilterValue blue, red, deep_blue, small, large, five;
static Torg__V1__FilterValue *colours[] = {&blue, &red, &deep_blue},
                             *sizes[] = {&small, &large, &five};
static Torg__V1__SearchFilter colour, size;
static Torg__V1__SearchFilter *filters[] = {&colour, &size};

static void name_value(Torg__V1__FilterValue *value, char *id, char *name)
{
    torg__v1__filter_value__init(value);
    value->id = id;
    value->name = name;
}

static void set_filter(Torg__V1__SearchFilter *filter, char *id, Torg__V1__FilterValue **values)
{
    torg__v1__search_filter__init(filter);
    filter->id = id;
    filter->kind = TORG__V1__SEARCH_FILTER__KIND__VALUES;
    filter->values = values;
    filter->n_values = 3;
}

static int set_up(void **state)
{
    (void)state;
    name_value(&blue, "blue", "Синий");
    name_value(&red, "red", "Красный");
    name_value(&deep_blue, "deep", "Тёмно-синий");
    name_value(&small, "128", "128 ГБ");
    name_value(&large, "256", "256 ГБ");
    name_value(&five, "5", "5");
    set_filter(&colour, "a.colour", colours);
    set_filter(&size, "a.size", sizes);
    return 0;
}

/* What was understood, as "text=id:value, ...". */
static const char *understood(const char *text, char *kept)
{
    static char told[256];
    struct arena *arena = arena_new();
    Torg__V1__SearchOffersResponse response;

    torg__v1__search_offers_response__init(&response);
    response.filters = filters;
    response.n_filters = ARRAY_COUNT(filters);
    values_understand(text, &kept, kept != NULL, arena, &response);
    told[0] = 0;
    for (size_t i = 0; i < response.n_understood; i++) {
        const Torg__V1__Understood *one = response.understood[i];

        assert_string_equal(one->as, "value");
        snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s=%s:%s", *told ? ", " : "",
                 one->text, one->choice->id, one->choice->values[0]);
    }
    arena_free(arena);
    return told;
}

static void values_are_told_in_any_form(void **state)
{
    (void)state;
    assert_string_equal(understood("синий диван", NULL), "синий=a.colour:blue");
    assert_string_equal(understood("Синие диваны 128 гб", NULL),
                        "Синие=a.colour:blue, 128 гб=a.size:128");
    assert_string_equal(understood("диван темно синий", NULL), "темно синий=a.colour:deep");
    assert_string_equal(understood("диван", NULL), "");
    assert_string_equal(understood("", NULL), "");
}

static void what_is_kept_chosen_or_a_bare_number_is_not_told(void **state)
{
    Torg__V1__FilterChoice choice;

    (void)state;
    torg__v1__filter_choice__init(&choice);
    assert_string_equal(understood("диван 5", NULL), "");
    assert_string_equal(understood("диван 128", NULL), "");
    assert_string_equal(understood("синий диван", "синий"), "");
    colour.choice = &choice;
    assert_string_equal(understood("синий диван", NULL), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_are_told_in_any_form, set_up),
        cmocka_unit_test_setup(what_is_kept_chosen_or_a_bare_number_is_not_told, set_up),
    };

    return cmocka_run_group_tests_name("search-values", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/choices/exact.h: which titles come first on a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "search/choices/exact.h"
#include "search/choices/ranking.h"

enum { COUNT_MAX = 8 };

static Torg__V1__SearchOffersRequest request;
static struct wanted wanted;

/* "1 0 2": the order of the titles, which came as 0, 1, 2 */
static const char *order_of(const char *text, const char *const *titles)
{
    static char told[2 * COUNT_MAX];
    Torg__V1__FoundOffer list[COUNT_MAX], *offers[COUNT_MAX];
    struct arena *arena = arena_new();
    size_t count = 0;

    for (; titles[count]; count++) {
        torg__v1__found_offer__init(&list[count]);
        list[count].title = (char *)titles[count];
        offers[count] = &list[count];
    }
    wanted.text = text;
    wanted.meaning.text = strstr(text, "купить ") ? text + strlen("купить ") : text;
    wanted.arena = arena;
    exact_first(&wanted, offers, count);
    memset(told, 0, sizeof(told));
    for (size_t i = 0; i < count; i++) {
        told[2 * i] = (char)('0' + (offers[i] - list));
        told[2 * i + 1] = i + 1 < count ? ' ' : 0;
    }
    arena_free(arena);
    return told;
}

static int begin(void **state)
{
    (void)state;
    torg__v1__search_offers_request__init(&request);
    wanted = (struct wanted){.sent = &request, .request = &request};
    return 0;
}

static const char *const phones[] = {"Samsung Galaxy S23, 256 ГБ, бежевый",
                                     "Samsung Galaxy S23 256 GB", "Samsung Galaxy S23 256 ГБ",
                                     "Galaxy S23", NULL};

static void a_title_of_the_words_alone_comes_first(void **state)
{
    static const char *const sofas[] = {"Диван", "Диваны синие", "Синий диван угловой",
                                        "Диван синий", NULL};
    static const char *const twice[] = {"Honda Honda", "Honda Civic", NULL};

    (void)state;
    assert_string_equal(order_of("samsung galaxy s23 256 гб", phones), "2 0 1 3");
    assert_string_equal(order_of("купить синий диван", sofas),
                        "1 3 0 2"); /* in any form and order */
    assert_string_equal(order_of("диван", sofas), "0 1 2 3");
    assert_string_equal(order_of("honda civic", twice), "1 0");
    assert_string_equal(order_of("honda civic 2015", twice), "0 1"); /* it says less */
}

static void other_orders_are_left_alone(void **state)
{
    static const struct ranking own = {.list = {{"", "score + 1"}}, .count = 1};
    static uint8_t cursor[] = {1};

    (void)state;
    request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST;
    assert_string_equal(order_of("samsung galaxy s23 256 гб", phones), "0 1 2 3");
    request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST;
    wanted.by_clicks = true; /* clicks are beside relevance, not in its place */
    assert_string_equal(order_of("samsung galaxy s23 256 гб", phones), "2 0 1 3");
    wanted.by_clicks = false;
    wanted.ranking = &own;
    assert_string_equal(order_of("samsung galaxy s23 256 гб", phones), "0 1 2 3");
    wanted.ranking = NULL;
    request.cursor = (ProtobufCBinaryData){.data = cursor, .len = 1};
    assert_string_equal(order_of("samsung galaxy s23 256 гб", phones), "0 1 2 3");
    request.cursor.len = 0;
    assert_string_equal(order_of("samsung galaxy s23 256 гб", phones), "2 0 1 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_title_of_the_words_alone_comes_first, begin),
        cmocka_unit_test_setup(other_orders_are_left_alone, begin)};

    return cmocka_run_group_tests_name("search-exact", tests, NULL, NULL);
}

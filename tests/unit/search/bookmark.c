/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/bookmark.h: a page's cursor brings the text along that was searched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/limits.h"
#include "search/bookmark.h"

static void the_largest_cursor_of_a_searcher_fits(void **state)
{
    struct arena *arena = arena_new();
    uint8_t *place = arena_alloc(arena, SEARCHER_CURSOR_SIZE_MAX);
    char searched[SEARCH_TEXT_SIZE_MAX + 1];
    struct bookmark found;
    struct bytes cursor;
    struct err err;

    (void)state;
    memset(place, 7, SEARCHER_CURSOR_SIZE_MAX);
    memset(searched, 'a', SEARCH_TEXT_SIZE_MAX);
    searched[SEARCH_TEXT_SIZE_MAX] = 0;
    cursor = bookmark_encode(bytes_make(place, SEARCHER_CURSOR_SIZE_MAX), "typed", searched, arena);
    assert_int_equal(bookmark_decode(cursor, "typed", arena, &found, &err), 0);
    assert_string_equal(found.text, searched);
    assert_int_equal(found.place.size, SEARCHER_CURSOR_SIZE_MAX);
    assert_int_equal(bookmark_decode(cursor, "another", arena, &found, &err), 0);
    assert_string_equal(found.text, "another"); /* the searcher refuses its place then */
    arena_free(arena);
}

static void what_is_no_cursor_is_refused(void **state)
{
    static const char *const wrong[] = {"\x02x", "\x01",
                                        "\x01"
                                        "12345678",
                                        "\x01"
                                        "12345678\x05"
                                        "ab",
                                        "\x01"
                                        "12345678\x02\xff\xff"
                                        "x"};
    struct arena *arena = arena_new();
    struct bookmark found;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(bookmark_decode(bytes_of(wrong[i]), "text", arena, &found, &err),
                         ERR_INVALID);
    assert_int_equal(bookmark_decode(bytes_make("\0", 1), "text", arena, &found, &err),
                     ERR_INVALID);
    assert_int_equal(bookmark_decode(BYTES_EMPTY, "text", arena, &found, &err), 0);
    assert_string_equal(found.text, "text");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_cursor_of_a_searcher_fits),
        cmocka_unit_test(what_is_no_cursor_is_refused),
    };

    return cmocka_run_group_tests_name("search_bookmark", tests, NULL, NULL);
}

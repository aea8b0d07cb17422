/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/memory.h"

static void a_list_keeps_what_is_in_it_while_it_grows(void **state)
{
    uint32_t *list = NULL;
    size_t capacity = 0;
    int moves = 0;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = capacity;

        list = mem_grow(list, i + 1, sizeof(*list), &capacity);
        assert_true(capacity > i);
        moves += capacity != before;
        list[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(list[i], i);
    assert_true(moves < 20); /* doubled, not stretched by one */
    free(list);
}

static void room_that_is_there_is_left_alone(void **state)
{
    size_t capacity = 0;
    char *list = mem_grow(NULL, 1000, 1, &capacity);

    (void)state;
    assert_true(capacity >= 1000);
    assert_ptr_equal(mem_grow(list, capacity, 1, &capacity), list);
    free(list);
}

static void a_large_map_is_zeroed_and_begins_with_a_huge_page(void **state)
{
    static const size_t sizes[] = {100, 2 << 20, (2 << 20) + 1, (7 << 20) + 12345};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        uint8_t *map = mem_map_huge(sizes[i]);

        if (sizes[i] >= 2 << 20)
            assert_int_equal((uintptr_t)map % (2 << 20), 0);
        for (size_t at = 0; at < sizes[i]; at += 99)
            assert_int_equal(map[at], 0);
        map[sizes[i] - 1] = 1;
        mem_unmap(map, sizes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_keeps_what_is_in_it_while_it_grows),
        cmocka_unit_test(room_that_is_there_is_left_alone),
        cmocka_unit_test(a_large_map_is_zeroed_and_begins_with_a_huge_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/arena.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"

static void allocations_are_aligned_and_apart(void **state)
{
    enum { COUNT = 3000 };
    struct arena *arena = arena_new();
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    static uint8_t *blocks[COUNT];
    static size_t sizes[COUNT];
    size_t i;
    size_t j;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (i = 0; i < COUNT; i++) {
        sizes[i] = rng_below(&rng, i % 100 == 0 ? 50000 : 200);
        blocks[i] = arena_alloc(arena, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        memset(blocks[i], (int)(i & 0xff), sizes[i]);
    }
    for (i = 0; i < COUNT; i++) {
        for (j = 0; j < sizes[i]; j++)
            assert_int_equal(blocks[i][j], i & 0xff);
    }
    arena_free(arena);
}

static void a_rewind_gives_the_memory_back(void **state)
{
    struct arena *arena = arena_new();
    char *kept = arena_strdup(arena, "kept");
    struct arena_mark mark = arena_mark(arena);
    size_t before = arena_size(arena);
    void *first = arena_alloc(arena, 64);
    int i;

    (void)state;
    for (i = 0; i < 100; i++)
        arena_alloc(arena, 5000);
    assert_true(arena_size(arena) > 100 * 5000);
    arena_rewind(arena, mark);
    assert_int_equal(arena_size(arena), before);
    assert_ptr_equal(arena_alloc(arena, 64), first); /* a batch reuses the same bytes */
    assert_string_equal(kept, "kept");
    arena_reset(arena);
    assert_int_equal(arena_size(arena), before);
    arena_free(arena);
    arena_free(NULL);
}

static void a_reset_keeps_what_it_is_told_to(void **state)
{
    enum { KEPT = 100000 };
    struct arena *arena = arena_new();
    size_t before = arena_size(arena), kept;
    uint8_t *first;
    int i;

    (void)state;
    arena_keep(arena, KEPT);
    arena_reset(arena);
    assert_int_equal(arena_size(arena), before);
    for (i = 0; i < 10; i++)
        arena_alloc(arena, 5000);
    kept = arena_size(arena);
    arena_reset(arena);
    assert_int_equal(arena_size(arena), kept);
    first = arena_alloc(arena, 5000);
    for (i = 1; i < 10; i++)
        assert_ptr_equal((uint8_t *)arena_alloc(arena, 5000), first + i * 5008L); /* one chunk */
    assert_int_equal(arena_size(arena), kept);
    for (i = 0; i < 100; i++)
        arena_alloc(arena, 5000);
    arena_reset(arena);
    assert_int_equal(arena_size(arena), KEPT); /* no more than that */
    arena_reset(arena);
    assert_int_equal(arena_size(arena), KEPT);
    arena_free(arena);
}

static void what_is_adopted_is_the_arenas_own(void **state)
{
    struct arena *arena = arena_new();
    char *kept = arena_strdup(arena, "kept");
    struct arena_mark mark = arena_mark(arena);
    size_t before = arena_size(arena);
    struct arena *other = arena_new();
    char *brought = arena_strdup(other, "brought");
    size_t both;

    (void)state;
    arena_alloc(other, 100000);
    both = before + arena_size(other);
    arena_adopt(arena, other);
    assert_int_equal(arena_size(arena), both);
    memset(arena_alloc(arena, 5000), 'x', 5000);
    assert_string_equal(brought, "brought");
    assert_string_equal(kept, "kept");
    arena_adopt(arena, NULL);
    arena_rewind(arena, mark); /* it came after the mark */
    assert_int_equal(arena_size(arena), before);
    arena_adopt(arena, arena_new());
    arena_reset(arena);
    assert_int_equal(arena_size(arena), before);
    arena_adopt(arena, arena_new());
    arena_free(arena);
}

static void copies_have_their_content(void **state)
{
    struct arena *arena = arena_new();
    struct bytes copy = arena_copy(arena, bytes_make("a\0b", 3));
    int *zeros = arena_array(arena, 1000, sizeof(*zeros));
    char large[20001];
    int i;

    (void)state;
    assert_true(bytes_equal(copy, bytes_make("a\0b", 3)));
    assert_string_equal(arena_text(arena, BYTES_EMPTY), "");
    assert_string_equal(arena_text(arena, bytes_make("abcdef", 3)), "abc");
    assert_string_equal(arena_printf(arena, "%d-%s", 42, "x"), "42-x");
    memset(large, 'l', sizeof(large) - 1);
    large[sizeof(large) - 1] = 0;
    assert_string_equal(arena_printf(arena, "%s", large), large);
    for (i = 0; i < 1000; i++)
        assert_int_equal(zeros[i], 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_apart),
        cmocka_unit_test(a_rewind_gives_the_memory_back),
        cmocka_unit_test(a_reset_keeps_what_it_is_told_to),
        cmocka_unit_test(what_is_adopted_is_the_arenas_own),
        cmocka_unit_test(copies_have_their_content),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

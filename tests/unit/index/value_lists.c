/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/columns/value_lists.h: equal arrays are one name, as long as somebody uses
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/columns/value_lists.h"

enum { STEP_COUNT = 60000, KEPT_MAX = 3000, SHORT_MAX = 3 };

/* An array that was added, and its name. */
struct kept {
    uint32_t name;
    uint32_t count;
    uint32_t ordinals[KEYWORD_VALUES_MAX];
};

static uint32_t random_list(struct rng *rng, uint32_t ordinals[KEYWORD_VALUES_MAX])
{
    bool is_short = rng_below(rng, 8) != 0;
    uint32_t count = 1 + (uint32_t)rng_below(rng, is_short ? SHORT_MAX : KEYWORD_VALUES_MAX);
    uint32_t ordinal = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        ordinal += (uint32_t)rng_below(rng, is_short ? 12 : 3);
        ordinals[i] = ordinal++;
    }
    return count;
}

static void check_list(const struct value_lists *lists, const struct kept *kept)
{
    uint32_t count;
    const uint32_t *list = value_lists_get(lists, kept->name, &count);

    assert_int_equal(count, kept->count);
    assert_memory_equal(list, kept->ordinals, count * sizeof(list[0]));
    assert_true(kept->name < value_lists_end(lists));
}

static bool is_same(const struct kept *a, const struct kept *b)
{
    return a->count == b->count &&
           memcmp(a->ordinals, b->ordinals, a->count * sizeof(a->ordinals[0])) == 0;
}

static void names_are_of_contents(void **state)
{
    struct value_lists *lists = value_lists_new();
    struct kept *kept = mem_array(KEPT_MAX, sizeof(*kept));
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    uint32_t count = 0;
    uint32_t i;
    int step;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (step = 0; step < STEP_COUNT; step++) {
        struct kept *other;

        if (count == KEPT_MAX || (count && rng_below(&rng, 100) < (step / 5000 % 2 ? 70 : 30))) {
            i = (uint32_t)rng_below(&rng, count);
            check_list(lists, &kept[i]);
            value_lists_release(lists, kept[i].name);
            kept[i] = kept[--count];
            continue;
        }
        kept[count].count = random_list(&rng, kept[count].ordinals);
        kept[count].name = value_lists_add(lists, kept[count].ordinals, kept[count].count);
        check_list(lists, &kept[count]);
        other = &kept[rng_below(&rng, count + 1)];
        assert_int_equal(other->name == kept[count].name, is_same(other, &kept[count]));
        count++;
    }
    for (i = 0; i < count; i++) {
        check_list(lists, &kept[i]);
        value_lists_release(lists, kept[i].name);
    }
    value_lists_free(lists);
    free(kept);
}

/* What nobody uses makes room: names stay small however often values change. */
static void names_are_used_again(void **state)
{
    struct value_lists *lists = value_lists_new();
    uint32_t before = 0;
    uint32_t i;

    (void)state;
    for (i = 0; i < 100000; i++) {
        uint32_t ordinals[] = {i, i + 1};
        uint32_t name = value_lists_add(lists, ordinals, 2);

        if (before)
            value_lists_release(lists, before);
        before = name;
    }
    assert_true(value_lists_end(lists) < 8);
    value_lists_free(lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_of_contents),
        cmocka_unit_test(names_are_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of spell/speller.h: several check while one learns, through every table that is replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "spell_world.h"

/* More new words than two tails take, more pairs than several tables. */
enum { READER_COUNT = 3, TITLE_COUNT = 4000, WORD_COUNT = 3 };

enum { RECOUNT_COUNT = 40, RECOUNT_TITLE_COUNT = 25 };

struct shared {
    struct speller *speller;
    _Atomic bool is_done;
    _Atomic uint64_t check_count, wrong_count;
};

static void *read_on(void *arg)
{
    static const char *const queries[][2] = {{"купить велосепед", "купить велосипед"},
                                             {"rehnrf", "куртка"},
                                             {"вело сипед", "велосипед"},
                                             {"горный велосипед", "горный велосипед"}};
    struct shared *shared = arg;

    for (unsigned i = 0; !atomic_load(&shared->is_done) || i < 100; i++) {
        struct arena *arena = arena_new();
        struct spell_result result;
        int rc = spell_check(shared->speller, bytes_of(queries[i % 4][0]), NULL, NULL, arena,
                             &result, NULL);

        if (rc || !bytes_equal_text(result.text, queries[i % 4][1]))
            atomic_fetch_add(&shared->wrong_count, 1);
        atomic_fetch_add_explicit(&shared->check_count, 1, memory_order_relaxed);
        arena_free(arena);
    }
    return NULL;
}

static void random_title(struct rng *rng, char *title, size_t size)
{
    size_t at = 0;

    for (int word = 0; word < WORD_COUNT; word++) {
        for (int i = 0; i < 8 && at + 2 < size; i++)
            title[at++] = (char)('a' + rng_below(rng, 26));
        title[at++] = ' ';
    }
    title[at] = 0;
}

static void readers_go_on_while_one_learns(void **state)
{
    struct shared shared = {.speller = world_speller(NULL)};
    pthread_t readers[READER_COUNT];
    struct rng rng = rng_seeded(11);
    char title[64];

    (void)state;
    for (int i = 0; i < READER_COUNT; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &shared), 0);
    for (int i = 0; i < TITLE_COUNT; i++) {
        random_title(&rng, title, sizeof(title));
        world_learn(shared.speller, title, 1);
        world_learn(shared.speller, "купить горный велосипед куртка", 1);
    }
    atomic_store(&shared.is_done, true);
    for (int i = 0; i < READER_COUNT; i++)
        pthread_join(readers[i], NULL);
    assert_true(atomic_load(&shared.check_count) >= READER_COUNT * 100);
    assert_int_equal(atomic_load(&shared.wrong_count), 0);
    assert_true(speller_sizes(shared.speller).word_count > TITLE_COUNT * (WORD_COUNT - 1));
    assert_string_equal(world_correct(shared.speller, title), title);
    speller_close(shared.speller);
}

/* The readers have looked at what there is. Relaxed: to the sanitizer the test orders nothing. */
static void let_check(struct shared *shared)
{
    uint64_t wanted = atomic_load_explicit(&shared->check_count, memory_order_relaxed) +
                      2 * (uint64_t)READER_COUNT;

    while (atomic_load_explicit(&shared->check_count, memory_order_relaxed) < wanted)
        sched_yield();
}

/* Each time live data is counted anew, with words that come meanwhile and words that go. */
static void readers_go_on_while_one_counts_anew(void **state)
{
    static const char kept[] = "купить горный велосипед vermillionic";
    static const char gone[] = "куртка zygotropolis";
    struct shared shared = {.speller = world_speller(NULL)};
    pthread_t readers[READER_COUNT];
    struct rng rng = rng_seeded(12);
    char title[64];

    (void)state;
    for (int i = 0; i < READER_COUNT; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &shared), 0);
    for (int round = 0; round < RECOUNT_COUNT; round++) {
        world_learn(shared.speller, gone, 3);
        assert_string_equal(world_correct(shared.speller, "zygortopolis"), "zygotropolis");
        speller_recount_begin(shared.speller);
        assert_int_equal(speller_recount(shared.speller, bytes_of(kept), NULL), 0);
        for (int i = 0; i < RECOUNT_TITLE_COUNT; i++) {
            random_title(&rng, title, sizeof(title));
            world_learn(shared.speller, title, 1);
        }
        let_check(&shared);
        speller_recount_end(shared.speller);
        let_check(&shared);
        assert_string_equal(world_correct(shared.speller, "zygortopolis"), "zygortopolis");
        assert_string_equal(world_correct(shared.speller, "vermlilionic"), "vermillionic");
        assert_string_equal(world_correct(shared.speller, title), title);
    }
    atomic_store(&shared.is_done, true);
    for (int i = 0; i < READER_COUNT; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&shared.wrong_count), 0);
    speller_close(shared.speller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_go_on_while_one_learns),
        cmocka_unit_test(readers_go_on_while_one_counts_anew),
    };

    return cmocka_run_group_tests_name("spell-threads", tests, NULL, NULL);
}

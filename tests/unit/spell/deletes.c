/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of spell/deletes.h and distance.h against a naive model: every word measured by the
 * full table of distances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "spell/deletes.h"
#include "spell/distance.h"

enum { BASE_COUNT = 1500, LIVE_COUNT = 6000, QUERY_COUNT = 150, LETTER_COUNT = 4 };

static struct rng seeded(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

    printf("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return rng_seeded(seed);
}

/* Few letters and short words, so that most are near to some; long ones, so that prefixes end. */
static struct letters random_word(struct rng *rng)
{
    struct letters word = {.size = (uint8_t)(1 + rng_below(rng, 13))};

    for (unsigned i = 0; i < word.size; i++)
        word.at[i] = (uint8_t)((rng_below(rng, 2) ? 'a' : LETTER_CYRILLIC) +
                               rng_below(rng, LETTER_COUNT / 2));
    return word;
}

static struct letters edited(struct rng *rng, struct letters word)
{
    unsigned place = (unsigned)rng_below(rng, word.size);

    switch (rng_below(rng, 4)) {
    case 0:
        word.at[place] = 'a';
        break;
    case 1:
        if (word.size > 1) {
            memmove(&word.at[place], &word.at[place + 1], word.size - place - 1);
            word.size--;
        }
        break;
    case 2:
        if (place + 1 < word.size) {
            uint8_t letter = word.at[place];

            word.at[place] = word.at[place + 1];
            word.at[place + 1] = letter;
        }
        break;
    default:
        memmove(&word.at[place + 1], &word.at[place], word.size - place);
        word.at[place] = LETTER_CYRILLIC;
        word.size++;
        break;
    }
    return word;
}

static unsigned smallest(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned naive_distance(const struct letters *a, const uint8_t *b, size_t b_size)
{
    unsigned table[SPELL_WORD_SIZE_MAX + 1][SPELL_WORD_SIZE_MAX + 1];

    for (unsigned i = 0; i <= a->size; i++) {
        for (unsigned k = 0; k <= b_size; k++) {
            unsigned best = i + k;

            if (i && k) {
                best = smallest(table[i - 1][k] + 1, table[i][k - 1] + 1);
                best = smallest(best, table[i - 1][k - 1] + (a->at[i - 1] != b[k - 1]));
            }
            if (i > 1 && k > 1 && a->at[i - 1] == b[k - 2] && a->at[i - 2] == b[k - 1])
                best = smallest(best, table[i - 2][k - 2] + 1);
            table[i][k] = best;
        }
    }
    return table[a->size][b_size];
}

static void distances_are_those_of_the_full_table(void **state)
{
    struct rng rng = seeded();

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct letters a = random_word(&rng), b = edited(&rng, edited(&rng, edited(&rng, a)));
        struct distance_pattern pattern;

        distance_prepare(&pattern, &a);
        assert_int_equal(distance_measure(&pattern, b.at, b.size),
                         naive_distance(&a, b.at, b.size));
        assert_true(distance_cost(&a, a.at, a.size) == 0);
        if (!letters_equal(&a, &b))
            assert_true(distance_cost(&a, b.at, b.size) > 1);
    }
}

static void compare(const struct words *words, const struct deletes *deletes,
                    struct near_list *list, const struct letters *query, unsigned distance)
{
    size_t expected = 0;

    assert_true(deletes_find(deletes, query, distance, list));
    for (wordid id = 0; id < words_count(words); id++) {
        const struct word *word = words_get(words, id);

        expected += naive_distance(query, words_letters(words, word), word->size) <= distance;
    }
    assert_int_equal(list->count, expected);
    for (size_t i = 0; i < list->count; i++) {
        const struct word *word = words_get(words, list->near[i].id);

        assert_int_equal(list->near[i].distance,
                         naive_distance(query, words_letters(words, word), word->size));
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(list->near[i].id, list->near[k].id);
    }
}

/* Through all of its states: a base, a tail, a live block with a new tail. */
static void candidates_are_those_of_the_naive_model(void **state)
{
    struct rng rng = seeded();
    struct epoch *epoch = epoch_new();
    struct words *words = words_new(epoch);
    struct deletes *deletes = deletes_new(words, epoch);
    struct near_list *list = mem_alloc(sizeof(*list));

    (void)state;
    for (int i = 0; i < BASE_COUNT; i++) {
        struct letters word = random_word(&rng);

        words_add(words, word.at, word.size);
    }
    assert_true(deletes_build(deletes, NULL));
    for (int i = 0; i < LIVE_COUNT; i++) {
        struct letters word = random_word(&rng);

        words_add(words, word.at, word.size);
        deletes_add(deletes);
        if (i % (LIVE_COUNT / QUERY_COUNT) == 0) {
            wordid id = (wordid)rng_below(&rng, words_count(words));
            const struct word *near = words_get(words, id);
            struct letters query = {.size = near->size};

            memcpy(query.at, words_letters(words, near), near->size);
            query = rng_below(&rng, 2) ? edited(&rng, edited(&rng, query)) : random_word(&rng);
            if (query.size > 5) /* of shorter ones there are more than fit a list */
                compare(words, deletes, list, &query, (unsigned)rng_below(&rng, 3));
        }
    }
    free(list);
    deletes_free(deletes);
    words_free(words);
    epoch_free(epoch);
}

static void more_than_fit_are_told(void **state)
{
    struct epoch *epoch = epoch_new();
    struct words *words = words_new(epoch);
    struct deletes *deletes = deletes_new(words, epoch);
    struct near_list *list = mem_alloc(sizeof(*list));
    struct letters query = letters_of("abc");

    (void)state;
    for (unsigned i = 0; i < 2 * 26 * 26 * 26; i++) {
        uint8_t word[] = {(uint8_t)('a' + i / 2 % 26), (uint8_t)('a' + i / 52 % 26),
                          (uint8_t)('a' + i / 1352), 'c'};

        words_add(words, word, 3 + i % 2);
    }
    assert_true(deletes_build(deletes, NULL));
    assert_false(deletes_find(deletes, &query, 2, list));
    assert_true(deletes_find(deletes, &query, 1, list));
    free(list);
    deletes_free(deletes);
    words_free(words);
    epoch_free(epoch);
}

static void likely_slips_cost_less(void **state)
{
    static const char *const cases[][3] = {/* typed, meant, less likely meant */
                                           {"карова", "корова", "кирова"},
                                           {"сабака", "собака", "судака"},
                                           {"здраствуйте", "здравствуйте", "здраствуйтеф"},
                                           {"колекция", "коллекция", "коррекция"},
                                           {"учится", "учиться", "учитсям"},
                                           {"щас", "час", "лас"},
                                           {"begining", "beginning", "bargining"},
                                           {"recieve", "receive", "relieve"},
                                           {"fone", "phone", "zone"},
                                           {"вообшем", "вообщем", "вообкем"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct letters typed = letters_of(cases[i][0]), meant = letters_of(cases[i][1]),
                       other = letters_of(cases[i][2]);
        float cost = distance_cost(&typed, meant.at, meant.size);

        if (!(cost < distance_cost(&typed, other.at, other.size)))
            print_message("%s: %s is not likelier than %s\n", cases[i][0], cases[i][1],
                          cases[i][2]);
        assert_true(cost < distance_cost(&typed, other.at, other.size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_the_full_table),
        cmocka_unit_test(candidates_are_those_of_the_naive_model),
        cmocka_unit_test(more_than_fit_are_told),
        cmocka_unit_test(likely_slips_cost_less),
    };

    return cmocka_run_group_tests_name("spell-deletes", tests, NULL, NULL);
}

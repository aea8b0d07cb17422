/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/words/line.h and spelling.h: what spelling may touch of a buyer's line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "query/query.h"
#include "search/words/line.h"
#include "search/words/spelling.h"
#include "unit/spell/spell_world.h"

/* Hidden bytes are shown as '.'. */
static const char *hidden(const char *line)
{
    static char text[512];
    struct arena *arena = arena_new();
    struct hidden_line found;
    struct err err;

    assert_int_equal(line_hide(bytes_of(line), arena, &found, &err), 0);
    assert_int_equal(found.text.size, strlen(line));
    memcpy(text, found.text.data, found.text.size);
    text[found.text.size] = 0;
    for (size_t i = 0; i < found.text.size; i++) {
        if (text[i] == 1)
            text[i] = '.';
    }
    assert_string_equal(line_show(&found, found.text, arena), line);
    arena_free(arena);
    return text;
}

static void words_and_phrases_are_seen(void **state)
{
    (void)state;
    assert_string_equal(hidden("red bike"), "red bike");
    assert_string_equal(hidden(" red  bike "), ".red  bike.");
    assert_string_equal(hidden("red \"road bike\" new"), "red..road bike..new");
    assert_string_equal(hidden("\"road bike"), ".road bike");
}

static void what_has_a_sign_is_hidden(void **state)
{
    (void)state;
    assert_string_equal(hidden("bike -red"), "bike.....");
    assert_string_equal(hidden("-red bike"), ".....bike");
    assert_string_equal(hidden("-\"very red\" bike"), "............bike");
    assert_string_equal(hidden("!bikes red"), ".......red");
    assert_string_equal(hidden("!\"a b\" c"), ".......c");
    assert_string_equal(hidden("bik* red~ new"), "..........new");
    assert_string_equal(hidden("red -red red"), "red......red");
    assert_string_equal(hidden(""), "");
    assert_string_equal(hidden("wi-fi"), "wi-fi");
}

static void a_line_is_the_same_after_hiding(void **state)
{
    uint64_t seed = random_u64();
    struct rng random;

    (void)state;
    print_message("# seed %llu\n", (unsigned long long)seed);
    random = rng_seeded(seed);
    for (int round = 0; round < 5000; round++) {
        static const char signs[] = "ab \"-!*~\x01\t";
        char line[30];
        size_t size = rng_below(&random, sizeof(line) - 1);

        for (size_t i = 0; i < size; i++)
            line[i] = signs[rng_below(&random, sizeof(signs) - 1)];
        line[size] = 0;
        hidden(line);
    }
}

/* --- lines of titles --- */

static void a_title_is_a_line_of_words_alone(void **state)
{
    static const char *const cases[][2] = {
        {"Sofa -50% new", "Sofa  50% new"},   {"Sofa\t-50%\n-red", "Sofa\t 50%\n red"},
        {"!new sofa", " new sofa"},           {"sofa* bed~ new", "sofa  bed  new"},
        {"a \"big sofa\"", "a  big sofa "},   {"--50% \"-red !-x", "  50%   red   x"},
        {"wi-fi, 1/2 - 3", "wi-fi, 1/2   3"}, {"", ""},
    };
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(line_plain(cases[i][0], arena), cases[i][1]);
    arena_free(arena);
}

/* Whatever stands in it: nothing is left out, exact, a beginning or a phrase. */
static void no_title_has_a_sign(void **state)
{
    uint64_t seed = random_u64();
    struct rng random = rng_seeded(seed);

    (void)state;
    print_message("# seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 5000; round++) {
        static const char signs[] = "ab1 \"-!*~\x01\t";
        struct arena *arena = arena_new();
        struct query_text query;
        struct err err;
        char title[30];
        size_t size = rng_below(&random, sizeof(title) - 1);

        for (size_t i = 0; i < size; i++)
            title[i] = signs[rng_below(&random, sizeof(signs) - 1)];
        title[size] = 0;
        assert_int_equal(
            query_text_parse(bytes_of(line_plain(title, arena)), false, arena, &query, &err), 0);
        assert_true(query.count <= 1); /* its words, side by side */
        for (uint32_t i = 0; i < query.count; i++) {
            assert_int_equal(query.clauses[i].kind, CLAUSE_WORD);
            assert_int_equal(query.clauses[i].occur, OCCUR_MUST);
        }
        arena_free(arena);
    }
}

/* --- spelling of lines --- */

struct shop {
    const char *const *lines; /* that find something; NULL: all do */
    size_t count;
    int asked;
};

static int count_hits(void *arg, const char *text, uint64_t *count, struct err *err)
{
    struct shop *shop = arg;

    (void)err;
    shop->asked++;
    *count = !shop->lines;
    for (size_t i = 0; i < shop->count; i++)
        *count += strcmp(shop->lines[i], text) == 0;
    return 0;
}

/* The corrected line; the line itself when it stays. */
static const char *correct(struct speller *speller, const char *line, struct shop *shop)
{
    static char text[1024];
    struct arena *arena = arena_new();
    struct correction correction;
    struct err err;

    assert_int_equal(
        spelling_correct(speller, line, count_hits, NULL, shop, arena, &correction, &err), 0);
    snprintf(text, sizeof(text), "%s", correction.text ? correction.text : line);
    arena_free(arena);
    return text;
}

static void signs_survive_a_correction(void **state)
{
    static const char *const cases[][2] = {
        {"велосепед", "велосипед"},
        {"горный велосепед -велосепед", "горный велосипед -велосепед"},
        {"\"горный велосепед\" куртка", "\"горный велосипед\" куртка"},
        {"!велосепед куртка", "!велосепед куртка"},
        {"велосепед* куртка", "велосепед* куртка"},
        {"-горныйвелосипед куртка", "-горныйвелосипед куртка"},
        {"горныйвелосипед -куртка", "горный велосипед -куртка"},
        {"-вело сипед", "-вело сипед"},
        {"\"ghbdtn\" -rehnrf", "\"привет\" -rehnrf"},
    };
    struct speller *speller = world_speller(NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct shop shop = {0};

        assert_string_equal(correct(speller, cases[i][0], &shop), cases[i][1]);
    }
    speller_close(speller);
}

static void a_line_that_finds_nothing_when_corrected_stays(void **state)
{
    static const char *const lines[] = {"\"велосепед\" куртка"};
    struct speller *speller = world_speller(NULL);
    struct shop shop = {.lines = lines, .count = ARRAY_COUNT(lines)};

    (void)state;
    assert_string_equal(correct(speller, "\"велосепед\" куртка", &shop), "\"велосепед\" куртка");
    shop.asked = 0;
    assert_string_equal(correct(speller, "куртка", &shop), "куртка");
    assert_int_equal(shop.asked, 1); /* a line without mistakes costs one count */
    speller_close(speller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_phrases_are_seen),
        cmocka_unit_test(what_has_a_sign_is_hidden),
        cmocka_unit_test(a_line_is_the_same_after_hiding),
        cmocka_unit_test(a_title_is_a_line_of_words_alone),
        cmocka_unit_test(no_title_has_a_sign),
        cmocka_unit_test(signs_survive_a_correction),
        cmocka_unit_test(a_line_that_finds_nothing_when_corrected_stays),
    };

    return cmocka_run_group_tests_name("search-line", tests, NULL, NULL);
}

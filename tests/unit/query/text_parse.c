/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of query_text_parse: lines as buyers type them, clauses as query.h says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "query/bounds.h"
#include "query/query.h"

/* "+word:iphone 15 -phrase:..." */
static void describe(const struct query_text *text, char *out, size_t size)
{
    static const char *const occurs[] = {"+", "?", "-"};
    static const char *const kinds[] = {"word", "exact", "phrase", "prefix", "fuzzy"};
    size_t used = 0;
    uint32_t i;

    out[0] = 0;
    for (i = 0; i < text->count; i++) {
        const struct text_clause *clause = &text->clauses[i];

        used += (size_t)snprintf(out + used, size - used, "%s%s%s:%.*s", i ? "|" : "",
                                 occurs[clause->occur], kinds[clause->kind], (int)clause->text.size,
                                 (const char *)clause->text.data);
        assert_true(clause->boost == 1 && clause->fields == 0);
    }
}

static void lines_become_clauses(void **state)
{
    static const struct {
        const char *line;
        bool any;
        const char *clauses;
    } cases[] = {
        {"", false, ""},
        {"   \t ", false, ""},
        {"iphone", false, "+word:iphone"},
        {"iphone 15 128 гб", false, "+word:iphone 15 128 гб"},
        {"iphone 15", true, "?word:iphone 15"},
        {"iphone -чехол 15", false, "+word:iphone|-word:чехол|+word:15"},
        {"\"красный диван\" новый", false, "+phrase:красный диван|+word:новый"},
        {"-\"красный диван\"", true, "-phrase:красный диван"},
        {"!диваны", false, "+exact:диваны"},
        {"!\"два дивана\"", false, "+exact:два дивана"},
        {"-!диваны", false, "-exact:диваны"},
        {"sam* диван~", false, "+prefix:sam|+fuzzy:диван"},
        {"-sam*", false, "-prefix:sam"},
        {"wi-fi диван - кровать", false, "+word:wi-fi диван - кровать"},
        {"* ~ - !", false, "+word:* ~ - !"},
        {"\"не закрыто", false, "+phrase:не закрыто"},
        {"\"\" a", false, "+word:a"},
        {"1/2 \" pipe 30 \"", false, "+word:1/2 \" pipe 30 \""},
        {"\" a b\" 2 \"c d\"", false, "+phrase: a b|+word:2|+phrase:c d"},
        {"2*2 a~b", false, "+word:2*2 a~b"},
    };
    struct arena *arena = arena_new();
    char got[256];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(cases); i++) {
        struct query_text text;

        assert_int_equal(
            query_text_parse(bytes_of(cases[i].line), cases[i].any, arena, &text, NULL), 0);
        describe(&text, got, sizeof(got));
        assert_string_equal(got, cases[i].clauses);
    }
    arena_free(arena);
}

/* Which would be thousands; but what is left out is left out whole. */
static void a_lone_letter_means_its_most_frequent_words(void **state)
{
    static const uint32_t wanted[] = {QUERY_LETTER_WORD_COUNT, QUERY_LETTER_WORD_COUNT, 0, 0, 0};
    struct arena *arena = arena_new();
    struct query_text text;

    (void)state;
    assert_int_equal(query_text_parse(bytes_of("s* в* sa* -s* velo~"), false, arena, &text, NULL),
                     0);
    assert_int_equal(text.count, ARRAY_COUNT(wanted));
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
        assert_int_equal(text.clauses[i].word_max, wanted[i]);
    arena_free(arena);
}

static void too_much_is_refused(void **state)
{
    struct arena *arena = arena_new();
    char line[QUERY_TEXT_SIZE_MAX + 1];
    struct query_text text;
    struct err err;
    int i;

    (void)state;
    memset(line, 'a', sizeof(line));
    assert_int_equal(query_text_parse(bytes_make(line, sizeof(line)), false, arena, &text, &err),
                     ERR_LIMIT);
    assert_non_null(strstr(err.text, "8192"));
    for (i = 0; i <= QUERY_TEXT_CLAUSE_COUNT_MAX; i++)
        memcpy(line + i * 3, "-a ", 3);
    assert_int_equal(query_text_parse(bytes_make(line, (size_t)i * 3), false, arena, &text, &err),
                     ERR_LIMIT);
    assert_non_null(strstr(err.text, "64 words"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_clauses),
        cmocka_unit_test(a_lone_letter_means_its_most_frequent_words),
        cmocka_unit_test(too_much_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

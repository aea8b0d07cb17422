/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of query/text/text_highlight.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/bounds.h"
#include "query/text/text_highlight.h"

struct fixture {
    struct analysis *analysis;
    struct lexicon *lexicon;
    struct arena *arena;
};

static int setup(void **state)
{
    struct fixture *fixture = mem_zero(sizeof(*fixture));

    fixture->analysis = analysis_new();
    fixture->arena = arena_new();
    *state = fixture;
    return lexicon_open(NULL, 0, &fixture->lexicon, NULL);
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    lexicon_close(fixture->lexicon);
    analysis_free(fixture->analysis);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

/* As an indexed document: its words are in the lexicon. */
static void learn(struct fixture *fixture, const char *text)
{
    struct token_list list = analysis_run(fixture->analysis, bytes_of(text));
    struct lexicon_entry *entries =
        arena_array(fixture->arena, list.count + 1, sizeof(struct lexicon_entry));

    assert_int_equal(lexicon_add_tokens(fixture->lexicon, fixture->analysis, list.tokens,
                                        list.count, entries, NULL),
                     0);
}

static void check(struct fixture *fixture, const char *line, const char *source,
                  struct highlight_options options, const char *wanted)
{
    const struct snapshot snapshot = {.magic = SNAPSHOT_MAGIC, .lexicon = fixture->lexicon};
    struct query_text text;
    struct bytes marked;

    learn(fixture, source);
    options.before = bytes_of("[");
    options.after = bytes_of("]");
    assert_int_equal(query_text_parse(bytes_of(line), false, fixture->arena, &text, NULL), 0);
    assert_int_equal(text_highlight(&snapshot, fixture->analysis, &text, bytes_of(source), &options,
                                    fixture->arena, &marked, NULL),
                     0);
    assert_string_equal(arena_text(fixture->arena, marked), wanted);
}

static void marks_what_is_meant(void **state)
{
    static const struct highlight_options whole = {0};
    struct fixture *fixture = *state;

    check(fixture, "диван", "Продаю ДИВАНЫ, два дивана.", whole, "Продаю [ДИВАНЫ], два [дивана].");
    check(fixture, "!диваны", "Диваны и диван", whole, "[Диваны] и диван");
    check(fixture, "елка", "Ёлка", whole, "[Ёлка]");
    check(fixture, "-диван стол", "диван, стол", whole, "диван, [стол]");
    check(fixture, "\"красный диван\"", "диван красный, красный диван", whole,
          "диван красный, [красный] [диван]");
    check(fixture, "sam*", "Samsung и samsonite", whole, "[Samsung] и [samsonite]");
    check(fixture, "самсунк~", "самсунг", whole, "[самсунг]");
    check(fixture, "iphone15", "iPhone 15 и iphone", whole, "[iPhone] [15] и iphone");
    check(fixture, "iphone15", "iphone15", whole, "[iphone15]");
    check(fixture, "wi-fi", "wifi, wi-fi и wi", whole, "[wifi], [wi-fi] и wi");
    check(fixture, "128 гб", "память 128GB", whole, "память [128GB]");
    check(fixture, "слон", "нет его", whole, "нет его");
    check(fixture, "слон", "", whole, "");
}

static void cuts_fragments(void **state)
{
    static const struct highlight_options one = {.fragment_size = 40};
    static const struct highlight_options two = {.fragment_size = 30, .fragment_count = 2};
    struct fixture *fixture = *state;
    const char *source = "aaaa bbbb cccc dddd eeee ffff diwan gggg hhhh iiii jjjj kkkk llll mmmm "
                         "nnnn oooo stol pppp qqqq rrrr";

    check(fixture, "diwan", source, one, "…eeee ffff [diwan] gggg hhhh iiii jjjj kkkk…");
    check(fixture, "diwan stol", source, two,
          "…ffff [diwan] gggg hhhh iiii…oooo [stol] pppp qqqq rrrr");
    check(fixture, "nothing", source, one, "aaaa bbbb cccc dddd eeee ffff diwan gggg…");
    /* A cut in the middle of letters of two bytes goes to a word's end. */
    check(fixture, "дом", "слово слово слово слово слово дом слово слово", two, "…[дом] слово…");
}

/* Weighing every mark against all others would take minutes. */
static void a_text_that_is_marked_all_over_is_cut_soon(void **state)
{
    enum { WORD_COUNT = 200000 };
    static const struct highlight_options cut = {.fragment_size = 30};
    struct fixture *fixture = *state;
    char *source = arena_alloc(fixture->arena, WORD_COUNT * 5 + 1);

    for (size_t i = 0; i < WORD_COUNT; i++)
        memcpy(source + i * 5, i % 1000 == 500 ? "stol " : "dom. ", 5);
    source[WORD_COUNT * 5] = 0;
    check(fixture, "dom", source, cut, "[dom]. [dom]. [dom]. [dom]. [dom]. [dom]…");
    check(fixture, "stol slon dom", source, cut, "[dom]. [dom]. [dom]. [dom]. [dom]. [dom]…");
}

static struct bytes marked_by(struct fixture *fixture, const char *source,
                              const struct highlight_options *options)
{
    const struct snapshot snapshot = {.magic = SNAPSHOT_MAGIC, .lexicon = fixture->lexicon};
    struct query_text text;
    struct bytes marked;

    learn(fixture, source);
    assert_int_equal(query_text_parse(bytes_of("dom"), false, fixture->arena, &text, NULL), 0);
    assert_int_equal(text_highlight(&snapshot, fixture->analysis, &text, bytes_of(source), options,
                                    fixture->arena, &marked, NULL),
                     0);
    return marked;
}

/* A text of one word again and again is not made many times its size by the signs. */
static void so_many_words_of_a_text_are_marked(void **state)
{
    enum { WORD_COUNT = HIGHLIGHT_MARK_COUNT_MAX + 1000, TAIL_SIZE = 1000 * 4 };
    char sign[HIGHLIGHT_SIGN_SIZE_MAX + 1] = {0}, *source;
    struct highlight_options options = {.fragment_size = 0};
    struct fixture *fixture = *state;
    struct bytes marked;

    source = arena_zero(fixture->arena, WORD_COUNT * 4 + 1);
    for (size_t i = 0; i < WORD_COUNT; i++)
        memcpy(source + i * 4, "dom ", 4);
    memset(sign, '*', HIGHLIGHT_SIGN_SIZE_MAX);
    options.before = options.after = bytes_of(sign);
    marked = marked_by(fixture, source, &options);
    assert_int_equal(marked.size,
                     WORD_COUNT * 4 + 2 * HIGHLIGHT_SIGN_SIZE_MAX * HIGHLIGHT_MARK_COUNT_MAX);
    assert_memory_equal(marked.data + marked.size - TAIL_SIZE, source + WORD_COUNT * 4 - TAIL_SIZE,
                        TAIL_SIZE);
    /* Of all fragments together, too. */
    options.fragment_size = WORD_COUNT * 2 - 100;
    options.fragment_count = 2;
    marked = marked_by(fixture, source, &options);
    assert_true(marked.size <=
                WORD_COUNT * 4 + 2 * HIGHLIGHT_SIGN_SIZE_MAX * HIGHLIGHT_MARK_COUNT_MAX);
}

static void signs_are_short(void **state)
{
    const struct query_text text = {0};
    char sign[HIGHLIGHT_SIGN_SIZE_MAX + 2] = {0};
    struct highlight_options options = {.before = bytes_of("["), .after = bytes_of("]")};
    struct fixture *fixture = *state;
    const struct snapshot snapshot = {.magic = SNAPSHOT_MAGIC, .lexicon = fixture->lexicon};
    struct bytes marked;
    struct err err;

    memset(sign, '*', HIGHLIGHT_SIGN_SIZE_MAX + 1);
    options.after = bytes_of(sign);
    assert_int_equal(text_highlight(&snapshot, fixture->analysis, &text, bytes_of("dom"), &options,
                                    fixture->arena, &marked, &err),
                     ERR_LIMIT);
    assert_non_null(strstr(err.text, "highlight.after: at most 64 bytes"));
}

/* However small a fragment is to be, it has the word that it is shown for. */
static void a_fragment_holds_its_word(void **state)
{
    struct highlight_options cut = {0};
    struct fixture *fixture = *state;

    for (cut.fragment_size = 1; cut.fragment_size < 10; cut.fragment_size++)
        check(fixture, "мобильный", "слово слово мобильный телефон", cut, "…[мобильный]…");
}

static void add_title(struct shard *shard, docid id, const char *title)
{
    const struct shard_value value = {.kind = VALUE_TEXT, .text = bytes_of(title)};
    const struct shard_document document = {.id = id, .values = &value, .count = 1};

    assert_int_equal(shard_put(shard, &document, NULL), 0);
}

/* Of the words that begin so, those are marked that documents are found by. */
static void marks_the_words_that_most_have(void **state)
{
    const struct highlight_options whole = {.before = bytes_of("["), .after = bytes_of("]")};
    const struct text_clause clause = {
        .kind = CLAUSE_PREFIX, .boost = 1, .word_max = 1, .text = bytes_of("wal")};
    const struct query_text text = {.clauses = &clause, .count = 1};
    const struct field title = {.type = FIELD_TEXT, .weight = 1, .name = "title"};
    const struct shard_options options = {0};
    struct fixture *fixture = *state;
    struct shard_reader *reader;
    struct query_engine *engine;
    struct shard *shard;
    struct bytes marked;

    assert_int_equal(shard_open(&options, &shard, NULL), 0);
    assert_int_equal(shard_add_field(shard, &title, NULL, NULL), 0);
    add_title(shard, 1, "walnut");
    add_title(shard, 2, "wallet");
    add_title(shard, 3, "wallet");
    assert_int_equal(shard_publish(shard, 1, NULL), 0);
    assert_int_equal(shard_reader_new(shard, &reader, NULL), 0);
    engine = query_engine_new(shard, reader);
    assert_int_equal(query_highlight(engine, &text, bytes_of("walnut and wallet"), &whole,
                                     fixture->arena, &marked, NULL),
                     0);
    assert_string_equal(arena_text(fixture->arena, marked), "walnut and [wallet]");
    query_engine_free(engine);
    shard_reader_free(reader);
    shard_close(shard);
}

static void escapes_the_source_only(void **state)
{
    static const struct highlight_options escaped = {.escape_html = true};
    static const struct highlight_options plain = {0};
    struct fixture *fixture = *state;

    check(fixture, "диван", "<b>диван</b> & 'стол' \"\"", escaped,
          "&lt;b&gt;[диван]&lt;/b&gt; &amp; &#39;стол&#39; &quot;&quot;");
    check(fixture, "диван", "<b>диван</b>", plain, "<b>[диван]</b>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(marks_what_is_meant, setup, teardown),
        cmocka_unit_test_setup_teardown(cuts_fragments, setup, teardown),
        cmocka_unit_test_setup_teardown(a_text_that_is_marked_all_over_is_cut_soon, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(so_many_words_of_a_text_are_marked, setup, teardown),
        cmocka_unit_test_setup_teardown(signs_are_short, setup, teardown),
        cmocka_unit_test_setup_teardown(a_fragment_holds_its_word, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_the_words_that_most_have, setup, teardown),
        cmocka_unit_test_setup_teardown(escapes_the_source_only, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_text.c - fuzz target: a line, a zero byte, and a text. The line is parsed and marked in the
 * text, whole and cut; without its marks the whole is the text again, and marks cut no character.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/text/text_highlight.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void learn(struct lexicon *lexicon, struct analysis *analysis, struct bytes text)
{
    struct token_list list = analysis_run(analysis, text);
    struct lexicon_entry *entries = mem_array(list.count + 1, sizeof(*entries));
    int rc = lexicon_add_tokens(lexicon, analysis, list.tokens, list.count, entries, NULL);

    assert(rc == 0);
    free(entries);
}

/* Marks are the bytes 1 and 2: they stand in pairs, never before the rest of a character. */
static void check_marks(struct bytes marked, struct bytes source)
{
    size_t at = 0, i;
    bool open = false;

    for (i = 0; i < marked.size; i++) {
        if (at < source.size && marked.data[i] == source.data[at] && marked.data[i] > 2) {
            at++;
            continue;
        }
        if (marked.data[i] > 2 || (at < source.size && source.data[at] == marked.data[i]))
            return; /* the text has such bytes itself */
        assert(marked.data[i] == (open ? 2 : 1));
        open = !open;
    }
    assert(at == source.size && !open);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct highlight_options whole = {.before = {(const uint8_t *)"\1", 1},
                                                   .after = {(const uint8_t *)"\2", 1}};
    struct highlight_options cut = whole;
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    struct bytes line = bytes_make(data, zero ? (size_t)(zero - data) : size);
    struct bytes source = bytes_skip(bytes_make(data, size), zero ? line.size + 1 : line.size);
    struct analysis *analysis = analysis_new();
    struct arena *arena = arena_new();
    struct snapshot snapshot = {.magic = SNAPSHOT_MAGIC};
    struct lexicon *lexicon;
    struct query_text text;
    struct bytes marked;
    int rc = lexicon_open(NULL, 0, &lexicon, NULL);

    assert(rc == 0);
    learn(lexicon, analysis, source);
    snapshot.lexicon = lexicon;
    if (query_text_parse(line, size & 1, arena, &text, NULL) == 0) {
        if (text_highlight(&snapshot, analysis, &text, source, &whole, arena, &marked, NULL) == 0)
            check_marks(marked, source);
        cut.fragment_size = 1 + (uint32_t)(size % 50);
        cut.fragment_count = (uint32_t)(size % 5);
        cut.escape_html = size & 2;
        (void)text_highlight(&snapshot, analysis, &text, source, &cut, arena, &marked, NULL);
    }
    lexicon_close(lexicon);
    arena_free(arena);
    analysis_free(analysis);
    return 0;
}

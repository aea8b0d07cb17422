/* SPDX-License-Identifier: Apache-2.0 */
/* spelling.c - see spelling.h. */
#include "search/words/spelling.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/metrics.h"
#include "search/bounds.h"
#include "search/words/brands.h"
#include "search/words/line.h"
#include "spell/letters.h"

/* The first words of a line are asked about, each by itself; three letters begin too much. */
enum { COMPLETED_COUNT_MAX = 8, COMPLETED_SIZE_MIN = 4, JOINED_COUNT_MAX = 8 };

struct checking {
    struct speller *speller;
    const char *line;
    struct hidden_line hidden;
    spelling_count_fn *count;
    void *arg;
    struct arena *arena;
};

static int count_hidden(void *arg, struct bytes text, uint64_t *count, struct err *err)
{
    const struct checking *checking = arg;
    bool is_line = bytes_equal(text, checking->hidden.text);

    return checking->count(
        checking->arg,
        is_line ? checking->line : line_show(&checking->hidden, text, checking->arena), count, err);
}

/* What is checked from here on is another text. */
static int go_on_with(struct checking *checking, const char *text, const char *reason,
                      struct correction *correction, struct err *err)
{
    correction->text = checking->line = text;
    correction->reason = reason;
    return line_hide(bytes_of(text), checking->arena, &checking->hidden, err);
}

/* --- two words that titles write as one --- */

static int count_part(const struct checking *checking, size_t from, size_t to, uint64_t *count,
                      struct err *err)
{
    const struct bytes part = bytes_make(checking->hidden.text.data + from, to - from);

    return checking->count(checking->arg, arena_text(checking->arena, part), count, err);
}

/* The line with both as one word, if that says more than the two did: all of the line is found
 * then ("deck over": DeckOver), or one of them is in no title ("kwik set": Kwikset). NULL: not. */
static int join_two(const struct checking *checking, const struct spell_token *first,
                    const struct spell_token *second, const char **joined, struct err *err)
{
    const char *text = arena_text(checking->arena, checking->hidden.text);
    size_t first_end = first->start + first->size, second_end = second->start + second->size;
    const char *word = arena_printf(checking->arena, "%.*s%.*s", (int)first->size,
                                    text + first->start, (int)second->size, text + second->start);
    uint64_t word_count = 0, line_count = 0, first_count = 1, second_count = 1;
    const char *line =
        line_show(&checking->hidden,
                  bytes_of(arena_printf(checking->arena, "%.*s%s%s", (int)first->start, text, word,
                                        text + second_end)),
                  checking->arena);
    int rc = checking->count(checking->arg, word, &word_count, err);

    *joined = NULL;
    if (rc || !word_count)
        return rc;
    rc = checking->count(checking->arg, line, &line_count, err);
    if (!rc && !line_count)
        rc = count_part(checking, first->start, first_end, &first_count, err);
    if (!rc && !line_count && first_count)
        rc = count_part(checking, second->start, second_end, &second_count, err);
    if (!rc && (line_count || !first_count || !second_count))
        *joined = line;
    return rc;
}

/* Of a line that finds nothing, the first such two. */
static int join(struct checking *checking, struct correction *correction, struct err *err)
{
    struct spell_token before = {0}, token;
    const char *joined = NULL;
    uint64_t count = 0;
    size_t at = 0;
    int rc = checking->count(checking->arg, checking->line, &count, err);

    if (rc || count)
        return rc;
    for (int i = 0; i < JOINED_COUNT_MAX && letters_next(checking->hidden.text, &at, &token); i++) {
        if (before.letters.size && token.letters.size && token.gap == GAP_BLANK)
            rc = join_two(checking, &before, &token, &joined, err);
        if (rc || joined)
            break;
        before = token;
    }
    if (rc || !joined)
        return rc;
    return go_on_with(checking, joined, spell_reason_name(SPELL_JOIN), correction, err);
}

/* --- names of makers --- */

/* The maker's name in the other script, if far more offers have that; NULL: not. */
static int find_brand(const struct checking *checking, const struct spell_token *token,
                      const char **brand, struct err *err)
{
    enum { MORE = 4 };
    struct buf word = BUF_INIT(SEARCH_TEXT_SIZE_MAX);
    uint64_t own = 0, other = 0;
    int rc;

    letters_print(&token->letters, false, false, &word);
    *brand = brand_other(buf_bytes(&word));
    buf_release(&word);
    if (!*brand)
        return 0;
    rc = count_part(checking, token->start, token->start + token->size, &own, err);
    if (!rc)
        rc = checking->count(checking->arg, *brand, &other, err);
    if (!rc && other <= MORE * own)
        *brand = NULL;
    return rc;
}

/* Of a line: each of its first words. */
static int name_brands(struct checking *checking, struct correction *correction, struct err *err)
{
    struct buf out = BUF_INIT((size_t)2 * SEARCH_TEXT_SIZE_MAX);
    struct bytes text = checking->hidden.text;
    const char *named = NULL;
    struct spell_token token;
    size_t at = 0, written = 0;
    int rc = 0;

    for (int i = 0; i < COMPLETED_COUNT_MAX && !rc && letters_next(text, &at, &token); i++) {
        const char *brand;

        rc = find_brand(checking, &token, &brand, err);
        if (rc || !brand)
            continue;
        buf_put_raw(&out, text.data + written, token.start - written);
        buf_put_text(&out, brand);
        written = token.start + token.size;
    }
    buf_put_raw(&out, text.data + written, text.size - written);
    if (!rc && written && !buf_failed(&out) && out.size <= SEARCH_TEXT_SIZE_MAX)
        named = line_show(&checking->hidden, buf_bytes(&out), checking->arena);
    buf_release(&out);
    if (rc || !named)
        return rc;
    return go_on_with(checking, named, spell_reason_name(SPELL_TRANSLITERATION), correction, err);
}

/* --- completion --- */

/* A word of the line that may be completed. */
struct typed {
    const char *word;
    size_t start, size;
    bool is_found;
    bool is_short; /* it begins too much */
};

/* The first words of the line, and whether each finds something; any: one of them does. */
static int read_typed(const struct checking *checking, struct typed *list, size_t *count, bool *any,
                      struct err *err)
{
    struct bytes text = checking->hidden.text;
    struct spell_token token;
    size_t at = 0;
    int rc = 0;

    *count = 0;
    *any = false;
    while (!rc && *count < COMPLETED_COUNT_MAX && letters_next(text, &at, &token)) {
        struct typed *typed = &list[*count];
        uint64_t found = 0;

        if (token.letters.size < COMPLETED_SIZE_MIN - 1)
            continue;
        *typed = (struct typed){.start = token.start,
                                .size = token.size,
                                .is_short = token.letters.size < COMPLETED_SIZE_MIN};
        typed->word = arena_text(checking->arena, bytes_make(text.data + token.start, token.size));
        rc = checking->count(checking->arg, typed->word, &found, err);
        typed->is_found = found > 0;
        *any = *any || typed->is_found;
        ++*count;
    }
    return rc;
}

/* The text with the words completed that find nothing and begin others; NULL: none does. A common
 * word beside others that find something is what was meant ("space heater", not "spacer"). */
static int complete_words(const struct checking *checking, spelling_complete_fn *complete,
                          bool is_near, const char **completed, struct err *err)
{
    struct bytes text = checking->hidden.text;
    struct buf out = BUF_INIT((size_t)2 * SEARCH_TEXT_SIZE_MAX);
    struct typed list[COMPLETED_COUNT_MAX];
    size_t count, written = 0;
    bool any;
    int rc = read_typed(checking, list, &count, &any, err);

    *completed = NULL;
    for (size_t i = 0; i < count && !rc; i++) {
        const char *whole = NULL;

        if (list[i].is_found || list[i].is_short ||
            (any && speller_is_common(checking->speller, bytes_of(list[i].word))))
            continue;
        rc = complete(checking->arg, list[i].word, is_near, &whole, err);
        if (rc || !whole)
            continue;
        buf_put_raw(&out, text.data + written, list[i].start - written);
        buf_put_text(&out, whole);
        written = list[i].start + list[i].size;
    }
    buf_put_raw(&out, text.data + written, text.size - written);
    if (!rc && written && !buf_failed(&out) && out.size <= SEARCH_TEXT_SIZE_MAX)
        *completed = line_show(&checking->hidden, buf_bytes(&out), checking->arena);
    buf_release(&out);
    return rc;
}

static int complete(struct checking *checking, spelling_complete_fn *complete_word, bool is_near,
                    struct correction *correction, struct err *err)
{
    const char *completed = NULL;
    uint64_t count = 0;
    int rc = checking->count(checking->arg, checking->line, &count, err);

    if (rc || count)
        return rc;
    rc = complete_words(checking, complete_word, is_near, &completed, err);
    if (rc || !completed)
        return rc;
    return go_on_with(checking, completed, is_near ? "typo" : "completion", correction, err);
}

int spelling_correct(struct speller *speller, const char *line, spelling_count_fn *count,
                     spelling_complete_fn *complete_word, void *arg, struct arena *arena,
                     struct correction *correction, struct err *err)
{
    struct checking checking = {
        .speller = speller, .line = line, .count = count, .arg = arg, .arena = arena};
    struct spell_result result = {0};
    int rc = line_hide(bytes_of(line), arena, &checking.hidden, err);

    *correction = (struct correction){0};
    if (!rc && complete_word)
        rc = name_brands(&checking, correction, err);
    if (!rc && complete_word)
        rc = join(&checking, correction, err);
    if (!rc && complete_word)
        rc = complete(&checking, complete_word, false, correction, err);
    if (!rc)
        rc = spell_check(speller, checking.hidden.text, count_hidden, &checking, arena, &result,
                         err);
    if (!rc && !result.change_count && complete_word && !correction->text)
        return complete(&checking, complete_word, true, correction, err);
    if (rc || !result.change_count || result.text.size > SEARCH_TEXT_SIZE_MAX)
        return rc;
    correction->text = line_show(&checking.hidden, result.text, arena);
    if (!correction->reason)
        correction->reason = spell_reason_name(result.changes[0].reason);
    return 0;
}

void spelling_count(const char *reason)
{
    char labels[64];

    snprintf(labels, sizeof(labels), "reason=\"%s\"", reason);
    counter_add(metrics_counter("torg_spell_corrections_total", labels,
                                "Searches of another text than the one sent."),
                1);
}

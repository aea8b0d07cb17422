/* SPDX-License-Identifier: Apache-2.0 */
/* spelling.c - see spelling.h. */
#include "search/spelling.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/metrics.h"
#include "search/bounds.h"
#include "search/line.h"
#include "spell/letters.h"

/* The first words of a line are asked about, each by itself; three letters begin too much. */
enum { COMPLETED_COUNT_MAX = 8, COMPLETED_SIZE_MIN = 4 };

struct checking {
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

/* --- completion --- */

/* The text with the words completed that find nothing and begin others; NULL: none does. */
static int complete_words(const struct checking *checking, spelling_complete_fn *complete,
                          bool is_near, const char **completed, struct err *err)
{
    struct bytes text = checking->hidden.text;
    struct buf out = BUF_INIT((size_t)2 * SEARCH_TEXT_SIZE_MAX);
    struct spell_token token;
    size_t at = 0, written = 0, asked = 0;
    int rc = 0;

    *completed = NULL;
    while (!rc && asked < COMPLETED_COUNT_MAX && letters_next(text, &at, &token)) {
        char *word = arena_text(checking->arena, bytes_make(text.data + token.start, token.size));
        const char *whole = NULL;
        uint64_t count = 0;

        if (token.letters.size < COMPLETED_SIZE_MIN)
            continue;
        asked++;
        rc = checking->count(checking->arg, word, &count, err);
        if (!rc && !count)
            rc = complete(checking->arg, word, is_near, &whole, err);
        if (rc || !whole)
            continue;
        buf_put_raw(&out, text.data + written, token.start - written);
        buf_put_text(&out, whole);
        written = token.start + token.size;
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
    uint64_t count = 0;
    int rc = checking->count(checking->arg, checking->line, &count, err);

    if (rc || count)
        return rc;
    rc = complete_words(checking, complete_word, is_near, &correction->text, err);
    if (rc || !correction->text)
        return rc;
    correction->reason = is_near ? "typo" : "completion";
    checking->line = correction->text;
    return line_hide(bytes_of(correction->text), checking->arena, &checking->hidden, err);
}

int spelling_correct(struct speller *speller, const char *line, spelling_count_fn *count,
                     spelling_complete_fn *complete_word, void *arg, struct arena *arena,
                     struct correction *correction, struct err *err)
{
    struct checking checking = {.line = line, .count = count, .arg = arg, .arena = arena};
    struct spell_result result = {0};
    int rc = line_hide(bytes_of(line), arena, &checking.hidden, err);

    *correction = (struct correction){0};
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

/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - see nearest.h. */
#include "search/words/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "search/bounds.h"
#include "search/words/line.h"

/* Of a line; and how often the index is asked for all of them. */
enum { WORD_COUNT_MAX = 6, ASKED_COUNT_MAX = 32, LETTER_COUNT_MIN = 3, ENDING_COUNT_MIN = 4 };

struct asked {
    spelling_complete_fn *find;
    void *arg;
    struct arena *arena;
    size_t count;
};

enum sign { SIGN_BLANK, SIGN_DIGIT, SIGN_LETTER };

static enum sign sign_of(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return SIGN_DIGIT;
    return byte >= 0x80 || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ? SIGN_LETTER
                                                                          : SIGN_BLANK;
}

static size_t letter_count(struct bytes word)
{
    size_t count = 0;

    for (size_t i = 0; i < word.size; i++)
        count += (word.data[i] & 0xC0) != 0x80;
    return count;
}

/* Without its last letter. */
static struct bytes shorten(struct bytes word)
{
    do
        word.size--;
    while (word.size && (word.data[word.size] & 0xC0) == 0x80);
    return word;
}

static int ask(struct asked *asked, struct bytes word, bool is_near, const char **whole,
               struct err *err)
{
    asked->count++;
    return asked->find(asked->arg, arena_text(asked->arena, word), is_near, whole, err);
}

/* What begins with as many of its letters as any does, `least` or more. */
static int find_beginning(struct asked *asked, struct bytes word, size_t least, const char **whole,
                          struct err *err)
{
    int rc = 0;

    for (size_t count = letter_count(word); count >= least && !rc && !*whole; count--) {
        if (asked->count >= ASKED_COUNT_MAX)
            break;
        rc = ask(asked, word, false, whole, err);
        word = shorten(word);
    }
    return rc;
}

/* A word that it ends with: "venthood", "itneriordoor". */
static int find_ending(struct asked *asked, struct bytes word, const char **whole, struct err *err)
{
    int rc = 0;

    for (size_t count = letter_count(word); count > ENDING_COUNT_MIN && !rc && !*whole; count--) {
        if (asked->count >= ASKED_COUNT_MAX)
            break;
        do
            word = bytes_skip(word, 1);
        while (word.size && (word.data[0] & 0xC0) == 0x80);
        rc = ask(asked, word, false, whole, err);
    }
    return rc;
}

/* NULL: nothing is like it. */
static int find_like(struct asked *asked, struct bytes word, const char **whole, struct err *err)
{
    bool is_number = sign_of(word.data[0]) == SIGN_DIGIT;
    size_t count = letter_count(word), half = count / 2;
    int rc = 0;

    *whole = NULL;
    half = half < LETTER_COUNT_MIN ? LETTER_COUNT_MIN : half;
    if (count > LETTER_COUNT_MIN && !is_number)
        rc = ask(asked, word, true, whole, err);
    if (!rc && !*whole)
        rc = find_beginning(asked, word, half, whole, err);
    if (!rc && !*whole && !is_number)
        rc = find_ending(asked, word, whole, err);
    while (letter_count(word) >= half && half > LETTER_COUNT_MIN)
        word = shorten(word);
    return rc || *whole ? rc : find_beginning(asked, word, LETTER_COUNT_MIN, whole, err);
}

/* The next run of letters, or of digits; empty: the end. */
static struct bytes next_run(struct bytes line, size_t *at)
{
    size_t start;
    enum sign sign;

    while (*at < line.size && sign_of(line.data[*at]) == SIGN_BLANK)
        ++*at;
    start = *at;
    sign = start < line.size ? sign_of(line.data[start]) : SIGN_BLANK;
    while (*at < line.size && sign_of(line.data[*at]) == sign)
        ++*at;
    return bytes_make(line.data + start, *at - start);
}

/* "2x4" of "2x4x8", where a number ends at `at`: of things that have some of the sizes those with
 * two side by side come first. Empty: none begins with the number. */
static struct bytes read_sizes(struct bytes line, struct bytes number, size_t at)
{
    size_t end = at + 1;

    if (at + 1 >= line.size || (line.data[at] | 0x20) != 'x')
        return BYTES_EMPTY;
    while (end < line.size && sign_of(line.data[end]) == SIGN_DIGIT)
        end++;
    if (sign_of(number.data[0]) != SIGN_DIGIT || end == at + 1)
        return BYTES_EMPTY;
    return bytes_make(number.data, number.size + end - at);
}

int nearest_text(const char *line, spelling_complete_fn *find, void *arg, struct arena *arena,
                 const char **text, struct err *err)
{
    struct asked asked = {.find = find, .arg = arg, .arena = arena};
    struct buf out = BUF_INIT((size_t)2 * SEARCH_TEXT_SIZE_MAX);
    struct hidden_line hidden;
    size_t at = 0, run_count = 0;
    int rc = line_hide(bytes_of(line), arena, &hidden, err);

    *text = NULL;
    if (!rc && hidden.hidden.size) /* meant to the letter */
        return 0;
    while (run_count++ < WORD_COUNT_MAX && !rc) {
        struct bytes run = next_run(bytes_of(line), &at), sizes;
        const char *like = NULL;

        if (!run.size)
            break;
        sizes = read_sizes(bytes_of(line), run, at);
        if (sizes.size)
            buf_printf(&out, "%s%.*s", out.size ? " " : "", (int)sizes.size,
                       (const char *)sizes.data);
        if (asked.count < ASKED_COUNT_MAX)
            rc = find_like(&asked, run, &like, err);
        if (!rc && !like && sign_of(run.data[0]) == SIGN_DIGIT)
            like = arena_text(arena, run);
        if (!rc && like)
            buf_printf(&out, "%s%s", out.size ? " " : "", like);
    }
    if (!rc && out.size && !buf_failed(&out) && out.size <= SEARCH_TEXT_SIZE_MAX)
        *text = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return rc;
}

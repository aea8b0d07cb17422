/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - see check.h.
 *
 * What is not a word, and every word that stays, is copied byte by byte. A text of more words than
 * a window holds goes window by window, each knowing the last word of the one before.
 */
#include "spell/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "spell/bounds.h"
#include "spell/lattice.h"

enum { LAYOUT_LETTERS_MIN = 2 };

/* Working memory of one check; too much for a stack. */
struct work {
    struct candidate_maker maker;
    struct lattice lattice;
    struct choice choices[SPELL_WINDOW_COUNT_MAX];
    struct spell_token tokens[SPELL_WINDOW_COUNT_MAX + 1]; /* one more: what follows the window */
    bool is_layout[SPELL_WINDOW_COUNT_MAX + 1]; /* signs and all, typed with the other layout */
    size_t token_count;
    struct bytes text;
    size_t at;      /* read up to here */
    size_t written; /* taken over into the result up to here */
    struct buf out;
    struct arena *arena;
    struct spell_change *changes;
    size_t change_count, change_max;
    float confidence;
};

/* A run of ASCII without blanks that has letters, and signs that are letters in the other layout.
 */
static struct bytes layout_run(struct bytes text, size_t at)
{
    static const char signs[] = "[];',.`{}:\"<>~";
    size_t end = at, letters = 0, signs_count = 0;

    for (; end < text.size && text.data[end] > ' '; end++) {
        uint8_t sign = text.data[end];

        if ((sign | 0x20) >= 'a' && (sign | 0x20) <= 'z')
            letters++;
        else if (sign < 0x80 && strchr(signs, sign))
            signs_count++;
        else
            return BYTES_EMPTY;
    }
    if (letters < LAYOUT_LETTERS_MIN || !signs_count || end - at > SPELL_WORD_SIZE_MAX)
        return BYTES_EMPTY;
    return bytes_make(text.data + at, end - at);
}

static bool next_token(struct work *work)
{
    struct spell_token *token = &work->tokens[work->token_count];
    bool *is_layout = &work->is_layout[work->token_count];
    size_t start = work->at;
    struct candidates candidates;
    struct bytes run;

    while (start < work->text.size && work->text.data[start] <= ' ')
        start++;
    run = start == 0 || work->text.data[start - 1] <= ' ' ? layout_run(work->text, start)
                                                          : BYTES_EMPTY;
    *is_layout = run.size > 0 && candidates_read_layout(&work->maker, run, &candidates);
    if (*is_layout) {
        *token = (struct spell_token){
            .start = (uint32_t)start, .size = (uint32_t)run.size, .gap = GAP_BLANK};
        work->at = start + run.size;
    } else if (!letters_next(work->text, &work->at, token)) {
        return false;
    }
    work->token_count++;
    return true;
}

static void make_candidates(struct work *work, size_t i)
{
    const struct spell_token *token = &work->tokens[i];
    struct candidates *candidates = &work->lattice.candidates[i];

    work->lattice.is_near[i] = token->gap != GAP_FAR;
    if (work->is_layout[i]) {
        candidates_read_layout(&work->maker,
                               bytes_make(work->text.data + token->start, token->size), candidates);
    } else if (token->letters.size > 0) {
        candidates_make(&work->maker, &token->letters,
                        token->is_capital && !token->is_upper && token->gap == GAP_BLANK,
                        candidates);
    } else { /* passed by */
        candidates->count = 1;
        candidates->at[0] =
            (struct candidate){.first = WORDID_NONE, .last = WORDID_NONE, .span = 1};
    }
}

static void fill_lattice(struct work *work)
{
    size_t count = work->token_count;

    if (count > SPELL_WINDOW_COUNT_MAX)
        count = SPELL_WINDOW_COUNT_MAX;
    work->lattice.count = count;
    for (size_t i = 0; i < count; i++) {
        const struct letters *one = &work->tokens[i].letters;
        const struct letters *two = &work->tokens[i + 1].letters;

        make_candidates(work, i);
        if (i + 1 < count && one->size && two->size && work->tokens[i + 1].gap == GAP_BLANK &&
            letter_is_cyrillic(one->at[0]) == letter_is_cyrillic(two->at[0]))
            candidates_join(&work->maker, one, two, &work->lattice.candidates[i]);
    }
}

static struct spell_change *new_change(struct work *work)
{
    if (work->change_count == work->change_max) {
        size_t max = work->change_max ? 2 * work->change_max : 8;
        struct spell_change *more = arena_array(work->arena, max, sizeof(*more));

        if (work->change_count)
            memcpy(more, work->changes, work->change_count * sizeof(*more));
        work->changes = more;
        work->change_max = max;
    }
    return &work->changes[work->change_count++];
}

static void print_candidate(struct work *work, const struct candidate *candidate,
                            const struct spell_token *token)
{
    bool is_layout = candidate->reason == SPELL_LAYOUT;

    letters_print(&candidate->letters, token->is_capital, token->is_upper && !is_layout,
                  &work->out);
    if (candidate->reason == SPELL_SPLIT) {
        struct letters rest = {.size = (uint8_t)(token->letters.size - candidate->letters.size)};

        memcpy(rest.at, token->letters.at + candidate->letters.size, rest.size);
        buf_put_byte(&work->out, ' ');
        letters_print(&rest, false, token->is_upper, &work->out);
    }
}

static void write_choice(struct work *work, const struct choice *choice)
{
    const struct candidate *candidate = choice->candidate;
    const struct spell_token *first = &work->tokens[choice->token];
    const struct spell_token *last = &work->tokens[choice->token + candidate->span - 1];
    size_t end = last->start + last->size, start;
    struct spell_change *change;

    if (candidate->reason == SPELL_KEPT)
        return;
    buf_put_raw(&work->out, work->text.data + work->written, first->start - work->written);
    work->written = end;
    start = work->out.size;
    print_candidate(work, candidate, first);
    change = new_change(work);
    *change = (struct spell_change){
        .original = bytes_make(work->text.data + first->start, end - first->start),
        .corrected =
            arena_copy(work->arena, bytes_make(work->out.data + start, work->out.size - start)),
        .reason = (enum spell_reason)candidate->reason,
        .confidence = 1 / (1 + exp10f(-choice->gain)),
    };
    if (change->confidence < work->confidence)
        work->confidence = change->confidence;
}

/* Chooses for one window; the tokens behind it become the beginning of the next. */
static wordid run_window(struct work *work, wordid before)
{
    size_t count;

    fill_lattice(work);
    count = lattice_choose(&work->lattice, &work->maker.model, before, work->choices);
    for (size_t i = 0; i < count; i++)
        write_choice(work, &work->choices[i]);
    work->tokens[0] = work->tokens[work->lattice.count];
    work->is_layout[0] = work->is_layout[work->lattice.count];
    work->token_count -= work->lattice.count;
    return work->choices[count - 1].candidate->last;
}

void check_run(const struct model *model, const struct deletes *deletes, struct bytes text,
               enum check_mood mood, struct arena *arena, struct spell_result *result)
{
    struct work *work = mem_alloc(sizeof(*work));
    wordid before = WORDID_NONE;

    work->maker.model = *model;
    work->maker.deletes = deletes;
    work->maker.is_eager = mood == CHECK_EAGER;
    work->maker.is_search = mood != CHECK_TEXT;
    work->token_count = work->at = work->written = 0;
    work->text = text;
    work->out = BUF_INIT((size_t)SPELL_TEXT_SIZE_MAX * 4);
    work->arena = arena;
    work->changes = NULL;
    work->change_count = work->change_max = 0;
    work->confidence = 1;
    do {
        while (work->token_count <= SPELL_WINDOW_COUNT_MAX && next_token(work))
            ;
        if (work->token_count > 0)
            before = run_window(work, before);
    } while (work->token_count > 0);
    *result = (struct spell_result){.text = text, .confidence = 1};
    if (work->change_count)
        buf_put_raw(&work->out, text.data + work->written, text.size - work->written);
    if (work->change_count && !buf_failed(&work->out)) {
        result->confidence = work->confidence;
        result->text = arena_copy(arena, buf_bytes(&work->out));
        result->changes = work->changes;
        result->change_count = work->change_count;
    }
    buf_release(&work->out);
    free(work);
}

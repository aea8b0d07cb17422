/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_word.c - the rules of analysis.h for what begins with a letter.
 *
 * Twins are letters that look the same in both scripts, as capitals at least. A keyboard left in
 * the other layout, or a seller who hides from filters, puts one in place of the other.
 */
#include <string.h>

#include "base/memory.h"
#include "index/bounds.h"
#include "index/text/analysis_rules.h"
#include "index/text/unit.h"

enum { LATIN = 1 << SCRIPT_LATIN, CYRILLIC = 1 << SCRIPT_CYRILLIC, CODE_LETTER_COUNT_MAX = 2 };

static const struct {
    uint16_t cyrillic;
    char latin;
} twins[] = {
    {0x430, 'a'}, {0x432, 'b'}, {0x435, 'e'}, {0x43A, 'k'}, {0x43C, 'm'},
    {0x43D, 'h'}, {0x43E, 'o'}, {0x440, 'p'}, {0x441, 'c'}, {0x442, 't'},
    {0x443, 'y'}, {0x445, 'x'}, {0x455, 's'}, {0x456, 'i'}, {0x458, 'j'},
};

/* The twin of a letter in the other script; 0 when it has none. */
static uint32_t twin_of(uint32_t code)
{
    for (size_t i = 0; i < ARRAY_COUNT(twins); i++) {
        if (code == twins[i].cyrillic)
            return (uint32_t)twins[i].latin;
        if (code == (uint32_t)twins[i].latin)
            return twins[i].cyrillic;
    }
    return 0;
}

static enum script script_of(uint32_t code)
{
    struct folded folded[UNICODE_FOLD_COUNT_MAX];

    return unicode_fold(code, folded) == 1 && folded[0].class == CHAR_LETTER ? folded[0].script
                                                                             : SCRIPT_NONE;
}

/* The script a word of two can be written in by twins; SCRIPT_NONE: in neither. */
static enum script script_by_twins(struct bytes form)
{
    size_t count[SCRIPT_OTHER + 1] = {0};
    size_t alone[SCRIPT_OTHER + 1] = {0}; /* without a twin */
    enum script first = SCRIPT_NONE;
    uint32_t code;

    for (size_t at = 0; at < form.size;) {
        enum script script;

        at += unicode_decode(form.data + at, form.data + form.size, &code);
        script = script_of(code);
        count[script]++;
        alone[script] += twin_of(code) == 0;
        if (first == SCRIPT_NONE)
            first = script;
    }
    if (alone[SCRIPT_CYRILLIC] && alone[SCRIPT_LATIN])
        return SCRIPT_NONE;
    if (alone[SCRIPT_CYRILLIC])
        return SCRIPT_CYRILLIC;
    if (alone[SCRIPT_LATIN])
        return SCRIPT_LATIN;
    if (count[SCRIPT_CYRILLIC] == count[SCRIPT_LATIN])
        return first;
    return count[SCRIPT_CYRILLIC] > count[SCRIPT_LATIN] ? SCRIPT_CYRILLIC : SCRIPT_LATIN;
}

/* Puts the form in one script, as far as a word may be long; returns its offset. */
static size_t put_by_twins(struct rules *rules, struct bytes form, enum script script, size_t *size)
{
    uint8_t whole[TOKEN_SIZE_MAX];
    size_t used = 0;
    uint32_t code;

    for (size_t at = 0; at < form.size && used <= TOKEN_SIZE_MAX - UNICODE_UTF8_SIZE_MAX;) {
        enum script from;

        at += unicode_decode(form.data + at, form.data + form.size, &code);
        from = script_of(code);
        used += unicode_encode(from == script || from == SCRIPT_NONE ? code : twin_of(code),
                               whole + used);
    }
    *size = used;
    return rules_put(rules, bytes_make(whole, used));
}

/* A run of one script inside a piece. */
struct run {
    size_t form, form_size;
    size_t start, end;
    enum script script;
};

static void add_run(struct rules *rules, const struct run *run, enum joint joint)
{
    if (run->form_size == 0)
        return;
    rules_add(rules, run->form, run->form_size, run->start, run->end,
              (struct mark){TOKEN_WORD, run->script, joint, 1});
    rules->position++;
}

static bool is_in_word(enum char_class class)
{
    return class == CHAR_LETTER || class == CHAR_MARK || class == CHAR_ACCENT;
}

/* Where the word begins in the folded form of its first character: some, "ﷺ" for one, fold to
 * several words. */
static size_t first_in_word(const struct folded *folded, size_t count)
{
    size_t first = count;

    while (first > 0 && is_in_word(folded[first - 1].class))
        first--;
    while (first < count && folded[first].class != CHAR_LETTER)
        first++; /* a mark that follows no letter was dropped */
    return first;
}

/* Parts a piece where its script changes. The source is read again, to know where that is. */
static void add_runs(struct rules *rules, const struct piece *piece)
{
    const uint8_t *text = rules->text.data;
    struct folded folded[UNICODE_FOLD_COUNT_MAX];
    struct run run = {.form = piece->form, .start = piece->start};
    enum joint joint = rules_joint(piece);
    size_t left = piece->size;
    uint32_t code;

    for (size_t at = piece->start; at < piece->end && left > 0;) {
        size_t start = at;
        size_t count;

        at += unicode_decode(text + at, text + piece->end, &code);
        count = unicode_fold(code, folded);
        for (size_t i = start > piece->start ? 0 : first_in_word(folded, count);
             i < count && left > 0; i++) {
            uint8_t bytes[UNICODE_UTF8_SIZE_MAX];
            size_t size = unicode_encode(folded[i].code, bytes);

            if (folded[i].class == CHAR_LETTER && folded[i].script != run.script) {
                add_run(rules, &run, joint);
                joint = run.form_size ? JOINT_TIGHT : joint;
                run = (struct run){run.form + run.form_size, 0, start, at, folded[i].script};
            }
            if (folded[i].class == CHAR_LETTER || folded[i].class == CHAR_MARK) {
                size = size < left ? size : left;
                run.form_size += size;
                left -= size;
            }
            run.end = at;
        }
    }
    run.end = piece->end;
    add_run(rules, &run, joint);
}

static bool is_digits(const struct piece *piece)
{
    return piece && piece->kind == PIECE_DIGITS;
}

/* Whether one or two Cyrillic letters are the code of a model, which has Latin ones: "А4", "Т-34",
 * "4К", "60х90", "60 х 90". */
static bool is_code(const struct rules *rules, size_t at)
{
    const struct piece *piece = rules_piece(rules, at);
    const struct piece *before = at > 0 ? rules_piece(rules, at - 1) : NULL;
    const struct piece *next = rules_piece(rules, at + 1);
    struct bytes form = bytes_make(rules_form(rules, piece), piece->size);
    size_t count = 0;
    uint32_t code = 0;

    for (size_t i = 0; i < form.size; count++) {
        i += unicode_decode(form.data + i, form.data + form.size, &code);
        if (twin_of(code) == 0)
            return false;
    }
    if (count > CODE_LETTER_COUNT_MAX)
        return false;
    if (is_digits(next) && (next->gap == GAP_TIGHT || next->gap == '-'))
        return !(code == 0x432 && is_digits(before)); /* "3в1" is "3 в 1" */
    if (!is_digits(before))
        return false;
    if (piece->gap == GAP_TIGHT)
        return !unit_spelling(form, true, rules->version);
    return count == 1 && code == 0x445 && piece->gap == GAP_BLANK && is_digits(next) &&
           next->gap == GAP_BLANK;
}

/* Two words and a hyphen, nothing else tied to them: also one word. */
static void add_hyphened(struct rules *rules, size_t at, enum joint joint)
{
    const struct piece *first = rules_piece(rules, at);
    const struct piece *second = rules_piece(rules, at + 1);
    const struct piece *after = rules_piece(rules, at + 2);
    uint8_t form[TOKEN_SIZE_MAX];

    if (second->kind != PIECE_LETTERS || second->scripts != first->scripts || first->gap == '-' ||
        first->gap == GAP_TIGHT || (after && (after->gap == '-' || after->gap == GAP_TIGHT)) ||
        (size_t)first->size + second->size > TOKEN_SIZE_MAX)
        return;
    memcpy(form, rules_form(rules, first), first->size);
    memcpy(form + first->size, rules_form(rules, second), second->size);
    rules_add(rules, rules_put(rules, bytes_make(form, (size_t)first->size + second->size)),
              (size_t)first->size + second->size, first->start, second->end,
              (struct mark){TOKEN_HYPHENED, rules->tokens[rules->count - 1].script, joint, 2});
}

/* м²: one word, in the unit's one spelling. */
static size_t add_power(struct rules *rules, size_t at)
{
    const struct piece *piece = rules_piece(rules, at), *digit = rules_piece(rules, at + 1);
    const char *unit =
        unit_spelling(bytes_make(rules_form(rules, piece), piece->size), true, rules->version);
    struct bytes name = unit ? bytes_of(unit) : bytes_make(rules_form(rules, piece), piece->size);
    uint8_t form[TOKEN_SIZE_MAX];

    memcpy(form, name.data, name.size);
    form[name.size] = 0xC2; /* ² or ³: "2" alone does not find it */
    form[name.size + 1] = rules_form(rules, digit)[0] == '2' ? 0xB2 : 0xB3;
    rules_add(rules, rules_put(rules, bytes_make(form, name.size + 2)), name.size + 2, piece->start,
              digit->end, (struct mark){TOKEN_WORD, SCRIPT_LATIN, rules_joint(piece), 1});
    rules->position++;
    return at + 2;
}

size_t rules_word(struct rules *rules, size_t at)
{
    const struct piece *piece = rules_piece(rules, at);
    struct bytes form = bytes_make(rules_form(rules, piece), piece->size);
    enum joint joint = rules_joint(piece);
    bool pure = (piece->scripts & (piece->scripts - 1)) == 0;
    size_t place = piece->form;
    size_t size = piece->size;
    enum script script = piece->scripts == LATIN      ? SCRIPT_LATIN
                         : piece->scripts == CYRILLIC ? SCRIPT_CYRILLIC
                                                      : SCRIPT_OTHER;

    if (rules_is_power(rules, at))
        return add_power(rules, at);
    if (!pure) {
        script = piece->scripts == (LATIN | CYRILLIC) ? script_by_twins(form) : SCRIPT_NONE;
        if (script == SCRIPT_NONE) {
            add_runs(rules, piece);
            return at + 1;
        }
        place = put_by_twins(rules, form, script, &size);
    } else if (script == SCRIPT_CYRILLIC && piece->size <= 2 * CODE_LETTER_COUNT_MAX &&
               is_code(rules, at)) {
        script = SCRIPT_LATIN;
        place = put_by_twins(rules, form, script, &size);
    }
    rules_add(rules, place, size, piece->start, piece->end,
              (struct mark){TOKEN_WORD, script, joint, 1});
    if (pure && at + 1 < rules->pieces.count && rules->pieces.list[at + 1].gap == '-')
        add_hyphened(rules, at, joint);
    rules->position++;
    return at + 1;
}

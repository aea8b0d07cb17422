/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unicode.h - what a code point is to a search engine: its class, its script, its folded form.
 *
 * Tables are made by tools/unicode-tables, which also says what folding is. Two-byte UTF-8 (Latin,
 * Cyrillic, Greek) has a flat table of its own, read by the scanner's inner loop. Safe for all
 * threads.
 */
#ifndef TORG_INDEX_TEXT_UNICODE_H
#define TORG_INDEX_TEXT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum char_class {
    CHAR_BREAK,      /* symbols, punctuation, controls, what is not assigned */
    CHAR_BLANK,      /* any white space */
    CHAR_LETTER,     /* is part of a word */
    CHAR_DIGIT,      /* folded to '0'..'9' */
    CHAR_MARK,       /* stays with the letter before it */
    CHAR_ACCENT,     /* is dropped, or composes й ў ї with the letter before it */
    CHAR_IGNORE,     /* is as if it were not there: soft hyphens, joiners */
    CHAR_APOSTROPHE, /* is dropped between letters */
    CHAR_HYPHEN,
    CHAR_IDEOGRAPH, /* is a word of its own */
};

enum script { SCRIPT_NONE, SCRIPT_LATIN, SCRIPT_CYRILLIC, SCRIPT_OTHER };

enum { UNICODE_FAST_COUNT = 0x800, UNICODE_FOLD_COUNT_MAX = 18, UNICODE_UTF8_SIZE_MAX = 4 };

/* By code point: folded UTF-8 (two bytes, low first), its size << 16, class << 18, script << 22;
 * FAST_SLOW: the folded form is longer, ask unicode_fold. */
extern const uint32_t unicode_fast[UNICODE_FAST_COUNT];
enum { FAST_SLOW = 1 << 24 };

static inline enum char_class fast_class(uint32_t entry)
{
    return (enum char_class)(entry >> 18 & 15);
}

static inline enum script fast_script(uint32_t entry)
{
    return (enum script)(entry >> 22 & 3);
}

static inline size_t fast_size(uint32_t entry)
{
    return entry >> 16 & 3;
}

/* Takes one code point off [at, end), at < end; returns how many bytes it takes, at least one.
 * A byte that begins nothing valid counts as U+FFFD. */
size_t unicode_decode(const uint8_t *at, const uint8_t *end, uint32_t *code);

/* Returns how many bytes were written. */
size_t unicode_encode(uint32_t code, uint8_t to[UNICODE_UTF8_SIZE_MAX]);

struct folded {
    uint32_t code;
    enum char_class class;
    enum script script;
};

/* The folded form: mostly one code point, returned by count. */
size_t unicode_fold(uint32_t code, struct folded folded[UNICODE_FOLD_COUNT_MAX]);

#endif

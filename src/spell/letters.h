/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letters.h - text as spelling sees it: words of letters, one byte each.
 *
 * A word is a run of letters of one script, folded as the index folds them (unicode.h: no case,
 * ё as е). Latin letters are ASCII, Cyrillic ones U+0430 … U+045F are 0x80 … 0xAF; '-' stands in
 * words that are written with it. Everything else - digits and what touches them, other scripts,
 * scripts mixed, words of more than SPELL_WORD_SIZE_MAX letters - is passed by: model numbers are
 * nobody's misprints. Safe for all threads.
 */
#ifndef TORG_SPELL_LETTERS_H
#define TORG_SPELL_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "spell/bounds.h"

enum { LETTER_CYRILLIC = 0x80, LETTER_END = 0xB0 };

struct letters {
    uint8_t at[SPELL_WORD_SIZE_MAX];
    uint8_t size;
};

/* What stands between a token and the one before it. */
enum gap { GAP_FAR, GAP_BLANK, GAP_HYPHEN };

struct spell_token {
    struct letters letters; /* size 0: not a word, to be left alone */
    uint32_t start, size;   /* bytes of the text */
    uint8_t gap;            /* enum gap */
    bool is_capital;        /* begins with one */
    bool is_upper;          /* has no small letter, and two at least */
};

/* Takes the next token off the text; *at moves on. False at the end. */
bool letters_next(struct bytes text, size_t *at, struct spell_token *token);

/* The word as UTF-8; with a capital first letter, or all capitals, if wanted. */
void letters_print(const struct letters *letters, bool is_capital, bool is_upper, struct buf *out);

static inline bool letter_is_cyrillic(uint8_t letter)
{
    return letter >= LETTER_CYRILLIC;
}

static inline bool letters_equal(const struct letters *a, const struct letters *b)
{
    return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

/* Adds one letter; a word that is full becomes empty, which nothing finds. */
static inline void letters_add(struct letters *letters, uint8_t letter)
{
    if (letters->size == SPELL_WORD_SIZE_MAX)
        letters->size = 0;
    else
        letters->at[letters->size++] = letter;
}

/* For tables and tests: the letters of a word that is folded already; size 0 if it is not one. */
struct letters letters_of(const char *text);

#endif

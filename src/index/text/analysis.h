/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - the one way from text to words, for documents and for queries alike.
 *
 * UTF-8 goes in (whatever is not valid separates words), tokens come out in order of position:
 * - letters fold (unicode.h): case, width, accents, ё as е; an apostrophe inside a word is dropped;
 * - letters and digits part: "iphone15" is iphone, 15, as "iphone 15" is;
 * - a hyphen parts too; two words of one script also give their whole, "wi-fi": wi, fi, wifi;
 * - a number is one token: "1,5" and "1.5" are 1.5; "10,000", "1.000.000", "1 000 000" and "50 000"
 *   (a plain blank counts when the last group is 000) are whole; dates, versions and addresses
 * part;
 * - a number with a unit also gives their whole in one spelling: "128 гб": 128, гб, 128gb;
 * "18-Volt", "18v" and "18 В": 18v; "48 in.", "48 inch" and 48″: 48in, and 4ft as well;
 * - fractions are decimals: "1/2", ½ and "0.5" are 0.5, "1-1/2" is 1.5;
 * - two sizes also give their whole, without their units: "4 in. x 4 in.", "4 by 4", "4х4": 4x4;
 * the x between them is no word, but that of a model is: "5950X 16 GB"; m² is one word, m2;
 * - a word of Cyrillic and Latin letters becomes a word of one of them, if lookalikes allow it
 *   ("iРhone": iphone), and parts where the script changes if not; so do one or two letters beside
 *   digits ("А4" in Cyrillic: a, 4 in Latin).
 *
 * A token that is whole stands at the position of its first part and spans all of them. Documents
 * index every token. A query takes the whole in place of its parts: alone for a unit (every
 * document that has the parts has it), or else the phrase of the parts.
 *
 * Threads: one struct analysis, one thread. Changing the rules changes ANALYSIS_VERSION; a shard
 * goes on with the version that its lexicon began with, a new epoch has the newest.
 */
#ifndef TORG_INDEX_TEXT_ANALYSIS_H
#define TORG_INDEX_TEXT_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "index/text/unicode.h"

/* Lexicons of older versions are read and written by their rules. 1: no fractions, sizes, signs for
 * inches, and fewer units; 2: "10,000" is 10.000; 3: feet are no inches, sizes with sides ("24 in.
 * W x 36 in. H") or "by" have no whole; 4: "5950X 16 GB" are sizes. */
enum { ANALYSIS_VERSION = 5, ANALYSIS_VERSION_OLDEST = 1 };

/* How a token follows the one before it; in a query, the closer the more of a phrase. */
enum joint {
    JOINT_NONE,  /* a blank, or several signs */
    JOINT_SIGN,  /* one sign and nothing else: a hyphen, a dot, a slash */
    JOINT_TIGHT, /* nothing between: "iphone15" */
};

enum token_kind {
    TOKEN_WORD,     /* letters */
    TOKEN_NUMBER,   /* digits, a point at most */
    TOKEN_HYPHENED, /* whole: both parts without the hyphen */
    TOKEN_QUANTITY, /* whole: number and unit */
};

struct token {
    struct bytes form;    /* folded; valid until the next analysis_run */
    uint32_t start, size; /* bytes of the source, for highlighting */
    uint32_t position;    /* of the word in the text, from 0 */
    uint8_t span;         /* positions it covers: 1, or more for a whole */
    uint8_t kind;         /* enum token_kind */
    uint8_t script;       /* enum script: of a word of letters; else SCRIPT_NONE */
    uint8_t joint;        /* enum joint */
};

struct token_list {
    const struct token *tokens; /* valid until the next analysis_run */
    size_t count;
    uint32_t position_count; /* the next text of the same field begins there */
    bool truncated;          /* a limit was met: the rest of the text is not there */
};

struct analysis;

struct analysis *analysis_new(void);
void analysis_free(struct analysis *analysis); /* NULL is fine */

/* The rules of this version hold from now on; the newest, unless told. */
void analysis_use(struct analysis *analysis, unsigned version);

struct token_list analysis_run(struct analysis *analysis, struct bytes text);

/* The stem of a folded form: Russian for Cyrillic, English for Latin, else the form itself. It is
 * valid until the next call. 200 ns: ask the lexicon first. */
struct bytes analysis_stem(struct analysis *analysis, struct bytes form, enum script script);

static inline bool token_is_whole(const struct token *token)
{
    return token->kind >= TOKEN_HYPHENED;
}

#endif

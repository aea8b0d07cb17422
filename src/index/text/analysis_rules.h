/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_rules.h - the second pass of analysis, private to analysis*.c: pieces become tokens.
 *
 * Each rule looks at the pieces from `at` on, adds tokens and returns the first piece it left.
 */
#ifndef TORG_INDEX_TEXT_ANALYSIS_RULES_H
#define TORG_INDEX_TEXT_ANALYSIS_RULES_H

#include "index/bounds.h"
#include "index/text/analysis.h"
#include "index/text/pieces.h"

struct rules {
    struct pieces pieces;
    struct bytes text;
    struct token *tokens; /* owned; their forms are set when analysis_run ends */
    uint32_t *forms;      /* owned; of each token, the offset in pieces.forms, which may move */
    size_t count, capacity;
    uint32_t position;
    bool truncated;
    unsigned version; /* of the rules */
    size_t by;        /* the piece that stands between two sizes; SIZE_MAX: none is ahead */
};

/* What a token says beside its form and place. */
struct mark {
    enum token_kind kind;
    enum script script;
    enum joint joint;
    unsigned span;
};

void rules_grow(struct rules *rules); /* room for more tokens */

/* Adds a token at the current position, with the form's offset in pieces.forms. */
static inline void rules_add(struct rules *rules, size_t form, size_t form_size, size_t start,
                             size_t end, struct mark mark)
{
    if (rules->count == TOKEN_COUNT_MAX) {
        rules->truncated = true;
        return;
    }
    if (rules->count == rules->capacity)
        rules_grow(rules);
    rules->forms[rules->count] = (uint32_t)form;
    rules->tokens[rules->count++] = (struct token){
        .form = {.data = NULL, .size = form_size},
        .start = (uint32_t)start,
        .size = (uint32_t)(end - start),
        .position = rules->position,
        .span = (uint8_t)mark.span,
        .kind = (uint8_t)mark.kind,
        .script = (uint8_t)mark.script,
        .joint = (uint8_t)mark.joint,
    };
}

/* Copies bytes behind the forms, TOKEN_SIZE_MAX at most; returns their offset. */
size_t rules_put(struct rules *rules, struct bytes form);

static inline const struct piece *rules_piece(const struct rules *rules, size_t at)
{
    return at < rules->pieces.count ? &rules->pieces.list[at] : NULL;
}

static inline const uint8_t *rules_form(const struct rules *rules, const struct piece *piece)
{
    return rules->pieces.forms + piece->form;
}

enum joint rules_joint(const struct piece *piece);

static inline bool rules_is_word(const struct rules *rules, const struct piece *piece,
                                 const char *word)
{
    return piece && piece->kind == PIECE_LETTERS &&
           bytes_equal_text(bytes_make(rules_form(rules, piece), piece->size), word);
}

/* ---- analysis_measure.c: since version 2 ---- */
/* Whether a fraction begins here, "1/2" or "1-1/2", and the first piece behind it; its decimal. */
bool rules_fraction(const struct rules *rules, size_t at, size_t *end);
size_t rules_put_fraction(struct rules *rules, size_t at, size_t end, size_t *size);
/* The unit that a sign behind the piece before `end` says: 48″, 6′; NULL: none. */
const char *rules_sign_unit(const struct rules *rules, size_t end);
/* Whether a letter behind a number and a blank is a unit and no word of its own: "18 В", "48 in.".
 */
bool rules_stands_alone(const struct rules *rules, size_t number, size_t unit);
/* Whether the letters at this piece and the digit behind them are a power: м², "54 м2". */
bool rules_is_power(const struct rules *rules, size_t at);

size_t rules_number(struct rules *rules, size_t at); /* analysis_number.c */
size_t rules_word(struct rules *rules, size_t at);   /* analysis_word.c */

#endif

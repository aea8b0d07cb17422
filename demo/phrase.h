/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phrase.h - templates of demo/offers.grammar made into text: variables, choices, forms of words.
 *
 *     {name}              the variable: its word in the language of the offer (@words), else itself
 *     {name.f}            a form of it: m f n p, or 1 to 4; forms stand between slashes
 *     {name@g}            the form that the variable g says: m f n p
 *     {@g новый/новая/новое/новые}   the form of these
 *     {^name}             with a capital letter; also {^name.f}, {^name@g}
 *     {name'}             a number in groups of three: 120 000
 *     {name#год/года/лет} the form that goes with this number (of English: one/many)
 *     {?name=a,b:text}    the text when the variable is a or b; != < > likewise (numbers)
 *     [one|two|]          one of these
 *     <name>              one phrase of the list
 *
 * All of them nest. \ takes the next sign as it is.
 */
#ifndef TORG_DEMO_PHRASE_H
#define TORG_DEMO_PHRASE_H

#include "base/buf.h"
#include "base/random.h"
#include "demo/bounds.h"
#include "demo/grammar.h"

struct variable {
    const char *name;
    const char *value;
};

struct scope {
    const struct grammar *grammar;
    const struct kind *kind;
    struct arena *arena;
    struct rng *rng;
    enum language language;
    bool raw; /* {name} is the value itself, not its word */
    struct variable variables[DEMO_VARIABLE_COUNT_MAX];
    size_t variable_count;
};

/* Sets it, or sets it anew. The texts are borrowed. */
void scope_set(struct scope *scope, const char *name, const char *value);
/* NULL: there is none. */
const char *scope_get(const struct scope *scope, struct bytes name);

/* Appends the text made from the template. ERR_INVALID names what cannot be read. */
int phrase_expand(struct scope *scope, const char *template, struct buf *out, struct err *err);

/* The same as a text of the arena. */
int phrase_text(struct scope *scope, const char *template, const char **text, struct err *err);

/* One phrase of a list, as <name>. ERR_INVALID: there is no such list. */
int phrase_say(struct scope *scope, const char *list, const char **text, struct err *err);

/* Removes what choices leave behind: double blanks, blanks before a comma, "..", and begins every
 * line with a capital letter. */
char *phrase_tidy(const char *text, struct arena *arena);

#endif

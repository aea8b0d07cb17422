/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grammar.h - demo/offers.grammar, read: which kinds of things the demo shop sells and how people
 * write about them.
 *
 * The file is lines; one that begins with # is a comment. A line that begins with @ opens a
 * section:
 *
 *     @words NAME          id | forms in Russian, between slashes | in English
 *     @list NAME.LANGUAGE  a line each: what people say, to be drawn from as <NAME>
 *     @cities              name | in English | latitude longitude | weight | places | in English
 *     @shops               id | name | in English | kinds it sells
 *     @kind NAME           one kind of thing, by these lines:
 *         category TEMPLATE    of the catalogue; may name columns
 *         picture TEMPLATE how it is drawn: a name of drawing.h
 *         weight N         how many of all there are
 *         shops N          of a hundred, how many are sold by shops (default 20)
 *         english N        ... how many are written in English (default 15)
 *         columns NAME…    what the rows have
 *         row VALUE | …    a model, a breed: one is drawn, each column becomes a variable
 *         pick NAME VALUE… one is drawn; VALUE*3 is drawn three times as often
 *         num NAME = FORMULA (formula.h)
 *         let NAME = TEMPLATE
 *         attr ID = TEMPLATE   of the offer; empty: it has none
 *         condition VALUE…     as pick; new, used, broken. Makes `cond`, and `worn`: the share of
 *                              the price that is left
 *         price = FORMULA      in roubles
 *         NAME.LANGUAGE TEMPLATE  one more line of the kind's own list NAME; the lists title and
 *                              text are what an offer is made from
 *
 * Templates are in phrase.h. Lines of a kind are worked off in their order.
 *
 * Threads: read once, constant afterwards.
 */
#ifndef TORG_DEMO_GRAMMAR_H
#define TORG_DEMO_GRAMMAR_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "catalog/catalog.h"

enum { WORD_FORM_COUNT = 4 }; /* masculine, feminine, neuter, plural; or whatever forms it has */

struct word {
    const char *id;
    const char *forms; /* between slashes */
    const char *english;
};

struct word_table {
    const char *name;
    struct word *words;
    size_t count;
    struct word_table *next;
};

struct phrase_list {
    const char *name;
    enum language language;
    const char **phrases;
    size_t count;
    size_t capacity;
    struct phrase_list *next;
};

enum rule_type { RULE_PICK, RULE_NUM, RULE_LET, RULE_ATTRIBUTE, RULE_CONDITION, RULE_PRICE };

struct rule {
    enum rule_type type;
    const char *name;
    const char *text;
    unsigned line; /* of the file */
};

struct row {
    const char **values; /* column_count */
};

struct kind {
    const char *name;
    const char *category;
    const char *picture;
    unsigned weight;
    unsigned shop_percent;
    unsigned english_percent;
    const char **columns;
    size_t column_count;
    struct row *rows;
    size_t row_count;
    struct rule *rules;
    size_t rule_count;
    struct phrase_list *lists;
    const struct shop **shops; /* that sell it */
    size_t shop_count;
    struct kind *next;
};

struct city {
    const char *name[LANGUAGE_COUNT];
    double latitude;
    double longitude;
    unsigned weight;
    const char **places[LANGUAGE_COUNT]; /* streets, stations */
    size_t place_count;
};

struct shop {
    const char *id;
    const char *name[LANGUAGE_COUNT];
    const char *kinds; /* between blanks */
    struct shop *next;
};

struct grammar {
    struct word_table *tables;
    struct phrase_list *lists;
    struct kind **kinds;
    size_t kind_count;
    struct city *cities;
    size_t city_count;
    struct shop *shops;
    size_t shop_count;
    unsigned kind_weight; /* of all together */
    unsigned city_weight;
};

/* Everything is in the arena. ERR_INVALID names the line. */
int grammar_read(struct bytes text, struct arena *arena, struct grammar **grammar, struct err *err);

/* NULL: there is none. A kind's own list comes before the common one; kind may be NULL. */
const struct phrase_list *grammar_list(const struct grammar *grammar, const struct kind *kind,
                                       struct bytes name, enum language language);
const struct word *grammar_word(const struct grammar *grammar, struct bytes table, const char *id);
const struct kind *grammar_kind(const struct grammar *grammar, const char *name);

#endif

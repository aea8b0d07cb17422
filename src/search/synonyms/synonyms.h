/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synonyms.h - words that an operator has said to mean the same, and how a query is expanded by
 * them.
 *
 *   # a comment
 *   велик, байк, велосипед        each finds the others
 *   тв => телевизор  # why        who types the left finds the right, too; not the other way round
 *   ps5, пс5 => playstation 5     several words on either side
 *   байк =/> велосипед            no synonyms: they are not proposed any more
 *
 * A file of such lines is a set; there is one for each language (synonym_sets.h), and all of them
 * hold for every query, as buyers mix languages. What is typed always counts itself, and more than
 * what it is expanded to. Forms of words are one: "велики" is "велик". Only plain words are looked
 * at: what stands in quotes or with a sign is meant as it stands. Of several rules that fit a place
 * of a line the one with most words holds; an expansion is not expanded again.
 *
 * Threads: a table never changes; references are counted.
 */
#ifndef TORG_SEARCH_SYNONYMS_SYNONYMS_H
#define TORG_SEARCH_SYNONYMS_SYNONYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/violation.h"
#include "torg/v1/query.pb-c.h"
#include "torg/v1/search.pb-c.h"

/* --- a file --- */

struct synonym_rule {
    size_t line;       /* of the file, from 1 */
    const char *text;  /* in one form: blanks, commas and arrow alike */
    const char **from; /* what is typed */
    size_t from_count;
    const char **to; /* what it finds, too; of a two-way rule the same list */
    size_t to_count;
    bool is_refusal; /* the left is not to find the right: nothing follows but that it is known */
};

struct synonym_rules {
    struct synonym_rule *list;
    size_t count;
};

/* ERR_INVALID: `faults` has all that is wrong, each with its line ("line 3"). */
int synonyms_parse(struct bytes file, struct arena *arena, struct synonym_rules *rules,
                   struct violations *faults, struct err *err);

/* --- the table --- */

struct synonyms;

/* Of the rules of all sets; they are copied. */
struct synonyms *synonyms_new(const struct synonym_rules *sets, size_t count);
struct synonyms *synonyms_ref(struct synonyms *synonyms);
void synonyms_unref(struct synonyms *synonyms);         /* NULL is fine */
size_t synonyms_count(const struct synonyms *synonyms); /* of what may be typed */

/* Words of a line that mean others, too. */
struct synonym_use {
    size_t start, end;         /* of the line */
    const char *text;          /* as typed */
    const char *const *others; /* the table's */
    size_t count;
};

/* kept: texts that are not to be expanded. At most SYNONYM_USE_COUNT_MAX. A line that cannot be
 * read has none. */
size_t synonyms_find(const struct synonyms *synonyms, const char *line, char *const *kept,
                     size_t kept_count, struct arena *arena, struct synonym_use **uses);

/* The words of the stage's line that mean others become clauses with those. */
void synonyms_expand(const struct synonyms *synonyms, char *const *kept, size_t kept_count,
                     Torg__V1__QueryStage *stage, struct arena *arena);

/* Adds what was expanded to the `understood` of an answer. */
void synonyms_tell(const struct synonyms *synonyms, const char *line, char *const *kept,
                   size_t kept_count, struct arena *arena,
                   Torg__V1__SearchOffersResponse *response);

/* --- words --- */

/* How words are compared: without case and endings, one blank between them. */
const char *synonym_key(struct bytes text, struct arena *arena);
/* Whether the table has the second as another of the first, or an operator has refused that. */
bool synonyms_decided(const struct synonyms *synonyms, const char *from, const char *to,
                      struct arena *arena);

#endif

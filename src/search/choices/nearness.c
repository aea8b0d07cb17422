/* SPDX-License-Identifier: Apache-2.0 */
/* nearness.c - see nearness.h. */
#include "search/choices/nearness.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "catalog/thing_words.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "index/text/analysis.h"
#include "index/text/unit.h"
#include "model/offer_fields.h"
#include "search/choices/choices.h"
#include "search/words/brands.h"

/* A longer text says by its words what is meant, and each phrase has positions to be read. */
enum { WORD_COUNT_MAX = 7, UNIT_LETTER_MAX = 4 };

static const float phrase_boost = 0.2F, form_boost = 0.1F, prefer_boost = 0.3F, head_boost = 0.4F,
                   gerund_boost = 0.3F, number_boost = 0.2F, value_boost = 0.3F;

/* At the end of the stage's clauses. */
static Torg__V1__TextClause *add_bonus(Torg__V1__QueryStage *stage, Torg__V1__TextClause__Kind kind,
                                       char *text, float boost, struct arena *arena)
{
    static char *const title[] = {OFFER_FIELD_TITLE};
    Torg__V1__TextClause *clause = MESSAGE_NEW(text_clause, arena), **grown;

    clause->occur = TORG__V1__TEXT_CLAUSE__OCCUR__BONUS;
    clause->kind = kind;
    clause->text = text;
    clause->boost = boost;
    if (kind == TORG__V1__TEXT_CLAUSE__KIND__EXACT) {
        clause->fields = (char **)title;
        clause->n_fields = ARRAY_COUNT(title);
    }
    grown = arena_array(arena, stage->n_clauses + 1, sizeof(*grown));
    if (stage->n_clauses)
        memcpy(grown, stage->clauses, stage->n_clauses * sizeof(*grown));
    grown[stage->n_clauses++] = clause;
    stage->clauses = grown;
    return clause;
}

/* Only of what the composer says of the offer: its head, category and attributes. */
static void add_said(Torg__V1__QueryStage *stage, Torg__V1__TextClause__Kind kind, char *text,
                     float boost, struct arena *arena)
{
    static char *const fields[] = {OFFER_FIELD_WORDS};
    Torg__V1__TextClause *clause = add_bonus(stage, kind, text, boost, arena);

    clause->fields = (char **)fields;
    clause->n_fields = ARRAY_COUNT(fields);
}

/* How many there are; more than WORD_COUNT_MAX are not counted. */
static size_t split(char *text, char *words[WORD_COUNT_MAX + 1])
{
    size_t count = 0;
    char *rest = text;

    for (char *word = strsep(&rest, " "); word && count <= WORD_COUNT_MAX;
         word = strsep(&rest, " ")) {
        if (*word)
            words[count++] = word;
    }
    return count;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool ends_in_digit(const char *word)
{
    return is_digit((uint8_t)word[strlen(word) - 1]);
}

/* Forms of Russian words tell things apart (студия, студию); whether an English one is typed as a
 * plural says nothing ("blade for lawn mowers"). A unit tells the language of the title: "128 ГБ"
 * finds 128 GB as well. */
static bool has_forms(const char *word, bool is_behind_number)
{
    size_t size = strlen(word);

    if ((uint8_t)word[0] >= 0xD0)
        return size > 4 || is_behind_number;
    return is_behind_number && size <= UNIT_LETTER_MAX && !ends_in_digit(word);
}

/* English things that are named by what they are made for, and stem as another thing: "decking" is
 * no deck, "flooring" no floor. */
static bool is_gerund(const char *word)
{
    enum { SIZE_MIN = 6 };
    size_t size = strlen(word);

    return size >= SIZE_MIN && strcasecmp(word + size - 3, "ing") == 0;
}

/* "1.28 gallon" is searched as a quantity, "4x8" as sizes: of offers that have neither, those with
 * the numbers come first. */
static void add_numbers(const char *text, Torg__V1__QueryStage *stage, struct arena *arena)
{
    static const char signs[] = "0123456789./";

    for (const char *at = text; *at; at += strcspn(at, " x")) {
        size_t size = strspn(at += strcspn(at, "0123456789"), signs);

        if (size && at[size])
            add_bonus(stage, TORG__V1__TEXT_CLAUSE__KIND__WORD,
                      arena_printf(arena, "%.*s", (int)size, at), number_boost, arena);
    }
}

/* Makers' names in the other script: "найк" may be a synonym of the category, and Nike's are
 * meant. */
static void add_brands(char *const *words, size_t count, Torg__V1__QueryStage *stage,
                       struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const char *other = brand_other(bytes_of(words_fold_name(bytes_of(words[i]), arena)));

        if (other)
            nearness_prefer(other, stage, arena);
    }
}

void nearness_add(const char *text, bool is_whole, Torg__V1__QueryStage *stage, struct arena *arena)
{
    char *words[WORD_COUNT_MAX + 1];
    size_t count = split(arena_strdup(arena, text), words);

    if (count > WORD_COUNT_MAX || text_has_signs(text))
        return;
    add_brands(words, count, stage, arena);
    for (size_t i = 0; i + 1 < count && is_whole; i++)
        add_bonus(stage, TORG__V1__TEXT_CLAUSE__KIND__PHRASE,
                  arena_printf(arena, "%s %s", words[i], words[i + 1]), phrase_boost, arena);
    for (size_t i = 0; i < count; i++) {
        if (has_forms(words[i], i > 0 && ends_in_digit(words[i - 1])))
            add_bonus(stage, TORG__V1__TEXT_CLAUSE__KIND__EXACT, words[i], form_boost, arena);
        else if (is_gerund(words[i]))
            add_bonus(stage, TORG__V1__TEXT_CLAUSE__KIND__EXACT, words[i], gerund_boost, arena);
    }
    if (!is_whole)
        add_numbers(text, stage, arena);
}

static bool is_any(struct bytes word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == word.size &&
            strncasecmp(list[i], (const char *)word.data, word.size) == 0)
            return true;
    }
    return false;
}

/* Behind these an English line goes on about something else. */
static bool is_cut(struct bytes word)
{
    static const char *const cuts[] = {"with", "for",     "w/", "w",  "from",  "by",
                                       "to",   "without", "in", "on", "under", "over"};

    return is_any(word, cuts, ARRAY_COUNT(cuts));
}

/* A word of Latin letters alone, long enough to be no unit. */
static bool is_noun(struct bytes word)
{
    enum { LETTERS_MIN = 3 };

    for (size_t i = 0; i < word.size; i++) {
        if ((word.data[i] | 0x20) < 'a' || (word.data[i] | 0x20) > 'z')
            return false;
    }
    return word.size >= LETTERS_MIN;
}

/* Of a noun that only says how large the thing is: "6 foot", "36 inch wide". */
static bool is_measure(struct bytes before, struct bytes word)
{
    static const char *const sides[] = {"wide", "tall", "long", "deep", "high", "thick", "square"};
    uint8_t lower[UNIT_SIZE_MAX];

    if (is_any(word, sides, ARRAY_COUNT(sides)))
        return true;
    if (!before.size || !is_digit(before.data[before.size - 1]) || word.size > sizeof(lower))
        return false;
    for (size_t i = 0; i < word.size; i++)
        lower[i] = word.data[i] | 0x20U;
    return unit_spelling(bytes_make(lower, word.size), false, ANALYSIS_VERSION) != NULL;
}

/* What a line is read into for its head. */
struct heading {
    struct bytes head, former; /* the last noun, and the one before it */
    struct bytes before;       /* the last word */
    size_t noun_count;
};

/* Whether the line goes on about something else from this word on. rest: behind it. */
static bool ends_name(struct heading *heading, struct bytes word, const char *rest)
{
    struct bytes before = heading->before;
    enum inside inside;

    if (!before.size || !is_cut(word) ||
        ((word.data[0] | 0x20) == 'i' && is_digit(before.data[before.size - 1])))
        return false;
    inside = thing_goes_on(before, word, rest);
    if (inside == INSIDE_ENDS && heading->former.size) /* "kitchen sink drop in" */
        heading->head = heading->former;
    return inside != INSIDE_GOES;
}

void nearness_head(const char *text, Torg__V1__QueryStage *stage, struct arena *arena)
{
    struct heading heading = {0};

    if (text_has_signs(text))
        return;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        struct bytes word = bytes_make(at, strcspn(at, " "));

        at += word.size;
        if (ends_name(&heading, word, at))
            break;
        if (word.data[0] >= 0xD0) /* Russian lines begin with it, and end with the model */
            return;
        if (is_noun(word)) {
            heading.noun_count++;
            if (!is_measure(heading.before, word) && !thing_is_finish(heading.before, word, at)) {
                heading.former = heading.head;
                heading.head = word;
            }
        }
        heading.before = word;
    }
    if (heading.noun_count < 2 || !heading.head.size) /* a lone one weighs enough */
        return;
    add_said(stage, TORG__V1__TEXT_CLAUSE__KIND__WORD, arena_text(arena, heading.head), head_boost,
             arena);
}

static bool is_kept(const char *text, char *const *kept, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(kept[i], text) == 0)
            return true;
    }
    return false;
}

/* The first words that are a value's name, as many as there are; NULL: they are none. */
static char *find_value(char *const *words, size_t *count, const struct catalog *catalog,
                        struct arena *arena)
{
    size_t most = *count < CATALOG_VALUE_WORD_MAX ? *count : CATALOG_VALUE_WORD_MAX;

    for (*count = most; *count > 0; --*count) {
        char *text = words[0];

        for (size_t i = 1; i < *count; i++)
            text = arena_printf(arena, "%s %s", text, words[i]);
        if (catalog_has_value(catalog, bytes_of(text), arena))
            return text;
    }
    *count = 1;
    return NULL;
}

void nearness_values(const char *text, const struct catalog *catalog, char *const *kept,
                     size_t kept_count, Torg__V1__QueryStage *stage, struct arena *arena)
{
    char *words[WORD_COUNT_MAX + 1];
    size_t count = split(arena_strdup(arena, text), words), used;

    if (count > WORD_COUNT_MAX || text_has_signs(text))
        return;
    for (size_t i = 0; i < count; i += used) {
        char *value;

        used = count - i;
        value = find_value(&words[i], &used, catalog, arena);
        if (value && !is_kept(value, kept, kept_count))
            add_said(stage,
                     used > 1 ? TORG__V1__TEXT_CLAUSE__KIND__PHRASE
                              : TORG__V1__TEXT_CLAUSE__KIND__WORD,
                     value, value_boost, arena);
    }
}

void nearness_prefer(const char *text, Torg__V1__QueryStage *stage, struct arena *arena)
{
    add_bonus(stage, TORG__V1__TEXT_CLAUSE__KIND__WORD, arena_strdup(arena, text), prefer_boost,
              arena);
}

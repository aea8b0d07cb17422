/* SPDX-License-Identifier: Apache-2.0 */
/* title_head.c - see title_head.h. */
#include "documents/title_head.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "catalog/thing_words.h"
#include "catalog/words.h"
#include "index/text/analysis.h"
#include "index/text/unit.h"

enum { WORD_COUNT = 3, LETTERS_MIN = 3, ENDING_SIZE = 4 /* two letters of Cyrillic */ };

/* Behind these an English title goes on about something else. */
static const char *const cuts[] = {"with", "for", "in",        "w/",       "from",
                                   "by",   "to",  "featuring", "includes", "including",
                                   "on",   "at",  "|",         "-",        "–"};

/* Last words that say little without the one before them: "drill driver kit". */
static const char *const vague[] = {"kit",      "set",    "combo", "unit",
                                    "assembly", "system", "pack",  "collection"};

/* Russian words that come before the thing, without their first letter: it may be a capital. */
static const char *const offering[] = {"родам",  "родаю",  "родается", "родаётся", "дам", "даю",
                                       "дается", "даётся", "уплю",     "тдам",     "еняю"};

static bool is_letter(uint8_t byte)
{
    return (byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z';
}

/* Begins with а to я, ё, large or small. */
static bool is_cyrillic(struct bytes word)
{
    return word.size >= 2 && (word.data[0] == 0xD0 || word.data[0] == 0xD1);
}

/* A word of letters alone, "drill/driver" too, long enough to be no unit. */
static bool is_latin(struct bytes word)
{
    size_t count = 0;

    for (size_t i = 0; i < word.size; i++) {
        if (!is_letter(word.data[i]) && word.data[i] != '-' && word.data[i] != '/')
            return false;
        count += is_letter(word.data[i]);
    }
    return count >= LETTERS_MIN;
}

static bool is_digit_last(struct bytes word)
{
    return word.size && word.data[word.size - 1] >= '0' && word.data[word.size - 1] <= '9';
}

static bool is_one_of(struct bytes word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == word.size &&
            strncasecmp(list[i], (const char *)word.data, word.size) == 0)
            return true;
    }
    return false;
}

/* Russian adjectives end so, and few nouns do. */
static bool is_adjective(struct bytes word)
{
    static const char *const endings[] = {"ый", "ий", "ой", "ая", "яя", "ое", "ее", "ые", "ие"};

    if (word.size <= 2 * ENDING_SIZE)
        return false;
    word = bytes_skip(word, word.size - ENDING_SIZE);
    return is_one_of(word, endings, ARRAY_COUNT(endings));
}

static struct bytes next_word(const char **at)
{
    const char *start = *at + strspn(*at, " \t");
    size_t size = strcspn(start, " \t");

    *at = start + size;
    return bytes_make(start, size);
}

/* Without the commas and brackets at its end; whether there were any. */
static bool strip_end(struct bytes *word)
{
    size_t size = word->size;

    while (word->size && strchr(",;:.)]\"", word->data[word->size - 1]))
        word->size--;
    return word->size < size && word->data[word->size] != '.';
}

/* The first noun: Cyrillic titles name the thing at once. */
static const char *first_noun(const char *title, struct arena *arena)
{
    for (const char *at = title; *at;) {
        struct bytes word = next_word(&at);
        bool is_end = strip_end(&word);

        if (word.size >= 2 * LETTERS_MIN && is_cyrillic(word) && !is_adjective(word) &&
            !is_one_of(bytes_skip(word, 2), offering, ARRAY_COUNT(offering)))
            return arena_text(arena, word);
        if (is_end)
            break;
    }
    return "";
}

static bool is_cut(struct bytes word)
{
    return word.data[0] == '(' || word.data[0] == '[' || word.data[0] == '-' ||
           is_one_of(word, cuts, ARRAY_COUNT(cuts));
}

/* The unit of the number before it: "50 Feet", "4 Pack". */
static bool is_unit(struct bytes word)
{
    uint8_t lower[UNIT_SIZE_MAX];

    if (word.size > sizeof(lower))
        return false;
    for (size_t i = 0; i < word.size; i++)
        lower[i] = word.data[i] | 0x20U;
    return unit_spelling(bytes_make(lower, word.size), false, ANALYSIS_VERSION) != NULL;
}

/* The last words of a name, as they were read. */
struct name {
    struct bytes words[WORD_COUNT]; /* the last one last */
};

static struct bytes name_last(const struct name *name)
{
    return name->words[WORD_COUNT - 1];
}

/* is_apart: it does not stand beside the one before it. */
static void name_add(struct name *name, struct bytes word, bool is_apart)
{
    name->words[0] = is_apart ? BYTES_EMPTY : name->words[1];
    name->words[1] = is_apart ? BYTES_EMPTY : name_last(name);
    name->words[WORD_COUNT - 1] = word;
}

static void name_drop(struct name *name)
{
    if (!name->words[1].size)
        return;
    name->words[WORD_COUNT - 1] = name->words[1];
    name->words[1] = name->words[0];
    name->words[0] = BYTES_EMPTY;
}

static const char *name_put(const struct name *name, struct arena *arena)
{
    char *head = "";

    for (size_t i = !is_one_of(name_last(name), vague, ARRAY_COUNT(vague)); i < WORD_COUNT; i++) {
        if (name->words[i].size)
            head = arena_printf(arena, "%s%s%.*s", head, *head ? " " : "", (int)name->words[i].size,
                                (const char *)name->words[i].data);
    }
    return head;
}

/* Whether the title goes on about something else from this word on. */
static bool ends_name(struct name *name, struct bytes before, struct bytes word, const char *rest)
{
    bool is_behind_number = is_digit_last(before);
    enum inside inside;

    if (!name_last(name).size || !is_cut(word) || (is_behind_number && word.data[0] == 'i'))
        return false;
    inside = thing_goes_on(before, word, rest);
    if (inside == INSIDE_ENDS) /* "Sink Drop in" */
        name_drop(name);
    return inside != INSIDE_GOES;
}

/* The last words before what the thing has, or is for; how it looks is left out at the end. */
static const char *last_words(const char *title, struct arena *arena)
{
    struct name name = {0}, plain = {0}; /* plain: before the finishes at its end */
    struct bytes before = BYTES_EMPTY;
    bool is_apart = false, is_end = false, is_finish = false;

    for (const char *at = title; *at && !is_end;) {
        struct bytes word = next_word(&at);
        bool is_behind_number = is_digit_last(before);

        if (!word.size || ends_name(&name, before, word, at))
            break;
        is_end = strip_end(&word) && name_last(&name).size;
        if (!is_latin(word) || (is_behind_number && is_unit(word))) {
            is_apart = true;
        } else {
            if (!is_finish)
                plain = name;
            is_finish = thing_is_finish(before, word, is_end ? "" : at);
            name_add(&name, word, is_apart);
            is_apart = false;
        }
        before = word;
    }
    return name_put(is_finish && name_last(&plain).size ? &plain : &name, arena);
}

const char *title_head(const char *title, struct arena *arena)
{
    const char *head = "";

    for (const char *at = title; *at; at++) {
        if (is_cyrillic(bytes_make(at, strlen(at)))) {
            head = first_noun(title, arena);
            break;
        }
    }
    return *head ? head : last_words(title, arena); /* "Huawei nova 11 128 ГБ" */
}

const char *head_thing(const char *head)
{
    const char *last = strrchr(head, ' ');

    if (!last || is_one_of(bytes_of(last + 1), vague, ARRAY_COUNT(vague)))
        return head;
    return last + 1;
}

/* Whether a word of the name is this one, in another number: "bicycles", bicycle. */
static bool is_named(struct bytes word, const char *folded_name)
{
    enum { SIZE_MIN = 4, ENDING_MAX = 2 };
    const char *rest = folded_name;
    struct bytes each;

    while (words_next(&rest, &each)) {
        struct bytes root = words_root(each);

        if (root.size >= SIZE_MIN && bytes_begin(word, root) && word.size <= root.size + ENDING_MAX)
            return true;
        /* "shoes", shoe: their root is shorter than either */
        if (each.size >= SIZE_MIN && word.size >= SIZE_MIN && bytes_equal(words_root(word), root))
            return true;
    }
    return false;
}

const char *head_by_category(const char *head, const char *title, const char *name,
                             struct arena *arena)
{
    const char *folded = words_fold(bytes_of(name), arena);
    const char *rest = words_fold(bytes_of(head), arena), *named = NULL;
    struct bytes word, before = BYTES_EMPTY;

    while (words_next(&rest, &word)) {
        if (is_cyrillic(word) || is_named(word, folded))
            return head;
    }
    rest = words_fold(bytes_of(title), arena);
    while (words_next(&rest, &word) && (!is_one_of(word, cuts, ARRAY_COUNT(cuts)) ||
                                        thing_goes_on(before, word, rest) == INSIDE_GOES)) {
        if (is_named(word, folded))
            named = arena_text(arena, word);
        before = word;
    }
    return named ? named : head;
}

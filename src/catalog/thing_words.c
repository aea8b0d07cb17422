/* SPDX-License-Identifier: Apache-2.0 */
/* thing_words.c - see thing_words.h. */
#include "catalog/thing_words.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* Verbs that are one word with the particle behind them ... */
static const char *const ins[] = {"drop", "built", "build", "walk", "lay", "push",
                                  "blow", "blown", "stab",  "pop",  "all", "recess"};
static const char *const ons[] = {"add", "slip", "stick", "weld", "hang"};
static const char *const tos[] = {"ready", "easy", "push", "peel", "made", "cut"};

/* ... and those that are things as well: "drawer slide in zinc". */
static const char *const thing_ins[] = {"slide", "plug", "screw", "snap", "clip", "bolt", "roll"};
static const char *const thing_ons[] = {"clip",  "bolt", "screw", "snap",  "spray", "roll", "brush",
                                        "wipe",  "iron", "press", "push",  "strap", "tie",  "twist",
                                        "clamp", "glue", "lock",  "slide", "hook",  "pull", "plug",
                                        "click", "spin", "rub",   "thread"};

/* What is one word with the particle before it: "in wall speaker", "on demand heater". */
static const char *const in_what[] = {"wall", "ceiling", "ground", "line",
                                      "ear",  "dash",    "desk",   "counter"};
static const char *const on_what[] = {"demand"};

static const char *const prepositions[] = {"with", "for",     "in", "from", "by",   "to",
                                           "on",   "without", "at", "over", "under"};

static const char *const finishes[] = {
    "white",   "black",     "brown",     "gray",   "grey",       "red",      "blue",   "green",
    "yellow",  "orange",    "purple",    "pink",   "beige",      "ivory",    "almond", "bisque",
    "biscuit", "tan",       "navy",      "gold",   "silver",     "bronze",   "brass",  "chrome",
    "nickel",  "pewter",    "copper",    "zinc",   "galvanized", "espresso", "walnut", "cherry",
    "maple",   "mahogany",  "oak",       "slate",  "taupe",      "teal",     "cream",  "burgundy",
    "clear",   "turquoise", "stainless", "finish", "color",      "colour"};
static const char *const finish_before[] = {
    "brushed",    "polished", "satin", "matte",    "matt",       "antique",
    "oil",        "rubbed",   "dark",  "venetian", "oil-rubbed", "vintage",
    "distressed", "aged",     "pure",  "metallic", "bright",     "weathered"};

static bool is_word(struct bytes word, const char *text)
{
    return strlen(text) == word.size && strncasecmp(text, (const char *)word.data, word.size) == 0;
}

static bool is_any(struct bytes word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_word(word, list[i]))
            return true;
    }
    return false;
}

static bool is_letter(uint8_t byte)
{
    return (byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z';
}

/* Letters alone, three at least, and maybe a comma behind them: no number and no unit. */
static bool is_name(struct bytes word)
{
    enum { LETTERS_MIN = 3 };
    size_t count = 0;

    if (!word.size || word.data[0] == '-')
        return false;
    while (count < word.size && (is_letter(word.data[count]) || word.data[count] == '-'))
        count++;
    return count >= LETTERS_MIN && (count == word.size || word.data[count] == ',');
}

static struct bytes next_word(const char **rest)
{
    const char *start = *rest + strspn(*rest, " \t");
    size_t size = strcspn(start, " \t");

    *rest = start + size;
    return bytes_make(start, size);
}

/* How many words that may be of a name follow before the next preposition; finishes and numbers
 * are passed by. */
static size_t count_names(const char *rest)
{
    struct bytes before = BYTES_EMPTY;
    size_t count = 0;

    for (;;) {
        struct bytes word = next_word(&rest);

        if (!word.size || word.data[0] == '(' ||
            is_any(word, prepositions, ARRAY_COUNT(prepositions)))
            return count;
        if (is_name(word) && !is_word(word, "the") && !thing_is_finish(before, word, rest)) {
            count++;
            if (word.data[word.size - 1] == ',')
                return count;
        }
        before = word;
    }
}

enum inside thing_goes_on(struct bytes before, struct bytes preposition, const char *rest)
{
    const char *at = rest;
    struct bytes after = next_word(&at);
    size_t names = count_names(rest);
    bool is_to = is_word(preposition, "to"), is_in = is_word(preposition, "in");
    bool is_on = is_word(preposition, "on");

    if (is_word(preposition, "over") || is_word(preposition, "under")) /* "over the range hood" */
        return names > 1 ? INSIDE_GOES : INSIDE_NOT;
    if (before.size && before.size == after.size &&
        strncasecmp((const char *)before.data, (const char *)after.data, after.size) == 0)
        return names > 1 ? INSIDE_GOES : INSIDE_ENDS; /* "wall to wall carpet" */
    if ((is_in && is_any(before, ins, ARRAY_COUNT(ins))) ||
        (is_on && is_any(before, ons, ARRAY_COUNT(ons))) ||
        (is_to && is_any(before, tos, ARRAY_COUNT(tos))))
        return names > is_to ? INSIDE_GOES : INSIDE_ENDS; /* "ready to assemble cabinet" */
    if ((is_in && is_any(before, thing_ins, ARRAY_COUNT(thing_ins))) ||
        (is_on && is_any(before, thing_ons, ARRAY_COUNT(thing_ons))))
        return names && is_name(after) && !thing_is_finish(before, after, at) ? INSIDE_GOES
                                                                              : INSIDE_NOT;
    if ((is_in && is_any(after, in_what, ARRAY_COUNT(in_what))) ||
        (is_on && is_any(after, on_what, ARRAY_COUNT(on_what))))
        return names > 1 ? INSIDE_GOES : INSIDE_NOT;
    return INSIDE_NOT;
}

bool thing_is_finish(struct bytes before, struct bytes word, const char *rest)
{
    struct bytes after;

    while (word.size && word.data[word.size - 1] == ',')
        word.size--;
    if (is_any(word, finishes, ARRAY_COUNT(finishes)))
        return true;
    if (is_word(word, "steel"))
        return is_word(before, "stainless");
    if (!is_any(word, finish_before, ARRAY_COUNT(finish_before)))
        return false;
    after = next_word(&rest);
    return after.size && thing_is_finish(word, after, rest);
}

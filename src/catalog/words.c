/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - see words.h. */
#include "catalog/words.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { TWO_BYTES = 0x80, THREE_BYTES = 0x800, FOUR_BYTES = 0x10000, CONTINUATION = 0x80 };

/* The code point at the start of valid UTF-8, and how many bytes it has. */
static uint32_t decode(const uint8_t *at, size_t *size)
{
    if (at[0] < 0x80) {
        *size = 1;
        return at[0];
    }
    if (at[0] < 0xe0) {
        *size = 2;
        return (uint32_t)(at[0] & 0x1f) << 6 | (at[1] & 0x3f);
    }
    if (at[0] < 0xf0) {
        *size = 3;
        return (uint32_t)(at[0] & 0x0f) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
    }
    *size = 4;
    return (uint32_t)(at[0] & 0x07) << 18 | (uint32_t)(at[1] & 0x3f) << 12 |
           (uint32_t)(at[2] & 0x3f) << 6 | (at[3] & 0x3f);
}

static size_t encode(uint32_t point, char *to)
{
    if (point < TWO_BYTES) {
        to[0] = (char)point;
        return 1;
    }
    if (point < THREE_BYTES) {
        to[0] = (char)(0xc0 | point >> 6);
        to[1] = (char)(CONTINUATION | (point & 0x3f));
        return 2;
    }
    if (point < FOUR_BYTES) {
        to[0] = (char)(0xe0 | point >> 12);
        to[1] = (char)(CONTINUATION | (point >> 6 & 0x3f));
        to[2] = (char)(CONTINUATION | (point & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | point >> 18);
    to[1] = (char)(CONTINUATION | (point >> 12 & 0x3f));
    to[2] = (char)(CONTINUATION | (point >> 6 & 0x3f));
    to[3] = (char)(CONTINUATION | (point & 0x3f));
    return 4;
}

/* Every fold keeps the number of bytes, or lessens it. */
static uint32_t fold(uint32_t point)
{
    if (point >= 'A' && point <= 'Z')
        return point + 0x20;
    if (point >= 0xc0 && point <= 0xde && point != 0xd7) /* À … Þ */
        return point + 0x20;
    if (point >= 0x100 && point <= 0x137) /* Ā ā … : pairs, the even one is the capital */
        return point | 1;
    if (point >= 0x410 && point <= 0x42f) /* А … Я */
        return point + 0x20;
    if (point == 0x401 || point == 0x451) /* Ё, ё: written as е more often than not */
        return 0x435;
    if (point >= 0x400 && point <= 0x40f) /* Ѐ … Џ */
        return point + 0x50;
    return point;
}

static bool is_word_part(uint32_t point)
{
    if (point < 0x80)
        return (point >= '0' && point <= '9') || (point >= 'a' && point <= 'z');
    if (point < 0xc0) /* signs of Latin-1 */
        return point == 0xaa || point == 0xb5 || point == 0xba;
    return point != 0xd7 && point != 0xf7 && !(point >= 0x2000 && point <= 0x2bff) &&
           !(point >= 0x3000 && point <= 0x303f);
}

char *words_fold(struct bytes text, struct arena *arena)
{
    char *folded = arena_alloc(arena, text.size + 1);
    size_t used = 0;
    size_t step;

    for (size_t at = 0; at < text.size; at += step) {
        uint32_t point = fold(decode(text.data + at, &step));

        if (is_word_part(point))
            used += encode(point, folded + used);
        else if (used && folded[used - 1] != ' ')
            folded[used++] = ' ';
    }
    if (used && folded[used - 1] == ' ')
        used--;
    folded[used] = 0;
    return folded;
}

char *words_fold_name(struct bytes name, struct arena *arena)
{
    char *folded = arena_alloc(arena, name.size + 1);
    size_t used = 0;
    size_t step;

    for (size_t at = 0; at < name.size; at += step)
        used += encode(fold(decode(name.data + at, &step)), folded + used);
    folded[used] = 0;
    return folded;
}

bool words_next(const char **rest, struct bytes *word)
{
    size_t size;

    if (!**rest)
        return false;
    size = strcspn(*rest, " ");
    *word = bytes_make(*rest, size);
    *rest += size + ((*rest)[size] == ' ');
    return true;
}

static bool ends_in(struct bytes word, const char *ending)
{
    size_t size = strlen(ending);

    return word.size >= size && memcmp(word.data + word.size - size, ending, size) == 0;
}

static struct bytes without_last(struct bytes word)
{
    enum { ROOT_SIZE_MIN = 3 };

    return bytes_make(word.data, word.size - (word.size > ROOT_SIZE_MIN));
}

/* Of an English word: "stoves" is stove, and "glass" glass. An -es behind these letters may be of a
 * word with an e or without: "shoes" and "shoe" are sho, "tomatoes" is tomato as "tomato" is. */
static struct bytes without_plural(struct bytes word)
{
    static const char *const unclear[] = {"se", "xe", "ze", "che", "she", "oe"};

    if (ends_in(word, "s") && !ends_in(word, "ss"))
        word = without_last(word);
    for (size_t i = 0; i < ARRAY_COUNT(unclear); i++) {
        if (ends_in(word, unclear[i]))
            return without_last(word);
    }
    return word;
}

struct bytes words_root(struct bytes word)
{
    /* longer ones first; the root keeps three letters */
    enum { LETTER_SIZE = 2 };
    static const char *const endings[] = {
        "иями", "ями", "ами", "иях", "ого", "ему", "ому", "ыми", "ими", "ией", "ах",
        "ях",   "ов",  "ев",  "ей",  "ой",  "ий",  "ый",  "ая",  "яя",  "ое",  "ее",
        "ые",   "ие",  "ых",  "их",  "ую",  "юю",  "ам",  "ям",  "ом",  "ем",  "ия",
        "ию",   "ии",  "а",   "я",   "ы",   "и",   "у",   "ю",   "е",   "о",   "ь"};

    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        struct bytes ending = bytes_of(endings[i]);

        if (word.size >= ending.size + 3 * LETTER_SIZE &&
            memcmp(word.data + word.size - ending.size, ending.data, ending.size) == 0)
            return bytes_make(word.data, word.size - ending.size);
    }
    return without_plural(word);
}

uint64_t words_key(const char *folded)
{
    const char *rest = folded;
    uint64_t key = 0;
    struct bytes word;

    while (words_next(&rest, &word))
        key += hash64(words_root(word));
    return key;
}

size_t text_length(struct bytes text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++)
        count += (text.data[i] & 0xc0) != CONTINUATION;
    return count;
}

struct bytes text_front(struct bytes text, size_t length_max)
{
    size_t end = 0;   /* behind the characters that fit */
    size_t blank = 0; /* behind the last whole word of them */
    size_t count = 0;

    for (; end < text.size; end++) {
        bool begins = (text.data[end] & 0xc0) != CONTINUATION;

        if (begins && text.data[end] == ' ')
            blank = end;
        if (begins && count++ == length_max)
            break;
    }
    if (end < text.size && blank)
        end = blank;
    while (end && strchr(" ,;:-", text.data[end - 1]))
        end--;
    return bytes_make(text.data, end);
}

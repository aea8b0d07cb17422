/* SPDX-License-Identifier: Apache-2.0 */
/* letters.c - see letters.h. */
#include "spell/letters.h"

#include "index/text/unicode.h"

enum { CYRILLIC_FIRST = 0x430, CYRILLIC_CAPITAL = 0x410, CYRILLIC_BASE_COUNT = 32 };

/* A token as it is read: what has been seen of it. */
struct reading {
    struct letters letters;
    bool has_latin, has_cyrillic, has_other;
    bool is_capital, has_small;
    unsigned letter_count;
};

static uint8_t to_letter(uint32_t code)
{
    if (code >= 'a' && code <= 'z')
        return (uint8_t)code;
    if (code >= CYRILLIC_FIRST && code < CYRILLIC_FIRST + LETTER_END - LETTER_CYRILLIC)
        return (uint8_t)(code - CYRILLIC_FIRST + LETTER_CYRILLIC);
    return 0;
}

static void take_folded(struct reading *reading, uint32_t code)
{
    uint8_t letter = to_letter(code);

    if (!letter || reading->letter_count >= SPELL_WORD_SIZE_MAX) {
        reading->has_other = true;
        return;
    }
    reading->letters.at[reading->letter_count++] = letter;
    if (letter_is_cyrillic(letter))
        reading->has_cyrillic = true;
    else
        reading->has_latin = true;
}

static bool is_big(uint32_t code)
{
    return (code >= 'A' && code <= 'Z') ||
           (code >= CYRILLIC_CAPITAL - 0x10 && code < CYRILLIC_FIRST);
}

/* True if the code point belongs to the token. */
static bool take_letter(struct reading *reading, uint32_t code)
{
    struct folded folded[UNICODE_FOLD_COUNT_MAX];
    size_t count = unicode_fold(code, folded);
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        switch (folded[i].class) {
        case CHAR_LETTER:
            if (!is_big(code))
                reading->has_small = true;
            else if (reading->letter_count == 0)
                reading->is_capital = true;
            take_folded(reading, folded[i].code);
            any = true;
            break;
        case CHAR_DIGIT:
        case CHAR_MARK:
        case CHAR_IDEOGRAPH:
            reading->has_other = true;
            any = true;
            break;
        case CHAR_ACCENT:
        case CHAR_IGNORE:
        case CHAR_APOSTROPHE:
            any = true;
            break;
        default:
            return false;
        }
    }
    return any;
}

static bool is_word_start(uint32_t code)
{
    struct folded folded[UNICODE_FOLD_COUNT_MAX];
    size_t count = unicode_fold(code, folded);

    return count > 0 && (folded[0].class == CHAR_LETTER || folded[0].class == CHAR_DIGIT ||
                         folded[0].class == CHAR_IDEOGRAPH);
}

/* Moves to the next word; tells what lay between. */
static enum gap skip_gap(struct bytes text, size_t *at)
{
    const uint8_t *end = text.data + text.size;
    unsigned blanks = 0, hyphens = 0, others = 0;

    while (*at < text.size) {
        uint32_t code;
        size_t step = unicode_decode(text.data + *at, end, &code);

        if (is_word_start(code))
            break;
        blanks += code == ' ';
        hyphens += code == '-';
        others += code != ' ' && code != '-';
        *at += step;
    }
    if (others || blanks + hyphens != 1)
        return GAP_FAR;
    return blanks ? GAP_BLANK : GAP_HYPHEN;
}

bool letters_next(struct bytes text, size_t *at, struct spell_token *token)
{
    const uint8_t *end = text.data + text.size;
    struct reading reading = {.letter_count = 0};
    size_t start, word_end;

    token->gap = (uint8_t)skip_gap(text, at);
    start = word_end = *at;
    while (*at < text.size) {
        uint32_t code;
        size_t step = unicode_decode(text.data + *at, end, &code);
        struct reading before = reading;

        if (!take_letter(&reading, code)) {
            reading = before;
            break;
        }
        *at += step;
        if (is_word_start(code))
            word_end = *at; /* apostrophes at the end are not the word's */
    }
    if (start == *at)
        return false;
    *at = word_end;
    token->start = (uint32_t)start;
    token->size = (uint32_t)(word_end - start);
    token->letters = reading.letters;
    token->letters.size = (uint8_t)reading.letter_count;
    if (reading.has_other || (reading.has_latin && reading.has_cyrillic))
        token->letters.size = 0;
    token->is_capital = reading.is_capital;
    token->is_upper = reading.is_capital && !reading.has_small && reading.letter_count > 1;
    return true;
}

void letters_print(const struct letters *letters, bool is_capital, bool is_upper, struct buf *out)
{
    for (unsigned i = 0; i < letters->size; i++) {
        uint8_t letter = letters->at[i];
        bool big = is_upper || (is_capital && i == 0);
        uint8_t utf8[UNICODE_UTF8_SIZE_MAX];
        uint32_t code = letter;

        if (letter_is_cyrillic(letter)) {
            unsigned order = letter - LETTER_CYRILLIC;

            code = CYRILLIC_FIRST + order;
            if (big)
                code = order < CYRILLIC_BASE_COUNT ? CYRILLIC_CAPITAL + order : code - 0x50;
        } else if (big && letter >= 'a' && letter <= 'z') {
            code = letter - 'a' + 'A';
        }
        buf_put_raw(out, utf8, unicode_encode(code, utf8));
    }
}

struct letters letters_of(const char *text)
{
    struct letters letters = {.size = 0};
    const uint8_t *at = (const uint8_t *)text;
    const uint8_t *end = at + strlen(text);

    while (at < end) {
        uint32_t code;

        at += unicode_decode(at, end, &code);
        letters_add(&letters, code == '-' ? '-' : to_letter(code));
        if (!letters.size || !letters.at[letters.size - 1])
            return (struct letters){.size = 0};
    }
    return letters;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_measure.c - the rules of analysis.h for fractions, signs and letters that are units. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "index/text/analysis_rules.h"
#include "index/text/unit.h"

enum { FRACTION_SIZE_MAX = 2, DIGITS_MAX = 6 };

static bool is_digits(const struct piece *piece)
{
    return piece && piece->kind == PIECE_DIGITS;
}

static unsigned value_of(const struct rules *rules, const struct piece *piece)
{
    unsigned value = 0;

    for (size_t i = 0; i < piece->size; i++)
        value = 10 * value + (unsigned)(rules_form(rules, piece)[i] - '0');
    return value;
}

/* "1/2", or one character that folds to it. */
static bool is_pair(const struct rules *rules, size_t at)
{
    const struct piece *over = rules_piece(rules, at), *under = rules_piece(rules, at + 1);
    const struct piece *after = rules_piece(rules, at + 2);
    unsigned below;

    if (!is_digits(over) || !is_digits(under) || over->size > FRACTION_SIZE_MAX ||
        under->size > FRACTION_SIZE_MAX || (after && (after->gap == '/' || after->gap == '.')))
        return false;
    if (under->gap != '/' && over->start != under->start)
        return false;
    below = value_of(rules, under);
    /* of lengths and sizes; other pairs are floors, dates, scores */
    return (below == 2 || below == 3 || below == 4 || below == 8 || below == 16 || below == 32 ||
            below == 64) &&
           value_of(rules, over) > 0 && value_of(rules, over) < below;
}

bool rules_fraction(const struct rules *rules, size_t at, size_t *end)
{
    const struct piece *piece = rules_piece(rules, at), *next = rules_piece(rules, at + 1);
    size_t behind;

    if (piece->gap == '/' || piece->gap == '.')
        return false;
    if (is_pair(rules, at)) {
        behind = at + 2;
    } else if (piece->size <= FRACTION_SIZE_MAX && is_digits(next) &&
               (next->gap == '-' || next->gap == GAP_BLANK) && is_pair(rules, at + 1)) {
        behind = at + 3;
    } else {
        return false;
    }
    /* "3/4 этаж" */
    next = rules_piece(rules, behind);
    if (next && next->kind == PIECE_LETTERS &&
        bytes_begin(bytes_make(rules_form(rules, next), next->size), bytes_of("эт")))
        return false;
    *end = behind;
    return true;
}

size_t rules_put_fraction(struct rules *rules, size_t at, size_t end, size_t *size)
{
    unsigned whole = end - at == 3 ? value_of(rules, rules_piece(rules, at)) : 0;
    unsigned over = value_of(rules, rules_piece(rules, end - 2));
    unsigned under = value_of(rules, rules_piece(rules, end - 1));
    uint8_t form[2 * FRACTION_SIZE_MAX + DIGITS_MAX];
    size_t used = 0;

    assert(under > 1); /* is_pair has looked */
    if (whole >= 10)
        form[used++] = (uint8_t)('0' + whole / 10);
    form[used++] = (uint8_t)('0' + whole % 10);
    form[used++] = '.';
    for (int i = 0; i < DIGITS_MAX && over > 0; i++) {
        form[used++] = (uint8_t)('0' + over * 10 / under);
        over = over * 10 % under;
    }
    *size = used;
    return rules_put(rules, bytes_make(form, used));
}

/* ---- units ---- */

static struct bytes source_from(const struct rules *rules, size_t at)
{
    return bytes_skip(rules->text, at < rules->text.size ? at : rules->text.size);
}

const char *rules_sign_unit(const struct rules *rules, size_t end)
{
    static const struct {
        const char *sign, *unit;
    } signs[] = {{"\"", "in"}, {"''", "in"}, {"″", "in"}, {"”", "in"},
                 {"′", "ft"},  {"'", "ft"},  {"’", "ft"}};
    struct bytes rest = source_from(rules, rules_piece(rules, end - 1)->end);

    for (size_t i = 0; i < ARRAY_COUNT(signs); i++) {
        struct bytes sign = bytes_of(signs[i].sign);

        if (!bytes_begin(rest, sign))
            continue;
        rest = bytes_skip(rest, sign.size);
        /* "90's", "5'11" */
        return rest.size == 0 || signs[i].unit[0] == 'i' ||
                       !(((rest.data[0] | 0x20) >= 'a' && (rest.data[0] | 0x20) <= 'w') ||
                         (rest.data[0] >= '0' && rest.data[0] <= '9') || rest.data[0] >= 0x80)
                   ? signs[i].unit
                   : NULL;
    }
    return NULL;
}

static bool is_usual_voltage(const struct rules *rules, const struct piece *number)
{
    static const unsigned usual[] = {110, 127, 220, 230, 240, 380};

    if (number->size != 3)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(usual); i++) {
        if (value_of(rules, number) == usual[i])
            return true;
    }
    return false;
}

bool rules_stands_alone(const struct rules *rules, size_t number, size_t unit)
{
    const struct piece *piece = rules_piece(rules, unit), *next = rules_piece(rules, unit + 1);
    struct bytes source = source_from(rules, piece->start);
    bool is_dotted = bytes_begin(source_from(rules, piece->end), bytes_of("."));

    if (rules_is_word(rules, piece, "in")) /* not "4 in 1", "2015 in Moscow" */
        return is_dotted || (rules_piece(rules, number)->size <= 3 && !is_digits(next));
    if (!rules_is_word(rules, piece, "в") && !rules_is_word(rules, piece, "v") &&
        !rules_is_word(rules, piece, "w"))
        return false;
    if (!next || (next->gap != GAP_BLANK && next->gap != GAP_THIN))
        return true;
    return source.data[0] == 'V' || source.data[0] == 'W' || bytes_begin(source, bytes_of("В")) ||
           is_usual_voltage(rules, rules_piece(rules, number));
}

bool rules_is_power(const struct rules *rules, size_t at)
{
    static const char *const lengths[] = {"м", "m", "см", "cm", "мм", "mm"};
    const struct piece *piece = rules_piece(rules, at), *next = rules_piece(rules, at + 1);
    const struct piece *after = rules_piece(rules, at + 2);
    const struct piece *before = at > 0 ? rules_piece(rules, at - 1) : NULL;
    bool is_length = false;

    if (rules->version < 2 || !piece || piece->kind != PIECE_LETTERS || !is_digits(next) ||
        next->gap != GAP_TIGHT || next->size != 1 || (after && after->gap == GAP_TIGHT) ||
        (rules_form(rules, next)[0] != '2' && rules_form(rules, next)[0] != '3'))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(lengths); i++)
        is_length = is_length || rules_is_word(rules, piece, lengths[i]);
    /* a small digit, or a plain one behind a number: "BMW M3" is none */
    return is_length && (source_from(rules, next->start).data[0] == 0xC2 ||
                         (is_digits(before) && piece->gap != '-'));
}

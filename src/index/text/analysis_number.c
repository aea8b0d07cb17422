/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_number.c - the rules of analysis.h for what begins with a digit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/bounds.h"
#include "index/text/analysis_rules.h"
#include "index/text/unit.h"

enum { THOUSANDS_SIZE = 3, YEAR_SIZE = 4 };

struct number {
    size_t at, end; /* pieces */
    size_t form, form_size;
};

static bool is_digits(const struct piece *piece)
{
    return piece && piece->kind == PIECE_DIGITS;
}

static bool is_point(const struct piece *piece)
{
    return is_digits(piece) && (piece->gap == '.' || piece->gap == ',');
}

static bool begins_thousands(const struct rules *rules, const struct piece *piece)
{
    return piece->size <= THOUSANDS_SIZE && rules_form(rules, piece)[0] != '0';
}

/* The end of the digits that points or commas join. */
static size_t pointed_end(const struct rules *rules, size_t at)
{
    size_t end = at + 1;

    while (is_point(rules_piece(rules, end)))
        end++;
    return end;
}

static bool are_thousands(const struct rules *rules, size_t at, size_t end)
{
    if (!begins_thousands(rules, rules_piece(rules, at)))
        return false;
    for (size_t i = at + 1; i < end; i++) {
        if (rules_piece(rules, i)->size != THOUSANDS_SIZE ||
            rules_piece(rules, i)->gap != rules_piece(rules, at + 1)->gap)
            return false;
    }
    return true;
}

/* "10,000": of two groups that a comma joins the second is of three digits. */
static bool is_comma_thousands(const struct rules *rules, size_t at)
{
    return rules->version > 2 && rules_piece(rules, at + 1)->gap == ',' &&
           are_thousands(rules, at, at + 2);
}

/* The end of thousands that blanks join. Blanks also part numbers ("iphone 15 128"), so a plain
 * one joins only what ends in 000; one that does not break a line was put there to join. */
static size_t blank_thousands_end(const struct rules *rules, size_t at)
{
    const struct piece *piece = rules_piece(rules, at);
    bool all_thin = true;
    size_t end = at + 1;

    if (piece->gap == GAP_TIGHT || !begins_thousands(rules, piece))
        return end;
    for (size_t i = at + 1; i - at < TOKEN_SIZE_MAX / THOUSANDS_SIZE; i++) {
        piece = rules_piece(rules, i);
        if (!is_digits(piece) || piece->size != THOUSANDS_SIZE ||
            (piece->gap != GAP_BLANK && piece->gap != GAP_THIN))
            break;
        all_thin = all_thin && piece->gap == GAP_THIN;
        if (!is_point(rules_piece(rules, i + 1)) &&
            (all_thin || memcmp(rules_form(rules, piece), "000", THOUSANDS_SIZE) == 0))
            end = i + 1;
    }
    return end;
}

/* The groups [at, end) as one number, with what stands between them. */
static void join(struct rules *rules, struct bytes between, struct number *number)
{
    uint8_t form[TOKEN_SIZE_MAX];
    size_t size = 0;

    for (size_t i = number->at; i < number->end; i++) {
        const struct piece *piece = rules_piece(rules, i);
        size_t gap_size = i > number->at ? between.size : 0;

        memcpy(form + size, between.data, gap_size);
        memcpy(form + size + gap_size, rules_form(rules, piece), piece->size);
        size += gap_size + piece->size;
    }
    number->form = rules_put(rules, bytes_make(form, size));
    number->form_size = size;
}

static bool fits(const struct rules *rules, size_t at, size_t end)
{
    size_t size = 0;

    for (size_t i = at; i < end && size <= TOKEN_SIZE_MAX; i++)
        size += rules_piece(rules, i)->size + 1U;
    return size <= TOKEN_SIZE_MAX;
}

static struct number number_at(struct rules *rules, size_t at)
{
    const struct piece *piece = rules_piece(rules, at);
    struct number number = {at, at + 1, piece->form, piece->size};
    size_t end = pointed_end(rules, at);
    /* The third part of a date or an address is no decimal with the second. */
    bool is_part = is_point(piece) && at > 0 && is_digits(rules_piece(rules, at - 1));

    if (rules->version > 1 && rules_fraction(rules, at, &number.end)) {
        number.form = rules_put_fraction(rules, at, number.end, &number.form_size);
        return number;
    }
    if (is_part || !fits(rules, at, end))
        return number;
    if (end == at + 2 && !is_comma_thousands(rules, at)) {
        number.end = end;
        join(rules, bytes_of("."), &number);
        return number;
    }
    if (end == at + 1)
        end = blank_thousands_end(rules, at);
    else if (!are_thousands(rules, at, end))
        return number;
    if (end > at + 1) {
        number.end = end;
        join(rules, bytes_of(""), &number);
    }
    return number;
}

static const char *find_power(const char *square, const char *cube, uint8_t digit)
{
    return digit == '2' ? square : digit == '3' ? cube : NULL;
}

/* Units of two pieces: л.с., кв. м, м2, см3. */
static const char *find_long_unit(const struct rules *rules, const struct piece *first,
                                  const struct piece *second)
{
    bool dotted = second && (second->gap == '.' || second->gap == GAP_DOT_BLANK);
    bool is_power = is_digits(second) && second->gap == GAP_TIGHT && second->size == 1;

    if (rules->version > 1 && second && (dotted || second->gap == GAP_BLANK)) {
        const char *unit = unit_of_two(bytes_make(rules_form(rules, first), first->size),
                                       bytes_make(rules_form(rules, second), second->size));

        if (unit)
            return unit;
    }
    if (dotted && rules_is_word(rules, first, "л") && rules_is_word(rules, second, "с"))
        return "hp";
    if (second && (dotted || second->gap == GAP_BLANK) && rules_is_word(rules, first, "кв") &&
        rules_is_word(rules, second, "м"))
        return "m2";
    if (is_power && (rules_is_word(rules, first, "м") || rules_is_word(rules, first, "m")))
        return find_power("m2", "m3", rules_form(rules, second)[0]);
    if (rules->version < 2 || !is_power)
        return NULL;
    if (rules_is_word(rules, first, "см") || rules_is_word(rules, first, "cm"))
        return find_power("cm2", "cm3", rules_form(rules, second)[0]);
    if (rules_is_word(rules, first, "мм") || rules_is_word(rules, first, "mm"))
        return find_power("mm2", "mm3", rules_form(rules, second)[0]);
    return NULL;
}

/* Whether the word or number that ends before `end` ends there. */
static bool ends_at(const struct rules *rules, size_t end)
{
    const struct piece *next = rules_piece(rules, end);

    return !next ||
           (next->gap != GAP_TIGHT && !is_point(next) && !(next->gap == '-' && is_digits(next)));
}

static bool is_year(const struct rules *rules, const struct number *number)
{
    const uint8_t *form = rules->pieces.forms + number->form;

    return number->form_size == YEAR_SIZE &&
           (memcmp(form, "19", 2) == 0 || memcmp(form, "20", 2) == 0) && form[2] != '.';
}

/* Finds the unit that follows the number, and the first piece behind it. */
static const char *find_unit(const struct rules *rules, const struct number *number, size_t *end)
{
    const struct piece *first = rules_piece(rules, number->end);
    /* "А4 Т-34": the number of a code has no unit behind a blank. */
    bool is_code = rules_piece(rules, number->at)->gap == GAP_TIGHT;
    bool is_near, is_tight;
    const char *unit = rules->version > 1 && !is_code ? rules_sign_unit(rules, number->end) : NULL;

    *end = number->end;
    if (unit)
        return unit;
    if (!first || first->kind != PIECE_LETTERS || (is_code && first->gap != GAP_TIGHT))
        return NULL;
    is_near = first->gap == GAP_BLANK || first->gap == GAP_THIN;
    is_tight = first->gap == GAP_TIGHT || (rules->version > 1 && first->gap == '-');
    if (!is_near && !is_tight)
        return NULL;
    unit = find_long_unit(rules, first, rules_piece(rules, number->end + 1));
    if (unit && ends_at(rules, number->end + 2)) {
        *end = number->end + 2;
        return unit;
    }
    is_tight =
        is_tight || (rules->version > 1 && rules_stands_alone(rules, number->at, number->end));
    unit =
        unit_spelling(bytes_make(rules_form(rules, first), first->size), is_tight, rules->version);
    *end = number->end + 1;
    if (!unit || !ends_at(rules, *end) || (strcmp(unit, "g") == 0 && is_year(rules, number)))
        return NULL;
    return unit;
}

/* How many positions the pieces [from, to) take: a power is one with its unit. */
static unsigned count_positions(const struct rules *rules, size_t from, size_t to)
{
    unsigned count = 0;

    for (size_t i = from; i < to; i++)
        count += i != rules->by && !(i > from && rules_is_power(rules, i - 1));
    return count;
}

/* A whole of these bytes: of the number, and of what ends before the piece `end`. */
static void add_whole(struct rules *rules, const struct number *number, struct bytes form,
                      unsigned span, size_t end)
{
    const struct piece *first = rules_piece(rules, number->at);

    rules_add(rules, rules_put(rules, form), form.size, first->start,
              rules_piece(rules, end - 1)->end,
              (struct mark){TOKEN_QUANTITY, SCRIPT_NONE, rules_joint(first), span});
}

/* The whole of a number and the unit that ends before the piece `end`. */
static void add_quantity(struct rules *rules, const struct number *number, struct bytes unit,
                         size_t end)
{
    size_t size = number->form_size + unit.size;
    uint8_t form[TOKEN_SIZE_MAX];

    if (size > sizeof(form))
        return;
    memcpy(form, rules->pieces.forms + number->form, number->form_size);
    memcpy(form + number->form_size, unit.data, unit.size);
    add_whole(rules, number, bytes_make(form, size), 1 + count_positions(rules, number->end, end),
              end);
}

/* Whether the numbers may be the sizes of one thing: not "3060 x 2". */
static bool are_sizes(const struct number *one, const struct number *two)
{
    enum { LONG_SIZE = 3, SIZE_SIZE_MAX = 8 };
    size_t low = one->form_size < two->form_size ? one->form_size : two->form_size;
    size_t high = one->form_size + two->form_size - low;

    return high <= SIZE_SIZE_MAX && (high <= LONG_SIZE || low > 1 || one->form_size == low);
}

/* The x of sizes, which may be Cyrillic, or "by" before a number. */
static bool is_by(const struct rules *rules, size_t at)
{
    const struct piece *piece = rules_piece(rules, at);

    return piece && (rules_is_word(rules, piece, "x") || rules_is_word(rules, piece, "х") ||
                     (rules->version > 3 && rules_is_word(rules, piece, "by") &&
                      is_digits(rules_piece(rules, at + 1))));
}

/* "24 in. W x 36 in. H": which side it is stands before the x. */
static bool is_side(const struct rules *rules, size_t at)
{
    static const char *const sides[] = {"w", "h", "d", "l", "wide", "high", "deep", "long"};
    const struct piece *piece = rules_piece(rules, at);

    for (size_t i = 0; i < ARRAY_COUNT(sides) && piece && rules->version > 3; i++) {
        if (rules_is_word(rules, piece, sides[i]))
            return is_by(rules, at + 1);
    }
    return false;
}

static bool is_length(const char *unit)
{
    static const char *const lengths[] = {"mm", "cm", "m", "km", "in", "ft", "yd"};

    for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
        if (strcmp(unit, lengths[i]) == 0)
            return true;
    }
    return false;
}

/* An x beside the number before it and apart from the one behind may be the end of a model's name:
 * "5950X 16 GB". Sizes are lengths, or about as long in digits. unit: of the second; NULL: none. */
static bool ends_model(const struct rules *rules, size_t by, const struct number *one,
                       const struct number *two, const char *unit)
{
    if (rules->version < 5 || rules_piece(rules, by)->gap != GAP_TIGHT ||
        rules_piece(rules, by + 1)->gap == GAP_TIGHT)
        return false;
    return unit ? !is_length(unit) : one->form_size > two->form_size + 1;
}

/* Of two sizes, "4 in. x 4 in.", the whole of both numbers; the x between them is no word. end: of
 * the first one's unit. */
static void add_sizes(struct rules *rules, const struct number *number, size_t end)
{
    enum { APART_MAX = 4 };
    size_t by = end + is_side(rules, end);
    const struct piece *between = rules_piece(rules, by), *next = rules_piece(rules, by + 1);
    uint8_t form[TOKEN_SIZE_MAX];
    struct number second;
    size_t second_end, size;
    const char *unit;

    if (!is_by(rules, by) || !is_digits(next) ||
        between->start - rules_piece(rules, by - 1)->end > APART_MAX ||
        next->start - between->end > 1)
        return;
    second = number_at(rules, by + 1);
    if (!are_sizes(number, &second))
        return;
    unit = find_unit(rules, &second, &second_end);
    if (ends_model(rules, by, number, &second, unit))
        return;
    if (!unit) {
        second_end = second.end;
        if (!ends_at(rules, second_end) && !is_by(rules, second_end))
            return;
    }
    size = number->form_size + 1 + second.form_size;
    if (size > sizeof(form))
        return;
    memcpy(form, rules->pieces.forms + number->form, number->form_size);
    form[number->form_size] = 'x';
    memcpy(form + number->form_size + 1, rules->pieces.forms + second.form, second.form_size);
    rules->by = by;
    add_whole(rules, number, bytes_make(form, size),
              2 + count_positions(rules, number->end, by) +
                  count_positions(rules, second.end, second_end),
              second_end);
}

/* Feet are inches, too, and inches that make whole feet are feet: 8 ft. and 96 in. find each other.
 */
static void add_converted(struct rules *rules, const struct number *number, const char *unit,
                          size_t end)
{
    enum { INCHES = 12, VALUE_MAX = 1200, FORM_SIZE = 24 };
    char form[FORM_SIZE];
    double value;

    if (rules->version < 4 || number->form_size >= sizeof(form) ||
        (strcmp(unit, "ft") != 0 && strcmp(unit, "in") != 0))
        return;
    memcpy(form, rules->pieces.forms + number->form, number->form_size);
    form[number->form_size] = '\0';
    value = strtod(form, NULL);
    value = unit[0] == 'f' ? value * INCHES : value / INCHES;
    if (value < 1 || value > VALUE_MAX || floor(value) != value)
        return;
    snprintf(form, sizeof(form), "%d%s", (int)value, unit[0] == 'f' ? "in" : "ft");
    add_whole(rules, number, bytes_of(form), 1 + count_positions(rules, number->end, end), end);
}

size_t rules_number(struct rules *rules, size_t at)
{
    struct number number = number_at(rules, at);
    const struct piece *first = rules_piece(rules, at);
    bool is_second = at > 0 && at - 1 == rules->by;
    size_t unit_end = 0;
    const char *unit = find_unit(rules, &number, &unit_end);

    rules_add(
        rules, number.form, number.form_size, first->start, rules_piece(rules, number.end - 1)->end,
        (struct mark){TOKEN_NUMBER, SCRIPT_NONE, is_second ? JOINT_NONE : rules_joint(first), 1});
    if (unit) {
        add_quantity(rules, &number, bytes_of(unit), unit_end);
        add_converted(rules, &number, unit, unit_end);
    }
    if (rules->version > 1)
        add_sizes(rules, &number, unit ? unit_end : number.end);
    rules->position++;
    return number.end;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_number.c - the rules of analysis.h for what begins with a digit. */
#include <string.h>

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

    if (is_part || !fits(rules, at, end))
        return number;
    if (end == at + 2) {
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

static bool is_word(const struct rules *rules, const struct piece *piece, const char *word)
{
    return piece && piece->kind == PIECE_LETTERS &&
           bytes_equal_text(bytes_make(rules_form(rules, piece), piece->size), word);
}

/* Units of two pieces: л.с., кв. м, м2, см3. */
static const char *find_long_unit(const struct rules *rules, const struct piece *first,
                                  const struct piece *second)
{
    bool dotted = second && (second->gap == '.' || second->gap == GAP_DOT_BLANK);
    bool is_power = is_digits(second) && second->gap == GAP_TIGHT && second->size == 1;

    if (dotted && is_word(rules, first, "л") && is_word(rules, second, "с"))
        return "hp";
    if (second && (dotted || second->gap == GAP_BLANK) && is_word(rules, first, "кв") &&
        is_word(rules, second, "м"))
        return "m2";
    if (is_power && (is_word(rules, first, "м") || is_word(rules, first, "m"))) {
        switch (rules_form(rules, second)[0]) {
        case '2':
            return "m2";
        case '3':
            return "m3";
        default:
            return NULL;
        }
    }
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
    const char *unit;

    if (!first || first->kind != PIECE_LETTERS || (is_code && first->gap != GAP_TIGHT) ||
        (first->gap != GAP_TIGHT && first->gap != GAP_BLANK && first->gap != GAP_THIN))
        return NULL;
    unit = find_long_unit(rules, first, rules_piece(rules, number->end + 1));
    if (unit && ends_at(rules, number->end + 2)) {
        *end = number->end + 2;
        return unit;
    }
    unit =
        unit_spelling(bytes_make(rules_form(rules, first), first->size), first->gap == GAP_TIGHT);
    *end = number->end + 1;
    if (!unit || !ends_at(rules, *end) || (strcmp(unit, "g") == 0 && is_year(rules, number)))
        return NULL;
    return unit;
}

/* The whole of a number and the unit that ends before the piece `end`. */
static void add_quantity(struct rules *rules, const struct number *number, struct bytes unit,
                         size_t end)
{
    const struct piece *first = rules_piece(rules, number->at);
    size_t size = number->form_size + unit.size;
    uint8_t form[TOKEN_SIZE_MAX];

    if (size > sizeof(form))
        return;
    memcpy(form, rules->pieces.forms + number->form, number->form_size);
    memcpy(form + number->form_size, unit.data, unit.size);
    rules_add(rules, rules_put(rules, bytes_make(form, size)), size, first->start,
              rules_piece(rules, end - 1)->end,
              (struct mark){TOKEN_QUANTITY, SCRIPT_NONE, rules_joint(first),
                            (unsigned)(1 + end - number->end)});
}

size_t rules_number(struct rules *rules, size_t at)
{
    struct number number = number_at(rules, at);
    const struct piece *first = rules_piece(rules, at);
    size_t unit_end = 0;
    const char *unit = find_unit(rules, &number, &unit_end);

    rules_add(rules, number.form, number.form_size, first->start,
              rules_piece(rules, number.end - 1)->end,
              (struct mark){TOKEN_NUMBER, SCRIPT_NONE, rules_joint(first), 1});
    if (unit)
        add_quantity(rules, &number, bytes_of(unit), unit_end);
    rules->position++;
    return number.end;
}

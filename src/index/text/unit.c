/* SPDX-License-Identifier: Apache-2.0 */
/* unit.c - see unit.h. */
#include "index/text/unit.h"

#include <stddef.h>

#include "base/memory.h"

enum use { ANY, TIGHT, NOUN }; /* NOUN: a Russian word, with any ending of its case */

struct unit {
    struct bytes word;
    const char *unit;
    enum use use;
};

static const struct unit units[] = {
    {BYTES_LITERAL("ah"), "ah", ANY},
    {BYTES_LITERAL("ач"), "ah", ANY},
    {BYTES_LITERAL("ампер"), "a", NOUN},
    {BYTES_LITERAL("cm"), "cm", ANY},
    {BYTES_LITERAL("см"), "cm", ANY},
    {BYTES_LITERAL("сантиметр"), "cm", NOUN},
    {BYTES_LITERAL("g"), "g", TIGHT},
    {BYTES_LITERAL("г"), "g", ANY},
    {BYTES_LITERAL("гр"), "g", ANY},
    {BYTES_LITERAL("грамм"), "g", NOUN},
    {BYTES_LITERAL("gb"), "gb", ANY},
    {BYTES_LITERAL("гб"), "gb", ANY},
    {BYTES_LITERAL("гиг"), "gb", NOUN},
    {BYTES_LITERAL("гигабайт"), "gb", NOUN},
    {BYTES_LITERAL("ghz"), "ghz", ANY},
    {BYTES_LITERAL("ггц"), "ghz", ANY},
    {BYTES_LITERAL("гигагерц"), "ghz", NOUN},
    {BYTES_LITERAL("hp"), "hp", ANY},
    {BYTES_LITERAL("лс"), "hp", ANY},
    {BYTES_LITERAL("hz"), "hz", ANY},
    {BYTES_LITERAL("гц"), "hz", ANY},
    {BYTES_LITERAL("герц"), "hz", NOUN},
    {BYTES_LITERAL("in"), "in", TIGHT},
    {BYTES_LITERAL("inch"), "in", ANY},
    {BYTES_LITERAL("inches"), "in", ANY},
    {BYTES_LITERAL("дюйм"), "in", NOUN},
    {BYTES_LITERAL("kb"), "kb", ANY},
    {BYTES_LITERAL("кб"), "kb", ANY},
    {BYTES_LITERAL("килобайт"), "kb", NOUN},
    {BYTES_LITERAL("kg"), "kg", ANY},
    {BYTES_LITERAL("кг"), "kg", ANY},
    {BYTES_LITERAL("кило"), "kg", ANY},
    {BYTES_LITERAL("килограмм"), "kg", NOUN},
    {BYTES_LITERAL("khz"), "khz", ANY},
    {BYTES_LITERAL("кгц"), "khz", ANY},
    {BYTES_LITERAL("km"), "km", ANY},
    {BYTES_LITERAL("км"), "km", ANY},
    {BYTES_LITERAL("километр"), "km", NOUN},
    {BYTES_LITERAL("kw"), "kw", ANY},
    {BYTES_LITERAL("квт"), "kw", ANY},
    {BYTES_LITERAL("киловатт"), "kw", NOUN},
    {BYTES_LITERAL("l"), "l", ANY},
    {BYTES_LITERAL("л"), "l", ANY},
    {BYTES_LITERAL("литр"), "l", NOUN},
    {BYTES_LITERAL("liter"), "l", ANY},
    {BYTES_LITERAL("liters"), "l", ANY},
    {BYTES_LITERAL("litre"), "l", ANY},
    {BYTES_LITERAL("litres"), "l", ANY},
    {BYTES_LITERAL("m"), "m", TIGHT},
    {BYTES_LITERAL("м"), "m", ANY},
    {BYTES_LITERAL("метр"), "m", NOUN},
    {BYTES_LITERAL("mah"), "mah", ANY},
    {BYTES_LITERAL("мач"), "mah", ANY},
    {BYTES_LITERAL("mb"), "mb", ANY},
    {BYTES_LITERAL("мб"), "mb", ANY},
    {BYTES_LITERAL("мегабайт"), "mb", NOUN},
    {BYTES_LITERAL("mg"), "mg", ANY},
    {BYTES_LITERAL("мг"), "mg", ANY},
    {BYTES_LITERAL("миллиграмм"), "mg", NOUN},
    {BYTES_LITERAL("mhz"), "mhz", ANY},
    {BYTES_LITERAL("мгц"), "mhz", ANY},
    {BYTES_LITERAL("мегагерц"), "mhz", NOUN},
    {BYTES_LITERAL("ml"), "ml", ANY},
    {BYTES_LITERAL("мл"), "ml", ANY},
    {BYTES_LITERAL("миллилитр"), "ml", NOUN},
    {BYTES_LITERAL("mm"), "mm", ANY},
    {BYTES_LITERAL("мм"), "mm", ANY},
    {BYTES_LITERAL("миллиметр"), "mm", NOUN},
    {BYTES_LITERAL("mp"), "mp", ANY},
    {BYTES_LITERAL("мп"), "mp", ANY},
    {BYTES_LITERAL("мпикс"), "mp", ANY},
    {BYTES_LITERAL("мегапиксел"), "mp", NOUN},
    {BYTES_LITERAL("pcs"), "pcs", ANY},
    {BYTES_LITERAL("шт"), "pcs", ANY},
    {BYTES_LITERAL("штук"), "pcs", NOUN},
    {BYTES_LITERAL("t"), "t", TIGHT},
    {BYTES_LITERAL("т"), "t", ANY},
    {BYTES_LITERAL("тонн"), "t", NOUN},
    {BYTES_LITERAL("tb"), "tb", ANY},
    {BYTES_LITERAL("тб"), "tb", ANY},
    {BYTES_LITERAL("терабайт"), "tb", NOUN},
    {BYTES_LITERAL("v"), "v", TIGHT},
    {BYTES_LITERAL("в"), "v", TIGHT},
    {BYTES_LITERAL("вольт"), "v", NOUN},
    {BYTES_LITERAL("volt"), "v", ANY},
    {BYTES_LITERAL("volts"), "v", ANY},
    {BYTES_LITERAL("w"), "w", TIGHT},
    {BYTES_LITERAL("вт"), "w", ANY},
    {BYTES_LITERAL("ватт"), "w", NOUN},
    {BYTES_LITERAL("watt"), "w", ANY},
    {BYTES_LITERAL("watts"), "w", ANY},
};

/* мегапиксель is soft, the others are hard. */
static const char *const endings[] = {"а", "у", "ы", "е",  "и",  "ов",
                                      "ь", "я", "ю", "ом", "ам", "ей"};

static bool ends_as_noun(struct bytes rest)
{
    if (rest.size == 0)
        return true;
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        if (bytes_equal_text(rest, endings[i]))
            return true;
    }
    return false;
}

const char *unit_spelling(struct bytes word, bool tight)
{
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        const struct unit *unit = &units[i];
        struct bytes known = unit->word;

        /* Its last byte tells most words apart, the first is the same in half of them. */
        if (word.size < known.size || word.data[known.size - 1] != known.data[known.size - 1] ||
            !bytes_begin(word, known))
            continue;
        if (unit->use == NOUN ? ends_as_noun(bytes_skip(word, known.size))
                              : word.size == known.size && (tight || unit->use == ANY))
            return unit->unit;
    }
    return NULL;
}

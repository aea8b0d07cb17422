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
    unsigned since; /* version of the analysis; the first that has it */
};

static const struct unit units[] = {
    {BYTES_LITERAL("ah"), "ah", ANY, 1},
    {BYTES_LITERAL("ач"), "ah", ANY, 1},
    {BYTES_LITERAL("ампер"), "a", NOUN, 1},
    {BYTES_LITERAL("cm"), "cm", ANY, 1},
    {BYTES_LITERAL("см"), "cm", ANY, 1},
    {BYTES_LITERAL("сантиметр"), "cm", NOUN, 1},
    {BYTES_LITERAL("g"), "g", TIGHT, 1},
    {BYTES_LITERAL("г"), "g", ANY, 1},
    {BYTES_LITERAL("гр"), "g", ANY, 1},
    {BYTES_LITERAL("грамм"), "g", NOUN, 1},
    {BYTES_LITERAL("gb"), "gb", ANY, 1},
    {BYTES_LITERAL("гб"), "gb", ANY, 1},
    {BYTES_LITERAL("гиг"), "gb", NOUN, 1},
    {BYTES_LITERAL("гигабайт"), "gb", NOUN, 1},
    {BYTES_LITERAL("ghz"), "ghz", ANY, 1},
    {BYTES_LITERAL("ггц"), "ghz", ANY, 1},
    {BYTES_LITERAL("гигагерц"), "ghz", NOUN, 1},
    {BYTES_LITERAL("hp"), "hp", ANY, 1},
    {BYTES_LITERAL("лс"), "hp", ANY, 1},
    {BYTES_LITERAL("hz"), "hz", ANY, 1},
    {BYTES_LITERAL("гц"), "hz", ANY, 1},
    {BYTES_LITERAL("герц"), "hz", NOUN, 1},
    {BYTES_LITERAL("in"), "in", TIGHT, 1},
    {BYTES_LITERAL("inch"), "in", ANY, 1},
    {BYTES_LITERAL("inches"), "in", ANY, 1},
    {BYTES_LITERAL("дюйм"), "in", NOUN, 1},
    {BYTES_LITERAL("kb"), "kb", ANY, 1},
    {BYTES_LITERAL("кб"), "kb", ANY, 1},
    {BYTES_LITERAL("килобайт"), "kb", NOUN, 1},
    {BYTES_LITERAL("kg"), "kg", ANY, 1},
    {BYTES_LITERAL("кг"), "kg", ANY, 1},
    {BYTES_LITERAL("кило"), "kg", ANY, 1},
    {BYTES_LITERAL("килограмм"), "kg", NOUN, 1},
    {BYTES_LITERAL("khz"), "khz", ANY, 1},
    {BYTES_LITERAL("кгц"), "khz", ANY, 1},
    {BYTES_LITERAL("km"), "km", ANY, 1},
    {BYTES_LITERAL("км"), "km", ANY, 1},
    {BYTES_LITERAL("километр"), "km", NOUN, 1},
    {BYTES_LITERAL("kw"), "kw", ANY, 1},
    {BYTES_LITERAL("квт"), "kw", ANY, 1},
    {BYTES_LITERAL("киловатт"), "kw", NOUN, 1},
    {BYTES_LITERAL("l"), "l", ANY, 1},
    {BYTES_LITERAL("л"), "l", ANY, 1},
    {BYTES_LITERAL("литр"), "l", NOUN, 1},
    {BYTES_LITERAL("liter"), "l", ANY, 1},
    {BYTES_LITERAL("liters"), "l", ANY, 1},
    {BYTES_LITERAL("litre"), "l", ANY, 1},
    {BYTES_LITERAL("litres"), "l", ANY, 1},
    {BYTES_LITERAL("m"), "m", TIGHT, 1},
    {BYTES_LITERAL("м"), "m", ANY, 1},
    {BYTES_LITERAL("метр"), "m", NOUN, 1},
    {BYTES_LITERAL("mah"), "mah", ANY, 1},
    {BYTES_LITERAL("мач"), "mah", ANY, 1},
    {BYTES_LITERAL("mb"), "mb", ANY, 1},
    {BYTES_LITERAL("мб"), "mb", ANY, 1},
    {BYTES_LITERAL("мегабайт"), "mb", NOUN, 1},
    {BYTES_LITERAL("mg"), "mg", ANY, 1},
    {BYTES_LITERAL("мг"), "mg", ANY, 1},
    {BYTES_LITERAL("миллиграмм"), "mg", NOUN, 1},
    {BYTES_LITERAL("mhz"), "mhz", ANY, 1},
    {BYTES_LITERAL("мгц"), "mhz", ANY, 1},
    {BYTES_LITERAL("мегагерц"), "mhz", NOUN, 1},
    {BYTES_LITERAL("ml"), "ml", ANY, 1},
    {BYTES_LITERAL("мл"), "ml", ANY, 1},
    {BYTES_LITERAL("миллилитр"), "ml", NOUN, 1},
    {BYTES_LITERAL("mm"), "mm", ANY, 1},
    {BYTES_LITERAL("мм"), "mm", ANY, 1},
    {BYTES_LITERAL("миллиметр"), "mm", NOUN, 1},
    {BYTES_LITERAL("mp"), "mp", ANY, 1},
    {BYTES_LITERAL("мп"), "mp", ANY, 1},
    {BYTES_LITERAL("мпикс"), "mp", ANY, 1},
    {BYTES_LITERAL("мегапиксел"), "mp", NOUN, 1},
    {BYTES_LITERAL("pcs"), "pcs", ANY, 1},
    {BYTES_LITERAL("шт"), "pcs", ANY, 1},
    {BYTES_LITERAL("штук"), "pcs", NOUN, 1},
    {BYTES_LITERAL("t"), "t", TIGHT, 1},
    {BYTES_LITERAL("т"), "t", ANY, 1},
    {BYTES_LITERAL("тонн"), "t", NOUN, 1},
    {BYTES_LITERAL("tb"), "tb", ANY, 1},
    {BYTES_LITERAL("тб"), "tb", ANY, 1},
    {BYTES_LITERAL("терабайт"), "tb", NOUN, 1},
    {BYTES_LITERAL("v"), "v", TIGHT, 1},
    {BYTES_LITERAL("в"), "v", TIGHT, 1},
    {BYTES_LITERAL("вольт"), "v", NOUN, 1},
    {BYTES_LITERAL("volt"), "v", ANY, 1},
    {BYTES_LITERAL("volts"), "v", ANY, 1},
    {BYTES_LITERAL("w"), "w", TIGHT, 1},
    {BYTES_LITERAL("вт"), "w", ANY, 1},
    {BYTES_LITERAL("ватт"), "w", NOUN, 1},
    {BYTES_LITERAL("watt"), "w", ANY, 1},
    {BYTES_LITERAL("watts"), "w", ANY, 1},
    {BYTES_LITERAL("ft"), "ft", ANY, 2},
    {BYTES_LITERAL("foot"), "ft", ANY, 2},
    {BYTES_LITERAL("feet"), "ft", ANY, 2},
    {BYTES_LITERAL("фут"), "ft", NOUN, 2},
    {BYTES_LITERAL("gal"), "gal", ANY, 2},
    {BYTES_LITERAL("gallon"), "gal", ANY, 2},
    {BYTES_LITERAL("gallons"), "gal", ANY, 2},
    {BYTES_LITERAL("галлон"), "gal", NOUN, 2},
    {BYTES_LITERAL("lb"), "lb", ANY, 2},
    {BYTES_LITERAL("lbs"), "lb", ANY, 2},
    {BYTES_LITERAL("pound"), "lb", ANY, 2},
    {BYTES_LITERAL("pounds"), "lb", ANY, 2},
    {BYTES_LITERAL("фунт"), "lb", NOUN, 2},
    {BYTES_LITERAL("oz"), "oz", ANY, 2},
    {BYTES_LITERAL("ounce"), "oz", ANY, 2},
    {BYTES_LITERAL("ounces"), "oz", ANY, 2},
    {BYTES_LITERAL("yd"), "yd", ANY, 2},
    {BYTES_LITERAL("yard"), "yd", ANY, 2},
    {BYTES_LITERAL("yards"), "yd", ANY, 2},
    {BYTES_LITERAL("qt"), "qt", ANY, 2},
    {BYTES_LITERAL("quart"), "qt", ANY, 2},
    {BYTES_LITERAL("quarts"), "qt", ANY, 2},
    {BYTES_LITERAL("amp"), "a", ANY, 2},
    {BYTES_LITERAL("amps"), "a", ANY, 2},
    {BYTES_LITERAL("btu"), "btu", ANY, 2},
    {BYTES_LITERAL("btus"), "btu", ANY, 2},
    {BYTES_LITERAL("psi"), "psi", ANY, 2},
    {BYTES_LITERAL("gpm"), "gpm", ANY, 2},
    {BYTES_LITERAL("gpf"), "gpf", ANY, 2},
    {BYTES_LITERAL("cfm"), "cfm", ANY, 2},
    {BYTES_LITERAL("rpm"), "rpm", ANY, 2},
    {BYTES_LITERAL("sqft"), "sqft", ANY, 2},
    {BYTES_LITERAL("lumen"), "lm", ANY, 2},
    {BYTES_LITERAL("lumens"), "lm", ANY, 2},
    {BYTES_LITERAL("lm"), "lm", ANY, 2},
    {BYTES_LITERAL("лм"), "lm", ANY, 2},
    {BYTES_LITERAL("люмен"), "lm", NOUN, 2},
    {BYTES_LITERAL("gauge"), "ga", ANY, 2},
    {BYTES_LITERAL("ga"), "ga", ANY, 2},
    {BYTES_LITERAL("pack"), "pk", ANY, 2},
    {BYTES_LITERAL("packs"), "pk", ANY, 2},
    {BYTES_LITERAL("pk"), "pk", ANY, 2},
    {BYTES_LITERAL("pc"), "pcs", ANY, 2},
    {BYTES_LITERAL("piece"), "pcs", ANY, 2},
    {BYTES_LITERAL("pieces"), "pcs", ANY, 2},
    {BYTES_LITERAL("gram"), "g", ANY, 2},
    {BYTES_LITERAL("grams"), "g", ANY, 2},
    {BYTES_LITERAL("meter"), "m", ANY, 2},
    {BYTES_LITERAL("meters"), "m", ANY, 2},
    {BYTES_LITERAL("metre"), "m", ANY, 2},
    {BYTES_LITERAL("metres"), "m", ANY, 2},
    {BYTES_LITERAL("ton"), "ton", ANY, 2},
    {BYTES_LITERAL("tons"), "ton", ANY, 2},
    {BYTES_LITERAL("a"), "a", TIGHT, 4},
    {BYTES_LITERAL("horsepower"), "hp", ANY, 4},
    {BYTES_LITERAL("pint"), "pt", ANY, 4},
    {BYTES_LITERAL("pints"), "pt", ANY, 4},
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

const char *unit_spelling(struct bytes word, bool tight, unsigned version)
{
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        const struct unit *unit = &units[i];
        struct bytes known = unit->word;

        if (unit->since > version)
            continue;
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

const char *unit_of_two(struct bytes first, struct bytes second)
{
    static const struct {
        const char *first, *second, *unit;
    } known[] = {
        {"sq", "ft", "sqft"},       {"sq", "feet", "sqft"},     {"sq", "foot", "sqft"},
        {"square", "feet", "sqft"}, {"square", "foot", "sqft"}, {"square", "ft", "sqft"},
        {"cu", "ft", "cuft"},       {"cu", "feet", "cuft"},     {"cubic", "feet", "cuft"},
        {"cubic", "foot", "cuft"},  {"cubic", "ft", "cuft"},    {"fl", "oz", "oz"},
        {"fluid", "ounce", "oz"},   {"fluid", "ounces", "oz"},  {"amp", "hour", "ah"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        if (bytes_equal_text(first, known[i].first) && bytes_equal_text(second, known[i].second))
            return known[i].unit;
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* unit.c - see unit.h. */
#include "index/unit.h"

#include <stddef.h>

#include "base/memory.h"

enum use { ANY, TIGHT, NOUN }; /* NOUN: a Russian word, with any ending of its case */

struct unit {
    const char *word;
    const char *unit;
    enum use use;
};

static const struct unit units[] = {
    {"ah", "ah", ANY},
    {"ач", "ah", ANY},
    {"ампер", "a", NOUN},
    {"cm", "cm", ANY},
    {"см", "cm", ANY},
    {"сантиметр", "cm", NOUN},
    {"g", "g", TIGHT},
    {"г", "g", ANY},
    {"гр", "g", ANY},
    {"грамм", "g", NOUN},
    {"gb", "gb", ANY},
    {"гб", "gb", ANY},
    {"гиг", "gb", NOUN},
    {"гигабайт", "gb", NOUN},
    {"ghz", "ghz", ANY},
    {"ггц", "ghz", ANY},
    {"гигагерц", "ghz", NOUN},
    {"hp", "hp", ANY},
    {"лс", "hp", ANY},
    {"hz", "hz", ANY},
    {"гц", "hz", ANY},
    {"герц", "hz", NOUN},
    {"in", "in", TIGHT},
    {"inch", "in", ANY},
    {"inches", "in", ANY},
    {"дюйм", "in", NOUN},
    {"kb", "kb", ANY},
    {"кб", "kb", ANY},
    {"килобайт", "kb", NOUN},
    {"kg", "kg", ANY},
    {"кг", "kg", ANY},
    {"кило", "kg", ANY},
    {"килограмм", "kg", NOUN},
    {"khz", "khz", ANY},
    {"кгц", "khz", ANY},
    {"km", "km", ANY},
    {"км", "km", ANY},
    {"километр", "km", NOUN},
    {"kw", "kw", ANY},
    {"квт", "kw", ANY},
    {"киловатт", "kw", NOUN},
    {"l", "l", ANY},
    {"л", "l", ANY},
    {"литр", "l", NOUN},
    {"liter", "l", ANY},
    {"liters", "l", ANY},
    {"litre", "l", ANY},
    {"litres", "l", ANY},
    {"m", "m", TIGHT},
    {"м", "m", ANY},
    {"метр", "m", NOUN},
    {"mah", "mah", ANY},
    {"мач", "mah", ANY},
    {"mb", "mb", ANY},
    {"мб", "mb", ANY},
    {"мегабайт", "mb", NOUN},
    {"mg", "mg", ANY},
    {"мг", "mg", ANY},
    {"миллиграмм", "mg", NOUN},
    {"mhz", "mhz", ANY},
    {"мгц", "mhz", ANY},
    {"мегагерц", "mhz", NOUN},
    {"ml", "ml", ANY},
    {"мл", "ml", ANY},
    {"миллилитр", "ml", NOUN},
    {"mm", "mm", ANY},
    {"мм", "mm", ANY},
    {"миллиметр", "mm", NOUN},
    {"mp", "mp", ANY},
    {"мп", "mp", ANY},
    {"мпикс", "mp", ANY},
    {"мегапиксел", "mp", NOUN},
    {"pcs", "pcs", ANY},
    {"шт", "pcs", ANY},
    {"штук", "pcs", NOUN},
    {"t", "t", TIGHT},
    {"т", "t", ANY},
    {"тонн", "t", NOUN},
    {"tb", "tb", ANY},
    {"тб", "tb", ANY},
    {"терабайт", "tb", NOUN},
    {"v", "v", TIGHT},
    {"в", "v", TIGHT},
    {"вольт", "v", NOUN},
    {"volt", "v", ANY},
    {"volts", "v", ANY},
    {"w", "w", TIGHT},
    {"вт", "w", ANY},
    {"ватт", "w", NOUN},
    {"watt", "w", ANY},
    {"watts", "w", ANY},
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

const char *unit_find(struct bytes word, bool tight)
{
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        const struct unit *unit = &units[i];
        struct bytes known = bytes_of(unit->word);

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

/* SPDX-License-Identifier: Apache-2.0 */
/* categories.c - see categories.h. */
#include "schema/categories.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "schema_unicode_categories.h"

static_assert(ZS + 1 == CATEGORY_COUNT, "as many as the table has");

static const struct {
    const char *code;
    const char *name;
    uint32_t mask;
} names[] = {
    {"Cc", "Control", 1u << CC},
    {"Cf", "Format", 1u << CF},
    {"Cn", "Unassigned", 1u << CN},
    {"Co", "Private_Use", 1u << CO},
    {"Cs", "Surrogate", 1u << CS},
    {"C", "Other", 1u << CC | 1u << CF | 1u << CN | 1u << CO | 1u << CS},
    {"Ll", "Lowercase_Letter", 1u << LL},
    {"Lm", "Modifier_Letter", 1u << LM},
    {"Lo", "Other_Letter", 1u << LO},
    {"Lt", "Titlecase_Letter", 1u << LT},
    {"Lu", "Uppercase_Letter", 1u << LU},
    {"LC", "Cased_Letter", 1u << LL | 1u << LT | 1u << LU},
    {"L", "Letter", 1u << LL | 1u << LM | 1u << LO | 1u << LT | 1u << LU},
    {"Mc", "Spacing_Mark", 1u << MC},
    {"Me", "Enclosing_Mark", 1u << ME},
    {"Mn", "Nonspacing_Mark", 1u << MN},
    {"M", "Mark", 1u << MC | 1u << ME | 1u << MN},
    {"Nd", "Decimal_Number", 1u << ND},
    {"Nl", "Letter_Number", 1u << NL},
    {"No", "Other_Number", 1u << NO},
    {"N", "Number", 1u << ND | 1u << NL | 1u << NO},
    {"Pc", "Connector_Punctuation", 1u << PC},
    {"Pd", "Dash_Punctuation", 1u << PD},
    {"Pe", "Close_Punctuation", 1u << PE},
    {"Pf", "Final_Punctuation", 1u << PF},
    {"Pi", "Initial_Punctuation", 1u << PI},
    {"Po", "Other_Punctuation", 1u << PO},
    {"Ps", "Open_Punctuation", 1u << PS},
    {"P", "Punctuation",
     1u << PC | 1u << PD | 1u << PE | 1u << PF | 1u << PI | 1u << PO | 1u << PS},
    {"Sc", "Currency_Symbol", 1u << SC},
    {"Sk", "Modifier_Symbol", 1u << SK},
    {"Sm", "Math_Symbol", 1u << SM},
    {"So", "Other_Symbol", 1u << SO},
    {"S", "Symbol", 1u << SC | 1u << SK | 1u << SM | 1u << SO},
    {"Zl", "Line_Separator", 1u << ZL},
    {"Zp", "Paragraph_Separator", 1u << ZP},
    {"Zs", "Space_Separator", 1u << ZS},
    {"Z", "Separator", 1u << ZL | 1u << ZP | 1u << ZS},
    {"digit", "digit", 1u << ND},
    {"cntrl", "cntrl", 1u << CC},
};

static bool cut(struct bytes *name, const char *start)
{
    if (!bytes_begin(*name, bytes_of(start)))
        return false;
    *name = bytes_skip(*name, strlen(start));
    return true;
}

bool categories_find(struct bytes name, uint32_t *mask)
{
    bool is_named = cut(&name, "gc=") || cut(&name, "General_Category=");

    if (!is_named && bytes_equal_text(name, "Any")) {
        *mask = CATEGORY_ALL;
        return true;
    }
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (bytes_equal_text(name, names[i].code) || bytes_equal_text(name, names[i].name)) {
            *mask = names[i].mask;
            return true;
        }
    }
    return false;
}

uint32_t categories_of(uint32_t code)
{
    size_t low = 0, high = ARRAY_COUNT(category_rows);

    assert(category_rows[0].first == 0);
    while (high - low > 1) {
        size_t middle = (low + high) / 2;

        if (category_rows[middle].first <= code)
            low = middle;
        else
            high = middle;
    }
    return 1u << category_rows[low].category;
}

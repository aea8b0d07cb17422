/* SPDX-License-Identifier: Apache-2.0 */
/* attribute.c - see attribute.h. */
#include "feeds/mapping/attribute.h"

#include <string.h>

#include "base/checked.h"
#include "base/memory.h"
#include "base/text.h"
#include "catalog/bounds.h"
#include "catalog/words.h"
#include "feeds/formats/value.h"

#define TYPE(name) TORG__V1__ATTRIBUTE__TYPE__##name
#define VALUE(name) TORG__V1__ATTRIBUTE_VALUE__VALUE_##name

enum { YEAR_MAX = 9999 };

void feed_attributes_init(struct feed_attributes *attributes, char decimal)
{
    attributes->decimal = decimal;
    feed_memo_init(&attributes->names);
    feed_memo_init(&attributes->options);
    attributes->scratch = arena_new();
}

void feed_attributes_release(struct feed_attributes *attributes)
{
    feed_memo_release(&attributes->names);
    feed_memo_release(&attributes->options);
    arena_free(attributes->scratch);
}

/* --- names --- */

static bool text_is_named(const struct local_text *name, const char *folded, struct arena *arena)
{
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        if (strcmp(words_fold(bytes_of(name->in[language]), arena), folded) == 0)
            return true;
    }
    return false;
}

static const struct attribute *find_named(const struct category *category, const char *folded,
                                          struct arena *arena)
{
    for (size_t i = 0; i < category->attribute_count; i++) {
        const struct attribute *attribute = category->attributes[i];

        if (text_is_named(&attribute->name, folded, arena) ||
            strcmp(words_fold(bytes_of(attribute->id), arena), folded) == 0)
            return attribute;
    }
    return NULL;
}

/* What categories call the things that YML has tags for. */
static const struct {
    const char *tag;
    const char *names[6];
} also[] = {
    {"vendor", {"brand", "бренд", "производитель", "manufacturer", "марка", "make"}},
    {"model", {"модель"}},
    {"vendorcode", {"артикул", "article", "sku"}},
    {"barcode", {"штрихкод"}},
};

static const struct attribute *find_also(const struct category *category, const char *folded,
                                         struct arena *arena)
{
    const struct attribute *found = NULL;

    for (size_t i = 0; i < ARRAY_COUNT(also); i++) {
        if (strcmp(also[i].tag, folded) != 0)
            continue;
        for (size_t j = 0; !found && j < ARRAY_COUNT(also[i].names) && also[i].names[j]; j++)
            found = find_named(category, also[i].names[j], arena);
    }
    /* "Phone brand", "Tyre brand": the maker of what the category is about. */
    for (size_t i = 0; !found && strcmp(folded, "vendor") == 0 && i < category->attribute_count;
         i++) {
        const char *name =
            words_fold(bytes_of(category->attributes[i]->name.in[LANGUAGE_EN]), arena);
        size_t size = strlen(name);

        if (size > 6 && strcmp(name + size - 6, " brand") == 0)
            found = category->attributes[i];
    }
    return found;
}

static const struct attribute_unit *find_unit(const struct attribute *attribute, struct bytes text,
                                              struct arena *arena)
{
    const char *folded = words_fold_name(text, arena);
    size_t size;

    if (strcmp(folded, "\"") == 0 || strcmp(folded, "''") == 0 || strcmp(folded, "дюймов") == 0)
        folded = "in"; /* as people write inches */
    size = strlen(folded);
    if (size && folded[size - 1] == '.') /* "кг." */
        size--;
    for (size_t i = 0; i < attribute->unit_count; i++) {
        const struct attribute_unit *unit = &attribute->units[i];

        if (bytes_equal_text(bytes_make(folded, size), unit->id))
            return unit;
        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            const char *name = words_fold_name(bytes_of(unit->name.in[language]), arena);

            if (bytes_equal_text(bytes_make(folded, size), name))
                return unit;
        }
    }
    return NULL;
}

/* "Ширина (мм)", "Ширина, мм", "Ширина [мм]": the unit, and the name before it. */
static bool split_unit(struct bytes name, struct bytes *bare, struct bytes *unit)
{
    char last = name.size ? (char)name.data[name.size - 1] : 0;
    char sign = last == ')' ? '(' : last == ']' ? '[' : ',';
    const uint8_t *mark = name.size ? memrchr(name.data, sign, name.size) : NULL;
    size_t at = mark ? (size_t)(mark - name.data) : 0;

    if (!at)
        return false;
    *bare = feed_trim(bytes_make(name.data, at));
    *unit = feed_trim(bytes_make(mark + 1, name.size - at - 1 - (sign != ',')));
    return bare->size && unit->size;
}

static const struct attribute *find(const struct category *category, struct bytes name,
                                    struct arena *arena)
{
    const char *folded = words_fold(name, arena);
    const struct attribute *attribute = find_named(category, folded, arena);

    return attribute ? attribute : find_also(category, folded, arena);
}

const struct attribute *feed_attribute_find(struct feed_attributes *attributes,
                                            const struct category *category, struct bytes name,
                                            struct bytes *unit)
{
    const struct attribute *attribute;
    struct bytes bare;
    bool has_unit = split_unit(name, &bare, unit);
    const void *known;

    arena_reset(attributes->scratch);
    if (feed_memo_find(&attributes->names, category, name, &known)) {
        attribute = known;
    } else {
        attribute = find(category, name, attributes->scratch);
        if (!attribute && has_unit) {
            attribute = find(category, bare, attributes->scratch);
            if (attribute && !find_unit(attribute, *unit, attributes->scratch))
                attribute = NULL; /* "Вес (в упаковке)" is another thing */
        }
        feed_memo_add(&attributes->names, category, name, attribute);
    }
    if (!attribute || !has_unit || !find_unit(attribute, *unit, attributes->scratch))
        *unit = BYTES_EMPTY;
    return attribute;
}

/* --- numbers --- */

/* Words of counting that say nothing else, behind the number of an attribute without units. */
static bool is_counting_word(const struct attribute *attribute, const char *folded)
{
    static const char *const of_years[] = {"г", "год", "года", "year"};
    static const char *const of_things[] = {"шт", "штук", "pcs", "pc"};
    bool is_year = attribute->type == TYPE(YEAR);
    const char *const *words = is_year ? of_years : of_things;
    size_t count = is_year ? ARRAY_COUNT(of_years) : ARRAY_COUNT(of_things);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], folded) == 0)
            return true;
    }
    return false;
}

/* Whether the text is what the attribute's name tells of its unit: the "W" of "Power, W". */
static bool is_unit_of_name(const struct attribute *attribute, const char *folded,
                            struct arena *arena)
{
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        const char *comma = strrchr(attribute->name.in[language], ',');

        if (comma && strcmp(words_fold(bytes_of(comma), arena), folded) == 0)
            return true;
    }
    return false;
}

/* Which unit the number is in, NULL: the attribute's own. behind: what stands behind it. */
static const char *read_unit(const struct attribute *attribute, const struct feed_attribute *given,
                             struct bytes behind, struct arena *arena,
                             const struct attribute_unit **unit)
{
    struct bytes named = behind.size ? behind : given->unit;

    *unit = NULL;
    if (!attribute->unit_count && behind.size) {
        const char *folded = words_fold(behind, arena);

        if (*folded &&
            (is_counting_word(attribute, folded) || is_unit_of_name(attribute, folded, arena)))
            return NULL;
        return arena_printf(arena, "\"%.*s\" is not a number; write it without \"%.*s\"",
                            BYTES_ARG(feed_shown(given->value)), BYTES_ARG(feed_shown(behind)));
    }
    if (!attribute->unit_count || !named.size)
        return NULL;
    *unit = find_unit(attribute, named, arena);
    if (!*unit)
        return arena_printf(arena, "it is not measured in \"%.*s\"; in \"%s\", for example",
                            BYTES_ARG(feed_shown(named)), attribute->units[0].id);
    if (behind.size && given->unit.size && find_unit(attribute, given->unit, arena) != *unit)
        return arena_printf(arena, "\"%.*s\" is said to be in \"%.*s\"; write one unit",
                            BYTES_ARG(feed_shown(given->value)),
                            BYTES_ARG(feed_shown(given->unit)));
    return NULL;
}

/* Whether thousandths of this unit are something that the attribute can tell apart. */
static bool has_thousandths(const struct attribute *attribute, const struct attribute_unit *unit)
{
    int64_t step = DECIMAL_ONE / 1000;

    if (attribute->type != TYPE(DECIMAL))
        return false;
    if (unit)
        step = unit->factor.millionths / 1000;
    for (uint32_t i = 0; i < attribute->digits && step < DECIMAL_ONE; i++)
        step *= 10;
    return step >= DECIMAL_ONE;
}

static size_t minus_size(struct bytes text)
{
    static const char minus[] = "\xe2\x88\x92"; /* U+2212 */

    if (bytes_begin(text, bytes_of(minus)))
        return sizeof(minus) - 1;
    return text.size && text.data[0] == '-';
}

/* The whole of "1 200,50 кг", or what is wrong with it. digits: after the point. */
static const char *read_decimal(const struct attribute *attribute,
                                const struct feed_attribute *given, char decimal_sign,
                                struct arena *arena, const struct attribute_unit **unit,
                                struct decimal *decimal, unsigned *digits)
{
    size_t minus = minus_size(given->value);
    struct bytes text = bytes_skip(given->value, minus);
    size_t size = feed_number_size(text);
    struct feed_number number;
    const char *reason;
    int64_t value;

    if (!size)
        return arena_printf(arena, "\"%.*s\" is not a number", BYTES_ARG(feed_shown(given->value)));
    reason = read_unit(attribute, given, feed_trim(bytes_skip(text, size)), arena, unit);
    if (reason)
        return reason;
    reason = feed_parse_number(bytes_make(text.data, size), has_thousandths(attribute, *unit),
                               decimal_sign, &number);
    if (!reason && number.digits > DECIMAL_DIGITS)
        reason = "has more than 6 digits after the point";
    value = reason ? 0 : (int64_t)number.mantissa; /* of 15 digits at most */
    for (unsigned i = number.digits; !reason && i < DECIMAL_DIGITS; i++) {
        if (!int64_multiply(value, 10, &value))
            reason = "is too large";
    }
    if (reason)
        return arena_printf(arena, "\"%.*s\" %s", BYTES_ARG(feed_shown(given->value)), reason);
    decimal->millionths = minus ? -value : value;
    *digits = number.digits;
    return NULL;
}

static const char *read_number(const struct attribute *attribute,
                               const struct feed_attribute *given, char decimal_sign,
                               struct arena *arena, Torg__V1__AttributeValue *value)
{
    const struct attribute_unit *unit = NULL;
    struct decimal decimal = {0};
    int64_t integer;
    unsigned digits = 0;
    const char *reason =
        read_decimal(attribute, given, decimal_sign, arena, &unit, &decimal, &digits);

    if (reason)
        return reason;
    if (unit)
        value->unit = (char *)unit->id;
    if (attribute->type == TYPE(DECIMAL)) {
        char *text = arena_alloc(arena, DECIMAL_TEXT_SIZE);

        decimal_format(decimal, text);
        value->value_case = VALUE(DECIMAL);
        value->decimal = text;
        return NULL;
    }
    integer = decimal.millionths / DECIMAL_ONE;
    if (digits)
        return arena_printf(arena, "%.*s is not a whole number",
                            BYTES_ARG(feed_shown(given->value)));
    if (attribute->type == TYPE(INTEGER)) {
        value->value_case = VALUE(INTEGER);
        value->integer = integer;
        return NULL;
    }
    if (integer < 0 || integer > YEAR_MAX)
        return arena_printf(arena, "%.*s is not a year", BYTES_ARG(feed_shown(given->value)));
    value->value_case = VALUE(YEAR);
    value->year = (int32_t)integer;
    return NULL;
}

/* --- options --- */

/* "Toyota Camry" is the option Camry below Toyota. */
static bool is_option_path(const struct attribute_option *option, const char *folded,
                           struct arena *arena)
{
    for (int language = 0; option->parent && language < LANGUAGE_COUNT; language++) {
        const char *path = arena_printf(arena, "%s %s", option->parent->name.in[language],
                                        option->name.in[language]);

        if (strcmp(words_fold(bytes_of(path), arena), folded) == 0)
            return true;
    }
    return false;
}

/* Signs and all: "A+++" is not "A+". */
static bool is_written_so(const struct attribute_option *option, const char *written,
                          struct arena *arena)
{
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        if (strcmp(words_fold_name(bytes_of(option->name.in[language]), arena), written) == 0)
            return true;
    }
    return false;
}

static const struct attribute_option *find_option(struct feed_attributes *attributes,
                                                  const struct attribute *attribute,
                                                  struct bytes text)
{
    const struct attribute_option *found = NULL;
    const struct attribute_option *by_name = NULL;
    const struct attribute_option *as_written = NULL;
    bool several = false;
    unsigned written_count = 0;
    const char *folded;
    const char *written;
    const void *known;

    if (feed_memo_find(&attributes->options, attribute, text, &known))
        return known;
    arena_reset(attributes->scratch);
    folded = words_fold(text, attributes->scratch);
    written = words_fold_name(text, attributes->scratch);
    for (size_t i = 0; !found && *folded && i < attribute->option_count; i++) {
        const struct attribute_option *option = attribute->options[i];

        if (bytes_equal_text(text, option->id) ||
            is_option_path(option, folded, attributes->scratch)) {
            found = option;
        } else if (text_is_named(&option->name, folded, attributes->scratch)) {
            several = by_name != NULL; /* the same name below two parents says nothing */
            by_name = option;
            if (is_written_so(option, written, attributes->scratch)) {
                as_written = option;
                written_count++;
            }
        }
    }
    if (!found)
        found = written_count == 1 ? as_written : several ? NULL : by_name;
    feed_memo_add(&attributes->options, attribute, text, found);
    return found;
}

static bool add_option(const struct attribute_option *option, struct arena *arena,
                       Torg__V1__AttributeValue *value)
{
    char **longer;

    for (size_t i = 0; i < value->n_options; i++) {
        if (strcmp(value->options[i], option->id) == 0)
            return true;
    }
    if (value->n_options == CATALOG_VALUE_COUNT_MAX)
        return false;
    longer = arena_array(arena, value->n_options + 1, sizeof(*longer));
    if (value->n_options)
        memcpy(longer, value->options, value->n_options * sizeof(*longer));
    longer[value->n_options++] = (char *)option->id;
    value->options = longer;
    return true;
}

/* One option; or, where several are allowed, their names with commas between. */
static const char *read_options(struct feed_attributes *attributes,
                                const struct attribute *attribute, struct bytes text,
                                struct arena *arena, Torg__V1__AttributeValue *value)
{
    const struct attribute_option *option = find_option(attributes, attribute, text);
    const char *wrong = NULL;
    struct bytes rest = text;

    if (option) {
        add_option(option, arena, value);
        return NULL;
    }
    while (attribute->type == TYPE(OPTIONS) && rest.size) {
        struct bytes part;
        size_t size = 0;

        while (size < rest.size && !strchr(",;|", rest.data[size]))
            size++;
        part = feed_trim(bytes_make(rest.data, size));
        rest = bytes_skip(rest, size < rest.size ? size + 1 : size);
        option = part.size ? find_option(attributes, attribute, part) : NULL;
        if (part.size && !option)
            wrong = arena_printf(arena, "it has no option \"%.*s\"", BYTES_ARG(feed_shown(part)));
        if (option)
            add_option(option, arena, value);
    }
    if (value->n_options)
        return wrong;
    return arena_printf(arena, "it has no option \"%.*s\"", BYTES_ARG(feed_shown(text)));
}

/* "18" in "В" may be the option "18 В". */
static const char *read_option_with_unit(struct feed_attributes *attributes,
                                         const struct attribute *attribute,
                                         const struct feed_attribute *given, struct arena *arena,
                                         Torg__V1__AttributeValue *value)
{
    if (given->unit.size) {
        const char *whole =
            arena_printf(arena, "%.*s %.*s", BYTES_ARG(given->value), BYTES_ARG(given->unit));

        if (find_option(attributes, attribute, bytes_of(whole)))
            return read_options(attributes, attribute, bytes_of(whole), arena, value);
    }
    return read_options(attributes, attribute, given->value, arena, value);
}

const char *feed_attribute_read(struct feed_attributes *attributes,
                                const struct attribute *attribute,
                                const struct feed_attribute *given, struct arena *arena,
                                Torg__V1__AttributeValue *value)
{
    bool flag;

    value->attribute_id = (char *)attribute->id;
    switch (attribute->type) {
    case TYPE(OPTION):
        if (value->n_options)
            return "it is there twice";
        return read_option_with_unit(attributes, attribute, given, arena, value);
    case TYPE(OPTIONS):
        return read_option_with_unit(attributes, attribute, given, arena, value);
    default:
        break;
    }
    if (value->value_case != VALUE(_NOT_SET))
        return "it is there twice";
    if (attribute->type == TYPE(FLAG)) {
        if (!feed_parse_flag(given->value, &flag))
            return arena_printf(arena, "\"%.*s\" is neither yes nor no",
                                BYTES_ARG(feed_shown(given->value)));
        value->value_case = VALUE(FLAG);
        value->flag = flag;
        return NULL;
    }
    if (attribute->type != TYPE(TEXT))
        return read_number(attribute, given, attributes->decimal, arena, value);
    value->value_case = VALUE(TEXT);
    value->text = given->unit.size ? arena_printf(arena, "%.*s %.*s", BYTES_ARG(given->value),
                                                  BYTES_ARG(given->unit))
                                   : arena_text(arena, given->value);
    return NULL;
}

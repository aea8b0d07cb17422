/* SPDX-License-Identifier: Apache-2.0 */
/* feed_attribute.c - see feed_attribute.h. */
#include "offers/feed_attribute.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "catalog/words.h"
#include "offers/feed_value.h"

#define TYPE(name) TORG__V1__ATTRIBUTE__TYPE__##name
#define VALUE(name) TORG__V1__ATTRIBUTE_VALUE__VALUE_##name

enum { NUMBER_SIZE_MAX = 32, YEAR_MAX = 9999 };

void feed_attributes_init(struct feed_attributes *attributes)
{
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

const struct attribute *feed_attribute_find(struct feed_attributes *attributes,
                                            const struct category *category, struct bytes name)
{
    const struct attribute *attribute;
    const void *known;
    const char *folded;

    if (feed_memo_find(&attributes->names, category, name, &known))
        return known;
    arena_reset(attributes->scratch);
    folded = words_fold(name, attributes->scratch);
    attribute = find_named(category, folded, attributes->scratch);
    if (!attribute)
        attribute = find_also(category, folded, attributes->scratch);
    feed_memo_add(&attributes->names, category, name, attribute);
    return attribute;
}

/* --- numbers --- */

static const struct attribute_unit *find_unit(const struct attribute *attribute, struct bytes text,
                                              struct arena *arena)
{
    const char *folded = words_fold_name(text, arena);
    size_t size = strlen(folded);

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

/* "1 200,50 кг": the digits with a point, and what stands behind them. */
static bool split_number(struct bytes text, char number[NUMBER_SIZE_MAX], struct bytes *unit)
{
    size_t size = 0;
    size_t at = 0;

    while (at < text.size && size + 1 < NUMBER_SIZE_MAX) {
        size_t blank = feed_blank_size(bytes_skip(text, at));
        uint8_t byte = text.data[at];
        bool before_digit =
            at + blank < text.size && text.data[at + blank] >= '0' && text.data[at + blank] <= '9';

        if (byte >= '0' && byte <= '9')
            number[size++] = (char)byte;
        else if ((byte == ',' || byte == '.') && size && at + 1 < text.size &&
                 text.data[at + 1] >= '0' && text.data[at + 1] <= '9')
            number[size++] = '.';
        else if (byte == '-' && !size)
            number[size++] = '-';
        else if (!(blank && size && before_digit)) /* blanks between thousands */
            break;
        at += blank ? blank : 1;
    }
    number[size] = 0;
    *unit = feed_trim(bytes_skip(text, at));
    return size > 0 && size + 1 < NUMBER_SIZE_MAX;
}

static const char *read_number(const struct attribute *attribute,
                               const struct feed_attribute *given, struct arena *arena,
                               Torg__V1__AttributeValue *value)
{
    const struct attribute_unit *unit = NULL;
    char number[NUMBER_SIZE_MAX];
    struct decimal decimal;
    struct bytes behind;
    int64_t integer;
    unsigned digits = 0;

    if (!split_number(given->value, number, &behind) ||
        !decimal_parse(bytes_of(number), &decimal, &digits))
        return arena_printf(arena, "\"%.*s\" is not a number", BYTES_ARG(feed_shown(given->value)));
    if (!behind.size)
        behind = given->unit;
    if (behind.size && attribute->unit_count) {
        unit = find_unit(attribute, behind, arena);
        if (!unit)
            return arena_printf(arena, "it is not measured in \"%.*s\"; in \"%s\", for example",
                                BYTES_ARG(feed_shown(behind)), attribute->units[0].id);
        value->unit = (char *)unit->id;
    }
    if (attribute->type == TYPE(DECIMAL)) {
        char *text = arena_alloc(arena, DECIMAL_TEXT_SIZE);

        decimal_format(decimal, text);
        value->value_case = VALUE(DECIMAL);
        value->decimal = text;
        return NULL;
    }
    integer = decimal.millionths / DECIMAL_ONE;
    if (digits)
        return arena_printf(arena, "%s is not a whole number", number);
    if (attribute->type == TYPE(INTEGER)) {
        value->value_case = VALUE(INTEGER);
        value->integer = integer;
        return NULL;
    }
    if (integer < 0 || integer > YEAR_MAX)
        return arena_printf(arena, "%s is not a year", number);
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

static const struct attribute_option *find_option(struct feed_attributes *attributes,
                                                  const struct attribute *attribute,
                                                  struct bytes text)
{
    const struct attribute_option *found = NULL;
    const struct attribute_option *by_name = NULL;
    bool several = false;
    const char *folded;
    const void *known;

    if (feed_memo_find(&attributes->options, attribute, text, &known))
        return known;
    arena_reset(attributes->scratch);
    folded = words_fold(text, attributes->scratch);
    for (size_t i = 0; !found && *folded && i < attribute->option_count; i++) {
        const struct attribute_option *option = attribute->options[i];

        if (bytes_equal_text(text, option->id) ||
            is_option_path(option, folded, attributes->scratch)) {
            found = option;
        } else if (text_is_named(&option->name, folded, attributes->scratch)) {
            several = by_name != NULL; /* the same name below two parents says nothing */
            by_name = option;
        }
    }
    if (!found && !several)
        found = by_name;
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
        return read_options(attributes, attribute, given->value, arena, value);
    case TYPE(OPTIONS):
        return read_options(attributes, attribute, given->value, arena, value);
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
        return read_number(attribute, given, arena, value);
    value->value_case = VALUE(TEXT);
    value->text = given->unit.size ? arena_printf(arena, "%.*s %.*s", BYTES_ARG(given->value),
                                                  BYTES_ARG(given->unit))
                                   : arena_text(arena, given->value);
    return NULL;
}

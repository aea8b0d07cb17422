/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_define.c - the attributes a catalogue defines: each read and checked by itself. */
#include <assert.h>
#include <string.h>

#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"
#include "catalog/words.h"

#define TYPE(name) TORG__V1__ATTRIBUTE__TYPE__##name
#define FILTER(name) TORG__V1__ATTRIBUTE__FILTER__##name

enum { YEAR_MIN = 1000, YEAR_MAX = 9999 };

static bool has_options(const struct attribute *attribute)
{
    return attribute->type == TYPE(OPTION) || attribute->type == TYPE(OPTIONS);
}

static bool has_limits(const struct attribute *attribute)
{
    return attribute->type == TYPE(INTEGER) || attribute->type == TYPE(DECIMAL) ||
           attribute->type == TYPE(YEAR);
}

/* --- what definitions and overrides share --- */

static void set_limit(struct loading *loading, const struct place *place,
                      const struct attribute *attribute, const char *field, const char *text,
                      struct decimal *limit, bool *has)
{
    unsigned digits;

    if (!*text)
        return;
    if (!has_limits(attribute))
        loading_fault(loading, place, field, "only an INTEGER, DECIMAL or YEAR has limits");
    else if (!decimal_parse(bytes_of(text), limit, &digits))
        loading_fault(loading, place, field,
                      "\"%.40s\" is not a number such as \"10\" or \"0.5\" with at most %d digits "
                      "after the point",
                      text, DECIMAL_DIGITS);
    else if (digits > attribute->digits)
        loading_fault(loading, place, field, "%s has more than %u digits after the point", text,
                      attribute->digits);
    else
        *has = true;
}

static void set_lengths(struct loading *loading, const struct place *place,
                        struct attribute *attribute, uint32_t length_min, uint32_t length_max)
{
    if ((length_min || length_max) && attribute->type != TYPE(TEXT)) {
        loading_fault(loading, place, length_max ? "lengthMax" : "lengthMin",
                      "only a TEXT has a length");
        return;
    }
    if (length_max > CATALOG_TEXT_LENGTH_MAX)
        loading_fault(loading, place, "lengthMax", "%u is above the limit of %d", length_max,
                      CATALOG_TEXT_LENGTH_MAX);
    if (length_min)
        attribute->length_min = length_min;
    if (length_max)
        attribute->length_max = length_max;
    if (attribute->length_min > attribute->length_max)
        loading_fault(loading, place, "lengthMin", "%u is above lengthMax, %u",
                      attribute->length_min, attribute->length_max);
}

static uint32_t least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

void loading_set_limits(struct loading *loading, const struct place *place,
                        struct attribute *attribute, const char *min, const char *max,
                        uint32_t length_min, uint32_t length_max, uint32_t count_max)
{
    set_limit(loading, place, attribute, "min", min, &attribute->min, &attribute->has_min);
    set_limit(loading, place, attribute, "max", max, &attribute->max, &attribute->has_max);
    if (attribute->has_min && attribute->has_max &&
        decimal_compare(attribute->min, attribute->max) > 0) {
        char low[DECIMAL_TEXT_SIZE];
        char high[DECIMAL_TEXT_SIZE];

        decimal_format(attribute->min, low);
        decimal_format(attribute->max, high);
        loading_fault(loading, place, *min ? "min" : "max", "min %s is above max %s", low, high);
    }
    set_lengths(loading, place, attribute, length_min, length_max);
    if (count_max && attribute->type != TYPE(OPTIONS))
        loading_fault(loading, place, "countMax", "only OPTIONS can be several");
    else if (count_max)
        attribute->count_max = least(count_max, CATALOG_CHOSEN_COUNT_MAX);
}

static const char *filter_misfit(const struct attribute *attribute,
                                 Torg__V1__Attribute__Filter filter)
{
    switch (filter) {
    case FILTER(NONE):
        return NULL;
    case FILTER(LIST):
        return has_options(attribute) || has_limits(attribute)
                   ? NULL
                   : "LIST is for an OPTION, OPTIONS, INTEGER, DECIMAL or YEAR";
    case FILTER(RANGE):
        return has_limits(attribute) ? NULL : "RANGE is for an INTEGER, DECIMAL or YEAR";
    case FILTER(TOGGLE):
        return attribute->type == TYPE(FLAG) ? NULL : "TOGGLE is for a FLAG";
    case FILTER(TREE):
        return has_options(attribute) ? NULL : "TREE is for an OPTION or OPTIONS";
    default:
        return "there is no such filter";
    }
}

void loading_set_filter(struct loading *loading, const struct place *place,
                        struct attribute *attribute, Torg__V1__Attribute__Filter filter)
{
    const char *misfit;

    if (filter == FILTER(FILTER_UNSPECIFIED))
        return;
    misfit = filter_misfit(attribute, filter);
    if (misfit)
        loading_fault(loading, place, "filter", "%s", misfit);
    else
        attribute->filter = filter;
}

/* --- options and units --- */

static void read_option(struct loading *loading, size_t definition_place, size_t index,
                        const Torg__V1__Option *message, struct attribute_definition *definition,
                        struct attribute_option *option)
{
    const struct place place = {"attributes", definition_place, "options", index};
    const struct attribute_option *same;

    option->id = message->id;
    option->place = (uint32_t)index;
    option->name = loading_name(loading, &place, message->name);
    if (*message->parent) {
        option->parent = id_table_find(&definition->options, message->parent);
        if (!option->parent)
            loading_fault(loading, &place, "parent", "no option \"%.64s\" stands before it",
                          message->parent);
    }
    if (!loading_check_id(loading, &place, message->id))
        return;
    same = id_table_add(&definition->options, option->id, option);
    if (same)
        loading_fault(loading, &place, "id", "\"%s\" is the id of options[%u] too", option->id,
                      same->place);
}

/* Two options under one parent with one name could not be told apart on a page. */
static void check_option_names(struct loading *loading, const struct place *place,
                               const struct attribute *attribute, enum language language)
{
    struct arena_mark mark = arena_mark(loading->arena);
    struct id_table seen;

    id_table_init(&seen, attribute->option_count, loading->arena);
    for (size_t i = 0; i < attribute->option_count; i++) {
        const struct attribute_option *option = attribute->options[i];
        const struct place at = {place->list, place->index, "options", i};
        const char *name = words_fold_name(bytes_of(option->name.in[language]), loading->arena);
        const struct attribute_option *same;

        name = arena_printf(loading->arena, "%u/%s", option->parent ? option->parent->place + 1 : 0,
                            name);
        same = id_table_add(&seen, name, (void *)option);
        if (same && strcmp(same->id, option->id) != 0)
            loading_fault(loading, &at, "name",
                          "the options \"%s\" and \"%s\" have the same name \"%s\"", same->id,
                          option->id, option->name.in[language]);
    }
    arena_rewind(loading->arena, mark);
}

static void read_options(struct loading *loading, const struct place *place,
                         const Torg__V1__Attribute *message,
                         struct attribute_definition *definition)
{
    struct attribute *attribute = &definition->attribute;
    size_t before = loading->violations->count;
    size_t count = message->n_options;
    struct attribute_option *options;
    const struct attribute_option **list;

    if (!has_options(attribute)) {
        if (count)
            loading_fault(loading, place, "options", "only an OPTION or OPTIONS has options");
        return;
    }
    if (!count || count > CATALOG_OPTION_COUNT_MAX) {
        loading_fault(loading, place, "options", "%zu options; it has 1 to %d", count,
                      CATALOG_OPTION_COUNT_MAX);
        return;
    }
    options = arena_array(loading->arena, count, sizeof(options[0]));
    list = arena_array(loading->arena, count, sizeof(list[0]));
    id_table_init(&definition->options, count, loading->arena);
    for (size_t i = 0; i < count; i++) {
        read_option(loading, definition->place, i, message->options[i], definition, &options[i]);
        list[i] = &options[i];
    }
    attribute->options = list;
    attribute->option_count = count;
    attribute->count_max =
        attribute->type == TYPE(OPTIONS) ? least((uint32_t)count, CATALOG_CHOSEN_COUNT_MAX) : 1;
    for (int language = 0; language < LANGUAGE_COUNT && before == loading->violations->count;
         language++)
        check_option_names(loading, place, attribute, language);
}

static void read_unit(struct loading *loading, const struct place *place,
                      const Torg__V1__Unit *message, const struct attribute_unit *before,
                      struct attribute_unit *unit)
{
    unit->id = message->id;
    unit->name = loading_name(loading, place, message->name);
    unit->factor = (struct decimal){DECIMAL_ONE};
    loading_check_id(loading, place, message->id);
    for (const struct attribute_unit *other = before; other < unit; other++) {
        if (strcmp(other->id, unit->id) == 0)
            loading_fault(loading, place, "id", "\"%.64s\" is the id of units[%td] too", unit->id,
                          other - before);
    }
    if (*message->factor && (!decimal_parse(bytes_of(message->factor), &unit->factor, NULL) ||
                             unit->factor.millionths <= 0))
        loading_fault(loading, place, "factor",
                      "\"%.40s\" is not a number above 0 with at most %d digits after the point",
                      message->factor, DECIMAL_DIGITS);
    else if (place->part_index == 0 && unit->factor.millionths != DECIMAL_ONE)
        loading_fault(loading, place, "factor", "the first unit is the base: its factor is 1");
    else if (place->part_index > 0 && !*message->factor)
        loading_fault(loading, place, "factor", "say how many %.64s one %.64s is", before->id,
                      unit->id);
}

static void read_units(struct loading *loading, const struct place *place,
                       const Torg__V1__Attribute *message, struct attribute *attribute)
{
    size_t count = message->n_units;
    size_t max = attribute->type == TYPE(DECIMAL)   ? CATALOG_UNIT_COUNT_MAX
                 : attribute->type == TYPE(INTEGER) ? 1
                                                    : 0;
    struct attribute_unit *units;

    if (count > max) {
        loading_fault(loading, place, "units", "%zu units; this type has at most %zu", count, max);
        return;
    }
    units = arena_array(loading->arena, count + 1, sizeof(units[0]));
    for (size_t i = 0; i < count; i++) {
        const struct place at = {place->list, place->index, "units", i};

        read_unit(loading, &at, message->units[i], units, &units[i]);
    }
    attribute->units = units;
    attribute->unit_count = count;
}

/* --- whole definitions --- */

static void set_digits(struct loading *loading, const struct place *place,
                       const Torg__V1__Attribute *message, struct attribute *attribute)
{
    attribute->digits = attribute->type == TYPE(DECIMAL) ? DECIMAL_DIGITS : 0;
    if (!message->_digits_case)
        return;
    if (attribute->type != TYPE(DECIMAL) || message->digits > DECIMAL_DIGITS)
        loading_fault(loading, place, "digits", "only a DECIMAL has digits, at most %d",
                      DECIMAL_DIGITS);
    else
        attribute->digits = message->digits;
}

static void set_year_limits(struct attribute *attribute)
{
    attribute->has_min = true;
    attribute->has_max = true;
    decimal_from_integer(YEAR_MIN, &attribute->min);
    decimal_from_integer(YEAR_MAX, &attribute->max);
}

static void define(struct loading *loading, const Torg__V1__Attribute *message,
                   struct attribute_definition *definition)
{
    const struct place place = {"attributes", definition->place, NULL, 0};
    struct attribute *attribute = &definition->attribute;
    const struct attribute_definition *same;

    attribute->id = message->id;
    attribute->definition = definition;
    attribute->type = message->type;
    attribute->filter = FILTER(NONE);
    attribute->required = message->required;
    attribute->name = loading_name(loading, &place, message->name);
    attribute->folded = loading_fold(loading, &attribute->name);
    if (loading_check_id(loading, &place, message->id)) {
        same = id_table_add(&loading->catalog->definition_ids, message->id, definition);
        if (same)
            loading_fault(loading, &place, "id", "\"%s\" is the id of attributes[%zu] too",
                          message->id, same->place);
    }
    if (attribute->type <= TYPE(TYPE_UNSPECIFIED) || attribute->type > TYPE(YEAR)) {
        loading_fault(loading, &place, "type",
                      "expected TEXT, OPTION, OPTIONS, INTEGER, DECIMAL, FLAG or YEAR");
        return;
    }
    if (attribute->type == TYPE(TEXT))
        attribute->length_max = CATALOG_TEXT_LENGTH;
    if (attribute->type == TYPE(YEAR))
        set_year_limits(attribute);
    set_digits(loading, &place, message, attribute);
    read_options(loading, &place, message, definition);
    read_units(loading, &place, message, attribute);
    loading_set_limits(loading, &place, attribute, message->min, message->max, message->length_min,
                       message->length_max, message->count_max);
    loading_set_filter(loading, &place, attribute, message->filter);
}

void loading_define(struct loading *loading)
{
    const Torg__V1__Catalog *message = loading->catalog->message;
    struct catalog *catalog = loading->catalog;
    size_t count = message->n_attributes;

    if (count > CATALOG_ATTRIBUTE_COUNT_MAX) {
        const struct place place = {"attributes", CATALOG_ATTRIBUTE_COUNT_MAX, NULL, 0};

        loading_fault(loading, &place, "", "%zu attributes; the limit is %d", count,
                      CATALOG_ATTRIBUTE_COUNT_MAX);
        count = CATALOG_ATTRIBUTE_COUNT_MAX;
    }
    catalog->definitions =
        arena_array(loading->arena, count ? count : 1, sizeof(catalog->definitions[0]));
    id_table_init(&catalog->definition_ids, count, loading->arena);
    for (size_t i = 0; i < count; i++) {
        size_t before = loading->violations->count;

        catalog->definitions[i].place = i;
        define(loading, message->attributes[i], &catalog->definitions[i]);
        catalog->definitions[i].broken = loading->violations->count > before;
    }
}

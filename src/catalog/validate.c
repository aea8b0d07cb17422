/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c - see validate.h. */
#include "catalog/validate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/bounds.h"

#define TYPE(name) TORG__V1__ATTRIBUTE__TYPE__##name
#define VALUE(name) TORG__V1__ATTRIBUTE_VALUE__VALUE_##name

enum { SHOWN_MAX = 64 }; /* bytes of a client's text that a reason repeats */

struct checking {
    const struct category *category;
    const char *field; /* of the list */
    size_t index;
    enum language language;
    struct violations *violations;
};

static void fault(struct checking *checking, const char *part, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fault(struct checking *checking, const char *part, const char *format, ...)
{
    struct arena *arena = checking->violations->arena;
    const char *path;
    const char *reason;
    va_list args;

    path = arena_printf(arena, "%s[%zu].%s", checking->field, checking->index, part);
    va_start(args, format);
    reason = arena_vprintf(arena, format, args);
    va_end(args);
    violations_add(checking->violations, path, "%s", reason);
}

static const char *name_of(const struct checking *checking, const struct attribute *attribute)
{
    return attribute->name.in[checking->language];
}

/* --- the type --- */

static const char *value_field(Torg__V1__AttributeValue__ValueCase value)
{
    static const char *const fields[] = {[VALUE(TEXT)] = "text",
                                         [VALUE(INTEGER)] = "integer",
                                         [VALUE(DECIMAL)] = "decimal",
                                         [VALUE(FLAG)] = "flag",
                                         [VALUE(YEAR)] = "year"};

    return (size_t)value < ARRAY_COUNT(fields) && fields[value] ? fields[value] : "value";
}

static Torg__V1__AttributeValue__ValueCase wanted_case(const struct attribute *attribute)
{
    switch (attribute->type) {
    case TYPE(TEXT):
        return VALUE(TEXT);
    case TYPE(INTEGER):
        return VALUE(INTEGER);
    case TYPE(DECIMAL):
        return VALUE(DECIMAL);
    case TYPE(FLAG):
        return VALUE(FLAG);
    case TYPE(YEAR):
        return VALUE(YEAR);
    default:
        return VALUE(_NOT_SET);
    }
}

/* Whether the value is in the field of the attribute's type, and nothing is in others. */
static bool check_shape(struct checking *checking, const struct attribute *attribute,
                        const Torg__V1__AttributeValue *value)
{
    Torg__V1__AttributeValue__ValueCase wanted = wanted_case(attribute);
    const char *name = name_of(checking, attribute);
    size_t before = checking->violations->count;

    if (wanted == VALUE(_NOT_SET)) {
        if (value->value_case != VALUE(_NOT_SET))
            fault(checking, value_field(value->value_case),
                  "\"%s\" is chosen from options: give their ids in options", name);
        else if (!value->n_options)
            fault(checking, "options", "\"%s\" has no value; leave it out, or name an option",
                  name);
    } else {
        if (value->n_options)
            fault(checking, "options", "\"%s\" has no options: give its value in %s", name,
                  value_field(wanted));
        if (value->value_case != wanted)
            fault(checking, value_field(wanted), "\"%s\" needs a value in the field %s", name,
                  value_field(wanted));
    }
    if (*value->unit && !unit_find(attribute, value->unit)) {
        if (attribute->unit_count)
            fault(checking, "unit", "\"%s\" is not measured in \"%.*s\"; in \"%s\", for example",
                  name, SHOWN_MAX, value->unit, attribute->units[0].id);
        else
            fault(checking, "unit", "\"%s\" has no units", name);
    }
    return checking->violations->count == before;
}

/* --- limits --- */

/* " km", or nothing. */
static const char *base_unit(const struct checking *checking, const struct attribute *attribute)
{
    if (!attribute->unit_count)
        return "";
    return arena_printf(checking->violations->arena, " %s",
                        attribute->units[0].name.in[checking->language]);
}

static void check_limits(struct checking *checking, const struct attribute *attribute,
                         const char *part, struct decimal value, const char *given)
{
    char limit[DECIMAL_TEXT_SIZE];

    if (attribute->has_min && decimal_compare(value, attribute->min) < 0) {
        decimal_format(attribute->min, limit);
        fault(checking, part, "%s is below %s%s, the minimum of \"%s\"", given, limit,
              base_unit(checking, attribute), name_of(checking, attribute));
    }
    if (attribute->has_max && decimal_compare(value, attribute->max) > 0) {
        decimal_format(attribute->max, limit);
        fault(checking, part, "%s is above %s%s, the maximum of \"%s\"", given, limit,
              base_unit(checking, attribute), name_of(checking, attribute));
    }
}

static void check_integer(struct checking *checking, const struct attribute *attribute,
                          int64_t integer, const char *part)
{
    struct arena *arena = checking->violations->arena;
    struct decimal value;

    if (!decimal_from_integer(integer, &value))
        fault(checking, part, "%" PRId64 " is too large", integer);
    else
        check_limits(checking, attribute, part, value, arena_printf(arena, "%" PRId64, integer));
}

/* In base units, and then with no more digits than the attribute has; false: it does not fit. */
static bool to_base(const struct attribute *attribute, const char *unit_id, struct decimal *value)
{
    const struct attribute_unit *unit = *unit_id ? unit_find(attribute, unit_id) : NULL;

    if (!unit || unit == attribute->units)
        return true;
    if (!decimal_multiply(*value, unit->factor, value))
        return false;
    *value = decimal_round(*value, attribute->digits);
    return true;
}

/* "17.5 l", as the client gave it. */
static const char *given_text(const struct checking *checking, const struct attribute *attribute,
                              const char *number, const char *unit_id)
{
    const struct attribute_unit *unit = *unit_id ? unit_find(attribute, unit_id) : attribute->units;

    if (!attribute->unit_count)
        return number;
    return arena_printf(checking->violations->arena, "%s %s", number,
                        unit->name.in[checking->language]);
}

static void check_decimal(struct checking *checking, const struct attribute *attribute,
                          const Torg__V1__AttributeValue *message)
{
    bool in_base = !*message->unit || strcmp(message->unit, attribute->units[0].id) == 0;
    struct decimal value;
    unsigned digits;

    if (!decimal_parse(bytes_of(message->decimal), &value, &digits)) {
        fault(checking, "decimal",
              "\"%.*s\" is not a number such as 17.5, with at most %d digits after the point",
              SHOWN_MAX, message->decimal, DECIMAL_DIGITS);
        return;
    }
    if (in_base && digits > attribute->digits)
        fault(checking, "decimal", "%s has more than %u digits after the point, the most of \"%s\"",
              message->decimal, attribute->digits, name_of(checking, attribute));
    if (!to_base(attribute, message->unit, &value))
        fault(checking, "decimal", "%s is too large", message->decimal);
    else
        check_limits(checking, attribute, "decimal", value,
                     given_text(checking, attribute, message->decimal, message->unit));
}

/* Without blanks at its ends. */
static struct bytes trim(const char *text)
{
    struct bytes rest = bytes_of(text + strspn(text, " \t\r\n"));

    while (rest.size && strchr(" \t\r\n", rest.data[rest.size - 1]))
        rest.size--;
    return rest;
}

static void check_text(struct checking *checking, const struct attribute *attribute,
                       const char *text)
{
    struct bytes trimmed = trim(text);
    size_t length = text_length(trimmed);

    if (!trimmed.size)
        fault(checking, "text", "\"%s\" is empty; leave it out instead",
              name_of(checking, attribute));
    else if (length < attribute->length_min)
        fault(checking, "text", "%zu characters; \"%s\" has at least %u", length,
              name_of(checking, attribute), attribute->length_min);
    if (length > attribute->length_max)
        fault(checking, "text", "%zu characters; \"%s\" has at most %u", length,
              name_of(checking, attribute), attribute->length_max);
}

/* --- options --- */

static bool is_before(char *const *list, size_t place)
{
    for (size_t i = 0; i < place; i++) {
        if (strcmp(list[i], list[place]) == 0)
            return true;
    }
    return false;
}

/* An offer is found by the options above a chosen one, too: all of them are values of one field. Of
 * an option that is there, those above it are. */
static bool fits_field(const struct attribute *attribute, const Torg__V1__AttributeValue *value)
{
    const struct attribute_option *there[CATALOG_CHOSEN_COUNT_MAX];
    size_t count = 0;

    for (size_t i = 0; i < value->n_options; i++) {
        const struct attribute_option *option = option_find(attribute, value->options[i]);

        for (; option; option = option->parent) {
            size_t place = 0;

            while (place < count && there[place] != option)
                place++;
            if (place < count)
                break;
            if (count == CATALOG_CHOSEN_COUNT_MAX)
                return false;
            there[count++] = option;
        }
    }
    return true;
}

static void check_options(struct checking *checking, const struct attribute *attribute,
                          const Torg__V1__AttributeValue *value)
{
    size_t distinct = 0;

    /* Before the loop, which is quadratic. */
    if (value->n_options > CATALOG_OPTION_COUNT_MAX / 10) {
        fault(checking, "options", "%zu options; at most %d are looked at", value->n_options,
              CATALOG_OPTION_COUNT_MAX / 10);
        return;
    }
    for (size_t i = 0; i < value->n_options; i++) {
        if (!option_find(attribute, value->options[i]))
            fault(checking, arena_printf(checking->violations->arena, "options[%zu]", i),
                  "\"%s\" has no option \"%.*s\" in this category", name_of(checking, attribute),
                  SHOWN_MAX, value->options[i]);
        distinct += !is_before(value->options, i);
    }
    if (distinct > attribute->count_max)
        fault(checking, "options", "%zu options; \"%s\" has at most %u", distinct,
              name_of(checking, attribute), attribute->count_max);
    else if (!fits_field(attribute, value))
        fault(
            checking, "options",
            "more than %d options, counted with those above them in their tree, which is the most "
            "\"%s\" can have: choose fewer",
            CATALOG_CHOSEN_COUNT_MAX, name_of(checking, attribute));
}

/* --- whole lists --- */

static void check_value(struct checking *checking, const struct attribute *attribute,
                        const Torg__V1__AttributeValue *value)
{
    if (!check_shape(checking, attribute, value))
        return;
    switch (attribute->type) {
    case TYPE(TEXT):
        check_text(checking, attribute, value->text);
        break;
    case TYPE(INTEGER):
        check_integer(checking, attribute, value->integer, "integer");
        break;
    case TYPE(YEAR):
        check_integer(checking, attribute, value->year, "year");
        break;
    case TYPE(DECIMAL):
        check_decimal(checking, attribute, value);
        break;
    case TYPE(OPTION):
    case TYPE(OPTIONS):
        check_options(checking, attribute, value);
        break;
    default: /* a flag is either */
        break;
    }
}

static size_t position_of(const struct category *category, const char *attribute_id)
{
    for (size_t i = 0; i < category->attribute_count; i++) {
        if (strcmp(category->attributes[i]->id, attribute_id) == 0)
            return i;
    }
    return category->attribute_count;
}

static void check_one(struct checking *checking, const Torg__V1__AttributeValue *value,
                      size_t *seen)
{
    const struct category *category = checking->category;
    size_t at = position_of(category, value->attribute_id);

    if (at == category->attribute_count) {
        fault(checking, "attributeId", "the category \"%s\" has no attribute \"%.*s\"",
              category->name.in[checking->language], SHOWN_MAX, value->attribute_id);
        return;
    }
    if (seen[at])
        fault(checking, "attributeId", "\"%s\" has a value at %s[%zu] too",
              name_of(checking, category->attributes[at]), checking->field, seen[at] - 1);
    else
        seen[at] = checking->index + 1;
    check_value(checking, category->attributes[at], value);
}

size_t catalog_validate_attributes(const struct category *category,
                                   Torg__V1__AttributeValue *const *values, size_t count,
                                   const char *field, bool complete, enum language language,
                                   struct violations *violations)
{
    struct checking checking = {
        .category = category, .field = field, .language = language, .violations = violations};
    size_t seen[CATALOG_ATTRIBUTE_CATEGORY_MAX] = {0}; /* place of the value + 1 */
    size_t before = violations->count;

    assert(category->attribute_count <= CATALOG_ATTRIBUTE_CATEGORY_MAX);
    if (count > CATALOG_VALUE_COUNT_MAX) {
        violations_add(violations, field, "%zu values; the limit is %d", count,
                       CATALOG_VALUE_COUNT_MAX);
        return violations->count - before;
    }
    for (; checking.index < count; checking.index++)
        check_one(&checking, values[checking.index], seen);
    for (size_t i = 0; i < category->attribute_count && complete; i++) {
        const struct attribute *attribute = category->attributes[i];

        if (attribute->required && !seen[i])
            violations_add(violations, field, "\"%s\" (%s) is required here",
                           attribute->name.in[language], attribute->id);
    }
    return violations->count - before;
}

/* --- canonical form --- */

static int compare_options(const void *a, const void *b, void *arg)
{
    const struct attribute *attribute = arg;
    const struct attribute_option *first = option_find(attribute, *(char *const *)a);
    const struct attribute_option *second = option_find(attribute, *(char *const *)b);

    return (first->place > second->place) - (first->place < second->place);
}

static void normalize_options(const struct attribute *attribute, Torg__V1__AttributeValue *value,
                              struct arena *arena)
{
    char **sorted = arena_array(arena, value->n_options + 1, sizeof(sorted[0]));
    size_t kept = 0;

    for (size_t i = 0; i < value->n_options; i++)
        sorted[i] = value->options[i];
    qsort_r(sorted, value->n_options, sizeof(sorted[0]), compare_options, (void *)attribute);
    for (size_t i = 0; i < value->n_options; i++) {
        if (!kept || strcmp(sorted[kept - 1], sorted[i]) != 0)
            sorted[kept++] = sorted[i];
    }
    value->options = sorted;
    value->n_options = kept;
}

static void normalize_decimal(const struct attribute *attribute, Torg__V1__AttributeValue *value,
                              struct arena *arena)
{
    struct decimal number;
    char text[DECIMAL_TEXT_SIZE];
    bool fits = decimal_parse(bytes_of(value->decimal), &number, NULL) &&
                to_base(attribute, value->unit, &number);

    assert(fits); /* it was valid */
    decimal_format(number, text);
    value->decimal = arena_strdup(arena, text);
}

static void normalize(const struct attribute *attribute, Torg__V1__AttributeValue *value,
                      struct arena *arena)
{
    if (attribute->type == TYPE(TEXT))
        value->text = arena_text(arena, trim(value->text));
    else if (attribute->type == TYPE(DECIMAL))
        normalize_decimal(attribute, value, arena);
    else if (value->n_options)
        normalize_options(attribute, value, arena);
    if (attribute->unit_count)
        value->unit = arena_strdup(arena, attribute->units[0].id);
}

static int compare_values(const void *a, const void *b, void *arg)
{
    const Torg__V1__AttributeValue *first = *(Torg__V1__AttributeValue *const *)a;
    const Torg__V1__AttributeValue *second = *(Torg__V1__AttributeValue *const *)b;
    size_t one = position_of(arg, first->attribute_id);
    size_t other = position_of(arg, second->attribute_id);

    return (one > other) - (one < other);
}

void catalog_normalize_attributes(const struct category *category,
                                  Torg__V1__AttributeValue **values, size_t count,
                                  struct arena *arena)
{
    for (size_t i = 0; i < count; i++)
        normalize(attribute_find(category, values[i]->attribute_id), values[i], arena);
    if (count)
        qsort_r(values, count, sizeof(values[0]), compare_values, (void *)category);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* document_value.c - values of fields: which kind it is, and whether it can be kept; document.h. */
#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "codec/moment.h"
#include "index/bounds.h"
#include "index/columns/column_page.h"
#include "model/bounds.h"
#include "query/filter/value.h"
#include "registry/receiving/document.h"

/* As fields of RawField are called; KEYWORDS is apart. */
static const char *const type_names[] = {
    [TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED] = "nothing",
    [TORG__V1__SCHEMA_FIELD__TYPE__TEXT] = "text",
    [TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD] = "keyword",
    [TORG__V1__SCHEMA_FIELD__TYPE__INTEGER] = "integer",
    [TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL] = "decimal",
    [TORG__V1__SCHEMA_FIELD__TYPE__DATE] = "date",
    [TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN] = "boolean",
    [TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY] = "category",
    [TORG__V1__SCHEMA_FIELD__TYPE__POINT] = "point",
    [TORG__V1__SCHEMA_FIELD__TYPE__STORED] = "stored",
    [TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS] = "keywords",
};

const char *schema_type_name(Torg__V1__SchemaField__Type type)
{
    return (unsigned)type < ARRAY_COUNT(type_names) ? type_names[type] : "unknown";
}

static size_t kinds_of(const Torg__V1__RawField *value, Torg__V1__SchemaField__Type types[10])
{
    size_t count = 0;

    if (value->_text_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    if (value->_keyword_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD;
    if (value->n_keywords)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS;
    if (value->_integer_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__INTEGER;
    if (value->_decimal_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL;
    if (value->_date_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__DATE;
    if (value->_boolean_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN;
    if (value->_category_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY;
    if (value->point)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__POINT;
    if (value->_stored_case)
        types[count++] = TORG__V1__SCHEMA_FIELD__TYPE__STORED;
    return count;
}

bool document_has_value(const Torg__V1__RawField *value)
{
    Torg__V1__SchemaField__Type types[10] = {0};

    return kinds_of(value, types) > 0;
}

Torg__V1__SchemaField__Type document_value_type(const struct spot *spot,
                                                const Torg__V1__RawField *value)
{
    Torg__V1__SchemaField__Type types[10] = {0};
    size_t count = kinds_of(value, types);

    if (count == 1)
        return types[0];
    if (!count)
        spot_refuse(spot, "",
                    "has no value: set one of text, keyword, keywords, integer, decimal, date, "
                    "boolean, category, point, stored");
    else
        spot_refuse(spot, "", "has values of %zu kinds (%s, %s%s): set one", count,
                    schema_type_name(types[0]), schema_type_name(types[1]),
                    count > 2 ? ", ..." : "");
    return TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED;
}

void spot_refuse(const struct spot *spot, const char *member, const char *format, ...)
{
    struct arena *arena = spot->reasons->arena;
    const char *text;
    va_list args;

    va_start(args, format);
    text = arena_vprintf(arena, format, args);
    va_end(args);
    violations_add(spot->reasons, arena_printf(arena, "fields[%zu]%s", spot->place, member), "%s",
                   text);
}

/* The byte where a control character (of C0 or C1) or DEL begins; -1: none. */
static long control_at(const char *text)
{
    for (const char *at = text; *at; at++) {
        uint8_t byte = (uint8_t)*at;

        if (byte < ' ' || byte == 0x7f || (byte == 0xc2 && (uint8_t)at[1] < 0xa0))
            return (long)(at - text);
    }
    return -1;
}

const char *document_text_fault(const char *text, size_t size_min, size_t size_max,
                                struct arena *arena)
{
    size_t size = strlen(text);
    long control;

    if (size < size_min)
        return arena_printf(arena, "is empty: expected %zu to %zu bytes", size_min, size_max);
    if (size > size_max)
        return arena_printf(arena, "has %zu bytes; the limit is %zu", size, size_max);
    control = control_at(text);
    return control < 0 ? NULL : arena_printf(arena, "has a control character at byte %ld", control);
}

static void check_long_text(const struct spot *spot, const char *member, const char *text)
{
    size_t size = strlen(text);

    if (size > DOCUMENT_TEXT_SIZE_MAX)
        spot_refuse(spot, member, "has %zu bytes; the limit is %d", size, DOCUMENT_TEXT_SIZE_MAX);
}

static void check_keyword(const struct spot *spot, const char *keyword)
{
    const char *fault = document_text_fault(keyword, 1, KEYWORD_SIZE_MAX, spot->reasons->arena);

    if (fault)
        spot_refuse(spot, ".keyword", "%s", fault);
}

static void check_keywords(const struct spot *spot, const Torg__V1__RawField *value)
{
    if (value->n_keywords > KEYWORD_VALUES_MAX) {
        spot_refuse(spot, ".keywords", "has %zu values; the limit is %d", value->n_keywords,
                    KEYWORD_VALUES_MAX);
        return;
    }
    for (size_t i = 0; i < value->n_keywords; i++) {
        struct arena *arena = spot->reasons->arena;
        const char *fault = document_text_fault(value->keywords[i], 1, KEYWORD_SIZE_MAX, arena);

        if (fault)
            spot_refuse(spot, arena_printf(arena, ".keywords[%zu]", i), "%s", fault);
    }
}

static void check_category(const struct spot *spot, const char *category)
{
    const char *fault = document_text_fault(category, 1, KEYWORD_SIZE_MAX, spot->reasons->arena);
    size_t depth = 1;
    char before = '/';
    bool has_empty = false;

    for (const char *at = category; *at; at++) {
        has_empty = has_empty || (*at == '/' && before == '/');
        depth += *at == '/';
        before = *at;
    }
    if (fault)
        spot_refuse(spot, ".category", "%s", fault);
    else if (has_empty || before == '/')
        spot_refuse(spot, ".category",
                    "\"%.60s\" has an empty part: write it as \"transport/cars\"", category);
    else if (depth > DOCUMENT_PATH_DEPTH_MAX)
        spot_refuse(spot, ".category", "has %zu parts; the limit is %d", depth,
                    DOCUMENT_PATH_DEPTH_MAX);
}

static void check_decimal(const struct spot *spot, const char *text, uint8_t scale)
{
    const struct field type = {.type = FIELD_DECIMAL, .scale = scale};
    int64_t number;

    if (!value_parse(&type, bytes_of(text), false, &number) || number == COLUMN_NULL)
        spot_refuse(spot, ".decimal",
                    "\"%.40s\" is not a decimal with at most %d digits after the point, as "
                    "\"12.5\", or is too great",
                    text, scale);
}

static void check_point(const struct spot *spot, const Torg__V1__GeoPoint *point)
{
    if (!(point->latitude >= -90 && point->latitude <= 90))
        spot_refuse(spot, ".point.latitude", "%g is not between -90 and 90", point->latitude);
    if (!(point->longitude >= -180 && point->longitude <= 180))
        spot_refuse(spot, ".point.longitude", "%g is not between -180 and 180", point->longitude);
}

void document_check_value(const struct spot *spot, const Torg__V1__RawField *value,
                          const struct epoch_field *field)
{
    int64_t us;

    switch (field->type) {
    case TORG__V1__SCHEMA_FIELD__TYPE__TEXT:
        check_long_text(spot, ".text", value->text);
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__STORED:
        check_long_text(spot, ".stored", value->stored);
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD:
        check_keyword(spot, value->keyword);
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS:
        check_keywords(spot, value);
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__INTEGER:
        if (value->integer == COLUMN_NULL)
            spot_refuse(spot, ".integer", "is the greatest integer, which stands for none");
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL:
        check_decimal(spot, value->decimal, field->scale);
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__DATE:
        if (!moment_us(value->date, &us))
            spot_refuse(spot, ".date", "is not between the years 1 and 9999");
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY:
        check_category(spot, value->category);
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__POINT:
        check_point(spot, value->point);
        break;
    default: /* a boolean is right */
        break;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - see value.h. */
#include "registry/plain/value.h"

#include "base/clock.h"
#include "codec/json_value.h"
#include "codec/moment.h"
#include "query/filter/value.h"
#include "registry/receiving/document.h"

struct maker {
    const struct plain_column *column;
    const struct placed_json *value;
    bool is_table;
    struct arena *arena;
    Torg__V1__RawField *field;
};

/* A scalar, as a text; NULL: it is none. */
static char *text_of(const struct placed_json *value, struct arena *arena)
{
    if (value->kind == PLACED_TEXT || value->kind == PLACED_NUMBER || placed_is_boolean(value))
        return arena_text(arena, value->text);
    return NULL;
}

/* A number in the text: of CSV every value is a string. */
static bool is_number(const struct maker *maker)
{
    return maker->value->kind == PLACED_NUMBER ||
           (maker->is_table && maker->value->kind == PLACED_TEXT);
}

static bool put_keywords(struct maker *maker)
{
    const struct placed_json *value = maker->value;
    size_t count = value->kind == PLACED_LIST ? value->count : 1;
    const struct placed_json *one = value->kind == PLACED_LIST ? value->first : value;
    char **list = arena_array(maker->arena, count + 1, sizeof(*list));
    size_t i;

    for (i = 0; i < count; i++, one = one->next) {
        list[i] = text_of(one, maker->arena);
        if (!list[i])
            return false;
    }
    maker->field->keywords = list;
    maker->field->n_keywords = count;
    return true;
}

static bool put_integer(struct maker *maker)
{
    uint64_t magnitude;
    bool negative;

    if (!is_number(maker) || !json_integer(maker->value->text, &negative, &magnitude) ||
        magnitude > INT64_MAX)
        return false;
    maker->field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    maker->field->integer = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static bool put_decimal(struct maker *maker)
{
    const char *decimal;

    if (!is_number(maker) || !plain_decimal(maker->value->text, maker->arena, &decimal, NULL))
        return false;
    maker->field->_decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
    maker->field->decimal = (char *)decimal;
    return true;
}

bool plain_moment(struct bytes text, int64_t *seconds)
{
    static const struct field date = {.type = FIELD_DATE};

    return text.size >= 10 && value_parse(&date, text, false, seconds);
}

static bool put_date(struct maker *maker)
{
    int64_t seconds;

    if (maker->value->kind != PLACED_TEXT || !plain_moment(maker->value->text, &seconds))
        return false;
    maker->field->_date_case = TORG__V1__RAW_FIELD___DATE_DATE;
    maker->field->date = moment_message(seconds * SECOND_US, maker->arena);
    return true;
}

static bool put_boolean(struct maker *maker)
{
    bool is_true = bytes_equal_text(maker->value->text, "true");

    if (!placed_is_boolean(maker->value) &&
        !(maker->is_table && (is_true || bytes_equal_text(maker->value->text, "false"))))
        return false;
    maker->field->_boolean_case = TORG__V1__RAW_FIELD___BOOLEAN_BOOLEAN;
    maker->field->boolean = is_true;
    return true;
}

static bool put_point(struct maker *maker)
{
    Torg__V1__GeoPoint *point = arena_alloc(maker->arena, sizeof(*point));
    struct bytes text = maker->value->text;
    const uint8_t *comma = text.size ? memchr(text.data, ',', text.size) : NULL;
    struct bytes north;
    struct bytes east;

    torg__v1__geo_point__init(point);
    maker->field->point = point;
    if (maker->value->kind == PLACED_OBJECT)
        return plain_point(maker->value, &point->latitude, &point->longitude);
    if (maker->value->kind != PLACED_TEXT || !comma)
        return false;
    north = bytes_make(text.data, (size_t)(comma - text.data)); /* "55.75, 37.62" */
    east = bytes_skip(text, north.size + 1);
    if (east.size && east.data[0] == ' ')
        east = bytes_skip(east, 1);
    return json_double(north, &point->latitude) && json_double(east, &point->longitude);
}

static bool put_text(struct maker *maker)
{
    Torg__V1__RawField *field = maker->field;
    char *text = text_of(maker->value, maker->arena);

    if (!text)
        return false;
    switch (maker->column->type) {
    case TORG__V1__SCHEMA_FIELD__TYPE__TEXT:
        field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
        field->text = text;
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD:
        field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
        field->keyword = text;
        break;
    case TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY:
        field->_category_case = TORG__V1__RAW_FIELD___CATEGORY_CATEGORY;
        field->category = text;
        break;
    default:
        field->_stored_case = TORG__V1__RAW_FIELD___STORED_STORED;
        field->stored = text;
        break;
    }
    return true;
}

static bool put(struct maker *maker)
{
    switch (maker->column->type) {
    case TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS:
        return put_keywords(maker);
    case TORG__V1__SCHEMA_FIELD__TYPE__INTEGER:
        return put_integer(maker);
    case TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL:
        return put_decimal(maker);
    case TORG__V1__SCHEMA_FIELD__TYPE__DATE:
        return put_date(maker);
    case TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN:
        return put_boolean(maker);
    case TORG__V1__SCHEMA_FIELD__TYPE__POINT:
        return put_point(maker);
    default:
        return put_text(maker);
    }
}

static const char *form_of(Torg__V1__SchemaField__Type type)
{
    switch (type) {
    case TORG__V1__SCHEMA_FIELD__TYPE__INTEGER:
        return "a whole number";
    case TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL:
        return "a number below 1e15";
    case TORG__V1__SCHEMA_FIELD__TYPE__DATE:
        return "a date as \"2026-11-15\" or \"2026-11-15T08:00:00Z\"";
    case TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN:
        return "true or false";
    case TORG__V1__SCHEMA_FIELD__TYPE__POINT:
        return "a place as {\"lat\": 55.75, \"lon\": 37.62}";
    case TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS:
        return "a string, or a list of strings";
    default:
        return "a string";
    }
}

Torg__V1__RawField *plain_value(const struct plain_column *column, const struct placed_json *value,
                                bool is_table, struct arena *arena, const char **reason)
{
    struct maker maker = {column, value, is_table, arena,
                          arena_alloc(arena, sizeof(Torg__V1__RawField))};

    torg__v1__raw_field__init(maker.field);
    maker.field->name = (char *)column->name;
    if (put(&maker)) {
        if (column->type == TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL) { /* always: twice is the same */
            maker.field->options = arena_alloc(arena, sizeof(*maker.field->options));
            torg__v1__field_options__init(maker.field->options);
            maker.field->options->_scale_case = TORG__V1__FIELD_OPTIONS___SCALE_SCALE;
            maker.field->options->scale = column->scale;
        }
        return maker.field;
    }
    *reason = arena_printf(arena, "is of type %s: expected %s", schema_type_name(column->type),
                           form_of(column->type));
    return NULL;
}

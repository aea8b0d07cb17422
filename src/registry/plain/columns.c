/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - see columns.h. */
#include "registry/plain/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "codec/json_value.h"
#include "index/bounds.h"
#include "model/bounds.h"
#include "model/field_name.h"
#include "query/filter/value.h"
#include "registry/bounds.h"
#include "registry/receiving/document.h"

enum seen {
    SEEN_BOOL = 1,
    SEEN_NUMBER = 2,
    SEEN_GREAT = 4, /* a whole number that decimals cannot hold */
    SEEN_DATE = 8,
    SEEN_STRING = 16,
    SEEN_LONG = 32,
    SEEN_LIST = 64,
    SEEN_POINT = 128,
    SEEN_OTHER = 256,
};

/* --- single values --- */

static const struct placed_json *one_of(const struct placed_json *object,
                                        const char *const names[4])
{
    const struct placed_json *found = NULL;

    for (size_t i = 0; i < 4 && names[i] && !found; i++)
        found = placed_json_find(object, bytes_of(names[i]));
    return found;
}

bool plain_point(const struct placed_json *object, double *latitude, double *longitude)
{
    static const char *const latitudes[4] = {"lat", "latitude"};
    static const char *const longitudes[4] = {"lon", "lng", "longitude", "long"};
    const struct placed_json *north;
    const struct placed_json *east;

    if (object->kind != PLACED_OBJECT || object->count != 2)
        return false;
    north = one_of(object, latitudes);
    east = one_of(object, longitudes);
    return north && east && north->kind == PLACED_NUMBER && east->kind == PLACED_NUMBER &&
           json_double(north->text, latitude) && json_double(east->text, longitude);
}

bool plain_decimal(struct bytes text, struct arena *arena, const char **decimal, uint32_t *scale)
{
    char number[64];
    double value;
    size_t size;
    char *point;

    if (!json_double(text, &value) || !isfinite(value) || fabs(value) >= 1e15)
        return false;
    if (text.size < sizeof(number) && !memchr(text.data, 'e', text.size) &&
        !memchr(text.data, 'E', text.size))
        snprintf(number, sizeof(number), "%.*s", BYTES_ARG(text));
    else
        snprintf(number, sizeof(number), "%.*f", FIELD_SCALE_MAX, value);
    point = strchr(number, '.');
    if (point && strlen(point + 1) > FIELD_SCALE_MAX) /* what is behind is a float's noise */
        snprintf(number, sizeof(number), "%.*f", FIELD_SCALE_MAX, value);
    point = strchr(number, '.');
    size = strlen(number);
    while (point && (number[size - 1] == '0' || number + size - 1 == point)) {
        if (number + size - 1 == point)
            point = NULL;
        number[--size] = 0;
    }
    if (scale)
        *scale = point ? (uint32_t)(number + size - point - 1) : 0;
    *decimal = arena_strdup(arena, number);
    return true;
}

static bool is_date(struct bytes text)
{
    static const struct field date = {.type = FIELD_DATE};
    int64_t value;

    return text.size >= 10 && value_parse(&date, text, false, &value);
}

static bool is_long(struct bytes text)
{
    size_t words = 1;

    for (size_t i = 1; i < text.size; i++)
        words += text.data[i] != ' ' && text.data[i - 1] == ' ';
    return text.size > PLAIN_LONG_TEXT_SIZE || words >= PLAIN_LONG_TEXT_WORDS ||
           (text.size && memchr(text.data, '\n', text.size));
}

static unsigned look_at_number(struct plain_column *column, struct bytes text, struct arena *arena)
{
    struct arena_mark mark = arena_mark(arena);
    const char *decimal;
    uint32_t scale = 0;
    uint64_t magnitude;
    bool negative;
    unsigned seen = SEEN_STRING;

    if (plain_decimal(text, arena, &decimal, &scale)) {
        double value = strtod(decimal, NULL);

        column->scale = scale > column->scale ? scale : column->scale;
        seen = fabs(value) < 1e14 ? SEEN_NUMBER : SEEN_GREAT;
    } else if (json_integer(text, &negative, &magnitude) && magnitude < INT64_MAX) {
        seen = SEEN_GREAT;
    }
    arena_rewind(arena, mark);
    return seen;
}

static unsigned look_at_string(struct plain_column *column, struct bytes text, bool is_table,
                               struct arena *arena)
{
    double value;

    if (is_table && json_double(text, &value) && isfinite(value))
        return look_at_number(column, text, arena);
    if (is_table && (bytes_equal_text(text, "true") || bytes_equal_text(text, "false")))
        return SEEN_BOOL;
    if (is_date(text))
        return SEEN_DATE;
    return is_long(text) ? SEEN_LONG : SEEN_STRING;
}

static unsigned look_at_list(const struct placed_json *list)
{
    for (const struct placed_json *one = list->first; one; one = one->next)
        if (one->kind != PLACED_TEXT && one->kind != PLACED_NUMBER && !placed_is_boolean(one))
            return SEEN_OTHER;
    return list->count && list->count <= KEYWORD_VALUES_MAX ? SEEN_LIST : SEEN_OTHER;
}

/* --- the walk through a document --- */

struct walk {
    struct arena *arena;
    plain_leaf_fn leaf;
    void *arg;
};

static void walk_object(const struct walk *walk, const struct placed_json *object,
                        struct bytes above, int depth)
{
    for (const struct placed_json *one = object->first; one; one = one->next) {
        struct bytes path = one->key;
        double north;
        double east;

        if (one->kind == PLACED_NULL || (!above.size && path.size && path.data[0] == '_'))
            continue;
        if (above.size)
            path = bytes_of(
                arena_printf(walk->arena, "%.*s.%.*s", BYTES_ARG(above), BYTES_ARG(one->key)));
        if (one->kind == PLACED_OBJECT && depth < PLAIN_DEPTH_MAX &&
            !plain_point(one, &north, &east))
            walk_object(walk, one, path, depth + 1);
        else
            walk->leaf(walk->arg, path, one);
    }
}

void plain_walk(const struct placed_json *object, struct arena *arena, plain_leaf_fn leaf,
                void *arg)
{
    struct walk walk = {arena, leaf, arg};

    walk_object(&walk, object, BYTES_EMPTY, 1);
}

/* --- the columns --- */

static struct plain_column *find(const struct plain_columns *columns, struct bytes name)
{
    uint64_t hash = hash64(name);

    for (uint32_t i = 0; i < columns->count; i++)
        if (columns->list[i].hash == hash && bytes_equal_text(name, columns->list[i].name))
            return &columns->list[i];
    return NULL;
}

const struct plain_column *plain_columns_find(const struct plain_columns *columns,
                                              struct bytes path)
{
    struct buf name = BUF_INIT(2 * DOCUMENT_FIELD_NAME_SIZE_MAX);
    const struct plain_column *column =
        field_name_put(path, &name) ? find(columns, buf_bytes(&name)) : NULL;

    buf_release(&name);
    return column;
}

/* The column of a name, made if it is not there; NULL: the name cannot be one, or there are too
 * many, which is told with the document. */
static struct plain_column *obtain(struct plain_columns *columns, struct bytes path)
{
    struct buf name = BUF_INIT(2 * DOCUMENT_FIELD_NAME_SIZE_MAX);
    struct plain_column *column = NULL;

    if (field_name_put(path, &name)) {
        column = find(columns, buf_bytes(&name));
        if (!column && columns->count < PLAIN_COLUMN_COUNT_MAX) {
            column = &columns->list[columns->count++];
            *column = (struct plain_column){.name = arena_text(columns->arena, buf_bytes(&name)),
                                            .path = arena_copy(columns->arena, path),
                                            .hash = hash64(buf_bytes(&name))};
        }
    }
    buf_release(&name);
    return column;
}

static void look_at(void *arg, struct bytes path, const struct placed_json *value)
{
    struct plain_columns *columns = arg;
    struct plain_column *column = bytes_equal(path, columns->key) ? NULL : obtain(columns, path);
    unsigned seen;

    if (!column)
        return;
    if (placed_is_boolean(value))
        seen = SEEN_BOOL;
    else if (value->kind == PLACED_NUMBER)
        seen = look_at_number(column, value->text, columns->arena);
    else if (value->kind == PLACED_TEXT)
        seen = look_at_string(column, value->text, columns->is_table, columns->arena);
    else if (value->kind == PLACED_LIST)
        seen = look_at_list(value);
    else
        seen = plain_point(value, &(double){0}, &(double){0}) ? SEEN_POINT : SEEN_OTHER;
    column->seen |= seen;
    column->number_count += seen == SEEN_NUMBER;
    column->string_count += seen == SEEN_STRING;
}

static bool is_called_text(const char *name)
{
    static const char *const names[] = {"title",    "name",     "description", "text",
                                        "body",     "content",  "headline",    "summary",
                                        "nazvanie", "opisanie", "zagolovok",   "tekst"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static Torg__V1__SchemaField__Type guess(const struct plain_column *column)
{
    unsigned strings = SEEN_STRING | SEEN_LONG | SEEN_DATE;

    if (column->seen == SEEN_BOOL)
        return TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN;
    if (column->seen == SEEN_NUMBER || (column->seen == (SEEN_NUMBER | SEEN_STRING) &&
                                        column->number_count > column->string_count))
        return TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL;
    if ((column->seen & ~(unsigned)(SEEN_NUMBER | SEEN_GREAT)) == 0 && !column->scale)
        return TORG__V1__SCHEMA_FIELD__TYPE__INTEGER;
    if (column->seen == SEEN_DATE)
        return TORG__V1__SCHEMA_FIELD__TYPE__DATE;
    if (column->seen == SEEN_POINT)
        return TORG__V1__SCHEMA_FIELD__TYPE__POINT;
    if (column->seen & (SEEN_OTHER | SEEN_POINT))
        return TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED;
    if (column->seen & SEEN_LIST)
        return TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS;
    if (column->seen & SEEN_LONG || (is_called_text(column->name) && !(column->seen & ~strings)))
        return TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    return TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD;
}

/* Gives each column its type: the schema's, else the one that was said, else the likeliest. */
static void settle_types(struct plain_columns *columns, const struct epoch_view *epoch)
{
    uint32_t text_count = 0;
    bool has_words = epoch && epoch_find_field(epoch, bytes_of(PLAIN_WORDS_FIELD));

    for (uint32_t i = 0; epoch && i < epoch->field_count; i++)
        text_count += epoch->fields[i].type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT;
    columns->has_words = has_words || text_count < DOCUMENT_TEXT_FIELD_COUNT_MAX;
    text_count += !has_words;
    for (uint32_t i = 0; i < columns->count; i++) {
        struct plain_column *column = &columns->list[i];
        const struct epoch_field *field =
            epoch ? epoch_find_field(epoch, bytes_of(column->name)) : NULL;

        if (field) {
            column->type = field->type;
            column->scale = field->scale;
            column->is_known = true;
        } else if (!column->is_known) {
            column->type = guess(column);
        }
        if (column->scale < PLAIN_SCALE && !field)
            column->scale = PLAIN_SCALE;
        if (!field && column->type == TORG__V1__SCHEMA_FIELD__TYPE__TEXT &&
            text_count++ >= DOCUMENT_TEXT_FIELD_COUNT_MAX)
            column->type = TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED;
    }
}

static bool type_of(struct bytes name, Torg__V1__SchemaField__Type *type)
{
    int kind;

    for (kind = TORG__V1__SCHEMA_FIELD__TYPE__TEXT; kind <= TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS;
         kind++) {
        *type = (Torg__V1__SchemaField__Type)kind;
        if (bytes_equal_text(name, schema_type_name(*type)))
            return true;
    }
    return false;
}

/* "colour:keyword,price:integer" */
static int read_types(struct plain_columns *columns, struct bytes types, struct err *err)
{
    while (types.size) {
        const uint8_t *comma = memchr(types.data, ',', types.size);
        struct bytes one = comma ? bytes_make(types.data, (size_t)(comma - types.data)) : types;
        const uint8_t *colon = one.size ? memrchr(one.data, ':', one.size) : NULL;
        struct bytes path = colon ? bytes_make(one.data, (size_t)(colon - one.data)) : BYTES_EMPTY;
        struct plain_column *column = path.size ? obtain(columns, path) : NULL;

        if (!column || !type_of(bytes_skip(one, path.size + 1), &column->type))
            return err_set(err, ERR_INVALID,
                           "types: \"%.*s\": expected NAME:TYPE with one of text, keyword, "
                           "keywords, integer, decimal, date, boolean, category, point, stored",
                           BYTES_ARG(one));
        column->is_known = true;
        types = bytes_skip(types, one.size + (comma != NULL));
    }
    return 0;
}

int plain_columns_read(const struct placed_json *list, bool is_table,
                       const struct epoch_view *epoch, struct bytes key, struct bytes types,
                       struct arena *arena, struct plain_columns *columns, struct err *err)
{
    int rc;

    *columns = (struct plain_columns){.is_table = is_table, .key = key, .arena = arena};
    columns->list = arena_array(arena, PLAIN_COLUMN_COUNT_MAX, sizeof(*columns->list));
    rc = read_types(columns, types, err);
    for (const struct placed_json *one = list->first; one && !rc; one = one->next)
        if (one->kind == PLACED_OBJECT)
            plain_walk(one, arena, look_at, columns);
    if (!rc)
        settle_types(columns, epoch);
    return rc;
}

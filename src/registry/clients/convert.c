/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - see convert.h. */
#include "registry/clients/convert.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "index/columns/column_page.h"
#include "model/bounds.h"
#include "query/filter/value.h"
#include "registry/bounds.h"
#include "registry/clients/convert_as.h"
#include "registry/receiving/document.h"
#include "registry/receiving/side.h"
#include "topic/bounds.h"

/* What the receiver has accepted fits the index and the record on its way there. A value may be
 * written out (a number as a text), and has a number, lengths and tags: no more than so much. */
enum {
    VALUE_GROWTH_MAX = 64,
    INDEXED_SIZE_MAX =
        DOCUMENT_SIZE_MAX + DOCUMENT_PK_SIZE_MAX + (DOCUMENT_FIELD_COUNT_MAX + 1) * VALUE_GROWTH_MAX
};
_Static_assert((int)INDEXED_SIZE_MAX <= (int)TOPIC_VALUE_SIZE_MAX, "a record has room for it");
_Static_assert((int)INDEXED_SIZE_MAX <= (int)STORED_RECORD_SIZE_MAX, "as has the index");
_Static_assert((int)DOCUMENT_TEXT_SIZE_MAX <= (int)ANALYSIS_TEXT_SIZE_MAX, "a text is read whole");

#define TYPE(name) TORG__V1__SCHEMA_FIELD__TYPE__##name

enum { POINT_UNITS = 10000000, LATITUDE_MAX = 90, LONGITUDE_MAX = 180, NANOS_US = 1000 };

/* By what the field carries; unspecified when that is nothing. */
static Torg__V1__SchemaField__Type type_of(const Torg__V1__RawField *field)
{
    if (field->_text_case)
        return TYPE(TEXT);
    if (field->_keyword_case)
        return TYPE(KEYWORD);
    if (field->n_keywords)
        return TYPE(KEYWORDS);
    if (field->_integer_case)
        return TYPE(INTEGER);
    if (field->_decimal_case)
        return TYPE(DECIMAL);
    if (field->_date_case)
        return TYPE(DATE);
    if (field->_boolean_case)
        return TYPE(BOOLEAN);
    if (field->_category_case)
        return TYPE(CATEGORY);
    if (field->point)
        return TYPE(POINT);
    if (field->_stored_case)
        return TYPE(STORED);
    return TYPE(TYPE_UNSPECIFIED);
}

/* --- values --- */

static int refuse_column(const char *name, struct err *err)
{
    return err_set(err, ERR_INVALID, "field %s: the greatest number of 64 bits cannot be indexed",
                   name);
}

static int put_integer(const char *name, int64_t integer, Torg__V1__IndexValue *value,
                       struct err *err)
{
    value->integer = integer;
    return integer == COLUMN_NULL ? refuse_column(name, err) : 0;
}

static int put_decimal(const char *name, const char *text, const struct epoch_field *known,
                       Torg__V1__IndexValue *value, struct err *err)
{
    const struct field field = {.type = FIELD_DECIMAL, .scale = known->scale};

    if (!value_parse(&field, bytes_of(text), false, &value->integer))
        return err_set(err, ERR_INVALID, "field %s: \"%.40s\" is not %s", name, text,
                       value_form(&field));
    return 0;
}

static int put_point(const char *name, const Torg__V1__GeoPoint *point, Torg__V1__IndexValue *value,
                     struct err *err)
{
    if (!(fabs(point->latitude) <= LATITUDE_MAX) || !(fabs(point->longitude) <= LONGITUDE_MAX))
        return err_set(err, ERR_INVALID,
                       "field %s: a latitude is -90 to 90, a longitude -180 to 180", name);
    value->lat = (int32_t)lround(point->latitude * POINT_UNITS);
    value->lon = (int32_t)lround(point->longitude * POINT_UNITS);
    return 0;
}

static int put_keywords(const char *name, char *const *keywords, size_t count, struct arena *arena,
                        Torg__V1__IndexValue *value, struct err *err)
{
    if (count > KEYWORD_VALUES_MAX)
        return err_set(err, ERR_LIMIT, "field %s: %zu values, KEYWORD_VALUES_MAX is %d", name,
                       count, KEYWORD_VALUES_MAX);
    value->texts = arena_array(arena, count + 1, sizeof(char *));
    for (size_t i = 0; i < count; i++) {
        if (strlen(keywords[i]) > KEYWORD_SIZE_MAX)
            return err_set(err, ERR_LIMIT, "field %s: a value of %zu bytes, KEYWORD_SIZE_MAX is %d",
                           name, strlen(keywords[i]), KEYWORD_SIZE_MAX);
        value->texts[value->n_texts++] = keywords[i];
    }
    return 0;
}

static int put_text(char *text, struct arena *arena, Torg__V1__IndexValue *value)
{
    value->texts = arena_array(arena, 1, sizeof(char *));
    value->texts[value->n_texts++] = text;
    return 0;
}

static int put_value(const Torg__V1__RawField *field, const struct epoch_field *known,
                     struct arena *arena, Torg__V1__IndexValue *value, struct err *err)
{
    value->number = known->number;
    switch (known->type) {
    case TYPE(TEXT):
        return put_text(field->text, arena, value);
    case TYPE(STORED):
        return put_text(field->stored, arena, value);
    case TYPE(KEYWORD):
        return put_keywords(field->name, &field->keyword, 1, arena, value, err);
    case TYPE(CATEGORY):
        return put_keywords(field->name, &field->category, 1, arena, value, err);
    case TYPE(KEYWORDS):
        return put_keywords(field->name, field->keywords, field->n_keywords, arena, value, err);
    case TYPE(INTEGER):
        return put_integer(field->name, field->integer, value, err);
    case TYPE(DECIMAL):
        return put_decimal(field->name, field->decimal, known, value, err);
    case TYPE(DATE):
        return put_integer(field->name, field->date->seconds, value, err);
    case TYPE(BOOLEAN):
        return put_integer(field->name, field->boolean, value, err);
    case TYPE(POINT):
        return put_point(field->name, field->point, value, err);
    default:
        return err_set(err, ERR_INVALID, "field %s: its type is not known to this version",
                       field->name);
    }
}

/* --- documents --- */

static int convert_field(const Torg__V1__RawField *field, const struct epoch_view *epoch,
                         struct arena *arena, Torg__V1__IndexValue **converted, struct err *err)
{
    const struct epoch_field *known = epoch_find_field(epoch, bytes_of(field->name));
    Torg__V1__SchemaField__Type type = type_of(field);
    Torg__V1__IndexValue *value;

    if (!known)
        return err_set(err, ERR_INVALID, "field %s: epoch %jd does not have it", field->name,
                       (intmax_t)epoch->epoch);
    if (type != known->type) {
        Torg__V1__RawField *as = arena_alloc(arena, sizeof(*as));

        if (!convert_as(field, known, arena, as))
            return err_set(err, ERR_INVALID, "field %s: it is %s in epoch %jd, not %s", field->name,
                           schema_type_name(known->type), (intmax_t)epoch->epoch,
                           schema_type_name(type));
        field = as;
    }
    value = arena_alloc(arena, sizeof(*value));
    torg__v1__index_value__init(value);
    *converted = value;
    return put_value(field, known, arena, value, err);
}

static bool is_side(const struct epoch_view *epoch, const char *name)
{
    const struct epoch_field *field = epoch_find_field(epoch, bytes_of(name));

    return field && field->side;
}

/* What the index keeps beside its columns; its record has some bytes more for each field. */
static size_t stored_size(const Torg__V1__RawDocument *document)
{
    size_t size = strlen(document->pk);

    for (size_t i = 0; i < document->n_fields; i++) {
        const Torg__V1__RawField *field = document->fields[i];

        size += field->_text_case ? strlen(field->text) : 0;
        size += field->_stored_case ? strlen(field->stored) : 0;
        size += sizeof(uint64_t);
    }
    return size;
}

static int64_t seconds_of(const Google__Protobuf__Timestamp *time)
{
    return time ? time->seconds : 0;
}

int convert_document(const Torg__V1__RawDocument *document, const struct epoch_view *epoch,
                     struct arena *arena, Torg__V1__IndexDocument *converted, struct err *err)
{
    size_t size = stored_size(document);
    int rc = 0;

    if (size > STORED_RECORD_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "its texts have %zu bytes, STORED_RECORD_SIZE_MAX of the index is %d", size,
                       STORED_RECORD_SIZE_MAX);
    converted->pk = document->pk;
    converted->version = document->version;
    converted->expires_at = seconds_of(document->expire_time);
    if (document->modify_timestamp)
        converted->modify_us = document->modify_timestamp->seconds * SECOND_US +
                               document->modify_timestamp->nanos / NANOS_US;
    converted->values = arena_array(arena, document->n_fields + 1, sizeof(converted->values[0]));
    converted->n_values = 0;
    for (size_t i = 0; i < document->n_fields && !rc; i++)
        if (!is_side(epoch, document->fields[i]->name))
            rc = convert_field(document->fields[i], epoch, arena,
                               &converted->values[converted->n_values++], err);
    return rc;
}

/* --- side fields --- */

int convert_side(struct bytes side, const struct epoch_view *epoch, struct arena *arena,
                 Torg__V1__IndexDocument *converted, struct err *err)
{
    Torg__V1__SideFields *fields;
    Torg__V1__IndexValue **values;
    int rc;

    if (!side.size)
        return 0;
    rc = side_decode(side, arena, &fields, err);
    if (rc)
        return rc;
    values = arena_array(arena, converted->n_values + fields->n_fields + 1, sizeof(values[0]));
    if (converted->n_values)
        memcpy(values, converted->values, converted->n_values * sizeof(values[0]));
    converted->values = values;
    for (size_t i = 0; i < fields->n_fields; i++) {
        const Torg__V1__RawField *field = fields->fields[i]->field;

        if (is_side(epoch, field->name) && document_has_value(field) &&
            convert_field(field, epoch, arena, &values[converted->n_values], NULL) == 0)
            converted->n_values++;
    }
    return 0;
}

void convert_change(const Torg__V1__FieldChange *change, const struct epoch_view *epoch,
                    struct arena *arena, Torg__V1__IndexFields__Document *converted)
{
    converted->pk = change->pk;
    converted->values = arena_array(arena, change->n_fields + 1, sizeof(converted->values[0]));
    for (size_t i = 0; i < change->n_fields; i++) {
        const Torg__V1__RawField *field = change->fields[i];
        Torg__V1__IndexValue **value = &converted->values[converted->n_values];

        if (!is_side(epoch, field->name))
            continue;
        if (!document_has_value(field) || convert_field(field, epoch, arena, value, NULL)) {
            *value = arena_alloc(arena, sizeof(**value));
            torg__v1__index_value__init(*value);
            (*value)->number = epoch_find_field(epoch, bytes_of(field->name))->number;
            (*value)->is_none = true;
        }
        converted->n_values++;
    }
}

/* --- schemas --- */

Torg__V1__IndexSchema *convert_schema(const struct epoch_view *epoch, struct arena *arena)
{
    Torg__V1__IndexSchema *schema = MESSAGE_NEW(index_schema, arena);

    schema->fields = arena_array(arena, epoch->field_count + 1, sizeof(schema->fields[0]));
    for (uint32_t i = 0; i < epoch->field_count; i++)
        schema->fields[schema->n_fields++] = schema_field_message(&epoch->fields[i], arena);
    return schema;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* convert_as.c - see convert_as.h. */
#include "registry/clients/convert_as.h"

#include <inttypes.h>
#include <string.h>

#include "query/filter/value.h"

#define TYPE(name) TORG__V1__SCHEMA_FIELD__TYPE__##name

enum { DATE_SIZE_MAX = 64 };

static char *date_text(int64_t seconds, struct arena *arena)
{
    const struct field field = {.type = FIELD_DATE};
    struct buf out = BUF_INIT(DATE_SIZE_MAX);
    char *text;

    value_put(&field, seconds, &out);
    text = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return text;
}

/* As one would write it; NULL: there is no one text. */
static char *text_of(const Torg__V1__RawField *field, struct arena *arena)
{
    if (field->_text_case)
        return field->text;
    if (field->_keyword_case)
        return field->keyword;
    if (field->n_keywords == 1)
        return field->keywords[0];
    if (field->_category_case)
        return field->category;
    if (field->_stored_case)
        return field->stored;
    if (field->_decimal_case)
        return field->decimal;
    if (field->_integer_case)
        return arena_printf(arena, "%" PRId64, field->integer);
    if (field->_boolean_case)
        return arena_strdup(arena, field->boolean ? "true" : "false");
    if (field->_date_case)
        return date_text(field->date->seconds, arena);
    return NULL;
}

static bool parse(enum field_type type, const char *text, int64_t *value)
{
    const struct field field = {.type = type};

    return value_parse(&field, bytes_of(text), false, value);
}

static bool set_date(const char *text, struct arena *arena, Torg__V1__RawField *as)
{
    int64_t seconds;

    if (!parse(FIELD_DATE, text, &seconds))
        return false;
    as->_date_case = TORG__V1__RAW_FIELD___DATE_DATE;
    as->date = arena_alloc(arena, sizeof(*as->date));
    google__protobuf__timestamp__init(as->date);
    as->date->seconds = seconds;
    return true;
}

/* "15.00" is 15: a fraction of zeros says nothing. */
static const char *without_zeros(const char *text, struct arena *arena)
{
    const char *point = strchr(text, '.');

    if (!point || point == text || !point[1] || point[1 + strspn(point + 1, "0")])
        return text;
    return arena_text(arena, bytes_make(text, (size_t)(point - text)));
}

static bool set_number(Torg__V1__SchemaField__Type type, const char *text, struct arena *arena,
                       Torg__V1__RawField *as)
{
    int64_t value;

    if (type == TYPE(INTEGER))
        text = without_zeros(text, arena);
    if (!parse(type == TYPE(INTEGER) ? FIELD_INTEGER : FIELD_BOOLEAN, text, &value))
        return false;
    if (type == TYPE(INTEGER)) {
        as->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
        as->integer = value;
    } else {
        as->_boolean_case = TORG__V1__RAW_FIELD___BOOLEAN_BOOLEAN;
        as->boolean = value != 0;
    }
    return true;
}

static bool set_text(Torg__V1__SchemaField__Type type, char *text, struct arena *arena,
                     Torg__V1__RawField *as)
{
    switch (type) {
    case TYPE(TEXT):
        as->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
        as->text = text;
        return true;
    case TYPE(KEYWORD):
        as->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
        as->keyword = text;
        return true;
    case TYPE(KEYWORDS):
        as->keywords = arena_array(arena, 1, sizeof(char *));
        as->keywords[0] = text;
        as->n_keywords = 1;
        return true;
    case TYPE(CATEGORY):
        as->_category_case = TORG__V1__RAW_FIELD___CATEGORY_CATEGORY;
        as->category = text;
        return true;
    case TYPE(STORED):
        as->_stored_case = TORG__V1__RAW_FIELD___STORED_STORED;
        as->stored = text;
        return true;
    case TYPE(DECIMAL): /* read when it is put */
        as->_decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
        as->decimal = text;
        return true;
    default:
        return false;
    }
}

bool convert_as(const Torg__V1__RawField *field, const struct epoch_field *wanted,
                struct arena *arena, Torg__V1__RawField *as)
{
    char *text = text_of(field, arena);

    torg__v1__raw_field__init(as);
    as->name = field->name;
    if (!text)
        return false;
    if (wanted->type == TYPE(INTEGER) || wanted->type == TYPE(BOOLEAN))
        return set_number(wanted->type, text, arena, as);
    if (wanted->type == TYPE(DATE))
        return set_date(text, arena, as);
    return set_text(wanted->type, text, arena, as);
}

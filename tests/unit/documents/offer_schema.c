/* SPDX-License-Identifier: Apache-2.0 */
/* The fields told of a catalogue are those that its documents have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "codec/json.h"
#include "documents/offer_document.h"
#include "documents/offer_schema.h"
#include "model/offer_fields.h"

#define TYPE(name) TORG__V1__SCHEMA_FIELD__TYPE__##name

static const char catalog_json[] =
    "{\"defaults\": {\"policy\": {\"currencies\": [\"EUR\"]}}, \"attributes\": ["
    "{\"id\": \"one\", \"name\": {\"en\": \"One\"}, \"type\": \"OPTION\", \"options\": ["
    "{\"id\": \"x\", \"name\": {\"en\": \"X\"}}]},"
    "{\"id\": \"some\", \"name\": {\"en\": \"Some\"}, \"type\": \"OPTIONS\", \"options\": ["
    "{\"id\": \"y\", \"name\": {\"en\": \"Y\"}}]},"
    "{\"id\": \"exact\", \"name\": {\"en\": \"Exact\"}, \"type\": \"DECIMAL\", \"digits\": 3},"
    "{\"id\": \"whole\", \"name\": {\"en\": \"Whole\"}, \"type\": \"INTEGER\", "
    "\"filter\": \"LIST\"},"
    "{\"id\": \"built\", \"name\": {\"en\": \"Built\"}, \"type\": \"YEAR\"},"
    "{\"id\": \"is\", \"name\": {\"en\": \"Is\"}, \"type\": \"FLAG\"},"
    "{\"id\": \"free\", \"name\": {\"en\": \"Free\"}, \"type\": \"TEXT\"},"
    "{\"id\": \"unused\", \"name\": {\"en\": \"Unused\"}, \"type\": \"FLAG\"}],"
    "\"categories\": [{\"id\": \"top\", \"name\": {\"en\": \"Top\"}, \"attributes\": [\"one\", "
    "\"some\", \"exact\", \"whole\", \"built\", \"is\", \"free\"]},"
    "{\"id\": \"low\", \"name\": {\"en\": \"Low\"}, \"parent\": \"top\"}]}";

static const char offer_json[] =
    "{\"id\": \"1\", \"seller\": \"s\", \"status\": \"ACTIVE\", "
    "\"createTime\": \"2026-01-01T00:00:00Z\", \"updateTime\": \"2026-01-01T00:00:00Z\", "
    "\"content\": {\"category\": \"low\", \"title\": \"thing\", \"description\": \"good\", "
    "\"condition\": \"USED\", \"price\": {\"amount\": \"5\", \"currency\": \"EUR\"}, "
    "\"attributes\": [{\"attributeId\": \"one\", \"options\": [\"x\"]}, "
    "{\"attributeId\": \"some\", \"options\": [\"y\"]}, "
    "{\"attributeId\": \"exact\", \"decimal\": \"1.125\"}, "
    "{\"attributeId\": \"whole\", \"integer\": \"7\"}, "
    "{\"attributeId\": \"built\", \"year\": 1999}, "
    "{\"attributeId\": \"is\", \"flag\": true}, {\"attributeId\": \"free\", \"text\": \"f\"}]}}";

static Torg__V1__SchemaField__Type type_of(const Torg__V1__RawField *field)
{
    if (field->n_keywords)
        return TYPE(KEYWORDS);
    if (field->_text_case)
        return TYPE(TEXT);
    if (field->_keyword_case)
        return TYPE(KEYWORD);
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
    return field->_stored_case ? TYPE(STORED) : TYPE(POINT);
}

static const Torg__V1__SchemaField *find(Torg__V1__SchemaField **fields, size_t count,
                                         const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i]->name, name) == 0)
            return fields[i];
    }
    return NULL;
}

static void a_document_has_the_fields_of_its_catalogue(void **state)
{
    struct arena *arena = arena_new();
    Torg__V1__SchemaField **fields;
    Torg__V1__RawDocument *document;
    ProtobufCMessage *offer;
    struct catalog *catalog;
    static const char *const rates[] = {OFFER_FIELD_CTR, OFFER_FIELD_APPEAL, OFFER_FIELD_LOOKS};
    size_t attribute_count = 0;
    size_t count;
    struct err err;

    (void)state;
    if (catalog_from_json(bytes_of(catalog_json), NULL, &catalog, &err))
        fail_msg("%s", err.text);
    assert_int_equal(
        json_decode(bytes_of(offer_json), &torg__v1__offer__descriptor, arena, &offer, NULL, &err),
        0);
    assert_int_equal(offer_document((Torg__V1__Offer *)offer, catalog, arena, &document, &err), 0);
    fields = offer_schema(catalog, arena, &count);
    for (size_t i = 0; i < document->n_fields; i++) {
        const Torg__V1__RawField *made = document->fields[i];
        const Torg__V1__SchemaField *told = find(fields, count, made->name);

        assert_non_null(told);
        assert_int_equal(told->type, type_of(made));
        if (!offer_schema_attribute(told))
            continue;
        attribute_count++;
        assert_int_equal(told->options ? told->options->scale : 0,
                         made->options ? made->options->scale : 0);
    }
    assert_int_equal(attribute_count, 6);
    assert_int_equal(count, 23 + 3 + 6 + 1); /* neither words alone, nor what no category has */
    for (size_t i = 0; i < ARRAY_COUNT(rates); i++) { /* what clicks write beside them has room */
        const Torg__V1__SchemaField *rate = find(fields, count, rates[i]);

        assert_non_null(rate);
        assert_int_equal(rate->type, TYPE(DECIMAL));
        assert_true(rate->options->side);
        assert_int_equal(rate->options->scale, OFFER_RATE_DIGITS);
    }
    assert_null(find(fields, count, OFFER_ATTRIBUTE_PREFIX "free"));
    assert_null(find(fields, count, OFFER_ATTRIBUTE_PREFIX "unused"));
    catalog_unref(catalog);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_has_the_fields_of_its_catalogue),
    };

    return cmocka_run_group_tests_name("documents-offer_schema", tests, NULL, NULL);
}

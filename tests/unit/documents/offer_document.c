/* SPDX-License-Identifier: Apache-2.0 */
/* What an offer's price, its salary and other fields of some categories become in its document:
 * numbers of one currency alone are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "catalog/bounds.h"
#include "codec/message.h"
#include "documents/offer_document.h"
#include "model/offer_fields.h"

static const char catalog_json[] =
    "{\"defaults\": {\"policy\": {\"currencies\": [\"EUR\", \"USD\"]}}, \"categories\": ["
    "{\"id\": \"a\", \"name\": {\"en\": \"Alpha\"}, \"policy\": {\"currencies\": [\"USD\"]}},"
    "{\"id\": \"jobs\", \"name\": {\"en\": \"Jobs\"}, \"filters\": [\"SALARY\", \"SELLER_KIND\","
    " \"EXCHANGE\"]}]}";

static Torg__V1__Offer *offer_of(const char *currency, int64_t amount, struct arena *arena)
{
    Torg__V1__Offer *offer = (Torg__V1__Offer *)message_new(&torg__v1__offer__descriptor, arena);
    Torg__V1__OfferContent *content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);

    content->category = arena_strdup(arena, "a");
    content->title = arena_strdup(arena, "thing");
    if (currency) {
        content->price = (Torg__V1__Price *)message_new(&torg__v1__price__descriptor, arena);
        content->price->amount = amount;
        content->price->currency = arena_strdup(arena, currency);
    }
    offer->id = arena_strdup(arena, "1");
    offer->seller = arena_strdup(arena, "s");
    offer->status = TORG__V1__OFFER__STATUS__ACTIVE;
    offer->content = content;
    offer->update_time =
        (Google__Protobuf__Timestamp *)message_new(&google__protobuf__timestamp__descriptor, arena);
    return offer;
}

static const Torg__V1__RawField *field_of(const Torg__V1__RawDocument *document, const char *name)
{
    for (size_t i = 0; i < document->n_fields; i++) {
        if (strcmp(document->fields[i]->name, name) == 0)
            return document->fields[i];
    }
    return NULL;
}

static void a_price_in_another_currency_is_shown_and_not_compared(void **state)
{
    static const struct {
        const char *currency, *field, *other;
    } cases[] = {
        {"EUR", OFFER_FIELD_PRICE, OFFER_FIELD_AMOUNT},
        {"USD", OFFER_FIELD_AMOUNT, OFFER_FIELD_PRICE}, /* though it is its category's first */
        {"RUB", OFFER_FIELD_AMOUNT, OFFER_FIELD_PRICE}, /* of a policy that was */
    };
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *document;
    struct catalog *catalog;
    struct err err;

    (void)state;
    assert_int_equal(catalog_from_json(bytes_of(catalog_json), NULL, &catalog, &err), 0);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const Torg__V1__RawField *field;

        assert_int_equal(offer_document(offer_of(cases[i].currency, 12345, arena), catalog, arena,
                                        &document, &err),
                         0);
        field = field_of(document, cases[i].field);
        assert_non_null(field);
        assert_int_equal(field->integer, 12345);
        assert_null(field_of(document, cases[i].other));
        assert_string_equal(field_of(document, OFFER_FIELD_CURRENCY)->keyword, cases[i].currency);
    }
    assert_int_equal(offer_document(offer_of(NULL, 0, arena), catalog, arena, &document, &err), 0);
    assert_null(field_of(document, OFFER_FIELD_PRICE));
    assert_null(field_of(document, OFFER_FIELD_AMOUNT));
    assert_null(field_of(document, OFFER_FIELD_CURRENCY));
    catalog_unref(catalog);
    arena_free(arena);
}

static void a_salary_is_compared_by_the_month(void **state)
{
    static const struct {
        Torg__V1__Salary__Period period;
        int64_t min, max, from, to;
        const char *currency, *shown;
    } cases[] = {
        {TORG__V1__SALARY__PERIOD__MONTH, 100, 250, 100, 250, "EUR", "100 250 EUR month"},
        {TORG__V1__SALARY__PERIOD__MONTH, 100, 0, 100, 100, "EUR", "100 0 EUR month"},
        {TORG__V1__SALARY__PERIOD__HOUR, 0, 7, 1155, 1155, "EUR", "0 7 EUR hour"},
        {TORG__V1__SALARY__PERIOD__SHIFT, 10, 20, 150, 300, "EUR", "10 20 EUR shift"},
        {TORG__V1__SALARY__PERIOD__YEAR, 1200, 2400, 100, 200, "EUR", "1200 2400 EUR year"},
        {TORG__V1__SALARY__PERIOD__MONTH, 100, 250, -1, -1, "USD", "100 250 USD month"},
    };
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *document;
    struct catalog *catalog;
    struct err err;

    (void)state;
    assert_int_equal(catalog_from_json(bytes_of(catalog_json), NULL, &catalog, &err), 0);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        Torg__V1__Offer *offer = offer_of(NULL, 0, arena);
        Torg__V1__Salary salary = TORG__V1__SALARY__INIT;
        const Torg__V1__RawField *from, *to;

        salary.min = cases[i].min;
        salary.max = cases[i].max;
        salary.currency = (char *)cases[i].currency;
        salary.period = cases[i].period;
        offer->content->category = arena_strdup(arena, "jobs");
        offer->content->salary = &salary;
        assert_int_equal(offer_document(offer, catalog, arena, &document, &err), 0);
        from = field_of(document, OFFER_FIELD_SALARY_FROM);
        to = field_of(document, OFFER_FIELD_SALARY_TO);
        assert_int_equal(from ? from->integer : -1, cases[i].from);
        assert_int_equal(to ? to->integer : -1, cases[i].to);
        assert_string_equal(field_of(document, OFFER_FIELD_SALARY)->stored, cases[i].shown);
    }
    catalog_unref(catalog);
    arena_free(arena);
}

static void a_category_says_which_fields_its_documents_have(void **state)
{
    struct arena *arena = arena_new();
    Torg__V1__Offer *offer = offer_of(NULL, 0, arena);
    Torg__V1__RawDocument *document;
    struct catalog *catalog;
    struct err err;

    (void)state;
    assert_int_equal(catalog_from_json(bytes_of(catalog_json), NULL, &catalog, &err), 0);
    offer->content->delivery = offer->content->exchange = true;
    offer->content->seller_kind = TORG__V1__OFFER_CONTENT__SELLER_KIND__BUSINESS;
    assert_int_equal(offer_document(offer, catalog, arena, &document, &err), 0);
    assert_null(field_of(document, OFFER_FIELD_EXCHANGE));
    assert_null(field_of(document, OFFER_FIELD_SELLER_KIND));
    offer->content->category = arena_strdup(arena, "jobs");
    assert_int_equal(offer_document(offer, catalog, arena, &document, &err), 0);
    assert_null(field_of(document, OFFER_FIELD_DELIVERY));
    assert_true(field_of(document, OFFER_FIELD_EXCHANGE)->boolean);
    assert_string_equal(field_of(document, OFFER_FIELD_SELLER_KIND)->keyword, "business");
    catalog_unref(catalog);
    arena_free(arena);
}

static void what_no_attribute_is_for_is_found_by_its_words(void **state)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferProperty property = TORG__V1__OFFER_PROPERTY__INIT;
    Torg__V1__OfferProperty *list[] = {&property};
    Torg__V1__Offer *offer = offer_of(NULL, 0, arena);
    Torg__V1__RawDocument *document;
    struct catalog *catalog;
    struct err err;

    (void)state;
    property.name = arena_strdup(arena, "Pattern");
    property.value = arena_strdup(arena, "paisley");
    offer->content->properties = list;
    offer->content->n_properties = 1;
    assert_int_equal(catalog_from_json(bytes_of(catalog_json), NULL, &catalog, &err), 0);
    assert_int_equal(offer_document(offer, catalog, arena, &document, &err), 0);
    assert_non_null(strstr(field_of(document, OFFER_FIELD_WORDS)->text, "Pattern: paisley"));
    catalog_unref(catalog);
    arena_free(arena);
}

/* What its field cannot have is not left out of it: the offer would not be found by that. */
static void more_options_than_a_field_takes_are_refused(void **state)
{
    enum { COUNT = CATALOG_CHOSEN_COUNT_MAX };
    struct arena *arena = arena_new();
    struct buf json = BUF_INIT(1 << 20);
    Torg__V1__Offer *offer = offer_of(NULL, 0, arena);
    Torg__V1__AttributeValue value = TORG__V1__ATTRIBUTE_VALUE__INIT, *values[] = {&value};
    Torg__V1__RawDocument *document;
    struct catalog *catalog;
    char *options[COUNT + 1];
    struct err err;

    (void)state;
    buf_printf(&json, "{\"attributes\": [{\"id\": \"fits\", \"name\": {\"en\": \"Fits\"}, "
                      "\"type\": \"OPTIONS\", \"options\": [");
    for (size_t i = 0; i <= COUNT; i++) {
        options[i] = arena_printf(arena, "o%zu", i);
        buf_printf(&json, "%s{\"id\": \"o%zu\", \"name\": {\"en\": \"o%zu\"}}", i ? "," : "", i, i);
    }
    buf_printf(&json, "]}], \"categories\": [{\"id\": \"a\", \"name\": {\"en\": \"A\"}, "
                      "\"attributes\": [\"fits\"]}]}");
    assert_int_equal(catalog_from_json(buf_bytes(&json), NULL, &catalog, &err), 0);
    value.attribute_id = (char *)"fits";
    value.options = options;
    value.n_options = COUNT;
    offer->content->attributes = values;
    offer->content->n_attributes = 1;
    assert_int_equal(offer_document(offer, catalog, arena, &document, &err), 0);
    assert_int_equal(field_of(document, OFFER_ATTRIBUTE_PREFIX "fits")->n_keywords, COUNT);
    value.n_options = COUNT + 1;
    assert_int_equal(offer_document(offer, catalog, arena, &document, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "its fits has more than 64 options"));
    catalog_unref(catalog);
    buf_release(&json);
    arena_free(arena);
}

/* In percent, of this offer as it stands. */
static int64_t complete_of(const Torg__V1__Offer *offer, const struct catalog *catalog,
                           struct arena *arena)
{
    Torg__V1__RawDocument *document;
    struct err err;

    assert_int_equal(offer_document(offer, catalog, arena, &document, &err), 0);
    return field_of(document, OFFER_FIELD_COMPLETE)->integer;
}

static void it_is_told_how_complete_an_offer_is(void **state)
{
    static const char asks_json[] =
        "{\"defaults\": {\"policy\": {\"currencies\": [\"EUR\"]}}, \"attributes\": ["
        "{\"id\": \"year\", \"name\": {\"en\": \"Year\"}, \"type\": \"YEAR\"},"
        "{\"id\": \"model\", \"name\": {\"en\": \"Model\"}, \"type\": \"TEXT\"}],"
        "\"categories\": [{\"id\": \"a\", \"name\": {\"en\": \"Alpha\"}, \"filters\": [\"PRICE\"], "
        "\"attributes\": [\"year\", \"model\"]},"
        "{\"id\": \"b\", \"name\": {\"en\": \"Beta\"}}]}";
    struct arena *arena = arena_new();
    Torg__V1__Offer *offer = offer_of(NULL, 0, arena);
    Torg__V1__AttributeValue *values[2];
    Torg__V1__PhotoSize size = TORG__V1__PHOTO_SIZE__INIT, *sizes[] = {&size};
    Torg__V1__Photo photo = TORG__V1__PHOTO__INIT, *photos[] = {&photo};
    Torg__V1__Address address = TORG__V1__ADDRESS__INIT;
    struct catalog *catalog;
    char text[100];
    struct err err;

    (void)state;
    if (catalog_from_json(bytes_of(asks_json), NULL, &catalog, &err))
        fail_msg("%s", err.text);
    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < ARRAY_COUNT(values); i++)
        values[i] = MESSAGE_NEW(attribute_value, arena);
    values[0]->attribute_id = "year";
    values[0]->value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_YEAR;
    values[0]->year = 2020;
    values[1]->attribute_id = "gone"; /* the category has it no more */
    assert_int_equal(complete_of(offer, catalog, arena), 0);
    offer->content->attributes = values;
    offer->content->n_attributes = ARRAY_COUNT(values);
    assert_int_equal(complete_of(offer, catalog, arena), 25);
    offer->content->description = arena_text(arena, bytes_make(text, sizeof(text) - 1));
    assert_int_equal(complete_of(offer, catalog, arena), 25);
    offer->content->description = arena_text(arena, bytes_make(text, sizeof(text)));
    assert_int_equal(complete_of(offer, catalog, arena), 37);
    offer->content->photos = photos;
    offer->content->n_photos = 1;
    photo.sizes = sizes;
    photo.n_sizes = 1;
    assert_int_equal(complete_of(offer, catalog, arena), 37); /* it is not ready */
    photo.state = TORG__V1__PHOTO__STATE__READY;
    offer->content->address = &address;
    offer->content->price = offer_of("EUR", 1, arena)->content->price;
    values[1]->attribute_id = "model";
    assert_int_equal(complete_of(offer, catalog, arena), 100);
    /* where no attributes and no price are asked for */
    offer->content->category = "b";
    offer->content->price = NULL;
    assert_int_equal(complete_of(offer, catalog, arena), 100);
    catalog_unref(catalog);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_price_in_another_currency_is_shown_and_not_compared),
        cmocka_unit_test(a_salary_is_compared_by_the_month),
        cmocka_unit_test(a_category_says_which_fields_its_documents_have),
        cmocka_unit_test(what_no_attribute_is_for_is_found_by_its_words),
        cmocka_unit_test(more_options_than_a_field_takes_are_refused),
        cmocka_unit_test(it_is_told_how_complete_an_offer_is),
    };

    return cmocka_run_group_tests_name("documents-offer_document", tests, NULL, NULL);
}

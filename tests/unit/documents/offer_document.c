/* SPDX-License-Identifier: Apache-2.0 */
/* What an offer's price becomes in its document: numbers of one currency alone are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "documents/offer_document.h"
#include "model/offer_fields.h"

static const char catalog_json[] =
    "{\"defaults\": {\"policy\": {\"currencies\": [\"EUR\", \"USD\"]}}, \"categories\": ["
    "{\"id\": \"a\", \"name\": {\"en\": \"Alpha\"}, \"policy\": {\"currencies\": [\"USD\"]}}]}";

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_price_in_another_currency_is_shown_and_not_compared),
    };

    return cmocka_run_group_tests_name("documents-offer_document", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* content.c - what may be published: every reason at once, each with its field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "codec/json.h"
#include "offers/record/offer_content.h"

static const char catalog_json[] =
    "{\"attributes\": [{\"id\": \"color\", \"name\": {\"en\": \"Colour\"}, \"type\": \"TEXT\","
    "  \"lengthMax\": 20, \"required\": true}],"
    " \"categories\": [{\"id\": \"bikes\", \"name\": {\"en\": \"Bicycles\"},"
    "  \"attributes\": [\"color\"], \"filters\": [\"CONDITION\"],"
    "  \"policy\": {\"titleMin\": 3, \"titleMax\": 20, \"descriptionMax\": 100,"
    "   \"photosMin\": 1, \"photosMax\": 2, \"currencies\": [\"RUB\", \"USD\"],"
    "   \"price\": \"REQUIRED\"}},"
    "  {\"id\": \"jobs\", \"name\": {\"en\": \"Jobs\"}, \"filters\": [\"SALARY\", \"SELLER_KIND\"],"
    "   \"policy\": {\"price\": \"FORBIDDEN\"}},"
    "  {\"id\": \"gifts\", \"name\": {\"en\": \"Gifts\"}, \"policy\": {\"price\": "
    "\"FORBIDDEN\"}}]}";

static const char good[] =
    "\"category\": \"bikes\", \"title\": \"A bicycle\", \"condition\": \"USED\","
    "\"price\": {\"amount\": 100, \"currency\": \"USD\"},"
    "\"attributes\": [{\"attributeId\": \"color\", \"text\": \"red\"}],"
    "\"photos\": [{\"sourceUrl\": \"https://example.org/1.jpg\"}]";

struct fixture {
    struct catalog *catalog;
    struct arena *arena;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct err err;

    fixture.arena = arena_new();
    if (catalog_from_json(bytes_of(catalog_json), NULL, &fixture.catalog, &err))
        fail_msg("%s", err.text);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    catalog_unref(fixture->catalog);
    arena_free(fixture->arena);
    return 0;
}

static Torg__V1__OfferContent *content_of(struct fixture *fixture, const char *json)
{
    ProtobufCMessage *message;
    struct err err;

    if (json_decode(bytes_of(json), &torg__v1__offer_content__descriptor, fixture->arena, &message,
                    NULL, &err))
        fail_msg("%s", err.text);
    return (Torg__V1__OfferContent *)message;
}

static struct violations check(struct fixture *fixture, const Torg__V1__OfferContent *content)
{
    struct violations violations = violations_in(fixture->arena);
    size_t count = offer_content_check(content, fixture->catalog, LANGUAGE_EN, &violations, NULL);

    assert_int_equal(count, violations.count);
    return violations;
}

/* The good content with one field replaced (the last value of a field wins nowhere: keys are
 * unique), checked to be refused because of that field alone. */
static void refused(struct fixture *fixture, Torg__V1__OfferContent *content, const char *field)
{
    struct violations violations = check(fixture, content);

    if (violations.count != 1 || strcmp(violations.first->field, field) != 0)
        fail_msg("expected %s alone, got %zu, first %s", field, violations.count,
                 violations.first ? violations.first->field : "none");
}

static Torg__V1__OfferContent *good_content(struct fixture *fixture)
{
    return content_of(fixture, arena_printf(fixture->arena, "{%s}", good));
}

static void good_content_is_taken(void **state)
{
    assert_int_equal(check(*state, good_content(*state)).count, 0);
}

static void everything_missing_is_told_at_once(void **state)
{
    struct violations violations = check(*state, content_of(*state, "{\"category\": \"bikes\"}"));
    static const char *const fields[] = {"content.title", "content.price", "content.attributes",
                                         "content.photos"};
    const struct violation *one = violations.first;

    assert_int_equal(violations.count, ARRAY_COUNT(fields));
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++, one = one->next)
        assert_string_equal(one->field, fields[i]);
    violations = check(*state, content_of(*state, "{}"));
    assert_int_equal(violations.count, 2);
    assert_string_equal(violations.first->field, "content.category");
}

static void each_fault_is_told_of_its_field(void **state)
{
    struct fixture *fixture = *state;
    Torg__V1__OfferContent *content = good_content(fixture);

    content->title = (char *)"ab";
    refused(fixture, content, "content.title");
    content->title = (char *)"a\nb c";
    refused(fixture, content, "content.title");
    content = good_content(fixture);
    content->price->currency = (char *)"EUR";
    refused(fixture, content, "content.price.currency");
    content = good_content(fixture);
    content->price->amount = -1;
    refused(fixture, content, "content.price.amount");
    content->price->amount = OFFER_PRICE_MAX + 1;
    refused(fixture, content, "content.price.amount");
    content = good_content(fixture);
    content->photos[0]->source_url = (char *)"ftp://example.org/1.jpg";
    refused(fixture, content, "content.photos[0].source_url");
    content = good_content(fixture);
    content->attributes[0]->text = (char *)"a colour that has a very long name";
    refused(fixture, content, "content.attributes[0].text");
    content = good_content(fixture);
    content->condition = (Torg__V1__OfferContent__Condition)77;
    refused(fixture, content, "content.condition");
    content = good_content(fixture);
    content->external_id = arena_zero(fixture->arena, 200);
    memset(content->external_id, 'x', 199);
    refused(fixture, content, "content.external_id");
}

static void addresses_and_contacts_are_checked(void **state)
{
    struct fixture *fixture = *state;
    Torg__V1__Contacts contacts = TORG__V1__CONTACTS__INIT;
    Torg__V1__OfferContent *content = good_content(fixture);
    Torg__V1__Address address = TORG__V1__ADDRESS__INIT;
    Torg__V1__GeoPoint point = TORG__V1__GEO_POINT__INIT;
    char *phones[] = {(char *)"+79001234567", (char *)"8 900"};

    address.point = &point;
    content->address = &address;
    point.latitude = NAN;
    refused(fixture, content, "content.address.point.latitude");
    point.latitude = 90;
    point.longitude = -180.5;
    refused(fixture, content, "content.address.point.longitude");
    point.longitude = 180;
    assert_int_equal(check(fixture, content).count, 0);
    content->contacts = &contacts;
    contacts.phones = phones;
    contacts.n_phones = 2;
    refused(fixture, content, "content.contacts.phones[1]");
    contacts.n_phones = 1;
    contacts.email = (char *)"nobody";
    refused(fixture, content, "content.contacts.email");
    contacts.email = (char *)"a@b.example";
    assert_int_equal(check(fixture, content).count, 0);
}

static void a_category_without_price_or_condition_has_none(void **state)
{
    struct fixture *fixture = *state;
    Torg__V1__OfferContent *content =
        content_of(fixture, "{\"category\": \"gifts\", \"title\": \"A present for you\"}");

    assert_int_equal(check(fixture, content).count, 0);
    content->condition = TORG__V1__OFFER_CONTENT__CONDITION__NEW;
    refused(fixture, content, "content.condition");
    content->condition = TORG__V1__OFFER_CONTENT__CONDITION__CONDITION_UNSPECIFIED;
    content->price = good_content(fixture)->price;
    refused(fixture, content, "content.price");
}

static void fields_of_some_categories_are_refused_in_others(void **state)
{
    struct fixture *fixture = *state;
    Torg__V1__Salary salary = TORG__V1__SALARY__INIT;
    Torg__V1__OfferContent *content = good_content(fixture);

    content->delivery = true;
    refused(fixture, content, "content.delivery");
    content = good_content(fixture);
    content->exchange = true;
    refused(fixture, content, "content.exchange");
    content = good_content(fixture);
    content->seller_kind = TORG__V1__OFFER_CONTENT__SELLER_KIND__PRIVATE;
    refused(fixture, content, "content.seller_kind");
    content = good_content(fixture);
    content->salary = &salary;
    refused(fixture, content, "content.salary");
    content = content_of(fixture, "{\"category\": \"jobs\", \"title\": \"A driver\"}");
    content->seller_kind = TORG__V1__OFFER_CONTENT__SELLER_KIND__BUSINESS;
    content->salary = &salary;
    salary.currency = (char *)"RUB";
    salary.period = TORG__V1__SALARY__PERIOD__MONTH;
    refused(fixture, content, "content.salary"); /* neither end */
    salary.max = 5;
    assert_int_equal(check(fixture, content).count, 0);
    salary.min = 6;
    refused(fixture, content, "content.salary.max");
    salary.min = -1;
    refused(fixture, content, "content.salary.min");
    salary.min = 5;
    salary.period = 0;
    refused(fixture, content, "content.salary.period");
    salary.period = TORG__V1__SALARY__PERIOD__HOUR;
    salary.currency = (char *)"USD";
    refused(fixture, content, "content.salary.currency");
    salary.currency = (char *)"RUB";
    content->seller_kind = (Torg__V1__OfferContent__SellerKind)77;
    refused(fixture, content, "content.seller_kind");
}

static void photos_keep_the_state_of_their_address(void **state)
{
    struct fixture *fixture = *state;
    Torg__V1__OfferContent *before = good_content(fixture);
    Torg__V1__OfferContent *content = good_content(fixture);

    content->photos[0]->state = TORG__V1__PHOTO__STATE__READY; /* a client cannot say so */
    offer_photos_carry(content, NULL);
    assert_int_equal(content->photos[0]->state, TORG__V1__PHOTO__STATE__WAITING);
    before->photos[0]->state = TORG__V1__PHOTO__STATE__READY;
    offer_photos_carry(content, before);
    assert_int_equal(content->photos[0]->state, TORG__V1__PHOTO__STATE__READY);
    content->photos[0]->source_url = (char *)"https://example.org/2.jpg";
    offer_photos_carry(content, before);
    assert_int_equal(content->photos[0]->state, TORG__V1__PHOTO__STATE__WAITING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_content_is_taken),
        cmocka_unit_test(everything_missing_is_told_at_once),
        cmocka_unit_test(each_fault_is_told_of_its_field),
        cmocka_unit_test(addresses_and_contacts_are_checked),
        cmocka_unit_test(a_category_without_price_or_condition_has_none),
        cmocka_unit_test(fields_of_some_categories_are_refused_in_others),
        cmocka_unit_test(photos_keep_the_state_of_their_address),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}

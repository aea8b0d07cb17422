/* SPDX-License-Identifier: Apache-2.0 */
/* offer_content.c - see offer_content.h. Each check tells all it finds and never stops the
 * others. */
#include "offers/record/offer_content.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "catalog/validate.h"
#include "catalog/words.h"
#include "model/photo_address.h"
#include "offers/bounds.h"

enum { FIELD_SIZE = 64 };

struct checking {
    const Torg__V1__OfferContent *content;
    const struct category *category;
    struct violations *violations;
};

static void check_length(struct checking *checking, const char *field, const char *text, size_t min,
                         size_t max)
{
    size_t length = text_length(bytes_of(text));

    if (!length && min)
        violations_add(checking->violations, field, "is missing: %zu to %zu characters", min, max);
    else if (length < min || length > max)
        violations_add(checking->violations, field, "has %zu characters; expected %zu to %zu",
                       length, min, max);
}

static void check_line(struct checking *checking, const char *field, const char *text)
{
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            violations_add(checking->violations, field, "has a control character");
            return;
        }
    }
}

static void check_currency(struct checking *checking, const char *field, const char *currency)
{
    const struct policy *policy = &checking->category->policy;
    struct buf known = BUF_INIT(256);

    for (size_t i = 0; i < policy->currency_count; i++) {
        if (strcmp(policy->currencies[i], currency) == 0)
            goto out;
        buf_printf(&known, "%s%s", i ? ", " : "", policy->currencies[i]);
    }
    violations_add(checking->violations, field, "\"%.16s\" is not taken here; expected one of %s",
                   currency, buf_text(&known));
out:
    buf_release(&known);
}

static void check_price(struct checking *checking)
{
    const Torg__V1__Price *price = checking->content->price;
    Torg__V1__Policy__Price rule = checking->category->policy.price;

    if (!price) {
        if (rule == TORG__V1__POLICY__PRICE__REQUIRED)
            violations_add(checking->violations, "content.price", "is missing");
        return;
    }
    if (rule == TORG__V1__POLICY__PRICE__FORBIDDEN) {
        violations_add(checking->violations, "content.price",
                       "offers of this category have no price");
        return;
    }
    if (price->amount < 0 || price->amount > OFFER_PRICE_MAX)
        violations_add(checking->violations, "content.price.amount",
                       "%" PRId64 " is not between 0 and %" PRId64, price->amount,
                       (int64_t)OFFER_PRICE_MAX);
    check_currency(checking, "content.price.currency", price->currency);
}

static void check_pay(struct checking *checking, const char *field, int64_t amount)
{
    if (amount < 0 || amount > OFFER_PRICE_MAX)
        violations_add(checking->violations, field, "%" PRId64 " is not between 0 and %" PRId64,
                       amount, (int64_t)OFFER_PRICE_MAX);
}

static void check_salary(struct checking *checking)
{
    const Torg__V1__Salary *salary = checking->content->salary;

    check_pay(checking, "content.salary.min", salary->min);
    check_pay(checking, "content.salary.max", salary->max);
    if (!salary->min && !salary->max)
        violations_add(checking->violations, "content.salary", "needs min, max or both");
    if (salary->max && salary->min > salary->max)
        violations_add(checking->violations, "content.salary.max",
                       "%" PRId64 " is below the min, %" PRId64, salary->max, salary->min);
    if (salary->period == TORG__V1__SALARY__PERIOD__PERIOD_UNSPECIFIED ||
        !protobuf_c_enum_descriptor_get_value(&torg__v1__salary__period__descriptor,
                                              (int)salary->period))
        violations_add(checking->violations, "content.salary.period",
                       "expected HOUR, SHIFT, WEEK, MONTH or YEAR");
    check_currency(checking, "content.salary.currency", salary->currency);
}

/* Fields that only some categories have: those of a standard filter. */
static void check_special(struct checking *checking)
{
    const Torg__V1__OfferContent *content = checking->content;
    const struct {
        Torg__V1__Category__Filter filter;
        bool is_given;
        const char *field;
        const char *what;
    } rules[] = {
        {TORG__V1__CATEGORY__FILTER__CONDITION, content->condition != 0, "content.condition",
         "condition"},
        {TORG__V1__CATEGORY__FILTER__DELIVERY, content->delivery, "content.delivery", "delivery"},
        {TORG__V1__CATEGORY__FILTER__EXCHANGE, content->exchange, "content.exchange", "exchange"},
        {TORG__V1__CATEGORY__FILTER__SELLER_KIND, content->seller_kind != 0, "content.seller_kind",
         "seller kind"},
        {TORG__V1__CATEGORY__FILTER__SALARY, content->salary != NULL, "content.salary", "salary"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        if (rules[i].is_given && !category_has_filter(checking->category, rules[i].filter))
            violations_add(checking->violations, rules[i].field,
                           "offers of this category have no %s", rules[i].what);
    }
    if (content->salary &&
        category_has_filter(checking->category, TORG__V1__CATEGORY__FILTER__SALARY))
        check_salary(checking);
}

static void check_photos(struct checking *checking)
{
    const Torg__V1__OfferContent *content = checking->content;
    const struct policy *policy = &checking->category->policy;
    char field[FIELD_SIZE];

    if (content->n_photos < policy->photos_min || content->n_photos > policy->photos_max)
        violations_add(checking->violations, "content.photos", "%zu photos; expected %u to %u",
                       content->n_photos, policy->photos_min, policy->photos_max);
    for (size_t i = 0; i < content->n_photos; i++) {
        const char *url = content->photos[i]->source_url;

        snprintf(field, sizeof(field), "content.photos[%zu].source_url", i);
        if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0 &&
            !photo_address_is_upload(url))
            violations_add(checking->violations, field,
                           "expected an address with http or https, or of an upload");
        else if (strlen(url) > OFFER_URL_SIZE_MAX)
            violations_add(checking->violations, field, "has %zu bytes; the limit is %d",
                           strlen(url), OFFER_URL_SIZE_MAX);
        check_line(checking, field, url);
    }
}

static void check_address(struct checking *checking)
{
    const Torg__V1__Address *address = checking->content->address;
    const Torg__V1__GeoPoint *point = address ? address->point : NULL;

    if (!address)
        return;
    check_length(checking, "content.address.text", address->text, 0, OFFER_ADDRESS_LENGTH_MAX);
    check_line(checking, "content.address.text", address->text);
    /* So written that a NaN is refused. */
    if (point && !(fabs(point->latitude) <= 90))
        violations_add(checking->violations, "content.address.point.latitude",
                       "expected -90 to 90 degrees");
    if (point && !(fabs(point->longitude) <= 180))
        violations_add(checking->violations, "content.address.point.longitude",
                       "expected -180 to 180 degrees");
}

static bool is_phone(const char *text)
{
    size_t digits = strspn(text + (*text == '+'), "0123456789");

    return *text == '+' && digits >= 7 && digits <= 15 && !text[1 + digits];
}

static bool is_email(const char *text)
{
    const char *at = strchr(text, '@');

    return at && at > text && at[1] && !strchr(at + 1, '@') && !strpbrk(text, " \t\r\n<>,;") &&
           strlen(text) <= OFFER_EMAIL_SIZE_MAX;
}

static void check_contacts(struct checking *checking)
{
    const Torg__V1__Contacts *contacts = checking->content->contacts;
    char field[FIELD_SIZE];

    if (!contacts)
        return;
    check_length(checking, "content.contacts.name", contacts->name, 0, OFFER_NAME_LENGTH_MAX);
    check_line(checking, "content.contacts.name", contacts->name);
    if (contacts->n_phones > OFFER_PHONE_COUNT_MAX)
        violations_add(checking->violations, "content.contacts.phones", "%zu phones; at most %d",
                       contacts->n_phones, OFFER_PHONE_COUNT_MAX);
    for (size_t i = 0; i < contacts->n_phones && i < OFFER_PHONE_COUNT_MAX; i++) {
        snprintf(field, sizeof(field), "content.contacts.phones[%zu]", i);
        if (!is_phone(contacts->phones[i]))
            violations_add(checking->violations, field,
                           "expected + and 7 to 15 digits, as +79001234567");
    }
    if (*contacts->email && !is_email(contacts->email))
        violations_add(checking->violations, "content.contacts.email",
                       "expected an address, as name@example.org");
}

static void check_properties(struct checking *checking)
{
    const Torg__V1__OfferContent *content = checking->content;
    char field[FIELD_SIZE];

    if (content->n_properties > OFFER_PROPERTY_COUNT_MAX)
        violations_add(checking->violations, "content.properties", "%zu values; the limit is %d",
                       content->n_properties, OFFER_PROPERTY_COUNT_MAX);
    for (size_t i = 0; i < content->n_properties && i < OFFER_PROPERTY_COUNT_MAX; i++) {
        const Torg__V1__OfferProperty *property = content->properties[i];

        snprintf(field, sizeof(field), "content.properties[%zu].name", i);
        check_length(checking, field, property->name, 1, OFFER_PROPERTY_NAME_LENGTH_MAX);
        check_line(checking, field, property->name);
        snprintf(field, sizeof(field), "content.properties[%zu].value", i);
        check_length(checking, field, property->value, 1, OFFER_PROPERTY_VALUE_LENGTH_MAX);
        check_line(checking, field, property->value);
    }
}

/* What only a known category can tell. */
static void check_by_category(struct checking *checking, enum language language)
{
    const Torg__V1__OfferContent *content = checking->content;
    const struct category *category = checking->category;
    const struct policy *policy = &category->policy;

    check_length(checking, "content.title", content->title, policy->title_min, policy->title_max);
    check_length(checking, "content.description", content->description, policy->description_min,
                 policy->description_max);
    check_price(checking);
    check_special(checking);
    catalog_validate_attributes(category, content->attributes, content->n_attributes,
                                "content.attributes", true, language, checking->violations);
    check_photos(checking);
}

/* What needs no category. */
static void check_common(struct checking *checking)
{
    const Torg__V1__OfferContent *content = checking->content;

    check_line(checking, "content.title", content->title);
    if (!protobuf_c_enum_descriptor_get_value(&torg__v1__offer_content__condition__descriptor,
                                              (int)content->condition))
        violations_add(checking->violations, "content.condition", "expected NEW, USED or BROKEN");
    if (!protobuf_c_enum_descriptor_get_value(&torg__v1__offer_content__seller_kind__descriptor,
                                              (int)content->seller_kind))
        violations_add(checking->violations, "content.seller_kind", "expected PRIVATE or BUSINESS");
    check_address(checking);
    check_contacts(checking);
    check_properties(checking);
    if (strlen(content->external_id) > OFFER_EXTERNAL_ID_SIZE_MAX)
        violations_add(checking->violations, "content.external_id",
                       "has %zu bytes; the limit is %d", strlen(content->external_id),
                       OFFER_EXTERNAL_ID_SIZE_MAX);
    check_line(checking, "content.external_id", content->external_id);
}

size_t offer_content_check_in(const Torg__V1__OfferContent *content,
                              const struct category *category, enum language language,
                              struct violations *violations)
{
    struct checking checking = {.content = content, .category = category, .violations = violations};
    size_t before = violations->count;

    check_by_category(&checking, language);
    check_common(&checking);
    return violations->count - before;
}

size_t offer_content_check(const Torg__V1__OfferContent *content, const struct catalog *catalog,
                           enum language language, struct violations *violations,
                           const struct category **category)
{
    struct checking checking = {.content = content, .violations = violations};
    const struct category *found = category_find(catalog, content->category);
    size_t before = violations->count;

    if (category)
        *category = found;
    if (found)
        return offer_content_check_in(content, found, language, violations);
    if (!*content->category)
        violations_add(violations, "content.category", "is missing");
    else
        violations_add(violations, "content.category", "there is no category \"%.64s\"",
                       content->category);
    if (!*content->title)
        violations_add(violations, "content.title", "is missing");
    check_common(&checking);
    return violations->count - before;
}

static const Torg__V1__Photo *photo_find(const Torg__V1__OfferContent *content, const char *url)
{
    for (size_t i = 0; content && i < content->n_photos; i++) {
        if (strcmp(content->photos[i]->source_url, url) == 0)
            return content->photos[i];
    }
    return NULL;
}

void offer_photos_carry(Torg__V1__OfferContent *content, const Torg__V1__OfferContent *before)
{
    for (size_t i = 0; i < content->n_photos; i++) {
        Torg__V1__Photo *photo = content->photos[i];
        const Torg__V1__Photo *known = photo_find(before, photo->source_url);
        char *url = photo->source_url;

        if (known) {
            *photo = *known;
            continue;
        }
        torg__v1__photo__init(photo);
        photo->source_url = url;
        photo->state = TORG__V1__PHOTO__STATE__WAITING;
    }
}

void offer_content_normalize(Torg__V1__OfferContent *content, const struct category *category,
                             const Torg__V1__OfferContent *before, struct arena *arena)
{
    catalog_normalize_attributes(category, content->attributes, content->n_attributes, arena);
    offer_photos_carry(content, before);
}

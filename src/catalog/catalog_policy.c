/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_policy.c - standard filters and rules of publication, inherited down the tree. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"

#define PUBLISH(name) TORG__V1__POLICY__PUBLISH__##name
#define PRICE(name) TORG__V1__POLICY__PRICE__##name

static const char *const default_currencies[] = {"RUB"};

/* What holds where no catalogue says anything. */
static const struct policy policy_default = {
    .photos_max = 10,
    .publish = PUBLISH(AT_ONCE),
    .photo_wait_s = 600,
    .currencies = default_currencies,
    .currency_count = ARRAY_COUNT(default_currencies),
    .price = PRICE(ALLOWED),
    .title_min = 3,
    .title_max = 100,
    .description_max = 5000,
    .lifetime_days = 30,
};

struct number {
    const char *field;
    bool given;
    uint32_t value;
    uint32_t min;
    uint32_t max;
    uint32_t *to;
};

static void set_numbers(struct loading *loading, const struct place *place,
                        const Torg__V1__Policy *message, struct policy *policy)
{
    const struct number numbers[] = {
        {"photosMin", message->_photos_min_case, message->photos_min, 0, CATALOG_PHOTO_COUNT_MAX,
         &policy->photos_min},
        {"photosMax", message->_photos_max_case, message->photos_max, 0, CATALOG_PHOTO_COUNT_MAX,
         &policy->photos_max},
        {"photoWaitS", message->_photo_wait_s_case, message->photo_wait_s, 1,
         CATALOG_PHOTO_WAIT_S_MAX, &policy->photo_wait_s},
        {"titleMin", message->_title_min_case, message->title_min, 0, CATALOG_TITLE_MAX,
         &policy->title_min},
        {"titleMax", message->_title_max_case, message->title_max, 1, CATALOG_TITLE_MAX,
         &policy->title_max},
        {"descriptionMin", message->_description_min_case, message->description_min, 0,
         CATALOG_DESCRIPTION_MAX, &policy->description_min},
        {"descriptionMax", message->_description_max_case, message->description_max, 0,
         CATALOG_DESCRIPTION_MAX, &policy->description_max},
        {"lifetimeDays", message->_lifetime_days_case, message->lifetime_days, 1,
         CATALOG_LIFETIME_DAYS_MAX, &policy->lifetime_days},
    };

    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        const struct number *number = &numbers[i];

        if (!number->given)
            continue;
        if (number->value < number->min || number->value > number->max)
            loading_fault(loading, place, number->field, "%u is not between %u and %u",
                          number->value, number->min, number->max);
        else
            *number->to = number->value;
    }
}

static bool is_currency(const char *text)
{
    return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static void set_currencies(struct loading *loading, const struct place *place,
                           const Torg__V1__Policy *message, struct policy *policy)
{
    if (!message->n_currencies)
        return;
    if (message->n_currencies > CATALOG_CURRENCY_COUNT_MAX) {
        loading_fault(loading, place, "currencies", "%zu currencies; the limit is %d",
                      message->n_currencies, CATALOG_CURRENCY_COUNT_MAX);
        return;
    }
    for (size_t i = 0; i < message->n_currencies; i++) {
        if (!is_currency(message->currencies[i]))
            loading_fault(loading, place, "currencies",
                          "\"%.40s\" is not a currency of three letters, such as RUB",
                          message->currencies[i]);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(message->currencies[i], message->currencies[j]) == 0)
                loading_fault(loading, place, "currencies", "\"%.40s\" comes twice",
                              message->currencies[i]);
        }
    }
    policy->currencies = (const char *const *)message->currencies;
    policy->currency_count = message->n_currencies;
}

static void check_order(struct loading *loading, const struct place *place, const char *what,
                        uint32_t min, uint32_t max)
{
    if (min > max)
        loading_fault(loading, place, what, "the minimum, %u, is above the maximum, %u", min, max);
}

static void apply(struct loading *loading, const struct place *place,
                  const Torg__V1__Policy *message, struct policy *policy)
{
    if (!message)
        return;
    set_numbers(loading, place, message, policy);
    set_currencies(loading, place, message, policy);
    if (message->publish < 0 || message->publish > PUBLISH(WITH_PHOTO_OR_LATER))
        loading_fault(loading, place, "publish", "there is no such way to publish");
    else if (message->publish)
        policy->publish = message->publish;
    if (message->price < 0 || message->price > PRICE(FORBIDDEN))
        loading_fault(loading, place, "price", "expected REQUIRED, ALLOWED or FORBIDDEN");
    else if (message->price)
        policy->price = message->price;
    check_order(loading, place, "photosMin", policy->photos_min, policy->photos_max);
    check_order(loading, place, "titleMin", policy->title_min, policy->title_max);
    check_order(loading, place, "descriptionMin", policy->description_min, policy->description_max);
    if (policy->publish != PUBLISH(AT_ONCE) && !policy->photos_max)
        loading_fault(loading, place, "publish", "an offer without photos cannot wait for one");
}

struct policy loading_default_policy(struct loading *loading)
{
    const Torg__V1__Catalog__Defaults *defaults = loading->catalog->message->defaults;
    const struct place place = {"defaults.policy", SIZE_MAX, NULL, 0};
    struct policy policy = policy_default;

    apply(loading, &place, defaults ? defaults->policy : NULL, &policy);
    return policy;
}

void loading_inherit_policy(struct loading *loading, struct category *category)
{
    const struct place place = {"categories", category->place, "policy", SIZE_MAX};

    apply(loading, &place, category->message->policy, &category->policy);
}

const char *catalog_currency(const struct catalog *catalog)
{
    const Torg__V1__Catalog__Defaults *defaults = catalog->message->defaults;

    object_check(catalog, CATALOG_MAGIC);
    if (defaults && defaults->policy && defaults->policy->n_currencies)
        return defaults->policy->currencies[0];
    return catalog->category_count ? catalog->categories[0]->policy.currencies[0]
                                   : default_currencies[0];
}

/* --- standard filters --- */

int category_filter_last(void)
{
    const ProtobufCEnumDescriptor *filters = &torg__v1__category__filter__descriptor;
    int last = filters->values[filters->n_values - 1].value; /* they are ascending */

    assert(last < 32); /* struct category keeps a bit of each */
    return last;
}

/* The bits of the list; what is wrong with it has been told. */
static uint32_t filter_bits(struct loading *loading, const struct place *place,
                            const Torg__V1__Category__Filter *list, size_t count)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i] <= 0 || (int)list[i] > category_filter_last())
            loading_fault(loading, place, "", "there is no standard filter %d", (int)list[i]);
        else if (bits >> list[i] & 1)
            loading_fault(loading, place, "", "the filter at %zu comes twice", i);
        else
            bits |= 1U << list[i];
    }
    return bits;
}

uint32_t loading_default_filters(struct loading *loading)
{
    const Torg__V1__Catalog__Defaults *defaults = loading->catalog->message->defaults;
    const struct place place = {"defaults.filters", SIZE_MAX, NULL, 0};

    return defaults ? filter_bits(loading, &place, defaults->filters, defaults->n_filters) : 0;
}

static const char *filter_name(int filter)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&torg__v1__category__filter__descriptor, filter);

    return value ? value->name : "?";
}

void loading_inherit_filters(struct loading *loading, struct category *category)
{
    const Torg__V1__Category *message = category->message;
    const struct place added = {"categories", category->place, "filters", SIZE_MAX};
    const struct place hidden = {"categories", category->place, "hiddenFilters", SIZE_MAX};
    uint32_t add = filter_bits(loading, &added, message->filters, message->n_filters);
    uint32_t hide =
        filter_bits(loading, &hidden, message->hidden_filters, message->n_hidden_filters);

    for (int i = 1; i <= category_filter_last(); i++) {
        if (hide >> i & 1 && !(category->filters >> i & 1))
            loading_fault(loading, &hidden, "", "\"%s\" inherits no filter %s that it could hide",
                          category->id, filter_name(i));
        if (add >> i & 1 && category->filters >> i & 1)
            loading_fault(loading, &added, "", "\"%s\" has the filter %s already", category->id,
                          filter_name(i));
    }
    category->filters = (category->filters & ~hide) | add;
}

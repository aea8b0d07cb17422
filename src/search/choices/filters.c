/* SPDX-License-Identifier: Apache-2.0 */
/* filters.c - see filters.h. */
#include "search/choices/filters.h"

#include <string.h>

#include "base/memory.h"
#include "model/offer_fields.h"

#define KIND(name) TORG__V1__SEARCH_FILTER__KIND__##name
#define STANDARD(name) TORG__V1__CATEGORY__FILTER__##name

static const struct search_filter standard[] = {
    {.id = "price",
     .field = OFFER_FIELD_PRICE,
     .kind = KIND(RANGE),
     .standard = STANDARD(PRICE),
     .name = {{"Цена", "Price"}},
     .is_money = true},
    {.id = "salary",
     .field = OFFER_FIELD_SALARY_FROM,
     .upper = OFFER_FIELD_SALARY_TO,
     .kind = KIND(RANGE),
     .standard = STANDARD(SALARY),
     .name = {{"Зарплата в месяц", "Salary a month"}},
     .is_money = true},
    {.id = "salary_period",
     .field = OFFER_FIELD_SALARY_PERIOD,
     .kind = KIND(VALUES),
     .standard = STANDARD(SALARY),
     .name = {{"Оплата", "Paid"}}},
    {.id = "condition",
     .field = OFFER_FIELD_CONDITION,
     .kind = KIND(VALUES),
     .standard = STANDARD(CONDITION),
     .name = {{"Состояние", "Condition"}}},
    {.id = "delivery",
     .field = OFFER_FIELD_DELIVERY,
     .kind = KIND(TOGGLE),
     .standard = STANDARD(DELIVERY),
     .name = {{"С доставкой", "With delivery"}}},
    {.id = "seller_kind",
     .field = OFFER_FIELD_SELLER_KIND,
     .kind = KIND(VALUES),
     .standard = STANDARD(SELLER_KIND),
     .name = {{"Продавец", "Seller"}}},
    {.id = "exchange",
     .field = OFFER_FIELD_EXCHANGE,
     .kind = KIND(TOGGLE),
     .standard = STANDARD(EXCHANGE),
     .name = {{"Возможен обмен", "Exchange possible"}}},
    {.id = "photo",
     .field = OFFER_FIELD_HAS_PHOTO,
     .kind = KIND(TOGGLE),
     .standard = STANDARD(PHOTO),
     .name = {{"С фотографией", "With a photo"}}},
    {.id = "distance",
     .field = OFFER_FIELD_POINT,
     .kind = KIND(DISTANCE),
     .standard = STANDARD(DISTANCE),
     .name = {{"Расстояние", "Distance"}}},
    {.id = "date",
     .field = OFFER_FIELD_CREATED,
     .kind = KIND(RANGE),
     .standard = STANDARD(DATE),
     .name = {{"Дата размещения", "Posted"}},
     .is_date = true},
};

/* No two standard filters have a value of one name. */
static const struct {
    const char *value;
    struct local_text name;
} values[] = {
    {"new", {{"Новое", "New"}}},
    {"used", {{"Б/у", "Used"}}},
    {"broken", {{"Неисправное", "For parts"}}},
    {"private", {{"Частное лицо", "Private"}}},
    {"business", {{"Компания", "Business"}}},
    {"hour", {{"За час", "By the hour"}}},
    {"shift", {{"За смену", "By the shift"}}},
    {"week", {{"За неделю", "By the week"}}},
    {"month", {{"За месяц", "By the month"}}},
    {"year", {{"За год", "By the year"}}},
};

const struct search_filter *standard_filters(size_t *count)
{
    *count = ARRAY_COUNT(standard);
    return standard;
}

bool filter_has_numbers(const struct search_filter *filter)
{
    return filter->kind == KIND(VALUES) && filter->attribute &&
           (filter->attribute->type == TORG__V1__ATTRIBUTE__TYPE__INTEGER ||
            filter->attribute->type == TORG__V1__ATTRIBUTE__TYPE__DECIMAL ||
            filter->attribute->type == TORG__V1__ATTRIBUTE__TYPE__YEAR);
}

bool attribute_filter(const struct attribute *attribute, struct arena *arena,
                      struct search_filter *filter)
{
    *filter = (struct search_filter){.attribute = attribute, .name = attribute->name};
    switch (attribute->filter) {
    case TORG__V1__ATTRIBUTE__FILTER__LIST:
    case TORG__V1__ATTRIBUTE__FILTER__TREE:
        filter->kind = KIND(VALUES);
        break;
    case TORG__V1__ATTRIBUTE__FILTER__RANGE:
        filter->kind = KIND(RANGE);
        break;
    case TORG__V1__ATTRIBUTE__FILTER__TOGGLE:
        filter->kind = KIND(TOGGLE);
        break;
    default:
        return false;
    }
    filter->id = arena_printf(arena, OFFER_ATTRIBUTE_PREFIX "%s", attribute->id);
    filter->field = filter_has_numbers(filter)
                        ? arena_printf(arena, OFFER_LISTED_PREFIX "%s", attribute->id)
                        : filter->id;
    return true;
}

/* The attribute as the first category that has it has it. */
static const struct attribute *find_attribute(const struct catalog *catalog,
                                              const struct category *category, const char *id)
{
    const struct attribute *attribute = category ? attribute_find(category, id) : NULL;
    const struct category *const *all;
    size_t count;

    all = catalog_categories(catalog, &count);
    for (size_t i = 0; i < count && !attribute; i++)
        attribute = attribute_find(all[i], id);
    return attribute;
}

bool filter_find(const struct catalog *catalog, const struct category *category, const char *id,
                 struct arena *arena, struct search_filter *filter)
{
    const struct attribute *attribute;

    for (size_t i = 0; i < ARRAY_COUNT(standard); i++) {
        if (strcmp(standard[i].id, id) == 0) {
            *filter = standard[i];
            return true;
        }
    }
    if (strncmp(id, OFFER_ATTRIBUTE_PREFIX, sizeof(OFFER_ATTRIBUTE_PREFIX) - 1) != 0)
        return false;
    attribute = find_attribute(catalog, category, id + sizeof(OFFER_ATTRIBUTE_PREFIX) - 1);
    return attribute && attribute_filter(attribute, arena, filter);
}

/* "128 GB": in the attribute's first unit. */
static const char *number_name(const struct attribute *attribute, const char *value,
                               enum language language, struct arena *arena)
{
    if (!attribute->unit_count)
        return value;
    return arena_printf(arena, "%s %s", value, attribute->units[0].name.in[language]);
}

const char *filter_value_name(const struct search_filter *filter, const char *value,
                              enum language language, struct arena *arena)
{
    const struct attribute_option *option;

    if (filter_has_numbers(filter))
        return number_name(filter->attribute, value, language, arena);
    if (filter->attribute) {
        option = option_find(filter->attribute, value);
        return option ? option->name.in[language] : value;
    }
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
        if (strcmp(values[i].value, value) == 0)
            return values[i].name.in[language];
    }
    return value;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* filters.c - see filters.h. */
#include "search/filters.h"

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
     .name = {{"Цена", "Price"}}},
    {.id = "condition",
     .field = OFFER_FIELD_CONDITION,
     .kind = KIND(VALUES),
     .standard = STANDARD(CONDITION),
     .name = {{"Состояние", "Condition"}}},
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

static const struct {
    const char *value;
    struct local_text name;
} conditions[] = {
    {"new", {{"Новое", "New"}}},
    {"used", {{"Б/у", "Used"}}},
    {"broken", {{"Неисправное", "For parts"}}},
};

const struct search_filter *standard_filters(size_t *count)
{
    *count = ARRAY_COUNT(standard);
    return standard;
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
    filter->field = filter->id;
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

const char *filter_value_name(const struct search_filter *filter, const char *value,
                              enum language language)
{
    const struct attribute_option *option;

    if (filter->attribute) {
        option = option_find(filter->attribute, value);
        return option ? option->name.in[language] : value;
    }
    for (size_t i = 0; i < ARRAY_COUNT(conditions); i++) {
        if (strcmp(conditions[i].value, value) == 0)
            return conditions[i].name.in[language];
    }
    return value;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* offer_schema.c - see offer_schema.h. */
#include "documents/offer_schema.h"

#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "model/offer_fields.h"

#define TYPE(name) TORG__V1__SCHEMA_FIELD__TYPE__##name

static const struct standard {
    const char *name;
    Torg__V1__SchemaField__Type type;
} standards[] = {
    {OFFER_FIELD_TITLE, TYPE(TEXT)},        {OFFER_FIELD_WORDS, TYPE(TEXT)},
    {OFFER_FIELD_DESCRIPTION, TYPE(TEXT)},  {OFFER_FIELD_PLACE, TYPE(TEXT)},
    {OFFER_FIELD_CATEGORY, TYPE(CATEGORY)}, {OFFER_FIELD_SELLER, TYPE(KEYWORD)},
    {OFFER_FIELD_PRICE, TYPE(INTEGER)},     {OFFER_FIELD_AMOUNT, TYPE(INTEGER)},
    {OFFER_FIELD_CURRENCY, TYPE(KEYWORD)},  {OFFER_FIELD_CONDITION, TYPE(KEYWORD)},
    {OFFER_FIELD_POINT, TYPE(POINT)},       {OFFER_FIELD_CREATED, TYPE(DATE)},
    {OFFER_FIELD_UPDATED, TYPE(DATE)},      {OFFER_FIELD_HAS_PHOTO, TYPE(BOOLEAN)},
    {OFFER_FIELD_PHOTO, TYPE(STORED)},      {OFFER_FIELD_DELIVERY, TYPE(BOOLEAN)},
    {OFFER_FIELD_EXCHANGE, TYPE(BOOLEAN)},  {OFFER_FIELD_SELLER_KIND, TYPE(KEYWORD)},
    {OFFER_FIELD_SALARY, TYPE(STORED)},     {OFFER_FIELD_SALARY_FROM, TYPE(INTEGER)},
    {OFFER_FIELD_SALARY_TO, TYPE(INTEGER)}, {OFFER_FIELD_SALARY_PERIOD, TYPE(KEYWORD)},
    {OFFER_FIELD_COMPLETE, TYPE(INTEGER)},
};

enum { RATE_COUNT = 3 };

struct listing {
    Torg__V1__SchemaField **fields;
    size_t count;
    struct arena *arena;
};

static Torg__V1__SchemaField *add(struct listing *listing, const char *name,
                                  Torg__V1__SchemaField__Type type)
{
    Torg__V1__SchemaField *field =
        (Torg__V1__SchemaField *)message_new(&torg__v1__schema_field__descriptor, listing->arena);

    field->name = (char *)name;
    field->type = type;
    listing->fields[listing->count++] = field;
    return field;
}

static const char *field_name(struct listing *listing, const struct attribute *attribute)
{
    return arena_printf(listing->arena, OFFER_ATTRIBUTE_PREFIX "%s", attribute->id);
}

static Torg__V1__SchemaField *add_decimal(struct listing *listing, const char *name, int32_t digits)
{
    Torg__V1__SchemaField *field = add(listing, name, TYPE(DECIMAL));

    field->options =
        (Torg__V1__FieldOptions *)message_new(&torg__v1__field_options__descriptor, listing->arena);
    field->options->_scale_case = TORG__V1__FIELD_OPTIONS___SCALE_SCALE;
    field->options->scale = digits;
    return field;
}

/* What visitors do with offers is written beside them (clicks/rater.c). Here it has its room: a
 * catalogue that takes all fields of an epoch would leave none. */
static void add_rates(struct listing *listing)
{
    static const char *const names[RATE_COUNT] = {OFFER_FIELD_CTR, OFFER_FIELD_APPEAL,
                                                  OFFER_FIELD_LOOKS};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        add_decimal(listing, names[i], OFFER_RATE_DIGITS)->options->side = true;
}

/* Numbers that buyers choose from a list. */
static bool is_listed(const struct attribute *attribute)
{
    return attribute->filter == TORG__V1__ATTRIBUTE__FILTER__LIST &&
           (attribute->type == TORG__V1__ATTRIBUTE__TYPE__INTEGER ||
            attribute->type == TORG__V1__ATTRIBUTE__TYPE__DECIMAL ||
            attribute->type == TORG__V1__ATTRIBUTE__TYPE__YEAR);
}

static void add_attribute(struct listing *listing, const struct attribute *attribute)
{
    if (is_listed(attribute))
        add(listing, arena_printf(listing->arena, OFFER_LISTED_PREFIX "%s", attribute->id),
            TYPE(KEYWORD));
    switch (attribute->type) {
    case TORG__V1__ATTRIBUTE__TYPE__OPTION:
    case TORG__V1__ATTRIBUTE__TYPE__OPTIONS:
        add(listing, field_name(listing, attribute), TYPE(KEYWORDS));
        break;
    case TORG__V1__ATTRIBUTE__TYPE__DECIMAL:
        add_decimal(listing, field_name(listing, attribute), attribute->digits);
        break;
    case TORG__V1__ATTRIBUTE__TYPE__INTEGER:
    case TORG__V1__ATTRIBUTE__TYPE__YEAR:
        add(listing, field_name(listing, attribute), TYPE(INTEGER));
        break;
    case TORG__V1__ATTRIBUTE__TYPE__FLAG:
        add(listing, field_name(listing, attribute), TYPE(BOOLEAN));
        break;
    default: /* a text is words */
        break;
    }
}

Torg__V1__SchemaField **offer_schema(const struct catalog *catalog, struct arena *arena,
                                     size_t *count)
{
    size_t category_count;
    size_t attribute_count;
    const struct category *const *categories = catalog_categories(catalog, &category_count);
    const struct attribute **attributes =
        catalog_attributes_of(categories, category_count, false, arena, &attribute_count);
    struct listing listing = {.arena = arena};

    listing.fields = arena_array(arena, ARRAY_COUNT(standards) + RATE_COUNT + 2 * attribute_count,
                                 sizeof(Torg__V1__SchemaField *));
    for (size_t i = 0; i < ARRAY_COUNT(standards); i++)
        add(&listing, standards[i].name, standards[i].type);
    add_rates(&listing);
    for (size_t i = 0; i < attribute_count; i++)
        add_attribute(&listing, attributes[i]);
    *count = listing.count;
    return listing.fields;
}

const char *offer_schema_attribute(const Torg__V1__SchemaField *field)
{
    size_t size = strlen(OFFER_ATTRIBUTE_PREFIX);

    return strncmp(field->name, OFFER_ATTRIBUTE_PREFIX, size) == 0 ? field->name + size : NULL;
}

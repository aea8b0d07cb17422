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
    {OFFER_FIELD_PHOTO, TYPE(STORED)},
};

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

static void add_decimal(struct listing *listing, const struct attribute *attribute)
{
    Torg__V1__SchemaField *field = add(listing, field_name(listing, attribute), TYPE(DECIMAL));

    field->options =
        (Torg__V1__FieldOptions *)message_new(&torg__v1__field_options__descriptor, listing->arena);
    field->options->_scale_case = TORG__V1__FIELD_OPTIONS___SCALE_SCALE;
    field->options->scale = attribute->digits;
}

static void add_attribute(struct listing *listing, const struct attribute *attribute)
{
    switch (attribute->type) {
    case TORG__V1__ATTRIBUTE__TYPE__OPTION:
    case TORG__V1__ATTRIBUTE__TYPE__OPTIONS:
        add(listing, field_name(listing, attribute), TYPE(KEYWORDS));
        break;
    case TORG__V1__ATTRIBUTE__TYPE__DECIMAL:
        add_decimal(listing, attribute);
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

    listing.fields = arena_array(arena, ARRAY_COUNT(standards) + attribute_count,
                                 sizeof(Torg__V1__SchemaField *));
    for (size_t i = 0; i < ARRAY_COUNT(standards); i++)
        add(&listing, standards[i].name, standards[i].type);
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

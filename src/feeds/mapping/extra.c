/* SPDX-License-Identifier: Apache-2.0 */
/* extra.c - see extra.h. */
#include "feeds/mapping/extra.h"

#include <string.h>

#include "base/memory.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "feeds/bounds.h"
#include "feeds/formats/value.h"
#include "offers/bounds.h"

/* As feed_fold has them. */
static const char *const private_names[] = {
    /* what the shop pays, earns, has and calls it */
    "purchaseprice",
    "cofinanceprice",
    "additionalexpenses",
    "costofgoodssold",
    "unnamed0", /* how a data frame calls its numbers of rows */
    "costprice",
    "minprice",
    "autopricingminprice",
    "закупочнаяцена",
    "ценазакупки",
    "себестоимость",
    "остаток",
    "остатки",
    "поставщик",
    "комментарий",
    "groupid",
    "itemgroupid",
    "customlabel0",
    "customlabel1",
    "customlabel2",
    "customlabel3",
    "customlabel4",
    /* what other market places are told */
    "bid",
    "cbid",
    "fee",
    "cpa",
    "vat",
    "vatrate",
    "enableautodiscounts",
    "adsredirect",
    "shippinglabel",
    "salepriceeffectivedate",
    "quantitytosellonfacebook",
    "listingfee",
    "adstatus",
    "datebegin",
    "dateend",
    "allowemail",
    "contactmethod",
    "avitoid",
    "googleproductcategory",
    /* a part of the title, or of the category's name */
    "typeprefix",
    "goodstype",
    "goodssubtype",
    "apparel",
};

bool feed_extra_is_private(struct bytes name)
{
    struct feed_word word;

    if (!feed_fold(name, &word))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(private_names); i++) {
        if (strcmp(private_names[i], word.text) == 0)
            return true;
    }
    return false;
}

/* One line: what breaks it becomes a blank. */
static char *line_of(struct bytes text, struct arena *arena)
{
    char *line = arena_text(arena, text);

    for (char *at = line; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    }
    return line;
}

static size_t size_of(const Torg__V1__OfferContent *content)
{
    size_t size = 0;

    for (size_t i = 0; i < content->n_properties; i++)
        size += strlen(content->properties[i]->name) + strlen(content->properties[i]->value);
    return size;
}

static bool has(const Torg__V1__OfferContent *content, const Torg__V1__OfferProperty *property)
{
    for (size_t i = 0; i < content->n_properties; i++) {
        if (strcmp(content->properties[i]->name, property->name) == 0 &&
            strcmp(content->properties[i]->value, property->value) == 0)
            return true;
    }
    return false;
}

void feed_extra_add(const struct feed_attribute *given, struct arena *arena,
                    Torg__V1__OfferContent *content, struct violations *notes)
{
    Torg__V1__OfferProperty *property = MESSAGE_NEW(offer_property, arena);
    size_t size = given->name.size + given->value.size + given->unit.size + 1;

    property->name = line_of(given->name, arena);
    property->value = line_of(given->value, arena);
    if (given->unit.size)
        property->value =
            arena_printf(arena, "%s %s", property->value, line_of(given->unit, arena));
    if (!*property->name || !*property->value || has(content, property))
        return;
    if (text_length(bytes_of(property->name)) > OFFER_PROPERTY_NAME_LENGTH_MAX ||
        text_length(bytes_of(property->value)) > OFFER_PROPERTY_VALUE_LENGTH_MAX)
        violations_add(notes, "properties",
                       "%.*s: is left out: a name of up to %d characters and a value of up to %d "
                       "are kept",
                       BYTES_ARG(feed_shown(given->name)), OFFER_PROPERTY_NAME_LENGTH_MAX,
                       OFFER_PROPERTY_VALUE_LENGTH_MAX);
    else if (content->n_properties == OFFER_PROPERTY_COUNT_MAX ||
             size_of(content) + size > FEED_PROPERTY_SIZE_MAX)
        violations_add(notes, "properties",
                       "%.*s: is left out: up to %d such values, of %d bytes together, are kept",
                       BYTES_ARG(feed_shown(given->name)), OFFER_PROPERTY_COUNT_MAX,
                       FEED_PROPERTY_SIZE_MAX);
    else
        content->properties[content->n_properties++] = property;
}

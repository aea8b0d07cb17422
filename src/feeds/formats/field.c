/* SPDX-License-Identifier: Apache-2.0 */
/* field.c - see field.h. */
#include "feeds/formats/field.h"

#include "base/memory.h"
#include "feeds/formats/value.h"

struct synonym {
    const char *word; /* folded: see feed_fold */
    enum feed_field field;
    const char *attribute; /* its one name, of an attribute */
};

static const struct synonym synonyms[] = {
    {"id", FEED_FIELD_ID, NULL},
    {"externalid", FEED_FIELD_ID, NULL},
    {"offerid", FEED_FIELD_ID, NULL},
    {"ид", FEED_FIELD_ID, NULL},
    {"идентификатор", FEED_FIELD_ID, NULL},
    {"кодтовара", FEED_FIELD_ID, NULL},
    {"categoryid", FEED_FIELD_CATEGORY_ID, NULL},
    {"idкатегории", FEED_FIELD_CATEGORY_ID, NULL},
    {"кодкатегории", FEED_FIELD_CATEGORY_ID, NULL},
    {"category", FEED_FIELD_CATEGORY, NULL},
    {"categorypath", FEED_FIELD_CATEGORY, NULL},
    {"producttype", FEED_FIELD_CATEGORY, NULL},
    {"категория", FEED_FIELD_CATEGORY, NULL},
    {"рубрика", FEED_FIELD_CATEGORY, NULL},
    {"title", FEED_FIELD_TITLE, NULL},
    {"name", FEED_FIELD_TITLE, NULL},
    {"название", FEED_FIELD_TITLE, NULL},
    {"наименование", FEED_FIELD_TITLE, NULL},
    {"заголовок", FEED_FIELD_TITLE, NULL},
    {"description", FEED_FIELD_DESCRIPTION, NULL},
    {"описание", FEED_FIELD_DESCRIPTION, NULL},
    {"url", FEED_FIELD_URL, NULL},
    {"link", FEED_FIELD_URL, NULL},
    {"ссылка", FEED_FIELD_URL, NULL},
    {"price", FEED_FIELD_PRICE, NULL},
    {"цена", FEED_FIELD_PRICE, NULL},
    {"стоимость", FEED_FIELD_PRICE, NULL},
    {"oldprice", FEED_FIELD_OLD_PRICE, NULL},
    {"стараяцена", FEED_FIELD_OLD_PRICE, NULL},
    {"ценадоскидки", FEED_FIELD_OLD_PRICE, NULL},
    {"saleprice", FEED_FIELD_SALE_PRICE, NULL},
    {"ценасоскидкой", FEED_FIELD_SALE_PRICE, NULL},
    {"currency", FEED_FIELD_CURRENCY, NULL},
    {"currencyid", FEED_FIELD_CURRENCY, NULL},
    {"валюта", FEED_FIELD_CURRENCY, NULL},
    {"condition", FEED_FIELD_CONDITION, NULL},
    {"состояние", FEED_FIELD_CONDITION, NULL},
    {"address", FEED_FIELD_ADDRESS, NULL},
    {"адрес", FEED_FIELD_ADDRESS, NULL},
    {"latitude", FEED_FIELD_LATITUDE, NULL},
    {"lat", FEED_FIELD_LATITUDE, NULL},
    {"широта", FEED_FIELD_LATITUDE, NULL},
    {"longitude", FEED_FIELD_LONGITUDE, NULL},
    {"lon", FEED_FIELD_LONGITUDE, NULL},
    {"lng", FEED_FIELD_LONGITUDE, NULL},
    {"долгота", FEED_FIELD_LONGITUDE, NULL},
    {"contactname", FEED_FIELD_CONTACT_NAME, NULL},
    {"managername", FEED_FIELD_CONTACT_NAME, NULL},
    {"контактноелицо", FEED_FIELD_CONTACT_NAME, NULL},
    {"менеджер", FEED_FIELD_CONTACT_NAME, NULL},
    {"email", FEED_FIELD_EMAIL, NULL},
    {"почта", FEED_FIELD_EMAIL, NULL},
    {"электроннаяпочта", FEED_FIELD_EMAIL, NULL},
    {"available", FEED_FIELD_AVAILABLE, NULL},
    {"availability", FEED_FIELD_AVAILABLE, NULL},
    {"наличие", FEED_FIELD_AVAILABLE, NULL},
    {"вналичии", FEED_FIELD_AVAILABLE, NULL},
    {"deleted", FEED_FIELD_DELETED, NULL},
    {"удалено", FEED_FIELD_DELETED, NULL},
    {"удалить", FEED_FIELD_DELETED, NULL},
    {"photo", FEED_FIELD_PHOTOS, NULL},
    {"photos", FEED_FIELD_PHOTOS, NULL},
    {"picture", FEED_FIELD_PHOTOS, NULL},
    {"pictures", FEED_FIELD_PHOTOS, NULL},
    {"image", FEED_FIELD_PHOTOS, NULL},
    {"images", FEED_FIELD_PHOTOS, NULL},
    {"imageurls", FEED_FIELD_PHOTOS, NULL},
    {"imagelink", FEED_FIELD_PHOTOS, NULL},
    {"additionalimagelink", FEED_FIELD_PHOTOS, NULL},
    {"фото", FEED_FIELD_PHOTOS, NULL},
    {"фотографии", FEED_FIELD_PHOTOS, NULL},
    {"изображение", FEED_FIELD_PHOTOS, NULL},
    {"изображения", FEED_FIELD_PHOTOS, NULL},
    {"phone", FEED_FIELD_PHONES, NULL},
    {"phones", FEED_FIELD_PHONES, NULL},
    {"contactphone", FEED_FIELD_PHONES, NULL},
    {"телефон", FEED_FIELD_PHONES, NULL},
    {"телефоны", FEED_FIELD_PHONES, NULL},
    {"vendor", FEED_FIELD_ATTRIBUTE, "vendor"},
    {"brand", FEED_FIELD_ATTRIBUTE, "vendor"},
    {"бренд", FEED_FIELD_ATTRIBUTE, "vendor"},
    {"производитель", FEED_FIELD_ATTRIBUTE, "vendor"},
    {"vendorcode", FEED_FIELD_ATTRIBUTE, "vendorCode"},
    {"mpn", FEED_FIELD_ATTRIBUTE, "vendorCode"},
    {"артикул", FEED_FIELD_ATTRIBUTE, "vendorCode"},
    {"model", FEED_FIELD_ATTRIBUTE, "model"},
    {"модель", FEED_FIELD_ATTRIBUTE, "model"},
    {"typeprefix", FEED_FIELD_ATTRIBUTE, "typePrefix"},
    {"barcode", FEED_FIELD_ATTRIBUTE, "barcode"},
    {"gtin", FEED_FIELD_ATTRIBUTE, "barcode"},
    {"ean", FEED_FIELD_ATTRIBUTE, "barcode"},
    {"googleproductcategory", FEED_FIELD_ATTRIBUTE, "googleProductCategory"},
    {"fbproductcategory", FEED_FIELD_ATTRIBUTE, "googleProductCategory"},
    {"штрихкод", FEED_FIELD_ATTRIBUTE, "barcode"},
    {"delivery", FEED_FIELD_ATTRIBUTE, "delivery"},
    {"доставка", FEED_FIELD_ATTRIBUTE, "delivery"},
};

enum feed_field feed_field_find(struct bytes name, struct bytes *attribute)
{
    struct feed_word word;
    size_t i;

    *attribute = name;
    if (!feed_fold(name, &word))
        return FEED_FIELD_ATTRIBUTE;
    for (i = 0; i < ARRAY_COUNT(synonyms); i++) {
        /* Most words differ at once: a call for each would be a sixth of the reading. */
        if (synonyms[i].word[0] == word.text[0] && strcmp(synonyms[i].word, word.text) == 0) {
            if (synonyms[i].attribute)
                *attribute = bytes_of(synonyms[i].attribute);
            return synonyms[i].field;
        }
    }
    return FEED_FIELD_ATTRIBUTE;
}

const char *feed_field_name(enum feed_field field)
{
    static const char *const names[] = {
        [FEED_FIELD_ATTRIBUTE] = "attributes",
        [FEED_FIELD_ID] = "external_id",
        [FEED_FIELD_CATEGORY_ID] = "category_id",
        [FEED_FIELD_CATEGORY] = "category",
        [FEED_FIELD_TITLE] = "title",
        [FEED_FIELD_DESCRIPTION] = "description",
        [FEED_FIELD_URL] = "url",
        [FEED_FIELD_PRICE] = "price",
        [FEED_FIELD_OLD_PRICE] = "old_price",
        [FEED_FIELD_SALE_PRICE] = "sale_price",
        [FEED_FIELD_CURRENCY] = "currency",
        [FEED_FIELD_CONDITION] = "condition",
        [FEED_FIELD_ADDRESS] = "address",
        [FEED_FIELD_LATITUDE] = "latitude",
        [FEED_FIELD_LONGITUDE] = "longitude",
        [FEED_FIELD_CONTACT_NAME] = "contact_name",
        [FEED_FIELD_EMAIL] = "email",
        [FEED_FIELD_AVAILABLE] = "available",
        [FEED_FIELD_DELETED] = "deleted",
        [FEED_FIELD_PHOTOS] = "photos",
        [FEED_FIELD_PHONES] = "phones",
    };

    return names[field];
}

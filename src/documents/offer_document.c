/* SPDX-License-Identifier: Apache-2.0 */
/* offer_document.c - see offer_document.h. */
#include "documents/offer_document.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "catalog/bounds.h"
#include "catalog/decimal.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "documents/bounds.h"
#include "documents/title_head.h"
#include "index/bounds.h"
#include "model/bounds.h"
#include "model/document_size.h"
#include "model/offer_fields.h"

enum { STANDARD_FIELD_COUNT = 25, UTF8_SIZE_MAX = 4 };

/* What offers may have is what documents may: the receiver would refuse it, and nobody would look
 * for an offer among the dead letters. */
_Static_assert((int)COMPOSER_WORDS_SIZE_MAX <= (int)DOCUMENT_TEXT_SIZE_MAX, "words");
_Static_assert((int)CATALOG_DESCRIPTION_MAX *UTF8_SIZE_MAX <= (int)DOCUMENT_TEXT_SIZE_MAX,
               "descriptions");
_Static_assert((int)STANDARD_FIELD_COUNT + (int)CATALOG_VALUE_COUNT_MAX <=
                   (int)DOCUMENT_FIELD_COUNT_MAX,
               "attributes");
_Static_assert((int)STANDARD_FIELD_COUNT + 2 * (int)CATALOG_ATTRIBUTE_CATEGORY_MAX <=
                   (int)DOCUMENT_FIELD_COUNT_MAX,
               "numbers that are listed, too");
_Static_assert((int)CATALOG_CHOSEN_COUNT_MAX <= (int)KEYWORD_VALUES_MAX, "options");
_Static_assert((int)COMPOSER_VALUE_SIZE_MAX <= (int)KEYWORD_SIZE_MAX, "values");
_Static_assert((int)CATALOG_DEPTH_MAX <= (int)DOCUMENT_PATH_DEPTH_MAX &&
                   (int)CATALOG_DEPTH_MAX * ((int)CATALOG_ID_SIZE_MAX + 1) <= (int)KEYWORD_SIZE_MAX,
               "categories");

/* How much a word counts, by the field it stands in. */
static const float weight_title = 3;
static const float weight_words = 1.5F;

/* A document that is being made. */
struct making {
    struct arena *arena;
    Torg__V1__RawDocument *document;
    struct buf words;       /* of names and values, in all languages */
    const char *long_field; /* NULL: every text fits a field */
    size_t long_size;
    const char *full_attribute; /* NULL: none has more options than a field has values */
};

static Torg__V1__RawField *add(struct making *making, const char *name)
{
    Torg__V1__RawField *field = MESSAGE_NEW(raw_field, making->arena);

    field->name = (char *)name;
    making->document->fields[making->document->n_fields++] = field;
    return field;
}

static Torg__V1__FieldOptions *options_of(struct making *making, Torg__V1__RawField *field)
{
    field->options = MESSAGE_NEW(field_options, making->arena);
    return field->options;
}

static void add_text(struct making *making, const char *name, const char *text, float weight)
{
    Torg__V1__RawField *field;

    if (!*text)
        return;
    if (strlen(text) > DOCUMENT_TEXT_SIZE_MAX && !making->long_field) {
        making->long_field = name;
        making->long_size = strlen(text);
    }
    field = add(making, name);
    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field->text = (char *)text;
    if (weight > 0)
        options_of(making, field)->weight = weight;
}

static void add_keyword(struct making *making, const char *name, const char *value)
{
    Torg__V1__RawField *field;

    if (!*value)
        return;
    field = add(making, name);
    field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    field->keyword = (char *)value;
}

static void add_integer(struct making *making, const char *name, int64_t value)
{
    Torg__V1__RawField *field = add(making, name);

    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = value;
}

static void add_boolean(struct making *making, const char *name, bool value)
{
    Torg__V1__RawField *field = add(making, name);

    field->_boolean_case = TORG__V1__RAW_FIELD___BOOLEAN_BOOLEAN;
    field->boolean = value;
}

static void add_date(struct making *making, const char *name, Google__Protobuf__Timestamp *time)
{
    Torg__V1__RawField *field;

    if (!time)
        return;
    field = add(making, name);
    field->_date_case = TORG__V1__RAW_FIELD___DATE_DATE;
    field->date = time;
}

static void add_stored(struct making *making, const char *name, const char *value)
{
    Torg__V1__RawField *field = add(making, name);

    field->_stored_case = TORG__V1__RAW_FIELD___STORED_STORED;
    field->stored = (char *)value;
}

/* A word once more is harmless; a language that says the same is left out. */
static void say(struct making *making, const struct local_text *text)
{
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        if (i == 0 || strcmp(text->in[i], text->in[0]) != 0)
            buf_printf(&making->words, "%s%s", making->words.size ? "; " : "", text->in[i]);
    }
}

static void say_each(struct making *making, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(&making->words, "%s%s", making->words.size ? "; " : "", words[i]);
}

/* What else people call the things of a category. */
static void say_synonyms(struct making *making, const struct category *category)
{
    const Torg__V1__LocalWords *synonyms = category->message->synonyms;

    if (!synonyms)
        return;
    say_each(making, synonyms->ru, synonyms->n_ru);
    say_each(making, synonyms->en, synonyms->n_en);
}

/* --- attributes --- */

static const char *attribute_field(struct making *making, const char *id)
{
    return arena_printf(making->arena, OFFER_ATTRIBUTE_PREFIX "%s", id);
}

static bool has(char *const *values, size_t count, const char *value)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(values[i], value) == 0)
            return true;
    }
    return false;
}

/* Chosen options with all above them, each once: whoever asks for a make finds its models. */
static void add_options(struct making *making, const struct attribute *attribute,
                        const Torg__V1__AttributeValue *value)
{
    char **ids = arena_array(making->arena, KEYWORD_VALUES_MAX, sizeof(*ids));
    Torg__V1__RawField *field;
    size_t count = 0;

    for (size_t i = 0; i < value->n_options; i++) {
        const struct attribute_option *option = option_find(attribute, value->options[i]);

        for (; option; option = option->parent) {
            if (has(ids, count, option->id))
                continue;
            if (count == KEYWORD_VALUES_MAX) {
                making->full_attribute = attribute->id;
                break;
            }
            ids[count++] = (char *)option->id;
            say(making, &option->name);
        }
    }
    if (!count)
        return;
    field = add(making, attribute_field(making, attribute->id));
    field->keywords = ids;
    field->n_keywords = count;
}

/* Numbers that buyers choose from a list have their values beside them. */
static void add_listed(struct making *making, const struct attribute *attribute,
                       struct decimal number)
{
    char *text;

    if (attribute->filter != TORG__V1__ATTRIBUTE__FILTER__LIST)
        return;
    text = arena_alloc(making->arena, DECIMAL_TEXT_SIZE);
    decimal_format(number, text);
    add_keyword(making, arena_printf(making->arena, OFFER_LISTED_PREFIX "%s", attribute->id), text);
}

/* The number in the attribute's base unit. */
static bool in_base(const struct attribute *attribute, const Torg__V1__AttributeValue *value,
                    struct decimal number, struct decimal *base)
{
    const struct attribute_unit *unit;

    *base = number;
    if (!*value->unit)
        return true;
    unit = unit_find(attribute, value->unit);
    return unit && decimal_multiply(number, unit->factor, base);
}

static void add_decimal(struct making *making, const struct attribute *attribute,
                        const Torg__V1__AttributeValue *value)
{
    char *text = arena_alloc(making->arena, DECIMAL_TEXT_SIZE);
    Torg__V1__FieldOptions *options;
    Torg__V1__RawField *field;
    struct decimal number;

    if (value->value_case != TORG__V1__ATTRIBUTE_VALUE__VALUE_DECIMAL ||
        !decimal_parse(bytes_of(value->decimal), &number, NULL) ||
        !in_base(attribute, value, number, &number))
        return;
    number = decimal_round(number, attribute->digits);
    decimal_format(number, text);
    field = add(making, attribute_field(making, attribute->id));
    field->_decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
    field->decimal = text;
    options = options_of(making, field);
    options->_scale_case = TORG__V1__FIELD_OPTIONS___SCALE_SCALE;
    options->scale = attribute->digits;
    add_listed(making, attribute, number);
}

static void add_whole(struct making *making, const struct attribute *attribute,
                      const Torg__V1__AttributeValue *value)
{
    struct decimal number;

    if (value->value_case != TORG__V1__ATTRIBUTE_VALUE__VALUE_INTEGER ||
        !decimal_from_integer(value->integer, &number) ||
        !in_base(attribute, value, number, &number))
        return;
    number = decimal_round(number, 0);
    add_integer(making, attribute_field(making, attribute->id), number.millionths / DECIMAL_ONE);
    add_listed(making, attribute, number);
}

static void add_year(struct making *making, const struct attribute *attribute,
                     const Torg__V1__AttributeValue *value)
{
    struct decimal number;

    if (value->value_case != TORG__V1__ATTRIBUTE_VALUE__VALUE_YEAR ||
        !decimal_from_integer(value->year, &number))
        return;
    add_integer(making, attribute_field(making, attribute->id), value->year);
    add_listed(making, attribute, number);
}

/* Free texts are words; where buyers choose from a list of them they are values, too. */
static void add_free(struct making *making, const struct attribute *attribute,
                     const Torg__V1__AttributeValue *value)
{
    if (value->value_case != TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT || !*value->text)
        return;
    buf_printf(&making->words, "%s%s", making->words.size ? "; " : "", value->text);
    if (attribute->filter != TORG__V1__ATTRIBUTE__FILTER__LIST ||
        strlen(value->text) > COMPOSER_VALUE_SIZE_MAX)
        return;
    add_keyword(making, attribute_field(making, attribute->id), value->text);
}

static void add_attribute(struct making *making, const struct attribute *attribute,
                          const Torg__V1__AttributeValue *value)
{
    switch (attribute->type) {
    case TORG__V1__ATTRIBUTE__TYPE__OPTION:
    case TORG__V1__ATTRIBUTE__TYPE__OPTIONS:
        add_options(making, attribute, value);
        break;
    case TORG__V1__ATTRIBUTE__TYPE__DECIMAL:
        add_decimal(making, attribute, value);
        break;
    case TORG__V1__ATTRIBUTE__TYPE__INTEGER:
        add_whole(making, attribute, value);
        break;
    case TORG__V1__ATTRIBUTE__TYPE__FLAG:
        if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_FLAG)
            add_boolean(making, attribute_field(making, attribute->id), value->flag);
        break;
    case TORG__V1__ATTRIBUTE__TYPE__YEAR:
        add_year(making, attribute, value);
        break;
    case TORG__V1__ATTRIBUTE__TYPE__TEXT:
        add_free(making, attribute, value);
        break;
    default:
        break;
    }
}

/* Those the category has; an offer of an older catalogue may have others. */
static void add_attributes(struct making *making, const struct category *category,
                           const Torg__V1__OfferContent *content)
{
    for (size_t i = 0; i < content->n_attributes; i++) {
        const struct attribute *attribute =
            attribute_find(category, content->attributes[i]->attribute_id);

        if (attribute)
            add_attribute(making, attribute, content->attributes[i]);
    }
}

/* What no attribute is for is found by its words, as far as there is room. */
static void say_properties(struct making *making, const Torg__V1__OfferContent *content)
{
    for (size_t i = 0; i < content->n_properties; i++) {
        const Torg__V1__OfferProperty *property = content->properties[i];
        size_t size = strlen(property->name) + strlen(property->value) + 4;

        if (making->words.size + size <= COMPOSER_WORDS_SIZE_MAX)
            buf_printf(&making->words, "%s%s: %s", making->words.size ? "; " : "", property->name,
                       property->value);
    }
}

/* --- what every offer has --- */

static void add_category(struct making *making, const struct category *category)
{
    const struct category **path = category_path(category, making->arena);
    struct buf text = BUF_INIT(CATALOG_DEPTH_MAX * (CATALOG_ID_SIZE_MAX + 1));
    Torg__V1__RawField *field;

    for (size_t i = 0; i < category->depth; i++) {
        buf_printf(&text, "%s%s", i ? "/" : "", path[i]->id);
        say(making, &path[i]->name);
        say_synonyms(making, path[i]);
    }
    field = add(making, OFFER_FIELD_CATEGORY);
    field->_category_case = TORG__V1__RAW_FIELD___CATEGORY_CATEGORY;
    field->category = arena_strdup(making->arena, buf_text(&text));
    making->document->placement_class = (char *)path[0]->id;
    buf_release(&text);
}

static const char *condition_word(Torg__V1__OfferContent__Condition condition)
{
    switch (condition) {
    case TORG__V1__OFFER_CONTENT__CONDITION__NEW:
        return "new";
    case TORG__V1__OFFER_CONTENT__CONDITION__USED:
        return "used";
    case TORG__V1__OFFER_CONTENT__CONDITION__BROKEN:
        return "broken";
    default:
        return "";
    }
}

/* Read by search/asking/found.c. */
static const char *describe_photo(const Torg__V1__Photo *photo, const Torg__V1__PhotoSize *size,
                                  struct arena *arena)
{
    struct buf preview = BUF_INIT(2 * PHOTO_PREVIEW_SIZE_MAX);
    const char *text;

    text_put_base64(&preview, bytes_make(photo->preview.data, photo->preview.len));
    text = arena_printf(arena, "%s %ux%u %.*s", size->key, size->width, size->height,
                        BYTES_ARG(buf_bytes(&preview)));
    buf_release(&preview);
    return text;
}

/* The first that is ready, in its smallest form: a page shows many. */
static const char *find_photo(const Torg__V1__OfferContent *content, struct arena *arena)
{
    for (size_t i = 0; i < content->n_photos; i++) {
        const Torg__V1__Photo *photo = content->photos[i];
        const Torg__V1__PhotoSize *smallest = NULL;

        if (photo->state != TORG__V1__PHOTO__STATE__READY)
            continue;
        for (size_t k = 0; k < photo->n_sizes; k++) {
            if (!smallest || photo->sizes[k]->width < smallest->width)
                smallest = photo->sizes[k];
        }
        if (smallest)
            return describe_photo(photo, smallest, arena);
    }
    return NULL;
}

/* Numbers of different currencies are not to be compared: in one field are those of one. */
static void add_price(struct making *making, const Torg__V1__Price *price,
                      const struct catalog *catalog)
{
    bool is_compared = strcmp(price->currency, catalog_currency(catalog)) == 0;
    Torg__V1__FieldOptions *options;

    add_integer(making, is_compared ? OFFER_FIELD_PRICE : OFFER_FIELD_AMOUNT, price->amount);
    if (!is_compared) {
        options = options_of(making, making->document->fields[making->document->n_fields - 1]);
        options->_filter_case = TORG__V1__FIELD_OPTIONS___FILTER_FILTER;
        options->filter = false;
    }
    add_keyword(making, OFFER_FIELD_CURRENCY, price->currency);
}

/* --- what offers of some categories have --- */

/* How many of its periods a month has, in hundredths: 165 hours, 15 shifts. */
static int64_t month_hundredths(Torg__V1__Salary__Period period)
{
    switch (period) {
    case TORG__V1__SALARY__PERIOD__HOUR:
        return 16500;
    case TORG__V1__SALARY__PERIOD__SHIFT:
        return 1500;
    case TORG__V1__SALARY__PERIOD__WEEK:
        return 433;
    default:
        return 100;
    }
}

static int64_t in_month(int64_t amount, Torg__V1__Salary__Period period)
{
    if (period == TORG__V1__SALARY__PERIOD__YEAR)
        return amount / 12;
    return amount / 100 * month_hundredths(period) + amount % 100 * month_hundredths(period) / 100;
}

static const char *period_word(Torg__V1__Salary__Period period)
{
    static const char *const words[] = {
        [TORG__V1__SALARY__PERIOD__HOUR] = "hour", [TORG__V1__SALARY__PERIOD__SHIFT] = "shift",
        [TORG__V1__SALARY__PERIOD__WEEK] = "week", [TORG__V1__SALARY__PERIOD__MONTH] = "month",
        [TORG__V1__SALARY__PERIOD__YEAR] = "year",
    };

    return (size_t)period < ARRAY_COUNT(words) && words[period] ? words[period] : "";
}

/* Compared as prices are: in one currency alone. An end that is not said is the other one: "from
 * 80 000" promises no more than that. */
static void add_salary(struct making *making, const Torg__V1__Salary *salary,
                       const struct catalog *catalog)
{
    int64_t from = salary->min ? salary->min : salary->max;
    int64_t to = salary->max ? salary->max : salary->min;

    add_stored(making, OFFER_FIELD_SALARY,
               arena_printf(making->arena, "%" PRId64 " %" PRId64 " %s %s", salary->min,
                            salary->max, salary->currency, period_word(salary->period)));
    add_keyword(making, OFFER_FIELD_SALARY_PERIOD, period_word(salary->period));
    if (strcmp(salary->currency, catalog_currency(catalog)) != 0)
        return;
    add_integer(making, OFFER_FIELD_SALARY_FROM, in_month(from, salary->period));
    add_integer(making, OFFER_FIELD_SALARY_TO, in_month(to, salary->period));
}

static void add_special(struct making *making, const struct category *category,
                        const Torg__V1__OfferContent *content, const struct catalog *catalog)
{
    if (content->delivery && category_has_filter(category, TORG__V1__CATEGORY__FILTER__DELIVERY))
        add_boolean(making, OFFER_FIELD_DELIVERY, true);
    if (content->exchange && category_has_filter(category, TORG__V1__CATEGORY__FILTER__EXCHANGE))
        add_boolean(making, OFFER_FIELD_EXCHANGE, true);
    if (content->seller_kind &&
        category_has_filter(category, TORG__V1__CATEGORY__FILTER__SELLER_KIND))
        add_keyword(making, OFFER_FIELD_SELLER_KIND,
                    content->seller_kind == TORG__V1__OFFER_CONTENT__SELLER_KIND__BUSINESS
                        ? "business"
                        : "private");
    if (content->salary && category_has_filter(category, TORG__V1__CATEGORY__FILTER__SALARY))
        add_salary(making, content->salary, catalog);
}

/* --- how complete it is --- */

static size_t count_told(const struct category *category, const Torg__V1__OfferContent *content)
{
    size_t count = 0;

    for (size_t i = 0; i < content->n_attributes; i++)
        count += attribute_find(category, content->attributes[i]->attribute_id) != NULL;
    return count < category->attribute_count ? count : category->attribute_count;
}

/* Of what is neither sold nor paid nothing is asked. */
static bool tells_money(const struct category *category, const Torg__V1__OfferContent *content)
{
    return content->price || content->salary ||
           (!category_has_filter(category, TORG__V1__CATEGORY__FILTER__PRICE) &&
            !category_has_filter(category, TORG__V1__CATEGORY__FILTER__SALARY));
}

/* Half of it are the attributes that the category has, an eighth each a photo, a text, what it
 * costs, where it is. */
static void add_complete(struct making *making, const struct category *category,
                         const Torg__V1__OfferContent *content)
{
    enum { PARTS = 8, TEXT_SIZE_MIN = 100, PERCENT = 100 };
    size_t parts = (find_photo(content, making->arena) != NULL) +
                   (strlen(content->description) >= TEXT_SIZE_MIN) +
                   tells_money(category, content) + (content->address != NULL);
    size_t asked = category->attribute_count ? category->attribute_count : 1;
    size_t told = category->attribute_count ? count_told(category, content) : 1;

    add_integer(making, OFFER_FIELD_COMPLETE,
                (int64_t)(PERCENT * (2 * parts * asked + PARTS * told) / (2 * PARTS * asked)));
}

static void add_standard(struct making *making, const Torg__V1__Offer *offer,
                         const struct catalog *catalog)
{
    const Torg__V1__OfferContent *content = offer->content;
    const char *photo = find_photo(content, making->arena);

    add_text(making, OFFER_FIELD_TITLE, content->title, weight_title);
    add_text(making, OFFER_FIELD_DESCRIPTION, content->description, 0);
    add_keyword(making, OFFER_FIELD_SELLER, offer->seller);
    if (content->price)
        add_price(making, content->price, catalog);
    add_keyword(making, OFFER_FIELD_CONDITION, condition_word(content->condition));
    if (content->address) {
        add_text(making, OFFER_FIELD_PLACE, content->address->text, 0);
        if (content->address->point)
            add(making, OFFER_FIELD_POINT)->point = content->address->point;
    }
    add_date(making, OFFER_FIELD_CREATED, offer->create_time);
    add_date(making, OFFER_FIELD_UPDATED, offer->update_time);
    add_boolean(making, OFFER_FIELD_HAS_PHOTO, photo != NULL);
    if (photo)
        add_stored(making, OFFER_FIELD_PHOTO, photo);
}

/* As the receiver does. */
static int check_size(const struct making *making, const char *id, struct err *err)
{
    size_t size = document_size(making->document);

    if (making->long_field)
        return err_set(err, ERR_LIMIT,
                       "offer %.40s: its %s has %zu bytes; the limit is %d: shorten "
                       "it",
                       id, making->long_field, making->long_size, DOCUMENT_TEXT_SIZE_MAX);
    if (making->full_attribute)
        return err_set(err, ERR_LIMIT,
                       "offer %.40s: its %s has more than %d options, counted with those above "
                       "them: choose fewer",
                       id, making->full_attribute, KEYWORD_VALUES_MAX);
    if (size > DOCUMENT_SIZE_MAX)
        return err_set(
            err, ERR_LIMIT,
            "offer %.40s: its document has %zu bytes; the limit is %d: shorten its texts, "
            "or leave attributes out",
            id, size, DOCUMENT_SIZE_MAX);
    return 0;
}

/* What the thing is counts more than what its title says besides, and its last word most: a cabinet
 * pull is a pull. */
static void say_head(struct making *making, const char *title, const struct category *category)
{
    const char *head = title_head(title, making->arena), *thing;

    head = head_by_category(head, title, category->name.in[LANGUAGE_EN], making->arena);
    thing = head_thing(head);
    if (*head)
        buf_printf(&making->words, "%s; %s; %s", head, thing, thing);
}

static int fill(struct making *making, const Torg__V1__Offer *offer, const struct catalog *catalog,
                struct err *err)
{
    const struct category *category;

    if (!offer->content || !*offer->content->title || !*offer->seller)
        return err_set(err, ERR_INVALID, "offer %.40s has no %s", offer->id,
                       !offer->content           ? "content"
                       : !*offer->content->title ? "title"
                                                 : "seller");
    category = category_find(catalog, offer->content->category);
    if (!category)
        return err_set(err, ERR_INVALID,
                       "offer %.40s is of category \"%.64s\", which the catalogue (version %lld) "
                       "does not have",
                       offer->id, offer->content->category, (long long)catalog_version(catalog));
    making->document->fields =
        arena_array(making->arena, STANDARD_FIELD_COUNT + 2 * offer->content->n_attributes,
                    sizeof(making->document->fields[0]));
    add_standard(making, offer, catalog);
    say_head(making, offer->content->title, category);
    add_special(making, category, offer->content, catalog);
    add_category(making, category);
    add_attributes(making, category, offer->content);
    say_properties(making, offer->content);
    add_complete(making, category, offer->content);
    add_text(making, OFFER_FIELD_WORDS, arena_strdup(making->arena, buf_text(&making->words)),
             weight_words);
    making->document->expire_time = offer->expire_time;
    if (buf_failed(&making->words))
        return err_set(
            err, ERR_LIMIT,
            "offer %.40s: the words of its attributes are more than %d bytes: leave some "
            "of their values out",
            offer->id, COMPOSER_WORDS_SIZE_MAX);
    return check_size(making, offer->id, err);
}

/* The key and the order; the content is the caller's. */
static int begin(const Torg__V1__Offer *offer, const struct catalog *catalog, struct arena *arena,
                 Torg__V1__RawDocument **document, struct err *err)
{
    if (!*offer->id || !offer->update_time)
        return err_set(err, ERR_INVALID, "offer %.40s has no %s", offer->id,
                       *offer->id ? "update time" : "id");
    *document = MESSAGE_NEW(raw_document, arena);
    (*document)->pk = offer->id;
    (*document)->version = moment_own_us(offer->update_time);
    (*document)->modify_timestamp =
        moment_message((*document)->version + catalog_version(catalog), arena);
    return 0;
}

int offer_document(const Torg__V1__Offer *offer, const struct catalog *catalog, struct arena *arena,
                   Torg__V1__RawDocument **document, struct err *err)
{
    struct making making = {.arena = arena, .words = BUF_INIT(COMPOSER_WORDS_SIZE_MAX)};
    int rc;

    *document = NULL;
    rc = begin(offer, catalog, arena, &making.document, err);
    if (rc)
        return rc;
    if (offer->status == TORG__V1__OFFER__STATUS__ACTIVE)
        rc = fill(&making, offer, catalog, err);
    else
        making.document->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    buf_release(&making.words);
    if (!rc)
        *document = making.document;
    return rc;
}

int offer_document_hidden(const Torg__V1__Offer *offer, const struct catalog *catalog,
                          bool is_parked, struct arena *arena, Torg__V1__RawDocument **document,
                          struct err *err)
{
    int rc;

    *document = NULL;
    rc = begin(offer, catalog, arena, document, err);
    if (rc)
        return rc;
    (*document)->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    (*document)->version -= is_parked;
    return 0;
}

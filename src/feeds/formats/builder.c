/* SPDX-License-Identifier: Apache-2.0 */
/* builder.c - see builder.h. */
#include "feeds/formats/builder.h"

#include <assert.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/object.h"
#include "feeds/formats/html.h"
#include "feeds/formats/value.h"

void feed_builder_init(struct feed_builder *builder, const char currency[4], char decimal)
{
    *builder = (struct feed_builder){.magic = FEED_BUILDER_MAGIC,
                                     .arena = arena_new(),
                                     .decimal = decimal,
                                     .text = BUF_INIT(FEED_TEXT_SIZE_MAX)};
    memcpy(builder->default_currency, currency, 4);
}

void feed_builder_release(struct feed_builder *builder)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    arena_free(builder->arena);
    buf_release(&builder->text);
}

void feed_builder_begin(struct feed_builder *builder, uint64_t number, uint64_t line)
{
    size_t i;

    object_check(builder, FEED_BUILDER_MAGIC);
    arena_reset(builder->arena);
    for (i = 0; i < FEED_FIELD_SINGLE_COUNT; i++)
        builder->single[i] = BYTES_EMPTY;
    builder->minor_price = false;
    builder->told_attribute_count = false;
    builder->row = (struct feed_row){
        .number = number,
        .line = line,
        .photos = builder->photos,
        .phones = builder->phones,
        .attributes = builder->attributes,
        .available = true,
        .decimal = builder->decimal,
        .problems = violations_in(builder->arena),
        .notes = violations_in(builder->arena),
    };
}

struct violations *feed_builder_problems(struct feed_builder *builder)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    return &builder->row.problems;
}

static struct bytes attribute_value(const struct feed_row *row, const char *name)
{
    size_t i;

    for (i = 0; i < row->attribute_count; i++) {
        if (bytes_equal_text(row->attributes[i].name, name))
            return row->attributes[i].value;
    }
    return BYTES_EMPTY;
}

bool feed_builder_has(const struct feed_builder *builder, enum feed_field field)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    return field < FEED_FIELD_SINGLE_COUNT && builder->single[field].size;
}

struct bytes feed_builder_attribute_value(const struct feed_builder *builder, const char *name)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    return attribute_value(&builder->row, name);
}

void feed_builder_replace(struct feed_builder *builder, enum feed_field field, struct bytes text)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    assert(field < FEED_FIELD_SINGLE_COUNT);
    if (text.size <= FEED_VALUE_SIZE_MAX)
        builder->single[field] = arena_copy(builder->arena, text);
}

void feed_builder_default_decimal(struct feed_builder *builder, char decimal)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    if (!builder->decimal)
        builder->decimal = builder->row.decimal = decimal;
}

void feed_builder_minor_price(struct feed_builder *builder)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    builder->minor_price = true;
}

/* A shop's file may be named "Диван серый.jpg": a blank inside of an address is written as %20, a
 * line break that a writer has put there is none of it. */
static struct bytes whole_url(struct feed_builder *builder, struct bytes url)
{
    struct buf *out = &builder->text;

    url = feed_trim(url);
    if (feed_is_web_url(url))
        return url;
    buf_reset(out);
    for (size_t i = 0; i < url.size; i++) {
        size_t blank = feed_blank_size(bytes_skip(url, i));

        if (url.data[i] == '\t' || url.data[i] == '\n' || url.data[i] == '\r')
            continue;
        if (url.data[i] != ' ' && blank < 2) {
            buf_put_byte(out, url.data[i]);
            continue;
        }
        for (; blank; blank--, i++)
            buf_printf(out, "%%%02X", url.data[i]);
        i--;
    }
    return buf_failed(out) ? url : buf_bytes(out);
}

static void put_photo(struct feed_builder *builder, struct bytes text)
{
    struct feed_row *row = &builder->row;
    struct bytes url = whole_url(builder, text);

    if (!url.size)
        return;
    if (!feed_is_web_url(url)) {
        violations_add(&row->notes, "photos", "\"%.*s\" is not a web address of at most %d bytes",
                       BYTES_ARG(feed_shown(feed_trim(text))), FEED_URL_SIZE_MAX);
        return;
    }
    if (row->photo_count == FEED_PHOTO_COUNT_MAX) {
        if (row->notes.count == 0 || strcmp(row->notes.last->field, "photo_count") != 0)
            violations_add(&row->notes, "photo_count", "photos above the limit of %d are left out",
                           FEED_PHOTO_COUNT_MAX);
        return;
    }
    builder->photos[row->photo_count++] = arena_copy(builder->arena, url);
}

/* A comma or semicolon may be part of an address: it divides only where another one begins. So may
 * be a blank, where a value is one address (a tag) and not a list (a cell). */
static bool divides_urls(const struct feed_builder *builder, struct bytes rest)
{
    size_t blank = feed_blank_size(rest);

    if (builder->lists_photos && (rest.data[0] == '|' || blank))
        return true;
    if (!blank && !strchr(",;|", rest.data[0]))
        return false;
    rest = feed_trim(bytes_skip(rest, blank ? blank : 1));
    return rest.size == 0 || bytes_begin(rest, bytes_of("http://")) ||
           bytes_begin(rest, bytes_of("https://"));
}

static void put_photos(struct feed_builder *builder, struct bytes text)
{
    size_t start = 0;
    size_t i;

    for (i = 0; i <= text.size; i++) {
        /* A trim of the whole rest at each comma would be quadratic: it looks at a window. */
        size_t window = text.size - i < 16 ? text.size - i : 16;

        if (i < text.size && !divides_urls(builder, bytes_make(text.data + i, window)))
            continue;
        if (i > start)
            put_photo(builder, bytes_make(text.data + start, i - start));
        if (i < text.size)
            i += feed_blank_size(bytes_skip(text, i)) > 1 ? feed_blank_size(bytes_skip(text, i)) - 1
                                                          : 0;
        start = i + 1;
    }
}

static void put_phone(struct feed_builder *builder, struct bytes text)
{
    struct feed_row *row = &builder->row;
    char phone[FEED_PHONE_SIZE];

    text = feed_trim(text);
    if (text.size == 0)
        return;
    if (!feed_parse_phone(text, phone))
        violations_add(&row->problems, "phones", "\"%.*s\" is not a phone number",
                       BYTES_ARG(feed_shown(text)));
    else if (row->phone_count == FEED_PHONE_COUNT_MAX)
        violations_add(&row->notes, "phones", "phones above the limit of %d are left out",
                       FEED_PHONE_COUNT_MAX);
    else
        builder->phones[row->phone_count++] = arena_copy(builder->arena, bytes_of(phone));
}

static void put_phones(struct feed_builder *builder, struct bytes text)
{
    size_t start = 0;
    size_t i;

    for (i = 0; i <= text.size; i++) {
        if (i < text.size && !strchr(",;|\n", text.data[i]))
            continue;
        put_phone(builder, bytes_make(text.data + start, i - start));
        start = i + 1;
    }
}

/* One line of plain text in the arena. */
static struct bytes plain_line(struct feed_builder *builder, struct bytes text)
{
    uint8_t *data;
    size_t size = 0;
    size_t i;

    buf_reset(&builder->text);
    feed_html_to_text(text, &builder->text);
    data = builder->text.data;
    for (i = 0; i < builder->text.size; i++) {
        if (data[i] != '\n')
            data[size++] = data[i];
        else if (size && data[size - 1] != ' ')
            data[size++] = ' ';
    }
    buf_truncate(&builder->text, size);
    return arena_copy(builder->arena, feed_trim(buf_bytes(&builder->text)));
}

struct violations *feed_builder_faults(struct feed_builder *builder, enum feed_field field)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    switch (field) {
    case FEED_FIELD_CATEGORY_ID:
    case FEED_FIELD_CATEGORY:
    case FEED_FIELD_URL:
    case FEED_FIELD_OLD_PRICE:
    case FEED_FIELD_AVAILABLE:
    case FEED_FIELD_CONDITION:
    case FEED_FIELD_PHOTOS:
    case FEED_FIELD_ATTRIBUTE:
        return &builder->row.notes;
    default:
        return &builder->row.problems;
    }
}

static bool fits(struct feed_builder *builder, enum feed_field field, struct bytes text, size_t max)
{
    if (text.size <= max)
        return true;
    violations_add(feed_builder_faults(builder, field), feed_field_name(field),
                   "%zu bytes; the limit is %zu", text.size, max);
    return false;
}

void feed_builder_put(struct feed_builder *builder, enum feed_field field, struct bytes text)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    assert(field != FEED_FIELD_ATTRIBUTE);
    text = feed_trim(text);
    if (text.size == 0)
        return;
    if (field == FEED_FIELD_PHOTOS) {
        put_photos(builder, text);
    } else if (field == FEED_FIELD_PHONES) {
        put_phones(builder, text);
    } else if (builder->single[field].size) {
        if (!bytes_equal(builder->single[field], text))
            violations_add(feed_builder_faults(builder, field), feed_field_name(field),
                           "is given twice");
    } else if (fits(builder, field, text,
                    field == FEED_FIELD_DESCRIPTION ? FEED_FIELD_SIZE_MAX : FEED_VALUE_SIZE_MAX)) {
        builder->single[field] = arena_copy(builder->arena, text);
    }
}

/* What is wrong with one is told and refuses no row: where its category requires the attribute it
 * is missed there. */
static bool attribute_fits(struct feed_builder *builder, struct bytes name, struct bytes value,
                           struct bytes unit)
{
    struct violations *notes = &builder->row.notes;

    if (name.size == 0) {
        violations_add(notes, "attributes", "\"%.*s\" has no name", BYTES_ARG(feed_shown(value)));
        return false;
    }
    if (!fits(builder, FEED_FIELD_ATTRIBUTE, name, FEED_NAME_SIZE_MAX) ||
        !fits(builder, FEED_FIELD_ATTRIBUTE, unit, FEED_NAME_SIZE_MAX))
        return false;
    if (value.size > FEED_VALUE_SIZE_MAX) {
        violations_add(notes, "attributes",
                       "\"%.*s\" is left out: it has %zu bytes; the limit is %d",
                       BYTES_ARG(feed_shown(name)), value.size, FEED_VALUE_SIZE_MAX);
        return false;
    }
    if (builder->row.attribute_count < FEED_ATTRIBUTE_COUNT_MAX)
        return true;
    if (!builder->told_attribute_count)
        violations_add(notes, "attributes", "those above the limit of %d are left out",
                       FEED_ATTRIBUTE_COUNT_MAX);
    builder->told_attribute_count = true;
    return false;
}

void feed_builder_attribute(struct feed_builder *builder, struct bytes name, struct bytes value,
                            struct bytes unit)
{
    struct feed_row *row = &builder->row;
    struct feed_attribute *attribute;

    object_check(builder, FEED_BUILDER_MAGIC);
    name = feed_trim(name);
    value = feed_trim(value);
    unit = feed_trim(unit);
    if (value.size == 0 || !attribute_fits(builder, name, value, unit))
        return;
    attribute = &builder->attributes[row->attribute_count++];
    attribute->name = plain_line(builder, name);
    attribute->value = plain_line(builder, value);
    attribute->unit = plain_line(builder, unit);
}

void feed_builder_named(struct feed_builder *builder, struct bytes name, struct bytes value)
{
    struct bytes attribute;
    enum feed_field field = feed_field_find(name, &attribute);

    object_check(builder, FEED_BUILDER_MAGIC);
    if (field == FEED_FIELD_ATTRIBUTE)
        feed_builder_attribute(builder, attribute, value, BYTES_EMPTY);
    else
        feed_builder_put(builder, field, value);
}

/* YML's vendor.model offers have no name but its parts. */
static struct bytes title_of_parts(struct feed_builder *builder)
{
    static const char *const parts[] = {"typePrefix", "vendor", "model"};
    struct buf *text = &builder->text;
    size_t i;

    if (attribute_value(&builder->row, "model").size == 0)
        return BYTES_EMPTY;
    buf_reset(text);
    for (i = 0; i < ARRAY_COUNT(parts); i++) {
        struct bytes part = attribute_value(&builder->row, parts[i]);

        if (part.size && text->size)
            buf_put_byte(text, ' ');
        buf_put(text, part);
    }
    return arena_copy(builder->arena, buf_bytes(text));
}

static void finish_texts(struct feed_builder *builder)
{
    const struct bytes *single = builder->single;
    struct feed_row *row = &builder->row;

    row->title = plain_line(builder, single[FEED_FIELD_TITLE]);
    if (row->title.size == 0)
        row->title = title_of_parts(builder);
    buf_reset(&builder->text);
    feed_html_to_text(single[FEED_FIELD_DESCRIPTION], &builder->text);
    if (buf_failed(&builder->text))
        violations_add(&row->problems, "description", "its text is longer than %d bytes",
                       FEED_TEXT_SIZE_MAX);
    else
        row->description = arena_copy(builder->arena, feed_trim(buf_bytes(&builder->text)));
    row->category_id = plain_line(builder, single[FEED_FIELD_CATEGORY_ID]);
    row->category = plain_line(builder, single[FEED_FIELD_CATEGORY]);
    if (!row->category.size && !row->category_id.size) /* Google's own tree: better than nothing */
        row->category = attribute_value(row, "googleProductCategory");
    row->address = plain_line(builder, single[FEED_FIELD_ADDRESS]);
    row->contact_name = plain_line(builder, single[FEED_FIELD_CONTACT_NAME]);
    row->email = plain_line(builder, single[FEED_FIELD_EMAIL]);
    row->url = single[FEED_FIELD_URL];
    if (row->url.size && !feed_is_web_url(row->url)) {
        violations_add(&row->notes, "url", "\"%.*s\" is not a web address",
                       BYTES_ARG(feed_shown(row->url)));
        row->url = BYTES_EMPTY;
    }
}

/* What has more digits than coins is rounded, and told. */
static const char *minor_price(struct feed_builder *builder, enum feed_field field,
                               struct feed_number number, int64_t *amount)
{
    const char *currency = builder->row.currency;
    struct feed_number rounded = number;
    const char *reason;

    if (builder->minor_price) {
        *amount = (int64_t)number.mantissa;
        return number.digits ? "has a fraction of the smallest unit" : NULL;
    }
    feed_number_round(&rounded, feed_currency_digits(currency));
    reason = feed_price_minor(rounded, currency, amount);
    if (!reason && rounded.digits != number.digits)
        violations_add(&builder->row.notes, feed_field_name(field),
                       "\"%.*s\" is rounded: %s has %u digits after the point",
                       BYTES_ARG(feed_shown(builder->single[field])), currency,
                       feed_currency_digits(currency));
    return reason;
}

/* True when there is a price of this field, in *amount. Both prices share the currency. */
static bool finish_price(struct feed_builder *builder, enum feed_field field, int64_t *amount)
{
    struct feed_row *row = &builder->row;
    struct bytes text = builder->single[field];
    struct feed_number number;
    char currency[4];
    const char *reason;

    if (text.size == 0)
        return false;
    reason = feed_parse_price(text, builder->decimal, &number, currency);
    if (!reason && currency[0]) {
        if (row->currency[0] && strcmp(row->currency, currency) != 0)
            reason = "has another currency than the row says elsewhere";
        else
            memcpy(row->currency, currency, 4);
    }
    if (!reason && !row->currency[0])
        memcpy(row->currency, builder->default_currency, 4);
    if (!reason)
        reason = minor_price(builder, field, number, amount);
    if (reason)
        violations_add(feed_builder_faults(builder, field), feed_field_name(field), "\"%.*s\" %s",
                       BYTES_ARG(feed_shown(text)), reason);
    return !reason;
}

static void finish_prices(struct feed_builder *builder)
{
    struct feed_row *row = &builder->row;
    struct bytes currency = builder->single[FEED_FIELD_CURRENCY];
    int64_t amount = 0;

    if (currency.size && !feed_parse_currency(currency, row->currency))
        violations_add(builder->single[FEED_FIELD_PRICE].size ? &row->problems : &row->notes,
                       "currency", "\"%.*s\" is not a currency; write RUB",
                       BYTES_ARG(feed_shown(currency)));
    row->has_price = finish_price(builder, FEED_FIELD_PRICE, &amount);
    row->price = row->has_price ? amount : 0;
    if (finish_price(builder, FEED_FIELD_SALE_PRICE, &amount)) {
        row->has_old_price = row->has_price;
        row->old_price = row->price;
        row->has_price = true;
        row->price = amount;
    }
    if (row->has_price && !row->price)
        violations_add(&row->notes, "price", "is 0: buyers will see it as free");
    if (finish_price(builder, FEED_FIELD_OLD_PRICE, &amount)) {
        row->has_old_price = true;
        row->old_price = amount;
    }
    if (!row->has_price && !row->has_old_price)
        row->currency[0] = 0;
}

static void finish_point(struct feed_builder *builder)
{
    struct feed_row *row = &builder->row;
    struct bytes latitude = builder->single[FEED_FIELD_LATITUDE];
    struct bytes longitude = builder->single[FEED_FIELD_LONGITUDE];

    if (!latitude.size && !longitude.size)
        return;
    if (!feed_parse_degrees(latitude, 90, &row->latitude))
        violations_add(&row->problems, "latitude", "\"%.*s\" is not a number from -90 to 90",
                       BYTES_ARG(feed_shown(latitude)));
    else if (!feed_parse_degrees(longitude, 180, &row->longitude))
        violations_add(&row->problems, "longitude", "\"%.*s\" is not a number from -180 to 180",
                       BYTES_ARG(feed_shown(longitude)));
    else
        row->has_point = true;
    if (!row->has_point)
        row->latitude = row->longitude = 0;
}

static void finish_words(struct feed_builder *builder)
{
    const struct bytes *single = builder->single;
    struct feed_row *row = &builder->row;

    if (single[FEED_FIELD_CONDITION].size &&
        !feed_parse_condition(single[FEED_FIELD_CONDITION], &row->condition))
        violations_add(&row->notes, "condition", "\"%.*s\" is not known; write new, used or broken",
                       BYTES_ARG(feed_shown(single[FEED_FIELD_CONDITION])));
    if (single[FEED_FIELD_AVAILABLE].size &&
        !feed_parse_flag(single[FEED_FIELD_AVAILABLE], &row->available))
        violations_add(&row->notes, "available", "\"%.*s\" is not true or false",
                       BYTES_ARG(feed_shown(single[FEED_FIELD_AVAILABLE])));
    if (single[FEED_FIELD_DELETED].size &&
        !feed_parse_flag(single[FEED_FIELD_DELETED], &row->deleted))
        violations_add(&row->problems, "deleted", "\"%.*s\" is not true or false",
                       BYTES_ARG(feed_shown(single[FEED_FIELD_DELETED])));
}

static void finish_id(struct feed_builder *builder)
{
    struct feed_row *row = &builder->row;
    struct bytes id = builder->single[FEED_FIELD_ID];
    char hash[FEED_HASH_SIZE];

    if (id.size && fits(builder, FEED_FIELD_ID, id, FEED_ID_SIZE_MAX)) {
        row->external_id = plain_line(builder, id);
        return;
    }
    feed_row_hash(row, hash);
    row->external_id = bytes_of(arena_printf(builder->arena, "content-%s", hash));
    row->id_from_content = true;
    if (row->deleted)
        violations_add(&row->problems, "external_id", "is needed to delete an offer");
}

const struct feed_row *feed_builder_finish(struct feed_builder *builder)
{
    object_check(builder, FEED_BUILDER_MAGIC);
    finish_texts(builder);
    finish_prices(builder);
    finish_point(builder);
    finish_words(builder);
    finish_id(builder);
    return &builder->row;
}

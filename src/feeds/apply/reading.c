/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c - see reading.h. */
#include "feeds/apply/reading.h"

#include <string.h>

#include "feeds/bounds.h"
#include "feeds/formats/text.h"
#include "feeds/formats/value.h"

static char decimal_of(const Torg__V1__FeedReading *reading)
{
    if (!*reading->decimal)
        return 0;
    return strcmp(reading->decimal, "comma") == 0 ? ',' : '.';
}

/* 0: not said, or not one sign. */
static char delimiter_of(const Torg__V1__FeedReading *reading)
{
    if (strcmp(reading->delimiter, "tab") == 0)
        return '\t';
    return strlen(reading->delimiter) == 1 ? *reading->delimiter : 0;
}

void feed_reading_options(const Torg__V1__FeedReading *reading, struct feed_options *options)
{
    if (!reading)
        return;
    options->decimal = decimal_of(reading);
    options->delimiter = delimiter_of(reading);
    if (*reading->format)
        (void)feed_format_parse(reading->format, &options->format); /* it was checked */
    if (*reading->encoding)
        options->encoding = reading->encoding;
    if (*reading->currency)
        options->currency = reading->currency;
}

void feed_reading_mapping(const Torg__V1__FeedReading *reading,
                          struct feed_mapping_options *options)
{
    if (!reading)
        return;
    options->category = *reading->category ? reading->category : NULL;
    options->decimal = decimal_of(reading);
    options->shorten = reading->shorten;
}

/* --- checking --- */

struct check {
    const char *field;
    struct violations *violations;
    struct err *err;
};

static int refuse(const struct check *check, const char *member, const char *expected,
                  const char *given)
{
    violations_add(check->violations,
                   arena_printf(check->violations->arena, "%s.%s", check->field, member),
                   "expected %s", expected);
    return err_set(check->err, ERR_INVALID, "%s.%s: expected %s, not \"%.64s\"", check->field,
                   member, expected, given);
}

static int check_category(const struct check *check, const struct offers *offers,
                          const char *category)
{
    struct catalog *catalog;
    bool is_there;

    if (!*category)
        return 0;
    catalog = offers->catalog(offers->catalog_arg);
    is_there = catalog && category_find(catalog, category);
    catalog_unref(catalog);
    if (is_there)
        return 0;
    violations_add(check->violations,
                   arena_printf(check->violations->arena, "%s.category", check->field),
                   "there is no category \"%.64s\"", category);
    return err_set(check->err, ERR_INVALID, "%s.category: there is no category \"%.64s\"",
                   check->field, category);
}

int feed_reading_check(const struct offers *offers, const Torg__V1__FeedReading *reading,
                       const char *field, struct violations *violations, struct err *err)
{
    const struct check check = {field, violations, err};
    enum feed_format format;
    char currency[4];

    if (!reading)
        return 0;
    if (*reading->decimal && strcmp(reading->decimal, "point") != 0 &&
        strcmp(reading->decimal, "comma") != 0)
        return refuse(&check, "decimal", "point or comma", reading->decimal);
    if (*reading->format && !feed_format_parse(reading->format, &format))
        return refuse(&check, "format", "one of yml, avito, google, csv, json", reading->format);
    if (*reading->delimiter && (!delimiter_of(reading) || !strchr(",;|\t", delimiter_of(reading))))
        return refuse(&check, "delimiter", "one of , ; | or tab", reading->delimiter);
    if (*reading->encoding && (strlen(reading->encoding) > FEED_ENCODING_SIZE_MAX ||
                               !feed_encoding_is_known(reading->encoding)))
        return refuse(&check, "encoding",
                      "the name of one, such as windows-1251, of at most 31 bytes",
                      reading->encoding);
    if (*reading->currency && !feed_parse_currency(bytes_of(reading->currency), currency))
        return refuse(&check, "currency", "the code of one, such as RUB", reading->currency);
    return check_category(&check, offers, reading->category);
}

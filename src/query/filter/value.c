/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - see value.h. */
#include "query/filter/value.h"

#include <inttypes.h>
#include <time.h>

#include "base/text.h"
#include "index/columns/column_page.h"

#define DATE_MIN INT64_C(-62135596800) /* 0001-01-01 */
#define DATE_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59 */
enum { DAY_SECONDS = 86400 };

bool value_is_number(const struct field *field)
{
    return field->type == FIELD_INTEGER || field->type == FIELD_DECIMAL ||
           field->type == FIELD_DATE || field->type == FIELD_BOOLEAN;
}

/* ---- reading ---- */

static bool take_digits(struct bytes *text, size_t count, int *value)
{
    uint64_t number;

    if (text->size < count || !text_to_u64(bytes_make(text->data, count), &number))
        return false;
    *value = (int)number;
    *text = bytes_skip(*text, count);
    return true;
}

static bool take_sign(struct bytes *text, char sign)
{
    if (text->size == 0 || text->data[0] != (uint8_t)sign)
        return false;
    *text = bytes_skip(*text, 1);
    return true;
}

static bool take_zone(struct bytes *text, int *seconds)
{
    bool negative = text->size && text->data[0] == '-';
    int hours;
    int minutes;

    *seconds = 0;
    if (take_sign(text, 'Z'))
        return true;
    if (!take_sign(text, negative ? '-' : '+') || !take_digits(text, 2, &hours) ||
        !take_sign(text, ':') || !take_digits(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *seconds = (hours * 60 + minutes) * (negative ? -60 : 60);
    return true;
}

static bool take_time(struct bytes *text, struct tm *time)
{
    return take_sign(text, 'T') && take_digits(text, 2, &time->tm_hour) && take_sign(text, ':') &&
           take_digits(text, 2, &time->tm_min) && take_sign(text, ':') &&
           take_digits(text, 2, &time->tm_sec) && time->tm_hour < 24 && time->tm_min < 60 &&
           time->tm_sec < 60;
}

static bool parse_date(struct bytes text, bool is_end, int64_t *value)
{
    struct tm time = {0};
    struct tm read;
    int zone = 0;
    int year;
    int month;

    if (!take_digits(&text, 4, &year) || !take_sign(&text, '-') || !take_digits(&text, 2, &month) ||
        !take_sign(&text, '-') || !take_digits(&text, 2, &time.tm_mday) || year < 1)
        return false;
    time.tm_year = year - 1900;
    time.tm_mon = month - 1;
    read = time;
    *value = (int64_t)timegm(&read);
    if (read.tm_mon != time.tm_mon || read.tm_mday != time.tm_mday) /* no such day */
        return false;
    if (text.size == 0) {
        *value += is_end ? DAY_SECONDS - 1 : 0;
        return true;
    }
    if (!take_time(&text, &time) || !take_zone(&text, &zone) || text.size)
        return false;
    *value += time.tm_hour * 3600 + time.tm_min * 60 + time.tm_sec - zone;
    return *value >= DATE_MIN && *value <= DATE_MAX;
}

/* Digits are added one by one, away from zero, so that the least number can be read too. */
static bool parse_decimal(struct bytes text, unsigned scale, int64_t *value)
{
    bool negative = take_sign(&text, '-');
    bool has_point = false;
    unsigned behind = 0;
    size_t i;

    *value = 0;
    if (text.size == 0 || text.data[0] == '.' || text.data[text.size - 1] == '.')
        return false;
    for (i = 0; i < text.size; i++) {
        int digit = text.data[i] - '0';

        if (text.data[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        behind += has_point;
        if (digit < 0 || digit > 9 || behind > scale || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, negative ? -digit : digit, value))
            return false;
    }
    for (; behind < scale; behind++)
        if (__builtin_mul_overflow(*value, 10, value))
            return false;
    return *value != COLUMN_NULL;
}

/* As value_put writes what no calendar of four digits has. */
static bool parse_far_date(struct bytes text, int64_t *value)
{
    return parse_decimal(text, 0, value) && (*value < DATE_MIN || *value > DATE_MAX);
}

bool value_parse(const struct field *field, struct bytes text, bool is_end, int64_t *value)
{
    switch (field->type) {
    case FIELD_INTEGER:
        return parse_decimal(text, 0, value);
    case FIELD_DECIMAL:
        return parse_decimal(text, field->scale, value);
    case FIELD_DATE:
        return parse_date(text, is_end, value) || parse_far_date(text, value);
    case FIELD_BOOLEAN:
        *value = bytes_equal_text(text, "true");
        return *value || bytes_equal_text(text, "false");
    default:
        return false;
    }
}

/* ---- writing ---- */

static void put_decimal(unsigned scale, int64_t value, struct buf *out)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint64_t unit = 1;
    unsigned i;

    for (i = 0; i < scale; i++)
        unit *= 10;
    buf_printf(out, "%s%" PRIu64, value < 0 ? "-" : "", magnitude / unit);
    if (scale)
        buf_printf(out, ".%0*" PRIu64, (int)scale, magnitude % unit);
}

static void put_date(int64_t value, struct buf *out)
{
    time_t seconds = (time_t)value;
    struct tm time;

    if (value < DATE_MIN || value > DATE_MAX || !gmtime_r(&seconds, &time)) {
        buf_printf(out, "%" PRId64, value);
        return;
    }
    buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", time.tm_year + 1900, time.tm_mon + 1,
               time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec);
}

void value_put(const struct field *field, int64_t value, struct buf *out)
{
    if (field->type == FIELD_BOOLEAN)
        buf_put_text(out, value ? "true" : "false");
    else if (field->type == FIELD_DATE)
        put_date(value, out);
    else
        put_decimal(field->type == FIELD_DECIMAL ? field->scale : 0, value, out);
}

const char *value_form(const struct field *field)
{
    static const char *const decimals[FIELD_SCALE_MAX + 1] = {
        "a number without a point",
        "a number with at most 1 digit after the point",
        "a number with at most 2 digits after the point",
        "a number with at most 3 digits after the point",
        "a number with at most 4 digits after the point",
        "a number with at most 5 digits after the point",
        "a number with at most 6 digits after the point",
        "a number with at most 7 digits after the point",
        "a number with at most 8 digits after the point",
        "a number with at most 9 digits after the point",
    };

    switch (field->type) {
    case FIELD_INTEGER:
        return "an integer";
    case FIELD_DECIMAL:
        return decimals[field->scale];
    case FIELD_DATE:
        return "a date, as 2026-11-15 or 2026-11-15T08:00:00Z";
    case FIELD_BOOLEAN:
        return "true or false";
    default:
        return "a text";
    }
}

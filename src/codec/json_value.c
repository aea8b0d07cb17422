/* SPDX-License-Identifier: Apache-2.0 */
/* json_value.c - see json_value.h. The locale stays "C": strtod and printf speak JSON. */
#include "codec/json_value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "codec/bounds.h"

#define TIMESTAMP_SECONDS_MIN INT64_C(-62135596800) /* 0001-01-01 */
#define TIMESTAMP_SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59 */
#define DURATION_SECONDS_MAX INT64_C(315576000000)
enum { NANOS_MAX = 999999999, DAY_SECONDS = 86400 };

/* --- numbers --- */

static size_t digits_at(struct bytes text, size_t at)
{
    size_t count = 0;

    while (at + count < text.size && text.data[at + count] >= '0' && text.data[at + count] <= '9')
        count++;
    return count;
}

/* A number taken apart: sign, digits before and after the point, exponent. */
struct number {
    bool negative;
    struct bytes whole;
    struct bytes fraction;
    int exponent;
};

static bool take_exponent(struct bytes text, size_t at, int *exponent)
{
    bool negative = false;
    uint64_t value;

    if (at < text.size && (text.data[at] == '+' || text.data[at] == '-'))
        negative = text.data[at++] == '-';
    if (!text_to_u64(bytes_skip(text, at), &value))
        return false;
    if (value > 100000)
        value = 100000; /* beyond every double, and no sum below overflows */
    *exponent = negative ? -(int)value : (int)value;
    return true;
}

static bool take_apart(struct bytes text, struct number *number)
{
    size_t at = 0;
    size_t count;

    *number = (struct number){0};
    if (text.size == 0 || text.size > JSON_NUMBER_SIZE_MAX)
        return false;
    number->negative = text.data[0] == '-';
    at += number->negative;
    count = digits_at(text, at);
    if (count == 0 || (count > 1 && text.data[at] == '0'))
        return false;
    number->whole = bytes_make(text.data + at, count);
    at += count;
    if (at < text.size && text.data[at] == '.') {
        count = digits_at(text, at + 1);
        if (count == 0)
            return false;
        number->fraction = bytes_make(text.data + at + 1, count);
        at += 1 + count;
    }
    if (at == text.size)
        return true;
    return (text.data[at] == 'e' || text.data[at] == 'E') &&
           take_exponent(text, at + 1, &number->exponent);
}

bool json_integer(struct bytes text, bool *negative, uint64_t *magnitude)
{
    uint8_t digits[JSON_NUMBER_SIZE_MAX];
    struct number number;
    size_t size;
    size_t start = 0;
    int zeros;

    if (!take_apart(text, &number))
        return false;
    *negative = number.negative;
    if (number.fraction.size == 0 && number.exponent == 0)
        return text_to_u64(number.whole, magnitude);
    size = number.whole.size + number.fraction.size;
    memcpy(digits, number.whole.data, number.whole.size);
    if (number.fraction.size)
        memcpy(digits + number.whole.size, number.fraction.data, number.fraction.size);
    zeros = number.exponent - (int)number.fraction.size; /* the value is digits × 10^zeros */
    while (size > 1 && digits[size - 1] == '0') {
        size--;
        zeros++;
    }
    while (start + 1 < size && digits[start] == '0')
        start++;
    if (!text_to_u64(bytes_make(digits + start, size - start), magnitude))
        return false;
    if (*magnitude == 0)
        return true;
    if (zeros < 0 || zeros > 19)
        return false;
    for (; zeros; zeros--) {
        if (__builtin_mul_overflow(*magnitude, 10u, magnitude))
            return false;
    }
    return true;
}

bool json_double(struct bytes text, double *value)
{
    char copy[JSON_NUMBER_SIZE_MAX + 1];
    struct number number;

    if (bytes_equal_text(text, "NaN"))
        *value = NAN;
    else if (bytes_equal_text(text, "Infinity"))
        *value = INFINITY;
    else if (bytes_equal_text(text, "-Infinity"))
        *value = -INFINITY;
    else {
        if (!take_apart(text, &number))
            return false;
        memcpy(copy, text.data, text.size);
        copy[text.size] = 0;
        *value = strtod(copy, NULL);
        return isfinite(*value);
    }
    return true;
}

/* The last `count` decimal digits of value; returns the place behind them. */
static char *digits_of(char *to, uint32_t value, int count)
{
    int i;

    for (i = count; i > 0; i--) {
        to[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
    return to + count;
}

void json_put_u64(struct buf *out, uint64_t value)
{
    char text[20];
    size_t at = sizeof(text);

    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    buf_put_raw(out, text + at, sizeof(text) - at);
}

void json_put_i64(struct buf *out, int64_t value)
{
    if (value < 0)
        buf_put_byte(out, '-');
    json_put_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static bool put_special(struct buf *out, double value)
{
    if (isfinite(value))
        return false;
    buf_put_text(out, isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    return true;
}

/* A whole number that a double holds exactly, written without a point. */
static bool put_whole(struct buf *out, double value)
{
    if (fabs(value) >= 1e15 || value != trunc(value) || (value == 0 && signbit(value)))
        return false;
    json_put_i64(out, (int64_t)value);
    return true;
}

/*
 * Prices and coordinates: at most six digits after the point. Dividing two whole numbers gives the
 * double nearest to the quotient, which is what a reader of those digits gets.
 */
static bool put_millionths(struct buf *out, double value)
{
    char text[8];
    double scaled = fabs(value) * 1e6;
    uint64_t millionths;
    int size;

    if (!(scaled < 1e15))
        return false;
    millionths = (uint64_t)(scaled + 0.5);
    if ((double)millionths / 1e6 != fabs(value) || millionths == 0)
        return false;
    if (value < 0)
        buf_put_byte(out, '-');
    json_put_u64(out, millionths / 1000000);
    text[0] = '.';
    digits_of(text + 1, (uint32_t)(millionths % 1000000), 6);
    for (size = 7; text[size - 1] == '0'; size--)
        ;
    buf_put_raw(out, text, (size_t)size);
    return true;
}

void json_put_double(struct buf *out, double value)
{
    char text[32];
    int digits;

    if (put_special(out, value) || put_whole(out, value) || put_millionths(out, value))
        return;
    for (digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_put_text(out, text);
}

void json_put_float(struct buf *out, float value)
{
    char text[32];
    int digits;

    if (put_special(out, (double)value) || put_whole(out, (double)value))
        return;
    for (digits = FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    buf_put_text(out, text);
}

/* --- text --- */

/* True when no byte needs a look: ASCII without controls, quote and backslash. */
static bool is_plain(struct bytes text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = ones * 0x80;
    uint64_t word;
    size_t at = 0;

    for (; at + sizeof(word) <= text.size; at += sizeof(word)) {
        uint64_t quote;
        uint64_t slash;

        memcpy(&word, text.data + at, sizeof(word));
        quote = word ^ (ones * '"');
        slash = word ^ (ones * '\\');
        /* A high bit comes up for bytes ≥ 0x80, < 0x20, and equal to one of the two. */
        if ((word | (word - ones * 0x20) | (quote - ones) | (slash - ones)) & highs)
            return false;
    }
    for (; at < text.size; at++) {
        uint8_t c = text.data[at];

        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
            return false;
    }
    return true;
}

/* Cuts the valid from the invalid and puts U+FFFD for each byte of the latter. */
static void put_repaired(struct buf *out, struct bytes text)
{
    struct buf repaired = BUF_INIT(out->limit);
    size_t at = 0;

    while (at < text.size && !buf_failed(&repaired)) {
        size_t left = text.size - at;
        size_t length = 1;

        while (length <= 4 && length <= left && !text_is_utf8(bytes_make(text.data + at, length)))
            length++;
        if (length > 4 || length > left) {
            buf_put_text(&repaired, "\xef\xbf\xbd");
            at++;
        } else {
            buf_put_raw(&repaired, text.data + at, length);
            at += length;
        }
    }
    if (buf_failed(&repaired))
        out->failed = true;
    text_put_json(out, buf_bytes(&repaired));
    buf_release(&repaired);
}

void json_put_text(struct buf *out, struct bytes text)
{
    uint8_t *room;

    if (!is_plain(text)) {
        if (text_is_utf8(text))
            text_put_json(out, text);
        else
            put_repaired(out, text);
        return;
    }
    room = buf_reserve(out, text.size + 2);
    if (!room)
        return;
    room[0] = '"';
    if (text.size)
        memcpy(room + 1, text.data, text.size);
    room[text.size + 1] = '"';
    buf_advance(out, text.size + 2);
}

/* --- times --- */

/* Days since 1970-01-01 of a date of the Gregorian calendar; years begin in March here, so
 * that the leap day is the last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month > 2 ? year : year - 1;
    int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
    int64_t of_era = shifted - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int *year, int *month, int *day)
{
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * of_year + 2) / 153;

    *day = (int)(of_year - (153 * month_from_march + 2) / 5 + 1);
    *month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

static bool take_fixed(struct bytes *text, size_t count, int *value)
{
    uint64_t number;

    if (text->size < count || !text_to_u64(bytes_make(text->data, count), &number))
        return false;
    *value = (int)number;
    *text = bytes_skip(*text, count);
    return true;
}

static bool take_char(struct bytes *text, char c)
{
    if (text->size == 0 || text->data[0] != (uint8_t)c)
        return false;
    *text = bytes_skip(*text, 1);
    return true;
}

/* ".5" as 500000000; nothing there is 0. */
static bool take_nanos(struct bytes *text, int32_t *nanos)
{
    size_t count;
    size_t i;
    uint64_t value;

    *nanos = 0;
    if (!take_char(text, '.'))
        return true;
    count = digits_at(*text, 0);
    if (count == 0 || count > 9 || !text_to_u64(bytes_make(text->data, count), &value))
        return false;
    for (i = count; i < 9; i++)
        value *= 10;
    *nanos = (int32_t)value;
    *text = bytes_skip(*text, count);
    return true;
}

static bool take_offset(struct bytes *text, int *seconds)
{
    bool negative = text->size && text->data[0] == '-';
    int hours;
    int minutes;

    *seconds = 0;
    if (take_char(text, 'Z'))
        return true;
    if (!(negative ? take_char(text, '-') : take_char(text, '+')) || !take_fixed(text, 2, &hours) ||
        !take_char(text, ':') || !take_fixed(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *seconds = (hours * 60 + minutes) * (negative ? -60 : 60);
    return true;
}

bool json_timestamp(struct bytes text, int64_t *seconds, int32_t *nanos)
{
    static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, hour, minute, second, offset;
    bool leap;

    if (!take_fixed(&text, 4, &year) || !take_char(&text, '-') || !take_fixed(&text, 2, &month) ||
        !take_char(&text, '-') || !take_fixed(&text, 2, &day) || !take_char(&text, 'T') ||
        !take_fixed(&text, 2, &hour) || !take_char(&text, ':') || !take_fixed(&text, 2, &minute) ||
        !take_char(&text, ':') || !take_fixed(&text, 2, &second) || !take_nanos(&text, nanos) ||
        !take_offset(&text, &offset) || text.size)
        return false;
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days[month - 1] ||
        (month == 2 && day == 29 && !leap) || hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds =
        days_of(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second - offset;
    return *seconds >= TIMESTAMP_SECONDS_MIN && *seconds <= TIMESTAMP_SECONDS_MAX;
}

bool json_duration(struct bytes text, int64_t *seconds, int32_t *nanos)
{
    bool negative = take_char(&text, '-');
    size_t count = digits_at(text, 0);
    uint64_t whole;

    if (!text_to_u64(bytes_make(text.data, count), &whole))
        return false;
    text = bytes_skip(text, count);
    if (!take_nanos(&text, nanos) || !take_char(&text, 's') || text.size ||
        whole > (uint64_t)DURATION_SECONDS_MAX ||
        (whole == (uint64_t)DURATION_SECONDS_MAX && *nanos))
        return false;
    *seconds = negative ? -(int64_t)whole : (int64_t)whole;
    *nanos = negative ? -*nanos : *nanos;
    return true;
}

/* 0, 3, 6 or 9 digits, as many as are needed. */
static char *nanos_of(char *to, int32_t nanos)
{
    uint32_t value = (uint32_t)(nanos < 0 ? -nanos : nanos);

    if (value == 0)
        return to;
    *to++ = '.';
    if (value % 1000000 == 0)
        return digits_of(to, value / 1000000, 3);
    if (value % 1000 == 0)
        return digits_of(to, value / 1000, 6);
    return digits_of(to, value, 9);
}

void json_put_timestamp(struct buf *out, int64_t seconds, int32_t nanos)
{
    char text[] = "\"0000-00-00T00:00:00.000000000Z\"";
    char *end;
    int64_t days;
    int year, month, day, rest;

    if (seconds < TIMESTAMP_SECONDS_MIN || seconds > TIMESTAMP_SECONDS_MAX || nanos < 0 ||
        nanos > NANOS_MAX) {
        buf_put_text(out, "null");
        return;
    }
    days = (seconds >= 0 ? seconds : seconds - (DAY_SECONDS - 1)) / DAY_SECONDS;
    rest = (int)(seconds - days * DAY_SECONDS);
    date_of(days, &year, &month, &day);
    digits_of(text + 1, (uint32_t)year, 4);
    digits_of(text + 6, (uint32_t)month, 2);
    digits_of(text + 9, (uint32_t)day, 2);
    digits_of(text + 12, (uint32_t)rest / 3600, 2);
    digits_of(text + 15, (uint32_t)rest / 60 % 60, 2);
    digits_of(text + 18, (uint32_t)rest % 60, 2);
    end = nanos_of(text + 20, nanos);
    *end++ = 'Z';
    *end++ = '"';
    buf_put_raw(out, text, (size_t)(end - text));
}

void json_put_duration(struct buf *out, int64_t seconds, int32_t nanos)
{
    bool negative = seconds < 0 || nanos < 0;
    char fraction[10];

    if (seconds < -DURATION_SECONDS_MAX || seconds > DURATION_SECONDS_MAX || nanos < -NANOS_MAX ||
        nanos > NANOS_MAX || (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0) ||
        (nanos && (seconds == DURATION_SECONDS_MAX || seconds == -DURATION_SECONDS_MAX))) {
        buf_put_text(out, "null");
        return;
    }
    buf_put_text(out, negative ? "\"-" : "\"");
    json_put_u64(out, (uint64_t)(seconds < 0 ? -seconds : seconds));
    buf_put_raw(out, fraction, (size_t)(nanos_of(fraction, nanos) - fraction));
    buf_put_text(out, "s\"");
}

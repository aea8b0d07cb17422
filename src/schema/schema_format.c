/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_format.c - the formats that a schema may name (schema.h): times, addresses, names of
 * hosts.
 *
 * A format that is not in the table means nothing, as the drafts want it.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/memory.h"
#include "schema/schema_parts.h"

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* "0000-00-00": a 0 is any digit. */
static bool has_shape(struct bytes text, const char *shape)
{
    size_t i;

    if (text.size != strlen(shape))
        return false;
    for (i = 0; i < text.size; i++) {
        if (shape[i] == '0' ? !is_digit(text.data[i]) : text.data[i] != (uint8_t)shape[i])
            return false;
    }
    return true;
}

static unsigned number_at(struct bytes text, size_t at)
{
    return (unsigned)(text.data[at] - '0') * 10 + (unsigned)(text.data[at + 1] - '0');
}

static bool is_date(struct bytes text)
{
    static const uint8_t days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year, month, day;

    if (!has_shape(text, "0000-00-00"))
        return false;
    year = number_at(text, 0) * 100 + number_at(text, 2);
    month = number_at(text, 5);
    day = number_at(text, 8);
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1])
        return false;
    return month != 2 || day < 29 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

static bool is_time(struct bytes text)
{
    return has_shape(text, "00:00:00") && number_at(text, 0) < 24 && number_at(text, 3) < 60 &&
           number_at(text, 6) < 60;
}

/* 0 to 23 and 0 to 59, in minutes; -1: it is no offset. */
static int offset_minutes(struct bytes text)
{
    int minutes;

    if (text.size == 1 && (text.data[0] | 32) == 'z')
        return 0;
    if (!has_shape(text, "+00:00") && !has_shape(text, "-00:00"))
        return -10000;
    if (number_at(text, 1) > 23 || number_at(text, 4) > 59)
        return -10000;
    minutes = (int)(number_at(text, 1) * 60 + number_at(text, 4));
    return text.data[0] == '-' ? -minutes : minutes;
}

/* RFC 3339; a leap second where one may be: at the end of a day of UTC. */
static bool is_date_time(struct bytes text)
{
    struct bytes rest;
    int minutes, of_day;

    if (text.size < 20 || !is_date(bytes_make(text.data, 10)) || (text.data[10] | 32) != 't' ||
        !has_shape(bytes_make(text.data + 11, 8), "00:00:00") || number_at(text, 11) > 23 ||
        number_at(text, 14) > 59 || number_at(text, 17) > 60)
        return false;
    rest = bytes_skip(text, 19);
    if (rest.data[0] == '.') {
        size_t size = 1;

        while (size < rest.size && is_digit(rest.data[size]))
            size++;
        if (size == 1)
            return false;
        rest = bytes_skip(rest, size);
    }
    minutes = offset_minutes(rest);
    if (minutes == -10000)
        return false;
    of_day = (int)(number_at(text, 11) * 60 + number_at(text, 14)) - minutes;
    return number_at(text, 17) < 60 || (of_day + 1) % 1440 == 0;
}

static bool is_host_label(struct bytes label)
{
    size_t i;

    if (label.size == 0 || label.size > 63 || label.data[0] == '-' ||
        label.data[label.size - 1] == '-')
        return false;
    for (i = 0; i < label.size; i++) {
        if (!is_letter(label.data[i]) && !is_digit(label.data[i]) && label.data[i] != '-')
            return false;
    }
    return true;
}

static bool is_hostname(struct bytes text)
{
    if (text.size == 0 || text.size > 253)
        return false;
    for (;;) {
        const uint8_t *dot = memchr(text.data, '.', text.size);
        size_t size = dot ? (size_t)(dot - text.data) : text.size;

        if (!is_host_label(bytes_make(text.data, size)))
            return false;
        if (!dot)
            return true;
        text = bytes_skip(text, size + 1);
        if (text.size == 0)
            return false;
    }
}

static bool is_address(struct bytes text, int family)
{
    char copy[64];
    uint8_t address[16];

    if (text.size >= sizeof(copy) || (text.size && memchr(text.data, 0, text.size)))
        return false;
    if (text.size)
        memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    return inet_pton(family, copy, address) == 1;
}

static bool is_ipv4(struct bytes text)
{
    return is_address(text, AF_INET);
}

static bool is_ipv6(struct bytes text)
{
    return is_address(text, AF_INET6);
}

/* The part before the @: words with dots between, or anything in quotation marks. */
static bool is_mailbox(struct bytes text)
{
    static const char odd[] = "!#$%&'*+-/=?^_`{|}~";
    size_t i;

    if (text.size > 1 && text.data[0] == '"' && text.data[text.size - 1] == '"')
        return true;
    for (i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];

        if (c == '.' && (i == 0 || i + 1 == text.size || text.data[i - 1] == '.'))
            return false;
        if (c != '.' && c < 0x80 && !is_letter(c) && !is_digit(c) && (!c || !strchr(odd, c)))
            return false;
    }
    return text.size > 0;
}

static bool is_email(struct bytes text)
{
    const uint8_t *at = text.size ? memrchr(text.data, '@', text.size) : NULL;
    struct bytes domain;

    if (!at)
        return false;
    domain = bytes_skip(text, (size_t)(at - text.data) + 1);
    if (!is_mailbox(bytes_make(text.data, (size_t)(at - text.data))))
        return false;
    if (domain.size > 2 && domain.data[0] == '[' && domain.data[domain.size - 1] == ']') {
        domain = bytes_make(domain.data + 1, domain.size - 2);
        if (bytes_begin(domain, bytes_of("IPv6:")))
            return is_ipv6(bytes_skip(domain, 5));
        return is_ipv4(domain);
    }
    return is_hostname(domain);
}

/* Characters that may stand in a URI, %XX among them. */
static bool has_uri_chars(struct bytes text)
{
    static const char odd[] = "-._~:/?#[]@!$&'()*+,;=";
    size_t i;

    for (i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];

        if (c == '%') {
            static const char hex[] = "0123456789abcdefABCDEF";

            if (i + 2 >= text.size || !text.data[i + 1] || !strchr(hex, text.data[i + 1]) ||
                !text.data[i + 2] || !strchr(hex, text.data[i + 2]))
                return false;
        } else if (!is_letter(c) && !is_digit(c) && (!c || !strchr(odd, c))) {
            return false;
        }
    }
    return true;
}

/* "//user@host:80": brackets around an IPv6 address alone, digits behind the last colon. */
static bool is_authority(struct bytes text)
{
    const uint8_t *at = text.size ? memrchr(text.data, '@', text.size) : NULL;
    const uint8_t *colon;

    if (at) {
        struct bytes user = bytes_make(text.data, (size_t)(at - text.data));

        if (user.size && (memchr(user.data, '[', user.size) || memchr(user.data, ']', user.size)))
            return false;
        text = bytes_skip(text, user.size + 1);
    }
    if (text.size && text.data[0] == '[') {
        const uint8_t *end = memchr(text.data, ']', text.size);

        if (!end || !is_ipv6(bytes_make(text.data + 1, (size_t)(end - text.data) - 1)))
            return false;
        text = bytes_skip(text, (size_t)(end - text.data) + 1);
        if (text.size && text.data[0] != ':')
            return false;
    }
    colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    if (colon) {
        for (colon++; colon < text.data + text.size; colon++) {
            if (!is_digit(*colon))
                return false;
        }
    }
    return !text.size || (!memchr(text.data, '[', text.size) && !memchr(text.data, ']', text.size));
}

static bool is_uri(struct bytes text)
{
    size_t i = 0, end;

    if (text.size == 0 || !is_letter(text.data[0]) || !has_uri_chars(text))
        return false;
    while (i < text.size &&
           (is_letter(text.data[i]) || is_digit(text.data[i]) || strchr("+-.", text.data[i])))
        i++;
    if (i == text.size || text.data[i] != ':')
        return false;
    text = bytes_skip(text, i + 1);
    if (bytes_begin(text, bytes_of("//"))) {
        for (end = 2; end < text.size && !strchr("/?#", text.data[end]); end++)
            ;
        if (!is_authority(bytes_make(text.data + 2, end - 2)))
            return false;
        text = bytes_skip(text, end);
    }
    return !text.size || (!memchr(text.data, '[', text.size) && !memchr(text.data, ']', text.size));
}

static bool is_regex(struct bytes text)
{
    struct arena *arena = arena_new();
    const struct pattern *pattern;
    int rc = pattern_compile(text, arena, &pattern, NULL);

    arena_free(arena);
    return rc == 0;
}

/* Of CSS 2.1: a name, #rgb or #rrggbb. */
static bool is_color(struct bytes text)
{
    static const char *const names[] = {"maroon",  "red",   "orange", "yellow", "olive", "purple",
                                        "fuchsia", "white", "lime",   "green",  "navy",  "blue",
                                        "aqua",    "teal",  "black",  "silver", "gray"};
    size_t i;

    if (text.size && text.data[0] == '#') {
        for (i = 1; i < text.size; i++) {
            if (!is_digit(text.data[i]) && ((text.data[i] | 32) < 'a' || (text.data[i] | 32) > 'f'))
                return false;
        }
        return text.size == 4 || text.size == 7;
    }
    for (i = 0; i < ARRAY_COUNT(names); i++) {
        if (bytes_equal_text(text, names[i]))
            return true;
    }
    return false;
}

enum { OLD = 1, NEW = 2, BOTH = 3 };

static const struct {
    const char *name;
    unsigned drafts;
    format_check *check;
} formats[] = {
    {"color", OLD, is_color},
    {"date", OLD, is_date},
    {"date-time", BOTH, is_date_time},
    {"email", BOTH, is_email},
    {"host-name", OLD, is_hostname},
    {"hostname", NEW, is_hostname},
    {"ip-address", OLD, is_ipv4},
    {"ipv4", NEW, is_ipv4},
    {"ipv6", BOTH, is_ipv6},
    {"regex", BOTH, is_regex},
    {"time", OLD, is_time},
    {"uri", BOTH, is_uri},
};

format_check *schema_format_find(enum schema_draft draft, struct bytes name)
{
    size_t i;

    for (i = 0; i < ARRAY_COUNT(formats); i++) {
        if (bytes_equal_text(name, formats[i].name) &&
            formats[i].drafts & (draft == SCHEMA_DRAFT_3 ? OLD : NEW))
            return formats[i].check;
    }
    return NULL;
}

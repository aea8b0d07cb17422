/* SPDX-License-Identifier: Apache-2.0 */
/* setting_parse.c - a setting's value out of its text, and what is wrong with one that is none. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "config/address.h"
#include "config/bounds.h"
#include "config/setting.h"

/* The place of text among "a|b|c" (as_prefix: of the one that text begins with); -1 = none. */
static int64_t choice_find(const char *choices, const char *text, bool as_prefix)
{
    int64_t place = 0;

    for (;;) {
        size_t size = strcspn(choices, "|");

        if (strncmp(text, choices, size) == 0 && (as_prefix || !text[size]))
            return place;
        if (!choices[size])
            return -1;
        choices += size + 1;
        place++;
    }
}

static bool is_plain_text(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (iscntrl((unsigned char)*at))
            return false;
    }
    return strlen(text) <= CONFIG_VALUE_SIZE_MAX && text_is_utf8(bytes_of(text));
}

static bool is_name(const struct setting *setting, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (!isascii(*at) || (!isalnum((unsigned char)*at) && !strchr("_-.", *at)))
            return false;
    }
    return *text && *text != '.' && (int64_t)strlen(text) <= setting->max;
}

static bool parse_number(const struct setting *setting, const char *text, int64_t *number)
{
    bool read = setting->kind == SETTING_NUMBER ? text_to_i64(bytes_of(text), number)
                                                : text_to_duration(bytes_of(text), number);

    return read && *number >= setting->min && *number <= setting->max;
}

int setting_parse(const struct setting *setting, const char *text, int64_t *number, struct err *err)
{
    struct buf expected = BUF_INIT(ERR_TEXT_SIZE);
    struct address address;
    bool good = false;

    *number = 0;
    if (!is_plain_text(text))
        return err_set(err, ERR_INVALID, "%s: expected UTF-8 text of at most %d bytes on one line",
                       setting->name, CONFIG_VALUE_SIZE_MAX);
    if (!*text && setting->optional)
        return 0;
    switch (setting->kind) {
    case SETTING_LIST:
    case SETTING_PATH:
    case SETTING_TEXT:
        good = *text;
        break;
    case SETTING_NAME:
        good = is_name(setting, text);
        break;
    case SETTING_ADDRESS:
        good = address_parse(text, &address);
        break;
    case SETTING_URL:
        good = choice_find(setting->choices, text, true) >= 0;
        break;
    case SETTING_CHOICE:
        *number = choice_find(setting->choices, text, false);
        good = *number >= 0;
        break;
    case SETTING_BOOL:
        *number = strcmp(text, "true") == 0;
        good = *number || strcmp(text, "false") == 0;
        break;
    case SETTING_NUMBER:
    case SETTING_DURATION:
        good = parse_number(setting, text, number);
        break;
    }
    if (good)
        return 0;
    setting_describe(setting, &expected);
    err_set(err, ERR_INVALID, "%s = \"%.100s\": expected %s", setting->name, text,
            buf_text(&expected));
    buf_release(&expected);
    return ERR_INVALID;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* setting_show.c - settings as people read them: what is expected, and values without passwords. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "config/setting.h"

#define MINUTE_US (60LL * SECOND_US)
#define HOUR_US (60LL * MINUTE_US)
#define DAY_US (24 * HOUR_US)

static void put_choices(const char *choices, struct buf *out)
{
    for (;;) {
        size_t size = strcspn(choices, "|");

        buf_printf(out, "%.*s", (int)size, choices);
        if (!choices[size])
            return;
        choices += size + 1;
        buf_put_text(out, strchr(choices, '|') ? ", " : " or ");
    }
}

static void put_duration(struct buf *out, int64_t us)
{
    if (us && us % DAY_US == 0)
        buf_printf(out, "%jdd", (intmax_t)(us / DAY_US));
    else if (us && us % HOUR_US == 0)
        buf_printf(out, "%jdh", (intmax_t)(us / HOUR_US));
    else if (us && us % MINUTE_US == 0)
        buf_printf(out, "%jdm", (intmax_t)(us / MINUTE_US));
    else if (us % SECOND_US == 0)
        buf_printf(out, "%jds", (intmax_t)(us / SECOND_US));
    else
        buf_printf(out, "%jdms", (intmax_t)(us / MS_US));
}

void setting_describe(const struct setting *setting, struct buf *out)
{
    switch (setting->kind) {
    case SETTING_PATH:
        buf_put_text(out, "a path");
        break;
    case SETTING_TEXT:
        buf_put_text(out, "a text");
        break;
    case SETTING_NAME:
        buf_printf(out, "at most %jd letters, digits, '_', '-' and inner '.'",
                   (intmax_t)setting->max);
        break;
    case SETTING_LIST:
        buf_printf(out, "%s, with blanks between them", setting->choices);
        break;
    case SETTING_ADDRESS:
        buf_put_text(out, "an address such as 127.0.0.1:8080 or [::1]:8080");
        break;
    case SETTING_URL:
        buf_put_text(out, "a URL that begins with ");
        put_choices(setting->choices, out);
        break;
    case SETTING_CHOICE:
        put_choices(setting->choices, out);
        break;
    case SETTING_BOOL:
        buf_put_text(out, "true or false");
        break;
    case SETTING_NUMBER:
        buf_printf(out, "a whole number from %jd to %jd", (intmax_t)setting->min,
                   (intmax_t)setting->max);
        break;
    case SETTING_DURATION:
        buf_put_text(out, "a duration such as 250ms, 30s or 15m, from ");
        put_duration(out, setting->min);
        buf_put_text(out, " to ");
        put_duration(out, setting->max);
        break;
    }
    if (setting->optional)
        buf_put_text(out, ", or nothing");
}

void setting_put_public(const struct setting *setting, const char *text, struct buf *out)
{
    static const char password[] = "password="; /* libpq takes one in the query as well */
    const char *query = setting->kind == SETTING_URL ? strstr(text, password) : NULL;
    const char *end = query ? query + strlen(password) : text + strlen(text);
    const char *scheme = setting->kind == SETTING_URL ? strstr(text, "://") : NULL;
    const char *user = scheme && scheme < end ? scheme + 3 : NULL;
    /* The last @, as a password may hold one itself. */
    const char *at = user ? memrchr(user, '@', (size_t)(end - user)) : NULL;
    const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;

    if (colon)
        buf_printf(out, "%.*s***%.*s", (int)(colon + 1 - text), text, (int)(end - at), at);
    else
        buf_printf(out, "%.*s", (int)(end - text), text);
    if (query)
        buf_put_text(out, "***");
}

void setting_variable(const struct setting *setting, char name[SETTING_VARIABLE_SIZE])
{
    int size = snprintf(name, SETTING_VARIABLE_SIZE, "TORG_%s", setting->name);

    assert(size > 0 && size < SETTING_VARIABLE_SIZE);
    for (char *at = name; *at; at++)
        *at = *at == '.' ? '_' : (char)toupper((unsigned char)*at);
}

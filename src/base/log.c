/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - see log.h. A line longer than LOG_LINE_SIZE_MAX is cut, never split. */
#include "base/log.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"

static _Atomic int minimum = LOG_LEVEL_INFO;
static bool as_json;
static int target = STDERR_FILENO;
static _Thread_local char request_id[LOG_REQUEST_ID_SIZE_MAX + 1];

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void log_setup(enum log_format format, enum log_level level, int fd)
{
    target = fd;
    as_json = format == LOG_FORMAT_JSON || (format == LOG_FORMAT_AUTO && !isatty(fd));
    atomic_store(&minimum, level);
}

void log_set_request(const char *id)
{
    size_t size = id ? strlen(id) : 0;

    if (size > LOG_REQUEST_ID_SIZE_MAX) {
        size = LOG_REQUEST_ID_SIZE_MAX;
        while (size && ((uint8_t)id[size] & 0xc0) == 0x80) /* not within a character */
            size--;
    }
    if (size)
        memcpy(request_id, id, size); /* printf would cost a twentieth of a small call */
    request_id[size] = 0;
}

bool log_wants(enum log_level level)
{
    return (int)level >= atomic_load_explicit(&minimum, memory_order_relaxed);
}

static struct bytes field_bytes(const struct log_field *field)
{
    if (field->kind == LOG_KIND_BYTES)
        return field->bytes;
    return bytes_of(field->text ? field->text : "");
}

static bool is_plain(struct bytes text)
{
    size_t i;

    for (i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];

        if (c <= ' ' || c == '"' || c == '\\' || c == 0x7f)
            return false;
        if (c == 0xc2 && i + 1 < text.size && text.data[i + 1] < 0xa0)
            return false; /* a control character of the upper half: terminals obey those too */
    }
    return text.size > 0;
}

/* No value can fake a line or move a terminal's cursor: what is not plain is quoted. */
static void put_text(struct buf *out, struct bytes text, bool json)
{
    if (!text_is_utf8(text)) {
        buf_put_text(out, "\"base64:");
        text_put_base64(out, text);
        buf_put_byte(out, '"');
    } else if (!json && is_plain(text)) {
        buf_put(out, text);
    } else {
        text_put_json(out, text);
    }
}

static void put_value(struct buf *out, const struct log_field *field, bool json)
{
    switch (field->kind) {
    case LOG_KIND_INT:
        buf_printf(out, "%jd", (intmax_t)field->integer);
        break;
    case LOG_KIND_REAL:
        if (isfinite(field->real))
            buf_printf(out, "%g", field->real);
        else
            buf_put_text(out, "null"); /* JSON has no word for it */
        break;
    default:
        put_text(out, field_bytes(field), json);
    }
}

static void put_json_line(struct buf *out, enum log_level level, const char *sentence,
                          const struct log_field *fields, size_t count)
{
    char now[CLOCK_TEXT_SIZE];
    size_t i;

    clock_format(clock_wall_us(clock_system()), now);
    buf_printf(out, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":", now, level_names[level]);
    text_put_json(out, bytes_of(sentence));
    if (request_id[0]) {
        buf_put_text(out, ",\"request\":");
        put_text(out, bytes_of(request_id), true);
    }
    for (i = 0; i < count && fields[i].name; i++) {
        buf_printf(out, ",\"%s\":", fields[i].name);
        put_value(out, &fields[i], true);
    }
    buf_put_text(out, "}\n");
}

static void put_human_line(struct buf *out, enum log_level level, const char *sentence,
                           const struct log_field *fields, size_t count)
{
    char now[CLOCK_TEXT_SIZE];
    size_t i;

    clock_format(clock_wall_us(clock_system()), now);
    buf_printf(out, "%.12s %-5s %s", now + 11, level_names[level], sentence);
    for (i = 0; i < count && fields[i].name; i++) {
        buf_printf(out, " %s=", fields[i].name);
        put_value(out, &fields[i], false);
    }
    if (request_id[0]) {
        buf_put_text(out, " request=");
        put_text(out, bytes_of(request_id), false);
    }
    buf_put_byte(out, '\n');
}

void log_event(enum log_level level, const char *sentence, const struct log_field *fields,
               size_t count)
{
    struct buf line = BUF_INIT(LOG_LINE_SIZE_MAX);
    ssize_t written;

    if (as_json)
        put_json_line(&line, level, sentence, fields, count);
    else
        put_human_line(&line, level, sentence, fields, count);
    if (buf_failed(&line)) { /* say at least that it happened */
        buf_reset(&line);
        if (as_json)
            put_json_line(&line, level, sentence, NULL, 0);
        else
            put_human_line(&line, level, sentence, NULL, 0);
    }
    written = write(target, line.data, line.size);
    (void)written; /* nobody is left to tell */
    buf_release(&line);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_strip_html.c - "strip-html:200": the words of HTML as plain text, cut to so many
 * characters.
 *
 * What stands between < and > goes, and script and style with what is in them; the five entities of
 * XML, nbsp and numbers become characters; blanks become one. Not a parser of HTML: what it leaves
 * is text, and whoever shows it escapes it as such.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "snippets/parts/parts.h"

enum { CUT_MAX = 100 * 1000, ENTITY_SIZE_MAX = 10 };

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    uint64_t *count = arena_zero(setup->arena, sizeof(*count));

    *state = count;
    *count = CUT_MAX;
    if (setup->argument.size &&
        (!text_to_u64(setup->argument, count) || !*count || *count > CUT_MAX))
        return err_set(err, ERR_INVALID,
                       "expected how many characters to keep, 1 to %d, as in strip-html:200",
                       CUT_MAX);
    return 0;
}

static bool can(enum snippet_format from, enum snippet_format to)
{
    return (from == SNIPPET_TEXT || from == SNIPPET_XML) && to == SNIPPET_TEXT;
}

static bool begins(struct bytes text, const char *word)
{
    size_t size = strlen(word);

    return text.size >= size && strncasecmp((const char *)text.data, word, size) == 0;
}

/* Behind the tag, or behind the end of a script; all of it if there is none. */
static struct bytes skip_tag(struct bytes text)
{
    const char *end = begins(text, "<!--")      ? "-->"
                      : begins(text, "<script") ? "</script>"
                      : begins(text, "<style")  ? "</style>"
                                                : ">";
    size_t size = strlen(end), i;

    for (i = 1; i + size <= text.size; i++) {
        if (begins(bytes_skip(text, i), end))
            return bytes_skip(text, i + size);
    }
    return bytes_skip(text, text.size);
}

static void put_char(struct buf *out, unsigned long c)
{
    if (c < 0x20 || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        c = ' ';
    if (c < 0x80) {
        buf_put_byte(out, (uint8_t)c);
    } else if (c < 0x800) {
        buf_put_byte(out, (uint8_t)(0xc0 | c >> 6));
        buf_put_byte(out, (uint8_t)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        buf_put_byte(out, (uint8_t)(0xe0 | c >> 12));
        buf_put_byte(out, (uint8_t)(0x80 | (c >> 6 & 63)));
        buf_put_byte(out, (uint8_t)(0x80 | (c & 63)));
    } else {
        buf_put_byte(out, (uint8_t)(0xf0 | c >> 18));
        buf_put_byte(out, (uint8_t)(0x80 | (c >> 12 & 63)));
        buf_put_byte(out, (uint8_t)(0x80 | (c >> 6 & 63)));
        buf_put_byte(out, (uint8_t)(0x80 | (c & 63)));
    }
}

/* From its & on; 0: it is none. */
static size_t put_entity(struct buf *out, struct bytes text)
{
    static const struct {
        const char *name;
        char c;
    } names[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                 {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", ' '}};
    char number[ENTITY_SIZE_MAX + 1];
    const uint8_t *end = memchr(text.data, ';', text.size);
    size_t size = end ? (size_t)(end - text.data) + 1 : 0, i;
    char *rest;
    unsigned long c;

    if (size < 4 || size > ENTITY_SIZE_MAX)
        return 0;
    for (i = 0; i < ARRAY_COUNT(names); i++) {
        if (begins(text, names[i].name)) {
            buf_put_byte(out, (uint8_t)names[i].c);
            return strlen(names[i].name);
        }
    }
    if (text.data[1] != '#')
        return 0;
    memcpy(number, text.data, size);
    number[size] = 0;
    c = (number[2] | 32) == 'x' ? strtoul(number + 3, &rest, 16) : strtoul(number + 2, &rest, 10);
    if (*rest != ';')
        return 0;
    put_char(out, c);
    return size;
}

static void strip(struct bytes text, struct buf *out)
{
    while (text.size) {
        size_t size = 0;

        if (text.data[0] == '<' && text.size > 1 &&
            (strchr("/!?", text.data[1]) || (text.data[1] | 32) >= 'a')) {
            buf_put_byte(out, ' ');
            text = skip_tag(text);
            continue;
        }
        if (text.data[0] == '&')
            size = put_entity(out, text);
        if (!size) {
            buf_put_byte(out, text.data[0]);
            size = 1;
        }
        text = bytes_skip(text, size);
    }
}

/* Blanks become one, none at the ends; at most `max` characters. */
static struct bytes fold(struct bytes text, uint64_t max, struct arena *arena)
{
    uint8_t *copy = arena_alloc(arena, text.size + 1);
    size_t i, size = 0, kept = 0;
    uint64_t count = 0;

    for (i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool is_first = (c & 0xc0) != 0x80;

        if (c <= ' ') {
            if (size && copy[size - 1] != ' ' && count < max) {
                copy[size++] = ' ';
                count++;
            }
            continue;
        }
        if (is_first && count++ >= max)
            break;
        copy[size++] = c;
        kept = size;
    }
    return bytes_make(copy, kept);
}

static int convert(const void *state, const struct snippet_input *input, enum snippet_format to,
                   struct bytes language, struct arena *arena, struct bytes *output,
                   struct err *err)
{
    struct buf out = BUF_INIT(input->body.size * 2 + 16);

    strip(input->body, &out);
    *output = fold(buf_bytes(&out), *(const uint64_t *)state, arena);
    buf_release(&out);
    return 0;
}

const struct snippet_convertor convertor_strip_html = {
    .name = "strip-html",
    .about = "strip-html:200: the words of HTML as plain text, cut to so many characters",
    .make = make,
    .can = can,
    .convert = convert,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - see html.h. */
#include "feeds/formats/html.h"

#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"
#include "feeds/formats/value.h"

enum { BREAKS_MAX = 2, TAG_SIZE_MAX = 1024, TAG_NAME_SIZE_MAX = 12, REFERENCE_SIZE_MAX = 12 };

struct named_character {
    const char *name;
    const char *text;
};

/* What shops' editors write; the other two thousand stay as they stand. */
static const struct named_character characters[] = {
    {"amp", "&"},    {"lt", "<"},    {"gt", ">"},     {"quot", "\""},  {"apos", "'"},
    {"nbsp", " "},   {"laquo", "«"}, {"raquo", "»"},  {"mdash", "—"},  {"ndash", "–"},
    {"hellip", "…"}, {"bull", "•"},  {"middot", "·"}, {"copy", "©"},   {"reg", "®"},
    {"trade", "™"},  {"deg", "°"},   {"euro", "€"},   {"times", "×"},  {"plusmn", "±"},
    {"sup2", "²"},   {"sup3", "³"},  {"frac12", "½"}, {"frac14", "¼"}, {"frac34", "¾"},
    {"lsquo", "‘"},  {"rsquo", "’"}, {"ldquo", "“"},  {"rdquo", "”"},  {"bdquo", "„"},
    {"shy", ""},     {"ensp", " "},  {"emsp", " "},   {"thinsp", " "}, {"rarr", "→"},
    {"larr", "←"},   {"le", "≤"},    {"ge", "≥"},     {"ne", "≠"},     {"micro", "µ"},
    {"para", "¶"},   {"sect", "§"},  {"pound", "£"},  {"yen", "¥"},    {"cent", "¢"},
    {"infin", "∞"},  {"ouml", "ö"},  {"uuml", "ü"},   {"auml", "ä"},   {"eacute", "é"},
};

static const char *const breaking[] = {"br",    "p",  "div", "li",      "ul",         "ol", "tr",
                                       "table", "hr", "h1",  "h2",      "h3",         "h4", "h5",
                                       "h6",    "dt", "dd",  "section", "blockquote", "pre"};
static const char *const hidden[] = {"script", "style", "head", "title", "iframe", "svg"};

struct text_writer {
    struct buf *out;
    size_t start;
    bool keeps_breaks; /* the source's own line breaks count */
    bool blank;        /* owed before the next character */
    unsigned breaks;
};

struct tag {
    char name[TAG_NAME_SIZE_MAX + 1]; /* small letters; "" for comments and the like */
    bool closing;
    size_t size; /* with its brackets; 0: this is no tag */
};

static void write_text(struct text_writer *writer, const void *data, size_t size)
{
    unsigned i;

    if (writer->out->size > writer->start) {
        for (i = 0; i < writer->breaks; i++)
            buf_put_byte(writer->out, '\n');
        if (writer->blank && writer->breaks == 0)
            buf_put_byte(writer->out, ' ');
    }
    writer->breaks = 0;
    writer->blank = false;
    buf_put_raw(writer->out, data, size);
}

static void write_break(struct text_writer *writer, unsigned at_least)
{
    if (at_least == 0)
        at_least = writer->breaks + 1;
    if (writer->breaks < at_least)
        writer->breaks = at_least < BREAKS_MAX ? at_least : BREAKS_MAX;
}

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0)
            return true;
    }
    return false;
}

static bool is_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Past the bracket that closes a tag; quotes hide brackets. 0: no tag ends near. */
static size_t tag_end(struct bytes html, size_t at)
{
    size_t end = html.size - at > TAG_SIZE_MAX ? at + TAG_SIZE_MAX : html.size;
    uint8_t quote = 0;

    for (; at < end; at++) {
        uint8_t c = html.data[at];

        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return at + 1;
        else if (c == '<')
            return 0; /* so "<a<a<a" is not looked through again and again */
    }
    return 0;
}

/* A comment that does not end hides the rest. */
static size_t comment_end(struct bytes html)
{
    const uint8_t *end = memmem(html.data + 4, html.size - 4, "-->", 3);

    return end ? (size_t)(end - html.data) + 3 : html.size;
}

/* The name that follows "<" or "</"; where it ends. */
static size_t tag_name(struct bytes html, struct tag *tag)
{
    size_t at = 1;
    size_t length = 0;

    tag->closing = html.size > 1 && html.data[1] == '/';
    at += tag->closing;
    while (at < html.size && length < TAG_NAME_SIZE_MAX &&
           (is_letter(html.data[at]) || (length && html.data[at] >= '0' && html.data[at] <= '9')))
        tag->name[length++] = (char)(html.data[at++] | 0x20);
    tag->name[length] = 0;
    return at;
}

static struct tag tag_at(struct bytes html)
{
    struct tag tag = {.size = 0};
    size_t at;

    if (bytes_begin(html, bytes_of("<!--"))) {
        tag.size = comment_end(html);
        return tag;
    }
    at = tag_name(html, &tag);
    if (tag.name[0] || (at < html.size && (html.data[at] == '!' || html.data[at] == '?')))
        tag.size = tag_end(html, at);
    return tag;
}

/* Past the closing tag of an element whose content is not text, or the end. */
static size_t hidden_end(struct bytes html, const char *name)
{
    size_t length = strlen(name);
    size_t at;

    for (at = 0; at + length + 2 < html.size; at++) {
        if (html.data[at] == '<' && html.data[at + 1] == '/' &&
            strncasecmp((const char *)html.data + at + 2, name, length) == 0) {
            size_t end = tag_end(html, at + 2);

            return end ? end : html.size;
        }
    }
    return html.size;
}

static size_t put_utf8(uint32_t c, char text[4])
{
    if (c < 0x80) {
        text[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        text[0] = (char)(0xc0 | c >> 6);
        text[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        text[0] = (char)(0xe0 | c >> 12);
        text[1] = (char)(0x80 | (c >> 6 & 63));
        text[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    text[0] = (char)(0xf0 | c >> 18);
    text[1] = (char)(0x80 | (c >> 12 & 63));
    text[2] = (char)(0x80 | (c >> 6 & 63));
    text[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* The number of a reference like #8212 or #x2014; 0: it is none, or no character. */
static uint32_t numbered(const char *name)
{
    bool hex = (name[1] | 0x20) == 'x';
    const char *digits = name + 1 + hex;
    char *end;
    unsigned long number;

    if (name[0] != '#' || !strchr("0123456789abcdefABCDEF", digits[0]) || !digits[0])
        return 0;
    number = strtoul(digits, &end, hex ? 16 : 10);
    if (*end || number < 0x20 || number > 0x10ffff || (number >= 0xd800 && number < 0xe000) ||
        (number >= 0x7f && number < 0xa0))
        return 0;
    return (uint32_t)number;
}

/* The character meant by the reference at the front (which begins with &) and the reference's size;
 * 0: it is none. */
static size_t reference_at(struct bytes html, char text[8], size_t *text_size)
{
    char name[REFERENCE_SIZE_MAX + 1];
    size_t length = 0;
    uint32_t number;
    size_t i;

    while (length < REFERENCE_SIZE_MAX && 1 + length < html.size && html.data[1 + length] != ';') {
        name[length] = (char)html.data[1 + length];
        length++;
    }
    if (1 + length >= html.size || html.data[1 + length] != ';' || length == 0)
        return 0;
    name[length] = 0;
    number = numbered(name);
    if (number) {
        *text_size = put_utf8(number, text);
        return length + 2;
    }
    for (i = 0; i < ARRAY_COUNT(characters); i++) {
        if (strcmp(characters[i].name, name) == 0) {
            *text_size = strlen(characters[i].text);
            memcpy(text, characters[i].text, *text_size);
            return length + 2;
        }
    }
    return 0;
}

static void write_character(struct text_writer *writer, const char *text, size_t size)
{
    if (feed_blank_size(bytes_make(text, size)))
        writer->blank = true;
    else if (size)
        write_text(writer, text, size);
}

static size_t take_tag(struct text_writer *writer, struct bytes html)
{
    struct tag tag = tag_at(html);

    if (!tag.size)
        return 0;
    if (is_one_of(tag.name, hidden, ARRAY_COUNT(hidden)) && !tag.closing) {
        if (tag.size >= 2 && html.data[tag.size - 2] == '/')
            return tag.size;
        return tag.size + hidden_end(bytes_skip(html, tag.size), tag.name);
    }
    if (strcmp(tag.name, "p") == 0)
        write_break(writer, 2);
    else if (strcmp(tag.name, "br") == 0)
        write_break(writer, 0);
    else if (is_one_of(tag.name, breaking, ARRAY_COUNT(breaking)))
        write_break(writer, 1);
    if (strcmp(tag.name, "li") == 0 && !tag.closing)
        write_text(writer, "- ", 2);
    else if (strcmp(tag.name, "td") == 0)
        writer->blank = true;
    return tag.size;
}

/* Blanks of the source; how many bytes. */
static size_t take_blank(struct text_writer *writer, struct bytes html)
{
    size_t blank = feed_blank_size(html);

    if (blank && writer->keeps_breaks && (html.data[0] == '\n' || html.data[0] == '\r')) {
        write_break(writer, 0);
        if (html.data[0] == '\r' && html.size > 1 && html.data[1] == '\n')
            return 2;
    } else if (blank) {
        writer->blank = true;
    }
    return blank;
}

static size_t take_reference(struct text_writer *writer, struct bytes html)
{
    char text[8];
    size_t text_size = 0;
    size_t size = reference_at(html, text, &text_size);

    if (size)
        write_character(writer, text, text_size);
    return size;
}

static bool has_breaking_tag(struct bytes html)
{
    const uint8_t *at = html.size ? memchr(html.data, '<', html.size) : NULL;

    while (at) {
        struct bytes rest = bytes_skip(html, (size_t)(at - html.data));
        struct tag tag = {.size = 0};

        tag_name(rest, &tag);
        if (is_one_of(tag.name, breaking, ARRAY_COUNT(breaking)))
            return true;
        at = memchr(at + 1, '<', rest.size - 1);
    }
    return false;
}

static bool is_plain(uint8_t c)
{
    return c > ' ' && c != '<' && c != '&' && c != 0x7f && c != 0xc2 && c != 0xe2 && c != 0xef;
}

void feed_html_to_text(struct bytes html, struct buf *out)
{
    struct text_writer writer = {out, out->size, !has_breaking_tag(html), false, 0};

    while (html.size && !buf_failed(out)) {
        size_t size = 0;

        while (size < html.size && is_plain(html.data[size]))
            size++;
        if (size) {
            write_text(&writer, html.data, size);
        } else {
            size = take_blank(&writer, html);
            if (size == 0 && html.data[0] == '<')
                size = take_tag(&writer, html);
            else if (size == 0 && html.data[0] == '&')
                size = take_reference(&writer, html);
            if (size == 0) {
                size = html.data[0] < 0xc2 ? 1 : html.data[0] < 0xe0 ? 2 : 3;
                size = size < html.size ? size : html.size;
                write_text(&writer, html.data, size);
            }
        }
        html = bytes_skip(html, size);
    }
}

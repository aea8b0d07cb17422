/* SPDX-License-Identifier: Apache-2.0 */
/* text_format.c - see text_format.h: by recursive descent, as deep as TEXT_FORMAT_DEPTH_MAX. */
#include "codec/text_format.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "codec/bounds.h"

struct text_reader {
    struct bytes text;
    size_t at;
    unsigned line;
    unsigned column;
    unsigned depth;
    size_t count;
    struct arena *arena;
    struct err *err;
};

static int fail(struct text_reader *reader, int code, const char *reason)
{
    return err_set(reader->err, code, "line %u, column %u: %s", reader->line, reader->column,
                   reason);
}

static int peek(const struct text_reader *reader)
{
    return reader->at < reader->text.size ? reader->text.data[reader->at] : -1;
}

static void step(struct text_reader *reader)
{
    uint8_t c = reader->text.data[reader->at++];

    if (c == '\n') {
        reader->line++;
        reader->column = 1;
    } else if ((c & 0xc0) != 0x80) {
        reader->column++;
    }
}

static void skip_blanks(struct text_reader *reader)
{
    int c;

    for (c = peek(reader); c == ' ' || (c >= '\t' && c <= '\r') || c == '#'; c = peek(reader)) {
        if (c != '#') {
            step(reader);
            continue;
        }
        while (peek(reader) >= 0 && peek(reader) != '\n')
            step(reader);
    }
}

static bool is_word_char(int c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* A name, or a value without quotation marks. */
static int read_word(struct text_reader *reader, bool is_value, struct bytes *word)
{
    size_t begin = reader->at;

    if (is_value && peek(reader) == '-')
        step(reader);
    while (is_word_char(peek(reader)) ||
           (is_value && (peek(reader) == '.' || peek(reader) == '+' || peek(reader) == '-')))
        step(reader);
    *word = bytes_make(reader->text.data + begin, reader->at - begin);
    if (word->size == 0)
        return fail(reader, ERR_INVALID,
                    is_value ? "expected a value" : "expected the name of a field");
    *word = arena_copy(reader->arena, *word);
    return 0;
}

static int digit_of(int c, int base)
{
    int value = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : 99;

    return value < base ? value : -1;
}

/* \x41 and \101 */
static int read_byte(struct text_reader *reader, int base, unsigned digits_max, struct buf *out)
{
    unsigned value = 0, count = 0;

    while (count < digits_max && digit_of(peek(reader), base) >= 0) {
        value = value * (unsigned)base + (unsigned)digit_of(peek(reader), base);
        step(reader);
        count++;
    }
    if (count == 0 || value > 255)
        return fail(reader, ERR_INVALID, "an escape that stands for no byte");
    buf_put_byte(out, (uint8_t)value);
    return 0;
}

static int read_escape(struct text_reader *reader, struct buf *out)
{
    static const char letters[] = "abfnrtv\\'\"?", meant[] = "\a\b\f\n\r\t\v\\'\"?";
    int c = peek(reader);
    const char *found = c > 0 ? strchr(letters, c) : NULL;

    if (digit_of(c, 8) >= 0)
        return read_byte(reader, 8, 3, out);
    if (!found && c != 'x' && c != 'X')
        return fail(reader, ERR_INVALID, "an unknown escape");
    step(reader);
    if (!found)
        return read_byte(reader, 16, 2, out);
    buf_put_byte(out, (uint8_t)meant[found - letters]);
    return 0;
}

static int read_piece(struct text_reader *reader, struct buf *out)
{
    int mark = peek(reader), rc = 0;

    step(reader);
    while (!rc && peek(reader) != mark) {
        if (peek(reader) < 0 || peek(reader) == '\n')
            return fail(reader, ERR_INVALID, "the text does not end on its line");
        if (peek(reader) != '\\') {
            buf_put_byte(out, (uint8_t)peek(reader));
            step(reader);
            continue;
        }
        step(reader);
        rc = read_escape(reader, out);
    }
    if (!rc)
        step(reader);
    return rc;
}

static int read_string(struct text_reader *reader, struct bytes *value)
{
    struct buf out = BUF_INIT(reader->text.size + 1);
    int rc = 0;

    while (!rc && (peek(reader) == '"' || peek(reader) == '\'')) {
        rc = read_piece(reader, &out);
        skip_blanks(reader);
    }
    *value = arena_copy(reader->arena, buf_bytes(&out));
    buf_release(&out);
    return rc;
}

static int read_fields(struct text_reader *reader, int end, const struct text_field **fields);

static int read_message(struct text_reader *reader, struct text_field *field)
{
    int end = peek(reader) == '{' ? '}' : '>', rc;

    if (++reader->depth > TEXT_FORMAT_DEPTH_MAX)
        return fail(reader, ERR_LIMIT, "nested too deeply (TEXT_FORMAT_DEPTH_MAX)");
    step(reader);
    field->kind = TEXT_FIELD_MESSAGE;
    rc = read_fields(reader, end, &field->fields);
    if (!rc) {
        step(reader);
        reader->depth--;
    }
    return rc;
}

static int read_value(struct text_reader *reader, struct text_field *field)
{
    int c;

    skip_blanks(reader);
    c = peek(reader);
    if (c == '{' || c == '<')
        return read_message(reader, field);
    if (c == '"' || c == '\'') {
        field->kind = TEXT_FIELD_STRING;
        return read_string(reader, &field->value);
    }
    field->kind = TEXT_FIELD_WORD;
    return read_word(reader, true, &field->value);
}

/* A further field of the same name; *last is its place in the list. */
static int add_field(struct text_reader *reader, const struct text_field *like,
                     struct text_field **last)
{
    struct text_field *field = arena_zero(reader->arena, sizeof(*field));

    if (++reader->count > TEXT_FORMAT_FIELD_COUNT_MAX)
        return fail(reader, ERR_LIMIT, "too many fields (TEXT_FORMAT_FIELD_COUNT_MAX)");
    field->name = like->name;
    field->line = like->line;
    field->column = like->column;
    if (*last)
        (*last)->next = field;
    *last = field;
    return read_value(reader, field);
}

/* [a, b], from the bracket on. */
static int read_list(struct text_reader *reader, const struct text_field *like,
                     struct text_field **last, const struct text_field **first)
{
    int rc = 0;

    step(reader);
    skip_blanks(reader);
    while (!rc && peek(reader) != ']') {
        rc = add_field(reader, like, last);
        if (!*first)
            *first = *last;
        skip_blanks(reader);
        if (!rc && peek(reader) == ',')
            step(reader);
        else if (!rc && peek(reader) != ']')
            rc = fail(reader, ERR_INVALID, "expected a comma or ]");
        skip_blanks(reader);
    }
    if (!rc)
        step(reader);
    return rc;
}

/* name: value, name { … }, name: [ … ] */
static int read_field(struct text_reader *reader, struct text_field **last,
                      const struct text_field **first)
{
    struct text_field like = {.line = reader->line, .column = reader->column};
    bool has_colon;
    int rc = read_word(reader, false, &like.name);

    if (rc)
        return rc;
    skip_blanks(reader);
    has_colon = peek(reader) == ':';
    if (has_colon)
        step(reader);
    skip_blanks(reader);
    if (!has_colon && peek(reader) != '{' && peek(reader) != '<')
        return fail(reader, ERR_INVALID, "expected a colon or a bracket after the name");
    if (peek(reader) == '[')
        return read_list(reader, &like, last, first);
    rc = add_field(reader, &like, last);
    if (!*first)
        *first = *last;
    return rc;
}

static int read_fields(struct text_reader *reader, int end, const struct text_field **fields)
{
    struct text_field *last = NULL;
    int rc = 0;

    *fields = NULL;
    skip_blanks(reader);
    while (!rc && peek(reader) != end) {
        if (peek(reader) < 0)
            return fail(reader, ERR_INVALID, "a bracket is not closed");
        rc = read_field(reader, &last, fields);
        skip_blanks(reader);
        if (!rc && (peek(reader) == ',' || peek(reader) == ';'))
            step(reader);
        skip_blanks(reader);
    }
    return rc;
}

int text_format_read(struct bytes text, struct arena *arena, const struct text_field **fields,
                     struct err *err)
{
    struct text_reader reader = {.text = text, .line = 1, .column = 1, .arena = arena, .err = err};

    *fields = NULL;
    if (text.size > TEXT_FORMAT_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a text of %zu bytes; the limit is %d (TEXT_FORMAT_SIZE_MAX)", text.size,
                       TEXT_FORMAT_SIZE_MAX);
    if (!text_is_utf8(text))
        return err_set(err, ERR_INVALID, "not valid UTF-8");
    return read_fields(&reader, -1, fields);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_text.c - see filter_text.h: words of the text, then conditions by recursive descent.
 *
 * Ends of a range are included in messages, so that "a < 5" becomes "has a, and not a >= 5", which
 * is right for every type.
 */
#include "query/request/filter_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/bounds.h"
#include "model/field_name.h"
#include "query/bounds.h"

enum word_kind {
    WORD_END,
    WORD_PLAIN,  /* a name, a value, or a word of the language */
    WORD_QUOTED, /* a value or a name, never a word of the language */
    WORD_SIGN,   /* = != < <= > >= ( ) , */
    WORD_AND,
    WORD_OR,
    WORD_NOT,
};

struct word {
    enum word_kind kind;
    struct bytes text;
    size_t at; /* byte of the whole text */
};

struct filter_reader {
    struct bytes whole;
    size_t at;
    struct word word; /* the one at hand */
    unsigned depth;
    uint32_t count; /* conditions so far */
    struct arena *arena;
    struct err *err;
    int rc;
};

/* --- words --- */

/* The character of a byte, from 1, for people. */
static size_t character_of(struct bytes text, size_t at)
{
    size_t count = 1;

    for (size_t i = 0; i < at; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

static void fail_at(struct filter_reader *reader, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fail_at(struct filter_reader *reader, size_t at, const char *format, ...)
{
    va_list args;

    if (reader->rc)
        return;
    va_start(args, format);
    reader->rc = err_set_va(reader->err, ERR_INVALID, format, args);
    va_end(args);
    err_wrap(reader->err, "filter, character %zu", character_of(reader->whole, at));
    reader->word = (struct word){.kind = WORD_END, .at = reader->whole.size};
}

static void expected(struct filter_reader *reader, const char *what)
{
    struct bytes text = reader->word.text;

    while (text.size > 40 || (text.size && text.size < reader->word.text.size &&
                              (text.data[text.size] & 0xc0) == 0x80))
        text.size--;
    if (reader->word.kind == WORD_END)
        fail_at(reader, reader->word.at, "the text ends here: expected %s", what);
    else
        fail_at(reader, reader->word.at, "\"%.*s\": expected %s", BYTES_ARG(text), what);
}

static bool is_plain(uint8_t byte)
{
    return byte > ' ' && byte != 0x7f && !strchr("=<>!(),\"'&|[]", byte);
}

static void take_quoted(struct filter_reader *reader)
{
    size_t start = reader->at;
    uint8_t quote = reader->whole.data[reader->at++];
    uint8_t *text = arena_alloc(reader->arena, reader->whole.size);
    size_t size = 0;

    while (reader->at < reader->whole.size && reader->whole.data[reader->at] != quote) {
        if (reader->whole.data[reader->at] == '\\' && reader->at + 1 < reader->whole.size)
            reader->at++;
        text[size++] = reader->whole.data[reader->at++];
    }
    if (reader->at == reader->whole.size) {
        fail_at(reader, start, "a quote that is not closed");
        return;
    }
    reader->at++;
    reader->word.kind = WORD_QUOTED;
    reader->word.text = bytes_make(text, size);
}

static bool is_text(struct bytes text, const char *word)
{
    return text.size == strlen(word) && strncasecmp((const char *)text.data, word, text.size) == 0;
}

static void take_sign(struct filter_reader *reader)
{
    struct bytes rest = bytes_skip(reader->whole, reader->at);
    size_t size = rest.size > 1 && strchr("=<>!", rest.data[0]) && rest.data[1] == '=' ? 2 : 1;

    reader->word.kind = WORD_SIGN;
    if (rest.size > 1 && (rest.data[0] == '&' || rest.data[0] == '|') &&
        rest.data[0] == rest.data[1]) {
        size = 2;
        reader->word.kind = rest.data[0] == '&' ? WORD_AND : WORD_OR;
    } else if (rest.data[0] == '!' && size == 1) {
        reader->word.kind = WORD_NOT;
    }
    reader->word.text = bytes_make(rest.data, size);
    reader->at += size;
}

static void take_plain(struct filter_reader *reader)
{
    size_t start = reader->at;

    while (reader->at < reader->whole.size && is_plain(reader->whole.data[reader->at]))
        reader->at++;
    reader->word.text = bytes_make(reader->whole.data + start, reader->at - start);
    reader->word.kind = is_text(reader->word.text, "and")   ? WORD_AND
                        : is_text(reader->word.text, "or")  ? WORD_OR
                        : is_text(reader->word.text, "not") ? WORD_NOT
                                                            : WORD_PLAIN;
}

static void next_word(struct filter_reader *reader)
{
    const struct bytes *whole = &reader->whole;

    if (reader->rc)
        return;
    while (reader->at < whole->size && whole->data[reader->at] <= ' ')
        reader->at++;
    reader->word = (struct word){.kind = WORD_END, .at = reader->at};
    if (reader->at == whole->size)
        return;
    if (whole->data[reader->at] == '"' || whole->data[reader->at] == '\'')
        take_quoted(reader);
    else if (is_plain(whole->data[reader->at]))
        take_plain(reader);
    else
        take_sign(reader);
}

static bool is_sign(const struct filter_reader *reader, const char *sign)
{
    return reader->word.kind == WORD_SIGN && bytes_equal_text(reader->word.text, sign);
}

static bool is_word(const struct filter_reader *reader, const char *word)
{
    return reader->word.kind == WORD_PLAIN && is_text(reader->word.text, word);
}

/* --- messages --- */

static Torg__V1__Filter *new_filter(struct filter_reader *reader, Torg__V1__Filter__KindCase kind)
{
    Torg__V1__Filter *filter = arena_alloc(reader->arena, sizeof(*filter));

    torg__v1__filter__init(filter);
    filter->kind_case = kind;
    return filter;
}

static Torg__V1__Filter *joined(struct filter_reader *reader, Torg__V1__Filter__KindCase kind,
                                Torg__V1__Filter *a, Torg__V1__Filter *b)
{
    Torg__V1__Filter *filter = new_filter(reader, kind);

    filter->and_ = arena_alloc(reader->arena, sizeof(*filter->and_));
    torg__v1__filters__init(filter->and_);
    filter->and_->of = arena_array(reader->arena, 2, sizeof(*filter->and_->of));
    filter->and_->of[0] = a;
    filter->and_->of[1] = b;
    filter->and_->n_of = 2;
    return filter;
}

static Torg__V1__Filter *negated(struct filter_reader *reader, Torg__V1__Filter *inner)
{
    Torg__V1__Filter *filter = new_filter(reader, TORG__V1__FILTER__KIND_NOT);

    filter->not_ = inner;
    return filter;
}

static Torg__V1__Filter *range(struct filter_reader *reader, char *field, struct bytes min,
                               struct bytes max)
{
    Torg__V1__Filter *filter = new_filter(reader, TORG__V1__FILTER__KIND_RANGE);

    filter->range = arena_alloc(reader->arena, sizeof(*filter->range));
    torg__v1__field_range__init(filter->range);
    filter->range->field = field;
    filter->range->min = arena_text(reader->arena, min);
    filter->range->max = arena_text(reader->arena, max);
    return filter;
}

static Torg__V1__Filter *exists(struct filter_reader *reader, char *field)
{
    Torg__V1__Filter *filter = new_filter(reader, TORG__V1__FILTER__KIND_EXISTS);

    filter->exists = field;
    return filter;
}

static Torg__V1__Filter *values(struct filter_reader *reader, Torg__V1__Filter__KindCase kind,
                                char *field, char **list, size_t count)
{
    Torg__V1__Filter *filter = new_filter(reader, kind);

    filter->in = arena_alloc(reader->arena, sizeof(*filter->in));
    torg__v1__field_values__init(filter->in);
    filter->in->field = field;
    filter->in->values = list;
    filter->in->n_values = count;
    return filter;
}

static Torg__V1__Filter *one_value(struct filter_reader *reader, Torg__V1__Filter__KindCase kind,
                                   char *field, struct bytes value)
{
    char **list = arena_array(reader->arena, 1, sizeof(*list));

    list[0] = arena_text(reader->arena, value);
    return values(reader, kind, field, list, 1);
}

/* --- conditions --- */

static bool take_value(struct filter_reader *reader, struct bytes *value)
{
    if (reader->word.kind != WORD_PLAIN && reader->word.kind != WORD_QUOTED) {
        expected(reader, "a value, as 10 or \"sky blue\"");
        return false;
    }
    *value = reader->word.text;
    next_word(reader);
    return true;
}

/* (V, V, ...), with these brackets or []. */
static Torg__V1__Filter *read_list(struct filter_reader *reader, char *field)
{
    const char *end = is_sign(reader, "[") ? "]" : ")";
    char **list = arena_array(reader->arena, QUERY_FILTER_VALUE_COUNT_MAX, sizeof(*list));
    size_t count = 0;

    if (!is_sign(reader, "(") && !is_sign(reader, "[")) {
        expected(reader, "a list of values in brackets, as (red, blue)");
        return NULL;
    }
    do {
        struct bytes value;

        next_word(reader);
        if (!take_value(reader, &value))
            return NULL;
        if (count == QUERY_FILTER_VALUE_COUNT_MAX) {
            fail_at(reader, reader->word.at, "more than %d values", QUERY_FILTER_VALUE_COUNT_MAX);
            return NULL;
        }
        list[count++] = arena_text(reader->arena, value);
    } while (is_sign(reader, ","));
    if (!is_sign(reader, end)) {
        expected(reader, end[0] == ')' ? "\",\" or \")\"" : "\",\" or \"]\"");
        return NULL;
    }
    next_word(reader);
    return values(reader, TORG__V1__FILTER__KIND_IN, field, list, count);
}

static bool to_number(struct bytes text, const char *unit, double *number)
{
    char copy[40];
    char *end;

    if (!text.size || text.size >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    *number = strtod(copy, &end);
    if (strcmp(unit, "m") == 0 && strcasecmp(end, "km") == 0) {
        *number *= 1000;
        return end > copy;
    }
    return end > copy && (!*end || strcasecmp(end, unit) == 0);
}

/* (latitude, longitude, distance) */
static Torg__V1__Filter *read_near(struct filter_reader *reader, char *field)
{
    static const char *const what[] = {"a latitude, as 55.75", "a longitude, as 37.62",
                                       "a distance, as 5km or 300m"};
    Torg__V1__Filter *filter = new_filter(reader, TORG__V1__FILTER__KIND_RADIUS);
    double numbers[3] = {0};

    for (int i = 0; i < 3; i++) {
        if (!is_sign(reader, i ? "," : "(")) {
            expected(reader, i ? "\",\"" : "(latitude, longitude, distance)");
            return NULL;
        }
        next_word(reader);
        if (reader->word.kind != WORD_PLAIN ||
            !to_number(reader->word.text, i == 2 ? "m" : "", &numbers[i])) {
            expected(reader, what[i]);
            return NULL;
        }
        next_word(reader);
    }
    if (!is_sign(reader, ")")) {
        expected(reader, "\")\"");
        return NULL;
    }
    next_word(reader);
    filter->radius = arena_alloc(reader->arena, sizeof(*filter->radius));
    torg__v1__geo_radius__init(filter->radius);
    filter->radius->field = field;
    filter->radius->center = arena_alloc(reader->arena, sizeof(*filter->radius->center));
    torg__v1__geo_point__init(filter->radius->center);
    filter->radius->center->latitude = numbers[0];
    filter->radius->center->longitude = numbers[1];
    filter->radius->meters = numbers[2];
    return filter;
}

/* 5..10, 5.., ..10 */
static Torg__V1__Filter *read_equal(struct filter_reader *reader, char *field)
{
    bool is_quoted = reader->word.kind == WORD_QUOTED;
    size_t at = reader->word.at;
    struct bytes value;
    const uint8_t *dots;
    size_t before;

    if (!take_value(reader, &value))
        return NULL;
    dots = is_quoted || !value.size ? NULL : memmem(value.data, value.size, "..", 2);
    if (!dots)
        return one_value(reader, TORG__V1__FILTER__KIND_IN, field, value);
    before = (size_t)(dots - value.data);
    if (value.size == 2) {
        fail_at(reader, at, "\"..\": expected an end, as 5..10 or 5..");
        return NULL;
    }
    return range(reader, field, bytes_make(value.data, before), bytes_skip(value, before + 2));
}

/* Behind the name of the field. */
static Torg__V1__Filter *read_comparison(struct filter_reader *reader, char *field)
{
    static const char *const signs[] = {"<", ">", "<=", ">="};
    struct bytes value;

    if (is_sign(reader, "=") || is_sign(reader, "==")) {
        next_word(reader);
        return read_equal(reader, field);
    }
    if (is_sign(reader, "!=")) {
        next_word(reader);
        return take_value(reader, &value)
                   ? negated(reader, one_value(reader, TORG__V1__FILTER__KIND_IN, field, value))
                   : NULL;
    }
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++) {
        bool is_less = signs[i][0] == '<';

        if (!is_sign(reader, signs[i]))
            continue;
        next_word(reader);
        if (!take_value(reader, &value))
            return NULL;
        if (i >= 2) /* the end is included */
            return is_less ? range(reader, field, BYTES_EMPTY, value)
                           : range(reader, field, value, BYTES_EMPTY);
        return joined(reader, TORG__V1__FILTER__KIND_AND, exists(reader, field),
                      negated(reader, is_less ? range(reader, field, value, BYTES_EMPTY)
                                              : range(reader, field, BYTES_EMPTY, value)));
    }
    expected(reader, "=, !=, <, <=, >, >=, IN, EXISTS, UNDER or NEAR");
    return NULL;
}

static char *take_field(struct filter_reader *reader)
{
    struct buf name = BUF_INIT(2 * DOCUMENT_FIELD_NAME_SIZE_MAX);
    char *field = NULL;

    if (reader->word.kind != WORD_PLAIN && reader->word.kind != WORD_QUOTED)
        expected(reader, "the name of a field");
    else if (!field_name_put(reader->word.text, &name))
        expected(reader, "the name of a field, beginning with a letter");
    else
        field = arena_text(reader->arena, buf_bytes(&name));
    buf_release(&name);
    if (field)
        next_word(reader);
    return field;
}

static Torg__V1__Filter *read_condition(struct filter_reader *reader)
{
    char *field = take_field(reader);
    struct bytes value;

    if (!field)
        return NULL;
    if (++reader->count > FILTER_TEXT_CONDITION_COUNT_MAX) {
        fail_at(reader, reader->word.at, "more than %d conditions",
                FILTER_TEXT_CONDITION_COUNT_MAX);
        return NULL;
    }
    if (is_word(reader, "in")) {
        next_word(reader);
        return read_list(reader, field);
    }
    if (is_word(reader, "exists")) {
        next_word(reader);
        return exists(reader, field);
    }
    if (is_word(reader, "under")) {
        next_word(reader);
        return take_value(reader, &value)
                   ? one_value(reader, TORG__V1__FILTER__KIND_SUBTREE, field, value)
                   : NULL;
    }
    if (is_word(reader, "near")) {
        next_word(reader);
        return read_near(reader, field);
    }
    return read_comparison(reader, field);
}

static Torg__V1__Filter *read_any(struct filter_reader *reader);

static Torg__V1__Filter *read_one(struct filter_reader *reader)
{
    Torg__V1__Filter *filter;

    if (reader->word.kind == WORD_NOT) {
        bool is_even = false;

        for (; reader->word.kind == WORD_NOT; next_word(reader))
            is_even = !is_even;
        filter = read_one(reader); /* is no NOT: this ends */
        return filter && is_even ? negated(reader, filter) : filter;
    }
    if (!is_sign(reader, "("))
        return read_condition(reader);
    if (++reader->depth > FILTER_TEXT_DEPTH_MAX) {
        fail_at(reader, reader->word.at, "more than %d brackets in each other",
                FILTER_TEXT_DEPTH_MAX);
        return NULL;
    }
    next_word(reader);
    filter = read_any(reader);
    if (filter && !is_sign(reader, ")")) {
        expected(reader, "AND, OR or \")\"");
        return NULL;
    }
    reader->depth--;
    next_word(reader);
    return filter;
}

/* Conditions that are joined by one word, as one list: a long line is no deep message. */
static Torg__V1__Filter *join(struct filter_reader *reader, Torg__V1__Filter__KindCase kind,
                              Torg__V1__Filter **list, size_t count)
{
    Torg__V1__Filter *filter;

    if (count == 1)
        return list[0];
    filter = joined(reader, kind, NULL, NULL);
    filter->and_->of = list;
    filter->and_->n_of = count;
    return filter;
}

static Torg__V1__Filter *read_several(struct filter_reader *reader, enum word_kind word,
                                      Torg__V1__Filter *(*read)(struct filter_reader *),
                                      Torg__V1__Filter__KindCase kind)
{
    Torg__V1__Filter **list = NULL;
    size_t count = 0;
    size_t room = 0;

    for (;;) {
        Torg__V1__Filter *one = read(reader);

        if (!one || reader->rc)
            return NULL;
        if (count == room) {
            Torg__V1__Filter **wider = arena_array(reader->arena, room + 16, sizeof(*wider));

            if (count)
                memcpy(wider, list, count * sizeof(*list));
            list = wider;
            room += 16;
        }
        list[count++] = one;
        if (reader->word.kind != word)
            return join(reader, kind, list, count);
        next_word(reader);
    }
}

static Torg__V1__Filter *read_all(struct filter_reader *reader)
{
    return read_several(reader, WORD_AND, read_one, TORG__V1__FILTER__KIND_AND);
}

static Torg__V1__Filter *read_any(struct filter_reader *reader)
{
    return read_several(reader, WORD_OR, read_all, TORG__V1__FILTER__KIND_OR);
}

int filter_text_read(struct bytes text, struct arena *arena, Torg__V1__Filter **filter,
                     struct err *err)
{
    struct err own = {0};
    struct filter_reader reader = {.whole = text, .arena = arena, .err = err ? err : &own};

    *filter = NULL;
    if (text.size > FILTER_TEXT_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "filter: has %zu bytes; the limit is %d", text.size,
                       FILTER_TEXT_SIZE_MAX);
    if (!text_is_utf8(text) || (text.size && memchr(text.data, 0, text.size)))
        return err_set(err, ERR_INVALID, "filter: is not valid UTF-8, or has a zero byte");
    next_word(&reader);
    if (reader.word.kind == WORD_END && !reader.rc)
        return 0;
    *filter = read_any(&reader);
    if (!reader.rc && reader.word.kind != WORD_END)
        expected(&reader, "AND, OR or the end");
    if (reader.rc)
        *filter = NULL;
    return reader.rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* text_parse.c - turns a buyer's line into clauses; query.h says what the signs mean. */
#include <string.h>

#include "query/bounds.h"
#include "query/query.h"

struct parser {
    struct bytes line;
    size_t at;
    bool any;
    struct text_clause *clauses;
    uint32_t count;
    struct err *err;
};

static bool is_blank(uint8_t byte)
{
    return byte <= ' ';
}

static struct bytes part(const struct parser *parser, size_t from, size_t to)
{
    return bytes_make(parser->line.data + from, to - from);
}

static bool is_letter(struct bytes text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++)
        count += (text.data[i] & 0xC0) != 0x80;
    return count == 1;
}

/* A lone letter begins thousands of words. What may not be there is not guessed at. */
static uint32_t word_max_of(enum clause_kind kind, bool negated, struct bytes text)
{
    return kind == CLAUSE_PREFIX && !negated && is_letter(text) ? QUERY_LETTER_WORD_COUNT : 0;
}

static int add(struct parser *parser, enum clause_kind kind, bool negated, struct bytes text)
{
    if (text.size == 0)
        return 0;
    if (parser->count == QUERY_TEXT_CLAUSE_COUNT_MAX)
        return err_set(parser->err, ERR_LIMIT, "the line has more than %d words; ask for fewer",
                       QUERY_TEXT_CLAUSE_COUNT_MAX);
    parser->clauses[parser->count++] = (struct text_clause){
        .occur = negated       ? OCCUR_NOT
                 : parser->any ? OCCUR_SHOULD
                               : OCCUR_MUST,
        .kind = (uint8_t)kind,
        .boost = 1,
        .word_max = word_max_of(kind, negated, text),
        .text = text,
    };
    return 0;
}

/* One unit at `at`: what it is, and where it ends. */
struct unit {
    bool negated, quoted;
    enum clause_kind kind;
    size_t from, to; /* of its text */
    size_t end;
};

/* Apart from its number and from what follows it opens no phrase: 1/2 " pipe */
static bool is_inch(struct bytes line, size_t at)
{
    size_t before = at;

    while (before > 0 && is_blank(line.data[before - 1]))
        before--;
    return before > 0 && line.data[before - 1] >= '0' && line.data[before - 1] <= '9' &&
           (at + 1 == line.size || is_blank(line.data[at + 1]));
}

static struct unit read_unit(const struct parser *parser)
{
    const uint8_t *data = parser->line.data;
    size_t size = parser->line.size, at = parser->at;
    struct unit unit = {.kind = CLAUSE_WORD};
    size_t end = at;

    while (end < size && !is_blank(data[end]))
        end++;
    if (data[at] == '-' && at + 1 < end) {
        unit.negated = true;
        at++;
    }
    if (data[at] == '!' && at + 1 < end) {
        unit.kind = CLAUSE_EXACT;
        at++;
    }
    if (data[at] == '"' && !is_inch(parser->line, at)) {
        const uint8_t *close = memchr(data + at + 1, '"', size - at - 1);

        unit.quoted = true;
        unit.from = at + 1;
        unit.to = close ? (size_t)(close - data) : size;
        unit.end = close ? unit.to + 1 : size;
        unit.kind = unit.kind == CLAUSE_EXACT ? CLAUSE_EXACT : CLAUSE_PHRASE;
        return unit;
    }
    unit.from = at;
    unit.to = unit.end = end;
    if (end - at > 1 && unit.kind == CLAUSE_WORD &&
        (data[end - 1] == '*' || data[end - 1] == '~')) {
        unit.kind = data[end - 1] == '*' ? CLAUSE_PREFIX : CLAUSE_FUZZY;
        unit.to--;
    }
    return unit;
}

static int read_line(struct parser *parser)
{
    size_t words = SIZE_MAX, words_end = 0; /* plain words side by side */
    int rc = 0;

    while (!rc && parser->at < parser->line.size) {
        struct unit unit;

        if (is_blank(parser->line.data[parser->at])) {
            parser->at++;
            continue;
        }
        unit = read_unit(parser);
        parser->at = unit.end;
        if (unit.kind == CLAUSE_WORD && !unit.negated) {
            words = words == SIZE_MAX ? unit.from : words;
            words_end = unit.to;
            continue;
        }
        if (words != SIZE_MAX)
            rc = add(parser, CLAUSE_WORD, false, part(parser, words, words_end));
        words = SIZE_MAX;
        if (!rc)
            rc = add(parser, unit.kind, unit.negated, part(parser, unit.from, unit.to));
    }
    if (!rc && words != SIZE_MAX)
        rc = add(parser, CLAUSE_WORD, false, part(parser, words, words_end));
    return rc;
}

int query_text_parse(struct bytes line, bool any, struct arena *arena, struct query_text *text,
                     struct err *err)
{
    struct parser parser = {.any = any, .err = err};
    int rc;

    *text = (struct query_text){0};
    if (line.size > QUERY_TEXT_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "the line has %zu bytes, at most %d are read; send less",
                       line.size, QUERY_TEXT_SIZE_MAX);
    parser.line = arena_copy(arena, line);
    parser.clauses = arena_array(arena, QUERY_TEXT_CLAUSE_COUNT_MAX, sizeof(*parser.clauses));
    rc = read_line(&parser);
    if (rc)
        return rc;
    text->clauses = parser.clauses;
    text->count = parser.count;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_parse.c - parses the text of a pattern into a tree (pattern.h).
 *
 *   alternatives: sequence ("|" sequence)*        item: atom or assertion, with a quantifier
 *
 * As browsers do (annex B of ECMA-262), a bracket that opens no quantifier, and one that closes
 * nothing, is a character. An escape that stands for nothing is refused: a mistake most likely.
 */
#include <string.h>

#include "base/memory.h"
#include "schema/bounds.h"
#include "schema/categories.h"
#include "schema/pattern_parts.h"

struct pattern_parser {
    struct bytes text;
    size_t at;
    unsigned depth;
    struct arena *arena;
    struct err *err;
};

static const struct char_range digits[] = {{'0', '9'}};
static const struct char_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct char_range blanks[] = {
    {'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
    {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
static const struct char_range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

static int fail(struct pattern_parser *parser, int code, size_t at, const char *reason)
{
    return err_set(parser->err, code, "pattern, byte %zu: %s", at + 1, reason);
}

static int peek(const struct pattern_parser *parser)
{
    return parser->at < parser->text.size ? parser->text.data[parser->at] : -1;
}

static bool skip_if(struct pattern_parser *parser, const char *text)
{
    if (!bytes_begin(bytes_skip(parser->text, parser->at), bytes_of(text)))
        return false;
    parser->at += strlen(text);
    return true;
}

static struct pattern_node *node_new(struct pattern_parser *parser, enum pattern_kind kind,
                                     const struct pattern_node *left,
                                     const struct pattern_node *right)
{
    struct pattern_node *node = arena_zero(parser->arena, sizeof(*node));

    node->kind = kind;
    node->left = left;
    node->right = right;
    return node;
}

static void add_range(struct pattern_parser *parser, struct char_class *chars, uint32_t first,
                      uint32_t last)
{
    if (chars->count == chars->capacity) {
        struct char_range *old = chars->ranges;

        chars->capacity = chars->capacity * 2 + 4;
        chars->ranges = arena_array(parser->arena, chars->capacity, sizeof(*chars->ranges));
        if (chars->count)
            memcpy(chars->ranges, old, chars->count * sizeof(*old));
    }
    chars->ranges[chars->count++] = (struct char_range){first, last};
}

/* A set, or all that is not in it. */
static void add_ranges(struct pattern_parser *parser, struct char_class *chars,
                       const struct char_range *ranges, size_t count, bool is_negated)
{
    uint32_t next = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        if (!is_negated)
            add_range(parser, chars, ranges[i].first, ranges[i].last);
        else if (ranges[i].first > next)
            add_range(parser, chars, next, ranges[i].first - 1);
        next = ranges[i].last + 1;
    }
    if (is_negated)
        add_range(parser, chars, next, 0x10ffff);
}

/* \d \D \w \W \s \S */
static bool add_kind(struct pattern_parser *parser, struct char_class *chars, int letter)
{
    switch (letter) {
    case 'd':
    case 'D':
        add_ranges(parser, chars, digits, ARRAY_COUNT(digits), letter == 'D');
        return true;
    case 'w':
    case 'W':
        add_ranges(parser, chars, words, ARRAY_COUNT(words), letter == 'W');
        return true;
    case 's':
    case 'S':
        add_ranges(parser, chars, blanks, ARRAY_COUNT(blanks), letter == 'S');
        return true;
    default:
        return false;
    }
}

/* At \p{…} or \P{…}, behind the backslash. *is_one false: it is neither. */
static int read_property(struct pattern_parser *parser, struct char_class *chars, bool *is_one)
{
    size_t begin = parser->at - 1;
    int letter = peek(parser);
    const uint8_t *end;
    struct bytes name;
    uint32_t mask;

    *is_one = letter == 'p' || letter == 'P';
    if (!*is_one)
        return 0;
    parser->at++;
    if (!skip_if(parser, "{"))
        return fail(parser, ERR_INVALID, begin, "expected a category of Unicode, as \\p{Lu}");
    name = bytes_skip(parser->text, parser->at);
    end = name.size ? memchr(name.data, '}', name.size) : NULL;
    name.size = end ? (size_t)(end - name.data) : 0;
    if (!categories_find(name, &mask))
        return fail(
            parser, ERR_INVALID, begin,
            "not a general category of Unicode (L, Lu, Number …); scripts are not supported");
    parser->at += name.size + 1;
    chars->categories |= letter == 'p' ? mask : ~mask & CATEGORY_ALL;
    return 0;
}

static bool read_hex(struct pattern_parser *parser, unsigned count, uint32_t *value)
{
    size_t begin = parser->at;

    *value = 0;
    for (; count; count--, parser->at++) {
        int c = peek(parser);

        if (c >= '0' && c <= '9')
            *value = *value * 16 + (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            *value = *value * 16 + (uint32_t)((c | 32) - 'a') + 10;
        else {
            parser->at = begin;
            return false;
        }
    }
    return true;
}

/* Behind \u: four digits, two times four of a pair, or digits in brackets. */
static bool read_unicode(struct pattern_parser *parser, uint32_t *value)
{
    uint32_t low;

    if (skip_if(parser, "{")) {
        *value = 0;
        for (; peek(parser) != '}'; *value = *value * 16 + low) {
            if (!read_hex(parser, 1, &low) || *value > 0x10ffff)
                return false;
        }
        parser->at++;
        return *value <= 0x10ffff;
    }
    if (!read_hex(parser, 4, value))
        return false;
    if (*value >= 0xd800 && *value <= 0xdbff && skip_if(parser, "\\u")) {
        if (!read_hex(parser, 4, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        *value = 0x10000 + ((*value - 0xd800) << 10) + (low - 0xdc00);
    }
    return true;
}

/* Behind the backslash of what stands for one character. */
static int read_escaped_char(struct pattern_parser *parser, uint32_t *value)
{
    static const char letters[] = "tnvfr", meant[] = "\t\n\v\f\r";
    size_t begin = parser->at - 1, size;
    int c = peek(parser);
    const char *found = c > 0 ? strchr(letters, c) : NULL;

    if (c < 0)
        return fail(parser, ERR_INVALID, begin, "a backslash at the end");
    *value = pattern_char(bytes_skip(parser->text, parser->at), &size);
    parser->at += size;
    if (found) {
        *value = (uint32_t)meant[found - letters];
        return 0;
    }
    if (c == 'x' && read_hex(parser, 2, value))
        return 0;
    if (c == 'u' && read_unicode(parser, value))
        return 0;
    if (c == 'c' && (peek(parser) | 32) >= 'a' && (peek(parser) | 32) <= 'z') {
        *value = (uint32_t)peek(parser) & 31;
        parser->at++;
        return 0;
    }
    if (c == '0' && !(peek(parser) >= '0' && peek(parser) <= '9')) {
        *value = 0;
        return 0;
    }
    if (c >= '0' && c <= '9')
        return fail(parser, ERR_INVALID, begin, "back references are not supported");
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return fail(parser, ERR_INVALID, begin, "an escape that stands for nothing");
    return 0;
}

/* One end of a range, or a set: *is_set then. */
static int read_class_part(struct pattern_parser *parser, struct char_class *chars, bool *is_set,
                           uint32_t *value)
{
    size_t size;
    int rc;

    *is_set = false;
    if (peek(parser) != '\\') {
        *value = pattern_char(bytes_skip(parser->text, parser->at), &size);
        parser->at += size;
        return 0;
    }
    parser->at++;
    if (add_kind(parser, chars, peek(parser))) {
        parser->at++;
        *is_set = true;
        return 0;
    }
    rc = read_property(parser, chars, is_set);
    if (rc || *is_set)
        return rc;
    if (skip_if(parser, "b")) {
        *value = '\b';
        return 0;
    }
    return read_escaped_char(parser, value);
}

static int read_class(struct pattern_parser *parser, const struct pattern_node **node)
{
    size_t begin = parser->at++;
    struct char_class *chars = arena_zero(parser->arena, sizeof(*chars));
    struct pattern_node *made = node_new(parser, PATTERN_CLASS, NULL, NULL);
    bool is_set, is_last_set;
    uint32_t first, last;
    int rc = 0;

    chars->is_negated = skip_if(parser, "^");
    made->chars = chars;
    *node = made;
    while (!rc && peek(parser) >= 0 && peek(parser) != ']') {
        size_t range = parser->at;

        rc = read_class_part(parser, chars, &is_set, &first);
        if (rc || is_set)
            continue;
        last = first;
        if (peek(parser) == '-' && parser->at + 1 < parser->text.size &&
            parser->text.data[parser->at + 1] != ']') {
            parser->at++;
            rc = read_class_part(parser, chars, &is_last_set, &last);
            if (!rc && is_last_set) { /* [a-\d]: both, and the dash */
                add_range(parser, chars, '-', '-');
                last = first;
            }
        }
        if (!rc && last < first)
            rc = fail(parser, ERR_INVALID, range, "a range that ends before it begins");
        if (!rc)
            add_range(parser, chars, first, last);
    }
    if (!rc && !skip_if(parser, "]"))
        rc = fail(parser, ERR_INVALID, begin, "the class has no end");
    return rc;
}

static int read_alternatives(struct pattern_parser *parser, const struct pattern_node **node);

static int read_group(struct pattern_parser *parser, const struct pattern_node **node)
{
    size_t begin = parser->at++;
    int rc;

    if (skip_if(parser, "?") && !skip_if(parser, ":"))
        return fail(parser, ERR_INVALID, begin,
                    "look-ahead, look-behind and names of groups are not supported");
    if (++parser->depth > PATTERN_DEPTH_MAX)
        return fail(parser, ERR_LIMIT, begin, "groups too deep (PATTERN_DEPTH_MAX)");
    rc = read_alternatives(parser, node);
    if (rc)
        return rc;
    parser->depth--;
    return skip_if(parser, ")") ? 0 : fail(parser, ERR_INVALID, begin, "the group has no end");
}

static int read_escape(struct pattern_parser *parser, const struct pattern_node **node)
{
    struct char_class *chars = arena_zero(parser->arena, sizeof(*chars));
    struct pattern_node *made = node_new(parser, PATTERN_CLASS, NULL, NULL);
    uint32_t value;
    bool is_set;
    int rc;

    parser->at++;
    made->chars = chars;
    *node = made;
    if (skip_if(parser, "b")) {
        made->kind = PATTERN_WORD;
        return 0;
    }
    if (skip_if(parser, "B")) {
        made->kind = PATTERN_INSIDE;
        return 0;
    }
    if (add_kind(parser, chars, peek(parser))) {
        parser->at++;
        return 0;
    }
    rc = read_property(parser, chars, &is_set);
    if (rc || is_set)
        return rc;
    rc = read_escaped_char(parser, &value);
    if (!rc)
        add_range(parser, chars, value, value);
    return rc;
}

static int read_atom(struct pattern_parser *parser, const struct pattern_node **node)
{
    struct char_class *chars;
    struct pattern_node *made;
    uint32_t value;
    size_t size;

    switch (peek(parser)) {
    case '(':
        return read_group(parser, node);
    case '[':
        return read_class(parser, node);
    case '\\':
        return read_escape(parser, node);
    case '^':
    case '$':
        *node = node_new(parser, peek(parser) == '^' ? PATTERN_BEGIN : PATTERN_END, NULL, NULL);
        parser->at++;
        return 0;
    case '*':
    case '+':
    case '?':
        return fail(parser, ERR_INVALID, parser->at, "nothing to repeat");
    default:
        break;
    }
    chars = arena_zero(parser->arena, sizeof(*chars));
    made = node_new(parser, PATTERN_CLASS, NULL, NULL);
    made->chars = chars;
    *node = made;
    value = pattern_char(bytes_skip(parser->text, parser->at), &size);
    parser->at += size;
    if (value == '.')
        add_ranges(parser, chars, line_ends, ARRAY_COUNT(line_ends), true);
    else
        add_range(parser, chars, value, value);
    return 0;
}

static bool read_count(struct pattern_parser *parser, int *count)
{
    size_t begin = parser->at;

    *count = 0;
    for (; peek(parser) >= '0' && peek(parser) <= '9'; parser->at++) {
        if (*count <= PATTERN_REPEAT_MAX)
            *count = *count * 10 + (peek(parser) - '0');
    }
    return parser->at > begin;
}

/* {n} {n,} {n,m}; false: it is none, and the bracket a character. */
static bool read_counts(struct pattern_parser *parser, int *min, int *max)
{
    size_t begin = parser->at++;
    bool is_one = read_count(parser, min);

    *max = *min;
    if (is_one && skip_if(parser, ",") && !read_count(parser, max))
        *max = PATTERN_FOR_EVER;
    if (is_one && skip_if(parser, "}"))
        return true;
    parser->at = begin;
    return false;
}

static int read_quantifier(struct pattern_parser *parser, const struct pattern_node **node)
{
    size_t begin = parser->at;
    struct pattern_node *made;
    int min = 0, max = PATTERN_FOR_EVER;

    if (skip_if(parser, "+"))
        min = 1;
    else if (skip_if(parser, "?"))
        max = 1;
    else if (!skip_if(parser, "*") && (peek(parser) != '{' || !read_counts(parser, &min, &max)))
        return 0;
    if (min > PATTERN_REPEAT_MAX || max > PATTERN_REPEAT_MAX)
        return fail(parser, ERR_LIMIT, begin, "repeated too often (PATTERN_REPEAT_MAX)");
    if (max != PATTERN_FOR_EVER && max < min)
        return fail(parser, ERR_INVALID, begin, "the greatest repetition is below the least");
    (void)skip_if(parser, "?"); /* lazy: the same words match */
    made = node_new(parser, PATTERN_REPEAT, *node, NULL);
    made->min = min;
    made->max = max;
    *node = made;
    return 0;
}

static int read_sequence(struct pattern_parser *parser, const struct pattern_node **node)
{
    const struct pattern_node *next;
    int rc;

    *node = node_new(parser, PATTERN_EMPTY, NULL, NULL);
    while (peek(parser) >= 0 && peek(parser) != '|' && peek(parser) != ')') {
        rc = read_atom(parser, &next);
        if (!rc)
            rc = read_quantifier(parser, &next);
        if (rc)
            return rc;
        *node = (*node)->kind == PATTERN_EMPTY ? next : node_new(parser, PATTERN_THEN, *node, next);
    }
    return 0;
}

static int read_alternatives(struct pattern_parser *parser, const struct pattern_node **node)
{
    const struct pattern_node *next;
    int rc = read_sequence(parser, node);

    while (!rc && skip_if(parser, "|")) {
        rc = read_sequence(parser, &next);
        if (!rc)
            *node = node_new(parser, PATTERN_OR, *node, next);
    }
    return rc;
}

int pattern_parse(struct bytes text, struct arena *arena, const struct pattern_node **root,
                  struct err *err)
{
    struct pattern_parser parser = {.text = text, .arena = arena, .err = err};
    int rc;

    if (text.size > PATTERN_TEXT_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a pattern of %zu bytes; the limit is %d "
                       "(PATTERN_TEXT_SIZE_MAX)",
                       text.size, PATTERN_TEXT_SIZE_MAX);
    rc = read_alternatives(&parser, root);
    if (!rc && parser.at < text.size)
        rc = fail(&parser, ERR_INVALID, parser.at, "a bracket that closes nothing");
    return rc;
}

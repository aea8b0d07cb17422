/* SPDX-License-Identifier: Apache-2.0 */
/* phrase.c - see phrase.h. */
#include "demo/phrase.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "demo/bounds.h"

struct expansion {
    struct scope *scope;
    struct buf *out;
    unsigned depth;
    struct err *err;
};

static int expand(struct expansion *expansion, struct bytes template);

static int fault(struct expansion *expansion, const char *what, struct bytes text)
{
    return err_set(expansion->err, ERR_INVALID, "kind %s: %s: \"%.*s\"",
                   expansion->scope->kind->name, what, (int)(text.size < 80 ? text.size : 80),
                   (const char *)text.data);
}

/* --- variables --- */

void scope_set(struct scope *scope, const char *name, const char *value)
{
    for (size_t i = 0; i < scope->variable_count; i++) {
        if (strcmp(scope->variables[i].name, name) == 0) {
            scope->variables[i].value = value;
            return;
        }
    }
    assert(scope->variable_count < DEMO_VARIABLE_COUNT_MAX);
    scope->variables[scope->variable_count++] = (struct variable){.name = name, .value = value};
}

const char *scope_get(const struct scope *scope, struct bytes name)
{
    for (size_t i = 0; i < scope->variable_count; i++) {
        if (bytes_equal_text(name, scope->variables[i].name))
            return scope->variables[i].value;
    }
    return NULL;
}

/* --- pieces --- */

/* The n-th piece between the signs; the first when there are fewer. */
static struct bytes piece(struct bytes text, char sign, size_t place)
{
    struct bytes first = text;

    for (size_t i = 0;; i++) {
        const uint8_t *end = text.size ? memchr(text.data, sign, text.size) : NULL;
        struct bytes one = end ? bytes_make(text.data, (size_t)(end - text.data)) : text;

        if (i == 0)
            first = one;
        if (i == place)
            return one;
        if (!end)
            return first;
        text = bytes_skip(text, one.size + 1);
    }
}

static bool find_form(struct bytes word, size_t *place)
{
    static const char forms[] = "mfnp";
    const char *found;

    if (word.size != 1)
        return false;
    if (word.data[0] >= '1' && word.data[0] <= '4') {
        *place = (size_t)(word.data[0] - '1');
        return true;
    }
    found = strchr(forms, word.data[0]);
    if (!found || !*found)
        return false;
    *place = (size_t)(found - forms);
    return true;
}

/* Which of год, года, лет goes with the number. */
static size_t plural_form(enum language language, long number)
{
    long tens = number % 100;
    long ones = number % 10;

    if (language == LANGUAGE_EN)
        return number == 1 ? 0 : 1;
    if (tens >= 11 && tens <= 14)
        return 2;
    return ones == 1 ? 0 : ones >= 2 && ones <= 4 ? 1 : 2;
}

/* Appends it with its first letter as a capital; Russian and Latin letters are what comes. */
static void put_capital(struct buf *out, struct bytes text)
{
    const uint8_t *at = text.data;

    if (!text.size)
        return;
    if (at[0] >= 'a' && at[0] <= 'z' && text.size > 1 && at[1] >= 'A' && at[1] <= 'Z') {
        buf_put(out, text); /* iPhone */
    } else if (at[0] >= 'a' && at[0] <= 'z') {
        buf_put_byte(out, (uint8_t)(at[0] - 'a' + 'A'));
        buf_put(out, bytes_skip(text, 1));
    } else if (text.size >= 2 && at[0] == 0xd0 && at[1] >= 0xb0 && at[1] <= 0xbf) { /* а … п */
        buf_put_byte(out, 0xd0);
        buf_put_byte(out, (uint8_t)(at[1] - 0x20));
        buf_put(out, bytes_skip(text, 2));
    } else if (text.size >= 2 && at[0] == 0xd1 && at[1] >= 0x80 && at[1] <= 0x8f) { /* р … я */
        buf_put_byte(out, 0xd0);
        buf_put_byte(out, (uint8_t)(at[1] + 0x20));
        buf_put(out, bytes_skip(text, 2));
    } else if (text.size >= 2 && at[0] == 0xd1 && at[1] == 0x91) { /* ё */
        buf_put_text(out, "Ё");
        buf_put(out, bytes_skip(text, 2));
    } else {
        buf_put(out, text);
    }
}

static void put_grouped(struct buf *out, struct bytes number, enum language language)
{
    for (size_t i = 0; i < number.size; i++) {
        if (i && (number.size - i) % 3 == 0)
            buf_put_byte(out, language == LANGUAGE_EN ? ',' : ' ');
        buf_put_byte(out, number.data[i]);
    }
}

/* --- {…} --- */

static int variable_of(struct expansion *expansion, struct bytes name, const char **value)
{
    *value = scope_get(expansion->scope, name);
    return *value ? 0 : fault(expansion, "there is no variable", name);
}

static bool is_one_of(const char *value, struct bytes list)
{
    size_t count = 1;

    for (size_t i = 0; i < list.size; i++)
        count += list.data[i] == ',';
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal_text(piece(list, ',', i), value))
            return true;
    }
    return false;
}

/* ?name=a,b:text */
static int put_conditional(struct expansion *expansion, struct bytes inside)
{
    size_t sign = 0;
    size_t colon;
    bool not_equal;
    struct bytes wanted;
    const char *value;
    bool holds;
    int rc;

    while (sign < inside.size && !strchr("=!<>", inside.data[sign]))
        sign++;
    for (colon = sign; colon < inside.size && inside.data[colon] != ':'; colon++)
        ;
    if (colon == inside.size)
        return fault(expansion, "expected {?name=value:text}", inside);
    rc = variable_of(expansion, bytes_make(inside.data, sign), &value);
    if (rc)
        return rc;
    not_equal = inside.data[sign] == '!';
    wanted = bytes_make(inside.data + sign + 1 + not_equal, colon - sign - 1 - not_equal);
    if (inside.data[sign] == '<' || inside.data[sign] == '>') {
        double limit = strtod(arena_text(expansion->scope->arena, wanted), NULL);
        double number = strtod(value, NULL);

        holds = inside.data[sign] == '<' ? number < limit : number > limit;
    } else {
        holds = is_one_of(value, wanted) != not_equal;
    }
    return holds ? expand(expansion, bytes_skip(inside, colon + 1)) : 0;
}

/* @g a/b/c/d */
static int put_agreeing(struct expansion *expansion, struct bytes inside)
{
    const uint8_t *blank = memchr(inside.data, ' ', inside.size);
    const char *gender;
    size_t form;
    int rc;

    if (!blank)
        return fault(expansion, "expected {@g forms}", inside);
    rc = variable_of(expansion, bytes_make(inside.data, (size_t)(blank - inside.data)), &gender);
    if (rc)
        return rc;
    if (!find_form(bytes_of(gender), &form))
        return fault(expansion, "no gender", bytes_of(gender));
    return expand(expansion,
                  piece(bytes_skip(inside, (size_t)(blank - inside.data) + 1), '/', form));
}

static struct bytes word_of(const struct scope *scope, struct bytes name, const char *value,
                            size_t form)
{
    const struct word *word = scope->raw ? NULL : grammar_word(scope->grammar, name, value);

    if (word && scope->language == LANGUAGE_EN)
        return bytes_of(word->english);
    return piece(bytes_of(word ? word->forms : value), '/', form);
}

/* name, and what stands behind it: .f @g ' #forms */
static int put_variable(struct expansion *expansion, struct bytes inside)
{
    struct scope *scope = expansion->scope;
    bool capital = inside.size && inside.data[0] == '^';
    struct bytes name = capital ? bytes_skip(inside, 1) : inside;
    struct bytes rest = BYTES_EMPTY;
    struct bytes word;
    const char *value;
    const char *gender;
    size_t form = 0;
    char sign = 0;
    int rc;

    for (size_t i = 0; i < name.size; i++) {
        if (strchr(".@'#", name.data[i])) {
            sign = (char)name.data[i];
            rest = bytes_skip(name, i + 1);
            name.size = i;
            break;
        }
    }
    rc = variable_of(expansion, name, &value);
    if (rc)
        return rc;
    if (sign == '.' && !find_form(rest, &form))
        return fault(expansion, "no form", inside);
    if (sign == '@') {
        rc = variable_of(expansion, rest, &gender);
        if (rc)
            return rc;
        if (!find_form(bytes_of(gender), &form))
            return fault(expansion, "no gender", inside);
    }
    if (scope->raw && sign != '.') /* whole, forms and all */
        word = bytes_of(value);
    else if (sign == '#')
        word = piece(rest, '/', plural_form(scope->language, strtol(value, NULL, 10)));
    else
        word = word_of(scope, name, value, form);
    if (sign == '\'')
        put_grouped(expansion->out, word, scope->language);
    else if (capital)
        put_capital(expansion->out, word);
    else
        buf_put(expansion->out, word);
    return 0;
}

static int put_braces(struct expansion *expansion, struct bytes inside)
{
    if (inside.size && inside.data[0] == '?')
        return put_conditional(expansion, bytes_skip(inside, 1));
    if (inside.size && inside.data[0] == '@')
        return put_agreeing(expansion, bytes_skip(inside, 1));
    return put_variable(expansion, inside);
}

/* --- the whole --- */

/* Where the bracket that opens at `at` closes; the size when it does not. */
static size_t find_close(struct bytes text, size_t at)
{
    char open = (char)text.data[at];
    char close = open == '{' ? '}' : open == '[' ? ']' : '>';
    size_t depth = 0;

    for (size_t i = at; i < text.size; i++) {
        if (text.data[i] == '\\')
            i++;
        else if (text.data[i] == (uint8_t)open)
            depth++;
        else if (text.data[i] == (uint8_t)close && --depth == 0)
            return i;
    }
    return text.size;
}

/* One of a|b|c, not looking into brackets. */
static struct bytes choose(struct scope *scope, struct bytes inside)
{
    size_t starts[DEMO_CHOICE_COUNT_MAX + 1];
    size_t count = 0;
    size_t depth = 0;
    size_t chosen;

    starts[count++] = 0;
    for (size_t i = 0; i < inside.size; i++) {
        if (strchr("{[", inside.data[i]))
            depth++;
        else if (strchr("}]", inside.data[i]))
            depth--;
        else if (inside.data[i] == '|' && !depth && count < DEMO_CHOICE_COUNT_MAX)
            starts[count++] = i + 1;
    }
    starts[count] = inside.size + 1;
    chosen = rng_below(scope->rng, count);
    return bytes_make(inside.data + starts[chosen], starts[chosen + 1] - starts[chosen] - 1);
}

static int put_phrase(struct expansion *expansion, struct bytes name)
{
    struct scope *scope = expansion->scope;
    const struct phrase_list *list =
        grammar_list(scope->grammar, scope->kind, name, scope->language);

    if (!list)
        return fault(expansion, "there is no list", name);
    return expand(expansion, bytes_of(list->phrases[rng_below(scope->rng, list->count)]));
}

static int put_bracket(struct expansion *expansion, struct bytes template, size_t at, size_t close)
{
    struct bytes inside = bytes_make(template.data + at + 1, close - at - 1);

    switch (template.data[at]) {
    case '{':
        return put_braces(expansion, inside);
    case '[':
        return expand(expansion, choose(expansion->scope, inside));
    default:
        return put_phrase(expansion, inside);
    }
}

static int expand(struct expansion *expansion, struct bytes template)
{
    int rc = 0;

    if (++expansion->depth > DEMO_DEPTH_MAX)
        return fault(expansion, "too deep", template);
    for (size_t i = 0; i < template.size && !rc; i++) {
        uint8_t sign = template.data[i];
        size_t close;

        if (sign == '\\' && i + 1 < template.size) {
            i++;
            buf_put_byte(expansion->out, template.data[i] == 'n' ? '\n' : template.data[i]);
            continue;
        }
        if (sign != '{' && sign != '[' && sign != '<') {
            buf_put_byte(expansion->out, sign);
            continue;
        }
        close = find_close(template, i);
        if (close == template.size)
            return fault(expansion, "a bracket is not closed", template);
        rc = put_bracket(expansion, template, i, close);
        i = close;
    }
    expansion->depth--;
    return rc;
}

int phrase_expand(struct scope *scope, const char *template, struct buf *out, struct err *err)
{
    struct expansion expansion = {.scope = scope, .out = out, .err = err};

    return expand(&expansion, bytes_of(template));
}

int phrase_text(struct scope *scope, const char *template, const char **text, struct err *err)
{
    struct buf out = BUF_INIT(DEMO_TEXT_SIZE_MAX);
    int rc = phrase_expand(scope, template, &out, err);

    if (!rc && buf_failed(&out))
        rc = err_set(err, ERR_LIMIT, "kind %s: a text of more than %d bytes", scope->kind->name,
                     DEMO_TEXT_SIZE_MAX);
    *text = rc ? NULL : arena_text(scope->arena, buf_bytes(&out));
    buf_release(&out);
    return rc;
}

int phrase_say(struct scope *scope, const char *list, const char **text, struct err *err)
{
    return phrase_text(scope, arena_printf(scope->arena, "<%s>", list), text, err);
}

/* --- tidying --- */

/* Whether the sign must not stand here, after `before`. */
static bool is_left_over(char sign, char before)
{
    if (sign == ' ')
        return !before || before == ' ' || before == '\n';
    return sign == '.' && before == '.';
}

char *phrase_tidy(const char *text, struct arena *arena)
{
    struct buf tidy = BUF_INIT(DEMO_TEXT_SIZE_MAX);
    struct buf lines = BUF_INIT(DEMO_TEXT_SIZE_MAX);
    char *result;

    for (const char *at = text; *at; at++) {
        char before = tidy.size ? (char)tidy.data[tidy.size - 1] : 0;

        if (before == ' ' && strchr(",.;:!?\n", *at)) {
            buf_truncate(&tidy, tidy.size - 1);
            before = tidy.size ? (char)tidy.data[tidy.size - 1] : 0;
        }
        if (is_left_over(*at, before))
            continue;
        buf_put_byte(&tidy, (uint8_t)*at);
    }
    while (tidy.size && strchr(" \n,", tidy.data[tidy.size - 1]))
        buf_truncate(&tidy, tidy.size - 1);
    for (size_t begin = 0; begin < tidy.size;) {
        const uint8_t *end = memchr(tidy.data + begin, '\n', tidy.size - begin);
        size_t size = end ? (size_t)(end - tidy.data) + 1 - begin : tidy.size - begin;

        put_capital(&lines, bytes_make(tidy.data + begin, size));
        begin += size;
    }
    result = arena_text(arena, buf_bytes(&lines));
    buf_release(&tidy);
    buf_release(&lines);
    return result;
}

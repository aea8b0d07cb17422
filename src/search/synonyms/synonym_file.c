/* SPDX-License-Identifier: Apache-2.0 */
/* synonym_file.c - a file of synonyms, read and checked line by line; see synonyms.h. */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "catalog/words.h"
#include "search/bounds.h"
#include "search/synonyms/synonyms.h"

struct file {
    struct arena *arena;
    struct synonym_rules *rules;
    struct violations *faults;
    size_t line;
};

/* The terms of one side of a rule. */
struct side {
    const char *terms[SYNONYM_TERM_COUNT_MAX];
    const char *keys[SYNONYM_TERM_COUNT_MAX];
    size_t count;
};

#define FAULT(file, ...)                                                                           \
    violations_add((file)->faults, arena_printf((file)->arena, "line %zu", (file)->line),          \
                   __VA_ARGS__)

static struct bytes trim(struct bytes text)
{
    while (text.size && text.data[0] <= ' ')
        text = bytes_skip(text, 1);
    while (text.size && text.data[text.size - 1] <= ' ')
        text.size--;
    return text;
}

/* The text with one blank between its words. */
static const char *one_form(struct bytes text, struct arena *arena)
{
    char *copy = arena_text(arena, text), *to = copy;

    for (const char *at = copy; *at; at++) {
        if ((unsigned char)*at > ' ')
            *to++ = *at;
        else if (to > copy && to[-1] != ' ')
            *to++ = ' ';
    }
    *to = '\0';
    return copy;
}

static size_t count_words(struct bytes text, struct arena *arena)
{
    const char *rest = words_fold(text, arena);
    struct bytes word;
    size_t count = 0;

    while (words_next(&rest, &word))
        count++;
    return count;
}

static void add_term(struct file *file, struct side *side, struct bytes term)
{
    size_t word_count;
    const char *key;

    if (term.size > SYNONYM_TERM_SIZE_MAX) {
        FAULT(file, "\"%.40s…\" has %zu bytes; the limit is %d", one_form(term, file->arena),
              term.size, SYNONYM_TERM_SIZE_MAX);
        return;
    }
    word_count = count_words(term, file->arena);
    if (!word_count)
        FAULT(file, "\"%s\" has no letter and no digit: write a word between two commas",
              one_form(term, file->arena));
    if (word_count > SYNONYM_WORD_COUNT_MAX)
        FAULT(file, "\"%s\" has %zu words; the limit is %d", one_form(term, file->arena),
              word_count, SYNONYM_WORD_COUNT_MAX);
    if (!word_count || word_count > SYNONYM_WORD_COUNT_MAX)
        return;
    if (side->count == SYNONYM_TERM_COUNT_MAX) {
        FAULT(file, "more than %d terms: use several lines", SYNONYM_TERM_COUNT_MAX);
        return;
    }
    key = synonym_key(term, file->arena);
    for (size_t i = 0; i < side->count; i++) {
        if (strcmp(side->keys[i], key) == 0) {
            FAULT(file, "\"%s\" and \"%s\" are the same word: forms and case do not matter",
                  side->terms[i], one_form(term, file->arena));
            return;
        }
    }
    side->terms[side->count] = one_form(term, file->arena);
    side->keys[side->count++] = key;
}

static void read_side(struct file *file, struct side *side, struct bytes text)
{
    side->count = 0;
    while (true) {
        const uint8_t *comma = memchr(text.data, ',', text.size);
        size_t size = comma ? (size_t)(comma - text.data) : text.size;

        add_term(file, side, trim(bytes_make(text.data, size)));
        if (!comma)
            return;
        text = bytes_skip(text, size + 1);
    }
}

static const char **copy_terms(const struct side *side, struct arena *arena)
{
    const char **terms = arena_array(arena, side->count, sizeof(*terms));

    memcpy(terms, side->terms, side->count * sizeof(*terms));
    return terms;
}

static void put_side(struct buf *out, const struct side *side)
{
    for (size_t i = 0; i < side->count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", side->terms[i]);
}

static void add_rule(struct file *file, const struct side *from, const struct side *to,
                     bool is_refusal)
{
    struct synonym_rule *rule = &file->rules->list[file->rules->count++];
    struct buf text = BUF_INIT(2 * SYNONYM_TERM_COUNT_MAX * (SYNONYM_TERM_SIZE_MAX + 4));

    put_side(&text, from);
    if (to) {
        buf_put_text(&text, is_refusal ? " =/> " : " => ");
        put_side(&text, to);
    }
    *rule = (struct synonym_rule){.line = file->line,
                                  .text = arena_text(file->arena, buf_bytes(&text)),
                                  .from = copy_terms(from, file->arena),
                                  .from_count = from->count,
                                  .to = copy_terms(to ? to : from, file->arena),
                                  .to_count = (to ? to : from)->count,
                                  .is_refusal = is_refusal};
    buf_release(&text);
}

/* One way: what stands on both sides would find itself. */
static void check_sides(struct file *file, const struct side *from, const struct side *to)
{
    for (size_t i = 0; i < from->count; i++) {
        for (size_t k = 0; k < to->count; k++) {
            if (strcmp(from->keys[i], to->keys[k]) == 0)
                FAULT(file, "\"%s\" stands on both sides of the arrow: leave it out on the right",
                      from->terms[i]);
        }
    }
}

/* The first arrow of a line; NULL: it has none. */
static const uint8_t *find_arrow(struct bytes line, bool *is_refusal, size_t *size)
{
    static const struct bytes finds = BYTES_LITERAL("=>"), refuses = BYTES_LITERAL("=/>");
    const uint8_t *find = memmem(line.data, line.size, finds.data, finds.size);
    const uint8_t *refuse = memmem(line.data, line.size, refuses.data, refuses.size);

    *is_refusal = refuse && (!find || refuse < find);
    *size = *is_refusal ? refuses.size : finds.size;
    return *is_refusal ? refuse : find;
}

static void read_line(struct file *file, struct bytes line)
{
    size_t before = file->faults->count, size;
    bool is_refusal, again;
    const uint8_t *arrow = find_arrow(line, &is_refusal, &size);
    struct side from, to;

    if (!arrow) {
        read_side(file, &from, line);
        if (file->faults->count == before && from.count < 2)
            FAULT(file, "a single term: write others after commas, or => and what it means");
        if (file->faults->count == before)
            add_rule(file, &from, NULL, false);
        return;
    }
    read_side(file, &from, bytes_make(line.data, (size_t)(arrow - line.data)));
    line = bytes_skip(line, (size_t)(arrow - line.data) + size);
    if (find_arrow(line, &again, &size)) {
        FAULT(file, "more than one arrow: use several lines");
        return;
    }
    read_side(file, &to, line);
    if (file->faults->count == before)
        check_sides(file, &from, &to);
    if (file->faults->count == before)
        add_rule(file, &from, &to, is_refusal);
}

static size_t count_lines(struct bytes text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] == '\n';
    return count;
}

/* Without what stands behind a # that begins the line or follows a blank. */
static struct bytes without_comment(struct bytes line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] == '#' && (!i || line.data[i - 1] <= ' '))
            line.size = i;
    }
    return line;
}

static void read_lines(struct file *file, struct bytes text)
{
    for (file->line = 1; text.size && file->faults->count < SYNONYM_FAULT_COUNT_MAX; file->line++) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        struct bytes line = trim(without_comment(bytes_make(text.data, size)));

        text = bytes_skip(text, end ? size + 1 : size);
        if (!line.size)
            continue;
        if (file->rules->count == SYNONYM_RULE_COUNT_MAX) {
            FAULT(file, "more than %d rules", SYNONYM_RULE_COUNT_MAX);
            return;
        }
        read_line(file, line);
    }
}

int synonyms_parse(struct bytes text, struct arena *arena, struct synonym_rules *rules,
                   struct violations *faults, struct err *err)
{
    struct file file = {.arena = arena, .rules = rules, .faults = faults};
    size_t line_count = count_lines(text);

    *rules = (struct synonym_rules){0};
    if (text.size > SYNONYM_FILE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "the file has %zu bytes; the limit is %d", text.size,
                       SYNONYM_FILE_SIZE_MAX);
    if (!text_is_utf8(text))
        return err_set(err, ERR_INVALID, "the file is not UTF-8: save it as that");
    if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
        text = bytes_skip(text, 3);
    rules->list = arena_array(
        arena, line_count < SYNONYM_RULE_COUNT_MAX ? line_count : SYNONYM_RULE_COUNT_MAX,
        sizeof(*rules->list));
    read_lines(&file, text);
    if (!faults->count)
        return 0;
    return err_set(err, ERR_INVALID, "%s: %s", faults->first->field, faults->first->reason);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* category_rules.c - see category_rules.h. */
#include "feeds/mapping/category_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "catalog/words.h"
#include "feeds/bounds.h"
#include "feeds/formats/value.h"
#include "feeds/mapping/attribute.h"

enum { CELL_COUNT_MAX = 16 };

struct reading {
    const struct catalog *catalog;
    struct arena *arena;
    struct category_rules *rules;
    struct feed_attributes attributes; /* to see that what the file sets can be read */
    bool has_columns;                  /* the first line names them */
    char delimiter;                    /* of such a file */
    size_t attributes_column;          /* of such a file; CELL_COUNT_MAX: none */
    size_t number;                     /* of the line at hand */
};

static int compare_rules(const void *a, const void *b)
{
    return strcmp(((const struct category_rule *)a)->from, ((const struct category_rule *)b)->from);
}

/* --- cells --- */

/* One cell, unquoted, off the front of the line. */
static struct bytes take_cell(struct bytes *line, char delimiter, struct arena *arena)
{
    struct buf cell = BUF_INIT(SIZE_MAX); /* the file is bounded */
    bool quoted = line->size && line->data[0] == '"';
    size_t i = quoted;
    struct bytes taken;

    for (; i < line->size; i++) {
        if (quoted && line->data[i] == '"') {
            if (i + 1 < line->size && line->data[i + 1] == '"')
                i++;
            else {
                quoted = false;
                continue;
            }
        } else if (!quoted && line->data[i] == (uint8_t)delimiter) {
            break;
        }
        buf_put_byte(&cell, line->data[i]);
    }
    *line = bytes_skip(*line, i < line->size ? i + 1 : i);
    taken = arena_copy(arena, feed_trim(buf_bytes(&cell)));
    buf_release(&cell);
    return taken;
}

static size_t split_line(struct reading *reading, struct bytes line,
                         struct bytes cells[CELL_COUNT_MAX])
{
    size_t count = 0;

    while (line.size && count < CELL_COUNT_MAX)
        cells[count++] = take_cell(&line, reading->delimiter, reading->arena);
    return count;
}

static bool is_named(struct bytes cell, const char *name)
{
    struct feed_word word;

    return feed_fold(cell, &word) && strcmp(word.text, name) == 0;
}

/* Whether the first line is "feed,category" with more columns behind. */
static bool take_columns(struct reading *reading, struct bytes line)
{
    struct bytes cells[CELL_COUNT_MAX];
    size_t count;

    for (const char *sign = ",;\t"; *sign; sign++) {
        reading->delimiter = *sign;
        count = split_line(reading, line, cells);
        if (count < 3 || !is_named(cells[0], "feed") || !is_named(cells[1], "category"))
            continue;
        reading->has_columns = true;
        reading->attributes_column = CELL_COUNT_MAX;
        for (size_t i = 2; i < count; i++) {
            if (is_named(cells[i], "attributes"))
                reading->attributes_column = i;
        }
        return true;
    }
    return false;
}

/* --- what a line sets --- */

static int check_setting(struct reading *reading, const struct category *category,
                         const struct feed_attribute *given, struct err *err)
{
    Torg__V1__AttributeValue value = TORG__V1__ATTRIBUTE_VALUE__INIT;
    struct bytes unit;
    const struct attribute *attribute =
        feed_attribute_find(&reading->attributes, category, given->name, &unit);
    const char *wrong;

    if (!attribute)
        return err_set(err, ERR_INVALID, "line %zu: the category \"%s\" has no attribute \"%.*s\"",
                       reading->number, category->id, BYTES_ARG(feed_shown(given->name)));
    wrong = feed_attribute_read(&reading->attributes, attribute, given, reading->arena, &value);
    if (wrong)
        return err_set(err, ERR_INVALID, "line %zu: %.*s: %s", reading->number,
                       BYTES_ARG(feed_shown(given->name)), wrong);
    return 0;
}

/* "type=Прогулочная; color=red" */
static int take_settings(struct reading *reading, struct bytes text, struct feed_placement *to,
                         struct err *err)
{
    struct feed_attribute *list =
        arena_array(reading->arena, FEED_RULE_ATTRIBUTE_COUNT_MAX, sizeof(*list));
    int rc = 0;

    to->attributes = list;
    while (text.size && !rc) {
        const uint8_t *end = memchr(text.data, ';', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        struct bytes part = feed_trim(bytes_make(text.data, size));
        const uint8_t *mark = part.size ? memchr(part.data, '=', part.size) : NULL;

        text = bytes_skip(text, end ? size + 1 : size);
        if (!part.size)
            continue;
        if (!mark || to->attribute_count == FEED_RULE_ATTRIBUTE_COUNT_MAX)
            return err_set(err, ERR_INVALID,
                           "line %zu: expected at most %d attributes, as in \"color=red; size=XL\"",
                           reading->number, FEED_RULE_ATTRIBUTE_COUNT_MAX);
        size = (size_t)(mark - part.data);
        list[to->attribute_count] = (struct feed_attribute){
            .name = feed_trim(bytes_make(part.data, size)),
            .value = feed_trim(bytes_skip(part, size + 1)),
        };
        rc = check_setting(reading, to->category, &list[to->attribute_count++], err);
    }
    return rc;
}

/* --- lines --- */

static int place(struct reading *reading, struct bytes from, struct bytes to,
                 struct bytes attributes, struct err *err)
{
    struct category_rules *rules = reading->rules;
    struct category_rule *rule = &rules->list[rules->count];
    const char *id = arena_text(reading->arena, to);

    *rule = (struct category_rule){.from = words_fold(from, reading->arena)};
    if (*id && !bytes_equal_text(to, "-")) {
        rule->to.category = category_find(reading->catalog, id);
        if (!rule->to.category)
            return err_set(err, ERR_INVALID, "line %zu: the catalogue has no category \"%.64s\"",
                           reading->number, id);
    }
    if (rule->to.category && attributes.size) {
        int rc = take_settings(reading, attributes, &rule->to, err);

        if (rc)
            return rc;
    }
    if (!bytes_equal_text(from, "*"))
        rules->count++;
    else if (rule->to.category)
        rules->otherwise =
            memcpy(arena_alloc(reading->arena, sizeof(rule->to)), &rule->to, sizeof(rule->to));
    return 0;
}

static int add_columned(struct reading *reading, struct bytes line, struct err *err)
{
    struct bytes cells[CELL_COUNT_MAX];
    size_t count = split_line(reading, line, cells);
    struct bytes attributes = BYTES_EMPTY;

    if (count < 2 || !cells[0].size || !cells[1].size)
        return 0; /* nobody has said yet which it is */
    if (reading->attributes_column < count)
        attributes = cells[reading->attributes_column];
    return place(reading, cells[0], cells[1], attributes, err);
}

static int add_plain(struct reading *reading, struct bytes line, struct err *err)
{
    const uint8_t *mark = NULL;
    struct bytes from;
    struct bytes to;

    for (size_t i = line.size; i > 0 && !mark; i--) { /* an id has neither; a name may */
        if (strchr(",;\t", line.data[i - 1]))
            mark = &line.data[i - 1];
    }
    if (!mark)
        return err_set(err, ERR_INVALID,
                       "line %zu: expected two columns, what the feed says and a category's id",
                       reading->number);
    from = feed_trim(bytes_make(line.data, (size_t)(mark - line.data)));
    if (from.size >= 2 && from.data[0] == '"' && from.data[from.size - 1] == '"')
        from = bytes_make(from.data + 1, from.size - 2);
    to = feed_trim(bytes_skip(line, (size_t)(mark + 1 - line.data)));
    if (reading->number == 1 && to.size && !bytes_equal_text(to, "-") &&
        !category_find(reading->catalog, arena_text(reading->arena, to)))
        return 0; /* the names of the columns */
    return place(reading, from, to, BYTES_EMPTY, err);
}

static int add_line(struct reading *reading, struct bytes line, struct err *err)
{
    if (reading->number == 1 && take_columns(reading, line))
        return 0;
    return reading->has_columns ? add_columned(reading, line, err) : add_plain(reading, line, err);
}

static int read_lines(struct reading *reading, struct bytes content, struct err *err)
{
    size_t filled_count = 0;
    int rc = 0;

    while (!rc && content.size) {
        const uint8_t *end = memchr(content.data, '\n', content.size);
        size_t size = end ? (size_t)(end - content.data) : content.size;
        struct bytes line = feed_trim(bytes_make(content.data, size));

        reading->number++;
        filled_count += line.size > 0;
        if (line.size)
            rc = add_line(reading, line, err);
        content = bytes_skip(content, end ? size + 1 : size);
    }
    /* One line alone was meant as a rule: taken for the names of columns it would say nothing. */
    if (!rc && filled_count == 1 && !reading->has_columns && !reading->rules->count &&
        !reading->rules->otherwise)
        rc = err_set(err, ERR_INVALID,
                     "its only line names no category of the catalogue: expected two columns, what "
                     "the feed says and a category's id");
    return rc;
}

int category_rules_read(struct bytes content, const struct catalog *catalog, struct arena *arena,
                        struct category_rules *rules, struct err *err)
{
    struct reading reading = {.catalog = catalog, .arena = arena, .rules = rules};
    size_t line_count = 1;
    int rc;

    *rules = (struct category_rules){0};
    if (content.size && !text_is_utf8(content))
        return err_set(err, ERR_INVALID, "it is not UTF-8");
    if (bytes_begin(content, bytes_of("\xef\xbb\xbf")))
        content = bytes_skip(content, 3);
    for (size_t i = 0; i < content.size; i++)
        line_count += content.data[i] == '\n';
    rules->list = arena_array(arena, line_count, sizeof(*rules->list));
    feed_attributes_init(&reading.attributes, 0);
    rc = read_lines(&reading, content, err);
    feed_attributes_release(&reading.attributes);
    qsort(rules->list, rules->count, sizeof(*rules->list), compare_rules);
    return rc;
}

const struct category_rule *category_rules_find(const struct category_rules *rules,
                                                struct bytes text, struct arena *scratch)
{
    const struct category_rule key = {.from = words_fold(text, scratch)};

    if (!*key.from || !rules->count)
        return NULL;
    return bsearch(&key, rules->list, rules->count, sizeof(key), compare_rules);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* grammar.c - see grammar.h. The file is ours and comes with the program: it is read strictly. */
#include "demo/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "demo/bounds.h"

enum section {
    SECTION_NONE,
    SECTION_WORDS,
    SECTION_LIST,
    SECTION_CITIES,
    SECTION_SHOPS,
    SECTION_KIND
};

struct reading {
    struct grammar *grammar;
    struct arena *arena;
    enum section section;
    struct word_table *table;
    struct phrase_list *list;
    struct kind *kind;
    unsigned line;
};

static int refuse(const struct reading *reading, const char *what, const char *text,
                  struct err *err)
{
    return err_set(err, ERR_INVALID, "demo/offers.grammar:%u: %s: %.80s", reading->line, what,
                   text);
}

/* --- pieces of a line --- */

/* Cuts the blanks at both ends; changes the text. */
static char *trim(char *text)
{
    size_t size;

    text += strspn(text, " \t");
    size = strlen(text);
    while (size && strchr(" \t\r", text[size - 1]))
        text[--size] = 0;
    return text;
}

/* The first word; *rest is what follows it. */
static char *take_word(char *text, char **rest)
{
    size_t size = strcspn(text, " ");

    *rest = text[size] ? trim(text + size + 1) : text + size;
    text[size] = 0;
    return text;
}

/* Splits at the sign and trims; ERR_INVALID unless there are min to max pieces. */
static int split(const struct reading *reading, char *text, char sign, char **pieces, size_t min,
                 size_t max, size_t *count, struct err *err)
{
    char *next = text;

    *count = 0;
    while (next) {
        char *end = strchr(next, sign);

        if (*count == max)
            return refuse(reading, "too many parts", next, err);
        if (end)
            *end = 0;
        pieces[(*count)++] = trim(next);
        next = end ? end + 1 : NULL;
    }
    if (*count < min)
        return refuse(reading, "too few parts", text, err);
    return 0;
}

static int parse_count(const struct reading *reading, const char *text, unsigned max,
                       unsigned *value, struct err *err)
{
    uint64_t number;

    if (!text_to_u64(bytes_of(text), &number) || number > max)
        return refuse(reading, "expected a number within its limit", text, err);
    *value = (unsigned)number;
    return 0;
}

/* One more place in an array of the arena. */
static void *grow(struct reading *reading, void *array, size_t count, size_t size)
{
    void *larger;

    if (count & (count - 1)) /* there is room up to the next power of two */
        return array;
    larger = arena_array(reading->arena, count ? count * 2 : 1, size);
    if (count)
        memcpy(larger, array, count * size);
    return larger;
}

/* "name.ru": the name and the language. */
static bool split_name(char *text, enum language *language)
{
    char *dot = strrchr(text, '.');

    if (!dot || (strcmp(dot, ".ru") != 0 && strcmp(dot, ".en") != 0))
        return false;
    *language = dot[1] == 'r' ? LANGUAGE_RU : LANGUAGE_EN;
    *dot = 0;
    return true;
}

/* --- lists and words --- */

static struct phrase_list *find_list(struct phrase_list *first, struct bytes name,
                                     enum language language)
{
    for (; first; first = first->next) {
        if (first->language == language && bytes_equal_text(name, first->name))
            return first;
    }
    return NULL;
}

static struct phrase_list *open_list(struct reading *reading, struct phrase_list **first,
                                     const char *name, enum language language)
{
    struct phrase_list *list = find_list(*first, bytes_of(name), language);

    if (list)
        return list;
    list = arena_zero(reading->arena, sizeof(*list));
    list->name = name;
    list->language = language;
    list->next = *first;
    *first = list;
    return list;
}

static void add_phrase(struct reading *reading, struct phrase_list *list, const char *text)
{
    list->phrases = grow(reading, list->phrases, list->count, sizeof(*list->phrases));
    list->phrases[list->count++] = text;
}

static int add_word(struct reading *reading, char *line, struct err *err)
{
    struct word_table *table = reading->table;
    char *pieces[3];
    size_t count;
    int rc = split(reading, line, '|', pieces, 3, 3, &count, err);

    if (rc)
        return rc;
    table->words = grow(reading, table->words, table->count, sizeof(*table->words));
    table->words[table->count++] =
        (struct word){.id = pieces[0], .forms = pieces[1], .english = pieces[2]};
    return 0;
}

/* --- cities and shops --- */

static int read_places(struct reading *reading, struct city *city, char *texts[LANGUAGE_COUNT],
                       struct err *err)
{
    size_t counts[LANGUAGE_COUNT];

    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        char *pieces[DEMO_PLACE_COUNT_MAX];
        int rc = split(reading, texts[i], ';', pieces, 1, DEMO_PLACE_COUNT_MAX, &counts[i], err);

        if (rc)
            return rc;
        city->places[i] = arena_array(reading->arena, counts[i], sizeof(char *));
        for (size_t k = 0; k < counts[i]; k++)
            city->places[i][k] = pieces[k];
    }
    if (counts[0] != counts[1])
        return refuse(reading, "places differ in number by language", city->name[0], err);
    city->place_count = counts[0];
    return 0;
}

static int add_city(struct reading *reading, char *line, struct err *err)
{
    struct grammar *grammar = reading->grammar;
    struct city city = {.weight = 0};
    char *pieces[6];
    size_t count;
    char *end;
    int rc = split(reading, line, '|', pieces, 6, 6, &count, err);

    if (!rc)
        rc = parse_count(reading, pieces[3], DEMO_WEIGHT_MAX, &city.weight, err);
    if (rc)
        return rc;
    city.name[LANGUAGE_RU] = pieces[0];
    city.name[LANGUAGE_EN] = pieces[1];
    city.latitude = strtod(pieces[2], &end);
    city.longitude = strtod(end, &end);
    if (*end)
        return refuse(reading, "expected latitude and longitude", pieces[2], err);
    rc = read_places(reading, &city, pieces + 4, err);
    if (rc)
        return rc;
    grammar->cities = grow(reading, grammar->cities, grammar->city_count, sizeof(city));
    grammar->cities[grammar->city_count++] = city;
    grammar->city_weight += city.weight;
    return 0;
}

static int add_shop(struct reading *reading, char *line, struct err *err)
{
    struct grammar *grammar = reading->grammar;
    struct shop *shop;
    char *pieces[4];
    size_t count;
    int rc = split(reading, line, '|', pieces, 4, 4, &count, err);

    if (rc)
        return rc;
    shop = arena_zero(reading->arena, sizeof(*shop));
    *shop = (struct shop){.id = pieces[0],
                          .name = {pieces[1], pieces[2]},
                          .kinds = pieces[3],
                          .next = grammar->shops};
    grammar->shops = shop;
    grammar->shop_count++;
    return 0;
}

/* --- kinds --- */

static int add_row(struct reading *reading, char *text, struct err *err)
{
    struct kind *kind = reading->kind;
    char *pieces[DEMO_COLUMN_COUNT_MAX];
    struct row row;
    size_t count;
    int rc = split(reading, text, '|', pieces, kind->column_count, kind->column_count, &count, err);

    if (rc)
        return rc;
    row.values = arena_array(reading->arena, count, sizeof(char *));
    for (size_t i = 0; i < count; i++)
        row.values[i] = pieces[i];
    kind->rows = grow(reading, kind->rows, kind->row_count, sizeof(row));
    kind->rows[kind->row_count++] = row;
    return 0;
}

static int set_columns(struct reading *reading, char *text, struct err *err)
{
    struct kind *kind = reading->kind;
    char *pieces[DEMO_COLUMN_COUNT_MAX];
    size_t count;
    int rc = split(reading, text, ' ', pieces, 1, DEMO_COLUMN_COUNT_MAX, &count, err);

    if (rc)
        return rc;
    kind->columns = arena_array(reading->arena, count, sizeof(char *));
    for (size_t i = 0; i < count; i++)
        kind->columns[i] = pieces[i];
    kind->column_count = count;
    return 0;
}

/* "NAME = TEXT", "= TEXT", "NAME TEXT" or "TEXT", as the rule has it. */
static int add_rule(struct reading *reading, enum rule_type type, char *text, struct err *err)
{
    struct kind *kind = reading->kind;
    struct rule rule = {.type = type, .name = "", .line = reading->line};
    bool named = type != RULE_CONDITION && type != RULE_PRICE;

    if (named)
        rule.name = take_word(text, &text);
    if (type != RULE_PICK && type != RULE_CONDITION) {
        if (*text != '=')
            return refuse(reading, "expected =", text, err);
        text = trim(text + 1);
    }
    rule.text = text;
    kind->rules = grow(reading, kind->rules, kind->rule_count, sizeof(rule));
    kind->rules[kind->rule_count++] = rule;
    return 0;
}

static int read_kind_line(struct reading *reading, char *line, struct err *err)
{
    static const struct {
        const char *word;
        enum rule_type type;
    } rules[] = {{"pick", RULE_PICK},      {"num", RULE_NUM},     {"let", RULE_LET},
                 {"attr", RULE_ATTRIBUTE}, {"price", RULE_PRICE}, {"condition", RULE_CONDITION}};
    struct kind *kind = reading->kind;
    enum language language;
    char *rest;
    char *word = take_word(line, &rest);

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(word, rules[i].word) == 0)
            return add_rule(reading, rules[i].type, rest, err);
    }
    if (strcmp(word, "row") == 0)
        return add_row(reading, rest, err);
    if (strcmp(word, "columns") == 0)
        return set_columns(reading, rest, err);
    if (strcmp(word, "weight") == 0)
        return parse_count(reading, rest, DEMO_WEIGHT_MAX, &kind->weight, err);
    if (strcmp(word, "shops") == 0)
        return parse_count(reading, rest, 100, &kind->shop_percent, err);
    if (strcmp(word, "english") == 0)
        return parse_count(reading, rest, 100, &kind->english_percent, err);
    if (strcmp(word, "category") == 0)
        kind->category = rest;
    else if (strcmp(word, "picture") == 0)
        kind->picture = rest;
    else if (split_name(word, &language))
        add_phrase(reading, open_list(reading, &kind->lists, word, language), rest);
    else
        return refuse(reading, "a line of a kind that is not known", word, err);
    return 0;
}

static void open_kind(struct reading *reading, const char *name)
{
    struct grammar *grammar = reading->grammar;
    struct kind *kind = arena_zero(reading->arena, sizeof(*kind));

    *kind = (struct kind){.name = name, .shop_percent = 20, .english_percent = 15, .weight = 10};
    grammar->kinds = grow(reading, grammar->kinds, grammar->kind_count, sizeof(kind));
    grammar->kinds[grammar->kind_count++] = kind;
    reading->kind = kind;
}

static int open_section(struct reading *reading, char *line, struct err *err)
{
    struct grammar *grammar = reading->grammar;
    enum language language;
    char *name;
    char *word = take_word(line, &name);

    if (strcmp(word, "words") == 0) {
        reading->section = SECTION_WORDS;
        reading->table = arena_zero(reading->arena, sizeof(*reading->table));
        reading->table->name = name;
        reading->table->next = grammar->tables;
        grammar->tables = reading->table;
    } else if (strcmp(word, "list") == 0 && split_name(name, &language)) {
        reading->section = SECTION_LIST;
        reading->list = open_list(reading, &grammar->lists, name, language);
    } else if (strcmp(word, "cities") == 0) {
        reading->section = SECTION_CITIES;
    } else if (strcmp(word, "shops") == 0) {
        reading->section = SECTION_SHOPS;
    } else if (strcmp(word, "kind") == 0) {
        reading->section = SECTION_KIND;
        open_kind(reading, name);
    } else {
        return refuse(reading, "a section that is not known", word, err);
    }
    return 0;
}

static int read_line(struct reading *reading, char *line, struct err *err)
{
    line = trim(line);
    if (!*line || *line == '#')
        return 0;
    if (*line == '@')
        return open_section(reading, line + 1, err);
    switch (reading->section) {
    case SECTION_WORDS:
        return add_word(reading, line, err);
    case SECTION_LIST:
        add_phrase(reading, reading->list, line);
        return 0;
    case SECTION_CITIES:
        return add_city(reading, line, err);
    case SECTION_SHOPS:
        return add_shop(reading, line, err);
    case SECTION_KIND:
        return read_kind_line(reading, line, err);
    default:
        return refuse(reading, "a line before the first section", line, err);
    }
}

/* --- the whole --- */

static bool has_word(const char *words, const char *word)
{
    size_t size = strlen(word);

    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word)) {
        if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' '))
            return true;
    }
    return false;
}

static void find_shops(struct reading *reading, struct kind *kind)
{
    kind->shops = arena_array(reading->arena, reading->grammar->shop_count + 1, sizeof(void *));
    for (const struct shop *shop = reading->grammar->shops; shop; shop = shop->next) {
        if (has_word(shop->kinds, kind->name))
            kind->shops[kind->shop_count++] = shop;
    }
}

static int finish(struct reading *reading, struct err *err)
{
    struct grammar *grammar = reading->grammar;

    for (size_t i = 0; i < grammar->kind_count; i++) {
        struct kind *kind = grammar->kinds[i];

        if (!kind->category || !kind->picture || !kind->weight || !kind->row_count)
            return err_set(
                err, ERR_INVALID,
                "demo/offers.grammar: kind %s lacks a category, a picture, its weight or "
                "rows",
                kind->name);
        find_shops(reading, kind);
        grammar->kind_weight += kind->weight;
    }
    if (!grammar->kind_count || !grammar->city_weight)
        return err_set(err, ERR_INVALID, "demo/offers.grammar has no kinds or no cities");
    return 0;
}

int grammar_read(struct bytes text, struct arena *arena, struct grammar **grammar, struct err *err)
{
    struct reading reading = {.arena = arena};
    char *next = arena_text(arena, text);
    int rc = 0;

    reading.grammar = arena_zero(arena, sizeof(*reading.grammar));
    while (next && !rc) {
        char *end = strchr(next, '\n');

        if (end)
            *end = 0;
        reading.line++;
        rc = read_line(&reading, next, err);
        next = end ? end + 1 : NULL;
    }
    if (!rc)
        rc = finish(&reading, err);
    *grammar = rc ? NULL : reading.grammar;
    return rc;
}

const struct phrase_list *grammar_list(const struct grammar *grammar, const struct kind *kind,
                                       struct bytes name, enum language language)
{
    const struct phrase_list *own = kind ? find_list(kind->lists, name, language) : NULL;

    return own ? own : find_list(grammar->lists, name, language);
}

const struct word *grammar_word(const struct grammar *grammar, struct bytes table, const char *id)
{
    for (const struct word_table *one = grammar->tables; one; one = one->next) {
        if (!bytes_equal_text(table, one->name))
            continue;
        for (size_t i = 0; i < one->count; i++) {
            if (strcmp(one->words[i].id, id) == 0)
                return &one->words[i];
        }
    }
    return NULL;
}

const struct kind *grammar_kind(const struct grammar *grammar, const char *name)
{
    for (size_t i = 0; i < grammar->kind_count; i++) {
        if (strcmp(grammar->kinds[i]->name, name) == 0)
            return grammar->kinds[i];
    }
    return NULL;
}

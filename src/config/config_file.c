/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file.c - the file: [section], key = value, # comments; the look of TOML.
 *
 * inih reads each line by itself, under the section it stands in: that way every bad line is
 * found, not only the first, and each with its number. What it gives as the value is then taken
 * apart here: "quoted" with \" and \\, 'literal', or bare up to a comment.
 */
#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/bounds.h"
#include "config/config.h"
#include "config/config_set.h"

enum { SECTION_SIZE = 50 }; /* inih cuts longer names, which are unknown in any case */

struct reader {
    struct config *config;
    struct violations *problems;
    unsigned line;
    bool skipping; /* in a section that is unknown, which was told once */
    char section[SECTION_SIZE];
    unsigned set_at[SETTING_COUNT]; /* the line that set it; 0 = none */
};

/* What inih found on a line; pointers into the arena. */
struct pair {
    struct arena *arena;
    const char *section;
    const char *name;
    const char *value;
};

static int keep_pair(void *arg, const char *section, const char *name, const char *value)
{
    struct pair *pair = arg;

    pair->section = arena_strdup(pair->arena, section);
    pair->name = arena_strdup(pair->arena, name);
    pair->value = arena_strdup(pair->arena, value);
    return 1;
}

static void __attribute__((format(printf, 2, 3)))
complain(struct reader *reader, const char *format, ...)
{
    struct arena *arena = reader->config->arena;
    const char *file = reader->config->file ? reader->config->file : "config";
    va_list args;
    const char *text;

    va_start(args, format);
    text = arena_vprintf(arena, format, args);
    va_end(args);
    violations_add(reader->problems, arena_printf(arena, "%s:%u", file, reader->line), "%s", text);
}

static bool only_comment(const char *rest)
{
    rest += strspn(rest, " \t");
    return !*rest || *rest == '#' || *rest == ';';
}

/* Takes the quotes and the comment off, in place; NULL and a complaint when it is malformed. */
static const char *quoted_value(struct reader *reader, char *text)
{
    char quote = *text;
    char *out = text;
    char *at = text + 1;

    for (; *at && *at != quote; at++) {
        if (*at == '\\' && quote == '"') {
            at++;
            if (*at != '"' && *at != '\\') {
                complain(reader, "in a \"quoted\" value \\ goes before \" or \\ only; "
                                 "'single quotes' take it as it is");
                return NULL;
            }
        }
        *out++ = *at;
    }
    if (!*at) {
        complain(reader, "the quoted value has no closing %c", quote);
        return NULL;
    }
    if (!only_comment(at + 1)) {
        complain(reader, "nothing but a # comment may follow the quoted value");
        return NULL;
    }
    *out = 0;
    return text;
}

static const char *bare_value(char *text)
{
    for (char *at = text; *at; at++) {
        if ((*at == '#' || *at == ';') && (at == text || at[-1] == ' ' || at[-1] == '\t')) {
            *at = 0;
            break;
        }
    }
    for (size_t size = strlen(text); size && strchr(" \t", text[size - 1]); size--)
        text[size - 1] = 0;
    return text;
}

static void read_section(struct reader *reader, const char *line)
{
    struct pair pair = {.arena = reader->config->arena};
    const char *close = strchr(line, ']');
    char nearest[SETTING_VARIABLE_SIZE];

    /* The probe is the only pair: its section is the header's. */
    ini_parse_string(arena_printf(pair.arena, "%s\nprobe = 1\n", line), keep_pair, &pair);
    reader->skipping = true;
    if (!close || !pair.section || !only_comment(close + 1)) {
        complain(reader, "expected a [section] on a line of its own");
        return;
    }
    if (setting_section_exists(pair.section)) {
        snprintf(reader->section, sizeof(reader->section), "%s", pair.section);
        reader->skipping = false;
    } else if (setting_nearest_section(pair.section, nearest)) {
        complain(reader, "unknown section [%s]; did you mean [%s]?", pair.section, nearest);
    } else {
        complain(reader, "unknown section [%s]; torg config dump lists them", pair.section);
    }
}

static void set_pair(struct reader *reader, const char *name, const char *raw)
{
    struct config *config = reader->config;
    char *copy = arena_strdup(config->arena, raw);
    const char *text =
        *copy == '"' || *copy == '\'' ? quoted_value(reader, copy) : bare_value(copy);
    const char *full = arena_printf(config->arena, "%s.%s", reader->section, name);
    int id = setting_find(full);
    const char *nearest = id < 0 ? setting_nearest(full) : NULL;

    if (id < 0 && nearest) {
        complain(reader, "unknown setting %s; did you mean %s?", full, nearest);
    } else if (id < 0) {
        complain(reader, "unknown setting %s; torg config dump lists those there are", full);
    } else if (reader->set_at[id]) {
        complain(reader, "%s is set twice, first on line %u", full, reader->set_at[id]);
    } else if (text) {
        reader->set_at[id] = reader->line;
        config_set(config, id, text, CONFIG_FILE,
                   arena_printf(config->arena, "%s:%u", config->file ? config->file : "config",
                                reader->line),
                   reader->problems);
        if (config->values[id].origin == CONFIG_FILE)
            config->values[id].line = reader->line;
    }
}

static void read_pair(struct reader *reader, const char *line)
{
    struct pair pair = {.arena = reader->config->arena};
    int bad;

    if (reader->skipping)
        return;
    bad = ini_parse_string(arena_printf(pair.arena, "[%s]\n%s\n", reader->section, line), keep_pair,
                           &pair);
    if (bad || !pair.name || !*pair.name)
        complain(reader, "expected key = value, [section] or a # comment");
    else if (!*reader->section)
        complain(reader, "%s stands before the first [section]", pair.name);
    else
        set_pair(reader, pair.name, pair.value);
}

static void read_line(struct reader *reader, struct bytes raw)
{
    const char *line;

    if (raw.size && raw.data[raw.size - 1] == '\r')
        raw.size--;
    if (raw.size > CONFIG_LINE_SIZE_MAX) {
        complain(reader, "the line is longer than %d bytes", CONFIG_LINE_SIZE_MAX);
        return;
    }
    if (!text_is_utf8(raw) || memchr(raw.data ? raw.data : (const uint8_t *)"", 0, raw.size)) {
        complain(reader, "the line is not UTF-8 text");
        return;
    }
    line = arena_text(reader->config->arena, raw);
    line += strspn(line, " \t");
    if (!*line || *line == '#' || *line == ';')
        return;
    if (*line == '[')
        read_section(reader, line);
    else
        read_pair(reader, line);
}

void config_parse(struct config *config, struct bytes content, struct violations *problems)
{
    static const struct bytes mark = BYTES_LITERAL("\xEF\xBB\xBF"); /* some editors' first bytes */
    struct reader reader = {.config = config, .problems = problems};

    /* inih's own settings are global; its reader is used here and before threads start only. */
    ini_allow_inline_comments = false; /* it would cut "a ;b" */
    ini_use_stack = false;
    ini_max_line = CONFIG_LINE_SIZE_MAX + SECTION_SIZE;
    ini_initial_alloc = ini_max_line;
    if (bytes_begin(content, mark))
        content = bytes_skip(content, mark.size);
    while (content.size) {
        const uint8_t *end = memchr(content.data, '\n', content.size);
        size_t size = end ? (size_t)(end - content.data) : content.size;

        reader.line++;
        read_line(&reader, bytes_make(content.data, size));
        content = bytes_skip(content, end ? size + 1 : size);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - see help.h; the text form. */
#include "roles/commands/help.h"

#include <string.h>

enum { LINE_WIDTH = 88, NAME_WIDTH = 16, OPTION_WIDTH = 26 };

/* Breaks text at blanks; lines after the first begin with indent blanks. */
static void put_wrapped(struct buf *out, const char *text, size_t column, size_t indent)
{
    while (*text) {
        size_t word = strcspn(text, " ");

        if (column > indent && column + 1 + word > LINE_WIDTH) {
            buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            buf_put_byte(out, ' ');
            column++;
        }
        buf_put_raw(out, text, word);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    buf_put_byte(out, '\n');
}

void help_usage(const struct command *command, struct buf *out)
{
    bool options = command->options || command->flags & (COMMAND_SETTINGS | COMMAND_JSON);

    buf_printf(out, "torg %s%s%s%s", command->name, *command->arguments ? " " : "",
               command->arguments, options ? " [OPTION…]" : "");
}

static void put_line(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "  %-*s ", NAME_WIDTH, name);
    put_wrapped(out, text, NAME_WIDTH + 3, NAME_WIDTH + 3);
}

static void put_option(struct buf *out, const char *name, const char *value, const char *text)
{
    size_t start = out->size;
    size_t width;

    buf_printf(out, "  --%s%s%s", name, value ? "=" : "", value ? value : "");
    width = out->size - start;
    if (width + 1 > OPTION_WIDTH)
        buf_printf(out, "\n%*s", OPTION_WIDTH, "");
    else
        buf_printf(out, "%*s", (int)(OPTION_WIDTH - width), "");
    put_wrapped(out, text, OPTION_WIDTH, OPTION_WIDTH);
}

static void put_exit_codes(struct buf *out)
{
    buf_put_text(out, "\nexit codes:\n");
    for (int code = 0; code < EXIT_CODE_COUNT; code++)
        buf_printf(out, "  %d  %s\n", code, exit_code_help[code]);
}

void help_all(struct buf *out)
{
    buf_put_text(out, "torg " TORG_VERSION " - the backend of a classifieds site in one program\n\n"
                      "usage: torg COMMAND [OPTION…]\n\n");
    for (size_t i = 0; i < command_count; i++)
        put_line(out, command_table[i].name, command_table[i].summary);
    put_exit_codes(out);
    buf_put_text(out, "\nexample:\n  torg up\n\ntorg help COMMAND explains one of them.\n");
}

void help_group(const char *word, struct buf *out)
{
    size_t size = strlen(word);
    const char *example = NULL;

    buf_printf(out, "usage: torg %s COMMAND [OPTION…]\n\n", word);
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];

        if (strncmp(command->name, word, size) != 0 || command->name[size] != ' ')
            continue;
        put_line(out, command->name, command->summary);
        if (!example)
            example = command->example;
    }
    if (example)
        buf_printf(out, "\nexample:\n  %.*s\n", (int)strcspn(example, "\n"), example);
}

static void put_settings(struct buf *out)
{
    put_option(out, "config", "FILE",
               "Settings file (default: $TORG_CONFIG, or torg.toml if it is there).");
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (setting_table[id].flag)
            put_option(out, setting_table[id].flag, "VALUE", setting_table[id].help);
    }
    put_option(out, "SECTION.KEY", "VALUE", "Any setting; torg config dump lists them.");
}

static void put_list(const struct command *command, struct buf *out)
{
    const char *name;
    const char *text;

    if (!command->list)
        return;
    buf_printf(out, "\n%s:\n", command->list_title);
    for (size_t i = 0; command->list(i, &name, &text); i++)
        put_line(out, name, text);
}

void help_command(const struct command *command, struct buf *out)
{
    const struct command_option *option = command->options;

    buf_put_text(out, "usage: ");
    help_usage(command, out);
    buf_printf(out, "\n\ntorg %s: %s.\n", command->name, command->summary);
    if (*command->details) {
        buf_put_byte(out, '\n');
        put_wrapped(out, command->details, 0, 0);
    }
    buf_put_text(out, "\noptions:\n");
    for (; option && option->name; option++)
        put_option(out, option->name, option->value, option->help);
    if (command->flags & COMMAND_SETTINGS)
        put_settings(out);
    if (command->flags & COMMAND_JSON)
        put_option(out, "json", NULL, "Print the result as JSON.");
    put_option(out, "help", NULL, "Print this.");
    put_list(command, out);
    put_exit_codes(out);
    buf_put_text(out, "\nexample:\n");
    for (const char *line = command->example; *line;) {
        size_t size = strcspn(line, "\n");

        buf_printf(out, "  %.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
    }
}

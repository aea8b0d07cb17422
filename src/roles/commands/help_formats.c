/* SPDX-License-Identifier: Apache-2.0 */
/* help_formats.c - see help.h; the man page and the completion of shells. */
#include <string.h>

#include "roles/commands/help.h"

/* --- man --- */

/* Text of a man page: a dash stays a dash, a line never begins with a control character. */
static void put_roff(struct buf *out, const char *text)
{
    bool starts_line = true;

    for (; *text; text++) {
        if (starts_line && (*text == '.' || *text == '\''))
            buf_put_text(out, "\\&");
        starts_line = *text == '\n';
        if (*text == '-')
            buf_put_text(out, "\\-");
        else if (*text == '\\')
            buf_put_text(out, "\\e");
        else if (strncmp(text, "…", strlen("…")) == 0) {
            buf_put_text(out, "\\&...");
            text += strlen("…") - 1;
        } else
            buf_put_byte(out, (uint8_t)*text);
    }
}

static void put_roff_option(struct buf *out, const char *name, const char *value, const char *text)
{
    buf_put_text(out, ".TP\n\\fB\\-\\-");
    put_roff(out, name);
    buf_printf(out, "\\fR%s\\fI%s\\fR\n", value ? "=" : "", value ? value : "");
    put_roff(out, text);
    buf_put_byte(out, '\n');
}

static void put_roff_list(struct buf *out, const struct command *command)
{
    const char *name;
    const char *text;

    if (!command->list)
        return;
    buf_printf(out, ".PP\nThe %s:\n", command->list_title);
    for (size_t i = 0; command->list(i, &name, &text); i++) {
        buf_put_text(out, ".TP\n\\fB");
        put_roff(out, name);
        buf_put_text(out, "\\fR\n");
        put_roff(out, text);
        buf_put_byte(out, '\n');
    }
}

static void put_roff_command(struct buf *out, const struct command *command)
{
    const struct command_option *option = command->options;
    struct buf usage = BUF_INIT(1024);

    help_usage(command, &usage);
    buf_put_text(out, ".SS ");
    put_roff(out, buf_text(&usage));
    buf_put_byte(out, '\n');
    buf_release(&usage);
    put_roff(out, command->summary);
    buf_put_text(out, ".\n");
    if (*command->details) {
        buf_put_text(out, ".PP\n");
        put_roff(out, command->details);
        buf_put_byte(out, '\n');
    }
    for (; option && option->name; option++)
        put_roff_option(out, option->name, option->value, option->help);
    put_roff_list(out, command);
    buf_put_text(out, ".PP\nExample:\n.PP\n.nf\n.RS\n");
    put_roff(out, command->example);
    buf_put_text(out, "\n.RE\n.fi\n");
}

static void put_roff_settings(struct buf *out)
{
    buf_put_text(out, ".SH SETTINGS\n"
                      "Each can be set in the file as key = value under its [section], in the "
                      "environment as TORG_SECTION_KEY, and on the command line. A flag beats the "
                      "environment, which beats the file, which beats the default.\n");
    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &setting_table[id];
        struct buf form = BUF_INIT(1024);

        buf_put_text(out, ".TP\n\\fB\\-\\-");
        put_roff(out, setting->name);
        buf_put_text(out, "\\fR");
        if (setting->flag) {
            buf_put_text(out, ", \\fB\\-\\-");
            put_roff(out, setting->flag);
            buf_put_text(out, "\\fR");
        }
        buf_put_byte(out, '\n');
        put_roff(out, setting->help);
        buf_put_text(out, " Takes ");
        setting_describe(setting, &form);
        put_roff(out, buf_text(&form));
        buf_release(&form);
        if (*setting->default_text) {
            buf_put_text(out, "; default ");
            put_roff(out, setting->default_text);
        }
        buf_put_text(out, ".\n");
    }
}

void help_man(struct buf *out)
{
    buf_put_text(out, ".\\\" Written by `torg help --format man`; a test compares them.\n"
                      ".TH TORG 1 \"\" \"torg " TORG_VERSION "\" \"User commands\"\n"
                      ".SH NAME\ntorg \\- the backend of a classifieds site in one program\n"
                      ".SH SYNOPSIS\n\\fBtorg\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n"
                      ".SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++)
        put_roff_command(out, &command_table[i]);
    buf_put_text(out, ".SH OPTIONS\n");
    put_roff_option(out, "help", NULL, "Explain the command.");
    put_roff_option(out, "json", NULL,
                    "Print the result as JSON. Every command that prints results takes it.");
    put_roff_option(out, "config", "FILE",
                    "The file of settings. Default: $TORG_CONFIG, or torg.toml in the working "
                    "directory if it is there.");
    put_roff_settings(out);
    buf_put_text(out, ".SH EXIT STATUS\n");
    for (int code = 0; code < EXIT_CODE_COUNT; code++)
        buf_printf(out, ".TP\n%d\n%s\n", code, exit_code_help[code]);
    buf_put_text(out, ".SH FILES\n.TP\ntorg.toml\nSettings.\n.TP\ntorg\\-data/\n"
                      "The data directory: tables, topics, files, a lock; while a server runs, "
                      "server.url and operator.key, by which local commands find it.\n");
}

/* --- bash --- */

static size_t first_word(const char *name)
{
    return strcspn(name, " ");
}

/* Whether the command is the first of the table that begins with its word. */
static bool opens_group(size_t place)
{
    const char *name = command_table[place].name;
    size_t size = first_word(name);

    return !place || strncmp(command_table[place - 1].name, name, size) != 0 ||
           first_word(command_table[place - 1].name) != size;
}

static void put_second_words(struct buf *out, const char *group)
{
    size_t size = first_word(group);

    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        if (first_word(name) == size && strncmp(name, group, size) == 0)
            buf_put_text(out, name + size);
    }
}

static void put_options(struct buf *out, const struct command *command)
{
    const struct command_option *option = command->options;

    buf_put_text(out, "--help");
    if (command->flags & COMMAND_JSON)
        buf_put_text(out, " --json");
    for (; option && option->name; option++)
        buf_printf(out, " --%s", option->name);
    if (command->flags & COMMAND_SETTINGS)
        buf_put_text(out, " --config $settings");
}

static void put_setting_flags(struct buf *out)
{
    buf_put_text(out, "    local settings=\"");
    for (int id = 0; id < SETTING_COUNT; id++) {
        buf_printf(out, "%s--%s=", id ? " " : "", setting_table[id].name);
        if (setting_table[id].flag)
            buf_printf(out, " --%s=", setting_table[id].flag);
    }
    buf_put_text(out, "\"\n");
}

void help_bash(struct buf *out)
{
    buf_put_text(out, "# bash completion of torg; written by `torg help --format bash`, and a test "
                      "compares them.\n"
                      "_torg() {\n"
                      "    local word=${COMP_WORDS[COMP_CWORD]} options=\"\"\n");
    put_setting_flags(out);
    buf_put_text(out, "    COMPREPLY=()\n"
                      "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
                      "        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < command_count; i++) {
        if (opens_group(i))
            buf_printf(out, " %.*s", (int)first_word(command_table[i].name), command_table[i].name);
    }
    buf_put_text(out, "\" -- \"$word\"))\n        return\n    fi\n"
                      "    if [ \"$COMP_CWORD\" = 2 ]; then\n"
                      "        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        if (!strchr(name, ' ') || !opens_group(i))
            continue;
        buf_printf(out, "        %.*s) COMPREPLY=($(compgen -W \"", (int)first_word(name), name);
        put_second_words(out, name);
        buf_put_text(out, "\" -- \"$word\")); return ;;\n");
    }
    buf_put_text(out, "        esac\n    fi\n"
                      "    case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        buf_printf(out, "    \"%s%s) options=\"", name, strchr(name, ' ') ? "\"" : " \"*");
        put_options(out, &command_table[i]);
        buf_put_text(out, "\" ;;\n");
    }
    buf_put_text(out, "    esac\n"
                      "    case $word in\n"
                      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                      "        case ${COMPREPLY[0]} in *=) compopt -o nospace ;; esac ;;\n"
                      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                      "    esac\n}\n"
                      "complete -F _torg torg\n");
}

/* --- zsh --- */

void help_zsh(struct buf *out)
{
    buf_put_text(out, "#compdef torg\n"
                      "# zsh completion of torg; written by `torg completion zsh`.\n"
                      "_torg() {\n    local -a settings options\n    settings=(");
    for (int id = 0; id < SETTING_COUNT; id++) {
        buf_printf(out, "%s--%s=", id ? " " : "", setting_table[id].name);
        if (setting_table[id].flag)
            buf_printf(out, " --%s=", setting_table[id].flag);
    }
    buf_put_text(out, ")\n    if (( CURRENT == 2 )); then\n        compadd --");
    for (size_t i = 0; i < command_count; i++) {
        if (opens_group(i))
            buf_printf(out, " %.*s", (int)first_word(command_table[i].name), command_table[i].name);
    }
    buf_put_text(out, "\n        return\n    fi\n"
                      "    if (( CURRENT == 3 )); then\n        case $words[2] in\n");
    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        if (!strchr(name, ' ') || !opens_group(i))
            continue;
        buf_printf(out, "        %.*s) compadd --", (int)first_word(name), name);
        put_second_words(out, name);
        buf_put_text(out, "; return ;;\n");
    }
    buf_put_text(out, "        esac\n    fi\n    case \"$words[2] $words[3]\" in\n");
    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        buf_printf(out, "    \"%s%s) options=(", name, strchr(name, ' ') ? "\"" : " \"*");
        put_options(out, &command_table[i]);
        buf_put_text(out, ") ;;\n");
    }
    buf_put_text(out, "    esac\n"
                      "    if [[ $PREFIX == -* ]]; then\n"
                      "        compadd -S '' -- ${(M)options:#*=}\n"
                      "        compadd -- ${options:#*=}\n"
                      "    else\n        _files\n    fi\n}\n"
                      "compdef _torg torg\n");
}

/* --- fish --- */

/* In single quotes. */
static void put_fish_text(struct buf *out, const char *text)
{
    buf_put_byte(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_put_byte(out, '\\');
        buf_put_byte(out, *text == '\n' ? ' ' : (uint8_t)*text);
    }
    buf_put_byte(out, '\'');
}

/* Where the command's own options are offered. */
static void put_fish_place(struct buf *out, const char *name)
{
    size_t size = first_word(name);

    buf_printf(out, "complete -c torg -n '__fish_seen_subcommand_from %.*s", (int)size, name);
    if (name[size])
        buf_printf(out, "; and __fish_seen_subcommand_from%s", name + size);
    buf_put_byte(out, '\'');
}

static void put_fish_option(struct buf *out, const char *command, const char *name, bool has_value,
                            const char *help)
{
    put_fish_place(out, command);
    buf_printf(out, " -l %s%s -d ", name, has_value ? " -r" : "");
    put_fish_text(out, help);
    buf_put_byte(out, '\n');
}

static void put_fish_command(struct buf *out, size_t place)
{
    const struct command *command = &command_table[place];
    const struct command_option *option = command->options;
    size_t size = first_word(command->name);

    if (command->name[size]) {
        buf_printf(out,
                   "complete -c torg -n '__fish_seen_subcommand_from %.*s; and not "
                   "__fish_seen_subcommand_from",
                   (int)size, command->name);
        put_second_words(out, command->name);
        buf_printf(out, "' -a%s -d ", command->name + size);
    } else {
        buf_printf(out, "complete -c torg -n __fish_use_subcommand -a %s -d ", command->name);
    }
    put_fish_text(out, command->summary);
    buf_put_byte(out, '\n');
    put_fish_option(out, command->name, "help", false, "Explain the command.");
    if (command->flags & COMMAND_JSON)
        put_fish_option(out, command->name, "json", false, "Print the result as JSON.");
    for (; option && option->name; option++)
        put_fish_option(out, command->name, option->name, option->value != NULL, option->help);
    if (command->flags & COMMAND_SETTINGS)
        put_fish_option(out, command->name, "config", true, "The file of settings.");
}

void help_fish(struct buf *out)
{
    buf_put_text(out, "# fish completion of torg; written by `torg completion fish`.\n"
                      "complete -c torg -f\n");
    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        if (strchr(name, ' ') && opens_group(i))
            buf_printf(out, "complete -c torg -n __fish_use_subcommand -a %.*s\n",
                       (int)first_word(name), name);
        put_fish_command(out, i);
    }
    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &setting_table[id];

        buf_put_text(out, "complete -c torg -n 'not __fish_use_subcommand' -l ");
        buf_printf(out, "%s -r -d ", setting->flag ? setting->flag : setting->name);
        put_fish_text(out, setting->help);
        buf_put_byte(out, '\n');
    }
}

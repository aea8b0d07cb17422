/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "roles/commands/options.h"

#include <assert.h>
#include <string.h>

#include "base/object.h"
#include "config/nearest.h"

static const struct command_option *find_option(const struct command *command, const char *name)
{
    const struct command_option *option = command->options;

    for (; option && option->name; option++) {
        if (strcmp(option->name, name) == 0)
            return option;
    }
    return NULL;
}

static bool is_setting(const char *name)
{
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (setting_table[id].flag && strcmp(setting_table[id].flag, name) == 0)
            return true;
    }
    return setting_find(name) >= 0;
}

static int refuse_option(const struct command *command, const char *name, struct err *err)
{
    const struct command_option *option = command->options;
    struct nearest nearest = nearest_to(name);

    for (; option && option->name; option++)
        nearest_offer(&nearest, option->name);
    nearest_offer(&nearest, "help");
    if (command->flags & COMMAND_JSON)
        nearest_offer(&nearest, "json");
    for (int id = 0; command->flags & COMMAND_SETTINGS && id < SETTING_COUNT; id++) {
        nearest_offer(&nearest, "config");
        nearest_offer(&nearest, setting_table[id].name);
        if (setting_table[id].flag)
            nearest_offer(&nearest, setting_table[id].flag);
    }
    if (nearest.word)
        return err_set(err, ERR_INVALID, "torg %s has no option --%.64s; did you mean --%s?",
                       command->name, name, nearest.word);
    return err_set(err, ERR_INVALID, "torg %s has no option --%.64s; see torg help %s",
                   command->name, name, command->name);
}

static void keep_option(struct invocation *invocation, const char *name, const char *value)
{
    assert(invocation->option_count < ARGUMENT_COUNT_MAX);
    invocation->options[invocation->option_count++] =
        (struct given_option){.name = name, .value = value};
}

static void keep_setting(struct invocation *invocation, const char *name, const char *value)
{
    assert(invocation->setting_count < ARGUMENT_COUNT_MAX);
    invocation->settings[invocation->setting_count++] =
        (struct config_flag){.name = name, .value = value};
}

/* One option at words[*at], and its value, which may be the next word. */
static int parse_option(const char *const *words, size_t count, size_t *at,
                        struct invocation *invocation, struct err *err)
{
    const struct command *command = invocation->command;
    const char *word = words[*at] + 2;
    const char *equals = strchr(word, '=');
    const char *name =
        equals ? arena_text(invocation->arena, bytes_make(word, (size_t)(equals - word))) : word;
    const struct command_option *option = find_option(command, name);
    bool json = command->flags & COMMAND_JSON && strcmp(name, "json") == 0;
    bool settings = command->flags & COMMAND_SETTINGS;
    bool config = settings && strcmp(name, "config") == 0;
    bool setting = settings && is_setting(name);
    bool takes_value = config || setting || (option && option->value);
    const char *value = equals ? equals + 1 : NULL;

    if (!option && !json && !config && !setting)
        return refuse_option(command, name, err);
    if (!takes_value && value)
        return err_set(err, ERR_INVALID, "--%s takes no value", name);
    if (takes_value && !value) {
        if (*at + 1 >= count)
            return err_set(err, ERR_INVALID, "--%s needs a value", name);
        value = words[++*at];
    }
    if (json)
        invocation->json = true;
    else if (config)
        invocation->config_file = value;
    else if (setting)
        keep_setting(invocation, name, value);
    else
        keep_option(invocation, name, value ? value : "");
    return 0;
}

/* "plan, start, status": the second words of a group of commands. */
static const char *words_of(const char *group, struct arena *arena)
{
    size_t size = strlen(group);
    const char *list = "";

    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        if (strncmp(name, group, size) == 0 && name[size] == ' ')
            list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", name + size + 1);
    }
    return list;
}

static int refuse_command(const char *const *words, size_t count, struct arena *arena,
                          struct err *err)
{
    bool two = count > 1 && words[1][0] != '-' && command_is_group(words[0]);
    const char *typed = two ? arena_printf(arena, "%s %s", words[0], words[1]) : words[0];
    const char *meant = command_nearest(typed, arena);

    if (command_is_group(words[0]) && !two)
        return err_set(err, ERR_INVALID, "torg %s needs one more word: %s", words[0],
                       words_of(words[0], arena));
    if (meant)
        return err_set(err, ERR_INVALID, "unknown command %.64s; did you mean torg %s?", typed,
                       meant);
    if (two)
        return err_set(err, ERR_INVALID, "unknown command %.64s; torg %s takes one of %s", typed,
                       words[0], words_of(words[0], arena));
    if (words[0][0] == '-')
        return err_set(err, ERR_INVALID,
                       "the command comes first, then its options: torg COMMAND %.64s", typed);
    return err_set(err, ERR_INVALID, "unknown command %.64s; torg help lists them", typed);
}

static int check_arguments(const struct invocation *invocation, struct err *err)
{
    const struct command *command = invocation->command;

    if (invocation->argument_count < command->argument_min)
        return err_set(err, ERR_INVALID, "torg %s needs %s; see torg help %s", command->name,
                       command->arguments, command->name);
    if (invocation->argument_count > command->argument_max)
        return err_set(err, ERR_INVALID, "torg %s does not take \"%.64s\"; see torg help %s",
                       command->name, invocation->arguments[command->argument_max], command->name);
    return 0;
}

/* `torg --help key create`, `torg key --help`, `torg`: the same as `torg help …`. */
static bool wants_general_help(const char *const *words, size_t count)
{
    if (!count || strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0)
        return true;
    return count == 2 && command_is_group(words[0]) &&
           (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0);
}

int options_parse(const char *const *words, size_t count, struct arena *arena,
                  struct invocation *invocation, struct err *err)
{
    static const char *const help[] = {"help"};
    static const char *const version[] = {"version"};
    bool only_arguments = false;
    size_t used;
    int rc = 0;

    *invocation = (struct invocation){.magic = INVOCATION_MAGIC, .arena = arena};
    if (count > ARGUMENT_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "more than %d words on the command line",
                       ARGUMENT_COUNT_MAX);
    if (wants_general_help(words, count)) {
        invocation->command = command_find(help, 1, &used);
        if (count == 2 && command_is_group(words[0]))
            invocation->arguments[invocation->argument_count++] = words[0];
        return 0;
    }
    if (strcmp(words[0], "--version") == 0)
        words = version;
    invocation->command = command_find(words, count, &used);
    if (!invocation->command)
        return refuse_command(words, count, arena, err);
    for (size_t at = used; at < count && !rc; at++) {
        if (only_arguments || words[at][0] != '-' || !words[at][1]) {
            invocation->arguments[invocation->argument_count++] = words[at];
        } else if (strcmp(words[at], "--") == 0) {
            only_arguments = true;
        } else if (strcmp(words[at], "--help") == 0 || strcmp(words[at], "-h") == 0) {
            invocation->help = true;
            return 0;
        } else if (words[at][1] == '-') {
            rc = parse_option(words, count, &at, invocation, err);
        } else {
            rc = err_set(err, ERR_INVALID, "options begin with two dashes: %.64s", words[at]);
        }
    }
    return rc ? rc : check_arguments(invocation, err);
}

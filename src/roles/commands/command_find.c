/* SPDX-License-Identifier: Apache-2.0 */
/* command_find.c - finds a command by the words that were typed, and reports how it failed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/nearest.h"
#include "roles/commands/command.h"

const char *invocation_option(const struct invocation *invocation, const char *name)
{
    for (size_t i = invocation->option_count; i > 0; i--) {
        if (strcmp(invocation->options[i - 1].name, name) == 0)
            return invocation->options[i - 1].value;
    }
    return NULL;
}

/* How many of the words are this command's name; 0 = it is another. */
static size_t words_matching(const struct command *command, const char *const *words, size_t count)
{
    const char *blank = strchr(command->name, ' ');
    size_t first = blank ? (size_t)(blank - command->name) : strlen(command->name);

    if (!count || !bytes_equal_text(bytes_make(command->name, first), words[0]))
        return 0;
    if (!blank)
        return 1;
    return count > 1 && strcmp(blank + 1, words[1]) == 0 ? 2 : 0;
}

const struct command *command_find(const char *const *words, size_t count, size_t *used)
{
    for (size_t i = 0; i < command_count; i++) {
        *used = words_matching(&command_table[i], words, count);
        if (*used)
            return &command_table[i];
    }
    return NULL;
}

bool command_is_group(const char *word)
{
    size_t size = strlen(word);

    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        if (size && strncmp(name, word, size) == 0 && name[size] == ' ')
            return true;
    }
    return false;
}

const char *command_nearest(const char *words, struct arena *arena)
{
    struct nearest nearest = nearest_to(words);

    for (size_t i = 0; i < command_count; i++) {
        const char *name = command_table[i].name;

        nearest_offer(&nearest, name);
        nearest_offer(&nearest, arena_text(arena, bytes_make(name, strcspn(name, " "))));
    }
    return nearest.word;
}

void complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("torg: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

enum exit_code fail(const struct err *err)
{
    complain("%s", err->text);
    switch (err->code) {
    case ERR_INVALID:
        return EXIT_USAGE;
    case ERR_NOT_FOUND:
        return EXIT_NOT_FOUND;
    case ERR_UNAVAILABLE:
    case ERR_TIMEOUT:
        return EXIT_UNAVAILABLE;
    default:
        return EXIT_FAILED;
    }
}

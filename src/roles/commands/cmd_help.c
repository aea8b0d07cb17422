/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c - torg help, torg completion, torg version. */
#include <stdio.h>
#include <string.h>

#include "base/object.h"
#include "roles/commands/command.h"
#include "roles/commands/help.h"

enum { OUTPUT_SIZE_MAX = 256 << 10 };

/* The document named by --format; false when there is none of that name. */
static bool put_document(const char *format, struct buf *out)
{
    if (strcmp(format, "man") == 0)
        help_man(out);
    else if (strcmp(format, "bash") == 0)
        help_bash(out);
    else if (strcmp(format, "config") == 0)
        config_reference(out);
    else
        return false;
    return true;
}

static enum exit_code put_topic(const struct invocation *invocation, struct buf *out)
{
    const char *const *words = invocation->arguments;
    size_t count = invocation->argument_count;
    const struct command *command;
    const char *meant;
    size_t used;

    if (!count) {
        help_all(out);
        return EXIT_OK;
    }
    command = command_find(words, count, &used);
    if (command && used == count) {
        help_command(command, out);
        return EXIT_OK;
    }
    if (count == 1 && command_is_group(words[0])) {
        help_group(words[0], out);
        return EXIT_OK;
    }
    meant = command_nearest(count > 1 ? arena_printf(invocation->arena, "%s %s", words[0], words[1])
                                      : words[0],
                            invocation->arena);
    if (meant)
        complain("there is no command %s; did you mean torg help %s?", words[0], meant);
    else
        complain("there is no command %s; torg help lists them", words[0]);
    return EXIT_USAGE;
}

enum exit_code cmd_help(const struct invocation *invocation)
{
    const char *format = invocation_option(invocation, "format");
    struct buf out = BUF_INIT(OUTPUT_SIZE_MAX);
    enum exit_code code = EXIT_OK;

    object_check(invocation, INVOCATION_MAGIC);
    if (!format || strcmp(format, "text") == 0) {
        code = put_topic(invocation, &out);
    } else if (!put_document(format, &out)) {
        complain("unknown format %s; there are text, man, bash and config", format);
        code = EXIT_USAGE;
    }
    fputs(buf_text(&out), stdout);
    buf_release(&out);
    return code;
}

enum exit_code cmd_completion(const struct invocation *invocation)
{
    const char *shell = invocation->arguments[0];
    struct buf out = BUF_INIT(OUTPUT_SIZE_MAX);
    enum exit_code code = EXIT_OK;

    object_check(invocation, INVOCATION_MAGIC);
    if (strcmp(shell, "bash") == 0) {
        help_bash(&out);
    } else if (strcmp(shell, "zsh") == 0) {
        help_zsh(&out);
    } else if (strcmp(shell, "fish") == 0) {
        help_fish(&out);
    } else {
        complain("there is no completion for %s; there are bash, zsh and fish", shell);
        code = EXIT_USAGE;
    }
    fputs(buf_text(&out), stdout);
    buf_release(&out);
    return code;
}

enum exit_code cmd_version(const struct invocation *invocation)
{
    object_check(invocation, INVOCATION_MAGIC);
    printf(invocation->json ? "{\"version\": \"%s\"}\n" : "torg %s\n", TORG_VERSION);
    return EXIT_OK;
}

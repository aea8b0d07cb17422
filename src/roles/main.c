/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - torg: one program, one file per command; this one reads the command line and calls it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "roles/commands/command.h"
#include "roles/commands/help.h"
#include "roles/commands/options.h"
#include "roles/commands/problems.h"

enum { HELP_SIZE_MAX = 64 << 10 };

static enum exit_code print_help(const struct command *command)
{
    struct buf out = BUF_INIT(HELP_SIZE_MAX);

    help_command(command, &out);
    fputs(buf_text(&out), stdout);
    buf_release(&out);
    return EXIT_OK;
}

/* A command that ends tells its result; what it did on the way is told when it is asked for. */
static enum log_level level_of(const struct invocation *invocation)
{
    const struct config_value *value = &invocation->config.values[SETTING_LOG_LEVEL];

    if (value->origin == CONFIG_DEFAULT && !(invocation->command->flags & COMMAND_SERVES))
        return LOG_LEVEL_WARN;
    return (enum log_level)value->number;
}

static enum exit_code run(struct invocation *invocation)
{
    struct violations problems = violations_in(invocation->arena);
    const struct config *config = &invocation->config;

    if (invocation->help)
        return print_help(invocation->command);
    if (invocation->command->flags & COMMAND_CONFIG) {
        if (config_of(invocation, &invocation->config, &problems)) {
            problems_print(&problems, stderr);
            return EXIT_CONFIG;
        }
        log_setup((enum log_format)config_number(config, SETTING_LOG_FORMAT), level_of(invocation),
                  STDERR_FILENO);
    }
    return invocation->command->run(invocation);
}

/* A file opened as descriptor 1 or 2 would be written to by every printf. */
static void open_standard_streams(void)
{
    int fd = open("/dev/null", O_RDWR);

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDWR);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct invocation invocation;
    enum exit_code code;
    struct err err;

    open_standard_streams();
    umask(077); /* data, keys and logs of this process are its user's alone */
    if (options_parse((const char *const *)argv + 1, argc > 0 ? (size_t)argc - 1 : 0, arena,
                      &invocation, &err)) {
        complain("%s", err.text);
        code = EXIT_USAGE;
    } else {
        code = run(&invocation);
    }
    if (fflush(stdout) || ferror(stdout)) {
        if (code == EXIT_OK) { /* a full disk must not look like an empty list */
            complain("the output could not be written");
            code = EXIT_FAILED;
        }
    }
    arena_free(arena);
    return code;
}

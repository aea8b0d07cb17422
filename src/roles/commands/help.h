/* SPDX-License-Identifier: Apache-2.0 */
/* help.h - the table of commands as text, as a man page and as completion of shells. */
#ifndef TORG_ROLES_COMMANDS_HELP_H
#define TORG_ROLES_COMMANDS_HELP_H

#include "base/buf.h"
#include "roles/commands/command.h"

void help_all(struct buf *out);                     /* torg help */
void help_group(const char *word, struct buf *out); /* torg help key */
void help_command(const struct command *command, struct buf *out);

void help_man(struct buf *out);  /* docs/torg.1 */
void help_bash(struct buf *out); /* tools/torg.bash-completion */
void help_zsh(struct buf *out);
void help_fish(struct buf *out);

/* The usage line, without "usage: ". */
void help_usage(const struct command *command, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - a file that a command names, or standard input. */
#ifndef TORG_ROLES_COMMANDS_INPUT_H
#define TORG_ROLES_COMMANDS_INPUT_H

#include "base/buf.h"
#include "roles/commands/command.h"

/* Appends the file that the command's argument names; none, or "-": standard input. ERR_LIMIT: it
 * does not fit into the buffer. */
int read_input(const struct invocation *invocation, size_t argument, struct buf *out,
               struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* problems.h - the configuration of a command line, and what is wrong with it, for a person. */
#ifndef TORG_ROLES_COMMANDS_PROBLEMS_H
#define TORG_ROLES_COMMANDS_PROBLEMS_H

#include <stdio.h>

#include "base/violation.h"
#include "roles/commands/command.h"

/* Reads the settings this command line asks for. */
int config_of(const struct invocation *invocation, struct config *config,
              struct violations *problems);

/* One line each: "torg.toml:3: unknown setting …". */
void problems_print(const struct violations *problems, FILE *out);

#endif

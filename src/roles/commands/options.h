/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the command line: which command, with which options, settings and arguments.
 */
#ifndef TORG_ROLES_COMMANDS_OPTIONS_H
#define TORG_ROLES_COMMANDS_OPTIONS_H

#include "roles/commands/command.h"

/* words: argv without the program. ERR_INVALID tells what is wrong and what was meant. With
 * invocation->help set the rest was not checked. */
int options_parse(const char *const *words, size_t count, struct arena *arena,
                  struct invocation *invocation, struct err *err);

#endif

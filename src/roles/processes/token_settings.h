/* SPDX-License-Identifier: Apache-2.0 */
/* token_settings.h - opens sellers' tokens (access/tokens.h) as the settings tokens.* say. */
#ifndef TORG_ROLES_PROCESSES_TOKEN_SETTINGS_H
#define TORG_ROLES_PROCESSES_TOKEN_SETTINGS_H

#include "roles/processes/process.h"

/* Leaves process->tokens NULL when none are accepted. */
int tokens_start(struct process *process, struct err *err);
void tokens_stop(struct process *process);

#endif

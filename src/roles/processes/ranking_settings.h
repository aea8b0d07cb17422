/* SPDX-License-Identifier: Apache-2.0 */
/* ranking_settings.h - ranking.best, checked against what offers of the catalogue have. */
#ifndef TORG_ROLES_PROCESSES_RANKING_SETTINGS_H
#define TORG_ROLES_PROCESSES_RANKING_SETTINGS_H

#include "roles/processes/process.h"
#include "search/choices/ranking.h"

/* The catalogue has to be open. The formulas last as long as the process. */
int ranking_settings_read(const struct process *process, struct ranking *ranking, struct err *err);

#endif

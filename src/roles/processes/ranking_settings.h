/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranking_settings.h - ranking.best and search.experiment, checked against what offers of the
 * catalogue have.
 */
#ifndef TORG_ROLES_PROCESSES_RANKING_SETTINGS_H
#define TORG_ROLES_PROCESSES_RANKING_SETTINGS_H

#include "model/experiment.h"
#include "roles/processes/process.h"
#include "search/choices/ranking.h"

/* One of the two settings. The catalogue has to be open. The formulas last as long as the
 * process. */
int ranking_settings_read(const struct process *process, enum setting_id setting,
                          struct ranking *ranking, struct err *err);

/* What search.experiment compares. False: it is empty. */
bool ranking_settings_experiment(const struct config *config, struct experiment *experiment);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* feed_settings.h - the settings of feeds as the stage takes them. */
#ifndef TORG_ROLES_PROCESSES_FEED_SETTINGS_H
#define TORG_ROLES_PROCESSES_FEED_SETTINGS_H

#include "config/config.h"
#include "feeds/tasks/rules.h"

struct feed_rules feed_settings(const struct config *config);

#endif

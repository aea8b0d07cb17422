/* SPDX-License-Identifier: Apache-2.0 */
/* feed_settings.c - see feed_settings.h. */
#include "roles/processes/feed_settings.h"

struct feed_rules feed_settings(const struct config *config)
{
    struct feed_rules rules = feed_rules_default;

    rules.guard_percent = config_number(config, SETTING_FEEDS_GUARD_SHARE);
    rules.guard_min = config_number(config, SETTING_FEEDS_GUARD_MIN);
    rules.undo_us = config_number(config, SETTING_FEEDS_UNDO);
    rules.revive_us = config_number(config, SETTING_FEEDS_REVIVE);
    rules.report_us = config_number(config, SETTING_FEEDS_REPORT);
    return rules;
}

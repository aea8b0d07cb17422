/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - see rules.h. */
#include "feeds/tasks/rules.h"

#include "base/clock.h"

#define HOUR_US (INT64_C(3600) * SECOND_US)

/* As the settings' defaults. */
const struct feed_rules feed_rules_default = {
    .guard_percent = 30,
    .guard_min = 10,
    .undo_us = 24 * HOUR_US,
    .revive_us = 30 * 24 * HOUR_US,
    .report_us = 7 * 24 * HOUR_US,
    .idle_us = HOUR_US / 4,
    .slice_us = 2 * SECOND_US, /* well within the consumer's session */
};

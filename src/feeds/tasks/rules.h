/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - what a feed may do without confirmation, and for how long it can be undone.
 */
#ifndef TORG_FEEDS_TASKS_RULES_H
#define TORG_FEEDS_TASKS_RULES_H

#include <stdint.h>

struct feed_rules {
    int64_t guard_percent; /* a task that would delete a larger share of its feed is held … */
    int64_t guard_min;     /* … unless these are no more than this */
    int64_t undo_us;       /* a task can be undone so long after its end */
    int64_t revive_us;     /* a deleted item that comes back within this gets its offer back */
    int64_t report_us;     /* what became of each row is kept so long */
    int64_t idle_us;       /* a task without an end that was silent for so long is held */
    int64_t slice_us;      /* an end that came by the topic deletes so long between two polls */
};

extern const struct feed_rules feed_rules_default;

#endif

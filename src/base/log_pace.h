/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_pace.h - logs that a server is away: when it goes, and then now and then.
 *
 * Loops that try again every second would otherwise fill the log. Threads: any.
 */
#ifndef TORG_BASE_LOG_PACE_H
#define TORG_BASE_LOG_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct log_pace {
    atomic_int_fast64_t due_us; /* zero at first */
};

/* Whether to tell of the failure: of ERR_UNAVAILABLE and ERR_TIMEOUT once in half a minute, of any
 * other always. */
bool log_pace_is_due(struct log_pace *pace, const struct err *err);

#endif

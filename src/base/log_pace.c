/* SPDX-License-Identifier: Apache-2.0 */
/* log_pace.c - see log_pace.h. */
#include "base/log_pace.h"

#include "base/clock.h"

enum { AGAIN_S = 30 };

bool log_pace_is_due(struct log_pace *pace, const struct err *err)
{
    int64_t now_us = clock_mono_us(clock_system());
    int_fast64_t due_us = atomic_load(&pace->due_us);

    if (err->code != ERR_UNAVAILABLE && err->code != ERR_TIMEOUT)
        return true;
    return now_us >= due_us &&
           atomic_compare_exchange_strong(&pace->due_us, &due_us, now_us + AGAIN_S * SECOND_US);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h; what the services share. */
#include "roles/processes/service.h"

#include "base/clock.h"

enum { NANOS_MAX = 999999999 };
static const int64_t year_10000_s = 253402300800; /* where RFC 3339 ends */

Google__Protobuf__Timestamp *timestamp_new(struct arena *arena, int64_t us)
{
    Google__Protobuf__Timestamp *timestamp;

    if (!us)
        return NULL;
    timestamp = arena_alloc(arena, sizeof(*timestamp));
    google__protobuf__timestamp__init(timestamp);
    timestamp->seconds = us / SECOND_US;
    timestamp->nanos = (int32_t)(us % SECOND_US) * 1000;
    return timestamp;
}

int timestamp_us(const Google__Protobuf__Timestamp *timestamp, int64_t *us, struct err *err)
{
    *us = 0;
    if (!timestamp)
        return 0;
    if (timestamp->seconds <= 0 || timestamp->seconds >= year_10000_s || timestamp->nanos < 0 ||
        timestamp->nanos > NANOS_MAX)
        return err_set(err, ERR_INVALID, "expected a time between 1970 and 9999");
    *us = timestamp->seconds * SECOND_US + timestamp->nanos / 1000;
    return 0;
}

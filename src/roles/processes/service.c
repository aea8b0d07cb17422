/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h; what the services share. */
#include "roles/processes/service.h"

#include "codec/moment.h"

int timestamp_us(const Google__Protobuf__Timestamp *timestamp, int64_t *us, struct err *err)
{
    *us = 0;
    if (!timestamp)
        return 0;
    return timestamp->seconds > 0 && moment_us(timestamp, us)
               ? 0
               : err_set(err, ERR_INVALID, "expected a time between 1970 and 9999");
}

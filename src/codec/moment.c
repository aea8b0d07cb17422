/* SPDX-License-Identifier: Apache-2.0 */
/* moment.c - see moment.h. */
#include "codec/moment.h"

#include "base/clock.h"

#define SECONDS_MIN INT64_C(-62135596800) /* 0001-01-01 */
#define SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59 */
enum { NANOS_MAX = 999999999 };

Google__Protobuf__Timestamp *moment_message(int64_t us, struct arena *arena)
{
    Google__Protobuf__Timestamp *message = arena_alloc(arena, sizeof(*message));
    int64_t fraction = us % SECOND_US;

    if (fraction < 0)
        fraction += SECOND_US;
    google__protobuf__timestamp__init(message);
    message->seconds = (us - fraction) / SECOND_US;
    message->nanos = (int32_t)(fraction * 1000);
    return message;
}

Google__Protobuf__Timestamp *moment_or_none(int64_t us, struct arena *arena)
{
    return us ? moment_message(us, arena) : NULL;
}

bool moment_us(const Google__Protobuf__Timestamp *message, int64_t *us)
{
    if (message->seconds < SECONDS_MIN || message->seconds > SECONDS_MAX || message->nanos < 0 ||
        message->nanos > NANOS_MAX)
        return false;
    *us = message->seconds * SECOND_US + message->nanos / 1000;
    return true;
}

int64_t moment_own_us(const Google__Protobuf__Timestamp *message)
{
    return message ? message->seconds * SECOND_US + message->nanos / 1000 : 0;
}

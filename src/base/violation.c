/* SPDX-License-Identifier: Apache-2.0 */
/* violation.c - see violation.h. */
#include "base/violation.h"

#include "base/bounds.h"

void violations_add(struct violations *violations, const char *field, const char *format, ...)
{
    struct violation *violation;
    va_list args;

    if (violations->count++ >= VIOLATION_COUNT_MAX)
        return;
    violation = arena_zero(violations->arena, sizeof(*violation));
    violation->field = arena_strdup(violations->arena, field);
    va_start(args, format);
    violation->reason = arena_vprintf(violations->arena, format, args);
    va_end(args);
    if (violations->last)
        violations->last->next = violation;
    else
        violations->first = violation;
    violations->last = violation;
}

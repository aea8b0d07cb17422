/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - see err.h. */
#include "base/err.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

int err_set_va(struct err *err, int code, const char *format, va_list args)
{
    assert(code < 0);
    if (err) {
        err->code = code;
        vsnprintf(err->text, sizeof(err->text), format, args);
    }
    return code;
}

int err_set(struct err *err, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    err_set_va(err, code, format, args);
    va_end(args);
    return code;
}

int err_errno(struct err *err, const char *format, ...)
{
    int saved = errno;
    int code = saved == ENOENT ? ERR_NOT_FOUND : ERR_UNAVAILABLE;
    char reason[128];
    size_t used;
    va_list args;

    if (!err)
        return code;
    va_start(args, format);
    err_set_va(err, code, format, args);
    va_end(args);
    used = strlen(err->text);
    snprintf(err->text + used, sizeof(err->text) - used, ": %s%s",
             strerror_r(saved, reason, sizeof(reason)),
             saved == ENOSPC || saved == EDQUOT ? "; make room on the disk" : "");
    return code;
}

int err_wrap(struct err *err, const char *format, ...)
{
    char inner[ERR_TEXT_SIZE];
    size_t used;
    va_list args;

    assert(err);
    memcpy(inner, err->text, sizeof(inner));
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    used = strlen(err->text);
    snprintf(err->text + used, sizeof(err->text) - used, ": %s", inner);
    return err->code;
}

bool err_is_passing(int code)
{
    return code == ERR_UNAVAILABLE || code == ERR_CONFLICT || code == ERR_TIMEOUT;
}

const char *err_name(int code)
{
    static const char *const names[] = {
        "OK",          "INVALID",      "NOT_FOUND", "EXISTS",    "DENIED",      "UNAUTHENTICATED",
        "LIMIT",       "PRECONDITION", "CONFLICT",  "RANGE",     "UNSUPPORTED", "INTERNAL",
        "UNAVAILABLE", "CORRUPT",      "TIMEOUT",   "CANCELLED", "STALE",
    };
    size_t index = (size_t)-code;

    return code <= 0 && index < ARRAY_COUNT(names) ? names[index] : "UNKNOWN";
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - a fault of the world, reported twice: a code for the caller, a text for a person.
 *
 * A function that can fail returns 0 or a negative err_code and fills the struct err it was
 * given (which may be NULL when nobody will read the text). Bugs are asserts, not errors.
 * The codes say what a caller can do; they map one to one onto gRPC statuses in net/.
 */
#ifndef TORG_BASE_ERR_H
#define TORG_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum err_code {
    ERR_INVALID = -1,         /* the input is wrong: mend it */
    ERR_NOT_FOUND = -2,       /* there is no such thing */
    ERR_EXISTS = -3,          /* it is there already */
    ERR_DENIED = -4,          /* known caller, not allowed */
    ERR_UNAUTHENTICATED = -5, /* unknown caller */
    ERR_LIMIT = -6,           /* too big, too many, too busy: send less or later */
    ERR_PRECONDITION = -7,    /* not in this state */
    ERR_CONFLICT = -8,        /* somebody was faster: read again and retry */
    ERR_RANGE = -9,           /* past the end */
    ERR_UNSUPPORTED = -10,    /* not built, or not by this backend */
    ERR_INTERNAL = -11,       /* our mistake */
    ERR_UNAVAILABLE = -12,    /* a server or disk does not answer: try again later */
    ERR_CORRUPT = -13,        /* stored data is damaged */
    ERR_TIMEOUT = -14,        /* the deadline passed */
    ERR_CANCELLED = -15,      /* the caller gave up */
    ERR_STALE = -16,          /* a newer owner has taken over: stop writing */
};

enum { ERR_TEXT_SIZE = 512 };

struct err {
    int code;
    char text[ERR_TEXT_SIZE];
};

/* Each returns code, so that a failing function ends with `return err_set(...)`. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int err_set_va(struct err *err, int code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* As err_set with ERR_UNAVAILABLE (ERR_NOT_FOUND for ENOENT), ": <errno's text>" appended; of a
 * full disk also what to do. */
int err_errno(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " before the text; returns the code that was there. */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A fault that passes by itself, ERR_UNAVAILABLE, ERR_CONFLICT or ERR_TIMEOUT: the same may work
 * when it is tried again. */
bool err_is_passing(int code);

/* "INVALID", "NOT_FOUND", …; "OK" for 0. */
const char *err_name(int code);

#endif

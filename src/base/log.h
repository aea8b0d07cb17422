/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - what happened, for a person on a terminal and for a machine elsewhere.
 *
 * An event is a constant sentence and named values; values never go into the sentence, so
 * that events of a kind can be counted:
 *
 *     log_warn("checkpoint is slow", LOG_INT("pages", pages), LOG_TEXT("store", path));
 *
 * On a terminal a line reads `08:41:26.123 warn  checkpoint is slow pages=512 store=…`, elsewhere
 * it is one JSON object. The request id of the thread, if set, is added to each event. One write(2)
 * an event, so lines of several threads never mix.
 */
#ifndef TORG_BASE_LOG_H
#define TORG_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_HUMAN, LOG_FORMAT_JSON };
enum log_kind { LOG_KIND_NONE, LOG_KIND_TEXT, LOG_KIND_BYTES, LOG_KIND_INT, LOG_KIND_REAL };

struct log_field {
    const char *name;
    enum log_kind kind;
    union {
        const char *text;
        struct bytes bytes;
        int64_t integer;
        double real;
    };
};

#define LOG_TEXT(key, value)                                                                       \
    {                                                                                              \
        .name = (key), .kind = LOG_KIND_TEXT, .text = (value)                                      \
    }
#define LOG_BYTES(key, value)                                                                      \
    {                                                                                              \
        .name = (key), .kind = LOG_KIND_BYTES, .bytes = (value)                                    \
    }
#define LOG_INT(key, value)                                                                        \
    {                                                                                              \
        .name = (key), .kind = LOG_KIND_INT, .integer = (int64_t)(value)                           \
    }
#define LOG_REAL(key, value)                                                                       \
    {                                                                                              \
        .name = (key), .kind = LOG_KIND_REAL, .real = (value)                                      \
    }

/* Before threads start; without it, events of level info go to stderr. */
void log_setup(enum log_format format, enum log_level level, int fd);

/* The id of the request this thread works for; NULL for none. Copied. */
void log_set_request(const char *id);

void log_event(enum log_level level, const char *sentence, const struct log_field *fields,
               size_t count);
bool log_wants(enum log_level level);

/* The first element stands so that an event without fields is still an array. */
#define LOG_EVENT(level, sentence, ...)                                                            \
    do {                                                                                           \
        if (log_wants(level)) {                                                                    \
            const struct log_field log_fields_[] = {{.name = NULL}, __VA_ARGS__};                  \
            log_event(level, sentence, log_fields_ + 1,                                            \
                      sizeof(log_fields_) / sizeof(log_fields_[0]) - 1);                           \
        }                                                                                          \
    } while (0)

#define log_debug(...) LOG_EVENT(LOG_LEVEL_DEBUG, __VA_ARGS__, {.name = NULL})
#define log_info(...) LOG_EVENT(LOG_LEVEL_INFO, __VA_ARGS__, {.name = NULL})
#define log_warn(...) LOG_EVENT(LOG_LEVEL_WARN, __VA_ARGS__, {.name = NULL})
#define log_error(...) LOG_EVENT(LOG_LEVEL_ERROR, __VA_ARGS__, {.name = NULL})

#endif

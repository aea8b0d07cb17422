/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - where the bytes of a feed come from: a file, memory, or a caller's function.
 *
 * A source counts what it gives and ends with ERR_LIMIT at the size limit, before the limit's
 * bytes are looked at. One thread.
 */
#ifndef TORG_FEEDS_FORMATS_SOURCE_H
#define TORG_FEEDS_FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

struct feed_source {
    /* Up to size bytes; *got = 0: the end. */
    int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err);
    void *arg;
    uint64_t total_size; /* 0: not known */
    const char *cut;     /* set by read at the end: why it came too early; NULL: it did not */
    bool is_whole;       /* set by read at the end: it is known to be where the writer meant it */
    /* private */
    int fd;
    struct bytes rest;
    uint64_t read_size;
};

/* The file is opened; ends with feed_source_close. "-" is the standard input. */
int feed_source_file(struct feed_source *source, const char *path, struct err *err);
void feed_source_memory(struct feed_source *source, struct bytes content); /* borrowed */
/* total_size 0: not known. */
void feed_source_function(struct feed_source *source,
                          int (*read)(void *arg, void *to, size_t size, size_t *got,
                                      struct err *err),
                          void *arg, uint64_t total_size);
void feed_source_close(struct feed_source *source);

/* At its end: that all of it came, by its announced size or by who gave it. Of a pipe nobody knows.
 */
bool feed_source_is_whole(const struct feed_source *source);

/* As read, counted, as many as there are up to size; size_max: of the whole source. */
int feed_source_read(struct feed_source *source, uint64_t size_max, void *to, size_t size,
                     size_t *got, struct err *err);

#endif

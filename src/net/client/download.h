/* SPDX-License-Identifier: Apache-2.0 */
/*
 * download.h - a large answer of a web server, read piece by piece, no faster than the reader wants
 * it.
 *
 * http and https only. A redirect is checked before it is followed: a few at most, never from https
 * to http, and never from a public address to one of this machine or its network. A proxy of the
 * environment is not used: behind it nobody would know which address was reached. Every wait is
 * bounded; the size is the reader's to bound.
 * Threads: one download, one thread.
 */
#ifndef TORG_NET_CLIENT_DOWNLOAD_H
#define TORG_NET_CLIENT_DOWNLOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"

struct download;

struct download_options {
    const char *ca_file; /* PEM file of the authorities; NULL = the system's */
    int64_t timeout_ms;  /* for all of it; 0 = DOWNLOAD_TIMEOUT_MS */
    int64_t stall_ms;    /* without a byte; 0 = DOWNLOAD_STALL_MS */
    bool is_public_only; /* ERR_DENIED: an address of this machine or its network, from the first */
    /* As they were told with an answer of before: it is asked whether that has changed since, by
     * the first address alone. NULL or "": nothing is known. */
    const char *etag;
    const char *modified;
    /* Told each address before it is asked; NULL: nobody is. */
    void (*visit)(void *arg, const char *url);
    void *arg;
    const atomic_bool *is_stopping; /* once true: ERR_CANCELLED, within a second; NULL: never */
    const struct clock *clock;      /* NULL: the system's; borrowed */
};

/* Returns when the answer begins; ERR_NOT_FOUND, ERR_DENIED, ERR_UNAVAILABLE by its status. */
int download_open(const char *url, const struct download_options *options,
                  struct download **download, struct err *err);
void download_close(struct download *download); /* NULL is fine */

uint64_t download_total_size(const struct download *download); /* 0: not told */

/* It has not changed since: there is nothing to read. */
bool download_is_unchanged(const struct download *download);
/* What to ask by another time; "": the server has not told it. Until it is closed. */
const char *download_etag(const struct download *download);
const char *download_modified(const struct download *download);

/* Up to size bytes; *got = 0 at the end. */
int download_read(struct download *download, void *to, size_t size, size_t *got, struct err *err);

/* Why the end that was reached came too early; NULL: it did not. */
const char *download_cut(const struct download *download);
/* Its end is told, by its size or by a last piece. Of one that ends with its connection nobody
 * knows whether it came whole. */
bool download_end_is_told(const struct download *download);

#endif

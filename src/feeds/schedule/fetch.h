/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - the file behind a feed's address.
 *
 * A seller may write any address. Only http and https are asked, only machines of the public
 * internet (every address that a name resolves to is looked at before it is connected to, and again
 * after each redirect), in their turn (net/client/hosts.h), for a bounded time and size.
 *
 * The file is had whole before anything of it is used: it lies in a nameless file of the disk, so
 * that a connection that breaks makes no half of a task, and a slow import keeps no server waiting.
 * Threads: one fetch, one thread.
 */
#ifndef TORG_FEEDS_SCHEDULE_FETCH_H
#define TORG_FEEDS_SCHEDULE_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct hosts; /* net/client/hosts.h */

struct feed_fetched {
    bool is_unchanged;    /* the server says so */
    struct bytes content; /* until it is released */
    bool is_mapped;       /* the content, by this module */
    bool end_is_unknown;  /* the content ends where its connection did */
    const char *etag;     /* what to ask by another time, in the arena; "": nothing was told */
    const char *modified;
};

void feed_fetched_release(struct feed_fetched *fetched); /* zeroed is fine */

struct feed_fetch_options {
    struct hosts *hosts; /* borrowed, as all */
    const struct clock *clock;
    const char *dir; /* where files lie meanwhile */
    const atomic_bool *is_stopping;
    bool takes_private_addresses; /* those of this machine and its network */
};

/* etag, modified: of the file that is known. ERR_CANCELLED: it was asked to stop; all other
 * failures are the address's, and their text is for the seller. arg is a struct feed_fetch_options.
 */
int feed_fetch(void *arg, const char *address, const char *etag, const char *modified,
               struct arena *arena, struct feed_fetched *fetched, struct err *err);

#endif

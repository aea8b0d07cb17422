/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - the bytes behind a photo's address: on somebody else's web server, or an upload of
 * ours.
 *
 * A seller may write any address. Only http and https are asked, only machines of the whole
 * internet (every address that a name resolves to is looked at when it is connected to, and again
 * after each redirect), for a bounded time and size.
 */
#ifndef TORG_PHOTOS_FETCH_H
#define TORG_PHOTOS_FETCH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "photos/ledger.h"

/* Files of addresses that no server has: torg demo draws its own. */
struct photo_maker {
    bool (*has)(void *arg, const char *url);
    int (*make)(void *arg, const char *url, struct arena *arena, struct buf *file, struct err *err);
    void *arg;
};

struct fetch_rules {
    const struct ledger *ledger;     /* knows where uploads are; borrowed */
    const struct clock *clock;       /* borrowed */
    bool takes_private_addresses;    /* those of this machine and its network: for tests, and shops
                                      * whose pictures lie in their own network */
    const struct photo_maker *maker; /* NULL: there is none; borrowed */
};

/* What is known of an address, and what its server says this time; texts of the arena. */
struct fetch_state {
    const char *etag; /* "": not known */
    const char *modified;
    bool is_unchanged; /* out: it has no other file than then */
};

/* Whether another's web server is asked: neither an upload of ours nor made here. */
bool photo_is_elsewhere(const struct fetch_rules *rules, const char *url);

/* Appends the file, within timeout_ms; state is NULL, or is changed. ERR_INVALID, ERR_NOT_FOUND,
 * ERR_DENIED, ERR_LIMIT: the address will not give one. ERR_UNAVAILABLE, ERR_TIMEOUT: it does not
 * now. The text is for the seller. */
int photo_fetch(const struct fetch_rules *rules, const char *url, int64_t timeout_ms,
                struct fetch_state *state, struct arena *arena, struct buf *file, struct err *err);

#endif

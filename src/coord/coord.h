/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coord.h - who works on which shard, never two at once (leases, fencing tokens); and a few small
 * shared values.
 *
 * A process opens one handle and is a member. Members that join a set of N shards own N/M of
 * them each (fair within one). Ownership is a lease: it is good until a deadline counted from
 * before the last renewal that was answered, and coord_valid looks at the clock when it is
 * asked, so that a frozen process or a stuck thread claims nothing afterwards.
 *
 * Each time a shard gets an owner it gets a ticket (a fencing token), larger than every one before.
 * Between the question "am I still the owner?" and a write any time may pass, so the storage
 * written to must keep the largest ticket it has seen for a shard, and refuse smaller ones
 * (store/fence.h).
 *
 * A shard that should move is first `leaving`: its owner stops its work and calls
 * coord_release; only then, or when the lease is over, another member gets it.
 *
 * URLs: memory:NAME (within the process, forgotten with its last handle), local:DIR (one
 * process, tickets and registers kept in DIR), zookeeper://HOST:PORT[,HOST:PORT…]/PATH, and
 * fault:URL in tests. Names of members, sets and keys are 1 to COORD_NAME_SIZE_MAX characters
 * of A-Z a-z 0-9 . _ : - and do not begin with a dot.
 * Threads: everything is safe for all threads; a handle renews its lease in one of its own.
 */
#ifndef TORG_COORD_COORD_H
#define TORG_COORD_COORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"
#include "coord/tunnel.h"

struct coord;
struct coord_shards; /* a member's part in one set of shards */

struct coord_options {
    const struct clock *clock; /* NULL: the system's */
    int64_t lease_us;          /* 0: COORD_LEASE_MS_DEFAULT; a server may shorten it */
    /* ZooKeeper: who we are, by its scheme digest; what we make is for this name alone. NULL or "":
     * nobody, and anybody may change it. Copied. */
    const char *user;
    const char *password;
    struct coord_tls tls; /* ZooKeeper's; copied */
    bool manual;          /* no thread is started: coord_step renews and rebalances */
};

/* options may be NULL. On failure *coord is NULL. */
int coord_open(const char *url, const char *member, const struct coord_options *options,
               struct coord **coord, struct err *err);

/* Gives up what is owned at once: stop the work first. Sets still joined are left. */
void coord_close(struct coord *coord);

/* One round: renew the lease, then release, give up and claim what the plan says. The thread
 * does it by itself; with options.manual the caller does. ERR_UNAVAILABLE: no answer now. */
int coord_step(struct coord *coord, struct err *err);

/* How long ago the last answered renewal was sent: below the lease's length while all is well. */
int64_t coord_silence_us(struct coord *coord);

/* --- shards --- */

/* Takes part in the set. ERR_PRECONDITION when the set exists with another shard_count, which
 * is fixed for ever: use another name. */
int coord_join(struct coord *coord, const char *set, uint32_t shard_count,
               struct coord_shards **shards, struct err *err);

/* Gives up all shards of the set at once, and frees the handle: stop the work first. */
void coord_leave(struct coord_shards *shards);

struct coord_shard {
    uint32_t shard;
    uint64_t ticket;
    bool leaving; /* finish, then coord_release; it is still owned until then */
};

/* What is owned at this moment, in order of shard numbers; at most `room` are written (a set's
 * shard_count is always enough). Returns how many; 0 as soon as the lease is over. */
size_t coord_owned(struct coord_shards *shards, struct coord_shard *owned, size_t room);

/* Is this ticket's ownership good at this moment? */
bool coord_valid(struct coord_shards *shards, uint32_t shard, uint64_t ticket);

/* The work on the shard has stopped: from now on coord_valid says no, and another member may
 * get it. A shard that nobody else should have comes back, with a new ticket. Releasing what
 * is already lost changes nothing. */
void coord_release(struct coord_shards *shards, uint32_t shard, uint64_t ticket);

/* Waits until what coord_owned tells has changed since *seen (0 at first), which is brought up
 * to date: gained, lost, leaving, lease over or good again. ERR_TIMEOUT when it has not. */
int coord_wait(struct coord_shards *shards, uint64_t *seen, int timeout_ms, struct err *err);

/* --- registers: small values changed by compare and set --- */

/* Appends the value to out. Versions begin with 1. ERR_NOT_FOUND (*version 0): never set. */
int coord_get(struct coord *coord, const char *key, struct buf *out, uint64_t *version,
              struct err *err);

/* Sets the value if its version is still `expected` (0: it was never set), else ERR_CONFLICT.
 * After ERR_UNAVAILABLE it may or may not be set: read it again. version may be NULL. */
int coord_set(struct coord *coord, const char *key, struct bytes value, uint64_t expected,
              uint64_t *version, struct err *err);

/* Waits until the key's version is another than `known`; ERR_TIMEOUT when it is not. */
int coord_watch(struct coord *coord, const char *key, uint64_t known, int timeout_ms,
                struct err *err);

#endif

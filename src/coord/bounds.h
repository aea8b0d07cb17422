/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of coord/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_COORD_BOUNDS_H
#define TORG_COORD_BOUNDS_H

enum {
    COORD_NAME_SIZE_MAX = 64,          /* members, sets and keys: parts of paths and of log lines */
    COORD_SHARD_COUNT_MAX = 1024,      /* of one set; each costs a node and a read at a rebalance */
    COORD_SET_COUNT_MAX = 512,         /* joined by one member: one for each client, twice */
    COORD_MEMBER_COUNT_MAX = 256,      /* of one set: a machine each, by far more than planned */
    COORD_REGISTER_COUNT_MAX = 1024,   /* of the embedded backend, which keeps them in memory */
    COORD_VALUE_SIZE_MAX = 64 << 10,   /* a register is a pointer or a small state, not a file */
    COORD_LEASE_MS_MIN = 100,          /* shorter than a bad pause of the machine: endless moves */
    COORD_LEASE_MS_MAX = 60 * 1000,    /* a dead owner's shards stand still for this long */
    COORD_LEASE_MS_DEFAULT = 5 * 1000, /* default, a setting */
    COORD_DIGEST_SIZE_MAX = 1024,      /* a user and a password, as ZooKeeper's digest takes them */
    COORD_OPEN_MS_MAX = 15 * 1000,     /* waiting for the first answer of a server */
    COORD_TUNNEL_SERVER_COUNT_MAX = 16, /* behind one URL, by TLS: an ensemble has three to nine */
    COORD_TUNNEL_LINK_COUNT_MAX =
        16, /* connections at once, 130 KB each: a client has one or two */
    COORD_TUNNEL_WAIT_MS = 10 * 1000, /* for a server's handshake; for what one side still takes */
    COORD_TUNNEL_END_MS = 1000,       /* for the end of a session to reach its server */
    COORD_TUNNEL_PAUSE_MS = 100,      /* until connections are taken again, without a descriptor */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - the address that a client comes from, and the proxies that are trusted to report it.
 *
 * IPv4 addresses are kept in their IPv6 form. For counting, a whole /64 of IPv6 is one address,
 * since one customer gets that much.
 */
#ifndef TORG_NET_SERVER_LOOP_PEER_H
#define TORG_NET_SERVER_LOOP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "base/err.h"
#include "net/bounds.h"

struct peer_address {
    uint8_t bytes[16];
};

struct peer_range {
    struct peer_address first;
    unsigned bits; /* that count, of 128 */
};

/* Addresses and ranges: "10.0.0.2 192.168.0.0/16 fd00::/8". */
struct peer_ranges {
    struct peer_range list[NET_PROXY_COUNT_MAX];
    size_t count;
};

int peer_ranges_parse(const char *text, struct peer_ranges *ranges, struct err *err);
bool peer_is_within(const struct peer_ranges *ranges, struct peer_address address);

struct peer_address peer_of(const struct sockaddr_storage *name);
bool peer_parse(struct bytes text, struct peer_address *address);
uint64_t peer_id(struct peer_address address); /* the same for what is counted as one */

/* The client behind proxies: of "client, proxy, proxy" (X-Forwarded-For) the last that is none of
 * them; the sender itself, when it is none or the list cannot be read. */
struct peer_address peer_behind(const struct peer_ranges *proxies, struct peer_address sender,
                                struct bytes forwarded);

#endif

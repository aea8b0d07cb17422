/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel.h - TLS for a client that knows none: it connects to a port of this machine, and what it
 * says goes on to its server encrypted.
 *
 * There is a port of 127.0.0.1 for each server, so that the client chooses among servers as ever. A
 * port takes connections of this process alone: whoever else is on the machine has no use of our
 * certificate. A server must show a certificate of its name, by the authority; if it does not, the
 * client's connection is closed as if the server were away, and tunnel_reason tells why.
 * Files are read anew for each connection: certificates that change are followed.
 *
 * Threads: one of its own (`coord-tunnel`), which also resolves names; all functions from any.
 */
#ifndef TORG_COORD_TUNNEL_H
#define TORG_COORD_TUNNEL_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"

struct coord_tls {
    bool on;
    const char *ca; /* files; NULL or "": the system's authorities, no certificate of ours */
    const char *certificate;
    const char *key;
};

struct tunnel;

/* To each of "HOST:PORT,HOST:PORT". Files that cannot be read are told at once. Where TLS is not on
 * there is none, *tunnel is NULL, and a file is an error. */
int tunnel_open(const char *hosts, const struct coord_tls *tls, const struct clock *clock,
                struct tunnel **tunnel, struct err *err);
void tunnel_close(struct tunnel *tunnel); /* after its client; NULL is fine */

/* Where the client connects to, in the order of the servers. */
const char *tunnel_hosts(const struct tunnel *tunnel);

enum { TUNNEL_REASON_SIZE = 256 };

/* Why the last connection failed, or was refused; "": none has since a server said something. */
void tunnel_reason(struct tunnel *tunnel, char reason[TUNNEL_REASON_SIZE]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zookeeper_proxy.h - a ZooKeeper server behind a line that can be cut, for coord's contract.
 *
 * It listens on a free port of the loopback and passes bytes on. It also reads the session's
 * id and password out of the server's first answer, so that a test can end the session behind
 * its owner's back, as an administrator or an expiry would.
 */
#ifndef TORG_TESTS_CONTRACT_ZOOKEEPER_PROXY_H
#define TORG_TESTS_CONTRACT_ZOOKEEPER_PROXY_H

#include <stdbool.h>

struct proxy;

struct proxy *proxy_open(const char *server); /* "host:port" of the real one; NULL on failure */
void proxy_close(struct proxy *proxy);
int proxy_port(const struct proxy *proxy);

void proxy_cut(struct proxy *proxy);  /* ends every connection once; new ones are served */
void proxy_hold(struct proxy *proxy); /* passes nothing on until proxy_pass: a dead line */
void proxy_pass(struct proxy *proxy);

/* Ends the newest session that came through, over a connection of its own, and holds the line until
 * proxy_pass: its owner, thrown out, could be back before anybody else has taken what it had. */
bool proxy_end_session(struct proxy *proxy);

#endif

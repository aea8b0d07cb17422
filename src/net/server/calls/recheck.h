/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recheck.h - the key of a stream is rechecked while the stream lasts: the stream ends when the key
 * is revoked or expires.
 *
 * All of it runs on the call's reactor; an authenticator does not wait.
 */
#ifndef TORG_NET_SERVER_CALLS_RECHECK_H
#define TORG_NET_SERVER_CALLS_RECHECK_H

struct call;
struct err;
struct timer;

void recheck_begin(struct call *call); /* a stream has been given to its handler */
void recheck_end(struct call *call);
void recheck_fire(struct timer *timer);
/* A handler that stopped because the key did says so, whatever words it chose. */
int recheck_name(const struct call *call, int rc, struct err *err);

#endif

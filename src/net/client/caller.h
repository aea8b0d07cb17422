/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.h - calls methods of services in other processes: a packed message out, a packed message
 * or an error of ours back.
 *
 * Nothing is retried. Threads: any, at once.
 */
#ifndef TORG_NET_CLIENT_CALLER_H
#define TORG_NET_CLIENT_CALLER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

struct caller;

struct caller_options {
    const char *service; /* "torg.v1.SearcherService"; copied, as all here */
    const char *key;     /* of the Authorization header; NULL: none */
    const char *ca_file; /* NULL: the system's */
};

struct caller *caller_new(const struct caller_options *options);
void caller_free(void *caller); /* when no call is under way; NULL is fine */

/* Calls the method at url ("http://host:port"); appends the packed answer, of at most
 * answer->limit bytes. The signature of those who take a way to call and not a net/ of their own:
 * caller is a struct caller. */
int caller_call(void *caller, const char *url, const char *method, struct bytes request,
                int64_t timeout_ms, struct buf *answer, struct err *err);

/* What an answer that is no success says: its code and message, as the server wrote them
 * (torg.v1.Error in JSON); ERR_UNAVAILABLE with the HTTP status if it is none of ours. */
int caller_error(const char *url, struct bytes body, int status, struct err *err);

#endif

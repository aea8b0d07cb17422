/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unsent.h - the memory of answers that clients have not taken yet: counted and bounded.
 *
 * An answer is measured when it is built, and counts until its call is freed, which is how long it
 * holds its memory. A connection with much unsent data begins no further calls. When the whole
 * server has much, the connection that has held most for longest is closed, on whichever loop it
 * is; if that is not enough, very large answers are refused.
 */
#ifndef TORG_NET_SERVER_CALLS_UNSENT_H
#define TORG_NET_SERVER_CALLS_UNSENT_H

#include <stdbool.h>
#include <stddef.h>

struct call;
struct connection;

/* On the thread that has built the answer: frees what is not part of it, and counts it. */
void unsent_built(struct call *call);
void unsent_free(struct call *call); /* its memory goes */

/* --- on the reactor --- */

void unsent_begin(struct call *call);               /* the answer is given to its connection */
void unsent_stream(struct call *call, size_t size); /* so much of a stream waits now */
void unsent_taken(struct call *call, size_t count); /* ... and the connection took so much */
void unsent_end(struct call *call);                 /* the call leaves its connection */
bool unsent_is_full(const struct connection *connection); /* it may begin no call */
void unsent_settle(struct connection *connection); /* at the end of a turn: tells the server */
void unsent_close(struct connection *connection);

#endif

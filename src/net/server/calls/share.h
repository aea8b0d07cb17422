/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - nobody has all of what all share: calls, memory for bodies and large heads, threads for
 * streams. (Connections and answers: admit.h, unsent.h.)
 *
 * Calls are counted by address, before anybody has looked at a key, and by each loop for itself, in
 * a sketch (count-min): two rows of slots that several addresses may share, so that the smaller of
 * an address's two is never less than it has. A quarter of all calls (NET_CALL_ADDRESS_PART) is set
 * apart, an equal part for each loop; the rest are for whichever loop needs them, as connections
 * do not spread evenly. Once a quarter of all are borrowed so, an address that has as many on its
 * loop as are the loop's own (where there are many loops, twice that, up to a connection's
 * NET_STREAM_COUNT_MAX) gets no more there. Of bodies, once half are taken, it is by caller and
 * exactly. What is refused here is not one of the calls that are taken: its answer counts with
 * those that wait for their clients (unsent.h). Streams are counted by caller, of whom nobody gets
 * more than a few once half of their threads are taken; those without a key by address.
 *
 * Threads: the call's reactor.
 */
#ifndef TORG_NET_SERVER_CALLS_SHARE_H
#define TORG_NET_SERVER_CALLS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct call;
struct connection;

enum { CROWD_ROW_COUNT = 2, CROWD_SLOT_COUNT = 4096 };

/* Of a loop; all zero at first, but for the seed: nobody can tell which callers share a slot. */
struct crowd {
    uint64_t seed;
    uint32_t slots[CROWD_ROW_COUNT][CROWD_SLOT_COUNT];
};

/* False: the call has been refused. */
bool share_take_call(struct call *call); /* its head is whole, and it is named */
bool share_take_body(struct call *call); /* its kept_size has grown */
void share_take_head(
    struct call *call); /* its head has grown: it may be refused when it is whole */
bool share_take_stream(struct call *call); /* it would get a thread of its own */
/* On the stream's thread: so many more bytes of the message that comes. ERR_LIMIT: too many. */
int share_take_message(struct call *call, size_t size, struct err *err);
void share_give_back_message(struct call *call);

/* It answers in the place of a call whose handler still runs: both have memory. */
void share_take_stand_in(struct call *stand_in, const struct call *call);

void share_give_back(struct call *call); /* all that it has taken */
/* What it has taken of memory was somebody else's. */
void share_rename(struct call *call, uint64_t before);

/* Of what the connection keeps unread (a head, or requests behind one in work) so many bytes count.
 * Why it may not keep them; NULL: it may. */
const char *share_keep_input(struct connection *connection, size_t size);

#endif

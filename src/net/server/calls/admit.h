/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.h - limits how much each caller may ask for: rates by key, seller and address, and shares
 * of what is scarce: connections, streams, memory.
 *
 * A rate is a token bucket (NET_RATE_BURST_S of it may be taken at once). A call takes a token when
 * it begins and, when it has ended, one for every further millisecond of CPU that it took; going
 * below zero is a debt. A caller with a key is counted by that and by the seller that it is bound
 * to, any other by the address.
 *
 * The order of waiting calls is up to workers (base/fair.h): by seller, otherwise by key, otherwise
 * by address, and by connection within these.
 *
 * Threads: any.
 */
#ifndef TORG_NET_SERVER_CALLS_ADMIT_H
#define TORG_NET_SERVER_CALLS_ADMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "net/server/loop/peer.h"

struct admission;
struct call;
struct connection;

struct admission_options {
    unsigned key_rate; /* tokens a second; 0: as many as it likes */
    unsigned seller_rate;
    unsigned address_rate;
    unsigned address_connection_max; /* 0: no limit */
    const struct peer_ranges *proxies;
};

struct admission *admission_new(const struct admission_options *options);
void admission_free(struct admission *admission); /* NULL is fine */

/* False: the address has as many as it may; they are fewer when connections are scarce. */
bool admission_connect(struct admission *admission, struct peer_address address, bool is_scarce);
void admission_disconnect(struct admission *admission, struct peer_address address);

/* What callers hold of what all share. */
enum admission_kind {
    ADMISSION_CONNECTIONS, /* admission_connect's, by address */
    ADMISSION_ANSWERS,     /* bytes: large ones, and what connections have of small ones */
    ADMISSION_BODIES,      /* bytes, of those that are counted */
    ADMISSION_STREAMS,     /* with a thread each */
    ADMISSION_KIND_COUNT,
};

/* False: the caller would have more than max, and has got nothing. */
bool admission_hold(struct admission *admission, enum admission_kind kind, uint64_t caller,
                    size_t count, size_t max);
void admission_let_go(struct admission *admission, enum admission_kind kind, uint64_t caller,
                      size_t count);
size_t admission_held(struct admission *admission, enum admission_kind kind, uint64_t caller);

/* --- on the call's reactor --- */

bool admit_holds_too_much(const struct call *call); /* of unsent answers: it begins no other */

/* Of who sent it, before anybody knows whom a proxy asks for; 0: a proxy, which is many. */
uint64_t admit_sender(const struct connection *connection);
void admit_name(struct call *call); /* whose it is, for the turns of workers */
/* Its token; false: it is refused, or will be. Once: what has paid is not asked again. */
bool admit_take(struct call *call);
/* A token of its address for the check of its credential, beside the one of the call itself. */
bool admit_take_check(struct call *call);
/* The same of what costs less than a call: a file that is in memory, a preflight. */
bool admit_take_file(struct call *call);
/* ... and it has been answered with so many bytes. */
void admit_charge_file(struct call *call, size_t size);
/* It has taken call->cpu_us: what its token has not paid for is charged. */
void admit_charge(struct call *call);
int64_t admit_pay(const struct call *call, int64_t cpu_us); /* on any thread, a stream's: how long
                                                             * until nothing is owed, us */
bool admit_fault(struct call *call);   /* a key that is none: the address pays; as admit_take */
void admit_headers(struct call *call); /* what is left; the last ones before it is sent */

#endif

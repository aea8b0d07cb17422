/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_parts.h - the server's insides, for the files of net/ only.
 *
 * A server has event loops: a loop is one reactor thread with the connections it owns and the
 * memory they share. Loop 0 also accepts, and hands each new connection to the loop that has
 * fewest. The operators' port has a loop of its own, the last: it tells what is wrong when another
 * one is stuck. What is in struct server is fixed when it starts, or atomic.
 */
#ifndef TORG_NET_SERVER_CALLS_SERVER_PARTS_H
#define TORG_NET_SERVER_CALLS_SERVER_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "base/workers.h"
#include "net/server/calls/cors.h"
#include "net/server/calls/folder.h"
#include "net/server/calls/resources.h"
#include "net/server/calls/share.h"
#include "net/server/calls/site.h"
#include "net/server/loop/reactor.h"
#include "net/server/loop/tls.h"
#include "net/server/loop/watchdog.h"
#include "net/server/routes/gets.h"
#include "net/server/routes/health.h"
#include "net/server/routes/reflection.h"
#include "net/server/routes/router.h"
#include "net/server/server.h"

struct admission;
struct call;
struct connection;

struct loop {
    struct reactor reactor;
    struct server *server;
    struct connection *connections; /* owned */
    struct connection *dirty;       /* have something to write at the end of the turn */
    struct connection *roomy;       /* have calls that waited and may begin in the next turn */
    struct connection *closed;      /* to be freed at the end of the turn */
    _Atomic unsigned connection_count;
    _Atomic unsigned operator_count; /* of them, those of the operators' port */
    _Atomic unsigned running_count;  /* calls whose handler has not returned */
    _Atomic unsigned taken_count; /* calls that were let in (share.h), until they are freed ... */
    struct crowd crowd;           /* ... by address */
    struct call *spare_calls;     /* owned: recycled, with their memory */
    size_t spare_count;
    uint8_t *read_buffer;    /* owned: NET_READ_SIZE */
    struct buf write_buffer; /* frames of the connection being flushed */
    uint64_t request_seed;   /* request ids: this and a counter */
    uint64_t request_count;
    char date_text[30]; /* of the last answer, as HTTP writes it ... */
    int64_t date_s;     /* ... and its second */
    struct errand leave_task;
    struct errand drain_task;
    struct errand cancel_task;
    struct errand roomy_task;
    bool roomy_posted;
    struct errand vote_task; /* unsent.c: who is the worst here ... */
    struct errand shed_task; /* ... and it is the worst of all: close it */
    _Atomic uint64_t vote;
    bool leaving;
    bool draining;
    atomic_bool has_drained; /* every connection that it had then knows it */
};

enum { LOOP_ID_SIZE = 17 }; /* sixteen hex digits and the end */
void loop_make_id(struct loop *loop,
                  char id[LOOP_ID_SIZE]);  /* of a request, on the loop's thread */
struct bytes loop_date(struct loop *loop); /* now, for the header `date`; changes in place */

struct listener {
    struct watch watch;
    struct server *server;
    struct loop *loop; /* borrowed: the one that accepts */
    bool is_operator;  /* /livez /readyz /metrics */
    bool is_shared;    /* with other processes: it listens when it serves */
    int spare_fd;      /* given up for a moment to refuse a client when there are no more */
    struct timer rested;
    unsigned port;
};

struct server_metrics {
    struct gauge *connections;
    struct counter *accepted;
    struct counter *refused;
    struct counter *received;
    struct counter *sent;
    struct counter *floods;
    struct counter *overloads;
    struct gauge *unsent;
    struct counter *unsent_closed;
    struct counter *stream_pauses;
};

/* The limits of bounds.h that a program may change. */
struct server_limits {
    unsigned connection_count_max;
    unsigned call_count_max;
    int64_t head_timeout_us;
    int64_t body_grace_us;
    int64_t idle_timeout_us;
    int64_t stall_timeout_us;
    unsigned turn_ms_max;
    int64_t anonymous_stream_us;
    int64_t stream_silence_us;
    int64_t drain_pause_us;
};

enum { SERVER_MAGIC = OBJECT_MAGIC('s', 'e', 'r', 'v') };

struct server {
    uint32_t magic;
    const struct clock *clock; /* borrowed */
    struct server_limits limits;
    struct authenticator *authenticator; /* borrowed */
    struct tls_context *tls;
    bool tls_operators;
    struct task tls_keeper; /* reads certificates again */
    struct router router;
    struct site site;
    struct gets gets;
    struct cors cors;
    bool has_openapi;
    struct buf openapi;                                 /* the document, which the site borrows */
    const struct folder *folders[NET_FOLDER_COUNT_MAX]; /* borrowed */
    size_t folder_count;
    struct resources resources;
    struct workers *workers;
    struct workers *brief_workers;
    struct workers *compute_workers;
    struct workers *stream_workers;
    struct workers *anonymous_workers; /* for streams without a key */
    struct listener listener;
    struct listener operator_listener;
    struct loop *loops;
    unsigned loop_count;   /* all */
    unsigned client_loops; /* the first so many: clients' connections are spread over them */
    bool started;
    atomic_bool draining;
    struct admission *admission;    /* owned */
    _Atomic unsigned put_off_count; /* calls whose refusal is not told yet */
    _Atomic size_t body_size;       /* of all large bodies that are kept */
    _Atomic unsigned stream_count;  /* with a thread each, but those without a key */
    _Atomic size_t unsent_size;     /* of answers that are not sent */
    atomic_bool shedding;           /* the worst holder of such is being looked for */
    _Atomic unsigned vote_count;
    struct server_metrics metrics;

    const struct rpc_service *services[NET_SERVICE_COUNT_MAX]; /* borrowed */
    size_t service_count;
    struct bytes descriptor_sets[NET_SERVICE_COUNT_MAX]; /* borrowed */
    size_t descriptor_set_count;
    struct health *health;
    struct reflection *reflection;

    pthread_mutex_t unready_lock;
    char *unready;           /* owned; NULL = ready */
    char *lack;              /* owned; NULL = nothing */
    bool is_serving_without; /* what it lacks */
    char *trouble;           /* owned: a reactor that is stuck or spins; NULL = none */
    struct watchdog *watchdog;
};

/* Copies why the server is not ready, or what it lacks though it is; false when it is ready. */
bool server_unready(struct server *server, char *why, size_t size);

#endif

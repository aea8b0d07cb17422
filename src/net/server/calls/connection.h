/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.h - one socket: bytes in, a protocol that makes calls of them, bytes out.
 *
 * Belongs to one loop for life. A connection that waits holds no buffers: input is read into the
 * loop's buffer and output gathered in the loop's; only what is left over is kept here.
 */
#ifndef TORG_NET_SERVER_CALLS_CONNECTION_H
#define TORG_NET_SERVER_CALLS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/object.h"
#include "model/identity.h"
#include "net/server/loop/peer.h"
#include "net/server/loop/reactor.h"

struct call;
struct connection;
struct loop;
struct ssl_st;

/* What a protocol does for its connection and its calls: http1_ops, http2_ops. */
struct protocol_ops {
    const char *name;
    void (*open)(struct connection *connection);
    void (*close)(struct connection *connection);
    /* Takes all of it; false when nothing sensible can follow: flush, then close. */
    bool (*input)(struct connection *connection, struct bytes bytes);
    /* Appends what is to be sent, some NET_WRITE_SIZE at most; false as in input. */
    bool (*fill)(struct connection *connection, struct buf *out);
    /* The server will end soon: the client is told with the next answer, and goes on until then. */
    void (*leave)(struct connection *connection);
    void (*drain)(struct connection *connection); /* finish what is begun, take nothing new */
    void (*timeout)(struct connection *connection, const char *why); /* tell, then close */

    void (*respond)(struct call *call); /* the reply is ready, or has begun (streams) */
    void (*resume)(struct call *call, size_t taken); /* the handler has taken or written */
    void (*reset)(struct call *call); /* an answer that has begun cannot be finished */
};

enum { CONNECTION_MAGIC = OBJECT_MAGIC('c', 'o', 'n', 'n') };

struct connection {
    uint32_t magic;
    struct watch watch;
    struct timer timer;
    struct errand adopt; /* on its way from the accepting loop */
    struct loop *loop;
    struct connection *next;
    struct connection *previous;
    struct connection *next_dirty;
    struct connection *next_roomy;
    const struct protocol_ops *protocol; /* NULL until the first bytes tell */
    void *state;                         /* the protocol's own */
    struct ssl_st *tls;                  /* NULL: plain */
    struct call *calls;                  /* owned */
    unsigned call_count;
    unsigned stream_count;    /* of calls: those with a thread of their own */
    unsigned anonymous_count; /* of them, those without a key */
    size_t body_size;         /* of all unfinished bodies */
    size_t unsent_size;       /* of its answers that are not sent */
    size_t untold_size;       /* of it, what the calls have not counted at the server */
    size_t told_size;         /* and what the connection has ... */
    uint64_t holder;          /* ... for this caller */
    unsigned waiting_count;   /* calls that begin when there is less of it */
    int64_t taken_us;         /* the client took of an answer, or none waited for it */

    struct buf in;      /* a head that is not whole, or bytes behind a request in work */
    size_t input_size;  /* of it, what counts against the server's limit of bodies */
    struct buf out;     /* what the socket did not take */
    size_t out_sent;    /* of out's front */
    uint32_t events;    /* asked of epoll */
    int64_t waiting_us; /* since when a head is awaited: opened, or its first byte; 0 = no */
    int64_t opened_us;
    int64_t active_us;  /* a call began or ended */
    int64_t blocked_us; /* since when the socket takes nothing; 0 = it does */
    int64_t linger_us;  /* closing: input is thrown away until then; 0 = not closing */

    struct peer_address peer;
    bool is_operator;
    bool handshaken;
    bool dirty;
    bool roomy;
    bool closed;
    bool drained;  /* its protocol was told */
    bool paused;   /* HTTP/1.1: nothing more is read before the answer is out */
    bool finished; /* close when all is written */
    char peer_name[IDENTITY_NAME_SIZE]; /* of the client's certificate */
};

/* From any loop: makes the connection and gives it to loop. Takes fd, and what admission_connect
 * has counted. */
void connection_start(struct loop *loop, int fd, bool is_operator, struct peer_address peer);
void connection_close(struct connection *connection); /* now; freed at the end of the turn */

void connection_mark(struct connection *connection);   /* something is to be written */
void connection_resume(struct connection *connection); /* reads again, kept input first */
/* The server drains: at once, or when a new one has had a moment for its first request. */
void connection_drain(struct connection *connection);
void connection_hurry(struct connection *connection); /* the timer looks within a second */

void loop_write_out(struct reactor *reactor); /* writes what the turn has gathered */

extern const struct protocol_ops http1_ops;
extern const struct protocol_ops http2_ops;

#endif

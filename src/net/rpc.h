/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc.h - how a service is declared and what a handler sees.
 *
 * A service is declared once, in a .proto. Its handlers are C functions named in a table; the
 * same handler answers gRPC, and JSON over HTTP/1.1 and HTTP/2. A unary handler gets the
 * decoded request and an initialised response whose fields it fills with memory of the
 * call's arena (or static memory); everything is freed when the call ends.
 *
 *     static int get_system(struct call *call, const ProtobufCMessage *request,
 *                           ProtobufCMessage *response, struct err *err);
 *
 *     static const struct rpc_method methods[] = {
 *         {.name = "GetSystem", .unary = get_system, .flags = RPC_PUBLIC},
 *     };
 *
 * Threads: handlers run on worker threads and may block, except those marked RPC_INLINE, which
 * run on the reactor and must not, RPC_PROMPT, too, and RPC_BRIEF, which have few threads.
 * RPC_COMPUTE ones say when they wait (worker_waits). Streaming handlers run on a thread of their
 * own (bounded pool) and block in call_read and call_write: that is the back pressure.
 */
#ifndef TORG_NET_RPC_H
#define TORG_NET_RPC_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/violation.h"
#include "model/identity.h"

struct call;

typedef int (*rpc_unary_fn)(struct call *call, const ProtobufCMessage *request,
                            ProtobufCMessage *response, struct err *err);
typedef int (*rpc_stream_fn)(struct call *call, struct err *err);

enum rpc_flags {
    RPC_INLINE = 1 << 0,        /* never blocks: run it on the reactor */
    RPC_PUBLIC = 1 << 1,        /* needs no credential */
    RPC_CLIENT_STREAM = 1 << 2, /* the client sends many messages */
    RPC_SERVER_STREAM = 1 << 3, /* the server sends many messages */
    RPC_BRIEF = 1 << 4,         /* waits for the disk at the worst: run it on a few threads of its
                                 * own, not behind handlers that wait for commits */
    RPC_PROMPT = 1 << 8,        /* and brief: it defers, leaves brief, or fails, and never waits: a
                                 * small request is run on the reactor, as a thread that has to be
                                 * woken costs more than the handler */
    RPC_COMPUTE = 1 << 7,       /* takes the CPU: as many at once as there are cores, about */
    RPC_OF_SELLER = 1 << 5,     /* keeps to the caller's seller: also for keys bound to one */
    RPC_OF_CLIENT = 1 << 6,     /* the same of its client; without either flag, and not public, a
                                 * method is for keys that are bound to nobody */
};

struct rpc_method {
    const char *name;     /* as in the .proto */
    rpc_unary_fn unary;   /* exactly one of unary and stream */
    rpc_stream_fn stream; /* when a STREAM flag is set */
    unsigned flags;
    const char *scope; /* what the caller's key must allow; NULL: any key */
};

struct rpc_service {
    const ProtobufCServiceDescriptor *descriptor;
    const struct rpc_method *methods; /* methods of the .proto not named here: UNIMPLEMENTED */
    size_t method_count;
    void *context; /* given to handlers by call_context */
    /* Its data is in another process: its handlers wait for answers from there, so neither
     * RPC_BRIEF (and RPC_PROMPT with it) nor RPC_COMPUTE holds, and all run on the workers. */
    bool remote;
    /* Around a run of brief calls on one thread, which have all arrived before; may be NULL. */
    void (*begin)(void *context);
    void (*end)(void *context);
};

/* The service of this name in the .proto: RPC_SERVICE(parked, methods, desk). */
#define RPC_SERVICE(name, table, owner)                                                            \
    ((struct rpc_service){.descriptor = &torg__v1__##name##_service__descriptor,                   \
                          .methods = (table),                                                      \
                          .method_count = sizeof(table) / sizeof((table)[0]),                      \
                          .context = (owner)})

/* --- what a handler may ask of its call --- */

void *call_context(const struct call *call);
struct arena *call_arena(struct call *call);
const struct identity *call_identity(const struct call *call);
/* Who is calling, as the audit log takes it: "NAME#KEY". */
const char *call_actor(struct call *call);
/* A hash of who is calling, to count by: of the seller, else of the key, else of the address. */
uint64_t call_caller(const struct call *call);

/* The value of a request header or gRPC metadata (lower-case name); empty when absent. */
struct bytes call_header(const struct call *call, const char *name);
int call_add_header(struct call *call, const char *name, struct bytes value, struct err *err);

/* Monotonic microseconds by which the client wants the answer; INT64_MAX for no deadline. */
int64_t call_deadline_us(const struct call *call);
bool call_cancelled(const struct call *call);     /* the client left, or the deadline passed */
bool call_server_leaves(const struct call *call); /* a stream that would last ends */
/* When the call came, by its server's clock; 0: it came by none. */
int64_t call_begun_us(const struct call *call);
/* For a unary handler that would wait and hold its thread: what it returns now, an error, is
 * forgotten, and it is run again from its beginning after so long, if that is before the deadline.
 * False: that cannot be done here; it has to wait by itself. */
bool call_come_back(struct call *call, int64_t after_us);
/* For an RPC_BRIEF handler that sees that it will take long: the same, at once, on the threads of
 * those that are not brief. False: it runs there already. */
bool call_leave_brief(struct call *call);

/* For a unary handler whose answer somebody else brings, who answers many at once: true, and the
 * handler returns RPC_LATER and touches the call no more. False: it has to wait by itself. */
enum { RPC_LATER = 1 };
bool call_defer(struct call *call);
/* Answers what was deferred: by an empty message (a resource: 200 without a body), or by the error.
 * Once, on any thread, maybe before the handler has returned. */
void call_answer(struct call *call, int rc, struct err *err);

/* Names a field at fault; returned to the client with the error the handler returns. */
void call_violation(struct call *call, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void call_violations(struct call *call, const struct violations *violations);
/* Names it, and is the error too: "field: reason". ERR_INVALID. */
int call_invalid(struct call *call, struct err *err, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Next message of the client: 1 and *message (valid until the next read), 0 at its end, < 0. */
int call_read(struct call *call, ProtobufCMessage **message, struct err *err);
/* Sends one message; blocks while the client does not read. < 0 when it has gone. */
int call_write(struct call *call, const ProtobufCMessage *message, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one request and its answer, whatever protocol it came by; the side rpc.h hides.
 *
 * Life: call_new when a head begins, call_begin when the head is whole (routed, admitted or
 * refused), call_data and call_end for its body, then the handler runs (inline, or on a worker
 * while `running`), the reply is built, the protocol sends it, and call_drop ends it. While
 * `running`, the arena, the body and the reply belong to the handler's thread; the reactor touches
 * only what is atomic and the channel. When the connection goes first, the call stays without one
 * until its handler returns.
 */
#ifndef TORG_NET_SERVER_CALLS_CALL_H
#define TORG_NET_SERVER_CALLS_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/object.h"
#include "base/violation.h"
#include "base/workers.h"
#include "net/bounds.h"
#include "net/rpc.h"
#include "net/server/calls/folder.h"
#include "net/server/calls/format.h"
#include "net/server/loop/channel.h"
#include "net/server/loop/peer.h"
#include "net/server/loop/reactor.h"
#include "net/server/routes/router.h"

struct connection;
struct loop;
struct rest_request;  /* net/rest.h */
struct local_channel; /* net/local_call.h */

struct header {
    struct bytes name; /* lower case */
    struct bytes value;
};

struct reply {
    int http_status;
    char status_text[3]; /* HTTP/2's :status; here, as the arena is the handler's */
    char length_text[24];
    bool is_closed; /* a stream has begun: no more headers */
    int status;     /* gRPC's */
    struct bytes body;
    bool streaming; /* the body comes from the channel */
    size_t header_count;
    size_t steady_count; /* the first so many are alike from answer to answer */
    struct header headers[NET_REPLY_HEADER_COUNT_MAX + NET_OWN_HEADER_COUNT_MAX];
    size_t trailer_count;
    struct header trailers[4];
};

enum { CALL_RATE_TEXT_SIZE = 10 };

/* What is left of the tightest rate that the call counts against, and its texts as headers. */
struct call_rate {
    unsigned limit; /* 0: none */
    unsigned left;
    unsigned reset_s;
    char texts[3][CALL_RATE_TEXT_SIZE];
};

enum { CALL_MAGIC = OBJECT_MAGIC('c', 'a', 'l', 'l') };

struct call {
    uint32_t magic;
    struct errand task;   /* in its reactor's mailbox */
    struct job job;       /* in a pool's queue */
    struct timer timer;   /* the deadline */
    struct timer recheck; /* a stream's key */
    struct call *next;
    struct call *previous;
    struct loop *loop;
    struct connection *connection; /* NULL: it has gone */
    int32_t stream_id;             /* HTTP/2's */
    enum call_format format;
    bool head_done;
    bool body_done;
    bool waiting; /* the request is whole; it begins when earlier answers are out */
    bool running; /* a handler's thread has it */
    bool replied; /* the answer is given to the protocol, or has begun */
    bool counted;
    bool is_head;        /* HEAD: the answer without its body */
    bool is_get;         /* the address is the request, and is in `body`; what is sent is ignored */
    struct bytes origin; /* the page's, that may read the answer; of the server: cors.h */
    bool accepts_gzip;
    bool packed;    /* the body, or each gRPC message so marked, is gzip */
    bool refused;   /* body bytes are ignored */
    bool held;      /* HTTP/2: the reply waits for the end of a request it does not need */
    bool too_large; /* the head passed a limit */
    const char *head_refused; /* its large head is one too many; NULL: it is not */
    bool two_credentials;     /* a header that says who is calling came twice */
    bool keyless;             /* a stream of nobody we know: few at once, and not for ever */
    bool holds_stream;        /* of its caller's share of threads for streams */
    uint64_t crowd_id;        /* by which it is counted among the loop's calls; 0: it is not */
    bool is_surplus;          /* one of too many: its refusal is not held */
    bool dropped;             /* by its pool, in favour of others */
    const char *put_off;      /* refused with this text when the timer fires; NULL: not so */
    unsigned retry_after_s;
    struct peer_address peer; /* whom it is from */
    struct call_rate rate;
    int64_t cpu_us;       /* that its handler took */
    bool is_paid;         /* it has taken a token, or the part of one that its kind costs */
    int64_t prepaid_us;   /* of CPU, by what it took */
    uint8_t text_rest[4]; /* base64: what has come of a group of four ... */
    uint8_t text_rest_size;
    int64_t come_back_us; /* its handler wants to be run again after so long; 0: it does not */
    bool is_parked;       /* ... and waits for that, without a thread */
    bool left_brief;      /* its handler takes longer than brief ones may */
    int64_t thread_us;    /* of its thread, when its handler began */
    size_t sent;          /* of the reply's body */
    int64_t begun_us;
    size_t progress_size; /* taken since progress_us was moved on */
    int64_t progress_us;  /* the client took of the answer; 0 = it waits for us */
    int64_t deadline_us;
    atomic_int cancelled; /* 0, ERR_CANCELLED, ERR_TIMEOUT */
    int result;           /* of a handler on another thread */
    struct err err;       /* its text */

    struct arena *arena; /* owned */
    struct header headers[NET_HEADER_COUNT_MAX];
    size_t header_count;
    size_t head_size;
    struct bytes verb;
    struct bytes path;
    struct bytes query; /* behind the path's '?' */
    struct bytes content_type;
    struct credential credential;
    struct bytes timeout;
    bool timeout_is_ms; /* Connect's header, not gRPC's */
    struct route *route;
    const struct folder *folder; /* it is answered from; NULL: none */
    struct rest_request *rest;   /* in the arena: the route is a resource's; NULL: it is not */
    struct buf body;
    size_t body_size;    /* received, also when not kept */
    int64_t paced_us;    /* when the body's pace was last found good */
    size_t paced_size;   /* and what had come by then */
    size_t kept_size;    /* of it and of a large head, what counts against the connection's limit */
    size_t charged_size; /* of it, what counts against the server's */
    size_t message_size; /* of a stream's message, the same; its thread's */
    size_t unconsumed;   /* HTTP/2: bytes the window has not been reopened for */
    size_t answer_size;  /* of a large answer, what counts against the server's limit */
    size_t unsent_size;  /* of any, what counts against the connection's */
    struct buf out;      /* the reply's body when we make it */
    struct channel *channel;
    struct local_channel *local; /* borrowed: within the process, in place of a channel */
    struct buf message;          /* channel: the message being read or written */
    struct arena *message_arena; /* channel: the message last read */
    bool message_read;           /* JSON: the one message has been read */
    struct violations violations;
    struct identity identity;
    char request_id[LOG_REQUEST_ID_SIZE_MAX + 1];
    struct reply reply;
};

/* --- for protocols --- */

struct call *call_new(struct connection *connection);
/* False when the head passes a limit: the rest of it is to be thrown away. */
bool call_take_header(struct call *call, struct bytes name, struct bytes value);
void call_begin(struct call *call);
void call_make_id(struct call *call);                  /* unless it has one */
void call_data(struct call *call, struct bytes bytes); /* before call_end */
void call_end(struct call *call);
/* The protocol has no more use for it: sent, reset or cut off. */
void call_drop(struct call *call);

/* --- for dispatch.c, run.c and reply.c --- */

void call_cancel(struct call *call, int code);
/* Takes the stream over from a call whose handler still runs, to answer in its stead. */
struct call *call_replace(struct call *call);
const struct clock *call_clock(const struct call *call); /* of its server */
void call_count_reply(struct call *call);
void call_free(struct call *call);
/* The client took count bytes of the answer; few bytes are no progress, or none would be slow. */
void call_progress(struct call *call, size_t count);
bool call_has_body_limit(const struct call *call);
void call_begin_waiting(struct connection *connection); /* those that may begin now */
void call_end_waiting(struct call *call);

/* run.c */
void call_run(struct call *call);        /* a unary handler; the request is whole */
void call_run_stream(struct call *call); /* a streaming one, on a thread of its own */
/* On a stream's thread: charges what it has computed, and waits while its caller has nothing left.
 */
void call_pay(struct call *call);
void call_run_brief(struct job *first); /* a list of calls, on a thread for brief ones */
void call_expire(struct timer *timer);
void call_settle(struct errand *task); /* news from the handler's thread */
/* Hands it to the pool, or refuses it. */
void call_hand_over(struct call *call, struct workers *workers, void (*run)(struct job *job));

/* reply.c: builds the reply; call_send hands it to the protocol */
void reply_message(struct call *call, const ProtobufCMessage *message);
void reply_error(struct call *call, int http_status, int err_code, const char *text);
void reply_overload(struct call *call, const char *text);
/* The same a moment later: who asks too much must not be able to ask on at once. The text lives in
 * the call or for ever. */
void reply_now(struct call *call);         /* what was put off */
void reply_end_put_off(struct call *call); /* it is sent, or given up */
void reply_put_off(struct call *call, unsigned retry_after_s, const char *text);
void reply_plain(struct call *call, int http_status, const char *content_type, struct bytes body);
/* What is in `out`, as it is or packed; no content_type: no body. */
void reply_content(struct call *call, int http_status, const char *content_type);
void reply_stream_begin(struct call *call);
void reply_stream_end(struct call *call); /* the trailers, from result and err */
void reply_header(struct call *call, const char *name, struct bytes value);
int reply_frame(struct call *call, const ProtobufCMessage *message, struct buf *out,
                struct err *err);
void reply_trim(struct call *call); /* frees what is not needed to send it */
/* The answer that was built is not to be sent: the text is. */
void reply_give_up(struct call *call, const char *text);
void call_send(struct call *call);
void call_refuse(struct call *call, int http_status, int err_code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

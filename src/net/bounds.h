/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of net/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_NET_BOUNDS_H
#define TORG_NET_BOUNDS_H

enum {
    /* ---- the server ---- */
    NET_HEAD_SIZE_MAX = 32 << 10, /* request line and headers together; proxies send up to 16 KB */
    NET_HEADER_COUNT_MAX = 100,   /* honest clients send some twenty */
    NET_MESSAGE_SIZE_MAX = 4 << 20, /* one message, packed or not: gRPC's own default */
    NET_REPLY_SIZE_MAX = 64 << 20,  /* an answer is built in memory; larger ones are streams */
    NET_BODY_CONNECTION_SIZE_MAX = 32 << 20, /* unfinished bodies of one connection */
    NET_BODY_SERVER_SIZE_MAX = 256 << 20,    /* of all connections together; then 429 ... */
    NET_BODY_CALLER_SIZE_MAX = 64 << 20,     /* of one caller, when half of that is taken */
    NET_BODY_UNCHARGED_SIZE = 4 << 10,       /* ... where bodies up to this are not counted */
    NET_PROMPT_SIZE_MAX = 16 << 10,   /* of a request that is read on the reactor: microseconds */
    NET_STREAM_COUNT_MAX = 256,       /* concurrent streams of a connection */
    NET_CONNECTION_COUNT_MAX = 16384, /* of the whole server; an idle one costs 1 to 3 KB */
    NET_OPERATOR_CONNECTION_COUNT_MAX = 64, /* of the operators' port, whatever clients have open */
    NET_CALL_COUNT_MAX = 32768, /* of all connections at once, some 10 KB each; then 429 */
    NET_CALL_ADDRESS_PART =
        4, /* one in so many is the loops' own; when as many are borrowed, an address has no more */
    NET_DESCRIPTOR_SPARE =
        512, /* of the system's limit, not for clients: files, peers, operators */
    NET_REACTOR_COUNT_MAX = 64,
    NET_WORKER_COUNT = 64,     /* threads for handlers that block: a group of commits has as many */
    NET_BRIEF_SPARE_COUNT = 2, /* threads for brief handlers besides one per core: a disk is slow */
    NET_WORKER_COUNT_MAX = 1024,
    NET_COMPUTE_SPARE_COUNT = 1,  /* searches run at once besides one per core: more are slower */
    NET_COMPUTE_WAIT_COUNT = 48,  /* threads for those that wait meanwhile, for a write or a peer */
    NET_WORKER_QUEUE_MAX = 4096,  /* calls waiting for a worker; then the greediest gets 429 */
    NET_PUT_OFF_MS = 250,         /* a caller who asks too much learns of it so late, or asks on */
    NET_PUT_OFF_COUNT_MAX = 8192, /* of such at once, 10 KB each; more are refused at once */
    NET_KEY_RATE = 10000,         /* calls a second, or milliseconds of CPU: ten cores */
    NET_SELLER_RATE = 2000,       /* two cores; price lists come another way */
    NET_ADDRESS_RATE = 2000,      /* of whoever shows no key */
    NET_RATE_BURST_S = 10,        /* seconds' worth of a rate that may be taken at once */
    NET_PROXY_COUNT_MAX = 64,     /* ranges of addresses that name their clients */
    NET_ADDRESS_CONNECTION_MAX = 4096,       /* of one address, a quarter of all ... */
    NET_ADDRESS_CONNECTION_SCARCE_MAX = 256, /* ... and so many when three quarters are taken */
    NET_STREAM_THREAD_COUNT_MAX = 256,       /* streams served at once, a thread each; then 429 */
    NET_STREAM_THREAD_CALLER_MAX = 64,       /* of one caller ... */
    NET_STREAM_THREAD_SCARCE_MAX = 16,       /* ... and when half of all are taken */
    NET_STREAM_SILENCE_MS = 300 * 1000, /* a client's next message, or 64 KB of it, comes in it */
    NET_STREAM_THREAD_CONNECTION_MAX = 64,   /* as many, whoever they are */
    NET_ANONYMOUS_STREAM_COUNT_MAX = 16,     /* threads for streams without a key, beside those */
    NET_ANONYMOUS_STREAM_ADDRESS_MAX = 8,    /* so that nobody has all of them */
    NET_ANONYMOUS_STREAM_CONNECTION_MAX = 4, /* a probe has one, a curious person two */
    NET_ANONYMOUS_STREAM_MS = 300 * 1000, /* then such a stream ends: others wait for its place */
    NET_RECHECK_MS = 250,                 /* a revoked key ends its streams within a second */
    NET_TLS_LOOK_MS = 1000,               /* a certificate's new files are seen after that */
    NET_WINDOW_SIZE = 256 << 10,          /* HTTP/2 receive window of a stream */
    NET_CONNECTION_WINDOW_SIZE = 1 << 20,
    NET_STREAM_OUT_SIZE_MAX = 128 << 10,      /* a stream's unsent bytes before call_write blocks */
    NET_UNSENT_CONNECTION_SIZE_MAX = 8 << 20, /* of answers; then a connection's next calls wait */
    NET_UNSENT_CALLER_SIZE_MAX = 64 << 20,    /* of one caller; then its next calls get 429 */
    NET_UNSENT_SHED_SIZE = 192 << 20,         /* of all connections; then the worst is closed ... */
    NET_UNSENT_SERVER_SIZE_MAX = 256 << 20, /* ... and from here on answers are refused (429) ... */
    NET_UNSENT_REFUSED_SIZE = 1 << 20, /* ... that are larger than this: no answer to a write */
    NET_UNSENT_SMALL_SIZE = 64 << 10,  /* up to this an answer is counted by its connection */
    NET_UNSENT_UNTOLD_SIZE = 16 << 10, /* which tells the server of no less than this */
    NET_READ_SIZE = 64 << 10,          /* one read(2); a buffer a reactor */
    NET_WRITE_SIZE = 128 << 10,        /* frames gathered before one write(2) */
    NET_REPLY_HEADER_COUNT_MAX = 16,   /* headers a handler may add to its answer */
    NET_OWN_HEADER_COUNT_MAX = 20,     /* ... and the server: type, date, id, tags, CORS, status */
    NET_GZIP_SIZE_MIN = 4 << 10,       /* smaller answers are sent as they are */
    NET_OPENAPI_SIZE_MAX = 4 << 20,    /* made once at the start, from our own .proto files */
    NET_FILE_COUNT_MAX = 256,
    NET_GET_COUNT_MAX = 16,            /* addresses of methods that are read by GET */
    NET_FOLDER_COUNT_MAX = 8,          /* a prefix each: photos, and few more to come */
    NET_REST_COUNT_MAX = 64,           /* resources' methods: a path is compared with each */
    NET_REST_VARIABLE_COUNT_MAX = 4,   /* of one address: a client, a document and two more */
    NET_REST_PART_COUNT_MAX = 32,      /* parts of a path that a resource takes as they come */
    NET_REST_PARAMETER_COUNT_MAX = 32, /* behind the '?': a page's filters, and few more */
    NET_SERVICE_COUNT_MAX = 128,
    NET_HEAD_TIMEOUT_MS = 10 * 1000,  /* from a request's first byte to the end of its head */
    NET_BODY_GRACE_MS = 10 * 1000,    /* a body may take this long; of each such time ... */
    NET_BODY_RATE_MIN = 1 << 10,      /* ... so many bytes a second must have come */
    NET_IDLE_TIMEOUT_MS = 180 * 1000, /* a connection without calls */
    NET_STALL_TIMEOUT_MS = 30 * 1000, /* a client that takes nothing of its answer */
    NET_READ_RATE_MIN = 1 << 10,      /* ... or less than so many bytes a second in that time */
    NET_FLOOD_BUDGET = 2000,          /* HTTP/2 frames that cost us and bring nothing ... */
    NET_FLOOD_REFILL_PER_S = 100,     /* ... and how fast the budget comes back */
    NET_RETRY_AFTER_S = 1,            /* told to clients that came while all are busy */
    NET_LOOSE_SIZE_MAX = 64 << 20,    /* freed memory that is kept for the next burst ... */
    NET_LOOSE_LOOK_MS = 10 * 1000,    /* ... what is more goes back to the system, so often */
    NET_TURN_MS_MAX = 5 * 1000,       /* of a reactor; usually below one. Then it is called stuck */

    /* ---- services and client ---- */
    HEALTH_SERVICE_COUNT_MAX = 64,
    HEALTH_WATCH_POLL_MS = 250, /* how soon a watch sees that its client has left */
    HTTP_CLIENT_TIMEOUT_MS = 30 * 1000,
    HTTP_CLIENT_CONNECT_TIMEOUT_MS = 5 * 1000,
    HTTP_CLIENT_RESPONSE_SIZE_MAX = 16 << 20,
    HTTP_CLIENT_HEADER_COUNT_MAX = 128, /* of one answer; as many as common servers allow */
    HTTP_CLIENT_HEADERS_SIZE_MAX = 64 << 10,
    HTTP_CLIENT_REDIRECT_COUNT_MAX = 5,
    HTTP_CLIENT_IDLE_COUNT_MAX = 32,   /* connections kept for the next request */
    DOWNLOAD_TIMEOUT_MS = 3600 * 1000, /* 4 GB at a megabyte a second */
    DOWNLOAD_STALL_MS = 60 * 1000,     /* shops make their feeds while one waits */
    WEB_HOST_COUNT = 4096,             /* lines of sellers' servers, for their pace: 100 KB */
    WEB_HOST_TURN_COUNT = 4,           /* who ask one server at a time: half of those of photos */
    WEB_HOST_GAP_MS = 20,              /* between two of them: 50 a second, as a busy visitor */
    WEB_HOST_WAIT_MS = 1000,           /* for a turn; then it is left to another time */
    WEB_HOST_AGAIN_MS = 5 * 1000,      /* until who got no turn is to come again */
    WEB_HOST_SILENT_MS = 60 * 1000,    /* who did not answer is asked by patient ones alone */
    RPC_STREAM_IDLE_MS = 300 * 1000,   /* nothing moved: a server may be deleting a large feed */
};

#endif

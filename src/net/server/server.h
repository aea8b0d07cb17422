/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - listens, and turns what arrives into calls: HTTP/1.1, HTTP/2, gRPC, JSON, TLS.
 *
 * Configure, start, wait for a signal, drain, free. Registering is over when it starts.
 */
#ifndef TORG_NET_SERVER_SERVER_H
#define TORG_NET_SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"
#include "net/rest.h"
#include "net/rpc.h"

struct folder; /* net/server/calls/folder.h */
struct server;

struct server_options {
    const char *listen;          /* "127.0.0.1:8080", "[::1]:8080", port 0 = any free */
    const char *operator_listen; /* /livez /readyz /metrics; NULL = none */
    const char *tls_certificate; /* PEM file; NULL = plain */
    const char *tls_key;
    const char *tls_client_ca; /* client certificates are asked for, and checked by it */
    bool tls_client_required;
    bool tls_operators;            /* the operators' port has TLS, too */
    unsigned reactor_count;        /* 0 = one per core */
    unsigned worker_count;         /* 0 = default of bounds.h, as in all below */
    unsigned connection_count_max; /* NET_CONNECTION_COUNT_MAX */
    unsigned call_count_max;       /* NET_CALL_COUNT_MAX, and no more */
    unsigned head_timeout_ms;      /* NET_HEAD_TIMEOUT_MS */
    unsigned body_grace_ms;        /* NET_BODY_GRACE_MS */
    unsigned idle_timeout_ms;      /* NET_IDLE_TIMEOUT_MS */
    unsigned stall_timeout_ms;     /* NET_STALL_TIMEOUT_MS */
    unsigned turn_ms_max;          /* NET_TURN_MS_MAX */
    unsigned stream_silence_ms;    /* NET_STREAM_SILENCE_MS */
    unsigned anonymous_stream_ms;  /* NET_ANONYMOUS_STREAM_MS */
    const char *cors_origins;      /* pages of which places may call: between commas; NULL = none */
    unsigned key_rate; /* calls a second, or milliseconds of CPU (admit.h); 0: no limit */
    unsigned seller_rate;
    unsigned address_rate;
    unsigned address_connection_max; /* 0: no limit */
    bool reuse_port;                 /* the next process may listen beside this one */
    unsigned drain_pause_ms;         /* between being not ready and the last calls; 0: none */
    const char *proxies;             /* addresses whose X-Forwarded-For is believed; NULL: none */
    const struct clock *clock;       /* NULL: the system's; borrowed */
    struct authenticator *authenticator; /* NULL: every call is anonymous and allowed */
};

int server_new(const struct server_options *options, struct server **server, struct err *err);
void server_free(struct server *server);

void server_add_service(struct server *server, const struct rpc_service *service);
/* FileDescriptorSets that reflection shows; the model's own set is always there. */
void server_add_descriptors(struct server *server, struct bytes descriptor_set);
/* GET prefix/VALUE?name=value calls the method, with VALUE as the named field of its request
 * (gets.h). The method's service is added too; the texts are borrowed. */
void server_add_get(struct server *server, const char *prefix, const char *method,
                    const char *field);
/* Resources (net/rest.h). Their methods are borrowed for the server's life. */
void server_add_rest(struct server *server, const struct rest_service *service);
/* A file of the web page: GET path. Content is borrowed for the server's life. */
void server_add_file(struct server *server, const char *path, const char *content_type,
                     struct bytes content);

/* Files that are read when asked for: GET prefix and a name. Borrowed for the server's life. */
void server_add_folder(struct server *server, const struct folder *folder);

/* GET /openapi.json describes all that is added until the start. */
void server_add_openapi(struct server *server);

int server_start(struct server *server, struct err *err); /* listening when it returns 0 */
unsigned server_port(const struct server *server);
unsigned server_operator_port(const struct server *server);

/* What /readyz and grpc.health.v1 say; NULL = ready, else why not. */
void server_set_unready(struct server *server, const char *why);

/* What does not answer behind this server, NULL = nothing. Not serving: it is not ready for that;
 * serving: /readyz stays at 200 and tells of it. */
void server_set_lack(struct server *server, const char *lack, bool is_serving);

/* Not ready; after a pause clients are told to go elsewhere, and served until they do, for a
 * moment; then no new connections, GOAWAY, finish what is in flight for at most timeout_ms, then
 * close. */
void server_drain(struct server *server, int64_t timeout_ms);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest.h - how a resource is declared and what its handler sees: an address with variables, read
 * and changed by the ordinary methods of HTTP, with bodies of any format.
 *
 * Messages belong in a .proto and rpc.h, where gRPC and JSON are one; this is for everything else:
 * snippets of any format, photos, documents of any shape.
 *
 *     static int put_note(struct call *call, const struct rest_request *request,
 *                         struct rest_answer *answer, struct err *err);
 *
 *     static const struct rest_method methods[] = {
 *         {.verb = "PUT", .path = "/v1/notes/{id}", .run = put_note, .scope = "notes"},
 *     };
 *
 * "{id}" is one part of the path, "{name...}" (the last) all the rest, at least one. If several
 * services declare a path, each verb goes to the first. HEAD is answered by the handler of GET.
 * Access, deadlines, limits, threads (RPC_INLINE, RPC_BRIEF, otherwise a worker) and metrics are
 * those of every call, and so is what a handler may ask of its call (call_context, call_arena,
 * call_add_header, ...). Its error is answered as JSON, as for every caller that is not gRPC.
 */
#ifndef TORG_NET_REST_H
#define TORG_NET_REST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "net/bounds.h"
#include "net/rpc.h"

struct rest_parameter {
    struct bytes name;
    struct bytes value;
};

/* Names and values are decoded, and UTF-8. All of it lives as long as the call. */
struct rest_request {
    struct bytes variables[NET_REST_VARIABLE_COUNT_MAX]; /* in the order of the path */
    size_t variable_count;
    struct bytes tail[NET_REST_PART_COUNT_MAX]; /* the parts of "{name...}" */
    size_t tail_count;
    struct rest_parameter parameters[NET_REST_PARAMETER_COUNT_MAX]; /* of the query, as they came */
    size_t parameter_count;
    struct bytes content_type; /* as it was sent; empty: it was not */
    struct bytes body;         /* unpacked */
};

struct rest_answer {
    int http_status;          /* 200 */
    const char *content_type; /* "application/json"; NULL: there is no body */
    struct buf *body;         /* empty; the handler appends to it */
};

typedef int (*rest_fn)(struct call *call, const struct rest_request *request,
                       struct rest_answer *answer, struct err *err);

/* A parameter of the query, for the API's page. */
struct rest_field {
    const char *name;
    const char *schema; /* JSON Schema; REST_TEXT, REST_NUMBER, REST_FLAG */
    const char *about;
};

#define REST_TEXT "{\"type\":\"string\"}"
#define REST_NUMBER "{\"type\":\"integer\",\"minimum\":0}"
#define REST_FLAG "{\"type\":\"boolean\"}"
/* One type of a body or an answer; `content` of OpenAPI. */
#define REST_CONTENT(type, schema) "{\"" type "\":{\"schema\":" schema "}}"

struct rest_method {
    const char *verb;
    const char *path;
    rest_fn run;
    unsigned flags;       /* enum rpc_flags but those of streams */
    const char *scope;    /* as in struct rpc_method */
    size_t body_size_max; /* 0: NET_MESSAGE_SIZE_MAX */
    /* For the API's page (/openapi.json); JSON is `content` of OpenAPI, by media type. */
    const char *about;              /* one sentence */
    const struct rest_field *query; /* the last has no name; NULL: there are none */
    const char *body;               /* JSON; NULL: bytes of any form */
    const char *answer;             /* JSON; NULL: bytes; "": none */
    int status;                     /* of the answer; 0: 200 */
};

struct rest_service {
    const struct rest_method *methods;
    size_t method_count;
    void *context; /* given to handlers by call_context */
    bool remote;   /* as in struct rpc_service */
};

/* The first parameter of this name; its value may be empty. NULL: there is none. */
const struct rest_parameter *rest_parameter_find(const struct rest_request *request,
                                                 const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.h - calls other servers: one request, one answer, every wait and size bounded.
 *
 * Only http and https; certificates are always checked; redirects are not followed unless asked,
 * and then only a few, on the same protocols. Nothing is retried: only the caller knows whether it
 * may. Never through a proxy, whatever $http_proxy says: requests carry keys, and go to servers of
 * ours. Connections are kept and used again.
 * Threads: any, at once; each request in flight has a connection of its own.
 */
#ifndef TORG_NET_CLIENT_HTTP_CLIENT_H
#define TORG_NET_CLIENT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

struct http_client;

struct http_client_options {
    const char *ca_file;    /* PEM file of the authorities; NULL = the system's */
    const char *user_agent; /* NULL = "torg/VERSION" */
};

struct http_client_header {
    const char *name;
    const char *value;
};

struct http_client_request {
    const char *method; /* NULL = GET */
    const char *url;
    const struct http_client_header *headers;
    size_t header_count;
    struct bytes body;        /* sent with PUT, POST and PATCH, and with others when not empty */
    int64_t timeout_ms;       /* for all of it; 0 = HTTP_CLIENT_TIMEOUT_MS */
    size_t response_size_max; /* of the body; 0 = HTTP_CLIENT_RESPONSE_SIZE_MAX */
    bool follow_redirects;
    /* Instead of keeping the body of an answer with status 200 this is called with its parts as
     * they come; false ends it with ERR_CANCELLED. timeout_ms is then how long none may come. */
    bool (*on_part)(void *arg, struct bytes part);
    void *on_part_arg;
};

struct http_client_response {
    int status;
    const struct http_client_header *headers; /* names in lower case; memory of the arena */
    size_t header_count;
    struct bytes body; /* memory of the arena */
};

struct http_client *http_client_new(const struct http_client_options *options); /* may be NULL */
void http_client_free(struct http_client *client); /* when no request is in flight */

/*
 * 0 for every answer of the server, whatever its status. ERR_UNAVAILABLE: not reached or broken
 * off; ERR_TIMEOUT; ERR_LIMIT: the answer is too big; ERR_INVALID: the request itself.
 */
int http_client_send(struct http_client *client, const struct http_client_request *request,
                     struct arena *arena, struct http_client_response *response, struct err *err);

/* The value of a header, by its lower-case name; NULL when absent. */
const char *http_client_find(const struct http_client_response *response, const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gets.h - methods that a browser or curl can call with GET: the address is the request.
 *
 *     GET /v1/freshness/TOKEN?wait=5   is   {"token": "TOKEN", "wait": "5"}
 *
 * The text after the prefix is one field, the query's parameters are others, by their JSON names.
 * The request made of them is decoded like any JSON, so types, unknown names and repetitions are
 * checked, and reported, in one place.
 *
 * Filled before the server starts, read by all reactors afterwards.
 */
#ifndef TORG_NET_SERVER_ROUTES_GETS_H
#define TORG_NET_SERVER_ROUTES_GETS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "net/bounds.h"

struct get_address {
    struct bytes prefix; /* "/v1/freshness/"; borrowed, as all here */
    struct bytes method; /* "/torg.v1.FreshnessService/GetProgress" */
    struct bytes field;  /* "token" */
};

struct gets {
    struct get_address list[NET_GET_COUNT_MAX];
    size_t count;
};

void gets_add(struct gets *gets, const char *prefix, const char *method, const char *field);
/* NULL: the path is none of them. */
const struct get_address *gets_find(const struct gets *gets, struct bytes path);
/* Appends the request as JSON. ERR_INVALID: the address is not UTF-8, or breaks off after a '%'. */
int gets_request(const struct get_address *address, struct bytes path, struct bytes query,
                 struct buf *json, struct err *err);

#endif

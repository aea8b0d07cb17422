/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - the house's error codes as gRPC statuses, HTTP statuses and JSON code names.
 */
#ifndef TORG_NET_STATUS_H
#define TORG_NET_STATUS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/violation.h"

enum { STATUS_COUNT = 17, STATUS_OK = 0, STATUS_UNKNOWN = 2, STATUS_UNIMPLEMENTED = 12 };

int status_of_err(int err_code);           /* 0 … 16 */
int err_of_status(int status);             /* the first code that has it; else ERR_INTERNAL */
int status_of_json_name(const char *name); /* STATUS_UNKNOWN: of none */
int status_http(int status);               /* 200, 400, … */
const char *status_name(int status);       /* "OK", "INVALID_ARGUMENT": metrics */
const char *status_json_name(int status);  /* "invalid_argument": as Connect writes it */

/* The reason phrase of an HTTP status. */
const char *status_http_reason(int http_status);

/* A packed google.rpc.Status: BadRequest for the fields, RetryInfo when retry_after_s > 0. */
struct bytes status_pack(int status, const char *text, const struct violations *violations,
                         unsigned retry_after_s, struct arena *arena);

/* As Connect writes it: {"code":…,"message":…,"details":[{"type":"google.rpc.BadRequest",
 * "value":…,"debug":{"fieldViolations":[{"field":…,"description":…}]}}]}; the same details. */
void status_put_json(struct buf *out, int status, const char *text,
                     const struct violations *violations, unsigned retry_after_s);

/* text percent-encoded as grpc-message wants it. */
struct bytes status_message(const char *text, struct arena *arena);

#endif

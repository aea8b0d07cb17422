/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - a query as it came (torg.v1.Query), read into what the engine runs and what is to be
 * shown of its hits.
 *
 *   JSON or protobuf ──> Torg__V1__Query ── request_read ──> struct query_request
 *                                                  │ plan ──> query_run, query_explain
 *                                                  └ shows ──> response.h
 *
 * Names and types are checked against the schema here, so that an error tells the path to its
 * cause: `stages[0].filter.and.of[1].range.min: "x" is not an integer, and field "price" is one`.
 */
#ifndef TORG_QUERY_REQUEST_REQUEST_H
#define TORG_QUERY_REQUEST_REQUEST_H

#include "query/query.h"
#include "torg/v1/query.pb-c.h"

/* What is shown of a stage's hits. */
struct query_show {
    bool is_all;                       /* "*": what each hit has, in order of the schema */
    const struct field *const *fields; /* else, in the order asked for */
    uint32_t count;
    const struct field *const *marked; /* text fields with the query's words marked */
    uint32_t marked_count;
    struct highlight_options highlight;
};

struct query_request {
    struct query_plan plan;
    const struct query_show *shows; /* one a stage of the plan */
};

/* What a query may ask for whatever the fields are: how many stages, and which page of each. A
 * front checks it before shards are asked, which are asked for other pages. ERR_INVALID and
 * ERR_LIMIT name the path. */
int request_check(const Torg__V1__Query *message, struct err *err);

/* Hits of the page. */
uint32_t request_limit(const Torg__V1__QueryStage *message);

/* Checks it as well. What it reads is within all limits: the engine does not look again.
 * The request is in the arena and borrows from the message and the schema. now: seconds, for ages
 * in formulas. ERR_INVALID and ERR_LIMIT name the path. */
int request_read(const Torg__V1__Query *message, const struct schema *schema, int64_t now,
                 struct arena *arena, struct query_request *request, struct err *err);

#endif

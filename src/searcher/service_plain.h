/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_plain.h - searching a client's documents by an address, answered in plain JSON.
 *
 *   ?q=bike&filter=price<10&facets=colour&sort=price&limit=10 ──> Query ──> front ──> plain JSON
 *
 * Documents that were sent as plain JSON are shown as they were; of others each field, its numbers
 * as numbers. Types are those of a shard of this process.
 */
#ifndef TORG_SEARCHER_SERVICE_PLAIN_H
#define TORG_SEARCHER_SERVICE_PLAIN_H

#include "index/schema.h"
#include "net/rest.h"
#include "searcher/service.h"

struct plain_query {
    struct arena *arena;
    const struct schema *schema; /* of the client; NULL: not known here */
    Torg__V1__SearchRequest *request;
    struct bytes fields;     /* shown; empty: all */
    struct bytes explain_id; /* empty: nothing is to be explained */
    bool has_text;
};

/* Reads the parameters; ERR_INVALID names the one at fault. */
int plain_query_read(const struct rest_request *request, struct plain_query *query,
                     struct err *err);

/* explanation may be NULL. */
void plain_answer_write(const struct plain_query *query, const Torg__V1__SearchResponse *response,
                        const Torg__V1__Explanation *explanation, int64_t took_us, struct buf *out);

/* Cuts the next part off *rest at a comma that is in no brackets, without blanks around it. */
struct bytes plain_cut(struct bytes *rest);

struct rest_service plain_search_service(struct searcher *searcher);

#endif

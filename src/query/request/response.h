/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - what the engine found, as a message: hits with the fields to show, facets, pages.
 *
 * All fields are read inside one epoch. As everywhere attributes are the newest: a document that
 * was removed since it was found has none. A hidden field RESPONSE_KEY_FIELD is told as the hit's
 * pk; in a shard that has it, hits that are gone by then are not shown: the request is run anew,
 * and what is still gone after a few runs is left out. Attributes of one document are as they were
 * together.
 */
#ifndef TORG_QUERY_REQUEST_RESPONSE_H
#define TORG_QUERY_REQUEST_RESPONSE_H

#include "query/request/request.h"

#define RESPONSE_KEY_FIELD "_pk"

/* Runs the request and makes its answer, all of it in the arena. deadline_us: as query_run.
 * ERR_LIMIT: the fields to show have more than QUERY_SHOWN_SIZE_MAX bytes. */
int response_make(struct query_engine *engine, const struct query_request *request,
                  int64_t deadline_us, struct arena *arena, Torg__V1__QueryAnswer **answer,
                  struct err *err);

/* The same; the result stays at hand. */
int response_run(struct query_engine *engine, const struct query_request *request,
                 int64_t deadline_us, struct arena *arena, struct query_result *result,
                 Torg__V1__QueryAnswer **answer, struct err *err);

/* As query_explain. */
int response_explain(struct query_engine *engine, const struct query_request *request,
                     uint32_t stage, docid id, struct arena *arena,
                     Torg__V1__Explanation **explanation, struct err *err);

#endif

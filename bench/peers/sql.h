/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the SQL peers of bench core share: the filters and the page as one statement that gives rows
 * of (what, value, number): a hit with its key, the total, or a value of the what-th facet.
 */
#ifndef TORG_BENCH_PEERS_SQL_H
#define TORG_BENCH_PEERS_SQL_H

#include "peers/peer.h"

enum { SQL_ROW_HIT = -2, SQL_ROW_TOTAL = -1 };

/* " AND ..." for each filter of the ask; alias: "l." */
void sql_put_filters(const struct ask *ask, const char *alias, struct buf *sql);

/* Ends "WITH m AS (SELECT id, price, date, ... WHERE ..." and asks for hits, total and facets. */
void sql_put_page(const struct ask *ask, struct buf *sql);

/* The facets of the last query, as they are printed. */
struct facets {
    struct buf text[PEER_FACET_COUNT_MAX];
    char names[PEER_FACET_COUNT_MAX][16];
    size_t count;
};

void facets_start(struct facets *facets, const char *names); /* "brand,city" */
void facets_add(struct facets *facets, size_t which, const char *value, uint64_t count);
void facets_put(struct facets *facets, struct buf *out);
void facets_release(struct facets *facets);

#endif

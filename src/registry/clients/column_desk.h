/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_desk.h - columns from outside are loaded, listed and dropped, as functions on messages.
 *
 *   files in the blob store ── load: heads checked with the client's numbers ──> a row (sql/0031)
 *                                                      searchers follow the rows (lender.h) ◄──┘
 *
 * A column fits an epoch that has the numbers it was made from, T.S.V; its G is not above that of
 * the numbers. Files of loads that were replaced or given up are removed by the next load or drop.
 *
 * ColumnService answers with these.
 */
#ifndef TORG_REGISTRY_CLIENTS_COLUMN_DESK_H
#define TORG_REGISTRY_CLIENTS_COLUMN_DESK_H

#include "blob/blob.h"
#include "registry/clients/clients.h"
#include "torg/v1/column.pb-c.h"
#include "torg/v1/searcher.pb-c.h"

/* All borrowed; of a service it lives as long as the server. */
struct column_desk {
    struct store *store;
    struct blob *blob;
    struct clients *clients;
    const struct clock *clock;
    /* As of struct epoch_desk. */
    int (*freshness)(void *arg, const char *client, struct arena *arena,
                     Torg__V1__Freshness **freshness, struct err *err);
    void *freshness_arg;
};

/* Memory of answers is the arena's. principal: who asks, for the audit log. */
int column_desk_load(const struct column_desk *desk, const char *client, const char *principal,
                     const Torg__V1__LoadColumnRequest *request, struct arena *arena,
                     Torg__V1__OutsideColumn *column, struct err *err);
int column_desk_list(const struct column_desk *desk, const char *client, struct arena *arena,
                     Torg__V1__ListColumnsResponse *response, struct err *err);
/* ERR_NOT_FOUND: there is none of the name. */
int column_desk_drop(const struct column_desk *desk, const char *client, const char *principal,
                     const char *name, struct arena *arena, struct err *err);

#endif

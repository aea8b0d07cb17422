/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.c - see fence.h.
 *
 * The check reads before it writes: a write at each check would make all writers of a shard
 * conflict on PostgreSQL, where its SERIALIZABLE sees a read that a newer owner made stale.
 */
#include "store/fence.h"

#include <inttypes.h>

int store_check_fence(struct store_tx *tx, const char *name, int64_t ticket, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(name)), STORE_V_INT(ticket)};
    int64_t newest = INT64_MIN; /* nobody has written */
    int rc;

    rc =
        store_find_integer(tx, "SELECT ticket FROM fence WHERE name = $1", params, 1, &newest, err);
    if (rc || newest == ticket)
        return rc;
    if (newest > ticket)
        return err_set(err, ERR_STALE,
                       "fence %s: ticket %" PRId64 " is stale, %" PRId64
                       " has written: give up ownership",
                       name, ticket, newest);
    return store_exec(tx,
                      "INSERT INTO fence (name, ticket) VALUES ($1, $2) "
                      "ON CONFLICT (name) DO UPDATE SET ticket = excluded.ticket",
                      params, 2, NULL, err);
}

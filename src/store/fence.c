/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.c - see fence.h.
 *
 * The check reads before it writes: a write at each check would make all writers of a shard
 * conflict on PostgreSQL, where its SERIALIZABLE sees a read that a newer owner made stale.
 */
#include "store/fence.h"

#include <assert.h>
#include <inttypes.h>

struct found {
    bool any;
    int64_t ticket;
};

static int take_ticket(void *arg, const struct store_value *columns, size_t column_count,
                       struct err *err)
{
    struct found *found = arg;

    assert(column_count == 1 && columns[0].type == STORE_INT);
    *found = (struct found){true, columns[0].integer};
    return 0;
}

int store_check_fence(struct store_tx *tx, const char *name, int64_t ticket, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(name)), STORE_V_INT(ticket)};
    struct found found = {0};
    int rc;

    rc = store_query(tx, "SELECT ticket FROM fence WHERE name = $1", params, 1, take_ticket, &found,
                     err);
    if (rc)
        return rc;
    if (found.any && found.ticket > ticket)
        return err_set(err, ERR_STALE,
                       "fence %s: ticket %" PRId64 " is stale, %" PRId64
                       " has written: give up ownership",
                       name, ticket, found.ticket);
    if (found.any && found.ticket == ticket)
        return 0;
    return store_exec(tx,
                      "INSERT INTO fence (name, ticket) VALUES ($1, $2) "
                      "ON CONFLICT (name) DO UPDATE SET ticket = excluded.ticket",
                      params, 2, NULL, err);
}

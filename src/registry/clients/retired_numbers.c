/* SPDX-License-Identifier: Apache-2.0 */
/* retired_numbers.c - see retired_numbers.h. */
#include "registry/clients/retired_numbers.h"

#include "base/log.h"
#include "numerator/column_rows.h"
#include "numerator/number_rows.h"
#include "registry/bounds.h"

struct removing {
    bool found, is_over;
    struct number_place place;
    struct number_version version;
    int64_t column_count;
};

/* A shard of a numbering that no epoch has. One of a client without any epoch stays: its rows are
 * damaged, and its numbers may be all that is left to mend them by. */
static int find_place(struct store_tx *tx, struct removing *removing, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT n.space, n.shard, n.kind, n.scheme, n.rebuild FROM number_space n "
                     "WHERE EXISTS (SELECT 1 FROM registry_epoch e WHERE e.client_id = n.kind) "
                     "AND NOT EXISTS (SELECT 1 FROM registry_epoch e WHERE e.client_id = n.kind "
                     "AND (e.space = n.space OR (e.space = 0 AND n.space = n.kind))) LIMIT 1",
                     NULL, 0);

    removing->found = store_next(&rows);
    if (removing->found) {
        removing->place =
            (struct number_place){rows.columns[0].integer, (uint32_t)rows.columns[1].integer};
        removing->version = (struct number_version){.kind = (uint32_t)rows.columns[2].integer,
                                                    .scheme = (uint32_t)rows.columns[3].integer,
                                                    .rebuild = (uint32_t)rows.columns[4].integer};
    }
    return store_rows_end(&rows, err);
}

/* Nothing is written while there is nothing to do, as nearly always. */
static int look_tx(struct store_tx *tx, void *arg, struct err *err)
{
    return find_place(tx, arg, err);
}

static int remove_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct removing *removing = arg;
    int rc = find_place(tx, removing, err);

    if (rc || !removing->found)
        return rc;
    rc = column_rows_drop_retired(tx, &removing->column_count, err); /* they fit nothing any more */
    return rc ? rc
              : place_rows_drop(tx, &removing->place, RETIRED_NUMBER_COUNT, &removing->is_over,
                                err);
}

int retired_numbers_remove(struct store *store, bool *is_over, struct err *err)
{
    struct removing removing = {0};
    int rc = store_read(store, look_tx, &removing, err);

    if (!rc && removing.found)
        rc = store_write(store, remove_tx, &removing, err);
    *is_over = !rc && !removing.found;
    if (!rc && removing.column_count)
        log_info("columns from outside went with the numbers that they were made from",
                 LOG_INT("columns", removing.column_count));
    if (!rc && removing.found && removing.is_over)
        log_info("the numbers of a shard that no epoch has are removed",
                 LOG_INT("client", removing.version.kind), LOG_INT("shard", removing.place.shard),
                 LOG_INT("shards", removing.version.scheme),
                 LOG_INT("rebuild", removing.version.rebuild));
    return rc;
}

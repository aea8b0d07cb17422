/* SPDX-License-Identifier: Apache-2.0 */
/* recompose_mark.c - see recompose_mark.h. */
#include "documents/recompose_mark.h"

#include <stdio.h>

#include "base/memory.h"

int recompose_mark_read(struct store *store, struct recompose_mark *mark, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store,
        "SELECT done_version, target_version, category_id, offer_id, offer_count, seen_count, "
        "sent_count, hidden_count, failed_count, began_us, moved_us FROM composer_catalog "
        "WHERE id = 1",
        NULL, 0);

    *mark = (struct recompose_mark){0};
    if (store_next(&rows)) {
        const struct store_value *columns = rows.columns;

        *mark = (struct recompose_mark){.done_version = columns[0].integer,
                                        .target_version = columns[1].integer,
                                        .offer = columns[3].integer,
                                        .offer_count = columns[4].integer,
                                        .seen_count = columns[5].integer,
                                        .sent_count = columns[6].integer,
                                        .hidden_count = columns[7].integer,
                                        .failed_count = columns[8].integer,
                                        .began_us = columns[9].integer,
                                        .moved_us = columns[10].integer};
        snprintf(mark->category, sizeof(mark->category), "%.*s", BYTES_ARG(columns[2].bytes));
    }
    return store_rows_end(&rows, err);
}

int recompose_mark_move(struct store *store, const struct recompose_mark *from,
                        const struct recompose_mark *to, struct err *err)
{
    int64_t changed;
    int rc = store_write_one(
        store,
        "UPDATE composer_catalog SET done_version = $1, target_version = $2, category_id = $3, "
        "offer_id = $4, offer_count = $5, seen_count = $6, sent_count = $7, hidden_count = $8, "
        "failed_count = $9, began_us = $10, moved_us = $11 WHERE id = 1 AND done_version = $12 "
        "AND target_version = $13 AND category_id = $14 AND offer_id = $15",
        STORE_WITH(
            STORE_V_INT(to->done_version), STORE_V_INT(to->target_version),
            STORE_V_STRING(to->category), STORE_V_INT(to->offer), STORE_V_INT(to->offer_count),
            STORE_V_INT(to->seen_count), STORE_V_INT(to->sent_count), STORE_V_INT(to->hidden_count),
            STORE_V_INT(to->failed_count), STORE_V_INT(to->began_us), STORE_V_INT(to->moved_us),
            STORE_V_INT(from->done_version), STORE_V_INT(from->target_version),
            STORE_V_STRING(from->category), STORE_V_INT(from->offer)),
        &changed, err);

    if (!rc && changed != 1)
        rc = err_set(err, ERR_STALE, "another composer has gone on with the catalogue's change");
    return rc;
}

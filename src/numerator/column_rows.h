/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_rows.h - columns from outside that are loaded: the rows of sql/0031.
 *
 * A row tells which numbers (T.S.V) a column was made from, and where in the blob store the parts
 * of its shards are. Searchers follow the rows and map the parts (searcher/replica/lender.h).
 */
#ifndef TORG_NUMERATOR_COLUMN_ROWS_H
#define TORG_NUMERATOR_COLUMN_ROWS_H

#include "base/arena.h"
#include "numerator/numerator.h"
#include "store/store.h"

struct column_row {
    int64_t client_id;
    const char *client; /* its name */
    const char *name;
    struct number_version version; /* G: the least of its parts */
    uint8_t digits;
    int64_t number_count;
    int64_t size; /* bytes */
    int64_t mark; /* of the load */
    const char *place;
    int64_t loaded_us;
    const char *loaded_by;
};

struct column_rows {
    const struct column_row *list; /* in order of clients, names and marks */
    size_t count;
};

/* Another one whenever a row has come, gone or changed. */
int column_rows_mark(struct store *store, int64_t *mark, struct err *err);
/* client_id 0: of all clients. */
int column_rows_read(struct store *store, int64_t client_id, struct arena *arena,
                     struct column_rows *rows, struct err *err);

/* ---- inside a transaction ---- */

/* In the place of the one of that name and numbering; its mark is given by the store. */
int column_row_put(struct store_tx *tx, struct column_row *row, struct err *err);
/* Of all numberings; *count: how many there were. */
int column_rows_drop(struct store_tx *tx, int64_t client_id, const char *name, int64_t *count,
                     struct err *err);
/* Those of numberings that no epoch has any more; *count: how many there were. */
int column_rows_drop_retired(struct store_tx *tx, int64_t *count, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many.h - one statement for many rows, so that a server far away is asked less often.
 *
 * Statements have fixed numbers of rows, so that few texts are prepared: so many rows are written
 * by some of the largest, then of the smaller ones.
 */
#ifndef TORG_REGISTRY_MANY_H
#define TORG_REGISTRY_MANY_H

#include <stdatomic.h>
#include <stddef.h>

#include "store/store.h"

enum { MANY_FORM_COUNT = 4, MANY_ROW_COUNT_MAX = 48, MANY_OWN_COUNT_MAX = 10 };

/* A statement; one of its own and static, as its texts are made once and kept. */
struct many {
    const char *head;      /* "INSERT INTO t (a, b, c) VALUES " */
    const char *row;       /* "($1, ?, ?)": $n are shared by all rows, ? are the row's own */
    const char *join;      /* between rows; NULL: ", " */
    const char *tail;      /* " ON CONFLICT ..." */
    unsigned shared_count; /* of values: $1 to $n */
    unsigned own_count;
    _Atomic(char *) texts[MANY_FORM_COUNT];
};

/* Fills the own values of the row at place. */
typedef void (*many_row_fn)(const void *rows, size_t place, struct store_value *own);

/* Runs it for all rows. */
int many_query(struct store_tx *tx, struct many *many, const struct store_value *shared,
               const void *rows, size_t count, many_row_fn fill, store_row_fn take, void *arg,
               struct err *err);
/* The same when it gives no rows. */
int many_exec(struct store_tx *tx, struct many *many, const struct store_value *shared,
              const void *rows, size_t count, many_row_fn fill, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many.h - one statement for many rows, which saves round trips to a distant server.
 *
 * Statements have fixed numbers of rows, so few texts are prepared: rows are written by the largest
 * statements first, the rest by smaller ones.
 */
#ifndef TORG_REGISTRY_MANY_H
#define TORG_REGISTRY_MANY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/bounds.h"
#include "store/store.h"

enum { MANY_FORM_COUNT = 4, MANY_ROW_COUNT_MAX = 48 };

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

/* The statement for some of the rows. */
struct many_chunk {
    size_t done; /* rows that a statement was made for; set it to 0 to begin */
    const char *sql;
    struct store_value params[STORE_PARAM_COUNT_MAX];
    size_t param_count;
};

/* Makes the next one; false: all rows are done. */
bool many_next(struct many *many, const struct store_value *shared, const void *rows, size_t count,
               many_row_fn fill, struct many_chunk *chunk);
/* Runs it for all rows; it gives none. */
int many_exec(struct store_tx *tx, struct many *many, const struct store_value *shared,
              const void *rows, size_t count, many_row_fn fill, struct err *err);

#endif

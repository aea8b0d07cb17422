/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statements.h - the prepared statements of one connection, found by their text.
 *
 * A table of sets with a few ways each: bounded, the least recently used of a set makes room. A
 * statement is marked busy while its rows are read; if the same text is run meanwhile, it gets a
 * statement of its own. Not for sharing between threads.
 */
#ifndef TORG_STORE_STATEMENTS_H
#define TORG_STORE_STATEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/bounds.h"

struct statement { /* embedded in each backend's struct */
    char *sql;     /* owned */
    uint64_t hash;
    uint64_t used; /* time of last use, in uses of the table */
    bool busy;
    bool kept; /* in the table; otherwise whoever ran it frees it */
};

struct statements {
    struct statement *slots[STORE_STATEMENT_SET_COUNT][STORE_STATEMENT_WAY_COUNT];
    uint64_t use_count;
};

/* The idle statement of this text, or NULL. */
struct statement *statements_find(struct statements *statements, const char *sql);

/* Keeps the statement if its set has room or something idle to evict; returns what was evicted,
 * for the caller to free, or NULL. */
struct statement *statements_keep(struct statements *statements, struct statement *statement);

/* Empties the table one by one: returns a statement to free, NULL at the end. */
struct statement *statements_take(struct statements *statements);

void statement_init(struct statement *statement, const char *sql);
void statement_release(struct statement *statement);

#endif

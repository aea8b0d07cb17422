/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - snippets times keys, in one language: what a page asks for, and the rows that it gets.
 *
 * A cell has the row in the language or, if it is not there, the one in none. Rows come from the
 * cache (cache.h), the other keys by one read of the store (rows.h).
 */
#ifndef TORG_SNIPPETS_ROWS_GRID_H
#define TORG_SNIPPETS_ROWS_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "snippets/rows/rows.h"
#include "store/store.h"

struct snippet_cache;

struct snippet_grid {  /* all of it the arena's */
    int64_t *prefixes; /* each once, in their order */
    size_t prefix_count;
    struct bytes *keys; /* each once, in their order */
    size_t key_count;
    struct bytes language;
    const struct snippet_row **cells; /* [prefix * key_count + key]; NULL: there is none */
};

/* The lists are copied; keys are borrowed no longer than this call. */
void snippet_grid_init(struct snippet_grid *grid, const int64_t *prefixes, size_t prefix_count,
                       const struct bytes *keys, size_t key_count, struct bytes language,
                       struct arena *arena);

/* From memory alone; false: not all of it is there, and no cell is set. */
bool snippet_grid_find(struct snippet_grid *grid, struct snippet_cache *cache, struct store *store,
                       struct arena *arena);
/* cache: NULL is none. */
int snippet_grid_read(struct snippet_grid *grid, struct snippet_cache *cache, struct store *store,
                      struct arena *arena, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - what pages were shown lately, in memory: a cache, so that asking again costs no read of
 * the store.
 *
 *   a page ── snippet_cache_find ──> the keys of which all is known
 *          └─ the store's rows of the others ── snippet_cache_keep ──> known from now on
 *   a write ── hold ──> its transaction ── let go *
 * Nobody sees an older row than the store would show. A write takes its rows out before its
 * transaction, and until that has ended, whichever way, nothing of their keys is kept: they are
 * read from the store. What was read before a write began is not kept once it has begun (leases: a
 * stamp is taken before the read and compared after it). All of a key is taken from here or all
 * from the store, so a group is whole; and when another generation is shown while a page is put
 * together, that page is told (snippet_cache_is_current) and reads everything from the store.
 *
 * That nothing is there is known, too, and which row a language has: its own or the one of none. A
 * row that has ended is not known any more. Bodies above SNIPPET_CACHE_BODY_SIZE_MAX are not kept;
 * above SNIPPET_CACHE_SIZE_MAX what was asked for least lately goes (second chance).
 *
 * Only this process may write the store: it is not used on PostgreSQL. Reads that fill it are never
 * of a held snapshot (store_hold).
 * Threads: any.
 */
#ifndef TORG_SNIPPETS_ROWS_CACHE_H
#define TORG_SNIPPETS_ROWS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "snippets/rows/generation.h"
#include "snippets/rows/grid.h"
#include "snippets/rows/rows.h"

struct snippet_cache;

struct snippet_cache *snippet_cache_new(void);
void snippet_cache_free(struct snippet_cache *cache); /* NULL is fine */

/* --- pages --- */

struct snippet_key_glance {
    uint32_t stamp;
    bool is_missing;
    bool may_keep; /* what the store has: nobody writes it */
};

/* What was seen of the cache before the store is read. */
struct snippet_glance {
    bool is_void;                    /* other rows are about to be shown: all is the store's */
    uint32_t *space_stamps;          /* by snippet */
    struct snippet_key_glance *keys; /* by key */
    size_t size;                     /* of the bodies that were found */
};

/* Fills the cells of keys of which all is known, up to SNIPPET_BATCH_SIZE_MAX bytes; how many keys
 * are left. */
size_t snippet_cache_find(struct snippet_cache *cache, const struct snippet_grid *grid,
                          int64_t now_us, struct arena *arena, struct snippet_glance *glance);
/* What was taken from here may stand beside what was read of the store since. */
bool snippet_cache_is_current(struct snippet_cache *cache, const struct snippet_grid *grid,
                              const struct snippet_glance *glance);
/* The cells of the keys that were left, as the store has them. */
void snippet_cache_keep(struct snippet_cache *cache, const struct snippet_grid *grid,
                        const struct snippet_glance *glance);

/* --- writes; a cache of NULL is none --- */

/* snippet_rows_write_parts with its rows held. */
int snippet_cache_write(struct snippet_cache *cache, struct store *store,
                        const struct snippet_part *parts, size_t count,
                        const struct snippet_source *source, size_t *written, struct err *err);

/* Around what changes all rows of these snippets. */
void snippet_cache_hold_all(struct snippet_cache *cache,
                            const struct snippet_prefix_list *prefixes);
void snippet_cache_let_go_all(struct snippet_cache *cache,
                              const struct snippet_prefix_list *prefixes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* grid.c - see grid.h. */
#include "snippets/rows/grid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "snippets/bounds.h"
#include "snippets/rows/cache.h"

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int by_bytes(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

void snippet_grid_init(struct snippet_grid *grid, const int64_t *prefixes, size_t prefix_count,
                       const struct bytes *keys, size_t key_count, struct bytes language,
                       struct arena *arena)
{
    *grid = (struct snippet_grid){.language = arena_copy(arena, language)};
    grid->prefixes = arena_array(arena, prefix_count + 1, sizeof(*grid->prefixes));
    grid->keys = arena_array(arena, key_count + 1, sizeof(*grid->keys));
    if (prefix_count)
        memcpy(grid->prefixes, prefixes, prefix_count * sizeof(*prefixes));
    if (key_count)
        memcpy(grid->keys, keys, key_count * sizeof(*keys));
    qsort(grid->prefixes, prefix_count, sizeof(*prefixes), by_number);
    qsort(grid->keys, key_count, sizeof(*keys), by_bytes);
    for (size_t i = 0; i < prefix_count; i++) {
        if (!i || grid->prefixes[i] != grid->prefixes[i - 1])
            grid->prefixes[grid->prefix_count++] = grid->prefixes[i];
    }
    for (size_t i = 0; i < key_count; i++) {
        if (!grid->key_count || !bytes_equal(grid->keys[i], grid->keys[grid->key_count - 1]))
            grid->keys[grid->key_count++] = arena_copy(arena, grid->keys[i]);
    }
    grid->cells =
        arena_array(arena, grid->prefix_count * grid->key_count + 1, sizeof(*grid->cells));
}

static void clear(struct snippet_grid *grid)
{
    memset(grid->cells, 0, grid->prefix_count * grid->key_count * sizeof(*grid->cells));
}

/* The row in the language goes before the one in none. */
static void set_cell(struct snippet_grid *grid, const struct snippet_row *row)
{
    const int64_t *prefix = bsearch(&row->prefix, grid->prefixes, grid->prefix_count,
                                    sizeof(*grid->prefixes), by_number);
    const struct bytes *key =
        bsearch(&row->key, grid->keys, grid->key_count, sizeof(*grid->keys), by_bytes);
    const struct snippet_row **cell;

    assert(prefix && key);
    cell = &grid->cells[(size_t)(prefix - grid->prefixes) * grid->key_count + (key - grid->keys)];
    if (!*cell || row->language.size)
        *cell = row;
}

static int read_keys(struct snippet_grid *grid, const struct bytes *keys, size_t count,
                     struct store *store, struct arena *arena, struct err *err)
{
    struct snippet_row *rows = NULL;
    size_t row_count = 0;
    int rc = snippet_rows_batch(store, grid->prefixes, grid->prefix_count, keys, count,
                                grid->language, arena, &rows, &row_count, err);

    for (size_t i = 0; i < row_count && !rc; i++)
        set_cell(grid, &rows[i]);
    return rc;
}

/* Of those that the cache has not. */
static int read_missing(struct snippet_grid *grid, const struct snippet_glance *glance,
                        struct store *store, struct arena *arena, struct err *err)
{
    struct bytes *keys = arena_array(arena, grid->key_count, sizeof(*keys));
    size_t count = 0;

    for (size_t i = 0; i < grid->key_count; i++) {
        if (glance->keys[i].is_missing)
            keys[count++] = grid->keys[i];
    }
    return read_keys(grid, keys, count, store, arena, err);
}

bool snippet_grid_find(struct snippet_grid *grid, struct snippet_cache *cache, struct store *store,
                       struct arena *arena)
{
    struct snippet_glance glance;

    if (!cache)
        return false;
    if (!snippet_cache_find(cache, grid, clock_wall_us(store_clock(store)), arena, &glance) &&
        snippet_cache_is_current(cache, grid, &glance))
        return true;
    clear(grid);
    return false;
}

static int check_size(const struct snippet_grid *grid, struct err *err)
{
    size_t size = 0;

    for (size_t i = 0; i < grid->prefix_count * grid->key_count; i++)
        size += grid->cells[i] ? grid->cells[i]->body.size : 0;
    return size > SNIPPET_BATCH_SIZE_MAX ? snippet_rows_too_large(err) : 0;
}

int snippet_grid_read(struct snippet_grid *grid, struct snippet_cache *cache, struct store *store,
                      struct arena *arena, struct err *err)
{
    struct snippet_glance glance;
    size_t missing;
    int rc = 0;

    if (!cache)
        return read_keys(grid, grid->keys, grid->key_count, store, arena, err);
    missing = snippet_cache_find(cache, grid, clock_wall_us(store_clock(store)), arena, &glance);
    if (missing)
        rc = read_missing(grid, &glance, store, arena, err);
    if (rc)
        return rc;
    if (!snippet_cache_is_current(cache, grid, &glance)) {
        clear(grid);
        return read_keys(grid, grid->keys, grid->key_count, store, arena, err);
    }
    if (missing)
        snippet_cache_keep(cache, grid, &glance);
    return check_size(grid, err);
}

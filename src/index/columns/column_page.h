/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_page.h - the values of one attribute for one window of 4096 documents.
 *
 *   absent    no page (NULL): nobody has a value
 *   constant  all 4096 have the same one
 *   dense     a code of 1, 2, 4 or 8 bytes a document
 *   sparse    ascending u16 offsets and a code each, while at most a quarter is filled
 *
 * A value is an int64; COLUMN_NULL is none. code = value - base, where base is 0 or, as soon as a
 * window holds negative values, minus half the code's range; the code of all ones is null. So
 * codes order as values do, and one unsigned kernel serves all.
 *
 * A page's kind, width and base never change. The writer changes codes in place and inserts into
 * sparse pages in place (see column_code.h); what does not fit is answered by a new page.
 */
#ifndef TORG_INDEX_COLUMNS_COLUMN_PAGE_H
#define TORG_INDEX_COLUMNS_COLUMN_PAGE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "index/columns/column_code.h"
#include "index/epoch.h"
#include "index/postings/window.h"

#define COLUMN_NULL INT64_MAX

enum page_kind { PAGE_ABSENT, PAGE_CONSTANT, PAGE_DENSE, PAGE_SPARSE };

enum { PAGE_SPARSE_MAX = WINDOW_SIZE / 4 };

struct page {
    uint8_t kind;
    uint8_t width;              /* bytes of a code */
    uint16_t capacity;          /* sparse: entries there is room for */
    _Atomic uint32_t count;     /* sparse: entries; those with the null code included */
    int64_t base;               /* value = base + code; constant: the value */
    alignas(64) uint8_t data[]; /* codes; sparse: then offsets */
};

/* What a reader works on; taken once per window and column, valid while inside the epoch. */
struct column_view {
    enum page_kind kind;
    uint32_t width;
    uint32_t count; /* sparse */
    int64_t base;
    const void *codes;
    const uint16_t *offsets; /* sparse */
    int64_t min;             /* zone: no value lies outside; min > max when there is none */
    int64_t max;
};

/* Memory of dense pages: huge pages, one list of free ones per width. */
struct page_pool;

struct page_pool *page_pool_new(void);
void page_pool_free(struct page_pool *pool); /* with every dense page; NULL is fine */
uint64_t page_pool_size(struct page_pool *pool);

/* For epoch_retire(epoch, page_release, pool, (uintptr_t)page). */
epoch_free_fn page_release;

struct page *page_constant(int64_t value);

/* The page's values as a page of the best kind, width and base for them, with `value` at `offset`
 * to come (COLUMN_NULL: nothing to come). NULL for absent. shrink: also go back to a smaller kind;
 * otherwise a page only grows, with room to spare. */
struct page *page_remake(struct page_pool *pool, const struct page *page, uint32_t offset,
                         int64_t value, bool shrink);

/* A page of the best kind for these WINDOW_SIZE values; NULL when all are null. */
struct page *page_of_values(struct page_pool *pool, const int64_t *values);

/* Whether page_put needs no new page. */
bool page_takes(const struct page *page, uint32_t offset, int64_t value);

/* The page must take it. */
void page_put(struct page *page, uint32_t offset, int64_t value);

/* COLUMN_NULL when there is none; a NULL page is fine. */
int64_t page_get(const struct page *page, uint32_t offset);

void page_view(const struct page *page, struct column_view *view); /* all but the zone */

/* The value, COLUMN_NULL for none. */
int64_t view_get(const struct column_view *view, uint32_t offset);

/* The same of several documents, whose offsets ascend. */
void view_get_all(const struct column_view *view, const uint16_t *offsets, uint32_t count,
                  int64_t *values);

/* All WINDOW_SIZE values. */
void view_values(const struct column_view *view, int64_t values[WINDOW_SIZE]);

/* Bytes of memory. */
uint64_t page_size(const struct page *page);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* column_page.c - see column_page.h. */
#include "index/columns/column_page.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "base/object.h"

enum {
    POOL_CHUNK_SIZE = 2 << 20, /* a huge page */
    POOL_CLASS_COUNT = 4,
    SPARSE_CAPACITY_MIN = 8,
    SPARSE_SHRINK_MAX = WINDOW_SIZE / 8, /* half of the growth bound: no flapping */
};

/* ---- memory ---- */

struct free_page {
    struct free_page *next;
};

enum { PAGE_POOL_MAGIC = OBJECT_MAGIC('p', 'o', 'o', 'l') };

struct page_pool {
    uint32_t magic;
    pthread_mutex_t lock;
    struct free_page *free[POOL_CLASS_COUNT];
    void **chunks; /* owned */
    size_t chunk_count;
    size_t chunk_used;
    uint64_t size;
};

struct page_pool *page_pool_new(void)
{
    struct page_pool *pool = mem_zero(sizeof(*pool));

    object_begin(pool, PAGE_POOL_MAGIC);
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void page_pool_free(struct page_pool *pool)
{
    size_t i;

    if (!pool)
        return;
    object_check(pool, PAGE_POOL_MAGIC);
    for (i = 0; i < pool->chunk_count; i++)
        free(pool->chunks[i]);
    free(pool->chunks);
    pthread_mutex_destroy(&pool->lock);
    object_end(pool, PAGE_POOL_MAGIC);
    free(pool);
}

uint64_t page_pool_size(struct page_pool *pool)
{
    uint64_t size;

    object_check(pool, PAGE_POOL_MAGIC);
    pthread_mutex_lock(&pool->lock);
    size = pool->size;
    pthread_mutex_unlock(&pool->lock);
    return size;
}

static size_t data_size(enum page_kind kind, uint32_t width, uint32_t capacity)
{
    if (kind == PAGE_CONSTANT)
        return 0;
    if (kind == PAGE_DENSE)
        return (size_t)width * WINDOW_SIZE;
    return (size_t)capacity * (width + sizeof(uint16_t));
}

static void *alloc_aligned(size_t alignment, size_t size)
{
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);

    if (!memory)
        abort();
    return memory;
}

static void *chunk_take(struct page_pool *pool, size_t size)
{
    void *memory;

    if (!pool->chunk_count || pool->chunk_used + size > POOL_CHUNK_SIZE) {
        pool->chunks = mem_resize(pool->chunks, (pool->chunk_count + 1) * sizeof(pool->chunks[0]));
        pool->chunks[pool->chunk_count] = alloc_aligned(POOL_CHUNK_SIZE, POOL_CHUNK_SIZE);
        /* advice only: without huge pages it is slower, not wrong */
        (void)madvise(pool->chunks[pool->chunk_count], POOL_CHUNK_SIZE, MADV_HUGEPAGE);
        pool->chunk_count++;
        pool->chunk_used = 0;
        pool->size += POOL_CHUNK_SIZE;
    }
    memory = (char *)pool->chunks[pool->chunk_count - 1] + pool->chunk_used;
    pool->chunk_used += size;
    return memory;
}

static void *pool_alloc(struct page_pool *pool, uint32_t width, size_t size)
{
    int class = __builtin_ctz(width);
    void *memory;

#ifdef __SANITIZE_ADDRESS__
    return alloc_aligned(64, size); /* so that a use after the free is seen */
#endif
    pthread_mutex_lock(&pool->lock);
    memory = pool->free[class];
    if (memory)
        pool->free[class] = pool->free[class]->next;
    else
        memory = chunk_take(pool, size);
    pthread_mutex_unlock(&pool->lock);
    return memory;
}

static void pool_put(struct page_pool *pool, struct page *page)
{
    int class = __builtin_ctz(page->width);
    struct free_page *entry = (struct free_page *)page;

#ifdef __SANITIZE_ADDRESS__
    free(page);
    return;
#endif
    pthread_mutex_lock(&pool->lock);
    entry->next = pool->free[class];
    pool->free[class] = entry;
    pthread_mutex_unlock(&pool->lock);
}

void page_release(void *pool, uint64_t part)
{
    struct page *page = (struct page *)(uintptr_t)part;

    if (page->kind == PAGE_DENSE)
        pool_put(pool, page);
    else
        free(page);
}

static struct page *page_alloc(struct page_pool *pool, enum page_kind kind, uint32_t width,
                               int64_t base, uint32_t capacity)
{
    size_t size = sizeof(struct page) + data_size(kind, width, capacity);
    struct page *page =
        kind == PAGE_DENSE ? pool_alloc(pool, width, size) : alloc_aligned(64, size);

    page->kind = (uint8_t)kind;
    page->width = (uint8_t)width;
    page->base = base;
    page->capacity = (uint16_t)capacity;
    atomic_init(&page->count, 0);
    if (kind == PAGE_SPARSE)
        memset(page->data, 0, data_size(kind, width, capacity));
    return page;
}

uint64_t page_size(const struct page *page)
{
    return page ? sizeof(*page) + data_size(page->kind, page->width, page->capacity) : 0;
}

/* ---- the shape of codes ---- */

static bool shape_holds(uint32_t width, int64_t base, int64_t value)
{
    return value >= base && (uint64_t)value - (uint64_t)base < code_null(width);
}

static int64_t base_of(uint32_t width, bool negative)
{
    return negative ? (int64_t)(UINT64_MAX << (8 * width - 1)) : 0;
}

/* The narrowest code that holds both ends. */
static void shape_for(int64_t min, int64_t max, uint32_t *width, int64_t *base)
{
    for (*width = 1;; *width *= 2) {
        *base = base_of(*width, min < 0);
        if (shape_holds(*width, *base, min) && shape_holds(*width, *base, max))
            return;
        assert(*width < 8);
    }
}

static uint64_t to_code(const struct page *page, int64_t value)
{
    return value == COLUMN_NULL ? code_null(page->width) : (uint64_t)value - (uint64_t)page->base;
}

static int64_t to_value(uint32_t width, int64_t base, uint64_t code)
{
    return code == code_null(width) ? COLUMN_NULL : (int64_t)((uint64_t)base + code);
}

/* ---- reading ---- */

void page_view(const struct page *page, struct column_view *view)
{
    if (!page) {
        *view = (struct column_view){.kind = PAGE_ABSENT};
        return;
    }
    view->kind = page->kind;
    view->width = page->width;
    view->base = page->base;
    view->codes = page->data;
    view->count = 0;
    view->offsets = NULL;
    if (page->kind == PAGE_SPARSE) {
        view->count = atomic_load_explicit(&page->count, memory_order_acquire);
        view->offsets = (const uint16_t *)(page->data + (size_t)page->capacity * page->width);
    }
}

/* The place of the offset, or where it belongs. */
static uint32_t sparse_find(const uint16_t *offsets, uint32_t count, uint32_t offset)
{
    uint32_t low = 0;

    while (low < count) {
        uint32_t middle = (low + count) / 2;

        if (CODE_LOAD(&offsets[middle]) < offset)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

int64_t view_get(const struct column_view *view, uint32_t offset)
{
    uint32_t at = offset;

    if (view->kind == PAGE_ABSENT)
        return COLUMN_NULL;
    if (view->kind == PAGE_CONSTANT)
        return view->base;
    if (view->kind == PAGE_SPARSE) {
        at = sparse_find(view->offsets, view->count, offset);
        if (at == view->count || CODE_LOAD(&view->offsets[at]) != offset)
            return COLUMN_NULL;
    }
    return to_value(view->width, view->base, code_get(view->codes, view->width, at));
}

static inline __attribute__((always_inline)) void get_dense(const struct column_view *view,
                                                            uint32_t width, const uint16_t *offsets,
                                                            uint32_t count, int64_t *values)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        values[i] = to_value(width, view->base, code_get(view->codes, width, offsets[i]));
}

void view_get_all(const struct column_view *view, const uint16_t *offsets, uint32_t count,
                  int64_t *values)
{
    uint32_t i;

    if (view->kind != PAGE_DENSE) {
        for (i = 0; i < count; i++)
            values[i] = view_get(view, offsets[i]);
        return;
    }
    switch (view->width) {
    case 1:
        get_dense(view, 1, offsets, count, values);
        break;
    case 2:
        get_dense(view, 2, offsets, count, values);
        break;
    case 4:
        get_dense(view, 4, offsets, count, values);
        break;
    default:
        get_dense(view, 8, offsets, count, values);
        break;
    }
}

int64_t page_get(const struct page *page, uint32_t offset)
{
    struct column_view view;

    page_view(page, &view);
    return view_get(&view, offset);
}

void view_values(const struct column_view *view, int64_t values[WINDOW_SIZE])
{
    uint32_t i;

    for (i = 0; i < WINDOW_SIZE; i++)
        values[i] = view->kind == PAGE_CONSTANT ? view->base : COLUMN_NULL;
    if (view->kind == PAGE_DENSE)
        for (i = 0; i < WINDOW_SIZE; i++)
            values[i] = to_value(view->width, view->base, code_get(view->codes, view->width, i));
    if (view->kind == PAGE_SPARSE)
        for (i = 0; i < view->count; i++)
            values[CODE_LOAD(&view->offsets[i]) & (WINDOW_SIZE - 1)] =
                to_value(view->width, view->base, code_get(view->codes, view->width, i));
}

/* ---- writing ---- */

static uint16_t *offsets_of(struct page *page)
{
    return (uint16_t *)(page->data + (size_t)page->capacity * page->width);
}

bool page_takes(const struct page *page, uint32_t offset, int64_t value)
{
    struct column_view view;
    uint32_t at;

    if (!page)
        return value == COLUMN_NULL;
    if (page->kind == PAGE_CONSTANT)
        return value == page->base;
    if (value != COLUMN_NULL && !shape_holds(page->width, page->base, value))
        return false;
    if (page->kind == PAGE_DENSE || value == COLUMN_NULL)
        return true;
    page_view(page, &view);
    at = sparse_find(view.offsets, view.count, offset);
    return view.count < page->capacity || (at < view.count && view.offsets[at] == offset);
}

static void sparse_put(struct page *page, uint32_t offset, int64_t value)
{
    uint16_t *offsets = offsets_of(page);
    uint32_t count = atomic_load_explicit(&page->count, memory_order_relaxed);
    uint32_t at = sparse_find(offsets, count, offset);
    uint32_t i;

    if (at == count || offsets[at] != offset) {
        if (value == COLUMN_NULL)
            return;
        assert(count < page->capacity);
        for (i = count; i > at; i--) {
            code_put(page->data, page->width, i, code_get(page->data, page->width, i - 1));
            __atomic_store_n(&offsets[i], offsets[i - 1], __ATOMIC_RELEASE);
        }
        __atomic_store_n(&offsets[at], (uint16_t)offset, __ATOMIC_RELEASE);
        atomic_store_explicit(&page->count, count + 1, memory_order_release);
    }
    code_put(page->data, page->width, at, to_code(page, value));
}

void page_put(struct page *page, uint32_t offset, int64_t value)
{
    if (!page || page->kind == PAGE_CONSTANT)
        return; /* page_takes: the value is there already */
    if (page->kind == PAGE_DENSE)
        code_put(page->data, page->width, offset, to_code(page, value));
    else
        sparse_put(page, offset, value);
}

/* ---- making ---- */

struct summary {
    int64_t min;
    int64_t max;
    uint32_t count; /* that are not null */
};

static struct summary summarise(const int64_t *values)
{
    struct summary sum = {.min = INT64_MAX, .max = INT64_MIN};
    uint32_t i;

    for (i = 0; i < WINDOW_SIZE; i++) {
        if (values[i] == COLUMN_NULL)
            continue;
        sum.min = values[i] < sum.min ? values[i] : sum.min;
        sum.max = values[i] > sum.max ? values[i] : sum.max;
        sum.count++;
    }
    return sum;
}

static uint32_t capacity_for(uint32_t count)
{
    uint32_t capacity = SPARSE_CAPACITY_MIN;

    while (capacity < count)
        capacity *= 2;
    return capacity;
}

static void fill(struct page *page, const int64_t *values)
{
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < WINDOW_SIZE; i++) {
        if (page->kind == PAGE_DENSE) {
            code_put(page->data, page->width, i, to_code(page, values[i]));
        } else if (values[i] != COLUMN_NULL) {
            code_put(page->data, page->width, count, to_code(page, values[i]));
            offsets_of(page)[count++] = (uint16_t)i;
        }
    }
    atomic_init(&page->count, count);
}

static struct page *make(struct page_pool *pool, const int64_t *values, struct summary sum,
                         uint32_t sparse_max, uint32_t room)
{
    enum page_kind kind = sum.count + room <= sparse_max ? PAGE_SPARSE : PAGE_DENSE;
    struct page *page;
    uint32_t width;
    int64_t base;

    shape_for(sum.min, sum.max, &width, &base);
    page = page_alloc(pool, kind, width, base,
                      kind == PAGE_SPARSE ? capacity_for(sum.count + room) : 0);
    fill(page, values);
    return page;
}

struct page *page_constant(int64_t value)
{
    return page_alloc(NULL, PAGE_CONSTANT, 0, value, 0);
}

struct page *page_of_values(struct page_pool *pool, const int64_t *values)
{
    struct summary sum = summarise(values);

    object_check(pool, PAGE_POOL_MAGIC);
    if (!sum.count)
        return NULL;
    if (sum.count == WINDOW_SIZE && sum.min == sum.max)
        return page_constant(sum.min);
    return make(pool, values, sum, PAGE_SPARSE_MAX, 0);
}

struct page *page_remake(struct page_pool *pool, const struct page *page, uint32_t offset,
                         int64_t value, bool shrink)
{
    int64_t values[WINDOW_SIZE];
    struct column_view view;
    struct summary sum;
    uint32_t sparse_max = PAGE_SPARSE_MAX;
    uint32_t room = 0;

    object_check(pool, PAGE_POOL_MAGIC);
    page_view(page, &view);
    view_values(&view, values);
    sum = summarise(values);
    if (value != COLUMN_NULL) {
        sum.min = value < sum.min ? value : sum.min;
        sum.max = value > sum.max ? value : sum.max;
        room = values[offset] == COLUMN_NULL;
    }
    if (!sum.count && !room)
        return NULL;
    if (shrink && sum.count == WINDOW_SIZE && sum.min == sum.max)
        return page_constant(sum.min);
    if (view.kind == PAGE_DENSE)
        sparse_max = shrink ? SPARSE_SHRINK_MAX : 0;
    return make(pool, values, sum, sparse_max, room);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_scan.c - the scan of attribute_set.h: a column becomes the base of a set.
 *
 * Window by window: the values are copied under the window's sequence number, turned into pairs
 * (ordinal, offset) and sorted; each ordinal's offsets become one record. At the end
 * the records, which came by window, are put in order of ordinals, keeping the windows' order.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "index/columns/set_state.h"

/* 128 samples a bucket: its share of the documents is right to a tenth or so. */
enum { SAMPLE_COUNT_MAX = 1 << 13, SAMPLES_OF_WINDOW_MIN = 4 };
#define PAIR_COUNT_MAX ((size_t)WINDOW_SIZE * KEYWORD_VALUES_MAX)

struct record {
    uint32_t ordinal;
    struct set_entry entry;
};

struct pair {
    uint32_t ordinal;
    uint16_t offset;
};

struct scan {
    const struct attribute_set *set;
    struct set_base *base; /* owned until the end */
    struct record *records;
    uint64_t record_count;
    uint64_t record_capacity;
    uint64_t payload_capacity;
    struct pair *pairs; /* of one window */
    struct pair *spare; /* as many */
    uint32_t pair_count;
    int64_t values[WINDOW_SIZE];
};

/* A window's values as they were together; list names stay good inside the epoch. */
static void copy_window(const struct attribute_set *set, uint32_t window, int64_t *values)
{
    struct column_view view;
    uint32_t begun;

    do {
        begun = columns_read_begin(set->columns, window);
        column_view(columns_column(set->columns, set->field), window, &view);
        view_values(&view, values);
    } while (!columns_read_valid(set->columns, window, begun));
}

/* ---- bounds of buckets ---- */

static int compare_values(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static uint32_t sample(struct scan *scan, uint32_t windows, int64_t *samples)
{
    uint32_t of_window = windows ? SAMPLE_COUNT_MAX / windows : 0;
    uint32_t step = 1;
    uint32_t count = 0;
    uint32_t window;
    uint32_t i;

    if (of_window < SAMPLES_OF_WINDOW_MIN) {
        of_window = SAMPLES_OF_WINDOW_MIN;
        step = windows / (SAMPLE_COUNT_MAX / SAMPLES_OF_WINDOW_MIN) + 1;
    }
    if (of_window > WINDOW_SIZE)
        of_window = WINDOW_SIZE;
    for (window = 0; window < windows; window += step) {
        copy_window(scan->set, window, scan->values);
        for (i = 0; i < WINDOW_SIZE && count < SAMPLE_COUNT_MAX; i += WINDOW_SIZE / of_window)
            if (scan->values[i] != COLUMN_NULL)
                samples[count++] = scan->values[i];
    }
    return count;
}

static void find_bounds(struct scan *scan, uint32_t windows)
{
    int64_t *samples = mem_array(SAMPLE_COUNT_MAX, sizeof(*samples));
    uint32_t count = sample(scan, windows, samples);
    struct set_base *base = scan->base;
    uint32_t i;

    qsort(samples, count, sizeof(*samples), compare_values);
    for (i = 1; count && i < SET_BUCKET_COUNT; i++) {
        int64_t bound = samples[(uint64_t)i * count / SET_BUCKET_COUNT];

        if (!base->bound_count || bound > base->bounds[base->bound_count - 1])
            base->bounds[base->bound_count++] = bound;
    }
    free(samples);
}

/* ---- records ---- */

static uint16_t *payload_room(struct scan *scan, uint64_t count)
{
    struct set_base *base = scan->base;

    base->payload_count = (base->payload_count + 3) & ~UINT64_C(3); /* bitmaps are u64 */
    if (base->payload_count + count > scan->payload_capacity) {
        scan->payload_capacity = (base->payload_count + count) * 2;
        base->payload = mem_resize(base->payload, scan->payload_capacity * sizeof(uint16_t));
    }
    base->payload_count += count;
    return base->payload + base->payload_count - count;
}

/* One value in one window: pairs of the same ordinal, offsets ascending. */
static void add_record(struct scan *scan, uint32_t window, const struct pair *pairs, uint32_t count)
{
    struct record *record;
    uint16_t *room;
    uint32_t i;

    if (scan->record_count == scan->record_capacity) {
        scan->record_capacity = scan->record_capacity ? scan->record_capacity * 2 : 1024;
        scan->records = mem_resize(scan->records, scan->record_capacity * sizeof(*record));
    }
    record = &scan->records[scan->record_count++];
    *record =
        (struct record){.ordinal = pairs[0].ordinal, .entry = {.window = window, .count = count}};
    scan->base->member_count += count;
    if (count <= SET_INLINE_MAX) {
        for (i = 0; i < count; i++)
            record->entry.offsets[i] = pairs[i].offset;
        return;
    }
    room = payload_room(scan, count <= SET_LIST_MAX ? count : SET_LIST_MAX);
    record->entry.place = (uint64_t)(room - scan->base->payload);
    if (count <= SET_LIST_MAX) {
        for (i = 0; i < count; i++)
            room[i] = pairs[i].offset;
    } else {
        struct window_bits bits = {{0}};

        for (i = 0; i < count; i++)
            window_set(&bits, pairs[i].offset);
        memcpy(room, &bits, sizeof(bits));
    }
}

/* By ordinal, keeping the order of offsets, which ascend: a byte of the ordinal at a time. */
static void sort_pairs(struct scan *scan, uint32_t ordinal_max)
{
    unsigned shift;
    uint32_t i;

    for (shift = 0; shift < 32 && ordinal_max >> shift; shift += 8) {
        uint32_t places[256] = {0};
        uint32_t place = 0;
        struct pair *sorted = scan->spare;

        for (i = 0; i < scan->pair_count; i++)
            places[scan->pairs[i].ordinal >> shift & 255]++;
        for (i = 0; i < 256; i++) {
            uint32_t count = places[i];

            places[i] = place;
            place += count;
        }
        for (i = 0; i < scan->pair_count; i++)
            sorted[places[scan->pairs[i].ordinal >> shift & 255]++] = scan->pairs[i];
        scan->spare = scan->pairs;
        scan->pairs = sorted;
    }
}

static void scan_window(struct scan *scan, uint32_t window)
{
    uint32_t ordinals[KEYWORD_VALUES_MAX];
    uint32_t ordinal_max = 0;
    uint32_t first = 0;
    uint32_t i;
    uint32_t j;

    copy_window(scan->set, window, scan->values);
    scan->pair_count = 0;
    for (i = 0; i < WINDOW_SIZE; i++) {
        uint32_t count = set_ordinals(scan->set, scan->base, scan->values[i], ordinals);

        for (j = 0; j < count; j++) {
            scan->pairs[scan->pair_count++] = (struct pair){ordinals[j], (uint16_t)i};
            ordinal_max = ordinals[j] > ordinal_max ? ordinals[j] : ordinal_max;
        }
    }
    sort_pairs(scan, ordinal_max);
    for (i = 1; i <= scan->pair_count; i++) {
        if (i < scan->pair_count && scan->pairs[i].ordinal == scan->pairs[first].ordinal)
            continue;
        add_record(scan, window, scan->pairs + first, i - first);
        first = i;
    }
}

static void order_records(struct scan *scan)
{
    struct set_base *base = scan->base;
    uint64_t *next;
    uint64_t i;

    for (i = 0; i < scan->record_count; i++)
        if (scan->records[i].ordinal >= base->value_count)
            base->value_count = scan->records[i].ordinal + 1;
    base->firsts = mem_array((size_t)base->value_count + 1, sizeof(base->firsts[0]));
    next = mem_array((size_t)base->value_count + 1, sizeof(*next));
    for (i = 0; i < scan->record_count; i++)
        base->firsts[scan->records[i].ordinal + 1]++;
    for (i = 0; i < base->value_count; i++)
        base->firsts[i + 1] += base->firsts[i];
    memcpy(next, base->firsts, ((size_t)base->value_count + 1) * sizeof(*next));
    base->entries = mem_array(scan->record_count + 1, sizeof(base->entries[0]));
    base->totals = mem_array((size_t)base->value_count + 1, sizeof(base->totals[0]));
    for (i = 0; i < scan->record_count; i++) {
        const struct record *record = &scan->records[i];

        base->entries[next[record->ordinal]++] = record->entry;
        base->totals[record->ordinal] += record->entry.count;
    }
    free(next);
}

void attribute_set_scan(struct attribute_set *set)
{
    uint32_t windows = columns_window_count(set->columns);
    struct scan *scan = mem_zero(sizeof(*scan));
    uint32_t window;

    object_check(set, ATTRIBUTE_SET_MAGIC);
    assert(!set->scanned);
    scan->set = set;
    scan->base = mem_zero(sizeof(*scan->base));
    /* Not cleared: a small shard touches a few pages of these megabytes. */
    scan->pairs = mem_alloc(PAIR_COUNT_MAX * sizeof(struct pair));
    scan->spare = mem_alloc(PAIR_COUNT_MAX * sizeof(struct pair));
    if (set->kind == SET_RANGES)
        find_bounds(scan, windows);
    for (window = 0; window < windows; window++)
        scan_window(scan, window);
    order_records(scan);
    if (scan->base->payload_count) /* it stays long, so the room to grow is given back */
        scan->base->payload =
            mem_resize(scan->base->payload, scan->base->payload_count * sizeof(uint16_t));
    set->scanned = scan->base;
    free(scan->pairs);
    free(scan->spare);
    free(scan->records);
    free(scan);
}

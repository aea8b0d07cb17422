/* SPDX-License-Identifier: Apache-2.0 */
/* rank_list.c - see rank_list.h. */
#include "numerator/rank_list.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"

enum {
    RANK_LIST_MAGIC = OBJECT_MAGIC('r', 'a', 'n', 'k'),
    RUN_COUNT = 4096, /* sorted in well under a millisecond */
};

struct rank_entry {
    uint64_t rank;
    int64_t hash;
};

struct rank_run {
    struct rank_entry *entries; /* owned: RUN_COUNT */
    uint32_t at, count;         /* given out, and there */
};

struct rank_list {
    uint32_t magic;
    bool is_sorted; /* runs are a heap, the one with the least head on top */
    size_t count, count_max;
    struct rank_run *runs; /* owned */
    size_t run_count, run_capacity;
};

uint64_t rank_of(int64_t value, bool is_ascending)
{
    assert(value < INT64_MAX);
    return is_ascending ? (uint64_t)value - (uint64_t)INT64_MIN
                        : (uint64_t)(INT64_MAX - 1) - (uint64_t)value;
}

struct rank_list *rank_list_new(size_t count_max)
{
    struct rank_list *list = mem_zero(sizeof(*list));

    object_begin(list, RANK_LIST_MAGIC);
    list->count_max = count_max;
    return list;
}

void rank_list_free(struct rank_list *list)
{
    if (!list)
        return;
    object_check(list, RANK_LIST_MAGIC);
    for (size_t i = 0; i < list->run_count; i++)
        free(list->runs[i].entries);
    free(list->runs);
    object_end(list, RANK_LIST_MAGIC);
    free(list);
}

size_t rank_list_count(const struct rank_list *list)
{
    object_check(list, RANK_LIST_MAGIC);
    return list->count;
}

static int compare(const void *left, const void *right)
{
    const struct rank_entry *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

static void sort_run(struct rank_run *run)
{
    qsort(run->entries, run->count, sizeof(*run->entries), compare);
}

bool rank_list_add(struct rank_list *list, uint64_t rank, int64_t hash)
{
    struct rank_run *run = list->run_count ? &list->runs[list->run_count - 1] : NULL;

    object_check(list, RANK_LIST_MAGIC);
    assert(!list->is_sorted);
    if (list->count == list->count_max)
        return false;
    if (!run || run->count == RUN_COUNT) {
        list->runs =
            mem_grow(list->runs, list->run_count + 1, sizeof(*list->runs), &list->run_capacity);
        run = &list->runs[list->run_count++];
        *run = (struct rank_run){.entries = mem_array(RUN_COUNT, sizeof(*run->entries))};
    }
    run->entries[run->count++] = (struct rank_entry){rank, hash};
    list->count++;
    if (run->count == RUN_COUNT)
        sort_run(run);
    return true;
}

/* --- the heap --- */

static bool is_before(const struct rank_run *left, const struct rank_run *right)
{
    return compare(&left->entries[left->at], &right->entries[right->at]) < 0;
}

static void sink(struct rank_list *list, size_t at)
{
    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < list->run_count; child++)
            if (is_before(&list->runs[child], &list->runs[least]))
                least = child;
        if (least == at)
            return;
        struct rank_run moved = list->runs[at];

        list->runs[at] = list->runs[least];
        list->runs[least] = moved;
        at = least;
    }
}

static void sort(struct rank_list *list)
{
    if (list->run_count && list->runs[list->run_count - 1].count < RUN_COUNT)
        sort_run(&list->runs[list->run_count - 1]);
    for (size_t i = list->run_count; i > 0; i--)
        sink(list, i - 1);
    list->is_sorted = true;
}

size_t rank_list_next(struct rank_list *list, int64_t *hashes, size_t max)
{
    size_t count = 0;

    object_check(list, RANK_LIST_MAGIC);
    if (!list->is_sorted)
        sort(list);
    while (count < max && list->run_count) {
        struct rank_run *run = &list->runs[0];

        hashes[count++] = run->entries[run->at++].hash;
        if (run->at == run->count) {
            free(run->entries);
            *run = list->runs[--list->run_count];
        }
        sink(list, 0);
    }
    return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* docset.c - see docset.h. */
#include "index/postings/docset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void docset_release(struct docset *set)
{
    free(set->lengths);
    free(set->pages);
    free(set->page_of);
    memset(set, 0, sizeof(*set));
}

static size_t doubled(size_t capacity, size_t needed)
{
    size_t next = capacity ? capacity * 2 : 64;

    return next < needed ? needed : next;
}

static struct docset_page *add_page(struct docset *set, uint32_t window)
{
    size_t index = window - window_of(set->first);
    struct docset_page *page;

    if (set->page_count == set->page_capacity) {
        set->page_capacity = (uint32_t)doubled(set->page_capacity, 1);
        page = aligned_alloc(alignof(struct docset_page),
                             set->page_capacity * sizeof(struct docset_page));
        assert(page);
        if (set->page_count)
            memcpy(page, set->pages, set->page_count * sizeof(*page));
        free(set->pages);
        set->pages = page;
    }
    if (index >= set->page_of_capacity) {
        size_t capacity = doubled(set->page_of_capacity, index + 1);

        set->page_of = mem_resize(set->page_of, capacity * sizeof(set->page_of[0]));
        memset(set->page_of + set->page_of_capacity, 0,
               (capacity - set->page_of_capacity) * sizeof(set->page_of[0]));
        set->page_of_capacity = capacity;
    }
    page = &set->pages[set->page_count++];
    memset(page, 0, sizeof(*page));
    page->window = window;
    page->before = set->count;
    set->page_of[index] = set->page_count;
    return page;
}

void docset_add(struct docset *set, docid id, const uint8_t lengths[SEGMENT_FIELD_COUNT])
{
    struct docset_page *page;
    uint32_t word;

    assert(id != DOCID_END && (set->count == 0 || id > set->last));
    if (set->count == 0)
        set->first = id;
    if (set->count == set->lengths_capacity) {
        set->lengths_capacity = doubled(set->lengths_capacity, 1);
        set->lengths = mem_resize(set->lengths, set->lengths_capacity * sizeof(set->lengths[0]));
    }
    if (set->count == 0 || window_of(id) != window_of(set->last))
        page = add_page(set, window_of(id));
    else
        page = &set->pages[set->page_count - 1];
    word = id % WINDOW_SIZE / 64;
    if (!page->bits.words[word])
        page->ranks[word] = (uint16_t)page->count;
    window_set(&page->bits, id % WINDOW_SIZE);
    page->count++;
    memcpy(set->lengths[set->count++], lengths, SEGMENT_FIELD_COUNT);
    set->last = id;
}

const uint8_t *docset_lengths(const struct docset *set, docid id)
{
    uint32_t offset = id % WINDOW_SIZE, word = offset / 64, index;
    const struct docset_page *page;
    uint64_t below;

    if (set->count == 0 || id < set->first || id > set->last)
        return NULL;
    index = set->page_of[window_of(id) - window_of(set->first)];
    if (index == 0)
        return NULL;
    page = &set->pages[index - 1];
    if (!window_test(&page->bits, offset))
        return NULL;
    below = page->bits.words[word] & ((UINT64_C(1) << offset % 64) - 1);
    return set->lengths[page->before + page->ranks[word] + (uint32_t)__builtin_popcountll(below)];
}

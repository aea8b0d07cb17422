/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - see live.h. A batch number on pages and leaves tells what is the draft's own. */
#include "index/shard/live.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"

#define ONES UINT64_MAX
#define ONES_8 ONES, ONES, ONES, ONES, ONES, ONES, ONES, ONES

const struct live_page live_page_all = {
    .bits = {{ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8}},
    .count = WINDOW_SIZE,
};

enum { LIVE_WRITER_MAGIC = OBJECT_MAGIC('l', 'v', 'w', 'r') };

struct live_writer {
    uint32_t magic;
    struct epoch *epoch;        /* borrowed */
    struct live *draft;         /* owned; NULL while nothing differs from `current` */
    const struct live *current; /* owned until retired */
    uint64_t batch;
    const void **garbage; /* owned array; used by versions before the newest only */
    size_t garbage_count;
    size_t garbage_capacity;
};

static void free_thing(void *thing, uint64_t part)
{
    (void)part;
    free(thing);
}

static void *alloc_aligned(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);

    if (!memory)
        abort();
    return memory;
}

static void discard(struct live_writer *writer, const void *thing)
{
    if (writer->garbage_count == writer->garbage_capacity) {
        writer->garbage_capacity = writer->garbage_capacity ? writer->garbage_capacity * 2 : 64;
        writer->garbage =
            mem_resize(writer->garbage, writer->garbage_capacity * sizeof(*writer->garbage));
    }
    writer->garbage[writer->garbage_count++] = thing;
}

static struct live *version_new(uint32_t leaf_count)
{
    struct live *live = mem_zero(sizeof(*live) + leaf_count * sizeof(live->leaves[0]));

    object_begin(live, LIVE_MAGIC);
    live->leaf_count = leaf_count;
    return live;
}

struct live_writer *live_writer_new(struct epoch *epoch, bool all)
{
    struct live_writer *writer = mem_zero(sizeof(*writer));
    struct live *first = version_new(0);

    object_begin(writer, LIVE_WRITER_MAGIC);
    first->rest = all;
    writer->epoch = epoch;
    writer->current = first;
    writer->batch = 1;
    return writer;
}

static bool is_page(const struct live_page *page)
{
    return page && page != LIVE_ALL;
}

void live_writer_free(struct live_writer *writer)
{
    const struct live *last;
    uint32_t i;
    uint32_t j;

    if (!writer)
        return;
    object_check(writer, LIVE_WRITER_MAGIC);
    last = live_commit(writer);
    live_retire(writer);
    for (i = 0; i < last->leaf_count; i++) {
        const struct live_leaf *leaf = last->leaves[i];

        for (j = 0; leaf && j < LIVE_LEAF_SIZE; j++)
            if (is_page(leaf->pages[j]))
                free((void *)leaf->pages[j]);
        free((void *)leaf);
    }
    free((void *)last);
    free(writer->garbage);
    object_end(writer, LIVE_WRITER_MAGIC);
    free(writer);
}

/* The draft with room for the leaf. */
static struct live *draft_with(struct live_writer *writer, uint32_t leaf)
{
    const struct live *from = writer->draft ? writer->draft : writer->current;
    uint32_t count = from->leaf_count > leaf ? from->leaf_count : leaf + 1;
    struct live *draft;

    if (writer->draft && writer->draft->leaf_count == count)
        return writer->draft;
    draft = version_new(count);
    draft->batch = writer->batch;
    draft->rest = from->rest;
    draft->count_delta = from->count_delta;
    memcpy(draft->leaves, from->leaves, from->leaf_count * sizeof(from->leaves[0]));
    if (writer->draft)
        free(writer->draft);
    else
        discard(writer, writer->current);
    assert(leaf < draft->leaf_count && draft->batch == writer->batch);
    writer->draft = draft;
    return draft;
}

static struct live_leaf *own_leaf(struct live_writer *writer, struct live *draft, uint32_t index)
{
    const struct live_leaf *old = draft->leaves[index];
    struct live_leaf *leaf;
    uint32_t i;

    if (old && old->batch == writer->batch)
        return (struct live_leaf *)old;
    leaf = mem_alloc(sizeof(*leaf));
    if (old) {
        memcpy(leaf, old, sizeof(*leaf));
        discard(writer, old);
    } else {
        for (i = 0; i < LIVE_LEAF_SIZE; i++)
            leaf->pages[i] = draft->rest ? LIVE_ALL : LIVE_NONE;
    }
    leaf->batch = writer->batch;
    draft->leaves[index] = leaf;
    return leaf;
}

static struct live_page *own_page(struct live_writer *writer, const struct live_page **place)
{
    const struct live_page *old = *place;
    struct live_page *page;

    if (is_page(old) && old->batch == writer->batch)
        return (struct live_page *)old;
    page = alloc_aligned(sizeof(*page));
    if (old)
        memcpy(page, old, sizeof(*page));
    else
        memset(page, 0, sizeof(*page));
    if (is_page(old))
        discard(writer, old);
    page->batch = writer->batch;
    *place = page;
    return page;
}

bool live_draft_has(const struct live_writer *writer, docid id)
{
    object_check(writer, LIVE_WRITER_MAGIC);
    return live_has(writer->draft ? writer->draft : writer->current, id);
}

bool live_put(struct live_writer *writer, docid id, bool alive)
{
    uint32_t window = window_of(id);
    uint32_t offset = id & (WINDOW_SIZE - 1);
    const struct live_page **place;
    struct live_page *page;
    struct live *draft;

    object_check(writer, LIVE_WRITER_MAGIC);
    if (live_draft_has(writer, id) == alive)
        return false;
    draft = draft_with(writer, window >> LIVE_LEAF_SHIFT);
    place =
        &own_leaf(writer, draft, window >> LIVE_LEAF_SHIFT)->pages[window & (LIVE_LEAF_SIZE - 1)];
    page = own_page(writer, place);
    if (alive)
        window_set(&page->bits, offset);
    else
        window_clear(&page->bits, offset);
    assert(alive ? page->count < WINDOW_SIZE : page->count > 0);
    page->count += alive ? 1 : -1;
    draft->count_delta += alive ? 1 : -1;
    if (page->count == 0 || page->count == WINDOW_SIZE) {
        *place = page->count ? LIVE_ALL : LIVE_NONE;
        free(page); /* the draft's own: no reader has seen it */
    }
    return true;
}

const struct live *live_commit(struct live_writer *writer)
{
    object_check(writer, LIVE_WRITER_MAGIC);
    if (writer->draft) {
        object_check(writer->draft, LIVE_MAGIC);
        assert(writer->draft->batch == writer->batch);
        writer->current = writer->draft;
        writer->draft = NULL;
        writer->batch++;
    }
    return writer->current;
}

void live_retire(struct live_writer *writer)
{
    size_t i;

    object_check(writer, LIVE_WRITER_MAGIC);
    assert(!writer->draft); /* the draft's garbage is still used by the published version */
    for (i = 0; i < writer->garbage_count; i++)
        epoch_retire(writer->epoch, free_thing, (void *)writer->garbage[i], 0);
    writer->garbage_count = 0;
}

bool live_mask(const struct live *live, uint32_t window, struct window_bits *bits)
{
    const struct live_page *page = live_page(live, window);
    uint64_t any = 0;
    int i;

    object_check(live, LIVE_MAGIC);
    if (page == LIVE_ALL)
        return true;
    if (page == LIVE_NONE) {
        memset(bits, 0, sizeof(*bits));
        return false;
    }
    for (i = 0; i < WINDOW_WORDS; i++) {
        bits->words[i] &= page->bits.words[i];
        any |= bits->words[i];
    }
    return any != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_content.c - see sim_disk.h: what is in the files, in memory that all lives share.
 *
 * A file has addresses for as much as it may ever hold, so it never moves, and a map of it is its
 * content. Pages that were touched once stay for the files and seeds after it: what lies behind
 * the end of a file may be another's, and is cleared when the file grows over it.
 */
#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"

enum {
    CONTENT_SIZE = 128 << 20, /* of a file, at most: addresses, not memory */
    KEPT_SIZE = 256 << 20,    /* pages that are kept for the next seed */
};
#define SLOT_COUNT (SIM_DISK_CONTENTS_SIZE / CONTENT_SIZE)

struct slot {
    uint32_t next;    /* free one; 0: none */
    uint32_t dirty;   /* bytes from here on are zero */
    uint64_t mapped;  /* bytes, by all maps of the life */
    bool is_orphaned; /* the file is gone, its maps are not */
};

/* In the place of the first content: it outlives seeds. */
struct slots {
    uint32_t count, count_max; /* taken in this seed, and in any; slot 0 is this */
    uint32_t free;
    struct slot slots[];
};
_Static_assert(sizeof(struct slots) + SLOT_COUNT * sizeof(struct slot) <= CONTENT_SIZE,
               "slots fit the first");

static unsigned char *contents(void)
{
    return (unsigned char *)sim_disk + SIM_DISK_MEMORY_SIZE;
}

static struct slots *all(void)
{
    return (struct slots *)contents();
}

static uint32_t number_of(const void *content)
{
    return (uint32_t)(((uintptr_t)content - (uintptr_t)contents()) / CONTENT_SIZE);
}

static struct slot *slot_of(const struct disk_inode *inode)
{
    return &all()->slots[number_of(inode->content)];
}

/* What was touched by seeds before is kept up to a size, and so cleared when it is taken. */
void sim_content_begin(void)
{
    struct slots *slots = all();
    size_t kept = 0;

    for (uint32_t i = 1; i < slots->count_max; i++) {
        kept += slots->slots[i].dirty;
        if (kept <= KEPT_SIZE || !slots->slots[i].dirty)
            continue;
        kept -= slots->slots[i].dirty;
        if (syscall(SYS_madvise, contents() + (size_t)i * CONTENT_SIZE, CONTENT_SIZE,
                    MADV_REMOVE) == 0)
            slots->slots[i].dirty = 0;
    }
    slots->count = 1;
    slots->free = 0;
}

static void let_go(uint32_t number)
{
    struct slot *slot = &all()->slots[number];

    slot->is_orphaned = slot->mapped != 0;
    if (slot->is_orphaned)
        return;
    slot->next = all()->free;
    all()->free = number;
}

void sim_content_end_life(void)
{
    for (uint32_t i = 1; i < all()->count; i++) {
        all()->slots[i].mapped = 0;
        if (all()->slots[i].is_orphaned)
            let_go(i);
    }
}

static void need(struct disk_inode *inode)
{
    struct slots *slots = all();
    uint32_t number = slots->free;

    if (inode->content)
        return;
    if (number)
        slots->free = slots->slots[number].next;
    else if (slots->count < SLOT_COUNT)
        number = slots->count++;
    else
        sim_fail("the disk in memory has no room");
    if (slots->count > slots->count_max)
        slots->count_max = slots->count;
    slots->slots[number].mapped = 0;
    slots->slots[number].is_orphaned = false;
    inode->content = contents() + (size_t)number * CONTENT_SIZE;
}

static void touch(const struct disk_inode *inode, uint64_t end)
{
    struct slot *slot = slot_of(inode);

    if (end > slot->dirty)
        slot->dirty = (uint32_t)end;
}

/* What was never written is not looked at: the system would make pages for it. */
ssize_t sim_content_read(const struct disk_inode *inode, void *to, size_t size, uint64_t offset)
{
    size_t written = 0;

    if (offset >= inode->size)
        return 0;
    if (size > inode->size - offset)
        size = (size_t)(inode->size - offset);
    if (offset < slot_of(inode)->dirty)
        written = slot_of(inode)->dirty - offset < size ? slot_of(inode)->dirty - offset : size;
    memcpy(to, inode->content + offset, written);
    memset((char *)to + written, 0, size - written);
    return (ssize_t)size;
}

void sim_content_resize(struct disk_inode *inode, uint64_t size)
{
    if (size > CONTENT_SIZE)
        sim_fail("a file of %ju bytes is more than the disk in memory takes", (uintmax_t)size);
    need(inode);
    if (size > inode->size && slot_of(inode)->dirty > inode->size) {
        uint64_t end = size < slot_of(inode)->dirty ? size : slot_of(inode)->dirty;

        memset(inode->content + inode->size, 0, end - inode->size);
    }
    inode->size = size;
}

void sim_content_write(struct disk_inode *inode, const void *data, size_t size, uint64_t offset)
{
    if (!size)
        return;
    if (offset > inode->size || offset + size > CONTENT_SIZE)
        sim_content_resize(inode, offset + size > CONTENT_SIZE ? offset + size : offset);
    need(inode);
    memcpy(inode->content + offset, data, size);
    touch(inode, offset + size);
    if (offset + size > inode->size)
        inode->size = offset + size;
}

/* The system's would end the life where the file ends; here its last page is zero behind that. */
void *sim_content_map(struct disk_inode *inode, size_t size, uint64_t offset)
{
    uint64_t end = offset + size;

    if (inode->is_dir || end > CONTENT_SIZE)
        return NULL;
    need(inode);
    slot_of(inode)->mapped += size;
    if (slot_of(inode)->dirty > inode->size) {
        memset(inode->content + inode->size, 0, slot_of(inode)->dirty - inode->size);
        slot_of(inode)->dirty = (uint32_t)inode->size;
    }
    if (inode->is_volatile)
        touch(inode, end);
    return inode->content + offset;
}

bool sim_content_has(const void *address)
{
    return sim_disk && (uintptr_t)address - (uintptr_t)contents() < SIM_DISK_CONTENTS_SIZE;
}

void *sim_content_remap(void *old, size_t old_size, size_t size)
{
    all()->slots[number_of(old)].mapped += size - old_size;
    return old;
}

void sim_content_unmap(const void *address, size_t size)
{
    struct slot *slot = &all()->slots[number_of(address)];

    assert(slot->mapped >= size);
    slot->mapped -= size;
    if (slot->is_orphaned)
        let_go(number_of(address));
}

void sim_content_drop(struct disk_inode *inode)
{
    if (inode->content)
        let_go(number_of(inode->content));
    inode->content = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_maps.c - see sim_core.h: maps of a life, of files (sim_disk.h) and of memory.
 *
 * Memory that is mapped is cut from a pool that lasts as long as the process: the next life has the
 * same pages, cleared. To clear a page takes a twentieth of what it costs to give it back to the
 * system and to get another. Each size has a range of its own, so that lives touch the same pages
 * whatever the order of their calls. Other maps have addresses of their own, and are taken away
 * after the life. Addresses follow from the calls alone, so they are the same in every run.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"
#include "sim_files.h"

enum {
    PAGE_SIZE = 4096,
    CLASS_COUNT = 16, /* of 64 KB, 128 KB and so on */
    CLASS_SHIFT = 16,
    RANGE_SHIFT = 34,         /* of a class, and of other maps: of addresses, not of memory */
    WHOLE_CLASS_COUNT = 2,    /* blocks of these are cleared as a whole when they are taken again */
    KEPT_SIZE_MAX = 4 << 20,  /* larger ones go back to the system when they are freed */
    LOOKED_COUNT = 4096,      /* pages that the system is asked about at once */
    CLEARED_COUNT_MAX = 4096, /* of a class, 16 MB; more is given back to the system */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    IS_SANITIZED = 1, /* a process has one life, and its memory is watched */
#else
    IS_SANITIZED = 0,
#endif
};
/* Far from what the system places by itself, as sim_life.c's. */
#define POOL_ADDRESS ((char *)0x320000000000)
#define MAPS_ADDRESS ((char *)0x328000000000)
#define RANGE_SIZE ((size_t)1 << RANGE_SHIFT)

static struct {
    size_t used; /* bytes of its range */
    char *free;  /* the last block that was freed, which names the one before */
} classes[CLASS_COUNT];
static char *maps_end = MAPS_ADDRESS;
static bool has_swap; /* then nobody tells which pages were touched */

void *sim_maps_reserve(char *address, size_t size)
{
    void *memory =
        (void *)syscall(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (memory != address)
        abort();
    return memory;
}

void sim_maps_open(void)
{
    struct sysinfo info;

    has_swap = sysinfo(&info) != 0 || info.totalswap;
    if (!IS_SANITIZED)
        sim_maps_reserve(POOL_ADDRESS, RANGE_SIZE * CLASS_COUNT);
}

/* --- cleared for the next life --- */

/* False: too many pages were touched. */
static bool clear_touched(char *start, size_t page_count)
{
    unsigned char is_there[LOOKED_COUNT];
    size_t cleared = 0;

    for (size_t at = 0; at < page_count; at += LOOKED_COUNT) {
        size_t count = page_count - at < LOOKED_COUNT ? page_count - at : LOOKED_COUNT;
        char *page = start + at * PAGE_SIZE;

        if (syscall(SYS_mincore, page, count * PAGE_SIZE, is_there) != 0)
            return false;
        for (size_t i = 0; i < count; i++, page += PAGE_SIZE)
            if (is_there[i] & 1) {
                if (++cleared > CLEARED_COUNT_MAX)
                    return false;
                memset(page, 0, PAGE_SIZE);
            }
    }
    return true;
}

static char *range_of(unsigned class)
{
    return POOL_ADDRESS + class * RANGE_SIZE;
}

void sim_maps_clear(void)
{
    if (maps_end > MAPS_ADDRESS)
        syscall(SYS_munmap, MAPS_ADDRESS, (size_t)(maps_end - MAPS_ADDRESS));
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        if (has_swap || !clear_touched(range_of(i), classes[i].used / PAGE_SIZE))
            syscall(SYS_madvise, range_of(i), classes[i].used, MADV_DONTNEED);
}

/* --- the pool --- */

bool sim_maps_has(const void *block)
{
    return !IS_SANITIZED && (uintptr_t)block - (uintptr_t)POOL_ADDRESS < RANGE_SIZE * CLASS_COUNT;
}

static unsigned class_of(const void *block)
{
    return (unsigned)(((uintptr_t)block - (uintptr_t)POOL_ADDRESS) >> RANGE_SHIFT);
}

size_t sim_maps_size(const void *block)
{
    return (size_t)1 << (CLASS_SHIFT + class_of(block));
}

/* A block that was freed. Of a small one most was touched; of a large one a few pages, the same in
 * each block of its kind: to take it again spares the system new ones. */
static void clear_again(char *block, unsigned class, size_t size)
{
    size_t page_count = sim_maps_size(block) / PAGE_SIZE;

    if (class < WHOLE_CLASS_COUNT)
        memset(block, 0, (size + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE);
    else if (has_swap || !clear_touched(block, page_count))
        syscall(SYS_madvise, block, page_count * PAGE_SIZE, MADV_DONTNEED);
}

void *sim_maps_take(size_t size)
{
    unsigned class = 0;
    char *block;

    while (class < CLASS_COUNT && (size_t)1 << (CLASS_SHIFT + class) < size)
        class ++;
    if (class == CLASS_COUNT)
        return NULL;
    block = classes[class].free;
    if (block) {
        memcpy(&classes[class].free, block, sizeof(block));
        clear_again(block, class, size);
        return block;
    }
    block = range_of(class) + classes[class].used;
    if (classes[class].used + sim_maps_size(block) > RANGE_SIZE)
        return NULL;
    classes[class].used += sim_maps_size(block);
    return block;
}

void sim_maps_free(void *block)
{
    unsigned class = class_of(block);

    if (sim_maps_size(block) > KEPT_SIZE_MAX)
        syscall(SYS_madvise, block, sim_maps_size(block), MADV_DONTNEED);
    memcpy(block, &classes[class].free, sizeof(classes[class].free));
    classes[class].free = block;
}

/* --- the calls --- */

/* Between two there is a page that belongs to neither. */
static void *take_address(size_t size)
{
    char *address = maps_end;

    maps_end = address + (size + 2 * PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
    return address;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    struct disk_inode *inode = fd >= 0 ? sim_file_of(fd) : NULL;
    bool is_content = inode && (protection == PROT_READ || flags & MAP_SHARED);
    void *content = is_content ? sim_content_map(inode, size, (uint64_t)offset) : NULL;

    if (content)
        return content;
    if (inode) { /* nobody has such maps */
        errno = ENODEV;
        return MAP_FAILED;
    }
    if (!IS_SANITIZED && sim_is_alive && !address && size < RANGE_SIZE / 2) {
        bool is_plain = (flags & ~MAP_NORESERVE) == (MAP_PRIVATE | MAP_ANONYMOUS) &&
                        protection == (PROT_READ | PROT_WRITE);
        void *block = is_plain ? sim_maps_take(size) : NULL;

        if (block)
            return block;
        address = take_address(size);
        flags |= MAP_FIXED_NOREPLACE;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

__attribute__((alias("mmap"))) void *mmap64(void *address, size_t size, int protection, int flags,
                                            int fd, off64_t offset);

void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    void *address = NULL;

    if (sim_content_has(old)) /* all that its file may ever hold is there */
        return sim_content_remap(old, old_size, size);
    if (sim_maps_has(old)) { /* nobody maps memory anew */
        errno = ENOMEM;
        return size <= sim_maps_size(old) ? old : MAP_FAILED;
    }
    if (!IS_SANITIZED && sim_is_alive && size > old_size && size < RANGE_SIZE / 2 &&
        flags == MREMAP_MAYMOVE) {
        address = take_address(size);
        flags |= MREMAP_FIXED;
    }
    return (void *)syscall(SYS_mremap, old, old_size, size, flags, address);
}

int munmap(void *address, size_t size)
{
    if (sim_content_has(address))
        return sim_content_unmap(address, size), 0;
    if (!sim_maps_has(address))
        return (int)syscall(SYS_munmap, address, size);
    sim_maps_free(address);
    return 0;
}

/* Large pages are not worth what clearing them costs: lives are short. */
int madvise(void *address, size_t size, int advice)
{
    if (sim_content_has(address) || (sim_is_alive && advice == MADV_HUGEPAGE))
        return 0;
    return (int)syscall(SYS_madvise, address, size, advice);
}

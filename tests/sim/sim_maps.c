/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_maps.c - see sim_core.h: maps of a life, of files (sim_disk.h) and of memory.
 *
 * Memory that is mapped is a part of one range, as long as it lasts: the next life has the same
 * pages, cleared. To clear a page takes a twentieth of what it costs to give it back to the system
 * and to get another. Other maps have addresses of their own, and are taken away after the life.
 * Addresses follow from the calls alone, so they are the same in every run.
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
    LOOKED_COUNT = 4096,         /* pages that the system is asked about at once */
    CLEARED_COUNT_MAX = 32 << 8, /* 32 MB; more of a range is given back to the system */
    UNMAPPED_SIZE_MAX = 4 << 20, /* more is given back when it is unmapped */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    IS_SANITIZED = 1, /* a process has one life, and its memory is watched */
#else
    IS_SANITIZED = 0,
#endif
};
/* Far from what the system places by itself, as sim_life.c's. */
#define POOL_ADDRESS ((char *)0x320000000000)
#define MAPS_ADDRESS ((char *)0x328000000000)
#define RANGE_SIZE ((size_t)1 << 38) /* of each, of addresses and not of memory */

static char *pool_end = POOL_ADDRESS, *maps_end = MAPS_ADDRESS;
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
        sim_maps_reserve(POOL_ADDRESS, RANGE_SIZE);
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

void sim_maps_clear_pages(char *start, size_t size)
{
    if (size && (has_swap || !clear_touched(start, (size + PAGE_SIZE - 1) / PAGE_SIZE)))
        syscall(SYS_madvise, start, size, MADV_DONTNEED);
}

void sim_maps_clear(void)
{
    if (maps_end > MAPS_ADDRESS)
        syscall(SYS_munmap, MAPS_ADDRESS, (size_t)(maps_end - MAPS_ADDRESS));
    sim_maps_clear_pages(POOL_ADDRESS, (size_t)(pool_end - POOL_ADDRESS));
}

/* --- the calls --- */

static bool is_pooled(const void *address)
{
    return !IS_SANITIZED && (uintptr_t)address - (uintptr_t)POOL_ADDRESS < RANGE_SIZE;
}

/* Between two there is a page that belongs to neither. */
static void *take_address(char **end, size_t size)
{
    char *address = *end;

    *end = address + (size + 2 * PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
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
        if ((flags & ~MAP_NORESERVE) == (MAP_PRIVATE | MAP_ANONYMOUS) &&
            protection == (PROT_READ | PROT_WRITE))
            return take_address(&pool_end, size);
        address = take_address(&maps_end, size);
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
    if (is_pooled(old)) {
        address = size > old_size ? take_address(&pool_end, size) : old;
        return address == old ? old : memcpy(address, old, old_size);
    }
    if (!IS_SANITIZED && sim_is_alive && size > old_size && size < RANGE_SIZE / 2 &&
        flags == MREMAP_MAYMOVE) {
        address = take_address(&maps_end, size);
        flags |= MREMAP_FIXED;
    }
    return (void *)syscall(SYS_mremap, old, old_size, size, flags, address);
}

int munmap(void *address, size_t size)
{
    if (sim_content_has(address))
        return sim_content_unmap(address, size), 0;
    if (!is_pooled(address))
        return (int)syscall(SYS_munmap, address, size);
    if (size > UNMAPPED_SIZE_MAX)
        syscall(SYS_madvise, address, size, MADV_DONTNEED);
    return 0;
}

/* Large pages are not worth what clearing them costs: lives are short. */
int madvise(void *address, size_t size, int advice)
{
    if (sim_content_has(address) || (sim_is_alive && advice == MADV_HUGEPAGE))
        return 0;
    return (int)syscall(SYS_madvise, address, size, advice);
}

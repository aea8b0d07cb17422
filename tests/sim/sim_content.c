/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_content.c - see sim_disk.h: what is in a file that is read often or mapped, in memory that
 * all lives share, beside the file itself.
 *
 * SQLite reads a page of its log by a call of the system, ten thousand times a minute, and indexes
 * map their segments at each start: both are copies or addresses here. Every write goes to the file
 * as well, which is what the driver and other calls know. A power loss changes files behind its
 * back, and drops them all.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"

enum {
    READ_COUNT = 4,          /* a file that is read more often is kept ... */
    CONTENT_SIZE = 16 << 20, /* ... so far: addresses, not memory */
    PAGE_SIZE = 4096,
};

static unsigned char *contents(void)
{
    return (unsigned char *)sim_disk + SIM_DISK_MEMORY_SIZE;
}

static unsigned char *take(void)
{
    unsigned char *taken = sim_disk->free_content;

    if (taken)
        memcpy(&sim_disk->free_content, taken, sizeof(taken));
    else if (sim_disk->content_count * CONTENT_SIZE < SIM_DISK_CONTENTS_SIZE)
        taken = contents() + sim_disk->content_count++ * CONTENT_SIZE;
    return taken;
}

static bool need(struct disk_inode *inode, int fd)
{
    if (inode->content)
        return true;
    if (inode->is_dir || inode->is_volatile || inode->size > CONTENT_SIZE)
        return false;
    inode->content = take();
    if (!inode->content)
        return false;
    if (syscall(SYS_pread64, fd, inode->content, inode->size, 0) != (ssize_t)inode->size)
        sim_fail("a file cannot be read: %s", strerror(errno));
    return true;
}

bool sim_content_read(struct disk_inode *inode, int fd, void *to, size_t size, uint64_t offset,
                      ssize_t *count)
{
    if (!inode->content && (++inode->read_count < READ_COUNT || !need(inode, fd)))
        return false;
    *count = offset >= inode->size         ? 0
             : offset + size > inode->size ? (ssize_t)(inode->size - offset)
                                           : (ssize_t)size;
    memcpy(to, inode->content + offset, (size_t)*count);
    return true;
}

/* Where it ends the system's map would end the life: who maps more gets that. */
void *sim_content_map(struct disk_inode *inode, int fd, size_t size, uint64_t offset)
{
    if (offset % PAGE_SIZE || offset + size > inode->size || !need(inode, fd))
        return NULL;
    inode->is_mapped = true;
    return inode->content + offset;
}

void sim_content_write(struct disk_inode *inode, const void *data, size_t size, uint64_t offset)
{
    if (!inode->content)
        return;
    if (offset + size > CONTENT_SIZE) {
        sim_content_drop(inode);
        return;
    }
    memcpy(inode->content + offset, data, size);
}

void sim_content_resize(struct disk_inode *inode, uint64_t before, uint64_t after)
{
    if (!inode->content)
        return;
    if (after > CONTENT_SIZE)
        sim_content_drop(inode);
    else if (after > before)
        memset(inode->content + before, 0, after - before);
}

bool sim_content_has(const void *address)
{
    return sim_disk && (uintptr_t)address - (uintptr_t)contents() < SIM_DISK_CONTENTS_SIZE;
}

/* Nobody knows when a map ends: until the seed does, its memory is nobody else's. */
void sim_content_drop(struct disk_inode *inode)
{
    if (inode->content && !inode->is_mapped) {
        memcpy(inode->content, &sim_disk->free_content, sizeof(inode->content));
        sim_disk->free_content = inode->content;
    }
    inode->content = NULL;
    inode->read_count = 0;
    inode->is_mapped = false;
}

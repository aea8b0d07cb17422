/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_power.c - see sim_disk.h: what is left when the power goes.
 *
 * First every file is taken back to what is durable of it, newest change first; then, oldest first,
 * some changes are put into it after all, whole or torn at any byte: the system has written them
 * back in an order of its own. Names likewise. Then the directory is made what the records say.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_dir.h"
#include "sim_disk.h"

enum { SECTOR = 512, SWAP_SIZE = 64 << 10 };

/* How much the disk has kept, drawn for each loss: the extremes find other faults than the mixture.
 */
enum style { KEEPS_NOTHING, KEEPS_ALL, KEEPS_THE_FIRST, KEEPS_SOME, STYLE_COUNT };

struct loss {
    enum style style;
    uint64_t until; /* KEEPS_THE_FIRST: serials */
    unsigned kept;  /* KEEPS_SOME: of a million */
};

static bool is_kept(const struct loss *loss, uint64_t serial)
{
    switch (loss->style) {
    case KEEPS_NOTHING:
        return false;
    case KEEPS_ALL:
        return true;
    case KEEPS_THE_FIRST:
        return serial <= loss->until;
    default:
        return sim_draw(&sim->disk, loss->kept);
    }
}

static void must(long rc, const char *what, const char *path)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "sim: %s %s: %s\n", what, path, strerror(errno));
    _exit(1);
}

/* --- where a file is --- */

/* From the root down; the directories on the way are live ones. */
static void live_path(const struct disk_inode *inode, char path[PATH_MAX])
{
    size_t size;

    if (inode == sim_disk->root) {
        snprintf(path, PATH_MAX, SIM_DISK_ROOT);
    } else if (inode->is_kept || !inode->named_by) {
        sim_disk_kept_path(inode, path);
    } else {
        live_path(inode->named_by->dir, path);
        size = strlen(path);
        snprintf(path + size, PATH_MAX - size, "/%s", inode->named_by->name);
    }
}

/* --- content --- */

/* The change afterwards holds what it has taken away. */
static void take_back(int fd, struct disk_change *change)
{
    static unsigned char piece[SWAP_SIZE];

    if (change->is_resize) {
        must(ftruncate(fd, (off_t)change->old_size), "cut", "");
        if (change->old_count)
            must(pwrite(fd, change->bytes, change->old_count, (off_t)change->offset), "write", "");
        return;
    }
    for (uint64_t at = 0; at < change->size; at += SWAP_SIZE) {
        uint64_t size = change->size - at < SWAP_SIZE ? change->size - at : SWAP_SIZE;
        uint64_t old = at < change->old_count ? change->old_count - at : 0;
        ssize_t got = pread(fd, piece, size, (off_t)(change->offset + at));

        must(got, "read", "");
        memset(piece + got, 0, size - (uint64_t)got);
        old = old < size ? old : size;
        if (old)
            must(pwrite(fd, change->bytes + at, old, (off_t)(change->offset + at)), "write", "");
        memcpy(change->bytes + at, piece, size);
    }
    must(ftruncate(fd, (off_t)change->old_size), "cut", "");
}

static void put_range(int fd, const struct disk_change *change, uint64_t from, uint64_t to)
{
    if (from < to)
        must(pwrite(fd, change->bytes + from, to - from, (off_t)(change->offset + from)), "write",
             "");
}

static void put_sectors(int fd, const struct disk_change *change)
{
    for (uint64_t at = 0; at < change->size;) {
        uint64_t end = (change->offset + at) / SECTOR * SECTOR + SECTOR - change->offset;

        end = end < change->size ? end : change->size;
        if (rng_below(&sim->disk, 2))
            put_range(fd, change, at, end);
        at = end;
    }
}

/* Torn: the first bytes of it, the last, or some of its sectors. */
static void put(int fd, const struct disk_change *change, bool may_tear)
{
    uint64_t cut = rng_below(&sim->disk, change->size + 1);
    uint64_t way = may_tear ? rng_below(&sim->disk, 6) : 5;

    if (change->is_resize)
        must(ftruncate(fd, (off_t)change->new_size), "cut", "");
    else if (way == 0)
        put_range(fd, change, 0, cut);
    else if (way == 1)
        put_range(fd, change, cut, change->size);
    else if (way == 2)
        put_sectors(fd, change);
    else
        put_range(fd, change, 0, change->size);
}

static void lose_content(struct disk_inode *inode, const struct loss *loss)
{
    char path[PATH_MAX];
    int fd;

    sim_content_drop(inode);
    live_path(inode, path);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    must(fd, "open", path);
    for (struct disk_change *change = inode->newest; change; change = change->older)
        take_back(fd, change);
    for (struct disk_change *change = inode->oldest; change; change = change->newer) {
        bool is_whole = is_kept(loss, change->serial);

        if (is_whole)
            put(fd, change, loss->style == KEEPS_SOME);
        else if (loss->style == KEEPS_SOME && rng_below(&sim->disk, 8) == 0 &&
                 change->new_size > change->old_size)
            must(ftruncate(fd, (off_t)change->new_size), "cut", path); /* its size, not its bytes */
        sim->lost += !is_whole;
    }
    while (inode->oldest)
        sim_disk_change_free(inode, inode->oldest);
    inode->size = (uint64_t)syscall(SYS_lseek, fd, 0, SEEK_END);
    sim_real_close(fd);
}

/* --- names --- */

static void lose_names(const struct loss *loss)
{
    while (sim_disk->oldest) {
        struct disk_naming *naming = sim_disk->oldest;
        bool is_whole = is_kept(loss, naming->serial);

        sim->lost += !is_whole;
        for (int i = 0; i < 2; i++)
            if (is_whole && naming->sets[i].entry)
                sim_disk_entry_set_durable(naming->sets[i].entry, naming->sets[i].inode);
        sim_disk_naming_free(naming);
    }
}

/* Every live name that is not to stay is taken away; what it named is kept in "inodes". */
static void take_away(struct disk_entry *entry)
{
    struct disk_inode *inode = entry->live;
    char path[PATH_MAX], kept[PATH_MAX];
    size_t size;

    live_path(entry->dir, path);
    size = strlen(path);
    snprintf(path + size, PATH_MAX - size, "/%s", entry->name);
    sim_disk_kept_path(inode, kept);
    if (inode->is_kept)
        must(syscall(SYS_unlinkat, AT_FDCWD, path, 0), "remove", path);
    else
        must(syscall(SYS_renameat, AT_FDCWD, path, AT_FDCWD, kept), "keep", path);
    inode->is_kept = true;
    inode->refs++; /* until all names are what they are to be */
    inode->kept_refs++;
    sim_disk_entry_set_live(entry, NULL);
}

static void put_back(struct disk_entry *entry)
{
    struct disk_inode *inode = entry->durable;
    char path[PATH_MAX], kept[PATH_MAX];
    size_t size;

    live_path(entry->dir, path);
    size = strlen(path);
    snprintf(path + size, PATH_MAX - size, "/%s", entry->name);
    live_path(inode, kept);
    if (!inode->is_dir)
        must(syscall(SYS_linkat, AT_FDCWD, kept, AT_FDCWD, path, 0), "link", path);
    else if (inode->is_kept)
        must(syscall(SYS_renameat, AT_FDCWD, kept, AT_FDCWD, path), "move", path);
    else
        must(syscall(SYS_mkdirat, AT_FDCWD, path, 0755), "make", path);
    if (inode->is_dir)
        inode->is_kept = false;
    sim_disk_entry_set_live(entry, inode);
}

static void take_all_away(void)
{
    for (struct disk_inode *dir = sim_disk->inodes; dir; dir = dir->next)
        for (struct disk_entry *entry = dir->entries; entry; entry = entry->next_in_dir)
            if (entry->live && entry->live != entry->durable)
                take_away(entry);
}

static void put_all_back(struct disk_inode *dir)
{
    for (struct disk_entry *entry = dir->entries; entry; entry = entry->next_in_dir) {
        if (entry->durable && !entry->live)
            put_back(entry);
        if (entry->live && entry->live->is_dir)
            put_all_back(entry->live);
    }
}

/* What has no name left is gone, with all below it. */
static void forget_lost(void)
{
    sim_dir_remove(SIM_DISK_INODES);
    must(mkdir(SIM_DISK_INODES, 0755), "make", SIM_DISK_INODES);
    for (struct disk_inode *inode = sim_disk->inodes; inode; inode = inode->next)
        inode->is_kept = false;
    sim_disk_drop_held();
}

/* --- the loss --- */

static struct loss draw_loss(void)
{
    struct loss loss = {.style = (enum style)rng_below(&sim->disk, STYLE_COUNT + 2)};
    uint64_t first = sim_disk->oldest ? sim_disk->oldest->serial : sim_disk->serial;

    for (struct disk_inode *inode = sim_disk->inodes; inode; inode = inode->next)
        if (inode->oldest && inode->oldest->serial < first)
            first = inode->oldest->serial;
    if (loss.style >= STYLE_COUNT)
        loss.style = KEEPS_SOME;
    loss.until = first + rng_below(&sim->disk, sim_disk->serial - first + 1);
    loss.kept = (unsigned)rng_below(&sim->disk, 1000000);
    return loss;
}

void sim_disk_lose_power(void)
{
    static const char *const names[] = {[KEEPS_NOTHING] = "nothing",
                                        [KEEPS_ALL] = "all",
                                        [KEEPS_THE_FIRST] = "the first",
                                        [KEEPS_SOME] = "some"};
    struct loss loss = draw_loss();
    uint64_t lost = sim->lost;

    for (struct disk_inode *inode = sim_disk->inodes; inode; inode = inode->next)
        if (inode->oldest)
            lose_content(inode, &loss);
    lose_names(&loss);
    take_all_away();
    put_all_back(sim_disk->root);
    forget_lost();
    sim_trace("the disk has kept %s of what was not synced: %ju changes are lost",
              names[loss.style], (uintmax_t)(sim->lost - lost));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_listing.c - listings of directories (sim_disk.h), and walks through them.
 *
 * A listing is what was there at its first entry. It begins with the newest name, as those of the
 * system's file system in memory do, where lives had their files before.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"
#include "sim_files.h"

enum { LISTING_COUNT_MAX = 256, DOT_COUNT = 2 };

struct item {
    char name[SIM_DISK_NAME_SIZE];
    unsigned char type;
};

static struct listing {
    int fd; /* 0: not in use */
    bool is_read;
    size_t next, count;
    struct item *items;
    struct dirent entry; /* that was told last */
} listings[LISTING_COUNT_MAX];

static struct listing *listing_of(const void *stream)
{
    uintptr_t at = (uintptr_t)stream - (uintptr_t)listings;

    return at < sizeof(listings) ? &listings[at / sizeof(listings[0])] : NULL;
}

static int compare_newest(const void *a, const void *b)
{
    const struct disk_entry *left = *(struct disk_entry *const *)a;
    const struct disk_entry *right = *(struct disk_entry *const *)b;

    return left->since < right->since ? 1 : -1;
}

static void read_names(struct listing *listing)
{
    const struct disk_inode *dir = sim_file_of(listing->fd);
    struct disk_entry **entries;
    size_t count = 0;

    for (struct disk_entry *each = dir->entries; each; each = each->next_in_dir)
        count += each->live != NULL;
    entries = malloc((count + 1) * sizeof(entries[0]));
    listing->items = malloc((count + 1) * sizeof(listing->items[0]));
    for (struct disk_entry *each = dir->entries; each; each = each->next_in_dir)
        if (each->live)
            entries[listing->count++] = each;
    qsort(entries, count, sizeof(entries[0]), compare_newest);
    for (size_t i = 0; i < count; i++) {
        memcpy(listing->items[i].name, entries[i]->name, strlen(entries[i]->name) + 1);
        listing->items[i].type = entries[i]->live->is_dir ? DT_DIR : DT_REG;
    }
    free(entries);
    listing->is_read = true;
}

/* --- streams --- */

DIR *fdopendir(int fd)
{
    const struct disk_inode *inode = sim_file_of(fd);

    if (!inode)
        return sim_real_fdopendir(fd);
    if (!inode->is_dir) {
        errno = ENOTDIR;
        return NULL;
    }
    for (size_t i = 0; i < LISTING_COUNT_MAX; i++)
        if (!listings[i].fd) {
            listings[i] = (struct listing){.fd = fd};
            return (DIR *)&listings[i];
        }
    errno = EMFILE;
    return NULL;
}

DIR *opendir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

struct dirent *readdir(DIR *stream)
{
    static const struct item dots[DOT_COUNT] = {{".", DT_DIR}, {"..", DT_DIR}};
    struct listing *listing = listing_of(stream);
    const struct item *item;

    if (!listing)
        return sim_real_readdir(stream);
    if (!listing->is_read)
        read_names(listing);
    if (listing->next == listing->count + DOT_COUNT)
        return NULL;
    item = listing->next < DOT_COUNT ? &dots[listing->next]
                                     : &listing->items[listing->next - DOT_COUNT];
    listing->next++;
    listing->entry.d_type = item->type;
    memcpy(listing->entry.d_name, item->name, sizeof(item->name));
    return &listing->entry;
}

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one is the other");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattribute-alias"
__attribute__((alias("readdir"))) struct dirent64 *readdir64(DIR *stream);
#pragma GCC diagnostic pop

int dirfd(DIR *stream)
{
    const struct listing *listing = listing_of(stream);

    return listing ? listing->fd : sim_real_dirfd(stream);
}

int closedir(DIR *stream)
{
    struct listing *listing = listing_of(stream);
    int fd;

    if (!listing)
        return sim_real_closedir(stream);
    fd = listing->fd;
    free(listing->items);
    listing->fd = 0;
    return close(fd);
}

/* --- walks --- */

static int walk(const char *path, __nftw_func_t fn, int level);

static int walk_below(const char *path, __nftw_func_t fn, int level)
{
    DIR *stream = opendir(path);
    char *below;
    int rc = 0;

    if (!stream)
        return -1;
    for (struct dirent *entry = readdir(stream); entry && !rc; entry = readdir(stream)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (asprintf(&below, "%s/%s", path, entry->d_name) < 0)
            abort();
        rc = walk(below, fn, level + 1);
        free(below);
    }
    closedir(stream);
    return rc;
}

/* What has gone meanwhile is told all the same, as libc does. */
static int walk(const char *path, __nftw_func_t fn, int level)
{
    const char *slash = strrchr(path, '/');
    struct FTW place = {.base = slash ? (int)(slash + 1 - path) : 0, .level = level};
    struct stat info = {0};
    int type = lstat(path, &info)      ? FTW_NS
               : S_ISDIR(info.st_mode) ? FTW_DP
               : S_ISLNK(info.st_mode) ? FTW_SL
                                       : FTW_F;
    int rc = 0;

    if (type == FTW_NS && (level == 0 || (errno != ENOENT && errno != EACCES)))
        return -1;
    if (type == FTW_DP)
        rc = walk_below(path, fn, level);
    return rc ? rc : fn(path, &info, type, &place);
}

/* As it is called by src/: depth first, no links. libc's would ask the system. */
int nftw(const char *path, __nftw_func_t fn, int descriptors, int flags)
{
    (void)descriptors;
    if (flags != (FTW_DEPTH | FTW_PHYS)) {
        errno = EINVAL;
        return -1;
    }
    return walk(path, fn, 0);
}

#pragma GCC diagnostic ignored "-Wattribute-alias"
__attribute__((alias("nftw"))) int nftw64(const char *path, __nftw64_func_t fn, int descriptors,
                                          int flags);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_names.c - the calls that take a path: all below the working directory of a life is in
 * sim_disk.h, all else is the system's. There are no links to elsewhere, and no permissions.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"
#include "sim_files.h"

enum {
    FIRST_INODE = 100000, /* what stat tells, so that it repeats */
    DEVICE = 1000,
    BLOCK_SIZE = 4096,
    SECTOR = 512, /* that stat counts in */
    PRIVATE_FILE = 0600,
    PRIVATE_DIR = 0700,
    UNIQUE_SIZE = 6, /* of a template: its XXXXXX */
    UNIQUE_COUNT_MAX = 1000000,
};

/* --- paths --- */

enum where { OUTSIDE, NOWHERE, INSIDE };

struct place {
    struct disk_inode *dir; /* NULL: where the path begins */
    char name[SIM_DISK_NAME_SIZE];
    struct disk_inode *found; /* that it names; NULL: nothing */
};

static enum where is_nowhere(int error)
{
    errno = error;
    return NOWHERE;
}

/* Below the directory, component by component. */
static enum where follow(struct disk_inode *dir, const char *path, struct place *place)
{
    place->found = dir;
    for (;;) {
        size_t size = strcspn(path += strspn(path, "/"), "/");
        struct disk_entry *entry;

        if (!size)
            return INSIDE;
        if (size == 1 && path[0] == '.') {
            path++;
            continue;
        }
        if (size >= SIM_DISK_NAME_SIZE)
            return is_nowhere(ENAMETOOLONG);
        if (!place->found || (size == 2 && path[0] == '.' && path[1] == '.'))
            return is_nowhere(ENOENT); /* nobody goes up */
        if (!place->found->is_dir)
            return is_nowhere(ENOTDIR);
        place->dir = place->found;
        memcpy(place->name, path, size);
        place->name[size] = 0;
        entry = sim_disk_entry_find(place->dir, place->name, false);
        place->found = entry ? entry->live : NULL;
        path += size;
    }
}

static const char *here(size_t *size)
{
    static char path[PATH_MAX];
    static size_t path_size;

    if (!path_size && getcwd(path, sizeof(path)))
        path_size = strlen(path);
    *size = path_size;
    return path;
}

/* NOWHERE: a directory on the way is not there, errno says so. */
static enum where find(int dir, const char *path, struct place *place)
{
    struct disk_inode *from = NULL;

    *place = (struct place){0};
    if (!sim_is_alive)
        return OUTSIDE;
    if (path[0] == '/') {
        size_t size;
        const char *top = here(&size);

        if (strncmp(path, top, size) != 0 || (path[size] && path[size] != '/'))
            return OUTSIDE;
        path += size;
    } else if (dir != AT_FDCWD) {
        from = sim_file_of(dir);
        if (!from)
            return OUTSIDE;
    }
    return follow(from ? from : sim_disk->top, path, place);
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* --- open --- */

static struct disk_inode *make_file(const struct place *place, mode_t mode)
{
    struct disk_entry *entry = sim_disk_entry_find(place->dir, place->name, true);
    struct disk_inode *made = sim_disk_inode_new(place->dir, false);
    size_t size = strlen(place->name);

    made->mode = mode;
    made->is_volatile = size > 4 && strcmp(place->name + size - 4, "-shm") == 0;
    sim_disk_entry_set_live(entry, made);
    sim_disk_name(entry, made, NULL);
    return made;
}

/* What the system would say of what is or is not there. */
static int refuse(const struct disk_inode *found, int flags)
{
    if (!found)
        return flags & O_CREAT ? 0 : ENOENT;
    if (flags & O_CREAT && flags & O_EXCL)
        return EEXIST;
    if (found->is_dir)
        return (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT ? EISDIR : 0;
    return flags & O_DIRECTORY ? ENOTDIR : 0;
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
    bool is_changing = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
    struct place place;
    enum where where;
    bool is_there;
    int error, fd;

    if (sim_is_alive && strcmp(path, "/dev/urandom") == 0)
        return sim_open_random();
    where = find(dir, path, &place);
    if (where == OUTSIDE)
        return (int)syscall(SYS_openat, dir, path, flags, mode);
    if (where == NOWHERE)
        return -1;
    if (is_changing) {
        if (sim_file_fails(place.dir ? place.dir : place.found, "open", false))
            return -1;
        if (find(dir, path, &place) != INSIDE) /* others may have run meanwhile */
            return -1;
    }
    is_there = place.found != NULL;
    error = refuse(place.found, flags);
    if (!error && !is_there && place.dir->is_recorded && sim_disk_is_full())
        error = ENOSPC;
    if (error)
        return fail(error);
    if (!is_there)
        place.found = make_file(&place, mode);
    fd = sim_file_open(place.found, flags);
    if (fd >= 0 && flags & O_TRUNC && is_there)
        sim_file_resize(place.found, 0);
    return fd;
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_at(dir, path, flags, mode);
}

int creat(const char *path, mode_t mode)
{
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

__attribute__((alias("open"))) int open64(const char *path, int flags, ...);
__attribute__((alias("openat"))) int openat64(int dir, const char *path, int flags, ...);
__attribute__((alias("creat"))) int creat64(const char *path, mode_t mode);

/* --- names that change --- */

/* Whether what is there may be replaced or removed as one of this kind. */
static int refuse_loss(const struct disk_inode *lost, bool as_dir)
{
    if (lost->is_dir && !as_dir)
        return EISDIR;
    if (!lost->is_dir && as_dir)
        return ENOTDIR;
    for (const struct disk_entry *each = lost->entries; each; each = each->next_in_dir)
        if (each->live)
            return ENOTEMPTY;
    return 0;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    struct place source, target;
    struct disk_entry *old_name, *new_name;
    enum where from_where = find(from_dir, from, &source), to_where = find(to_dir, to, &target);
    int error = 0;

    if (from_where == OUTSIDE && to_where == OUTSIDE)
        return (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
    if (from_where == OUTSIDE || to_where == OUTSIDE)
        return fail(EXDEV);
    if (from_where == NOWHERE || to_where == NOWHERE)
        return fail(ENOENT);
    if (sim_file_fails(source.dir, "rename", false))
        return -1;
    if (find(from_dir, from, &source) != INSIDE || find(to_dir, to, &target) != INSIDE ||
        !source.found)
        return fail(ENOENT);
    if (source.found == target.found)
        return 0;
    if (target.found)
        error = refuse_loss(target.found, source.found->is_dir);
    if (source.dir->is_recorded != target.dir->is_recorded)
        error = EXDEV;
    if (error)
        return fail(error);
    old_name = sim_disk_entry_find(source.dir, source.name, false);
    new_name = sim_disk_entry_find(target.dir, target.name, true);
    sim_disk_name(new_name, source.found, old_name);
    sim_disk_entry_set_live(new_name, source.found);
    sim_disk_entry_set_live(old_name, NULL);
    if (source.found->is_recorded)
        sim_has_renamed();
    return 0;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlinkat(int dir, const char *path, int flags)
{
    struct place place;
    struct disk_entry *entry;
    enum where where = find(dir, path, &place);
    int error;

    if (where == OUTSIDE)
        return (int)syscall(SYS_unlinkat, dir, path, flags);
    if (where == NOWHERE || (place.dir && sim_file_fails(place.dir, "unlink", false)))
        return -1;
    if (find(dir, path, &place) != INSIDE)
        return -1;
    if (!place.dir || place.found == sim_disk->root)
        return fail(EBUSY);
    error = place.found ? refuse_loss(place.found, flags & AT_REMOVEDIR) : ENOENT;
    if (error)
        return fail(error);
    entry = sim_disk_entry_find(place.dir, place.name, false);
    sim_disk_name(entry, NULL, NULL);
    sim_disk_entry_set_live(entry, NULL);
    return 0;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int remove(const char *path)
{
    int rc = unlinkat(AT_FDCWD, path, 0);

    return rc && (errno == EISDIR || errno == EPERM) ? rmdir(path) : rc;
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    struct place place;
    struct disk_entry *entry;
    enum where where = find(dir, path, &place);

    if (where == OUTSIDE)
        return (int)syscall(SYS_mkdirat, dir, path, mode);
    if (where == NOWHERE || (!place.found && sim_file_fails(place.dir, "mkdir", true)))
        return -1;
    if (find(dir, path, &place) != INSIDE)
        return -1;
    if (place.found)
        return fail(EEXIST);
    entry = sim_disk_entry_find(place.dir, place.name, true);
    sim_disk_entry_set_live(entry, sim_disk_inode_new(place.dir, true));
    entry->live->mode = mode;
    sim_disk_name(entry, entry->live, NULL);
    return 0;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    struct place source, target;
    struct disk_entry *entry;
    enum where from_where = find(from_dir, from, &source), to_where = find(to_dir, to, &target);

    if (from_where == OUTSIDE && to_where == OUTSIDE)
        return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
    if (from_where != INSIDE || to_where != INSIDE)
        return fail(from_where == NOWHERE || to_where == NOWHERE ? ENOENT : EXDEV);
    if (sim_file_fails(source.dir, "link", true))
        return -1;
    if (find(from_dir, from, &source) != INSIDE || find(to_dir, to, &target) != INSIDE ||
        !source.found)
        return fail(ENOENT);
    if (target.found)
        return fail(EEXIST);
    if (source.found->is_dir)
        return fail(EPERM);
    entry = sim_disk_entry_find(target.dir, target.name, true);
    sim_disk_name(entry, source.found, NULL);
    sim_disk_entry_set_live(entry, source.found);
    return 0;
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- names that nobody else has --- */

/* The next of them into the template; false: it is none. */
static bool next_unique(char *template)
{
    static unsigned number;
    size_t size = strlen(template);
    char text[UNIQUE_SIZE + 1];

    if (size < UNIQUE_SIZE)
        return false;
    snprintf(text, sizeof(text), "%06u", number++ % UNIQUE_COUNT_MAX);
    memcpy(template + size - UNIQUE_SIZE, text, UNIQUE_SIZE);
    return true;
}

int mkostemp(char *template, int flags)
{
    int fd;

    do {
        if (!next_unique(template))
            return fail(EINVAL);
        fd = open_at(AT_FDCWD, template, flags | O_RDWR | O_CREAT | O_EXCL, PRIVATE_FILE);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

__attribute__((alias("mkostemp"))) int mkostemp64(char *template, int flags);

char *mkdtemp(char *template)
{
    int rc;

    do {
        if (!next_unique(template)) {
            errno = EINVAL;
            return NULL;
        }
        rc = mkdir(template, PRIVATE_DIR);
    } while (rc && errno == EEXIST);
    return rc ? NULL : template;
}

/* --- what is there --- */

static int tell(const struct disk_inode *inode, struct stat *to)
{
    *to = (struct stat){
        .st_dev = DEVICE,
        .st_ino = FIRST_INODE + inode->serial,
        .st_mode = (inode->is_dir ? S_IFDIR : S_IFREG) | inode->mode,
        .st_nlink = inode->is_dir ? 2 : inode->named_by != NULL,
        .st_size = (off_t)inode->size,
        .st_blksize = BLOCK_SIZE,
        .st_blocks = (blkcnt_t)((inode->size + SECTOR - 1) / SECTOR),
        .st_mtim = {.tv_sec = inode->changed_us / 1000000,
                    .tv_nsec = inode->changed_us % 1000000 * 1000},
    };
    to->st_atim = to->st_ctim = to->st_mtim;
    return 0;
}

int fstat(int fd, struct stat *to)
{
    const struct disk_inode *inode = sim_file_of(fd);

    return inode ? tell(inode, to) : (int)syscall(SYS_fstat, fd, to);
}

int fstatat(int dir, const char *path, struct stat *to, int flags)
{
    struct place place;
    enum where where;

    if (!path[0] && flags & AT_EMPTY_PATH && sim_file_of(dir))
        return fstat(dir, to);
    where = path[0] ? find(dir, path, &place) : OUTSIDE;
    if (where == OUTSIDE)
        return (int)syscall(SYS_newfstatat, dir, path, to, flags);
    if (where == INSIDE)
        return place.found ? tell(place.found, to) : fail(ENOENT);
    return -1;
}

int stat(const char *path, struct stat *to)
{
    return fstatat(AT_FDCWD, path, to, 0);
}

int lstat(const char *path, struct stat *to)
{
    return fstatat(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one is the other");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattribute-alias"
__attribute__((alias("fstatat"))) int fstatat64(int dir, const char *path, struct stat64 *to,
                                                int flags);
__attribute__((alias("fstat"))) int fstat64(int fd, struct stat64 *to);
__attribute__((alias("stat"))) int stat64(const char *path, struct stat64 *to);
__attribute__((alias("lstat"))) int lstat64(const char *path, struct stat64 *to);
#pragma GCC diagnostic pop

int access(const char *path, int mode)
{
    struct place place;
    enum where where = find(AT_FDCWD, path, &place);

    if (where == OUTSIDE)
        return (int)syscall(SYS_access, path, mode);
    if (where == INSIDE)
        return place.found ? 0 : fail(ENOENT);
    return -1;
}

/* None of them is a link. */
ssize_t readlink(const char *restrict path, char *restrict to, size_t size)
{
    struct place place;
    enum where where = find(AT_FDCWD, path, &place);

    if (where == OUTSIDE)
        return syscall(SYS_readlink, path, to, size);
    return where == INSIDE ? fail(place.found ? EINVAL : ENOENT) : -1;
}

static void write_path(const struct disk_inode *inode, char path[PATH_MAX])
{
    size_t size;

    if (inode == sim_disk->top || !inode->named_by) {
        snprintf(path, PATH_MAX, "%s", here(&size));
        return;
    }
    write_path(inode->named_by->dir, path);
    size = strlen(path);
    snprintf(path + size, PATH_MAX - size, "/%s", inode->named_by->name);
}

char *realpath(const char *restrict path, char *restrict to)
{
    struct place place;
    enum where where = find(AT_FDCWD, path, &place);

    if (where == OUTSIDE)
        return sim_real_realpath(path, to);
    if (where == INSIDE && !place.found)
        errno = ENOENT;
    if (where == NOWHERE || !place.found)
        return NULL;
    if (!to)
        to = malloc(PATH_MAX);
    if (to)
        write_path(place.found, to);
    return to;
}

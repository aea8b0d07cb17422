/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_files.c - the calls that change files: each is a point, may fail, and is recorded
 * (sim_disk.h) when it is below "disk"; all others are passed on.
 *
 * Paths are followed in the records, not in the file system: there are no links to elsewhere.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"
#include "sim_files.h"

enum {
    WRITE_US = 5,
    SYNC_US_MIN = 50,
    SYNC_US_MAX = 1500,
    SLOW_US_MAX = 1000000,
    FIRST_INODE = 100000, /* what stat tells, so that it repeats */
};

static struct {
    struct disk_inode *inode;
    bool is_appended;
} opened[SIM_FD_COUNT_MAX];
static bool is_full;

void sim_disk_full(bool full)
{
    is_full = full;
}

struct disk_inode *sim_file_of(int fd)
{
    return sim_is_alive && fd >= 0 && fd < SIM_FD_COUNT_MAX ? opened[fd].inode : NULL;
}

static void set_opened(int fd, struct disk_inode *inode, bool is_appended)
{
    if (fd < 0 || fd >= SIM_FD_COUNT_MAX)
        return;
    opened[fd].inode = inode;
    opened[fd].is_appended = is_appended;
    if (inode)
        inode->opened++;
}

/* --- faults --- */

/* Whether the call at hand fails; every call of the disk begins with this. */
static bool fails(const char *what, bool needs_space)
{
    struct sim_faults *faults = sim_faults();

    sim_yield(what);
    sim->now_us += WRITE_US;
    if (sim_draw(&sim->disk, faults->slow_disk))
        sim_pause_us((int64_t)rng_below(&sim->disk, SLOW_US_MAX));
    sim_maybe_end();
    errno = EIO;
    if (faults->io_error && sim_has("io-errors") &&
        (!faults->io_task || strcmp(sim_task_name(), faults->io_task) == 0) &&
        (!faults->io_call || strcmp(what, faults->io_call) == 0) &&
        sim_draw(&sim->disk, faults->io_error)) {
        sim_trace("the disk fails: %s", what);
        return true;
    }
    errno = ENOSPC;
    if (needs_space && (is_full || (faults->no_space && sim_has("no-space") &&
                                    sim_draw(&sim->disk, faults->no_space)))) {
        sim_trace("the disk is full: %s", what);
        return true;
    }
    return false;
}

/* --- paths --- */

struct place {
    struct disk_inode *dir; /* NULL: not on the disk */
    char name[SIM_DISK_NAME_SIZE];
    struct disk_inode *found; /* that it names; NULL: nothing */
};

/* Below the directory, component by component. False: a directory on the way is not there. */
static bool follow(struct disk_inode *dir, const char *path, struct place *place)
{
    place->found = dir;
    for (;;) {
        size_t size = strcspn(path += strspn(path, "/"), "/");
        struct disk_entry *entry;

        if (!size)
            return true;
        if (size == 1 && path[0] == '.') {
            path++;
            continue;
        }
        if (size >= SIM_DISK_NAME_SIZE || (size == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        if (!place->found || !place->found->is_dir)
            return false;
        place->dir = place->found;
        memcpy(place->name, path, size);
        place->name[size] = 0;
        entry = sim_disk_entry_find(place->dir, place->name, false);
        place->found = entry ? entry->live : NULL;
        path += size;
    }
}

/* False: the path is not on the disk, or leads nowhere; the kernel says which error that is. */
static bool find(int dir, const char *path, struct place *place)
{
    static char here[PATH_MAX];
    static size_t here_size;
    struct disk_inode *from = NULL;

    *place = (struct place){0};
    if (!sim_is_alive)
        return false;
    if (!here_size && getcwd(here, sizeof(here)))
        here_size = strlen(here);
    if (path[0] == '/') {
        if (strncmp(path, here, here_size) != 0 || path[here_size] != '/')
            return false;
        path += here_size + 1;
    } else if (dir != AT_FDCWD) {
        from = sim_file_of(dir);
        return from && follow(from, path, place);
    }
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    if (strncmp(path, SIM_DISK_ROOT, 4) != 0 || (path[4] && path[4] != '/'))
        return false;
    return follow(sim_disk->root, path + 4, place);
}

struct disk_inode *sim_file_at(int dir, const char *path)
{
    struct place place;

    return find(dir, path, &place) ? place.found : NULL;
}

/* What the system would say of a path whose directory is there, but not its last name. */
static int is_not_there(void)
{
    errno = ENOENT;
    return -1;
}

/* Before its last name goes. */
static void keep(struct disk_inode *inode, int dir, const char *path)
{
    char kept[PATH_MAX];

    if (inode->is_kept || inode->is_dir)
        return;
    sim_disk_kept_path(inode, kept);
    inode->is_kept = syscall(SYS_linkat, dir, path, AT_FDCWD, kept, 0) == 0;
}

/* --- open and close --- */

static void resize(struct disk_inode *inode, int fd, uint64_t size);

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
    bool is_changing = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
    struct place place;
    bool is_there;
    int fd;

    if (sim_is_alive && strcmp(path, "/dev/urandom") == 0)
        return sim_open_random();
    if (!find(dir, path, &place) || (!place.dir && !place.found))
        return (int)syscall(SYS_openat, dir, path, flags, mode);
    if (is_changing && fails("open", false))
        return -1;
    if (!is_changing && !place.found)
        return is_not_there();
    (void)find(dir, path, &place); /* others may have run meanwhile */
    is_there = place.found != NULL;
    if (!is_there && flags & O_CREAT && is_full) {
        errno = ENOSPC;
        return -1;
    }
    if ((flags & O_ACCMODE) == O_WRONLY)
        flags = (flags & ~O_ACCMODE) | O_RDWR; /* what a write covers is read before it */
    fd = (int)syscall(SYS_openat, dir, path, flags & ~O_TRUNC, mode);
    if (fd < 0)
        return -1;
    if (!is_there) {
        struct disk_entry *entry = sim_disk_entry_find(place.dir, place.name, true);
        size_t size = strlen(place.name);

        place.found = sim_disk_inode_new(false);
        place.found->is_volatile = size > 4 && strcmp(place.name + size - 4, "-shm") == 0;
        sim_disk_entry_set_live(entry, place.found);
        sim_disk_name(entry, place.found, NULL);
    }
    set_opened(fd, place.found, flags & O_APPEND);
    if (flags & O_TRUNC && is_there)
        resize(place.found, fd, 0);
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

static void forget(int fd)
{
    struct disk_inode *inode = sim_file_of(fd);

    if (inode) {
        set_opened(fd, NULL, false);
        sim_disk_inode_close(inode);
    }
}

int close(int fd)
{
    forget(fd);
    return sim_real_close(fd);
}

/* The same file position as well, which the kernel keeps. */
int dup(int fd)
{
    int made = (int)syscall(SYS_dup, fd);

    if (made >= 0 && sim_file_of(fd))
        set_opened(made, opened[fd].inode, opened[fd].is_appended);
    return made;
}

/* libc's would open it by itself, and who removes by its descriptor is to be known. */
DIR *opendir(const char *path)
{
    int fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

int closedir(DIR *stream)
{
    forget(dirfd(stream));
    return sim_real_closedir(stream);
}

/* --- content --- */

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    struct disk_inode *inode = sim_file_of(fd);
    ssize_t count;

    return inode && sim_content_read(inode, fd, to, size, (uint64_t)offset, &count)
               ? count
               : syscall(SYS_pread64, fd, to, size, offset);
}

__attribute__((alias("pread"))) ssize_t pread64(int fd, void *to, size_t size, off_t offset);

static void record_write(struct disk_inode *inode, int fd, uint64_t offset, size_t size)
{
    struct disk_change *change = sim_disk_change_new(inode, size);
    uint64_t end = offset + size;

    change->offset = offset;
    if (offset < inode->size) {
        change->old_count = (end < inode->size ? end : inode->size) - offset;
        if (pread(fd, change->bytes, change->old_count, (off_t)offset) < 0)
            sim_fail("what a write covers cannot be read: %s", strerror(errno));
    }
    if (end > inode->size)
        inode->size = end;
    change->new_size = inode->size;
}

/* Part of it may be there although it fails. */
static ssize_t write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    struct disk_inode *inode = opened[fd].inode;
    bool has_failed = fails("write", offset + size > inode->size);
    int error = errno;
    uint64_t before = inode->size;
    ssize_t written;

    sim->writes++;
    if (opened[fd].is_appended)
        offset = inode->size;
    if (has_failed)
        size = rng_below(&sim->disk, size + 1) / 2;
    inode->changed_us = sim_wall_us();
    if (!inode->is_volatile && size)
        record_write(inode, fd, offset, size);
    written = size ? syscall(SYS_pwrite64, fd, data, size, offset) : 0;
    if (written != (ssize_t)size)
        sim_fail("the disk in memory has no room: %s", strerror(errno));
    if (offset > before)
        sim_content_resize(inode, before, offset);
    sim_content_write(inode, data, size, offset);
    sim_mix(offset ^ size);
    errno = error;
    return has_failed ? -1 : written;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    if (!sim_file_of(fd))
        return syscall(SYS_pwrite64, fd, data, size, offset);
    return write_at(fd, data, size, (uint64_t)offset);
}

__attribute__((alias("pwrite"))) ssize_t pwrite64(int fd, const void *data, size_t size,
                                                  off64_t offset);

/* What goes to the outputs of the process is history. */
ssize_t write(int fd, const void *data, size_t size)
{
    struct disk_inode *inode = sim_file_of(fd);
    ssize_t written;
    uint64_t offset;

    if (sim_is_alive && (fd == STDOUT_FILENO || fd == STDERR_FILENO)) {
        sim_line(sim_current ? sim_current->name : "", data, size);
        return (ssize_t)size;
    }
    if (!inode)
        return sim_real_write(fd, data, size);
    offset = (uint64_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
    written = write_at(fd, data, size, offset);
    if (written > 0)
        syscall(SYS_lseek, fd, offset + (uint64_t)written, SEEK_SET);
    return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t sum = 0;

    if (!sim_is_alive || (!sim_file_of(fd) && fd != STDOUT_FILENO && fd != STDERR_FILENO))
        return syscall(SYS_writev, fd, parts, count);
    for (int i = 0; i < count; i++) {
        ssize_t written = write(fd, parts[i].iov_base, parts[i].iov_len);

        if (written < 0)
            return sum ? sum : -1;
        sum += written;
    }
    return sum;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    ssize_t sum = 0;

    if (!sim_file_of(fd))
        return syscall(SYS_pwritev, fd, parts, count, offset, 0);
    for (int i = 0; i < count; i++) {
        ssize_t written =
            write_at(fd, parts[i].iov_base, parts[i].iov_len, (uint64_t)offset + (uint64_t)sum);

        if (written < 0)
            return sum ? sum : -1;
        sum += written;
    }
    return sum;
}

__attribute__((alias("pwritev"))) ssize_t pwritev64(int fd, const struct iovec *parts, int count,
                                                    off64_t offset);

static void resize(struct disk_inode *inode, int fd, uint64_t size)
{
    uint64_t lost = size < inode->size ? inode->size - size : 0;
    struct disk_change *change;

    inode->changed_us = sim_wall_us();
    if (!inode->is_volatile) {
        change = sim_disk_change_new(inode, lost);
        change->is_resize = true;
        change->offset = size;
        change->old_count = lost;
        change->new_size = size;
        if (lost && pread(fd, change->bytes, lost, (off_t)size) < 0)
            sim_fail("what is cut off cannot be read: %s", strerror(errno));
    }
    sim_content_resize(inode, inode->size, size);
    inode->size = size;
    if (syscall(SYS_ftruncate, fd, size) != 0)
        sim_fail("a file cannot be cut: %s", strerror(errno));
    sim_mix(size);
}

int ftruncate(int fd, off_t size)
{
    struct disk_inode *inode = sim_file_of(fd);

    if (!inode)
        return (int)syscall(SYS_ftruncate, fd, size);
    if (fails("ftruncate", false))
        return -1;
    resize(inode, fd, (uint64_t)size);
    return 0;
}

__attribute__((alias("ftruncate"))) int ftruncate64(int fd, off64_t size);

/* Only makes the file larger, as posix_fallocate does; a hole stays one. */
int fallocate(int fd, int mode, off_t offset, off_t size)
{
    struct disk_inode *inode = sim_file_of(fd);

    if (!inode)
        return (int)syscall(SYS_fallocate, fd, mode, offset, size);
    if (mode != 0) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (fails("fallocate", true))
        return -1;
    if ((uint64_t)(offset + size) > inode->size)
        resize(inode, fd, (uint64_t)(offset + size));
    return 0;
}

int posix_fallocate(int fd, off_t offset, off_t size)
{
    return fallocate(fd, 0, offset, size) ? errno : 0;
}

__attribute__((alias("fallocate"))) int fallocate64(int fd, int mode, off64_t offset, off64_t size);
__attribute__((alias("posix_fallocate"))) int posix_fallocate64(int fd, off64_t offset,
                                                                off64_t size);

/* TORG_SIM_FAULT=lie:NAME plants a disk that only says that it has synced files of such a name. */
static bool lies(const struct disk_inode *inode)
{
    static const char *fault;
    bool is_meant;

    if (!fault)
        fault = getenv("TORG_SIM_FAULT") ? getenv("TORG_SIM_FAULT") : "";
    is_meant = strncmp(fault, "lie:", 4) == 0 && inode->named_by &&
               strstr(inode->named_by->name, fault + 4);

    return is_meant && sim_has("lies");
}

/* What is written while it runs may come too late. When it fails, the system takes what it could
 * not write for written: no later sync does it. */
int fsync(int fd)
{
    struct disk_inode *inode = sim_file_of(fd);
    uint64_t serial;
    int rc = 0;

    if (!inode)
        return (int)syscall(SYS_fsync, fd);
    serial = sim_disk->serial;
    sim->syncs++;
    inode->opened++; /* another may close it meanwhile */
    sim_pause_us(SYNC_US_MIN + (int64_t)rng_below(&sim->disk, SYNC_US_MAX));
    if (fails("sync", false)) {
        for (struct disk_change *each = inode->oldest; each; each = each->newer)
            each->is_doomed = each->is_doomed || rng_below(&sim->disk, 2);
        rc = -1;
    } else if (lies(inode)) {
        rc = 0;
    } else if (inode->is_dir) {
        sim_disk_sync_dir(inode);
    } else {
        sim_disk_sync_file(inode, serial);
    }
    sim_disk_inode_close(inode);
    return rc;
}

__attribute__((alias("fsync"))) int fdatasync(int fd);

/* It promises nothing, so it does nothing. */
int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags)
{
    if (!sim_file_of(fd))
        return (int)syscall(SYS_sync_file_range, fd, offset, size, flags);
    return 0;
}

/* --- locks --- */

/* All that runs is one process, whose own locks never refuse each other: what SQLite asks for at
 * each transaction is not worth a call of the system. */
int fcntl(int fd, int command, ...)
{
    struct flock *lock;
    va_list args;
    void *arg;

    va_start(args, command);
    arg = va_arg(args, void *);
    va_end(args);
    if (!sim_is_alive || (command != F_SETLK && command != F_SETLKW && command != F_GETLK))
        return (int)syscall(SYS_fcntl, fd, command, arg);
    lock = arg;
    if (command == F_GETLK)
        lock->l_type = F_UNLCK;
    return 0;
}

__attribute__((alias("fcntl"))) int fcntl64(int fd, int command, ...);

/* --- names --- */

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    struct place source, target;
    struct disk_entry *old_name, *new_name;

    if (!find(from_dir, from, &source) || !find(to_dir, to, &target))
        return (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
    if (fails("rename", false))
        return -1;
    if (!find(from_dir, from, &source) || !find(to_dir, to, &target) || !source.found ||
        source.found == target.found)
        return (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
    if (target.found)
        keep(target.found, to_dir, to);
    if (syscall(SYS_renameat, from_dir, from, to_dir, to) != 0)
        return -1;
    old_name = sim_disk_entry_find(source.dir, source.name, false);
    new_name = sim_disk_entry_find(target.dir, target.name, true);
    sim_disk_name(new_name, source.found, old_name);
    sim_disk_entry_set_live(old_name, NULL);
    sim_disk_entry_set_live(new_name, source.found);
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

    if (!find(dir, path, &place))
        return (int)syscall(SYS_unlinkat, dir, path, flags);
    if (fails("unlink", false))
        return -1;
    if (!find(dir, path, &place) || !place.found || !place.dir)
        return (int)syscall(SYS_unlinkat, dir, path, flags);
    keep(place.found, dir, path);
    if (syscall(SYS_unlinkat, dir, path, flags) != 0)
        return -1;
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

    if (!find(dir, path, &place))
        return (int)syscall(SYS_mkdirat, dir, path, mode);
    if (!place.found && fails("mkdir", true))
        return -1;
    if (find(dir, path, &place) && place.found) {
        errno = EEXIST;
        return -1;
    }
    if (!place.dir || syscall(SYS_mkdirat, dir, path, mode) != 0)
        return -1;
    entry = sim_disk_entry_find(place.dir, place.name, true);
    sim_disk_entry_set_live(entry, sim_disk_inode_new(true));
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

    if (!find(from_dir, from, &source) || !find(to_dir, to, &target))
        return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
    if (fails("link", true))
        return -1;
    if (!find(from_dir, from, &source) || !find(to_dir, to, &target) || !source.found ||
        syscall(SYS_linkat, from_dir, from, to_dir, to, flags) != 0)
        return -1;
    entry = sim_disk_entry_find(target.dir, target.name, true);
    sim_disk_name(entry, source.found, NULL);
    sim_disk_entry_set_live(entry, source.found);
    return 0;
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- what stat tells --- */

static int tell(int rc, const struct disk_inode *inode, struct stat *to)
{
    if (rc || !inode)
        return rc;
    to->st_ino = FIRST_INODE + inode->serial;
    to->st_mtim = (struct timespec){.tv_sec = inode->changed_us / 1000000,
                                    .tv_nsec = inode->changed_us % 1000000 * 1000};
    to->st_atim = to->st_ctim = to->st_mtim;
    to->st_nlink = inode->is_dir ? 2 : inode->named_by != NULL;
    return 0;
}

int fstatat(int dir, const char *path, struct stat *to, int flags)
{
    struct place place;

    if (path[0] && find(dir, path, &place) && !place.found)
        return is_not_there();
    return tell((int)syscall(SYS_newfstatat, dir, path, to, flags), sim_file_at(dir, path), to);
}

int fstat(int fd, struct stat *to)
{
    return tell((int)syscall(SYS_fstat, fd, to), sim_file_of(fd), to);
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
#pragma GCC diagnostic ignored "-Wattribute-alias"
__attribute__((alias("fstatat"))) int fstatat64(int dir, const char *path, struct stat64 *to,
                                                int flags);
__attribute__((alias("fstat"))) int fstat64(int fd, struct stat64 *to);
__attribute__((alias("stat"))) int stat64(const char *path, struct stat64 *to);
__attribute__((alias("lstat"))) int lstat64(const char *path, struct stat64 *to);

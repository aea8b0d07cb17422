/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_files.c - descriptors of the life's files (sim_disk.h), and the calls that take one: each
 * that changes a file below "disk" is a point, may fail, and is recorded.
 *
 * Descriptors are numbers of their own, far above the system's; all others are passed on.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include "sim_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim_core.h"
#include "sim_disk.h"

enum {
    FIRST_FD = 2048, /* above what the system gives out, and the line to the driver */
    WRITE_US = 5,
    SYNC_US_MIN = 50,
    SYNC_US_MAX = 1500,
    SLOW_US_MAX = 1000000,
};

static struct {
    struct disk_inode *inode; /* NULL: it is not open */
    int flags;
    uint64_t position;
} opened[SIM_FD_COUNT_MAX];
static int lowest; /* all before it are open */
static bool is_full;

void sim_disk_full(bool full)
{
    is_full = full;
}

bool sim_disk_is_full(void)
{
    return is_full;
}

struct disk_inode *sim_file_of(int fd)
{
    return fd >= FIRST_FD && fd < FIRST_FD + SIM_FD_COUNT_MAX ? opened[fd - FIRST_FD].inode : NULL;
}

int sim_file_open(struct disk_inode *inode, int flags)
{
    int index = lowest;

    while (index < SIM_FD_COUNT_MAX && opened[index].inode)
        index++;
    if (index == SIM_FD_COUNT_MAX) {
        errno = EMFILE;
        return -1;
    }
    lowest = index + 1;
    opened[index].inode = inode;
    opened[index].flags = flags;
    opened[index].position = 0;
    inode->opened++;
    return FIRST_FD + index;
}

int close(int fd)
{
    struct disk_inode *inode = sim_file_of(fd);

    if (!inode)
        return sim_real_close(fd);
    opened[fd - FIRST_FD].inode = NULL;
    if (fd - FIRST_FD < lowest)
        lowest = fd - FIRST_FD;
    if (inode->locked_by == fd)
        inode->locked_by = 0;
    sim_disk_inode_close(inode);
    return 0;
}

/* --- faults --- */

/* Whether the call at hand fails; every call that changes the disk begins with
 * this. */
bool sim_file_fails(const struct disk_inode *inode, const char *what, bool needs_space)
{
    struct sim_faults *faults = sim_faults();

    if (!inode->is_recorded)
        return false;
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

/* --- content --- */

static ssize_t read_at(int fd, void *to, size_t size, uint64_t offset)
{
    const struct disk_inode *inode = sim_file_of(fd);

    if (inode->is_dir) {
        errno = EISDIR;
        return -1;
    }
    return sim_content_read(inode, to, size, offset);
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    return sim_file_of(fd) ? read_at(fd, to, size, (uint64_t)offset)
                           : syscall(SYS_pread64, fd, to, size, offset);
}

__attribute__((alias("pread"))) ssize_t pread64(int fd, void *to, size_t size, off_t offset);

ssize_t read(int fd, void *to, size_t size)
{
    ssize_t got;

    if (!sim_file_of(fd))
        return syscall(SYS_read, fd, to, size);
    got = read_at(fd, to, size, opened[fd - FIRST_FD].position);
    if (got > 0)
        opened[fd - FIRST_FD].position += (uint64_t)got;
    return got;
}

off_t lseek(int fd, off_t offset, int whence)
{
    const struct disk_inode *inode = sim_file_of(fd);
    uint64_t *position;

    if (!inode)
        return syscall(SYS_lseek, fd, offset, whence);
    position = &opened[fd - FIRST_FD].position;
    if (whence == SEEK_CUR)
        offset += (off_t)*position;
    else if (whence == SEEK_END)
        offset += (off_t)inode->size;
    if (offset < 0 || (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END)) {
        errno = EINVAL;
        return -1;
    }
    *position = (uint64_t)offset;
    return offset;
}

__attribute__((alias("lseek"))) off64_t lseek64(int fd, off64_t offset, int whence);

static void record_write(struct disk_inode *inode, uint64_t offset, size_t size)
{
    struct disk_change *change = sim_disk_change_new(inode, size);
    uint64_t end = offset + size;

    change->offset = offset;
    change->old_count = (uint64_t)sim_content_read(inode, change->bytes, size, offset);
    change->new_size = end > inode->size ? end : inode->size;
}

/* Part of it may be there although it fails. */
static ssize_t write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    struct disk_inode *inode = sim_file_of(fd);
    int flags = opened[fd - FIRST_FD].flags;
    bool has_failed;
    int error;

    if ((flags & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    has_failed = sim_file_fails(inode, "write", offset + size > inode->size);
    error = errno;
    if (flags & O_APPEND)
        offset = inode->size;
    if (has_failed)
        size = rng_below(&sim->disk, size + 1) / 2;
    inode->changed_us = sim_wall_us();
    if (inode->is_recorded) {
        sim->writes++;
        sim_mix(offset ^ size);
        if (!inode->is_volatile && size)
            record_write(inode, offset, size);
    }
    sim_content_write(inode, data, size, offset);
    errno = error;
    return has_failed ? -1 : (ssize_t)size;
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
    ssize_t written;

    if (sim_is_alive && (fd == STDOUT_FILENO || fd == STDERR_FILENO)) {
        sim_line(sim_current ? sim_current->name : "", data, size);
        return (ssize_t)size;
    }
    if (!sim_file_of(fd))
        return sim_real_write(fd, data, size);
    written = write_at(fd, data, size, opened[fd - FIRST_FD].position);
    if (written > 0)
        opened[fd - FIRST_FD].position += (uint64_t)written;
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

void sim_file_resize(struct disk_inode *inode, uint64_t size)
{
    uint64_t lost = size < inode->size ? inode->size - size : 0;
    struct disk_change *change;

    inode->changed_us = sim_wall_us();
    if (inode->is_recorded && !inode->is_volatile) {
        change = sim_disk_change_new(inode, lost);
        change->is_resize = true;
        change->offset = size;
        change->old_count = lost;
        change->new_size = size;
        (void)sim_content_read(inode, change->bytes, lost, size);
    }
    sim_content_resize(inode, size);
    if (inode->is_recorded)
        sim_mix(size);
}

int ftruncate(int fd, off_t size)
{
    struct disk_inode *inode = sim_file_of(fd);

    if (!inode)
        return (int)syscall(SYS_ftruncate, fd, size);
    if (sim_file_fails(inode, "ftruncate", false))
        return -1;
    sim_file_resize(inode, (uint64_t)size);
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
    if (sim_file_fails(inode, "fallocate", true))
        return -1;
    if ((uint64_t)(offset + size) > inode->size)
        sim_file_resize(inode, (uint64_t)(offset + size));
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
    if (!inode->is_recorded)
        return 0;
    serial = sim_disk->serial;
    sim->syncs++;
    inode->opened++; /* another may close it meanwhile */
    sim_pause_us(SYNC_US_MIN + (int64_t)rng_below(&sim->disk, SYNC_US_MAX));
    if (sim_file_fails(inode, "sync", false)) {
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

int posix_fadvise(int fd, off_t offset, off_t size, int advice)
{
    if (sim_file_of(fd))
        return 0;
    return syscall(SYS_fadvise64, fd, offset, size, advice) ? errno : 0;
}

__attribute__((alias("posix_fadvise"))) int posix_fadvise64(int fd, off64_t offset, off64_t size,
                                                            int advice);

/* --- locks and permissions --- */

/* All that runs is one process, whose own locks never refuse each other. */
int fcntl(int fd, int command, ...)
{
    struct flock *lock;
    va_list args;
    void *arg;

    va_start(args, command);
    arg = va_arg(args, void *);
    va_end(args);
    if (sim_is_alive && (command == F_SETLK || command == F_SETLKW || command == F_GETLK)) {
        lock = arg;
        if (command == F_GETLK)
            lock->l_type = F_UNLCK;
        return 0;
    }
    if (!sim_file_of(fd))
        return (int)syscall(SYS_fcntl, fd, command, arg);
    if (command == F_GETFD)
        return FD_CLOEXEC;
    if (command == F_SETFD)
        return 0;
    errno = EINVAL;
    return -1;
}

__attribute__((alias("fcntl"))) int fcntl64(int fd, int command, ...);

/* Of one descriptor at a time, whatever it asks for; nobody waits for another. */
int flock(int fd, int operation)
{
    struct disk_inode *inode = sim_file_of(fd);

    if (!inode)
        return (int)syscall(SYS_flock, fd, operation);
    if (inode->locked_by && inode->locked_by != fd) {
        if (!(operation & (LOCK_NB | LOCK_UN)))
            sim_fail("a task would wait for the lock of a file");
        errno = EWOULDBLOCK;
        return operation & LOCK_UN ? 0 : -1;
    }
    inode->locked_by = operation & LOCK_UN ? 0 : fd;
    return 0;
}

int fchmod(int fd, mode_t mode)
{
    struct disk_inode *inode = sim_file_of(fd);

    if (!inode)
        return (int)syscall(SYS_fchmod, fd, mode);
    inode->mode = mode;
    return 0;
}

int fchown(int fd, uid_t user, gid_t group)
{
    return sim_file_of(fd) ? 0 : (int)syscall(SYS_fchown, fd, user, group);
}

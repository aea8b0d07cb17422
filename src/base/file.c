/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_calls.h"
#include "base/memory.h"

enum { READ_STEP = 64 << 10, DIR_REMOVE_FDS = 16 };

int file_read(const char *path, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = 0;

    if (fd < 0)
        return err_errno(err, "open %s", path);
    for (;;) {
        size_t left = out->limit - out->size;
        size_t step = left < READ_STEP ? left + 1 : READ_STEP;
        char chunk[READ_STEP];
        ssize_t got = read(fd, chunk, step);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            rc = err_errno(err, "read %s", path);
            break;
        }
        if (got == 0)
            break;
        buf_put_raw(out, chunk, (size_t)got);
        if (buf_failed(out)) {
            rc = err_set(err, ERR_LIMIT, "%s is larger than %zu bytes", path, out->limit);
            break;
        }
    }
    close(fd);
    return rc;
}

int file_write_all(int fd, struct bytes content, struct err *err)
{
    while (content.size) {
        ssize_t written = file_call_write(fd, content.data, content.size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return err_errno(err, "write");
        content = bytes_skip(content, (size_t)written);
    }
    return 0;
}

static int sync_parent(const char *path, struct err *err)
{
    char *copy = mem_strdup(path);
    char *slash = strrchr(copy, '/');
    int rc;

    if (!slash)
        memcpy(copy, ".", 2); /* the name has at least one character */
    else if (slash == copy)
        slash[1] = 0;
    else
        *slash = 0;
    rc = dir_sync(copy, err);
    free(copy);
    return rc;
}

int file_write(const char *path, struct bytes content, struct err *err)
{
    static _Atomic unsigned serial; /* two threads may write one path: each has its own file */
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof(temporary), "%s.tmp.%d.%u", path, (int)getpid(),
                          atomic_fetch_add(&serial, 1));
    int fd;
    int rc;

    if (length < 0 || (size_t)length >= sizeof(temporary))
        return err_set(err, ERR_LIMIT, "path %.64s… is too long", path);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_errno(err, "create %s", temporary);
    rc = file_write_all(fd, content, err);
    if (rc && err)
        err_wrap(err, "%s", temporary);
    if (!rc && file_call_fsync(fd))
        rc = err_errno(err, "fsync %s", temporary);
    if (close(fd) && !rc)
        rc = err_errno(err, "close %s", temporary);
    if (!rc && file_call_rename(temporary, path))
        rc = err_errno(err, "rename %s", temporary);
    if (rc) {
        unlink(temporary);
        return rc;
    }
    return sync_parent(path, err);
}

/* A directory that is made here is durable in its parent before anything is put into it. */
static int make_dir(const char *path, struct err *err)
{
    if (mkdir(path, 0755) == 0)
        return sync_parent(path, err);
    return errno == EEXIST ? 0 : err_errno(err, "create directory %s", path);
}

struct file_stamp file_stamp(const char *path)
{
    struct stat file;

    if (stat(path, &file))
        return (struct file_stamp){0};
    return (struct file_stamp){file.st_mtim, file.st_size, file.st_ino};
}

bool file_stamps_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec &&
           a->size == b->size && a->inode == b->inode;
}

int dir_create(const char *path, struct err *err)
{
    char *copy = mem_strdup(path);
    char *slash;
    int rc = 0;

    for (slash = strchr(copy + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        rc = make_dir(copy, err);
        *slash = '/';
    }
    if (!rc)
        rc = make_dir(copy, err);
    free(copy);
    return rc;
}

int dir_sync(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = 0;

    if (fd < 0)
        return err_errno(err, "open directory %s", path);
    if (file_call_fsync(fd))
        rc = err_errno(err, "fsync directory %s", path);
    close(fd);
    return rc;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

int dir_remove(const char *path, struct err *err)
{
    if (nftw(path, remove_entry, DIR_REMOVE_FDS, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
        return err_errno(err, "remove %s", path);
    return 0;
}

int file_lock(const char *path, int *lock_fd, struct err *err)
{
    char pid[16] = "?";
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ssize_t got;

    *lock_fd = -1;
    if (fd < 0)
        return err_errno(err, "open lock %s", path);
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        int saved = errno;

        got = pread(fd, pid, sizeof(pid) - 1, 0);
        pid[got > 0 ? got : 0] = 0;
        close(fd);
        errno = saved;
        if (saved != EWOULDBLOCK)
            return err_errno(err, "lock %s", path);
        return err_set(err, ERR_EXISTS, "%s is locked by process %s", path, pid);
    }
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    if (ftruncate(fd, 0) || pwrite(fd, pid, strlen(pid), 0) < 0) {
        int rc = err_errno(err, "write lock %s", path); /* before close changes errno */

        close(fd);
        return rc;
    }
    *lock_fd = fd;
    return 0;
}

void file_unlock(int lock_fd)
{
    if (lock_fd >= 0)
        close(lock_fd);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* disk_posix.c - disk.h on a directory of the system, which it keeps locked while open. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "topic/disk.h"

struct posix_disk {
    struct disk base;
    char *root; /* owned */
    int lock_fd;
};

struct posix_file {
    struct disk_file base;
    int fd;
    char *path; /* owned; for errors */
};

static int join(struct disk *base, const char *path, char full[PATH_MAX], struct err *err)
{
    struct posix_disk *disk = container_of(base, struct posix_disk, base);
    int length = snprintf(full, PATH_MAX, "%s%s%s", disk->root, *path ? "/" : "", path);

    if (length < 0 || length >= PATH_MAX)
        return err_set(err, ERR_LIMIT, "path %.64s…/%s is too long", disk->root, path);
    return 0;
}

static void posix_close(struct disk *base)
{
    struct posix_disk *disk = container_of(base, struct posix_disk, base);

    file_unlock(disk->lock_fd);
    free(disk->root);
    free(disk);
}

static int posix_open(struct disk *disk, const char *path, bool create, struct disk_file **file,
                      struct err *err)
{
    struct posix_file *made;
    char full[PATH_MAX];
    int fd;
    int rc = join(disk, path, full, err);

    *file = NULL;
    if (rc)
        return rc;
    fd = open(full, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0644);
    if (fd < 0)
        return err_errno(err, "open %s", full);
    made = mem_zero(sizeof(*made));
    made->base.disk = disk;
    made->fd = fd;
    made->path = mem_strdup(full);
    *file = &made->base;
    return 0;
}

static int posix_write_whole(struct disk *disk, const char *path, struct bytes content,
                             struct err *err)
{
    char full[PATH_MAX];
    int rc = join(disk, path, full, err);

    return rc ? rc : file_write(full, content, err);
}

static int posix_read_whole(struct disk *disk, const char *path, struct buf *out, struct err *err)
{
    char full[PATH_MAX];
    int rc = join(disk, path, full, err);

    return rc ? rc : file_read(full, out, err);
}

static int posix_make_dir(struct disk *disk, const char *path, struct err *err)
{
    char full[PATH_MAX];
    int rc = join(disk, path, full, err);

    return rc ? rc : dir_create(full, err);
}

static int posix_sync_dir(struct disk *disk, const char *path, struct err *err)
{
    char full[PATH_MAX];
    int rc = join(disk, path, full, err);

    return rc ? rc : dir_sync(full, err);
}

static int posix_list(struct disk *disk, const char *path, disk_name_fn fn, void *arg,
                      struct err *err)
{
    char full[PATH_MAX];
    struct dirent *entry;
    DIR *dir;
    int rc = join(disk, path, full, err);

    if (rc)
        return rc;
    dir = opendir(full);
    if (!dir)
        return err_errno(err, "list %s", full);
    do {
        errno = 0;
        entry = readdir(dir);
        if (!entry && errno)
            rc = err_errno(err, "list %s", full);
        else if (entry && entry->d_name[0] != '.')
            rc = fn(arg, entry->d_name, err);
    } while (entry && !rc);
    closedir(dir);
    return rc;
}

static int posix_remove(struct disk *disk, const char *path, struct err *err)
{
    char full[PATH_MAX];
    int rc = join(disk, path, full, err);

    if (!rc && unlink(full))
        rc = err_errno(err, "remove %s", full);
    return rc;
}

static int posix_remove_dir(struct disk *disk, const char *path, struct err *err)
{
    char full[PATH_MAX];
    int rc = join(disk, path, full, err);

    if (!rc)
        rc = dir_remove(full, err);
    if (rc == ERR_NOT_FOUND)
        rc = 0;
    if (!rc)
        rc = dir_sync(dirname(full), err);
    return rc;
}

static void posix_file_close(struct disk_file *base)
{
    struct posix_file *file = container_of(base, struct posix_file, base);

    close(file->fd);
    free(file->path);
    free(file);
}

static int posix_file_write(struct disk_file *base, uint64_t position, struct bytes content,
                            struct err *err)
{
    struct posix_file *file = container_of(base, struct posix_file, base);

    while (content.size) {
        ssize_t written = pwrite(file->fd, content.data, content.size, (off_t)position);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return err_errno(err, "write %s", file->path);
        position += (uint64_t)written;
        content = bytes_skip(content, (size_t)written);
    }
    return 0;
}

static int posix_file_read(struct disk_file *base, uint64_t position, void *to, size_t size,
                           size_t *got, struct err *err)
{
    struct posix_file *file = container_of(base, struct posix_file, base);

    *got = 0;
    while (*got < size) {
        ssize_t step = pread(file->fd, (char *)to + *got, size - *got, (off_t)(position + *got));

        if (step < 0 && errno == EINTR)
            continue;
        if (step < 0)
            return err_errno(err, "read %s", file->path);
        if (step == 0)
            break;
        *got += (size_t)step;
    }
    return 0;
}

static int posix_file_sync(struct disk_file *base, struct err *err)
{
    struct posix_file *file = container_of(base, struct posix_file, base);

    return fdatasync(file->fd) ? err_errno(err, "fdatasync %s", file->path) : 0;
}

static int posix_file_truncate(struct disk_file *base, uint64_t size, struct err *err)
{
    struct posix_file *file = container_of(base, struct posix_file, base);

    return ftruncate(file->fd, (off_t)size) ? err_errno(err, "truncate %s", file->path) : 0;
}

static int posix_file_size(struct disk_file *base, uint64_t *size, struct err *err)
{
    struct posix_file *file = container_of(base, struct posix_file, base);
    struct stat info;

    if (fstat(file->fd, &info))
        return err_errno(err, "stat %s", file->path);
    *size = (uint64_t)info.st_size;
    return 0;
}

static const struct disk_ops posix_ops = {
    .close = posix_close,
    .open = posix_open,
    .write_whole = posix_write_whole,
    .read_whole = posix_read_whole,
    .make_dir = posix_make_dir,
    .sync_dir = posix_sync_dir,
    .list = posix_list,
    .remove = posix_remove,
    .remove_dir = posix_remove_dir,
    .file_close = posix_file_close,
    .file_write = posix_file_write,
    .file_read = posix_file_read,
    .file_sync = posix_file_sync,
    .file_truncate = posix_file_truncate,
    .file_size = posix_file_size,
};

int disk_posix_open(const char *directory, struct disk **disk, struct err *err)
{
    struct posix_disk *made = mem_zero(sizeof(*made));
    char lock[PATH_MAX];
    int rc;

    *disk = NULL;
    made->base.ops = &posix_ops;
    made->root = mem_strdup(directory);
    made->lock_fd = -1;
    rc = *directory ? dir_create(directory, err)
                    : err_set(err, ERR_INVALID, "file: needs a directory");
    if (!rc)
        rc = join(&made->base, "lock", lock, err);
    if (!rc)
        rc = file_lock(lock, &made->lock_fd, err);
    if (rc) {
        posix_close(&made->base);
        return rc;
    }
    *disk = &made->base;
    return 0;
}

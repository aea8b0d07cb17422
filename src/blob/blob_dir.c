/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_dir.c - the dir: backend: a tree of files.
 *
 *   PATH/a/b/name~      the blob a/b/name ('~' is in no name, so a blob a/b and a folder a/b
 *                       can live beside each other, as they can in S3)
 *   PATH/.writing/HEX   a blob being written; its name is random, no part begins with a dot
 *
 * A commit syncs the file, renames it, and syncs the folder it is in now. Folders are made
 * and synced, and empty ones removed, under the write side of `folders`; renames happen under
 * its read side, so that none goes into a folder that is not durable yet. Leftovers of
 * killed writers are removed at open, when they have not been written to for a while.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "blob/backend.h"
#include "blob/bounds.h"
#include "blob/dir_list.h"

enum {
    READ_STEP = 256 << 10,
    ROOT_SIZE_MAX = PATH_MAX - BLOB_NAME_SIZE_MAX - 64,
};

#define WRITING "/.writing"

struct dir {
    struct blob base;
    char *root; /* owned */
    const struct blob_disk *disk;
    pthread_rwlock_t folders;
};

struct dir_writer {
    struct blob_writer base;
    int fd;
    char temporary[PATH_MAX];
    char target[PATH_MAX];
};

static struct dir *dir_of(struct blob *blob)
{
    return container_of(blob, struct dir, base);
}

static void blob_path(const struct dir *dir, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s~", dir->root, name); /* root and name are bounded */
}

/* --- open --- */

static void remove_leftovers(const char *writing)
{
    /* the times of files are the system's, whatever clock the process has */
    time_t oldest = time(NULL) - BLOB_LEFTOVER_AGE_S;
    DIR *stream = opendir(writing);
    struct dirent *entry;

    if (!stream)
        return;
    for (entry = readdir(stream); entry; entry = readdir(stream)) {
        struct stat info;

        if (entry->d_name[0] != '.' &&
            fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            info.st_mtime < oldest)
            unlinkat(dirfd(stream), entry->d_name, 0);
    }
    closedir(stream);
}

static int dir_open(const char *place, const struct blob_disk *disk, struct blob **blob,
                    struct err *err)
{
    char writing[PATH_MAX];
    struct dir *dir;
    int rc;

    if (!place[0] || strlen(place) > ROOT_SIZE_MAX)
        return err_set(err, ERR_INVALID, "dir: needs a path of 1 to %d characters", ROOT_SIZE_MAX);
    snprintf(writing, sizeof(writing), "%s" WRITING, place);
    rc = dir_create(writing, err);
    if (rc)
        return rc;
    remove_leftovers(writing);
    dir = mem_zero(sizeof(*dir));
    dir->base.ops = &blob_dir_ops;
    dir->root = mem_strdup(place);
    dir->disk = disk;
    pthread_rwlock_init(&dir->folders, NULL);
    *blob = &dir->base;
    return 0;
}

static void dir_close(struct blob *blob)
{
    struct dir *dir = dir_of(blob);

    pthread_rwlock_destroy(&dir->folders);
    free(dir->root);
    free(dir);
}

/* --- read --- */

static int read_bytes(int fd, const char *name, uint64_t offset, uint64_t size, struct buf *out,
                      struct err *err)
{
    while (size) {
        size_t step = size < READ_STEP ? (size_t)size : READ_STEP;
        uint8_t *room = buf_reserve(out, step);
        ssize_t got;

        if (!room)
            return err_set(err, ERR_LIMIT, "blob %s does not fit %zu bytes", name, out->limit);
        got = pread(fd, room, step, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, "read blob %s", name);
        if (got == 0)
            return err_set(err, ERR_CORRUPT, "blob %s was cut while it was read", name);
        buf_advance(out, (size_t)got);
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return 0;
}

static int dir_read(struct blob *blob, const char *name, uint64_t offset, uint64_t size,
                    struct buf *out, uint64_t *total, struct err *err)
{
    char path[PATH_MAX];
    struct stat info;
    int fd;
    int rc = 0;

    blob_path(dir_of(blob), name, path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return err_set(err, ERR_NOT_FOUND, "there is no blob %s", name);
    if (fd < 0)
        return err_errno(err, "open blob %s", name);
    if (fstat(fd, &info))
        rc = err_errno(err, "read size of blob %s", name);
    if (!rc) {
        *total = (uint64_t)info.st_size;
        if (offset < *total && size > *total - offset)
            size = *total - offset;
        if (offset < *total)
            rc = read_bytes(fd, name, offset, size, out, err);
    }
    close(fd);
    return rc;
}

/* --- write --- */

static int dir_begin(struct blob *blob, const char *name, struct blob_writer **out, struct err *err)
{
    struct dir *dir = dir_of(blob);
    struct dir_writer *writer = mem_zero(sizeof(*writer));

    writer->base.blob = blob;
    snprintf(writer->temporary, PATH_MAX, "%s" WRITING "/%016jx%016jx", dir->root,
             (uintmax_t)random_u64(), (uintmax_t)random_u64());
    blob_path(dir, name, writer->target);
    writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (writer->fd < 0) {
        int rc = err_errno(err, "create %s", writer->temporary);

        free(writer);
        return rc;
    }
    *out = &writer->base;
    return 0;
}

static int dir_append(struct blob_writer *base, struct bytes piece, struct err *err)
{
    struct dir_writer *writer = container_of(base, struct dir_writer, base);
    const struct blob_disk *disk = dir_of(base->blob)->disk;

    while (piece.size) {
        ssize_t written = disk->write(writer->fd, piece.data, piece.size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return err_errno(err, "write %s", writer->temporary);
        piece = bytes_skip(piece, (size_t)written);
    }
    return 0;
}

static void dir_abort(struct blob_writer *base)
{
    struct dir_writer *writer = container_of(base, struct dir_writer, base);

    if (writer->fd >= 0)
        close(writer->fd);
    unlink(writer->temporary); /* after a rename there is none, which is fine */
    free(writer);
}

/* The folder that holds the path. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%.*s", (int)(strrchr(path, '/') - path), path);
}

/* Renames into place, making the folders on the way if they are not there. */
static int rename_into(struct dir *dir, const struct dir_writer *writer, struct err *err)
{
    char folder[PATH_MAX];
    int failed;
    int rc = 0;

    pthread_rwlock_rdlock(&dir->folders);
    failed = dir->disk->rename(writer->temporary, writer->target);
    if (failed && errno != ENOENT)
        rc = err_errno(err, "rename to %s", writer->target);
    pthread_rwlock_unlock(&dir->folders);
    if (!failed || rc)
        return rc;
    folder_of(writer->target, folder);
    pthread_rwlock_wrlock(&dir->folders);
    rc = dir_create(folder, err);
    if (!rc && dir->disk->rename(writer->temporary, writer->target))
        rc = err_errno(err, "rename to %s", writer->target);
    pthread_rwlock_unlock(&dir->folders);
    return rc;
}

/* A folder that is gone meanwhile held nothing: what it had was deleted again. */
static int sync_folder(const struct dir *dir, const char *path, struct err *err)
{
    char folder[PATH_MAX];
    int rc = 0;
    int fd;

    folder_of(path, folder);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_errno(err, "open folder %s", folder);
    if (dir->disk->sync(fd))
        rc = err_errno(err, "fsync of folder %s", folder);
    close(fd);
    return rc;
}

static int dir_commit(struct blob_writer *base, struct err *err)
{
    struct dir_writer *writer = container_of(base, struct dir_writer, base);
    struct dir *dir = dir_of(base->blob);
    int rc = 0;

    if (dir->disk->sync(writer->fd))
        rc = err_errno(err, "fsync of %s", writer->temporary);
    if (!rc) {
        int failed = close(writer->fd);

        writer->fd = -1;
        if (failed)
            rc = err_errno(err, "close %s", writer->temporary);
    }
    if (!rc)
        rc = rename_into(dir, writer, err);
    if (!rc)
        rc = sync_folder(dir, writer->target, err);
    dir_abort(base);
    return rc;
}

/* --- delete, list --- */

/* Removes the folders above that became empty; one that is not stops it. */
static void prune_folders(struct dir *dir, const char *path)
{
    char folder[PATH_MAX];
    size_t root_size = strlen(dir->root);
    char *slash;

    folder_of(path, folder);
    pthread_rwlock_wrlock(&dir->folders);
    while (strlen(folder) > root_size && rmdir(folder) == 0) {
        slash = strrchr(folder, '/');
        *slash = 0;
    }
    pthread_rwlock_unlock(&dir->folders);
}

static int dir_remove_blob(struct blob *blob, const char *name, struct err *err)
{
    struct dir *dir = dir_of(blob);
    char path[PATH_MAX];
    int rc;

    blob_path(dir, name, path);
    if (unlink(path)) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        return err_errno(err, "delete blob %s", name);
    }
    rc = sync_folder(dir, path, err);
    if (!rc)
        prune_folders(dir, path);
    return rc;
}

static int dir_list(struct blob *blob, const char *prefix, const char *after, size_t limit,
                    struct arena *arena, struct blob_page *page, struct err *err)
{
    return dir_list_page(dir_of(blob)->root, prefix, after, limit, arena, page, err);
}

const struct blob_ops blob_dir_ops = {
    .scheme = "dir",
    .open = dir_open,
    .close = dir_close,
    .read = dir_read,
    .remove = dir_remove_blob,
    .list = dir_list,
    .begin = dir_begin,
    .append = dir_append,
    .commit = dir_commit,
    .abort = dir_abort,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* blob_fault.c - see fault.h: passes on to another backend, and fails when told to. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "blob/backend.h"
#include "blob/fault.h"

struct faulty {
    struct blob base;
    struct blob *inner; /* owned */
};

struct faulty_writer {
    struct blob_writer base;
    struct blob_writer *inner; /* owned */
};

static struct {
    int skip;
    int count;
} planned[BLOB_FAULT_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void blob_fault_next(enum blob_fault fault, int skip, int count)
{
    pthread_mutex_lock(&lock);
    planned[fault].skip = skip;
    planned[fault].count = count;
    pthread_mutex_unlock(&lock);
}

void blob_fault_clear(void)
{
    int i;

    for (i = 0; i < BLOB_FAULT_COUNT; i++)
        blob_fault_next((enum blob_fault)i, 0, 0);
}

static bool fails(enum blob_fault fault)
{
    bool now = false;

    pthread_mutex_lock(&lock);
    if (planned[fault].count && planned[fault].skip) {
        planned[fault].skip--;
    } else if (planned[fault].count) {
        planned[fault].count--;
        now = true;
    }
    pthread_mutex_unlock(&lock);
    return now;
}

static ssize_t faulty_write(int fd, const void *data, size_t size)
{
    static _Thread_local bool full;

    if (full) { /* the second half of a short write */
        full = false;
        errno = ENOSPC;
        return -1;
    }
    if (fails(BLOB_FAULT_DISK_WRITE)) {
        errno = EIO;
        return -1;
    }
    if (size > 1 && fails(BLOB_FAULT_DISK_SHORT_WRITE)) {
        full = true;
        return write(fd, data, size / 2);
    }
    return write(fd, data, size);
}

static int faulty_sync(int fd)
{
    if (!fails(BLOB_FAULT_DISK_SYNC))
        return fsync(fd);
    errno = EIO;
    return -1;
}

static int faulty_rename(const char *from, const char *to)
{
    if (!fails(BLOB_FAULT_DISK_RENAME))
        return rename(from, to);
    errno = EIO;
    return -1;
}

static struct blob *inner_of(struct blob *blob)
{
    return container_of(blob, struct faulty, base)->inner;
}

static int told(struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "fault: this call was made to fail");
}

static int fault_open(const char *place, const struct blob_disk *disk, struct blob **blob,
                      struct err *err)
{
    static const struct blob_disk faulty_disk = {
        .write = faulty_write, .sync = faulty_sync, .rename = faulty_rename};
    struct faulty *faulty = mem_zero(sizeof(*faulty));
    int rc = blob_backend_open(place, &faulty_disk, &faulty->inner, err);

    (void)disk;
    faulty->base.ops = &blob_fault_ops;
    if (rc)
        free(faulty);
    else
        *blob = &faulty->base;
    return rc;
}

static void fault_close(struct blob *blob)
{
    blob_close(inner_of(blob));
    free(container_of(blob, struct faulty, base));
}

static int fault_read(struct blob *blob, const char *name, uint64_t offset, uint64_t size,
                      struct buf *out, uint64_t *total, struct err *err)
{
    struct blob *inner = inner_of(blob);

    if (fails(BLOB_FAULT_READ))
        return told(err);
    return inner->ops->read(inner, name, offset, size, out, total, err);
}

static int fault_remove(struct blob *blob, const char *name, struct err *err)
{
    struct blob *inner = inner_of(blob);

    return fails(BLOB_FAULT_DELETE) ? told(err) : inner->ops->remove(inner, name, err);
}

static int fault_list(struct blob *blob, const char *prefix, const char *after, size_t limit,
                      struct arena *arena, struct blob_page *page, struct err *err)
{
    struct blob *inner = inner_of(blob);

    if (fails(BLOB_FAULT_LIST))
        return told(err);
    return inner->ops->list(inner, prefix, after, limit, arena, page, err);
}

static int fault_begin(struct blob *blob, const char *name, struct blob_writer **out,
                       struct err *err)
{
    struct blob *inner = inner_of(blob);
    struct faulty_writer *writer = mem_zero(sizeof(*writer));
    int rc = blob_begin(inner, name, &writer->inner, err);

    writer->base.blob = blob;
    if (rc)
        free(writer);
    else
        *out = &writer->base;
    return rc;
}

static int fault_append(struct blob_writer *base, struct bytes piece, struct err *err)
{
    struct blob_writer *inner = container_of(base, struct faulty_writer, base)->inner;

    return fails(BLOB_FAULT_APPEND) ? told(err) : inner->blob->ops->append(inner, piece, err);
}

static void fault_abort(struct blob_writer *base)
{
    struct faulty_writer *writer = container_of(base, struct faulty_writer, base);

    blob_abort(writer->inner);
    free(writer);
}

static int fault_commit(struct blob_writer *base, struct err *err)
{
    struct faulty_writer *writer = container_of(base, struct faulty_writer, base);
    struct blob_writer *inner = writer->inner;

    if (fails(BLOB_FAULT_COMMIT)) {
        fault_abort(base);
        return told(err);
    }
    free(writer);
    return inner->blob->ops->commit(inner, err);
}

const struct blob_ops blob_fault_ops = {
    .scheme = "fault",
    .open = fault_open,
    .close = fault_close,
    .read = fault_read,
    .remove = fault_remove,
    .list = fault_list,
    .begin = fault_begin,
    .append = fault_append,
    .commit = fault_commit,
    .abort = fault_abort,
};

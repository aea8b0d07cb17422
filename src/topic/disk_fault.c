/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_fault.c - a disk whose writes and syncs fail when a test says so. A failed write has
 * written half; a failed sync has made nothing durable and, as Linux does, the next sync of
 * the same file succeeds without having written anything (the pages count as clean).
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "topic/disk.h"

struct fault_disk {
    struct disk base;
    struct disk *inner;         /* borrowed */
    struct disk_faults *faults; /* borrowed */
};

struct fault_file {
    struct disk_file base;
    struct disk_file *inner;
    bool clean; /* a sync failed and nothing was written since */
};

static struct disk *inner_of(struct disk *base)
{
    return container_of(base, struct fault_disk, base)->inner;
}

static struct fault_file *file_of(struct disk_file *base)
{
    return container_of(base, struct fault_file, base);
}

/* Counts one call; true when it is the one to fail. */
static bool fails(_Atomic int64_t *after, struct disk_faults *faults)
{
    int64_t left = atomic_load(after);

    while (left >= 0) {
        int64_t next = left == 0 && atomic_load(&faults->stay_failed) ? 0 : left - 1;

        if (atomic_compare_exchange_weak(after, &left, next))
            return left == 0;
    }
    return false;
}

static void fault_close(struct disk *base)
{
    free(container_of(base, struct fault_disk, base));
}

static int fault_open(struct disk *base, const char *path, bool create, struct disk_file **file,
                      struct err *err)
{
    struct disk *inner = inner_of(base);
    struct fault_file *made = mem_zero(sizeof(*made));
    int rc = inner->ops->open(inner, path, create, &made->inner, err);

    *file = NULL;
    if (rc) {
        free(made);
        return rc;
    }
    made->base.disk = base;
    *file = &made->base;
    return 0;
}

static int fault_write_whole(struct disk *base, const char *path, struct bytes content,
                             struct err *err)
{
    struct fault_disk *disk = container_of(base, struct fault_disk, base);

    if (fails(&disk->faults->fail_write_after, disk->faults))
        return err_set(err, ERR_UNAVAILABLE, "write %s: injected fault", path);
    return disk->inner->ops->write_whole(disk->inner, path, content, err);
}

static int fault_read_whole(struct disk *base, const char *path, struct buf *out, struct err *err)
{
    return inner_of(base)->ops->read_whole(inner_of(base), path, out, err);
}

static int fault_make_dir(struct disk *base, const char *path, struct err *err)
{
    return inner_of(base)->ops->make_dir(inner_of(base), path, err);
}

static int fault_sync_dir(struct disk *base, const char *path, struct err *err)
{
    struct fault_disk *disk = container_of(base, struct fault_disk, base);

    if (fails(&disk->faults->fail_sync_after, disk->faults))
        return err_set(err, ERR_UNAVAILABLE, "fsync directory %s: injected fault", path);
    return disk->inner->ops->sync_dir(disk->inner, path, err);
}

static int fault_list(struct disk *base, const char *path, disk_name_fn fn, void *arg,
                      struct err *err)
{
    return inner_of(base)->ops->list(inner_of(base), path, fn, arg, err);
}

static int fault_remove(struct disk *base, const char *path, struct err *err)
{
    return inner_of(base)->ops->remove(inner_of(base), path, err);
}

static int fault_remove_dir(struct disk *base, const char *path, struct err *err)
{
    struct fault_disk *disk = container_of(base, struct fault_disk, base);

    if (fails(&disk->faults->fail_write_after, disk->faults))
        return err_set(err, ERR_UNAVAILABLE, "remove %s: injected fault", path);
    return disk->inner->ops->remove_dir(disk->inner, path, err);
}

static void fault_file_close(struct disk_file *base)
{
    disk_file_close(file_of(base)->inner);
    free(file_of(base));
}

static int fault_file_write(struct disk_file *base, uint64_t position, struct bytes content,
                            struct err *err)
{
    struct fault_disk *disk = container_of(base->disk, struct fault_disk, base);
    struct fault_file *file = file_of(base);

    atomic_fetch_add(&disk->faults->write_count, 1);
    file->clean = false;
    if (fails(&disk->faults->fail_write_after, disk->faults)) {
        content.size /= 2;
        disk->inner->ops->file_write(file->inner, position, content, err);
        return err_set(err, ERR_UNAVAILABLE, "write: injected fault");
    }
    return disk->inner->ops->file_write(file->inner, position, content, err);
}

static int fault_file_read(struct disk_file *base, uint64_t position, void *to, size_t size,
                           size_t *got, struct err *err)
{
    return inner_of(base->disk)->ops->file_read(file_of(base)->inner, position, to, size, got, err);
}

static int fault_file_sync(struct disk_file *base, struct err *err)
{
    struct fault_disk *disk = container_of(base->disk, struct fault_disk, base);
    struct fault_file *file = file_of(base);

    atomic_fetch_add(&disk->faults->sync_count, 1);
    if (fails(&disk->faults->fail_sync_after, disk->faults)) {
        file->clean = true;
        return err_set(err, ERR_UNAVAILABLE, "fdatasync: injected fault");
    }
    if (file->clean)
        return 0;
    return disk->inner->ops->file_sync(file->inner, err);
}

static int fault_file_truncate(struct disk_file *base, uint64_t size, struct err *err)
{
    file_of(base)->clean = false;
    return inner_of(base->disk)->ops->file_truncate(file_of(base)->inner, size, err);
}

static int fault_file_size(struct disk_file *base, uint64_t *size, struct err *err)
{
    return inner_of(base->disk)->ops->file_size(file_of(base)->inner, size, err);
}

static const struct disk_ops fault_ops = {
    .close = fault_close,
    .open = fault_open,
    .write_whole = fault_write_whole,
    .read_whole = fault_read_whole,
    .make_dir = fault_make_dir,
    .sync_dir = fault_sync_dir,
    .list = fault_list,
    .remove = fault_remove,
    .remove_dir = fault_remove_dir,
    .file_close = fault_file_close,
    .file_write = fault_file_write,
    .file_read = fault_file_read,
    .file_sync = fault_file_sync,
    .file_truncate = fault_file_truncate,
    .file_size = fault_file_size,
};

struct disk *disk_fault_new(struct disk *inner, struct disk_faults *faults)
{
    struct fault_disk *disk = mem_zero(sizeof(*disk));

    disk->base.ops = &fault_ops;
    disk->inner = inner;
    disk->faults = faults;
    return &disk->base;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.h - the few things the embedded log asks of a file system, so that tests can give it a
 * disk that fails, or that loses its power.
 *
 * Paths are relative to the disk's root. A write may be lost until the file is synced, a new
 * or removed name until its directory is; only write_whole, make_dir and remove_dir are durable at
 * return.
 * Threads: all may use one disk; one thread at a time writes a file.
 */
#ifndef TORG_TOPIC_DISK_H
#define TORG_TOPIC_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

struct disk;
struct disk_file;

typedef int (*disk_name_fn)(void *arg, const char *name, struct err *err);

struct disk_ops {
    void (*close)(struct disk *disk);
    int (*open)(struct disk *disk, const char *path, bool create, struct disk_file **file,
                struct err *err);
    int (*write_whole)(struct disk *disk, const char *path, struct bytes content, struct err *err);
    int (*read_whole)(struct disk *disk, const char *path, struct buf *out, struct err *err);
    int (*make_dir)(struct disk *disk, const char *path, struct err *err);
    int (*sync_dir)(struct disk *disk, const char *path, struct err *err);
    int (*list)(struct disk *disk, const char *path, disk_name_fn fn, void *arg, struct err *err);
    int (*remove)(struct disk *disk, const char *path, struct err *err);
    /* With all in it; there is none: fine. A crash, or a failure, may leave any part of it. */
    int (*remove_dir)(struct disk *disk, const char *path, struct err *err);

    void (*file_close)(struct disk_file *file);
    int (*file_write)(struct disk_file *file, uint64_t position, struct bytes content,
                      struct err *err);
    /* *got is less than size only at the end of the file. */
    int (*file_read)(struct disk_file *file, uint64_t position, void *to, size_t size, size_t *got,
                     struct err *err);
    int (*file_sync)(struct disk_file *file, struct err *err);
    int (*file_truncate)(struct disk_file *file, uint64_t size, struct err *err);
    int (*file_size)(struct disk_file *file, uint64_t *size, struct err *err);
};

struct disk {
    const struct disk_ops *ops;
};

struct disk_file {
    struct disk *disk;
};

/* A directory of the system, made if it is not there. ERR_EXISTS when it is in use already. */
int disk_posix_open(const char *directory, struct disk **disk, struct err *err);

/* Files in memory; what was not synced is remembered apart. */
struct disk *disk_memory_new(void);
/* Loses the power: of each file an arbitrary part (by seed) of the writes since its last sync
 * stays, page by page; names that were not synced go. No file may be open. */
void disk_memory_cut(struct disk *disk, uint64_t seed);
/* What a kernel does after a failed sync: unsynced pages count as clean, later syncs skip them. */
void disk_memory_forget(struct disk *disk);
/* Flips a bit of a file, as a bad medium would; ERR_NOT_FOUND, ERR_RANGE. */
int disk_memory_damage(struct disk *disk, const char *path, uint64_t position, struct err *err);

/* What goes wrong; may be changed while the disk is in use. */
struct disk_faults {
    _Atomic int64_t fail_write_after; /* so many succeed, the next fails half done; -1: never */
    _Atomic int64_t fail_sync_after;  /* the same for syncs */
    _Atomic bool stay_failed;         /* all later ones fail too */
    _Atomic uint64_t write_count;
    _Atomic uint64_t sync_count;
};

/* Passes everything on to inner (borrowed), except what faults (borrowed) says. */
struct disk *disk_fault_new(struct disk *inner, struct disk_faults *faults);

static inline void disk_close(struct disk *disk)
{
    if (disk)
        disk->ops->close(disk);
}

static inline void disk_file_close(struct disk_file *file)
{
    if (file)
        file->disk->ops->file_close(file);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - what blob.c needs of a place for blobs; for backends only.
 *
 * Names and limits are checked by blob.c. A backend on the network buffers pieces into parts
 * as its protocol likes: nothing is visible before commit, and a commit that returns 0 is
 * durable. read serves both whole blobs and ranges, so that a whole one is one request.
 */
#ifndef TORG_BLOB_BACKEND_H
#define TORG_BLOB_BACKEND_H

#include <sys/types.h>

#include "base/object.h"
#include "blob/blob.h"

/* The system calls that can fail in interesting ways; the fault wrapper has its own. */
struct blob_disk {
    ssize_t (*write)(int fd, const void *data, size_t size);
    int (*sync)(int fd);
    int (*rename)(const char *from, const char *to);
};

struct blob_ops { /* every one is required */
    const char *scheme;
    int (*open)(const char *place, const struct blob_disk *disk, struct blob **blob,
                struct err *err);
    void (*close)(struct blob *blob);

    /* Appends bytes [offset, offset + size) as far as they exist; *total is the blob's size. */
    int (*read)(struct blob *blob, const char *name, uint64_t offset, uint64_t size,
                struct buf *out, uint64_t *total, struct err *err);
    int (*remove)(struct blob *blob, const char *name, struct err *err);
    int (*list)(struct blob *blob, const char *prefix, const char *after, size_t limit,
                struct arena *arena, struct blob_page *page, struct err *err);

    int (*begin)(struct blob *blob, const char *name, struct blob_writer **writer, struct err *err);
    int (*append)(struct blob_writer *writer, struct bytes piece, struct err *err);
    int (*commit)(struct blob_writer *writer, struct err *err); /* frees it in any case */
    void (*abort)(struct blob_writer *writer);
};

enum { BLOB_MAGIC = OBJECT_MAGIC('b', 'l', 'o', 'b') };

struct blob {
    uint32_t magic; /* set by blob_backend_open */
    const struct blob_ops *ops;
};

enum { BLOB_WRITER_MAGIC = OBJECT_MAGIC('b', 'l', 'w', 'r') };

struct blob_writer {
    uint32_t magic;    /* set by blob_begin */
    struct blob *blob; /* borrowed */
    uint64_t size;
    bool failed;
};

extern const struct blob_ops blob_dir_ops;
extern const struct blob_ops blob_memory_ops;
extern const struct blob_ops blob_fault_ops;

int blob_backend_open(const char *url, const struct blob_disk *disk, struct blob **blob,
                      struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_layer.h - what every file layer over another layer of SQLite's does the same: the calls that
 * it passes on, and its registration.
 *
 * A layer's file begins with a struct layer_file; the file below lies behind the layer's own, in
 * the same allocation by SQLite.
 */
#ifndef TORG_STORE_DISK_LAYER_H
#define TORG_STORE_DISK_LAYER_H

#include <sqlite3.h>
#include <stddef.h>

struct layer_file {
    sqlite3_file base;
    sqlite3_file *below;
};

static inline sqlite3_file *layer_below(sqlite3_file *file)
{
    return ((struct layer_file *)file)->below;
}

/* A layer over the one of this name (NULL: the system's), whose files have this size. */
void layer_register(sqlite3_vfs *vfs, const char *name, const char *below, size_t file_size,
                    int (*open)(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                                int *out_flags));

/* Zeroes the layer's file and opens the one below; that has no methods: nothing is to be closed. */
int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, size_t file_size, int flags,
               int *out_flags);

/* Methods of a file that its layer adds nothing to. */
int layer_close(sqlite3_file *file);
int layer_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset);
int layer_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset);
int layer_truncate(sqlite3_file *file, sqlite3_int64 size);
int layer_sync(sqlite3_file *file, int flags);
int layer_size(sqlite3_file *file, sqlite3_int64 *size);
int layer_lock(sqlite3_file *file, int level);
int layer_unlock(sqlite3_file *file, int level);
int layer_check_reserved(sqlite3_file *file, int *result);
int layer_control(sqlite3_file *file, int op, void *arg);
int layer_sector_size(sqlite3_file *file);
int layer_characteristics(sqlite3_file *file);
int layer_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **to);
int layer_shm_lock(sqlite3_file *file, int offset, int count, int flags);
void layer_shm_barrier(sqlite3_file *file);
int layer_shm_unmap(sqlite3_file *file, int remove);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_fault.c - the faulty disk of store_fault.h: a SQLite file layer over the system's.
 *
 * Writes and syncs of the database and of its log first ask whether they are to fail. Shared memory
 * is passed on: it is an index of the log that SQLite rebuilds.
 */
#include <pthread.h>
#include <sqlite3.h>

#include "store/disk_layer.h"
#include "store/store_fault.h"

struct faulty_file {
    struct layer_file layer;
    bool counted;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    unsigned skip;
    unsigned count;
} faults[DISK_FAULT_COUNT];
static unsigned hit_count;

void disk_fault_arm(enum disk_fault fault, unsigned skip, unsigned count)
{
    pthread_mutex_lock(&lock);
    faults[fault].skip = skip;
    faults[fault].count = count;
    pthread_mutex_unlock(&lock);
}

unsigned disk_fault_hits(void)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    count = hit_count;
    pthread_mutex_unlock(&lock);
    return count;
}

static bool hits(const struct faulty_file *file, enum disk_fault fault)
{
    bool hit = false;

    if (!file->counted)
        return false;
    pthread_mutex_lock(&lock);
    if (faults[fault].count > 0) {
        if (faults[fault].skip > 0) {
            faults[fault].skip--;
        } else {
            faults[fault].count--;
            hit_count++;
            hit = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return hit;
}

static int file_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    const struct faulty_file *self = (struct faulty_file *)file;

    if (hits(self, DISK_FAULT_WRITE))
        return SQLITE_IOERR_WRITE;
    if (hits(self, DISK_FAULT_FULL))
        return SQLITE_FULL;
    if (hits(self, DISK_FAULT_TORN)) {
        layer_write(file, from, size / 2, offset);
        return SQLITE_IOERR_WRITE;
    }
    return layer_write(file, from, size, offset);
}

static int file_sync(sqlite3_file *file, int flags)
{
    if (hits((struct faulty_file *)file, DISK_FAULT_SYNC))
        return SQLITE_IOERR_FSYNC;
    return layer_sync(file, flags);
}

/* Version 2: without memory mapping, so that every write is one of the calls above. */
static const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,
    .xClose = layer_close,
    .xRead = layer_read,
    .xWrite = file_write,
    .xTruncate = layer_truncate,
    .xSync = file_sync,
    .xFileSize = layer_size,
    .xLock = layer_lock,
    .xUnlock = layer_unlock,
    .xCheckReservedLock = layer_check_reserved,
    .xFileControl = layer_control,
    .xSectorSize = layer_sector_size,
    .xDeviceCharacteristics = layer_characteristics,
    .xShmMap = layer_shm_map,
    .xShmLock = layer_shm_lock,
    .xShmBarrier = layer_shm_barrier,
    .xShmUnmap = layer_shm_unmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    struct faulty_file *self = (struct faulty_file *)file;
    int rc = layer_open(vfs, name, file, sizeof(*self), flags, out_flags);

    self->counted = (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
    if (layer_below(file)->pMethods)
        file->pMethods = &faulty_methods;
    return rc;
}

const char *store_fault_vfs(void)
{
    static sqlite3_vfs vfs;

    pthread_mutex_lock(&lock);
    if (!vfs.zName)
        layer_register(&vfs, "torg-faulty-disk", NULL, sizeof(struct faulty_file), disk_open);
    pthread_mutex_unlock(&lock);
    return vfs.zName;
}

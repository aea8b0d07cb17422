/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_fault.c - the faulty disk of store_fault.h: a SQLite file layer over the system's.
 *
 * Every file holds the system's file after itself and passes calls on; writes and syncs of the
 * database and of its log first ask whether they are to fail. Shared memory is passed on: it is
 * an index of the log that SQLite rebuilds.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#include "store/store_fault.h"

struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct, in the same allocation by SQLite */
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

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct faulty_file *)file)->real;
}

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    return real_of(file)->pMethods->xRead(real_of(file), to, size, offset);
}

static int file_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    const struct faulty_file *self = (struct faulty_file *)file;
    sqlite3_file *real = real_of(file);

    if (hits(self, DISK_FAULT_WRITE))
        return SQLITE_IOERR_WRITE;
    if (hits(self, DISK_FAULT_FULL))
        return SQLITE_FULL;
    if (hits(self, DISK_FAULT_TORN)) {
        real->pMethods->xWrite(real, from, size / 2, offset);
        return SQLITE_IOERR_WRITE;
    }
    return real->pMethods->xWrite(real, from, size, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    if (hits((struct faulty_file *)file, DISK_FAULT_SYNC))
        return SQLITE_IOERR_FSYNC;
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock_level(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock_level(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_check_reserved(sqlite3_file *file, int *result)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int file_sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **to)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, to);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

/* Version 2: without memory mapping, so that every write is one of the calls above. */
static const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock_level,
    .xUnlock = file_unlock_level,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    sqlite3_vfs *real_vfs = vfs->pAppData;
    struct faulty_file *self = (struct faulty_file *)file;
    int rc;

    memset(self, 0, sizeof(*self));
    self->real = (sqlite3_file *)(self + 1);
    self->counted = (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
    rc = real_vfs->xOpen(real_vfs, name, self->real, flags, out_flags);
    if (self->real->pMethods)
        self->base.pMethods = &faulty_methods;
    return rc;
}

const char *store_fault_vfs(void)
{
    static sqlite3_vfs vfs;

    pthread_mutex_lock(&lock);
    if (!vfs.zName) {
        sqlite3_vfs *real = sqlite3_vfs_find(NULL);

        vfs = *real;
        vfs.pNext = NULL;
        vfs.zName = "torg-faulty-disk";
        vfs.szOsFile = (int)sizeof(struct faulty_file) + real->szOsFile;
        vfs.pAppData = real;
        vfs.xOpen = disk_open;
        sqlite3_vfs_register(&vfs, 0);
    }
    pthread_mutex_unlock(&lock);
    return vfs.zName;
}

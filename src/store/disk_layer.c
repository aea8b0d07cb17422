/* SPDX-License-Identifier: Apache-2.0 */
/* disk_layer.c - see disk_layer.h. */
#include "store/disk_layer.h"

#include <string.h>

void layer_register(sqlite3_vfs *vfs, const char *name, const char *below, size_t file_size,
                    int (*open)(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                                int *out_flags))
{
    sqlite3_vfs *real = sqlite3_vfs_find(below);

    *vfs = *real;
    vfs->pNext = NULL;
    vfs->zName = name;
    vfs->szOsFile = (int)file_size + real->szOsFile;
    vfs->pAppData = real;
    vfs->xOpen = open;
    sqlite3_vfs_register(vfs, 0);
}

int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, size_t file_size, int flags,
               int *out_flags)
{
    sqlite3_vfs *real = vfs->pAppData;
    struct layer_file *self = (struct layer_file *)file;

    memset(file, 0, file_size);
    self->below = (sqlite3_file *)((char *)file + file_size);
    return real->xOpen(real, name, self->below, flags, out_flags);
}

int layer_close(sqlite3_file *file)
{
    return layer_below(file)->pMethods->xClose(layer_below(file));
}

int layer_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    return layer_below(file)->pMethods->xRead(layer_below(file), to, size, offset);
}

int layer_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    return layer_below(file)->pMethods->xWrite(layer_below(file), from, size, offset);
}

int layer_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return layer_below(file)->pMethods->xTruncate(layer_below(file), size);
}

int layer_sync(sqlite3_file *file, int flags)
{
    return layer_below(file)->pMethods->xSync(layer_below(file), flags);
}

int layer_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return layer_below(file)->pMethods->xFileSize(layer_below(file), size);
}

int layer_lock(sqlite3_file *file, int level)
{
    return layer_below(file)->pMethods->xLock(layer_below(file), level);
}

int layer_unlock(sqlite3_file *file, int level)
{
    return layer_below(file)->pMethods->xUnlock(layer_below(file), level);
}

int layer_check_reserved(sqlite3_file *file, int *result)
{
    return layer_below(file)->pMethods->xCheckReservedLock(layer_below(file), result);
}

int layer_control(sqlite3_file *file, int op, void *arg)
{
    return layer_below(file)->pMethods->xFileControl(layer_below(file), op, arg);
}

int layer_sector_size(sqlite3_file *file)
{
    return layer_below(file)->pMethods->xSectorSize(layer_below(file));
}

int layer_characteristics(sqlite3_file *file)
{
    return layer_below(file)->pMethods->xDeviceCharacteristics(layer_below(file));
}

int layer_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **to)
{
    return layer_below(file)->pMethods->xShmMap(layer_below(file), page, size, extend, to);
}

int layer_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return layer_below(file)->pMethods->xShmLock(layer_below(file), offset, count, flags);
}

void layer_shm_barrier(sqlite3_file *file)
{
    layer_below(file)->pMethods->xShmBarrier(layer_below(file));
}

int layer_shm_unmap(sqlite3_file *file, int remove)
{
    return layer_below(file)->pMethods->xShmUnmap(layer_below(file), remove);
}

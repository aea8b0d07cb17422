/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_disk.c - see sqlite_disk.h.
 *
 * A map is cut into regions; one is mapped when the file has grown past its end, so that nothing
 * mapped is ever moved or lies beyond the end. Linux keeps maps, reads and writes of a file
 * coherent. Which pages of the database file a reader may look at is SQLite's business: those that
 * its snapshot does not find in the log, and a checkpoint leaves them alone until it is gone.
 *
 * The map's descriptor stays open as long as any connection does: POSIX drops a process's locks on
 * a file, SQLite's too, when any descriptor of it is closed. Therefore a connection that cannot
 * have the map (no descriptor is left) is not opened: another's last close would drop its locks.
 *
 * Threads: a file belongs to its connection; maps are shared, their regions are set once.
 */
#include "store/sqlite_disk.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/disk_layer.h"

enum {
    REGION_SIZE = 16 << 20,
    REGION_COUNT = 1 << 16,        /* 1 TB; what lies behind is read(2) */
    LOOK_EVERY = 1024,             /* misses between two looks at the file's size */
    GATHERED_SIZE_MAX = 124 << 10, /* SQLite's layer takes less than 128 KB at once */
};

struct map {
    struct map *next;
    dev_t device;
    ino_t inode;
    int fd;
    unsigned users;            /* files */
    atomic_uint misses;        /* fetches beyond what is mapped */
    atomic_uint full_count;    /* regions that the file covers */
    uint8_t *_Atomic *regions; /* owned */
};

struct own_file {
    struct layer_file layer;
    struct map *map;   /* of a database */
    uint8_t *gathered; /* of a log: owned; written at `start` when flushed */
    sqlite3_int64 start;
    size_t gathered_size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and regions' making */
static struct map *maps;

/* --- maps --- */

static void look_at_size(struct map *map)
{
    struct stat stat;

    if (fstat(map->fd, &stat) == 0)
        atomic_store(&map->full_count, (unsigned)((uint64_t)stat.st_size / REGION_SIZE));
}

/* The map of the file at path; NULL: it cannot be had. */
static struct map *map_of(const char *path)
{
    struct map *map = NULL;
    struct stat found;

    pthread_mutex_lock(&lock);
    if (stat(path, &found) == 0) {
        for (map = maps; map && (map->inode != found.st_ino || map->device != found.st_dev);)
            map = map->next;
        if (map)
            map->users++;
    }
    if (!map) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd >= 0 && fstat(fd, &found) == 0) {
            map = mem_zero(sizeof(*map));
            *map = (struct map){.next = maps,
                                .device = found.st_dev,
                                .inode = found.st_ino,
                                .fd = fd,
                                .users = 1,
                                .regions = mem_zero(REGION_COUNT * sizeof(*map->regions))};
            look_at_size(map);
            maps = map;
        }
    }
    pthread_mutex_unlock(&lock);
    return map;
}

static void map_drop(struct map *map)
{
    struct map **link = &maps;

    if (!map)
        return;
    pthread_mutex_lock(&lock);
    if (--map->users == 0) {
        while (*link != map)
            link = &(*link)->next;
        *link = map->next;
        for (size_t i = 0; i < REGION_COUNT; i++)
            if (map->regions[i])
                munmap(map->regions[i], REGION_SIZE);
        close(map->fd);
        free(map->regions);
        free(map);
    }
    pthread_mutex_unlock(&lock);
}

static uint8_t *make_region(struct map *map, size_t index)
{
    uint8_t *region;

    pthread_mutex_lock(&lock);
    region = atomic_load(&map->regions[index]);
    if (!region) {
        void *made =
            mmap(NULL, REGION_SIZE, PROT_READ, MAP_SHARED, map->fd, (off_t)index * REGION_SIZE);

        region = made == MAP_FAILED ? NULL : made;
        atomic_store(&map->regions[index], region);
    }
    pthread_mutex_unlock(&lock);
    return region;
}

static const uint8_t *map_find(struct map *map, sqlite3_int64 offset, int size)
{
    uint64_t index = (uint64_t)offset / REGION_SIZE;
    uint64_t place = (uint64_t)offset % REGION_SIZE;
    uint8_t *region;

    if (index >= REGION_COUNT || place + (uint64_t)size > REGION_SIZE)
        return NULL;
    if (index >= atomic_load_explicit(&map->full_count, memory_order_relaxed)) {
        if (atomic_fetch_add_explicit(&map->misses, 1, memory_order_relaxed) % LOOK_EVERY == 0)
            look_at_size(map);
        return NULL;
    }
    region = atomic_load_explicit(&map->regions[index], memory_order_acquire);
    if (!region)
        region = make_region(map, index);
    return region ? region + place : NULL;
}

/* --- gathered writes --- */

static struct own_file *own(sqlite3_file *file)
{
    return (struct own_file *)file;
}

/* What failed to be written is forgotten: the commit it belongs to fails by this. */
static int flush(sqlite3_file *file)
{
    struct own_file *self = own(file);
    size_t size = self->gathered_size;

    self->gathered_size = 0;
    if (!size)
        return SQLITE_OK;
    return layer_write(file, self->gathered, (int)size, self->start);
}

static int log_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    struct own_file *self = own(file);
    bool follows =
        self->gathered_size && offset == self->start + (sqlite3_int64)self->gathered_size;
    int rc;

    if (!follows || self->gathered_size + (size_t)size > GATHERED_SIZE_MAX) {
        rc = flush(file);
        if (rc != SQLITE_OK)
            return rc;
        self->start = offset;
    }
    if (size > GATHERED_SIZE_MAX)
        return layer_write(file, from, size, offset);
    if (!self->gathered)
        self->gathered = mem_alloc(GATHERED_SIZE_MAX);
    memcpy(self->gathered + self->gathered_size, from, (size_t)size);
    self->gathered_size += (size_t)size;
    return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    int rc = flush(file);

    return rc == SQLITE_OK ? layer_read(file, to, size, offset) : rc;
}

/* --- files --- */

static int file_close(sqlite3_file *file)
{
    int flushed = flush(file);
    int closed = layer_close(file);

    map_drop(own(file)->map);
    free(own(file)->gathered);
    return flushed == SQLITE_OK ? closed : flushed;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = flush(file);

    return rc == SQLITE_OK ? layer_truncate(file, size) : rc;
}

static int file_sync(sqlite3_file *file, int flags)
{
    int rc = flush(file);

    return rc == SQLITE_OK ? layer_sync(file, flags) : rc;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int rc = flush(file);

    return rc == SQLITE_OK ? layer_size(file, size) : rc;
}

/* The system's layer is not to map a second time. */
static int file_control(sqlite3_file *file, int op, void *arg)
{
    if (op == SQLITE_FCNTL_MMAP_SIZE)
        return SQLITE_OK;
    return layer_control(file, op, arg);
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **to)
{
    struct map *map = own(file)->map;

    *to = (void *)map_find(map, offset, size);
    return SQLITE_OK;
}

/* Pages stay where they are; and so does everything, when SQLite would have it unmapped. */
static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page)
{
    return SQLITE_OK;
}

static const sqlite3_io_methods database_methods = {
    .iVersion = 3,
    .xClose = file_close,
    .xRead = layer_read,
    .xWrite = layer_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = layer_lock,
    .xUnlock = layer_unlock,
    .xCheckReservedLock = layer_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = layer_sector_size,
    .xDeviceCharacteristics = layer_characteristics,
    .xShmMap = layer_shm_map,
    .xShmLock = layer_shm_lock,
    .xShmBarrier = layer_shm_barrier,
    .xShmUnmap = layer_shm_unmap,
    .xFetch = file_fetch,
    .xUnfetch = file_unfetch,
};

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = layer_lock,
    .xUnlock = layer_unlock,
    .xCheckReservedLock = layer_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = layer_sector_size,
    .xDeviceCharacteristics = layer_characteristics,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    sqlite3_vfs *real_vfs = vfs->pAppData;
    struct own_file *self = own(file);
    int rc;

    if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
        return real_vfs->xOpen(real_vfs, name, file, flags, out_flags);
    rc = layer_open(vfs, name, file, sizeof(*self), flags, out_flags);
    if (!layer_below(file)->pMethods)
        return rc;
    if (rc == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB) {
        self->map = map_of(name);
        if (!self->map) {
            layer_close(file);
            return SQLITE_CANTOPEN;
        }
    }
    file->pMethods = flags & SQLITE_OPEN_WAL ? &log_methods : &database_methods;
    return rc;
}

const char *sqlite_disk(const char *below)
{
    static const char *const names[] = {"torg-disk", "torg-disk-over"};
    static sqlite3_vfs layers[2];
    sqlite3_vfs *vfs = &layers[below != NULL];

    pthread_mutex_lock(&lock);
    if (!vfs->zName)
        layer_register(vfs, names[below != NULL], below, sizeof(struct own_file), disk_open);
    assert(vfs->pAppData == sqlite3_vfs_find(below)); /* there is one besides the system's */
    pthread_mutex_unlock(&lock);
    return vfs->zName;
}

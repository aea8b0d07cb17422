/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored.c - see stored.h.
 *
 * A reader takes the chunk from memory if it is there, else from the file. The writer writes a
 * chunk to the file first and takes it out of memory after, by the epoch.
 */
#include "index/shard/stored.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file_calls.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/pack.h"
#include "index/bounds.h"

enum {
    RECORD_HEAD_SIZE = 12,
    PATH_SIZE = 4096,
    FILE_CHUNK_COUNT = STORED_FILE_SIZE / STORED_CHUNK_SIZE,
    READ_SIZE = 4096, /* most records are read at once */
};

enum { FILE_MAGIC = OBJECT_MAGIC('s', 'f', 'i', 'l') };

/* One file, or what would be one. */
struct file {
    uint32_t magic;
    int fd;                                      /* -1: in memory alone */
    _Atomic(uint8_t *) chunks[FILE_CHUNK_COUNT]; /* owned; NULL: in the file */
    uint32_t number;
    uint32_t size;    /* bytes of it that records were put to; the writer's */
    uint32_t flushed; /* of them in the file; the writer's */
    uint32_t content; /* of them of records */
    uint32_t record_count, dead_count;
    bool is_given_up;
    _Atomic bool is_dirty; /* flushed, not synced */
    bool is_suspect;       /* a sync failed: the cache may call clean what the disk has not */
};

enum { STORED_MAGIC = OBJECT_MAGIC('s', 't', 'r', 'd') };

struct stored {
    uint32_t magic;
    char *dir;           /* owned; NULL: in memory */
    struct epoch *epoch; /* borrowed */
    struct buf packed;
    struct file *tail; /* the one that records are put to; NULL: a new one is needed */
    bool *is_held;     /* by number: a checkpoint may name the file; owned */
    _Atomic(struct pack_dictionary *) dictionary; /* owned; NULL: none yet */
    _Atomic uint64_t size;
    _Atomic(struct file *) files[STORED_FILE_COUNT_MAX]; /* owned; NULL: none */
};

struct stored *stored_new(const char *dir, struct epoch *epoch)
{
    struct stored *stored = mem_zero(sizeof(*stored));

    object_begin(stored, STORED_MAGIC);
    stored->dir = dir ? mem_strdup(dir) : NULL;
    stored->epoch = epoch;
    stored->is_held = mem_zero(STORED_FILE_COUNT_MAX);
    buf_init(&stored->packed, 2 * (size_t)STORED_RECORD_SIZE_MAX);
    return stored;
}

static void free_file(void *thing, uint64_t unused)
{
    struct file *file = thing;
    uint32_t i;

    (void)unused;
    if (!file)
        return;
    for (i = 0; i < FILE_CHUNK_COUNT; i++)
        free(atomic_load_explicit(&file->chunks[i], memory_order_relaxed));
    if (file->fd >= 0)
        close(file->fd);
    object_end(file, FILE_MAGIC);
    free(file);
}

static void free_chunk(void *thing, uint64_t unused)
{
    (void)unused;
    free(thing);
}

void stored_free(struct stored *stored)
{
    uint32_t i;

    if (!stored)
        return;
    object_check(stored, STORED_MAGIC);
    for (i = 0; i < STORED_FILE_COUNT_MAX; i++)
        free_file(atomic_load_explicit(&stored->files[i], memory_order_relaxed), 0);
    buf_release(&stored->packed);
    pack_dictionary_free(atomic_load(&stored->dictionary));
    free(stored->is_held);
    free(stored->dir);
    object_end(stored, STORED_MAGIC);
    free(stored);
}

static struct file *file_at(const struct stored *stored, uint64_t place)
{
    uint64_t number = place / STORED_FILE_SIZE;

    if (number >= STORED_FILE_COUNT_MAX)
        return NULL;
    return atomic_load_explicit(&stored->files[number], memory_order_acquire);
}

static void path_of(const struct stored *stored, uint32_t number, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/stored-%u", stored->dir ? stored->dir : "memory", number);
}

static int make_file(struct stored *stored, uint32_t number, int flags, struct file **out,
                     struct err *err)
{
    struct file *file = mem_zero(sizeof(*file));
    char path[PATH_SIZE];

    object_begin(file, FILE_MAGIC);
    *out = NULL;
    file->number = number;
    file->fd = -1;
    if (stored->dir) {
        path_of(stored, number, path);
        file->fd = open(path, O_RDWR | O_CLOEXEC | flags, 0644);
        if (file->fd < 0) {
            object_end(file, FILE_MAGIC);
            free(file);
            return err_errno(err, "cannot open %s", path);
        }
    }
    *out = file;
    return 0;
}

static int open_file(struct stored *stored, const struct stored_file *from, bool is_read_only,
                     struct err *err)
{
    struct file *file = NULL;
    struct stat status;
    char path[PATH_SIZE];
    int rc = 0;

    path_of(stored, from->number, path);
    if (from->number >= STORED_FILE_COUNT_MAX || from->size > STORED_FILE_SIZE)
        return err_set(err, ERR_CORRUPT, "%s cannot have %u bytes", path, from->size);
    rc = make_file(stored, from->number, 0, &file, err);
    if (rc == ERR_NOT_FOUND)
        return err_set(err, ERR_CORRUPT, "%s, part of the index, is missing", path);
    if (rc)
        return rc;
    atomic_store_explicit(&stored->files[from->number], file, memory_order_release);
    file->size = file->flushed = file->content = from->size;
    file->record_count = file->dead_count = from->record_count;
    if (fstat(file->fd, &status))
        return err_errno(err, "cannot look at %s", path);
    if ((uint64_t)status.st_size < from->size)
        return err_set(err, ERR_CORRUPT, "%s has %ju bytes and should have %u", path,
                       (uintmax_t)status.st_size, from->size);
    if (!is_read_only && (uint64_t)status.st_size > from->size && ftruncate(file->fd, from->size))
        return err_errno(err, "cannot cut %s", path);
    return 0;
}

/* What comes goes to the emptiest file, to a new chunk: the last one is not read back. */
static int choose_tail(struct stored *stored, struct err *err)
{
    struct file *best = NULL;
    uint32_t i;

    for (i = 0; i < STORED_FILE_COUNT_MAX; i++) {
        struct file *file = atomic_load_explicit(&stored->files[i], memory_order_relaxed);

        if (file && file->size <= STORED_FILE_SIZE - 2 * STORED_CHUNK_SIZE &&
            (!best || file->size < best->size))
            best = file;
    }
    if (!best)
        return 0;
    best->size = (best->size + STORED_CHUNK_SIZE - 1) / STORED_CHUNK_SIZE * STORED_CHUNK_SIZE;
    best->flushed = best->size;
    stored->tail = best;
    return ftruncate(best->fd, best->size)
               ? err_errno(err, "cannot write %s/stored-%u", stored->dir, best->number)
               : 0;
}

int stored_open_files(struct stored *stored, const struct stored_file *files, uint32_t count,
                      bool is_read_only, struct err *err)
{
    uint32_t i;
    int rc = 0;

    object_check(stored, STORED_MAGIC);
    for (i = 0; i < count && !rc; i++) {
        rc = open_file(stored, &files[i], is_read_only, err);
        atomic_fetch_add_explicit(&stored->size, files[i].size, memory_order_relaxed);
    }
    return rc || is_read_only ? rc : choose_tail(stored, err);
}

/* ---- writing ---- */

static int write_at(const struct stored *stored, const struct file *file, uint32_t at,
                    struct bytes bytes, struct err *err)
{
    char path[PATH_SIZE];

    while (bytes.size) {
        ssize_t written = file_call_pwrite(file->fd, bytes.data, bytes.size, at);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            path_of(stored, file->number, path);
            return err_errno(err, "cannot write %s", path);
        }
        bytes = bytes_skip(bytes, (size_t)written);
        at += (uint32_t)written;
    }
    return 0;
}

/* Writes the rest of the chunk that the file's flushed end is in. */
static int flush_file(struct stored *stored, struct file *file, struct err *err)
{
    uint32_t chunk = file->flushed / STORED_CHUNK_SIZE;
    uint8_t *bytes;
    int rc;

    if (file->fd < 0 || file->flushed >= file->size)
        return 0;
    bytes = atomic_load_explicit(&file->chunks[chunk], memory_order_relaxed);
    assert(bytes && file->size <= (chunk + 1) * (uint32_t)STORED_CHUNK_SIZE);
    assert(file->flushed <= file->size);
    rc = write_at(stored, file, file->flushed,
                  bytes_make(bytes + file->flushed % STORED_CHUNK_SIZE, file->size - file->flushed),
                  err);
    if (rc)
        return rc;
    file->flushed = file->size;
    atomic_store_explicit(&file->is_dirty, true, memory_order_release);
    return 0;
}

int stored_flush(struct stored *stored, struct err *err)
{
    object_check(stored, STORED_MAGIC);
    return stored->tail ? flush_file(stored, stored->tail, err) : 0;
}

/* Writes what the file has once more, so that a sync has to write it: bytes below its end do not
 * change any more. Records have sums, so what the cache has lost meanwhile will be noticed. */
static int write_again(const struct stored *stored, const struct file *file, struct err *err)
{
    uint8_t *bytes = mem_alloc(STORED_CHUNK_SIZE);
    char path[PATH_SIZE];
    uint32_t at = 0;
    int rc = 0;

    while (!rc) {
        ssize_t got = pread(file->fd, bytes, STORED_CHUNK_SIZE, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            path_of(stored, file->number, path);
            rc = err_errno(err, "cannot read %s", path);
        }
        if (got <= 0)
            break;
        rc = write_at(stored, file, at, bytes_make(bytes, (size_t)got), err);
        at += (uint32_t)got;
    }
    free(bytes);
    return rc;
}

int stored_sync(struct stored *stored, struct err *err)
{
    char path[PATH_SIZE];
    uint32_t i;
    int rc;

    object_check(stored, STORED_MAGIC);
    for (i = 0; i < STORED_FILE_COUNT_MAX; i++) {
        struct file *file = atomic_load_explicit(&stored->files[i], memory_order_acquire);

        if (!file || !atomic_load_explicit(&file->is_dirty, memory_order_acquire))
            continue;
        atomic_store_explicit(&file->is_dirty, false, memory_order_relaxed);
        rc = file->is_suspect ? write_again(stored, file, err) : 0;
        if (!rc && file_call_fdatasync(file->fd)) {
            path_of(stored, i, path);
            rc = err_errno(err, "cannot sync %s", path);
        }
        file->is_suspect = rc != 0;
        if (rc) {
            atomic_store_explicit(&file->is_dirty, true, memory_order_relaxed);
            return rc;
        }
    }
    return 0;
}

/* Nothing more comes to the file's last chunk: it goes to the file, and out of memory. */
static int end_chunk(struct stored *stored, struct file *file, struct err *err)
{
    uint32_t chunk = (file->size - 1) / STORED_CHUNK_SIZE;
    uint8_t *bytes = atomic_load_explicit(&file->chunks[chunk], memory_order_relaxed);
    int rc = flush_file(stored, file, err);

    if (rc || file->fd < 0 || !bytes)
        return rc;
    atomic_store_explicit(&file->chunks[chunk], NULL, memory_order_release);
    epoch_retire(stored->epoch, free_chunk, bytes, 0);
    return 0;
}

static int new_tail(struct stored *stored, struct err *err)
{
    uint32_t number = 0;
    int rc;

    while (number < STORED_FILE_COUNT_MAX &&
           (stored->is_held[number] ||
            atomic_load_explicit(&stored->files[number], memory_order_relaxed)))
        number++;
    if (number == STORED_FILE_COUNT_MAX)
        return err_set(err, ERR_LIMIT,
                       "the stored fields of the shard take all of STORED_FILE_COUNT_MAX = %d "
                       "files",
                       STORED_FILE_COUNT_MAX);
    rc = make_file(stored, number, O_CREAT | O_TRUNC, &stored->tail, err);
    if (!rc)
        atomic_store_explicit(&stored->files[number], stored->tail, memory_order_release);
    return rc;
}

/* Makes the tail one whose next size bytes are in one chunk, and that in memory. */
static int find_room(struct stored *stored, size_t size, struct err *err)
{
    struct file *file = stored->tail;
    _Atomic(uint8_t *) *place;
    int rc = 0;

    if (file && file->size && (file->size - 1) % STORED_CHUNK_SIZE + size >= STORED_CHUNK_SIZE) {
        rc = end_chunk(stored, file, err);
        if (rc)
            return rc;
        if (STORED_FILE_SIZE - file->size < STORED_CHUNK_SIZE)
            file = stored->tail = NULL;
        else
            file->size =
                (file->size + STORED_CHUNK_SIZE - 1) / STORED_CHUNK_SIZE * STORED_CHUNK_SIZE;
    }
    if (!file)
        rc = new_tail(stored, err);
    if (rc)
        return rc;
    file = stored->tail;
    place = &file->chunks[file->size / STORED_CHUNK_SIZE];
    if (!atomic_load_explicit(place, memory_order_relaxed)) {
        assert(file->size % STORED_CHUNK_SIZE == 0);
        file->flushed = file->size;
        atomic_store_explicit(place, mem_zero(STORED_CHUNK_SIZE), memory_order_release);
    }
    return 0;
}

static int append_packed(struct stored *stored, docid id, struct bytes packed, uint64_t *place,
                         struct err *err)
{
    uint32_t size = RECORD_HEAD_SIZE + (uint32_t)packed.size;
    struct file *file;
    uint8_t *to;
    int rc;

    assert(size <= STORED_CHUNK_SIZE);
    rc = find_room(stored, size, err);
    if (rc)
        return rc;
    file = stored->tail;
    to = atomic_load_explicit(&file->chunks[file->size / STORED_CHUNK_SIZE], memory_order_relaxed) +
         file->size % STORED_CHUNK_SIZE;
    put_le32(to, (uint32_t)packed.size);
    put_le32(to + 4, id);
    put_le32(to + 8, crc32c(crc32c(0, bytes_make(to, 8)), packed));
    memcpy(to + RECORD_HEAD_SIZE, packed.data, packed.size);
    *place = (uint64_t)file->number * STORED_FILE_SIZE + file->size;
    assert(file->size / STORED_CHUNK_SIZE == (file->size + size - 1) / STORED_CHUNK_SIZE);
    file->size += size;
    file->content += size;
    assert(file->size <= STORED_FILE_SIZE && file->content <= file->size);
    file->record_count++;
    assert(file->dead_count < file->record_count);
    atomic_fetch_add_explicit(&stored->size, size, memory_order_relaxed);
    return 0;
}

int stored_append(struct stored *stored, docid id, struct bytes record, uint64_t *place,
                  struct err *err)
{
    object_check(stored, STORED_MAGIC);
    if (record.size > STORED_RECORD_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "document %u has %zu bytes of texts and stored fields, at most "
                       "STORED_RECORD_SIZE_MAX = %d",
                       id, record.size, STORED_RECORD_SIZE_MAX);
    buf_reset(&stored->packed);
    pack_put_with(&stored->packed, record, stored_has_dictionary(stored) ? 1 : STORED_PACK_SIZE_MIN,
                  atomic_load_explicit(&stored->dictionary, memory_order_relaxed));
    assert(!buf_failed(&stored->packed));
    return append_packed(stored, id, buf_bytes(&stored->packed), place, err);
}

void stored_set_dictionary(struct stored *stored, struct pack_dictionary *dictionary)
{
    object_check(stored, STORED_MAGIC);
    assert(!stored_has_dictionary(stored));
    atomic_store_explicit(&stored->dictionary, dictionary, memory_order_release);
}

bool stored_has_dictionary(const struct stored *stored)
{
    object_check(stored, STORED_MAGIC);
    return atomic_load_explicit(&stored->dictionary, memory_order_acquire) != NULL;
}

void stored_drop(struct stored *stored, uint64_t place)
{
    struct file *file = file_at(stored, place);

    object_check(stored, STORED_MAGIC);
    if (file)
        file->dead_count++;
}

void stored_keep(struct stored *stored, uint64_t place)
{
    struct file *file = file_at(stored, place);

    object_check(stored, STORED_MAGIC);
    if (file && file->dead_count)
        file->dead_count--;
}

uint32_t stored_files(const struct stored *stored, struct stored_file *files, uint32_t max)
{
    uint32_t count = 0;
    uint32_t i;

    object_check(stored, STORED_MAGIC);
    for (i = 0; i < STORED_FILE_COUNT_MAX && count < max; i++) {
        const struct file *file = atomic_load_explicit(&stored->files[i], memory_order_acquire);

        if (file && !file->is_given_up)
            files[count++] = (struct stored_file){i, file->size, file->record_count};
    }
    return count;
}

bool stored_worn_file(const struct stored *stored, struct stored_file *worn)
{
    uint32_t i;

    object_check(stored, STORED_MAGIC);
    for (i = 0; i < STORED_FILE_COUNT_MAX; i++) {
        const struct file *file = atomic_load_explicit(&stored->files[i], memory_order_acquire);

        if (file && file != stored->tail && !file->is_given_up &&
            file->dead_count * UINT64_C(2) >= file->record_count) {
            *worn = (struct stored_file){i, file->size, file->record_count};
            return true;
        }
    }
    return false;
}

/* Readers that had found a place in it have left. */
static void remove_file(void *thing, uint64_t number)
{
    struct stored *stored = thing;

    free_file(atomic_exchange(&stored->files[number], NULL), 0);
}

void stored_give_up(struct stored *stored, uint32_t number)
{
    struct file *file = atomic_load_explicit(&stored->files[number], memory_order_relaxed);

    object_check(stored, STORED_MAGIC);
    assert(file && file != stored->tail && !file->is_given_up);
    file->is_given_up = true;
    stored->is_held[number] = stored->dir != NULL;
    atomic_fetch_sub_explicit(&stored->size, file->content, memory_order_relaxed);
    epoch_retire(stored->epoch, remove_file, stored, number);
}

void stored_let_go(struct stored *stored)
{
    char path[PATH_SIZE];
    uint32_t i;

    object_check(stored, STORED_MAGIC);
    for (i = 0; i < STORED_FILE_COUNT_MAX; i++) {
        if (!stored->is_held[i])
            continue;
        path_of(stored, i, path);
        (void)unlink(path); /* what stays is only space, and is written over */
        stored->is_held[i] = false;
    }
}

/* ---- reading ---- */

static int damaged(const struct stored *stored, uint64_t place, docid id, struct err *err)
{
    char path[PATH_SIZE];

    path_of(stored, (uint32_t)(place / STORED_FILE_SIZE), path);
    return err_set(err, ERR_CORRUPT, "%s is damaged at byte %ju, in the record of document %u",
                   path, (uintmax_t)(place % STORED_FILE_SIZE), id);
}

/* Up to size bytes of a chunk, fewer at its end: in memory, or copied to out. */
static int read_chunk(const struct stored *stored, uint64_t place, size_t size, struct buf *out,
                      struct bytes *bytes, struct err *err)
{
    const struct file *file = file_at(stored, place);
    uint64_t at = place % STORED_CHUNK_SIZE;
    const uint8_t *chunk;
    size_t got = 0;
    uint8_t *to;

    *bytes = bytes_make(NULL, 0);
    if (!file)
        return damaged(stored, place, 0, err);
    if (size > STORED_CHUNK_SIZE - at)
        size = STORED_CHUNK_SIZE - at;
    chunk = atomic_load_explicit(&file->chunks[place % STORED_FILE_SIZE / STORED_CHUNK_SIZE],
                                 memory_order_acquire);
    if (chunk || file->fd < 0) {
        *bytes = chunk ? bytes_make(chunk + at, size) : *bytes;
        return 0;
    }
    buf_reset(out);
    to = buf_reserve(out, size);
    while (got < size) {
        ssize_t count =
            pread(file->fd, to + got, size - got, (off_t)(place % STORED_FILE_SIZE + got));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return err_errno(err, "cannot read a file of stored fields");
        if (count == 0)
            break;
        got += (size_t)count;
    }
    *bytes = bytes_make(to, got);
    return 0;
}

/* The packed bytes of the record that begins there, whatever its document. */
static bool check_record(struct bytes in, docid *id, struct bytes *packed)
{
    if (in.size < RECORD_HEAD_SIZE)
        return false;
    *id = get_le32(in.data + 4);
    *packed = bytes_make(in.data + RECORD_HEAD_SIZE, get_le32(in.data));
    return packed->size && packed->size <= in.size - RECORD_HEAD_SIZE &&
           crc32c(crc32c(0, bytes_make(in.data, 8)), *packed) == get_le32(in.data + 8);
}

static int read_packed(const struct stored *stored, uint64_t place, docid id, struct buf *scratch,
                       struct bytes *packed, struct err *err)
{
    struct bytes in;
    docid found;
    int rc = read_chunk(stored, place, READ_SIZE, scratch, &in, err);

    if (!rc && in.size >= RECORD_HEAD_SIZE && get_le32(in.data) + RECORD_HEAD_SIZE > in.size &&
        get_le32(in.data) <= STORED_CHUNK_SIZE)
        rc = read_chunk(stored, place, get_le32(in.data) + RECORD_HEAD_SIZE, scratch, &in, err);
    if (!rc && (!check_record(in, &found, packed) || found != id))
        rc = damaged(stored, place, id, err);
    return rc;
}

int stored_read(const struct stored *stored, uint64_t place, docid id, struct buf *out,
                struct err *err)
{
    struct buf scratch = BUF_INIT(STORED_CHUNK_SIZE);
    struct arena *arena = arena_new();
    struct bytes packed;
    struct bytes raw = BYTES_EMPTY;
    int rc = read_packed(stored, place, id, &scratch, &packed, err);

    object_check(stored, STORED_MAGIC);
    if (!rc)
        rc = pack_open_with(packed, STORED_RECORD_SIZE_MAX,
                            atomic_load_explicit(&stored->dictionary, memory_order_acquire), arena,
                            &raw, err);
    if (!rc)
        buf_put(out, raw);
    arena_free(arena);
    buf_release(&scratch);
    return rc;
}

int stored_copy(struct stored *stored, uint64_t from, docid id, uint64_t *place, struct err *err)
{
    struct buf scratch = BUF_INIT(STORED_CHUNK_SIZE);
    struct bytes packed;
    int rc = read_packed(stored, from, id, &scratch, &packed, err);

    object_check(stored, STORED_MAGIC);
    if (!rc)
        rc = append_packed(stored, id, packed, place, err);
    buf_release(&scratch);
    return rc;
}

static bool is_zero(struct bytes bytes)
{
    size_t i;

    for (i = 0; i < bytes.size && !bytes.data[i]; i++)
        ;
    return i == bytes.size;
}

static int walk_chunk(const struct stored *stored, uint64_t place, struct bytes in,
                      stored_found_fn *found, void *context, struct err *err)
{
    int rc = 0;

    while (!rc && in.size) {
        struct bytes packed;
        docid id;

        if (in.size < RECORD_HEAD_SIZE || !get_le32(in.data)) {
            if (!is_zero(in))
                rc = damaged(stored, place, 0, err);
            break;
        }
        if (!check_record(in, &id, &packed))
            return damaged(stored, place, id, err);
        rc = found ? found(context, id, place, err) : 0;
        place += RECORD_HEAD_SIZE + packed.size;
        in = bytes_skip(in, RECORD_HEAD_SIZE + packed.size);
    }
    return rc;
}

int stored_walk(const struct stored *stored, const struct stored_file *file, stored_found_fn *found,
                void *context, struct err *err)
{
    uint64_t place = (uint64_t)file->number * STORED_FILE_SIZE;
    struct buf scratch = BUF_INIT(STORED_CHUNK_SIZE);
    uint32_t at;
    int rc = 0;

    object_check(stored, STORED_MAGIC);
    for (at = 0; at < file->size && !rc; at += STORED_CHUNK_SIZE) {
        uint32_t left = file->size - at;
        struct bytes in;

        rc = read_chunk(stored, place + at, STORED_CHUNK_SIZE, &scratch, &in, err);
        if (!rc && in.size > left)
            in.size = left;
        if (!rc && left <= STORED_CHUNK_SIZE && in.size < left)
            rc = damaged(stored, place + at + in.size, 0, err);
        if (!rc)
            rc = walk_chunk(stored, place + at, in, found, context, err);
    }
    buf_release(&scratch);
    return rc;
}

uint64_t stored_size(const struct stored *stored)
{
    object_check(stored, STORED_MAGIC);
    return atomic_load_explicit(&stored->size, memory_order_relaxed);
}

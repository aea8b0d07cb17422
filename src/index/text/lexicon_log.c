/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon_log.c - a lexicon's file: the forms in order of their index, in frames with checksums.
 *
 *     file   | "TORGLEX1" | format u32 | analysis u32 | salt u64 | 0 u32 | crc u32 | frame | …
 *     frame  | "TLF1" | crc u32 | size u32 | count u32 | first form u32 | 0 u32 | durable u64 |
 * entries entry  | size | form | 0 | stem size |              new term, its stem begins the form |
 * size | form | 1 | stem size | stem |       new term | size | form | 2 + term | varints and bytes
 *
 * Little-endian; CRC-32C; a frame's crc covers all behind it and starts from the file's random
 * salt. `durable` is how far the file was synced when the frame was written. If any frame says so
 * of a bad place, or the caller's manifest does, what was promised is damaged, and the file is
 * refused; else a crash left the bad place, and it is cut off.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/file_calls.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "base/varint.h"
#include "index/text/lexicon_parts.h"

enum {
    FORMAT = 1,
    FILE_HEADER_SIZE = 32,
    FRAME_HEADER_SIZE = 32,
    ENTRY_SIZE_MAX = 2 * TOKEN_SIZE_MAX + 4 * VARINT_SIZE_MAX,
    PENDING_SIZE = 1 << 20, /* written, not synced, when it is passed */
};
enum { TERM_PREFIX = 0, TERM_NEW = 1, TERM_KNOWN = 2 };

_Static_assert(PENDING_SIZE + ENTRY_SIZE_MAX < LEXICON_FRAME_SIZE_MAX, "a frame can be read back");

static const char file_magic[8] = {'T', 'O', 'R', 'G', 'L', 'E', 'X', '1'};
static const char frame_magic[4] = {'T', 'L', 'F', '1'};

struct frame {
    uint32_t size, count, first;
    uint64_t durable;
};

/* ---- Writing ---- */

static uint32_t frame_crc(uint64_t salt, const uint8_t *header, struct bytes payload)
{
    uint8_t seed[8];
    uint32_t crc;

    put_le64(seed, salt);
    crc = crc32c(0, bytes_make(seed, sizeof(seed)));
    crc = crc32c(crc, bytes_make(header + 8, FRAME_HEADER_SIZE - 8));
    return crc32c(crc, payload);
}

static int write_at(struct lexicon_log *log, uint64_t place, struct bytes bytes, struct err *err)
{
    while (bytes.size) {
        ssize_t written = file_call_pwrite(log->fd, bytes.data, bytes.size, place);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return err_errno(err, "write %s", log->path);
        bytes = bytes_skip(bytes, (size_t)written);
        place += (uint64_t)written;
    }
    return 0;
}

/* Writes the pending entries as one frame. */
static int write_pending(struct lexicon_log *log, struct err *err)
{
    uint8_t header[FRAME_HEADER_SIZE] = {0};
    struct bytes payload = buf_bytes(&log->pending);
    uint64_t size = atomic_load_explicit(&log->size, memory_order_relaxed);
    int rc;

    if (log->count == 0)
        return 0;
    memcpy(header, frame_magic, sizeof(frame_magic));
    put_le32(header + 8, (uint32_t)payload.size);
    put_le32(header + 12, log->count);
    put_le32(header + 16, log->first);
    put_le64(header + 24, log->durable);
    put_le32(header + 4, frame_crc(log->salt, header, payload));
    rc = write_at(log, size, bytes_make(header, sizeof(header)), err);
    if (!rc)
        rc = write_at(log, size + sizeof(header), payload, err);
    if (rc) { /* nothing is lost: the next try writes the same place */
        log->write_from = log->pending.size + PENDING_SIZE;
        return rc;
    }
    log->write_from = PENDING_SIZE;
    atomic_store_explicit(&log->size, size + sizeof(header) + payload.size, memory_order_relaxed);
    log->first += log->count;
    log->count = 0;
    buf_reset(&log->pending);
    return 0;
}

void lexicon_log_add(struct lexicon *lexicon, struct bytes form, termid term, struct bytes stem)
{
    struct lexicon_log *log = &lexicon->log;

    object_check(lexicon, LEXICON_MAGIC);
    if (!log->path)
        return;
    varint_put(&log->pending, form.size);
    buf_put(&log->pending, form);
    if (term != TERMID_NONE) {
        varint_put(&log->pending, (uint64_t)term + TERM_KNOWN);
    } else {
        varint_put(&log->pending, bytes_begin(form, stem) ? TERM_PREFIX : TERM_NEW);
        varint_put(&log->pending, stem.size);
        if (!bytes_begin(form, stem))
            buf_put(&log->pending, stem);
    }
    assert(!buf_failed(&log->pending));
    log->count++;
    if (log->pending.size > log->write_from)
        (void)write_pending(log, NULL); /* who syncs is told if it still fails */
}

int lexicon_log_room(struct lexicon *lexicon, struct err *err)
{
    struct lexicon_log *log = &lexicon->log;

    object_check(lexicon, LEXICON_MAGIC);
    if (log->failed)
        return err_set(err, ERR_UNAVAILABLE, "%s could not be synced before: open it again",
                       log->path);
    return log->pending.size + ENTRY_SIZE_MAX > LEXICON_FRAME_SIZE_MAX ? write_pending(log, err)
                                                                       : 0;
}

/* ---- Reading ---- */

static int corrupt(const struct lexicon_log *log, uint64_t place, const char *what, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "%s is damaged at byte %ju: %s; rebuild the index", log->path,
                   (uintmax_t)place, what);
}

/* Reads up to size bytes; fewer at the end of the file only. */
static int read_at(const struct lexicon_log *log, uint64_t place, uint8_t *to, size_t size,
                   size_t *got, struct err *err)
{
    *got = 0;
    while (*got < size) {
        ssize_t count = pread(log->fd, to + *got, size - *got, (off_t)(place + *got));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return err_errno(err, "read %s", log->path);
        if (count == 0)
            return 0;
        *got += (size_t)count;
    }
    return 0;
}

/* Whether [header, header + FRAME_HEADER_SIZE) may begin a frame; its payload is not checked. */
static bool parse_frame(const uint8_t *header, struct frame *frame)
{
    frame->size = get_le32(header + 8);
    frame->count = get_le32(header + 12);
    frame->first = get_le32(header + 16);
    frame->durable = get_le64(header + 24);
    return memcmp(header, frame_magic, sizeof(frame_magic)) == 0 &&
           frame->size <= LEXICON_FRAME_SIZE_MAX;
}

static bool get_word(struct bytes *in, struct bytes *word)
{
    uint64_t size;

    if (!varint_get(in, &size) || size == 0 || size > TOKEN_SIZE_MAX || size > in->size)
        return false;
    *word = bytes_make(in->data, (size_t)size);
    *in = bytes_skip(*in, (size_t)size);
    return true;
}

/* Takes one entry off the front and inserts it; false when it makes no sense. */
static bool apply_entry(struct lexicon *lexicon, struct bytes *in, struct err *err)
{
    struct bytes form;
    struct bytes stem = BYTES_EMPTY;
    struct lexicon_entry entry;
    termid term = TERMID_NONE;
    uint64_t kind;
    uint64_t size;

    if (!get_word(in, &form) || !varint_get(in, &kind))
        return false;
    if (kind == TERM_PREFIX) {
        if (!varint_get(in, &size) || size == 0 || size > form.size)
            return false;
        stem = bytes_make(form.data, (size_t)size);
    } else if (kind == TERM_NEW) {
        if (!get_word(in, &stem))
            return false;
    } else {
        if (kind - TERM_KNOWN >= atomic_load_explicit(&lexicon->term_count, memory_order_relaxed))
            return false;
        term = (termid)(kind - TERM_KNOWN);
    }
    if (lexicon_find(lexicon, form, &entry) ||
        (term == TERMID_NONE && lexicon_find_term(lexicon, stem, &(termid){0})))
        return false;
    return lexicon_insert(lexicon, form, term, stem, &entry, err) == 0;
}

static int apply_frame(struct lexicon *lexicon, uint64_t place, const struct frame *frame,
                       struct bytes payload, struct err *err)
{
    if (frame->first != atomic_load_explicit(&lexicon->form_count, memory_order_relaxed))
        return corrupt(&lexicon->log, place, "frames are missing before it", err);
    for (uint32_t i = 0; i < frame->count; i++) {
        if (!apply_entry(lexicon, &payload, err))
            return corrupt(&lexicon->log, place, "a word that cannot be there", err);
    }
    if (payload.size)
        return corrupt(&lexicon->log, place, "bytes after the last word", err);
    return 0;
}

/* Reads the frame at place; *whole tells whether there is one. */
static int read_frame(const struct lexicon_log *log, uint64_t place, struct frame *frame,
                      struct buf *payload, bool *whole, struct err *err)
{
    uint8_t header[FRAME_HEADER_SIZE];
    uint8_t *to;
    size_t got;
    int rc = read_at(log, place, header, sizeof(header), &got, err);

    *whole = false;
    if (rc || got < sizeof(header) || !parse_frame(header, frame))
        return rc;
    buf_reset(payload);
    to = buf_reserve(payload, frame->size);
    assert(to || frame->size == 0);
    rc = read_at(log, place + sizeof(header), to, frame->size, &got, err);
    if (rc || got < frame->size)
        return rc;
    buf_advance(payload, got);
    *whole = get_le32(header + 4) == frame_crc(log->salt, header, buf_bytes(payload));
    return 0;
}

/* Whether a whole frame behind the bad place was written when that place had been synced. */
static int was_durable(const struct lexicon_log *log, uint64_t bad, uint64_t end, bool *durable,
                       struct err *err)
{
    static const size_t step = 64 << 10;
    uint8_t *chunk = mem_alloc(step);
    struct buf payload = BUF_INIT(LEXICON_FRAME_SIZE_MAX);
    int rc = 0;

    *durable = false;
    for (uint64_t place = bad + 1; place < end && !rc && !*durable;) {
        size_t got;

        rc = read_at(log, place, chunk, step, &got, err);
        if (rc || got < FRAME_HEADER_SIZE)
            break;
        for (size_t i = 0; i + FRAME_HEADER_SIZE <= got && !rc && !*durable; i++) {
            struct frame frame;
            bool whole = false;

            if (!parse_frame(chunk + i, &frame) || frame.durable <= bad)
                continue;
            rc = read_frame(log, place + i, &frame, &payload, &whole, err);
            *durable = whole;
        }
        place += got - FRAME_HEADER_SIZE + 1;
    }
    buf_release(&payload);
    free(chunk);
    return rc;
}

/* Writes [from, size) again and syncs: a sync that failed before a crash may have left pages that
 * are in the cache alone, and look clean. */
static int write_again(struct lexicon_log *log, uint64_t from, struct err *err)
{
    static const size_t step = 1 << 20;
    uint64_t size = atomic_load_explicit(&log->size, memory_order_relaxed);
    uint8_t *chunk = mem_alloc(step);
    int rc = 0;

    while (from < size && !rc) {
        size_t want = size - from < step ? (size_t)(size - from) : step;
        size_t got;

        rc = read_at(log, from, chunk, want, &got, err);
        if (!rc && got < want)
            rc = corrupt(log, from + got, "it became shorter while it was read", err);
        if (!rc)
            rc = write_at(log, from, bytes_make(chunk, got), err);
        from += want;
    }
    if (!rc && file_call_fdatasync(log->fd))
        rc = err_errno(err, "sync %s", log->path);
    if (!rc)
        log->durable = size;
    free(chunk);
    return rc;
}

/* ---- Syncing ---- */

/* After a sync that failed: what was written since the last good one is written once more, if the
 * cache still has it whole. */
static int mend(struct lexicon_log *log, struct err *err)
{
    struct buf payload = BUF_INIT(LEXICON_FRAME_SIZE_MAX);
    uint64_t size = atomic_load_explicit(&log->size, memory_order_relaxed);
    uint64_t place = log->durable;
    bool whole = true;
    int rc = 0;

    while (place < size && whole && !rc) {
        struct frame frame;

        rc = read_frame(log, place, &frame, &payload, &whole, err);
        place += whole && !rc ? FRAME_HEADER_SIZE + (uint64_t)frame.size : 0;
    }
    buf_release(&payload);
    log->failed = !rc && !whole;
    if (log->failed)
        rc = corrupt(log, place, "the disk has lost what a sync failed to write", err);
    if (!rc)
        rc = write_again(log, log->durable, err);
    log->is_suspect = rc != 0;
    return rc;
}

int lexicon_log_sync(struct lexicon *lexicon, struct err *err)
{
    uint64_t size;
    int rc = lexicon_sync_begin(lexicon, &size, err);

    object_check(lexicon, LEXICON_MAGIC);
    if (rc || size == lexicon->log.durable)
        return rc;
    rc = lexicon_sync_wait(lexicon, err);
    lexicon_sync_end(lexicon, size, !rc);
    return rc;
}

int lexicon_sync_begin(struct lexicon *lexicon, uint64_t *written_size, struct err *err)
{
    struct lexicon_log *log = &lexicon->log;
    int rc = 0;

    object_check(lexicon, LEXICON_MAGIC);
    if (log->path && log->failed)
        rc = err_set(err, ERR_UNAVAILABLE, "%s could not be synced before: open it again",
                     log->path);
    if (log->path && !rc && log->is_suspect)
        rc = mend(log, err);
    if (log->path && !rc)
        rc = write_pending(log, err);
    *written_size = atomic_load_explicit(&log->size, memory_order_relaxed);
    return rc;
}

int lexicon_sync_wait(const struct lexicon *lexicon, struct err *err)
{
    const struct lexicon_log *log = &lexicon->log;

    object_check(lexicon, LEXICON_MAGIC);
    return log->path && file_call_fdatasync(log->fd) ? err_errno(err, "sync %s", log->path) : 0;
}

void lexicon_sync_end(struct lexicon *lexicon, uint64_t written_size, bool is_durable)
{
    object_check(lexicon, LEXICON_MAGIC);
    if (is_durable)
        lexicon->log.durable = written_size;
    else
        lexicon->log.is_suspect = true; /* the cache may call clean what the disk has not */
}

/* ---- Opening ---- */

static int cut_tail(struct lexicon_log *log, uint64_t file_size, uint64_t durable_size,
                    struct err *err)
{
    uint64_t end = atomic_load_explicit(&log->size, memory_order_relaxed);
    bool durable = end < durable_size;
    int rc = 0;

    if (end == file_size && !durable)
        return 0;
    if (!durable)
        rc = was_durable(log, end, file_size, &durable, err);
    if (rc)
        return rc;
    if (durable)
        return corrupt(log, end, "a frame that was synced is not whole", err);
    log_warn("lexicon ends in a torn frame, which is cut off", LOG_TEXT("file", log->path),
             LOG_INT("byte", end), LOG_INT("dropped", file_size - end));
    if (ftruncate(log->fd, (off_t)end))
        return err_errno(err, "cut %s", log->path);
    return 0;
}

static int read_frames(struct lexicon *lexicon, uint64_t durable_size, struct err *err)
{
    struct lexicon_log *log = &lexicon->log;
    struct buf payload = BUF_INIT(LEXICON_FRAME_SIZE_MAX);
    uint64_t place = FILE_HEADER_SIZE;
    uint64_t rewrite_from = FILE_HEADER_SIZE;
    struct stat info;
    bool whole = true;
    int rc = 0;

    if (fstat(log->fd, &info))
        return err_errno(err, "stat %s", log->path);
    while (whole && !rc) {
        struct frame frame = {0};

        rc = read_frame(log, place, &frame, &payload, &whole, err);
        if (rc || !whole)
            break;
        rc = apply_frame(lexicon, place, &frame, buf_bytes(&payload), err);
        place += FRAME_HEADER_SIZE + (uint64_t)frame.size;
        rewrite_from = frame.durable < place ? frame.durable : place;
    }
    buf_release(&payload);
    atomic_store_explicit(&log->size, place, memory_order_relaxed);
    log->first = atomic_load_explicit(&lexicon->form_count, memory_order_relaxed);
    if (!rc)
        rc = cut_tail(log, (uint64_t)info.st_size, durable_size, err);
    return rc ? rc : write_again(log, rewrite_from, err);
}

static int create(const char *path, struct err *err)
{
    uint8_t header[FILE_HEADER_SIZE] = {0};

    memcpy(header, file_magic, sizeof(file_magic));
    put_le32(header + 8, FORMAT);
    put_le32(header + 12, ANALYSIS_VERSION);
    put_le64(header + 16, random_u64());
    put_le32(header + 28, crc32c(0, bytes_make(header, 28)));
    return file_write(path, bytes_make(header, sizeof(header)), err);
}

static int read_header(struct lexicon_log *log, struct err *err)
{
    uint8_t header[FILE_HEADER_SIZE];
    size_t got;
    int rc = read_at(log, 0, header, sizeof(header), &got, err);

    if (rc)
        return rc;
    if (got < sizeof(header) || memcmp(header, file_magic, sizeof(file_magic)) != 0 ||
        get_le32(header + 28) != crc32c(0, bytes_make(header, 28)))
        return corrupt(log, 0, "this is not the header of a lexicon", err);
    log->analysis_version = get_le32(header + 12);
    if (get_le32(header + 8) != FORMAT || log->analysis_version < ANALYSIS_VERSION_OLDEST ||
        log->analysis_version > ANALYSIS_VERSION)
        return err_set(err, ERR_PRECONDITION,
                       "%s has format %u and words of analysis %u, this program has %d and %d to "
                       "%d: rebuild the index",
                       log->path, get_le32(header + 8), log->analysis_version, FORMAT,
                       ANALYSIS_VERSION_OLDEST, ANALYSIS_VERSION);
    log->salt = get_le64(header + 16);
    return 0;
}

int lexicon_log_open(struct lexicon *lexicon, const char *path, uint64_t durable_size,
                     struct err *err)
{
    struct lexicon_log *log = &lexicon->log;
    int rc = 0;

    object_check(lexicon, LEXICON_MAGIC);
    log->path = mem_strdup(path);
    log->write_from = PENDING_SIZE;
    buf_init(&log->pending, LEXICON_FRAME_SIZE_MAX);
    log->fd = open(path, O_RDWR | O_CLOEXEC);
    if (log->fd < 0 && errno == ENOENT && durable_size == 0) {
        rc = create(path, err);
        if (rc)
            return rc;
        log->fd = open(path, O_RDWR | O_CLOEXEC);
    }
    if (log->fd < 0)
        return err_errno(err, "open %s", path);
    rc = read_header(log, err);
    return rc ? rc : read_frames(lexicon, durable_size, err);
}

void lexicon_log_close(struct lexicon_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    buf_release(&log->pending);
    free(log->path);
}

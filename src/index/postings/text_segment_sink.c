/* SPDX-License-Identifier: Apache-2.0 */
/* text_segment_sink.c - see text_segment_sink.h. */
#include "index/postings/text_segment_sink.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_calls.h"
#include "base/hash.h"
#include "base/memory.h"

enum { PUSH_SIZE = 8 << 20 };

/* "PATH.SUFFIX"; the caller frees it. */
static char *with_suffix(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *text = mem_alloc(size);

    snprintf(text, size, "%s%s", path, suffix);
    return text;
}

static void fail(struct sink *sink, int rc)
{
    if (!sink->failed)
        sink->failed = rc;
}

void sink_init(struct sink *sink, const char *path)
{
    *sink = (struct sink){.fd = -1};
    buf_init(&sink->waiting, SEGMENT_SIZE_MAX);
    buf_init(&sink->sums, SEGMENT_SIZE_MAX);
    if (!path)
        return;
    sink->path = mem_strdup(path);
    sink->temporary = with_suffix(path, ".tmp");
    sink->fd = open(sink->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (sink->fd < 0)
        fail(sink, err_errno(&sink->err, "create %s", sink->temporary));
}

void sink_release(struct sink *sink)
{
    if (sink->fd >= 0) {
        close(sink->fd);
        unlink(sink->temporary);
    }
    free(sink->path);
    free(sink->temporary);
    free(sink->first);
    buf_release(&sink->waiting);
    buf_release(&sink->sums);
}

static void put_sum(struct sink *sink, struct bytes chunk)
{
    uint8_t sum[8];

    put_le64(sum, hash64(chunk));
    buf_put_raw(&sink->sums, sum, sizeof(sum));
}

static void write_at(struct sink *sink, struct bytes bytes, uint64_t offset)
{
    while (bytes.size && !sink->failed) {
        ssize_t written = file_call_pwrite(sink->fd, bytes.data, bytes.size, offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            fail(sink, err_errno(&sink->err, "write %s", sink->temporary));
            return;
        }
        bytes = bytes_skip(bytes, (size_t)written);
        offset += (uint64_t)written;
    }
}

/* The last megabytes go to the disk while we go on; those before are dropped from the cache. */
static void push(struct sink *sink, uint64_t end)
{
    if (end - sink->pushed < PUSH_SIZE)
        return;
    sync_file_range(sink->fd, (off_t)sink->pushed, (off_t)(end - sink->pushed),
                    SYNC_FILE_RANGE_WRITE);
    if (sink->pushed >= PUSH_SIZE)
        posix_fadvise(sink->fd, (off_t)(sink->pushed - PUSH_SIZE), PUSH_SIZE, POSIX_FADV_DONTNEED);
    sink->pushed = end;
}

/* A full chunk, or the last. */
static void write_chunk(struct sink *sink)
{
    uint64_t offset = sink->size - sink->waiting.size;

    if (offset == 0 && !sink->first) {
        sink->first = mem_zero(SEGMENT_CHUNK_SIZE);
        memcpy(sink->first, sink->waiting.data, sink->waiting.size);
        buf_put_raw(&sink->sums, (uint8_t[8]){0}, 8);
    } else {
        put_sum(sink, buf_bytes(&sink->waiting));
        write_at(sink, buf_bytes(&sink->waiting), offset);
        push(sink, sink->size);
    }
    buf_reset(&sink->waiting);
}

void sink_put(struct sink *sink, struct bytes bytes)
{
    if (!sink->path) {
        buf_put(&sink->waiting, bytes);
        sink->size += bytes.size;
        return;
    }
    while (bytes.size) {
        size_t room = SEGMENT_CHUNK_SIZE - sink->waiting.size;
        size_t part = bytes.size < room ? bytes.size : room;

        buf_put_raw(&sink->waiting, bytes.data, part);
        bytes = bytes_skip(bytes, part);
        sink->size += part;
        if (sink->waiting.size == SEGMENT_CHUNK_SIZE)
            write_chunk(sink);
    }
}

void sink_align(struct sink *sink, size_t alignment)
{
    static const uint8_t zeros[64];
    size_t rest = (size_t)(sink->size % alignment);

    assert(alignment <= sizeof(zeros));
    if (rest)
        sink_put(sink, bytes_make(zeros, alignment - rest));
}

static void make_sums(struct sink *sink)
{
    struct bytes left = buf_bytes(&sink->waiting);

    while (left.size) {
        size_t part = left.size < SEGMENT_CHUNK_SIZE ? left.size : SEGMENT_CHUNK_SIZE;

        put_sum(sink, bytes_make(left.data, part));
        left = bytes_skip(left, part);
    }
}

static void put_footer(struct sink *sink, struct buf *end)
{
    uint8_t footer[SEGMENT_FOOTER_SIZE];

    put_le64(footer, hash64(buf_bytes(&sink->sums)));
    put_le64(footer + 8, sink->size + sink->sums.size + SEGMENT_FOOTER_SIZE);
    memcpy(footer + 16, segment_magic, sizeof(segment_magic));
    buf_put(end, buf_bytes(&sink->sums));
    buf_put_raw(end, footer, sizeof(footer));
}

static void finish_file(struct sink *sink, const uint8_t *header)
{
    size_t first_size = sink->size < SEGMENT_CHUNK_SIZE ? (size_t)sink->size : SEGMENT_CHUNK_SIZE;
    struct buf end = BUF_INIT(SEGMENT_SIZE_MAX);

    if (sink->waiting.size)
        write_chunk(sink);
    memcpy(sink->first, header, SEGMENT_HEADER_SIZE);
    put_le64(sink->sums.data, hash64(bytes_make(sink->first, first_size)));
    write_at(sink, bytes_make(sink->first, first_size), 0);
    put_footer(sink, &end);
    write_at(sink, buf_bytes(&end), sink->size);
    buf_release(&end);
    if (!sink->failed && file_call_fsync(sink->fd))
        fail(sink, err_errno(&sink->err, "fsync %s", sink->temporary));
    if (!sink->failed && file_call_rename(sink->temporary, sink->path))
        fail(sink, err_errno(&sink->err, "rename %s", sink->temporary));
    if (!sink->failed) {
        char *slash = strrchr(sink->temporary, '/');

        close(sink->fd);
        sink->fd = -1;
        if (slash)
            slash[slash == sink->temporary] = 0;
        fail(sink, dir_sync(slash ? sink->temporary : ".", &sink->err));
        if (sink->failed)
            unlink(sink->path); /* nobody will name it */
    }
}

int sink_finish(struct sink *sink, uint8_t *header, struct err *err)
{
    uint8_t *sections = header + HEADER_SECTIONS;

    sink_align(sink, SEGMENT_ALIGN);
    put_le64(sections + SECTION_SUMS * 16, sink->size);
    put_le64(sections + SECTION_SUMS * 16 + 8,
             (sink->size + SEGMENT_CHUNK_SIZE - 1) / SEGMENT_CHUNK_SIZE * 8);
    put_le64(header + HEADER_HASH, hash64(bytes_make(header, HEADER_HASH)));
    if (sink->path) {
        finish_file(sink, header);
    } else if (!buf_failed(&sink->waiting)) {
        memcpy(sink->waiting.data, header, SEGMENT_HEADER_SIZE);
        make_sums(sink);
        put_footer(sink, &sink->waiting);
    }
    if (buf_failed(&sink->waiting) || buf_failed(&sink->sums))
        fail(sink, err_set(&sink->err, ERR_LIMIT, "a segment passes SEGMENT_SIZE_MAX, %llu bytes",
                           (unsigned long long)SEGMENT_SIZE_MAX));
    if (sink->failed && err)
        *err = sink->err;
    return sink->failed;
}

void spill_init(struct spill *spill, const char *beside)
{
    *spill = (struct spill){.beside = beside, .fd = -1};
    buf_init(&spill->waiting, SEGMENT_SIZE_MAX);
    if (beside) {
        char *path = with_suffix(beside, ".pos.tmp");

        spill->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (spill->fd < 0 || unlink(path))
            spill->failed = err_errno(&spill->err, "create %s", path);
        free(path);
    }
}

void spill_release(struct spill *spill)
{
    if (spill->fd >= 0)
        close(spill->fd);
    buf_release(&spill->waiting);
}

static void spill_flush(struct spill *spill)
{
    if (!spill->failed) {
        spill->failed = file_write_all(spill->fd, buf_bytes(&spill->waiting), &spill->err);
        if (spill->failed)
            err_wrap(&spill->err, "%s.pos.tmp", spill->beside);
    }
    buf_reset(&spill->waiting);
}

void spill_put(struct spill *spill, struct bytes bytes)
{
    buf_put(&spill->waiting, bytes);
    spill->size += bytes.size;
    if (spill->beside && spill->waiting.size >= SEGMENT_CHUNK_SIZE)
        spill_flush(spill);
}

void spill_move(struct spill *spill, struct sink *sink)
{
    uint8_t part[SEGMENT_CHUNK_SIZE];
    uint64_t offset = 0;

    if (!spill->beside) {
        sink_put(sink, buf_bytes(&spill->waiting));
        if (buf_failed(&spill->waiting))
            sink->waiting.failed = true;
        return;
    }
    spill_flush(spill);
    while (offset < spill->size && !spill->failed) {
        ssize_t got = pread(spill->fd, part, sizeof(part), (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            spill->failed = err_errno(&spill->err, "read back %s.pos.tmp", spill->beside);
        else
            sink_put(sink, bytes_make(part, (size_t)got));
        offset += got > 0 ? (uint64_t)got : 0;
    }
    if (spill->failed) {
        sink->err = spill->err;
        fail(sink, spill->failed);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_live_file.c - which documents of which segment are dead, as a file of a checkpoint.
 *
 *     "TORGLIV1" | for each segment: windows u32, and for each of them
 *     window u32 | dead u32 | offsets u16 × dead, up to 256; or the bitmap of the living, 512
 * bytes; nothing when all 4096 are dead
 *
 * Its size and XXH3-64 are in the manifest.
 */
#include <string.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/hash.h"
#include "index/shard/shard_files.h"

enum { LIST_MAX = 256 };

static const uint8_t magic[8] = {'T', 'O', 'R', 'G', 'L', 'I', 'V', '1'};

static void put32(struct buf *out, uint32_t value)
{
    uint8_t bytes[4];

    put_le32(bytes, value);
    buf_put_raw(out, bytes, sizeof(bytes));
}

static void put_window(struct buf *out, uint32_t window, const struct live_page *page)
{
    uint32_t dead = page ? WINDOW_SIZE - page->count : WINDOW_SIZE;
    uint32_t i;

    put32(out, window);
    put32(out, dead);
    if (dead > LIST_MAX && page) {
        for (i = 0; i < WINDOW_WORDS; i++) {
            uint8_t bytes[8];

            put_le64(bytes, page->bits.words[i]);
            buf_put_raw(out, bytes, sizeof(bytes));
        }
        return;
    }
    for (i = 0; page && i < WINDOW_SIZE; i++) {
        if (window_test(&page->bits, i))
            continue;
        buf_put_byte(out, (uint8_t)i);
        buf_put_byte(out, (uint8_t)(i >> 8));
    }
}

static void put_segment(struct buf *out, const struct live *live,
                        const struct text_segment *segment)
{
    uint32_t first = window_of(segment->info.first_id);
    uint32_t last = window_of(segment->info.last_id);
    size_t at = out->size;
    uint32_t count = 0;
    uint32_t window;

    put32(out, 0);
    for (window = first; window <= last; window++) {
        const struct live_page *page = live_page(live, window);

        if (page == LIVE_ALL)
            continue;
        put_window(out, window, page);
        count++;
    }
    if (!buf_failed(out))
        put_le32(out->data + at, count);
}

int live_file_write(const char *path, const struct live *const *lives,
                    const struct text_segment *const *segments, uint32_t count, uint64_t *size,
                    uint64_t *hash, struct err *err)
{
    struct buf out = BUF_INIT(SHARD_LIVE_SIZE_MAX);
    uint32_t i;
    int rc;

    buf_put_raw(&out, magic, sizeof(magic));
    for (i = 0; i < count; i++)
        put_segment(&out, lives[i], segments[i]);
    *size = out.size;
    *hash = hash64(buf_bytes(&out));
    if (buf_failed(&out))
        rc = err_set(err, ERR_LIMIT, "%s would be larger than SHARD_LIVE_SIZE_MAX = %d", path,
                     SHARD_LIVE_SIZE_MAX);
    else
        rc = file_write(path, buf_bytes(&out), err);
    buf_release(&out);
    return rc;
}

static bool take_bytes(struct bytes *in, size_t size, const uint8_t **from)
{
    if (in->size < size)
        return false;
    *from = in->data;
    *in = bytes_skip(*in, size);
    return true;
}

static bool take_window(struct bytes *in, struct live_writer *writer)
{
    const uint8_t *from;
    uint32_t window, dead, i;

    if (!take_bytes(in, 8, &from))
        return false;
    window = get_le32(from);
    dead = get_le32(from + 4);
    if (window >= UINT32_C(1) << (32 - WINDOW_SHIFT) || dead > WINDOW_SIZE)
        return false;
    if (dead < WINDOW_SIZE &&
        !take_bytes(in, dead > LIST_MAX ? WINDOW_SIZE / 8 : (size_t)dead * 2, &from))
        return false;
    for (i = 0; i < (dead > LIST_MAX ? (uint32_t)WINDOW_SIZE : dead); i++) {
        uint32_t offset = i;

        if (dead <= LIST_MAX)
            offset = ((uint32_t)from[2 * i] | (uint32_t)from[2 * i + 1] << 8) & (WINDOW_SIZE - 1);
        else if (dead < WINDOW_SIZE && from[i / 8] >> i % 8 & 1)
            continue;
        live_put(writer, window_first(window) + offset, false);
    }
    return true;
}

static bool take_segments(struct bytes in, struct live_writer *const *writers, uint32_t count)
{
    const uint8_t *from;
    uint32_t i, j, windows;

    if (!take_bytes(&in, sizeof(magic), &from) || memcmp(from, magic, sizeof(magic)) != 0)
        return false;
    for (i = 0; i < count; i++) {
        if (!take_bytes(&in, 4, &from))
            return false;
        windows = get_le32(from);
        for (j = 0; j < windows; j++) {
            if (!take_window(&in, writers[i]))
                return false;
        }
    }
    return in.size == 0;
}

int live_file_read(const char *path, uint64_t size, uint64_t hash,
                   struct live_writer *const *writers, uint32_t count, struct err *err)
{
    struct buf in = BUF_INIT(SHARD_LIVE_SIZE_MAX);
    int rc = file_read(path, &in, err);

    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_CORRUPT, "%s, part of the index, is missing", path);
    if (!rc && (in.size != size || hash64(buf_bytes(&in)) != hash ||
                !take_segments(buf_bytes(&in), writers, count)))
        rc = err_set(err, ERR_CORRUPT, "%s is damaged", path);
    buf_release(&in);
    return rc;
}

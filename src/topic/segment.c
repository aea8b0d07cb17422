/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.c - see segment.h for the format.
 *
 * Recovery of the newest segment. Frames are read in order up to the first that is not whole.
 * If that is where a crash interrupted an unacknowledged write, everything from there on is of
 * the same write, and goes. But if any whole frame further on was written when the file was
 * already synced beyond the bad place (its `durable` field says so), acknowledged data has been
 * damaged: that is refused, never cut.
 *
 * A frame that is whole may still not be on the medium: a failed sync leaves pages in the cache
 * that count as clean. So the run written since the last known sync is written again.
 */
#include "topic/segment.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "topic/bounds.h"

enum {
    INDEX_STEP = 256 << 10,
    FILE_SIZE_MAX = TOPIC_SEGMENT_SIZE + 8 * TOPIC_COMMIT_SIZE_MAX,
    FOOTER_FIXED_SIZE = 8 + 8 + 4 + 4 + 4,
    FOOTER_END_SIZE = 8,
};

static const char segment_magic[8] = {'T', 'O', 'R', 'G', 'S', 'E', 'G', '1'};
static const char footer_magic[4] = {'T', 'E', 'N', 'D'};

int segment_damaged(const char *path, uint64_t position, const char *what, struct err *err)
{
    return err_set(err, ERR_CORRUPT,
                   "%s is damaged at byte %" PRIu64 ": %s; restore the file from a copy", path,
                   position, what);
}

static struct segment *new_segment(const char *dir, uint64_t base_offset)
{
    struct segment *segment = mem_zero(sizeof(*segment));

    object_begin(segment, SEGMENT_MAGIC);
    snprintf(segment->path, sizeof(segment->path), "%s/%020" PRIu64 ".log", dir, base_offset);
    segment->base_offset = base_offset;
    segment->end_offset = base_offset;
    segment->position = SEGMENT_HEADER_SIZE;
    segment->newest_time_us = INT64_MIN;
    return segment;
}

void segment_free(struct segment *segment)
{
    if (!segment)
        return;
    object_check(segment, SEGMENT_MAGIC);
    disk_file_close(segment->file);
    free(segment->index);
    object_end(segment, SEGMENT_MAGIC);
    free(segment);
}

static void put_segment_header(const struct segment *segment, uint8_t to[SEGMENT_HEADER_SIZE])
{
    memcpy(to, segment_magic, sizeof(segment_magic));
    put_le64(to + 8, segment->salt);
    put_le64(to + 16, segment->base_offset);
    put_le32(to + 24, 0);
    put_le32(to + 28, crc32c(0, bytes_make(to, 28)));
}

static bool get_segment_header(struct segment *segment, struct bytes in)
{
    if (in.size < SEGMENT_HEADER_SIZE || memcmp(in.data, segment_magic, sizeof(segment_magic)) != 0)
        return false;
    segment->salt = get_le64(in.data + 8);
    return get_le32(in.data + 28) == crc32c(0, bytes_make(in.data, 28)) &&
           get_le64(in.data + 16) == segment->base_offset;
}

int segment_create(struct disk *disk, const char *dir, uint64_t base_offset,
                   struct segment **segment, struct err *err)
{
    struct segment *made = new_segment(dir, base_offset);
    uint8_t header[SEGMENT_HEADER_SIZE];
    int rc;

    *segment = NULL;
    made->salt = random_u64();
    put_segment_header(made, header);
    rc = disk->ops->open(disk, made->path, true, &made->file, err);
    if (!rc)
        rc = disk->ops->file_truncate(made->file, 0, err);
    if (!rc)
        rc = disk->ops->file_write(made->file, 0, bytes_make(header, sizeof(header)), err);
    if (!rc)
        rc = disk->ops->file_sync(made->file, err);
    if (!rc)
        rc = disk->ops->sync_dir(disk, dir, err);
    if (rc) {
        segment_free(made);
        return rc;
    }
    *segment = made;
    return 0;
}

static void add_index_entry(struct segment *segment, struct index_entry entry)
{
    segment->index = mem_grow(segment->index, segment->index_count + 1, sizeof(*segment->index),
                              &segment->index_capacity);
    segment->index[segment->index_count++] = entry;
}

void segment_publish(struct segment *segment, const struct frame *frame, int64_t newest_time_us)
{
    uint32_t last = segment->index_count ? segment->index[segment->index_count - 1].position : 0;

    object_check(segment, SEGMENT_MAGIC);
    if (!segment->index_count || frame->position - last >= INDEX_STEP)
        add_index_entry(segment,
                        (struct index_entry){(uint32_t)(frame->base_offset - segment->base_offset),
                                             frame->position});
    /* frames follow one another without a gap */
    assert(frame->count > 0 && frame->base_offset == segment->end_offset);
    assert(frame->position == segment->position && frame->position >= last);
    segment->end_offset = frame->base_offset + frame->count;
    segment->position = frame->position + FRAME_HEADER_SIZE + frame->size;
    if (newest_time_us > segment->newest_time_us)
        segment->newest_time_us = newest_time_us;
}

uint32_t segment_find(const struct segment *segment, uint64_t offset)
{
    size_t low = 0, high = segment->index_count;

    object_check(segment, SEGMENT_MAGIC);
    while (low < high) { /* the last entry at or before offset is low − 1 */
        size_t middle = low + (high - low) / 2;

        if (segment->base_offset + segment->index[middle].offset_delta <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    assert(offset >= segment->base_offset);
    return low ? segment->index[low - 1].position : SEGMENT_HEADER_SIZE;
}

int segment_append(struct segment *segment, struct bytes frames, struct err *err)
{
    const struct disk_ops *ops = segment->file->disk->ops;
    int rc = ops->file_write(segment->file, segment->position, frames, err);

    object_check(segment, SEGMENT_MAGIC);
    return rc ? rc : ops->file_sync(segment->file, err);
}

int segment_seal(struct segment *segment, struct err *err)
{
    struct buf out = BUF_INIT(TOPIC_FRAME_SIZE_MAX);
    struct frame footer = {
        .durable = segment->position, .base_offset = segment->end_offset, .kind = FRAME_FOOTER};
    uint8_t number[8];
    size_t start = frame_begin(&out);
    size_t i;
    int rc;

    object_check(segment, SEGMENT_MAGIC);
    assert(!segment->sealed && segment->file);
    footer.position = segment->position;
    put_le64(number, segment->end_offset);
    buf_put_raw(&out, number, 8);
    put_le64(number, (uint64_t)segment->newest_time_us);
    buf_put_raw(&out, number, 8);
    put_le32(number, (uint32_t)segment->index_count);
    buf_put_raw(&out, number, 4);
    for (i = 0; i < segment->index_count; i++) {
        put_le32(number, segment->index[i].offset_delta);
        put_le32(number + 4, segment->index[i].position);
        buf_put_raw(&out, number, 8);
    }
    put_le32(number, segment->position);
    memcpy(number + 4, footer_magic, sizeof(footer_magic));
    buf_put_raw(&out, number, 8);
    frame_end(&out, start, &footer, segment->salt);
    rc = buf_failed(&out) ? err_set(err, ERR_LIMIT, "index of %s is too big", segment->path)
                          : segment_append(segment, buf_bytes(&out), err);
    buf_release(&out);
    if (!rc)
        segment->sealed = true;
    return rc;
}

int segment_mend(struct segment *segment, struct err *err)
{
    const struct disk_ops *ops = segment->file->disk->ops;
    int rc = ops->file_truncate(segment->file, segment->position, err);

    object_check(segment, SEGMENT_MAGIC);
    assert(segment->position >= SEGMENT_HEADER_SIZE);
    if (!rc)
        rc = ops->file_sync(segment->file, err);
    if (!rc)
        segment->sealed = false;
    return rc;
}

/* --- opening --- */

static bool get_footer(struct segment *segment, const struct frame *frame, struct bytes payload)
{
    uint32_t count, i;
    const uint8_t *at = payload.data;

    if (frame->kind != FRAME_FOOTER || payload.size < FOOTER_FIXED_SIZE)
        return false;
    count = get_le32(at + 16);
    if (payload.size != FOOTER_FIXED_SIZE + (size_t)count * 8 ||
        get_le64(at) < segment->base_offset)
        return false;
    segment->end_offset = get_le64(at);
    segment->newest_time_us = (int64_t)get_le64(at + 8);
    segment->index_count = 0;
    for (i = 0; i < count; i++) {
        struct index_entry entry = {get_le32(at + 20 + (size_t)i * 8),
                                    get_le32(at + 24 + (size_t)i * 8)};

        if (entry.position < SEGMENT_HEADER_SIZE || entry.position >= frame->position)
            return false;
        add_index_entry(segment, entry);
    }
    segment->position = frame->position;
    segment->sealed = true;
    return true;
}

static int read_exact(struct disk_file *file, uint64_t position, uint8_t *to, size_t size,
                      const char *path, struct err *err)
{
    size_t got;
    int rc = file->disk->ops->file_read(file, position, to, size, &got, err);

    if (!rc && got < size)
        rc = segment_damaged(path, position + got, "the file ends too early", err);
    return rc;
}

/* Reads the footer, if the file ends in one: *found. */
static int load_footer(struct segment *segment, struct disk_file *file, uint64_t file_size,
                       bool *found, struct err *err)
{
    uint8_t end[FOOTER_END_SIZE];
    uint8_t *whole = NULL;
    struct frame frame;
    uint32_t position;
    size_t size;
    int rc;

    *found = false;
    if (file_size < SEGMENT_HEADER_SIZE + FRAME_HEADER_SIZE + FOOTER_FIXED_SIZE)
        return 0;
    rc = read_exact(file, file_size - sizeof(end), end, sizeof(end), segment->path, err);
    if (rc || memcmp(end + 4, footer_magic, sizeof(footer_magic)) != 0)
        return rc;
    position = get_le32(end);
    if (position < SEGMENT_HEADER_SIZE || position > file_size - FRAME_HEADER_SIZE ||
        file_size - position > FRAME_HEADER_SIZE + (uint64_t)TOPIC_FRAME_SIZE_MAX)
        return 0;
    size = (size_t)(file_size - position);
    whole = mem_alloc(size);
    rc = read_exact(file, position, whole, size, segment->path, err);
    if (!rc && frame_parse(bytes_make(whole, size), segment->salt, position, &frame)) {
        struct bytes payload = bytes_make(whole + FRAME_HEADER_SIZE, size - FRAME_HEADER_SIZE);

        *found = frame_check(&frame, payload) && get_footer(segment, &frame, payload);
    }
    free(whole);
    return rc;
}

/* One whole, right frame of records at the position? */
static bool whole_frame_at(struct bytes content, uint64_t salt, uint32_t position,
                           struct frame *frame, struct bytes *payload)
{
    struct bytes rest = bytes_skip(content, position);

    if (!frame_parse(rest, salt, position, frame) || rest.size - FRAME_HEADER_SIZE < frame->size)
        return false;
    *payload = bytes_make(rest.data + FRAME_HEADER_SIZE, frame->size);
    return frame_check(frame, *payload);
}

/* Was a later frame written when the bad position had been synced already? Then that is proof of
 * damage; otherwise nothing says that it was ever acknowledged. */
static bool acknowledged_after(const struct segment *segment, struct bytes content, uint32_t bad)
{
    size_t at = (size_t)bad + 1;

    while (at + FRAME_HEADER_SIZE <= content.size) {
        const uint8_t *hit = memmem(content.data + at, content.size - at, "TFR1", 4);
        struct frame frame;

        if (!hit)
            return false;
        at = (size_t)(hit - content.data);
        /* the header's own checksum is proof enough: its payload may be the damaged part */
        if (frame_parse(bytes_skip(content, at), segment->salt, (uint32_t)at, &frame) &&
            frame.durable > bad)
            return true;
        at++;
    }
    return false;
}

/* Do the records fill the payload exactly? Also finds the newest time. */
static bool records_fit(const struct frame *frame, struct bytes payload, int64_t *newest_time_us)
{
    struct topic_record record;
    uint32_t i;

    *newest_time_us = INT64_MIN;
    for (i = 0; i < frame->count; i++) {
        if (!frame_next(&payload, frame, NULL, &record))
            return false;
        if (record.timestamp_us > *newest_time_us)
            *newest_time_us = record.timestamp_us;
    }
    return payload.size == 0 && frame->count > 0;
}

int segment_scan(struct segment *segment, struct bytes content, uint32_t *rewrite_from,
                 struct err *err)
{
    uint32_t at = SEGMENT_HEADER_SIZE;
    int64_t newest_time_us;
    struct bytes payload;
    struct frame frame;

    object_check(segment, SEGMENT_MAGIC);
    *rewrite_from = SEGMENT_HEADER_SIZE;
    if (!get_segment_header(segment, content))
        return segment_damaged(segment->path, 0, "the segment's header is wrong", err);
    while (whole_frame_at(content, segment->salt, at, &frame, &payload)) {
        if (frame.kind == FRAME_FOOTER) /* of a clean close; what follows was written over it */
            break;
        if (frame.base_offset != segment->end_offset || frame.durable > at ||
            !records_fit(&frame, payload, &newest_time_us))
            return segment_damaged(segment->path, at, "a whole frame makes no sense", err);
        segment_publish(segment, &frame, newest_time_us);
        *rewrite_from = frame.durable > SEGMENT_HEADER_SIZE ? frame.durable : SEGMENT_HEADER_SIZE;
        at = segment->position;
        if (at == content.size)
            return 0;
    }
    if (at < content.size && acknowledged_after(segment, content, at))
        return segment_damaged(segment->path, at, "acknowledged records follow a bad frame", err);
    return 0;
}

/* Scans the newest segment, cuts its torn tail and makes the rest durable for sure. */
static int recover(struct segment *segment, uint64_t file_size, struct err *err)
{
    const struct disk_ops *ops = segment->file->disk->ops;
    uint8_t *content = NULL;
    uint32_t rewrite_from;
    int rc;

    if (file_size > FILE_SIZE_MAX)
        return segment_damaged(segment->path, FILE_SIZE_MAX, "the file is too long", err);
    content = mem_alloc(file_size ? file_size : 1);
    rc = read_exact(segment->file, 0, content, file_size, segment->path, err);
    if (!rc)
        rc = segment_scan(segment, bytes_make(content, file_size), &rewrite_from, err);
    if (!rc)
        rc = ops->file_write(segment->file, rewrite_from,
                             bytes_make(content + rewrite_from, segment->position - rewrite_from),
                             err);
    if (!rc)
        rc = ops->file_truncate(segment->file, segment->position, err);
    if (!rc)
        rc = ops->file_sync(segment->file, err);
    free(content);
    return rc;
}

static int open_newest(struct segment *segment, uint64_t file_size, struct err *err)
{
    bool found;
    int rc = load_footer(segment, segment->file, file_size, &found, err);

    if (rc)
        return rc;
    if (found) /* closed cleanly: the footer goes, and comes back at the next close */
        return segment_mend(segment, err);
    segment->index_count = 0;
    segment->end_offset = segment->base_offset;
    segment->newest_time_us = INT64_MIN;
    return recover(segment, file_size, err);
}

int segment_open(struct disk *disk, const char *dir, uint64_t base_offset, bool newest,
                 struct segment **segment, struct err *err)
{
    struct segment *made = new_segment(dir, base_offset);
    uint8_t header[SEGMENT_HEADER_SIZE];
    uint64_t file_size;
    bool found = false;
    int rc;

    *segment = NULL;
    rc = disk->ops->open(disk, made->path, false, &made->file, err);
    if (!rc)
        rc = disk->ops->file_size(made->file, &file_size, err);
    if (!rc)
        rc = read_exact(made->file, 0, header, sizeof(header), made->path, err);
    if (!rc && !get_segment_header(made, bytes_make(header, sizeof(header))))
        rc = segment_damaged(made->path, 0, "the segment's header is wrong", err);
    if (!rc && newest)
        rc = open_newest(made, file_size, err);
    else if (!rc)
        rc = load_footer(made, made->file, file_size, &found, err);
    if (!rc && !newest && !found)
        rc = segment_damaged(made->path, file_size, "the footer of a sealed segment is missing",
                             err);
    if (rc) {
        segment_free(made);
        return rc;
    }
    if (!newest) {
        disk_file_close(made->file);
        made->file = NULL;
    }
    *segment = made;
    return 0;
}

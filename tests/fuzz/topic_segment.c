/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: segment files of the embedded topics. The first byte says how the rest is used:
 * 0 the frames of a segment as they are, 1 the payload of a frame of records (its checksums made
 * right, or nothing would get past them), 2 the payload of a footer, likewise.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/endian.h"
#include "topic/bounds.h"
#include "topic/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_header(struct buf *out)
{
    uint8_t header[SEGMENT_HEADER_SIZE] = "TORGSEG1"; /* salt 0, base offset 0 */

    put_le32(header + 28, crc32c(0, bytes_make(header, 28)));
    buf_put_raw(out, header, sizeof(header));
}

static void put_frame(struct buf *out, enum frame_kind kind, uint32_t count, struct bytes payload)
{
    struct frame frame = {.count = count, .kind = kind, .position = (uint32_t)out->size};
    size_t start = frame_begin(out);

    buf_put(out, payload);
    frame_end(out, start, &frame, 0);
}

static void scan(struct bytes content)
{
    struct segment segment = {
        .magic = SEGMENT_MAGIC, .path = "fuzz", .position = SEGMENT_HEADER_SIZE};
    uint32_t rewrite_from;
    struct err err;

    if (segment_scan(&segment, content, &rewrite_from, &err) == 0) {
        assert(segment.position <= content.size);
        assert(rewrite_from <= segment.position);
    }
    free(segment.index);
}

static void read_records(struct bytes payload)
{
    struct frame frame = {.base_time_us = 1700000000000000};
    struct arena *arena = arena_new();
    struct topic_record record;

    while (payload.size && frame_next(&payload, &frame, arena, &record))
        assert(record.header_count <= TOPIC_HEADER_COUNT_MAX);
    arena_free(arena);
}

static void open_sealed(struct bytes content)
{
    struct disk *disk = disk_memory_new();
    struct segment *segment;
    struct err err;

    disk->ops->write_whole(disk, "d/00000000000000000000.log", content, &err);
    if (segment_open(disk, "d", 0, false, &segment, &err) == 0) {
        assert(segment_find(segment, UINT64_MAX) < content.size);
        segment_free(segment);
    }
    disk_close(disk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf content = BUF_INIT(4 << 20);
    struct bytes rest = bytes_make(data + 1, size - (size > 0));

    if (size == 0 || size > TOPIC_FRAME_SIZE_MAX)
        return 0;
    put_header(&content);
    switch (data[0] % 3) {
    case 0:
        buf_put(&content, rest);
        scan(buf_bytes(&content));
        break;
    case 1:
        read_records(rest);
        put_frame(&content, FRAME_RECORDS, rest.size ? rest.data[0] : 0, rest);
        scan(buf_bytes(&content));
        break;
    default:
        put_frame(&content, FRAME_FOOTER, 0, rest);
        open_sealed(buf_bytes(&content));
    }
    buf_release(&content);
    return 0;
}

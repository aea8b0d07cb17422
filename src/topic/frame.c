/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c - see frame.h. Reading trusts nothing: the payload may come from a fuzzer. */
#include "topic/frame.h"

#include "base/crc.h"
#include "base/endian.h"
#include "base/varint.h"
#include "topic/bounds.h"

static const uint8_t magic[4] = {'T', 'F', 'R', '1'};

size_t frame_begin(struct buf *out)
{
    static const uint8_t empty[FRAME_HEADER_SIZE];
    size_t start = out->size;

    buf_put_raw(out, empty, sizeof(empty));
    return start;
}

static void put_sized(struct buf *out, struct bytes bytes)
{
    varint_put(out, bytes.size);
    buf_put(out, bytes);
}

void frame_put_record(struct buf *out, int64_t base_time_us, const struct topic_record *record)
{
    /* Times far apart wrap here and wrap back in frame_next. */
    int64_t delta = (int64_t)((uint64_t)record->timestamp_us - (uint64_t)base_time_us);
    size_t i;

    varint_put(out, zigzag_encode(delta));
    put_sized(out, record->key);
    varint_put(out, record->header_count);
    for (i = 0; i < record->header_count; i++) {
        put_sized(out, record->headers[i].name);
        put_sized(out, record->headers[i].value);
    }
    put_sized(out, record->value);
}

size_t frame_record_size(const struct topic_record *record)
{
    size_t size = 4 * VARINT_SIZE_MAX + record->key.size + record->value.size;
    size_t i;

    for (i = 0; i < record->header_count; i++)
        size += 2 * VARINT_SIZE_MAX + record->headers[i].name.size + record->headers[i].value.size;
    return size;
}

static uint32_t header_crc(const uint8_t *header, uint64_t salt)
{
    uint8_t seed[8];

    put_le64(seed, salt);
    return crc32c(crc32c(0, bytes_make(seed, sizeof(seed))),
                  bytes_make(header + 8, FRAME_HEADER_SIZE - 8));
}

void frame_end(struct buf *out, size_t start, struct frame *frame, uint64_t salt)
{
    uint8_t *header;
    struct bytes payload;

    if (buf_failed(out))
        return;
    header = out->data + start;
    payload = bytes_skip(buf_bytes(out), start + FRAME_HEADER_SIZE);
    frame->size = (uint32_t)payload.size;
    frame->payload_crc = crc32c(0, payload);
    memcpy(header, magic, sizeof(magic));
    put_le32(header + 8, frame->size);
    put_le32(header + 12, frame->payload_crc);
    put_le32(header + 16, frame->count);
    put_le32(header + 20, frame->durable);
    put_le64(header + 24, frame->base_offset);
    put_le64(header + 32, (uint64_t)frame->base_time_us);
    put_le32(header + 40, frame->kind);
    put_le32(header + 44, frame->position);
    put_le32(header + 4, header_crc(header, salt));
}

bool frame_parse(struct bytes in, uint64_t salt, uint32_t position, struct frame *frame)
{
    const uint8_t *header = in.data;

    if (in.size < FRAME_HEADER_SIZE || memcmp(header, magic, sizeof(magic)) != 0)
        return false;
    if (get_le32(header + 4) != header_crc(header, salt))
        return false;
    frame->size = get_le32(header + 8);
    frame->payload_crc = get_le32(header + 12);
    frame->count = get_le32(header + 16);
    frame->durable = get_le32(header + 20);
    frame->base_offset = get_le64(header + 24);
    frame->base_time_us = (int64_t)get_le64(header + 32);
    frame->kind = get_le32(header + 40);
    frame->position = get_le32(header + 44);
    return frame->position == position && frame->size <= TOPIC_FRAME_SIZE_MAX &&
           frame->kind <= FRAME_FOOTER;
}

bool frame_check(const struct frame *frame, struct bytes payload)
{
    return payload.size == frame->size && crc32c(0, payload) == frame->payload_crc;
}

static bool get_sized(struct bytes *in, struct bytes *out)
{
    uint64_t size;

    if (!varint_get(in, &size) || size > in->size)
        return false;
    *out = bytes_make(in->data, size);
    *in = bytes_skip(*in, size);
    return true;
}

static bool get_headers(struct bytes *in, struct arena *arena, struct topic_record *record)
{
    struct topic_header *headers = NULL;
    struct topic_header skipped;
    uint64_t count;
    uint64_t i;

    if (!varint_get(in, &count) || count > TOPIC_HEADER_COUNT_MAX)
        return false;
    if (count && arena)
        headers = arena_array(arena, count, sizeof(*headers));
    for (i = 0; i < count; i++) {
        struct topic_header *header = headers ? &headers[i] : &skipped;

        if (!get_sized(in, &header->name) || !get_sized(in, &header->value))
            return false;
    }
    record->headers = headers;
    record->header_count = headers ? count : 0;
    return true;
}

bool frame_next(struct bytes *payload, const struct frame *frame, struct arena *arena,
                struct topic_record *record)
{
    struct bytes in = *payload;
    uint64_t delta;

    if (!varint_get(&in, &delta) || !get_sized(&in, &record->key) ||
        !get_headers(&in, arena, record) || !get_sized(&in, &record->value))
        return false;
    record->timestamp_us =
        (int64_t)((uint64_t)frame->base_time_us + (uint64_t)zigzag_decode(delta));
    *payload = in;
    return true;
}

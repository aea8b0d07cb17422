/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - how records lie in a segment file: batches of them, each with two checksums.
 *
 *     byte 0        4            8         12           16       20
 *     | "TFR1"      | header crc | size    | payload crc | count | durable |
 *     24            32               40     44        48
 *     | base offset | base time (µs) | kind | position | payload … |
 *
 * Integers are little-endian. The header's CRC-32C starts from the segment's random salt, so no
 * record can carry bytes that pass for a frame. `position` is where the frame lies in its file.
 * `durable` is how far the file had been synced when this frame was written: whatever lies
 * before that point in the file was acknowledged, which is how recovery tells damage from the
 * torn tail of a crash (segment.c), and what it must write again.
 *
 * The payload of a frame of records, each: time − base time (zigzag), key size, key,
 * header count, (name size, name, value size, value)…, value size, value; sizes are varints.
 */
#ifndef TORG_TOPIC_FRAME_H
#define TORG_TOPIC_FRAME_H

#include "base/arena.h"
#include "base/buf.h"
#include "topic/topic.h"

enum { FRAME_HEADER_SIZE = 48 };
enum frame_kind { FRAME_RECORDS = 0, FRAME_FOOTER = 1 };

struct frame {
    uint32_t size; /* of the payload */
    uint32_t payload_crc;
    uint32_t count;
    uint32_t durable;
    uint64_t base_offset;
    int64_t base_time_us;
    uint32_t kind;
    uint32_t position;
};

/* Room for a header; the payload is then put after it. Returns where the frame begins. */
size_t frame_begin(struct buf *out);
void frame_put_record(struct buf *out, int64_t base_time_us, const struct topic_record *record);
/* Fills the header in. frame's size and payload_crc are computed. */
void frame_end(struct buf *out, size_t start, struct frame *frame, uint64_t salt);

/* Reads the header that begins `in`; false when it is short or wrong. */
bool frame_parse(struct bytes in, uint64_t salt, uint32_t position, struct frame *frame);
/* Whether the payload is the one the header was written for. */
bool frame_check(const struct frame *frame, struct bytes payload);

/* Most bytes a record takes in a payload. */
size_t frame_record_size(const struct topic_record *record);

/* Takes one record off the front of the payload; false when it is malformed. The bytes point
 * into the payload, headers are in the arena (NULL: they are skipped). */
bool frame_next(struct bytes *payload, const struct frame *frame, struct arena *arena,
                struct topic_record *record);

#endif

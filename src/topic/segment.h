/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - one file of a partition: a header, frames of records, and a footer once sealed.
 *
 *     "TORGSEG1" | salt u64 | base offset u64 | 0 u32 | crc u32 | frame | frame | … | footer
 *
 * The footer is a frame of kind FRAME_FOOTER: end offset u64, newest time i64, entry count u32,
 * (offset − base u32, position u32)…, its own position u32, "TEND". The entries are the sparse
 * index, one frame every INDEX_STEP bytes. A sealed segment opens by its footer alone, one
 * without is scanned. Only the newest segment of a partition may lack it.
 *
 * Threads: segment_append, seal and mend are the writer's; fields that readers use are changed
 * under the partition's lock (partition.c).
 */
#ifndef TORG_TOPIC_SEGMENT_H
#define TORG_TOPIC_SEGMENT_H

#include "base/object.h"
#include "topic/disk.h"
#include "topic/frame.h"

enum { SEGMENT_HEADER_SIZE = 32, SEGMENT_PATH_SIZE = 320 };

struct index_entry {
    uint32_t offset_delta;
    uint32_t position;
};

enum { SEGMENT_MAGIC = OBJECT_MAGIC('s', 'e', 'g', 'm') };

struct segment {
    uint32_t magic;
    char path[SEGMENT_PATH_SIZE];
    uint64_t salt;
    uint64_t base_offset;
    uint64_t end_offset;    /* of the durable records */
    uint32_t position;      /* end of the durable frames */
    int64_t newest_time_us; /* INT64_MIN: no records */
    bool sealed;
    struct disk_file *file; /* owned; NULL unless it is the one written to */
    struct index_entry *index;
    size_t index_count;
    size_t index_capacity;
};

/* A new empty file, durable with its name. */
int segment_create(struct disk *disk, const char *dir, uint64_t base_offset,
                   struct segment **segment, struct err *err);

/* An existing one. newest: it may end in a torn frame, which is cut off, and it is kept open for
 * writing; the last unsynced run is written again and synced. ERR_CORRUPT, naming the file and
 * the position, when acknowledged data is damaged. */
int segment_open(struct disk *disk, const char *dir, uint64_t base_offset, bool newest,
                 struct segment **segment, struct err *err);
void segment_free(struct segment *segment);

/* Writes whole frames at the end and syncs. Changes no field: segment_publish does. */
int segment_append(struct segment *segment, struct bytes frames, struct err *err);
/* Counts one frame that is durable now. */
void segment_publish(struct segment *segment, const struct frame *frame, int64_t newest_time_us);

int segment_seal(struct segment *segment, struct err *err); /* durable footer */
/* After a failed write or sync: cuts off everything past the durable frames. */
int segment_mend(struct segment *segment, struct err *err);

/* Where to begin looking for offset. */
uint32_t segment_find(const struct segment *segment, uint64_t offset);

/* What is wrong at a position, for ERR_CORRUPT everywhere. */
int segment_damaged(const char *path, uint64_t position, const char *what, struct err *err);

/* Checks a whole file's content as opening the newest segment does. Fills the segment's fields
 * except path and file, and *rewrite_from, the start of the last unsynced run. For segment.c and
 * the fuzzer. */
int segment_scan(struct segment *segment, struct bytes content, uint32_t *rewrite_from,
                 struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition.h - one ordered log (a write-ahead log without a database behind it): a directory of
 * segments, one writer, any number of readers.
 *
 * The writer stages records, then commits: frames are written and synced, and only then can
 * readers see them. A write or sync that fails fails the partition: nothing is accepted until
 * the file has been cut back to its durable end and synced (tried again every TOPIC_HEAL_MS).
 * Threads: begin, stage and commit are for one writer thread; the rest is for all.
 */
#ifndef TORG_TOPIC_PARTITION_H
#define TORG_TOPIC_PARTITION_H

#include <pthread.h>

#include "base/clock.h"
#include "topic/bounds.h"
#include "topic/segment.h"

enum { PARTITION_DIR_SIZE = 256 };

enum { PARTITION_MAGIC = OBJECT_MAGIC('p', 'a', 'r', 't') };

struct partition {
    uint32_t magic;
    char dir[PARTITION_DIR_SIZE];
    struct disk *disk;         /* borrowed */
    const struct clock *clock; /* borrowed */
    void *owner;               /* who waits for its records (topic_local.c) */

    pthread_mutex_t lock;      /* over the fields up to the blank line */
    struct segment **segments; /* oldest first; the last is written to */
    size_t segment_count;
    size_t segment_capacity;
    uint64_t segment_size; /* a new segment begins past this */
    int64_t segment_ms;    /* or when the newest is this old; 0: never */
    uint64_t trim_before;  /* records that nobody needs: a segment with some of them ends soon */

    struct segment *active; /* the writer's from here on; the last of segments */
    bool failed;
    int64_t failed_us;
    struct err failure;
    int64_t segment_since_us;
    uint64_t next_offset;  /* of the next record staged */
    struct buf staged;     /* whole frames, then an open one */
    struct frame *frames;  /* of staged, for publishing */
    int64_t *newest_times; /* of each of them */
    size_t frame_count;
    size_t frame_capacity;
    bool frame_open;
    size_t frame_start;

    uint32_t writer; /* which of the pool (writers.c), whose the rest is too */
    struct partition *round_next;
    bool in_round;
    int round_rc;
    struct err round_err;
};

/* Where a reader stands: spares the search for the next frame. All zero at first. */
struct read_hint {
    uint64_t offset;
    uint64_t segment_base;
    uint32_t position;
};

/* Memory for what is read; data is owned by whoever made it. */
struct read_space {
    uint8_t *data;
    size_t size;
    size_t used;
};

/* Opens the directory, which exists; makes the first segment if there is none. */
int partition_open(struct partition *partition, struct disk *disk, const char *dir,
                   const struct clock *clock, struct err *err);
void partition_close(struct partition *partition);   /* seals what is durable */
void partition_discard(struct partition *partition); /* its files are to be deleted */
void partition_set_retention(struct partition *partition, int64_t retention_ms,
                             int64_t retention_size);

void partition_range(struct partition *partition, uint64_t *first, uint64_t *end);

/* Before the first record of a commit: makes room, or heals; the failure if there is one. */
int partition_begin(struct partition *partition, struct err *err);
uint64_t partition_stage(struct partition *partition, const struct topic_record *record);
/* Makes everything staged durable and visible; on failure none of it is. */
int partition_commit(struct partition *partition, struct err *err);

/* Appends up to max_count records from offset on to messages (their topic and partition are left
 * to the caller); *count 0: none yet, or no room left in space. The first call on an empty space
 * always finds room for one frame when it has READ_SPACE_SIZE. ERR_RANGE names first and end. */
enum { READ_SPACE_SIZE = TOPIC_POLL_SIZE + TOPIC_FRAME_SIZE_MAX + 4096 };
int partition_read(struct partition *partition, uint64_t offset, size_t max_count,
                   struct read_hint *hint, struct read_space *space, struct arena *arena,
                   struct topic_message *messages, size_t *count, struct err *err);

/* Deletes the oldest segments whose records are all older than time_us, or that are not needed to
 * keep size bytes (0: no such bound), or that end at or before `before`. Never the newest. */
struct retention {
    int64_t time_us; /* INT64_MIN: none */
    uint64_t size;
    uint64_t before;
};
int partition_retain(struct partition *partition, const struct retention *retention,
                     struct err *err);
/* The same for what ends at or before `before`; from now on the segment that has more of those ends
 * with the next commit, if it is worth it, so that it can go the next time. */
int partition_trim(struct partition *partition, uint64_t before, struct err *err);

#endif

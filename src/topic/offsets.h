/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offsets.h - what the groups have committed, kept in a log of its own.
 *
 * One internal partition holds a record a commit: key "group/topic/partition", value the
 * offset (8 bytes, little-endian), or nothing when it is forgotten; the last one of a key counts.
 * When the log has grown, the live entries are written again and the segments before them deleted.
 * Threads: all.
 */
#ifndef TORG_TOPIC_OFFSETS_H
#define TORG_TOPIC_OFFSETS_H

#include "topic/writers.h"

struct offset_entry;

enum { OFFSETS_MAGIC = OBJECT_MAGIC('o', 'f', 'f', 's') };

struct offsets {
    uint32_t magic;
    struct writers *writers; /* borrowed */
    struct partition log;
    pthread_mutex_t lock; /* over the table; entries enter the log in the order of changes */
    struct offset_entry **slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t entry_count;
    size_t live_size; /* of the entries' records, about */
};

/* The directory dir of the disk is made if it is not there. */
int offsets_open(struct offsets *offsets, struct disk *disk, const char *dir,
                 const struct clock *clock, struct writers *writers, struct err *err);
void offsets_close(struct offsets *offsets);

/* Durable when it returns 0. */
int offsets_commit(struct offsets *offsets, const char *group,
                   const struct topic_position *positions, size_t count, struct err *err);
/* Forgets what all groups have committed of the topic; durable when it returns 0. */
int offsets_forget(struct offsets *offsets, const char *topic, struct err *err);
bool offsets_find(struct offsets *offsets, const char *group, const char *topic, uint32_t partition,
                  uint64_t *offset);

/* Rewrites the log when most of it is history. One thread at a time. */
int offsets_compact(struct offsets *offsets, struct err *err);

#endif

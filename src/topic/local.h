/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.h - the embedded broker, shared by topic_local.c (topics) and group.c (consumers).
 *
 *     topics/NAME/meta           "TORGTOP1", partitions u32, 0 u32, retention ms i64, size i64, crc
 *     topics/NAME/NNN/OFFSET.log the segments of partition NNN
 *     offsets/OFFSET.log          committed offsets (offsets.h)
 *
 * A topic exists when its meta file does, which is written last.
 * Locks, outermost first: groups_lock, offsets.lock, partition.lock; board and writers' own.
 */
#ifndef TORG_TOPIC_LOCAL_H
#define TORG_TOPIC_LOCAL_H

#include "base/limits.h"
#include "topic/offsets.h"
#include "topic/topic_ops.h"
#include "topic/waiter.h"

struct group;

struct local_topic {
    char *name;
    pthread_mutex_t lock; /* over config's retention */
    struct topic_config config;
    struct partition *partitions; /* owned array, config.partition_count */
};

struct local {
    struct topics base;
    const struct clock *clock;
    struct disk *disk;
    bool owns_disk;
    struct writers *writers;
    struct offsets offsets;
    struct waiter_board board;

    pthread_mutex_t create_lock;
    struct local_topic *topics[TOPIC_COUNT_MAX]; /* never removed: readers need no lock */
    _Atomic size_t topic_count;

    pthread_mutex_t groups_lock;
    struct group *groups;
    size_t group_count;

    pthread_t housekeeper;
    pthread_mutex_t housekeeping_lock; /* one at a time */
    pthread_mutex_t stop_lock;
    pthread_cond_t stop_changed;
    bool stop;
};

/* NULL when there is none. */
struct local_topic *local_find(struct local *local, const char *name);

void groups_init(struct local *local);
void groups_release(struct local *local); /* all consumers are closed */
void groups_expire(struct local *local);  /* silent members lose their partitions */

int group_consumer_open(struct topics *topics, const struct consumer_options *options,
                        struct consumer **consumer, struct err *err);
void group_consumer_close(struct consumer *consumer);
int group_consumer_poll(struct consumer *consumer, int timeout_ms,
                        const struct topic_message **messages, size_t *count, struct err *err);
int group_consumer_commit(struct consumer *consumer, const struct topic_position *positions,
                          size_t count, struct err *err);
int group_consumer_seek(struct consumer *consumer, const char *topic, uint32_t partition,
                        uint64_t offset, struct err *err);
int group_consumer_assignment(struct consumer *consumer, struct topic_position *positions,
                              size_t max, size_t *count, struct err *err);
uint64_t group_consumer_generation(struct consumer *consumer);

#endif

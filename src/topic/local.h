/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.h - the embedded broker, shared by topic_local.c (topics), local_table.c (which there are,
 * and their end) and group.c (consumers).
 *
 *     topics/NAME/meta           "TORGTOP1", partitions u32, 0 u32, retention ms i64, size i64, crc
 *     topics/NAME/NNN/OFFSET.log the segments of partition NNN
 *     offsets/OFFSET.log          committed offsets (offsets.h)
 *
 * A topic exists when its meta file does, which is written last, and removed first: directories
 * without it are left over from a creation or a removal, and are deleted at the next opening or
 * creation.
 *
 * Users of a topic's partitions are counted (local_take, local_enter, local_leave); a removal waits
 * until there are none. The struct itself, with its name, lives as long as anybody holds it. Locks,
 * outermost first: create_lock, groups_lock, offsets.lock, topics_lock, partition.lock; board and
 * writers' own.
 */
#ifndef TORG_TOPIC_LOCAL_H
#define TORG_TOPIC_LOCAL_H

#include "base/condition.h"
#include "base/object.h"
#include "base/task.h"
#include "topic/bounds.h"
#include "topic/offsets.h"
#include "topic/topic_ops.h"
#include "topic/waiter.h"

struct group;

enum { LOCAL_TOPIC_MAGIC = OBJECT_MAGIC('l', 't', 'o', 'p') };

struct local_topic {
    uint32_t magic;
    char *name;
    pthread_mutex_t lock; /* over config's retention */
    struct topic_config config;
    struct partition *partitions; /* owned array, config.partition_count; NULL: it was removed */

    bool is_removed; /* this and the rest: under topics_lock */
    size_t user_count;
    size_t holder_count; /* the table, members, slots of groups */
};

struct local {
    struct topics base;
    const struct clock *clock;
    struct disk *disk;
    bool owns_disk;
    struct writers *writers;
    struct offsets offsets;
    struct waiter_board board;

    pthread_mutex_t create_lock; /* one creation or removal at a time */
    pthread_mutex_t topics_lock;
    struct condition topic_left; /* a topic that is to be removed has a user less */
    struct local_topic *topics[TOPIC_COUNT_MAX];
    size_t topic_count;

    pthread_mutex_t groups_lock;
    struct group *groups;
    size_t group_count;

    struct task housekeeper;
    pthread_mutex_t housekeeping_lock; /* one at a time */
};

/* Uses the topic until local_leave; NULL when there is none. */
struct local_topic *local_take(struct local *local, const char *name);
/* The same for one that is held; false: it was removed. */
bool local_enter(struct local *local, struct local_topic *topic);
void local_leave(struct local *local, struct local_topic *topic);
/* Of a user or holder: keeps the struct until local_drop. */
void local_hold(struct local *local, struct local_topic *topic);
void local_drop(struct local *local, struct local_topic *topic);
/* All topics, each to be left; room for TOPIC_COUNT_MAX. Gives their number. */
size_t local_take_all(struct local *local, struct local_topic **topics);
/* Enters it; its holder's hold is the table's then. With create_lock held, as what follows. */
void local_add(struct local *local, struct local_topic *topic);
/* NULL when there is none; it stays while create_lock is held. */
struct local_topic *local_find(struct local *local, const char *name);
int local_remove(struct topics *topics, const char *name, struct err *err); /* takes the lock */
int local_refuse_removed(const char *name, struct err *err);

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka_group.c - how far has a group come? Asked without being a member.
 *
 * By a handle with the group's name that never subscribes, and so never joins: it asks as a member
 * asks for its own offsets. librdkafka's call for others, rd_kafka_ListConsumerGroupOffsets, ends
 * the process in two ways when a coordinator is lost (2.0.2 to 2.15.1 at least):
 *
 * - A broker that was suspended for longer than its session with the controller (9 s) coordinates
 *   no group for a moment, and says so. The answer is passed on to the group of the handle, which
 *   has none: a segmentation fault at NULL + 0x50 (its issue 5040).
 * - A coordinator comes back after the call's time is over: the call is sent although it was given
 *   up, and its end is reported twice, the second time to freed memory ("eonce->refcnt > 0"
 *   failed).
 *
 * A handle costs two or three connections, so a few are kept, those asked for last.
 * Threads: any; kafka->lock is over the table, and not held while a broker is asked.
 */
#include <assert.h>
#include <stdio.h>

#include "topic/kafka.h"

/* The handle of the group, or the idle one longest unused; NULL when all are in use. */
static struct kafka_group *choose_group(struct kafka *kafka, const char *name)
{
    struct kafka_group *oldest = NULL;
    size_t i;

    for (i = 0; i < KAFKA_GROUP_COUNT; i++) {
        struct kafka_group *group = &kafka->groups[i];

        if (group->handle && strcmp(group->name, name) == 0)
            return group;
        if (!group->user_count && (!oldest || group->used < oldest->used))
            oldest = group;
    }
    return oldest;
}

static rd_kafka_t *new_asker(struct kafka *kafka, const char *name, struct err *err)
{
    rd_kafka_conf_t *conf = kafka_conf(kafka);

    kafka_set(conf, "group.id", name);
    kafka_set(conf, "enable.auto.commit", "false");
    return kafka_handle_new(RD_KAFKA_CONSUMER, conf, err);
}

/* Makes the group's handle, unless it is there. Under the lock; *old is to be ended without it. */
static int prepare(struct kafka *kafka, struct kafka_group *group, const char *name,
                   rd_kafka_t **old, struct err *err)
{
    rd_kafka_t *fresh;

    if (group->handle && strcmp(group->name, name) == 0)
        return 0;
    fresh = new_asker(kafka, name, err);
    if (!fresh)
        return ERR_INVALID;
    *old = group->handle;
    group->handle = fresh;
    snprintf(group->name, sizeof(group->name), "%s", name);
    return 0;
}

static int take_group(struct kafka *kafka, const char *name, struct kafka_group **taken,
                      struct err *err)
{
    int64_t until_us = clock_after_us(kafka->base.clock, (int64_t)KAFKA_CALL_MS * MS_US);
    rd_kafka_t *old = NULL;
    struct kafka_group *group;
    bool in_time = true;
    int rc;

    pthread_mutex_lock(&kafka->lock);
    group = choose_group(kafka, name);
    while (!group && in_time) {
        in_time = condition_wait_until(&kafka->changed, &kafka->lock, until_us);
        group = choose_group(kafka, name);
    }
    if (group)
        rc = prepare(kafka, group, name, &old, err);
    else
        rc = err_set(err, ERR_TIMEOUT, "group %s: too many groups are asked about at once", name);
    if (!rc) {
        group->user_count++;
        group->used = ++kafka->group_use;
        *taken = group;
    }
    pthread_mutex_unlock(&kafka->lock);
    kafka_handle_end(old, kafka->base.clock);
    return rc;
}

static void give_group_back(struct kafka *kafka, struct kafka_group *group)
{
    pthread_mutex_lock(&kafka->lock);
    assert(group->user_count);
    group->user_count--;
    condition_broadcast(&kafka->changed);
    pthread_mutex_unlock(&kafka->lock);
}

int kafka_group_committed(struct kafka *kafka, const char *name, const char *topic,
                          uint32_t partition, int64_t *offset, struct err *err)
{
    rd_kafka_topic_partition_list_t *list;
    struct kafka_group *group;
    rd_kafka_resp_err_t error;
    int rc = take_group(kafka, name, &group, err);

    if (rc)
        return rc;
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, (int32_t)partition);
    error = rd_kafka_committed(group->handle, list, KAFKA_CALL_MS);
    give_group_back(kafka, group);
    if (!error)
        error = list->elems[0].err;
    *offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_fail(err, error, name) : 0;
}

void kafka_groups_release(struct kafka *kafka)
{
    size_t i;

    for (i = 0; i < KAFKA_GROUP_COUNT; i++) {
        assert(!kafka->groups[i].user_count);
        kafka_handle_end(kafka->groups[i].handle, kafka->base.clock);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_table.c - which topics the embedded broker has, who uses them, and how they end.
 *
 * A removal takes the topic out of the table, so nobody else finds it, wakes the threads that wait
 * for its records, and waits until all users of its partitions are done. Only then are files
 * touched: the meta file goes first, and durably, which is the moment the topic is gone; then the
 * groups' committed offsets, then the directory. Whatever a crash leaves of the two is cleaned up
 * by the next opening (directories without a meta file) and by the next creation of the name
 * (both).
 *
 * Threads: all; topics_lock guards the table and the counts.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "topic/local.h"

/* --- the table --- */

/* With topics_lock held. */
static size_t find_place(const struct local *local, const char *name)
{
    size_t i = 0;

    while (i < local->topic_count && strcmp(local->topics[i]->name, name) != 0)
        i++;
    return i;
}

struct local_topic *local_find(struct local *local, const char *name)
{
    struct local_topic *topic = NULL;
    size_t place;

    pthread_mutex_lock(&local->topics_lock);
    place = find_place(local, name);
    if (place < local->topic_count)
        topic = local->topics[place];
    pthread_mutex_unlock(&local->topics_lock);
    return topic;
}

struct local_topic *local_take(struct local *local, const char *name)
{
    struct local_topic *topic = NULL;
    size_t place;

    pthread_mutex_lock(&local->topics_lock);
    place = find_place(local, name);
    if (place < local->topic_count) {
        topic = local->topics[place];
        object_check(topic, LOCAL_TOPIC_MAGIC);
        assert(!topic->is_removed && topic->partitions);
        topic->user_count++;
    }
    pthread_mutex_unlock(&local->topics_lock);
    return topic;
}

size_t local_take_all(struct local *local, struct local_topic **topics)
{
    size_t count, i;

    pthread_mutex_lock(&local->topics_lock);
    count = local->topic_count;
    for (i = 0; i < count; i++) {
        topics[i] = local->topics[i];
        object_check(topics[i], LOCAL_TOPIC_MAGIC);
        assert(!topics[i]->is_removed);
        topics[i]->user_count++;
    }
    pthread_mutex_unlock(&local->topics_lock);
    return count;
}

void local_add(struct local *local, struct local_topic *topic)
{
    object_check(topic, LOCAL_TOPIC_MAGIC);
    pthread_mutex_lock(&local->topics_lock);
    assert(local->topic_count < TOPIC_COUNT_MAX);
    topic->is_removed = false;
    local->topics[local->topic_count++] = topic;
    pthread_mutex_unlock(&local->topics_lock);
}

/* --- users and holders --- */

bool local_enter(struct local *local, struct local_topic *topic)
{
    bool is_removed;

    object_check(topic, LOCAL_TOPIC_MAGIC);
    pthread_mutex_lock(&local->topics_lock);
    is_removed = topic->is_removed;
    topic->user_count += !is_removed;
    pthread_mutex_unlock(&local->topics_lock);
    return !is_removed;
}

void local_leave(struct local *local, struct local_topic *topic)
{
    object_check(topic, LOCAL_TOPIC_MAGIC);
    pthread_mutex_lock(&local->topics_lock);
    assert(topic->user_count);
    topic->user_count--;
    if (topic->is_removed)
        condition_broadcast(&local->topic_left);
    pthread_mutex_unlock(&local->topics_lock);
}

void local_hold(struct local *local, struct local_topic *topic)
{
    object_check(topic, LOCAL_TOPIC_MAGIC);
    pthread_mutex_lock(&local->topics_lock);
    assert(topic->holder_count > 0); /* somebody held it, so that it is there */
    topic->holder_count++;
    pthread_mutex_unlock(&local->topics_lock);
}

void local_drop(struct local *local, struct local_topic *topic)
{
    bool is_last;

    object_check(topic, LOCAL_TOPIC_MAGIC);
    pthread_mutex_lock(&local->topics_lock);
    assert(topic->holder_count);
    is_last = --topic->holder_count == 0;
    pthread_mutex_unlock(&local->topics_lock);
    if (!is_last)
        return;
    assert(topic->user_count == 0);
    assert(!topic->partitions); /* the table is the last to let go of a topic that is there */
    free(topic->name);
    pthread_mutex_destroy(&topic->lock);
    object_end(topic, LOCAL_TOPIC_MAGIC);
    free(topic);
}

int local_refuse_removed(const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "topic %s was removed: reopen its consumers", name);
}

/* --- removal --- */

/* Nobody finds it any more, and those who use it are done; the table's hold is the caller's. */
static int take_out(struct local *local, const char *name, struct local_topic **out,
                    struct err *err)
{
    int64_t until_us = clock_after_us(local->clock, (int64_t)TOPIC_REMOVE_MS * MS_US);
    struct local_topic *topic = NULL;
    bool in_time = true;
    size_t place;

    pthread_mutex_lock(&local->topics_lock);
    place = find_place(local, name);
    if (place < local->topic_count) {
        topic = local->topics[place];
        assert(!topic->is_removed && topic->holder_count > 0);
        topic->is_removed = true;
        local->topics[place] = local->topics[--local->topic_count];
    }
    pthread_mutex_unlock(&local->topics_lock);
    if (!topic)
        return err_set(err, ERR_NOT_FOUND, "there is no topic %s", name);
    waiter_wake(&local->board, topic);
    pthread_mutex_lock(&local->topics_lock);
    while (topic->user_count && in_time)
        in_time = condition_wait_until(&local->topic_left, &local->topics_lock, until_us);
    if (topic->user_count) {
        topic->is_removed = false;
        assert(local->topic_count < TOPIC_COUNT_MAX);
        local->topics[local->topic_count++] = topic;
        *out = NULL;
    } else {
        *out = topic;
    }
    pthread_mutex_unlock(&local->topics_lock);
    if (!*out)
        return err_set(err, ERR_TIMEOUT, "topic %s is in use, after %d ms: it stays", name,
                       TOPIC_REMOVE_MS);
    return 0;
}

static void discard(struct local *local, struct local_topic *topic)
{
    uint32_t i;

    for (i = 0; i < topic->config.partition_count; i++)
        partition_discard(&topic->partitions[i]);
    free(topic->partitions);
    topic->partitions = NULL;
    local_drop(local, topic);
}

static int remove_files(struct local *local, const char *name, struct err *err)
{
    struct disk *disk = local->disk;
    char path[PARTITION_DIR_SIZE];
    struct err why;
    int rc;

    snprintf(path, sizeof(path), "topics/%s", name);
    rc = disk->ops->sync_dir(disk, path, err); /* from here on it is gone for good */
    if (!rc)
        rc = offsets_forget(&local->offsets, name, err);
    if (!rc && disk->ops->remove_dir(disk, path, &why))
        log_warn("a removed topic has left files: the next start deletes them",
                 LOG_TEXT("topic", name), LOG_TEXT("reason", why.text));
    return rc;
}

int local_remove(struct topics *topics, const char *name, struct err *err)
{
    struct local *local = container_of(topics, struct local, base);
    struct local_topic *topic;
    char path[PARTITION_DIR_SIZE];
    int rc;

    pthread_mutex_lock(&local->create_lock);
    rc = take_out(local, name, &topic, err);
    if (!rc) {
        snprintf(path, sizeof(path), "topics/%s/meta", name);
        rc = local->disk->ops->remove(local->disk, path, err);
        if (rc && rc != ERR_NOT_FOUND) {
            local_add(local, topic); /* it is there as before */
        } else {
            discard(local, topic);
            rc = remove_files(local, name, err);
        }
    }
    pthread_mutex_unlock(&local->create_lock);
    return rc;
}

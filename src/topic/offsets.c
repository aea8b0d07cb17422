/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offsets.c - see offsets.h. The table is an open hash of owned entries, never shrunk: those that
 * are forgotten stay, empty, until the log is opened anew after a compaction, which leaves them
 * out.
 *
 * A change is entered into the table and queued for the log under one lock, so a compaction,
 * which queues a copy of the table under the same lock, can never put an older value after a
 * newer one.
 */
#include "topic/offsets.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/hash.h"
#include "base/memory.h"
#include "topic/bounds.h"

enum {
    KEY_SIZE_MAX = 2 * TOPIC_NAME_SIZE_MAX + 16,
    READ_COUNT = 1000,
    RECORD_OVERHEAD = 24,
    COMPACT_COUNT = 1000
};

struct offset_entry {
    uint64_t hash;
    bool is_set; /* false: forgotten */
    uint64_t offset;
    struct bytes key; /* owned */
};

static struct bytes make_key(char text[KEY_SIZE_MAX], const char *group, const char *topic,
                             uint32_t partition)
{
    int length = snprintf(text, KEY_SIZE_MAX, "%s/%s/%" PRIu32, group, topic, partition);

    assert(length > 0 && length < KEY_SIZE_MAX); /* names are checked in topic.c */
    return bytes_make(text, (size_t)length);
}

/* The slot of the key: its entry, or where it would be. */
static struct offset_entry **find_slot(struct offsets *offsets, struct bytes key, uint64_t hash)
{
    size_t at = hash & (offsets->slot_count - 1);

    while (offsets->slots[at] &&
           (offsets->slots[at]->hash != hash || !bytes_equal(offsets->slots[at]->key, key)))
        at = (at + 1) & (offsets->slot_count - 1);
    return &offsets->slots[at];
}

static void grow_table(struct offsets *offsets)
{
    struct offset_entry **old = offsets->slots;
    size_t old_count = offsets->slot_count;
    size_t i;

    offsets->slot_count = old_count ? old_count * 2 : 64;
    assert((offsets->slot_count & (offsets->slot_count - 1)) == 0);
    offsets->slots = mem_array(offsets->slot_count, sizeof(*offsets->slots));
    for (i = 0; i < old_count; i++)
        if (old[i])
            *find_slot(offsets, old[i]->key, old[i]->hash) = old[i];
    free(old);
}

static struct offset_entry *set_entry(struct offsets *offsets, struct bytes key, uint64_t offset)
{
    uint64_t hash = hash64(key);
    struct offset_entry **slot;

    if (offsets->entry_count * 2 >= offsets->slot_count)
        grow_table(offsets);
    slot = find_slot(offsets, key, hash);
    if (!*slot) {
        uint8_t *copy = mem_alloc(key.size ? key.size : 1);

        memcpy(copy, key.data, key.size);
        *slot = mem_zero(sizeof(**slot));
        (*slot)->hash = hash;
        (*slot)->key = bytes_make(copy, key.size);
        offsets->entry_count++;
        offsets->live_size += key.size + RECORD_OVERHEAD;
    }
    assert(offsets->entry_count * 2 <= offsets->slot_count);
    (*slot)->offset = offset;
    (*slot)->is_set = true;
    return *slot;
}

/* An entry of the log: 8 bytes, or none. */
static int load_entry(struct offsets *offsets, const struct topic_message *message, struct err *err)
{
    struct offset_entry *entry;

    if (message->value.size != 8 && message->value.size != 0)
        return err_set(err, ERR_CORRUPT, "committed offsets: record %" PRIu64 " is malformed",
                       message->offset);
    entry =
        set_entry(offsets, message->key, message->value.size ? get_le64(message->value.data) : 0);
    entry->is_set = message->value.size != 0;
    return 0;
}

static int load_log(struct offsets *offsets, struct err *err)
{
    struct read_space space = {mem_alloc(READ_SPACE_SIZE), READ_SPACE_SIZE, 0};
    struct topic_message *messages = mem_array(READ_COUNT, sizeof(*messages));
    struct read_hint hint = {0};
    uint64_t at, end;
    size_t count, i;
    int rc = 0;

    partition_range(&offsets->log, &at, &end);
    while (!rc && at < end) {
        space.used = 0;
        rc = partition_read(&offsets->log, at, READ_COUNT, &hint, &space, NULL, messages, &count,
                            err);
        for (i = 0; !rc && i < count; i++)
            rc = load_entry(offsets, &messages[i], err);
        at += count;
    }
    free(messages);
    free(space.data);
    return rc;
}

static void release_table(struct offsets *offsets)
{
    size_t i;

    for (i = 0; i < offsets->slot_count; i++)
        if (offsets->slots[i]) {
            free((void *)offsets->slots[i]->key.data);
            free(offsets->slots[i]);
        }
    free(offsets->slots);
    pthread_mutex_destroy(&offsets->lock);
}

int offsets_open(struct offsets *offsets, struct disk *disk, const char *dir,
                 const struct clock *clock, struct writers *writers, struct err *err)
{
    int rc = disk->ops->make_dir(disk, dir, err);

    *offsets = (struct offsets){.magic = OFFSETS_MAGIC, .writers = writers};
    if (!rc)
        rc = partition_open(&offsets->log, disk, dir, clock, err);
    if (rc)
        return rc;
    pthread_mutex_init(&offsets->lock, NULL);
    offsets->log.segment_size = TOPIC_OFFSETS_SEGMENT_SIZE;
    grow_table(offsets);
    rc = load_log(offsets, err);
    if (rc) {
        release_table(offsets);
        partition_close(&offsets->log);
    }
    return rc;
}

void offsets_close(struct offsets *offsets)
{
    object_end(offsets, OFFSETS_MAGIC);
    release_table(offsets);
    partition_close(&offsets->log);
}

/* Entries for the log, in memory that lives until they are durable. */
struct batch {
    struct topic_record *records;
    uint32_t *partitions; /* all 0 */
    uint64_t *offsets;
    uint8_t (*values)[8];
};

static void batch_init(struct batch *batch, size_t count)
{
    batch->records = mem_array(count, sizeof(*batch->records));
    batch->partitions = mem_array(count, sizeof(*batch->partitions));
    batch->offsets = mem_array(count, sizeof(*batch->offsets));
    batch->values = mem_array(count, sizeof(*batch->values));
}

static void batch_set(struct batch *batch, size_t i, const struct offset_entry *entry,
                      int64_t now_us)
{
    put_le64(batch->values[i], entry->offset);
    /* entries are never freed before the log is closed, so their keys stay */
    batch->records[i] =
        (struct topic_record){.key = entry->key,
                              .value = bytes_make(batch->values[i], entry->is_set ? 8 : 0),
                              .timestamp_us = now_us};
}

static void batch_release(struct batch *batch)
{
    free(batch->records);
    free(batch->partitions);
    free(batch->offsets);
    free(batch->values);
}

/* Its records from `from` on. */
static void queue_batch(struct offsets *offsets, struct batch *batch, size_t from, size_t count,
                        struct submit_wait *wait)
{
    struct submit submit = {.name = "committed offsets",
                            .records = batch->records + from,
                            .partitions = batch->partitions + from,
                            .count = count,
                            .offsets = batch->offsets + from,
                            .done = submit_wait_done,
                            .arg = wait};
    int rc = writers_submit(offsets->writers, &offsets->log, &submit, false, NULL);

    assert(rc == 0); /* nothing to wait for, nothing to refuse */
}

int offsets_commit(struct offsets *offsets, const char *group,
                   const struct topic_position *positions, size_t count, struct err *err)
{
    int64_t now_us = clock_wall_us(offsets->log.clock);
    struct submit_wait wait;
    struct batch batch;
    size_t i;
    int rc;

    object_check(offsets, OFFSETS_MAGIC);
    assert(count > 0);
    batch_init(&batch, count);
    submit_wait_init(&wait, offsets->log.clock);
    pthread_mutex_lock(&offsets->lock);
    for (i = 0; i < count; i++) {
        char text[KEY_SIZE_MAX];
        struct bytes key = make_key(text, group, positions[i].topic, positions[i].partition);

        batch_set(&batch, i, set_entry(offsets, key, positions[i].offset), now_us);
    }
    queue_batch(offsets, &batch, 0, count, &wait);
    pthread_mutex_unlock(&offsets->lock);
    rc = submit_wait(&wait, err);
    submit_wait_release(&wait);
    batch_release(&batch);
    return rc;
}

/* Is the key "group/TOPIC/partition"? Names have no '/'. */
static bool is_of_topic(struct bytes key, const char *topic)
{
    const char *first = memchr(key.data, '/', key.size);
    size_t rest = first ? key.size - (size_t)(first + 1 - (const char *)key.data) : 0;
    size_t size = strlen(topic);

    return rest > size && first[1 + size] == '/' && memcmp(first + 1, topic, size) == 0;
}

/* The topic's entries become so; with the lock held. batch: may be NULL; gets those that were not.
 */
static size_t set_topic(struct offsets *offsets, const char *topic, bool is_set,
                        struct batch *batch)
{
    int64_t now_us = clock_wall_us(offsets->log.clock);
    size_t count = 0, i;

    for (i = 0; i < offsets->slot_count; i++) {
        struct offset_entry *entry = offsets->slots[i];

        if (!entry || entry->is_set == is_set || !is_of_topic(entry->key, topic))
            continue;
        entry->is_set = is_set;
        if (batch)
            batch_set(batch, count, entry, now_us);
        count++;
    }
    return count;
}

int offsets_forget(struct offsets *offsets, const char *topic, struct err *err)
{
    struct submit_wait wait;
    struct batch batch;
    size_t count;
    int rc = 0;

    object_check(offsets, OFFSETS_MAGIC);
    submit_wait_init(&wait, offsets->log.clock);
    pthread_mutex_lock(&offsets->lock);
    batch_init(&batch, offsets->entry_count + 1);
    count = set_topic(offsets, topic, false, &batch);
    if (count)
        queue_batch(offsets, &batch, 0, count, &wait);
    pthread_mutex_unlock(&offsets->lock);
    if (count)
        rc = submit_wait(&wait, err);
    if (rc) { /* so that the next try writes them again */
        pthread_mutex_lock(&offsets->lock);
        set_topic(offsets, topic, true, NULL);
        pthread_mutex_unlock(&offsets->lock);
    }
    submit_wait_release(&wait);
    batch_release(&batch);
    return rc;
}

bool offsets_find(struct offsets *offsets, const char *group, const char *topic, uint32_t partition,
                  uint64_t *offset)
{
    char text[KEY_SIZE_MAX];
    struct bytes key = make_key(text, group, topic, partition);
    const struct offset_entry *entry;
    bool found;

    object_check(offsets, OFFSETS_MAGIC);
    pthread_mutex_lock(&offsets->lock);
    entry = *find_slot(offsets, key, hash64(key));
    found = entry && entry->is_set;
    if (found)
        *offset = entry->offset;
    pthread_mutex_unlock(&offsets->lock);
    return found;
}

/* Is there much more history than there are entries? With the lock held. */
static bool wants_compaction(struct offsets *offsets)
{
    size_t segment_count;

    pthread_mutex_lock(&offsets->log.lock);
    segment_count = offsets->log.segment_count;
    pthread_mutex_unlock(&offsets->log.lock);
    return segment_count >= 3 + 2 * offsets->live_size / TOPIC_OFFSETS_SEGMENT_SIZE;
}

/* Queues all entries, in requests of a bounded size; gives how many requests. */
static size_t queue_entries(struct offsets *offsets, struct batch *batch, struct submit_wait *waits)
{
    int64_t now_us = clock_wall_us(offsets->log.clock);
    size_t count = 0, from, i;

    for (i = 0; i < offsets->slot_count; i++)
        if (offsets->slots[i] && offsets->slots[i]->is_set)
            batch_set(batch, count++, offsets->slots[i], now_us);
    for (from = 0, i = 0; from < count; from += COMPACT_COUNT, i++) {
        submit_wait_init(&waits[i], offsets->log.clock);
        queue_batch(offsets, batch, from,
                    count - from < COMPACT_COUNT ? count - from : COMPACT_COUNT, &waits[i]);
    }
    return i;
}

int offsets_compact(struct offsets *offsets, struct err *err)
{
    struct retention retention = {.time_us = INT64_MIN};
    struct submit_wait *waits;
    struct batch batch;
    size_t wait_count, i;
    int rc = 0;

    object_check(offsets, OFFSETS_MAGIC);
    pthread_mutex_lock(&offsets->lock);
    if (!wants_compaction(offsets)) {
        pthread_mutex_unlock(&offsets->lock);
        return 0;
    }
    batch_init(&batch, offsets->entry_count);
    waits = mem_array(offsets->entry_count / COMPACT_COUNT + 1, sizeof(*waits));
    assert(offsets->entry_count > 0);
    wait_count = queue_entries(offsets, &batch, waits);
    assert(wait_count <= offsets->entry_count / COMPACT_COUNT + 1);
    pthread_mutex_unlock(&offsets->lock);
    for (i = 0; i < wait_count; i++) {
        int one = submit_wait(&waits[i], rc ? NULL : err);

        rc = rc ? rc : one;
        submit_wait_release(&waits[i]);
    }
    if (!rc) {
        retention.before = batch.offsets[0];
        rc = partition_retain(&offsets->log, &retention, err);
    }
    free(waits);
    batch_release(&batch);
    return rc;
}

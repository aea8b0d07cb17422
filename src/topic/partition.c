/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition.c - see partition.h: opening, writing, retention. Reading is partition_read.c.
 *
 * Rolling to a new segment: footer and sync of the old one, then the new file with its header,
 * synced with its directory. So a crash leaves either a newest segment with a footer, or a new
 * file no longer than its header, which is made again.
 */
#include "topic/partition.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "topic/bounds.h"

enum { STAGED_SIZE_MAX = 2 * TOPIC_COMMIT_SIZE_MAX + TOPIC_BATCH_SIZE_MAX * 2 };

static void add_segment(struct partition *partition, struct segment *segment)
{
    object_check(segment, SEGMENT_MAGIC);
    /* offsets go on where the last one ends */
    if (partition->segment_count)
        assert(partition->segments[partition->segment_count - 1]->end_offset ==
               segment->base_offset);
    partition->segments = mem_grow(partition->segments, partition->segment_count + 1,
                                   sizeof(*partition->segments), &partition->segment_capacity);
    partition->segments[partition->segment_count++] = segment;
}

static struct segment *newest_segment(struct partition *partition)
{
    assert(partition->segment_count > 0);
    return partition->segments[partition->segment_count - 1];
}

/* --- opening --- */

struct base_list {
    uint64_t *bases;
    size_t count;
    size_t capacity;
};

static int add_base(void *arg, const char *name, struct err *err)
{
    struct base_list *list = arg;
    size_t size = strlen(name);
    uint64_t base;

    if (size != 24 || strcmp(name + 20, ".log") != 0 || !text_to_u64(bytes_make(name, 20), &base))
        return err_set(err, ERR_CORRUPT, "%s does not belong in a partition's directory", name);
    list->bases = mem_grow(list->bases, list->count + 1, sizeof(*list->bases), &list->capacity);
    list->bases[list->count++] = base;
    return 0;
}

static int compare_bases(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* A newest file no longer than a header is a creation that a crash interrupted. */
static int open_or_make_newest(struct partition *partition, uint64_t base, struct segment **segment,
                               struct err *err)
{
    struct disk *disk = partition->disk;
    struct disk_file *file;
    char path[SEGMENT_PATH_SIZE];
    uint64_t size;
    int rc;

    snprintf(path, sizeof(path), "%s/%020" PRIu64 ".log", partition->dir, base);
    rc = disk->ops->open(disk, path, false, &file, err);
    if (rc)
        return rc;
    rc = disk->ops->file_size(file, &size, err);
    disk_file_close(file);
    if (rc)
        return rc;
    if (size <= SEGMENT_HEADER_SIZE)
        return segment_create(disk, partition->dir, base, segment, err);
    return segment_open(disk, partition->dir, base, true, segment, err);
}

static int open_segments(struct partition *partition, const struct base_list *list, struct err *err)
{
    struct segment *segment;
    size_t i;
    int rc = 0;

    for (i = 0; i < list->count && !rc; i++) {
        bool newest = i + 1 == list->count;

        if (i && list->bases[i] != newest_segment(partition)->end_offset)
            return err_set(err, ERR_CORRUPT,
                           "%s: records %" PRIu64 " to %" PRIu64
                           " are missing: restore the files from a copy",
                           partition->dir, newest_segment(partition)->end_offset, list->bases[i]);
        if (newest)
            rc = open_or_make_newest(partition, list->bases[i], &segment, err);
        else
            rc =
                segment_open(partition->disk, partition->dir, list->bases[i], false, &segment, err);
        if (!rc)
            add_segment(partition, segment);
    }
    if (!rc && !list->count) {
        rc = segment_create(partition->disk, partition->dir, 0, &segment, err);
        if (!rc)
            add_segment(partition, segment);
    }
    return rc;
}

static void release(struct partition *partition)
{
    size_t i;

    object_end(partition, PARTITION_MAGIC);
    for (i = 0; i < partition->segment_count; i++)
        segment_free(partition->segments[i]);
    free(partition->segments);
    free(partition->frames);
    free(partition->newest_times);
    buf_release(&partition->staged);
    pthread_mutex_destroy(&partition->lock);
}

int partition_open(struct partition *partition, struct disk *disk, const char *dir,
                   const struct clock *clock, struct err *err)
{
    struct base_list list = {0};
    int rc;

    *partition = (struct partition){.magic = PARTITION_MAGIC, .disk = disk, .clock = clock};
    pthread_mutex_init(&partition->lock, NULL);
    snprintf(partition->dir, sizeof(partition->dir), "%s", dir);
    buf_init(&partition->staged, STAGED_SIZE_MAX);
    partition->segment_size = TOPIC_SEGMENT_SIZE;
    rc = disk->ops->list(disk, dir, add_base, &list, err);
    if (!rc) {
        if (list.count)
            qsort(list.bases, list.count, sizeof(*list.bases), compare_bases);
        rc = open_segments(partition, &list, err);
    }
    free(list.bases);
    if (rc) {
        if (err)
            err_wrap(err, "partition %s", dir);
        release(partition);
        return rc;
    }
    partition->active = newest_segment(partition);
    partition->next_offset = partition->active->end_offset;
    partition->segment_since_us = clock_wall_us(clock);
    return 0;
}

void partition_close(struct partition *partition)
{
    struct segment *newest = partition->active;
    struct err err;

    object_check(partition, PARTITION_MAGIC);
    assert(partition->frame_count == 0 && !partition->in_round); /* nothing is staged */
    /* A footer spares the scan at the next start; without it nothing is lost. */
    if (!partition->failed && newest->end_offset > newest->base_offset &&
        segment_seal(newest, &err))
        log_warn("segment was not sealed", LOG_TEXT("reason", err.text));
    release(partition);
}

void partition_discard(struct partition *partition)
{
    object_check(partition, PARTITION_MAGIC);
    assert(!partition->in_round);
    release(partition);
}

/* Segments are small enough that retention is not far off: an eighth of what is kept. */
void partition_set_retention(struct partition *partition, int64_t retention_ms,
                             int64_t retention_size)
{
    uint64_t size = TOPIC_SEGMENT_SIZE;

    object_check(partition, PARTITION_MAGIC);
    if (retention_size && (uint64_t)retention_size / 8 < size)
        size = (uint64_t)retention_size / 8;
    if (size < TOPIC_SEGMENT_SIZE_MIN)
        size = TOPIC_SEGMENT_SIZE_MIN;
    pthread_mutex_lock(&partition->lock);
    partition->segment_size = size;
    partition->segment_ms = retention_ms ? retention_ms / 8 + 1 : 0;
    pthread_mutex_unlock(&partition->lock);
}

void partition_range(struct partition *partition, uint64_t *first, uint64_t *end)
{
    object_check(partition, PARTITION_MAGIC);
    pthread_mutex_lock(&partition->lock);
    *first = partition->segments[0]->base_offset;
    *end = newest_segment(partition)->end_offset;
    assert(*first <= *end);
    pthread_mutex_unlock(&partition->lock);
}

/* --- writing --- */

static int fail_partition(struct partition *partition, const struct err *cause)
{
    assert(!partition->failed);
    partition->failed = true;
    partition->failed_us = clock_mono_us(partition->clock);
    err_set(&partition->failure, ERR_UNAVAILABLE, "partition %s takes no more records: %.300s",
            partition->dir, cause->text);
    log_error("partition failed", LOG_TEXT("partition", partition->dir),
              LOG_TEXT("reason", cause->text));
    return ERR_UNAVAILABLE;
}

/* A roll that failed half way may have left the next segment's file. It goes before the footer of
 * the one before it does: an older segment without a footer is a damaged one. */
static int remove_half_rolled(struct partition *partition, struct err *err)
{
    const struct segment *newest = partition->active;
    const struct disk_ops *ops = partition->disk->ops;
    char path[SEGMENT_PATH_SIZE];
    struct err ignored;
    int rc;

    if (newest->end_offset == newest->base_offset)
        return 0;
    snprintf(path, sizeof(path), "%s/%020" PRIu64 ".log", partition->dir, newest->end_offset);
    rc = ops->remove(partition->disk, path, &ignored);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    return ops->sync_dir(partition->disk, partition->dir, err);
}

/* The durable end was synced before anything after it was written, so cutting back to it and
 * syncing that gives a file that can be trusted again. */
static int heal(struct partition *partition, struct err *err)
{
    int rc;

    if (clock_mono_us(partition->clock) - partition->failed_us < (int64_t)TOPIC_HEAL_MS * MS_US) {
        if (err)
            *err = partition->failure;
        return ERR_UNAVAILABLE;
    }
    rc = remove_half_rolled(partition, err);
    if (!rc)
        rc = segment_mend(partition->active, err);
    if (rc) {
        partition->failed_us = clock_mono_us(partition->clock);
        if (err)
            *err = partition->failure;
        return ERR_UNAVAILABLE;
    }
    partition->failed = false;
    log_info("partition takes records again", LOG_TEXT("partition", partition->dir));
    return 0;
}

static bool wants_roll(struct partition *partition, const struct segment *newest)
{
    int64_t age_us = clock_wall_us(partition->clock) - partition->segment_since_us;
    bool wants;

    if (newest->end_offset == newest->base_offset)
        return false;
    pthread_mutex_lock(&partition->lock);
    wants = newest->position >= partition->segment_size ||
            (partition->segment_ms && age_us >= partition->segment_ms * MS_US) ||
            (partition->trim_before > newest->base_offset &&
             newest->position >= TOPIC_SEGMENT_SIZE_MIN);
    pthread_mutex_unlock(&partition->lock);
    return wants;
}

static int roll(struct partition *partition, struct err *err)
{
    struct segment *old = partition->active;
    struct disk_file *written;
    struct segment *made;
    int rc = segment_seal(old, err);

    assert(partition->frame_count == 0);
    if (!rc)
        rc = segment_create(partition->disk, partition->dir, old->end_offset, &made, err);
    if (rc)
        return rc;
    /* Readers open the file themselves. Once another is newest, retention may free the old one. */
    pthread_mutex_lock(&partition->lock);
    written = old->file;
    old->file = NULL;
    add_segment(partition, made);
    partition->active = made;
    pthread_mutex_unlock(&partition->lock);
    disk_file_close(written);
    partition->segment_since_us = clock_wall_us(partition->clock);
    return 0;
}

int partition_begin(struct partition *partition, struct err *err)
{
    struct err local;
    int rc = 0;

    object_check(partition, PARTITION_MAGIC);
    err = err ? err : &local;
    assert(partition->frame_count == 0 && !partition->frame_open);
    if (partition->failed)
        rc = heal(partition, err);
    if (rc)
        return rc;
    assert(!partition->failed && !partition->active->sealed && partition->active->file);
    partition->next_offset = partition->active->end_offset;
    if (wants_roll(partition, partition->active) && roll(partition, err))
        rc = fail_partition(partition, err);
    return rc;
}

static void end_frame(struct partition *partition)
{
    struct segment *newest = partition->active;
    struct frame *frame = &partition->frames[partition->frame_count - 1];

    assert(partition->frame_open && frame->count > 0);
    assert(frame->base_offset + frame->count == partition->next_offset);
    frame->durable = newest->position;
    frame->position = newest->position + (uint32_t)partition->frame_start;
    frame_end(&partition->staged, partition->frame_start, frame, newest->salt);
    partition->frame_open = false;
}

static void open_frame(struct partition *partition, int64_t base_time_us)
{
    assert(!partition->frame_open);
    if (partition->frame_count == partition->frame_capacity) {
        partition->frame_capacity = partition->frame_capacity * 2 + 8;
        partition->frames =
            mem_resize(partition->frames, partition->frame_capacity * sizeof(*partition->frames));
        partition->newest_times = mem_resize(
            partition->newest_times, partition->frame_capacity * sizeof(*partition->newest_times));
    }
    partition->frames[partition->frame_count] =
        (struct frame){.base_offset = partition->next_offset, .base_time_us = base_time_us};
    partition->newest_times[partition->frame_count] = INT64_MIN;
    partition->frame_count++;
    partition->frame_start = frame_begin(&partition->staged);
    partition->frame_open = true;
}

uint64_t partition_stage(struct partition *partition, const struct topic_record *record)
{
    size_t payload = partition->staged.size - partition->frame_start - FRAME_HEADER_SIZE;
    struct frame *frame;

    object_check(partition, PARTITION_MAGIC);
    assert(!partition->failed);
    if (partition->frame_open && payload + frame_record_size(record) > TOPIC_FRAME_SIZE_MAX)
        end_frame(partition);
    if (!partition->frame_open)
        open_frame(partition, record->timestamp_us);
    frame = &partition->frames[partition->frame_count - 1];
    frame_put_record(&partition->staged, frame->base_time_us, record);
    assert(!buf_failed(&partition->staged)); /* bounded by what a commit may take */
    frame->count++;
    if (record->timestamp_us > partition->newest_times[partition->frame_count - 1])
        partition->newest_times[partition->frame_count - 1] = record->timestamp_us;
    return partition->next_offset++;
}

int partition_commit(struct partition *partition, struct err *err)
{
    struct segment *newest = partition->active;
    struct err cause;
    size_t i;
    int rc;

    object_check(partition, PARTITION_MAGIC);
    assert(!partition->failed && newest == partition->active);
    if (partition->frame_open)
        end_frame(partition);
    rc = segment_append(newest, buf_bytes(&partition->staged), &cause);
    if (rc) {
        fail_partition(partition, &cause);
        rc = err_set(err, ERR_UNAVAILABLE, "partition %s: not stored: %.300s", partition->dir,
                     cause.text);
    } else {
        pthread_mutex_lock(&partition->lock);
        for (i = 0; i < partition->frame_count; i++)
            segment_publish(newest, &partition->frames[i], partition->newest_times[i]);
        assert(newest->end_offset == partition->next_offset);
        pthread_mutex_unlock(&partition->lock);
    }
    partition->frame_count = 0;
    buf_reset(&partition->staged);
    return rc;
}

/* --- retention --- */

/* How many of the oldest segments may go; with the lock held. */
static size_t count_expired(struct partition *partition, const struct retention *retention)
{
    uint64_t size = 0;
    size_t count = 0;
    size_t i;

    for (i = 0; i < partition->segment_count; i++)
        size += partition->segments[i]->position;
    while (count + 1 < partition->segment_count && count < TOPIC_RETAIN_SEGMENT_MAX) {
        const struct segment *oldest = partition->segments[count];
        bool old = oldest->newest_time_us < retention->time_us;
        bool much = retention->size && size - oldest->position >= retention->size;

        if (!old && !much && oldest->end_offset > retention->before)
            break;
        assert(oldest->sealed && size >= oldest->position);
        size -= oldest->position;
        count++;
    }
    return count;
}

int partition_retain(struct partition *partition, const struct retention *retention,
                     struct err *err)
{
    struct segment *expired[TOPIC_RETAIN_SEGMENT_MAX];
    size_t count, i;
    int rc = 0;

    object_check(partition, PARTITION_MAGIC);
    pthread_mutex_lock(&partition->lock);
    count = count_expired(partition, retention);
    memcpy(expired, partition->segments, count * sizeof(*expired));
    partition->segment_count -= count;
    memmove(partition->segments, partition->segments + count,
            partition->segment_count * sizeof(*partition->segments));
    assert(partition->segment_count > 0);
    pthread_mutex_unlock(&partition->lock);
    /* Oldest first, each name gone for good before the next: a crash never leaves a hole. */
    for (i = 0; i < count; i++) {
        if (!rc)
            rc = partition->disk->ops->remove(partition->disk, expired[i]->path, err);
        if (!rc)
            rc = partition->disk->ops->sync_dir(partition->disk, partition->dir, err);
        segment_free(expired[i]);
    }
    return rc;
}

int partition_trim(struct partition *partition, uint64_t before, struct err *err)
{
    const struct retention retention = {.time_us = INT64_MIN, .before = before};

    object_check(partition, PARTITION_MAGIC);
    pthread_mutex_lock(&partition->lock);
    assert(before <= newest_segment(partition)->end_offset);
    if (before > partition->trim_before)
        partition->trim_before = before;
    pthread_mutex_unlock(&partition->lock);
    return partition_retain(partition, &retention, err);
}

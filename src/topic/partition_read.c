/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition_read.c - reading a partition: looks the place up under the lock, then reads the file
 * without it. If retention removes the segment meanwhile, the place is looked up again.
 *
 * Every frame's checksums are verified on every read: readers get exactly what was produced.
 */
#include <assert.h>
#include <inttypes.h>

#include "topic/partition.h"

enum { READ_STEP = 256 << 10, LOOKUP_TRIES = 16 };

/* What of one segment a reader may see; a copy, valid without the lock. */
struct view {
    char path[SEGMENT_PATH_SIZE];
    uint64_t salt;
    uint64_t base_offset;
    uint64_t end_offset;
    uint32_t position; /* where to begin */
    uint32_t limit;    /* end of the durable frames */
};

static const struct segment *find_segment(struct partition *partition, uint64_t offset)
{
    size_t low = 0, high = partition->segment_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (partition->segments[middle]->base_offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return partition->segments[low];
}

static int look_up(struct partition *partition, uint64_t offset, const struct read_hint *hint,
                   struct view *view, struct err *err)
{
    const struct segment *segment;
    uint64_t first, end;
    int rc = 0;

    pthread_mutex_lock(&partition->lock);
    first = partition->segments[0]->base_offset;
    end = partition->segments[partition->segment_count - 1]->end_offset;
    if (offset < first || offset > end) {
        rc = err_set(err, ERR_RANGE, "%s has offsets %" PRIu64 " to %" PRIu64 ", not %" PRIu64,
                     partition->dir, first, end, offset);
    } else {
        segment = find_segment(partition, offset);
        object_check(segment, SEGMENT_MAGIC);
        assert(segment->base_offset <= offset && offset <= segment->end_offset);
        memcpy(view->path, segment->path, sizeof(view->path));
        view->salt = segment->salt;
        view->base_offset = segment->base_offset;
        view->end_offset = segment->end_offset;
        view->limit = segment->position;
        if (hint->offset == offset && hint->segment_base == segment->base_offset && hint->position)
            view->position = hint->position;
        else
            view->position = segment_find(segment, offset);
    }
    pthread_mutex_unlock(&partition->lock);
    return rc;
}

struct reading {
    const struct view *view;
    struct disk_file *file;
    struct read_space *space;
    uint32_t loaded_from; /* the file's bytes from here … */
    size_t loaded_at;     /* … begin here in space … */
    size_t loaded_size;   /* … and are so many */
};

/* Makes size bytes at position available, reading ahead; *data is NULL when there is no room. */
static int load(struct reading *reading, uint32_t position, size_t size, const uint8_t **data,
                struct err *err)
{
    struct read_space *space = reading->space;
    size_t skipped = position - reading->loaded_from;
    size_t have = skipped < reading->loaded_size ? reading->loaded_size - skipped : 0;
    size_t room = space->size - space->used;
    size_t want, got;
    int rc;

    *data = NULL;
    if (have < size) {
        /* appended where the loaded run ends, so what points into the space stays */
        uint64_t from = (uint64_t)reading->loaded_from + reading->loaded_size;

        if (have == 0) { /* a gap: begin a new run */
            reading->loaded_from = position;
            reading->loaded_at = space->used;
            reading->loaded_size = 0;
            from = position;
            skipped = 0;
        }
        want = size - have > READ_STEP ? size - have : READ_STEP;
        if (want > reading->view->limit - from)
            want = reading->view->limit - from;
        if (want > room)
            want = room;
        if (want < size - have)
            return 0;
        rc = reading->file->disk->ops->file_read(reading->file, from, space->data + space->used,
                                                 want, &got, err);
        if (rc)
            return rc;
        if (got < want)
            return segment_damaged(reading->view->path, from + got, "the file ends too early", err);
        space->used += got;
        reading->loaded_size += got;
    }
    assert(space->used <= space->size);
    assert(reading->loaded_at + skipped + size <= space->used);
    *data = space->data + reading->loaded_at + skipped;
    return 0;
}

/* The frame at position: *payload is empty with *whole false when space has no room for it. */
static int load_frame(struct reading *reading, uint32_t position, struct frame *frame,
                      struct bytes *payload, bool *whole, struct err *err)
{
    const struct view *view = reading->view;
    const uint8_t *data;
    int rc;

    *whole = false;
    if (view->limit - position < FRAME_HEADER_SIZE)
        return segment_damaged(view->path, position, "a frame is cut short", err);
    rc = load(reading, position, FRAME_HEADER_SIZE, &data, err);
    if (rc || !data)
        return rc;
    if (!frame_parse(bytes_make(data, FRAME_HEADER_SIZE), view->salt, position, frame) ||
        frame->kind != FRAME_RECORDS || frame->size > view->limit - position - FRAME_HEADER_SIZE)
        return segment_damaged(view->path, position, "a frame's header is wrong", err);
    rc = load(reading, position, FRAME_HEADER_SIZE + (size_t)frame->size, &data, err);
    if (rc || !data)
        return rc;
    *payload = bytes_make(data + FRAME_HEADER_SIZE, frame->size);
    *whole = true;
    return 0;
}

/* The frame's records from offset on. */
static int decode(const struct view *view, const struct frame *frame, struct bytes payload,
                  uint64_t offset, size_t max_count, struct arena *arena,
                  struct topic_message *messages, size_t *count, struct err *err)
{
    uint64_t at;

    if (!frame_check(frame, payload))
        return segment_damaged(view->path, frame->position, "a frame's checksum is wrong", err);
    for (at = frame->base_offset; at < frame->base_offset + frame->count; at++) {
        struct topic_record record;

        if (*count == max_count)
            return 0;
        if (!frame_next(&payload, frame, at < offset ? NULL : arena, &record))
            return segment_damaged(view->path, frame->position, "a record is malformed", err);
        if (at < offset)
            continue;
        messages[(*count)++] = (struct topic_message){.offset = at,
                                                      .key = record.key,
                                                      .value = record.value,
                                                      .timestamp_us = record.timestamp_us,
                                                      .headers = record.headers,
                                                      .header_count = record.header_count};
    }
    return 0;
}

static int read_view(struct reading *reading, uint64_t offset, size_t max_count,
                     struct read_hint *hint, struct arena *arena, struct topic_message *messages,
                     size_t *count, struct err *err)
{
    const struct view *view = reading->view;
    uint32_t position = view->position;
    struct bytes payload;
    struct frame frame;
    bool whole;
    int rc = 0;

    while (!rc && *count < max_count && position < view->limit) {
        rc = load_frame(reading, position, &frame, &payload, &whole, err);
        if (rc || !whole)
            break;
        if (frame.base_offset > offset + *count)
            return segment_damaged(view->path, position, "records are missing before it", err);
        if (frame.base_offset + frame.count > offset)
            rc = decode(view, &frame, payload, offset, max_count, arena, messages, count, err);
        if (!rc && *count && messages[*count - 1].offset + 1 < frame.base_offset + frame.count)
            break; /* stopped within the frame: the hint stays at it */
        position += FRAME_HEADER_SIZE + frame.size;
    }
    assert(*count <= max_count && position <= view->limit);
    *hint = (struct read_hint){offset + *count, view->base_offset, position};
    return rc;
}

int partition_read(struct partition *partition, uint64_t offset, size_t max_count,
                   struct read_hint *hint, struct read_space *space, struct arena *arena,
                   struct topic_message *messages, size_t *count, struct err *err)
{
    struct disk *disk = partition->disk;
    struct view view;
    struct reading reading = {.view = &view, .space = space};
    int tries, rc = 0;

    object_check(partition, PARTITION_MAGIC);
    assert(space->used <= space->size && max_count > 0);
    *count = 0;
    for (tries = 0; tries < LOOKUP_TRIES; tries++) {
        rc = look_up(partition, offset, hint, &view, err);
        if (rc || offset == view.end_offset)
            return rc;
        rc = disk->ops->open(disk, view.path, false, &reading.file, err);
        if (rc != ERR_NOT_FOUND)
            break;
    }
    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_CORRUPT, "%s is missing: restore it from a copy", view.path);
    if (rc)
        return rc;
    reading.loaded_from = view.position;
    rc = read_view(&reading, offset, max_count, hint, arena, messages, count, err);
    disk_file_close(reading.file);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* shard_parts.c - the parts of a shard, who owns a document, and the snapshot made of them. */
#include "index/shard/shard_parts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"

void shard_lock(struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    pthread_mutex_lock(&shard->turn);
    pthread_mutex_lock(&shard->lock);
    pthread_mutex_unlock(&shard->turn);
}

void shard_unlock(struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    pthread_mutex_unlock(&shard->lock);
}

struct part *part_new(struct shard *shard, struct text_buffer *buffer)
{
    struct part *part = mem_zero(sizeof(*part));

    object_begin(part, PART_MAGIC);
    object_check(shard, SHARD_MAGIC);
    part->buffer = buffer;
    part->live = live_writer_new(shard->epoch, true);
    return part;
}

void part_free(void *thing, uint64_t unused)
{
    struct part *part = thing;

    (void)unused;
    if (!part)
        return;
    text_buffer_free(part->buffer);
    text_segment_close(part->segment);
    live_writer_free(part->live);
    object_end(part, PART_MAGIC);
    free(part);
}

uint8_t shard_free_slot(const struct shard *shard)
{
    unsigned slot;

    object_check(shard, SHARD_MAGIC);
    for (slot = OWNER_NONE + 1; slot < OWNER_COUNT; slot++) {
        if (!shard->slots[slot])
            return (uint8_t)slot;
    }
    return OWNER_NONE;
}

struct part *shard_buffer(const struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    assert(shard->part_count > 0 && shard->part_count <= OWNER_COUNT);
    return shard->parts[shard->part_count - 1];
}

bool shard_rotate(struct shard *shard)
{
    uint8_t slot = shard_free_slot(shard);
    struct part *part;

    object_check(shard, SHARD_MAGIC);
    if (shard->part_count && shard_buffer(shard)->buffer && !shard_buffer(shard)->mark)
        return true;
    if (slot == OWNER_NONE)
        return false;
    part = part_new(shard, text_buffer_new());
    assert(!shard->slots[slot] && shard->part_count < OWNER_COUNT);
    part->slot = slot;
    shard->slots[slot] = part;
    shard->parts[shard->part_count++] = part;
    return true;
}

void shard_leave(struct shard *shard, epoch_free_fn *free_thing, void *thing)
{
    object_check(shard, SHARD_MAGIC);
    if (shard->leaving_count == shard->leaving_capacity) {
        shard->leaving_capacity = shard->leaving_capacity ? shard->leaving_capacity * 2 : 16;
        shard->leaving =
            mem_resize(shard->leaving, shard->leaving_capacity * sizeof(shard->leaving[0]));
    }
    assert(free_thing && thing);
    shard->leaving[shard->leaving_count++] = (struct leaving){free_thing, thing};
}

void shard_mask(struct shard *shard, docid id)
{
    struct part *part = shard->slots[owners_get(shard->owners, id)];

    object_check(shard, SHARD_MAGIC);
    if (!part)
        return;
    object_check(part, PART_MAGIC);
    if (part == shard_buffer(shard)) {
        text_buffer_delete(part->buffer, id);
        part->mark++;
        assert(part->mark <= TEXT_BUFFER_DOC_COUNT_MAX);
    } else {
        live_put(part->live, id, false);
        if (part->successor)
            live_put(part->successor->live, id, false);
    }
    owners_set(shard->owners, id, OWNER_NONE);
}

static struct snapshot *snapshot_alloc(const struct shard *shard)
{
    struct snapshot *snapshot;
    struct snapshot_segment *segments;
    uint32_t segment_count = 0;
    uint32_t i;

    for (i = 0; i < shard->part_count; i++)
        segment_count += shard->parts[i]->segment != NULL;
    snapshot = mem_zero(sizeof(*snapshot) + segment_count * sizeof(struct snapshot_segment) +
                        (shard->part_count - segment_count) * sizeof(struct snapshot_buffer));
    object_begin(snapshot, SNAPSHOT_MAGIC);
    segments = (struct snapshot_segment *)(snapshot + 1);
    snapshot->segment_count = segment_count;
    snapshot->buffer_count = shard->part_count - segment_count;
    snapshot->segments = segments;
    snapshot->buffers = (struct snapshot_buffer *)(segments + segment_count);
    return snapshot;
}

static void add_parts(const struct shard *shard, struct snapshot *snapshot)
{
    struct snapshot_segment *segment = (struct snapshot_segment *)snapshot->segments;
    struct snapshot_buffer *buffer = (struct snapshot_buffer *)snapshot->buffers;
    uint32_t i;

    for (i = 0; i < shard->part_count; i++) {
        const struct part *part = shard->parts[i];
        const struct live *live = live_commit(part->live);

        object_check(part, PART_MAGIC);
        assert(!part->segment != !part->buffer && shard->slots[part->slot] == part);
        if (part->segment) {
            *segment++ = (struct snapshot_segment){part->segment, live};
            snapshot->text_doc_count += part->segment->info.doc_count;
        } else {
            *buffer++ = (struct snapshot_buffer){part->buffer, part->mark, live};
            snapshot->text_doc_count += part->mark;
        }
    }
}

static void free_snapshot(void *thing, uint64_t unused)
{
    struct snapshot *snapshot = thing;

    (void)unused;
    object_end(snapshot, SNAPSHOT_MAGIC);
    free(snapshot);
}

/* Whoever has the same documents scores by the same averages. */
static void measure_lengths(const struct shard *shard, const struct snapshot *before,
                            struct snapshot *snapshot)
{
    float averages[SEGMENT_FIELD_COUNT];

    snapshot->text_lengths = shard->text_lengths;
    snapshot->bound_averages = shard->average_lengths;
    if (before &&
        memcmp(&before->text_lengths, &shard->text_lengths, sizeof(shard->text_lengths)) == 0) {
        snapshot->norms = before->norms;
        return;
    }
    text_lengths_averages(&shard->text_lengths, averages);
    text_norms_make(&snapshot->norms, averages);
}

void shard_show(struct shard *shard)
{
    const struct snapshot *before = atomic_load_explicit(&shard->snapshot, memory_order_relaxed);
    struct snapshot *snapshot = snapshot_alloc(shard);
    size_t i;

    object_check(shard, SHARD_MAGIC);
    text_buffer_publish(shard_buffer(shard)->buffer);
    snapshot->sequence = ++shard->sequence;
    snapshot->offset = shard->offset;
    snapshot->change = atomic_load_explicit(&shard->change_number, memory_order_relaxed);
    snapshot->window_count = shard->window_count;
    snapshot->alive = live_commit(shard->alive);
    snapshot->doc_count = (uint32_t)snapshot->alive->count_delta;
    snapshot->schema = shard->schema;
    snapshot->lexicon = shard->lexicon;
    snapshot->columns = shard->columns;
    snapshot->lengths = shard->lengths;
    measure_lengths(shard, before, snapshot);
    snapshot->sets = shard->sets;
    snapshot->set_count = shard->set_count;
    add_parts(shard, snapshot);
    assert(snapshot->alive->count_delta >= 0);
    assert(snapshot->window_count >= (before ? before->window_count : 0));
    assert(!before || (snapshot->change >= before->change && snapshot->offset >= before->offset));
    epoch_publish(shard->epoch, &shard->snapshot, snapshot, free_snapshot);
    live_retire(shard->alive);
    for (i = 0; i < shard->part_count; i++)
        live_retire(shard->parts[i]->live);
    for (i = 0; i < shard->leaving_count; i++)
        epoch_retire(shard->epoch, shard->leaving[i].free_thing, shard->leaving[i].thing, 0);
    shard->leaving_count = 0;
    if (shard->offset >= shard->serve_from)
        atomic_store_explicit(&shard->is_serving, true, memory_order_release);
    condition_broadcast(&shard->published);
}

void shard_show_work(struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    if (!shard->has_batch)
        shard_show(shard);
    else
        condition_broadcast(&shard->published);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_save.c - a checkpoint: everything that is published, in files, while changes go on.
 *
 * x0 is the offset published when it begins, with the caller's note of that moment: the buffer is
 * closed then, and all before becomes files. Attributes, ends, places of stored fields and the dead
 * are taken later, so they may know of newer changes, up to x1. As every change sets values
 * absolutely and a document that lost its text to a newer buffer is put again by the topic,
 * replaying from x0 gives the right state at x1.
 *
 * The order matters: ends before attributes, so that what expired between the two is found at
 * load; places of stored fields before the stored files are flushed, so that no place lies behind
 * their end; the dead last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/columns/columns_checkpoint.h"
#include "index/shard/shard_files.h"
#include "index/shard/shard_work.h"

enum { PUBLISH_WAIT_MS = 1000, PUBLISH_STEP_MS = 50, RETRY_MS = 3000 };

void shard_path(const struct shard *shard, const char *name, uint64_t number,
                char path[SHARD_PATH_SIZE])
{
    object_check(shard, SHARD_MAGIC);
    snprintf(path, SHARD_PATH_SIZE, "%s/%s-%ju", shard->options.dir, name, (uintmax_t)number);
}

static void close_segment(void *thing, uint64_t unused)
{
    (void)unused;
    text_segment_close(thing);
}

/* An image becomes a file, and is read from it from then on. */
static int save_part(struct shard *shard, struct part *part, struct err *err)
{
    struct text_segment *mapped = NULL;
    char path[SHARD_PATH_SIZE];
    int rc;

    if (part->has_file)
        return 0;
    shard_path(shard, "segment", part->segment->info.segment, path);
    rc = text_segment_save(part->segment, path, err);
    if (!rc)
        rc = text_segment_open(path, &mapped, err);
    if (rc)
        return rc;
    shard_lock(shard);
    shard_leave(shard, close_segment, part->segment);
    part->segment = mapped;
    part->has_file = true;
    shard_show_work(shard);
    shard_unlock(shard);
    return 0;
}

/* Everything up to now into segments with files; *parts are those, oldest first. */
static int save_text(struct shard *shard, struct part **parts, uint32_t *count, struct err *err)
{
    const struct part *buffer;
    uint32_t i;
    int rc = 0;

    shard_lock(shard);
    if (!shard_rotate(shard))
        rc = err_set(err, ERR_UNAVAILABLE, "the shard has no number for one more part");
    buffer = shard_buffer(shard);
    shard_unlock(shard);
    while (!rc) {
        bool did = false;

        rc = shard_freeze(shard, buffer, &did, err);
        if (!did)
            break;
    }
    *count = 0;
    shard_lock(shard);
    for (i = 0; shard->parts[i] != buffer; i++)
        parts[(*count)++] = shard->parts[i];
    shard_unlock(shard);
    for (i = 0; i < *count && !rc; i++)
        rc = save_part(shard, parts[i], err);
    return rc;
}

static int save_columns(struct shard *shard, const struct columns *columns,
                        const struct schema *schema, const char *name, uint64_t generation,
                        struct err *err)
{
    const struct columns_progress progress = {0}; /* x0 and x1 are in the shard's manifest */
    struct columns_saved saved;
    char path[SHARD_PATH_SIZE];
    int rc;

    shard_path(shard, name, generation, path);
    (void)dir_remove(path, NULL); /* of a checkpoint that failed */
    rc = dir_create(path, err);
    if (!rc)
        rc = columns_checkpoint(columns, schema, path, &progress, shard->work_slot, &saved, err);
    shard->checkpoint_size += rc ? 0 : saved.size;
    return rc;
}

static int save_stored(struct shard *shard, struct manifest *manifest, struct err *err)
{
    int rc;

    shard_lock(shard);
    rc = stored_flush(shard->stored, err);
    manifest->dictionary_hash = shard->dictionary_hash;
    manifest->stored_count = stored_files(shard->stored, manifest->stored, STORED_FILE_COUNT_MAX);
    shard_unlock(shard);
    if (rc)
        return rc;
    epoch_enter(shard->work_slot); /* a file that is given up stays until it is synced */
    rc = stored_sync(shard->stored, err);
    epoch_exit(shard->work_slot);
    return rc;
}

static int save_lexicon(struct shard *shard, struct manifest *manifest, struct err *err)
{
    int rc;

    shard_lock(shard);
    rc = lexicon_sync_begin(shard->lexicon, &manifest->lexicon_size, err);
    shard_unlock(shard);
    if (rc)
        return rc;
    rc = lexicon_sync_wait(shard->lexicon, err);
    shard_lock(shard);
    lexicon_sync_end(shard->lexicon, manifest->lexicon_size, !rc);
    shard_unlock(shard);
    return rc;
}

static int save_live(struct shard *shard, struct part *const *parts, uint32_t count,
                     struct manifest *manifest, struct err *err)
{
    const struct text_segment *segments[OWNER_COUNT];
    const struct live *lives[OWNER_COUNT];
    char path[SHARD_PATH_SIZE];
    uint32_t i;
    int rc;

    shard_path(shard, "live", manifest->generation, path);
    shard_lock(shard);
    for (i = 0; i < count; i++) {
        segments[i] = parts[i]->segment;
        lives[i] = live_commit(parts[i]->live);
        manifest->segments[i] =
            (struct manifest_segment){segments[i]->info.segment, segments[i]->size};
    }
    manifest->segment_count = count;
    manifest->segment_number = shard->segment_number;
    epoch_enter(shard->work_slot);
    shard_unlock(shard);
    rc = live_file_write(path, lives, segments, count, &manifest->live_size, &manifest->live_hash,
                         err);
    epoch_exit(shard->work_slot);
    return rc;
}

/* Everything that was taken so far belongs to offsets below x1: known when the open batch ends. */
static int find_end(struct shard *shard, uint64_t *x1, struct err *err)
{
    uint64_t published;
    int waited = 0;
    int rc = 0;

    shard_lock(shard);
    published = shard->publish_count;
    while (shard->has_batch && shard->publish_count == published && !rc) {
        if (waited >= PUBLISH_WAIT_MS || shard_pause(shard))
            rc = err_set(err, ERR_TIMEOUT, "a checkpoint waits for the end of a batch: publish it");
        shard_wait_published(shard, PUBLISH_STEP_MS);
        waited += PUBLISH_STEP_MS;
    }
    *x1 = shard->offset > shard->serve_from ? shard->offset : shard->serve_from;
    shard_unlock(shard);
    return rc;
}

/* Files of a checkpoint that failed: on a full disk the next try needs their room. Segments stay,
 * they are in use. */
static void remove_attempt(struct shard *shard, uint64_t generation)
{
    static const char *const names[] = {"state", "columns", "live"};
    char path[SHARD_PATH_SIZE];
    unsigned i;

    for (i = 0; i < ARRAY_COUNT(names); i++) {
        shard_path(shard, names[i], generation, path);
        (void)dir_remove(path, NULL);
    }
}

static int save_all(struct shard *shard, struct manifest *manifest, struct err *err)
{
    struct part *parts[OWNER_COUNT];
    uint64_t generation = manifest->generation;
    uint32_t count;
    int rc;

    shard->checkpoint_size = 0;
    rc = save_text(shard, parts, &count, err);
    if (!rc)
        rc = save_columns(shard, shard->state, shard->state_schema, "state", generation, err);
    if (!rc)
        rc = save_columns(shard, shard->columns, shard->schema, "columns", generation, err);
    if (!rc)
        rc = save_stored(shard, manifest, err);
    if (!rc)
        rc = save_lexicon(shard, manifest, err);
    if (!rc)
        rc = save_live(shard, parts, count, manifest, err);
    if (!rc)
        rc = find_end(shard, &manifest->x1, err);
    if (!rc)
        rc = dir_sync(shard->options.dir, err);
    if (rc)
        remove_attempt(shard, generation);
    else /* if this fails, either manifest may be the one on the disk: both must be whole */
        rc = manifest_write(manifest, shard->options.dir, err);
    return rc;
}

int shard_save(struct shard *shard, struct err *err)
{
    struct manifest *manifest;
    uint64_t change_count;
    int rc;

    object_check(shard, SHARD_MAGIC);
    if (!shard->options.dir)
        return 0;
    manifest = mem_zero(sizeof(*manifest));
    manifest->epoch = shard->options.epoch;
    memcpy(manifest->place, shard->options.place, sizeof(manifest->place));
    memcpy(manifest->average_lengths, shard->average_lengths, sizeof(manifest->average_lengths));
    shard_lock(shard);
    manifest->generation = ++shard->generation;
    manifest->x0 = shard->offset;
    manifest->note = shard->note;
    change_count = shard->change_count;
    shard->checkpoint_tried = change_count;
    shard_unlock(shard);
    rc = save_all(shard, manifest, err);
    if (!rc) {
        manifest_clean(manifest, shard->options.dir, true);
        shard_lock(shard);
        stored_let_go(shard->stored);
        shard->checkpoint_changes = change_count;
        shard_unlock(shard);
    }
    shard->checkpoint_retry_us = 0;
    if (rc && rc != ERR_TIMEOUT && rc != ERR_CANCELLED)
        shard->checkpoint_retry_us = clock_mono_us(shard_clock(shard)) + (int64_t)RETRY_MS * MS_US;
    free(manifest);
    return rc;
}

int shard_checkpoint(struct shard *shard, struct err *err)
{
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    if (!shard->options.dir)
        return 0; /* there is nothing that a shard in memory could keep */
    if (shard->options.is_read_only)
        return err_set(err, ERR_PRECONDITION, "%s was opened to look at", shard->options.dir);
    shard_lock(shard);
    if (shard->has_batch && pthread_equal(shard->applier, pthread_self()))
        rc = err_set(err, ERR_PRECONDITION, "a checkpoint comes between batches: publish first");
    shard_unlock(shard);
    if (rc)
        return rc;
    pthread_mutex_lock(&shard->work);
    rc = shard_save(shard, err);
    pthread_mutex_unlock(&shard->work);
    return rc;
}

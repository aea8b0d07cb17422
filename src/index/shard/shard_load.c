/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_load.c - from a directory to a shard: what the manifest names is opened and checked.
 *
 * Who owns a document, whether it lives and how long its texts are follows from the segments and
 * their dead. Attributes of documents that do not live are taken away: they were removed while the
 * checkpoint was written, or the topic will bring them again.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/columns/columns_checkpoint.h"
#include "index/postings/kernels.h"
#include "index/shard/shard_files.h"

static int make_new(struct shard *shard, struct manifest *manifest, struct err *err)
{
    if (!manifest_dir_is_empty(shard->options.dir))
        return err_set(err, ERR_CORRUPT,
                       "%s/shard is missing, and files that it would name are there: remove the "
                       "directory and rebuild the shard",
                       shard->options.dir);
    manifest->epoch = shard->options.epoch;
    memcpy(manifest->place, shard->options.place, sizeof(manifest->place));
    memcpy(manifest->average_lengths, shard->average_lengths, sizeof(manifest->average_lengths));
    return manifest_write(manifest, shard->options.dir, err);
}

/* T, S and V; G is the note's to tell. What was written before types were told has T 0. */
static bool place_fits(const uint32_t *has, const uint32_t *want)
{
    bool is_old = has[0] == 0 && has[2] == 0 && want[0] != 0;

    return has[1] == want[1] && (is_old || (has[0] == want[0] && has[2] == want[2]));
}

static int check_identity(struct shard *shard, const struct manifest *manifest, struct err *err)
{
    const uint32_t *has = manifest->place, *want = shard->options.place;
    uint32_t i;

    if (manifest->epoch != shard->options.epoch || !place_fits(has, want))
        return err_set(err, ERR_PRECONDITION,
                       "%s is of epoch %ju, numbers %u.%u.%u (type, sharding scheme, rebuild), not "
                       "of epoch %ju, numbers %u.%u.%u",
                       shard->options.dir, (uintmax_t)manifest->epoch, has[0], has[1], has[2],
                       (uintmax_t)shard->options.epoch, want[0], want[1], want[2]);
    for (i = 0; i < SEGMENT_FIELD_COUNT; i++) {
        if (!(manifest->average_lengths[i] > 0))
            return err_set(err, ERR_CORRUPT, "%s/shard is damaged: an average length",
                           shard->options.dir);
    }
    memcpy(shard->average_lengths, manifest->average_lengths, sizeof(shard->average_lengths));
    return 0;
}

static int load_columns(struct shard *shard, struct columns *columns, struct schema *schema,
                        const char *name, struct err *err)
{
    char path[SHARD_PATH_SIZE];
    struct columns_saved saved;
    int rc;

    shard_path(shard, name, shard->generation, path);
    rc = columns_load(columns, schema, path, &saved, err);
    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_CORRUPT, "%s, part of the index, is missing", path);
    shard->checkpoint_size += rc ? 0 : saved.size;
    return rc;
}

static int open_segment(struct shard *shard, const struct manifest_segment *from, struct part **out,
                        struct err *err)
{
    struct part *part = part_new(shard, NULL);
    char path[SHARD_PATH_SIZE];
    int rc;

    *out = part;
    shard_path(shard, "segment", from->number, path);
    rc = text_segment_open(path, &part->segment, err);
    if (rc == ERR_NOT_FOUND)
        return err_set(err, ERR_CORRUPT, "%s, part of the index, is missing", path);
    if (rc)
        return rc;
    if (part->segment->size != from->size || part->segment->info.segment != from->number ||
        part->segment->info.epoch != shard->options.epoch ||
        !place_fits(part->segment->info.place, shard->options.place))
        return err_set(err, ERR_CORRUPT, "%s is not the segment that the manifest names", path);
    if (part->segment->info.term_end > lexicon_sizes(shard->lexicon).term_count)
        return err_set(err, ERR_CORRUPT, "%s has terms that %s/lexicon.log does not have", path,
                       shard->options.dir);
    part->has_file = true;
    return 0;
}

static int load_segments(struct shard *shard, const struct manifest *manifest, struct err *err)
{
    struct live_writer *writers[OWNER_COUNT];
    char path[SHARD_PATH_SIZE];
    uint32_t i;
    int rc = 0;

    for (i = 0; i < manifest->segment_count && !rc; i++) {
        struct part *part;

        rc = open_segment(shard, &manifest->segments[i], &part, err);
        part->slot = shard_free_slot(shard);
        shard->parts[shard->part_count++] = part;
        shard->slots[part->slot] = part;
        writers[i] = part->live;
    }
    if (rc || !manifest->generation)
        return rc;
    shard_path(shard, "live", manifest->generation, path);
    return live_file_read(path, manifest->live_size, manifest->live_hash, writers,
                          manifest->segment_count, err);
}

/* ---- documents ---- */

static int load_window(struct shard *shard, struct part *part, uint32_t window,
                       const struct window_bits *owned, const uint8_t *lengths, struct err *err)
{
    uint16_t list[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    uint32_t count = kernels()->window_list(owned, list);
    uint32_t i;

    for (i = 0; i < count; i++, lengths += SEGMENT_FIELD_COUNT) {
        docid id = window_first(window) + list[i];
        uint32_t packed;

        if (!live_draft_has(part->live, id))
            continue;
        if (owners_get(shard->owners, id) != OWNER_NONE)
            return err_set(err, ERR_CORRUPT, "%s has document %u, which another segment has too",
                           part->segment->name, id);
        owners_set(shard->owners, id, part->slot);
        live_put(shard->alive, id, true);
        packed = (uint32_t)lengths[0] | (uint32_t)lengths[1] << 8 | (uint32_t)lengths[2] << 16 |
                 (uint32_t)lengths[3] << 24;
        doc_lengths_set(shard->lengths, id, packed);
        text_lengths_add(&shard->text_lengths, packed);
    }
    if (window >= shard->window_count)
        shard->window_count = window + 1;
    return 0;
}

static int load_documents(struct shard *shard, struct part *part, struct err *err)
{
    struct window_bits owned;
    const uint8_t *lengths;
    uint32_t window, i;
    bool found = true;
    int rc = 0;

    for (i = 0; !rc && found; i++) {
        rc = text_segment_owned_next(part->segment, i, &window, &owned, &lengths, &found, err);
        if (!rc && found)
            rc = load_window(shard, part, window, &owned, lengths, err);
    }
    text_segment_forget_docs(part->segment);
    return rc;
}

/* Ends, dead records and values of those who do not live. */
static void load_state(struct shard *shard, uint32_t window)
{
    int64_t expires[WINDOW_SIZE], stored[WINDOW_SIZE], births[WINDOW_SIZE];
    struct column_view view;
    uint32_t i;

    column_view(columns_column(shard->state, STATE_EXPIRES), window, &view);
    view_values(&view, expires);
    column_view(columns_column(shard->state, STATE_STORED), window, &view);
    view_values(&view, stored);
    column_view(columns_column(shard->state, STATE_BIRTH), window, &view);
    view_values(&view, births);
    for (i = 0; i < WINDOW_SIZE; i++) {
        docid id = window_first(window) + i;

        if (live_draft_has(shard->alive, id)) {
            if (expires[i] != COLUMN_NULL)
                shard_note_expiry(shard, id, expires[i]);
            if (stored[i] != COLUMN_NULL)
                stored_keep(shard->stored, (uint64_t)stored[i]);
        } else if (expires[i] != COLUMN_NULL || stored[i] != COLUMN_NULL ||
                   births[i] != COLUMN_NULL) {
            columns_reset(shard->columns, id);
            columns_reset(shard->state, id);
        }
    }
}

static int load_dictionary(struct shard *shard, const struct manifest *manifest, struct err *err)
{
    struct buf trained = BUF_INIT(2 * STORED_DICTIONARY_SIZE);
    struct pack_dictionary *dictionary = NULL;
    char path[SHARD_PATH_SIZE];
    int rc;

    if (!manifest->dictionary_hash)
        return 0;
    shard_path(shard, "dictionary", 1, path);
    rc = file_read(path, &trained, err);
    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_CORRUPT, "%s, part of the index, is missing", path);
    if (!rc && hash64(buf_bytes(&trained)) == manifest->dictionary_hash)
        dictionary = pack_dictionary_new(buf_bytes(&trained));
    if (!rc && !dictionary)
        rc = err_set(err, ERR_CORRUPT, "%s is damaged", path);
    if (!rc) {
        stored_set_dictionary(shard->stored, dictionary);
        shard->dictionary_hash = manifest->dictionary_hash;
    }
    buf_release(&trained);
    return rc;
}

static int load_content(struct shard *shard, const struct manifest *manifest, struct err *err)
{
    uint32_t windows, i;
    int rc = 0;

    if (manifest->generation) {
        rc = load_columns(shard, shard->state, shard->state_schema, "state", err);
        rc = rc ? rc : load_columns(shard, shard->columns, shard->schema, "columns", err);
    }
    for (i = 0; !rc && i < schema_count(shard->schema); i++)
        rc = shard_know_field(shard, (uint16_t)i, err);
    rc = rc ? rc : load_segments(shard, manifest, err);
    for (i = 0; !rc && i < shard->part_count; i++)
        rc = load_documents(shard, shard->parts[i], err);
    if (!rc)
        rc = load_dictionary(shard, manifest, err);
    if (!rc)
        rc = stored_open_files(shard->stored, manifest->stored, manifest->stored_count,
                               shard->options.is_read_only, err);
    windows = rc ? 0 : columns_window_count(shard->state);
    for (i = 0; i < windows; i++)
        load_state(shard, i);
    return rc;
}

static int load_manifest(struct shard *shard, struct manifest *manifest, struct err *err)
{
    char path[SHARD_PATH_SIZE];
    int rc = manifest_read(manifest, shard->options.dir, err);

    if (rc == ERR_NOT_FOUND && !shard->options.is_read_only)
        rc = make_new(shard, manifest, err);
    if (!rc && shard->options.is_read_only) {
        shard->options.epoch = manifest->epoch;
        memcpy(shard->options.place, manifest->place, sizeof(manifest->place));
    }
    if (!rc)
        rc = check_identity(shard, manifest, err);
    if (rc)
        return rc;
    if (!shard->options.is_read_only)
        manifest_clean(manifest, shard->options.dir, false);
    shard->generation = manifest->generation;
    shard->segment_number = manifest->segment_number;
    shard->offset = manifest->x0;
    shard->note = manifest->note;
    shard->serve_from = shard->options.is_read_only ? manifest->x0 : manifest->x1;
    snprintf(path, sizeof(path), "%s/lexicon.log", shard->options.dir);
    rc = lexicon_open(path, manifest->lexicon_size, &shard->lexicon, err);
    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_CORRUPT, "%s, part of the index, is missing", path);
    return rc;
}

int shard_load(struct shard *shard, struct err *err)
{
    struct manifest *manifest = mem_zero(sizeof(*manifest));
    char path[SHARD_PATH_SIZE];
    int rc;

    object_check(shard, SHARD_MAGIC);
    if (shard->options.is_read_only) /* nothing is made where no shard is, not even a lock */
        rc = manifest_read(manifest, shard->options.dir, err);
    else
        rc = dir_create(shard->options.dir, err);

    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_NOT_FOUND, "there is no shard in %s", shard->options.dir);
    snprintf(path, sizeof(path), "%s/lock", shard->options.dir);
    if (!rc)
        rc = file_lock(path, &shard->lock_fd, err);
    if (!rc)
        rc = load_manifest(shard, manifest, err);
    if (!rc)
        rc = load_content(shard, manifest, err);
    free(manifest);
    mem_trim(); /* tables have grown, and left their smaller selves behind */
    return rc;
}

int shard_peek(const char *dir, uint64_t *offset, uint64_t *serve_from, struct buf *note,
               struct err *err)
{
    struct manifest *manifest = mem_zero(sizeof(*manifest));
    int rc = manifest_read(manifest, dir, err);

    *offset = manifest->x0;
    *serve_from = manifest->x1;
    buf_put(note, bytes_make(manifest->note.bytes, rc ? 0 : manifest->note.size));
    free(manifest);
    return rc;
}

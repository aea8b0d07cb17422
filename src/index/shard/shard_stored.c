/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_stored.c - the background's part about stored fields: worn files are rewritten, and a
 * dictionary is trained once there are enough records.
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/shard/shard_files.h"
#include "index/shard/shard_work.h"

/* A record of a worn file: if its document still has it, it is put to the end. */
static int move_record(void *context, docid id, uint64_t place, struct err *err)
{
    struct shard *shard = context;
    const uint16_t field = STATE_STORED;
    struct column_change change = {STATE_STORED, COLUMN_NULL};
    uint64_t moved;
    int64_t has;
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    columns_get(shard->state, id, &field, 1, &has);
    if (has != COLUMN_NULL && (uint64_t)has == place) {
        rc = stored_copy(shard->stored, place, id, &moved, err);
        change.value = (int64_t)moved;
        if (!rc)
            rc = columns_set(shard->state, id, &change, 1, err);
    }
    shard_unlock(shard);
    return rc ? rc : shard_pause(shard) ? err_set(err, ERR_CANCELLED, "the shard is closed") : 0;
}

/* Whether a document that waits for its publication has its record in the file: nobody would find
 * that it is needed. */
static bool is_awaited(const struct shard *shard, uint32_t number)
{
    uint32_t i;

    for (i = 0; i < pending_count(shard->pending); i++) {
        const struct pending_doc *doc = pending_at(shard->pending, i);

        if (doc->stored != COLUMN_NULL && (uint64_t)doc->stored / STORED_FILE_SIZE == number)
            return true;
    }
    return false;
}

static int compact(struct shard *shard, bool *did, struct err *err)
{
    struct stored_file worn;
    bool found;
    int rc;

    shard_lock(shard);
    found = stored_worn_file(shard->stored, &worn) && !is_awaited(shard, worn.number);
    shard_unlock(shard);
    if (!found)
        return 0;
    *did = true;
    epoch_enter(shard->work_slot);
    rc = stored_walk(shard->stored, &worn, move_record, shard, err);
    epoch_exit(shard->work_slot);
    if (rc)
        return rc;
    shard_lock(shard);
    stored_give_up(shard->stored, worn.number);
    shard_unlock(shard);
    return 0;
}

/* ---- the dictionary ---- */

enum { SAMPLE_COUNT_MAX = 8192, SAMPLE_COUNT_MIN = 500 };

struct samples {
    const struct shard *shard;
    struct buf bytes;
    size_t sizes[SAMPLE_COUNT_MAX];
    unsigned count;
};

/* ERR_RANGE ends the walk: there are enough. */
static int take_sample(void *context, docid id, uint64_t place, struct err *err)
{
    struct samples *samples = context;
    size_t before = samples->bytes.size;
    int rc = stored_read(samples->shard->stored, place, id, &samples->bytes, err);

    if (rc)
        return rc;
    if (buf_failed(&samples->bytes) || samples->count == SAMPLE_COUNT_MAX)
        return ERR_RANGE;
    samples->sizes[samples->count++] = samples->bytes.size - before;
    return 0;
}

static bool wants_dictionary(struct shard *shard, struct stored_file *file)
{
    bool wanted;

    shard_lock(shard);
    wanted = !shard->has_tried_dictionary && !stored_has_dictionary(shard->stored) &&
             stored_files(shard->stored, file, 1) == 1 && file->size >= STORED_SAMPLE_SIZE / 2 &&
             file->record_count >= SAMPLE_COUNT_MIN;
    shard->has_tried_dictionary = shard->has_tried_dictionary || wanted;
    shard_unlock(shard);
    return wanted;
}

/* Durable before a record can need it. */
static int use_dictionary(struct shard *shard, struct bytes trained, struct err *err)
{
    struct pack_dictionary *dictionary = pack_dictionary_new(trained);
    char path[SHARD_PATH_SIZE];
    int rc = 0;

    if (!dictionary)
        return 0;
    if (shard->options.dir) {
        shard_path(shard, "dictionary", 1, path);
        rc = file_write(path, trained, err);
    }
    if (rc) {
        pack_dictionary_free(dictionary);
        return rc;
    }
    shard_lock(shard);
    stored_set_dictionary(shard->stored, dictionary);
    shard->dictionary_hash = hash64(trained);
    shard_unlock(shard);
    return 0;
}

static int train(struct shard *shard, bool *did, struct err *err)
{
    struct buf trained = BUF_INIT(2 * STORED_DICTIONARY_SIZE);
    struct stored_file file;
    struct samples *samples;
    int rc;

    if (!wants_dictionary(shard, &file))
        return 0;
    *did = true;
    samples = mem_zero(sizeof(*samples));
    samples->shard = shard;
    buf_init(&samples->bytes, STORED_SAMPLE_SIZE);
    epoch_enter(shard->work_slot);
    rc = stored_walk(shard->stored, &file, take_sample, samples, err);
    epoch_exit(shard->work_slot);
    if ((!rc || rc == ERR_RANGE) && samples->count >= SAMPLE_COUNT_MIN) {
        rc = 0;
        if (pack_train(buf_bytes(&samples->bytes), samples->sizes, samples->count,
                       STORED_DICTIONARY_SIZE, &trained))
            rc = use_dictionary(shard, buf_bytes(&trained), err);
    }
    buf_release(&samples->bytes);
    free(samples);
    buf_release(&trained);
    return rc == ERR_RANGE ? 0 : rc;
}

int shard_tend_stored(struct shard *shard, bool *did, struct err *err)
{
    int rc = train(shard, did, err);

    object_check(shard, SHARD_MAGIC);
    return rc || *did ? rc : compact(shard, did, err);
}

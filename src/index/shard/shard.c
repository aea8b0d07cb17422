/* SPDX-License-Identifier: Apache-2.0 */
/* shard.c - see shard.h: making and ending a shard, its readers. */
#include "index/shard/shard.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/varint.h"
#include "index/shard/shard_files.h"
#include "index/shard/shard_parts.h"
#include "index/shard/shard_work.h"

enum { SHARD_READER_MAGIC = OBJECT_MAGIC('s', 'h', 'r', 'd') };

struct shard_reader {
    uint32_t magic;
    struct shard *shard;     /* borrowed */
    struct epoch_slot *slot; /* owned */
    uint64_t entered_at;     /* number of the last change of columns before it came in */
    uint64_t pass;           /* of shard_hold */
};

/* Words of a title, a description and what else offers have: for bounds, not for scores. */
static const float usual_lengths[SEGMENT_FIELD_COUNT] = {6, 50, 10, 10};
_Static_assert((int)SEGMENT_FIELD_COUNT == (int)TEXT_NORM_FIELD_COUNT, "slots of text");

/* Those of a shard that was loaded are there already. */
static int add_state_fields(struct shard *shard, struct err *err)
{
    const struct field expires = {.type = FIELD_DATE, .name = "expires"};
    const struct field stored = {.type = FIELD_INTEGER, .name = "stored"};
    const struct field birth = {.type = FIELD_INTEGER, .name = "birth"}; /* younger than those */
    uint16_t birth_id = 0;
    uint16_t expires_id = 0;
    uint16_t stored_id = 0;
    int rc = schema_add(shard->state_schema, &expires, &expires_id, err);

    if (!rc)
        rc = schema_add(shard->state_schema, &stored, &stored_id, err);
    if (!rc)
        rc = schema_add(shard->state_schema, &birth, &birth_id, err);
    if (!rc &&
        (expires_id != STATE_EXPIRES || stored_id != STATE_STORED || birth_id != STATE_BIRTH))
        rc =
            err_set(err, ERR_CORRUPT, "the state of %s is not of this version", shard->options.dir);
    return rc;
}

static void init_locks(struct shard *shard)
{

    pthread_mutex_init(&shard->turn, NULL);
    pthread_mutex_init(&shard->lock, NULL);
    pthread_mutex_init(&shard->work, NULL);
    condition_init(&shard->published, shard->options.clock);
    condition_init(&shard->wanted, shard->options.clock);
}

static struct shard *shard_new(const struct shard_options *options)
{
    struct shard *shard = mem_zero(sizeof(*shard));
    unsigned field;

    object_begin(shard, SHARD_MAGIC);
    shard->options = *options;
    shard->options.clock = clock_or_system(options->clock);
    shard->options.dir = options->dir ? mem_strdup(options->dir) : NULL;
    shard->lock_fd = -1;
    shard->epoch = epoch_new();
    shard->schema = schema_new();
    shard->columns = columns_new(shard->schema, shard->epoch);
    shard->state_schema = schema_new();
    shard->state = columns_new(shard->state_schema, shard->epoch);
    shard->lengths = doc_lengths_new();
    shard->stored = stored_new(options->dir, shard->epoch);
    shard->recent = recent_new();
    shard->pending = pending_new();
    shard->owners = owners_new();
    shard->alive = live_writer_new(shard->epoch, false);
    shard->words = doc_words_new();
    shard->changes = mem_map(SCHEMA_FIELD_COUNT_MAX * sizeof(shard->changes[0]));
    buf_init(&shard->record, 2 * (size_t)STORED_RECORD_SIZE_MAX);
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++)
        shard->average_lengths[field] = options->average_lengths[field] > 0
                                            ? options->average_lengths[field]
                                            : usual_lengths[field];
    init_locks(shard);
    gate_init(&shard->gate, shard->options.clock);
    return shard;
}

int shard_open(const struct shard_options *options, struct shard **out, struct err *err)
{
    struct shard *shard = shard_new(options);
    int rc;

    *out = NULL;
    rc = options->dir ? shard_load(shard, err) : lexicon_open(NULL, 0, &shard->lexicon, err);
    if (!rc)
        rc = add_state_fields(shard, err);
    if (!rc)
        rc = epoch_join(shard->epoch, &shard->work_slot, err);
    if (!rc) {
        text_norms_make(&shard->bound_norms, shard->average_lengths);
        shard_rotate(shard);
        shard_show(shard);
        rc = shard_background_start(shard, err);
    }
    if (rc)
        shard_close(shard);
    else
        *out = shard;
    return rc;
}

void shard_close(struct shard *shard)
{
    uint32_t i;

    if (!shard)
        return;
    object_check(shard, SHARD_MAGIC);
    shard_background_stop(shard);
    epoch_leave(shard->work_slot);
    epoch_reclaim(shard->epoch);
    assert(!task_is_started(&shard->task));
    for (i = 0; i < shard->set_count; i++)
        attribute_set_free(shard->sets[i]);
    for (i = 0; i < shard->part_count; i++)
        part_free(shard->parts[i], 0);
    for (i = 0; i < shard->leaving_count; i++)
        shard->leaving[i].free_thing(shard->leaving[i].thing, 0);
    free(atomic_load(&shard->snapshot));
    live_writer_free(shard->alive);
    columns_free(shard->columns);
    columns_free(shard->state);
    stored_free(shard->stored);
    epoch_free(shard->epoch);
    schema_free(shard->schema);
    schema_free(shard->state_schema);
    lexicon_close(shard->lexicon);
    doc_lengths_free(shard->lengths);
    recent_free(shard->recent);
    pending_free(shard->pending);
    gate_release(&shard->gate);
    owners_free(shard->owners);
    doc_words_free(shard->words);
    mem_unmap(shard->changes, SCHEMA_FIELD_COUNT_MAX * sizeof(shard->changes[0]));
    buf_release(&shard->record);
    file_unlock(shard->lock_fd);
    free((char *)shard->options.dir);
    free(shard->leaving);
    free(shard->next_expiry);
    condition_release(&shard->published);
    condition_release(&shard->wanted);
    pthread_mutex_destroy(&shard->work);
    pthread_mutex_destroy(&shard->lock);
    pthread_mutex_destroy(&shard->turn);
    object_end(shard, SHARD_MAGIC);
    free(shard);
}

const struct clock *shard_clock(const struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    return shard->options.clock;
}

uint64_t shard_offset(const struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    return shard->offset;
}

uint64_t shard_serve_from(const struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    return shard->serve_from;
}

const struct schema *shard_schema(const struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    return shard->schema;
}

unsigned shard_analysis_version(const struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    return lexicon_analysis_version(shard->lexicon);
}

/* ---- readers ---- */

int shard_reader_new(struct shard *shard, struct shard_reader **out, struct err *err)
{
    struct shard_reader *reader = mem_zero(sizeof(*reader));
    int rc;

    object_begin(reader, SHARD_READER_MAGIC);
    object_check(shard, SHARD_MAGIC);
    *out = NULL;
    reader->shard = shard;
    rc = epoch_join(shard->epoch, &reader->slot, err);
    if (rc) {
        object_end(reader, SHARD_READER_MAGIC);
        free(reader);
    } else {
        *out = reader;
    }
    return rc;
}

void shard_reader_free(struct shard_reader *reader)
{
    if (!reader)
        return;
    object_check(reader, SHARD_READER_MAGIC);
    epoch_leave(reader->slot);
    object_end(reader, SHARD_READER_MAGIC);
    free(reader);
}

int shard_enter(struct shard_reader *reader, const struct snapshot **snapshot, struct err *err)
{
    struct shard *shard = reader->shard;

    object_check(reader, SHARD_READER_MAGIC);
    object_check(shard, SHARD_MAGIC);
    *snapshot = NULL;
    if (!atomic_load_explicit(&shard->is_serving, memory_order_acquire))
        return err_set(err, ERR_UNAVAILABLE,
                       "the shard is not served before offset %ju of its topic is applied",
                       (uintmax_t)shard->serve_from);
    epoch_enter(reader->slot);
    /* In this order: a change in place that follows a publication which the snapshot does not have
     * is then newer than entered_at, and cannot hide it. */
    reader->entered_at = atomic_load_explicit(&shard->change_number, memory_order_acquire);
    *snapshot = atomic_load_explicit(&shard->snapshot, memory_order_acquire);
    object_check(*snapshot, SNAPSHOT_MAGIC);
    return 0;
}

void shard_exit(struct shard_reader *reader)
{
    object_check(reader, SHARD_READER_MAGIC);
    epoch_exit(reader->slot);
}

bool shard_changed_since(const struct shard *shard, const struct snapshot *snapshot, docid id)
{
    object_check(shard, SHARD_MAGIC);
    object_check(snapshot, SNAPSHOT_MAGIC);
    return recent_find(shard->recent, id).changed > snapshot->change;
}

enum shard_move shard_moved(const struct shard_reader *reader, const struct snapshot *snapshot,
                            docid id)
{
    struct recent_change last;

    code_fence(); /* what was read of the document was read before */
    object_check(reader, SHARD_READER_MAGIC);
    object_check(snapshot, SNAPSHOT_MAGIC);
    last = recent_find(reader->shard->recent, id);
    if (last.replaced > snapshot->change)
        return MOVE_REPLACED;
    return last.changed > reader->entered_at ? MOVE_CHANGED : MOVE_NONE;
}

/* In this order: a message that was being applied when `begun` was read is found by its
 * message_change, or it has ended, and `applied` tells of it. One that is tried again and again,
 * and has changed nothing, is not told: who was told of it would wait for it. */
struct shard_seen shard_seen(const struct shard_reader *reader, const struct snapshot *snapshot)
{
    const struct shard *shard = reader->shard;
    struct shard_seen seen = {snapshot->offset, snapshot->offset};
    uint64_t begun, before, applying, applied, showing;

    code_fence(); /* what was read was read before */
    object_check(reader, SHARD_READER_MAGIC);
    object_check(snapshot, SNAPSHOT_MAGIC);
    begun = atomic_load_explicit(&shard->change_begun, memory_order_acquire);
    if (begun <= snapshot->change)
        return seen;
    before = atomic_load_explicit(&shard->message_change, memory_order_acquire);
    applying = atomic_load_explicit(&shard->applying, memory_order_acquire);
    applied = atomic_load_explicit(&shard->applied, memory_order_acquire);
    showing = atomic_load_explicit(&shard->showing, memory_order_acquire);
    if (begun > before && applying > applied)
        applied = applying;
    if (showing > seen.shown)
        seen.shown = showing;
    seen.applied = applied > seen.shown ? applied : seen.shown;
    return seen;
}

bool shard_has_seen(struct shard *shard, struct shard_seen seen)
{
    uint64_t applied;
    uint64_t shown;

    object_check(shard, SHARD_MAGIC);
    applied = atomic_load_explicit(&shard->applied, memory_order_acquire);
    pthread_mutex_lock(&shard->lock);
    shown = ((const struct snapshot *)atomic_load_explicit(&shard->snapshot, memory_order_relaxed))
                ->offset;
    pthread_mutex_unlock(&shard->lock);
    return shown >= seen.shown && (shown >= seen.applied || applied >= seen.applied);
}

bool shard_hold(struct shard_reader *reader, int64_t deadline_us)
{
    int64_t until_us =
        clock_after_us(shard_clock(reader->shard), (int64_t)SHARD_HOLD_WAIT_MS_MAX * MS_US);

    object_check(reader, SHARD_READER_MAGIC);
    if (deadline_us && deadline_us < until_us)
        until_us = deadline_us;
    return gate_enter(&reader->shard->gate, until_us, &reader->pass);
}

void shard_let_go(struct shard_reader *reader)
{
    object_check(reader, SHARD_READER_MAGIC);
    gate_leave(&reader->shard->gate, reader->pass);
}

int shard_wait(struct shard *shard, uint64_t offset, int64_t deadline_us, struct err *err)
{
    bool in_time = true;
    bool is_there;

    object_check(shard, SHARD_MAGIC);
    pthread_mutex_lock(&shard->lock);
    for (;;) {
        const struct snapshot *snapshot =
            atomic_load_explicit(&shard->snapshot, memory_order_relaxed);

        is_there = snapshot->offset >= offset;
        if (is_there || !in_time)
            break;
        in_time = condition_wait_until(&shard->published, &shard->lock, deadline_us);
    }
    pthread_mutex_unlock(&shard->lock);
    if (is_there)
        return 0;
    return err_set(err, ERR_TIMEOUT, "offset %ju is not searchable yet", (uintmax_t)offset);
}

static bool take_stored(struct bytes *in, struct stored_value *value)
{
    uint64_t field;
    uint64_t size;

    if (!varint_get(in, &field) || field >= SCHEMA_FIELD_COUNT_MAX || !varint_get(in, &size) ||
        size > in->size)
        return false;
    *value = (struct stored_value){(uint16_t)field, bytes_make(in->data, size)};
    *in = bytes_skip(*in, size);
    return true;
}

static int read_record(const struct shard *shard, docid id, int64_t place, struct buf *buf,
                       struct stored_value *values, uint32_t max, uint32_t *count, struct err *err)
{
    struct bytes in;
    int rc;

    *count = 0;
    buf_reset(buf);
    if (place == COLUMN_NULL)
        return 0;
    rc = stored_read(shard->stored, (uint64_t)place, id, buf, err);
    if (rc)
        return rc;
    if (buf_failed(buf))
        return err_set(err, ERR_LIMIT, "the stored fields of document %u do not fit %zu bytes", id,
                       buf->limit);
    for (in = buf_bytes(buf); in.size && *count < max; (*count)++) {
        if (!take_stored(&in, &values[*count]))
            return err_set(err, ERR_CORRUPT, "the stored fields of document %u are damaged", id);
    }
    return 0;
}

int shard_stored(const struct snapshot *snapshot, const struct shard *shard, docid id,
                 struct buf *buf, struct stored_value *values, uint32_t max, uint32_t *count,
                 struct err *err)
{
    const uint16_t field = STATE_STORED;
    int64_t place;

    object_check(shard, SHARD_MAGIC);
    (void)snapshot; /* stored fields are the newest, as attributes are */
    columns_get(shard->state, id, &field, 1, &place);
    return read_record(shard, id, place, buf, values, max, count, err);
}

int shard_last_stored(const struct shard *shard, docid id, struct buf *buf,
                      struct stored_value *values, uint32_t max, uint32_t *count, struct err *err)
{
    const struct pending_doc *doc = pending_find(shard->pending, id);

    object_check(shard, SHARD_MAGIC);
    return doc ? read_record(shard, id, doc->stored, buf, values, max, count, err)
               : shard_stored(NULL, shard, id, buf, values, max, count, err);
}

uint32_t shard_birth(const struct shard *shard, docid id)
{
    const uint16_t field = STATE_BIRTH;
    int64_t value;

    object_check(shard, SHARD_MAGIC);
    columns_get(shard->state, id, &field, 1, &value);
    return value == COLUMN_NULL ? 0 : (uint32_t)value;
}

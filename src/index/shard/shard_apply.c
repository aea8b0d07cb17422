/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_apply.c - see shard.h: how a document comes, changes and goes.
 *
 * A document is checked, its words looked up, its keywords numbered, its texts stored: until then
 * nothing of it can be seen, and whatever fails leaves only unused words behind. Texts are stored
 * last, as a record that no document has would not be counted as dead. Its text goes to the buffer,
 * where the next publication shows it.
 *
 * What else it has is put into the columns at once if no reader can see the document yet. If one
 * can, it waits (pending.h) for that publication, which settles it: notes the id as changed,
 * changes the columns, together, and stores the new snapshot right after. So columns are ahead of
 * the text for the microseconds of settling, and readers that meet that are told (recent.h).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/shard/shard_draft.h"

/* ---- applying ---- */

static void note_batch(struct shard *shard)
{
    shard->applier = pthread_self();
    shard->has_batch = true;
    shard->change_count++;
}

/* Columns change between the two: who reads in the meantime finds the note, and who has seen the
 * number finds the columns. */
static void begin_change(struct shard *shard, docid id, bool is_replaced)
{
    uint64_t number = atomic_load_explicit(&shard->change_number, memory_order_relaxed) + 1;

    recent_note(shard->recent, id, number, is_replaced);
    atomic_store_explicit(&shard->change_begun, number, memory_order_release);
}

static void end_change(struct shard *shard)
{
    atomic_store_explicit(&shard->change_number,
                          atomic_load_explicit(&shard->change_number, memory_order_relaxed) + 1,
                          memory_order_release);
}

static void set_state(struct shard *shard, docid id, const struct column_change *changes,
                      uint32_t count)
{
    int rc = columns_set(shard->state, id, changes, count, NULL);

    assert(!rc);
    (void)rc;
    for (uint32_t i = 0; i < count; i++)
        if (changes[i].field == STATE_BIRTH) /* what is older is not its owner's */
            columns_settle_lent(shard->columns, id, changes[i].value);
}

/* The record that the document has is about to be replaced. */
static void drop_record(struct shard *shard, docid id)
{
    const uint16_t field = STATE_STORED;
    int64_t place;

    columns_get(shard->state, id, &field, 1, &place);
    if (place != COLUMN_NULL)
        stored_drop(shard->stored, (uint64_t)place);
}

void shard_note_expiry(struct shard *shard, docid id, int64_t expires_at)
{
    uint32_t window = window_of(id);
    uint32_t count = shard->next_expiry_count;

    object_check(shard, SHARD_MAGIC);
    if (!expires_at)
        return;
    if (window >= count) {
        shard->next_expiry_count = window + window / 2 + 64;
        shard->next_expiry = mem_resize(shard->next_expiry,
                                        shard->next_expiry_count * sizeof(shard->next_expiry[0]));
        memset(shard->next_expiry + count, 0,
               (shard->next_expiry_count - count) * sizeof(shard->next_expiry[0]));
    }
    if (!shard->next_expiry[window] || expires_at < shard->next_expiry[window])
        shard->next_expiry[window] = expires_at;
}

/* ---- what waits for the publication ---- */

/* Readers that come now, or hold the gate, see the document, or the one that had its id. */
static bool is_shown(const struct shard *shard, docid id)
{
    const struct snapshot *snapshot = atomic_load_explicit(&shard->snapshot, memory_order_relaxed);

    return live_has(snapshot->alive, id) || pending_find(shard->pending, id);
}

static void drop_changes_of(struct shard *shard, const struct pending_doc *doc)
{
    for (uint32_t i = 0; i < doc->change_count; i++)
        draft_drop_change(shard, &doc->changes[i]);
}

/* The entry of a document, which is to be something else than it was to be before. */
static struct pending_doc *pending_anew(struct shard *shard, docid id)
{
    struct pending_doc *doc = pending_find(shard->pending, id);
    struct pending_doc empty;

    if (!doc)
        return pending_add(shard->pending, id);
    drop_changes_of(shard, doc);
    if (doc->stored != COLUMN_NULL)
        stored_drop(shard->stored, (uint64_t)doc->stored);
    empty = (struct pending_doc){.id = id,
                                 .expires_at = COLUMN_NULL,
                                 .stored = COLUMN_NULL,
                                 .birth = COLUMN_NULL,
                                 .slot = doc->slot};
    *doc = empty;
    return doc;
}

static void keep_changes(struct shard *shard, struct pending_doc *doc, const struct draft *draft)
{
    struct column_change *changes = pending_room(shard->pending, draft->change_count);

    if (draft->change_count)
        memcpy(changes, draft->changes, draft->change_count * sizeof(*changes));
    doc->changes = changes;
    doc->change_count = draft->change_count;
}

/* Those of the draft in the place of those it was to have. */
static void join_changes(struct shard *shard, struct pending_doc *doc, const struct draft *draft)
{
    struct column_change *changes =
        pending_room(shard->pending, doc->change_count + draft->change_count);
    uint32_t count = doc->change_count;
    uint32_t i, k;

    if (count)
        memcpy(changes, doc->changes, count * sizeof(*changes));
    for (i = 0; i < draft->change_count; i++) {
        for (k = 0; k < doc->change_count && changes[k].field != draft->changes[i].field; k++)
            ;
        if (k < doc->change_count)
            draft_drop_change(shard, &changes[k]);
        else
            k = count++;
        changes[k] = draft->changes[i];
    }
    assert(count <= doc->change_count + draft->change_count);
    doc->changes = changes;
    doc->change_count = count;
}

/* was_there: it is in the sums with what it had. */
static void set_lengths(struct shard *shard, docid id, bool was_there, uint32_t lengths)
{
    if (was_there)
        text_lengths_take(&shard->text_lengths,
                          doc_lengths_get(shard->lengths, DOC_LENGTH_ALL, id));
    doc_lengths_set(shard->lengths, id, lengths);
    text_lengths_add(&shard->text_lengths, lengths);
}

/* A reader of before may still score it, so that its lengths stay. */
static void forget_lengths(struct shard *shard, docid id)
{
    text_lengths_take(&shard->text_lengths, doc_lengths_get(shard->lengths, DOC_LENGTH_ALL, id));
}

static void settle_put(struct shard *shard, const struct pending_doc *doc)
{
    const struct column_change state[STATE_FIELD_COUNT] = {
        {STATE_EXPIRES, doc->expires_at},
        {STATE_STORED, doc->stored},
        {STATE_BIRTH, doc->birth},
    };
    struct draft draft = draft_begin(shard);
    int rc;

    assert(doc->change_count <= SCHEMA_FIELD_COUNT_MAX);
    draft.change_count = doc->change_count;
    if (doc->change_count)
        memcpy(draft.changes, doc->changes, doc->change_count * sizeof(draft.changes[0]));
    draft_add_nulls(shard, doc->id, &draft);
    rc = columns_set(shard->columns, doc->id, draft.changes, draft.change_count, NULL);
    assert(!rc); /* values were checked when the document came */
    (void)rc;
    drop_record(shard, doc->id);
    set_state(shard, doc->id, state, STATE_FIELD_COUNT);
    set_lengths(shard, doc->id, true, doc->lengths); /* what is pending was shown */
}

static void remove_values(struct shard *shard, docid id)
{
    columns_reset(shard->columns, id);
    drop_record(shard, id);
    columns_reset(shard->state, id);
}

void shard_settle(struct shard *shard)
{
    uint32_t i;

    object_check(shard, SHARD_MAGIC);
    for (i = 0; i < pending_count(shard->pending); i++) {
        const struct pending_doc *doc = pending_at(shard->pending, i);

        begin_change(shard, doc->id, true);
        if (doc->is_removed) {
            forget_lengths(shard, doc->id);
            remove_values(shard, doc->id);
        } else {
            settle_put(shard, doc);
        }
        end_change(shard);
    }
    pending_clear(shard->pending);
    assert(pending_count(shard->pending) == 0);
}

/* ---- putting ---- */

static uint32_t pack_lengths(const uint8_t lengths[SEGMENT_FIELD_COUNT])
{
    return (uint32_t)lengths[0] | (uint32_t)lengths[1] << 8 | (uint32_t)lengths[2] << 16 |
           (uint32_t)lengths[3] << 24;
}

static void put_text(struct shard *shard, docid id, const struct doc_postings *postings)
{
    struct part *buffer = shard_buffer(shard);

    if (shard->slots[owners_get(shard->owners, id)] != buffer)
        shard_mask(shard, id);
    assert(!text_buffer_full(buffer->buffer)); /* shard_make_room saw to it */
    text_buffer_add(buffer->buffer, id, postings->lengths, postings->postings, postings->count);
    buffer->mark++;
    owners_set(shard->owners, id, buffer->slot);
    live_put(shard->alive, id, true);
    if (window_of(id) >= shard->window_count)
        shard->window_count = window_of(id) + 1;
    assert(live_draft_has(shard->alive, id));
}

/* An id that is free has no values, except while a checkpoint is replayed. */
static int put_now(struct shard *shard, docid id, const struct column_change *state,
                   struct draft *draft, uint32_t lengths, struct err *err)
{
    int rc;

    if (live_draft_has(shard->alive, id) || shard->offset < shard->serve_from)
        draft_add_nulls(shard, id, draft);
    begin_change(shard, id, true);
    rc = columns_set(shard->columns, id, draft->changes, draft->change_count, err);
    if (!rc) {
        drop_record(shard, id);
        set_state(shard, id, state, STATE_FIELD_COUNT);
        set_lengths(shard, id, live_draft_has(shard->alive, id), lengths);
    }
    end_change(shard);
    if (rc)
        draft_drop_changes(shard, draft);
    return rc;
}

static void put_later(struct shard *shard, docid id, const struct column_change *state,
                      const struct draft *draft, uint32_t lengths)
{
    struct pending_doc *doc = pending_anew(shard, id);

    keep_changes(shard, doc, draft);
    doc->expires_at = state[STATE_EXPIRES].value;
    doc->stored = state[STATE_STORED].value;
    doc->birth = state[STATE_BIRTH].value;
    doc->lengths = lengths;
}

/* Removals need no room: there are no more of them than documents. */
static int check_pending(const struct shard *shard, docid id, struct err *err)
{
    if (pending_taken(shard->pending) < SHARD_PENDING_COUNT_MAX || !is_shown(shard, id))
        return 0;
    return err_set(err, ERR_LIMIT,
                   "document %u would be one more than SHARD_PENDING_COUNT_MAX = %d that are "
                   "replaced at once: publish",
                   id, SHARD_PENDING_COUNT_MAX);
}

static int put_locked(struct shard *shard, const struct shard_document *document, struct err *err)
{
    struct draft draft = draft_begin(shard);
    struct column_change state[STATE_FIELD_COUNT] = {
        {STATE_EXPIRES, document->expires_at ? document->expires_at : COLUMN_NULL},
        {STATE_STORED, COLUMN_NULL},
        {STATE_BIRTH, document->birth ? (int64_t)document->birth : COLUMN_NULL},
    };
    struct doc_postings postings;
    int rc = check_pending(shard, document->id, err);

    if (rc)
        return rc;
    rc = draft_gather_texts(shard, document->values, document->count, &draft, err);
    if (!rc)
        rc = draft_find_words(shard, &draft, &postings, err);
    if (!rc)
        rc = draft_make_changes(shard, document->values, document->count, &draft, err);
    if (!rc)
        rc = draft_store_texts(shard, document->id, &draft, &state[STATE_STORED].value, err);
    if (rc) {
        draft_drop_changes(shard, &draft);
        return rc;
    }
    note_batch(shard);
    if (is_shown(shard, document->id))
        put_later(shard, document->id, state, &draft, pack_lengths(postings.lengths));
    else
        rc = put_now(shard, document->id, state, &draft, pack_lengths(postings.lengths), err);
    if (rc)
        return rc;
    shard_note_expiry(shard, document->id, document->expires_at);
    put_text(shard, document->id, &postings);
    return 0;
}

static int check_id(docid id, int64_t expires_at, struct err *err)
{
    if (id == DOCID_END)
        return err_set(err, ERR_INVALID, "%u is not a document id: it marks the end of a list", id);
    if (expires_at < 0 || expires_at == COLUMN_NULL)
        return err_set(err, ERR_INVALID, "document %u ends at %jd: seconds since 1970, or 0", id,
                       (intmax_t)expires_at);
    return 0;
}

int shard_put(struct shard *shard, const struct shard_document *document, struct err *err)
{
    int rc = check_id(document->id, document->expires_at, err);

    object_check(shard, SHARD_MAGIC);
    if (!rc)
        rc = draft_check(shard, document->values, document->count, true, err);
    if (!rc)
        rc = shard_make_room(shard, err);
    if (rc)
        return rc;
    shard_lock(shard);
    rc = put_locked(shard, document, err);
    shard_unlock(shard);
    return rc;
}

static int change_now(struct shard *shard, docid id, struct draft *draft, int64_t place,
                      struct err *err)
{
    const struct column_change stored = {STATE_STORED, place};
    int rc;

    begin_change(shard, id, false);
    rc = columns_set(shard->columns, id, draft->changes, draft->change_count, err);
    if (!rc && draft->text_count) {
        drop_record(shard, id);
        set_state(shard, id, &stored, 1);
    }
    end_change(shard);
    if (rc)
        draft_drop_changes(shard, draft);
    return rc;
}

static void change_later(struct shard *shard, struct pending_doc *doc, const struct draft *draft,
                         bool is_whole, int64_t place)
{
    if (is_whole) { /* what it lacks is taken away when it is settled */
        drop_changes_of(shard, doc);
        keep_changes(shard, doc, draft);
    } else {
        join_changes(shard, doc, draft);
    }
    if (!draft->text_count)
        return;
    if (doc->stored != COLUMN_NULL)
        stored_drop(shard->stored, (uint64_t)doc->stored);
    doc->stored = place;
}

static int change_locked(struct shard *shard, docid id, const struct shard_value *values,
                         uint32_t count, bool is_whole, struct err *err)
{
    struct draft draft = draft_begin(shard);
    struct pending_doc *doc;
    int64_t place = COLUMN_NULL;
    int rc = 0;

    if (!live_draft_has(shard->alive, id))
        return err_set(err, ERR_NOT_FOUND, "there is no document %u", id);
    if (pending_find(shard->pending, id))
        rc = check_pending(shard, id, err);
    if (!rc)
        rc = draft_gather_texts(shard, values, count, &draft, err);
    if (!rc)
        rc = draft_make_changes(shard, values, count, &draft, err);
    if (!rc && draft.text_count)
        rc = draft_change_texts(shard, id, &draft, &place, err);
    if (rc) {
        draft_drop_changes(shard, &draft);
        return rc;
    }
    note_batch(shard);
    doc = pending_find(shard->pending, id);
    if (doc) {
        change_later(shard, doc, &draft, is_whole, place);
        return 0;
    }
    if (is_whole)
        draft_add_nulls(shard, id, &draft);
    return change_now(shard, id, &draft, place, err);
}

static int change(struct shard *shard, docid id, const struct shard_value *values, uint32_t count,
                  bool is_whole, struct err *err)
{
    int rc = draft_check(shard, values, count, false, err);

    object_check(shard, SHARD_MAGIC);
    if (rc)
        return rc;
    shard_lock(shard);
    rc = change_locked(shard, id, values, count, is_whole, err);
    shard_unlock(shard);
    return rc;
}

int shard_change(struct shard *shard, docid id, const struct shard_value *values, uint32_t count,
                 struct err *err)
{
    return change(shard, id, values, count, false, err);
}

int shard_change_all(struct shard *shard, docid id, const struct shard_value *values,
                     uint32_t count, struct err *err)
{
    return change(shard, id, values, count, true, err);
}

int shard_set_expiry(struct shard *shard, docid id, int64_t expires_at, struct err *err)
{
    struct column_change change = {STATE_EXPIRES, expires_at ? expires_at : COLUMN_NULL};
    struct pending_doc *doc;
    int rc = check_id(id, expires_at, err);

    object_check(shard, SHARD_MAGIC);
    if (rc)
        return rc;
    shard_lock(shard);
    if (live_draft_has(shard->alive, id)) {
        doc = pending_find(shard->pending, id);
        if (doc)
            doc->expires_at = change.value;
        else
            set_state(shard, id, &change, 1);
        shard_note_expiry(shard, id, expires_at);
        note_batch(shard);
    } else {
        rc = err_set(err, ERR_NOT_FOUND, "there is no document %u", id);
    }
    shard_unlock(shard);
    return rc;
}

int shard_set_birth(struct shard *shard, docid id, uint32_t birth, struct err *err)
{
    struct column_change change = {STATE_BIRTH, birth ? (int64_t)birth : COLUMN_NULL};
    struct pending_doc *doc;
    int rc = check_id(id, 0, err);

    object_check(shard, SHARD_MAGIC);
    if (rc)
        return rc;
    shard_lock(shard);
    if (live_draft_has(shard->alive, id)) {
        doc = pending_find(shard->pending, id);
        if (doc)
            doc->birth = change.value;
        else if (shard_birth(shard, id) != birth)
            set_state(shard, id, &change, 1);
        note_batch(shard);
    } else {
        rc = err_set(err, ERR_NOT_FOUND, "there is no document %u", id);
    }
    shard_unlock(shard);
    return rc;
}

/* Values are taken away even if the document is not there: a checkpoint may have them. */
static bool remove_locked(struct shard *shard, docid id)
{
    bool was_there = live_draft_has(shard->alive, id);

    if (!was_there && shard->offset >= shard->serve_from)
        return false;
    note_batch(shard);
    if (shard->slots[owners_get(shard->owners, id)] == shard_buffer(shard) &&
        text_buffer_full(shard_buffer(shard)->buffer))
        shard_rotate(shard);
    shard_mask(shard, id);
    live_put(shard->alive, id, false);
    if (is_shown(shard, id)) {
        pending_anew(shard, id)->is_removed = true;
    } else {
        begin_change(shard, id, true);
        if (was_there)
            forget_lengths(shard, id);
        remove_values(shard, id);
        end_change(shard);
    }
    return was_there;
}

bool shard_remove(struct shard *shard, docid id)
{
    bool was_there;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    was_there = id != DOCID_END && remove_locked(shard, id);
    shard_unlock(shard);
    return was_there;
}

/* The documents of a window that end by now; notes when the next one does. */
static uint32_t expire_window(struct shard *shard, uint32_t window, int64_t now)
{
    int64_t values[WINDOW_SIZE];
    struct column_view view;
    int64_t next = 0;
    uint32_t count = 0;
    uint32_t i;

    column_view(columns_column(shard->state, STATE_EXPIRES), window, &view);
    view_values(&view, values);
    for (i = 0; pending_count(shard->pending) && i < WINDOW_SIZE; i++) {
        const struct pending_doc *doc = pending_find(shard->pending, window_first(window) + i);

        if (doc)
            values[i] = doc->expires_at;
    }
    for (i = 0; i < WINDOW_SIZE; i++) {
        if (values[i] == COLUMN_NULL)
            continue;
        if (values[i] <= now)
            count += remove_locked(shard, window_first(window) + i);
        else if (!next || values[i] < next)
            next = values[i];
    }
    shard->next_expiry[window] = next;
    return count;
}

uint32_t shard_expire(struct shard *shard, int64_t now)
{
    uint32_t count = 0;
    uint32_t window;

    object_check(shard, SHARD_MAGIC);
    for (window = 0; window < shard->next_expiry_count; window++) {
        if (!shard->next_expiry[window] || shard->next_expiry[window] > now)
            continue;
        shard_lock(shard);
        count += expire_window(shard, window, now);
        shard_unlock(shard);
    }
    return count;
}

/* ---- schema and publication ---- */

static int add_set(struct shard *shard, const struct field *field, struct err *err)
{
    enum set_kind kind = field->type == FIELD_GEO                                      ? SET_CELLS
                         : field_has_dictionary(field) || field->type == FIELD_BOOLEAN ? SET_VALUES
                                                                                       : SET_RANGES;

    return attribute_set_new(shard->columns, shard->epoch, field->id, kind, SET_CELL_5_KM,
                             &shard->sets[field->id], err);
}

int shard_know_field(struct shard *shard, uint16_t id, struct err *err)
{
    const struct field *field = schema_field(shard->schema, id);
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    if (field->type == FIELD_TEXT && shard->text_field_count == SEGMENT_FIELD_COUNT)
        return err_set(err, ERR_CORRUPT, "%s has more than %d text fields: \"%s\"",
                       shard->options.dir, SEGMENT_FIELD_COUNT, field->name);
    if (field->type == FIELD_TEXT)
        shard->text_fields[shard->text_field_count++] = id;
    if (field->filterable && field_has_column(field))
        rc = add_set(shard, field, err);
    shard->set_count = schema_count(shard->schema);
    return rc;
}

/* Not a column from outside that has the name. */
static bool has_own_field(const struct schema *schema, const char *name)
{
    const struct field *field = schema_find(schema, bytes_of(name));

    return field && field->id < SCHEMA_FIELD_COUNT_MAX;
}

int shard_add_field(struct shard *shard, const struct field *field, uint16_t *id, struct err *err)
{
    uint32_t before;
    uint16_t given;
    int rc;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    before = schema_count(shard->schema);
    if (field->type == FIELD_TEXT && shard->text_field_count == SEGMENT_FIELD_COUNT &&
        !has_own_field(shard->schema, field->name))
        rc = err_set(err, ERR_LIMIT,
                     "field \"%s\" would be the fifth text field: a shard has %d, put its text "
                     "into one of them",
                     field->name, SEGMENT_FIELD_COUNT);
    else
        rc = schema_add(shard->schema, field, &given, err);
    if (!rc && schema_count(shard->schema) > before)
        rc = shard_know_field(shard, given, err);
    if (!rc && id)
        *id = given;
    if (!rc)
        shard_show_work(shard);
    shard_unlock(shard);
    return rc;
}

void shard_set_note(struct shard *shard, struct bytes note)
{
    object_check(shard, SHARD_MAGIC);
    assert(note.size <= SHARD_NOTE_SIZE_MAX);
    shard_lock(shard);
    shard->next_note.size = (uint32_t)note.size;
    if (note.size)
        memcpy(shard->next_note.bytes, note.data, note.size);
    shard->has_note = true;
    shard_unlock(shard);
}

void shard_note(struct shard *shard, struct buf *note)
{
    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    buf_put_raw(note, shard->note.bytes, shard->note.size);
    shard_unlock(shard);
}

void shard_begin_message(struct shard *shard, uint64_t offset)
{
    object_check(shard, SHARD_MAGIC);
    if (atomic_load_explicit(&shard->applying, memory_order_relaxed) == offset + 1)
        return; /* again, and it has changed something before: shard_leave_message */
    atomic_store_explicit(&shard->message_change,
                          atomic_load_explicit(&shard->change_begun, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&shard->applying, offset + 1, memory_order_release);
}

/* Has it changed nothing, then nobody has seen anything of it, whatever changes from now on. */
void shard_leave_message(struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    if (atomic_load_explicit(&shard->message_change, memory_order_relaxed) ==
        atomic_load_explicit(&shard->change_begun, memory_order_relaxed))
        atomic_store_explicit(&shard->applying,
                              atomic_load_explicit(&shard->applied, memory_order_relaxed),
                              memory_order_release);
}

void shard_end_message(struct shard *shard, uint64_t offset)
{
    object_check(shard, SHARD_MAGIC);
    atomic_store_explicit(&shard->applied, offset + 1, memory_order_release);
}

int shard_publish(struct shard *shard, uint64_t offset, struct err *err)
{
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    shard_lock(shard);
    if (offset < shard->offset) {
        rc = err_set(err, ERR_INVALID, "offset %ju is below %ju, which was published before",
                     (uintmax_t)offset, (uintmax_t)shard->offset);
    } else if (shard->has_batch || shard->has_note || offset > shard->offset) {
        shard->publish_count++;
        shard->offset = offset;
        shard->has_batch = false;
        if (shard->has_note)
            shard->note = shard->next_note;
        shard->has_note = false;
        gate_close(&shard->gate, SHARD_HOLD_MS_MAX);
        atomic_store_explicit(&shard->showing, offset, memory_order_release);
        shard_settle(shard);
        shard_show(shard);
        gate_open(&shard->gate);
    }
    shard_unlock(shard);
    return rc ? rc : shard_make_room(shard, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_apply.c - see shard.h: how a document comes, changes and goes.
 *
 * A document is checked, its words looked up, its keywords numbered, its texts stored: until then
 * nothing of it can be seen, and whatever fails leaves only unused words behind. Then its id is
 * noted as changed, the columns change, together, and its text goes to the buffer, where the next
 * publication shows it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "index/shard_parts.h"

/* What a document or a change becomes before it is applied. */
struct draft {
    struct column_change *changes; /* of the columns */
    uint32_t change_count;
    const struct shard_value **texts; /* to be stored, by field */
    uint32_t text_count;
};

/* ---- checking ---- */

static int check_number(const struct field *field, int64_t number, struct err *err)
{
    if (number == COLUMN_NULL)
        return err_set(err, ERR_INVALID, "field \"%s\" cannot have the greatest number of 64 bits",
                       field->name);
    if (field->type == FIELD_BOOLEAN && number != 0 && number != 1)
        return err_set(err, ERR_INVALID, "field \"%s\" is boolean, 0 or 1, not %jd", field->name,
                       (intmax_t)number);
    return 0;
}

static int check_geo(const struct field *field, const struct shard_value *value, struct err *err)
{
    if (value->geo.lat < -900000000 || value->geo.lat > 900000000 || value->geo.lon < -1800000000 ||
        value->geo.lon > 1800000000)
        return err_set(err, ERR_INVALID,
                       "field \"%s\" has the point %d, %d: in 1e-7 degrees, latitude is within "
                       "900000000 and longitude within 1800000000",
                       field->name, value->geo.lat, value->geo.lon);
    return 0;
}

static bool kind_fits(const struct field *field, enum shard_value_kind kind)
{
    switch (kind) {
    case VALUE_NONE:
        return true;
    case VALUE_TEXT:
        return field->type == FIELD_TEXT || field->type == FIELD_STORED;
    case VALUE_KEYWORDS:
        return field_has_dictionary(field);
    case VALUE_NUMBER:
        return field->type == FIELD_INTEGER || field->type == FIELD_DATE ||
               field->type == FIELD_BOOLEAN || field->type == FIELD_DECIMAL;
    case VALUE_GEO:
        return field->type == FIELD_GEO;
    }
    return false;
}

static int check_value(const struct field *field, const struct shard_value *value, struct err *err)
{
    if (!kind_fits(field, (enum shard_value_kind)value->kind))
        return err_set(err, ERR_INVALID, "field \"%s\" is of type %s: it cannot have such a value",
                       field->name, field_type_name(field->type));
    if (value->kind == VALUE_NUMBER)
        return check_number(field, value->number, err);
    if (value->kind == VALUE_GEO)
        return check_geo(field, value, err);
    if (value->kind == VALUE_KEYWORDS && !field->multiple && value->keywords.count > 1)
        return err_set(err, ERR_INVALID, "field \"%s\" has one value, not %u", field->name,
                       value->keywords.count);
    return 0;
}

static int check_values(const struct shard *shard, const struct shard_value *values, uint32_t count,
                        bool with_text, struct err *err)
{
    uint64_t seen[SCHEMA_FIELD_COUNT_MAX / 64] = {0};
    uint32_t i;
    int rc = 0;

    if (shard->options.is_read_only)
        return err_set(err, ERR_PRECONDITION, "%s was opened to look at", shard->options.dir);
    for (i = 0; i < count && !rc; i++) {
        const struct field *field = schema_field(shard->schema, values[i].field);

        if (!field)
            return err_set(err, ERR_INVALID, "field number %u is not in the schema",
                           values[i].field);
        if (seen[field->id / 64] >> field->id % 64 & 1)
            return err_set(err, ERR_INVALID, "field \"%s\" is there twice", field->name);
        seen[field->id / 64] |= UINT64_C(1) << field->id % 64;
        if (!with_text && field->type == FIELD_TEXT)
            return err_set(err, ERR_INVALID,
                           "field \"%s\" is text: put the whole document to change it",
                           field->name);
        rc = check_value(field, &values[i], err);
    }
    return rc;
}

/* ---- from values to a draft ---- */

static int column_value(struct shard *shard, const struct shard_value *value, int64_t *number,
                        struct err *err)
{
    const struct field *field = schema_field(shard->schema, value->field);

    *number = COLUMN_NULL;
    if (value->kind == VALUE_NUMBER)
        *number = value->number;
    if (value->kind == VALUE_GEO)
        *number = geo_pack(value->geo.lat, value->geo.lon);
    if (value->kind != VALUE_KEYWORDS || !value->keywords.count)
        return 0;
    if (field->multiple)
        return columns_keywords(shard->columns, value->field, value->keywords.names,
                                value->keywords.count, number, err);
    return columns_keyword(shard->columns, value->field, value->keywords.names[0], number, err);
}

/* Gives back lists of values that no document will have. */
static void drop_changes(struct shard *shard, struct draft *draft)
{
    uint32_t i;

    for (i = 0; i < draft->change_count; i++) {
        const struct column *column = columns_column(shard->columns, draft->changes[i].field);
        struct value_lists *lists = column ? (struct value_lists *)column_lists(column) : NULL;

        if (lists && draft->changes[i].value != COLUMN_NULL)
            value_lists_release(lists, (uint64_t)draft->changes[i].value);
    }
    draft->change_count = 0;
}

static int make_changes(struct shard *shard, const struct shard_value *values, uint32_t count,
                        struct draft *draft, struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = 0; i < count && !rc; i++) {
        int64_t number;

        if (!field_has_column(schema_field(shard->schema, values[i].field)))
            continue;
        rc = column_value(shard, &values[i], &number, err);
        if (!rc)
            draft->changes[draft->change_count++] = (struct column_change){values[i].field, number};
    }
    if (rc)
        drop_changes(shard, draft);
    return rc;
}

static void gather_texts(const struct shard *shard, const struct shard_value *values,
                         uint32_t count, struct draft *draft)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        const struct field *field = schema_field(shard->schema, values[i].field);
        uint32_t at = draft->text_count;

        if (field->type != FIELD_TEXT && field->type != FIELD_STORED)
            continue;
        for (; at > 0 && draft->texts[at - 1]->field > values[i].field; at--)
            draft->texts[at] = draft->texts[at - 1];
        draft->texts[at] = &values[i];
        draft->text_count++;
    }
}

static void put_stored(struct buf *record, uint16_t field, struct bytes text)
{
    varint_put(record, field);
    varint_put(record, text.size);
    buf_put(record, text);
}

/* *place: COLUMN_NULL when there is nothing to store. */
static int store_record(struct shard *shard, docid id, int64_t *place, struct err *err)
{
    uint64_t stored_at;
    int rc;

    *place = COLUMN_NULL;
    if (buf_failed(&shard->record))
        return err_set(err, ERR_LIMIT,
                       "document %u has more than STORED_RECORD_SIZE_MAX = %d bytes of texts and "
                       "stored fields",
                       id, STORED_RECORD_SIZE_MAX);
    if (!shard->record.size)
        return 0;
    rc = stored_append(shard->stored, id, buf_bytes(&shard->record), &stored_at, err);
    if (!rc)
        *place = (int64_t)stored_at;
    return rc;
}

static int store_texts(struct shard *shard, docid id, const struct draft *draft, int64_t *place,
                       struct err *err)
{
    uint32_t i;

    buf_reset(&shard->record);
    for (i = 0; i < draft->text_count; i++) {
        if (draft->texts[i]->kind == VALUE_TEXT)
            put_stored(&shard->record, draft->texts[i]->field, draft->texts[i]->text);
    }
    return store_record(shard, id, place, err);
}

static int find_words(struct shard *shard, const struct draft *draft, struct doc_postings *postings,
                      struct err *err)
{
    unsigned slot;
    uint32_t i;
    int rc = 0;

    doc_words_begin(shard->words);
    for (slot = 0; slot < shard->text_field_count && !rc; slot++) {
        for (i = 0; i < draft->text_count; i++) {
            if (draft->texts[i]->field != shard->text_fields[slot] ||
                draft->texts[i]->kind != VALUE_TEXT)
                continue;
            rc = doc_words_add(shard->words, shard->lexicon, slot, draft->texts[i]->text, err);
            break;
        }
    }
    if (!rc)
        doc_words_finish(shard->words, postings);
    return rc;
}

/* The fields that the document had and no longer has. An id that is free has no values, except
 * while a checkpoint is replayed. */
static void add_nulls(struct shard *shard, docid id, struct draft *draft)
{
    uint64_t has[SCHEMA_FIELD_COUNT_MAX / 64] = {0};
    uint32_t fields = schema_count(shard->schema);
    uint32_t field;
    uint32_t i;

    if (!live_draft_has(shard->alive, id) && shard->offset >= shard->serve_from)
        return;
    for (i = 0; i < draft->change_count; i++)
        has[draft->changes[i].field / 64] |= UINT64_C(1) << draft->changes[i].field % 64;
    for (field = 0; field < fields; field++) {
        const struct column *column = columns_column(shard->columns, field);
        struct column_view view;

        if (!column || has[field / 64] >> field % 64 & 1)
            continue;
        column_view(column, window_of(id), &view);
        if (view_get(&view, id & (WINDOW_SIZE - 1)) != COLUMN_NULL)
            draft->changes[draft->change_count++] =
                (struct column_change){(uint16_t)field, COLUMN_NULL};
    }
}

/* ---- applying ---- */

static void note_change(struct shard *shard, docid id)
{
    recent_note(shard->recent, id, shard->sequence + 1);
    shard->applier = pthread_self();
    shard->has_batch = true;
    shard->change_count++;
}

static void set_state(struct shard *shard, docid id, const struct column_change *changes,
                      uint32_t count)
{
    int rc = columns_set(shard->state, id, changes, count, NULL);

    assert(!rc);
    (void)rc;
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

static void put_text(struct shard *shard, docid id, const struct doc_postings *postings)
{
    struct part *buffer = shard_buffer(shard);
    const uint8_t *lengths = postings->lengths;

    if (shard->slots[owners_get(shard->owners, id)] != buffer)
        shard_mask(shard, id);
    text_buffer_add(buffer->buffer, id, lengths, postings->postings, postings->count);
    buffer->mark++;
    owners_set(shard->owners, id, buffer->slot);
    live_put(shard->alive, id, true);
    doc_lengths_set(shard->lengths, id,
                    (uint32_t)lengths[0] | (uint32_t)lengths[1] << 8 | (uint32_t)lengths[2] << 16 |
                        (uint32_t)lengths[3] << 24);
    if (window_of(id) >= shard->window_count)
        shard->window_count = window_of(id) + 1;
}

static int put_locked(struct shard *shard, const struct shard_document *document,
                      struct draft *draft, struct err *err)
{
    struct column_change state[STATE_FIELD_COUNT] = {
        {STATE_EXPIRES, document->expires_at ? document->expires_at : COLUMN_NULL},
        {STATE_STORED, COLUMN_NULL},
    };
    struct doc_postings postings;
    int rc;

    gather_texts(shard, document->values, document->count, draft);
    rc = find_words(shard, draft, &postings, err);
    if (!rc)
        rc = store_texts(shard, document->id, draft, &state[STATE_STORED].value, err);
    if (!rc)
        rc = make_changes(shard, document->values, document->count, draft, err);
    if (rc)
        return rc;
    add_nulls(shard, document->id, draft);
    note_change(shard, document->id);
    rc = columns_set(shard->columns, document->id, draft->changes, draft->change_count, err);
    if (rc) {
        drop_changes(shard, draft);
        return rc;
    }
    drop_record(shard, document->id);
    set_state(shard, document->id, state, STATE_FIELD_COUNT);
    shard_note_expiry(shard, document->id, document->expires_at);
    put_text(shard, document->id, &postings);
    return 0;
}

static int check_id(docid id, int64_t expires_at, struct err *err)
{
    if (id == DOCID_END)
        return err_set(err, ERR_INVALID, "%u is no document id: it means the end", id);
    if (expires_at < 0 || expires_at == COLUMN_NULL)
        return err_set(err, ERR_INVALID, "document %u ends at %jd: seconds since 1970, or 0", id,
                       (intmax_t)expires_at);
    return 0;
}

int shard_put(struct shard *shard, const struct shard_document *document, struct err *err)
{
    struct column_change changes[SCHEMA_FIELD_COUNT_MAX];
    const struct shard_value *texts[SCHEMA_FIELD_COUNT_MAX];
    struct draft draft = {.changes = changes, .texts = texts};
    int rc = check_id(document->id, document->expires_at, err);

    if (!rc)
        rc = check_values(shard, document->values, document->count, true, err);
    if (!rc)
        rc = shard_make_room(shard, err);
    if (rc)
        return rc;
    shard_lock(shard);
    rc = put_locked(shard, document, &draft, err);
    shard_unlock(shard);
    return rc;
}

/* The record with the texts of the draft in the place of those it had. */
static int change_texts(struct shard *shard, docid id, const struct draft *draft, int64_t *place,
                        struct err *err)
{
    struct stored_value had[SCHEMA_FIELD_COUNT_MAX];
    struct buf old = BUF_INIT(STORED_RECORD_SIZE_MAX);
    uint32_t count, i = 0, j = 0;
    int rc = shard_stored(NULL, shard, id, &old, had, SCHEMA_FIELD_COUNT_MAX, &count, err);

    buf_reset(&shard->record);
    while (!rc && (i < count || j < draft->text_count)) {
        const struct shard_value *text = j < draft->text_count ? draft->texts[j] : NULL;

        if (i < count && (!text || had[i].field < text->field)) {
            put_stored(&shard->record, had[i].field, had[i].text);
            i++;
            continue;
        }
        if (i < count && had[i].field == text->field)
            i++;
        if (text->kind == VALUE_TEXT)
            put_stored(&shard->record, text->field, text->text);
        j++;
    }
    if (!rc)
        rc = store_record(shard, id, place, err);
    buf_release(&old);
    return rc;
}

static int change_locked(struct shard *shard, docid id, const struct shard_value *values,
                         uint32_t count, struct draft *draft, struct err *err)
{
    struct column_change stored = {STATE_STORED, COLUMN_NULL};
    int rc = 0;

    if (!live_draft_has(shard->alive, id))
        return err_set(err, ERR_NOT_FOUND, "there is no document %u", id);
    gather_texts(shard, values, count, draft);
    if (draft->text_count)
        rc = change_texts(shard, id, draft, &stored.value, err);
    if (!rc)
        rc = make_changes(shard, values, count, draft, err);
    if (rc)
        return rc;
    note_change(shard, id);
    rc = columns_set(shard->columns, id, draft->changes, draft->change_count, err);
    if (rc) {
        drop_changes(shard, draft);
    } else if (draft->text_count) {
        drop_record(shard, id);
        set_state(shard, id, &stored, 1);
    }
    return rc;
}

int shard_change(struct shard *shard, docid id, const struct shard_value *values, uint32_t count,
                 struct err *err)
{
    struct column_change changes[SCHEMA_FIELD_COUNT_MAX];
    const struct shard_value *texts[SCHEMA_FIELD_COUNT_MAX];
    struct draft draft = {.changes = changes, .texts = texts};
    int rc = check_values(shard, values, count, false, err);

    if (rc)
        return rc;
    shard_lock(shard);
    rc = change_locked(shard, id, values, count, &draft, err);
    shard_unlock(shard);
    return rc;
}

int shard_set_expiry(struct shard *shard, docid id, int64_t expires_at, struct err *err)
{
    struct column_change change = {STATE_EXPIRES, expires_at ? expires_at : COLUMN_NULL};
    int rc = check_id(id, expires_at, err);

    if (rc)
        return rc;
    shard_lock(shard);
    if (live_draft_has(shard->alive, id)) {
        set_state(shard, id, &change, 1);
        shard_note_expiry(shard, id, expires_at);
        note_change(shard, id);
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
    note_change(shard, id);
    if (shard->slots[owners_get(shard->owners, id)] == shard_buffer(shard) &&
        text_buffer_full(shard_buffer(shard)->buffer))
        shard_rotate(shard);
    shard_mask(shard, id);
    live_put(shard->alive, id, false);
    columns_reset(shard->columns, id);
    drop_record(shard, id);
    columns_reset(shard->state, id);
    return was_there;
}

bool shard_remove(struct shard *shard, docid id)
{
    bool was_there;

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

    if (field->type == FIELD_TEXT)
        shard->text_fields[shard->text_field_count++] = id;
    if (field->filterable && field_has_column(field))
        rc = add_set(shard, field, err);
    shard->set_count = schema_count(shard->schema);
    return rc;
}

int shard_add_field(struct shard *shard, const struct field *field, uint16_t *id, struct err *err)
{
    uint32_t before;
    uint16_t given;
    int rc;

    shard_lock(shard);
    before = schema_count(shard->schema);
    if (field->type == FIELD_TEXT && shard->text_field_count == SEGMENT_FIELD_COUNT &&
        !schema_find(shard->schema, bytes_of(field->name)))
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
    shard_lock(shard);
    buf_put_raw(note, shard->note.bytes, shard->note.size);
    shard_unlock(shard);
}

int shard_publish(struct shard *shard, uint64_t offset, struct err *err)
{
    int rc = 0;

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
        shard_show(shard);
    }
    shard_unlock(shard);
    return rc ? rc : shard_make_room(shard, err);
}

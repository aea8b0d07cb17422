/* SPDX-License-Identifier: Apache-2.0 */
/* shard_draft.c - see shard_draft.h. */
#include "index/shard/shard_draft.h"

#include "base/object.h"
#include "base/varint.h"
#include "index/field_bits.h"

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

int draft_check(const struct shard *shard, const struct shard_value *values, uint32_t count,
                bool with_text, struct err *err)
{
    struct field_bits seen;
    uint32_t i;
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    if (shard->options.is_read_only)
        return err_set(err, ERR_PRECONDITION, "%s was opened to look at", shard->options.dir);
    field_bits_init(&seen, schema_count(shard->schema));
    for (i = 0; i < count && !rc; i++) {
        const struct field *field = schema_field(shard->schema, values[i].field);

        if (!field)
            return err_set(err, ERR_INVALID, "field number %u is not in the schema",
                           values[i].field);
        if (field_bits_has(&seen, field->id))
            return err_set(err, ERR_INVALID, "field \"%s\" is there twice", field->name);
        field_bits_add(&seen, field->id);
        if (!with_text && field->type == FIELD_TEXT)
            return err_set(err, ERR_INVALID,
                           "field \"%s\" is text: put the whole document to change it",
                           field->name);
        rc = check_value(field, &values[i], err);
    }
    return rc;
}

/* ---- from values to a draft ---- */

struct draft draft_begin(struct shard *shard)
{
    object_check(shard, SHARD_MAGIC);
    return (struct draft){.changes = shard->changes, .texts = shard->texts};
}

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

/* Gives back the list of values that no document will have. */
void draft_drop_change(struct shard *shard, const struct column_change *change)
{
    const struct column *column = columns_column(shard->columns, change->field);
    struct value_lists *lists = column ? (struct value_lists *)column_lists(column) : NULL;

    object_check(shard, SHARD_MAGIC);
    if (lists && change->value != COLUMN_NULL)
        value_lists_release(lists, (uint64_t)change->value);
}

void draft_drop_changes(struct shard *shard, struct draft *draft)
{
    uint32_t i;

    object_check(shard, SHARD_MAGIC);
    for (i = 0; i < draft->change_count; i++)
        draft_drop_change(shard, &draft->changes[i]);
    draft->change_count = 0;
}

int draft_make_changes(struct shard *shard, const struct shard_value *values, uint32_t count,
                       struct draft *draft, struct err *err)
{
    uint32_t i;
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    for (i = 0; i < count && !rc; i++) {
        int64_t number;

        if (!field_has_column(schema_field(shard->schema, values[i].field)))
            continue;
        rc = column_value(shard, &values[i], &number, err);
        if (!rc)
            draft->changes[draft->change_count++] = (struct column_change){values[i].field, number};
    }
    if (rc)
        draft_drop_changes(shard, draft);
    return rc;
}

static int refuse_texts(struct err *err)
{
    return err_set(err, ERR_LIMIT,
                   "the document has more than STORED_VALUE_COUNT_MAX = %d texts and stored fields",
                   STORED_VALUE_COUNT_MAX);
}

int draft_gather_texts(const struct shard *shard, const struct shard_value *values, uint32_t count,
                       struct draft *draft, struct err *err)
{
    uint32_t i;

    object_check(shard, SHARD_MAGIC);
    for (i = 0; i < count; i++) {
        const struct field *field = schema_field(shard->schema, values[i].field);
        uint32_t at = draft->text_count;

        if (field->type != FIELD_TEXT && field->type != FIELD_STORED)
            continue;
        if (at == STORED_VALUE_COUNT_MAX)
            return refuse_texts(err);
        for (; at > 0 && draft->texts[at - 1]->field > values[i].field; at--)
            draft->texts[at] = draft->texts[at - 1];
        draft->texts[at] = &values[i];
        draft->text_count++;
    }
    return 0;
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

int draft_store_texts(struct shard *shard, docid id, const struct draft *draft, int64_t *place,
                      struct err *err)
{
    uint32_t i;

    object_check(shard, SHARD_MAGIC);
    buf_reset(&shard->record);
    for (i = 0; i < draft->text_count; i++) {
        if (draft->texts[i]->kind == VALUE_TEXT)
            put_stored(&shard->record, draft->texts[i]->field, draft->texts[i]->text);
    }
    return store_record(shard, id, place, err);
}

int draft_find_words(struct shard *shard, const struct draft *draft, struct doc_postings *postings,
                     struct err *err)
{
    unsigned slot;
    uint32_t i;
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
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

/* The fields that the document had and no longer has. */
void draft_add_nulls(struct shard *shard, docid id, struct draft *draft)
{
    uint32_t fields = schema_count(shard->schema);
    uint64_t mask = columns_mask(shard->columns, id);
    struct field_bits has;
    uint32_t field;
    uint32_t i;

    object_check(shard, SHARD_MAGIC);
    field_bits_init(&has, fields);
    for (i = 0; i < draft->change_count; i++)
        field_bits_add(&has, draft->changes[i].field);
    for (field = columns_next(mask, 0, fields); field < fields;
         field = columns_next(mask, field + 1, fields))
        if (!field_bits_has(&has, field) && columns_value(shard->columns, field, id) != COLUMN_NULL)
            draft->changes[draft->change_count++] =
                (struct column_change){(uint16_t)field, COLUMN_NULL};
}

/* The record with the texts of the draft in the place of those it had. */
int draft_change_texts(struct shard *shard, docid id, const struct draft *draft, int64_t *place,
                       struct err *err)
{
    struct stored_value had[STORED_VALUE_COUNT_MAX];
    struct buf old = BUF_INIT(STORED_RECORD_SIZE_MAX);
    uint32_t count, put_count = 0, i = 0, j = 0;
    int rc = shard_last_stored(shard, id, &old, had, STORED_VALUE_COUNT_MAX, &count, err);

    object_check(shard, SHARD_MAGIC);
    buf_reset(&shard->record);
    while (!rc && (i < count || j < draft->text_count)) {
        const struct shard_value *text = j < draft->text_count ? draft->texts[j] : NULL;

        if (i < count && (!text || had[i].field < text->field)) {
            put_stored(&shard->record, had[i].field, had[i].text);
            put_count++;
            i++;
            continue;
        }
        if (i < count && had[i].field == text->field)
            i++;
        if (text->kind == VALUE_TEXT) {
            put_stored(&shard->record, text->field, text->text);
            put_count++;
        }
        j++;
    }
    if (!rc && put_count > STORED_VALUE_COUNT_MAX)
        rc = refuse_texts(err);
    if (!rc)
        rc = store_record(shard, id, place, err);
    buf_release(&old);
    return rc;
}

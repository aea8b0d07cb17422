/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - see apply.h. */
#include "searcher/replica/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "query/request/response.h"
#include "torg/v1/index_message.pb-c.h"

enum { FIELD_PK, FIELD_VERSION, HIDDEN_COUNT, SCALE_DEFAULT = 2 };

enum { APPLIER_MAGIC = OBJECT_MAGIC('a', 'p', 'p', 'l') };

struct applier {
    uint32_t magic;
    struct shard *shard;         /* borrowed */
    struct shard_reader *reader; /* owned, as what follows */
    const struct schema *schema; /* the shard's */
    struct progress progress;
    struct apply_counts counts;
    uint32_t last_id;
    int64_t last_version, last_modify_us;
    bool is_overtaken, has_poured;       /* by the last message */
    const struct apply_refusal *refused; /* of the last message, in its arena */
    size_t refused_count;
    struct buf record; /* what the shard has stored of a document */
    struct stored_value stored[STORED_VALUE_COUNT_MAX];
    uint32_t stored_count;
    struct shard_value values[SCHEMA_FIELD_COUNT_MAX]; /* of the message at hand */
    uint32_t count;
    /* Those of them that are to be applied, and what is to be taken away. */
    struct shard_value changes[SCHEMA_FIELD_COUNT_MAX + STORED_VALUE_COUNT_MAX];
};

/* ---- schema ---- */

static int add_at(struct applier *applier, const struct field *field, uint32_t place,
                  struct err *err)
{
    uint16_t id;
    int rc = shard_add_field(applier->shard, field, &id, err);

    if (!rc && id != place)
        rc = err_set(err, ERR_PRECONDITION,
                     "field \"%s\" is number %u of this shard and cannot be number %u as well",
                     field->name, id, place);
    return rc;
}

static int add_hidden(struct applier *applier, struct err *err)
{
    const struct field pk = {.type = FIELD_STORED, .name = RESPONSE_KEY_FIELD};
    const struct field version = {.type = FIELD_INTEGER, .name = "_version"};
    int rc = add_at(applier, &pk, FIELD_PK, err);

    return rc ? rc : add_at(applier, &version, FIELD_VERSION, err);
}

int applier_new(struct shard *shard, struct applier **out, struct err *err)
{
    struct applier *applier = mem_zero(sizeof(*applier));
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    int rc = shard_reader_new(shard, &applier->reader, err);

    object_begin(applier, APPLIER_MAGIC);
    applier->shard = shard;
    applier->schema = shard_schema(shard);
    buf_init(&applier->record, 2 * (size_t)STORED_RECORD_SIZE_MAX);
    shard_note(shard, &note);
    if (!rc)
        rc = progress_decode(buf_bytes(&note), &applier->progress, err);
    if (!rc)
        rc = add_hidden(applier, err);
    buf_release(&note);
    *out = applier;
    if (rc) {
        applier_free(applier);
        *out = NULL;
    }
    return rc;
}

void applier_free(struct applier *applier)
{
    if (!applier)
        return;
    object_check(applier, APPLIER_MAGIC);
    shard_reader_free(applier->reader);
    buf_release(&applier->record);
    object_end(applier, APPLIER_MAGIC);
    free(applier);
}

static int field_of(const Torg__V1__SchemaField *message, struct field *field, struct err *err)
{
    static const uint8_t types[] = {
        [TORG__V1__SCHEMA_FIELD__TYPE__TEXT] = FIELD_TEXT,
        [TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD] = FIELD_KEYWORD,
        [TORG__V1__SCHEMA_FIELD__TYPE__INTEGER] = FIELD_INTEGER,
        [TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL] = FIELD_DECIMAL,
        [TORG__V1__SCHEMA_FIELD__TYPE__DATE] = FIELD_DATE,
        [TORG__V1__SCHEMA_FIELD__TYPE__BOOLEAN] = FIELD_BOOLEAN,
        [TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY] = FIELD_CATEGORY,
        [TORG__V1__SCHEMA_FIELD__TYPE__POINT] = FIELD_GEO,
        [TORG__V1__SCHEMA_FIELD__TYPE__STORED] = FIELD_STORED,
        [TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS] = FIELD_KEYWORD,
    };
    const Torg__V1__FieldOptions *options = message->options;

    if ((unsigned)message->type >= ARRAY_COUNT(types) || !types[message->type])
        return err_set(err, ERR_INVALID, "field \"%s\" has the unknown type %d", message->name,
                       (int)message->type);
    *field = (struct field){.type = types[message->type], .name = message->name};
    field->multiple = message->type == TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS;
    if (field->type == FIELD_TEXT)
        field->weight = options && options->weight > 0 ? options->weight : 1;
    if (field->type == FIELD_DECIMAL) {
        uint32_t scale = options && options->_scale_case ? options->scale : SCALE_DEFAULT;

        if (scale > FIELD_SCALE_MAX)
            return err_set(err, ERR_INVALID, "field \"%s\" has %u digits after the point",
                           message->name, scale);
        field->scale = (uint8_t)scale;
    }
    if (field_has_column(field))
        field->filterable = !options || !options->_filter_case || options->filter;
    if (field_has_dictionary(field) && options)
        field->value_count_max = options->value_count_max;
    return 0;
}

static int apply_field(struct applier *applier, const Torg__V1__SchemaField *message,
                       struct err *err)
{
    uint32_t place = message->number + HIDDEN_COUNT - 1;
    struct field field;
    int rc = field_of(message, &field, err);

    if (rc)
        return rc;
    if (message->number < 1 || message->number > SCHEMA_FIELD_COUNT_MAX - HIDDEN_COUNT)
        return err_set(err, ERR_LIMIT, "field \"%s\" has number %u: they go from 1 to %d",
                       message->name, message->number, SCHEMA_FIELD_COUNT_MAX - HIDDEN_COUNT);
    while (schema_count(applier->schema) < place) { /* a number that was given up */
        char name[SCHEMA_NAME_SIZE_MAX];
        const struct field none = {.type = FIELD_STORED, .name = name};

        snprintf(name, sizeof(name), "_none.%u", schema_count(applier->schema));
        rc = add_at(applier, &none, schema_count(applier->schema), err);
        if (rc)
            return rc;
    }
    return add_at(applier, &field, place, err);
}

/* Each for itself: one that is wrong is told, and keeps out no other. */
static int apply_schema(struct applier *applier, const Torg__V1__IndexSchema *message,
                        struct err *err)
{
    struct err one;
    int first = 0;

    for (size_t i = 0; i < message->n_fields; i++) {
        int rc = apply_field(applier, message->fields[i], &one);

        if (rc && !applier_is_final(rc))
            return err_set(err, rc, "%s", one.text);
        if (rc && !first)
            first = err_set(err, rc, "%s", one.text);
    }
    return first;
}

/* ---- documents ---- */

static int read_texts(const struct field *field, const Torg__V1__IndexValue *message,
                      struct shard_value *value, struct arena *arena, struct err *err)
{
    struct bytes *names;

    if (!message->n_texts || (!field_has_dictionary(field) && message->n_texts > 1))
        return err_set(err, ERR_INVALID, "field \"%s\" has %zu texts", field->name,
                       message->n_texts);
    names = arena_array(arena, message->n_texts, sizeof(*names));
    for (size_t i = 0; i < message->n_texts; i++)
        names[i] = bytes_of(message->texts[i]);
    if (field_has_dictionary(field)) {
        value->kind = VALUE_KEYWORDS;
        value->keywords.names = names;
        value->keywords.count = (uint32_t)message->n_texts;
    } else {
        value->kind = VALUE_TEXT;
        value->text = names[0];
    }
    return 0;
}

static int read_value(struct applier *applier, const Torg__V1__IndexValue *message,
                      struct shard_value *value, struct arena *arena, struct err *err)
{
    const struct field *field = NULL;

    if (message->number >= 1 && message->number < SCHEMA_FIELD_COUNT_MAX)
        field = schema_field(applier->schema, message->number + HIDDEN_COUNT - 1);
    if (!field || field_is_hidden(field))
        return err_set(err, ERR_INVALID, "there is no field number %u", message->number);
    *value = (struct shard_value){.field = field->id};
    if (field_has_dictionary(field) || !field_has_column(field))
        return read_texts(field, message, value, arena, err);
    if (field->type == FIELD_GEO) {
        value->kind = VALUE_GEO;
        value->geo.lat = message->lat;
        value->geo.lon = message->lon;
    } else {
        value->kind = VALUE_NUMBER;
        value->number = message->integer;
    }
    return 0;
}

static int read_document(struct applier *applier, const Torg__V1__IndexDocument *message,
                         struct arena *arena, struct err *err)
{
    struct shard_value *values = applier->values;
    int rc = 0;

    if (message->n_values + HIDDEN_COUNT > SCHEMA_FIELD_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "the document has %zu values, at most %d are allowed",
                       message->n_values, SCHEMA_FIELD_COUNT_MAX - HIDDEN_COUNT);
    values[0] =
        (struct shard_value){.field = FIELD_PK, .kind = VALUE_TEXT, .text = bytes_of(message->pk)};
    values[1] = (struct shard_value){
        .field = FIELD_VERSION, .kind = VALUE_NUMBER, .number = message->version};
    applier->count = HIDDEN_COUNT;
    for (size_t i = 0; i < message->n_values && !rc; i++)
        rc = read_value(applier, message->values[i], &values[applier->count++], arena, err);
    return rc;
}

static const struct shard_value *find_value(const struct applier *applier, uint16_t field)
{
    for (uint32_t i = 0; i < applier->count; i++)
        if (applier->values[i].field == field)
            return &applier->values[i];
    return NULL;
}

static const struct stored_value *find_stored(const struct applier *applier, uint16_t field)
{
    for (uint32_t i = 0; i < applier->stored_count; i++)
        if (applier->stored[i].field == field)
            return &applier->stored[i];
    return NULL;
}

/* What the shard has of the document, if it can be relied on: false while it replays, as what it
 * has may be newer than the message. */
static bool look_up(struct applier *applier, docid id)
{
    const struct snapshot *snapshot;
    int rc;

    applier->stored_count = 0;
    if (shard_enter(applier->reader, &snapshot, NULL))
        return false;
    rc = shard_last_stored(applier->shard, id, &applier->record, applier->stored,
                           STORED_VALUE_COUNT_MAX, &applier->stored_count, NULL);
    shard_exit(applier->reader);
    return !rc && applier->stored_count > 0;
}

static bool is_stored_as(const struct applier *applier, uint16_t field)
{
    const struct stored_value *stored = find_stored(applier, field);
    const struct shard_value *value = find_value(applier, field);

    if (!stored || !value)
        return !stored && !value;
    return bytes_equal(stored->text, value->text);
}

static enum field_type type_of(const struct applier *applier, uint16_t field)
{
    return schema_field(applier->schema, field)->type;
}

/* Whether the document has the texts, and the key, that the shard has. */
static bool has_same_texts(const struct applier *applier)
{
    if (!is_stored_as(applier, FIELD_PK))
        return false;
    for (uint32_t i = 0; i < applier->count; i++)
        if (type_of(applier, applier->values[i].field) == FIELD_TEXT &&
            !is_stored_as(applier, applier->values[i].field))
            return false;
    for (uint32_t i = 0; i < applier->stored_count; i++)
        if (type_of(applier, applier->stored[i].field) == FIELD_TEXT &&
            !find_value(applier, applier->stored[i].field))
            return false;
    return true;
}

/* All columns that it has, and the stored fields that are others now. */
static uint32_t list_changes(struct applier *applier)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < applier->count; i++) {
        enum field_type type = type_of(applier, applier->values[i].field);

        if (type != FIELD_TEXT &&
            (type != FIELD_STORED || !is_stored_as(applier, applier->values[i].field)))
            applier->changes[count++] = applier->values[i];
    }
    for (uint32_t i = 0; i < applier->stored_count; i++)
        if (!find_value(applier, applier->stored[i].field))
            applier->changes[count++] =
                (struct shard_value){.field = applier->stored[i].field, .kind = VALUE_NONE};
    return count;
}

static int apply_put(struct applier *applier, const Torg__V1__IndexDocument *message,
                     struct arena *arena, struct err *err)
{
    int rc = read_document(applier, message, arena, err);

    if (rc)
        return rc;
    if (look_up(applier, message->doc_id) && has_same_texts(applier)) {
        rc = shard_change_all(applier->shard, message->doc_id, applier->changes,
                              list_changes(applier), err);
        rc = rc ? rc : shard_set_expiry(applier->shard, message->doc_id, message->expires_at, err);
        rc = rc ? rc : shard_set_birth(applier->shard, message->doc_id, message->birth, err);
        if (!rc)
            applier->counts.change_count++;
        if (rc != ERR_NOT_FOUND)
            return rc;
    }
    rc = shard_put(applier->shard,
                   &(struct shard_document){.id = message->doc_id,
                                            .expires_at = message->expires_at,
                                            .birth = message->birth,
                                            .values = applier->values,
                                            .count = applier->count},
                   err);
    applier->counts.put_count += rc == 0;
    return rc;
}

/* Whether the number has another owner than that, as far as the shard can tell. */
static bool is_foreign(struct applier *applier, docid id, const char *pk)
{
    const struct stored_value *stored;

    if (!look_up(applier, id))
        return false;
    stored = find_stored(applier, FIELD_PK);
    return stored && !bytes_equal_text(stored->text, pk);
}

/* Side fields are columns alone: nothing of the document is read but its key. */
static int apply_fields_of(struct applier *applier, const Torg__V1__IndexFields__Document *message,
                           struct arena *arena, struct err *err)
{
    uint32_t count = 0;
    int rc = 0;

    if (message->n_values > SCHEMA_FIELD_COUNT_MAX - HIDDEN_COUNT)
        return err_set(err, ERR_LIMIT, "the change has %zu values", message->n_values);
    for (size_t i = 0; i < message->n_values && !rc; i++) {
        struct shard_value *value = &applier->changes[count++];

        rc = read_value(applier, message->values[i], value, arena, err);
        if (message->values[i]->is_none)
            value->kind = VALUE_NONE;
    }
    if (rc)
        return rc;
    if (is_foreign(applier, message->doc_id, message->pk))
        rc = ERR_NOT_FOUND;
    else
        rc = shard_change(applier->shard, message->doc_id, applier->changes, count, err);
    applier->counts.field_count += rc == 0;
    applier->counts.foreign_count += rc == ERR_NOT_FOUND;
    return rc == ERR_NOT_FOUND ? 0 : rc; /* its put, if one comes, brings them along */
}

/* Each for itself: those that are wrong are told, and keep out no other. */
static int apply_fields(struct applier *applier, const Torg__V1__IndexFields *message,
                        struct arena *arena, const char **pk, struct err *err)
{
    struct apply_refusal *refused =
        arena_array(arena, message->n_documents + 1, sizeof(*applier->refused));
    struct err one;
    int first = 0;

    applier->refused = refused;

    for (size_t i = 0; i < message->n_documents; i++) {
        int rc = apply_fields_of(applier, message->documents[i], arena, &one);

        if (rc && !applier_is_final(rc))
            return err_set(err, rc, "%s", one.text);
        if (rc)
            refused[applier->refused_count++] =
                (struct apply_refusal){.pk = message->documents[i]->pk,
                                       .version = message->documents[i]->version,
                                       .modify_us = message->documents[i]->modify_us,
                                       .reason = arena_strdup(arena, one.text)};
        if (rc && !first) {
            first = err_set(err, rc, "%s", one.text);
            if (pk)
                *pk = message->documents[i]->pk;
        }
    }
    return first;
}

static void apply_remove(struct applier *applier, const Torg__V1__IndexRemoval *message)
{
    if (is_foreign(applier, message->doc_id, message->pk)) {
        applier->counts.foreign_count++;
        return;
    }
    applier->counts.remove_count += shard_remove(applier->shard, message->doc_id);
}

static void apply_progress(struct applier *applier, const Torg__V1__IndexProgress *message)
{
    for (size_t i = 0; i < message->n_lanes; i++) {
        const Torg__V1__IndexProgress__Lane *lane = message->lanes[i];

        if ((unsigned)lane->lane < PROGRESS_LANE_COUNT &&
            lane->idx > applier->progress.lanes[lane->lane])
            applier->progress.lanes[lane->lane] = lane->idx;
    }
}

/*
 * A shard that lacks what came before takes nothing until a pour begins, then everything: all
 * documents come between the two marks, or have changed since the first. Had it taken messages from
 * before, it could keep a document whose removal it has missed: one that a replaced owner sent
 * late. For the same reason the beginning of another pour, which that owner's may have been
 * mistaken for, asks for an empty shard again.
 */
static void apply_pour(struct applier *applier, const Torg__V1__IndexPour *message)
{
    struct progress *progress = &applier->progress;
    bool is_same =
        message->number == progress->pour && message->begin_ticket == progress->pour_ticket;

    if (message->mark == TORG__V1__INDEX_POUR__MARK__END) {
        applier->has_poured = true;
        if (progress->has_gap && is_same)
            progress->has_gap = false;
    } else if (progress->has_gap && !progress->pour) {
        progress->pour = message->number;
        progress->pour_ticket = message->begin_ticket;
    } else if (progress->has_gap && !is_same) {
        applier->is_overtaken = true;
    }
}

/* ---- numbers ---- */

void applier_set_numbers(struct applier *applier, const uint32_t numbers[3])
{
    object_check(applier, APPLIER_MAGIC);
    if (numbers[0])
        memcpy(applier->progress.numbers, numbers, 3 * sizeof(numbers[0]));
}

/* A document under a number of another numbering would take the place of a stranger. Messages from
 * before versions were told have none. */
static int check_numbers(struct applier *applier, const Torg__V1__IndexMessage *message,
                         struct err *err)
{
    uint32_t *has = applier->progress.numbers;
    const uint32_t *told = message->place;

    if (message->n_place == 0)
        return 0;
    if (message->n_place != 4)
        return err_set(err, ERR_INVALID,
                       "the version of its numbers has %zu parts; expected T.S.V.G",
                       message->n_place);
    if (has[0] && memcmp(has, told, 3 * sizeof(has[0])) != 0)
        return err_set(
            err, ERR_PRECONDITION,
            "it is numbered by %u.%u.%u.%u (type, sharding scheme, rebuild, generation), "
            "and this shard by %u.%u.%u",
            told[0], told[1], told[2], told[3], has[0], has[1], has[2]);
    memcpy(has, told, 3 * sizeof(has[0]));
    has[3] = told[3] > has[3] ? told[3] : has[3];
    return 0;
}

/* ---- messages ---- */

bool applier_is_final(int rc)
{
    return rc == ERR_INVALID || rc == ERR_LIMIT || rc == ERR_PRECONDITION || rc == ERR_NOT_FOUND ||
           rc == ERR_RANGE || rc == ERR_EXISTS;
}

/* Whose it is and which write, should it be refused for anything. */
static void note_document(struct applier *applier, const Torg__V1__IndexMessage *message,
                          const char **pk)
{
    const char *own = "";

    if (message->kind_case == TORG__V1__INDEX_MESSAGE__KIND_PUT) {
        own = message->put->pk;
        applier->last_version = message->put->version;
        applier->last_modify_us = message->put->modify_us;
    } else if (message->kind_case == TORG__V1__INDEX_MESSAGE__KIND_REMOVE) {
        own = message->remove->pk;
        applier->last_version = message->remove->version;
        applier->last_modify_us = message->remove->modify_us;
    }
    if (pk)
        *pk = own;
}

int applier_apply(struct applier *applier, struct bytes bytes, struct arena *arena, const char **pk,
                  struct err *err)
{
    const Torg__V1__IndexMessage *message;
    ProtobufCMessage *decoded;
    int rc = message_decode(bytes, &torg__v1__index_message__descriptor, arena, &decoded, err);

    object_check(applier, APPLIER_MAGIC);
    if (pk)
        *pk = "";
    applier->last_id = UINT32_MAX;
    applier->last_version = applier->last_modify_us = 0;
    applier->is_overtaken = applier->has_poured = false;
    applier->refused_count = 0;
    if (rc)
        return rc;
    message = (const Torg__V1__IndexMessage *)decoded;
    if (message->ticket < applier->progress.ticket) {
        applier->counts.stale_count++;
        return 0;
    }
    note_document(applier, message, pk);
    rc = check_numbers(applier, message, err);
    if (rc)
        return rc;
    applier->progress.ticket = message->ticket;
    if (applier->progress.has_gap && !applier->progress.pour &&
        message->kind_case != TORG__V1__INDEX_MESSAGE__KIND_POUR) {
        applier->counts.skipped_count++;
        return 0;
    }
    switch (message->kind_case) {
    case TORG__V1__INDEX_MESSAGE__KIND_SCHEMA:
        return apply_schema(applier, message->schema, err);
    case TORG__V1__INDEX_MESSAGE__KIND_PUT:
        applier->last_id = message->put->doc_id;
        return apply_put(applier, message->put, arena, err);
    case TORG__V1__INDEX_MESSAGE__KIND_REMOVE:
        applier->last_id = message->remove->doc_id;
        apply_remove(applier, message->remove);
        return 0;
    case TORG__V1__INDEX_MESSAGE__KIND_FIELDS:
        return apply_fields(applier, message->fields, arena, pk, err);
    case TORG__V1__INDEX_MESSAGE__KIND_PROGRESS:
        apply_progress(applier, message->progress);
        return 0;
    case TORG__V1__INDEX_MESSAGE__KIND_POUR:
        apply_pour(applier, message->pour);
        return 0;
    default:
        return err_set(err, ERR_INVALID, "the message is of an unknown kind");
    }
}

uint32_t applier_last_id(const struct applier *applier)
{
    object_check(applier, APPLIER_MAGIC);
    return applier->last_id;
}

void applier_last_order(const struct applier *applier, int64_t *version, int64_t *modify_us)
{
    object_check(applier, APPLIER_MAGIC);
    *version = applier->last_version;
    *modify_us = applier->last_modify_us;
}

const struct apply_refusal *applier_refused(const struct applier *applier, size_t *count)
{
    object_check(applier, APPLIER_MAGIC);
    *count = applier->refused_count;
    return applier->refused;
}

bool applier_is_overtaken(const struct applier *applier)
{
    object_check(applier, APPLIER_MAGIC);
    return applier->is_overtaken;
}

bool applier_has_poured(const struct applier *applier)
{
    object_check(applier, APPLIER_MAGIC);
    return applier->has_poured;
}

int applier_publish(struct applier *applier, uint64_t offset, struct err *err)
{
    return applier_publish_at(applier, offset, &applier->progress, err);
}

int applier_publish_at(struct applier *applier, uint64_t offset, const struct progress *progress,
                       struct err *err)
{
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    int rc;

    object_check(applier, APPLIER_MAGIC);
    progress_encode(progress, &note);
    shard_set_note(applier->shard, buf_bytes(&note));
    rc = shard_publish(applier->shard, offset, err);
    buf_release(&note);
    return rc;
}

struct progress *applier_progress(struct applier *applier)
{
    object_check(applier, APPLIER_MAGIC);
    return &applier->progress;
}

const struct apply_counts *applier_counts(const struct applier *applier)
{
    object_check(applier, APPLIER_MAGIC);
    return &applier->counts;
}

uint32_t applier_doc_count(struct applier *applier)
{
    const struct snapshot *snapshot;
    uint32_t count;

    object_check(applier, APPLIER_MAGIC);
    if (shard_enter(applier->reader, &snapshot, NULL))
        return 0;
    count = snapshot->doc_count;
    shard_exit(applier->reader);
    return count;
}

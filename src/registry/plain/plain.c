/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - see plain.h. */
#include "registry/plain/plain.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "codec/json_value.h"
#include "codec/moment.h"
#include "model/bounds.h"
#include "registry/bounds.h"
#include "registry/plain/table.h"
#include "registry/plain/value.h"

/* A document that is being made. */
struct making {
    const struct plain_columns *columns;
    struct plain_document *result;
    Torg__V1__RawField **fields;
    size_t count;
    struct buf *words;
    struct arena *arena;
};

static void refuse(struct plain_document *result, struct arena *arena, struct bytes field,
                   const char *reason)
{
    if (!result->reason) {
        result->field = arena_text(arena, field);
        result->reason = reason;
    }
}

/* Words of all strings in a value; its depth is bounded by the tree's. */
static void put_words(struct buf *words, const struct placed_json *value)
{
    if (value->kind == PLACED_TEXT || value->kind == PLACED_NUMBER) {
        if (words->size + value->text.size + 2 > words->limit)
            return;
        if (words->size)
            buf_put_byte(words, '\n');
        buf_put(words, value->text);
    }
    for (const struct placed_json *one = value->first; one; one = one->next)
        put_words(words, one);
}

static bool has_words(Torg__V1__SchemaField__Type type)
{
    return type == TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__CATEGORY ||
           type == TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED;
}

static bool is_empty(const struct placed_json *value)
{
    return (value->kind == PLACED_TEXT && !value->text.size) ||
           ((value->kind == PLACED_LIST || value->kind == PLACED_OBJECT) && !value->count);
}

static bool is_there(const struct making *making, const char *name)
{
    for (size_t i = 0; i < making->count; i++)
        if (making->fields[i]->name == name)
            return true;
    return false;
}

static void add_field(struct making *making, Torg__V1__RawField *field)
{
    making->fields[making->count++] = field;
}

static void make_field(void *arg, struct bytes path, const struct placed_json *value)
{
    struct making *making = arg;
    const struct plain_column *column;
    Torg__V1__RawField *field;
    const char *reason = NULL;

    if (bytes_equal(path, making->columns->key) || is_empty(value) || making->result->reason)
        return;
    column = plain_columns_find(making->columns, path);
    if (!column)
        refuse(making->result, making->arena, path,
               "cannot be the name of a field: Latin or Russian letters, digits, _ . and -, "
               "beginning with a letter, at most 80");
    else if (is_there(making, column->name))
        refuse(making->result, making->arena, path,
               "comes twice: names differ only in characters that fields do not distinguish");
    else if (making->count + 2 >= DOCUMENT_FIELD_COUNT_MAX)
        refuse(making->result, making->arena, path, "has more than 248 fields before it");
    if (making->result->reason)
        return;
    if (has_words(column->type))
        put_words(making->words, value);
    if (column->type == TORG__V1__SCHEMA_FIELD__TYPE__TYPE_UNSPECIFIED)
        return;
    field = plain_value(column, value, making->columns->is_table, making->arena, &reason);
    if (field)
        add_field(making, field);
    else
        refuse(making->result, making->arena, path, reason);
}

static Torg__V1__RawField *new_field(struct making *making, const char *name)
{
    Torg__V1__RawField *field = arena_alloc(making->arena, sizeof(*field));

    torg__v1__raw_field__init(field);
    field->name = (char *)name;
    add_field(making, field);
    return field;
}

/* What is kept beside the fields: the words of keywords, and the document as it was sent. */
static void add_own(struct making *making, const struct placed_json *object)
{
    struct buf source = BUF_INIT(DOCUMENT_TEXT_SIZE_MAX);
    Torg__V1__RawField *field;

    if (making->words->size && making->columns->has_words) {
        field = new_field(making, PLAIN_WORDS_FIELD);
        field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
        field->text = arena_text(making->arena, buf_bytes(making->words));
    }
    placed_json_put(object, &source);
    if (buf_failed(&source)) {
        refuse(making->result, making->arena, BYTES_EMPTY,
               "has more than 128 KB of JSON, the limit of a document");
    } else {
        field = new_field(making, PLAIN_SOURCE_FIELD);
        field->_stored_case = TORG__V1__RAW_FIELD___STORED_STORED;
        field->stored = arena_text(making->arena, buf_bytes(&source));
    }
    buf_release(&source);
}

/* --- what is said of a document, not in it --- */

static void read_id(struct plain_document *result, const struct placed_json *object,
                    struct bytes key, struct arena *arena)
{
    const struct placed_json *id = placed_json_find(object, key);
    uint64_t magnitude;
    bool negative;

    if (!id && bytes_equal_text(key, "id"))
        id = placed_json_find(object, bytes_of("_id"));
    if (!id)
        refuse(result, arena, key,
               "is missing: each document needs one, a string or a whole number; ?key=NAME names "
               "another member for it");
    else if (id->kind == PLACED_TEXT
                 ? !id->text.size
                 : id->kind != PLACED_NUMBER || !json_integer(id->text, &negative, &magnitude))
        refuse(result, arena, key, "expected a string or a whole number");
    else
        result->id = arena_text(arena, id->text);
}

static void read_version(struct plain_document *result, const struct placed_json *value,
                         Torg__V1__RawDocument *document, struct arena *arena)
{
    uint64_t magnitude;
    bool negative;

    if (!json_integer(value->text, &negative, &magnitude) || negative || magnitude > INT64_MAX)
        refuse(result, arena, value->key, "expected a whole number from 0");
    else
        document->version = (int64_t)magnitude;
}

static void read_sign(struct plain_document *result, const struct placed_json *value,
                      Torg__V1__RawDocument *document, struct arena *arena)
{
    int64_t seconds;

    if (value->kind == PLACED_NULL || bytes_equal_text(value->key, "_id"))
        return;
    if (bytes_equal_text(value->key, "_version")) {
        read_version(result, value, document, arena);
    } else if (bytes_equal_text(value->key, "_delete")) {
        if (bytes_equal_text(value->text, "true"))
            document->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    } else if (bytes_equal_text(value->key, "_expires")) {
        if (plain_moment(value->text, &seconds))
            document->expire_time = moment_message(seconds * SECOND_US, arena);
        else
            refuse(result, arena, value->key, "expected a date as \"2026-11-15T08:00:00Z\"");
    } else {
        refuse(result, arena, value->key,
               "names that begin with _ are ours: known are _version, _expires, _delete, _id");
    }
}

static void make_document(const struct plain_columns *columns, const struct placed_json *object,
                          struct buf *words, struct arena *arena, struct plain_document *result)
{
    struct making making = {.columns = columns, .result = result, .words = words, .arena = arena};
    Torg__V1__RawDocument *document = arena_alloc(arena, sizeof(*document));

    torg__v1__raw_document__init(document);
    buf_reset(words);
    if (object->kind != PLACED_OBJECT) {
        refuse(result, arena, BYTES_EMPTY, "is not an object: expected {\"id\": 1, ...}");
        return;
    }
    read_id(result, object, columns->key, arena);
    for (const struct placed_json *one = object->first; one; one = one->next)
        if (one->key.size && one->key.data[0] == '_')
            read_sign(result, one, document, arena);
    document->pk = (char *)(result->id ? result->id : "");
    if (document->event == TORG__V1__RAW_DOCUMENT__EVENT__UPSERT && !result->reason) {
        making.fields = arena_array(arena, DOCUMENT_FIELD_COUNT_MAX + 2, sizeof(*making.fields));
        plain_walk(object, arena, make_field, &making);
        add_own(&making, object);
        document->fields = making.fields;
        document->n_fields = making.count;
    }
    result->document = result->reason ? NULL : document;
}

int plain_read(struct bytes body, const struct plain_options *options, struct arena *arena,
               struct plain_batch *batch, struct err *err)
{
    bool is_table = options->form == PLAIN_CSV;
    struct bytes key = options->key.size ? options->key : bytes_of("id");
    struct buf words = BUF_INIT(DOCUMENT_TEXT_SIZE_MAX);
    const struct placed_json *list;
    int rc = is_table ? table_read(body, arena, &list, err)
                      : placed_json_read_all(body, arena, &list, err);

    *batch = (struct plain_batch){0};
    if (!rc && !list->count)
        rc = err_set(err, ERR_INVALID, "there is no document in it");
    if (!rc && list->count > PLAIN_DOCUMENT_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT, "%u documents; the limit is %d at a time", list->count,
                     PLAIN_DOCUMENT_COUNT_MAX);
    if (!rc)
        rc = plain_columns_read(list, is_table, options->epoch, key, options->types, arena,
                                &batch->columns, err);
    if (rc)
        return rc;
    batch->list = arena_array(arena, list->count, sizeof(*batch->list));
    for (const struct placed_json *one = list->first; one; one = one->next) {
        struct plain_document *result = &batch->list[batch->count++];

        *result = (struct plain_document){.place = batch->count, .field = ""};
        make_document(&batch->columns, one, &words, arena, result);
    }
    buf_release(&words);
    return 0;
}

const char *plain_path(const struct plain_batch *batch, const struct plain_document *document,
                       const char *path, struct arena *arena)
{
    unsigned long place;
    const char *name;
    const struct plain_column *column;

    if (strncmp(path, "fields[", 7) != 0)
        return path;
    place = strtoul(path + 7, NULL, 10);
    if (place >= document->document->n_fields)
        return path;
    name = document->document->fields[place]->name;
    column = plain_columns_find(&batch->columns, bytes_of(name));
    return column ? arena_text(arena, column->path) : name;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_decode.c - JSON into messages; see json.h.
 *
 * yajl calls back for each key, value and bracket; a stack of frames says what they belong to.
 * A value that is wrong is recorded and skipped, and reading goes on. What yajl lets pass and we do
 * not is found before it starts: UTF-8 in longer than shortest form, surrogates without their
 * other half (it would turn them into a question mark).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/json_reader.h"
#include "codec/json_yajl.h"
#include "codec/message.h"
#include "codec/message_field.h"

/* --- frames --- */

static struct frame *top(struct json_reader *reader)
{
    assert(reader->frame_count);
    return &reader->frames[reader->frame_count - 1];
}

/* Opens a message, list or map; false when that is too deep, which ends the reading. */
static bool push(struct json_reader *reader, struct frame frame, unsigned levels)
{
    _Static_assert(MESSAGE_DEPTH_MAX == 64, "the text below names it");

    if (reader->depth + levels > MESSAGE_DEPTH_MAX ||
        reader->frame_count == ARRAY_COUNT(reader->frames)) {
        reader->rc = err_set(reader->err, ERR_LIMIT, "messages are nested deeper than 64");
        return false;
    }
    reader->depth += levels;
    reader->frames[reader->frame_count++] = frame;
    return true;
}

static bool push_message(struct json_reader *reader, const struct json_type *type,
                         ProtobufCMessage *message)
{
    struct frame frame = {.kind = FRAME_MESSAGE, .message = message, .type = type};

    if (type->kind == JSON_KIND_ANY) {
        frame.any = (Google__Protobuf__Any *)message;
        frame.message = NULL;
        frame.type = NULL;
    } else {
        if (!json_account(reader, (type->descriptor->n_fields / 64 + 1) * sizeof(*frame.seen)))
            return false;
        frame.seen =
            arena_array(reader->arena, type->descriptor->n_fields / 64 + 1, sizeof(*frame.seen));
    }
    return push(reader, frame, 1);
}

/* The field that the value being read belongs to; NULL when it is to be skipped. */
static const struct json_field *current_field(struct json_reader *reader)
{
    const struct frame *frame = top(reader);

    if (frame->kind == FRAME_MAP)
        return frame->entry ? &frame->field->type->fields[MAP_VALUE] : NULL;
    return frame->field;
}

/* The list that a field of this message has is opened by its bracket; all other is one value. */
static bool wants_list(struct json_reader *reader)
{
    const struct frame *frame = top(reader);

    return frame->kind == FRAME_MESSAGE && frame->field &&
           frame->field->field->label == PROTOBUF_C_LABEL_REPEATED;
}

/* Adds an element to a list or map; false when memory is over. */
static bool append(struct json_reader *reader, struct frame *frame, const void *value)
{
    size_t size = field_value_size(frame->field->field->type);
    void *larger;

    if (frame->count == frame->capacity) {
        size_t capacity = frame->capacity ? frame->capacity * 2 : 4;

        if (!json_account(reader, capacity * size))
            return false;
        larger = arena_array(reader->arena, capacity, size);
        if (frame->count)
            memcpy(larger, frame->items, frame->count * size);
        frame->items = larger;
        frame->capacity = capacity;
    }
    memcpy((uint8_t *)frame->items + frame->count++ * size, value, size);
    return true;
}

/* Puts a value where the current frame wants it. */
static void place(struct json_reader *reader, const union json_scalar *value)
{
    struct frame *frame = top(reader);
    const struct json_field *field = current_field(reader);
    ProtobufCMessage *message = frame->kind == FRAME_MAP ? frame->entry : frame->message;

    if (frame->kind == FRAME_LIST) {
        append(reader, frame, value);
        return;
    }
    field_set_present(message, field->field);
    memcpy(field_member(message, field->field), value, field_value_size(field->field->type));
}

/* Of a oneof only one member may come. */
static bool oneof_is_free(struct json_reader *reader)
{
    const struct frame *frame = top(reader);
    const struct json_field *field = frame->field;
    const ProtobufCFieldDescriptor *other;
    uint32_t set;

    if (frame->kind != FRAME_MESSAGE || !(field->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
        return true;
    set = *field_case(frame->message, field->field);
    if (set == 0 || set == field->field->id)
        return true;
    other = protobuf_c_message_descriptor_get_field(frame->type->descriptor, set);
    return json_reject(reader, "%s is set too; only one of them may be",
                       frame->type->fields[other - frame->type->descriptor->fields].name);
}

/* A value has ended, good or not. */
static void value_done(struct json_reader *reader)
{
    if (reader->frame_count)
        top(reader)->index++;
}

/* A bracket within or before a value that is skipped. */
static int skip_deeper(struct json_reader *reader)
{
    if (reader->skip_depth++ == ARRAY_COUNT(reader->frames))
        reader->rc = err_set(reader->err, ERR_LIMIT, "the JSON is nested too deep");
    return reader->rc == 0;
}

static int refuse_root(struct json_reader *reader)
{
    reader->rc = err_set(reader->err, ERR_INVALID, "the JSON must be an object: {…}");
    return 0;
}

/* --- Any --- */

/* The value of "@type": the rest of the object is a message of that type. */
static void open_any(struct json_reader *reader, struct bytes url)
{
    struct frame *frame = top(reader);
    const uint8_t *slash = url.size ? memrchr(url.data, '/', url.size) : NULL;
    const ProtobufCMessageDescriptor *type = NULL;
    struct bytes clipped = json_clip(url);

    if (slash)
        type = json_type_any(bytes_skip(url, (size_t)(slash + 1 - url.data)));
    if (!type) {
        json_reject(reader, "\"%.*s\" is not a type known here", BYTES_ARG(clipped));
        return;
    }
    if (!json_account(reader, type->sizeof_message + url.size))
        return;
    frame->any->type_url = arena_text(reader->arena, url);
    frame->type = json_type_get(type);
    frame->message = message_new(type, reader->arena);
    frame->seen = arena_array(reader->arena, type->n_fields / 64 + 1, sizeof(uint64_t));
}

static void close_any(struct json_reader *reader, struct frame *frame)
{
    struct buf wire = BUF_INIT(MESSAGE_MEMORY_MAX);

    if (!frame->message) {
        json_reject(reader, "\"@type\" is missing");
        return;
    }
    message_encode(frame->message, &wire);
    if (json_account(reader, wire.size)) {
        frame->any->value.len = wire.size;
        frame->any->value.data = (uint8_t *)arena_copy(reader->arena, buf_bytes(&wire)).data;
    }
    buf_release(&wire);
}

/* --- maps --- */

static int compare_keys(const void *a, const void *b, void *context)
{
    const ProtobufCFieldDescriptor *key = context;
    const void *left = field_member(*(ProtobufCMessage *const *)a, key);
    const void *right = field_member(*(ProtobufCMessage *const *)b, key);

    if (key->type == PROTOBUF_C_TYPE_STRING)
        return strcmp(*(char *const *)left, *(char *const *)right);
    return memcmp(left, right, field_value_size(key->type)); /* any order will do */
}

/* Keys that come twice are found by sorting a copy, once the map is whole. */
static void check_keys(struct json_reader *reader, struct frame *frame)
{
    const struct json_field *key = &frame->field->type->fields[MAP_KEY];
    ProtobufCMessage **sorted;
    size_t i;

    if (frame->count < 2)
        return;
    sorted = mem_array(frame->count, sizeof(*sorted));
    memcpy(sorted, frame->items, frame->count * sizeof(*sorted));
    qsort_r(sorted, frame->count, sizeof(*sorted), compare_keys, (void *)key->field);
    for (i = 1; i < frame->count && !reader->rc; i++) {
        if (compare_keys(&sorted[i - 1], &sorted[i], (void *)key->field) != 0)
            continue;
        frame->entry = sorted[i];
        json_reject(reader, "the key comes twice");
    }
    free(sorted);
}

static void map_key(struct json_reader *reader, struct frame *frame, struct bytes text)
{
    const struct json_field *key = &frame->field->type->fields[MAP_KEY];
    const ProtobufCMessageDescriptor *type = frame->field->type->descriptor;
    struct json_token token = {JSON_TOKEN_STRING, text};
    union json_scalar value;
    ProtobufCMessage *entry;

    frame->bad_key = text;
    frame->entry = NULL;
    if (key->field->type == PROTOBUF_C_TYPE_BOOL &&
        (bytes_equal_text(text, "true") || bytes_equal_text(text, "false")))
        token.kind = JSON_TOKEN_BOOL;
    if (!json_scalar(reader, key, token, &value) || !json_account(reader, type->sizeof_message))
        return;
    entry = message_new(type, reader->arena);
    memcpy(field_member(entry, key->field), &value, field_value_size(key->field->type));
    if (append(reader, frame, &entry))
        frame->entry = entry;
}

/* --- what yajl calls --- */

static void message_key(struct json_reader *reader, struct frame *frame, struct bytes name)
{
    const struct json_field *field;
    size_t index;

    frame->field = NULL;
    frame->is_any_type = frame->any && !frame->type && bytes_equal_text(name, "@type");
    if (frame->is_any_type)
        return;
    if (!frame->type) {
        json_reject_key(reader, name, "\"@type\" must come first");
        return;
    }
    field = json_type_find(frame->type, name);
    if (!field) {
        json_reject_unknown(reader, frame->type, name);
        return;
    }
    index = (size_t)(field - frame->type->fields);
    if (frame->seen[index / 64] & UINT64_C(1) << index % 64) {
        json_reject_key(reader, name, "the field comes twice");
        return;
    }
    frame->seen[index / 64] |= UINT64_C(1) << index % 64;
    frame->field = field;
}

static int on_key(void *context, const unsigned char *text, size_t size)
{
    struct json_reader *reader = context;
    struct bytes name = bytes_make(text, size);

    if (reader->skip_depth)
        return 1;
    if (top(reader)->kind == FRAME_MAP)
        map_key(reader, top(reader), name);
    else
        message_key(reader, top(reader), name);
    return reader->rc == 0;
}

static int on_scalar(struct json_reader *reader, enum json_token_kind kind, struct bytes text)
{
    struct json_token token = {kind, text};
    const struct json_field *field;
    union json_scalar value;

    if (reader->skip_depth)
        return 1;
    if (!reader->frame_count)
        return refuse_root(reader);
    field = current_field(reader);
    if (top(reader)->is_any_type && kind == JSON_TOKEN_STRING)
        open_any(reader, text);
    else if (top(reader)->is_any_type)
        json_reject(reader, "expected a string");
    else if (field && wants_list(reader))
        json_reject(reader, "expected %s", field->is_map ? "an object" : "a list");
    else if (field && oneof_is_free(reader) && json_scalar(reader, field, token, &value))
        place(reader, &value);
    value_done(reader);
    return reader->rc == 0;
}

static int on_string(void *context, const unsigned char *text, size_t size)
{
    return on_scalar(context, JSON_TOKEN_STRING, bytes_make(text, size));
}

static int on_number(void *context, const char *text, size_t size)
{
    return on_scalar(context, JSON_TOKEN_NUMBER, bytes_make(text, size));
}

static int on_bool(void *context, int truth)
{
    return on_scalar(context, JSON_TOKEN_BOOL, bytes_of(truth ? "true" : "false"));
}

static int on_null(void *context)
{
    struct json_reader *reader = context;

    if (reader->skip_depth)
        return 1;
    if (!reader->frame_count)
        return refuse_root(reader);
    if (top(reader)->kind != FRAME_MESSAGE && current_field(reader))
        json_reject(reader, "null is not allowed in a list or map");
    value_done(reader);
    return reader->rc == 0;
}

/* What brackets open must fit the field. */
static int reject_bracket(struct json_reader *reader, const char *got)
{
    const struct json_field *field = current_field(reader);
    const char *wanted = "a single value";

    if (top(reader)->is_any_type)
        wanted = "a string";
    else if (wants_list(reader))
        wanted = field->is_map ? "an object" : "a list";
    else if (field && field->type && field->type->kind != JSON_KIND_TIMESTAMP &&
             field->type->kind != JSON_KIND_DURATION)
        wanted = "an object";
    if (field || top(reader)->is_any_type)
        json_reject(reader, "expected %s, got %s", wanted, got);
    return skip_deeper(reader);
}

static int open_message(struct json_reader *reader, const struct json_field *field)
{
    union json_scalar value;

    if (!oneof_is_free(reader))
        return skip_deeper(reader);
    if (!json_account(reader, field->type->descriptor->sizeof_message))
        return 0;
    value.message = message_new(field->type->descriptor, reader->arena);
    place(reader, &value);
    return reader->rc == 0 && push_message(reader, field->type, value.message);
}

static int on_start_object(void *context)
{
    struct json_reader *reader = context;
    const struct json_field *field;

    if (reader->skip_depth)
        return skip_deeper(reader);
    if (!reader->frame_count)
        return push_message(reader, reader->root_type, reader->root);
    field = current_field(reader);
    if (field && wants_list(reader) && field->is_map)
        return push(
            reader,
            (struct frame){.kind = FRAME_MAP, .message = top(reader)->message, .field = field}, 1);
    if (field && field->type && !wants_list(reader) &&
        (field->type->kind == JSON_KIND_MESSAGE || field->type->kind == JSON_KIND_ANY))
        return open_message(reader, field);
    return reject_bracket(reader, "an object");
}

static int on_start_list(void *context)
{
    struct json_reader *reader = context;
    const struct json_field *field;

    if (reader->skip_depth)
        return skip_deeper(reader);
    if (!reader->frame_count)
        return refuse_root(reader);
    field = current_field(reader);
    if (field && wants_list(reader) && !field->is_map)
        return push(
            reader,
            (struct frame){.kind = FRAME_LIST, .message = top(reader)->message, .field = field}, 0);
    return reject_bracket(reader, "a list");
}

static int on_end(void *context)
{
    struct json_reader *reader = context;
    struct frame *frame;

    if (reader->skip_depth) {
        if (--reader->skip_depth == 0)
            value_done(reader);
        return 1;
    }
    frame = top(reader);
    if (frame->kind == FRAME_MAP)
        check_keys(reader, frame);
    if (frame->kind != FRAME_MESSAGE) {
        *field_count(frame->message, frame->field->field) = frame->count;
        *(void **)field_member(frame->message, frame->field->field) = frame->items;
    } else if (frame->any) {
        close_any(reader, frame);
    }
    reader->depth -= frame->kind != FRAME_LIST;
    reader->frame_count--;
    value_done(reader);
    return reader->rc == 0;
}

/* --- the whole --- */

static bool hex4(struct bytes text, size_t at, unsigned *value)
{
    char digits[5] = {0};
    char *end;

    if (at + 4 > text.size)
        return false;
    memcpy(digits, text.data + at, 4);
    *value = (unsigned)strtoul(digits, &end, 16);
    return end == digits + 4;
}

/* Finds a \uD8xx without its \uDCxx or the other way round; every other escape is left to yajl. */
static bool has_lone_surrogate(struct bytes json, size_t *at)
{
    const uint8_t *found;
    unsigned value;

    for (*at = 0; *at < json.size;) {
        found = memchr(json.data + *at, '\\', json.size - *at);
        if (!found)
            return false;
        *at = (size_t)(found - json.data);
        if (*at + 1 >= json.size || json.data[*at + 1] != 'u' || !hex4(json, *at + 2, &value) ||
            value < 0xd800 || value > 0xdfff) {
            *at += 2;
            continue;
        }
        if (value > 0xdbff || *at + 7 >= json.size || json.data[*at + 6] != '\\' ||
            json.data[*at + 7] != 'u' || !hex4(json, *at + 8, &value) || value < 0xdc00 ||
            value > 0xdfff)
            return true;
        *at += 12;
    }
    return false;
}

/* Says where the text stops being JSON, and what yajl says of it, without its line end. */
static int broken(struct json_reader *reader, yajl_handle yajl, struct bytes json)
{
    unsigned char *text = yajl_get_error(yajl, 0, json.data, json.size);
    struct buf path = BUF_INIT(JSON_PATH_SIZE_MAX);
    int rc;

    json_put_path(reader, &path);
    rc = err_set(reader->err, ERR_INVALID, "not valid JSON at byte %zu%s%s: %.*s",
                 yajl_get_bytes_consumed(yajl), path.size ? ", in " : "", buf_text(&path),
                 (int)strcspn((const char *)text, "\n"), (const char *)text);
    yajl_free_error(yajl, text);
    buf_release(&path);
    return rc;
}

static int parse(struct json_reader *reader, struct bytes json)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_bool,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_start_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_start_list,
        .yajl_end_array = on_end,
    };
    yajl_alloc_funcs memory = json_yajl_memory;
    yajl_handle yajl = yajl_alloc(&callbacks, &memory, reader);
    yajl_status status;
    int rc = 0;

    yajl_config(yajl, yajl_dont_validate_strings, 1); /* done already, and more strictly */
    status = yajl_parse(yajl, json.data, json.size);
    if (status == yajl_status_ok)
        status = yajl_complete_parse(yajl);
    if (status == yajl_status_client_canceled)
        rc = reader->rc;
    else if (status != yajl_status_ok)
        rc = broken(reader, yajl, json);
    yajl_free(yajl);
    return rc;
}

int json_check_text(struct bytes json, struct err *err)
{
    size_t at;

    if (json.size == 0)
        return err_set(err, ERR_INVALID, "the JSON is empty; a message without fields is {}");
    if (!text_is_utf8(json))
        return err_set(err, ERR_INVALID, "the JSON is not valid UTF-8");
    if (has_lone_surrogate(json, &at))
        return err_set(err, ERR_INVALID, "half of a surrogate pair at byte %zu of the JSON", at);
    return 0;
}

int json_decode(struct bytes json, const ProtobufCMessageDescriptor *type, struct arena *arena,
                ProtobufCMessage **message, struct violations *violations, struct err *err)
{
    struct violations local = violations_in(arena);
    struct json_reader reader; /* large, and only the front needs a start value */
    size_t before;
    int rc;

    *message = NULL;
    rc = json_check_text(json, err);
    if (rc)
        return rc;
    memset(&reader, 0, offsetof(struct json_reader, frames));
    reader.arena = arena;
    reader.err = err;
    reader.violations = violations ? violations : &local;
    reader.root_type = json_type_get(type);
    reader.root = message_new(type, arena);
    assert(reader.root_type->kind == JSON_KIND_MESSAGE);
    before = reader.violations->count;
    rc = parse(&reader, json);
    if (!rc && reader.violations->count > before) {
        size_t more = reader.violations->count - before - 1;

        rc = err_set(err, ERR_INVALID, more ? "%s: %s (and %zu more)" : "%s: %s",
                     reader.first->field, reader.first->reason, more);
    }
    if (!rc)
        *message = reader.root;
    return rc;
}

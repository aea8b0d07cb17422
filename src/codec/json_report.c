/* SPDX-License-Identifier: Apache-2.0 */
/* json_report.c - what is wrong with the JSON, and where; see json_reader.h. */
#include <stdarg.h>

#include "base/bounds.h"
#include "codec/json_reader.h"
#include "codec/json_value.h"
#include "codec/message_field.h"

enum { NAMES_TOLD_MAX = 10, CLIP_SIZE = 64 };

struct bytes json_clip(struct bytes text)
{
    if (text.size <= CLIP_SIZE)
        return text;
    text.size = CLIP_SIZE;
    while (text.size && (text.data[text.size] & 0xc0) == 0x80)
        text.size--;
    return text;
}

static void put_map_key(struct buf *path, const struct frame *frame)
{
    const struct json_field *key = &frame->field->type->fields[MAP_KEY];

    buf_put_byte(path, '[');
    if (!frame->entry)
        json_put_text(path, json_clip(frame->bad_key));
    else if (key->field->type == PROTOBUF_C_TYPE_STRING)
        json_put_text(path, json_clip(bytes_of(*(char **)field_member(frame->entry, key->field))));
    else
        json_put_key(path, key, frame->entry);
    buf_put_byte(path, ']');
}

void json_put_path(const struct json_reader *reader, struct buf *path)
{
    unsigned i;

    for (i = 0; i < reader->frame_count; i++) {
        const struct frame *frame = &reader->frames[i];

        if (frame->kind == FRAME_LIST)
            buf_printf(path, "[%zu]", frame->index);
        else if (frame->kind == FRAME_MAP)
            put_map_key(path, frame);
        else if (frame->is_any_type)
            buf_printf(path, "%s@type", path->size ? "." : "");
        else if (frame->field)
            buf_printf(path, "%s%s", path->size ? "." : "", frame->field->name);
    }
}

void json_reject_key(struct json_reader *reader, struct bytes key, const char *reason)
{
    struct buf path = BUF_INIT(JSON_PATH_SIZE_MAX);
    struct bytes clipped = json_clip(key);

    _Static_assert(VIOLATION_COUNT_MAX == 100, "the text below names it");
    if (reader->violations->count >= VIOLATION_COUNT_MAX) {
        reader->rc = err_set(reader->err, ERR_INVALID, "more than 100 fields are wrong");
        return;
    }
    json_put_path(reader, &path);
    if (clipped.size)
        buf_printf(&path, "%s%.*s", path.size ? "." : "", BYTES_ARG(clipped));
    /* A path too long is told as far as it fits. */
    violations_add(reader->violations, arena_text(reader->violations->arena, buf_bytes(&path)),
                   "%s", reason);
    if (!reader->first)
        reader->first = reader->violations->last;
    buf_release(&path);
}

bool json_reject(struct json_reader *reader, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    json_reject_key(reader, BYTES_EMPTY, arena_vprintf(reader->violations->arena, format, args));
    va_end(args);
    return false;
}

bool json_account(struct json_reader *reader, size_t size)
{
    _Static_assert(MESSAGE_MEMORY_MAX == 32 << 20, "the text below names it");

    size = (size + 15) & ~(size_t)15; /* as the arena rounds it */
    if (size > MESSAGE_MEMORY_MAX - reader->memory_size) {
        reader->rc =
            err_set(reader->err, ERR_LIMIT, "the message takes more than 32 MB decoded; send less");
        return false;
    }
    reader->memory_size += size;
    return true;
}

void json_reject_unknown(struct json_reader *reader, const struct json_type *type, struct bytes key)
{
    struct buf reason = BUF_INIT(JSON_PATH_SIZE_MAX);
    unsigned i;

    buf_printf(&reason, "unknown field; known: ");
    for (i = 0; i < type->descriptor->n_fields && i < NAMES_TOLD_MAX; i++)
        buf_printf(&reason, "%s%s", i ? ", " : "", type->fields[i].name);
    if (type->descriptor->n_fields == 0)
        buf_put_text(&reason, "none");
    else if (i < type->descriptor->n_fields)
        buf_put_text(&reason, ", …");
    json_reject_key(reader, key, buf_text(&reason));
    buf_release(&reason);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_pb_field.c - "pb-field:3" or "pb-field:2.1": the key is a field of the message, by its
 * number, in the message of field 2 for instance. No type is asked for: a number or a text.
 */
#include <inttypes.h>

#include "base/text.h"
#include "base/varint.h"
#include "snippets/parts/parts.h"

enum { FIELD_DEPTH_MAX = 8 };

struct field_path {
    uint64_t numbers[FIELD_DEPTH_MAX];
    size_t count;
};

static int make(const struct part_setup *setup, const void **state, struct err *err)
{
    struct field_path *path = arena_zero(setup->arena, sizeof(*path));
    struct bytes rest = setup->argument;
    size_t size = 0;

    *state = path;
    while (size <= rest.size && path->count < FIELD_DEPTH_MAX) {
        if (size < rest.size && rest.data[size] != '.') {
            size++;
            continue;
        }
        if (!text_to_u64(bytes_make(rest.data, size), &path->numbers[path->count]) ||
            path->numbers[path->count] == 0)
            break;
        path->count++;
        if (size == rest.size)
            return 0;
        rest = bytes_skip(rest, size + 1);
        size = 0;
    }
    return err_set(err, ERR_INVALID,
                   "expected numbers of fields, as in pb-field:3 or pb-field:2.1");
}

/* One field off the front: its number, its kind of the wire, its value or bytes. */
static bool next_field(struct bytes *wire, uint64_t *tag, uint64_t *value, struct bytes *bytes)
{
    size_t size;

    *bytes = BYTES_EMPTY;
    if (!varint_get(wire, tag))
        return false;
    if ((*tag & 7) == 0)
        return varint_get(wire, value);
    if ((*tag & 7) == 2) {
        if (!varint_get(wire, value) || *value > wire->size)
            return false;
        *bytes = bytes_make(wire->data, (size_t)*value);
        *wire = bytes_skip(*wire, (size_t)*value);
        return true;
    }
    size = (*tag & 7) == 1 ? 8 : (*tag & 7) == 5 ? 4 : SIZE_MAX;
    if (size > wire->size)
        return false;
    *bytes = bytes_make(wire->data, size);
    *wire = bytes_skip(*wire, size);
    return true;
}

static int extract(const void *state, const struct snippet_record *record, struct arena *arena,
                   struct bytes *key, struct err *err)
{
    const struct field_path *path = state;
    struct bytes wire = record->input.body, bytes;
    uint64_t tag, value;
    size_t depth = 0;

    if (wire.size == 0) { /* a deletion has nothing else */
        *key = record->key;
        return 0;
    }
    while (wire.size) {
        if (!next_field(&wire, &tag, &value, &bytes))
            return err_set(err, ERR_INVALID, "the record is not a protobuf message");
        if (tag >> 3 != path->numbers[depth])
            continue;
        if (depth + 1 < path->count) {
            wire = bytes;
            depth++;
            continue;
        }
        *key = (tag & 7) == 0 ? bytes_of(arena_printf(arena, "%" PRIu64, value)) : bytes;
        return 0;
    }
    return err_set(err, ERR_INVALID, "the record does not have the field of its key");
}

const struct snippet_extractor extractor_pb_field = {
    .name = "pb-field",
    .about = "pb-field:2.1: the key is a field of the message, by its number",
    .make = make,
    .formats = 1u << SNIPPET_PB,
    .extract = extract,
};

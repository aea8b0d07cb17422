/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - see message.h.
 *
 * One pass over the wire. A list grows by doubling within the arena; its capacity is not
 * stored but follows from its count (capacity_of), because only this file appends to it.
 * The steps from the root to the field being read are kept for error texts alone.
 */
#include "codec/message.h"

#include <assert.h>
#include <string.h>

#include "base/endian.h"
#include "base/text.h"
#include "codec/bounds.h"
#include "codec/message_field.h"

enum {
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_32 = 5
};

struct step {
    const ProtobufCFieldDescriptor *field; /* NULL before the first known field */
    size_t index;                          /* in a list */
};

struct decoder {
    struct arena *arena;
    struct err *err;
    size_t memory_size;
    size_t unknown_count;
    unsigned depth; /* of the message being read; the root is 0 */
    struct step steps[MESSAGE_DEPTH_MAX];
};

static int decode_fields(struct decoder *decoder, struct bytes wire, ProtobufCMessage *message);

void *message_new(const ProtobufCMessageDescriptor *type, struct arena *arena)
{
    ProtobufCMessage *message = arena_alloc(arena, type->sizeof_message);

    type->message_init(message);
    return message;
}

void message_encode(const ProtobufCMessage *message, struct buf *out)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *room = buf_reserve(out, size);

    if (room)
        buf_advance(out, protobuf_c_message_pack(message, room));
}

/* Puts the path before the reason: "everything.many_children[3].a_string: …". */
static int fail(struct decoder *decoder, int code, const char *reason)
{
    struct buf path = BUF_INIT(ERR_TEXT_SIZE / 2);
    unsigned i;

    for (i = 0; i <= decoder->depth && decoder->steps[i].field; i++) {
        const struct step *step = &decoder->steps[i];

        buf_printf(&path, "%s%s", i ? "." : "", step->field->name);
        if (step->field->label == PROTOBUF_C_LABEL_REPEATED)
            buf_printf(&path, "[%zu]", step->index);
    }
    code = err_set(decoder->err, code, "%.*s%s%s: %s", (int)path.size,
                   path.data ? (const char *)path.data : "", buf_failed(&path) ? "…" : "",
                   path.size ? "" : "message", reason);
    buf_release(&path);
    return code;
}

/* Counts memory about to be taken, as the arena rounds it; the arena itself has no bound. */
static int account(struct decoder *decoder, size_t size)
{
    _Static_assert(MESSAGE_MEMORY_MAX == 32 << 20, "the text below names it");

    size = (size + 15) & ~(size_t)15;
    if (size > MESSAGE_MEMORY_MAX - decoder->memory_size)
        return fail(decoder, ERR_LIMIT, "the message takes more than 32 MB decoded; send less");
    decoder->memory_size += size;
    return 0;
}

/* --- the wire --- */

static int read_varint(struct decoder *decoder, struct bytes *wire, uint64_t *value)
{
    uint64_t result = 0;
    size_t i;

    for (i = 0; i < wire->size && i < 10; i++) {
        uint8_t byte = wire->data[i];

        result |= (uint64_t)(byte & 127) << (7 * i);
        if (byte < 128) {
            *wire = bytes_skip(*wire, i + 1);
            *value = result;
            return 0;
        }
    }
    return fail(decoder, ERR_INVALID,
                i == 10 ? "a number is longer than 10 bytes" : "the message ends within a number");
}

static int read_run(struct decoder *decoder, struct bytes *wire, uint64_t size, struct bytes *run)
{
    if (size > wire->size)
        return fail(decoder, ERR_INVALID, "the message ends within the field");
    *run = bytes_make(wire->data, size);
    *wire = bytes_skip(*wire, size);
    return 0;
}

static int read_prefixed(struct decoder *decoder, struct bytes *wire, struct bytes *run)
{
    uint64_t size = 0;
    int rc = read_varint(decoder, wire, &size);

    return rc ? rc : read_run(decoder, wire, size, run);
}

static unsigned wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return WIRE_32;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return WIRE_64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    default:
        return WIRE_VARINT;
    }
}

/* --- values --- */

static void store_varint(ProtobufCType type, uint64_t value, void *slot)
{
    uint64_t unzigzag = (value >> 1) ^ (0 - (value & 1));
    uint32_t low = (uint32_t)value;
    uint32_t low_unzigzag = (low >> 1) ^ (0 - (low & 1));
    protobuf_c_boolean truth = value != 0;

    if (type == PROTOBUF_C_TYPE_BOOL)
        memcpy(slot, &truth, sizeof(truth));
    else if (type == PROTOBUF_C_TYPE_SINT64)
        memcpy(slot, &unzigzag, sizeof(unzigzag));
    else if (type == PROTOBUF_C_TYPE_SINT32)
        memcpy(slot, &low_unzigzag, sizeof(low_unzigzag));
    else if (field_value_size(type) == sizeof(uint32_t))
        memcpy(slot, &low, sizeof(low));
    else
        memcpy(slot, &value, sizeof(value));
}

static void store_fixed(struct bytes run, void *slot)
{
    uint32_t word;
    uint64_t wide;

    if (run.size == sizeof(word)) {
        word = get_le32(run.data);
        memcpy(slot, &word, sizeof(word));
    } else {
        wide = get_le64(run.data);
        memcpy(slot, &wide, sizeof(wide));
    }
}

static int store_text(struct decoder *decoder, struct bytes run, char **slot)
{
    int rc = account(decoder, run.size + 1);

    if (rc)
        return rc;
    if (!text_is_utf8(run))
        return fail(decoder, ERR_INVALID, "the text is not valid UTF-8");
    if (run.size && memchr(run.data, 0, run.size))
        return fail(decoder, ERR_INVALID, "the text holds U+0000, which is not allowed");
    *slot = arena_text(decoder->arena, run);
    return 0;
}

static int store_bytes(struct decoder *decoder, struct bytes run, ProtobufCBinaryData *slot)
{
    int rc = account(decoder, run.size);

    if (rc)
        return rc;
    slot->len = run.size;
    slot->data = run.size ? (uint8_t *)arena_copy(decoder->arena, run).data : NULL;
    return 0;
}

/* Reads into the message at slot, which is made if there is none: a second one is merged. */
static int store_message(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                         struct bytes run, ProtobufCMessage **slot)
{
    const ProtobufCMessageDescriptor *type = field->descriptor;
    int rc = 0;

    _Static_assert(MESSAGE_DEPTH_MAX == 64, "the text below names it");
    if (decoder->depth + 1 == MESSAGE_DEPTH_MAX)
        return fail(decoder, ERR_LIMIT, "messages are nested deeper than 64");
    if (!*slot) {
        rc = account(decoder, type->sizeof_message);
        if (rc)
            return rc;
        *slot = message_new(type, decoder->arena);
    }
    decoder->steps[++decoder->depth].field = NULL;
    rc = decode_fields(decoder, run, *slot);
    decoder->depth--;
    return rc;
}

static int decode_value(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                        struct bytes *wire, void *slot)
{
    unsigned wire_type = wire_type_of(field->type);
    struct bytes run = BYTES_EMPTY;
    uint64_t value = 0;
    int rc;

    if (wire_type == WIRE_VARINT) {
        rc = read_varint(decoder, wire, &value);
        if (!rc)
            store_varint(field->type, value, slot);
        return rc;
    }
    if (wire_type != WIRE_BYTES) {
        rc = read_run(decoder, wire, wire_type == WIRE_32 ? 4 : 8, &run);
        if (!rc)
            store_fixed(run, slot);
        return rc;
    }
    rc = read_prefixed(decoder, wire, &run);
    if (rc)
        return rc;
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return store_text(decoder, run, slot);
    if (field->type == PROTOBUF_C_TYPE_BYTES)
        return store_bytes(decoder, run, slot);
    return store_message(decoder, field, run, slot);
}

/* --- lists --- */

static size_t capacity_of(size_t count)
{
    size_t capacity = count ? 4 : 0;

    while (capacity < count)
        capacity *= 2;
    return capacity;
}

/* Room for more elements behind the count that are there. */
static int grow(struct decoder *decoder, void **items, size_t count, size_t more, size_t size)
{
    size_t capacity = capacity_of(count + more);
    void *larger;
    int rc;

    if (capacity == capacity_of(count))
        return 0;
    rc = account(decoder, capacity * size); /* count + more ≤ wire bytes: no overflow */
    if (rc)
        return rc;
    larger = arena_array(decoder->arena, capacity, size);
    if (count)
        memcpy(larger, *items, count * size);
    *items = larger;
    return 0;
}

static int decode_element(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                          struct bytes *wire, ProtobufCMessage *message)
{
    size_t size = field_value_size(field->type);
    size_t *count = field_count(message, field);
    void **items = field_member(message, field);
    int rc;

    decoder->steps[decoder->depth].index = *count;
    rc = grow(decoder, items, *count, 1, size);
    if (!rc)
        rc = decode_value(decoder, field, wire, (uint8_t *)*items + *count * size);
    if (!rc)
        (*count)++;
    return rc;
}

static int decode_packed(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                         struct bytes *wire, ProtobufCMessage *message)
{
    size_t size = field_value_size(field->type);
    size_t *count = field_count(message, field);
    void **items = field_member(message, field);
    struct bytes run = BYTES_EMPTY;
    size_t more = 0;
    size_t i;
    int rc = read_prefixed(decoder, wire, &run);

    if (rc)
        return rc;
    if (wire_type_of(field->type) == WIRE_VARINT) {
        for (i = 0; i < run.size; i++)
            more += run.data[i] < 128;
    } else {
        more = run.size / size;
    }
    rc = grow(decoder, items, *count, more, size);
    while (!rc && run.size) {
        decoder->steps[decoder->depth].index = *count;
        if (!more--) /* only what ends too early is left */
            return fail(decoder, ERR_INVALID, "the list ends within a number");
        rc = decode_value(decoder, field, &run, (uint8_t *)*items + *count * size);
        if (!rc)
            (*count)++;
    }
    return rc;
}

/* --- fields --- */

static int decode_single(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                         struct bytes *wire, ProtobufCMessage *message)
{
    void *slot = field_member(message, field);

    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) && *field_case(message, field) != field->id)
        memset(slot, 0, field_value_size(field->type)); /* another member lived there */
    field_set_present(message, field);
    return decode_value(decoder, field, wire, slot);
}

static int decode_field(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                        unsigned wire_type, struct bytes *wire, ProtobufCMessage *message)
{
    unsigned expected = wire_type_of(field->type);

    decoder->steps[decoder->depth] = (struct step){.field = field};
    if (field->label == PROTOBUF_C_LABEL_REPEATED && wire_type == WIRE_BYTES &&
        expected != WIRE_BYTES)
        return decode_packed(decoder, field, wire, message);
    if (wire_type != expected)
        return fail(decoder, ERR_INVALID, "the wire type is not the one of the field's type");
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return decode_element(decoder, field, wire, message);
    return decode_single(decoder, field, wire, message);
}

/* Keeps a field nobody here knows, as protobuf-c does: its bytes behind the key. */
static int keep_unknown(struct decoder *decoder, uint32_t id, unsigned wire_type,
                        struct bytes *wire, ProtobufCMessage *message)
{
    const uint8_t *start = wire->data;
    ProtobufCMessageUnknownField *unknown;
    struct bytes run = BYTES_EMPTY;
    uint64_t ignored = 0;
    void *items = message->unknown_fields;
    int rc;

    _Static_assert(MESSAGE_UNKNOWN_COUNT_MAX == 256, "the text below names it");
    if (decoder->unknown_count++ == MESSAGE_UNKNOWN_COUNT_MAX)
        return fail(decoder, ERR_LIMIT, "the message has more than 256 unknown fields");
    if (wire_type == WIRE_VARINT)
        rc = read_varint(decoder, wire, &ignored);
    else if (wire_type == WIRE_BYTES)
        rc = read_prefixed(decoder, wire, &run);
    else
        rc = read_run(decoder, wire, wire_type == WIRE_32 ? 4 : 8, &run);
    if (rc)
        return rc;
    run = bytes_make(start, (size_t)(wire->data - start));
    rc = grow(decoder, &items, message->n_unknown_fields, 1, sizeof(*unknown));
    if (!rc)
        rc = account(decoder, run.size);
    if (rc)
        return rc;
    message->unknown_fields = items;
    unknown = &message->unknown_fields[message->n_unknown_fields++];
    unknown->tag = id;
    unknown->wire_type = (ProtobufCWireType)wire_type;
    unknown->len = run.size;
    unknown->data = (uint8_t *)arena_copy(decoder->arena, run).data;
    return 0;
}

/* Writers send fields in order, so the next field is looked at before searching. */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *type,
                                                  const ProtobufCFieldDescriptor *last, uint32_t id)
{
    if (last && last->id == id)
        return last;
    if (last && last + 1 < type->fields + type->n_fields && last[1].id == id)
        return last + 1;
    return protobuf_c_message_descriptor_get_field(type, id);
}

static int decode_fields(struct decoder *decoder, struct bytes wire, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const ProtobufCFieldDescriptor *last = NULL;
    int rc = 0;

    while (!rc && wire.size) {
        const ProtobufCFieldDescriptor *field;
        uint64_t key = 0;
        unsigned wire_type;

        rc = read_varint(decoder, &wire, &key);
        if (rc)
            return rc;
        wire_type = key & 7;
        if (key >> 3 == 0 || key >> 32)
            return fail(decoder, ERR_INVALID, "a field number is out of range after this field");
        if (wire_type == WIRE_GROUP || wire_type == WIRE_GROUP_END || wire_type > WIRE_32)
            return fail(decoder, ERR_INVALID, "a wire type is not supported after this field");
        field = find_field(type, last, (uint32_t)(key >> 3));
        if (field)
            rc = decode_field(decoder, field, wire_type, &wire, message);
        else
            rc = keep_unknown(decoder, (uint32_t)(key >> 3), wire_type, &wire, message);
        last = field ? field : last;
    }
    return rc;
}

int message_decode(struct bytes wire, const ProtobufCMessageDescriptor *type, struct arena *arena,
                   ProtobufCMessage **message, struct err *err)
{
    struct decoder decoder = {.arena = arena, .err = err, .memory_size = type->sizeof_message};
    ProtobufCMessage *root = message_new(type, arena);
    int rc = decode_fields(&decoder, wire, root);

    *message = rc ? NULL : root;
    return rc;
}

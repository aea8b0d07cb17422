/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_type.c - see json_type.h.
 *
 * Two tables, both only growing, both behind one mutex for writers:
 *  - known: full message name → its DescriptorProto, from the sets given to json_add_types; it says
 *    which messages are map entries and which fields have a name of their own in JSON;
 *  - types: descriptor address → prepared type. A reader sees a type only when it and all it
 *    reaches are finished, because they are published last.
 */
#include "codec/json_type.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"
#include "codec/bounds.h"
#include "codec/json.h"
#include "codec/message.h"
#include "google/protobuf/any.pb-c.h"
#include "google/protobuf/descriptor.pb-c.h"
#include "google/protobuf/duration.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "google/rpc/error_details.pb-c.h"
#include "model_descriptors.h"

struct known {
    struct bytes name;
    const Google__Protobuf__DescriptorProto *proto;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct arena *memory; /* of everything below, never freed */
static struct known *known;  /* newest last */
static size_t known_count;
static size_t known_capacity;
static _Atomic(const struct json_type *)
    types[JSON_TYPE_COUNT_MAX]; /* by address; open addressing */

/* Types being prepared under the mutex, not yet published. */
struct batch {
    struct json_type *types[JSON_TYPE_COUNT_MAX];
    size_t count;
};

/* --- known messages --- */

static void add_known(const char *prefix, const Google__Protobuf__DescriptorProto *proto)
{
    const char *name = arena_printf(memory, "%s%s%s", prefix, prefix[0] ? "." : "", proto->name);
    size_t i;

    known = mem_grow(known, known_count + 1, sizeof(*known), &known_capacity);
    known[known_count++] = (struct known){bytes_of(name), proto};
    for (i = 0; i < proto->n_nested_type; i++)
        add_known(name, proto->nested_type[i]); /* as deep as message_decode allowed */
}

static const Google__Protobuf__DescriptorProto *find_known(const char *name)
{
    size_t i;

    for (i = 0; i < known_count; i++) { /* once for each type of the process */
        if (bytes_equal_text(known[i].name, name))
            return known[i].proto;
    }
    return NULL;
}

static int add_set(struct bytes descriptor_set, struct err *err)
{
    const Google__Protobuf__FileDescriptorSet *set;
    ProtobufCMessage *message;
    size_t i;
    size_t k;
    int rc = message_decode(descriptor_set, &google__protobuf__file_descriptor_set__descriptor,
                            memory, &message, err);

    if (rc) {
        if (err)
            err_wrap(err, "descriptor set");
        return rc;
    }
    set = (const Google__Protobuf__FileDescriptorSet *)message;
    for (i = 0; i < set->n_file; i++) {
        const Google__Protobuf__FileDescriptorProto *file = set->file[i];

        for (k = 0; k < file->n_message_type; k++)
            add_known(file->package ? file->package : "", file->message_type[k]);
    }
    return 0;
}

static void add_model(void)
{
    struct err err;
    int rc;

    memory = arena_new();
    rc = add_set(bytes_make(model_descriptors, model_descriptors_size), &err);
    assert(!rc);
}

int json_add_types(struct bytes descriptor_set, struct err *err)
{
    int rc;

    pthread_once(&once, add_model);
    pthread_mutex_lock(&mutex);
    rc = add_set(descriptor_set, err);
    pthread_mutex_unlock(&mutex);
    return rc;
}

/* --- preparing a type --- */

/* As protoc does: each underscore goes, and what follows it is a capital. */
static char *camel(const char *name, bool capital)
{
    char *out = arena_alloc(memory, strlen(name) + 1);
    size_t size = 0;

    for (; *name; name++) {
        if (*name == '_')
            capital = true;
        else {
            out[size++] = capital && *name >= 'a' && *name <= 'z' ? (char)(*name - 32) : *name;
            capital = false;
        }
    }
    out[size] = 0;
    return out;
}

/* For types of no known set: protoc makes Parent.FieldNameEntry {key = 1; value = 2} of a map. */
static bool looks_like_entry(const ProtobufCMessageDescriptor *parent,
                             const ProtobufCFieldDescriptor *field,
                             const ProtobufCMessageDescriptor *entry)
{
    const char *wanted = arena_printf(memory, "%s.%sEntry", parent->name, camel(field->name, true));

    return strcmp(entry->name, wanted) == 0 && entry->n_fields == 2 && entry->fields[0].id == 1 &&
           entry->fields[1].id == 2 && strcmp(entry->fields[0].name, "key") == 0 &&
           strcmp(entry->fields[1].name, "value") == 0;
}

static bool is_map(const ProtobufCMessageDescriptor *parent, const ProtobufCFieldDescriptor *field)
{
    const Google__Protobuf__DescriptorProto *proto;
    const ProtobufCMessageDescriptor *entry = field->descriptor;

    if (field->label != PROTOBUF_C_LABEL_REPEATED || field->type != PROTOBUF_C_TYPE_MESSAGE)
        return false;
    proto = find_known(entry->name);
    if (proto)
        return proto->options && proto->options->map_entry;
    return looks_like_entry(parent, field, entry);
}

static const char *json_name(const Google__Protobuf__DescriptorProto *proto,
                             const ProtobufCFieldDescriptor *field)
{
    size_t i;

    for (i = 0; proto && i < proto->n_field; i++) {
        if ((uint32_t)proto->field[i]->number == field->id && proto->field[i]->json_name)
            return proto->field[i]->json_name;
    }
    return camel(field->name, false);
}

static enum json_kind kind_of(const ProtobufCMessageDescriptor *descriptor)
{
    if (descriptor == &google__protobuf__timestamp__descriptor)
        return JSON_KIND_TIMESTAMP;
    if (descriptor == &google__protobuf__duration__descriptor)
        return JSON_KIND_DURATION;
    return descriptor == &google__protobuf__any__descriptor ? JSON_KIND_ANY : JSON_KIND_MESSAGE;
}

static void add_name(struct json_type *type, const char *name, const struct json_field *field)
{
    struct bytes bytes = bytes_of(name);
    size_t at = hash64(bytes) & type->slot_mask;

    while (type->slots[at].field)
        at = (at + 1) & type->slot_mask;
    type->slots[at] = (struct json_slot){bytes, field};
}

static size_t home_of(const ProtobufCMessageDescriptor *descriptor)
{
    return (size_t)(((uintptr_t)descriptor >> 4) * 0x9e3779b97f4a7c15u >> 40) % JSON_TYPE_COUNT_MAX;
}

static const struct json_type *find_type(const ProtobufCMessageDescriptor *descriptor)
{
    size_t at = home_of(descriptor);

    for (;;) {
        const struct json_type *type = atomic_load_explicit(&types[at], memory_order_acquire);

        if (!type || type->descriptor == descriptor)
            return type;
        at = (at + 1) % JSON_TYPE_COUNT_MAX;
    }
}

static const struct json_type *find_or_start(struct batch *batch,
                                             const ProtobufCMessageDescriptor *descriptor)
{
    const struct json_type *published = find_type(descriptor);
    struct json_type *type;
    size_t i;

    if (published)
        return published;
    for (i = 0; i < batch->count; i++) {
        if (batch->types[i]->descriptor == descriptor)
            return batch->types[i];
    }
    assert(batch->count < JSON_TYPE_COUNT_MAX);
    type = arena_zero(memory, sizeof(*type));
    type->descriptor = descriptor;
    type->kind = kind_of(descriptor);
    batch->types[batch->count++] = type;
    return type;
}

static void prepare(struct batch *batch, struct json_type *type)
{
    const ProtobufCMessageDescriptor *descriptor = type->descriptor;
    const Google__Protobuf__DescriptorProto *proto = find_known(descriptor->name);
    size_t slot_count = 4;
    unsigned i;

    while (slot_count < (size_t)descriptor->n_fields * 4)
        slot_count *= 2;
    type->slots = arena_array(memory, slot_count, sizeof(*type->slots));
    type->slot_mask = slot_count - 1;
    type->fields = arena_array(memory, descriptor->n_fields, sizeof(*type->fields));
    for (i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *from = &descriptor->fields[i];
        struct json_field *field = &type->fields[i];

        field->field = from;
        field->name = json_name(proto, from);
        field->literal = bytes_of(arena_printf(memory, ",\"%s\":", field->name));
        field->is_map = is_map(descriptor, from);
        if (from->type == PROTOBUF_C_TYPE_MESSAGE)
            field->type = find_or_start(batch, from->descriptor);
        add_name(type, field->name, field);
        if (strcmp(field->name, from->name) != 0)
            add_name(type, from->name, field);
    }
}

static void publish(const struct json_type *type)
{
    size_t at = home_of(type->descriptor);
    size_t tries = 0;

    while (atomic_load_explicit(&types[at], memory_order_relaxed)) {
        tries++;
        assert(tries < JSON_TYPE_COUNT_MAX - 1); /* a free slot must stay: it ends a search */
        at = (at + 1) % JSON_TYPE_COUNT_MAX;
    }
    atomic_store_explicit(&types[at], type, memory_order_release);
}

const struct json_type *json_type_get(const ProtobufCMessageDescriptor *descriptor)
{
    const struct json_type *type = find_type(descriptor);
    struct batch *batch;
    size_t i;

    if (type)
        return type;
    pthread_once(&once, add_model);
    batch = mem_zero(sizeof(*batch));
    pthread_mutex_lock(&mutex);
    type = find_or_start(batch, descriptor);
    for (i = 0; i < batch->count; i++)
        prepare(batch, batch->types[i]);
    for (i = 0; i < batch->count; i++)
        publish(batch->types[i]);
    pthread_mutex_unlock(&mutex);
    free(batch);
    return type;
}

const struct json_field *json_type_find(const struct json_type *type, struct bytes name)
{
    size_t at = hash64(name) & type->slot_mask;

    for (; type->slots[at].field; at = (at + 1) & type->slot_mask) {
        if (bytes_equal(type->slots[at].name, name))
            return type->slots[at].field;
    }
    return NULL;
}

const ProtobufCMessageDescriptor *json_type_any(struct bytes full_name)
{
    static const ProtobufCMessageDescriptor *const linked[] = {
        &google__rpc__bad_request__descriptor,
        &google__rpc__retry_info__descriptor,
    };
    size_t i;

    for (i = 0; i < ARRAY_COUNT(linked); i++) {
        if (bytes_equal_text(full_name, linked[i]->name))
            return linked[i];
    }
    return NULL;
}

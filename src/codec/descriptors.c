/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.c - see descriptors.h. Runs once at startup, so lists grow plainly and look-ups may
 * scan. */
#include "codec/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "codec/message.h"

/* Field numbers of descriptor.proto, which paths are made of. */
enum {
    SET_FILE_KEY = 1 << 3 | 2, /* FileDescriptorSet.file, length-delimited */
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
    FILE_EXTENSION = 7,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
    MESSAGE_EXTENSION = 6,
    SERVICE_METHOD = 2,
};

struct loader {
    struct arena *arena;
    struct descriptors *descriptors;
    size_t file_capacity;
    size_t symbol_capacity;
};

/* A place to hang names under: a file's package or a message. */
struct scope {
    const char *name;
    size_t file;
    const int32_t *path;
    size_t path_size;
};

/* The list with room for one more. */
static void *reserve(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    void *larger;

    if (count < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 16;
    larger = arena_array(arena, *capacity, size);
    if (count)
        memcpy(larger, items, count * size);
    return larger;
}

/* A name in the scope, at field `number`, element `index` of the scope's own descriptor. */
static struct symbol *add_symbol(struct loader *loader, const struct scope *scope,
                                 enum symbol_kind kind, const char *name, int32_t number,
                                 size_t index)
{
    struct descriptors *all = loader->descriptors;
    int32_t *path = arena_array(loader->arena, scope->path_size + 2, sizeof(*path));
    struct symbol *symbol;

    if (scope->path_size)
        memcpy(path, scope->path, scope->path_size * sizeof(*path));
    path[scope->path_size] = number;
    path[scope->path_size + 1] = (int32_t)index;
    all->symbols = reserve(loader->arena, all->symbols, all->symbol_count, &loader->symbol_capacity,
                           sizeof(*all->symbols));
    symbol = &all->symbols[all->symbol_count++];
    symbol->name =
        arena_printf(loader->arena, "%s%s%s", scope->name, scope->name[0] ? "." : "", name);
    symbol->kind = kind;
    symbol->file = scope->file;
    symbol->path = path;
    symbol->path_size = scope->path_size + 2;
    return symbol;
}

static struct scope scope_of(const struct symbol *symbol)
{
    return (struct scope){symbol->name, symbol->file, symbol->path, symbol->path_size};
}

static void add_enums(struct loader *loader, const struct scope *scope, int32_t number,
                      Google__Protobuf__EnumDescriptorProto *const *enums, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        add_symbol(loader, scope, SYMBOL_ENUM, enums[i]->name, number, i)->enumeration = enums[i];
}

static void add_extensions(struct loader *loader, const struct scope *scope, int32_t number,
                           Google__Protobuf__FieldDescriptorProto *const *fields, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        add_symbol(loader, scope, SYMBOL_EXTENSION, fields[i]->name, number, i)->extension =
            fields[i];
}

/* As deep as message_decode allowed. */
static void add_messages(struct loader *loader, const struct scope *scope, int32_t number,
                         Google__Protobuf__DescriptorProto *const *messages, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        const Google__Protobuf__DescriptorProto *message = messages[i];
        struct symbol *symbol = add_symbol(loader, scope, SYMBOL_MESSAGE, message->name, number, i);
        struct scope inner = scope_of(symbol);

        symbol->message = message;
        add_messages(loader, &inner, MESSAGE_NESTED, message->nested_type, message->n_nested_type);
        add_enums(loader, &inner, MESSAGE_ENUM, message->enum_type, message->n_enum_type);
        add_extensions(loader, &inner, MESSAGE_EXTENSION, message->extension, message->n_extension);
    }
}

static void add_services(struct loader *loader, const struct scope *scope,
                         const Google__Protobuf__FileDescriptorProto *file)
{
    size_t i;
    size_t k;

    for (i = 0; i < file->n_service; i++) {
        const Google__Protobuf__ServiceDescriptorProto *service = file->service[i];
        struct symbol *symbol =
            add_symbol(loader, scope, SYMBOL_SERVICE, service->name, FILE_SERVICE, i);
        struct scope inner = scope_of(symbol);

        symbol->service = service;
        for (k = 0; k < service->n_method; k++)
            add_symbol(loader, &inner, SYMBOL_METHOD, service->method[k]->name, SERVICE_METHOD, k)
                ->method = service->method[k];
    }
}

static int add_file(struct loader *loader, struct bytes wire, struct err *err)
{
    struct descriptors *all = loader->descriptors;
    const Google__Protobuf__FileDescriptorProto *file;
    ProtobufCMessage *message;
    struct scope scope;
    int rc = message_decode(wire, &google__protobuf__file_descriptor_proto__descriptor,
                            loader->arena, &message, err);

    if (rc)
        return rc;
    file = (const Google__Protobuf__FileDescriptorProto *)message;
    if (!file->name)
        return err_set(err, ERR_CORRUPT, "a file has no name");
    if (descriptors_find_file(all, file->name) >= 0)
        return 0;
    all->files = reserve(loader->arena, all->files, all->file_count, &loader->file_capacity,
                         sizeof(*all->files));
    scope = (struct scope){.name = file->package ? file->package : "", .file = all->file_count};
    all->files[all->file_count++] = (struct descriptor_file){wire, file};
    add_messages(loader, &scope, FILE_MESSAGE, file->message_type, file->n_message_type);
    add_enums(loader, &scope, FILE_ENUM, file->enum_type, file->n_enum_type);
    add_services(loader, &scope, file);
    add_extensions(loader, &scope, FILE_EXTENSION, file->extension, file->n_extension);
    return 0;
}

static int add_set(struct loader *loader, struct bytes set, struct err *err)
{
    int rc = 0;

    while (!rc && set.size) {
        uint64_t key;
        uint64_t size;

        if (!varint_get(&set, &key) || key != SET_FILE_KEY || !varint_get(&set, &size) ||
            size > set.size)
            return err_set(err, ERR_CORRUPT, "not a FileDescriptorSet");
        rc = add_file(loader, bytes_make(set.data, size), err);
        set = bytes_skip(set, size);
    }
    return rc;
}

static int compare_symbols(const void *a, const void *b)
{
    return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

int descriptors_load(const struct bytes *sets, size_t set_count, struct arena *arena,
                     struct descriptors *descriptors, struct err *err)
{
    struct loader loader = {.arena = arena, .descriptors = descriptors};
    size_t i;

    *descriptors = (struct descriptors){0};
    for (i = 0; i < set_count; i++) {
        int rc = add_set(&loader, sets[i], err);

        if (rc) {
            if (err)
                err_wrap(err, "descriptor set %zu", i);
            return rc;
        }
    }
    if (descriptors->symbol_count)
        qsort(descriptors->symbols, descriptors->symbol_count, sizeof(struct symbol),
              compare_symbols);
    return 0;
}

const struct symbol *descriptors_find(const struct descriptors *descriptors, const char *name)
{
    struct symbol key = {.name = name[0] == '.' ? name + 1 : name};

    if (!descriptors->symbol_count)
        return NULL;
    return bsearch(&key, descriptors->symbols, descriptors->symbol_count, sizeof(key),
                   compare_symbols);
}

ptrdiff_t descriptors_find_file(const struct descriptors *descriptors, const char *name)
{
    size_t i;

    for (i = 0; i < descriptors->file_count; i++) {
        if (strcmp(descriptors->files[i].proto->name, name) == 0)
            return (ptrdiff_t)i;
    }
    return -1;
}

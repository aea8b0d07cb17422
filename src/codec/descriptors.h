/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.h - the .proto files behind the messages, as protoc wrote them, with all their names.
 *
 * Read from FileDescriptorSets for reflection and for the OpenAPI document. Everything lives in the
 * caller's arena, except the sets' own bytes, which are borrowed.
 */
#ifndef TORG_CODEC_DESCRIPTORS_H
#define TORG_CODEC_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "google/protobuf/descriptor.pb-c.h"

struct descriptor_file {
    struct bytes wire; /* the FileDescriptorProto itself, within its set */
    const Google__Protobuf__FileDescriptorProto *proto;
};

enum symbol_kind {
    SYMBOL_MESSAGE,
    SYMBOL_ENUM,
    SYMBOL_SERVICE,
    SYMBOL_METHOD,
    SYMBOL_EXTENSION,
};

/* Something that has a full name. */
struct symbol {
    const char *name; /* without a leading dot: "torg.v1.SystemService.GetSystem" */
    enum symbol_kind kind;
    size_t file; /* index in files */
    union {
        const Google__Protobuf__DescriptorProto *message;
        const Google__Protobuf__EnumDescriptorProto *enumeration;
        const Google__Protobuf__ServiceDescriptorProto *service;
        const Google__Protobuf__MethodDescriptorProto *method;
        const Google__Protobuf__FieldDescriptorProto *extension;
    };
    const int32_t *path; /* in the file, as source info names places: {6, 0, 2, 1} */
    size_t path_size;
};

struct descriptors {
    struct descriptor_file *files; /* each name once; of two sets with a file, the first's */
    size_t file_count;
    struct symbol *symbols; /* ordered by name */
    size_t symbol_count;
};

int descriptors_load(const struct bytes *sets, size_t set_count, struct arena *arena,
                     struct descriptors *descriptors, struct err *err);

/* NULL when there is none. A leading dot is fine. */
const struct symbol *descriptors_find(const struct descriptors *descriptors, const char *name);
/* By its path in imports, "torg/v1/system.proto"; -1 when there is none. */
ptrdiff_t descriptors_find_file(const struct descriptors *descriptors, const char *name);

#endif

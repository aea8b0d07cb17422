/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflection.c - see reflection.h.
 *
 * A file is returned together with all its imports, dependencies last; clients keep the files they
 * have seen. Asking for a field or an enum's value by name is not supported: the protocol is about
 * services, methods and types.
 */
#include "net/server/routes/reflection.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/descriptors.h"
#include "codec/message.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "grpc/reflection/v1alpha/reflection.pb-c.h"

typedef Grpc__Reflection__V1__ServerReflectionRequest request_message;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_message;

/* protobuf-c's names of the oneof's members */
#define ASKS(name) GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##name
#define ANSWER(name) GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##name

enum { GRPC_NOT_FOUND = 5, GRPC_INVALID_ARGUMENT = 3, WIRE_SIZE_MAX = 16 << 20 };

enum { REFLECTION_MAGIC = OBJECT_MAGIC('r', 'e', 'f', 'l') };

struct reflection {
    uint32_t magic;
    struct arena *arena; /* of descriptors and names */
    struct descriptors descriptors;
    Grpc__Reflection__V1__ServiceResponse **services;
    size_t service_count;
    struct rpc_service v1;
    struct rpc_service v1alpha;
};

/* --- answers; all in the message's arena --- */

static void answer_error(response_message *response, struct arena *arena, int code,
                         const char *text)
{
    Grpc__Reflection__V1__ErrorResponse *error =
        (void *)message_new(&grpc__reflection__v1__error_response__descriptor, arena);

    error->error_code = code;
    error->error_message = (char *)text;
    response->message_response_case = ANSWER(ERROR_RESPONSE);
    response->error_response = error;
}

static void answer_file(const struct reflection *reflection, size_t file,
                        response_message *response, struct arena *arena)
{
    const struct descriptors *all = &reflection->descriptors;
    Grpc__Reflection__V1__FileDescriptorResponse *files =
        (void *)message_new(&grpc__reflection__v1__file_descriptor_response__descriptor, arena);
    size_t *order = arena_array(arena, all->file_count, sizeof(*order));
    bool *taken = arena_array(arena, all->file_count, sizeof(*taken));
    size_t count = 0;
    size_t i;
    size_t k;

    order[count++] = file;
    taken[file] = true;
    for (i = 0; i < count; i++) {
        const Google__Protobuf__FileDescriptorProto *proto = all->files[order[i]].proto;

        for (k = 0; k < proto->n_dependency; k++) {
            ptrdiff_t found = descriptors_find_file(all, proto->dependency[k]);

            if (found >= 0 && !taken[found]) {
                taken[found] = true;
                order[count++] = (size_t)found;
            }
        }
    }
    files->n_file_descriptor_proto = count;
    files->file_descriptor_proto = arena_array(arena, count, sizeof(ProtobufCBinaryData));
    for (i = 0; i < count; i++) {
        struct bytes wire = all->files[order[i]].wire;

        files->file_descriptor_proto[i] = (ProtobufCBinaryData){wire.size, (uint8_t *)wire.data};
    }
    response->message_response_case = ANSWER(FILE_DESCRIPTOR_RESPONSE);
    response->file_descriptor_response = files;
}

static void answer_file_name(const struct reflection *reflection, const char *name,
                             response_message *response, struct arena *arena)
{
    ptrdiff_t file = descriptors_find_file(&reflection->descriptors, name);

    if (file >= 0)
        answer_file(reflection, (size_t)file, response, arena);
    else
        answer_error(response, arena, GRPC_NOT_FOUND,
                     arena_printf(arena, "no file \"%.200s\"", name));
}

static void answer_symbol(const struct reflection *reflection, const char *name,
                          response_message *response, struct arena *arena)
{
    const struct symbol *symbol = descriptors_find(&reflection->descriptors, name);

    if (symbol)
        answer_file(reflection, symbol->file, response, arena);
    else
        answer_error(response, arena, GRPC_NOT_FOUND,
                     arena_printf(arena, "no symbol \"%.200s\"", name));
}

/* Whether a symbol is an extension of the message `type`. */
static bool extends(const struct symbol *symbol, const char *type)
{
    const char *extendee = symbol->kind == SYMBOL_EXTENSION ? symbol->extension->extendee : NULL;

    return extendee && strcmp(extendee + (extendee[0] == '.'), type) == 0;
}

static void answer_extension(const struct reflection *reflection,
                             const Grpc__Reflection__V1__ExtensionRequest *request,
                             response_message *response, struct arena *arena)
{
    const struct descriptors *all = &reflection->descriptors;
    const char *type = request ? request->containing_type : "";
    int32_t number = request ? request->extension_number : 0;
    size_t i;

    for (i = 0; i < all->symbol_count; i++) {
        if (extends(&all->symbols[i], type) && all->symbols[i].extension->number == number) {
            answer_file(reflection, all->symbols[i].file, response, arena);
            return;
        }
    }
    answer_error(response, arena, GRPC_NOT_FOUND,
                 arena_printf(arena, "no extension %d of \"%.200s\"", number, type));
}

static void answer_extension_numbers(const struct reflection *reflection, const char *type,
                                     response_message *response, struct arena *arena)
{
    const struct descriptors *all = &reflection->descriptors;
    const struct symbol *symbol = descriptors_find(all, type);
    Grpc__Reflection__V1__ExtensionNumberResponse *numbers;
    size_t i;

    if (!symbol || symbol->kind != SYMBOL_MESSAGE) {
        answer_error(response, arena, GRPC_NOT_FOUND,
                     arena_printf(arena, "no message type \"%.200s\"", type));
        return;
    }
    numbers =
        (void *)message_new(&grpc__reflection__v1__extension_number_response__descriptor, arena);
    numbers->base_type_name = (char *)symbol->name;
    numbers->extension_number = arena_array(arena, all->symbol_count, sizeof(int32_t));
    for (i = 0; i < all->symbol_count; i++) {
        if (extends(&all->symbols[i], symbol->name))
            numbers->extension_number[numbers->n_extension_number++] =
                all->symbols[i].extension->number;
    }
    response->message_response_case = ANSWER(ALL_EXTENSION_NUMBERS_RESPONSE);
    response->all_extension_numbers_response = numbers;
}

static void answer_services(const struct reflection *reflection, response_message *response,
                            struct arena *arena)
{
    Grpc__Reflection__V1__ListServiceResponse *list =
        (void *)message_new(&grpc__reflection__v1__list_service_response__descriptor, arena);

    list->n_service = reflection->service_count;
    list->service = reflection->services;
    response->message_response_case = ANSWER(LIST_SERVICES_RESPONSE);
    response->list_services_response = list;
}

static response_message *answer(const struct reflection *reflection, request_message *request,
                                struct arena *arena)
{
    response_message *response =
        (void *)message_new(&grpc__reflection__v1__server_reflection_response__descriptor, arena);

    response->valid_host = request->host;
    response->original_request = request;
    switch (request->message_request_case) {
    case ASKS(FILE_BY_FILENAME):
        answer_file_name(reflection, request->file_by_filename, response, arena);
        break;
    case ASKS(FILE_CONTAINING_SYMBOL):
        answer_symbol(reflection, request->file_containing_symbol, response, arena);
        break;
    case ASKS(FILE_CONTAINING_EXTENSION):
        answer_extension(reflection, request->file_containing_extension, response, arena);
        break;
    case ASKS(ALL_EXTENSION_NUMBERS_OF_TYPE):
        answer_extension_numbers(reflection, request->all_extension_numbers_of_type, response,
                                 arena);
        break;
    case ASKS(LIST_SERVICES):
        answer_services(reflection, response, arena);
        break;
    default:
        answer_error(response, arena, GRPC_INVALID_ARGUMENT, "the request asks for nothing");
    }
    return response;
}

/* --- the stream --- */

/* The same message as another type with the same wire form. */
static int convert(const ProtobufCMessage *from, const ProtobufCMessageDescriptor *type,
                   struct arena *arena, ProtobufCMessage **to, struct err *err)
{
    struct buf wire = BUF_INIT(WIRE_SIZE_MAX);
    int rc;

    message_encode(from, &wire);
    if (buf_failed(&wire))
        rc = err_set(err, ERR_LIMIT, "the descriptors are larger than %d bytes", WIRE_SIZE_MAX);
    else
        rc = message_decode(buf_bytes(&wire), type, arena, to, err);
    buf_release(&wire);
    return rc;
}

static int serve(struct call *call, bool alpha, struct err *err)
{
    const struct reflection *reflection = call_context(call);
    struct arena *arena = arena_new(); /* of one answer: a stream may be long */
    int rc;

    for (;;) {
        ProtobufCMessage *message = NULL;

        arena_reset(arena);
        rc = call_read(call, &message, err);
        if (rc <= 0)
            break;
        rc = 0;
        if (alpha)
            rc = convert(message, &grpc__reflection__v1__server_reflection_request__descriptor,
                         arena, &message, err);
        if (!rc)
            message = &answer(reflection, (request_message *)message, arena)->base;
        if (!rc && alpha)
            rc =
                convert(message, &grpc__reflection__v1alpha__server_reflection_response__descriptor,
                        arena, &message, err);
        if (!rc)
            rc = call_write(call, message, err);
        if (rc)
            break;
    }
    arena_free(arena);
    return rc;
}

static int serve_v1(struct call *call, struct err *err)
{
    return serve(call, false, err);
}

static int serve_v1alpha(struct call *call, struct err *err)
{
    return serve(call, true, err);
}

static const struct rpc_method methods_v1[] = {
    {.name = "ServerReflectionInfo",
     .stream = serve_v1,
     .flags = RPC_CLIENT_STREAM | RPC_SERVER_STREAM | RPC_PUBLIC},
};

static const struct rpc_method methods_v1alpha[] = {
    {.name = "ServerReflectionInfo",
     .stream = serve_v1alpha,
     .flags = RPC_CLIENT_STREAM | RPC_SERVER_STREAM | RPC_PUBLIC},
};

/* --- life --- */

static void add_service(struct reflection *reflection, const struct rpc_service *service)
{
    Grpc__Reflection__V1__ServiceResponse *response;
    const char *name = service->descriptor->name;
    size_t i;

    for (i = 0; i < reflection->service_count; i++) {
        if (strcmp(reflection->services[i]->name, name) == 0)
            return;
    }
    response =
        (void *)message_new(&grpc__reflection__v1__service_response__descriptor, reflection->arena);
    response->name = (char *)name;
    reflection->services[reflection->service_count++] = response;
}

int reflection_new(const struct bytes *descriptor_sets, size_t set_count,
                   const struct rpc_service *const *services, size_t service_count,
                   struct reflection **reflection, struct err *err)
{
    struct reflection *made = mem_zero(sizeof(*made));
    size_t i;
    int rc;

    object_begin(made, REFLECTION_MAGIC);
    *reflection = NULL;
    made->arena = arena_new();
    rc = descriptors_load(descriptor_sets, set_count, made->arena, &made->descriptors, err);
    if (rc) {
        reflection_free(made);
        return rc;
    }
    made->v1 = (struct rpc_service){
        .descriptor = &grpc__reflection__v1__server_reflection__descriptor,
        .methods = methods_v1,
        .method_count = ARRAY_COUNT(methods_v1),
        .context = made,
    };
    made->v1alpha = (struct rpc_service){
        .descriptor = &grpc__reflection__v1alpha__server_reflection__descriptor,
        .methods = methods_v1alpha,
        .method_count = ARRAY_COUNT(methods_v1alpha),
        .context = made,
    };
    made->services = arena_array(made->arena, service_count + 2, sizeof(*made->services));
    for (i = 0; i < service_count; i++)
        add_service(made, services[i]);
    add_service(made, &made->v1);
    add_service(made, &made->v1alpha);
    *reflection = made;
    return 0;
}

void reflection_free(struct reflection *reflection)
{
    if (!reflection)
        return;
    object_check(reflection, REFLECTION_MAGIC);
    arena_free(reflection->arena);
    object_end(reflection, REFLECTION_MAGIC);
    free(reflection);
}

const struct rpc_service *reflection_v1(const struct reflection *reflection)
{
    object_check(reflection, REFLECTION_MAGIC);
    return &reflection->v1;
}

const struct rpc_service *reflection_v1alpha(const struct reflection *reflection)
{
    object_check(reflection, REFLECTION_MAGIC);
    return &reflection->v1alpha;
}

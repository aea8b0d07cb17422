/* SPDX-License-Identifier: Apache-2.0 */
/* router.c - see router.h. */
#include "net/server/routes/router.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/descriptors.h"

static size_t slot_of(struct bytes path)
{
    return hash64(path) % ROUTER_SLOT_COUNT;
}

const struct rpc_method *service_method(const struct rpc_service *service, const char *name)
{
    for (size_t i = 0; i < service->method_count; i++)
        if (strcmp(service->methods[i].name, name) == 0)
            return &service->methods[i];
    return NULL;
}

static struct counter *make_counter(struct route *route, int status)
{
    char labels[METRIC_LABELS_SIZE_MAX];

    snprintf(labels, sizeof(labels), "method=\"%.*s\",code=\"%s\"", BYTES_ARG(route->path),
             status_name(status));
    return metrics_counter("torg_rpc_requests_total", labels,
                           "Calls answered, by method and status.");
}

static void make_series(struct route *route)
{
    char labels[METRIC_LABELS_SIZE_MAX];

    snprintf(labels, sizeof(labels), "method=\"%.*s\"", BYTES_ARG(route->path));
    route->duration = metrics_histogram("torg_rpc_duration_seconds", labels,
                                        "From a request's first byte to its answer.");
    route->requests[STATUS_OK] = make_counter(route, STATUS_OK);
}

void route_init(struct route *route, struct bytes path, const struct rpc_service *service,
                const struct rpc_method *method)
{
    object_begin(route, ROUTE_MAGIC);
    route->path = path;
    route->service = service;
    route->method = method;
    make_series(route);
}

void route_release(struct route *route)
{
    object_end(route, ROUTE_MAGIC);
    free((void *)route->path.data);
}

static void add_route(struct router *router, const struct rpc_service *service,
                      const ProtobufCMethodDescriptor *method)
{
    struct route *route = mem_zero(sizeof(*route));
    char *path;
    int size = asprintf(&path, "/%s/%s", service->descriptor->name, method->name);
    size_t slot;

    if (size < 0)
        abort();
    assert(!router_find(router, bytes_make(path, (size_t)size)));
    route_init(route, bytes_make(path, (size_t)size), service,
               service_method(service, method->name));
    if (route->method)
        assert(!route->method->unary ==
               !!(route->method->flags & (RPC_CLIENT_STREAM | RPC_SERVER_STREAM)));
    route->input = method->input;
    route->output = method->output;
    slot = slot_of(route->path);
    route->next = router->slots[slot];
    router->slots[slot] = route;
}

void router_add(struct router *router, const struct rpc_service *service)
{
    const ProtobufCServiceDescriptor *descriptor = service->descriptor;

    for (size_t i = 0; i < service->method_count; i++)
        assert(
            protobuf_c_service_descriptor_get_method_by_name(descriptor, service->methods[i].name));
    for (unsigned i = 0; i < descriptor->n_methods; i++)
        add_route(router, service, &descriptor->methods[i]);
}

/* "torg.v1.Service.Method" as "/torg.v1.Service/Method". */
static struct bytes path_of(const char *name, struct arena *arena)
{
    char *path = arena_printf(arena, "/%s", name);

    *strrchr(path, '.') = '/';
    return bytes_of(path);
}

int router_mark_safe(struct router *router, const struct bytes *descriptor_sets, size_t count,
                     struct err *err)
{
    struct arena *arena = arena_new();
    struct descriptors descriptors;
    int rc = descriptors_load(descriptor_sets, count, arena, &descriptors, err);

    for (size_t i = 0; !rc && i < descriptors.symbol_count; i++) {
        const struct symbol *symbol = &descriptors.symbols[i];
        struct route *route;

        if (symbol->kind != SYMBOL_METHOD || !symbol->method->options ||
            symbol->method->options->idempotency_level !=
                GOOGLE__PROTOBUF__METHOD_OPTIONS__IDEMPOTENCY_LEVEL__NO_SIDE_EFFECTS)
            continue;
        route = router_find(router, path_of(symbol->name, arena));
        if (route)
            route->is_safe = !symbol->method->client_streaming && !symbol->method->server_streaming;
    }
    arena_free(arena);
    return rc;
}

struct route *router_find(const struct router *router, struct bytes path)
{
    struct route *route = router->slots[slot_of(path)];

    while (route && !bytes_equal(route->path, path))
        route = route->next;
    return route;
}

void route_count(struct route *route, int status, int64_t duration_us)
{
    struct counter *requests = atomic_load_explicit(&route->requests[status], memory_order_acquire);

    object_check(route, ROUTE_MAGIC);
    if (!requests) { /* two threads may both make it: they get the same */
        requests = make_counter(route, status);
        atomic_store_explicit(&route->requests[status], requests, memory_order_release);
    }
    counter_add(requests, 1);
    histogram_add(route->duration, duration_us);
}

void router_release(struct router *router)
{
    for (size_t i = 0; i < ROUTER_SLOT_COUNT; i++) {
        struct route *route = router->slots[i];

        while (route) {
            struct route *next = route->next;

            route_release(route);
            free(route);
            route = next;
        }
        router->slots[i] = NULL;
    }
}

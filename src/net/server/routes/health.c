/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - see health.h.
 *
 * A watch sleeps on the condition variable and looks at its call now and then, because a client
 * that leaves does not wake it.
 */
#include "net/server/routes/health.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/object.h"
#include "grpc/health/v1/health.pb-c.h"
#include "net/bounds.h"

typedef Grpc__Health__V1__HealthCheckRequest request_message;
typedef Grpc__Health__V1__HealthCheckResponse response_message;
typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus serving_status;

#define UNKNOWN_SERVICE GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN
#define SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING

struct state {
    char *name; /* owned */
    bool serving;
};

enum { HEALTH_MAGIC = OBJECT_MAGIC('h', 'e', 'a', 'l') };

struct health {
    uint32_t magic;
    pthread_mutex_t mutex;    /* of all below */
    struct condition changed; /* streams wait for another status */
    bool draining;
    struct state states[HEALTH_SERVICE_COUNT_MAX];
    size_t state_count;
    struct rpc_service service;
};

/* With the mutex held. */
static struct state *find(struct health *health, const char *name)
{
    size_t i;

    for (i = 0; i < health->state_count; i++) {
        if (strcmp(health->states[i].name, name) == 0)
            return &health->states[i];
    }
    return NULL;
}

static serving_status status_of(struct health *health, const char *name)
{
    const struct state *state = find(health, name);

    if (!state)
        return UNKNOWN_SERVICE;
    return state->serving && !health->draining ? SERVING : NOT_SERVING;
}

static int check(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                 struct err *err)
{
    struct health *health = call_context(call);
    const char *name = ((const request_message *)request)->service;
    serving_status status;

    pthread_mutex_lock(&health->mutex);
    status = status_of(health, name);
    pthread_mutex_unlock(&health->mutex);
    if (status == UNKNOWN_SERVICE)
        return err_set(err, ERR_NOT_FOUND, "no service \"%.100s\" is known here", name);
    ((response_message *)response)->status = status;
    return 0;
}

/* Sleeps until the status is another than the one told, the server drains or the client leaves. */
static serving_status wait_for_change(struct health *health, struct call *call, const char *name,
                                      serving_status told, bool *draining)
{
    serving_status status;

    pthread_mutex_lock(&health->mutex);
    status = status_of(health, name);
    while (status == told && !health->draining && !call_cancelled(call)) {
        condition_wait_until(&health->changed, &health->mutex,
                             clock_after_us(health->changed.clock, HEALTH_WATCH_POLL_MS * MS_US));
        status = status_of(health, name);
    }
    *draining = health->draining;
    pthread_mutex_unlock(&health->mutex);
    return status;
}

static int watch(struct call *call, struct err *err)
{
    struct health *health = call_context(call);
    response_message response = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    ProtobufCMessage *request = NULL;
    serving_status told = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__UNKNOWN;
    const char *name;
    bool draining = false;
    int rc = call_read(call, &request, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(err, ERR_INVALID, "a watch needs one request");
    name = arena_strdup(call_arena(call), ((request_message *)request)->service);
    while (!draining) {
        response.status = wait_for_change(health, call, name, told, &draining);
        if (call_cancelled(call))
            return err_set(err, ERR_CANCELLED, "the client has left");
        if (response.status == told)
            continue;
        told = response.status;
        rc = call_write(call, &response.base, err);
        if (rc)
            return rc;
    }
    return err_set(err, ERR_UNAVAILABLE, "the server is shutting down");
}

static const struct rpc_method methods[] = {
    {.name = "Check", .unary = check, .flags = RPC_INLINE | RPC_PUBLIC},
    {.name = "Watch", .stream = watch, .flags = RPC_SERVER_STREAM | RPC_PUBLIC},
};

struct health *health_new(const struct clock *clock)
{
    struct health *health = mem_zero(sizeof(*health));

    object_begin(health, HEALTH_MAGIC);
    pthread_mutex_init(&health->mutex, NULL);
    condition_init(&health->changed, clock);
    health->service = (struct rpc_service){
        .descriptor = &grpc__health__v1__health__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = health,
    };
    health_set(health, "", false);
    return health;
}

void health_free(struct health *health)
{
    size_t i;

    if (!health)
        return;
    object_check(health, HEALTH_MAGIC);
    for (i = 0; i < health->state_count; i++)
        free(health->states[i].name);
    condition_release(&health->changed);
    pthread_mutex_destroy(&health->mutex);
    object_end(health, HEALTH_MAGIC);
    free(health);
}

void health_set(struct health *health, const char *service, bool serving)
{
    struct state *state;

    object_check(health, HEALTH_MAGIC);
    pthread_mutex_lock(&health->mutex);
    state = find(health, service);
    if (!state) {
        assert(health->state_count < HEALTH_SERVICE_COUNT_MAX);
        state = &health->states[health->state_count++];
        state->name = mem_strdup(service);
    }
    state->serving = serving;
    condition_broadcast(&health->changed);
    pthread_mutex_unlock(&health->mutex);
}

void health_drain(struct health *health)
{
    object_check(health, HEALTH_MAGIC);
    pthread_mutex_lock(&health->mutex);
    health->draining = true;
    condition_broadcast(&health->changed);
    pthread_mutex_unlock(&health->mutex);
}

const struct rpc_service *health_service(const struct health *health)
{
    object_check(health, HEALTH_MAGIC);
    return &health->service;
}

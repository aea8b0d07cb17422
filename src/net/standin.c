/* SPDX-License-Identifier: Apache-2.0 */
/* standin.c - health and reflection without methods, until theirs are there. */
#include "base/memory.h"
#include "grpc/health/v1/health.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "grpc/reflection/v1alpha/reflection.pb-c.h"
#include "net/health.h"
#include "net/reflection.h"
#include <stdlib.h>

struct health {
    struct rpc_service service;
};

struct health *health_new(void)
{
    struct health *health = mem_zero(sizeof(*health));

    health->service.descriptor = &grpc__health__v1__health__descriptor;
    return health;
}
void health_free(struct health *health)
{
    free(health);
}
void health_set(struct health *health, const char *service, bool serving)
{
}
void health_drain(struct health *health)
{
}
const struct rpc_service *health_service(const struct health *health)
{
    return &health->service;
}

struct reflection {
    struct rpc_service v1, v1alpha;
};

int reflection_new(const struct bytes *descriptor_sets, size_t set_count,
                   const struct rpc_service *const *services, size_t service_count,
                   struct reflection **reflection, struct err *err)
{
    *reflection = mem_zero(sizeof(**reflection));
    (*reflection)->v1.descriptor = &grpc__reflection__v1__server_reflection__descriptor;
    (*reflection)->v1alpha.descriptor = &grpc__reflection__v1alpha__server_reflection__descriptor;
    return 0;
}
void reflection_free(struct reflection *reflection)
{
    free(reflection);
}
const struct rpc_service *reflection_v1(const struct reflection *reflection)
{
    return &reflection->v1;
}
const struct rpc_service *reflection_v1alpha(const struct reflection *reflection)
{
    return &reflection->v1alpha;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflection.h - grpc.reflection: a client without our .proto files asks for them.
 *
 * Answers from FileDescriptorSets, as protoc --include_imports writes them. Both versions of the
 * protocol have the same messages on the wire; v1alpha is answered by v1.
 * Threads: unchanging after reflection_new; handlers run on any.
 */
#ifndef TORG_NET_SERVER_ROUTES_REFLECTION_H
#define TORG_NET_SERVER_ROUTES_REFLECTION_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/err.h"
#include "net/rpc.h"

struct reflection;

/*
 * The sets and services are borrowed for the reflection's life; a file in two sets is taken
 * from the first. The two services below need not be among the services to be listed.
 */
int reflection_new(const struct bytes *descriptor_sets, size_t set_count,
                   const struct rpc_service *const *services, size_t service_count,
                   struct reflection **reflection, struct err *err);
void reflection_free(struct reflection *reflection);

const struct rpc_service *reflection_v1(const struct reflection *reflection);
const struct rpc_service *reflection_v1alpha(const struct reflection *reflection);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.h - the API as an OpenAPI 3 document, made from the same descriptors as everything.
 *
 * Every method of every torg.* service that takes and gives one message is a POST with
 * JSON; streaming methods are gRPC only and left out. Comments of the .proto files (source info in
 * the set) become descriptions. Addresses of GETs (gets.h) are there beside the method they call,
 * resources as they are declared (rest.h).
 */
#ifndef TORG_NET_SERVER_OPENAPI_H
#define TORG_NET_SERVER_OPENAPI_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "net/server/calls/folder.h"
#include "net/server/calls/resources.h"
#include "net/server/routes/gets.h"

/* What a server offers; all borrowed. Only the sets must be there. */
struct openapi_source {
    const struct bytes *sets; /* FileDescriptorSets */
    size_t set_count;
    const struct gets *gets;
    const struct rpc_service *const *services; /* say which methods need no key */
    size_t service_count;
    const struct folder *const *folders;
    size_t folder_count;
    const struct resources *resources;
};

/* Appends the document. Fails on a damaged set, and for the address of a method that is in none;
 * the buffer remembers if it did not fit. */
int openapi_print(const struct openapi_source *source, struct buf *out, struct err *err);

#endif

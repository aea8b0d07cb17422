/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_parts.h - what the files of openapi.h share: methods (openapi.c), resources and files
 * (openapi_rest.c). */
#ifndef TORG_NET_SERVER_OPENAPI_PARTS_H
#define TORG_NET_SERVER_OPENAPI_PARTS_H

#include "codec/descriptors.h"
#include "net/server/openapi.h"

struct printer {
    struct buf *out;
    const struct openapi_source *source;
    struct descriptors descriptors;
    struct arena *arena;
    const struct symbol **wanted; /* types that need a schema, each once */
    size_t wanted_count;
    size_t asked_count; /* the first so many may be part of a request */
    bool is_first;      /* no path has been put yet */
};

/* Begins the path's object. */
void openapi_put_path(struct printer *printer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void openapi_put_security(struct printer *printer, unsigned flags);

/* openapi_rest.c: what is no method of a .proto. */
void openapi_put_folder(struct printer *printer, const struct folder *folder);
/* All verbs of a path stand together: with the first of them. */
void openapi_put_resource(struct printer *printer, const struct resources *resources, size_t index);

#endif

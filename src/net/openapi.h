/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.h - the API as an OpenAPI 3 document, made from the same descriptors as everything.
 *
 * Every method of every torg.* service that takes and gives one message is a POST with
 * JSON; streaming methods are gRPC only and left out. Comments of the .proto files (source info in
 * the set) become descriptions.
 */
#ifndef TORG_NET_OPENAPI_H
#define TORG_NET_OPENAPI_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

/* Appends the document. Fails on a damaged set; the buffer remembers if it did not fit. */
int openapi_print(const struct bytes *descriptor_sets, size_t count, struct buf *out,
                  struct err *err);

#endif

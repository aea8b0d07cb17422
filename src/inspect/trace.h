/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - where is a document on its way from the receiver to those who search for it? */
#ifndef TORG_INSPECT_TRACE_H
#define TORG_INSPECT_TRACE_H

#include "inspect/inspect.h"
#include "torg/v1/inspect.pb-c.h"

/* ERR_NOT_FOUND: there is no such client. A document that is not there gets its steps too. */
int trace_document(const struct inspect *inspect, const char *client, const char *pk,
                   struct arena *arena, Torg__V1__Trace *trace, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - where is a document, or an offer, on its way to those who search for it? */
#ifndef TORG_INSPECT_TRACE_TRACE_H
#define TORG_INSPECT_TRACE_TRACE_H

#include "inspect/inspect.h"
#include "torg/v1/inspect.pb-c.h"

/* ERR_NOT_FOUND: there is no such client. A document that is not there gets its steps too. */
int trace_document(const struct inspect *inspect, const char *client, const char *pk,
                   struct arena *arena, Torg__V1__Trace *trace, struct err *err);

/* The same from the offer on: saved, exported, composed, then as its document. A wrong id is
 * ERR_INVALID; an offer that is not there gets its steps too. */
int trace_offer(const struct inspect *inspect, const char *offer_id, struct arena *arena,
                Torg__V1__Trace *trace, struct err *err);

#endif

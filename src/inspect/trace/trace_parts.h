/* SPDX-License-Identifier: Apache-2.0 */
/* trace_parts.h - steps of a trace, for trace*.c. */
#ifndef TORG_INSPECT_TRACE_TRACE_PARTS_H
#define TORG_INSPECT_TRACE_TRACE_PARTS_H

#include "inspect/inspect.h"
#include "torg/v1/inspect.pb-c.h"

enum { TRACE_STEP_COUNT = 9 };

/* Names it, with room for the steps. */
void trace_begin(const char *client, const char *pk, struct arena *arena, Torg__V1__Trace *trace);
/* time_us 0: not known. */
void trace_add(Torg__V1__Trace *trace, const char *stage, int state, int64_t time_us, char *text,
               struct arena *arena);
char *trace_moment(int64_t us, struct arena *arena);
/* The steps from "received" on. version: as in struct tracing. ERR_NOT_FOUND: no such client. */
int trace_steps(const struct inspect *inspect, const char *client, const char *pk, int64_t version,
                struct arena *arena, Torg__V1__Trace *trace, struct err *err);

#endif

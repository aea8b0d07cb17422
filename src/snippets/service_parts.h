/* SPDX-License-Identifier: Apache-2.0 */
/* service_parts.h - what the files of SnippetService share (service.h). */
#ifndef TORG_SNIPPETS_SERVICE_PARTS_H
#define TORG_SNIPPETS_SERVICE_PARTS_H

#include "net/rpc.h"
#include "snippets/requests/prepare.h"
#include "torg/v1/snippet.pb-c.h"

/* The format of a request as that of its body. */
int snippet_format_of(struct call *call, Torg__V1__SnippetFormat format, struct snippet_body *body,
                      struct err *err);

/* service_write.c; they may return RPC_LATER */
int snippet_call_put(struct call *call, struct bytes name, const struct snippet_body *body,
                     struct err *err);
int snippet_call_delete(struct call *call, struct bytes name, struct bytes key,
                        struct bytes language, struct err *err);

/* service_watch.c */
int snippet_watch(struct call *call, struct err *err);

/* service_load.c */
int snippet_begin_load(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err);
int snippet_add_loaded(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err);
int snippet_finish_load(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err);
int snippet_abandon_load(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *response, struct err *err);
int snippet_roll_back(struct call *call, const ProtobufCMessage *message,
                      ProtobufCMessage *response, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.SearcherService. */
#ifndef TORG_SEARCHER_SERVICE_H
#define TORG_SEARCHER_SERVICE_H

#include "net/rpc.h"
#include "searcher/front.h"
#include "store/store.h"

/* What the registry knows of a document: asked to explain why it is not found. */
enum key_state { KEY_UNKNOWN, KEY_DELETED, KEY_ALIVE };
typedef int (*key_state_fn)(void *arg, int64_t client_id, const char *pk, enum key_state *state,
                            int64_t *version, struct err *err);

struct searcher {
    struct front front;
    struct store *store; /* borrowed; of the numerator. NULL: documents are not explained by key */
    key_state_fn key_state; /* NULL: the registry is not asked */
    void *key_state_arg;
};

/* The searcher is borrowed for the server's life. */
struct rpc_service searcher_service(struct searcher *searcher);

/* Whose documents the call is about; ERR_DENIED when its key is bound to another client. */
int searcher_client(const struct call *call, const char *named, const char **client,
                    struct err *err);

/* service_explain.c, service_list.c */
int searcher_explain(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                     struct err *err);
int searcher_list(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                  struct err *err);
int searcher_freshness(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.SearcherService. */
#ifndef TORG_SEARCHER_SERVICE_H
#define TORG_SEARCHER_SERVICE_H

#include "net/rpc.h"
#include "searcher/front/front.h"
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
    /* Whether searches find the write of a token once its lane is past it; NULL: they do. */
    int (*is_found)(void *arg, const char *token, struct arena *arena, bool *is_found,
                    struct err *err);
    void *is_found_arg;
};

/* The searcher is borrowed for the server's life. */
struct rpc_service searcher_service(struct searcher *searcher);

/* Whose documents the call is about; ERR_DENIED when its key is bound to another client. */
int searcher_client(const struct call *call, const char *named, const char **client,
                    struct err *err);

/* A search whose waits hold no thread: the call comes back until it sees what it has to see, or the
 * deadline is there. */
int searcher_search(struct call *call, const char *client, const Torg__V1__SearchRequest *request,
                    int64_t deadline_us, Torg__V1__SearchResponse *response, struct err *err);
/* The sooner of what the request (0: nothing) and the call say. */
int64_t searcher_deadline_us(const struct call *call, uint32_t ms);

/* What a handler does that looked for what has to be seen, and has not found it. */
enum searcher_wait {
    WAIT_OVER,       /* it says so: there is no time left */
    WAIT_COMES_BACK, /* it returns an error, which is forgotten, and is run again to look again */
    WAIT_HERE,       /* without a server: it waits in its thread */
};
enum searcher_wait searcher_wait(struct call *call, int64_t deadline_us);

/* ---- the same without a call, for other parts of the process ---- */

/* A shard of this process, as long as the view; ERR_NOT_FOUND, ERR_INVALID tell what is wrong. */
int searcher_find_shard(const struct index_view *view, const char *client, int64_t epoch,
                        uint32_t shard, struct replica **replica, struct err *err);
int searcher_list_indexed(const struct searcher *searcher, const char *client,
                          const Torg__V1__ListIndexedRequest *request, struct arena *arena,
                          Torg__V1__ListIndexedResponse *response, struct err *err);
int searcher_check_shard(const struct searcher *searcher, const char *client,
                         const Torg__V1__CheckShardRequest *request, int64_t deadline_us,
                         struct arena *arena, Torg__V1__CheckShardResponse *response,
                         struct err *err);
/* Of this process and of those it knows. */
void searcher_tell_freshness(const struct searcher *searcher, const char *client,
                             struct arena *arena, Torg__V1__Freshness *freshness);
/* Returns how many. */
size_t searcher_tell_lanes(const struct progress *progress, struct arena *arena,
                           Torg__V1__LaneFreshness ***lanes);

/* service_explain.c, service_list.c, service_check.c, service_compare.c */
int searcher_explain(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                     struct err *err);
int searcher_list(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                  struct err *err);
int searcher_check(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                   struct err *err);
int searcher_compare(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                     struct err *err);
int searcher_freshness(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err);

#endif

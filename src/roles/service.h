/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - the services of the role system, as functions on messages.
 *
 * The server calls them through their handlers, and a local command directly on the store when no
 * server runs: one meaning, two ways.
 */
#ifndef TORG_ROLES_SERVICE_H
#define TORG_ROLES_SERVICE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/violation.h"
#include "net/rpc.h"
#include "roles/process.h"
#include "store/store.h"
#include "torg/v1/audit.pb-c.h"
#include "torg/v1/key.pb-c.h"
#include "torg/v1/topic.pb-c.h"

/* Who asks, and where the answer's memory comes from. */
struct asker {
    struct store *store;
    const char *principal;
    int64_t now_us;
    struct arena *arena;
    struct violations *violations;
};

int key_service_create(const struct asker *asker, const Torg__V1__CreateKeyRequest *request,
                       Torg__V1__CreateKeyResponse *response, struct err *err);
int key_service_list(const struct asker *asker, const Torg__V1__ListKeysRequest *request,
                     Torg__V1__ListKeysResponse *response, struct err *err);
int key_service_revoke(const struct asker *asker, const Torg__V1__RevokeKeyRequest *request,
                       Torg__V1__Key *response, struct err *err);
int audit_service_list(const struct asker *asker, const Torg__V1__ListAuditEntriesRequest *request,
                       Torg__V1__ListAuditEntriesResponse *response, struct err *err);

int topic_service_list(struct topics *topics, struct arena *arena,
                       Torg__V1__ListTopicsResponse *response, struct err *err);
int topic_service_read(struct topics *topics, struct arena *arena,
                       const Torg__V1__ReadTopicRequest *request,
                       Torg__V1__ReadTopicResponse *response, struct err *err);

/* The declarations for the server; they and their context live as long as the process. */
struct rpc_service key_service(struct process *process);
struct rpc_service audit_service(struct process *process);
struct rpc_service system_service(struct process *process);
struct rpc_service topic_service(struct process *process);

/* What a handler knows of its caller; violations is the place for field faults. */
struct asker asker_of(struct call *call, struct violations *violations);
/* Hands the collected field faults over to the call. */
void asker_tell(struct call *call, const struct violations *violations);

/* Microseconds as the message; NULL for 0. */
Google__Protobuf__Timestamp *timestamp_new(struct arena *arena, int64_t us);
/* The other way; ERR_INVALID when it cannot be told in microseconds; NULL gives 0. */
int timestamp_us(const Google__Protobuf__Timestamp *timestamp, int64_t *us, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - the services of the registry: calls in, answers out.
 *
 * The client is the credential's, if that is bound to one; otherwise the message's, otherwise
 * "default". The composer's (OFFER_CLIENT) is reserved: a caller that could write it could take any
 * seller's offer out of the search, or put in one that nobody has checked.
 */
#ifndef TORG_REGISTRY_SERVICE_H
#define TORG_REGISTRY_SERVICE_H

#include "net/rest.h"
#include "net/rpc.h"
#include "registry/clients/column_desk.h"
#include "registry/clients/epoch_desk.h"
#include "registry/indexing/queue_desk.h"
#include "registry/receiving/receiver.h"

#define CLIENT_DEFAULT "default"

/* The declarations for the server; the context lives as long. */
struct rpc_service document_service(struct receiver *receiver);
struct rpc_service schema_service(struct receiver *receiver);
struct rest_service plain_document_service(struct receiver *receiver);
struct rpc_service column_service(struct column_desk *desk);
struct rpc_service epoch_service(struct epoch_desk *desk);
struct rpc_service queue_service(struct queue_desk *desk);

/* --- what their files share --- */

/* The client of a call that names one ("": none). ERR_DENIED: the key is bound to another. */
int caller_client(const struct call *call, const char *named, const char **client, struct err *err);
/* The same of a call that writes documents or fields. ERR_DENIED also: they are the composer's,
 * which sends them by the topic `documents`, and the caller is no operator (scope admin). */
int caller_writes(const struct call *call, const char *named, const char **client, struct err *err);

#endif

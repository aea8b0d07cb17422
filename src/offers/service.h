/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - the services of offers: calls in, answers out.
 *
 * The seller is the credential's; whatever a message says about it is ignored. An offer of another
 * seller is answered like one that does not exist.
 */
#ifndef TORG_OFFERS_SERVICE_H
#define TORG_OFFERS_SERVICE_H

#include "net/rpc.h"
#include "offers/change/draft.h"
#include "offers/change/offers.h"
#include "offers/inbox/contact_limit.h"
#include "topic/topic.h"
#include "torg/v1/draft.pb-c.h"

/* What buyers' calls stand on. */
struct contacts {
    struct offers *offers; /* borrowed, as all that follows */
    struct topics *topics; /* messages go there; NULL in a command beside no server: refused */
    struct contact_limit limit;
};

/* The declarations for the server; `offers` is their context and lives as long. */
struct rpc_service offer_service(struct offers *offers);
struct rpc_service draft_service(struct offers *offers);
struct rpc_service cabinet_service(struct offers *offers);
struct rpc_service moderation_service(struct offers *offers);
struct rpc_service stage_service(struct offers *offers);
struct rpc_service counters_service(struct offers *offers);
struct rpc_service contact_service(struct contacts *contacts);

/* --- what their files share --- */

/* The seller of the credential; ERR_DENIED when it has none. */
int caller_seller(const struct call *call, const char **seller, struct err *err);

/* What is decided for all sellers is not for a key of one: ERR_DENIED. */
int caller_unbound(const struct call *call, struct err *err);

/* A field with an offer id; what is wrong with it is told of the field. */
int caller_id(struct call *call, const char *field, const char *text, offerid *id, struct err *err);

/* The author of a write. method tells apart equal messages of different methods; violations get
 * their place in the author, and are handed over by call_violations. */
int caller_author(struct call *call, const char *method, const char *seller,
                  const ProtobufCMessage *request, struct violations *violations,
                  struct author *author, struct err *err);

/* A draft as its owner sees it, with what publishing would refuse. */
int draft_message(struct call *call, const struct offers *offers, const struct draft *draft,
                  Torg__V1__Draft *message, struct err *err);

#endif

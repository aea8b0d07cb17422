/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_record.h - an offer between its message and its row; drafts' content likewise.
 *
 * The stored body is the message without its id, which is the row's key: a collision of ids is
 * settled without encoding again. It is packed (base/pack.h).
 */
#ifndef TORG_OFFERS_RECORD_OFFER_RECORD_H
#define TORG_OFFERS_RECORD_OFFER_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "offers/record/offer_id.h"
#include "store/store.h"
#include "torg/v1/offer.pb-c.h"

/* Appends the body to `body`. ERR_LIMIT names the size and the limit (OFFER_SIZE_MAX, unless it is
 * given: up to OFFER_STORED_SIZE_MAX). `what` is told in it. */
int record_pack(const ProtobufCMessage *message, const char *what, struct buf *body,
                struct err *err);
int record_pack_within(const ProtobufCMessage *message, const char *what, size_t size_max,
                       struct buf *body, struct err *err);
int record_open(struct bytes body, const ProtobufCMessageDescriptor *type, struct arena *arena,
                ProtobufCMessage **message, struct err *err);

/* The offer of a row; ERR_CORRUPT names its id. */
int record_open_offer(offerid id, struct bytes body, struct arena *arena, Torg__V1__Offer **offer,
                      struct err *err);

/* Reads the row of kind 'offer'; *offer is NULL when there is none. */
int record_find(struct store_tx *tx, offerid id, struct arena *arena, Torg__V1__Offer **offer,
                struct err *err);

/* A copy of any message, in the arena. */
ProtobufCMessage *record_copy(const ProtobufCMessage *message, struct arena *arena);

char *offer_id_text(struct arena *arena, offerid id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshness.h - the token of a write's answer: which change it was, for later stages to be asked.
 *
 *     base64url, unpadded, of: 1 | varint shard | varint seq | varint offer id | varint revision
 *
 * It is no secret and proves nothing: who asks with it must be allowed to see the offer.
 */
#ifndef TORG_OFFERS_FRESHNESS_H
#define TORG_OFFERS_FRESHNESS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "offers/offer_id.h"

struct freshness {
    uint32_t shard; /* of the queue */
    int64_t seq;    /* in it */
    offerid offer;
    int64_t revision;
};

char *freshness_text(const struct freshness *freshness, struct arena *arena);
int freshness_parse(struct bytes text, struct freshness *freshness, struct err *err);

#endif

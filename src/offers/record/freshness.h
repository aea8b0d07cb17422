/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshness.h - the token in a write's answer: it names the change, for asking later stages about
 * it.
 *
 *     base64url, unpadded, of: 3 | varint shard | varint seq | varint offer id | varint revision |
 *                              seal u64
 *
 * The seal (base/seal.h) covers everything before it, with the store's key: whoever has a token got
 * it from the writer.
 */
#ifndef TORG_OFFERS_RECORD_FRESHNESS_H
#define TORG_OFFERS_RECORD_FRESHNESS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/seal.h"
#include "offers/record/offer_id.h"

struct freshness {
    uint32_t shard; /* of the queue */
    int64_t seq;    /* in it */
    offerid offer;
    int64_t revision;
};

char *freshness_text(const struct freshness *freshness, const struct seal *seal,
                     struct arena *arena);
/* ERR_PRECONDITION: it is of the form before, without a seal. */
int freshness_parse(struct bytes text, const struct seal *seal, struct freshness *freshness,
                    struct err *err);

#endif

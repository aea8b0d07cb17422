/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_token.h - names one accepted change, for those who wait until it is found.
 *
 *     base64url, unpadded, of: 4 | varint client id | varint lane | varint shard | varint idx |
 *                              varint version | hash of the key u64 | seal u64
 *
 * The seal (base/seal.h) is of all before it, by the key of the store: nobody else can make one.
 * Who asks with it must be allowed to ask that client all the same.
 */
#ifndef TORG_MODEL_CHANGE_TOKEN_H
#define TORG_MODEL_CHANGE_TOKEN_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/seal.h"

struct change_token {
    int64_t client_id;
    uint32_t lane;
    uint32_t shard;
    int64_t idx;
    int64_t version; /* of the document */
    int64_t hash;    /* of its key, as the registry has it */
};

char *change_token_text(const struct change_token *token, const struct seal *seal,
                        struct arena *arena);
/* seal NULL: the form alone is looked at, which is enough for who only waits and has no store.
 * ERR_PRECONDITION: it is of the form before, without a seal. */
int change_token_parse(struct bytes text, const struct seal *seal, struct change_token *token,
                       struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_token.h - names one accepted change, for those who wait until it is found.
 *
 *     base64url, unpadded, of: 2 | varint client id | varint lane | varint shard | varint idx
 *
 * It is no secret and proves nothing: who asks with it must be allowed to ask that client.
 */
#ifndef TORG_MODEL_CHANGE_TOKEN_H
#define TORG_MODEL_CHANGE_TOKEN_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct change_token {
    int64_t client_id;
    uint32_t lane;
    uint32_t shard;
    int64_t idx;
};

char *change_token_text(const struct change_token *token, struct arena *arena);
int change_token_parse(struct bytes text, struct change_token *token, struct err *err);

#endif

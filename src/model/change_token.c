/* SPDX-License-Identifier: Apache-2.0 */
/* change_token.c - see change_token.h. */
#include "model/change_token.h"

#include "base/buf.h"
#include "base/token.h"
#include "base/varint.h"

enum { FORM = 2, NUMBER_COUNT = 4, BINARY_SIZE_MAX = 1 + NUMBER_COUNT * VARINT_SIZE_MAX };

char *change_token_text(const struct change_token *token, struct arena *arena)
{
    const uint64_t numbers[NUMBER_COUNT] = {(uint64_t)token->client_id, token->lane, token->shard,
                                            (uint64_t)token->idx};
    uint8_t binary[BINARY_SIZE_MAX] = {FORM};
    size_t size = 1;

    for (size_t i = 0; i < NUMBER_COUNT; i++)
        size += varint_encode(numbers[i], binary + size);
    return token_text(bytes_make(binary, size), arena);
}

int change_token_parse(struct bytes text, struct change_token *token, struct err *err)
{
    struct arena *arena = arena_new();
    uint64_t numbers[NUMBER_COUNT] = {0};
    struct bytes rest;
    bool ok = token_parse(text, BINARY_SIZE_MAX, arena, &rest) && rest.size && rest.data[0] == FORM;

    if (ok)
        rest = bytes_skip(rest, 1);
    for (size_t i = 0; ok && i < NUMBER_COUNT; i++)
        ok = varint_get(&rest, &numbers[i]) && numbers[i] <= INT64_MAX;
    ok = ok && !rest.size && numbers[1] <= UINT32_MAX && numbers[2] <= UINT32_MAX;
    arena_free(arena);
    if (!ok)
        return err_set(err, ERR_INVALID,
                       "this is not the token of a change: send one as a verdict gave it");
    *token = (struct change_token){.client_id = (int64_t)numbers[0],
                                   .lane = (uint32_t)numbers[1],
                                   .shard = (uint32_t)numbers[2],
                                   .idx = (int64_t)numbers[3]};
    return 0;
}

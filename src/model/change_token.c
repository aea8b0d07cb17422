/* SPDX-License-Identifier: Apache-2.0 */
/* change_token.c - see change_token.h. */
#include "model/change_token.h"

#include <assert.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/token.h"
#include "base/varint.h"

enum {
    FORM = 4,
    FORM_BEFORE = 2, /* without a seal */
    NUMBER_COUNT = 5,
    HASH_SIZE = 8,
    BINARY_SIZE_MAX = 1 + NUMBER_COUNT * VARINT_SIZE_MAX + HASH_SIZE + SEAL_SIZE,
};

char *change_token_text(const struct change_token *token, const struct seal *seal,
                        struct arena *arena)
{
    const uint64_t numbers[NUMBER_COUNT] = {(uint64_t)token->client_id, token->lane, token->shard,
                                            (uint64_t)token->idx, (uint64_t)token->version};
    struct buf binary = BUF_INIT(BINARY_SIZE_MAX);
    uint8_t hash[HASH_SIZE];
    char *text;

    buf_put_byte(&binary, FORM);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        varint_put(&binary, numbers[i]);
    put_le64(hash, (uint64_t)token->hash);
    buf_put_raw(&binary, hash, sizeof(hash));
    seal_put(seal, &binary);
    assert(!buf_failed(&binary));
    text = token_text(buf_bytes(&binary), arena);
    buf_release(&binary);
    return text;
}

static bool read_numbers(struct bytes rest, struct change_token *token)
{
    uint64_t numbers[NUMBER_COUNT] = {0};

    for (size_t i = 0; i < NUMBER_COUNT; i++)
        if (!varint_get(&rest, &numbers[i]) || numbers[i] > INT64_MAX)
            return false;
    if (rest.size != HASH_SIZE || numbers[1] > UINT32_MAX || numbers[2] > UINT32_MAX)
        return false;
    *token = (struct change_token){.client_id = (int64_t)numbers[0],
                                   .lane = (uint32_t)numbers[1],
                                   .shard = (uint32_t)numbers[2],
                                   .idx = (int64_t)numbers[3],
                                   .version = (int64_t)numbers[4],
                                   .hash = (int64_t)get_le64(rest.data)};
    return true;
}

int change_token_parse(struct bytes text, const struct seal *seal, struct change_token *token,
                       struct err *err)
{
    struct arena *arena = arena_new();
    struct bytes rest = BYTES_EMPTY;
    bool is_before = false;
    bool ok = token_parse(text, BINARY_SIZE_MAX, arena, &rest) && rest.size;

    if (ok) {
        is_before = rest.data[0] == FORM_BEFORE;
        ok = rest.data[0] == FORM;
    }
    if (ok && seal)
        ok = seal_check(seal, &rest);
    else if (ok)
        ok = rest.size > SEAL_SIZE;
    if (ok && !seal)
        rest.size -= SEAL_SIZE;
    ok = ok && read_numbers(bytes_skip(rest, 1), token);
    arena_free(arena);
    if (is_before)
        return err_set(err, ERR_PRECONDITION,
                       "this token is from before tokens were sealed, and is not taken any more: "
                       "the next write of the document gives a new one");
    return ok ? 0
              : err_set(err, ERR_INVALID,
                        "this is not the token of a change: send one as a verdict gave it");
}

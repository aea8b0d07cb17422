/* SPDX-License-Identifier: Apache-2.0 */
/* freshness.c - see freshness.h. */
#include "offers/record/freshness.h"

#include <assert.h>

#include "base/buf.h"
#include "base/token.h"
#include "base/varint.h"

enum { FORM = 3, FORM_BEFORE = 1, BINARY_SIZE_MAX = 64 };

char *freshness_text(const struct freshness *freshness, const struct seal *seal,
                     struct arena *arena)
{
    struct buf binary = BUF_INIT(BINARY_SIZE_MAX);
    char *text;

    buf_put_byte(&binary, FORM);
    varint_put(&binary, freshness->shard);
    varint_put(&binary, (uint64_t)freshness->seq);
    varint_put(&binary, (uint64_t)freshness->offer);
    varint_put(&binary, (uint64_t)freshness->revision);
    seal_put(seal, &binary);
    assert(!buf_failed(&binary));
    text = token_text(buf_bytes(&binary), arena);
    buf_release(&binary);
    return text;
}

int freshness_parse(struct bytes text, const struct seal *seal, struct freshness *freshness,
                    struct err *err)
{
    struct arena *arena = arena_new();
    uint64_t numbers[4] = {0};
    struct bytes rest = BYTES_EMPTY;
    bool ok = token_parse(text, BINARY_SIZE_MAX, arena, &rest) && rest.size;
    bool is_before = ok && rest.data[0] == FORM_BEFORE;

    ok = ok && rest.data[0] == FORM && seal_check(seal, &rest);
    if (ok)
        rest = bytes_skip(rest, 1);
    for (size_t i = 0; ok && i < 4; i++)
        ok = varint_get(&rest, &numbers[i]) && numbers[i] <= INT64_MAX;
    ok = ok && !rest.size && numbers[0] <= UINT32_MAX;
    arena_free(arena);
    if (is_before)
        return err_set(err, ERR_PRECONDITION,
                       "this token is from before tokens were sealed, and is not taken any more: "
                       "the next write of the offer gives a new one");
    if (!ok)
        return err_set(err, ERR_INVALID,
                       "this is not a freshness token: send one as a write gave it");
    *freshness = (struct freshness){.shard = (uint32_t)numbers[0],
                                    .seq = (int64_t)numbers[1],
                                    .offer = (offerid)numbers[2],
                                    .revision = (int64_t)numbers[3]};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* page_mark.c - see page_mark.h. */
#include "searcher/page_mark.h"

#include <string.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/limits.h"
#include "net/message.h"

enum { SUM_SIZE = 8 };

uint64_t page_mark_hash(const Torg__V1__Query *query, uint32_t stage, struct arena *arena)
{
    const Torg__V1__QueryStage *from = query->stages[stage];
    Torg__V1__QueryStage *bare = arena_alloc(arena, sizeof(*bare));
    Torg__V1__Query whole = TORG__V1__QUERY__INIT;
    struct buf out = BUF_INIT(QUERY_HASHED_SIZE_MAX);
    uint64_t hash;

    torg__v1__query_stage__init(bare);
    bare->text = from->text;
    bare->any_word = from->any_word;
    bare->clauses = from->clauses;
    bare->n_clauses = from->n_clauses;
    bare->should_min = from->should_min;
    bare->filter = from->filter;
    bare->sorts = from->sorts;
    bare->n_sorts = from->n_sorts;
    bare->cap = from->cap;
    whole.base_filter = query->base_filter;
    whole.stages = &bare;
    whole.n_stages = 1;
    message_encode(&whole.base, &out);
    hash = hash64(buf_bytes(&out));
    buf_release(&out);
    return hash;
}

struct bytes page_mark_encode(const Torg__V1__SearchCursor *mark, struct arena *arena)
{
    struct buf out = BUF_INIT(SEARCHER_CURSOR_SIZE_MAX);
    struct bytes encoded;
    uint8_t sum[SUM_SIZE];

    message_encode(&mark->base, &out);
    if (out.size + SUM_SIZE > SEARCHER_CURSOR_SIZE_MAX || buf_failed(&out)) {
        /* Thousands of words that a prefix may mean: the next page counts them anew. */
        Torg__V1__SearchCursor bare = *mark;

        buf_release(&out);
        if (!mark->words)
            return BYTES_EMPTY;
        bare.words = NULL;
        return page_mark_encode(&bare, arena);
    }
    put_le64(sum, hash64(buf_bytes(&out)));
    buf_put_raw(&out, sum, sizeof(sum));
    encoded = arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return encoded;
}

int page_mark_decode(struct bytes cursor, uint64_t query_hash, struct arena *arena,
                     Torg__V1__SearchCursor **mark, struct err *err)
{
    struct bytes body = cursor;
    ProtobufCMessage *message;

    if (cursor.size < SUM_SIZE || cursor.size > SEARCHER_CURSOR_SIZE_MAX)
        return err_set(err, ERR_INVALID, "cursor: is not one that was given");
    body.size -= SUM_SIZE;
    if (get_le64(cursor.data + body.size) != hash64(body) ||
        message_decode(body, &torg__v1__search_cursor__descriptor, arena, &message, NULL))
        return err_set(err, ERR_INVALID, "cursor: is not one that was given, or was cut");
    *mark = (Torg__V1__SearchCursor *)message;
    if ((*mark)->query_hash != query_hash)
        return err_set(err, ERR_INVALID, "cursor: belongs to another query; begin without it");
    for (size_t i = 0; i < (*mark)->n_places; i++)
        if (!(*mark)->places[i]->place)
            return err_set(err, ERR_INVALID, "cursor: is not one that was given");
    return 0;
}

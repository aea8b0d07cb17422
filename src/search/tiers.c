/* SPDX-License-Identifier: Apache-2.0 */
/* tiers.c - see tiers.h. */
#include "search/tiers.h"

#include <string.h>

#include "base/endian.h"
#include "base/hash.h"
#include "query/cursor.h"
#include "search/bounds.h"

/* No version of the searcher's cursors begins so. */
enum { TIER_SOME = 0xFE, HASH_SIZE = 8 };

static struct bytes with_mark(struct bytes rest, struct arena *arena)
{
    uint8_t *data = arena_alloc(arena, rest.size + 1);

    data[0] = TIER_SOME;
    if (rest.size)
        memcpy(data + 1, rest.data, rest.size);
    return bytes_make(data, rest.size + 1);
}

/* The second part begins: nothing but the text has to be known. */
static struct bytes beginning(const char *sent, const char *searched, struct arena *arena)
{
    struct bytes text = sent == searched ? BYTES_EMPTY : bytes_of(searched);
    uint8_t *data = arena_alloc(arena, 1 + HASH_SIZE + text.size);

    data[0] = TIER_SOME;
    put_le64(data + 1, hash64(bytes_of(sent)));
    if (text.size)
        memcpy(data + 1 + HASH_SIZE, text.data, text.size);
    return with_mark(bytes_make(data, 1 + HASH_SIZE + text.size), arena);
}

struct bytes tier_cursor(const struct tier *next, const char *sent, const char *searched,
                         struct arena *arena)
{
    struct bytes cursor;

    if (next->is_some && !next->cursor.size)
        return beginning(sent, searched, arena);
    cursor = cursor_with_text(next->cursor, sent, searched, arena);
    return next->is_some && cursor.size ? with_mark(cursor, arena) : cursor;
}

int tier_read(struct bytes cursor, const char *sent, struct arena *arena, struct tier *tier,
              const char **text, struct err *err)
{
    *tier = (struct tier){.cursor = cursor};
    *text = sent;
    if (!cursor.size || cursor.data[0] != TIER_SOME)
        return cursor_text(cursor, sent, arena, text, err);
    tier->is_some = true;
    tier->cursor = bytes_skip(cursor, 1);
    if (tier->cursor.size && tier->cursor.data[0] != TIER_SOME)
        return cursor_text(tier->cursor, sent, arena, text, err);
    if (tier->cursor.size < 1 + HASH_SIZE ||
        tier->cursor.size > 1 + HASH_SIZE + SEARCH_TEXT_SIZE_MAX)
        return err_set(err, ERR_INVALID, "cursor: it is not whole; begin again without it");
    if (tier->cursor.size > 1 + HASH_SIZE &&
        get_le64(tier->cursor.data + 1) == hash64(bytes_of(sent)))
        *text = arena_text(arena, bytes_skip(tier->cursor, 1 + HASH_SIZE));
    tier->cursor = BYTES_EMPTY;
    return 0;
}

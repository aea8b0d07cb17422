/* SPDX-License-Identifier: Apache-2.0 */
/* tiers.c - see tiers.h. */
#include "search/choices/tiers.h"

#include <assert.h>
#include <string.h>

#include "base/endian.h"
#include "base/hash.h"
#include "query/run/cursor.h"
#include "search/bounds.h"

/* No version of the searcher's cursors begins so. */
enum { TIER_SOME = 0xFE, TIER_LIKELY = 0xFD, HASH_SIZE = 8, LIKELY_HEAD_SIZE = 3 };

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

static struct bytes with_likely(const struct tier *next, struct bytes rest, struct arena *arena)
{
    size_t size = strlen(next->likely);
    uint8_t *data = arena_alloc(arena, LIKELY_HEAD_SIZE + size + rest.size);

    assert(size <= UINT16_MAX);
    data[0] = TIER_LIKELY;
    put_le16(data + 1, (uint16_t)size);
    memcpy(data + LIKELY_HEAD_SIZE, next->likely, size);
    memcpy(data + LIKELY_HEAD_SIZE + size, rest.data, rest.size);
    return bytes_make(data, LIKELY_HEAD_SIZE + size + rest.size);
}

struct bytes tier_cursor(const struct tier *next, const char *sent, const char *searched,
                         struct arena *arena)
{
    struct bytes cursor;

    if (next->is_some && !next->cursor.size) {
        cursor = beginning(sent, searched, arena);
    } else {
        cursor = cursor_with_text(next->cursor, sent, searched, arena);
        if (next->is_some && cursor.size)
            cursor = with_mark(cursor, arena);
    }
    return next->likely && cursor.size ? with_likely(next, cursor, arena) : cursor;
}

/* Takes its front off. */
static int read_likely(struct bytes *cursor, struct arena *arena, struct tier *tier,
                       struct err *err)
{
    size_t size = cursor->size >= LIKELY_HEAD_SIZE ? get_le16(cursor->data + 1) : 0;

    if (!size || cursor->size <= LIKELY_HEAD_SIZE + size)
        return err_set(err, ERR_INVALID, "cursor: it is not whole; begin again without it");
    tier->likely = arena_text(arena, bytes_make(cursor->data + LIKELY_HEAD_SIZE, size));
    *cursor = bytes_skip(*cursor, LIKELY_HEAD_SIZE + size);
    return 0;
}

int tier_read(struct bytes cursor, const char *sent, struct arena *arena, struct tier *tier,
              const char **text, struct err *err)
{
    int rc;

    *tier = (struct tier){0};
    *text = sent;
    if (cursor.size && cursor.data[0] == TIER_LIKELY) {
        rc = read_likely(&cursor, arena, tier, err);
        if (rc)
            return rc;
    }
    tier->cursor = cursor;
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

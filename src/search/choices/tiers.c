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
enum {
    TIER_SOME = 0xFE,
    TIER_LIKELY = 0xFD,
    TIER_ARRANGED = 0xFC,
    TIER_CHOOSES = 0xFB,
    HASH_SIZE = 8,
    CHOOSES_SIZE = 2,
    LIKELY_HEAD_SIZE = 3,
    ARRANGED_HEAD_SIZE = 3 + HASH_SIZE,
};
static_assert(ARRANGED_PLACE_COUNT <= UINT8_MAX, "the count is a byte of the cursor");

static struct bytes with_mark(struct bytes rest, struct arena *arena)
{
    uint8_t *data = arena_alloc(arena, rest.size + 1);

    data[0] = TIER_SOME;
    if (rest.size)
        memcpy(data + 1, rest.data, rest.size);
    return bytes_make(data, rest.size + 1);
}

/* A part begins: nothing but the text has to be known. */
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

static struct bytes with_arranged(const struct arranged_state *arranged, struct bytes rest,
                                  struct arena *arena)
{
    size_t size = ARRANGED_HEAD_SIZE + (size_t)arranged->count * HASH_SIZE;
    uint8_t *data = arena_alloc(arena, size + rest.size);

    data[0] = TIER_ARRANGED;
    data[1] = arranged->is_behind;
    data[2] = (uint8_t)arranged->count;
    put_le64(data + 3, arranged->seed);
    for (uint32_t i = 0; i < arranged->count; i++)
        put_le64(data + ARRANGED_HEAD_SIZE + (size_t)i * HASH_SIZE, arranged->shown[i]);
    memcpy(data + size, rest.data, rest.size);
    return bytes_make(data, size + rest.size);
}

static struct bytes with_chooses(enum tier_chooses chooses, struct bytes rest, struct arena *arena)
{
    uint8_t *data = arena_alloc(arena, CHOOSES_SIZE + rest.size);

    data[0] = TIER_CHOOSES;
    data[1] = (uint8_t)chooses;
    memcpy(data + CHOOSES_SIZE, rest.data, rest.size);
    return bytes_make(data, CHOOSES_SIZE + rest.size);
}

struct bytes tier_cursor(const struct tier *next, const char *sent, const char *searched,
                         struct arena *arena)
{
    bool is_arranged = next->arranged && !next->arranged->is_behind;
    struct bytes cursor;

    if (is_arranged || (next->is_some && !next->cursor.size)) {
        cursor = beginning(sent, searched, arena);
    } else {
        cursor = cursor_with_text(next->cursor, sent, searched, arena);
        if (next->is_some && cursor.size)
            cursor = with_mark(cursor, arena);
    }
    if (next->likely && cursor.size)
        cursor = with_likely(next, cursor, arena);
    if (next->arranged && cursor.size)
        cursor = with_arranged(next->arranged, cursor, arena);
    return next->chooses && cursor.size ? with_chooses(next->chooses, cursor, arena) : cursor;
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

/* As that. */
static int read_arranged(struct bytes *cursor, struct arena *arena, struct tier *tier,
                         struct err *err)
{
    struct arranged_state *arranged = arena_alloc(arena, sizeof(*arranged));
    uint32_t count = cursor->size > ARRANGED_HEAD_SIZE ? cursor->data[2] : 0;
    size_t size = ARRANGED_HEAD_SIZE + (size_t)count * HASH_SIZE;

    if (cursor->size <= size || count > ARRANGED_PLACE_COUNT || cursor->data[1] > 1)
        return err_set(err, ERR_INVALID, "cursor: it is not whole; begin again without it");
    *arranged = (struct arranged_state){
        .seed = get_le64(cursor->data + 3), .count = count, .is_behind = cursor->data[1] != 0};
    for (uint32_t i = 0; i < count; i++)
        arranged->shown[i] = get_le64(cursor->data + ARRANGED_HEAD_SIZE + (size_t)i * HASH_SIZE);
    tier->arranged = arranged;
    *cursor = bytes_skip(*cursor, size);
    return 0;
}

/* With the hash of what was sent, and what was searched in its place. */
static int read_beginning(struct bytes part, const char *sent, struct arena *arena,
                          const char **text, struct err *err)
{
    struct bytes searched;

    if (part.size < 1 + HASH_SIZE || part.size > 1 + HASH_SIZE + SEARCH_TEXT_SIZE_MAX)
        return err_set(err, ERR_INVALID, "cursor: it is not whole; begin again without it");
    searched = bytes_skip(part, 1 + HASH_SIZE);
    if (get_le64(part.data + 1) == hash64(bytes_of(sent))) {
        if (searched.size)
            *text = arena_text(arena, searched);
    } else if (!bytes_equal_text(searched, sent)) {
        return err_set(err, ERR_INVALID,
                       "cursor: it belongs to another query; begin again without it");
    }
    return 0;
}

/* As that. */
static int read_chooses(struct bytes *cursor, struct tier *tier, struct err *err)
{
    if (cursor->size <= CHOOSES_SIZE || cursor->data[1] == TIER_CHOOSES_UNTOLD ||
        cursor->data[1] >= TIER_CHOOSES_COUNT)
        return err_set(err, ERR_INVALID, "cursor: it is not whole; begin again without it");
    tier->chooses = (enum tier_chooses)cursor->data[1];
    *cursor = bytes_skip(*cursor, CHOOSES_SIZE);
    return 0;
}

static int read_rest(struct bytes cursor, const char *sent, struct arena *arena, struct tier *tier,
                     const char **text, struct err *err)
{
    tier->cursor = cursor;
    if (!cursor.size || cursor.data[0] != TIER_SOME)
        return cursor_text(cursor, sent, arena, text, err);
    tier->is_some = true;
    tier->cursor = bytes_skip(cursor, 1);
    if (tier->cursor.size && tier->cursor.data[0] != TIER_SOME)
        return cursor_text(tier->cursor, sent, arena, text, err);
    cursor = tier->cursor;
    tier->cursor = BYTES_EMPTY;
    return read_beginning(cursor, sent, arena, text, err);
}

int tier_read(struct bytes cursor, const char *sent, struct arena *arena, struct tier *tier,
              const char **text, struct err *err)
{
    int rc = 0;

    *tier = (struct tier){0};
    *text = sent;
    if (cursor.size && cursor.data[0] == TIER_CHOOSES)
        rc = read_chooses(&cursor, tier, err);
    if (!rc && cursor.size && cursor.data[0] == TIER_ARRANGED)
        rc = read_arranged(&cursor, arena, tier, err);
    if (!rc && cursor.size && cursor.data[0] == TIER_LIKELY)
        rc = read_likely(&cursor, arena, tier, err);
    if (!rc)
        rc = read_rest(cursor, sent, arena, tier, text, err);
    if (tier->arranged && !tier->arranged->is_behind) {
        tier->is_some = false; /* the list is asked for from its beginning each time */
        tier->cursor = BYTES_EMPTY;
    }
    return rc;
}

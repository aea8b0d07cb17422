/* SPDX-License-Identifier: Apache-2.0 */
/* bookmark.c - see bookmark.h. */
#include "search/bookmark.h"

#include <string.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/varint.h"

enum { AS_SENT, CORRECTED, HASH_SIZE = 8 };

struct bytes bookmark_encode(struct bytes place, const char *sent, const char *searched,
                             struct arena *arena)
{
    struct buf out = BUF_INIT((size_t)SEARCHER_CURSOR_SIZE_MAX + 2 * SEARCH_TEXT_SIZE_MAX);
    uint8_t hash[HASH_SIZE];
    struct bytes cursor;

    if (!place.size)
        return BYTES_EMPTY; /* it was the last page */
    buf_put_byte(&out, sent == searched ? AS_SENT : CORRECTED);
    if (sent != searched) {
        put_le64(hash, hash64(bytes_of(sent)));
        buf_put_raw(&out, hash, sizeof(hash));
        varint_put(&out, strlen(searched));
        buf_put_text(&out, searched);
    }
    buf_put(&out, place);
    cursor = buf_failed(&out) ? BYTES_EMPTY : arena_copy(arena, buf_bytes(&out));
    buf_release(&out);
    return cursor;
}

static bool take_text(struct bytes *rest, uint64_t *hash, struct bytes *text)
{
    uint64_t size;

    if (rest->size < HASH_SIZE)
        return false;
    *hash = get_le64(rest->data);
    *rest = bytes_skip(*rest, HASH_SIZE);
    if (!varint_get(rest, &size) || size == 0 || size > SEARCH_TEXT_SIZE_MAX || size > rest->size)
        return false;
    *text = bytes_make(rest->data, (size_t)size);
    *rest = bytes_skip(*rest, (size_t)size);
    return text_is_utf8(*text) && !memchr(text->data, 0, text->size);
}

int bookmark_decode(struct bytes cursor, const char *sent, struct arena *arena,
                    struct bookmark *bookmark, struct err *err)
{
    struct bytes rest = cursor.size ? bytes_skip(cursor, 1) : cursor;
    struct bytes text = BYTES_EMPTY;
    uint64_t hash = 0;
    bool is_right = true;

    *bookmark = (struct bookmark){.text = sent};
    if (!cursor.size)
        return 0;
    if (cursor.data[0] == CORRECTED)
        is_right = take_text(&rest, &hash, &text);
    if (cursor.data[0] > CORRECTED || !is_right || !rest.size)
        return err_set(err, ERR_INVALID, "cursor: is not one of an answer");
    if (text.size && hash == hash64(bytes_of(sent)))
        bookmark->text = arena_text(arena, text);
    bookmark->place = rest;
    return 0;
}

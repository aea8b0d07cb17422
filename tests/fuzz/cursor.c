/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes behind a right version and before a right sum as a page's cursor. What is
 * taken must come out again as it went in, with a text and without.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/hash.h"
#include "query/bounds.h"
#include "query/run/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void require_same(const struct page_cursor *a, const struct page_cursor *b)
{
    uint32_t i;

    require(a->query_hash == b->query_hash && a->epoch == b->epoch && a->depth == b->depth &&
            a->now == b->now && a->place_count == b->place_count &&
            a->words.doc_count == b->words.doc_count && a->words.count == b->words.count);
    for (i = 0; i < a->place_count; i++) {
        require(a->places[i].shard == b->places[i].shard &&
                a->places[i].place.count == b->places[i].place.count &&
                a->places[i].place.count <= SORT_COUNT_MAX &&
                a->places[i].place.id == b->places[i].place.id);
    }
    for (i = 0; i < a->words.count; i++)
        require(bytes_equal(a->words.words[i].word, b->words.words[i].word));
}

/* The bytes as they are, and with their version and sum put right. */
static void check(struct bytes bytes, struct arena *arena)
{
    struct page_cursor cursor, again;
    struct bytes encoded;
    const char *text;

    if (cursor_text(bytes, "sent", arena, &text, NULL) == 0)
        require(strlen(text) <= QUERY_CURSOR_TEXT_SIZE_MAX);
    cursor_decode(bytes, 0, arena, &cursor, NULL);
    if (cursor_decode(bytes, cursor.query_hash, arena, &cursor, NULL))
        return;
    encoded = cursor_encode(&cursor, arena);
    if (!encoded.size) /* longer varints than needed, or the room of the text, were used */
        return;
    require(cursor_decode(encoded, cursor.query_hash, arena, &again, NULL) == 0);
    if (again.words.count || !cursor.words.count)
        require_same(&cursor, &again);
    encoded = cursor_with_text(encoded, "sent", "searched", arena);
    require(cursor_text(encoded, "sent", arena, &text, NULL) == 0 && strcmp(text, "searched") == 0);
    require(cursor_decode(encoded, cursor.query_hash, arena, &again, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct buf whole = BUF_INIT(QUERY_CURSOR_SIZE_MAX * 2);
    struct page_cursor none = {0};
    uint8_t sum[8];

    check(bytes_make(data, size), arena);
    buf_put(&whole, bytes_make(cursor_encode(&none, arena).data, 1)); /* its version */
    buf_put(&whole, bytes_make(data, size));
    put_le64(sum, hash64(buf_bytes(&whole)));
    buf_put_raw(&whole, sum, sizeof(sum));
    if (!buf_failed(&whole))
        check(buf_bytes(&whole), arena);
    buf_release(&whole);
    arena_free(arena);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.c - see cursor.h. */
#include "query/cursor.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/varint.h"

enum { CURSOR_VERSION = 3, CURSOR_SUM_SIZE = 8 };

/* A text as its size + 1, then its bytes; 0: there is none, the number is the key. */
static void put_place(struct buf *buf, const struct query_place *place)
{
    uint32_t i;

    varint_put(buf, place->count);
    for (i = 0; i < place->count; i++) {
        struct bytes text = place->texts[i];

        varint_put(buf, text.data ? text.size + 1 : 0);
        if (text.data)
            buf_put(buf, text);
        else
            varint_put(buf, place->keys[i]);
    }
    varint_put(buf, place->id);
}

struct bytes cursor_encode(const struct page_cursor *cursor, struct arena *arena)
{
    struct buf buf = BUF_INIT(QUERY_CURSOR_SIZE_MAX);
    struct bytes encoded;
    uint64_t sum;
    uint32_t i;

    varint_put(&buf, CURSOR_VERSION);
    varint_put(&buf, cursor->query_hash);
    varint_put(&buf, cursor->depth);
    varint_put(&buf, (uint64_t)cursor->now);
    put_place(&buf, &cursor->last);
    varint_put(&buf, cursor->words.doc_count);
    varint_put(&buf, cursor->words.count);
    for (i = 0; i < cursor->words.count; i++) {
        varint_put(&buf, cursor->words.words[i].word.size);
        buf_put(&buf, cursor->words.words[i].word);
        varint_put(&buf, cursor->words.words[i].doc_count);
    }
    if (buf.size + CURSOR_SUM_SIZE > QUERY_CURSOR_SIZE_MAX || buf.failed) {
        /* Thousands of expanded terms: the next page computes their weights anew. */
        struct page_cursor bare = *cursor;

        buf_release(&buf);
        bare.words = (struct query_words){0};
        return cursor_encode(&bare, arena);
    }
    sum = hash64(buf_bytes(&buf));
    buf_put(&buf, bytes_make(&sum, CURSOR_SUM_SIZE));
    encoded = arena_copy(arena, buf_bytes(&buf));
    buf_release(&buf);
    return encoded;
}

static bool get_u32(struct bytes *in, uint32_t *value)
{
    uint64_t wide;

    if (!varint_get(in, &wide) || wide > UINT32_MAX)
        return false;
    *value = (uint32_t)wide;
    return true;
}

static bool get_bytes(struct bytes *in, struct bytes *bytes)
{
    uint64_t size;

    if (!varint_get(in, &size) || size > in->size)
        return false;
    *bytes = bytes_make(in->data, (size_t)size);
    *in = bytes_skip(*in, (size_t)size);
    return true;
}

static bool get_words(struct bytes *in, struct arena *arena, struct query_words *words)
{
    struct query_word *list;
    uint32_t i;

    if (!varint_get(in, &words->doc_count) || !get_u32(in, &words->count) ||
        words->count > in->size)
        return false;
    list = arena_array(arena, words->count + 1, sizeof(*list));
    words->words = list;
    for (i = 0; i < words->count; i++)
        if (!get_bytes(in, &list[i].word) || !varint_get(in, &list[i].doc_count))
            return false;
    return true;
}

static bool get_key(struct bytes *in, uint64_t *key, struct bytes *text)
{
    uint64_t size;

    if (!varint_get(in, &size) || size > in->size)
        return false;
    if (size == 0)
        return varint_get(in, key);
    *text = bytes_make(in->data, size - 1);
    *in = bytes_skip(*in, size - 1);
    return true;
}

static bool get_place(struct bytes *in, uint32_t key_count, struct query_place *place)
{
    uint32_t i;

    if (!get_u32(in, &place->count) || place->count != key_count)
        return false;
    for (i = 0; i < key_count; i++)
        if (!get_key(in, &place->keys[i], &place->texts[i]))
            return false;
    return get_u32(in, &place->id);
}

static bool get_cursor(struct bytes in, uint32_t key_count, struct arena *arena,
                       struct page_cursor *cursor)
{
    uint64_t version;
    uint64_t now;

    if (!varint_get(&in, &version) || version != CURSOR_VERSION ||
        !varint_get(&in, &cursor->query_hash) || !get_u32(&in, &cursor->depth) ||
        !varint_get(&in, &now) || !get_place(&in, key_count, &cursor->last))
        return false;
    cursor->now = (int64_t)now;
    return get_words(&in, arena, &cursor->words) && in.size == 0;
}

int cursor_decode(struct bytes bytes, uint64_t query_hash, uint32_t key_count, struct arena *arena,
                  struct page_cursor *cursor, struct err *err)
{
    struct bytes body = bytes;
    uint64_t sum;

    *cursor = (struct page_cursor){0};
    if (bytes.size < CURSOR_SUM_SIZE || bytes.size > QUERY_CURSOR_SIZE_MAX)
        return err_set(err, ERR_INVALID, "cursor: is not one that was given");
    body.size -= CURSOR_SUM_SIZE;
    memcpy(&sum, bytes.data + body.size, CURSOR_SUM_SIZE);
    if (sum != hash64(body) || !get_cursor(body, key_count, arena, cursor) ||
        cursor->query_hash != query_hash)
        return err_set(err, ERR_INVALID,
                       "cursor: belongs to another query, or was cut; begin without it");
    return 0;
}

/* ---- the hash of a query ---- */

static void put_number(struct buf *buf, uint64_t number)
{
    varint_put(buf, number);
}

static void put_bytes(struct buf *buf, struct bytes bytes)
{
    varint_put(buf, bytes.size);
    buf_put(buf, bytes);
}

/* Recursion is as deep as the filter, which was checked by then. */
static void put_filter(struct buf *buf, const struct query_filter *filter)
{
    uint32_t i;

    if (!filter) {
        put_number(buf, UINT8_MAX);
        return;
    }
    put_number(buf, filter->kind);
    put_bytes(buf, filter->field);
    put_number(buf, filter->count);
    for (i = 0; i < filter->count; i++) {
        if (filter->kind <= FILTER_NOT)
            put_filter(buf, &filter->children[i]);
        else if (filter->names)
            put_bytes(buf, filter->names[i]);
        else
            put_number(buf, (uint64_t)filter->numbers[i]);
    }
    if (filter->kind == FILTER_RANGE) {
        put_number(buf, (uint64_t)filter->low);
        put_number(buf, (uint64_t)filter->high);
    }
    if (filter->kind == FILTER_BOX)
        buf_put(buf, bytes_make(&filter->box, sizeof(filter->box)));
    if (filter->kind == FILTER_RADIUS) {
        put_number(buf, (uint32_t)filter->lat);
        put_number(buf, (uint32_t)filter->lon);
        buf_put(buf, bytes_make(&filter->radius_m, sizeof(filter->radius_m)));
    }
}

static void put_order(struct buf *buf, const struct query_stage *stage)
{
    uint32_t i;

    for (i = 0; i < stage->sort_count; i++) {
        const struct query_sort *sort = &stage->sorts[i];

        put_number(buf, sort->kind);
        put_number(buf, sort->descending);
        put_bytes(buf, sort->field);
        put_bytes(buf, sort->formula);
        put_number(buf, (uint32_t)sort->lat);
        put_number(buf, (uint32_t)sort->lon);
    }
    put_number(buf, stage->cap);
    put_bytes(buf, stage->cap_field);
}

uint64_t query_hash(const struct query_plan *plan, const struct query_stage *stage)
{
    struct buf buf = BUF_INIT(QUERY_HASHED_SIZE_MAX);
    uint64_t hash;
    uint32_t i;

    for (i = 0; i < stage->text.count; i++) {
        const struct text_clause *clause = &stage->text.clauses[i];

        put_number(&buf, clause->occur);
        put_number(&buf, clause->kind);
        put_number(&buf, clause->fields);
        put_number(&buf, clause->word_max);
        buf_put(&buf, bytes_make(&clause->boost, sizeof(clause->boost)));
        put_bytes(&buf, clause->text);
    }
    put_number(&buf, stage->text.should_min);
    put_filter(&buf, plan->base);
    put_filter(&buf, stage->filter);
    put_order(&buf, stage);
    hash = hash64(buf_bytes(&buf));
    buf_release(&buf);
    return hash;
}

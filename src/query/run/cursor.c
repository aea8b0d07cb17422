/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.c - see cursor.h. */
#include "query/run/cursor.h"

#include <string.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/varint.h"
#include "query/bounds.h"

enum {
    CURSOR_VERSION = 5, /* 0 to 4 begin what older programs gave */
    HASH_SIZE = 8,
    TEXT_ROOM = VARINT_SIZE_MAX + HASH_SIZE + QUERY_CURSOR_TEXT_SIZE_MAX,
};

/* ---- writing ---- */

static void put_hash(struct buf *buf, uint64_t hash)
{
    uint8_t bytes[HASH_SIZE];

    put_le64(bytes, hash);
    buf_put_raw(buf, bytes, sizeof(bytes));
}

static void put_place(struct buf *buf, const struct cursor_place *at)
{
    const struct query_place *place = &at->place;
    uint32_t i;

    varint_put(buf, at->shard);
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

static void put_words(struct buf *buf, const struct query_words *words)
{
    uint32_t i;

    varint_put(buf, words->doc_count);
    varint_put(buf, words->count);
    for (i = 0; i < words->count; i++) {
        varint_put(buf, words->words[i].word.size);
        buf_put(buf, words->words[i].word);
        varint_put(buf, words->words[i].doc_count);
    }
    for (i = 0; i < TEXT_NORM_FIELD_COUNT && words->count; i++) {
        varint_put(buf, words->lengths.sums[i]);
        varint_put(buf, words->lengths.counts[i]);
    }
}

/* The sum behind all that was written; empty when that was too much. */
static struct bytes finish(struct buf *buf, struct arena *arena)
{
    struct bytes encoded = BYTES_EMPTY;

    put_hash(buf, hash64(buf_bytes(buf)));
    if (!buf_failed(buf))
        encoded = arena_copy(arena, buf_bytes(buf));
    buf_release(buf);
    return encoded;
}

/* Thousands of words that a prefix may mean: the next page counts them anew. */
static struct bytes encode_bare(const struct page_cursor *cursor, struct arena *arena)
{
    struct page_cursor bare = *cursor;

    bare.words = (struct query_words){0};
    return cursor_encode(&bare, arena);
}

struct bytes cursor_encode(const struct page_cursor *cursor, struct arena *arena)
{
    struct buf buf = BUF_INIT(QUERY_CURSOR_SIZE_MAX - TEXT_ROOM);
    struct bytes encoded;
    uint32_t i;

    if (cursor->place_count > QUERY_CURSOR_PLACE_COUNT_MAX)
        return BYTES_EMPTY;
    if (cursor->words.count > QUERY_CURSOR_WORD_COUNT_MAX)
        return encode_bare(cursor, arena);
    buf_put_byte(&buf, CURSOR_VERSION);
    varint_put(&buf, 0); /* no text */
    put_hash(&buf, cursor->query_hash);
    varint_put(&buf, zigzag_encode(cursor->epoch));
    varint_put(&buf, cursor->depth);
    varint_put(&buf, zigzag_encode(cursor->now));
    varint_put(&buf, cursor->place_count);
    for (i = 0; i < cursor->place_count; i++)
        put_place(&buf, &cursor->places[i]);
    put_words(&buf, &cursor->words);
    encoded = finish(&buf, arena);
    return !encoded.size && cursor->words.count ? encode_bare(cursor, arena) : encoded;
}

/* ---- reading ---- */

static bool get_u32(struct bytes *in, uint32_t *value)
{
    uint64_t wide;

    if (!varint_get(in, &wide) || wide > UINT32_MAX)
        return false;
    *value = (uint32_t)wide;
    return true;
}

static bool get_i64(struct bytes *in, int64_t *value)
{
    uint64_t folded;

    if (!varint_get(in, &folded))
        return false;
    *value = zigzag_decode(folded);
    return true;
}

static bool get_hash(struct bytes *in, uint64_t *hash)
{
    if (in->size < HASH_SIZE)
        return false;
    *hash = get_le64(in->data);
    *in = bytes_skip(*in, HASH_SIZE);
    return true;
}

static bool get_bytes(struct bytes *in, size_t size, struct bytes *bytes)
{
    if (size > in->size)
        return false;
    *bytes = bytes_make(in->data, size);
    *in = bytes_skip(*in, size);
    return true;
}

static bool get_words(struct bytes *in, struct arena *arena, struct query_words *words)
{
    struct query_word *list;
    uint64_t size;
    uint32_t i;

    if (!varint_get(in, &words->doc_count) || !get_u32(in, &words->count) ||
        words->count > QUERY_CURSOR_WORD_COUNT_MAX || words->count > in->size / 2)
        return false;
    list = arena_array(arena, words->count + 1, sizeof(*list));
    words->words = list;
    for (i = 0; i < words->count; i++)
        if (!varint_get(in, &size) || !get_bytes(in, size, &list[i].word) ||
            !varint_get(in, &list[i].doc_count))
            return false;
    for (i = 0; i < TEXT_NORM_FIELD_COUNT && words->count; i++)
        if (!varint_get(in, &words->lengths.sums[i]) || !varint_get(in, &words->lengths.counts[i]))
            return false;
    return true;
}

static bool get_place(struct bytes *in, struct cursor_place *at)
{
    struct query_place *place = &at->place;
    uint32_t i;

    if (!get_u32(in, &at->shard) || !get_u32(in, &place->count) || place->count > SORT_COUNT_MAX)
        return false;
    for (i = 0; i < place->count; i++) {
        uint64_t size;

        if (!varint_get(in, &size) ||
            !(size ? get_bytes(in, size - 1, &place->texts[i]) : varint_get(in, &place->keys[i])))
            return false;
    }
    return get_u32(in, &place->id);
}

static bool get_places(struct bytes *in, struct arena *arena, struct page_cursor *cursor)
{
    struct cursor_place *places;
    uint32_t i;

    if (!get_u32(in, &cursor->place_count) || cursor->place_count > QUERY_CURSOR_PLACE_COUNT_MAX ||
        cursor->place_count > in->size)
        return false;
    places = arena_array(arena, cursor->place_count + 1, sizeof(*places));
    cursor->places = places;
    for (i = 0; i < cursor->place_count; i++)
        if (!get_place(in, &places[i]))
            return false;
    return true;
}

/* A corrected text with the hash of the one it was sent as; empty: there is none. */
static bool get_text(struct bytes *in, uint64_t *sent_hash, struct bytes *text)
{
    uint64_t size;

    *text = BYTES_EMPTY;
    if (!varint_get(in, &size) || size > QUERY_CURSOR_TEXT_SIZE_MAX)
        return false;
    if (size == 0)
        return true;
    return get_hash(in, sent_hash) && get_bytes(in, (size_t)size, text) && text_is_utf8(*text) &&
           !memchr(text->data, 0, text->size);
}

/* What is between the version and the sum. */
static bool open_cursor(struct bytes cursor, struct bytes *body)
{
    if (cursor.size <= HASH_SIZE || cursor.size > QUERY_CURSOR_SIZE_MAX ||
        cursor.data[0] != CURSOR_VERSION)
        return false;
    *body = bytes_make(cursor.data, cursor.size - HASH_SIZE);
    if (get_le64(cursor.data + body->size) != hash64(*body))
        return false;
    *body = bytes_skip(*body, 1);
    return true;
}

static int refuse_cursor(struct err *err)
{
    return err_set(err, ERR_INVALID, "cursor: was not issued here, or was cut; begin without it");
}

int cursor_decode(struct bytes bytes, uint64_t query_hash, struct arena *arena,
                  struct page_cursor *cursor, struct err *err)
{
    struct bytes body;
    struct bytes text;
    uint64_t sent_hash;

    *cursor = (struct page_cursor){0};
    if (!open_cursor(bytes, &body) || !get_text(&body, &sent_hash, &text) ||
        !get_hash(&body, &cursor->query_hash) || !get_i64(&body, &cursor->epoch) ||
        !get_u32(&body, &cursor->depth) || !get_i64(&body, &cursor->now) ||
        !get_places(&body, arena, cursor) || !get_words(&body, arena, &cursor->words) || body.size)
        return refuse_cursor(err);
    if (cursor->query_hash != query_hash)
        return err_set(err, ERR_INVALID, "cursor: belongs to another query; begin without it");
    return 0;
}

/* ---- the text ---- */

struct bytes cursor_with_text(struct bytes cursor, const char *sent, const char *searched,
                              struct arena *arena)
{
    struct buf buf = BUF_INIT(QUERY_CURSOR_SIZE_MAX);
    size_t size = strlen(searched);
    struct bytes body;
    struct bytes text;
    uint64_t sent_hash;

    if (sent == searched || !cursor.size)
        return cursor;
    if (size == 0 || size > QUERY_CURSOR_TEXT_SIZE_MAX || !open_cursor(cursor, &body) ||
        !get_text(&body, &sent_hash, &text))
        return BYTES_EMPTY;
    buf_put_byte(&buf, CURSOR_VERSION);
    varint_put(&buf, size);
    put_hash(&buf, hash64(bytes_of(sent)));
    buf_put_text(&buf, searched);
    buf_put(&buf, body);
    return finish(&buf, arena);
}

int cursor_text(struct bytes cursor, const char *sent, struct arena *arena, const char **text,
                struct err *err)
{
    struct bytes body;
    struct bytes searched;
    uint64_t sent_hash = 0;

    *text = sent;
    if (!cursor.size)
        return 0;
    if (!open_cursor(cursor, &body) || !get_text(&body, &sent_hash, &searched))
        return refuse_cursor(err);
    if (searched.size && sent_hash == hash64(bytes_of(sent)))
        *text = arena_text(arena, searched);
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

/* What a leaf compares with, other than its names or numbers. */
static void put_bounds(struct buf *buf, const struct query_filter *filter)
{
    switch ((enum filter_kind)filter->kind) {
    case FILTER_AND:
    case FILTER_OR:
    case FILTER_NOT:
    case FILTER_IN:
    case FILTER_EXISTS:
    case FILTER_SUBTREE:
        break;
    case FILTER_RANGE:
        put_number(buf, (uint64_t)filter->low);
        put_number(buf, (uint64_t)filter->high);
        break;
    case FILTER_BOX:
        buf_put(buf, bytes_make(&filter->box, sizeof(filter->box)));
        break;
    case FILTER_RADIUS:
        put_number(buf, (uint32_t)filter->lat);
        put_number(buf, (uint32_t)filter->lon);
        buf_put(buf, bytes_make(&filter->radius_m, sizeof(filter->radius_m)));
        break;
    }
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
    put_bounds(buf, filter);
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
        for (uint32_t k = 0; k < clause->also_count; k++) {
            buf_put(&buf, bytes_make(&clause->also[k].boost, sizeof(clause->also[k].boost)));
            put_bytes(&buf, clause->also[k].text);
        }
    }
    put_number(&buf, stage->text.should_min);
    put_number(&buf, stage->text.not_all);
    if (stage->text.tied_parts ||
        stage->text.number_boost > 0) { /* others have cursors of before */
        put_number(&buf, stage->text.tied_parts);
        buf_put(&buf, bytes_make(&stage->text.number_boost, sizeof(stage->text.number_boost)));
    }
    put_filter(&buf, plan->base);
    put_filter(&buf, stage->filter);
    put_order(&buf, stage);
    hash = hash64(buf_bytes(&buf));
    buf_release(&buf);
    return hash;
}

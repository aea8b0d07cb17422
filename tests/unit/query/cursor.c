/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of query/run/cursor.h: what a page's cursor holds comes back; what is none is
 * refused. */
#include "query/run/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/varint.h"
#include "config/bounds.h"
#include "index/bounds.h"
#include "query/bounds.h"

enum { HASH = 77 };

static const struct query_word some_words[] = {{{(const uint8_t *)"bike", 4}, 12},
                                               {{(const uint8_t *)"road", 4}, UINT64_MAX}};

static struct page_cursor some_cursor(struct arena *arena)
{
    struct cursor_place *places = arena_array(arena, 2, sizeof(*places));

    places[0] = (struct cursor_place){.shard = 3, .place = {.id = 9, .count = 2}};
    places[0].place.keys[0] = UINT64_MAX;
    places[0].place.texts[1] = bytes_of("seller\xff");
    places[1] = (struct cursor_place){.shard = UINT32_MAX, .place = {.id = UINT32_MAX}};
    return (struct page_cursor){.query_hash = HASH,
                                .epoch = -4,
                                .depth = UINT32_MAX,
                                .now = 1700000000,
                                .places = places,
                                .place_count = 2,
                                .words = {100, some_words, 2}};
}

static void expect_same(const struct page_cursor *a, const struct page_cursor *b)
{
    assert_int_equal(a->query_hash, b->query_hash);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->now, b->now);
    assert_int_equal(a->place_count, b->place_count);
    for (uint32_t i = 0; i < a->place_count; i++) {
        const struct query_place *x = &a->places[i].place, *y = &b->places[i].place;

        assert_int_equal(a->places[i].shard, b->places[i].shard);
        assert_int_equal(x->id, y->id);
        assert_int_equal(x->count, y->count);
        for (uint32_t k = 0; k < x->count; k++) {
            assert_int_equal(x->keys[k], y->keys[k]);
            assert_int_equal(x->texts[k].data != NULL, y->texts[k].data != NULL);
            assert_true(bytes_equal(x->texts[k], y->texts[k]));
        }
    }
    assert_int_equal(a->words.doc_count, b->words.doc_count);
    assert_int_equal(a->words.count, b->words.count);
    for (uint32_t i = 0; i < a->words.count; i++) {
        assert_true(bytes_equal(a->words.words[i].word, b->words.words[i].word));
        assert_int_equal(a->words.words[i].doc_count, b->words.words[i].doc_count);
    }
}

static void what_a_cursor_holds_comes_back(void **state)
{
    struct arena *arena = arena_new();
    struct page_cursor cursor = some_cursor(arena), read;
    struct bytes bytes = cursor_encode(&cursor, arena);
    struct err err;
    const char *text;

    (void)state;
    assert_int_equal(cursor_decode(bytes, HASH, arena, &read, &err), 0);
    expect_same(&cursor, &read);
    assert_int_equal(cursor_decode(bytes, HASH + 1, arena, &read, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "another query"));
    assert_int_equal(cursor_text(bytes, "sent", arena, &text, &err), 0);
    assert_string_equal(text, "sent");
    assert_ptr_equal(cursor_with_text(bytes, text, text, arena).data, bytes.data);

    bytes = cursor_with_text(bytes, "sent", "searched", arena);
    assert_int_equal(cursor_decode(bytes, HASH, arena, &read, &err), 0);
    expect_same(&cursor, &read);
    assert_int_equal(cursor_text(bytes, "sent", arena, &text, &err), 0);
    assert_string_equal(text, "searched");
    assert_int_equal(cursor_text(bytes, "another", arena, &text, &err), 0);
    assert_string_equal(text, "another"); /* its hash is refused then */
    bytes = cursor_with_text(bytes, "searched", "again", arena);
    assert_int_equal(cursor_text(bytes, "searched", arena, &text, &err), 0);
    assert_string_equal(text, "again");
    assert_int_equal(cursor_with_text(BYTES_EMPTY, "sent", "searched", arena).size, 0);
    assert_int_equal(cursor_text(BYTES_EMPTY, "sent", arena, &text, &err), 0);
    assert_string_equal(text, "sent");
    arena_free(arena);
}

static void damaged_cursors_are_refused(void **state)
{
    struct arena *arena = arena_new();
    struct page_cursor cursor = some_cursor(arena), read;
    struct bytes bytes = cursor_with_text(cursor_encode(&cursor, arena), "sent", "searched", arena);
    uint8_t *copy = (uint8_t *)arena_copy(arena, bytes).data;
    const char *text;
    struct err err;

    (void)state;
    for (size_t i = 0; i < bytes.size; i++) {
        assert_int_equal(cursor_decode(bytes_make(copy, i), HASH, arena, &read, &err), ERR_INVALID);
        assert_int_equal(cursor_text(bytes_make(copy, i), "sent", arena, &text, &err),
                         i ? ERR_INVALID : 0);
    }
    for (size_t i = 0; i < bytes.size; i++) {
        copy[i] ^= 0x40;
        assert_int_equal(cursor_decode(bytes_make(copy, bytes.size), HASH, arena, &read, &err),
                         ERR_INVALID);
        assert_non_null(strstr(err.text, "begin without it"));
        assert_int_equal(cursor_text(bytes_make(copy, bytes.size), "sent", arena, &text, &err),
                         ERR_INVALID);
        copy[i] ^= 0x40;
    }
    arena_free(arena);
}

/* A list of the largest client, by the longest keywords, has a next page. */
static void the_largest_place_fits(void **state)
{
    enum { PLACE_COUNT = 2 * CLIENT_SHARD_COUNT_MAX };
    struct arena *arena = arena_new();
    struct page_cursor cursor = some_cursor(arena), read;
    struct cursor_place *places = arena_array(arena, PLACE_COUNT, sizeof(*places));
    char *longest = arena_alloc(arena, KEYWORD_SIZE_MAX);
    struct bytes bytes;
    struct err err;

    (void)state;
    memset(longest, 'x', KEYWORD_SIZE_MAX);
    for (uint32_t i = 0; i < PLACE_COUNT; i++) {
        places[i] = (struct cursor_place){.shard = i / 2,
                                          .place = {.id = UINT32_MAX, .count = SORT_COUNT_MAX}};
        for (uint32_t k = 0; k < SORT_COUNT_MAX; k++)
            places[i].place.texts[k] = bytes_make(longest, KEYWORD_SIZE_MAX);
    }
    cursor.places = places;
    cursor.place_count = PLACE_COUNT;
    bytes = cursor_encode(&cursor, arena);
    assert_int_equal(cursor_decode(bytes, HASH, arena, &read, &err), 0);
    expect_same(&cursor, &read);
    arena_free(arena);
}

/* Words that do not fit are left out; places that do not leave none. The text always fits. */
static void a_cursor_is_bounded(void **state)
{
    enum { WORD_COUNT = QUERY_CURSOR_WORD_COUNT_MAX };
    struct arena *arena = arena_new(), *tries = arena_new();
    struct page_cursor cursor = some_cursor(arena), read;
    struct query_word *words = arena_array(arena, WORD_COUNT, sizeof(*words));
    char searched[QUERY_CURSOR_TEXT_SIZE_MAX + 2];
    const char *text;
    struct bytes bytes = BYTES_EMPTY;
    struct err err;

    (void)state;
    for (uint32_t i = 0; i < WORD_COUNT; i++)
        words[i].word = bytes_of(arena_printf(arena, "word%060u", i));
    cursor.words.words = words;
    cursor.words.count = 1;
    do { /* the most that fit */
        struct bytes more = cursor_encode(&cursor, tries);

        assert_int_equal(cursor_decode(more, HASH, tries, &read, &err), 0);
        if (!read.words.count)
            break;
        bytes = arena_copy(arena, more);
        cursor.words.count += cursor.words.count < 15000 ? 1000 : 20;
        arena_reset(tries);
    } while (cursor.words.count < WORD_COUNT);
    assert_int_equal(read.words.count, 0);
    assert_int_equal(read.place_count, 2);
    assert_true(bytes.size > QUERY_CURSOR_SIZE_MAX / 2);
    memset(searched, 'a', sizeof(searched));
    searched[QUERY_CURSOR_TEXT_SIZE_MAX] = 0;
    bytes = cursor_with_text(bytes, "typed", searched, arena);
    assert_int_equal(cursor_text(bytes, "typed", arena, &text, &err), 0);
    assert_string_equal(text, searched);
    assert_int_equal(cursor_decode(bytes, HASH, arena, &read, &err), 0);
    assert_true(read.words.count > 0);
    searched[QUERY_CURSOR_TEXT_SIZE_MAX] = 'a';
    searched[QUERY_CURSOR_TEXT_SIZE_MAX + 1] = 0;
    assert_int_equal(cursor_with_text(bytes, "typed", searched, arena).size, 0);
    cursor.place_count = QUERY_CURSOR_PLACE_COUNT_MAX + 1;
    assert_int_equal(cursor_encode(&cursor, arena).size, 0);
    arena_free(tries);
    arena_free(arena);
}

/* A cursor of empty words, as somebody else may write it. */
static struct bytes with_empty_words(uint32_t count, struct arena *arena)
{
    struct page_cursor bare = {.query_hash = HASH};
    struct bytes bytes = cursor_encode(&bare, arena);
    struct buf buf = BUF_INIT(QUERY_CURSOR_SIZE_MAX);
    uint8_t sum[8];

    buf_put(&buf, bytes_make(bytes.data, bytes.size - sizeof(sum) - 1)); /* but their count: 0 */
    varint_put(&buf, count);
    for (uint32_t i = 0; i < 2 * (count + TEXT_NORM_FIELD_COUNT); i++)
        buf_put_byte(&buf, 0);
    put_le64(sum, hash64(buf_bytes(&buf)));
    buf_put_raw(&buf, sum, sizeof(sum));
    bytes = arena_copy(arena, buf_bytes(&buf));
    buf_release(&buf);
    return bytes;
}

/* However short they are. */
static void words_of_a_cursor_are_counted(void **state)
{
    enum { MAX = QUERY_CURSOR_WORD_COUNT_MAX };
    struct arena *arena = arena_new();
    struct page_cursor cursor = some_cursor(arena), read;
    struct err err;

    (void)state;
    cursor.words.words = arena_array(arena, MAX + 1, sizeof(struct query_word));
    cursor.words.count = MAX;
    assert_int_equal(cursor_decode(cursor_encode(&cursor, arena), HASH, arena, &read, &err), 0);
    assert_int_equal(read.words.count, MAX);
    cursor.words.count = MAX + 1;
    assert_int_equal(cursor_decode(cursor_encode(&cursor, arena), HASH, arena, &read, &err), 0);
    assert_int_equal(read.words.count, 0); /* the next page counts them anew */
    assert_int_equal(read.place_count, 2);
    assert_int_equal(cursor_decode(with_empty_words(MAX, arena), HASH, arena, &read, &err), 0);
    assert_int_equal(read.words.count, MAX);
    assert_int_equal(cursor_decode(with_empty_words(MAX + 1, arena), HASH, arena, &read, &err),
                     ERR_INVALID);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_cursor_holds_comes_back),
        cmocka_unit_test(damaged_cursors_are_refused),
        cmocka_unit_test(the_largest_place_fits),
        cmocka_unit_test(a_cursor_is_bounded),
        cmocka_unit_test(words_of_a_cursor_are_counted),
    };

    return cmocka_run_group_tests_name("query_cursor", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* shard.c - a shard against the naive model: any history, any layout, any old snapshot. */
#include "index/shard/shard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "index/bounds.h"
#include "shard_model.h"
#include "test_dir.h"
#include "text_model.h"

static struct shard *open_shard(const char *dir, uint32_t buffer_doc_count)
{
    struct shard_options options = {
        .dir = dir, .epoch = 7, .place = {1, 2, 3, 4}, .buffer_doc_count_max = buffer_doc_count};
    struct shard *shard;
    struct err err = {0};

    if (shard_open(&options, &shard, &err))
        fail_msg("%s", err.text);
    return shard;
}

static void work_all(struct shard *shard)
{
    struct err err = {0};
    bool did = true;

    while (did) {
        if (shard_work(shard, &did, &err))
            fail_msg("%s", err.text);
    }
}

static void publish(struct shard *shard, uint64_t offset)
{
    struct err err = {0};

    if (shard_publish(shard, offset, &err))
        fail_msg("%s", err.text);
}

/* The note tells the offset it was published with. */
static void publish_noted(struct shard *shard, uint64_t offset)
{
    shard_set_note(shard, bytes_make(&offset, sizeof(offset)));
    publish(shard, offset);
}

static uint64_t noted_offset(struct shard *shard)
{
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    uint64_t offset = 0;

    shard_note(shard, &note);
    assert_true(note.size == sizeof(offset) || note.size == 0);
    if (note.size)
        memcpy(&offset, note.data, sizeof(offset));
    buf_release(&note);
    return offset;
}

static uint64_t hash_of(struct shard *shard)
{
    struct err err = {0};
    uint64_t hash;

    if (shard_hash(shard, &hash, &err))
        fail_msg("%s", err.text);
    return hash;
}

/* A reader that stays inside with what it saw, and the model of that moment. */
struct held {
    struct shard_reader *reader;
    const struct snapshot *snapshot;
    struct shard_model *model;
};

static void hold(struct shard *shard, struct held *held, const struct shard_model *model)
{
    struct err err = {0};

    assert_int_equal(shard_reader_new(shard, &held->reader, &err), 0);
    assert_int_equal(shard_enter(held->reader, &held->snapshot, &err), 0);
    held->model = mem_alloc(sizeof(*model));
    memcpy(held->model, model, sizeof(*model));
}

static void let_go(struct shard *shard, struct held *held)
{
    if (!held->reader)
        return;
    model_check(held->model, shard, held->snapshot, false);
    shard_exit(held->reader);
    shard_reader_free(held->reader);
    free(held->model);
    *held = (struct held){0};
}

static void equals_the_model_at_every_snapshot(void **state)
{
    struct rng rng = model_seed();
    uint64_t seed = rng_next(&rng);
    struct shard *shard = open_shard(NULL, 50);
    struct shard_model *model = mem_zero(sizeof(*model));
    struct held held[4] = {{0}};
    struct held now = {0};
    uint64_t offset;
    struct op op;
    size_t i;

    (void)state;
    for (offset = 0; offset < 6000; offset++) {
        struct err err = {0};
        bool did;

        op_make(seed, offset, &op);
        op_apply(shard, &op);
        model_apply(model, &op);
        if (rng_below(&rng, 4) == 0)
            assert_int_equal(shard_work(shard, &did, &err), 0);
        if (rng_below(&rng, 8))
            continue;
        publish(shard, offset + 1);
        i = (size_t)rng_below(&rng, 40);
        if (i < 4) {
            let_go(shard, &held[i]);
            hold(shard, &held[i], model);
        }
        if (rng_below(&rng, 25) == 0) {
            hold(shard, &now, model);
            model_check(model, shard, now.snapshot, true);
            let_go(shard, &now);
        }
    }
    publish(shard, offset);
    work_all(shard);
    hold(shard, &now, model);
    model_check(model, shard, now.snapshot, true);
    let_go(shard, &now);
    for (i = 0; i < 4; i++)
        let_go(shard, &held[i]);
    shard_close(shard);
    free(model);
}

/* Ends the shard as a kill would, opens it and replays; returns it at the offset. */
static struct shard *reopen(struct shard *shard, const char *dir, uint64_t seed, uint64_t offset)
{
    struct shard_reader *reader;
    const struct snapshot *snapshot;
    uint64_t from, serve_from;
    struct err err;
    struct op op;

    shard_close(shard);
    shard = open_shard(dir, 50);
    serve_from = shard_serve_from(shard);
    assert_true(shard_offset(shard) <= serve_from && serve_from <= offset);
    assert_true(noted_offset(shard) == shard_offset(shard));
    assert_int_equal(shard_reader_new(shard, &reader, &err), 0);
    for (from = shard_offset(shard); from < offset; from++) {
        if (from < serve_from)
            assert_int_equal(shard_enter(reader, &snapshot, &err), ERR_UNAVAILABLE);
        op_make(seed, from, &op);
        op_apply(shard, &op);
        if (from % 5 == 0)
            publish_noted(shard, from + 1);
    }
    publish_noted(shard, offset);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    shard_exit(reader);
    shard_reader_free(reader);
    return shard;
}

static void a_restart_replays_to_the_same(void **state)
{
    struct rng rng = model_seed();
    uint64_t seed = rng_next(&rng);
    struct shard_model *model = mem_zero(sizeof(*model));
    struct held now = {0};
    char dir[TEST_DIR_SIZE];
    struct shard *shard;
    uint64_t offset;
    struct op op;

    (void)state;
    assert_true(test_dir_make(dir));
    shard = open_shard(dir, 50);
    for (offset = 0; offset < 4000; offset++) {
        struct err err = {0};
        bool did;

        op_make(seed, offset, &op);
        op_apply(shard, &op);
        model_apply(model, &op);
        if (rng_below(&rng, 4) == 0)
            assert_int_equal(shard_work(shard, &did, &err), 0);
        if (rng_below(&rng, 8))
            continue;
        publish_noted(shard, offset + 1);
        if (rng_below(&rng, 10) == 0 && shard_checkpoint(shard, &err))
            fail_msg("%s", err.text);
        if (rng_below(&rng, 25))
            continue;
        shard = reopen(shard, dir, seed, offset + 1);
        hold(shard, &now, model);
        model_check(model, shard, now.snapshot, true);
        let_go(shard, &now);
    }
    shard_close(shard);
    assert_int_equal(dir_remove(dir, NULL), 0);
    free(model);
}

static void one_content_has_one_hash(void **state)
{
    struct rng rng = model_seed();
    uint64_t seed = rng_next(&rng);
    struct shard *large = open_shard(NULL, 0);
    struct shard *small = open_shard(NULL, 20);
    uint64_t offset, hash;
    struct op op;

    (void)state;
    for (offset = 0; offset < 2000; offset++) {
        struct err err = {0};
        bool did;

        op_make(seed, offset, &op);
        op_apply(large, &op);
        op_apply(small, &op);
        if (offset % 7 == 0)
            publish(small, offset + 1);
        if (offset % 3 == 0)
            assert_int_equal(shard_work(small, &did, &err), 0);
    }
    publish(large, offset);
    publish(small, offset);
    hash = hash_of(large);
    assert_true(hash_of(small) == hash);
    work_all(small);
    assert_true(hash_of(small) == hash);
    op_make(seed, offset, &op);
    op.kind = OP_PUT;
    op_apply(large, &op);
    publish(large, offset + 1);
    assert_false(hash_of(large) == hash);
    shard_close(large);
    shard_close(small);
}

static void a_failed_document_changes_nothing(void **state)
{
    static const struct field title = {.type = FIELD_TEXT, .name = "title", .weight = 1};
    static const struct field tag = {
        .type = FIELD_KEYWORD, .name = "tag", .multiple = true, .value_count_max = 3};
    static const struct field many = {.type = FIELD_KEYWORD, .name = "many", .multiple = true};
    struct bytes names[] = {bytes_of("a"), bytes_of("b"), bytes_of("c"), bytes_of("d")};
    struct shard_value values[] = {
        {.field = 0, .kind = VALUE_TEXT, .text = bytes_of("красный велосипед")},
        {.field = 2, .kind = VALUE_KEYWORDS, .keywords = {names, 4}},
        {.field = 1, .kind = VALUE_KEYWORDS, .keywords = {names, 4}},
    };
    struct shard_document document = {.id = 5, .values = values, .count = 3};
    struct shard *shard = open_shard(NULL, 0);
    uint64_t hash;
    struct err err;

    (void)state;
    assert_int_equal(shard_add_field(shard, &title, NULL, &err), 0);
    assert_int_equal(shard_add_field(shard, &tag, NULL, &err), 0);
    assert_int_equal(shard_add_field(shard, &many, NULL, &err), 0);
    hash = hash_of(shard);
    assert_int_equal(shard_put(shard, &document, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "tag"));
    assert_true(hash_of(shard) == hash);
    values[2].field = 0;
    assert_int_equal(shard_put(shard, &document, &err), ERR_INVALID);
    values[2] = (struct shard_value){.field = 1, .kind = VALUE_NUMBER, .number = 1};
    assert_int_equal(shard_put(shard, &document, &err), ERR_INVALID);
    assert_int_equal(shard_change(shard, 5, values + 1, 1, &err), ERR_NOT_FOUND);
    document.count = 2;
    assert_int_equal(shard_put(shard, &document, &err), 0);
    assert_int_equal(shard_change(shard, 5, values, 1, &err), ERR_INVALID);
    assert_false(hash_of(shard) == hash);
    assert_true(shard_remove(shard, 5));
    assert_false(shard_remove(shard, 5));
    assert_true(hash_of(shard) == hash);
    shard_close(shard);
}

static void a_note_comes_with_its_publication(void **state)
{
    uint8_t longest[SHARD_NOTE_SIZE_MAX];
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    char dir[TEST_DIR_SIZE];
    struct shard *shard;
    struct err err = {0};

    (void)state;
    memset(longest, 0xa5, sizeof(longest));
    assert_true(test_dir_make(dir));
    shard = open_shard(dir, 50);
    assert_int_equal(noted_offset(shard), 0);
    publish_noted(shard, 7);
    shard_set_note(shard, bytes_make(longest, sizeof(longest)));
    assert_int_equal(noted_offset(shard), 7); /* the next one's */
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    publish(shard, 7); /* a note alone is worth a publication */
    shard_note(shard, &note);
    assert_int_equal(note.size, sizeof(longest));
    shard_close(shard);
    shard = open_shard(dir, 50);
    assert_int_equal(noted_offset(shard), 7); /* as at the checkpoint */
    shard_set_note(shard, bytes_make(longest, sizeof(longest)));
    publish(shard, 8);
    assert_int_equal(shard_checkpoint(shard, &err), 0);
    shard_close(shard);
    shard = open_shard(dir, 50);
    buf_reset(&note);
    shard_note(shard, &note);
    assert_int_equal(note.size, sizeof(longest));
    assert_memory_equal(note.data, longest, sizeof(longest));
    shard_close(shard);
    buf_release(&note);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void readers_are_told_of_newer_changes(void **state)
{
    static const struct field price = {.type = FIELD_INTEGER, .name = "price"};
    struct shard_value value = {.field = 0, .kind = VALUE_NUMBER, .number = 1};
    struct shard_document document = {.id = 9, .values = &value, .count = 1};
    struct shard *shard = open_shard(NULL, 0);
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    struct err err;

    (void)state;
    assert_int_equal(shard_add_field(shard, &price, NULL, &err), 0);
    assert_int_equal(shard_put(shard, &document, &err), 0);
    publish(shard, 1);
    assert_int_equal(shard_wait(shard, 1, 0, &err), 0);
    assert_int_equal(shard_wait(shard, 2, 1, &err), ERR_TIMEOUT);
    assert_int_equal(shard_reader_new(shard, &reader, &err), 0);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    assert_false(shard_changed_since(shard, snapshot, 9));
    assert_int_equal(shard_change(shard, 9, &value, 1, &err), 0);
    assert_true(shard_changed_since(shard, snapshot, 9));
    assert_false(shard_changed_since(shard, snapshot, 10));
    publish(shard, 2);
    assert_true(shard_changed_since(shard, snapshot, 9));
    shard_exit(reader);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    assert_false(shard_changed_since(shard, snapshot, 9));
    shard_exit(reader);
    shard_reader_free(reader);
    assert_int_equal(shard_publish(shard, 1, &err), ERR_INVALID);
    shard_close(shard);
}

/* Six hundred words begin so; the last to come is the one that most documents have. */
static void expect_seen(const struct shard_reader *reader, const struct snapshot *snapshot,
                        uint64_t shown, uint64_t applied)
{
    struct shard_seen seen = shard_seen(reader, snapshot);

    assert_int_equal(seen.shown, shown);
    assert_int_equal(seen.applied, applied);
}

/* Attributes change at once: what a reader has seen of the topic goes beyond its snapshot. */
static void readers_are_told_how_much_of_the_topic_they_see(void **state)
{
    static const struct field price = {.type = FIELD_INTEGER, .name = "price"};
    struct shard_value value = {.field = 0, .kind = VALUE_NUMBER, .number = 1};
    struct shard_document document = {.id = 9, .values = &value, .count = 1};
    struct shard *shard = open_shard(NULL, 0);
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    struct err err;

    (void)state;
    assert_int_equal(shard_add_field(shard, &price, NULL, &err), 0);
    assert_int_equal(shard_put(shard, &document, &err), 0);
    publish(shard, 1);
    assert_int_equal(shard_reader_new(shard, &reader, &err), 0);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    shard_begin_message(shard, 1);
    expect_seen(reader, snapshot, 1, 1); /* it has changed nothing yet */
    assert_int_equal(shard_change(shard, 9, &value, 1, &err), 0);
    expect_seen(reader, snapshot, 1, 2);
    assert_false(shard_has_seen(shard, (struct shard_seen){1, 2})); /* there may be more of it */
    shard_end_message(shard, 1);
    expect_seen(reader, snapshot, 1, 2);
    assert_true(shard_has_seen(shard, (struct shard_seen){1, 2}));
    assert_false(shard_has_seen(shard, (struct shard_seen){1, 3}));
    assert_false(shard_has_seen(shard, (struct shard_seen){2, 2}));
    shard_begin_message(shard, 2); /* tried again and again, say: nobody is to wait for it */
    expect_seen(reader, snapshot, 1, 2);
    assert_int_equal(shard_put(shard, &document, &err), 0);
    expect_seen(reader, snapshot, 1, 2); /* it waits for its publication */
    shard_end_message(shard, 2);
    publish(shard, 3);
    expect_seen(reader, snapshot, 3, 3); /* which has come since this reader entered */
    assert_true(shard_has_seen(shard, (struct shard_seen){3, 3}));
    shard_exit(reader);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    expect_seen(reader, snapshot, 3, 3);
    shard_exit(reader);
    shard_reader_free(reader);
    shard_close(shard);
}

static void a_word_that_became_frequent_late_is_known(void **state)
{
    enum { WORD_COUNT = 600, DOC_COUNT = 5600, WORK_EVERY = 400 };
    static const struct field title = {.type = FIELD_TEXT, .name = "title", .weight = 1};
    struct shard *shard = open_shard(NULL, 256);
    const struct snapshot *snapshot;
    struct lexicon_entry late = {0};
    struct shard_reader *reader;
    struct lexicon_hit hits[2];
    char word[16];
    struct err err;
    size_t count;

    (void)state;
    assert_int_equal(shard_add_field(shard, &title, NULL, &err), 0);
    for (docid id = 0; id < DOC_COUNT; id++) {
        struct shard_value value = {.field = 0, .kind = VALUE_TEXT};
        struct shard_document document = {.id = id, .values = &value, .count = 1};

        snprintf(word, sizeof(word), "%u", 10000 + (id < WORD_COUNT ? id : WORD_COUNT - 1));
        value.text = bytes_of(word);
        assert_int_equal(shard_put(shard, &document, &err), 0);
        if ((id + 1) % WORK_EVERY == 0) {
            publish(shard, id + 1);
            work_all(shard);
        }
    }
    assert_int_equal(shard_reader_new(shard, &reader, &err), 0);
    assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
    assert_true(lexicon_find(snapshot->lexicon, bytes_of(word), &late));
    lexicon_prefix_some(snapshot->lexicon, bytes_of("10"), 1, hits, ARRAY_COUNT(hits), &count);
    assert_int_equal(count, 1);
    assert_int_equal(hits[0].term, late.term);
    shard_exit(reader);
    shard_reader_free(reader);
    shard_close(shard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_model_at_every_snapshot),
        cmocka_unit_test(a_restart_replays_to_the_same),
        cmocka_unit_test(one_content_has_one_hash),
        cmocka_unit_test(a_failed_document_changes_nothing),
        cmocka_unit_test(a_note_comes_with_its_publication),
        cmocka_unit_test(readers_are_told_of_newer_changes),
        cmocka_unit_test(readers_are_told_how_much_of_the_topic_they_see),
        cmocka_unit_test(a_word_that_became_frequent_late_is_known),
    };

    return cmocka_run_group_tests_name("shard", tests, NULL, NULL);
}

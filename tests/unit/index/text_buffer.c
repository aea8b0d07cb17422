/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/postings/text_buffer.h: readers at any old mark see what the model had then,
 * also while the writer goes on; a frozen buffer is the segment of the same documents.
 *
 * A version's words follow from (id, version) alone, so that any thread can tell what is right.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/bounds.h"
#include "index/postings/text_buffer.h"
#include "text_model.h"

enum { ID_COUNT = 400, TERM_COUNT = 60, STEP_COUNT = 6000, READER_COUNT = 4, READS = 400 };

/* What happened at each ordinal, decided before anything runs. */
struct step {
    docid id;
    bool is_delete;
};

struct history {
    struct step steps[STEP_COUNT];
    struct model documents; /* rows of step s: id field holds s */
    size_t first_row[STEP_COUNT + 1];
};

static void write_history(struct history *history, struct rng *rng)
{
    uint32_t s, term;

    memset(history, 0, sizeof(*history));
    for (s = 0; s < STEP_COUNT; s++) {
        history->steps[s] =
            (struct step){(docid)rng_below(rng, ID_COUNT) * 977, rng_below(rng, 10) == 0};
        history->first_row[s] = history->documents.row_count;
        model_add_doc(&history->documents, rng, s);
        for (term = 0; term < TERM_COUNT && !history->steps[s].is_delete;
             term += 1 + (uint32_t)rng_below(rng, 12))
            model_add_row(&history->documents, rng, term * 70000, s);
    }
    history->first_row[s] = history->documents.row_count;
}

static void apply(struct text_buffer *buffer, const struct history *history, uint32_t s)
{
    struct buffer_posting postings[TERM_COUNT];
    size_t i, count = history->first_row[s + 1] - history->first_row[s];

    if (history->steps[s].is_delete) {
        text_buffer_delete(buffer, history->steps[s].id);
        return;
    }
    for (i = 0; i < count; i++) {
        const struct model_row *row = &history->documents.rows[history->first_row[s] + i];

        postings[i] = (struct buffer_posting){row->term, row->tfs,
                                              history->documents.occurrences + row->first};
    }
    text_buffer_add(buffer, history->steps[s].id, history->documents.docs[s].lengths, postings,
                    count);
}

/* 1 for the ordinals that a reader with this mark must see. */
static void visible(const struct history *history, uint32_t mark, uint8_t sees[STEP_COUNT])
{
    uint8_t taken[ID_COUNT] = {0};
    uint32_t s;

    memset(sees, 0, STEP_COUNT);
    for (s = mark; s-- > 0;) {
        uint8_t *seen = &taken[history->steps[s].id / 977];

        sees[s] = !*seen && !history->steps[s].is_delete;
        *seen = 1;
    }
}

static const struct model_row *row_of(const struct history *history, uint32_t s, uint32_t term)
{
    size_t i;

    for (i = history->first_row[s]; i < history->first_row[s + 1]; i++) {
        if (history->documents.rows[i].term == term)
            return &history->documents.rows[i];
    }
    return NULL;
}

/* One term at one mark: the right ordinals, frequencies and places. 0 when all is right; cmocka's
 * asserts belong to the main thread. */
static int read_term(const struct text_buffer *buffer, const struct history *history, uint32_t mark,
                     uint32_t term, const uint8_t sees[STEP_COUNT])
{
    struct occurrence occurrences[POSTING_OCCURRENCE_MAX];
    struct buffer_cursor cursor;
    uint32_t s, count, wrong = 0;

    buffer_cursor_init(&cursor, buffer, mark, term);
    for (s = 0; s < mark; s++) {
        const struct model_row *row = sees[s] ? row_of(history, s, term) : NULL;

        if (!row)
            continue;
        if (!buffer_cursor_next(&cursor))
            return 1;
        buffer_cursor_occurrences(&cursor, occurrences, &count);
        wrong |= cursor.ordinal != s || cursor.id != history->steps[s].id || cursor.tfs != row->tfs;
        wrong |= memcmp(occurrences, history->documents.occurrences + row->first,
                        count * sizeof(occurrences[0])) != 0;
    }
    return wrong || buffer_cursor_next(&cursor);
}

static void every_mark_is_kept(void **state)
{
    struct rng rng = model_seed();
    struct history *history = mem_zero(sizeof(*history));
    struct text_buffer *buffer = text_buffer_new();
    uint8_t sees[STEP_COUNT];
    uint32_t s, i;

    (void)state;
    write_history(history, &rng);
    for (s = 0; s < STEP_COUNT; s++) {
        apply(buffer, history, s);
        assert_true(text_buffer_mark(buffer) <= s);
        if (rng_below(&rng, 5) == 0)
            assert_int_equal(text_buffer_publish(buffer), s + 1);
    }
    assert_int_equal(text_buffer_publish(buffer), STEP_COUNT);
    for (i = 0; i < 60; i++) {
        uint32_t mark = i ? (uint32_t)rng_below(&rng, STEP_COUNT + 1) : 0;

        visible(history, mark, sees);
        assert_int_equal(read_term(buffer, history, mark,
                                   (uint32_t)rng_below(&rng, TERM_COUNT + 1) * 70000, sees),
                         0);
    }
    text_buffer_free(buffer);
    model_release(&history->documents);
    free(history);
}

/* The same documents written by hand have the same bytes. */
static void frozen_is_the_segment(void **state)
{
    struct rng rng = model_seed();
    struct history *history = mem_zero(sizeof(*history));
    struct text_buffer *buffer = text_buffer_new();
    struct text_segment_info info = {
        .epoch = 3, .segment = 7, .topic_offset = 99, .place = {1, 2, 3, 4}};
    uint8_t sees[STEP_COUNT];
    uint32_t s, round;

    (void)state;
    write_history(history, &rng);
    for (s = 0; s < STEP_COUNT; s++)
        apply(buffer, history, s);
    text_buffer_publish(buffer);
    for (round = 0; round < 4; round++) {
        uint32_t mark = round ? (uint32_t)rng_below(&rng, STEP_COUNT + 1) : STEP_COUNT;
        struct text_segment *frozen, *wanted;
        struct model model = {0};
        struct err err;

        visible(history, mark, sees);
        for (s = 0; s < mark; s++) {
            struct model_doc doc = history->documents.docs[s];
            size_t i;

            if (!sees[s])
                continue;
            doc.id = history->steps[s].id;
            model_copy_doc(&model, &doc);
            for (i = history->first_row[s]; i < history->first_row[s + 1]; i++) {
                struct model_row row = history->documents.rows[i];

                row.id = doc.id;
                model_copy_row(&model, &history->documents, &row);
            }
        }
        model_sort(&model);
        wanted = model_write(&model, NULL);
        assert_int_equal(
            text_buffer_freeze(buffer, mark, &info, model_norms(), NULL, &frozen, &err), 0);
        assert_int_equal(frozen->size, wanted->size);
        assert_memory_equal(frozen->data, wanted->data, wanted->size);
        model_compare(&model, frozen, &rng);
        text_segment_close(frozen);
        text_segment_close(wanted);
        model_release(&model);
    }
    text_buffer_free(buffer);
    model_release(&history->documents);
    free(history);
}

struct reading {
    struct text_buffer *buffer;
    const struct history *history;
    uint64_t seed;
    _Atomic bool *done;
    uint32_t reads;
    int wrong;
};

static void *read_on(void *argument)
{
    struct reading *reading = argument;
    struct rng rng = rng_seeded(reading->seed);
    uint8_t sees[STEP_COUNT];
    uint32_t old = 0;

    while (!reading->wrong && (reading->reads < READS || !atomic_load(reading->done))) {
        uint32_t now = text_buffer_mark(reading->buffer);
        uint32_t mark = rng_below(&rng, 3) ? now : (uint32_t)rng_below(&rng, now + 1);

        reading->wrong |= now < old;
        old = now;
        visible(reading->history, mark, sees);
        reading->wrong |= read_term(reading->buffer, reading->history, mark,
                                    (uint32_t)rng_below(&rng, TERM_COUNT) * 70000, sees);
        reading->reads++;
    }
    return NULL;
}

static void readers_beside_the_writer(void **state)
{
    struct rng rng = model_seed();
    struct history *history = mem_zero(sizeof(*history));
    struct text_buffer *buffer = text_buffer_new();
    struct reading readings[READER_COUNT];
    pthread_t threads[READER_COUNT];
    _Atomic bool done = false;
    uint32_t s, r;

    (void)state;
    write_history(history, &rng);
    for (r = 0; r < READER_COUNT; r++) {
        readings[r] = (struct reading){buffer, history, rng_next(&rng), &done, 0, 0};
        assert_int_equal(pthread_create(&threads[r], NULL, read_on, &readings[r]), 0);
    }
    for (s = 0; s < STEP_COUNT; s++) {
        apply(buffer, history, s);
        if (rng_below(&rng, 3) == 0)
            text_buffer_publish(buffer);
    }
    text_buffer_publish(buffer);
    atomic_store(&done, true);
    for (r = 0; r < READER_COUNT; r++) {
        pthread_join(threads[r], NULL);
        assert_int_equal(readings[r].wrong, 0);
        assert_true(readings[r].reads >= READS);
    }
    text_buffer_free(buffer);
    model_release(&history->documents);
    free(history);
}

static void full_at_the_limit(void **state)
{
    struct text_buffer *buffer = text_buffer_new();
    const uint8_t lengths[SEGMENT_FIELD_COUNT] = {1};
    const struct occurrence once = {0, 0};
    const struct buffer_posting posting = {1, 1, &once};
    uint32_t i, seen = 0;
    struct buffer_cursor cursor;

    (void)state;
    for (i = 0; i < TEXT_BUFFER_DOC_COUNT_MAX; i++) {
        assert_false(text_buffer_full(buffer));
        text_buffer_add(buffer, i * 3, lengths, &posting, 1);
    }
    assert_true(text_buffer_full(buffer));
    buffer_cursor_init(&cursor, buffer, text_buffer_publish(buffer), 1);
    while (buffer_cursor_next(&cursor))
        assert_int_equal(cursor.id, seen++ * 3);
    assert_int_equal(seen, TEXT_BUFFER_DOC_COUNT_MAX);
    text_buffer_free(buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mark_is_kept),
        cmocka_unit_test(frozen_is_the_segment),
        cmocka_unit_test(readers_beside_the_writer),
        cmocka_unit_test(full_at_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

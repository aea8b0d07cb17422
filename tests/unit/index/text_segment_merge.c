/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of index/postings/text_segment_merge.h: a merge has the bytes of a rebuild. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "index/postings/text_segment_merge.h"
#include "segment_sums.h"
#include "test_dir.h"
#include "text_model.h"

enum { INPUT_MAX = 6, ID_SPAN = 20000, TERM_SPAN = 300 };

/* A corpus in several segments: which of them a document's newest version is in, or none. */
struct corpus {
    struct model inputs[INPUT_MAX];
    struct model survivors;
    int8_t owner[ID_SPAN];
    struct window_bits live[INPUT_MAX][ID_SPAN / WINDOW_SIZE + 1];
    size_t count;
    docid base; /* of the ids; a multiple of the window */
};

struct live_context {
    struct corpus *corpus;
    size_t input;
};

static const struct window_bits *live_page(void *context, uint32_t window)
{
    struct live_context *live = context;

    return &live->corpus->live[live->input][window - window_of(live->corpus->base)];
}

/* The rows of one document, the same in its segment and in the model of what survives. */
static void copy_doc(const struct model *from, size_t doc, size_t first_row, struct model *to)
{
    model_copy_doc(to, &from->docs[doc]);
    for (; first_row < from->row_count; first_row++)
        model_copy_row(to, from, &from->rows[first_row]);
}

static void add_document(struct model *model, struct rng *rng, docid id)
{
    uint32_t term = 0;

    model_add_doc(model, rng, id);
    if (rng_below(rng, 20) == 0)
        return; /* a document without words */
    for (; term < TERM_SPAN; term += 1 + (uint32_t)rng_below(rng, 1 + term / 2))
        model_add_row(model, rng, term, id);
}

static void fill_corpus(struct corpus *corpus, struct rng *rng)
{
    size_t s;
    docid id;

    memset(corpus, 0, sizeof(*corpus));
    corpus->count = 1 + rng_below(rng, INPUT_MAX);
    corpus->base = (docid)rng_below(rng, 1000) * WINDOW_SIZE;
    for (id = 0; id < ID_SPAN; id++)
        corpus->owner[id] = rng_below(rng, 4) ? (int8_t)rng_below(rng, corpus->count) : -1;
    for (s = 0; s < corpus->count; s++) {
        uint64_t step = 1 + rng_below(rng, 60);

        for (id = 0; id < ID_SPAN; id += 1 + (docid)rng_below(rng, step)) {
            size_t row = corpus->inputs[s].row_count;
            size_t doc = corpus->inputs[s].doc_count;

            if (id >= ID_SPAN / 2 && id < ID_SPAN / 2 + 2 * WINDOW_SIZE)
                continue; /* windows without documents */
            add_document(&corpus->inputs[s], rng, corpus->base + id);
            if (corpus->owner[id] != (int8_t)s)
                continue;
            window_set(&corpus->live[s][id / WINDOW_SIZE], id % WINDOW_SIZE);
            copy_doc(&corpus->inputs[s], doc, row, &corpus->survivors);
        }
        model_sort(&corpus->inputs[s]);
    }
    model_sort(&corpus->survivors);
}

static void release_corpus(struct corpus *corpus)
{
    size_t s;

    for (s = 0; s < corpus->count; s++)
        model_release(&corpus->inputs[s]);
    model_release(&corpus->survivors);
}

static struct merge_options options_to(const char *path)
{
    return (struct merge_options){
        .info = {.epoch = 3, .segment = 7, .topic_offset = 99, .place = {1, 2, 3, 4}},
        .norms = model_norms(),
        .path = path};
}

static void merge_equals_rebuild(void **state)
{
    static struct corpus corpus;
    struct rng rng = model_seed();
    char dir[TEST_DIR_SIZE], path[TEST_DIR_SIZE + 16];
    int round;

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(path, sizeof(path), "%s/1.seg", dir);
    for (round = 0; round < 6; round++) {
        struct merge_options options = options_to(round % 2 ? path : NULL);
        struct text_segment *segments[INPUT_MAX], *merged, *rebuilt;
        struct live_context contexts[INPUT_MAX];
        struct merge_input inputs[INPUT_MAX];
        struct err err;
        size_t s;

        fill_corpus(&corpus, &rng);
        for (s = 0; s < corpus.count; s++) {
            segments[s] = model_write(&corpus.inputs[s], NULL);
            contexts[s] = (struct live_context){&corpus, s};
            inputs[s] = (struct merge_input){segments[s], live_page, &contexts[s]};
        }
        rebuilt = model_write(&corpus.survivors, NULL);
        if (text_segment_merge(inputs, corpus.count, &options, &merged, &err))
            fail_msg("%s", err.text);
        model_compare(&corpus.survivors, merged, &rng);
        assert_int_equal(merged->size, rebuilt->size);
        assert_true(hash64(bytes_make(merged->data, merged->size)) ==
                    hash64(bytes_make(rebuilt->data, rebuilt->size)));
        text_segment_close(merged);
        text_segment_close(rebuilt);
        for (s = 0; s < corpus.count; s++)
            text_segment_close(segments[s]);
        release_corpus(&corpus);
    }
    dir_remove(dir, NULL);
}

static void check_same(const struct text_segment *merged, const struct text_segment *rebuilt)
{
    assert_int_equal(merged->size, rebuilt->size);
    assert_memory_equal(merged->data, rebuilt->data, merged->size);
}

/* As a bulk makes them: nothing is dead, ids of one range each, or of stripes that interleave.
 * How often codes occur is known of segments just written, and counted for others. */
static void merge_of_whole_inputs(void **state)
{
    struct rng rng = model_seed();
    docid stripe;

    (void)state;
    for (stripe = 1; stripe < ID_SPAN; stripe = stripe * 70 + 7) {
        struct model models[INPUT_MAX] = {0}, all = {0};
        struct merge_options options = options_to(NULL);
        struct text_segment *segments[INPUT_MAX], *merged, *rebuilt;
        struct merge_input inputs[INPUT_MAX] = {0};
        struct err err;
        docid id;
        size_t s;

        for (id = 0; id < ID_SPAN; id++) {
            struct model *model = &models[id / stripe % INPUT_MAX];
            size_t row = model->row_count, doc = model->doc_count;

            add_document(model, &rng, id);
            copy_doc(model, doc, row, &all);
        }
        for (s = 0; s < INPUT_MAX; s++) {
            model_sort(&models[s]);
            segments[s] = model_write(&models[s], NULL);
            inputs[s].segment = segments[s];
        }
        model_sort(&all);
        rebuilt = model_write(&all, NULL);
        assert_int_equal(text_segment_merge(inputs, INPUT_MAX, &options, &merged, &err), 0);
        check_same(merged, rebuilt);
        assert_memory_equal(merged->code_counts, rebuilt->code_counts,
                            merged->info.code_count * sizeof(uint64_t));
        text_segment_close(merged);
        for (s = 0; s < INPUT_MAX; s++) {
            free(segments[s]->code_counts);
            segments[s]->code_counts = NULL;
        }
        assert_int_equal(text_segment_merge(inputs, INPUT_MAX, &options, &merged, &err), 0);
        check_same(merged, rebuilt);
        text_segment_close(merged);
        text_segment_close(rebuilt);
        for (s = 0; s < INPUT_MAX; s++) {
            text_segment_close(segments[s]);
            model_release(&models[s]);
        }
        model_release(&all);
    }
}

/* Three times the same document: without masks the last input has the newest. */
static void the_newest_wins(void **state)
{
    struct rng rng = model_seed();
    struct merge_options options = options_to(NULL);
    struct merge_input inputs[3];
    struct text_segment *merged;
    struct model models[3] = {0};
    struct postings cursor;
    struct err err;
    uint32_t s;

    (void)state;
    for (s = 0; s < 3; s++) {
        model_add_doc(&models[s], &rng, 5);
        model_add_row(&models[s], &rng, s, 5);
        inputs[s] = (struct merge_input){.segment = model_write(&models[s], NULL)};
    }
    assert_int_equal(text_segment_merge(inputs, 3, &options, &merged, &err), 0);
    assert_int_equal(merged->info.doc_count, 1);
    assert_int_equal(merged->info.posting_count, 1);
    assert_int_equal(postings_open(&cursor, merged, 2, &err), 0);
    assert_int_equal(cursor.count, 1);
    model_compare(&models[2], merged, &rng);
    text_segment_close(merged);
    for (s = 0; s < 3; s++) {
        text_segment_close((struct text_segment *)inputs[s].segment);
        model_release(&models[s]);
    }
}

static const struct window_bits *nothing_lives(void *context, uint32_t window)
{
    static const struct window_bits none;

    (void)context;
    (void)window;
    return &none;
}

static void all_dead(void **state)
{
    struct rng rng = model_seed();
    struct merge_options options = options_to(NULL);
    struct model model = {0}, empty = {0};
    struct text_segment *segment, *merged, *rebuilt;
    struct merge_input input;
    struct err err;

    (void)state;
    add_document(&model, &rng, 1);
    model_sort(&model);
    segment = model_write(&model, NULL);
    input = (struct merge_input){segment, nothing_lives, NULL};
    assert_int_equal(text_segment_merge(&input, 1, &options, &merged, &err), 0);
    rebuilt = model_write(&empty, NULL);
    assert_int_equal(merged->size, rebuilt->size);
    assert_memory_equal(merged->data, rebuilt->data, merged->size);
    text_segment_close(merged);
    text_segment_close(rebuilt);
    text_segment_close(segment);
    model_release(&model);
}

static bool give_up(void *context)
{
    int *left = context;

    return (*left)-- == 0;
}

/* Given up or damaged: no file is left behind, no memory either (LeakSanitizer). */
static void given_up_or_damaged(void **state)
{
    struct rng rng = model_seed();
    char dir[TEST_DIR_SIZE], path[TEST_DIR_SIZE + 16], temporary[TEST_DIR_SIZE + 32];
    struct merge_options options;
    struct model model = {0};
    struct text_segment *segment, *damaged, *merged;
    struct merge_input inputs[2] = {0};
    uint8_t *copy;
    struct err err;
    int left = 1;
    docid id;

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(path, sizeof(path), "%s/2.seg", dir);
    snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    for (id = 0; id < 9000; id++)
        add_document(&model, &rng, id * 2);
    model_sort(&model);
    segment = model_write(&model, NULL);
    options = options_to(path);
    options.pause = give_up;
    options.context = &left;
    inputs[0].segment = segment;
    assert_int_equal(text_segment_merge(inputs, 1, &options, &merged, &err), ERR_CANCELLED);
    copy = mem_alloc(segment->size);
    memcpy(copy, segment->data, segment->size);
    copy[70000] ^= 4;
    assert_int_equal(
        text_segment_from_image("damaged one", copy, segment->size, false, &damaged, &err), 0);
    inputs[1].segment = damaged;
    options.pause = NULL;
    assert_int_equal(text_segment_merge(inputs, 2, &options, &merged, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, "damaged one"));
    assert_null(merged);
    assert_null(fopen(path, "r"));
    assert_null(fopen(temporary, "r"));
    text_segment_close(damaged);
    text_segment_close(segment);
    model_release(&model);
    dir_remove(dir, NULL);
}

/* A place in the sections that say where other things are, or in what the header counts. */
static size_t choose_place(const struct text_segment *segment, struct rng *rng)
{
    static const uint8_t sections[] = {SECTION_POST,  SECTION_DIR,   SECTION_CODES,
                                       SECTION_TERMS, SECTION_RANKS, SECTION_ENTRIES,
                                       SECTION_OWNED, SECTION_OWNED, SECTION_POS};
    struct bytes section = segment->sections[sections[rng_below(rng, sizeof(sections))]];

    if (section.size == 0 || rng_below(rng, 8) == 0)
        return HEADER_FIRST_ID + rng_below(rng, HEADER_SECTIONS - HEADER_FIRST_ID);
    if (section.data == segment->sections[SECTION_OWNED].data && rng_below(rng, 2))
        section.size = OWNED_HEAD_SIZE + 4 * (size_t)OWNED_ENTRY_SIZE;
    return (size_t)(section.data - segment->data) + rng_below(rng, section.size);
}

/* Whatever a segment says of itself under right sums: it is merged or refused by name. */
static void a_segment_that_contradicts_itself_is_harmless(void **state)
{
    struct rng rng = model_seed();
    struct merge_options options = options_to(NULL);
    struct model model = {0};
    struct text_segment *segment, *forged, *merged;
    uint32_t refused = 0;
    docid id;
    int round;

    (void)state;
    for (id = 0; id < 900; id++)
        add_document(&model, &rng, 5 * WINDOW_SIZE + id * 20);
    model_sort(&model);
    segment = model_write(&model, NULL);
    for (round = 0; round < 1000; round++) {
        uint8_t *copy = mem_alloc(segment->size);
        struct merge_input inputs[2] = {{.segment = segment}};
        uint64_t changes = 1 + rng_below(&rng, 3);
        struct err err = {0};
        int rc;

        memcpy(copy, segment->data, segment->size);
        for (; changes > 0; changes--)
            copy[choose_place(segment, &rng)] = (uint8_t)rng_next(&rng);
        segment_mend_sums(copy, segment->size);
        rc = text_segment_from_image("forged", copy, segment->size, false, &forged, &err);
        inputs[1].segment = forged;
        if (!rc) {
            rc = text_segment_merge(inputs + round % 2, 2 - (size_t)round % 2, &options, &merged,
                                    &err);
            text_segment_close(merged);
        }
        if (rc && (rc != ERR_CORRUPT || !strstr(err.text, "forged")))
            fail_msg("%s", err.text);
        refused += rc != 0;
        text_segment_close(forged);
    }
    assert_true(refused > 0);
    text_segment_close(segment);
    model_release(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_equals_rebuild),
        cmocka_unit_test(merge_of_whole_inputs),
        cmocka_unit_test(the_newest_wins),
        cmocka_unit_test(all_dead),
        cmocka_unit_test(given_up_or_damaged),
        cmocka_unit_test(a_segment_that_contradicts_itself_is_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

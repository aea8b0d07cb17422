/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of index/postings/text_segment.h, text_segment_writer.h and postings.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "segment_sums.h"
#include "test_dir.h"
#include "text_model.h"

static const size_t boundaries[] = {1,    2,    255,  256,   257,   511,  512,
                                    4095, 4096, 4097, 65535, 65536, 65537};

/* Terms whose lists have the sizes at which the format changes, spread thin, thick and in runs. */
static void fill_boundaries(struct model *model, struct rng *rng, docid first, uint32_t spread)
{
    uint32_t term = 5, i;
    size_t which;
    docid id = first;

    for (i = 0; i < 70000; i++) {
        model_add_doc(model, rng, id);
        id += 1 + (spread ? (uint32_t)rng_below(rng, spread) : 0);
    }
    for (which = 0; which < ARRAY_COUNT(boundaries);
         which++, term += 1 + (uint32_t)rng_below(rng, 700)) {
        size_t left = boundaries[which], at = 0;

        for (at = 0; left > 0; at++) {
            if (rng_below(rng, model->doc_count - at) < left) {
                model_add_row(model, rng, term, model->docs[at].id);
                left--;
            }
        }
    }
}

static void boundary_sizes(void **state)
{
    static const uint32_t spreads[] = {0, 3, 900, 60000};
    struct rng rng = model_seed();
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(spreads); i++) {
        struct model model = {0};
        struct text_segment *segment;

        fill_boundaries(&model, &rng, i == 1 ? 0 : (docid)rng_below(&rng, 1 << 20), spreads[i]);
        model_sort(&model);
        segment = model_write(&model, NULL);
        model_compare(&model, segment, &rng);
        text_segment_close(segment);
        model_release(&model);
    }
}

static void fill_random(struct model *model, struct rng *rng)
{
    uint32_t doc_count = (uint32_t)rng_below(rng, 3000),
             term_count = 1 + (uint32_t)rng_below(rng, 400);
    uint32_t i, term, spread = 1 + (uint32_t)rng_below(rng, rng_below(rng, 2) ? 4 : 100000);
    docid id = (docid)rng_below(rng, 1 << 20);

    for (i = 0; i < doc_count; i++) {
        model_add_doc(model, rng, id);
        id += 1 + (uint32_t)rng_below(rng, spread);
    }
    for (term = 0; term < term_count; term++) {
        uint64_t share = 1 + rng_below(rng, 1 + rng_below(rng, 2000));

        for (i = 0; i < doc_count; i++) {
            if (rng_below(rng, share) == 0)
                model_add_row(model, rng, term * 3, model->docs[i].id);
        }
        if (rng_below(rng, 50) == 0)
            term += (uint32_t)rng_below(rng, 2000);
    }
    model_sort(model);
}

static void random_segments(void **state)
{
    struct rng rng = model_seed();
    int round;

    (void)state;
    for (round = 0; round < 12; round++) {
        struct model model = {0};
        struct text_segment *segment;

        fill_random(&model, &rng);
        segment = model_write(&model, NULL);
        model_compare(&model, segment, &rng);
        text_segment_close(segment);
        model_release(&model);
    }
}

static void highest_ids_and_terms(void **state)
{
    struct rng rng = model_seed();
    struct model model = {0};
    struct text_segment *segment;
    docid id;

    (void)state;
    model_add_doc(&model, &rng, 0);
    for (id = DOCID_END - 600; id < DOCID_END; id++)
        model_add_doc(&model, &rng, id);
    for (id = 0; id < model.doc_count; id++) {
        model_add_row(&model, &rng, 0, model.docs[id].id);
        if (id % 2)
            model_add_row(&model, &rng, 70000, model.docs[id].id);
    }
    model_add_row(&model, &rng, 70001, DOCID_END - 1);
    model_sort(&model);
    segment = model_write(&model, NULL);
    model_compare(&model, segment, &rng);
    text_segment_close(segment);
    model_release(&model);
}

static void nothing_at_all(void **state)
{
    struct rng rng = model_seed();
    struct model model = {0};
    struct text_segment *segment = model_write(&model, NULL);
    struct postings cursor;
    struct err err;

    (void)state;
    model_compare(&model, segment, &rng);
    assert_int_equal(postings_open(&cursor, segment, 0, &err), 0);
    assert_true(postings_ended(&cursor));
    text_segment_close(segment);
}

static void file_has_the_bytes_of_the_image(void **state)
{
    struct rng rng = model_seed();
    char dir[TEST_DIR_SIZE], path[TEST_DIR_SIZE + 16];
    int round;

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(path, sizeof(path), "%s/0.seg", dir);
    for (round = 0; round < 3; round++) {
        struct model model = {0};
        struct text_segment *image, *file, *saved;
        struct err err;

        if (round == 0)
            fill_boundaries(&model, &rng, 77, 2);
        else if (round == 1)
            fill_random(&model, &rng);
        model_sort(&model);
        image = model_write(&model, NULL);
        file = model_write(&model, path);
        assert_int_equal(image->size, file->size);
        assert_memory_equal(image->data, file->data, file->size);
        assert_int_equal(text_segment_check_all(file, &err), 0);
        model_compare(&model, file, &rng);
        text_segment_close(file);
        assert_int_equal(text_segment_save(image, path, &err), 0);
        assert_int_equal(text_segment_open(path, &saved, &err), 0);
        assert_memory_equal(image->data, saved->data, saved->size);
        assert_int_equal(saved->info.epoch, 3);
        assert_int_equal(saved->info.topic_offset, 99);
        assert_int_equal(saved->info.place[3], 4);
        text_segment_close(saved);
        text_segment_close(image);
        model_release(&model);
    }
    dir_remove(dir, NULL);
}

/* Reads everything; 0 when nothing was refused. */
static int read_all(const struct text_segment *segment)
{
    struct occurrence occurrences[POSTING_OCCURRENCE_MAX];
    static struct place_run places;
    struct window_bits bits;
    struct postings cursor;
    uint32_t term = 0, index, window, count;
    const uint8_t *lengths;
    bool found = true;
    int rc = 0;

    for (index = 0; !rc && found; index++)
        rc = text_segment_owned_next(segment, index, &window, &bits, &lengths, &found, NULL);
    for (;; term++) {
        rc = rc ? rc : text_segment_next_term(segment, term, &term, NULL);
        if (rc || term == UINT32_MAX)
            return rc;
        rc = postings_open(&cursor, segment, term, NULL);
        while (!rc && !postings_ended(&cursor)) {
            const docid *ids;

            rc = postings_ids(&cursor, &ids, NULL);
            for (index = 0; !rc && index < cursor.size; index++)
                rc = postings_occurrences(&cursor, index, occurrences, &count, NULL);
            for (index = 0; !rc && index < cursor.size; index += count) {
                int16_t one = (int16_t)index;

                places.count = 0;
                count = 1;
                rc = postings_places(&cursor, &one, &count, UINT8_MAX, &places, NULL);
            }
            rc = rc ? rc : postings_next_block(&cursor, NULL);
        }
    }
}

static struct text_segment *open_copy(const uint8_t *data, size_t size, int *rc)
{
    uint8_t *copy = mem_alloc(size ? size : 1);
    struct text_segment *segment;

    memcpy(copy, data, size);
    *rc = text_segment_from_image("copy", copy, size, false, &segment, NULL);
    return segment;
}

/* Refused when opened, or when all is checked, or by the cursor that meets it. */
static void every_flipped_bit_is_found(void **state)
{
    struct rng rng = model_seed();
    struct model model = {0};
    struct text_segment *segment;
    uint8_t *data;
    size_t size, bit;
    int rc;

    (void)state;
    for (docid id = 100; id < 400; id++) {
        model_add_doc(&model, &rng, id);
        model_add_row(&model, &rng, 1, id);
        if (id % 70 == 0)
            model_add_row(&model, &rng, 3, id);
    }
    model_sort(&model);
    segment = model_write(&model, NULL);
    size = segment->size;
    data = mem_alloc(size);
    memcpy(data, segment->data, size);
    text_segment_close(segment);
    for (bit = 0; bit < size * 8; bit++) {
        data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        segment = open_copy(data, size, &rc);
        if (!rc) {
            assert_int_equal(text_segment_check_all(segment, NULL), ERR_CORRUPT);
            if (bit % 8 == 0)
                assert_int_equal(read_all(segment), ERR_CORRUPT);
        } else {
            assert_true(rc == ERR_CORRUPT || rc == ERR_UNSUPPORTED);
        }
        text_segment_close(segment);
        data[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    for (bit = 0; bit < size; bit++) {
        segment = open_copy(data, bit, &rc);
        assert_int_equal(rc, ERR_CORRUPT);
    }
    segment = open_copy(data, size, &rc);
    assert_int_equal(read_all(segment), 0);
    text_segment_close(segment);
    free(data);
    model_release(&model);
}

static void flip_byte(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    int byte;

    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

/* What was read ahead is known to be right, and is not checked again; damage is told once. */
static int walk(const struct text_segment *segment, uint32_t term)
{
    struct postings cursor;
    int rc = postings_open(&cursor, segment, term, NULL);

    while (!rc && !postings_ended(&cursor))
        rc = postings_next_block(&cursor, NULL);
    return rc;
}

/* Who makes room for a segment's ids makes it by its header. */
static void ids_behind_the_last_one_are_refused(void **state)
{
    enum { FIRST = 100, LAST = 1400, SHORT = 20, LONG = 1, MIDDLE = 2, LONE = 3 };
    struct rng rng = model_seed();
    struct model model = {0};
    struct text_segment *segment, *forged;
    uint8_t *data;
    int rc;

    (void)state;
    for (docid id = FIRST; id <= LAST; id++) {
        model_add_doc(&model, &rng, id);
        model_add_row(&model, &rng, LONG, id);
        if (id > LAST - SHORT)
            model_add_row(&model, &rng, MIDDLE, id);
    }
    model_add_row(&model, &rng, LONE, LAST);
    model_sort(&model);
    segment = model_write(&model, NULL);
    data = mem_alloc(segment->size);
    memcpy(data, segment->data, segment->size);
    put_le32(data + HEADER_LAST_ID, LAST - 1);
    segment_mend_sums(data, segment->size);
    forged = open_copy(data, segment->size, &rc);
    assert_int_equal(rc, 0);
    for (uint32_t term = LONG; term <= LONE; term++) {
        assert_int_equal(walk(segment, term), 0);
        assert_int_equal(walk(forged, term), ERR_CORRUPT);
    }
    text_segment_close(forged);
    text_segment_close(segment);
    free(data);
    model_release(&model);
}

static void a_file_is_checked_ahead(void **state)
{
    char dir[TEST_DIR_SIZE], path[TEST_DIR_SIZE + 16];
    struct rng rng = model_seed();
    struct text_segment *segment;
    struct model model = {0};
    size_t chunk = 0, steps;
    struct err err = {0};

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(path, sizeof(path), "%s/0.seg", dir);
    for (docid id = 1; id < 16000; id++) { /* so many that what is read at open lies behind */
        model_add_doc(&model, &rng, id);
        for (uint32_t term = 1; term < 5; term++)
            model_add_row(&model, &rng, term, id);
    }
    model_sort(&model);
    segment = model_write(&model, path);
    assert_true(segment->chunk_count > 1);
    for (steps = 0; chunk < segment->chunk_count; steps++)
        assert_int_equal(text_segment_check_on(segment, &chunk, 1, &err), 0);
    assert_int_equal(steps, segment->chunk_count);
    flip_byte(path, 1000);
    assert_int_equal(text_segment_check_all(segment, &err), 0);
    text_segment_close(segment);

    assert_int_equal(text_segment_open(path, &segment, &err), 0);
    chunk = 0;
    assert_int_equal(text_segment_check_on(segment, &chunk, 1, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(chunk, segment->chunk_count);
    assert_int_equal(text_segment_check_all(segment, &err), ERR_CORRUPT);
    text_segment_close(segment);
    model_release(&model);
    dir_remove(dir, NULL);
}

static void damage_names_the_file(void **state)
{
    char dir[TEST_DIR_SIZE], path[TEST_DIR_SIZE + 16];
    struct text_segment *segment;
    struct err err;

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(path, sizeof(path), "%s/bad.seg", dir);
    assert_int_equal(text_segment_open(path, &segment, &err), ERR_NOT_FOUND);
    assert_int_equal(file_write(path, bytes_make("short", 5), &err), 0);
    assert_int_equal(text_segment_open(path, &segment, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, "bad.seg"));
    assert_null(segment);
    dir_remove(dir, NULL);
}

static void bounds_round_up(void **state)
{
    struct rng rng = model_seed();
    int i;

    (void)state;
    assert_int_equal(text_segment_bound_round_up(0), 0);
    for (i = 1; i < 255; i++)
        assert_int_equal(text_segment_bound_round_up(text_segment_bound_value((uint8_t)i)), i);
    for (i = 0; i < 100000; i++) {
        float value = (float)rng_below(&rng, 1 << 30) / (float)(1 << rng_below(&rng, 31));
        uint8_t bound = text_segment_bound_round_up(value);

        assert_true(text_segment_bound_value(bound) >= value);
        assert_true(bound == 0 || text_segment_bound_value((uint8_t)(bound - 1)) < value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundary_sizes),
        cmocka_unit_test(random_segments),
        cmocka_unit_test(highest_ids_and_terms),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(file_has_the_bytes_of_the_image),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(ids_behind_the_last_one_are_refused),
        cmocka_unit_test(a_file_is_checked_ahead),
        cmocka_unit_test(damage_names_the_file),
        cmocka_unit_test(bounds_round_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* text_model.c - see text_model.h. */
#include "text_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

struct rng model_seed(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : random_u64();

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return rng_seeded(seed);
}

void model_release(struct model *model)
{
    free(model->docs);
    free(model->rows);
    free(model->occurrences);
    memset(model, 0, sizeof(*model));
}

static void *grown(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed > *capacity) {
        *capacity = needed * 2;
        array = mem_resize(array, *capacity * size);
    }
    return array;
}

void model_add_doc(struct model *model, struct rng *rng, docid id)
{
    struct model_doc doc = {.id = id};
    unsigned field;

    for (field = 0; field < SEGMENT_FIELD_COUNT; field++)
        doc.lengths[field] = (uint8_t)rng_below(rng, field ? 60 : 12);
    model_copy_doc(model, &doc);
}

static uint32_t random_tfs(struct rng *rng)
{
    uint32_t tfs = UINT32_C(1) << rng_below(rng, 4) * 8;

    switch (rng_below(rng, 20)) {
    case 0:
        return (uint32_t)rng_next(rng) & 0x01030703 ? (uint32_t)rng_next(rng) & 0x01030703 : 1;
    case 1:
        return rng_below(rng, 50) ? 2 : UINT32_MAX;
    case 2:
    case 3:
        return 0x0100;
    default:
        tfs = 1;
    }
    return tfs;
}

void model_add_row(struct model *model, struct rng *rng, uint32_t term, docid id)
{
    struct model_row row = {term, id, random_tfs(rng), (uint32_t)model->occurrence_count};
    unsigned field, i;

    row.tfs = row.tfs ? row.tfs : 1;
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        uint32_t position = 0;

        for (i = 0; i < (row.tfs >> field * 8 & 255); i++) {
            position += (uint32_t)rng_below(rng, rng_below(rng, 300) ? 60 : 1 << 24);
            model->occurrences = grown(model->occurrences, &model->occurrence_capacity,
                                       model->occurrence_count + 1, sizeof(model->occurrences[0]));
            model->occurrences[model->occurrence_count++] = (struct occurrence){
                position, (uint32_t)rng_below(rng, rng_below(rng, 50) ? 3 : 1000)};
        }
    }
    model->rows = grown(model->rows, &model->row_capacity, model->row_count + 1, sizeof(row));
    model->rows[model->row_count++] = row;
}

void model_copy_doc(struct model *model, const struct model_doc *doc)
{
    model->docs = grown(model->docs, &model->doc_capacity, model->doc_count + 1, sizeof(*doc));
    model->docs[model->doc_count++] = *doc;
}

void model_copy_row(struct model *model, const struct model *from, const struct model_row *row)
{
    uint32_t count =
        (row->tfs & 255) + (row->tfs >> 8 & 255) + (row->tfs >> 16 & 255) + (row->tfs >> 24);
    struct model_row copy = *row;

    copy.first = (uint32_t)model->occurrence_count;
    model->occurrences = grown(model->occurrences, &model->occurrence_capacity,
                               model->occurrence_count + count, sizeof(model->occurrences[0]));
    memcpy(model->occurrences + copy.first, from->occurrences + row->first,
           count * sizeof(model->occurrences[0]));
    model->occurrence_count += count;
    model->rows = grown(model->rows, &model->row_capacity, model->row_count + 1, sizeof(copy));
    model->rows[model->row_count++] = copy;
}

static int by_id(const void *left, const void *right)
{
    const struct model_doc *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

static int by_term(const void *left, const void *right)
{
    const struct model_row *a = left, *b = right;

    if (a->term != b->term)
        return a->term < b->term ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void model_sort(struct model *model)
{
    if (model->doc_count)
        qsort(model->docs, model->doc_count, sizeof(model->docs[0]), by_id);
    if (model->row_count)
        qsort(model->rows, model->row_count, sizeof(model->rows[0]), by_term);
}

const struct text_norms *model_norms(void)
{
    static struct text_norms norms;
    unsigned field, length;

    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        for (length = 0; length < 256; length++)
            norms.of_length[field][length] = 1 / (0.25F + 0.75F * (float)length / 20);
    }
    return &norms;
}

struct text_segment *model_write(const struct model *model, const char *path)
{
    struct text_segment_info info = {
        .epoch = 3, .segment = 7, .topic_offset = 99, .place = {1, 2, 3, 4}};
    struct text_segment_writer *writer = text_segment_writer_new(&info, model_norms(), path);
    struct text_segment *segment = NULL;
    struct err err = {0};
    size_t i;

    for (i = 0; i < model->doc_count; i++)
        text_segment_writer_doc(writer, model->docs[i].id, model->docs[i].lengths);
    for (i = 0; i < model->row_count; i++)
        text_segment_writer_count(writer, model->rows[i].tfs, 1);
    for (i = 0; i < model->row_count; i++) {
        const struct model_row *row = &model->rows[i];

        if (i == 0 || row->term != row[-1].term)
            text_segment_writer_term(writer, row->term);
        text_segment_writer_posting(writer, row->id, row->tfs, model->occurrences + row->first);
    }
    if (text_segment_writer_finish(writer, &segment, &err))
        fail_msg("%s", err.text);
    text_segment_writer_free(writer);
    return segment;
}

static const uint8_t *lengths_of(const struct model *model, docid id)
{
    struct model_doc key = {.id = id};
    const struct model_doc *doc = bsearch(&key, model->docs, model->doc_count, sizeof(key), by_id);

    assert_non_null(doc);
    return doc->lengths;
}

static void compare_posting(const struct model *model, struct postings *cursor, uint32_t index,
                            const struct model_row *row, float most[SEGMENT_FIELD_COUNT])
{
    struct occurrence found[POSTING_OCCURRENCE_MAX];
    const uint8_t *lengths = lengths_of(model, row->id);
    uint32_t code, count, field;
    struct err err;

    assert_int_equal(postings_code_at(cursor, index, &code, &err), 0);
    assert_int_equal(text_segment_tfs(cursor->segment, code), row->tfs);
    assert_int_equal(postings_occurrences(cursor, index, found, &count, &err), 0);
    assert_memory_equal(found, model->occurrences + row->first, count * sizeof(found[0]));
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        float weight =
            (float)(row->tfs >> field * 8 & 255) * model_norms()->of_length[field][lengths[field]];

        most[field] = weight > most[field] ? weight : most[field];
    }
    count -= row->tfs >> 24;
    assert_int_equal(count, (row->tfs & 255) + (row->tfs >> 8 & 255) + (row->tfs >> 16 & 255));
}

/* Places of every step-th posting of the block, at once: those of two of the fields. */
static void compare_places(const struct model *model, struct postings *cursor,
                           const struct model_row *rows, uint32_t step)
{
    enum { FIELDS = 1 << 1 | 1 << 2 };
    static struct place_run run;
    int16_t indexes[BLOCK_SIZE];
    uint32_t count = 0, done, told, i;
    struct err err;

    for (i = step / 2; i < cursor->size; i += step)
        indexes[count++] = (int16_t)i;
    for (done = 0; done < count; done += told) {
        uint32_t at = 0;

        run.count = 0;
        told = count - done;
        assert_int_equal(postings_places(cursor, indexes + done, &told, FIELDS, &run, &err), 0);
        assert_true(told > 0 && told == run.count);
        for (i = 0; i < told; i++) {
            const struct model_row *row = &rows[indexes[done + i]];
            const struct occurrence *next = model->occurrences + row->first;

            for (uint32_t field = 0; field < SEGMENT_FIELD_COUNT; field++) {
                for (uint32_t k = row->tfs >> field * 8 & 255; k > 0; k--, next++) {
                    if (FIELDS >> field & 1 && !(next->position >> PLACE_FIELD_SHIFT))
                        assert_int_equal(run.places[at++],
                                         next->position | field << PLACE_FIELD_SHIFT);
                }
            }
            assert_int_equal(run.ends[i], at);
        }
    }
}

/* Block by block: ids, codes, occurrences, bounds not below and not far above the largest. */
static void compare_blocks(const struct model *model, const struct text_segment *segment,
                           const struct model_row *rows, size_t count)
{
    struct postings cursor;
    struct err err;
    size_t at = 0;

    assert_int_equal(postings_open(&cursor, segment, rows->term, &err), 0);
    assert_int_equal(cursor.count, count);
    while (!postings_ended(&cursor)) {
        float most[SEGMENT_FIELD_COUNT] = {0};
        const uint32_t *codes;
        const docid *ids;
        uint32_t i, field;

        assert_int_equal(postings_ids(&cursor, &ids, &err), 0);
        for (i = 0; i < cursor.size; i++) {
            assert_int_equal(ids[i], rows[at + i].id);
            compare_posting(model, &cursor, i, &rows[at + i], most);
        }
        for (i = 1; i <= 64; i *= 4)
            compare_places(model, &cursor, &rows[at], i);
        assert_int_equal(postings_codes(&cursor, &codes, &err), 0);
        for (i = 0; i < cursor.size; i++)
            assert_int_equal(text_segment_tfs(segment, codes[i]), rows[at + i].tfs);
        for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
            float bound = text_segment_bound_value(cursor.bounds[field]);

            assert_true(bound >= most[field]);
            assert_true(count == 1 || bound <= most[field] * 1.07F || most[field] > 900 ||
                        most[field] < 0.02F);
        }
        at += cursor.size;
        assert_int_equal(cursor.last, rows[at - 1].id);
        assert_int_equal(postings_next_block(&cursor, &err), 0);
    }
    assert_int_equal(at, count);
}

/* Window by window, some skipped. */
static void compare_windows(const struct text_segment *segment, const struct model_row *rows,
                            size_t count, struct rng *rng)
{
    struct window_bits bits, wanted;
    struct postings cursor;
    struct err err;
    uint64_t skip = rng_below(rng, 3);
    size_t at = 0;

    assert_int_equal(postings_open(&cursor, segment, rows->term, &err), 0);
    while (at < count) {
        uint32_t window = window_of(rows[at].id);
        size_t from = at;

        memset(&wanted, 0, sizeof(wanted));
        for (; at < count && window_of(rows[at].id) == window; at++)
            window_set(&wanted, rows[at].id % WINDOW_SIZE);
        if (skip && rng_below(rng, skip + 1))
            continue;
        assert_true(postings_low(&cursor) <= rows[from].id);
        if (postings_fill(&cursor, window, &bits, &err))
            fail_msg("%s", err.text);
        assert_memory_equal(&bits, &wanted, sizeof(bits));
    }
    assert_int_equal(postings_open(&cursor, segment, rows->term, &err), 0);
    for (at = 0; !postings_ended(&cursor);) {
        uint32_t window = window_of(postings_low(&cursor));

        assert_int_equal(postings_fill(&cursor, window, &bits, &err), 0);
        assert_true(postings_low(&cursor) >= window_first(window) + WINDOW_SIZE - 1);
        at += kernels_portable.window_count(&bits);
    }
    assert_int_equal(at, count);
}

/* Seeks ahead by random steps; absent ids are told to be absent. */
static void compare_seeks(const struct text_segment *segment, const struct model_row *rows,
                          size_t count, struct rng *rng)
{
    struct postings cursor;
    struct err err;
    docid id = 0, found;
    size_t at = 0;
    int index;

    assert_int_equal(postings_open(&cursor, segment, rows->term, &err), 0);
    while (at < count) {
        at += rng_below(rng, 1 + rng_below(rng, count));
        if (at < count)
            id = rows[at].id - (docid)(rng_below(rng, 2) && rows[at].id ? rng_below(rng, 3) : 0);
        else
            id = rows[count - 1].id + 1;
        at = at < count ? at : count;
        while (at > 0 && rows[at - 1].id >= id)
            at--;
        assert_int_equal(postings_seek(&cursor, id, &found, &err), 0);
        assert_int_equal(found, at < count ? rows[at].id : DOCID_END);
        assert_int_equal(postings_index(&cursor, id, &index, &err), 0);
        assert_int_equal(index >= 0, at < count && rows[at].id == id);
        if (index >= 0)
            assert_int_equal(index, at % BLOCK_SIZE);
        at++;
    }
}

static void compare_docs(const struct model *model, const struct text_segment *segment)
{
    uint16_t list[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    struct window_bits bits, again;
    const uint8_t *lengths;
    uint32_t index, window, i;
    size_t at = 0;
    bool found;
    struct err err;

    for (index = 0;; index++) {
        uint32_t count;

        assert_int_equal(
            text_segment_owned_next(segment, index, &window, &bits, &lengths, &found, &err), 0);
        if (!found)
            break;
        count = kernels_portable.window_list(&bits, list);
        for (i = 0; i < count; i++, at++) {
            assert_int_equal(window_first(window) + list[i], model->docs[at].id);
            assert_memory_equal(lengths + (size_t)i * SEGMENT_FIELD_COUNT, model->docs[at].lengths,
                                SEGMENT_FIELD_COUNT);
        }
        assert_int_equal(text_segment_owned(segment, window, &again, &err), 0);
        assert_memory_equal(&bits, &again, sizeof(bits));
    }
    assert_int_equal(at, model->doc_count);
}

void model_compare(const struct model *model, const struct text_segment *segment, struct rng *rng)
{
    size_t from = 0, to;
    uint32_t next = 0, term;
    struct postings cursor;
    struct err err;

    assert_int_equal(segment->info.posting_count, model->row_count);
    assert_int_equal(segment->info.doc_count, model->doc_count);
    compare_docs(model, segment);
    for (; from < model->row_count; from = to) {
        for (to = from + 1; to < model->row_count; to++) {
            if (model->rows[to].term != model->rows[from].term)
                break;
        }
        assert_int_equal(text_segment_next_term(segment, next, &term, &err), 0);
        assert_int_equal(term, model->rows[from].term);
        if (term > next) {
            assert_int_equal(postings_open(&cursor, segment, term - 1, &err), 0);
            assert_true(postings_ended(&cursor) && cursor.count == 0);
        }
        next = term + 1;
        compare_blocks(model, segment, model->rows + from, to - from);
        compare_windows(segment, model->rows + from, to - from, rng);
        compare_seeks(segment, model->rows + from, to - from, rng);
    }
    assert_int_equal(text_segment_next_term(segment, next, &term, &err), 0);
    assert_int_equal(term, UINT32_MAX);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_segment_merge.c - see text_segment_merge.h.
 *
 * Three passes: the documents, window by window, which also says whose document each is; the
 * codes, counted over what survives; the terms, whose lists are interleaved by id.
 */
#include "index/postings/text_segment_merge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "index/postings/text_segment_format.h"

enum { PAUSE_BLOCKS = 64 }; /* some 20 µs each at most, so a pause comes every millisecond or so */

/* One input at work. */
struct source {
    const struct merge_input *input;
    struct window_bits *kept; /* a page for each window that it owns documents in; owned */
    uint32_t *windows;        /* of those pages; owned */
    uint32_t page_count, page_capacity;
    uint32_t next_page; /* of the pass at hand */
    bool is_whole;      /* keeps all that it owns */

    /* Where the pass over the documents is. */
    uint32_t window; /* UINT32_MAX: at the end */
    struct window_bits owned;
    const uint8_t *lengths;
    uint16_t ranks[WINDOW_WORDS]; /* owned documents before each word */

    /* Where the pass over the terms is. */
    uint32_t term; /* UINT32_MAX: at the end */
    struct postings postings;
    const docid *ids;
    uint32_t tfs[BLOCK_SIZE];
    struct occurrence_rows rows;
    uint32_t at;
    docid id; /* of the posting at hand; DOCID_END: the term has no more */
};

enum { MERGE_MAGIC = OBJECT_MAGIC('m', 'e', 'r', 'g') };

struct merge {
    uint32_t magic;
    struct source *sources;
    size_t count;
    const struct merge_options *options;
    struct text_segment_writer *writer;
    uint32_t blocks; /* since the last pause */
};

static int pause_now(struct merge *merge, struct err *err)
{
    if (++merge->blocks < PAUSE_BLOCKS || !merge->options->pause)
        return 0;
    merge->blocks = 0;
    if (merge->options->pause(merge->options->context))
        return err_set(err, ERR_CANCELLED, "the merge was cancelled");
    return 0;
}

/* Documents. */

static int next_window(struct source *source, struct err *err)
{
    bool found;
    int rc = text_segment_owned_next(source->input->segment, source->next_page++, &source->window,
                                     &source->owned, &source->lengths, &found, err);

    if (!rc && !found)
        source->window = UINT32_MAX;
    return rc;
}

static struct window_bits *add_page(struct source *source, uint32_t window)
{
    if (source->page_count == source->page_capacity) {
        uint32_t capacity = source->page_capacity ? source->page_capacity * 2 : 64;
        struct window_bits *kept =
            aligned_alloc(alignof(struct window_bits), capacity * sizeof(struct window_bits));

        assert(kept);
        if (source->page_count)
            memcpy(kept, source->kept, source->page_count * sizeof(kept[0]));
        free(source->kept);
        source->kept = kept;
        source->windows = mem_resize(source->windows, capacity * sizeof(source->windows[0]));
        source->page_capacity = capacity;
    }
    source->windows[source->page_count] = window;
    return &source->kept[source->page_count++];
}

static void rank_words(struct source *source)
{
    uint32_t rank = 0, word;

    for (word = 0; word < WINDOW_WORDS; word++) {
        source->ranks[word] = (uint16_t)rank;
        rank += (uint32_t)__builtin_popcountll(source->owned.words[word]);
    }
}

/* The lengths of the offset-th id of the window, which the source owns. */
static const uint8_t *lengths_at(const struct source *source, uint32_t offset)
{
    uint64_t below = source->owned.words[offset / 64] & ((UINT64_C(1) << offset % 64) - 1);
    uint32_t rank = source->ranks[offset / 64] + (uint32_t)__builtin_popcountll(below);

    return source->lengths + (size_t)rank * SEGMENT_FIELD_COUNT;
}

/* What each source keeps of the window, and all of it to the writer. */
static void merge_window(struct merge *merge, uint32_t window)
{
    uint16_t list[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    uint8_t owner[WINDOW_SIZE];
    struct window_bits all = {0};
    uint32_t count, i;
    size_t s;

    for (s = merge->count; s-- > 0;) { /* the newest first: it takes what it has */
        struct source *source = &merge->sources[s];
        const struct window_bits *live = NULL;
        struct window_bits *kept;

        if (source->window != window)
            continue;
        kept = add_page(source, window);
        *kept = source->owned;
        if (source->input->live)
            live = source->input->live(source->input->context, window);
        if (live)
            kernels()->window_and(kept, live);
        kernels()->window_andnot(kept, &all);
        kernels()->window_or(&all, kept);
        rank_words(source);
        if (memcmp(kept, &source->owned, sizeof(*kept)) != 0)
            source->is_whole = false;
        count = kernels()->window_list(kept, list);
        for (i = 0; i < count; i++)
            owner[list[i]] = (uint8_t)s;
    }
    count = kernels()->window_list(&all, list);
    for (i = 0; i < count; i++)
        text_segment_writer_doc(merge->writer, window_first(window) + list[i],
                                lengths_at(&merge->sources[owner[list[i]]], list[i]));
}

static int merge_docs(struct merge *merge, struct err *err)
{
    size_t s;
    int rc = 0;

    for (s = 0; s < merge->count && !rc; s++)
        rc = next_window(&merge->sources[s], err);
    while (!rc) {
        uint32_t window = UINT32_MAX;

        for (s = 0; s < merge->count; s++) {
            if (merge->sources[s].window < window)
                window = merge->sources[s].window;
        }
        if (window == UINT32_MAX)
            break;
        merge_window(merge, window);
        for (s = 0; s < merge->count && !rc; s++) {
            if (merge->sources[s].window == window)
                rc = next_window(&merge->sources[s], err);
        }
        rc = rc ? rc : pause_now(merge, err);
    }
    return rc;
}

/* Postings. */

/* Ids ascend inside a term, so the page moves forwards only. */
static bool keeps(struct source *source, docid id)
{
    uint32_t window = window_of(id);

    while (source->next_page < source->page_count && source->windows[source->next_page] < window)
        source->next_page++;
    return source->next_page < source->page_count && source->windows[source->next_page] == window &&
           window_test(&source->kept[source->next_page], id % WINDOW_SIZE);
}

/* What the codes of the block at hand stand for. */
static int take_tfs(struct source *source, struct err *err)
{
    const struct text_segment *segment = source->input->segment;
    const uint32_t *codes;
    uint32_t i;
    int rc = postings_codes(&source->postings, &codes, err);

    for (i = 0; i < source->postings.size && !rc; i++) {
        source->tfs[i] = text_segment_tfs(segment, codes[i]);
        if (source->tfs[i] == 0)
            rc = err_set(err, ERR_CORRUPT, "segment %s is damaged: code %u has no meaning",
                         segment->name, codes[i]);
    }
    return rc;
}

/* The arrays of the block at hand; at the end of the list id becomes DOCID_END. */
static int take_block(struct merge *merge, struct source *source, struct err *err)
{
    int rc = 0;

    source->at = 0;
    source->id = DOCID_END;
    if (postings_ended(&source->postings))
        return 0;
    rc = postings_ids(&source->postings, &source->ids, err);
    if (!rc)
        rc = take_tfs(source, err);
    if (!rc)
        rc = postings_rows(&source->postings, &source->rows, err);
    return rc ? rc : pause_now(merge, err);
}

/* Goes to the next posting that survives, from `at` on. */
static int go_to_survivor(struct merge *merge, struct source *source, struct err *err)
{
    while (!postings_ended(&source->postings)) {
        int rc;

        for (; source->at < source->postings.size; source->at++) {
            if (keeps(source, source->ids[source->at])) {
                source->id = source->ids[source->at];
                return 0;
            }
        }
        rc = postings_next_block(&source->postings, err);
        if (!rc)
            rc = take_block(merge, source, err);
        if (rc)
            return rc;
    }
    source->id = DOCID_END;
    return 0;
}

static int open_term(struct merge *merge, struct source *source, struct err *err)
{
    int rc = postings_open(&source->postings, source->input->segment, source->term, err);

    source->next_page = 0;
    if (!rc)
        rc = take_block(merge, source, err);
    return rc ? rc : go_to_survivor(merge, source, err);
}

/* How often each code of a term survives. */
static int count_term(struct merge *merge, struct source *source, uint64_t *counts, struct err *err)
{
    struct postings *postings = &source->postings;
    int rc = postings_open(postings, source->input->segment, source->term, err);
    const uint32_t *codes;
    uint32_t i;

    source->next_page = 0;
    while (!rc && !postings_ended(postings)) {
        rc = postings_ids(postings, &source->ids, err);
        if (!rc)
            rc = take_tfs(source, err);
        if (!rc)
            rc = postings_codes(postings, &codes, err);
        for (i = 0; i < postings->size && !rc; i++)
            counts[codes[i]] += keeps(source, source->ids[i]);
        if (!rc)
            rc = postings_next_block(postings, err);
        rc = rc ? rc : pause_now(merge, err);
    }
    return rc;
}

/* How often each code survives, told to the writer by what it stands for. */
static int count_codes(struct merge *merge, struct source *source, struct err *err)
{
    const struct text_segment *segment = source->input->segment;
    size_t size = segment->info.code_count * sizeof(uint64_t);
    uint64_t *counts = mem_array(segment->info.code_count + 1, sizeof(counts[0]));
    bool is_known = source->is_whole && segment->code_counts;
    uint32_t code, from = 0;
    int rc = 0;

    if (is_known)
        memcpy(counts, segment->code_counts, size);
    while (!rc && !is_known) {
        rc = text_segment_next_term(segment, from, &source->term, err);
        if (rc || source->term == UINT32_MAX)
            break;
        from = source->term + 1;
        rc = count_term(merge, source, counts, err);
    }
    for (code = 0; !rc && code < segment->info.code_count; code++) {
        if (counts[code])
            text_segment_writer_count(merge->writer, text_segment_tfs(segment, code), counts[code]);
    }
    free(counts);
    return rc;
}

/* Writes the source's postings below limit, as far as the block at hand has them in a row. */
static int write_run(struct merge *merge, struct source *source, docid limit, struct err *err)
{
    uint32_t from = source->at, end = from + 1, first = source->rows.starts[from];
    struct posting_run run = {
        .ids = source->ids + from,
        .tfs = source->tfs + from,
        .distances = source->rows.distances + first,
        .forms = source->rows.forms + first,
    };

    while (end < source->postings.size && source->ids[end] < limit &&
           keeps(source, source->ids[end]))
        end++;
    run.count = end - from;
    text_segment_writer_run(merge->writer, &run);
    source->at = end;
    return go_to_survivor(merge, source, err);
}

/* The source with the lowest posting; *limit is the lowest of the others. */
static struct source *find_lowest(struct merge *merge, docid *limit)
{
    struct source *lowest = &merge->sources[0];
    size_t s;

    *limit = DOCID_END;
    for (s = 1; s < merge->count; s++) {
        struct source *source = &merge->sources[s];

        if (source->id < lowest->id) {
            *limit = lowest->id;
            lowest = source;
        } else if (source->id < *limit) {
            *limit = source->id;
        }
    }
    return lowest;
}

static int merge_term(struct merge *merge, uint32_t term, struct err *err)
{
    bool begun = false;
    size_t s;
    int rc = 0;

    for (s = 0; s < merge->count && !rc; s++) {
        merge->sources[s].id = DOCID_END;
        if (merge->sources[s].term == term)
            rc = open_term(merge, &merge->sources[s], err);
    }
    while (!rc) {
        docid limit;
        struct source *lowest = find_lowest(merge, &limit);

        if (lowest->id == DOCID_END)
            break;
        if (!begun)
            text_segment_writer_term(merge->writer, term);
        begun = true;
        rc = write_run(merge, lowest, limit, err);
    }
    for (s = 0; s < merge->count && !rc; s++) {
        struct source *source = &merge->sources[s];

        if (source->term == term)
            rc = text_segment_next_term(source->input->segment, term + 1, &source->term, err);
    }
    return rc;
}

static int merge_terms(struct merge *merge, struct err *err)
{
    size_t s;
    int rc = 0;

    for (s = 0; s < merge->count && !rc; s++)
        rc = text_segment_next_term(merge->sources[s].input->segment, 0, &merge->sources[s].term,
                                    err);
    while (!rc) {
        uint32_t term = UINT32_MAX;

        for (s = 0; s < merge->count; s++) {
            if (merge->sources[s].term < term)
                term = merge->sources[s].term;
        }
        if (term == UINT32_MAX)
            break;
        rc = merge_term(merge, term, err);
    }
    return rc;
}

int text_segment_merge(const struct merge_input *inputs, size_t count,
                       const struct merge_options *options, struct text_segment **merged,
                       struct err *err)
{
    struct merge *merge = mem_zero(sizeof(*merge));
    size_t s;
    int rc;

    object_begin(merge, MERGE_MAGIC);
    assert(count > 0 && count <= TEXT_MERGE_INPUT_COUNT_MAX);
    *merged = NULL;
    merge->count = count;
    merge->options = options;
    merge->sources = aligned_alloc(alignof(struct source), count * sizeof(struct source));
    assert(merge->sources);
    memset(merge->sources, 0, count * sizeof(struct source));
    merge->writer = text_segment_writer_new(&options->info, options->norms, options->path);
    for (s = 0; s < count; s++) {
        merge->sources[s].input = &inputs[s];
        merge->sources[s].is_whole = true;
    }
    rc = merge_docs(merge, err);
    for (s = 0; s < count && !rc; s++)
        rc = count_codes(merge, &merge->sources[s], err);
    if (!rc)
        rc = merge_terms(merge, err);
    if (!rc)
        rc = text_segment_writer_finish(merge->writer, merged, err);
    text_segment_writer_free(merge->writer);
    for (s = 0; s < count; s++) {
        free(merge->sources[s].kept);
        free(merge->sources[s].windows);
        occurrence_rows_release(&merge->sources[s].rows);
    }
    free(merge->sources);
    object_end(merge, MERGE_MAGIC);
    free(merge);
    return rc;
}

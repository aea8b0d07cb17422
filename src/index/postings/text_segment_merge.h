/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_segment_merge.h - makes one segment out of several, without the documents that are dead.
 *
 * Ids are permanent, so a merge interleaves. Where two inputs both have a document alive, the
 * later input is the newer and wins. The result has the bytes that a writer would have made from
 * the surviving documents themselves.
 *
 * Memory: the ids of the inputs (a bit each, by windows that have any), what the writer keeps,
 * and one block an input. Threads: runs on the thread of its caller, who may be asked to wait or
 * to give up between blocks; the inputs are only read.
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_SEGMENT_MERGE_H
#define TORG_INDEX_POSTINGS_TEXT_SEGMENT_MERGE_H

#include "index/postings/text_segment.h"
#include "index/postings/text_segment_writer.h"

struct merge_input {
    const struct text_segment *segment; /* borrowed */
    /* The documents of a window that live in this segment, or NULL for all; others may be set
     * too. Asked once a window. A NULL function: all live. */
    const struct window_bits *(*live)(void *context, uint32_t window);
    void *context;
};

struct merge_options {
    struct text_segment_info info; /* as for the writer */
    const struct text_norms *norms;
    const char *path; /* NULL: an image in memory */
    /* Called every few blocks, to wait or yield; true gives up, with ERR_CANCELLED. May be NULL. */
    bool (*pause)(void *context);
    void *context;
};

/* inputs from the oldest to the newest, at most TEXT_MERGE_INPUT_COUNT_MAX. */
int text_segment_merge(const struct merge_input *inputs, size_t count,
                       const struct merge_options *options, struct text_segment **merged,
                       struct err *err);

#endif

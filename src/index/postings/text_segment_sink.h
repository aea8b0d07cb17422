/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_segment_sink.h - where a segment's writer puts its bytes: an image in memory, or a file.
 *
 * A stream with one exception: the header, which is known last, goes into the first chunk, so
 * that is held back. Sums of the chunks are made on the way. A file is written under another name,
 * pushed to the disk every few megabytes so that it does not crowd the page cache, and renamed
 * when it is whole and synced. Remembers its first failure.
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_SEGMENT_SINK_H
#define TORG_INDEX_POSTINGS_TEXT_SEGMENT_SINK_H

#include "base/buf.h"
#include "base/err.h"
#include "index/postings/text_segment_format.h"

struct sink {
    char *path;      /* NULL: memory; owned */
    char *temporary; /* owned */
    int fd;
    uint64_t size;      /* bytes put */
    uint64_t pushed;    /* bytes the disk was asked to take */
    struct buf waiting; /* memory: all; file: the chunk at work */
    uint8_t *first;     /* file: the first chunk, once it is full; owned */
    struct buf sums;
    struct err err;
    int failed;
};

/* path NULL: an image in memory. */
void sink_init(struct sink *sink, const char *path);
void sink_release(struct sink *sink); /* removes an unfinished file */

void sink_put(struct sink *sink, struct bytes bytes);
void sink_align(struct sink *sink, size_t alignment); /* puts zeros */

/* Fills in the header, puts the sums and the footer. header: SEGMENT_HEADER_SIZE bytes; its
 * place for SUMS and its own hash are set here. */
int sink_finish(struct sink *sink, uint8_t *header, struct err *err);

/* A second stream beside the first, whose bytes are put behind it at the end: memory, or a file
 * without a name in the same folder. */
struct spill {
    const char *beside; /* NULL: memory; borrowed */
    int fd;
    uint64_t size;
    struct buf waiting;
    struct err err;
    int failed;
};

void spill_init(struct spill *spill, const char *beside);
void spill_release(struct spill *spill);
void spill_put(struct spill *spill, struct bytes bytes);
void spill_move(struct spill *spill, struct sink *sink);

#endif

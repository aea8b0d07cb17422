/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_buffer.h - the newest documents, searchable at once, until they are frozen to a segment (the
 * memtable).
 *
 * Each version of a document takes the next ordinal, and so does a delete. Postings are kept by
 * ordinal, so that lists only grow at their end although ids jump. One thread writes; any number
 * reads. A reader holds a mark, the number of ordinals published when it began, and sees ordinal
 * o iff o < mark and no version below mark has superseded it: old marks stay valid for ever, and
 * nobody waits. Memory is freed with the buffer, after the last reader left.
 *
 * What a document of the buffer hides in segments is the caller's to mask.
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_BUFFER_H
#define TORG_INDEX_POSTINGS_TEXT_BUFFER_H

#include <stdbool.h>

#include "index/postings/text_segment_writer.h"

struct text_buffer;

/* One word of a document, as for text_segment_writer_posting. */
struct buffer_posting {
    uint32_t term;
    uint32_t tfs;
    const struct occurrence *occurrences;
};

struct text_buffer *text_buffer_new(void);
void text_buffer_free(struct text_buffer *buffer);

/* The writer's. Room for one more version? At TEXT_BUFFER_DOC_COUNT_MAX there is none. */
bool text_buffer_full(const struct text_buffer *buffer);
/* A document, or its newer version. No term comes twice. */
void text_buffer_add(struct text_buffer *buffer, docid id,
                     const uint8_t lengths[SEGMENT_FIELD_COUNT],
                     const struct buffer_posting *postings, size_t count);
void text_buffer_delete(struct text_buffer *buffer, docid id);
/* Shows all that was added: the mark for readers that begin now. */
uint32_t text_buffer_publish(struct text_buffer *buffer);

/* The mark of the last publication. */
uint32_t text_buffer_mark(const struct text_buffer *buffer);
size_t text_buffer_size(const struct text_buffer *buffer); /* bytes; the writer's */

/* Is the version with this ordinal the newest below mark, and not a delete? */
bool text_buffer_sees(const struct text_buffer *buffer, uint32_t mark, uint32_t ordinal, docid *id);

/* A walk over a term's postings that the mark sees, by ordinal. */
struct buffer_cursor {
    const struct text_buffer *buffer;
    uint32_t mark;
    uint32_t ordinal;
    docid id; /* of the posting at hand */
    uint32_t tfs;

    const struct buffer_chunk *chunk; /* the rest is private */
    uint32_t at;
    struct bytes packed;
};

void buffer_cursor_init(struct buffer_cursor *cursor, const struct text_buffer *buffer,
                        uint32_t mark, uint32_t term);
bool buffer_cursor_next(struct buffer_cursor *cursor); /* false: no more */
void buffer_cursor_occurrences(const struct buffer_cursor *cursor,
                               struct occurrence out[POSTING_OCCURRENCE_MAX], uint32_t *count);

/* The documents that the mark sees, as a segment, in memory or (path) in a file. Any thread. */
int text_buffer_freeze(const struct text_buffer *buffer, uint32_t mark,
                       const struct text_segment_info *info, const struct text_norms *norms,
                       const char *path, struct text_segment **segment, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - what a reader sees of a shard: text and existence of one moment, attributes as new
 * as they are.
 *
 * The apply thread makes a snapshot for each batch of changes and publishes it by one store. A
 * reader loads it once, inside an epoch (shard_enter), and everything that it points to is valid
 * until it leaves. A document's text lives in exactly one part: a segment, or a buffer. What a
 * part was born with and has lost since is masked by the part's live bits.
 *
 * Attributes are not part of the moment: columns change in place, a document's together
 * (columns.h). Those of a document that is replaced or removed change when the snapshot with its
 * new text is about to be published; a reader that is inside meanwhile is told by shard_moved.
 */
#ifndef TORG_INDEX_SHARD_SNAPSHOT_H
#define TORG_INDEX_SHARD_SNAPSHOT_H

#include "base/object.h"
#include "index/columns/attribute_set.h"
#include "index/columns/columns.h"
#include "index/postings/doc_lengths.h"
#include "index/postings/text_buffer.h"
#include "index/postings/text_norms.h"
#include "index/postings/text_segment.h"
#include "index/schema.h"
#include "index/shard/live.h"
#include "index/text/lexicon.h"

struct snapshot_segment {
    const struct text_segment *segment;
    const struct live
        *live; /* of those that the segment was born with; of others it says nothing */
};

struct snapshot_buffer {
    const struct text_buffer *buffer;
    uint32_t mark;
    const struct live
        *live; /* what newer parts do not hide; versions below mark hide by themselves */
};

enum { SNAPSHOT_MAGIC = OBJECT_MAGIC('s', 'n', 'a', 'p') };

struct snapshot {
    uint32_t magic;
    uint64_t sequence; /* of publication, from 1 */
    uint64_t offset;   /* every message below it is in */
    uint64_t change;   /* so is every change of columns up to this number */

    uint32_t window_count;   /* no living document is in a window from here on */
    uint32_t doc_count;      /* living */
    uint64_t text_doc_count; /* documents of all parts, the masked ones included: N of the scores */
    const struct live *alive;

    const struct schema *schema;
    const struct lexicon *lexicon;
    const struct columns *columns;
    const struct doc_lengths *lengths;
    struct text_lengths text_lengths; /* of all that live ... */
    struct text_norms norms;          /* ... and what follows from their averages */
    const float *bound_averages;      /* that bounds of blocks were made with */

    struct attribute_set *const
        *sets; /* by field id: the value set, buckets or 5 km cells; or NULL */
    uint32_t set_count;

    uint32_t segment_count;
    uint32_t buffer_count;
    const struct snapshot_segment *segments; /* oldest first */
    const struct snapshot_buffer *buffers;   /* oldest first; usually one */
};

#endif

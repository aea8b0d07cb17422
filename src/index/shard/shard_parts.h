/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_parts.h - the insides of a shard, private to shard*.c.
 *
 * A document's text is in one part. A part has a slot, the byte that owners[] keeps for its
 * documents; after a merge several slots name the merged part, until owners were rewritten.
 *
 *   lock       held by the apply thread for one document or one publication, by the background for
 *              one bounded step. Everything below is under it unless it says otherwise.
 *   work       held for one whole piece of background work, so one runs at a time. Taken first.
 *
 * A publication shows whole batches only. What the background changes between two documents of a
 * batch is shown by the next shard_publish; when no batch is open, at once.
 */
#ifndef TORG_INDEX_SHARD_SHARD_PARTS_H
#define TORG_INDEX_SHARD_SHARD_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/condition.h"
#include "base/object.h"
#include "base/task.h"
#include "index/bounds.h"
#include "index/postings/text_norms.h"
#include "index/shard/doc_words.h"
#include "index/shard/gate.h"
#include "index/shard/owners.h"
#include "index/shard/pending.h"
#include "index/shard/recent.h"
#include "index/shard/shard.h"
#include "index/shard/shard_manifest.h"
#include "index/shard/stored.h"

enum { PART_MAGIC = OBJECT_MAGIC('s', 'h', 'p', 't') };

struct part {
    uint32_t magic;
    struct text_buffer *buffer;   /* owned; NULL once it is a segment */
    struct text_segment *segment; /* owned; NULL while it is a buffer */
    struct live_writer *live;     /* owned; of all ids, so only the dead cost memory */
    struct part *successor;       /* the part that a merge is making of it; borrowed */
    uint32_t mark;                /* of a buffer: what the next publication shows */
    uint8_t slot;
    bool is_busy;       /* a piece of work is about it */
    bool has_file;      /* of the segment */
    size_t read_chunks; /* of the file, by shard_read_on; under work */
};

/* What is freed once the next snapshot is out and its readers have left. */
struct leaving {
    epoch_free_fn *free_thing;
    void *thing;
};

/* The fields of the shard's own columns, never shown. */
enum state_field { STATE_EXPIRES, STATE_STORED, STATE_BIRTH, STATE_FIELD_COUNT };

enum { SHARD_MAGIC = OBJECT_MAGIC('s', 'h', 'a', 'r') };

/* A column from outside. */
struct lent_state {
    char name[OUTSIDE_NAME_SIZE_MAX + 1];
    uint16_t field;
    int64_t mark; /* of who lent it */
    char trouble[SHARD_TROUBLE_SIZE];
};

struct shard {
    uint32_t magic;
    struct shard_options options;
    struct epoch *epoch; /* owned, as all here */
    struct schema *schema;
    struct columns *columns;
    struct schema *state_schema;
    struct columns *state; /* enum state_field; changed after the columns of a document */
    struct lexicon *lexicon;
    struct doc_lengths *lengths;
    struct stored *stored;
    struct recent *recent;
    _Atomic uint64_t change_number; /* of the last change of columns that is done */
    _Atomic uint64_t change_begun;  /* ... that has begun: that one, or the next */
    /* For shard_seen. */
    _Atomic uint64_t showing;        /* the offset of the last publication, from when it begins */
    _Atomic uint64_t message_change; /* change_begun when the last message began */
    _Atomic uint64_t applying;       /* behind the last message that has begun ... */
    _Atomic uint64_t applied;        /* ... and that has ended */
    struct gate gate;                /* queries that run once more keep publications out */
    struct text_norms bound_norms;   /* of bounds of blocks, ... */
    float average_lengths[SEGMENT_FIELD_COUNT]; /* ... by these, frozen for the shard */
    struct text_lengths text_lengths; /* of all documents that live and are settled; under lock */
    _Atomic(void *) snapshot;         /* struct snapshot; readers find it without a lock */
    _Atomic bool is_serving;

    pthread_mutex_t turn; /* held while waiting for lock: who comes first gets it first */
    pthread_mutex_t lock;
    struct condition published; /* a snapshot is out, or a piece of work is done */
    pthread_mutex_t work;
    struct epoch_slot *work_slot; /* under work */

    struct task task;        /* the background; not started: shard_work is called by hand */
    struct condition wanted; /* something may be due */
    struct err work_error;   /* of the last piece of work; code 0: none */
    struct err failure;      /* of the last piece that failed */
    uint64_t failure_count;

    struct part *parts[OWNER_COUNT]; /* oldest first; the last one is the buffer that is written */
    uint32_t part_count;
    struct part *slots[OWNER_COUNT]; /* by slot */
    struct owners *owners;
    struct live_writer *alive;
    struct pending *pending; /* documents that are replaced or removed by the next publication */
    int64_t *next_expiry;    /* by window: no document ends before; 0: none has an end */
    uint32_t next_expiry_count;
    struct leaving *leaving;
    size_t leaving_count, leaving_capacity;

    uint64_t sequence; /* of the last publication */
    uint64_t offset;
    uint64_t serve_from;
    uint64_t publish_count; /* calls of shard_publish */
    struct note note;       /* the caller's, of the last publication */
    struct note next_note;  /* of the next one */
    bool has_note;          /* it was set since */
    pthread_t applier;      /* who made the open batch */
    uint32_t window_count;
    bool has_batch; /* something was changed since the last shard_publish */
    struct attribute_set *sets[SCHEMA_FIELD_COUNT_MAX]; /* an entry is set before it is counted */
    uint64_t set_scans[SCHEMA_FIELD_COUNT_MAX]; /* change_count + 1 at the last scan; 0: none */
    uint32_t set_count;
    uint32_t set_next;                                /* behind the last one scanned */
    struct lent_state lent[OUTSIDE_COLUMN_COUNT_MAX]; /* columns from outside */
    uint32_t lent_count;
    uint16_t text_fields[SEGMENT_FIELD_COUNT]; /* field of each slot of text */
    uint32_t text_field_count;

    struct doc_words *words; /* scratch of the apply thread */
    struct buf record;
    struct column_change *changes; /* mapped; of the draft at hand, for each field of a schema */
    const struct shard_value *texts[STORED_VALUE_COUNT_MAX]; /* likewise */
    uint64_t change_count;                                   /* since the start */
    uint64_t segment_number;                                 /* of the last segment made */
    uint64_t generation;                                     /* of the last checkpoint begun */
    uint64_t checkpoint_changes, checkpoint_tried; /* change_count of the last one done, begun */
    int64_t checkpoint_retry_us; /* the last one failed: not before; 0: it did not */
    uint64_t checkpoint_size;    /* bytes of its columns */
    uint64_t dictionary_hash;    /* of stored fields; 0: there is none */
    bool has_tried_dictionary;
    int lock_fd;
    uint64_t tightened_at; /* change_count that windows were narrowed for */
    uint32_t tighten_window;
    uint64_t weighed_at; /* change_count when words were counted last */
    bool has_weighed;
};

/* ---- shard_parts.c ---- */

void shard_lock(struct shard *shard);
void shard_unlock(struct shard *shard);

/* All of these under the lock. */

struct part *part_new(struct shard *shard, struct text_buffer *buffer);
epoch_free_fn part_free;
/* A free slot, or OWNER_NONE. */
uint8_t shard_free_slot(const struct shard *shard);
/* The buffer that is written; a full one gives way to a new one, if there is a slot. */
struct part *shard_buffer(const struct shard *shard);
bool shard_rotate(struct shard *shard);
void shard_leave(struct shard *shard, epoch_free_fn *free_thing, void *thing);
/* The text of a document is nowhere any more (unless its owner is set anew). */
void shard_mask(struct shard *shard, docid id);
/* Makes and stores the next snapshot. */
void shard_show(struct shard *shard);
/* After a change by the background: shows it unless a batch is open. */
void shard_show_work(struct shard *shard);

/* ---- shard_apply.c ---- */

/* Columns, lengths and places of what is pending become those of their documents. */
void shard_settle(struct shard *shard);

/* The slot of text or the set that a field of the schema has. Under the lock. */
int shard_know_field(struct shard *shard, uint16_t id, struct err *err);
void shard_note_expiry(struct shard *shard, docid id, int64_t expires_at);

/* ---- shard_work.c ---- */

bool shard_is_behind(const struct shard *shard); /* under the lock */
/* Waits, or works, until there is room; takes the lock itself. */
int shard_make_room(struct shard *shard, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.h - documents of one shard: applied in order of a topic, searched by snapshots.
 *
 * The caller gives permanent ids and topic offsets; the shard analyses text, keeps columns, sets
 * and stored fields, publishes a snapshot per batch, freezes and merges in the background, and
 * writes checkpoints from which a restart replays. The topic is the only log: the write-ahead log,
 * as it were.
 *
 *   put / change / remove ──> buffer, columns, live ── publish ──> snapshot ──> readers
 *                                  │ full
 *                    background:   └──> image ──> merged image ──> file at a checkpoint
 *
 * Threads: one apply thread calls what is under "apply"; any number of readers, each with its own
 * reader; one background thread of the shard's own (or shard_work, by hand, in tests).
 */
#ifndef TORG_INDEX_SHARD_SHARD_H
#define TORG_INDEX_SHARD_SHARD_H

#include "base/buf.h"
#include "base/clock.h"
#include "index/bounds.h"
#include "index/shard/snapshot.h"

struct shard;
struct shard_reader;

struct shard_options {
    const char *dir;           /* NULL: in memory alone */
    const struct clock *clock; /* NULL: the system's; borrowed */
    uint64_t epoch;
    uint32_t place[4]; /* T, S, V, G */
    /* Average lengths of the text fields that bounds of blocks are made with, frozen for the shard;
     * 0: a usual one. The nearer to what is measured, the tighter. Of a shard that exists they are
     * its own. */
    float average_lengths[SEGMENT_FIELD_COUNT];
    bool background; /* a thread for freezing, merging, sets and checkpoints */
    /* To look at what is there, whatever its epoch and place: nothing is written or changed, and it
     * is served as the checkpoint has it. ERR_NOT_FOUND: there is no shard. */
    bool is_read_only;
    /* Limits for tests; 0: those of index/bounds.h. */
    uint32_t buffer_doc_count_max;
    uint32_t checkpoint_change_count; /* a checkpoint is due after so many changes */
};

/* Opens or makes a shard. ERR_CORRUPT names the damaged file. */
int shard_open(const struct shard_options *options, struct shard **shard, struct err *err);
void shard_close(struct shard *shard); /* no reader inside; writes nothing; NULL is fine */

/* What the checkpoint in a directory would open with, without opening it: shard_offset,
 * shard_serve_from, and the note, which is appended. ERR_NOT_FOUND: there is no shard. */
int shard_peek(const char *dir, uint64_t *offset, uint64_t *serve_from, struct buf *note,
               struct err *err);

/* Where the topic is to be read from. Before shard_offset reaches shard_serve_from (some changes
 * of a fuzzy checkpoint lie ahead of others), readers get ERR_UNAVAILABLE. */
uint64_t shard_offset(const struct shard *shard);
uint64_t shard_serve_from(const struct shard *shard);
const struct clock *shard_clock(const struct shard *shard);   /* of its options */
const struct schema *shard_schema(const struct shard *shard); /* grows; any thread may read it */
unsigned shard_analysis_version(const struct shard *shard);   /* the rules that its words follow */

/* ---- apply ---- */

enum shard_value_kind {
    VALUE_NONE,     /* takes the value away */
    VALUE_TEXT,     /* text and stored fields: bytes */
    VALUE_KEYWORDS, /* keyword, category: one or several */
    VALUE_NUMBER,   /* integer, date, boolean, decimal (scaled): as columns keep it */
    VALUE_GEO,
};

struct shard_value {
    uint16_t field;
    uint8_t kind; /* enum shard_value_kind */
    union {
        struct bytes text;
        struct {
            const struct bytes *names;
            uint32_t count;
        } keywords;
        int64_t number;
        struct {
            int32_t lat, lon; /* 1e-7 degrees */
        } geo;
    };
};

struct shard_document {
    docid id;
    int64_t expires_at;               /* seconds since 1970; 0: never */
    uint32_t birth;                   /* generation that its key got the id in; 0: not known */
    const struct shard_value *values; /* no field twice */
    uint32_t count;
};

/* Grows the schema; a field that is there stays as it is. */
int shard_add_field(struct shard *shard, const struct field *field, uint16_t *id, struct err *err);

/* The document is this and nothing else: new, or in the place of the one with this id. All of it,
 * attributes too, is seen with the next publication, which replaces SHARD_PENDING_COUNT_MAX
 * documents at most (ERR_LIMIT). Changes nothing when it fails. */
int shard_put(struct shard *shard, const struct shard_document *document, struct err *err);
/* Attributes and stored fields only, others stay; no text is touched. Seen at once, unless the
 * document itself waits for its publication. ERR_NOT_FOUND: no such document; ERR_INVALID for a
 * text field. */
int shard_change(struct shard *shard, docid id, const struct shard_value *values, uint32_t count,
                 struct err *err);
/* The same, and attributes that are not among the values are taken away. */
int shard_change_all(struct shard *shard, docid id, const struct shard_value *values,
                     uint32_t count, struct err *err);
/* The time of its end alone. */
int shard_set_expiry(struct shard *shard, docid id, int64_t expires_at, struct err *err);
/* Since when the id is its owner's, alone. */
int shard_set_birth(struct shard *shard, docid id, uint32_t birth, struct err *err);
bool shard_remove(struct shard *shard, docid id); /* false: it was not there */
/* Removes what ends at or before now; returns how many. */
uint32_t shard_expire(struct shard *shard, int64_t now);

/* A message of the topic is applied between the two: so readers can be told which ones they have
 * seen something of before its publication. */
void shard_begin_message(struct shard *shard, uint64_t offset);
void shard_end_message(struct shard *shard, uint64_t offset);
/* It could not be applied, and is begun again later; other changes may come in between. */
void shard_leave_message(struct shard *shard);

/* Shows everything since the last call, as one. offset: of the next message. Waits when the
 * background is behind (SHARD_SEGMENT_COUNT_MAX); ERR_UNAVAILABLE: it is shown, and the background
 * has not come along. */
int shard_publish(struct shard *shard, uint64_t offset, struct err *err);

/* The document's text and stored fields as they were put last, published or not: see shard_stored.
 * Inside an epoch. */
struct stored_value;
int shard_last_stored(const struct shard *shard, docid id, struct buf *buf,
                      struct stored_value *values, uint32_t max, uint32_t *count, struct err *err);

/* A note of the caller, at most SHARD_NOTE_SIZE_MAX bytes: it becomes the shard's with the next
 * shard_publish, and a checkpoint keeps the one that was published with the offset that a replay
 * begins at. So what is read after shard_open tells of exactly what lies below shard_offset. */
void shard_set_note(struct shard *shard, struct bytes note);
void shard_note(struct shard *shard, struct buf *note); /* appends it; any thread */

/* Writes a checkpoint now, from any thread but the background's; durable on return. */
int shard_checkpoint(struct shard *shard, struct err *err);

/* One step of what the background thread does (freeze, merge, set, checkpoint), on the caller's
 * thread: false when nothing was due. For shards without a thread. */
int shard_work(struct shard *shard, bool *did, struct err *err);

/* ---- readers ---- */

/* A thread's own. */
int shard_reader_new(struct shard *shard, struct shard_reader **reader, struct err *err);
void shard_reader_free(struct shard_reader *reader);

/* Not nested; what the snapshot points to is valid until shard_exit. */
int shard_enter(struct shard_reader *reader, const struct snapshot **snapshot, struct err *err);
void shard_exit(struct shard_reader *reader);

/* Whether a change of the document can be seen that the snapshot does not have (or the table of
 * recent changes no longer tells). */
bool shard_changed_since(const struct shard *shard, const struct snapshot *snapshot, docid id);

/* Whether what the reader has read of the document since shard_enter belongs together. */
enum shard_move {
    MOVE_NONE,
    MOVE_CHANGED,  /* attributes or stored fields may be from before and after a change in place */
    MOVE_REPLACED, /* they may be those of another document than the one of the snapshot's text */
};
enum shard_move shard_moved(const struct shard_reader *reader, const struct snapshot *snapshot,
                            docid id);

/* How much of the topic may be in what was read. Attributes change before their publication: a
 * reader of a snapshot may find those of messages behind its offset. */
struct shard_seen {
    uint64_t shown;   /* nothing of messages from here on but changes in place, ... */
    uint64_t applied; /* ... and from here on nothing at all; not below shown */
};
/* Of what the reader has read since shard_enter. */
struct shard_seen shard_seen(const struct shard_reader *reader, const struct snapshot *snapshot);
/* Whether who enters now reads nothing older than that, which this or another replica of the shard
 * has told. Any thread. */
bool shard_has_seen(struct shard *shard, struct shard_seen seen);

/* For a reader that was overtaken: from now on nothing is published until shard_let_go, or for
 * SHARD_HOLD_MS_MAX from when a publication is due. Before shard_enter; waits for a publication
 * that is under way, for SHARD_HOLD_WAIT_MS_MAX and until the deadline (0: none) at most. False: it
 * still is, and there is nothing to let go. */
bool shard_hold(struct shard_reader *reader, int64_t deadline_us);
void shard_let_go(struct shard_reader *reader);

/* Waits until a snapshot has the offset, at most until the deadline. Any thread. */
int shard_wait(struct shard *shard, uint64_t offset, int64_t deadline_us, struct err *err);

/* The document's text and stored fields as they were put, in order of field: inside an epoch. */
struct stored_value {
    uint16_t field;
    struct bytes text; /* in *buf */
};
int shard_stored(const struct snapshot *snapshot, const struct shard *shard, docid id,
                 struct buf *buf, struct stored_value *values, uint32_t max, uint32_t *count,
                 struct err *err);

/* The generation that the document's key got its id in; 0: not known. Inside an epoch. */
uint32_t shard_birth(const struct shard *shard, docid id);

/* ---- columns from outside: any thread ---- */

/* Queries know x.NAME from now on, with these values, in the place of those that it had; NULL:
 * nobody has one. Those that are older than the owner of their number are left out, now and as
 * numbers get other owners. Takes `values` over, success or not. mark: the caller's, to know it
 * again. No checkpoint has it. ERR_LIMIT, ERR_PRECONDITION: as of schema_lend. */
struct outside_column;
int shard_lend(struct shard *shard, const char *name, uint8_t digits, int64_t mark,
               struct outside_column *values, struct err *err);
void shard_take_back(struct shard *shard, const char *name); /* not there is fine */
/* Why it has no values, or not the newest; until it is lent again. */
void shard_blame_lent(struct shard *shard, const char *name, const char *trouble);

enum { SHARD_TROUBLE_SIZE = 256 };
struct shard_lent {
    char name[OUTSIDE_NAME_SIZE_MAX + 1];
    int64_t mark;
    bool has_values;
    char trouble[SHARD_TROUBLE_SIZE]; /* "": none */
};
uint32_t shard_lent(struct shard *shard, struct shard_lent list[OUTSIDE_COLUMN_COUNT_MAX]);

/* ---- looking inside ---- */

/* Reads all that is read only when it is needed, segments and stored fields, and compares it with
 * its checksums: everything else was compared by shard_open. ERR_CORRUPT names the file. */
int shard_check(struct shard *shard, struct err *err);

/* How often work in the background has failed (a full disk, say), and why it did last; code 0:
 * never. The shard serves and takes changes meanwhile, and tries again. */
uint64_t shard_failures(struct shard *shard, struct err *last);

struct shard_sizes {
    uint64_t terms, postings, positions, lengths, live, owner, columns, dictionaries, lists, sets,
        lexicon, buffers, stored_offsets, stored; /* bytes; by structure */
    uint64_t segment_docs; /* ids and lengths in segments, read at the start and by merges */
    uint64_t disk;
    uint32_t segment_count, buffer_count, doc_count;
};
void shard_sizes(struct shard *shard, struct shard_sizes *sizes);

/* Of all content (ids, terms with positions, columns, expiry, stored fields), not of how it is laid
 * out: equal for a replayed, merged and rebuilt shard. The apply thread's. */
int shard_hash(struct shard *shard, uint64_t *hash, struct err *err);

/* Of what one document says: its columns, its end, and `stored`, which is what shard_stored told of
 * it. Inside an epoch. */
uint64_t shard_hash_document(const struct shard *shard, const struct snapshot *snapshot, docid id,
                             const struct stored_value *stored, uint32_t count);

#endif

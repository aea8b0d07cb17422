/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon_parts.h - the insides of a lexicon, private to lexicon*.c.
 *
 * A form is a record, written once, in chunks of bytes that never move; its offset is its name.
 *
 *     record  | size u8 | term << 6 | number u32 | number u16, if it is 63 or more |
 *             | number 0: stem size u8, else: offset of the form before it under the term u32 |
 *             | form | stem, if number is 0 and the stem does not begin the form |
 *
 * A record does not cross the end of a chunk: zeros are left there. Two tables lead to records and
 * to terms; a term whose stem is its first form is found by that form and is in no table. What
 * a table names is complete: it is put there last, with release.
 */
#ifndef TORG_INDEX_TEXT_LEXICON_PARTS_H
#define TORG_INDEX_TEXT_LEXICON_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/endian.h"
#include "base/object.h"
#include "index/bounds.h"
#include "index/text/lexicon.h"

enum {
    BYTE_CHUNK_BITS = 20,
    BYTE_CHUNK_SIZE = 1 << BYTE_CHUNK_BITS,
    BYTE_CHUNK_COUNT = 4096,
    WORD_CHUNK_BITS = 16,
    WORD_CHUNK_SIZE = 1 << WORD_CHUNK_BITS,
    WORD_CHUNK_COUNT = LEXICON_FORM_COUNT_MAX >> WORD_CHUNK_BITS,
    SLOT_PART_BITS = 6,
    SLOT_PART_COUNT = 1 << SLOT_PART_BITS,
    RECORD_FIRST = 8, /* the offset of the first: 0 is none */
    RECORD_NUMBER_BITS = 6,
    RECORD_NUMBER_MANY = (1 << RECORD_NUMBER_BITS) - 1,
    RECORD_STEM_APART = 128,
    SORTED_BLOCK_SIZE = 16,
    RECORD_SIZE_MAX = 1 + 4 + 2 + 4 + 2 * TOKEN_SIZE_MAX,
};

_Static_assert((int)TOKEN_SIZE_MAX < (int)RECORD_STEM_APART, "a stem's size leaves a bit");
_Static_assert(LEXICON_FORM_COUNT_MAX <= 1 << (32 - RECORD_NUMBER_BITS), "a record holds any term");

struct term {
    uint32_t first;        /* form */
    _Atomic uint32_t last; /* newest form */
};

/* What readers may still look at, in the order of its retirement. */
struct retired {
    struct retired *next;
    size_t size; /* bytes it gives back */
};

/* Of the words whose hashes begin with the same bits: a place and, behind all places, a byte of
 * the hash for each slot. A byte of 0: empty. */
struct slots {
    struct retired retired;
    uint32_t size, used;
    _Atomic uint32_t places[];
};

struct slot_table {
    _Atomic(struct slots *) parts[SLOT_PART_COUNT]; /* owned */
};

/* Behind the forms lies a tree over blocks of SORTED_BLOCK_SIZE of them: node i has nodes 2i and
 * 2i + 1 below it, the leaves are the last half, and each tells the least rank under it. Behind the
 * tree lies the level of each form: how many documents had its term when they were counted last, in
 * steps of half as many again.
 *
 *     rank  | LEVEL_MAX - level, 6 bits | term, 26 bits |   the frequent first, then the old
 */
struct sorted {
    struct retired retired;
    uint32_t count;  /* the first so many forms, all of them ... */
    size_t end;      /* ... which are those below this offset */
    bool is_weighed; /* levels are known; else all are 0 */
    uint32_t forms[];
};

enum { LEVEL_MAX = 63, LEVEL_SHIFT = 26 };

_Static_assert(LEXICON_FORM_COUNT_MAX <= 1 << LEVEL_SHIFT, "a rank holds any term");

static inline uint32_t sorted_block_count(uint32_t count)
{
    return (count + SORTED_BLOCK_SIZE - 1) / SORTED_BLOCK_SIZE;
}

static inline size_t sorted_size(uint32_t count)
{
    return sizeof(struct sorted) +
           ((size_t)count + 2 * (size_t)sorted_block_count(count)) * sizeof(uint32_t) + count;
}

struct lexicon_log {
    char *path; /* owned; NULL: in memory alone */
    int fd;
    uint64_t salt;
    unsigned analysis_version; /* 0: in memory alone, the newest */
    _Atomic uint64_t size;     /* written */
    uint64_t durable;          /* synced */
    struct buf pending;        /* entries of the next frame */
    uint32_t first;            /* form of that frame's first entry */
    uint32_t count;            /* of its entries */
    size_t write_from; /* bytes of entries that are worth a frame; more after a failed write */
    bool is_suspect;   /* a sync failed: see lexicon_log.c */
    bool failed;       /* ... and what it was to write is lost */
};

enum { LEXICON_MAGIC = OBJECT_MAGIC('l', 'e', 'x', 'i') };

struct lexicon {
    uint32_t magic;
    struct slot_table form_slots, term_slots;
    _Atomic uint32_t form_count, term_count;
    struct term *terms[WORD_CHUNK_COUNT]; /* owned */
    uint8_t *bytes[BYTE_CHUNK_COUNT];     /* owned, zeros where no record is */
    _Atomic size_t byte_size;             /* records end here */
    _Atomic(struct sorted *) sorted;      /* owned; NULL: nothing is */
    pthread_mutex_t sort_lock;            /* one sorts at a time */
    pthread_mutex_t retired_lock;
    struct retired *retired;   /* owned, under its lock */
    _Atomic size_t table_size; /* bytes of slots and sorted arrays, retired ones too */
    struct lexicon_log log;
};

static inline struct term *term_at(const struct lexicon *lexicon, termid index)
{
    return &lexicon->terms[index >> WORD_CHUNK_BITS][index & (WORD_CHUNK_SIZE - 1)];
}

/* ---- records ---- */

static inline const uint8_t *record_at(const struct lexicon *lexicon, size_t offset)
{
    return lexicon->bytes[offset >> BYTE_CHUNK_BITS] + (offset & (BYTE_CHUNK_SIZE - 1));
}

static inline termid record_term(const uint8_t *record)
{
    return get_le32(record + 1) >> RECORD_NUMBER_BITS;
}

static inline uint16_t record_number(const uint8_t *record)
{
    unsigned number = record[1] & RECORD_NUMBER_MANY;

    return number == RECORD_NUMBER_MANY ? get_le16(record + 5) : (uint16_t)number;
}

/* Where the stem's size or the form before stands. */
static inline const uint8_t *record_middle(const uint8_t *record)
{
    return record + ((record[1] & RECORD_NUMBER_MANY) == RECORD_NUMBER_MANY ? 7 : 5);
}

static inline bool record_is_first(const uint8_t *record)
{
    return (record[1] & RECORD_NUMBER_MANY) == 0;
}

static inline struct bytes record_form(const uint8_t *record)
{
    return bytes_make(record_middle(record) + (record_is_first(record) ? 1 : 4), record[0]);
}

/* Of a term's first form. */
static inline struct bytes record_stem(const uint8_t *record)
{
    unsigned size = *record_middle(record);
    struct bytes form = record_form(record);

    if (size & RECORD_STEM_APART)
        return bytes_make(form.data + form.size, size - RECORD_STEM_APART);
    return bytes_make(form.data, size);
}

static inline uint32_t record_previous(const uint8_t *record)
{
    return record_is_first(record) ? 0 : get_le32(record_middle(record));
}

/* The record at offset, or the first of the next chunk when there is none; end at the end. */
static inline size_t record_settle(const struct lexicon *lexicon, size_t offset, size_t end)
{
    if (offset < end && *record_at(lexicon, offset) == 0)
        offset = (offset | (BYTE_CHUNK_SIZE - 1)) + 1;
    return offset;
}

static inline size_t record_next(const struct lexicon *lexicon, size_t offset, size_t end)
{
    const uint8_t *record = record_at(lexicon, offset);
    struct bytes form = record_form(record);
    size_t size = (size_t)(form.data + form.size - record);

    if (record_is_first(record) && *record_middle(record) & RECORD_STEM_APART)
        size += record_stem(record).size;
    return record_settle(lexicon, offset + size, end);
}

static inline struct bytes form_bytes(const struct lexicon *lexicon, size_t offset)
{
    return record_form(record_at(lexicon, offset));
}

static inline struct bytes term_bytes(const struct lexicon *lexicon, termid term)
{
    return record_stem(record_at(lexicon, term_at(lexicon, term)->first));
}

/* ---- lexicon_slots.c ---- */

enum { PLACE_NONE = UINT32_MAX };

/* Where a search is. */
struct probe {
    const struct slots *slots;
    uint32_t at;
    uint8_t tag;
};

static inline _Atomic uint8_t *slots_tags(const struct slots *slots)
{
    return (_Atomic uint8_t *)(void *)(uintptr_t)(slots->places + slots->size);
}

static inline uint8_t slots_tag(uint64_t hash)
{
    return (uint8_t)hash ? (uint8_t)hash : 1;
}

static inline struct probe slots_probe(const struct slot_table *table, uint64_t hash)
{
    const struct slots *slots =
        atomic_load_explicit(&table->parts[hash >> (64 - SLOT_PART_BITS)], memory_order_acquire);
    uint64_t fraction = (uint32_t)(hash >> (32 - SLOT_PART_BITS));

    return (struct probe){slots, (uint32_t)(fraction * slots->size >> 32), slots_tag(hash)};
}

/* The next place whose word may be the one looked for; PLACE_NONE: it is not there. */
static inline uint32_t slots_next(struct probe *probe)
{
    const struct slots *slots = probe->slots;
    _Atomic uint8_t *tags = slots_tags(slots);

    for (;;) {
        uint32_t at = probe->at;
        uint8_t tag = atomic_load_explicit(&tags[at], memory_order_acquire);

        if (tag == 0)
            return PLACE_NONE;
        probe->at = at + 1 < slots->size ? at + 1 : 0;
        if (tag == probe->tag)
            return atomic_load_explicit(&slots->places[at], memory_order_relaxed);
    }
}

void slot_table_init(struct lexicon *lexicon, struct slot_table *table);
void slot_table_release(struct slot_table *table);
/* Adds a word that is not there: a form by its offset, or a term. */
void slot_table_put(struct lexicon *lexicon, struct slot_table *table, uint64_t hash,
                    uint32_t place);

/* ---- lexicon.c ---- */

void lexicon_retire(struct lexicon *lexicon, struct retired *retired, size_t size);

/* Adds a form that is not there: of the term, or (TERMID_NONE) of a new one with this stem. */
int lexicon_insert(struct lexicon *lexicon, struct bytes form, termid term, struct bytes stem,
                   struct lexicon_entry *entry, struct err *err);

/* ---- lexicon_log.c ---- */

int lexicon_log_open(struct lexicon *lexicon, const char *path, uint64_t durable_size,
                     struct err *err);
void lexicon_log_close(struct lexicon_log *log);

/* Before a form is inserted: whether it can be noted. An error tells why the disk takes nothing. */
int lexicon_log_room(struct lexicon *lexicon, struct err *err);
/* Notes a form just inserted; term as given to lexicon_insert. Nothing durable yet. */
void lexicon_log_add(struct lexicon *lexicon, struct bytes form, termid term, struct bytes stem);
int lexicon_log_sync(struct lexicon *lexicon, struct err *err);

#endif

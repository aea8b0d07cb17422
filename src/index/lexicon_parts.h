/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon_parts.h - the insides of a lexicon, private to lexicon*.c.
 *
 * Forms, terms and their bytes lie in chunks that never move; a slot of a table names one by index
 * and is stored last, with release, so whoever finds it sees all of it.
 *
 *     slot  | 38 high bits of the hash | index + 1 (26 bits) |     0: empty
 *
 * The place of a slot is the hash's top bits, which the slot holds: a table grows without touching
 * the words.
 */
#ifndef TORG_INDEX_LEXICON_PARTS_H
#define TORG_INDEX_LEXICON_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/limits.h"
#include "index/lexicon.h"

enum {
    SLOT_INDEX_BITS = 26,
    BYTE_CHUNK_SIZE = 1 << 20,
    BYTE_CHUNK_COUNT = 4096,
    WORD_CHUNK_BITS = 16,
    WORD_CHUNK_SIZE = 1 << WORD_CHUNK_BITS,
    WORD_CHUNK_COUNT = LEXICON_FORM_COUNT_MAX >> WORD_CHUNK_BITS,
};

struct form {
    uint32_t offset;   /* of its bytes */
    termid term;       /* that it belongs to */
    uint32_t previous; /* form of the same term + 1; 0: none */
    uint16_t number;   /* within the term */
    uint8_t size;
};

struct term {
    uint32_t offset;
    _Atomic uint32_t last;       /* newest form + 1 */
    _Atomic uint16_t form_count; /* of last's number at least */
    uint8_t size;
};

/* What readers may still look at, in the order of its retirement. */
struct retired {
    struct retired *next;
    size_t size; /* bytes it gives back */
};

struct slots {
    struct retired retired;
    unsigned bits;
    size_t used;
    _Atomic uint64_t slot[];
};

struct sorted {
    struct retired retired;
    uint32_t count; /* forms 0 … count-1, all of them */
    uint32_t forms[];
};

struct lexicon_log {
    char *path; /* owned; NULL: in memory alone */
    int fd;
    uint64_t salt;
    _Atomic uint64_t size; /* written */
    uint64_t durable;      /* synced */
    struct buf pending;    /* entries of the next frame */
    uint32_t first;        /* form of that frame's first entry */
    uint32_t count;        /* of its entries */
    bool failed;
};

struct lexicon {
    _Atomic(struct slots *) form_slots, term_slots; /* owned */
    _Atomic uint32_t form_count, term_count;
    struct form *forms[WORD_CHUNK_COUNT]; /* owned */
    struct term *terms[WORD_CHUNK_COUNT];
    uint8_t *bytes[BYTE_CHUNK_COUNT];
    _Atomic size_t byte_size;
    _Atomic(struct sorted *) sorted; /* owned; NULL: nothing is */
    pthread_mutex_t sort_lock;       /* one sorts at a time */
    pthread_mutex_t retired_lock;
    struct retired *retired;   /* owned, under its lock */
    _Atomic size_t table_size; /* bytes of slots and sorted arrays, retired ones too */
    struct lexicon_log log;
};

static inline const struct form *form_at(const struct lexicon *lexicon, uint32_t index)
{
    return &lexicon->forms[index >> WORD_CHUNK_BITS][index & (WORD_CHUNK_SIZE - 1)];
}

static inline struct term *term_at(const struct lexicon *lexicon, termid index)
{
    return &lexicon->terms[index >> WORD_CHUNK_BITS][index & (WORD_CHUNK_SIZE - 1)];
}

static inline struct bytes bytes_at(const struct lexicon *lexicon, uint32_t offset, uint8_t size)
{
    return bytes_make(lexicon->bytes[offset / BYTE_CHUNK_SIZE] + offset % BYTE_CHUNK_SIZE, size);
}

static inline struct bytes form_bytes(const struct lexicon *lexicon, uint32_t index)
{
    const struct form *form = form_at(lexicon, index);

    return bytes_at(lexicon, form->offset, form->size);
}

void lexicon_retire(struct lexicon *lexicon, struct retired *retired, size_t size);

/* Adds a form that is not there: of the term, or (TERMID_NONE) of a new one with this stem. */
int lexicon_insert(struct lexicon *lexicon, struct bytes form, termid term, struct bytes stem,
                   struct lexicon_entry *entry, struct err *err);

/* ---- lexicon_log.c ---- */

int lexicon_log_open(struct lexicon *lexicon, const char *path, uint64_t durable_size,
                     struct err *err);
void lexicon_log_close(struct lexicon_log *log);

/* Notes a form just inserted; term as given to lexicon_insert. Nothing durable yet. */
int lexicon_log_add(struct lexicon *lexicon, struct bytes form, termid term, struct bytes stem,
                    struct err *err);
int lexicon_log_sync(struct lexicon *lexicon, struct err *err);

#endif

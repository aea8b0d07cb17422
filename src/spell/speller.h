/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speller.h - what did the person mean to type?
 *
 * Knows the words of a base (Russian and English dictionaries with frequencies, base.h) and learns
 * words and pairs of words from live titles and values as they come, so that a new brand is a word
 * from its first offer on. A query goes through a noisy channel: for each word, what it may have
 * been meant to be (candidates.h) and how likely such a mistake is; over all words of the query the
 * likeliest reading, by frequencies and pairs (model.h). Below a threshold nothing is changed, and
 * words with digits never are. By example: docs/spelling.md.
 *
 * What was learnt rests in one file, written whole by speller_save, with a note of whoever learns
 * (how far it has read): the one is never without the other. A damaged file is refused, told by the
 * log, and everything is learnt anew.
 *
 * Threads: one writer learns and saves. Any number check meanwhile, without a lock.
 */
#ifndef TORG_SPELL_SPELLER_H
#define TORG_SPELL_SPELLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct speller;

struct speller_options {
    struct bytes base;         /* spell_base() or none; borrowed while opening only */
    const char *snapshot_path; /* copied; NULL: nothing is kept */
    const atomic_bool *stop;   /* ends opening when it becomes true; NULL: nothing does */
};

struct speller_sizes {
    uint32_t word_count; /* with those of the base */
    uint32_t pair_count;
    uint64_t seen_count;    /* words met in live data, each time */
    uint64_t refused_count; /* meetings of words that found no room: SPELL_WORD_COUNT_MAX */
    size_t memory_size;
    bool is_fresh; /* no snapshot was taken over: the live data is to be learnt */
};

enum spell_reason {
    SPELL_KEPT,
    SPELL_TYPO,
    SPELL_LAYOUT,          /* ghbdtn: привет */
    SPELL_TRANSLITERATION, /* velosiped: велосипед */
    SPELL_SPLIT,           /* горныйвелосипед: горный велосипед */
    SPELL_JOIN,            /* вело сипед: велосипед */
};

/* One change. All bytes lie in the arena of the check, or in its text. */
struct spell_change {
    struct bytes original, corrected;
    enum spell_reason reason;
    float confidence; /* 0 … 1: how likely it is right, after what stands before it */
};

struct spell_result {
    struct bytes text; /* corrected, or the text that was asked */
    const struct spell_change *changes;
    size_t change_count; /* 0: nothing is wrong, or nobody can say what */
    float confidence;    /* of the least certain change; 1 without any */
};

/* How many documents a query finds; 0, or a negative err_code that ends the check. */
typedef int spell_hits_fn(void *arg, struct bytes text, uint64_t *count, struct err *err);

/* Opens with the base and with what was saved; takes a second or two. ERR_CANCELLED: stopped. */
int speller_open(const struct speller_options *options, struct speller **speller, struct err *err);
void speller_close(struct speller *speller); /* nobody may be inside; NULL is fine */

/* Takes in the words and pairs of a title or value. ERR_LIMIT: longer than SPELL_LEARN_SIZE_MAX. */
int speller_learn(struct speller *speller, struct bytes text, struct err *err);

/* Live data is counted anew: begin, each text that there is, end. Then words and pairs that were in
 * none are forgotten; those of what is learnt meanwhile are kept. Begun again or dropped, it was
 * nothing. The writer's. */
void speller_recount_begin(struct speller *speller);
int speller_recount(struct speller *speller, struct bytes text, struct err *err);
void speller_recount_end(struct speller *speller);
void speller_recount_drop(struct speller *speller);

/* What was learnt is durable when this returns 0, and the note with it. ERR_PRECONDITION without a
 * snapshot path. */
int speller_save(struct speller *speller, struct bytes note, struct err *err);

/* The note of the snapshot it was opened with; empty when there was none. */
struct bytes speller_note(const struct speller *speller);

/* Whether a dictionary has the word, and people use it: then it was hardly mistyped, though live
 * data does not have it ("pink"). */
bool speller_is_common(struct speller *speller, struct bytes word);

struct speller_sizes speller_sizes(const struct speller *speller);

/* Corrects a query. `hits` may be NULL; else it keeps the check from doing harm: a correction that
 * finds nothing is dropped, so is a doubtful one that finds less than the text as it stands, and
 * where that finds nothing, words are doubted that live data has not. A text that finds nothing
 * either way is corrected word by word: where the new word finds something, and the typed one does
 * not. With hits no word is corrected into one of grammar ("на", "not") or of two letters.
 * ERR_LIMIT: longer than SPELL_TEXT_SIZE_MAX, or too many threads check at once. */
int spell_check(struct speller *speller, struct bytes text, spell_hits_fn *hits, void *arg,
                struct arena *arena, struct spell_result *result, struct err *err);

/* "typo", "layout", …: as the search API says it. */
const char *spell_reason_name(enum spell_reason reason);

#endif

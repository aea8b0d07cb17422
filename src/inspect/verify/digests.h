/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digests.h - what one stage has, summed up by range, so that the next stage is not gone through
 * key by key where its own sums are equal. Of one auditor, who goes through the checks in order:
 *
 *   OFFERS    offers beside rows of their keys ─► row sums ══ registry's rows ─► ranges of hashes
 *   REGISTRY  rows beside their numbers ─► number sums ══ each searcher's sums ─► ranges of numbers
 *   INDEX     only ranges that differ, and those whose contents are in turn
 *
 * A change on its way makes its range differ, which is then looked at: sums spare work, they decide
 * nothing. Contents (what documents say, and not only their versions) are dear to compare: each
 * range is in turn once in AUDITOR_CONTENT_ROUNDS rounds.
 *
 * Threads: the auditor's.
 */
#ifndef TORG_INSPECT_VERIFY_DIGESTS_H
#define TORG_INSPECT_VERIFY_DIGESTS_H

#include <stdbool.h>
#include <stdint.h>

enum digest_due { DUE_NOT, DUE_DIFFERS, DUE_CONTENT };

struct digests {
    uint64_t round;
    /* By range of hashes: what the offers' side saw, less what the registry has. */
    uint64_t *rows;
    bool has_rows;   /* all ranges are summed up, or will be */
    bool takes_rows; /* what the registry has is taken from what offers were seen to have */
    /* By range of numbers, of the registry's living documents. */
    uint64_t *numbers;
    uint32_t number_count, capacity;
    bool has_numbers; /* all of the space and shard are in */
    int64_t space;
    uint32_t shard;
    uint8_t *due; /* enum digest_due, of the check INDEX under way */
    uint32_t due_count;
    /* Of the round. */
    uint64_t looked_count, content_count;
};

void digests_init(struct digests *digests);
void digests_release(struct digests *digests);
void digests_begin_round(struct digests *digests);

/* Whether contents of what has this number are compared in this round. */
bool digests_is_turn(const struct digests *digests, uint64_t number);

/* --- rows of the registry, by their hashes --- */

void digests_begin_rows(struct digests *digests);
/* All offers were seen: what the registry has is to be taken. */
void digests_end_offers(struct digests *digests);
/* The registry was not gone through to its end: nothing is known of any range. */
void digests_drop_rows(struct digests *digests);
void digests_add_row(struct digests *digests, int64_t hash, int64_t version);
void digests_take_row(struct digests *digests, int64_t hash, int64_t version); /* if it is to be */
/* The next range, from the hash on, that is not even; false: there is none. */
bool digests_next_rows(const struct digests *digests, int64_t from, int64_t *first, int64_t *last);

/* --- numbers --- */

void digests_begin_numbers(struct digests *digests, int64_t space, uint32_t shard);
void digests_add_number(struct digests *digests, uint32_t doc_id, int64_t version);
/* Nothing is known of other shards. */
bool digests_have_numbers(const struct digests *digests, int64_t space, uint32_t shard);
/* Which ranges a check goes through: begun with none, then every range by its sum there. */
void digests_begin_due(struct digests *digests);
void digests_compare(struct digests *digests, uint32_t first_id, uint64_t sum);
/* Those that nobody has told are empty there. */
void digests_end_due(struct digests *digests);
/* The next run of ranges of one kind, from the number on; end: behind it. DUE_NOT: there is
 * none. */
enum digest_due digests_next_due(const struct digests *digests, int64_t *from, int64_t *end);

#endif

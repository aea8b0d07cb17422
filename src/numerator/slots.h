/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - which number does a new key get? The one place that decides it, for the live numbers of
 * the store (numerator.h) and for states in files (state.h) alike.
 *
 * Numbers of a shard are handed out in extents of NUMBER_EXTENT_SIZE consecutive ones, each begins
 * a window of the index (index/postings/window.h) and belongs to one placement class; keys without
 * a class have the class "". A new key gets, within its class,
 *
 *     1. the lowest number that is free,          free:  given back, and held long enough
 *     2. the next of the class's last extent,     held:  given back, in order of that
 *     3. the first of a new extent, after all others of the shard,
 *     4. with all extents given, 1 and 2 of any other class: a place is a wish.
 *
 * So without classes the numbers are 0, 1, 2, ... as they come. What was picked or given back is
 * kept until slots_commit or slots_rollback, which leaves everything as it was before. Numbers
 * given back are held from the commit on.
 */
#ifndef TORG_NUMERATOR_SLOTS_H
#define TORG_NUMERATOR_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "numerator/bounds.h"
#include "numerator/numerator.h"

struct slot_class {
    uint8_t name[NUMBER_CLASS_SIZE_MAX];
    uint32_t name_size;
    uint32_t next, end; /* never given, of its last extent; equal: none are left */
    uint32_t *free;     /* owned; a heap, the lowest on top */
    size_t free_count, free_capacity;
};

/* Given back, not yet to be given again. */
struct slot_held {
    uint32_t doc_id;
    uint32_t class_no;
    uint32_t generation; /* the last it belonged to a key in */
    int64_t freed_us;
};

enum slot_step_kind { SLOT_HOLE, SLOT_NEXT, SLOT_EXTENT, SLOT_CLASS };

/* One thing done since the last commit. */
struct slot_step {
    enum slot_step_kind kind;
    uint32_t class_no;
    uint32_t doc_id; /* of an extent its first */
};

struct slots {
    struct number_rules rules;
    uint32_t generation;  /* at the last commit */
    uint32_t next_extent; /* first number of the extent that comes next */
    uint32_t *extents;    /* owned: the class of each */
    size_t extent_capacity;
    struct slot_class *classes; /* owned; the first is "" */
    uint32_t class_count, class_capacity;
    struct slot_held *held; /* owned; from held_first on, in order of generations */
    size_t held_first, held_count, held_capacity;
    struct slot_step *steps; /* owned */
    size_t step_count, step_capacity;
    size_t staged_count; /* at the end of held: given back since the last commit */
};

void slots_init(struct slots *slots, const struct number_rules *rules);
void slots_release(struct slots *slots);

/* The number of the class; makes it. When there are NUMBER_CLASS_COUNT_MAX it is that of "": a
 * place is a wish, and an endless row of classes would tear the numbers apart. */
uint32_t slots_class(struct slots *slots, struct bytes place);
struct bytes slots_class_name(const struct slots *slots, uint32_t class_no);

/* Picks for a key that is born in the generation after the last committed one, or later. A class
 * for which there is no extent any more takes of the others: *class_no is whose number it is.
 * ERR_LIMIT: the shard has no numbers left. */
int slots_pick(struct slots *slots, uint32_t *class_no, int64_t now_us, uint32_t *doc_id,
               struct err *err);
/* The number's key is gone for good, the last generation it was there in is told. */
void slots_give_back(struct slots *slots, uint32_t doc_id, uint32_t class_no, uint32_t generation,
                     int64_t now_us);
void slots_commit(struct slots *slots, uint32_t generation);
void slots_rollback(struct slots *slots);

/* Filling an empty one from what was kept: extents in order without a gap, then what is free; then
 * slots_restored. `used` numbers of the extent have been given. */
void slots_restore_extent(struct slots *slots, struct bytes place, uint32_t first, uint32_t used);
void slots_restore_free(struct slots *slots, struct bytes place, uint32_t doc_id,
                        uint32_t generation, int64_t freed_us);
void slots_restored(struct slots *slots, uint32_t generation);

/* How many numbers of the extent were given (at < next_extent / NUMBER_EXTENT_SIZE), and whose they
 * are. */
uint32_t slots_extent(const struct slots *slots, uint32_t at, uint32_t *class_no);
/* One above the highest number that was ever given. */
uint32_t slots_size(const struct slots *slots);
/* Those below it that are not free and not held. */
uint32_t slots_owned(const struct slots *slots);

#endif

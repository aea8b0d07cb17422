/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - numbers of a whole collection, of all its shards, in memory and as a file.
 *
 * A state goes on by runs: a run has all keys that are there now. Known ones keep their numbers;
 * one that was not seen for the time to live gives its number back; new ones get numbers as slots.h
 * decides, of one new generation. When the holes have become too many, or by force, the keys of the
 * run are all numbered anew (V + 1).
 *
 * The file (state_file.c) is written whole and then renamed; a torn or damaged one is refused.
 * Threads: one at a time.
 */
#ifndef TORG_NUMERATOR_STATE_H
#define TORG_NUMERATOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "numerator/numerator.h"

struct number_state;

struct number_entry {
    struct bytes key;   /* borrowed: until the state changes */
    struct bytes place; /* class */
    uint32_t shard;
    uint32_t doc_id;
    uint32_t birth; /* generation that the key got the number in */
    uint32_t seen;  /* the last generation it was there in */
};

/* Without keys; a shard_count of 1 to NUMBER_SHARD_COUNT_MAX. Of rules, times are for live numbers
 * alone. */
struct number_state *number_state_new(const struct number_version *version, uint32_t shard_count,
                                      const struct number_rules *rules);
void number_state_free(struct number_state *state); /* NULL is fine */

struct number_version number_state_version(const struct number_state *state);
uint32_t number_state_shard_count(const struct number_state *state);
uint64_t number_state_key_count(const struct number_state *state);
/* Numbers of a shard that were ever given: data by position is as long. */
uint32_t number_state_shard_size(const struct number_state *state, uint32_t shard);
/* In order of shards and numbers; at < number_state_key_count. */
struct number_entry number_state_entry(const struct number_state *state, uint64_t at);
bool number_state_find(const struct number_state *state, struct bytes key,
                       struct number_entry *entry);

struct number_present { /* a key that is there */
    struct bytes key;
    struct bytes place; /* class; of a new key */
    double rank;        /* of a rebuild by rank: the greatest comes first */
    uint32_t shard;     /* answered */
    uint32_t doc_id;    /* answered */
    uint32_t birth;     /* answered */
};

struct number_run_options {
    bool is_rebuild_forced;
    double hole_share_max; /* rebuilds when more of a shard's numbers belong to nobody; 0: never */
    bool by_rank;          /* a rebuild orders by rank; else known keys stay in order, then new */
};

struct number_run {
    bool is_rebuilt;
    uint64_t kept_count; /* known keys that were there */
    uint64_t new_count;
    uint64_t reused_count;  /* of the new ones: with a number that had belonged to another key */
    uint64_t expired_count; /* keys that lost their numbers */
};

/* A failure leaves the state of no use but to free it. Keys may repeat; the first counts. */
int number_state_run(struct number_state *state, struct number_present *keys, uint64_t count,
                     const struct number_run_options *options, struct number_run *run,
                     struct err *err);

/* --- files --- */

int number_state_write(const struct number_state *state, const char *path, struct err *err);
/* ERR_CORRUPT, naming the file and the place, when it is damaged. */
int number_state_read(const char *path, struct number_state **state, struct err *err);
/* The same from memory. */
int number_state_decode(struct bytes file, struct number_state **state, struct err *err);
/* The version alone; only the head is looked at. */
int number_state_read_version(const char *path, struct number_version *version, struct err *err);

/* Which of several stored states to read data of a version with: of those it fits the one with the
 * least generation, since the fewest numbers have had new owners in it. -1: it fits none. */
int number_state_pick(const struct number_version *states, uint32_t count,
                      const struct number_version *data);

/* Live numbers of one shard of a space (numerator.h) as a state, on one snapshot: it has all
 * shards, and keys of this one. */
int number_state_export(struct store *store, int64_t space, uint32_t shard, uint32_t shard_count,
                        const struct number_rules *rules, struct number_state **state,
                        struct err *err);

#endif

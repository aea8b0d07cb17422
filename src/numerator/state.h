/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - numbers of a whole collection, of all its shards, in memory and as a file.
 *
 * A state goes on by runs: a run has all keys that are there now. Known ones keep their numbers;
 * one that was not seen for the time to live gives its number back; new ones get numbers as slots.h
 * decides, of one new generation. When the holes have become too many, or by force, the keys of the
 * run are all numbered anew (V + 1). Keys of a run come bit by bit and may be gone after the call:
 * memory is bounded by what the state has and gets, not by how long the input is.
 *
 *     number_run_begin ── number_run_see … ── number_run_end: the state is the next one
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
#include "numerator/passage.h"
#include "numerator/scheme.h"

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
/* Names what came to have these numbers: two states of one T.S.V.G may have gone their own ways,
 * and then differ in it. A run of a batch has another with each generation (batch.h), live numbers
 * have one for all of theirs (number_rows.h). 0: of a time without it. */
uint32_t number_state_lineage(const struct number_state *state);
void number_state_set_lineage(struct number_state *state, uint32_t lineage);
uint32_t number_state_shard_count(const struct number_state *state);
uint64_t number_state_key_count(const struct number_state *state);
/* Numbers of a shard that were ever given: data by position is as long. */
uint32_t number_state_shard_size(const struct number_state *state, uint32_t shard);
/* In order of shards and numbers; at < number_state_key_count. */
struct number_entry number_state_entry(const struct number_state *state, uint64_t at);
bool number_state_find(struct number_state *state, struct bytes key, struct number_entry *entry);
/* Time to live and hold, in generations, from the next run on. */
void number_state_set_rules(struct number_state *state, const struct number_rules *rules);
struct number_rules number_state_rules(const struct number_state *state);

struct number_present { /* a key that is there */
    struct bytes key;
    struct bytes place; /* class; of a new key */
    struct bytes shop;  /* of schemes that spread by shop */
    double rank;        /* of a rebuild by rank: the greatest comes first */
    uint32_t shard;     /* answered by number_state_run */
    uint32_t doc_id;    /* likewise */
    uint32_t birth;     /* likewise */
};

struct number_run_options {
    bool is_rebuild_forced;
    uint32_t rebuild_floor; /* V of a rebuild is above it, and above the state's */
    double hole_share_max;  /* rebuilds when more of a shard's numbers belong to nobody; 0: never */
    bool by_rank;           /* a rebuild orders by rank; else known keys stay in order, then new */
    uint32_t scheme; /* S of the state to be; 0 or the state's own: as it is. Else a rebuild */
    const struct number_shops *shops; /* borrowed until the run's end; NULL: none are told */
};

struct number_run {
    bool is_rebuilt;
    uint64_t kept_count; /* known keys that were there */
    uint64_t new_count;
    uint64_t reused_count;  /* of the new ones: with a number that had belonged to another key */
    uint64_t expired_count; /* keys that lost their numbers */
};

enum number_change { NUMBER_IS_NEW, NUMBER_EXPIRED };

/* The entry is borrowed for the call; of an expired key it tells the number that it had. */
typedef int number_change_fn(void *arg, enum number_change change, const struct number_entry *entry,
                             struct err *err);

struct number_runner;

/* The state and the options are borrowed until the end. After a failure of a call the state is of
 * no use but to free it. ERR_INVALID: there is no such scheme. */
int number_run_begin(struct number_state *state, const struct number_run_options *options,
                     struct number_runner **runner, struct err *err);
/* Keys may repeat; the first counts. */
int number_run_see(struct number_runner *runner, const struct number_present *keys, uint64_t count,
                   struct err *err);
/* Tells each change; told may be NULL. */
int number_run_end(struct number_runner *runner, number_change_fn *told, void *arg,
                   struct number_run *run, struct err *err);
/* The same figures of one shard, after the end. */
struct number_run number_run_shard(const struct number_runner *runner, uint32_t shard);
void number_run_free(struct number_runner *runner); /* NULL is fine */

/* A run whose keys are all at hand; each is answered. */
int number_state_run(struct number_state *state, struct number_present *keys, uint64_t count,
                     const struct number_run_options *options, struct number_run *run,
                     struct err *err);

/* --- files --- */

int number_state_write(const struct number_state *state, const char *path, struct err *err);
/* ERR_CORRUPT, naming the file and the place, when it is damaged. */
int number_state_read(const char *path, struct number_state **state, struct err *err);
/* The same of a file or of "blob:NAME" (passage.h). */
int number_state_load(const char *name, struct blob *blob, struct number_state **state,
                      struct err *err);
void number_state_put(const struct number_state *state, struct outlet *out);
/* The same from memory. */
int number_state_decode(struct bytes file, struct number_state **state, struct err *err);
/* The version alone; only the head is looked at. */
int number_state_load_version(const char *name, struct blob *blob, struct number_version *version,
                              struct err *err);

/* Which of several stored states to read data of a version with: of those it fits the one with the
 * least generation, since the fewest numbers have had new owners in it. -1: it fits none. */
int number_state_pick(const struct number_version *states, uint32_t count,
                      const struct number_version *data);

/* Live numbers of one shard of a space (numerator.h) as a state, on one snapshot: it has all
 * shards, and keys of this one. */
int number_state_export(struct store *store, int64_t space, uint32_t shard, uint32_t shard_count,
                        const struct number_rules *rules, struct number_state **state,
                        struct err *err);

/* The other way, inside a transaction: a state of all shards becomes the live numbers of a space
 * that has given none. Its keys are gone until their documents come, within their time to live.
 * ERR_PRECONDITION: numbers were given, or T or S is another. */
int number_state_import(struct store_tx *tx, int64_t space, uint32_t shard_count,
                        const struct number_state *state, int64_t now_us, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - one run of the numerator over tables: torg numerator run.
 *
 *     input state ──┐                          ┌──> new docs      key, shard_id, doc_id, birth
 *     offers ───────┼── keys are seen, row by ─┼──> expired docs  key, shard_id, doc_id, seen
 *     shops ────────┘   row, then numbered     └──> output state  last of all: it is the commit
 *
 * Tables are as in table.h, files as in passage.h. A key is up to four columns of the offers. What
 * fails or is killed leaves the output state as it was; to run it again gives the same.
 * Each generation has a lineage of its own, so that runs that go on from one state in two ways are
 * told apart. Memory: the state and its new keys. Threads: one at a time.
 */
#ifndef TORG_NUMERATOR_BATCH_H
#define TORG_NUMERATOR_BATCH_H

#include "numerator/state.h"

struct number_batch {
    struct blob *blob;       /* that blob:NAME means; NULL: none */
    const char *input_state; /* NULL: the first run */
    const char *input_offers;
    const char *input_shops; /* columns shop_id, shard_id; NULL: none */
    const char *new_docs;    /* NULL: not wanted; likewise the next */
    const char *expired_docs;
    const char *output_state;
    const char *key_columns;  /* "a,b,c"; NULL: the document's own names, or pk */
    const char *shop_column;  /* of schemes by shop; NULL: shop_id */
    const char *class_column; /* NULL: no placement classes */
    const char *rank_column;  /* of a rebuild; NULL: not by rank */
    uint32_t kind;            /* T of a first state; of another it is checked unless 0 */
    uint32_t scheme;          /* 0: as the state has it, 1 shard in a first one */
    int64_t ttl, hold;        /* generations; -1: as the state has it */
    double hole_share_max;
    bool is_rebuild_forced;
    uint32_t rebuild_floor; /* V of a rebuild is above it */
    bool keeps_tables;      /* docs wait in the result for number_batch_put_tables */
    /* Told now and then while offers are read; NULL is fine. */
    void (*progress)(void *arg, uint64_t read_size, uint64_t total_size, uint64_t row_count);
    void *arg;
};

struct number_batch_result {
    struct number_version before, after;
    uint64_t row_count;
    struct number_run run;
    struct number_state *state;                 /* the new one */
    struct number_runner *runner;               /* for number_run_shard */
    struct docs_table *new_docs, *expired_docs; /* drafts, of keeps_tables */
};

enum { NUMBER_TTL_DEFAULT = 10, NUMBER_HOLD_DEFAULT = 0 };

/* The result is to be released in every case. */
int number_batch_run(const struct number_batch *batch, struct number_batch_result *result,
                     struct err *err);
/* Tables that were kept get their names; without it nothing of them is left. */
int number_batch_put_tables(struct number_batch_result *result, struct err *err);
void number_batch_release(struct number_batch_result *result);

/* A table of all keys of a state: key columns, shard_id, doc_id, birth, seen. names: of the key's
 * parts, as key_columns; NULL: as of key_columns_name. */
int number_state_tabulate(const struct number_state *state, const char *names, const char *table,
                          struct blob *blob, struct err *err);

#endif

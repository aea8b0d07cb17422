/* SPDX-License-Identifier: Apache-2.0 */
/*
 * master.h - a batch of a numbering that masters of several data centres make in turn.
 *
 *     ask ──> copy the last state to the own store ──> run ──> publish
 *
 * Whoever published last must hand its state on: a copy that cannot be had, or is not what was
 * published, ends the master, and the numbering goes on when it is there again, or when an operator
 * says that it is void (is_last_void): then the state before it is numbered anew under a V of its
 * own, so that data made on the void one fits nothing.
 *
 * Each step may be the last before a freeze or a kill: what is published is whole, and what is not
 * is void (handover.h). Threads: a master belongs to one.
 */
#ifndef TORG_NUMERATOR_MASTER_H
#define TORG_NUMERATOR_MASTER_H

#include "numerator/batch.h"
#include "numerator/handover.h"

/* The store of another cluster, to read from; closed by blob_close unless is_borrowed. */
typedef int master_reach_fn(void *arg, const char *cluster, struct blob **blob, bool *is_borrowed,
                            struct err *err);

struct master_options {
    struct coord *coord; /* borrowed, as all of these */
    const struct clock *clock;
    const char *numbering;
    const char *cluster;
    int64_t limit_us;
    bool is_last_void;
    struct blob *store; /* own */
    master_reach_fn *reach;
    void *arg;
    struct number_batch batch; /* states and the blob store are the master's matter */
};

struct master {
    const struct master_options *options;
    struct handover granted;
    int64_t asked_us; /* monotonic, before the asking */
    char input[NUMBER_PLACE_SIZE_MAX + 8], output[NUMBER_PLACE_SIZE_MAX + 8]; /* blob:NAME */
    struct handed_state made;
};

/* ERR_EXISTS: another is at it; ask again. Nothing is to be released. */
int master_ask(struct master *master, const struct master_options *options, struct err *err);
int master_copy(struct master *master, struct err *err);
/* The result is to be released in every case. Its tables are drafts: they get their names by
 * number_batch_put_tables when the state is published, as those of a void state would be taken for
 * true. */
int master_run(struct master *master, struct number_batch_result *result, struct err *err);
/* ERR_PRECONDITION: refused, and what was made is removed. */
int master_publish(struct master *master, struct err *err);
/* After a failure of copy or run: the next may ask at once. */
void master_give_up(struct master *master);

#endif

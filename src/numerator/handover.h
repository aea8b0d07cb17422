/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - which state of a numbering is the last consistent one, and who may make the next:
 * one register of the coordinator (coord.h), for masters in several data centres.
 *
 *     free ── ask: ticket + 1 ──> held by a master ── publish: the state is the last one ──> free
 *                                      │ └── give up: the last one stays ──────────────────> free
 *                                      └── its time is over ── ask of another: ticket + 1 ──> held
 *
 * Every change is a compare and set. A state is published for the newest ticket alone, while its
 * holder has it and within its time limit; so states follow one another in a row, each made of the
 * one before it, however long anybody is frozen, and whatever clocks say. Times tell only when a
 * holder is given up. Threads: those of coord.h.
 */
#ifndef TORG_NUMERATOR_HANDOVER_H
#define TORG_NUMERATOR_HANDOVER_H

#include "coord/coord.h"
#include "numerator/bounds.h"
#include "numerator/numerator.h"

#define NUMBER_CLUSTER_CHARACTERS                                                                  \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

struct handed_state {
    uint64_t ticket; /* that it was made under; 0: there is none */
    struct number_version version;
    char cluster[NUMBER_CLUSTER_SIZE_MAX + 1]; /* whose store it is in */
    char name[NUMBER_PLACE_SIZE_MAX + 1];      /* of the blob in it */
};

struct handover {
    uint64_t ticket;                          /* the newest that was given */
    char holder[NUMBER_CLUSTER_SIZE_MAX + 1]; /* "": nobody */
    uint64_t nonce;                           /* of the holder's asking */
    int64_t taken_us;                         /* wall time of the holder */
    int64_t limit_us;
    struct handed_state last;
    struct handed_state previous; /* kept until there is another: the last may be void */
};

/* Names of numberings and clusters are as coord's. Never asked for: all zero. */
int handover_look(struct coord *coord, const char *numbering, struct handover *now,
                  struct err *err);
/* *granted: the holder is `cluster`, with the newest ticket. ERR_EXISTS: another has it, the text
 * tells who and for how long. limit_us: how long the holder may take. */
int handover_ask(struct coord *coord, const struct clock *clock, const char *numbering,
                 const char *cluster, int64_t limit_us, struct handover *granted, struct err *err);
/* ERR_PRECONDITION: the ticket is not the newest, or its time is over: the state is void.
 * ERR_UNAVAILABLE: not known; handover_look tells. is_last_void: the one before is forgotten. */
int handover_publish(struct coord *coord, const struct clock *clock, const char *numbering,
                     const struct handed_state *made, bool is_last_void, struct err *err);
/* The next may ask at once. Another ticket's is left alone. */
int handover_give_up(struct coord *coord, const char *numbering, uint64_t ticket, struct err *err);

#endif

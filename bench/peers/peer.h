/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line protocol of bench core (docs/core-bench.md) for engines that C can call: reads commands
 * from standard input, times queries, paces changes on a thread of their own, writes the answers.
 */
#ifndef TORG_BENCH_PEERS_PEER_H
#define TORG_BENCH_PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { PEER_WORD_COUNT_MAX = 32, PEER_HIT_COUNT_MAX = 100, PEER_FACET_COUNT_MAX = 5 };

/* A command: words parted by tabs, most of them name=value. */
struct ask {
    char *words[PEER_WORD_COUNT_MAX];
    size_t count;
};

/* "" when it is not there. */
const char *ask_get(const struct ask *ask, const char *name);
uint64_t ask_number(const struct ask *ask, const char *name, uint64_t otherwise);

/* A listing, as it stands in a line. */
enum {
    PART_ID,
    PART_TITLE,
    PART_TEXT,
    PART_CATEGORY,
    PART_BRAND,
    PART_CITY,
    PART_SELLER,
    PART_PRICE,
    PART_DATE,
    PART_CONDITION,
    PART_DELIVERY,
    PART_LAT,
    PART_LON,
    PART_COUNT,
};

struct answer {
    bool has_total;
    uint64_t total;
    uint64_t ids[PEER_HIT_COUNT_MAX];
    double keys[PEER_HIT_COUNT_MAX];
    size_t count;
};

/* Ends the program when there is no room: a query asks for no more. */
void answer_add(struct answer *answer, uint64_t id, double key);

enum change_kind { CHANGE_PRICE, CHANGE_WHOLE, CHANGE_RANK };

/* All end the program with a message when they fail: a benchmark has nothing better to do. */
struct peer_ops {
    const char *name;
    /* Makes the index; returns how many segments it has, 0 when that means nothing. */
    uint32_t (*index)(const char *dir, const char *corpus, uint64_t limit);
    void (*open)(const char *dir);
    void (*query)(const struct ask *ask, struct answer *answer); /* what is timed */
    void (*put_facets)(struct buf *out);                         /* of the last query */
    /* On the thread of changes; commit after each batch. */
    void (*change_begin)(void);
    void (*change)(enum change_kind kind, const char *const *parts, uint64_t number);
    void (*change_commit)(void);
    void (*change_end)(void);
    void (*close)(void);
    /* name=value, tabs between: whatever it can tell of itself; NULL: nothing */
    void (*put_sizes)(struct buf *out);
};

int peer_main(const struct peer_ops *ops);

_Noreturn void peer_die(const char *what, const char *why);
uint64_t peer_now_ns(void);

/* Calls each line's parts, at most limit lines; returns their number. */
uint64_t peer_read(const char *path, uint64_t limit,
                   void (*take)(const char *const *parts, void *context), void *context);

#endif

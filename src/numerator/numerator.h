/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numerator.h - which permanent number has this document? Numbers of one shard, given as keys come.
 *
 * A key gets a number once and keeps it until it has been gone for its time to live; then the
 * number is held for as many generations as prepared data may still be in use, and given to a new
 * key, the lowest first. Every number knows the generation its present owner was born in, so that
 * data made before that is not taken for the new owner's.
 *
 *   keys of a batch ── numbers_give ──> rows of number_slot (durable with the caller's transaction)
 *                                  └──> (doc_id, birth) of each key, before any message uses them
 *
 * With a placement class a key gets a number within the class's extents of NUMBER_EXTENT_SIZE
 * consecutive ones, so that neighbours in the index are alike; holes are refilled within the class.
 *
 * What is kept in memory is what is free (slots.h), and keys with their numbers, as they are
 * learnt (numbers_known.c). Each change is counted in the store, and every call compares: a
 * transaction that is run again begins anew by itself, and what does not follow the store any more
 * (a commit whose answer was lost, another owner) is refused until numbers_reload. Threads: a
 * struct numbers belongs to one, the owner of the shard.
 */
#ifndef TORG_NUMERATOR_NUMERATOR_H
#define TORG_NUMERATOR_NUMERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "store/store.h"

/* T.S.V.G: data made on a version fits a state when T, S, V are equal and its G is not greater. */
struct number_version {
    uint32_t kind;       /* T: the collection */
    uint32_t scheme;     /* S: how keys are spread over shards */
    uint32_t rebuild;    /* V: all were numbered anew */
    uint32_t generation; /* G: grows when numbers are added */
};

/* The numbers of a collection, spread and counted in one way: T.S.V, with a state and generations
 * of its own. An epoch of a client's index names one. */
struct numbering {
    int64_t space;    /* whose rows of sql/0008 */
    uint32_t kind;    /* T */
    uint32_t scheme;  /* S: so many shards, by the hash of the key */
    uint32_t rebuild; /* V */
};

/* Why data of one version does not fit a state; NULL when it does. */
const char *number_version_misfit(const struct number_version *state,
                                  const struct number_version *data);

/* Where a key is: everyone who needs to know asks here. The hash is as in sql/0007: shards are
 * ranges of it. */
int64_t number_key_hash(struct bytes key);
uint32_t number_key_shard(int64_t hash, uint32_t shard_count);
/* First hash of a shard, and the last. */
void number_shard_range(uint32_t shard, uint32_t shard_count, int64_t *first, int64_t *last);

/* A tuple of up to four parts as one key (business, offer, shop, warehouse); a plain pk is itself.
 */
enum { NUMBER_KEY_PART_MAX = 4 };
int number_key_join(const struct bytes *parts, uint32_t count, struct bytes *key,
                    struct arena *arena, struct err *err);
/* The same, appended to out. ERR_INVALID: it is empty, or too long for out. */
int number_key_put(const struct bytes *parts, uint32_t count, struct buf *out, struct err *err);
/* The parts again, borrowed from the key; how many. 0: it is no key that was joined. */
uint32_t number_key_split(struct bytes key, struct bytes parts[NUMBER_KEY_PART_MAX]);

struct number_rules {
    uint32_t ttl_generations;  /* a gone key keeps its number for so many, and ... */
    int64_t ttl_us;            /* ... for this long */
    uint32_t hold_generations; /* then nobody gets it for so many, and ... */
    int64_t hold_us;           /* ... for this long */
};

struct numbers;

/* Reads what is free; writes nothing. ERR_PRECONDITION: the rows of the shard are of another T.S.V.
 * On failure *numbers is NULL. */
int numbers_open(struct store *store, const struct numbering *numbering, uint32_t shard,
                 const struct number_rules *rules, struct numbers **numbers, struct err *err);
void numbers_close(struct numbers *numbers); /* NULL is fine */
/* Reads it again; no transaction may be under way. */
int numbers_reload(struct numbers *numbers, struct err *err);

struct number_ask {
    struct bytes key;
    struct bytes place; /* placement class; empty: none */
    uint32_t doc_id;    /* answered */
    uint32_t birth;     /* answered */
    bool is_new;        /* answered: it had none before the call */
    bool is_gone;       /* answered by a look: its time to live runs; give it again */
    const char *lack;   /* answered by numbers_give: why there is none for it; else NULL */
};

/* Inside the caller's transaction, which checks the fence: gives each key its number, new ones
 * where it has none; a gone key comes back to its own. Keys may repeat. All new ones are of one new
 * generation. With fewer numbers than keys the first get theirs; the others have NUMBER_NONE and a
 * lack, whose text lives until the next call. When the transaction has ended, numbers_settle.
 * ERR_PRECONDITION: numbers_reload. */
int numbers_give(struct numbers *numbers, struct store_tx *tx, struct number_ask *asks,
                 uint32_t count, int64_t now_us, struct err *err);
/* Looks only; doc_id NUMBER_NONE: it has none. A gone key still has its own. */
#define NUMBER_NONE UINT32_MAX
int numbers_find(struct store_tx *tx, int64_t space, uint32_t shard, struct number_ask *asks,
                 uint32_t count, struct err *err);
/* The same, by the owner: keys that it knows are found in memory, and it learns some more. Not
 * within a transaction that changes numbers. */
int numbers_find_known(struct numbers *numbers, struct store_tx *tx, struct number_ask *asks,
                       uint32_t count, struct err *err);
struct numbers_known {
    uint64_t key_count; /* known in memory */
    size_t size;        /* bytes of it */
    bool is_all;        /* no key of the shard is missing */
};
struct numbers_known numbers_known(const struct numbers *numbers);
/* The keys' documents are deleted: their time to live begins. Unknown keys are passed. */
int numbers_leave(struct numbers *numbers, struct store_tx *tx, const struct bytes *keys,
                  uint32_t count, int64_t now_us, struct err *err);
/* Takes the numbers of keys past their time to live off them, at most max; *count: how many. */
int numbers_sweep(struct numbers *numbers, struct store_tx *tx, int64_t now_us, uint32_t max,
                  uint32_t *count, struct err *err);
/* After the transaction: as committed, or as if it had not been. When it is not known whether it
 * was committed, false; the next call then finds out and asks for numbers_reload. */
void numbers_settle(struct numbers *numbers, bool is_committed);

/* Of the last settled state. */
struct number_version numbers_version(const struct numbers *numbers);

#endif

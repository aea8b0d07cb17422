/* SPDX-License-Identifier: Apache-2.0 */
/* state_parts.h - what the files of a state share: the state's insides. */
#ifndef TORG_NUMERATOR_STATE_PARTS_H
#define TORG_NUMERATOR_STATE_PARTS_H

#include "base/buf.h"
#include "base/object.h"
#include "numerator/slots.h"
#include "numerator/state.h"

struct state_key {
    uint64_t at; /* of the key's bytes */
    uint32_t size;
    uint32_t shard;
    uint32_t class_no; /* of the shard's slots */
    uint32_t doc_id;
    uint32_t birth;
    uint32_t seen;
};

enum { NUMBER_STATE_MAGIC = OBJECT_MAGIC('n', 's', 't', 'a') };

struct number_state {
    uint32_t magic;
    struct number_version version;
    uint32_t lineage;
    struct number_rules rules;
    uint32_t shard_count;
    struct slots *shards;   /* owned */
    struct state_key *keys; /* owned; in order of shards and numbers between runs */
    uint64_t key_count, key_capacity;
    struct buf bytes; /* of keys */
    /* Owned; NULL: made when it is asked for. By hash: its upper half | 1 + place in keys; 0:
     * nobody. */
    uint64_t *table;
    uint64_t table_mask;
};

/* Without a look whether it is there; state_note makes it be found. */
void state_add(struct number_state *state, struct bytes key, const struct state_key *parts,
               uint32_t shard_count); /* of the scheme that the shard is of */
/* By shards and numbers, as of strcmp. */
int state_place_order(const struct state_key *a, const struct state_key *b);
/* Puts keys in order, if they are not. ERR_CORRUPT: a number has two keys. */
int state_sort(struct number_state *state, struct err *err);
/* Makes the table, with room for so many more. ERR_CORRUPT: a key is there twice. */
int state_index(struct number_state *state, uint64_t more, struct err *err);
/* The key added last, of this hash, is found from now on; the table grows when it has to. */
void state_note(struct number_state *state, uint64_t hash);
struct bytes state_key_bytes(const struct number_state *state, const struct state_key *key);
struct number_entry state_entry(const struct number_state *state, const struct state_key *key);
/* NULL: it is not there. The hash is hash64 of the key. */
struct state_key *state_key_find(const struct number_state *state, struct bytes key, uint64_t hash);
/* Fetches into the caches what finding these keys will read: many misses under way at a time. */
enum { STATE_WARM_COUNT = 32 };
void state_warm(const struct number_state *state, const uint64_t *hashes, uint32_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* state_parts.h - what state.c, state_file.c and state_export.c share: the state's insides. */
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
    struct number_rules rules;
    uint32_t shard_count;
    struct slots *shards;   /* owned */
    struct state_key *keys; /* owned; in order of shards and numbers between runs */
    uint64_t key_count, key_capacity;
    struct buf bytes; /* of keys */
    uint32_t *table;  /* owned: 1 + place in keys, by hash; 0: nobody */
    uint64_t table_mask;
};

/* Without a look whether it is there; state_index or state_note makes it be found. */
void state_add(struct number_state *state, struct bytes key, const struct state_key *parts);
/* Sorts, and makes the table, with room for so many more. ERR_CORRUPT: a key is there twice, or a
 * number has two keys. */
int state_index(struct number_state *state, uint64_t more, struct err *err);
/* The key added last is found from now on; within the room of state_index. */
void state_note(struct number_state *state);
struct bytes state_key_bytes(const struct number_state *state, const struct state_key *key);
/* NULL: it is not there. */
struct state_key *state_key_find(const struct number_state *state, struct bytes key);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - see state.h. */
#include "numerator/state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "numerator/bounds.h"
#include "numerator/state_parts.h"

struct number_state *number_state_new(const struct number_version *version, uint32_t shard_count,
                                      const struct number_rules *rules)
{
    struct number_state *state = mem_zero(sizeof(*state));

    object_begin(state, NUMBER_STATE_MAGIC);
    assert(shard_count > 0 && shard_count <= NUMBER_SHARD_COUNT_MAX);
    state->version = *version;
    state->rules = *rules;
    state->rules.ttl_us = state->rules.hold_us = 0;
    state->shard_count = shard_count;
    buf_init(&state->bytes, SIZE_MAX);
    state->shards = mem_array(shard_count, sizeof(*state->shards));
    for (uint32_t i = 0; i < shard_count; i++)
        slots_init(&state->shards[i], &state->rules);
    return state;
}

void number_state_free(struct number_state *state)
{
    if (!state)
        return;
    object_check(state, NUMBER_STATE_MAGIC);
    for (uint32_t i = 0; i < state->shard_count; i++)
        slots_release(&state->shards[i]);
    free(state->shards);
    free(state->keys);
    free(state->table);
    buf_release(&state->bytes);
    object_end(state, NUMBER_STATE_MAGIC);
    free(state);
}

/* --- keys --- */

struct bytes state_key_bytes(const struct number_state *state, const struct state_key *key)
{
    object_check(state, NUMBER_STATE_MAGIC);
    assert(key->at + key->size <= state->bytes.size);
    return bytes_make(state->bytes.data + key->at, key->size);
}

void state_add(struct number_state *state, struct bytes key, const struct state_key *parts,
               uint32_t shard_count)
{
    struct state_key *added;

    object_check(state, NUMBER_STATE_MAGIC);
    state->keys =
        mem_grow(state->keys, state->key_count + 1, sizeof(*state->keys), &state->key_capacity);
    added = &state->keys[state->key_count++];
    *added = *parts;
    added->at = state->bytes.size;
    added->size = (uint32_t)key.size;
    assert(added->shard < shard_count && key.size <= NUMBER_KEY_SIZE_MAX);
    buf_put(&state->bytes, key);
    assert(!buf_failed(&state->bytes));
}

static uint64_t entry_make(uint64_t hash, uint64_t place)
{
    assert(place > 0 && place <= UINT32_MAX);
    return (hash >> 32 << 32) | place;
}

static bool has_tag(uint64_t entry, uint64_t hash)
{
    return (entry ^ hash) >> 32 == 0;
}

static struct state_key *entry_key(const struct number_state *state, uint64_t entry)
{
    return &state->keys[(uint32_t)entry - 1];
}

/* The key's entry of the table, or the empty one where it belongs. */
static uint64_t *table_entry(const struct number_state *state, struct bytes key, uint64_t hash)
{
    assert(state->table);
    for (uint64_t at = hash;; at++) {
        uint64_t *entry = &state->table[at & state->table_mask];

        if (*entry == 0)
            return entry;
        if (has_tag(*entry, hash) &&
            bytes_equal(state_key_bytes(state, entry_key(state, *entry)), key))
            return entry;
    }
}

struct state_key *state_key_find(const struct number_state *state, struct bytes key, uint64_t hash)
{
    uint64_t entry = *table_entry(state, key, hash);

    object_check(state, NUMBER_STATE_MAGIC);
    return entry > 0 ? entry_key(state, entry) : NULL;
}

void state_warm(const struct number_state *state, const uint64_t *hashes, uint32_t count)
{
    uint64_t entries[STATE_WARM_COUNT];

    assert(count <= STATE_WARM_COUNT && state->table);
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&state->table[hashes[i] & state->table_mask]);
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = state->table[hashes[i] & state->table_mask];
        if (entries[i] > 0)
            __builtin_prefetch(entry_key(state, entries[i]));
    }
    for (uint32_t i = 0; i < count; i++)
        if (entries[i] > 0 && has_tag(entries[i], hashes[i]))
            __builtin_prefetch(state->bytes.data + entry_key(state, entries[i])->at);
}

int state_place_order(const struct state_key *a, const struct state_key *b)
{
    if (a->shard != b->shard)
        return a->shard < b->shard ? -1 : 1;
    return (a->doc_id > b->doc_id) - (a->doc_id < b->doc_id);
}

static int compare_place(const void *left, const void *right)
{
    return state_place_order(left, right);
}

int state_sort(struct number_state *state, struct err *err)
{
    uint64_t i = 1;

    object_check(state, NUMBER_STATE_MAGIC);
    while (i < state->key_count && state_place_order(&state->keys[i - 1], &state->keys[i]) < 0)
        i++;
    if (i >= state->key_count)
        return 0;
    qsort(state->keys, state->key_count, sizeof(*state->keys), compare_place);
    for (i = 1; i < state->key_count; i++)
        if (state_place_order(&state->keys[i - 1], &state->keys[i]) == 0)
            return err_set(err, ERR_CORRUPT, "number %u of shard %u belongs to two keys",
                           state->keys[i].doc_id, state->keys[i].shard);
    return 0;
}

/* Some keys from `first` on into the table. */
static int index_some(struct number_state *state, uint64_t first, uint32_t count, struct err *err)
{
    uint64_t hashes[STATE_WARM_COUNT];

    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = hash64(state_key_bytes(state, &state->keys[first + i]));
        __builtin_prefetch(&state->table[hashes[i] & state->table_mask], 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct state_key *key = &state->keys[first + i];
        uint64_t *entry = table_entry(state, state_key_bytes(state, key), hashes[i]);

        if (*entry > 0)
            return err_set(err, ERR_CORRUPT, "a key is there twice, as the numbers %u and %u",
                           entry_key(state, *entry)->doc_id, key->doc_id);
        *entry = entry_make(hashes[i], first + i + 1);
    }
    return 0;
}

int state_index(struct number_state *state, uint64_t more, struct err *err)
{
    uint64_t size = 2;
    int rc = 0;

    object_check(state, NUMBER_STATE_MAGIC);
    while (size < 2 * (state->key_count + more))
        size *= 2;
    free(state->table);
    state->table = mem_array(size, sizeof(*state->table));
    state->table_mask = size - 1;
    assert(2 * state->key_count <= size && (size & (size - 1)) == 0);
    for (uint64_t i = 0; rc == 0 && i < state->key_count; i += STATE_WARM_COUNT) {
        uint64_t left = state->key_count - i;

        rc = index_some(state, i, left < STATE_WARM_COUNT ? (uint32_t)left : STATE_WARM_COUNT, err);
    }
    return rc;
}

void state_note(struct number_state *state, uint64_t hash)
{
    struct bytes key = state_key_bytes(state, &state->keys[state->key_count - 1]);
    uint64_t *entry;
    struct err err;

    object_check(state, NUMBER_STATE_MAGIC);
    if (3 * state->key_count > 2 * (state->table_mask + 1)) {
        int rc = state_index(state, state->key_count, &err);

        assert(rc == 0); /* no key was there twice before */
        return;
    }
    entry = table_entry(state, key, hash);
    assert(*entry == 0);
    *entry = entry_make(hash, state->key_count);
}

/* --- looking --- */

struct number_version number_state_version(const struct number_state *state)
{
    object_check(state, NUMBER_STATE_MAGIC);
    return state->version;
}

uint32_t number_state_lineage(const struct number_state *state)
{
    object_check(state, NUMBER_STATE_MAGIC);
    return state->lineage;
}

void number_state_set_lineage(struct number_state *state, uint32_t lineage)
{
    object_check(state, NUMBER_STATE_MAGIC);
    state->lineage = lineage;
}

uint32_t number_state_shard_count(const struct number_state *state)
{
    object_check(state, NUMBER_STATE_MAGIC);
    return state->shard_count;
}

void number_state_set_rules(struct number_state *state, const struct number_rules *rules)
{
    object_check(state, NUMBER_STATE_MAGIC);
    state->rules = *rules;
    state->rules.ttl_us = state->rules.hold_us = 0;
    for (uint32_t i = 0; i < state->shard_count; i++)
        state->shards[i].rules = state->rules;
}

struct number_rules number_state_rules(const struct number_state *state)
{
    object_check(state, NUMBER_STATE_MAGIC);
    return state->rules;
}

uint64_t number_state_key_count(const struct number_state *state)
{
    object_check(state, NUMBER_STATE_MAGIC);
    return state->key_count;
}

uint32_t number_state_shard_size(const struct number_state *state, uint32_t shard)
{
    object_check(state, NUMBER_STATE_MAGIC);
    assert(shard < state->shard_count);
    return slots_size(&state->shards[shard]);
}

struct number_entry state_entry(const struct number_state *state, const struct state_key *key)
{
    return (struct number_entry){
        .key = state_key_bytes(state, key),
        .place = slots_class_name(&state->shards[key->shard], key->class_no),
        .shard = key->shard,
        .doc_id = key->doc_id,
        .birth = key->birth,
        .seen = key->seen,
    };
}

struct number_entry number_state_entry(const struct number_state *state, uint64_t at)
{
    object_check(state, NUMBER_STATE_MAGIC);
    assert(at < state->key_count);
    return state_entry(state, &state->keys[at]);
}

bool number_state_find(struct number_state *state, struct bytes key, struct number_entry *entry)
{
    const struct state_key *found;
    struct err err;

    object_check(state, NUMBER_STATE_MAGIC);
    if (!state->table && state_index(state, 0, &err))
        abort(); /* whoever made the state has looked */
    found = state_key_find(state, key, hash64(key));
    if (found)
        *entry = state_entry(state, found);
    return found != NULL;
}

int number_state_pick(const struct number_version *states, uint32_t count,
                      const struct number_version *data)
{
    int best = -1;

    for (uint32_t i = 0; i < count; i++)
        if (!number_version_misfit(&states[i], data) &&
            (best < 0 || states[i].generation < states[best].generation))
            best = (int)i;
    return best;
}

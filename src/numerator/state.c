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
    state->table = mem_array(1, sizeof(*state->table));
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

void state_add(struct number_state *state, struct bytes key, const struct state_key *parts)
{
    struct state_key *added;

    object_check(state, NUMBER_STATE_MAGIC);
    state->keys =
        mem_grow(state->keys, state->key_count + 1, sizeof(*state->keys), &state->key_capacity);
    added = &state->keys[state->key_count++];
    *added = *parts;
    added->at = state->bytes.size;
    added->size = (uint32_t)key.size;
    assert(added->shard < state->shard_count && key.size <= NUMBER_KEY_SIZE_MAX);
    buf_put(&state->bytes, key);
    assert(!buf_failed(&state->bytes));
}

/* The key's entry of the table, or the empty one where it belongs. */
static uint32_t *table_entry(const struct number_state *state, struct bytes key)
{
    for (uint64_t at = hash64(key);; at++) {
        uint32_t *entry = &state->table[at & state->table_mask];

        if (*entry == 0 || bytes_equal(state_key_bytes(state, &state->keys[*entry - 1]), key))
            return entry;
    }
}

struct state_key *state_key_find(const struct number_state *state, struct bytes key)
{
    uint32_t place = *table_entry(state, key);

    object_check(state, NUMBER_STATE_MAGIC);
    return place > 0 ? &state->keys[place - 1] : NULL;
}

static int compare_place(const void *left, const void *right)
{
    const struct state_key *a = left, *b = right;

    if (a->shard != b->shard)
        return a->shard < b->shard ? -1 : 1;
    return (a->doc_id > b->doc_id) - (a->doc_id < b->doc_id);
}

int state_index(struct number_state *state, uint64_t more, struct err *err)
{
    uint64_t size = 2;

    object_check(state, NUMBER_STATE_MAGIC);
    if (state->key_count > 1)
        qsort(state->keys, state->key_count, sizeof(*state->keys), compare_place);
    while (size < 2 * (state->key_count + more))
        size *= 2;
    free(state->table);
    state->table = mem_array(size, sizeof(*state->table));
    assert(2 * state->key_count <= size && (size & (size - 1)) == 0);
    state->table_mask = size - 1;
    for (uint64_t i = 0; i < state->key_count; i++) {
        uint32_t *entry = table_entry(state, state_key_bytes(state, &state->keys[i]));

        if (*entry > 0)
            return err_set(err, ERR_CORRUPT, "a key is there twice, as the numbers %u and %u",
                           state->keys[*entry - 1].doc_id, state->keys[i].doc_id);
        if (i > 0 && compare_place(&state->keys[i - 1], &state->keys[i]) == 0)
            return err_set(err, ERR_CORRUPT, "number %u of shard %u belongs to two keys",
                           state->keys[i].doc_id, state->keys[i].shard);
        *entry = (uint32_t)(i + 1);
    }
    return 0;
}

void state_note(struct number_state *state)
{
    struct bytes key = state_key_bytes(state, &state->keys[state->key_count - 1]);
    uint32_t *entry = table_entry(state, key);

    object_check(state, NUMBER_STATE_MAGIC);
    assert(*entry == 0 && 2 * state->key_count <= state->table_mask + 1);
    *entry = (uint32_t)state->key_count;
}

/* --- looking --- */

struct number_version number_state_version(const struct number_state *state)
{
    object_check(state, NUMBER_STATE_MAGIC);
    return state->version;
}

uint32_t number_state_shard_count(const struct number_state *state)
{
    object_check(state, NUMBER_STATE_MAGIC);
    return state->shard_count;
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

static struct number_entry entry_of(const struct number_state *state, const struct state_key *key)
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
    return entry_of(state, &state->keys[at]);
}

bool number_state_find(const struct number_state *state, struct bytes key,
                       struct number_entry *entry)
{
    const struct state_key *found = state_key_find(state, key);

    object_check(state, NUMBER_STATE_MAGIC);
    if (found)
        *entry = entry_of(state, found);
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

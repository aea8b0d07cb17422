/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_import.c - a state of a batch becomes the live numbers of a space: see state.h.
 *
 * All rows of all shards are written by one transaction, in which a shard that has given numbers
 * already is refused by the primary key of its space. An owner that has nothing of it in memory yet
 * finds another change_no at its next call, and reads it anew (numerator.h).
 */
#include <assert.h>
#include <inttypes.h>

#include "numerator/bounds.h"
#include "numerator/number_rows.h"
#include "numerator/state_parts.h"

struct import {
    const struct number_state *state;
    int64_t space;
    int64_t now_us;
};

static int check_state(const struct import *import, uint32_t shard_count, struct err *err)
{
    const struct number_state *state = import->state;

    if (state->version.kind != import->space)
        return err_set(err, ERR_PRECONDITION,
                       "the state's type is %" PRIu32 ", the client's is %" PRId64
                       ": number it with --type %" PRId64,
                       state->version.kind, import->space, import->space);
    if (number_scheme_is_by_shop(state->version.scheme) || state->shard_count != shard_count)
        return err_set(err, ERR_PRECONDITION,
                       "the state's sharding scheme is %" PRIu32 ", the client has %" PRIu32
                       " shards by key: number it with --output-sharding-scheme %" PRIu32,
                       state->version.scheme, shard_count, shard_count);
    return 0;
}

static int check_unused(struct store_tx *tx, const struct number_place *place, struct err *err)
{
    struct space_row row;
    int rc = space_row_find(tx, place, &row, err);

    if (rc == 0 && row.change_no > 0)
        rc = err_set(err, ERR_PRECONDITION,
                     "numbers were given in shard %" PRIu32
                     " already: a state is taken in before the first",
                     place->shard);
    return rc;
}

static int add_free(struct store_tx *tx, const struct number_place *place, uint32_t doc_id,
                    struct bytes class, uint32_t generation, int64_t now_us, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO number_free (space, shard, doc_id, class, generation, freed_us) "
                      "VALUES ($1, $2, $3, $4, $5, $6)",
                      STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                 STORE_V_INT(doc_id), STORE_V_TEXT(class), STORE_V_INT(generation),
                                 STORE_V_INT(now_us)),
                      NULL, err);
}

/* Extents, and what is free or held. */
static int add_slots(struct store_tx *tx, const struct import *import,
                     const struct number_place *place, struct err *err)
{
    const struct slots *slots = &import->state->shards[place->shard];
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < slots->next_extent / NUMBER_EXTENT_SIZE; i++) {
        uint32_t class_no, used = slots_extent(slots, i, &class_no);

        rc = extent_row_save(tx, place, i * NUMBER_EXTENT_SIZE, slots_class_name(slots, class_no),
                             i * NUMBER_EXTENT_SIZE + used, err);
    }
    for (uint32_t i = 0; rc == 0 && i < slots->class_count; i++)
        for (size_t j = 0; rc == 0 && j < slots->classes[i].free_count; j++)
            rc = add_free(tx, place, slots->classes[i].free[j], slots_class_name(slots, i), 0,
                          import->now_us, err);
    for (size_t i = slots->held_first; rc == 0 && i < slots->held_count; i++)
        rc = add_free(tx, place, slots->held[i].doc_id,
                      slots_class_name(slots, slots->held[i].class_no), slots->held[i].generation,
                      import->now_us, err);
    return rc;
}

/* Gone, until its document comes: it has its time to live for that. */
static int add_key(struct store_tx *tx, const struct import *import,
                   const struct number_entry *entry, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO number_slot (space, shard, key, doc_id, class, "
                      "birth_generation, seen_generation, gone_us) "
                      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                      STORE_WITH(STORE_V_INT(import->space), STORE_V_INT(entry->shard),
                                 STORE_V_BLOB(entry->key), STORE_V_INT(entry->doc_id),
                                 STORE_V_TEXT(entry->place), STORE_V_INT(entry->birth),
                                 STORE_V_INT(entry->seen), STORE_V_INT(import->now_us)),
                      NULL, err);
}

static int add_all(struct store_tx *tx, const struct import *import, struct err *err)
{
    const struct number_state *state = import->state;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < state->shard_count; i++) {
        const struct number_place place = {import->space, i};

        rc = check_unused(tx, &place, err);
        if (rc == 0)
            rc = space_row_add(tx, &place,
                               &(struct space_row){.version = state->version,
                                                   .change_no = 1,
                                                   .origin_lineage = state->lineage,
                                                   .origin_generation = state->version.generation},
                               err);
        if (rc == 0)
            rc = add_slots(tx, import, &place, err);
    }
    for (uint64_t i = 0; rc == 0 && i < state->key_count; i++) {
        struct number_entry entry = state_entry(state, &state->keys[i]);

        rc = add_key(tx, import, &entry, err);
    }
    return rc;
}

int number_state_import(struct store_tx *tx, int64_t space, uint32_t shard_count,
                        const struct number_state *state, int64_t now_us, struct err *err)
{
    struct import import = {state, space, now_us};
    int rc = check_state(&import, shard_count, err);

    assert(now_us > 0);
    return rc ? rc : add_all(tx, &import, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* state_run.c - a state's next run: see state.h. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "numerator/bounds.h"
#include "numerator/state_parts.h"

struct running {
    struct number_state *state;
    struct number_present *present;
    uint64_t count;
    const struct number_run_options *options;
    struct number_run *run;
    uint32_t generation; /* that the run makes, or goes on with */
};

#define SEEN_NOW UINT32_MAX /* until the generation is known */

static int check_key(const struct number_present *present, struct err *err)
{
    if (present->key.size == 0 || present->key.size > NUMBER_KEY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a key of %zu bytes: expected 1 to %d", present->key.size,
                       NUMBER_KEY_SIZE_MAX);
    if (present->place.size > NUMBER_CLASS_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a placement class of %zu bytes: the limit is %d",
                       present->place.size, NUMBER_CLASS_SIZE_MAX);
    return 0;
}

/* Marks the known ones; *unknown_count is at least the number of the others. */
static int see_known(struct running *running, uint64_t *unknown_count, struct err *err)
{
    struct number_state *state = running->state;

    *unknown_count = 0;
    for (uint64_t i = 0; i < running->count; i++) {
        struct number_present *present = &running->present[i];
        struct state_key *known;
        int rc = check_key(present, err);

        if (rc)
            return rc;
        present->shard = number_key_shard(number_key_hash(present->key), state->shard_count);
        known = state_key_find(state, present->key);
        if (!known)
            ++*unknown_count;
        else if (known->seen != SEEN_NOW)
            running->run->kept_count++;
        if (known)
            known->seen = SEEN_NOW;
    }
    if (state->key_count + *unknown_count > NUMBER_STATE_KEY_MAX)
        return err_set(err, ERR_LIMIT, "a state of more than %d keys", NUMBER_STATE_KEY_MAX);
    return 0;
}

static void settle_seen(struct running *running)
{
    for (uint64_t i = 0; i < running->state->key_count; i++)
        if (running->state->keys[i].seen == SEEN_NOW)
            running->state->keys[i].seen = running->generation;
}

static void commit_shards(struct running *running, uint32_t generation)
{
    for (uint32_t i = 0; i < running->state->shard_count; i++)
        slots_commit(&running->state->shards[i], generation);
}

/* Takes keys off that were not seen for longer than the time to live: what the generation before
 * has left. */
static void expire(struct running *running)
{
    struct number_state *state = running->state;
    uint32_t before = state->version.generation;
    uint64_t kept = 0;

    for (uint64_t i = 0; i < state->key_count; i++) {
        const struct state_key *key = &state->keys[i];

        if ((uint64_t)key->seen + state->rules.ttl_generations >= running->generation) {
            state->keys[kept++] = *key;
            continue;
        }
        slots_give_back(&state->shards[key->shard], key->doc_id, key->class_no, before, 0);
        running->run->expired_count++;
    }
    assert(kept + running->run->expired_count >= state->key_count && kept <= state->key_count);
    state->key_count = kept;
    commit_shards(running, before);
}

static int add_new(struct running *running, struct err *err)
{
    struct number_state *state = running->state;

    for (uint64_t i = 0; i < running->count; i++) {
        const struct number_present *present = &running->present[i];
        struct slots *slots = &state->shards[present->shard];
        struct state_key key = {
            .shard = present->shard, .birth = running->generation, .seen = running->generation};
        int rc;

        if (state_key_find(state, present->key))
            continue;
        key.class_no = slots_class(slots, present->place);
        rc = slots_pick(slots, &key.class_no, 0, &key.doc_id, err);
        if (rc)
            return err_wrap(err, "shard %" PRIu32, present->shard);
        running->run->reused_count += slots->steps[slots->step_count - 1].kind == SLOT_HOLE;
        running->run->new_count++;
        state_add(state, present->key, &key);
        state_note(state);
    }
    commit_shards(running, running->generation);
    return 0;
}

/* --- numbering anew --- */

static bool has_too_many_holes(const struct running *running)
{
    const struct number_state *state = running->state;
    uint64_t *counts;
    bool is_so = false;

    if (running->options->hole_share_max <= 0)
        return false;
    counts = mem_array(state->shard_count, sizeof(*counts));
    for (uint64_t i = 0; i < state->key_count; i++)
        counts[state->keys[i].shard]++;
    for (uint32_t i = 0; i < state->shard_count; i++) {
        double size = slots_size(&state->shards[i]);

        is_so = is_so || size - (double)counts[i] > running->options->hole_share_max * size;
    }
    free(counts);
    return is_so;
}

struct ranked {
    struct state_key key;
    double rank;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->key.shard != b->key.shard)
        return a->key.shard < b->key.shard ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return (a->key.doc_id > b->key.doc_id) - (a->key.doc_id < b->key.doc_id);
}

/* The keys of the run, in the order they are to have. */
static struct ranked *rank_present(const struct running *running, uint64_t *count)
{
    const struct number_state *state = running->state;
    struct ranked *ranked = mem_array(state->key_count + 1, sizeof(*ranked));
    uint64_t kept = 0;

    for (uint64_t i = 0; i < state->key_count; i++)
        ranked[i].key = state->keys[i];
    for (uint64_t i = running->count; running->options->by_rank && i-- > 0;) {
        const struct number_present *present = &running->present[i];

        ranked[state_key_find(state, present->key) - state->keys].rank = present->rank;
    }
    for (uint64_t i = 0; i < state->key_count; i++)
        if (ranked[i].key.seen == running->generation)
            ranked[kept++] = ranked[i];
    if (kept > 1)
        qsort(ranked, kept, sizeof(*ranked), compare_ranked);
    *count = kept;
    return ranked;
}

static int rebuild(struct running *running, struct err *err)
{
    struct number_state *state = running->state;
    struct number_state *made =
        number_state_new(&state->version, state->shard_count, &state->rules);
    struct number_state left;
    uint64_t count;
    struct ranked *ranked = rank_present(running, &count);
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        struct state_key key = ranked[i].key;
        struct bytes place = slots_class_name(&state->shards[key.shard], key.class_no);

        key.class_no = slots_class(&made->shards[key.shard], place);
        key.birth = running->generation;
        rc = slots_pick(&made->shards[key.shard], &key.class_no, 0, &key.doc_id, err);
        state_add(made, state_key_bytes(state, &ranked[i].key), &key);
    }
    running->run->expired_count += state->key_count - count;
    assert(!running->run->is_rebuilt && count <= state->key_count);
    running->run->is_rebuilt = true;
    made->version.rebuild++;
    left = *state;
    *state = *made;
    *made = left;
    number_state_free(made);
    free(ranked);
    commit_shards(running, running->generation);
    return rc;
}

static void answer(struct running *running)
{
    for (uint64_t i = 0; i < running->count; i++) {
        struct number_present *present = &running->present[i];
        const struct state_key *key = state_key_find(running->state, present->key);

        assert(key);
        present->doc_id = key->doc_id;
        present->birth = key->birth;
    }
}

int number_state_run(struct number_state *state, struct number_present *keys, uint64_t count,
                     const struct number_run_options *options, struct number_run *run,
                     struct err *err)
{
    struct running running = {state, keys, count, options, run, state->version.generation};
    uint64_t unknown_count;
    bool is_next; /* generation: what was seen in it was seen in this run */
    int rc;

    object_check(state, NUMBER_STATE_MAGIC);
    *run = (struct number_run){0};
    if (running.generation >= SEEN_NOW - 1)
        return err_set(err, ERR_LIMIT, "all %u generations are used up", running.generation);
    rc = see_known(&running, &unknown_count, err);
    if (rc)
        return rc;
    is_next = unknown_count > 0 || options->is_rebuild_forced;
    running.generation += is_next;
    settle_seen(&running);
    if (is_next) {
        expire(&running);
        rc = state_index(state, unknown_count, err);
        if (rc == 0)
            rc = add_new(&running, err);
        state->version.generation = running.generation;
    }
    if (rc == 0)
        rc = state_index(state, 0, err);
    if (rc == 0 && is_next && (options->is_rebuild_forced || has_too_many_holes(&running))) {
        rc = rebuild(&running, err);
        if (rc == 0)
            rc = state_index(state, 0, err);
    }
    if (rc == 0)
        answer(&running);
    return rc;
}

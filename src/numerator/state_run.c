/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_run.c - a state's next run: see state.h.
 *
 * While keys come, the state's array is
 *
 *     0 … known_count        keys of the run before, in order of shards and numbers; none moves
 *     known_count …          new ones as they came: without a number, their class is one of `names`
 *
 * so that what is noted beside a key (rank, shard to move to) is found by its place. The end gives
 * numbers, then puts all in order.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "numerator/bounds.h"
#include "numerator/state_parts.h"

enum { NUMBER_RUNNER_MAGIC = OBJECT_MAGIC('n', 'r', 'u', 'n') };

struct number_runner {
    uint32_t magic;
    struct number_state *state;               /* borrowed */
    const struct number_run_options *options; /* borrowed */
    uint32_t scheme, shard_count;             /* of the state to be */
    bool is_rebuild;                          /* from the beginning on */
    bool is_moving;                           /* then every key's shard is asked for anew */
    uint64_t known_count;
    struct slots names; /* classes of new keys; nothing else of it is used */
    double *ranks;      /* owned: by place in keys; NULL without by_rank */
    size_t rank_capacity;
    uint32_t *moved; /* owned: shards to be, by place in keys; NULL when nobody moves */
    size_t moved_capacity;
    struct number_run *runs; /* owned: of each shard, of the old scheme or the new */
    uint32_t run_count;
    uint32_t generation; /* that the run makes, or goes on with; from the end on */
    number_change_fn *told;
    void *arg;
};

#define SEEN_NOW UINT32_MAX /* until the generation is known */

int number_run_begin(struct number_state *state, const struct number_run_options *options,
                     struct number_runner **made, struct err *err)
{
    const struct number_rules rules = {0};
    bool is_other = options->scheme > 0 && options->scheme != state->version.scheme;
    uint32_t shard_count =
        is_other ? number_scheme_shard_count(options->scheme) : state->shard_count;
    struct number_runner *runner;

    object_check(state, NUMBER_STATE_MAGIC);
    *made = NULL;
    if (shard_count == 0)
        return err_set(err, ERR_INVALID,
                       "there is no sharding scheme %" PRIu32 ": expected 1 to %d (by key), or "
                       "%d to %d (by shop)",
                       options->scheme, NUMBER_SHARD_COUNT_MAX, NUMBER_SCHEME_BY_SHOP + 1,
                       NUMBER_SCHEME_BY_SHOP + NUMBER_SHARD_COUNT_MAX);
    if (state->version.generation >= SEEN_NOW - 1)
        return err_set(err, ERR_LIMIT, "all %" PRIu32 " generations are used up",
                       state->version.generation);
    if (!state->table) {
        int rc = state_index(state, 0, err);

        if (rc)
            return rc;
    }
    *made = runner = mem_zero(sizeof(*runner));
    object_begin(runner, NUMBER_RUNNER_MAGIC);
    runner->state = state;
    runner->options = options;
    runner->scheme = is_other ? options->scheme : state->version.scheme;
    runner->shard_count = shard_count;
    runner->is_rebuild = options->is_rebuild_forced || is_other;
    runner->is_moving =
        runner->is_rebuild && (is_other || number_scheme_is_by_shop(runner->scheme));
    runner->known_count = state->key_count;
    slots_init(&runner->names, &rules);
    runner->run_count = shard_count > state->shard_count ? shard_count : state->shard_count;
    runner->runs = mem_array(runner->run_count, sizeof(*runner->runs));
    return 0;
}

void number_run_free(struct number_runner *runner)
{
    if (!runner)
        return;
    object_check(runner, NUMBER_RUNNER_MAGIC);
    slots_release(&runner->names);
    free(runner->ranks);
    free(runner->moved);
    free(runner->runs);
    object_end(runner, NUMBER_RUNNER_MAGIC);
    free(runner);
}

struct number_run number_run_shard(const struct number_runner *runner, uint32_t shard)
{
    object_check(runner, NUMBER_RUNNER_MAGIC);
    return shard < runner->run_count ? runner->runs[shard] : (struct number_run){0};
}

/* --- keys come --- */

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

static int add_new(struct number_runner *runner, const struct number_present *present,
                   uint64_t hash, uint32_t shard, struct err *err)
{
    struct number_state *state = runner->state;

    if (state->key_count == NUMBER_STATE_KEY_MAX)
        return err_set(err, ERR_LIMIT, "a state of more than %d keys", NUMBER_STATE_KEY_MAX);
    state_add(state, present->key,
              &(struct state_key){.shard = shard,
                                  .class_no = slots_class(&runner->names, present->place),
                                  .doc_id = NUMBER_NONE,
                                  .seen = SEEN_NOW},
              runner->shard_count);
    state_note(state, hash);
    return 0;
}

/* What is kept of a key that is seen the first time. */
static void note_beside(struct number_runner *runner, uint64_t at, double rank, uint32_t shard)
{
    if (runner->options->by_rank) {
        runner->ranks = mem_grow(runner->ranks, runner->state->key_count, sizeof(double),
                                 &runner->rank_capacity);
        runner->ranks[at] = rank;
    }
    if (runner->is_moving) {
        runner->moved = mem_grow(runner->moved, runner->state->key_count, sizeof(uint32_t),
                                 &runner->moved_capacity);
        runner->moved[at] = shard;
    }
}

static int see(struct number_runner *runner, const struct number_present *present, uint64_t hash,
               struct err *err)
{
    struct number_state *state = runner->state;
    struct state_key *known = state_key_find(state, present->key, hash);
    bool is_known = known != NULL;
    uint32_t shard;
    int rc;

    if (known && known->seen == SEEN_NOW)
        return 0;
    if (is_known && !runner->is_moving) {
        shard = known->shard;
    } else {
        rc = number_scheme_shard(runner->scheme, runner->shard_count, runner->options->shops, hash,
                                 present->shop, &shard, err);
        if (rc)
            return rc;
    }
    if (!is_known) {
        rc = add_new(runner, present, hash, shard, err);
        if (rc)
            return rc;
        known = &state->keys[state->key_count - 1];
    }
    known->seen = SEEN_NOW;
    if (is_known)
        runner->runs[shard].kept_count++;
    else
        runner->runs[shard].new_count++;
    note_beside(runner, (uint64_t)(known - state->keys), present->rank, shard);
    return 0;
}

int number_run_see(struct number_runner *runner, const struct number_present *keys, uint64_t count,
                   struct err *err)
{
    uint64_t hashes[STATE_WARM_COUNT];
    int rc = 0;

    object_check(runner, NUMBER_RUNNER_MAGIC);
    for (uint64_t done = 0, some; rc == 0 && done < count; done += some) {
        some = count - done < STATE_WARM_COUNT ? count - done : STATE_WARM_COUNT;
        for (uint64_t i = 0; i < some; i++)
            hashes[i] = hash64(keys[done + i].key);
        state_warm(runner->state, hashes, (uint32_t)some);
        for (uint64_t i = 0; rc == 0 && i < some; i++) {
            rc = check_key(&keys[done + i], err);
            if (rc == 0)
                rc = see(runner, &keys[done + i], hashes[i], err);
        }
    }
    return rc;
}

/* --- the end: numbers are given --- */

static int tell(struct number_runner *runner, enum number_change change,
                const struct number_state *state, const struct state_key *key, struct err *err)
{
    struct number_entry entry;

    if (!runner->told)
        return 0;
    entry = state_entry(state, key);
    return runner->told(runner->arg, change, &entry, err);
}

static void settle_seen(struct number_runner *runner)
{
    for (uint64_t i = 0; i < runner->state->key_count; i++)
        if (runner->state->keys[i].seen == SEEN_NOW)
            runner->state->keys[i].seen = runner->generation;
}

static void commit_shards(struct number_state *state, uint32_t generation)
{
    for (uint32_t i = 0; i < state->shard_count; i++)
        slots_commit(&state->shards[i], generation);
}

static bool is_expired(const struct number_runner *runner, const struct state_key *key)
{
    return (uint64_t)key->seen + runner->state->rules.ttl_generations < runner->generation;
}

/* Takes numbers off keys that were not seen for longer than the time to live: what the generation
 * before has left. */
static int expire(struct number_runner *runner, struct err *err)
{
    struct number_state *state = runner->state;
    uint32_t before = state->version.generation;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < runner->known_count; i++) {
        const struct state_key *key = &state->keys[i];

        if (!is_expired(runner, key))
            continue;
        slots_give_back(&state->shards[key->shard], key->doc_id, key->class_no, before, 0);
        runner->runs[key->shard].expired_count++;
        rc = tell(runner, NUMBER_EXPIRED, state, key, err);
    }
    commit_shards(state, before);
    return rc;
}

static int pick(struct slots *slots, struct bytes place, struct state_key *key, struct err *err)
{
    key->class_no = slots_class(slots, place);
    if (slots_pick(slots, &key->class_no, 0, &key->doc_id, err))
        return err_wrap(err, "shard %" PRIu32, key->shard);
    return 0;
}

static int number_new(struct number_runner *runner, struct err *err)
{
    struct number_state *state = runner->state;
    int rc = 0;

    for (uint64_t i = runner->known_count; rc == 0 && i < state->key_count; i++) {
        struct state_key *key = &state->keys[i];
        struct slots *slots = &state->shards[key->shard];

        rc = pick(slots, slots_class_name(&runner->names, key->class_no), key, err);
        if (rc)
            continue;
        key->birth = runner->generation;
        runner->runs[key->shard].reused_count +=
            slots->steps[slots->step_count - 1].kind == SLOT_HOLE;
    }
    commit_shards(state, runner->generation);
    return rc;
}

/* Those that stay in order, then the new ones into their places among them. */
static int merge(struct number_runner *runner, struct err *err)
{
    struct number_state *state = runner->state;
    uint64_t new_count = state->key_count - runner->known_count, kept = 0, at;
    struct number_state added = {.keys = mem_array(new_count + 1, sizeof(*state->keys)),
                                 .key_count = new_count};
    int rc;

    object_begin(&added, NUMBER_STATE_MAGIC);
    memcpy(added.keys, state->keys + runner->known_count, new_count * sizeof(*added.keys));
    rc = state_sort(&added, err);
    for (uint64_t i = 0; i < runner->known_count; i++)
        if (!is_expired(runner, &state->keys[i]))
            state->keys[kept++] = state->keys[i];
    at = state->key_count = kept + new_count;
    for (uint64_t i = new_count; i > 0; i--) {
        const struct state_key *key = &added.keys[i - 1];

        while (kept > 0 && state_place_order(&state->keys[kept - 1], key) > 0)
            state->keys[--at] = state->keys[--kept];
        state->keys[--at] = *key;
    }
    assert(at == kept);
    for (uint64_t i = 0; rc == 0 && i < new_count; i++)
        rc = tell(runner, NUMBER_IS_NEW, state, &added.keys[i], err);
    free(added.keys);
    return rc;
}

/* --- numbering anew --- */

static bool has_too_many_holes(const struct number_runner *runner)
{
    const struct number_state *state = runner->state;
    uint64_t *counts;
    bool is_so = false;

    if (runner->options->hole_share_max <= 0)
        return false;
    counts = mem_array(state->shard_count, sizeof(*counts));
    for (uint64_t i = 0; i < state->key_count; i++)
        counts[state->keys[i].shard] += !is_expired(runner, &state->keys[i]);
    for (uint32_t i = 0; i < state->shard_count; i++) {
        double size = slots_size(&state->shards[i]);

        is_so = is_so || size - (double)counts[i] > runner->options->hole_share_max * size;
    }
    free(counts);
    return is_so;
}

struct ranked {
    double rank;
    uint64_t at; /* place in keys */
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static uint32_t shard_to_be(const struct number_runner *runner, uint64_t at)
{
    return runner->is_moving ? runner->moved[at] : runner->state->keys[at].shard;
}

/* The keys of the run, shard by shard, in the order they are to have. */
static struct ranked *rank_present(const struct number_runner *runner, uint64_t *count)
{
    const struct number_state *state = runner->state;
    struct ranked *ranked = mem_array(state->key_count + 1, sizeof(*ranked));
    uint64_t *next = mem_array(runner->shard_count + 1, sizeof(*next));

    for (uint64_t i = 0; i < state->key_count; i++)
        if (state->keys[i].seen == runner->generation)
            next[shard_to_be(runner, i) + 1]++;
    for (uint32_t i = 0; i < runner->shard_count; i++)
        next[i + 1] += next[i];
    *count = next[runner->shard_count];
    for (uint64_t i = 0; i < state->key_count; i++)
        if (state->keys[i].seen == runner->generation)
            ranked[next[shard_to_be(runner, i)]++] =
                (struct ranked){runner->ranks ? runner->ranks[i] : 0, i};
    for (uint32_t i = 0; runner->ranks && i < runner->shard_count; i++) {
        uint64_t first = i > 0 ? next[i - 1] : 0;

        if (next[i] - first > 1)
            qsort(ranked + first, next[i] - first, sizeof(*ranked), compare_ranked);
    }
    free(next);
    return ranked;
}

/* Keys that were there before and are not in the run lose their numbers. */
static int drop_absent(struct number_runner *runner, bool are_expired_told, struct err *err)
{
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < runner->known_count; i++) {
        const struct state_key *key = &runner->state->keys[i];

        if (key->seen == runner->generation || (are_expired_told && is_expired(runner, key)))
            continue;
        runner->runs[key->shard].expired_count++;
        rc = tell(runner, NUMBER_EXPIRED, runner->state, key, err);
    }
    return rc;
}

static struct bytes place_of(const struct number_runner *runner, uint64_t at, bool is_numbered)
{
    const struct state_key *key = &runner->state->keys[at];

    return at < runner->known_count || is_numbered
               ? slots_class_name(&runner->state->shards[key->shard], key->class_no)
               : slots_class_name(&runner->names, key->class_no);
}

/* is_numbered: new keys have numbers already, and what has expired was told. */
static int rebuild(struct number_runner *runner, bool is_numbered, struct err *err)
{
    struct number_state *state = runner->state, left;
    uint32_t floor = runner->options->rebuild_floor;
    struct number_version version = {
        .kind = state->version.kind,
        .scheme = runner->scheme,
        .rebuild = (floor > state->version.rebuild ? floor : state->version.rebuild) + 1,
        .generation = runner->generation,
    };
    struct number_state *made = number_state_new(&version, runner->shard_count, &state->rules);
    uint64_t count;
    struct ranked *ranked = rank_present(runner, &count);
    int rc = drop_absent(runner, is_numbered, err);

    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        uint64_t at = ranked[i].at;
        struct state_key key = {.shard = shard_to_be(runner, at),
                                .birth = runner->generation,
                                .seen = runner->generation};

        rc = pick(&made->shards[key.shard], place_of(runner, at, is_numbered), &key, err);
        if (rc)
            continue;
        state_add(made, state_key_bytes(state, &state->keys[at]), &key, made->shard_count);
        if (at >= runner->known_count)
            rc = tell(runner, NUMBER_IS_NEW, made, &made->keys[made->key_count - 1], err);
    }
    commit_shards(made, runner->generation);
    left = *state;
    *state = *made;
    *made = left;
    number_state_free(made);
    free(ranked);
    for (uint32_t i = 0; i < runner->run_count; i++) {
        runner->runs[i].reused_count = 0;
        runner->runs[i].is_rebuilt = true;
    }
    return rc ? rc : state_sort(state, err);
}

static struct number_run sum(const struct number_runner *runner)
{
    struct number_run total = {0};

    for (uint32_t i = 0; i < runner->run_count; i++) {
        total.is_rebuilt = runner->runs[i].is_rebuilt;
        total.kept_count += runner->runs[i].kept_count;
        total.new_count += runner->runs[i].new_count;
        total.reused_count += runner->runs[i].reused_count;
        total.expired_count += runner->runs[i].expired_count;
    }
    return total;
}

int number_run_end(struct number_runner *runner, number_change_fn *told, void *arg,
                   struct number_run *run, struct err *err)
{
    struct number_state *state = runner->state;
    bool is_next; /* generation: what was seen in it was seen in this run */
    int rc = 0;

    object_check(runner, NUMBER_RUNNER_MAGIC);
    runner->told = told;
    runner->arg = arg;
    is_next = state->key_count > runner->known_count || runner->is_rebuild;
    runner->generation = state->version.generation + is_next;
    settle_seen(runner);
    if (runner->is_rebuild) {
        rc = rebuild(runner, false, err);
    } else if (is_next) {
        rc = expire(runner, err);
        if (rc == 0)
            rc = number_new(runner, err);
        state->version.generation = runner->generation;
        if (rc == 0)
            rc = has_too_many_holes(runner) ? rebuild(runner, true, err) : merge(runner, err);
    }
    free(state->table);
    state->table = NULL;
    *run = sum(runner);
    return rc;
}

/* --- all at once --- */

int number_state_run(struct number_state *state, struct number_present *keys, uint64_t count,
                     const struct number_run_options *options, struct number_run *run,
                     struct err *err)
{
    struct number_runner *runner;
    int rc = number_run_begin(state, options, &runner, err);

    if (rc)
        return rc;
    rc = number_run_see(runner, keys, count, err);
    if (rc == 0)
        rc = number_run_end(runner, NULL, NULL, run, err);
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        struct number_entry entry;
        bool is_there = number_state_find(state, keys[i].key, &entry);

        assert(is_there);
        keys[i].shard = entry.shard;
        keys[i].doc_id = entry.doc_id;
        keys[i].birth = entry.birth;
    }
    number_run_free(runner);
    return rc;
}

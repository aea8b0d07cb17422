/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - see gather.h. */
#include "searcher/front/gather.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "searcher/bounds.h"
#include "searcher/front/local.h"

enum { REQUEST_SIZE_MAX = 4 << 20, LATE_SHARE = 2, HEDGED_COUNT = 2 };

struct round;

enum { ATTEMPT_MAGIC = OBJECT_MAGIC('a', 't', 't', 'e') };

/* One call to one replica. */
struct attempt {
    uint32_t magic;
    struct job job;
    struct round *round;      /* counted */
    struct gather_slot *slot; /* of the round */
    struct peer *peer;        /* NULL: this process */
    bool is_old;              /* it may answer with an old state */
    bool is_callers;          /* the pool was full: it runs on the caller's thread */
};

struct gather_slot {
    struct replica *replica;               /* of this process */
    const Torg__V1__ShardRequest *request; /* of the caller, who waits for it; takes old states */
    Torg__V1__ShardRequest fresh;          /* the same, and takes none */
    struct reading *reading;               /* likewise */
    struct arena *arena;                   /* of the answer, until the caller takes it over */
    ProtobufCMessage *message;
    /* Others; owned by the round. */
    struct buf packed, packed_old; /* `fresh` and `request` */
    struct peer *peers[SEARCHER_PEER_COUNT_MAX];
    uint32_t peer_count, peer_next;
    /* Who has an old state is asked when nobody else has answered. */
    bool begins_here; /* the replica of this process is the first that is asked */
    bool is_old_here;
    struct peer *old_peers[SEARCHER_PEER_COUNT_MAX];
    uint32_t old_count, old_next;
    uint32_t running, local_running;
    bool is_done; /* answered, or it failed for good */
    struct err err;
};

enum { ROUND_MAGIC = OBJECT_MAGIC('r', 'o', 'u', 'n') };

/* Counted: the caller, and each attempt under way. */
struct round {
    uint32_t magic;
    pthread_mutex_t lock;
    struct condition changed; /* one of the shards that the search waits for has answered */
    uint32_t refs;
    int64_t cpu_us; /* of other threads, for the caller */
    enum gather_kind kind;
    int64_t deadline_us;
    struct gather_slot *slots;
    uint32_t count;
};

static struct round *round_new(const struct gatherer *gatherer, enum gather_kind kind,
                               uint32_t count, int64_t deadline_us)
{
    struct round *round = mem_zero(sizeof(*round));

    object_begin(round, ROUND_MAGIC);
    round->refs = 1;
    round->kind = kind;
    round->deadline_us = deadline_us;
    round->slots = mem_array(count + 1, sizeof(*round->slots));
    round->count = count;
    for (uint32_t i = 0; i < count; i++) {
        buf_init(&round->slots[i].packed, REQUEST_SIZE_MAX);
        buf_init(&round->slots[i].packed_old, REQUEST_SIZE_MAX);
    }
    pthread_mutex_init(&round->lock, NULL);
    condition_init(&round->changed, clock_or_system(gatherer->clock));
    return round;
}

/* Under the lock, which it gives up. */
static void round_release(struct round *round)
{
    bool is_last;

    object_check(round, ROUND_MAGIC);
    assert(round->refs > 0);
    is_last = --round->refs == 0;

    pthread_mutex_unlock(&round->lock);
    if (!is_last)
        return;
    for (uint32_t i = 0; i < round->count; i++) {
        buf_release(&round->slots[i].packed);
        buf_release(&round->slots[i].packed_old);
        arena_free(round->slots[i].arena);
    }
    condition_release(&round->changed);
    pthread_mutex_destroy(&round->lock);
    free(round->slots);
    object_end(round, ROUND_MAGIC);
    free(round);
}

/* Another replica may do better; else the request itself is at fault. */
static bool is_worth_another(int rc)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_TIMEOUT || rc == ERR_LIMIT || rc == ERR_INTERNAL ||
           rc == ERR_CANCELLED || rc == ERR_CORRUPT || rc == ERR_NOT_FOUND;
}

/* ---- attempts ---- */

static int ask_here(const struct round *round, const struct gather_slot *slot, bool is_old,
                    struct arena *arena, ProtobufCMessage **message, struct err *err)
{
    const Torg__V1__ShardRequest *request = is_old ? slot->request : &slot->fresh;
    Torg__V1__ShardWords *words = NULL;
    Torg__V1__ShardAnswer *answer = NULL;
    int rc;

    if (round->kind == GATHER_WORDS) {
        rc = local_count_words(slot->replica, request, slot->reading, round->deadline_us, arena,
                               &words, err);
        *message = (ProtobufCMessage *)words;
    } else {
        rc = local_search(slot->replica, request, slot->reading, round->deadline_us, arena, &answer,
                          err);
        *message = (ProtobufCMessage *)answer;
    }
    return rc;
}

/* What cannot be read is the peer's fault, not the request's: another one may do better. */
static int read_answer(const struct round *round, const struct peer *peer, struct bytes packed,
                       struct arena *arena, ProtobufCMessage **message, struct err *err)
{
    const ProtobufCMessageDescriptor *type = round->kind == GATHER_WORDS
                                                 ? &torg__v1__shard_words__descriptor
                                                 : &torg__v1__shard_answer__descriptor;
    struct err why = {0};

    if (!message_decode(packed, type, arena, message, &why))
        return 0;
    return err_set(err, ERR_UNAVAILABLE, "searcher %s gave an answer that cannot be read: %s",
                   peer_url(peer), why.text);
}

static int ask_peer(const struct round *round, const struct attempt *attempt, struct arena *arena,
                    ProtobufCMessage **message, struct err *err)
{
    int64_t left_ms = (round->deadline_us - clock_mono_us(round->changed.clock)) / MS_US;
    const struct buf *packed =
        attempt->is_old ? &attempt->slot->packed_old : &attempt->slot->packed;
    struct buf answer = BUF_INIT(SEARCHER_ANSWER_SIZE_MAX);
    int rc;

    if (left_ms < 1)
        return err_set(err, ERR_TIMEOUT, "no time is left to ask another searcher");
    worker_waits(); /* others compute, however long it stands still */
    rc = peer_call(attempt->peer, round->kind == GATHER_WORDS ? "CountWords" : "SearchShard",
                   buf_bytes(packed), left_ms, &answer, err);
    worker_goes_on();
    if (!rc)
        rc = read_answer(round, attempt->peer, buf_bytes(&answer), arena, message, err);
    buf_release(&answer);
    return rc;
}

/* What an attempt found is the slot's, unless another was faster. */
static void finish_attempt(struct attempt *attempt, int rc, struct arena *arena,
                           ProtobufCMessage *message, int64_t cpu_us, const struct err *err)
{
    struct round *round = attempt->round;
    struct gather_slot *slot = attempt->slot;

    object_check(round, ROUND_MAGIC);
    pthread_mutex_lock(&round->lock);
    round->cpu_us += cpu_us;
    assert(slot->running > 0 && slot->local_running <= slot->running);
    slot->running--;
    slot->local_running -= attempt->peer == NULL;
    if (!slot->is_done && !rc) {
        slot->is_done = true;
        slot->err = (struct err){0};
        assert(!slot->arena && !slot->message); /* answered once */
        slot->message = message;
        slot->arena = arena;
        arena = NULL;
    } else if (!slot->is_done) {
        /* One that is not so far yet will be; that another is away says less. */
        if (!slot->fresh.looks || slot->err.code != ERR_TIMEOUT)
            slot->err = *err;
        slot->is_done = !is_worth_another(rc);
    }
    condition_broadcast(&round->changed);
    round_release(round);
    arena_free(arena);
    object_end(attempt, ATTEMPT_MAGIC);
    free(attempt);
}

/* CPU of another process, as it says: no more than it could have had. */
static int64_t peer_cpu_us(const struct attempt *attempt, const ProtobufCMessage *message)
{
    int64_t most_us = (int64_t)SEARCHER_DEADLINE_MS_MAX * MS_US;
    uint64_t cpu_us;

    if (!message || !attempt->peer || attempt->round->kind == GATHER_WORDS)
        return 0;
    cpu_us = ((const Torg__V1__ShardAnswer *)message)->cpu_microseconds;
    return cpu_us < (uint64_t)most_us ? (int64_t)cpu_us : most_us;
}

static void run_attempt(struct job *job)
{
    struct attempt *attempt = container_of(job, struct attempt, job);
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;
    int64_t begun_us = worker_cpu_us();
    int64_t cpu_us;
    struct err err = {0};
    int rc;

    object_check(attempt, ATTEMPT_MAGIC);
    if (attempt->peer)
        rc = ask_peer(attempt->round, attempt, arena, &message, &err);
    else
        rc = ask_here(attempt->round, attempt->slot, attempt->is_old, arena, &message, &err);
    cpu_us = peer_cpu_us(attempt, message);
    if (!attempt->is_callers)
        cpu_us += worker_cpu_us() - begun_us;
    finish_attempt(attempt, rc, arena, message, cpu_us, &err);
}

/* Under the lock. peer NULL: of this process. */
static struct attempt *make_attempt(struct round *round, struct gather_slot *slot,
                                    struct peer *peer, bool is_old)
{
    struct attempt *attempt;

    attempt = mem_zero(sizeof(*attempt));
    object_begin(attempt, ATTEMPT_MAGIC);
    assert(slot >= round->slots && slot < round->slots + round->count);
    attempt->job.run = run_attempt;
    attempt->round = round;
    attempt->slot = slot;
    attempt->peer = peer;
    attempt->is_old = is_old;
    round->refs++;
    slot->running++;
    slot->local_running += peer == NULL;
    assert(slot->peer_next <= slot->peer_count && round->refs > slot->running);
    return attempt;
}

/* Under the lock. NULL: there is nobody more to ask. */
static struct attempt *next_attempt(struct round *round, struct gather_slot *slot)
{
    if (slot->peer_next == slot->peer_count)
        return NULL;
    return make_attempt(round, slot, slot->peers[slot->peer_next++], false);
}

/* The same, of those with an old state. */
static struct attempt *next_old(struct round *round, struct gather_slot *slot)
{
    if (slot->is_old_here) {
        slot->is_old_here = false;
        return make_attempt(round, slot, NULL, true);
    }
    if (slot->old_next == slot->old_count)
        return NULL;
    return make_attempt(round, slot, slot->old_peers[slot->old_next++], true);
}

/* Without the lock. A pool that is full lets the caller work. */
static void start(const struct gatherer *gatherer, struct attempt *attempt)
{
    if (!attempt)
        return;
    worker_pass_on(&attempt->job);
    if (!workers_submit(gatherer->workers, &attempt->job))
        return;
    attempt->is_callers = true;
    run_attempt(&attempt->job);
}

/* ---- the pool ---- */

struct gather_threads gather_threads(unsigned core_count)
{
    unsigned running_max = core_count + SEARCHER_ASK_SPARE_COUNT;

    return (struct gather_threads){running_max, SEARCHER_ASK_COUNT_MAX + running_max};
}

struct workers *gather_workers_new(unsigned core_count, const struct clock *clock)
{
    struct gather_threads threads = gather_threads(core_count);
    struct workers *workers =
        workers_new("shards", threads.thread_max, SEARCHER_ASK_QUEUE_MAX, NULL, clock);

    workers_limit_running(workers, threads.running_max);
    return workers;
}

/* ---- the round ---- */

/* When a replica is slow, and when an old state is better than to wait on. */
struct patience {
    int64_t hedge_us, late_us;
};

/* Under the lock: asks the next replica of a slot that waits for too long or failed; one with an
 * old state when all others have failed, or are not likely to come in time. */
static struct attempt *help(struct round *round, const struct patience *patience, bool *is_waiting)
{
    int64_t now_us = clock_mono_us(round->changed.clock);
    bool is_slow = now_us >= patience->hedge_us;
    bool is_late = now_us >= patience->late_us;

    *is_waiting = false;
    for (uint32_t i = 0; i < round->count; i++) {
        struct gather_slot *slot = &round->slots[i];
        struct attempt *attempt;

        if (slot->is_done)
            continue;
        attempt = slot->running == 0 || (is_slow && slot->running == 1) ? next_attempt(round, slot)
                                                                        : NULL;
        if (!attempt && (slot->running == 0 || (is_late && slot->running <= HEDGED_COUNT)))
            attempt = next_old(round, slot);
        if (attempt) {
            *is_waiting = true;
            return attempt;
        }
        if (slot->running == 0)
            slot->is_done = true; /* all have failed */
        *is_waiting = *is_waiting || slot->running > 0;
    }
    return NULL;
}

static bool has_local(const struct round *round)
{
    for (uint32_t i = 0; i < round->count; i++)
        if (round->slots[i].local_running)
            return true;
    return false;
}

int64_t gather_patience_us(int64_t left_us, bool waits)
{
    int64_t share_us = left_us / GATHER_HEDGE_SHARE;

    if (!waits && share_us > SEARCHER_SILENCE_MS_MAX * MS_US)
        share_us = SEARCHER_SILENCE_MS_MAX * MS_US;
    return share_us > SEARCHER_HEDGE_MS_MIN * MS_US ? share_us : SEARCHER_HEDGE_MS_MIN * MS_US;
}

static bool has_waits(const struct round *round)
{
    for (uint32_t i = 0; i < round->count; i++)
        if (round->slots[i].request && round->slots[i].request->n_wait &&
            !round->slots[i].request->looks)
            return true;
    return false;
}

static void wait_round(const struct gatherer *gatherer, struct round *round)
{
    int64_t now_us = clock_mono_us(round->changed.clock);
    int64_t left_us = round->deadline_us - now_us;
    const struct patience patience = {now_us + gather_patience_us(left_us, has_waits(round)),
                                      now_us + left_us / LATE_SHARE};
    bool is_waiting = true;

    pthread_mutex_lock(&round->lock);
    while (is_waiting) {
        struct attempt *attempt = help(round, &patience, &is_waiting);
        int64_t until_us = round->deadline_us;

        if (attempt) {
            pthread_mutex_unlock(&round->lock);
            start(gatherer, attempt);
            pthread_mutex_lock(&round->lock);
            continue;
        }
        now_us = clock_mono_us(round->changed.clock);
        if (!is_waiting || now_us >= until_us)
            break;
        if (now_us < patience.late_us && patience.late_us < until_us)
            until_us = patience.late_us;
        if (now_us < patience.hedge_us && patience.hedge_us < until_us)
            until_us = patience.hedge_us;
        condition_wait_until(&round->changed, &round->lock, until_us);
    }
    while (has_local(round)) /* they use the caller's memory, and know the deadline */
        condition_wait(&round->changed, &round->lock);
    pthread_mutex_unlock(&round->lock);
}

static void put_answer(enum gather_kind kind, ProtobufCMessage *message, struct gather_ask *ask)
{
    if (kind == GATHER_WORDS)
        ask->words = (const Torg__V1__ShardWords *)message;
    else
        ask->answer = (const Torg__V1__ShardAnswer *)message;
}

/* It is handed over with the memory that it was made in. */
static void take_answer(const struct round *round, struct gather_slot *slot, struct gather_ask *ask,
                        struct arena *arena)
{
    assert(slot->message && slot->arena);
    arena_adopt(arena, slot->arena);
    slot->arena = NULL;
    put_answer(round->kind, slot->message, ask);
}

static void take_request(struct gather_slot *slot, const struct gather_ask *ask)
{
    slot->request = ask->request;
    slot->reading = ask->reading;
    slot->fresh = *ask->request;
    slot->fresh.old_max_seconds = 0;
}

/* One shard, and it is here: no thread, no copy. */
static bool ask_alone(enum gather_kind kind, const struct index_epoch *epoch,
                      struct gather_ask *asks, uint32_t count, const struct gatherer *gatherer,
                      int64_t deadline_us, struct arena *arena)
{
    const struct round round = {.kind = kind, .deadline_us = deadline_us};
    struct gather_slot slot = {.replica = epoch->shards[0]};
    ProtobufCMessage *message = NULL;
    int rc;

    if (count != 1 || !slot.replica)
        return false;
    take_request(&slot, &asks[0]);
    rc = ask_here(&round, &slot, !gatherer->peers, arena, &message, &asks[0].err);
    if (rc && is_worth_another(rc) && gatherer->peers)
        return false;
    if (rc)
        asks[0].err.code = rc;
    else
        put_answer(kind, message, &asks[0]);
    return true;
}

static void begin_slot(const struct gatherer *gatherer, const struct index_epoch *epoch,
                       uint32_t shard, const struct gather_ask *ask, struct gather_slot *slot)
{
    struct replica_state *state = mem_alloc(sizeof(*state));
    bool takes_old = ask->request->old_max_seconds && !ask->request->n_wait;
    bool is_ready = false;

    take_request(slot, ask);
    slot->replica = epoch->shards[shard];
    if (slot->replica) {
        replica_state(slot->replica, state);
        is_ready = state->is_ready || !gatherer->peers; /* one that is not ready says why */
        slot->is_old_here = takes_old && replica_old_seconds(slot->replica, state);
    }
    free(state);
    slot->peer_count = peers_with(gatherer->peers, ask->request->client, ask->request->epoch, shard,
                                  slot->peers, SEARCHER_PEER_COUNT_MAX);
    if (takes_old)
        slot->old_count =
            peers_with_old(gatherer->peers, ask->request, slot->old_peers, SEARCHER_PEER_COUNT_MAX);
    if (slot->peer_count)
        message_encode(&slot->fresh.base, &slot->packed);
    if (slot->old_count)
        message_encode(&ask->request->base, &slot->packed_old);
    slot->begins_here = slot->replica && (is_ready || !slot->peer_count);
    if (!slot->replica && !slot->peer_count && !slot->old_count) {
        err_set(&slot->err, ERR_UNAVAILABLE, "no searcher has shard %u of %s, epoch %jd, ready",
                shard, ask->request->client, (intmax_t)ask->request->epoch);
        slot->is_done = true;
    }
}

void gather(const struct gatherer *gatherer, enum gather_kind kind, const struct index_epoch *epoch,
            struct gather_ask *asks, uint32_t count, int64_t deadline_us, struct arena *arena)
{
    struct round *round;

    if (ask_alone(kind, epoch, asks, count, gatherer, deadline_us, arena))
        return;
    round = round_new(gatherer, kind, count, deadline_us);
    for (uint32_t i = 0; i < count; i++) {
        struct gather_slot *slot = &round->slots[i];
        struct attempt *attempt;

        asks[i].err = (struct err){0};
        if (!asks[i].request) {
            slot->is_done = true;
            continue;
        }
        begin_slot(gatherer, epoch, i, &asks[i], slot);
        pthread_mutex_lock(&round->lock);
        if (slot->begins_here)
            attempt = make_attempt(round, slot, NULL, false);
        else
            attempt = slot->is_done ? NULL : next_attempt(round, slot);
        pthread_mutex_unlock(&round->lock);
        start(gatherer, attempt);
    }
    if (gatherer->peers)
        worker_waits(); /* the others compute */
    wait_round(gatherer, round);
    if (gatherer->peers)
        worker_goes_on();
    pthread_mutex_lock(&round->lock);
    for (uint32_t i = 0; i < count; i++) {
        struct gather_slot *slot = &round->slots[i];

        if (!asks[i].request)
            continue;
        if (slot->is_done && !slot->err.code) {
            take_answer(round, slot, &asks[i], arena);
        } else if (slot->err.code) {
            asks[i].err = slot->err;
        } else {
            err_set(&asks[i].err, ERR_TIMEOUT, "shard %u did not answer in time", i);
        }
        slot->is_done = true; /* what comes later is nobody's */
    }
    worker_bill(round->cpu_us);
    round_release(round);
}

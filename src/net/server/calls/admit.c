/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.c - see admit.h.
 *
 * Buckets are a table of small sets, each with a lock: a new bucket replaces the fullest of its
 * set, which carries the least information. A token is 1000 units, a unit a microsecond of CPU.
 * What callers hold is counted exactly, in chains, and only while they hold something.
 */
#include "net/server/calls/admit.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/share.h"

enum {
    TOKEN = 1000, /* units: microseconds */
    SET_COUNT = 4096,
    SET_SIZE = 8,
    LOCK_COUNT = 64,
    CHAIN_COUNT = 4096,
    FAULT_TOKENS = 10,  /* of a wrong key: guessing is dear */
    FILE_COST_US = 100, /* a page has fifteen files, and an office one address */
    FILE_BYTES_PER_US = 1000,
};

struct bucket {
    uint64_t id; /* 0: free */
    int64_t level;
    int64_t at_us; /* when it was that */
};

struct guest {
    struct guest *next;
    uint64_t id;
    size_t count;
};

enum { ADMISSION_MAGIC = OBJECT_MAGIC('a', 'd', 'm', 'i') };

struct admission {
    uint32_t magic;
    struct admission_options options;
    struct peer_ranges proxies;
    pthread_mutex_t locks[LOCK_COUNT];
    struct bucket sets[SET_COUNT][SET_SIZE];
    pthread_mutex_t guest_lock;
    struct guest *guests[ADMISSION_KIND_COUNT][CHAIN_COUNT]; /* owned */
};

struct admission *admission_new(const struct admission_options *options)
{
    struct admission *admission = mem_zero(sizeof(*admission));

    object_begin(admission, ADMISSION_MAGIC);
    admission->options = *options;
    if (options->proxies)
        admission->proxies = *options->proxies;
    for (size_t i = 0; i < LOCK_COUNT; i++)
        pthread_mutex_init(&admission->locks[i], NULL);
    pthread_mutex_init(&admission->guest_lock, NULL);
    return admission;
}

void admission_free(struct admission *admission)
{
    if (!admission)
        return;
    object_check(admission, ADMISSION_MAGIC);
    for (size_t kind = 0; kind < ADMISSION_KIND_COUNT; kind++)
        for (size_t i = 0; i < CHAIN_COUNT; i++)
            assert(!admission->guests[kind][i]); /* all connections are closed */
    for (size_t i = 0; i < LOCK_COUNT; i++)
        pthread_mutex_destroy(&admission->locks[i]);
    pthread_mutex_destroy(&admission->guest_lock);
    object_end(admission, ADMISSION_MAGIC);
    free(admission);
}

/* --- shares --- */

static struct guest **find_guest(struct guest **chains, uint64_t id)
{
    struct guest **at = &chains[id % CHAIN_COUNT];

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

/* Under the lock; false: it would have more than max. */
static bool count_more(struct guest **chains, uint64_t id, size_t count, size_t max)
{
    struct guest **at = find_guest(chains, id);

    if (count > max || (*at && (*at)->count > max - count))
        return false;
    if (!*at) {
        *at = mem_zero(sizeof(**at));
        (*at)->id = id;
    }
    (*at)->count += count;
    return true;
}

static void count_less(struct guest **chains, uint64_t id, size_t count)
{
    struct guest **at = find_guest(chains, id);
    struct guest *gone = *at;

    assert(gone && gone->count >= count);
    gone->count -= count;
    if (gone->count)
        return;
    *at = gone->next;
    free(gone);
}

bool admission_hold(struct admission *admission, enum admission_kind kind, uint64_t caller,
                    size_t count, size_t max)
{
    bool taken;

    object_check(admission, ADMISSION_MAGIC);
    assert(kind < ADMISSION_KIND_COUNT && count > 0);
    pthread_mutex_lock(&admission->guest_lock);
    taken = count_more(admission->guests[kind], caller, count, max);
    pthread_mutex_unlock(&admission->guest_lock);
    return taken;
}

void admission_let_go(struct admission *admission, enum admission_kind kind, uint64_t caller,
                      size_t count)
{
    object_check(admission, ADMISSION_MAGIC);
    assert(kind < ADMISSION_KIND_COUNT && count > 0);
    pthread_mutex_lock(&admission->guest_lock);
    count_less(admission->guests[kind], caller, count);
    pthread_mutex_unlock(&admission->guest_lock);
}

size_t admission_held(struct admission *admission, enum admission_kind kind, uint64_t caller)
{
    const struct guest *guest;
    size_t count;

    object_check(admission, ADMISSION_MAGIC);
    assert(kind < ADMISSION_KIND_COUNT);
    pthread_mutex_lock(&admission->guest_lock);
    guest = *find_guest(admission->guests[kind], caller);
    count = guest ? guest->count : 0;
    pthread_mutex_unlock(&admission->guest_lock);
    return count;
}

bool admit_holds_too_much(const struct call *call)
{
    struct server *server = call->loop->server;

    object_check(call, CALL_MAGIC);
    if (atomic_load_explicit(&server->unsent_size, memory_order_relaxed) <
        NET_UNSENT_CALLER_SIZE_MAX)
        return false; /* nobody does */
    return admission_held(server->admission, ADMISSION_ANSWERS, call->job.caller) >
           NET_UNSENT_CALLER_SIZE_MAX;
}

static bool counts_guests(const struct admission *admission, struct peer_address address)
{
    return admission->options.address_connection_max &&
           !peer_is_within(&admission->proxies, address);
}

bool admission_connect(struct admission *admission, struct peer_address address, bool is_scarce)
{
    unsigned count_max = admission->options.address_connection_max;

    if (is_scarce && count_max > NET_ADDRESS_CONNECTION_SCARCE_MAX)
        count_max = NET_ADDRESS_CONNECTION_SCARCE_MAX;
    return !counts_guests(admission, address) ||
           admission_hold(admission, ADMISSION_CONNECTIONS, peer_id(address), 1, count_max);
}

void admission_disconnect(struct admission *admission, struct peer_address address)
{
    if (counts_guests(admission, address))
        admission_let_go(admission, ADMISSION_CONNECTIONS, peer_id(address), 1);
}

/* --- buckets --- */

static int64_t level_max(unsigned rate)
{
    return (int64_t)rate * TOKEN * NET_RATE_BURST_S;
}

static void refill(struct bucket *bucket, unsigned rate, int64_t now_us)
{
    int64_t passed_us = now_us - bucket->at_us;

    if (passed_us > 2 * NET_RATE_BURST_S * (int64_t)SECOND_US)
        passed_us = 2 * NET_RATE_BURST_S * (int64_t)SECOND_US; /* full, from the deepest debt */
    if (passed_us > 0)
        bucket->level += passed_us * rate * TOKEN / SECOND_US;
    if (bucket->level > level_max(rate))
        bucket->level = level_max(rate);
    if (passed_us > 0)
        bucket->at_us = now_us;
}

/* The bucket, or the one whose place it takes; under its lock. */
static struct bucket *find_bucket(struct bucket set[SET_SIZE], uint64_t id, unsigned rate,
                                  int64_t now_us)
{
    struct bucket *fullest = &set[0];

    for (size_t i = 0; i < SET_SIZE; i++) {
        if (set[i].id == id)
            return &set[i];
        if (fullest->id && (!set[i].id || set[i].level > fullest->level))
            fullest = &set[i];
    }
    *fullest = (struct bucket){.id = id, .level = level_max(rate), .at_us = now_us};
    return fullest;
}

/* Takes units if there are enough (or whatever there is); gives what is left. */
static bool charge_purse(struct admission *admission, uint64_t id, unsigned rate, int64_t units,
                         bool always, int64_t now_us, int64_t *left)
{
    size_t set = id % SET_COUNT;
    pthread_mutex_t *lock = &admission->locks[set % LOCK_COUNT];
    struct bucket *bucket;
    bool taken;

    pthread_mutex_lock(lock);
    bucket = find_bucket(admission->sets[set], id, rate, now_us);
    refill(bucket, rate, now_us);
    taken = always || bucket->level >= units;
    if (taken)
        bucket->level -= units;
    if (bucket->level < -level_max(rate))
        bucket->level = -level_max(rate); /* a debt ends, too */
    *left = bucket->level;
    pthread_mutex_unlock(lock);
    return taken;
}

/* --- calls --- */

enum { KIND_KEY = 1, KIND_SELLER, KIND_ADDRESS };

struct purse {
    const char *whose;
    const char *hint;
    uint64_t id;
    unsigned rate;
};

static uint64_t named(unsigned kind, const char *name)
{
    return hash64_seeded(bytes_of(name), kind) | 1; /* 0 is free */
}

static uint64_t of_address(const struct call *call)
{
    return peer_id(call->peer) ^ KIND_ADDRESS;
}

static size_t purses_of(const struct call *call, struct purse purses[2])
{
    const struct admission_options *options = &call->loop->server->admission->options;
    const struct identity *identity = &call->identity;
    size_t count = 0;

    if (!identity->principal[0]) {
        if (options->address_rate)
            purses[count++] =
                (struct purse){"this address", ", or send 'Authorization: Bearer KEY'",
                               of_address(call) | 1, options->address_rate};
        return count;
    }
    if (options->key_rate)
        purses[count++] =
            (struct purse){"this key", "", named(KIND_KEY, identity->principal), options->key_rate};
    if (options->seller_rate && identity->seller[0])
        purses[count++] = (struct purse){"this seller", "", named(KIND_SELLER, identity->seller),
                                         options->seller_rate};
    return count;
}

uint64_t admit_sender(const struct connection *connection)
{
    const struct admission *admission = connection->loop->server->admission;

    if (peer_is_within(&admission->proxies, connection->peer))
        return 0;
    return peer_id(connection->peer) ^ KIND_ADDRESS;
}

void admit_name(struct call *call)
{
    const struct connection *connection = call->connection;
    uint64_t before = call->job.caller;
    const struct admission *admission = call->loop->server->admission;

    object_check(call, CALL_MAGIC);
    call->peer = connection->peer;
    if (admission->proxies.count)
        call->peer = peer_behind(&admission->proxies, connection->peer,
                                 call_header(call, "x-forwarded-for"));
    if (call->identity.seller[0]) /* however many keys it has */
        call->job.caller = named(KIND_SELLER, call->identity.seller);
    else if (call->identity.principal[0])
        call->job.caller = named(KIND_KEY, call->identity.principal);
    else
        call->job.caller = of_address(call);
    call->job.flow = (uint64_t)(uintptr_t)connection;
    share_rename(call, before);
}

static void remember(struct call *call, const struct purse *purse, int64_t left)
{
    int64_t tokens = left > 0 ? left / TOKEN : 0;

    if (call->rate.limit && (uint64_t)tokens * call->rate.limit >= /* the tighter one is told */
                                (uint64_t)call->rate.left * purse->rate)
        return;
    call->rate.limit = purse->rate;
    call->rate.left = (unsigned)tokens;
    call->rate.reset_s =
        (unsigned)((level_max(purse->rate) - left) / ((int64_t)purse->rate * TOKEN));
}

static void refuse(struct call *call, const struct purse *purse, int64_t left)
{
    int64_t rate = (int64_t)purse->rate * TOKEN; /* units a second */
    int64_t wait_s = (TOKEN - left + rate - 1) / rate;

    reply_put_off(call, (unsigned)(wait_s < 1 ? 1 : wait_s),
                  arena_printf(call->arena,
                               "%s asks for more than its %u calls a second (one that takes the "
                               "CPU counts as one call per millisecond): come back in %d s%s",
                               purse->whose, purse->rate, (int)(wait_s < 1 ? 1 : wait_s),
                               purse->hint));
}

static bool take_units(struct call *call, int64_t units)
{
    struct admission *admission = call->loop->server->admission;
    struct purse purses[2];
    size_t count;

    if (call->is_paid || call->connection->is_operator)
        return true;
    count = purses_of(call, purses);
    for (size_t i = 0; i < count; i++) {
        int64_t left;
        bool taken = charge_purse(admission, purses[i].id, purses[i].rate, units, false,
                                  call->loop->reactor.now_us, &left);

        remember(call, &purses[i], left);
        if (!taken) {
            refuse(call, &purses[i], left);
            return false;
        }
    }
    call->is_paid = true;
    call->prepaid_us = units;
    return true;
}

bool admit_take(struct call *call)
{
    object_check(call, CALL_MAGIC);
    return take_units(call, TOKEN);
}

bool admit_take_check(struct call *call)
{
    bool taken;

    object_check(call, CALL_MAGIC);
    assert(!call->is_paid && !call->identity.principal[0]);
    taken = take_units(call, TOKEN);
    call->is_paid = false;
    if (taken)
        call->rate.limit = 0; /* it is told of the key's */
    return taken;
}

bool admit_take_file(struct call *call)
{
    object_check(call, CALL_MAGIC);
    return take_units(call, FILE_COST_US);
}

static void charge(struct call *call, int64_t units)
{
    struct purse purses[2];
    size_t count = purses_of(call, purses);

    for (size_t i = 0; i < count; i++) {
        int64_t left;

        (void)charge_purse(call->loop->server->admission, purses[i].id, purses[i].rate, units, true,
                           call->loop->reactor.now_us, &left);
        remember(call, &purses[i], left);
    }
}

void admit_charge(struct call *call)
{
    int64_t prepaid_us = call->cpu_us < call->prepaid_us ? call->cpu_us : call->prepaid_us;

    object_check(call, CALL_MAGIC);
    assert(prepaid_us >= 0);
    call->prepaid_us -= prepaid_us; /* once, however often it comes back */
    if (call->cpu_us > prepaid_us && call->rate.limit)
        charge(call, call->cpu_us - prepaid_us);
    call->cpu_us = 0;
}

void admit_charge_file(struct call *call, size_t size)
{
    object_check(call, CALL_MAGIC);
    call->cpu_us = FILE_COST_US + (int64_t)(size / FILE_BYTES_PER_US);
    admit_charge(call);
}

int64_t admit_pay(const struct call *call, int64_t cpu_us)
{
    struct purse purses[2];
    size_t count = purses_of(call, purses);
    int64_t now_us = clock_mono_us(call_clock(call));
    int64_t wait_us = 0;

    object_check(call, CALL_MAGIC);
    for (size_t i = 0; i < count; i++) {
        int64_t rate = (int64_t)purses[i].rate * TOKEN; /* units a second */
        int64_t left;

        (void)charge_purse(call->loop->server->admission, purses[i].id, purses[i].rate, cpu_us,
                           true, now_us, &left);
        if (left < 0 && -left * SECOND_US / rate > wait_us)
            wait_us = -left * SECOND_US / rate;
    }
    return wait_us;
}

bool admit_fault(struct call *call)
{
    object_check(call, CALL_MAGIC);
    call->identity.principal[0] = 0;
    if (!admit_take(call))
        return false;
    charge(call, (FAULT_TOKENS - 1) * TOKEN);
    return true;
}

/* --- what is told --- */

static struct bytes digits(unsigned number, char text[CALL_RATE_TEXT_SIZE])
{
    size_t at = CALL_RATE_TEXT_SIZE;

    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    return bytes_make(text + at, CALL_RATE_TEXT_SIZE - at);
}

void admit_headers(struct call *call)
{
    struct call_rate *rate = &call->rate;

    object_check(call, CALL_MAGIC);
    if (!rate->limit)
        return;
    reply_header(call, "ratelimit-limit", digits(rate->limit, rate->texts[0]));
    reply_header(call, "ratelimit-remaining", digits(rate->left, rate->texts[1]));
    reply_header(call, "ratelimit-reset", digits(rate->reset_s, rate->texts[2]));
}

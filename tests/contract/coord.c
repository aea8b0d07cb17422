/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of coord/coord.h, on every backend; and what only a real ZooKeeper can show:
 * lost sessions, dead lines, a frozen process. The storage that checks tickets is played by
 * struct vault. ZooKeeper's address comes by TORG_TEST_ZOOKEEPER.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "coord/coord.h"
#include "zookeeper_proxy.h"

enum {
    SHARDS = 32,
    LEASE_MS = 600,
    PATIENCE_MS = 30 * 1000,
    STEP_MS = 10,
};

struct backend {
    const char *name;
    char url[256];
    char dir[64];
};

static int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

/* Gives the backend a place of its own; skips when its server is not there. */
static void begin(struct backend *backend, const char *name)
{
    const char *server = getenv("TORG_TEST_ZOOKEEPER");
    const char *required = getenv("TORG_REQUIRE");
    uint64_t unique = random_u64();

    *backend = (struct backend){.name = name};
    if (strcmp(name, "zookeeper") == 0) {
        if (!server && required && strstr(required, "zookeeper"))
            fail_msg("TORG_REQUIRE names zookeeper, but TORG_TEST_ZOOKEEPER is not set");
        if (!server)
            skip();
        snprintf(backend->url, sizeof(backend->url), "zookeeper://%s/torg-test/%016jx", server,
                 (uintmax_t)unique);
    } else if (strcmp(name, "local") == 0) {
        snprintf(backend->dir, sizeof(backend->dir), "/tmp/torg-coord-XXXXXX");
        assert_non_null(mkdtemp(backend->dir));
        snprintf(backend->url, sizeof(backend->url), "local:%s", backend->dir);
    } else {
        snprintf(backend->url, sizeof(backend->url), "%s:%016jx", name, (uintmax_t)unique);
    }
}

static void end(struct backend *backend)
{
    if (backend->dir[0])
        assert_int_equal(dir_remove(backend->dir, NULL), 0);
}

static struct coord *open_member(const char *url, const char *member)
{
    struct coord_options options = {.lease_us = (int64_t)LEASE_MS * MS_US};
    struct coord *coord;
    struct err err = {0};

    if (coord_open(url, member, &options, &coord, &err))
        fail_msg("%s: %s", url, err.text);
    return coord;
}

static struct coord_shards *join(struct coord *coord, const char *set, uint32_t count)
{
    struct coord_shards *shards;
    struct err err = {0};

    if (coord_join(coord, set, count, &shards, &err))
        fail_msg("%s", err.text);
    return shards;
}

/* Plays the application: releases what is leaving, until each has its share of all shards. */
static void settle(struct coord_shards *const *members, size_t member_count, uint32_t shard_count)
{
    int64_t give_up_us = now_us() + (int64_t)PATIENCE_MS * MS_US;
    struct coord_shard owned[COORD_SHARD_COUNT_MAX];
    size_t i;
    size_t j;

    while (now_us() < give_up_us) {
        size_t total = 0;
        size_t fair = 0;

        for (i = 0; i < member_count; i++) {
            size_t count = coord_owned(members[i], owned, ARRAY_COUNT(owned));

            for (j = 0; j < count; j++) {
                if (owned[j].leaving)
                    coord_release(members[i], owned[j].shard, owned[j].ticket);
            }
            total += count;
            fair += count >= shard_count / member_count &&
                    count <= (shard_count + member_count - 1) / member_count;
        }
        if (total == shard_count && fair == member_count)
            return;
        usleep(STEP_MS * 1000);
    }
    fail_msg("shards were not spread within %d ms", PATIENCE_MS);
}

static uint64_t ticket_of(struct coord_shards *shards, uint32_t shard)
{
    struct coord_shard owned[COORD_SHARD_COUNT_MAX];
    size_t count = coord_owned(shards, owned, ARRAY_COUNT(owned));
    size_t i;

    for (i = 0; i < count; i++) {
        if (owned[i].shard == shard)
            return owned[i].ticket;
    }
    return 0;
}

static uint64_t wait_ticket(struct coord_shards *shards, uint32_t shard)
{
    int64_t give_up_us = now_us() + (int64_t)PATIENCE_MS * MS_US;
    uint64_t ticket = 0;

    while (!ticket && now_us() < give_up_us) {
        ticket = ticket_of(shards, shard);
        if (!ticket)
            usleep(1000);
    }
    if (!ticket)
        fail_msg("shard %u was not gained within %d ms", shard, PATIENCE_MS);
    return ticket;
}

static void wait_invalid(struct coord_shards *shards, uint32_t shard, uint64_t ticket)
{
    int64_t give_up_us = now_us() + (int64_t)PATIENCE_MS * MS_US;

    while (coord_valid(shards, shard, ticket)) {
        if (now_us() > give_up_us)
            fail_msg("the old owner still claims its shard");
        usleep(1000);
    }
}

/* A storage that keeps the largest ticket it has seen, as store/fence.h does with rows. */
struct vault {
    _Atomic uint64_t newest;
    _Atomic uint64_t value;
};

static bool vault_write(struct vault *vault, uint64_t ticket, uint64_t value)
{
    uint64_t newest = atomic_load(&vault->newest);

    do {
        if (ticket < newest)
            return false;
    } while (!atomic_compare_exchange_weak(&vault->newest, &newest, ticket));
    atomic_store(&vault->value, value);
    return true;
}

/* --- every backend --- */

static void registers_compare_and_set(void **state)
{
    struct buf value = BUF_INIT(COORD_VALUE_SIZE_MAX);
    struct backend backend;
    struct coord *coord;
    uint64_t version = 7;
    struct err err;

    begin(&backend, *state);
    coord = open_member(backend.url, "a");
    assert_int_equal(coord_get(coord, "epoch", &value, &version, &err), ERR_NOT_FOUND);
    assert_int_equal(version, 0);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("x"), 1, &version, &err), ERR_CONFLICT);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("one"), 0, &version, &err), 0);
    assert_int_equal(version, 1);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("again"), 0, &version, &err), ERR_CONFLICT);
    assert_int_equal(coord_set(coord, "epoch", bytes_make("t\0wo", 4), 1, &version, &err), 0);
    assert_int_equal(version, 2);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("late"), 1, &version, &err), ERR_CONFLICT);
    assert_int_equal(coord_get(coord, "epoch", &value, &version, &err), 0);
    assert_int_equal(version, 2);
    assert_true(bytes_equal(buf_bytes(&value), bytes_make("t\0wo", 4)));
    assert_int_equal(coord_set(coord, "empty", BYTES_EMPTY, 0, NULL, &err), 0);
    buf_reset(&value);
    assert_int_equal(coord_get(coord, "empty", &value, &version, &err), 0);
    assert_int_equal(value.size, 0);
    assert_int_equal(coord_set(coord, "../up", BYTES_EMPTY, 0, NULL, &err), ERR_INVALID);
    assert_int_equal(coord_set(coord, "", BYTES_EMPTY, 0, NULL, &err), ERR_INVALID);
    coord_close(coord);
    buf_release(&value);
    end(&backend);
}

static void a_value_has_a_limit(void **state)
{
    struct buf value = BUF_INIT(COORD_VALUE_SIZE_MAX + 1);
    struct buf small = BUF_INIT(10);
    struct backend backend;
    struct coord *coord;
    uint64_t version;
    struct err err;

    begin(&backend, *state);
    coord = open_member(backend.url, "a");
    memset(buf_reserve(&value, COORD_VALUE_SIZE_MAX + 1), 'v', COORD_VALUE_SIZE_MAX + 1);
    buf_advance(&value, COORD_VALUE_SIZE_MAX + 1);
    assert_int_equal(coord_set(coord, "k", buf_bytes(&value), 0, &version, &err), ERR_LIMIT);
    buf_truncate(&value, COORD_VALUE_SIZE_MAX);
    assert_int_equal(coord_set(coord, "k", buf_bytes(&value), 0, &version, &err), 0);
    assert_int_equal(coord_get(coord, "k", &small, &version, &err), ERR_LIMIT);
    buf_reset(&value);
    assert_int_equal(coord_get(coord, "k", &value, &version, &err), 0);
    assert_int_equal(value.size, COORD_VALUE_SIZE_MAX);
    coord_close(coord);
    buf_release(&value);
    buf_release(&small);
    end(&backend);
}

enum { RACERS = 4, RACER_ADDS = 25 };

/* Adds to a shared number by compare and set. */
static void *race(void *arg)
{
    struct coord *coord = arg;
    int done = 0;

    while (done < RACER_ADDS) {
        struct buf text = BUF_INIT(64);
        uint64_t version;
        char next[32];
        struct err err;
        int rc = coord_get(coord, "sum", &text, &version, &err);
        uint64_t sum = rc ? 0 : strtoull(buf_text(&text), NULL, 10);

        snprintf(next, sizeof(next), "%ju", (uintmax_t)sum + 1);
        rc = coord_set(coord, "sum", bytes_of(next), version, NULL, &err);
        done += rc == 0;
        buf_release(&text);
        if (rc && rc != ERR_CONFLICT)
            return "failed";
    }
    return NULL;
}

static void concurrent_setters_lose_nothing(void **state)
{
    struct buf text = BUF_INIT(64);
    struct coord *coords[RACERS];
    pthread_t threads[RACERS];
    struct backend backend;
    uint64_t version;
    struct err err;
    int i;

    begin(&backend, *state);
    for (i = 0; i < RACERS; i++)
        coords[i] = open_member(backend.url, "racer");
    for (i = 0; i < RACERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, coords[i]), 0);
    for (i = 0; i < RACERS; i++) {
        void *failure;

        pthread_join(threads[i], &failure);
        assert_null(failure);
    }
    assert_int_equal(coord_get(coords[0], "sum", &text, &version, &err), 0);
    assert_int_equal(strtoull(buf_text(&text), NULL, 10), RACERS * RACER_ADDS);
    assert_int_equal(version, RACERS * RACER_ADDS);
    for (i = 0; i < RACERS; i++)
        coord_close(coords[i]);
    buf_release(&text);
    end(&backend);
}

struct watcher {
    struct coord *coord;
    uint64_t known;
    _Atomic int rc;
};

static void *watch(void *arg)
{
    struct watcher *watcher = arg;
    struct err err;

    atomic_store(&watcher->rc,
                 coord_watch(watcher->coord, "config", watcher->known, PATIENCE_MS, &err));
    return NULL;
}

static void a_watch_ends_with_the_change(void **state)
{
    struct watcher watcher = {.rc = 1};
    struct coord *other;
    struct backend backend;
    pthread_t thread;
    uint64_t version;
    struct err err;
    int64_t start_us;

    begin(&backend, *state);
    watcher.coord = open_member(backend.url, "a");
    other = open_member(backend.url, "b");
    /* nothing known: the first value is the change; then known 1: the second */
    for (watcher.known = 0; watcher.known < 2; watcher.known++) {
        assert_int_equal(coord_watch(watcher.coord, "config", watcher.known, 20, &err),
                         ERR_TIMEOUT);
        atomic_store(&watcher.rc, 1);
        assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
        usleep(20 * 1000); /* so that most often it waits already; right either way */
        start_us = now_us();
        assert_int_equal(coord_set(other, "config", bytes_of("v"), watcher.known, &version, &err),
                         0);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&watcher.rc), 0);
        assert_true(now_us() - start_us < (int64_t)PATIENCE_MS * MS_US / 2);
    }
    assert_int_equal(coord_watch(watcher.coord, "config", 1, 0, &err), 0); /* changed before */
    coord_close(other);
    coord_close(watcher.coord);
    end(&backend);
}

static void a_lone_member_owns_all_shards(void **state)
{
    struct coord_shard owned[SHARDS + 1];
    struct coord_shards *shards;
    struct backend backend;
    struct coord *coord;
    uint64_t seen = 0;
    struct err err;
    size_t i;

    begin(&backend, *state);
    coord = open_member(backend.url, "a");
    shards = join(coord, "offers-export", SHARDS);
    settle(&shards, 1, SHARDS);
    assert_int_equal(coord_owned(shards, owned, SHARDS + 1), SHARDS);
    for (i = 0; i < SHARDS; i++) {
        assert_int_equal(owned[i].shard, i);
        assert_true(owned[i].ticket > 0);
        assert_true(coord_valid(shards, owned[i].shard, owned[i].ticket));
        assert_false(coord_valid(shards, owned[i].shard, owned[i].ticket + 1));
        assert_false(coord_valid(shards, owned[i].shard, 0));
    }
    assert_int_equal(coord_wait(shards, &seen, PATIENCE_MS, &err), 0); /* gained since 0 */
    assert_int_equal(coord_wait(shards, &seen, 5, &err), ERR_TIMEOUT);
    usleep(3 * LEASE_MS * 1000); /* the lease is renewed, nothing is lost on the way */
    assert_true(coord_valid(shards, 0, owned[0].ticket));
    assert_int_equal(coord_wait(shards, &seen, 0, &err), ERR_TIMEOUT);
    coord_close(coord);
    end(&backend);
}

static void a_set_keeps_its_shard_count(void **state)
{
    struct coord_shards *shards;
    struct backend backend;
    struct coord *coord;
    struct err err;

    begin(&backend, *state);
    coord = open_member(backend.url, "a");
    coord_leave(join(coord, "s", 8));
    assert_int_equal(coord_join(coord, "s", 9, &shards, &err), ERR_PRECONDITION);
    assert_null(shards);
    assert_int_equal(coord_join(coord, "a/b", 9, &shards, &err), ERR_INVALID);
    assert_int_equal(coord_join(coord, "t", 0, &shards, &err), ERR_INVALID);
    assert_int_equal(coord_join(coord, "t", COORD_SHARD_COUNT_MAX + 1, &shards, &err), ERR_INVALID);
    assert_int_equal(coord_join(coord, "s", 8, &shards, &err), 0);
    assert_int_equal(coord_join(coord, "s", 8, &shards, &err), ERR_EXISTS);
    coord_close(coord);
    end(&backend);
}

/* How many leaving shards are told within the patience: exactly the surplus must be. */
static void wait_leaving(struct coord_shards *shards, size_t wanted)
{
    int64_t give_up_us = now_us() + (int64_t)PATIENCE_MS * MS_US;
    struct coord_shard owned[SHARDS];
    size_t leaving = 0;

    while (leaving != wanted && now_us() < give_up_us) {
        size_t count = coord_owned(shards, owned, SHARDS);
        size_t i;

        for (leaving = 0, i = 0; i < count; i++)
            leaving += owned[i].leaving;
        usleep(STEP_MS * 1000);
    }
    assert_int_equal(leaving, wanted);
}

static void a_shard_moves_only_when_released(void **state)
{
    struct coord_shard before[SHARDS];
    struct coord_shard owned[SHARDS];
    struct coord_shards *shards[2];
    struct coord *coords[2];
    struct backend backend;
    size_t moved = 0;
    size_t i;

    begin(&backend, *state);
    coords[0] = open_member(backend.url, "a");
    shards[0] = join(coords[0], "s", SHARDS);
    settle(shards, 1, SHARDS);
    assert_int_equal(coord_owned(shards[0], before, SHARDS), SHARDS);
    coords[1] = open_member(backend.url, "b");
    shards[1] = join(coords[1], "s", SHARDS);
    wait_leaving(shards[0], SHARDS / 2);
    usleep(2 * LEASE_MS * 1000); /* however long it takes: not released, not taken */
    assert_int_equal(coord_owned(shards[0], owned, SHARDS), SHARDS);
    assert_int_equal(coord_owned(shards[1], owned, SHARDS), 0);

    settle(shards, 2, SHARDS);
    for (i = 0; i < SHARDS; i++) {
        uint64_t ticket = ticket_of(shards[1], (uint32_t)i);

        if (!ticket) { /* what did not have to move has not moved */
            assert_int_equal(ticket_of(shards[0], (uint32_t)i), before[i].ticket);
            continue;
        }
        moved++;
        assert_true(ticket > before[i].ticket);
        assert_false(coord_valid(shards[0], (uint32_t)i, before[i].ticket));
    }
    assert_int_equal(moved, SHARDS / 2);
    coord_close(coords[1]); /* all comes back */
    settle(shards, 1, SHARDS);
    coord_close(coords[0]);
    end(&backend);
}

static void shards_spread_over_many_members(void **state)
{
    enum { MEMBERS = 5 };
    struct coord_shards *shards[MEMBERS];
    struct coord *coords[MEMBERS];
    struct backend backend;
    char name[16];
    size_t i;

    begin(&backend, *state);
    for (i = 0; i < MEMBERS; i++) { /* all at once, then settle */
        snprintf(name, sizeof(name), "m%zu", i);
        coords[i] = open_member(backend.url, name);
        shards[i] = join(coords[i], "s", SHARDS);
    }
    settle(shards, MEMBERS, SHARDS);
    coord_leave(shards[4]); /* leaves the set, stays a member */
    settle(shards, MEMBERS - 1, SHARDS);
    shards[4] = join(coords[4], "s", SHARDS);
    settle(shards, MEMBERS, SHARDS);
    coord_close(coords[0]);
    settle(shards + 1, MEMBERS - 1, SHARDS);
    for (i = 1; i < MEMBERS; i++)
        coord_close(coords[i]);
    end(&backend);
}

static void tickets_grow_across_restarts(void **state)
{
    struct coord_shards *shards;
    struct backend backend;
    struct coord *coord;
    uint64_t largest = 0;
    int i;

    begin(&backend, *state);
    for (i = 0; i < 4; i++) {
        uint64_t ticket;

        coord = open_member(backend.url, "a");
        shards = join(coord, "s", 2);
        settle(&shards, 1, 2);
        ticket = ticket_of(shards, 0);
        assert_true(ticket > largest);
        largest = ticket;
        coord_release(shards, 0, ticket); /* nobody else is there: it comes back, newer */
        assert_false(coord_valid(shards, 0, ticket));
        ticket = wait_ticket(shards, 0);
        assert_true(ticket > largest);
        largest = ticket;
        coord_close(coord);
    }
    end(&backend);
}

/* --- a process that stops for longer than its lease --- */

struct frozen {
    struct vault vault;
    _Atomic uint64_t ticket;  /* the child owns the shard with it */
    _Atomic bool thawed;      /* the parent has taken over and let the child go on */
    _Atomic int was_valid;    /* what the child found: 0 or 1 */
    _Atomic int was_accepted; /* did the vault take its write? */
    _Atomic uint64_t later;   /* its ticket after it came back */
};

static void frozen_child(const char *url, struct frozen *shared)
{
    struct coord_options options = {.lease_us = (int64_t)LEASE_MS * MS_US};
    struct coord_shards *shards;
    struct coord *coord;
    struct err err;
    uint64_t ticket = 0;

    if (coord_open(url, "child", &options, &coord, &err) ||
        coord_join(coord, "s", 1, &shards, &err))
        _exit(1);
    while (!ticket)
        ticket = ticket_of(shards, 0);
    if (!vault_write(&shared->vault, ticket, 1))
        _exit(2);
    atomic_store(&shared->ticket, ticket);
    while (!atomic_load(&shared->thawed)) /* SIGSTOP comes here */
        ;
    atomic_store(&shared->was_valid, coord_valid(shards, 0, ticket));
    atomic_store(&shared->was_accepted, vault_write(&shared->vault, ticket, 666));
    while (!atomic_load(&shared->later)) { /* the parent leaves; it is ours again */
        atomic_store(&shared->later, ticket_of(shards, 0));
        usleep(1000);
    }
    coord_close(coord);
    _exit(0);
}

static void a_frozen_process_can_write_nothing(void **state)
{
    struct coord_shards *shards;
    struct frozen *shared;
    struct backend backend;
    struct coord *coord;
    uint64_t ticket;
    int status;
    pid_t child;

    begin(&backend, *state);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    atomic_store(&shared->was_valid, -1);
    child = fork();
    if (child == 0)
        frozen_child(backend.url, shared);
    while (!atomic_load(&shared->ticket)) {
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
        usleep(1000);
    }
    coord = open_member(backend.url, "parent");
    shards = join(coord, "s", 1);
    kill(child, SIGSTOP);
    ticket = wait_ticket(shards, 0);
    assert_true(ticket > atomic_load(&shared->ticket));
    assert_true(vault_write(&shared->vault, ticket, 2));
    atomic_store(&shared->thawed, true);
    kill(child, SIGCONT);
    while (atomic_load(&shared->was_valid) < 0)
        usleep(1000);
    assert_int_equal(atomic_load(&shared->was_valid), 0);
    coord_close(coord);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(atomic_load(&shared->was_accepted), 0);
    assert_int_equal(atomic_load(&shared->vault.value), 2);
    assert_true(atomic_load(&shared->later) > ticket);
    munmap(shared, sizeof(*shared));
    end(&backend);
}

/* --- ZooKeeper behind a line that can be cut --- */

struct pair {
    struct backend backend;
    struct proxy *proxy;
    struct coord *old; /* through the proxy */
    struct coord *fresh;
    struct coord_shards *old_shards;
    struct coord_shards *fresh_shards;
    uint64_t old_ticket;
};

/* One shard, owned by the member behind the proxy; the other member waits for it. */
static void begin_pair(struct pair *pair)
{
    char url[256];

    begin(&pair->backend, "zookeeper");
    pair->proxy = proxy_open(getenv("TORG_TEST_ZOOKEEPER"));
    assert_non_null(pair->proxy);
    snprintf(url, sizeof(url), "zookeeper://127.0.0.1:%d/%s", proxy_port(pair->proxy),
             strchr(pair->backend.url + strlen("zookeeper://"), '/') + 1);
    pair->old = open_member(url, "old");
    pair->old_shards = join(pair->old, "s", 1);
    pair->old_ticket = wait_ticket(pair->old_shards, 0);
    pair->fresh = open_member(pair->backend.url, "fresh");
    pair->fresh_shards = join(pair->fresh, "s", 1);
}

static void end_pair(struct pair *pair)
{
    coord_close(pair->old);
    coord_close(pair->fresh);
    proxy_close(pair->proxy);
    end(&pair->backend);
}

static void a_lost_session_cannot_write(void **state)
{
    struct vault vault = {0};
    struct pair pair;
    uint64_t ticket;

    (void)state;
    begin_pair(&pair);
    assert_true(vault_write(&vault, pair.old_ticket, 1));
    /* Ended on the server while its owner suspects nothing: only the ticket can protect now. */
    assert_true(proxy_end_session(pair.proxy));
    ticket = wait_ticket(pair.fresh_shards, 0);
    assert_true(ticket > pair.old_ticket);
    assert_true(vault_write(&vault, ticket, 2));
    assert_false(vault_write(&vault, pair.old_ticket, 666));
    assert_int_equal(atomic_load(&vault.value), 2);
    wait_invalid(pair.old_shards, 0, pair.old_ticket);
    coord_close(pair.fresh); /* the old one is back, with a new session and a new ticket */
    pair.fresh = NULL;
    assert_true(wait_ticket(pair.old_shards, 0) > ticket);
    end_pair(&pair);
}

static void a_cut_off_owner_stops_before_another_begins(void **state)
{
    struct pair pair;
    int64_t stopped_us;
    int64_t begun_us;
    uint64_t ticket;

    (void)state;
    begin_pair(&pair);
    proxy_hold(pair.proxy); /* bytes vanish, no connection breaks: the worst line */
    wait_invalid(pair.old_shards, 0, pair.old_ticket);
    stopped_us = now_us();
    assert_int_equal(ticket_of(pair.fresh_shards, 0), 0);
    ticket = wait_ticket(pair.fresh_shards, 0);
    begun_us = now_us();
    print_message("# the old owner stopped %jd ms before the new one began\n",
                  (intmax_t)(begun_us - stopped_us) / 1000);
    assert_true(ticket > pair.old_ticket);
    assert_true(begun_us - stopped_us > (int64_t)LEASE_MS * MS_US / 4);
    proxy_pass(pair.proxy);
    coord_close(pair.fresh);
    pair.fresh = NULL;
    assert_true(wait_ticket(pair.old_shards, 0) > ticket);
    end_pair(&pair);
}

static void a_short_cut_loses_nothing(void **state)
{
    struct pair pair;
    int i;

    (void)state;
    begin_pair(&pair);
    for (i = 0; i < 3; i++) {
        proxy_cut(pair.proxy);
        usleep(2 * LEASE_MS * 1000); /* had the session been lost, the other would have it */
        assert_int_equal(wait_ticket(pair.old_shards, 0), pair.old_ticket);
        assert_int_equal(ticket_of(pair.fresh_shards, 0), 0);
    }
    end_pair(&pair);
}

static void registers_outlive_a_lost_session(void **state)
{
    struct buf value = BUF_INIT(64);
    struct pair pair;
    uint64_t version;
    struct err err;
    int64_t give_up_us = now_us() + (int64_t)PATIENCE_MS * MS_US;
    int rc;

    (void)state;
    begin_pair(&pair);
    assert_int_equal(coord_set(pair.old, "k", bytes_of("v"), 0, &version, &err), 0);
    assert_true(proxy_end_session(pair.proxy));
    wait_ticket(pair.fresh_shards, 0);
    do { /* unavailable for a moment, never wrong */
        buf_reset(&value);
        rc = coord_get(pair.old, "k", &value, &version, &err);
        assert_true(rc == 0 || rc == ERR_UNAVAILABLE);
        usleep(STEP_MS * 1000);
    } while (rc && now_us() < give_up_us);
    assert_int_equal(rc, 0);
    assert_string_equal(buf_text(&value), "v");
    assert_int_equal(coord_set(pair.old, "k", bytes_of("w"), version, &version, &err), 0);
    assert_int_equal(version, 2);
    buf_release(&value);
    end_pair(&pair);
}

/* --- local: only --- */

static void a_directory_has_one_process(void **state)
{
    struct backend backend;
    struct coord *coord;
    int status;
    pid_t child;

    (void)state;
    begin(&backend, "local");
    coord = open_member(backend.url, "a");
    child = fork();
    if (child == 0) {
        /* exec: a fork alone would have a copy of the parent's board */
        execl("/proc/self/exe", "coord", "--open-local", backend.url, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), -ERR_EXISTS);
    coord_close(coord);
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "coord", "--open-local", backend.url, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    end(&backend);
}

/* --- the list --- */

typedef void (*test_fn)(void **state);

struct named {
    const char *name;
    test_fn run;
};

#define NAMED(fn)                                                                                  \
    {                                                                                              \
#fn, fn                                                                                    \
    }

static void add(struct CMUnitTest *tests, size_t *count, struct named named, const char *backend)
{
    static char names[64][96];

    snprintf(names[*count], sizeof(names[0]), "%s (%s)", named.name, backend);
    tests[*count] = (struct CMUnitTest){
        .name = names[*count], .test_func = named.run, .initial_state = (void *)backend};
    (*count)++;
}

int main(int argc, char **argv)
{
    static const char *const backends[] = {"memory", "local", "fault:memory", "zookeeper"};
    static const struct named all[] = {
        NAMED(registers_compare_and_set),        NAMED(a_value_has_a_limit),
        NAMED(concurrent_setters_lose_nothing),  NAMED(a_watch_ends_with_the_change),
        NAMED(a_lone_member_owns_all_shards),    NAMED(a_set_keeps_its_shard_count),
        NAMED(a_shard_moves_only_when_released), NAMED(shards_spread_over_many_members),
        NAMED(tickets_grow_across_restarts),
    };
    static const struct named zookeeper[] = {
        NAMED(a_frozen_process_can_write_nothing),
        NAMED(a_lost_session_cannot_write),
        NAMED(a_cut_off_owner_stops_before_another_begins),
        NAMED(a_short_cut_loses_nothing),
        NAMED(registers_outlive_a_lost_session),
    };
    static struct CMUnitTest tests[64];
    size_t count = 0;
    size_t i;
    size_t j;

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    if (argc == 3 && strcmp(argv[1], "--open-local") == 0) {
        struct coord *coord;
        struct err err;
        int rc = coord_open(argv[2], "other", NULL, &coord, &err);

        coord_close(coord);
        return -rc;
    }
    for (i = 0; i < ARRAY_COUNT(backends); i++) {
        for (j = 0; j < ARRAY_COUNT(all); j++)
            add(tests, &count, all[j], backends[i]);
    }
    for (j = 0; j < ARRAY_COUNT(zookeeper); j++)
        add(tests, &count, zookeeper[j], "zookeeper");
    add(tests, &count, (struct named)NAMED(a_directory_has_one_process), "local");
    return _cmocka_run_group_tests("coord", tests, count, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of coord on a real ZooKeeper: lost sessions, dead lines, a frozen process. Each
 * time the stale owner's write is refused, by its own lease or by the ticket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coord_fixture.h"
#include "patience.h"
#include "zookeeper_proxy.h"

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
    int rc;

    if (coord_open(url, "child", &options, &coord, &err))
        _exit(1);
    do /* as fixture_join does */
        rc = coord_join(coord, "s", 1, &shards, &err);
    while (rc == ERR_UNAVAILABLE);
    if (rc)
        _exit(3);
    while (!ticket)
        ticket = fixture_ticket(shards, 0);
    if (!vault_write(&shared->vault, ticket, 1))
        _exit(2);
    atomic_store(&shared->ticket, ticket);
    while (!atomic_load(&shared->thawed)) /* SIGSTOP comes here */
        ;
    atomic_store(&shared->was_valid, coord_valid(shards, 0, ticket));
    atomic_store(&shared->was_accepted, vault_write(&shared->vault, ticket, 666));
    while (!atomic_load(&shared->later)) { /* the parent leaves; it is ours again */
        atomic_store(&shared->later, fixture_ticket(shards, 0));
        usleep(1000);
    }
    coord_close(coord);
    _exit(0);
}

void a_frozen_process_can_write_nothing(void **state)
{
    struct coord_shards *shards;
    struct frozen *shared;
    struct backend backend;
    struct coord *coord;
    uint64_t ticket;
    int status;
    pid_t child;

    fixture_begin(&backend, *state);
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
    coord = fixture_open(backend.url, "parent", KEPT_MS);
    shards = fixture_join(coord, "s", 1);
    kill(child, SIGSTOP);
    ticket = fixture_wait_ticket(shards, 0);
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
    fixture_end(&backend);
}

/* --- ZooKeeper behind a line that can be cut --- */

static void open_pair(struct pair *pair, int lease_ms)
{
    char url[256];

    pair->proxy = proxy_open(getenv("TORG_TEST_ZOOKEEPER"));
    assert_non_null(pair->proxy);
    snprintf(url, sizeof(url), "zookeeper://127.0.0.1:%d/%s", proxy_port(pair->proxy),
             strchr(pair->backend.url + strlen("zookeeper://"), '/') + 1);
    pair->old = fixture_open(url, "old", lease_ms);
    pair->old_shards = fixture_join(pair->old, "s", 1);
    pair->old_ticket = fixture_wait_ticket(pair->old_shards, 0);
    pair->fresh = fixture_open(pair->backend.url, "fresh", KEPT_MS);
    pair->fresh_shards = fixture_join(pair->fresh, "s", 1);
}

static void close_pair(struct pair *pair)
{
    coord_close(pair->old);
    coord_close(pair->fresh);
    proxy_close(pair->proxy);
}

void begin_pair(struct pair *pair, int lease_ms)
{
    fixture_begin(&pair->backend, "zookeeper");
    open_pair(pair, lease_ms);
}

void end_pair(struct pair *pair)
{
    close_pair(pair);
    fixture_end(&pair->backend);
}

void a_lost_session_cannot_write(void **state)
{
    struct vault vault = {0};
    struct pair pair;
    uint64_t ticket;

    (void)state;
    begin_pair(&pair, NOTICED_MS);
    assert_true(vault_write(&vault, pair.old_ticket, 1));
    /* Ended on the server while its owner suspects nothing: only the ticket can protect now. */
    assert_true(proxy_end_session(pair.proxy));
    ticket = fixture_wait_ticket(pair.fresh_shards, 0);
    proxy_pass(pair.proxy);
    assert_true(ticket > pair.old_ticket);
    assert_true(vault_write(&vault, ticket, 2));
    assert_false(vault_write(&vault, pair.old_ticket, 666));
    assert_int_equal(atomic_load(&vault.value), 2);
    fixture_wait_invalid(pair.old_shards, 0, pair.old_ticket);
    coord_close(pair.fresh); /* the old one is back, with a new session and a new ticket */
    pair.fresh = NULL;
    assert_true(fixture_wait_ticket(pair.old_shards, 0) > ticket);
    end_pair(&pair);
}

static bool cut_off(struct backend *backend, int lease_ms)
{
    struct pair pair = {.backend = *backend};
    int64_t stopped_us, begun_us;
    bool was_free;
    uint64_t ticket;

    open_pair(&pair, lease_ms);
    proxy_hold(pair.proxy); /* bytes vanish, no connection breaks: the worst line */
    fixture_wait_invalid(pair.old_shards, 0, pair.old_ticket);
    stopped_us = fixture_now_us();
    was_free = fixture_ticket(pair.fresh_shards, 0) == 0;
    ticket = fixture_wait_ticket(pair.fresh_shards, 0);
    begun_us = fixture_now_us();
    print_message("# the old owner stopped %jd ms before the new one began\n",
                  (intmax_t)(begun_us - stopped_us) / 1000);
    assert_true(ticket > pair.old_ticket);
    proxy_pass(pair.proxy);
    coord_close(pair.fresh);
    pair.fresh = NULL;
    assert_true(fixture_wait_ticket(pair.old_shards, 0) > ticket);
    close_pair(&pair);
    return was_free && begun_us - stopped_us > (int64_t)lease_ms * MS_US / 4;
}

void a_cut_off_owner_stops_before_another_begins(void **state)
{
    struct backend backend;

    fixture_begin(&backend, *state);
    fixture_try(&backend, cut_off);
    fixture_end(&backend);
}

/* Until the server has answered a write of the member's session. */
static void wait_connected(struct coord *coord, const char *key)
{
    int64_t give_up_us = fixture_now_us() + (int64_t)PATIENCE_MS * MS_US;
    struct err err;
    int rc;

    do {
        rc = coord_set(coord, key, bytes_of("v"), 0, NULL, &err);
        assert_true(rc == 0 || rc == ERR_UNAVAILABLE || rc == ERR_CONFLICT);
        usleep(1000);
    } while (rc == ERR_UNAVAILABLE && fixture_now_us() < give_up_us);
    assert_int_not_equal(rc, ERR_UNAVAILABLE);
}

void a_short_cut_loses_nothing(void **state)
{
    static const char *const keys[] = {"first", "second", "third"};
    struct pair pair;

    (void)state;
    begin_pair(&pair, KEPT_MS);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        proxy_cut(pair.proxy);
        wait_connected(pair.old, keys[i]); /* had the session been lost, the other would have it */
        assert_int_equal(fixture_wait_ticket(pair.old_shards, 0), pair.old_ticket);
        assert_int_equal(fixture_ticket(pair.fresh_shards, 0), 0);
    }
    end_pair(&pair);
}

void registers_outlive_a_lost_session(void **state)
{
    struct buf value = BUF_INIT(64);
    struct pair pair;
    uint64_t version;
    struct err err;
    int64_t give_up_us = fixture_now_us() + (int64_t)PATIENCE_MS * MS_US;
    int rc;

    (void)state;
    begin_pair(&pair, NOTICED_MS);
    assert_int_equal(coord_set(pair.old, "k", bytes_of("v"), 0, &version, &err), 0);
    assert_true(proxy_end_session(pair.proxy));
    fixture_wait_ticket(pair.fresh_shards, 0);
    proxy_pass(pair.proxy);
    do { /* unavailable for a moment, never wrong */
        buf_reset(&value);
        rc = coord_get(pair.old, "k", &value, &version, &err);
        assert_true(rc == 0 || rc == ERR_UNAVAILABLE);
        usleep(STEP_MS * 1000);
    } while (rc && fixture_now_us() < give_up_us);
    assert_int_equal(rc, 0);
    assert_string_equal(buf_text(&value), "v");
    assert_int_equal(coord_set(pair.old, "k", bytes_of("w"), version, &version, &err), 0);
    assert_int_equal(version, 2);
    buf_release(&value);
    end_pair(&pair);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coord_fixture.h - what the contract of coord shares: places, members, an application that
 * does as it is told, and a storage that checks tickets. Failures end the test.
 *
 * A lease ends by the real clock, so a machine that stands still ends one, too, and rightly. Cases
 * that do not wait for that have a lease longer than any pause (KEPT_MS). The others have a short
 * one, measure meanwhile how long the world stood still, and are run again, with a lease twice as
 * long, when that was long enough to spoil them: what they find in a world that did not is what
 * they say.
 */
#ifndef TORG_TESTS_CONTRACT_COORD_FIXTURE_H
#define TORG_TESTS_CONTRACT_COORD_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coord/coord.h"
#include "test_dir.h"

enum {
    SHARDS = 32,
    KEPT_MS = 30 * 1000,
    NOTICED_MS = 6 * 1000, /* who is thrown out learns it within a third of it */
    LEASE_MS = 1500,
    STILL_PART = 5, /* no case is spoilt by less than this part of its lease */
    TRY_COUNT = 5,  /* the last lease is 16 times as long as the first */
    STEP_MS = 10,
};

struct backend {
    const char *name;
    char url[256]; /* a place of its own */
    char dir[TEST_DIR_SIZE];
    struct sim_net *net; /* of "sim" alone */
    struct sim_node *member;
};

int64_t fixture_now_us(void);

/* Gives the backend a place of its own; skips the test when its server is not there. */
void fixture_begin(struct backend *backend, const char *name);
void fixture_end(struct backend *backend);

struct coord *fixture_open(const char *url, const char *member, int lease_ms);
struct coord_shards *fixture_join(struct coord *coord, const char *set, uint32_t count);

/* Plays the application: releases what is leaving, until each has its share of all shards. */
void fixture_settle(struct coord_shards *const *members, size_t member_count, uint32_t shard_count);

uint64_t fixture_ticket(struct coord_shards *shards, uint32_t shard); /* 0: not owned */
uint64_t fixture_wait_ticket(struct coord_shards *shards, uint32_t shard);
void fixture_wait_invalid(struct coord_shards *shards, uint32_t shard, uint64_t ticket);

/* Asks again and again, from a thread of its own, and remembers the longest time between two
 * answers: of the machine or of the server, whichever stood still. */
struct pulse {
    struct coord *coord;
    pthread_t thread;
    _Atomic bool is_over;
    int64_t longest_us;
};

void pulse_begin(struct pulse *pulse, const char *url);
bool pulse_end(struct pulse *pulse, int lease_ms); /* true: it stood still for too long */

/* Until `attempt` says true, as long as the world stands still beside it. */
void fixture_try(struct backend *backend, bool (*attempt)(struct backend *backend, int lease_ms));

/* A storage that keeps the largest ticket it has seen, as store/fence.h does with rows. */
struct vault {
    _Atomic uint64_t newest;
    _Atomic uint64_t value;
};

bool vault_write(struct vault *vault, uint64_t ticket, uint64_t value);

/* --- coord_zookeeper.c: what only a real server can show --- */

struct pair {
    struct backend backend;
    struct proxy *proxy;
    struct coord *old; /* through the proxy */
    struct coord *fresh;
    struct coord_shards *old_shards;
    struct coord_shards *fresh_shards;
    uint64_t old_ticket;
};

/* One shard, owned by the member behind the proxy, with this lease; the other waits for it. */
void begin_pair(struct pair *pair, int lease_ms);
void end_pair(struct pair *pair);

void a_frozen_process_can_write_nothing(void **state);
void a_lost_session_cannot_write(void **state);
void a_cut_off_owner_stops_before_another_begins(void **state);
void a_short_cut_loses_nothing(void **state);
void registers_outlive_a_lost_session(void **state);

/* --- coord_store.c: the storage that checks tickets is the real one --- */

void a_lost_session_cannot_write_to_the_store(void **state);

#endif

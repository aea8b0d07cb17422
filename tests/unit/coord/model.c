/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random model of coord/coord.h on the embedded backends, with a clock that the test moves:
 * members come, go, freeze, thaw, release and fail in any order. After every action no two
 * members are valid for one shard, and a storage that checks tickets takes every write of a
 * valid owner and none of an older one. Whenever all is let run, all shards are owned, fairly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "coord/coord.h"
#include "coord/fault.h"
#include "test_dir.h"

enum { SLOTS = 6, SHARDS = 11, ACTIONS = 4000, SETTLE_EVERY = 100, LEASE_US = 1000 * 1000 };

struct member {
    struct coord *coord;
    struct coord_shards *shards;
    bool frozen;
};

struct world {
    struct clock_manual clock;
    struct rng rng;
    char url[TEST_DIR_SIZE + 16];
    bool faults;
    struct member members[SLOTS];
    uint64_t newest[SHARDS];     /* the storage's tickets */
    int owner[SHARDS];           /* the slot that holds the newest */
    uint64_t remembered[SHARDS]; /* a ticket somebody had once */
    int opened;
};

static void check(struct world *world)
{
    int valid[SHARDS];
    int slot;
    size_t i;

    memset(valid, -1, sizeof(valid));
    for (slot = 0; slot < SLOTS; slot++) {
        struct coord_shard owned[SHARDS];
        size_t count;

        if (!world->members[slot].shards)
            continue;
        count = coord_owned(world->members[slot].shards, owned, SHARDS);
        for (i = 0; i < count; i++) {
            uint32_t shard = owned[i].shard;

            assert_true(coord_valid(world->members[slot].shards, shard, owned[i].ticket));
            assert_int_equal(valid[shard], -1); /* nobody else */
            valid[shard] = slot;
            assert_true(owned[i].ticket >= world->newest[shard]); /* the storage takes it */
            if (owned[i].ticket == world->newest[shard])
                assert_int_equal(world->owner[shard], slot); /* a ticket has one owner ever */
            world->newest[shard] = owned[i].ticket;
            world->owner[shard] = slot;
            if (world->remembered[shard] < owned[i].ticket)
                assert_false(
                    coord_valid(world->members[slot].shards, shard, world->remembered[shard]));
            if (rng_below(&world->rng, 8) == 0)
                world->remembered[shard] = owned[i].ticket;
        }
    }
}

static void come(struct world *world, struct member *member)
{
    struct coord_options options = {
        .clock = &world->clock.base, .lease_us = LEASE_US, .manual = true};
    char name[32];
    struct err err;
    int rc;

    snprintf(name, sizeof(name), "m%d", world->opened++ % 4); /* names may repeat */
    rc = coord_open(world->url, name, &options, &member->coord, &err);
    if (!rc) {
        rc = coord_join(member->coord, "set", SHARDS, &member->shards, &err);
        if (rc) {
            coord_close(member->coord);
            *member = (struct member){.coord = NULL};
        }
    }
    assert_true(rc == 0 || (world->faults && rc == ERR_UNAVAILABLE));
    member->frozen = false;
}

static void go(struct world *world, struct member *member)
{
    int slot = (int)(member - world->members);
    size_t i;

    coord_close(member->coord);
    *member = (struct member){.coord = NULL};
    for (i = 0; i < SHARDS; i++) {
        if (world->owner[i] == slot)
            world->owner[i] = -1; /* the slot's next tenant is somebody else */
    }
}

static void step(struct world *world, struct member *member)
{
    struct err err = {0};
    int rc = coord_step(member->coord, &err);

    if (rc && !(world->faults && rc == ERR_UNAVAILABLE))
        fail_msg("%d %s", rc, err.text);
}

/* The application: lets go what is leaving; now and then something else too. */
static void work(struct world *world, struct member *member, bool whims)
{
    struct coord_shard owned[SHARDS];
    size_t count = coord_owned(member->shards, owned, SHARDS);
    size_t i;

    for (i = 0; i < count; i++) {
        if (owned[i].leaving || (whims && rng_below(&world->rng, 20) == 0)) {
            coord_release(member->shards, owned[i].shard, owned[i].ticket);
            assert_false(coord_valid(member->shards, owned[i].shard, owned[i].ticket));
        }
    }
}

static void act(struct world *world)
{
    struct member *member = &world->members[rng_below(&world->rng, SLOTS)];
    uint64_t choice = rng_below(&world->rng, 100);

    if (choice < 15) {
        clock_manual_advance(&world->clock, (int64_t)rng_below(&world->rng, LEASE_US / 2));
    } else if (!member->coord) {
        if (choice < 40)
            come(world, member);
    } else if (choice < 20) {
        go(world, member);
    } else if (choice < 26) {
        member->frozen = !member->frozen;
    } else if (choice < 30 && world->faults) {
        coord_fault_next((enum coord_fault)rng_below(&world->rng, COORD_FAULT_GET),
                         1 + (int)rng_below(&world->rng, 3), rng_below(&world->rng, 2));
    } else if (member->frozen) {
        return;
    } else if (choice < 75) {
        step(world, member);
    } else {
        work(world, member, true);
    }
}

static void settle(struct world *world)
{
    size_t live = 0;
    size_t total = 0;
    int round;
    int slot;

    coord_fault_clear();
    for (round = 0; round < 8; round++) {
        for (slot = 0; slot < SLOTS; slot++) {
            struct member *member = &world->members[slot];

            if (!member->coord)
                continue;
            member->frozen = false;
            work(world, member, false);
            step(world, member);
            check(world);
        }
        clock_manual_advance(&world->clock, LEASE_US / 10);
    }
    for (slot = 0; slot < SLOTS; slot++)
        live += world->members[slot].coord != NULL;
    for (slot = 0; slot < SLOTS && live; slot++) {
        struct coord_shard owned[SHARDS];
        size_t count;

        if (!world->members[slot].coord)
            continue;
        count = coord_owned(world->members[slot].shards, owned, SHARDS);
        assert_in_range(count, SHARDS / live, (SHARDS + live - 1) / live);
        total += count;
    }
    assert_int_equal(total, live ? SHARDS : 0);
}

static void run(const char *url, bool faults)
{
    struct world *world = mem_zero(sizeof(*world));
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 10) : random_u64();
    int i;

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    world->rng = rng_seeded(seed);
    world->faults = faults;
    clock_manual_init(&world->clock, 1);
    snprintf(world->url, sizeof(world->url), "%s", url);
    memset(world->owner, -1, sizeof(world->owner));
    for (i = 1; i <= ACTIONS; i++) {
        act(world);
        check(world);
        if (i % SETTLE_EVERY == 0)
            settle(world);
    }
    coord_fault_clear();
    for (i = 0; i < SLOTS; i++) {
        if (world->members[i].coord)
            go(world, &world->members[i]);
    }
    free(world);
}

static void in_memory(void **state)
{
    (void)state;
    run("memory:model", false);
}

static void in_memory_with_faults(void **state)
{
    (void)state;
    run("fault:memory:model", true);
}

static void in_a_directory(void **state)
{
    char dir[TEST_DIR_SIZE];
    char url[TEST_DIR_SIZE + 8];

    (void)state;
    assert_true(test_dir_make(dir));
    snprintf(url, sizeof(url), "local:%s", dir);
    run(url, false);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory),
        cmocka_unit_test(in_memory_with_faults),
        cmocka_unit_test(in_a_directory),
    };

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

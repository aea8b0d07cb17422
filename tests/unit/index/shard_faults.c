/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_faults.c - a shard whose disk is full or broken: it goes on, the last checkpoint stays
 * good, and all is well again when the disk is.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/file_calls.h"
#include "index/shard/shard.h"
#include "patience.h"
#include "shard_model.h"
#include "test_dir.h"
#include "text_model.h"
#include "threads_only.h"

enum {
    BUFFER_DOC_COUNT = 16, /* so a merge of more than 128 writes a file */
    ROUND_COUNT = 60,
    STEP_MAX = 200, /* operations of a round */
    SKIP_MAX = 60,  /* calls that go well first: a checkpoint has about as many */
    WAIT_MS = PATIENCE_MS,
    PATH_SIZE = 400,
};

struct world {
    char dir[TEST_DIR_SIZE];
    struct shard *shard, *twin; /* the twin has no disk */
    struct rng rng;
    uint64_t seed, offset;
    unsigned failed_checkpoints, failed_works, reopened;
};

static struct shard *open_shard(const char *dir, bool background)
{
    struct shard_options options = {.dir = dir,
                                    .epoch = 7,
                                    .buffer_doc_count_max = BUFFER_DOC_COUNT,
                                    .background = background,
                                    .checkpoint_change_count = background ? 100 : 1 << 30};
    struct shard *shard;
    struct err err = {0};

    if (shard_open(&options, &shard, &err))
        fail_msg("%s", err.text);
    return shard;
}

static void setup(struct world *world, bool background)
{
    *world = (struct world){.rng = model_seed()};
    world->seed = rng_next(&world->rng);
    assert_true(test_dir_make(world->dir));
    world->shard = open_shard(world->dir, background);
    world->twin = open_shard(NULL, false);
}

static void disarm(void)
{
    int fault;

    for (fault = 0; fault < FILE_FAULT_COUNT; fault++)
        file_fault_arm((enum file_fault)fault, 0, 0);
}

static void teardown(struct world *world)
{
    disarm();
    shard_close(world->shard);
    shard_close(world->twin);
    assert_int_equal(dir_remove(world->dir, NULL), 0);
}

static void apply(struct shard *shard, uint64_t seed, uint64_t from, uint64_t to)
{
    struct err err = {0};
    struct op op;

    for (; from < to; from++) {
        op_make(seed, from, &op);
        op_apply(shard, &op);
        if (from % 10 == 9 || from + 1 == to)
            assert_int_equal(shard_publish(shard, from + 1, &err), 0);
    }
}

static void go_on(struct world *world, uint64_t count)
{
    apply(world->shard, world->seed, world->offset, world->offset + count);
    apply(world->twin, world->seed, world->offset, world->offset + count);
    world->offset += count;
}

static uint64_t hash_of(struct shard *shard)
{
    struct err err = {0};
    uint64_t hash;

    if (shard_hash(shard, &hash, &err))
        fail_msg("%s", err.text);
    return hash;
}

static void expect_twin(struct world *world)
{
    assert_true(hash_of(world->shard) == hash_of(world->twin));
}

/* As after the end of the process: from the last checkpoint, and what the topic has since. */
static void reopen(struct world *world, bool background)
{
    shard_close(world->shard);
    world->shard = open_shard(world->dir, background);
    assert_true(shard_offset(world->shard) <= world->offset);
    apply(world->shard, world->seed, shard_offset(world->shard), world->offset);
    expect_twin(world);
    world->reopened++;
}

static int work_all(struct shard *shard, struct err *err)
{
    bool did = true;
    int rc = 0;

    while (did && !rc)
        rc = shard_work(shard, &did, err);
    return rc;
}

static void arm_any(struct world *world)
{
    enum file_fault fault = (enum file_fault)rng_below(&world->rng, FILE_FAULT_COUNT);

    file_fault_arm(fault, (unsigned)rng_below(&world->rng, SKIP_MAX),
                   rng_below(&world->rng, 2) ? 1 : UINT_MAX);
}

static void any_call_may_fail(void **state)
{
    struct world world;
    unsigned round;

    (void)state;
    setup(&world, false);
    for (round = 0; round < ROUND_COUNT; round++) {
        bool is_checkpoint = rng_below(&world.rng, 3) > 0;
        unsigned hits = file_fault_hits();
        struct err err = {0};
        int rc;

        go_on(&world, 1 + rng_below(&world.rng, STEP_MAX));
        arm_any(&world);
        rc = is_checkpoint ? shard_checkpoint(world.shard, &err) : work_all(world.shard, &err);
        disarm();
        if (rc) {
            assert_true(file_fault_hits() > hits);
            assert_true(strlen(err.text) > 0);
            world.failed_checkpoints += is_checkpoint;
            world.failed_works += !is_checkpoint;
            expect_twin(&world);
        }
        if (rng_below(&world.rng, 3) == 0)
            reopen(&world, false);
        if (rng_below(&world.rng, 3) == 0 && shard_checkpoint(world.shard, &err))
            fail_msg("%s", err.text);
    }
    print_message("# %u checkpoints and %u pieces of work failed, %u times opened anew\n",
                  world.failed_checkpoints, world.failed_works, world.reopened);
    assert_true(world.failed_checkpoints > 0 && world.reopened > 0);
    assert_int_equal(work_all(world.shard, NULL), 0);
    assert_int_equal(shard_checkpoint(world.shard, NULL), 0);
    reopen(&world, false);
    teardown(&world);
}

/* A large merge writes a file; on a full disk it gives up, and leaves nothing behind. */
static void a_merge_waits_for_room(void **state)
{
    struct world world;
    struct err err = {0};
    int rc = 0;

    (void)state;
    setup(&world, false);
    while (!rc && world.offset < 20000) {
        go_on(&world, 100);
        file_fault_arm(FILE_FAULT_WRITE, 0, UINT_MAX);
        rc = work_all(world.shard, &err);
        disarm();
    }
    if (!strstr(err.text, "segment-"))
        fail_msg("offset %ju: %s", (uintmax_t)world.offset, err.text);
    expect_twin(&world);
    assert_int_equal(work_all(world.shard, &err), 0);
    expect_twin(&world);
    assert_int_equal(shard_checkpoint(world.shard, &err), 0);
    reopen(&world, false);
    assert_true(shard_offset(world.shard) == world.offset);
    teardown(&world);
}

static void wait_for(struct world *world, bool (*is_so)(struct world *))
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;

    while (!is_so(world)) {
        assert_true(clock_mono_us(clock_system()) < until_us);
        usleep(10 * 1000);
    }
}

static bool has_failed(struct world *world)
{
    struct err err;

    return shard_failures(world->shard, &err) > 0;
}

/* The manifest is written whole under another name, so a new one is another file. The second may be
 * given the number of the one that the first has replaced. */
static struct stat manifest_file(const struct world *world)
{
    char path[PATH_SIZE];
    struct stat status;

    snprintf(path, sizeof(path), "%s/shard", world->dir);
    assert_int_equal(stat(path, &status), 0);
    return status;
}

static struct stat manifest_before;

static bool has_checkpoint(struct world *world)
{
    struct stat now = manifest_file(world);

    return now.st_ino != manifest_before.st_ino ||
           now.st_mtim.tv_sec != manifest_before.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != manifest_before.st_mtim.tv_nsec;
}

static void the_background_tells_and_tries_again(void **state)
{
    struct world world;
    struct err err;

    (void)state;
    setup(&world, true);
    manifest_before = manifest_file(&world);
    file_fault_arm(FILE_FAULT_SYNC, 0, UINT_MAX);
    go_on(&world, 300);
    wait_for(&world, has_failed);
    assert_true(shard_failures(world.shard, &err) > 0);
    assert_non_null(strstr(err.text, world.dir));
    go_on(&world, 300);
    expect_twin(&world);
    assert_false(has_checkpoint(&world));
    disarm();
    wait_for(&world, has_checkpoint); /* nothing else was asked for */
    reopen(&world, true);
    teardown(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(a_merge_waits_for_room),
        cmocka_unit_test(the_background_tells_and_tries_again),
    };

    threads_only("the_background_*");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

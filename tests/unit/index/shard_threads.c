/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_threads.c - one writer, readers and the background at once, then a restart.
 *
 * A reader knows the topic, so it makes the model of each snapshot's offset itself: whatever the
 * background does meanwhile, text and existence must be those, and the attributes of documents that
 * have not changed since.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "index/shard/shard.h"
#include "shard_model.h"
#include "test_dir.h"
#include "text_model.h"

enum { READER_COUNT = 3, OP_COUNT = 4000, BATCH_MAX = 12 };

struct world {
    struct shard *shard;
    uint64_t seed;
    _Atomic bool is_over;
};

static void check_price(const struct world *world, const struct snapshot *snapshot,
                        const struct shard_model *model, struct rng *rng)
{
    const uint16_t field = MODEL_PRICE;
    uint32_t doc = (uint32_t)rng_below(rng, MODEL_DOC_COUNT);
    const struct shard_doc *expected = &model->docs[doc];
    int64_t value;

    if (model->field_count <= MODEL_PRICE)
        return;
    columns_get(snapshot->columns, model_id(doc), &field, 1, &value);
    if (shard_changed_since(world->shard, snapshot, model_id(doc)))
        return;
    assert_true(value ==
                (expected->alive && expected->has[MODEL_PRICE] ? expected->price : COLUMN_NULL));
}

/* At least once, however late it is begun. */
static void *read_on(void *context)
{
    struct world *world = context;
    struct shard_model *model = mem_zero(sizeof(*model));
    struct rng rng = rng_seeded(world->seed + 1);
    const struct snapshot *snapshot;
    struct shard_reader *reader;
    uint64_t offset = 0;
    struct err err;
    struct op op;
    int i;

    assert_int_equal(shard_reader_new(world->shard, &reader, &err), 0);
    do {
        assert_int_equal(shard_enter(reader, &snapshot, &err), 0);
        for (; offset < snapshot->offset; offset++) {
            op_make(world->seed, offset, &op);
            model_apply(model, &op);
        }
        for (i = 0; i < 20; i++)
            check_price(world, snapshot, model, &rng);
        model_check(model, world->shard, snapshot, false);
        shard_exit(reader);
    } while (!atomic_load(&world->is_over));
    shard_reader_free(reader);
    free(model);
    return NULL;
}

static void write_all(struct world *world, struct rng *rng, uint64_t from)
{
    uint64_t offset;
    struct err err;
    struct op op;

    for (offset = from; offset < OP_COUNT; offset++) {
        op_make(world->seed, offset, &op);
        op_apply(world->shard, &op);
        if (rng_below(rng, BATCH_MAX) == 0 && shard_publish(world->shard, offset + 1, &err))
            fail_msg("%s", err.text);
    }
    if (shard_publish(world->shard, offset, &err))
        fail_msg("%s", err.text);
}

static void readers_see_the_model_while_all_moves(void **state)
{
    struct rng rng = model_seed();
    struct world world = {.seed = rng_next(&rng)};
    struct shard_options options = {
        .epoch = 1, .background = true, .buffer_doc_count_max = 40, .checkpoint_change_count = 500};
    struct shard_options memory = {.epoch = 1};
    pthread_t readers[READER_COUNT];
    uint64_t hash, rebuilt_hash;
    char dir[TEST_DIR_SIZE];
    struct err err = {0};
    int i;

    (void)state;
    assert_true(test_dir_make(dir));
    options.dir = dir;
    assert_int_equal(shard_open(&options, &world.shard, &err), 0);
    for (i = 0; i < READER_COUNT; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &world), 0);
    write_all(&world, &rng, 0);
    assert_int_equal(
        shard_wait(world.shard, OP_COUNT, clock_mono_us(clock_system()) + 60 * SECOND_US, &err), 0);
    atomic_store(&world.is_over, true);
    for (i = 0; i < READER_COUNT; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(shard_hash(world.shard, &hash, &err), 0);
    if (shard_check(world.shard, &err))
        fail_msg("%s", err.text);
    /* Those of the background give up while a batch is open: on a busy machine, all of them. */
    if (shard_checkpoint(world.shard, &err))
        fail_msg("%s", err.text);
    shard_close(world.shard);

    if (shard_open(&options, &world.shard, &err))
        fail_msg("%s", err.text);
    assert_true(shard_offset(world.shard) > 0);
    write_all(&world, &rng, shard_offset(world.shard));
    assert_int_equal(shard_hash(world.shard, &rebuilt_hash, &err), 0);
    assert_true(rebuilt_hash == hash);
    shard_close(world.shard);

    assert_int_equal(shard_open(&memory, &world.shard, &err), 0);
    write_all(&world, &rng, 0);
    assert_int_equal(shard_hash(world.shard, &rebuilt_hash, &err), 0);
    assert_true(rebuilt_hash == hash);
    shard_close(world.shard);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_the_model_while_all_moves),
    };

    return cmocka_run_group_tests_name("shard_threads", tests, NULL, NULL);
}

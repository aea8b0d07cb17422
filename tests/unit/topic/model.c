/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random operations on the embedded topics, compared with plain arrays: produces, polls, commits,
 * reads, retention, clean reopens, and power cuts at any write or sync. TORG_SEED repeats a run.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "topic/disk.h"
#include "topic/topic.h"

enum { PARTITIONS = 3, STEPS = 1500, RECORDS_MAX = 100000, BATCH_MAX = 20, VALUE_MAX = 3000 };

/* A partition as it should be. */
struct naive {
    uint64_t *values; /* the number each record carries, by offset */
    uint64_t end;     /* of what was acknowledged, or found after a crash */
    uint64_t first;
    uint64_t position;  /* of the consumer */
    uint64_t committed; /* acknowledged; UINT64_MAX: none */
    uint64_t tried;     /* a commit that failed may still be there; UINT64_MAX: none */
};

struct world {
    struct rng rng;
    struct disk *disk, *faulty;
    struct disk_faults faults;
    struct clock_manual clock;
    struct topics *topics;
    struct consumer *consumer;
    struct arena *arena;
    struct naive naive[PARTITIONS];
    uint64_t next_number;
    unsigned cuts, found_unacknowledged, deleted;
};

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* A record is its number and as many bytes as follow from it. */
static size_t make_value(uint64_t number, char value[VALUE_MAX])
{
    struct rng rng = rng_seeded(number);
    size_t size = 24 + rng_below(&rng, rng_below(&rng, 4) ? 100 : VALUE_MAX - 24);
    size_t length = (size_t)snprintf(value, VALUE_MAX, "%" PRIu64 ":", number);

    memset(value + length, (int)('a' + number % 26), size - length);
    return size;
}

static uint64_t check_value(struct bytes value)
{
    char wanted[VALUE_MAX];
    char text[24] = "";
    uint64_t number;

    assert_true(value.size >= 24);
    memcpy(text, value.data, sizeof(text) - 1);
    number = strtoull(text, NULL, 10);
    assert_true(bytes_equal(value, bytes_make(wanted, make_value(number, wanted))));
    return number;
}

static void open_world(struct world *world)
{
    struct topics_options options = {.clock = &world->clock.base, .disk = world->faulty};
    struct topic_config config = {PARTITIONS, 0, 256 << 10};
    const char *names[] = {"t"};
    struct consumer_options member = {
        .group = "g", .topics = names, .topic_count = 1, .poll_count = 50};
    struct err err;
    size_t i;

    OK(topics_open("file:", &options, &world->topics, &err));
    OK(topic_create(world->topics, "t", &config, &err));
    OK(consumer_open(world->topics, &member, &world->consumer, &err));
    for (i = 0; i < PARTITIONS; i++)
        world->naive[i].position = UINT64_MAX; /* from what is committed */
}

static void close_world(struct world *world)
{
    consumer_close(world->consumer);
    topics_close(world->topics);
}

/* Reads a partition from first to end and compares; gives the number of records. */
static uint64_t compare_partition(struct world *world, uint32_t partition, bool after_crash)
{
    struct naive *naive = &world->naive[partition];
    const struct topic_message *messages;
    uint64_t first, end, at;
    struct err err;
    size_t count, i;
    int rc;

    OK(topic_range(world->topics, "t", partition, &first, &end, &err));
    assert_true(first >= naive->first);
    assert_true(after_crash ? end >= naive->end : end == naive->end);
    world->deleted += first > naive->first;
    naive->first = first;
    for (at = first; at < end; at += count) {
        rc = topic_read(world->topics, "t", partition, at, 1 + rng_below(&world->rng, 500), 0,
                        world->arena, &messages, &count, &err);
        if (rc == ERR_RANGE) { /* the housekeeper was faster */
            OK(topic_range(world->topics, "t", partition, &first, &end, &err));
            assert_true(first > at);
            naive->first = first;
            count = first - at;
            continue;
        }
        OK(rc);
        assert_true(count > 0);
        for (i = 0; i < count; i++) {
            uint64_t number = check_value(messages[i].value);

            assert_int_equal(messages[i].offset, at + i);
            if (at + i < naive->end)
                assert_int_equal(number, naive->values[at + i]);
            naive->values[at + i] = number;
        }
        arena_reset(world->arena);
    }
    world->found_unacknowledged += end > naive->end;
    naive->end = end;
    return end - first;
}

static void compare_all(struct world *world, bool after_crash)
{
    struct topic_lag lag;
    struct err err;
    uint32_t i;

    for (i = 0; i < PARTITIONS; i++) {
        struct naive *naive = &world->naive[i];

        compare_partition(world, i, after_crash);
        OK(topic_lag(world->topics, "g", "t", i, &lag, &err));
        assert_true(!lag.has_committed || lag.committed <= naive->end);
        if (after_crash && lag.has_committed && lag.committed == naive->tried)
            naive->committed = naive->tried;
        assert_int_equal(lag.has_committed ? lag.committed : UINT64_MAX, naive->committed);
        naive->tried = UINT64_MAX;
    }
}

/* Returns whether all went well; what failed is simply not in the arrays. */
static bool produce(struct world *world)
{
    char(*values)[VALUE_MAX] = mem_array(BATCH_MAX, sizeof(*values));
    char keys[BATCH_MAX][16];
    struct topic_record records[BATCH_MAX];
    uint64_t offsets[BATCH_MAX];
    size_t count = 1 + rng_below(&world->rng, BATCH_MAX), i;
    struct err err;
    int rc;

    for (i = 0; i < count; i++) {
        snprintf(keys[i], sizeof(keys[i]), "key-%d", (int)rng_below(&world->rng, 30));
        records[i] = (struct topic_record){
            .key = bytes_of(keys[i]),
            .value = bytes_make(values[i], make_value(world->next_number + i, values[i]))};
    }
    rc = topic_produce(world->topics, "t", records, count, offsets, &err);
    for (i = 0; i < count && !rc; i++) {
        struct naive *naive = &world->naive[topic_partition(records[i].key, PARTITIONS)];

        assert_int_equal(offsets[i], naive->end);
        assert_true(naive->end < RECORDS_MAX);
        naive->values[naive->end++] = world->next_number + i;
    }
    world->next_number += count;
    free(values);
    return rc == 0;
}

static void poll(struct world *world)
{
    const struct topic_message *messages;
    struct err err;
    size_t count, i;

    OK(consumer_poll(world->consumer, 0, &messages, &count, &err));
    for (i = 0; i < count; i++) {
        struct naive *naive = &world->naive[messages[i].partition];
        uint64_t wanted = naive->position;

        if (wanted == UINT64_MAX)
            wanted = naive->committed == UINT64_MAX ? 0 : naive->committed;
        if (wanted < messages[i].offset) { /* only retention may skip */
            OK(topic_range(world->topics, "t", messages[i].partition, &naive->first, &wanted,
                           &err));
            wanted = naive->first;
        }
        assert_int_equal(messages[i].offset, wanted);
        assert_int_equal(check_value(messages[i].value), naive->values[wanted]);
        naive->position = wanted + 1;
    }
}

static bool commit(struct world *world)
{
    uint32_t partition = (uint32_t)rng_below(&world->rng, PARTITIONS);
    struct naive *naive = &world->naive[partition];
    struct topic_position position = {"t", partition, naive->position};
    struct err err;
    int rc;

    if (naive->position == UINT64_MAX)
        return true;
    rc = consumer_commit(world->consumer, &position, 1, &err);
    if (rc)
        naive->tried = position.offset;
    else
        naive->committed = position.offset;
    return rc == 0;
}

/* From some write or sync on the disk does nothing; what was not synced may be lost. */
static void cut_power(struct world *world)
{
    bool well = true;
    size_t i;

    world->faults.stay_failed = true;
    world->faults.fail_write_after = (int64_t)rng_below(&world->rng, 12);
    world->faults.fail_sync_after = (int64_t)rng_below(&world->rng, 12);
    for (i = 0; i < 20 && well; i++)
        well = rng_below(&world->rng, 4) ? produce(world) : commit(world);
    close_world(world);
    disk_memory_cut(world->disk, rng_next(&world->rng));
    world->faults.stay_failed = false;
    world->faults.fail_write_after = world->faults.fail_sync_after = -1;
    world->cuts++;
    open_world(world);
    compare_all(world, true);
}

static void step(struct world *world)
{
    uint64_t dice = rng_below(&world->rng, 100);
    struct err err;

    if (dice < 50) {
        assert_true(produce(world));
    } else if (dice < 75) {
        poll(world);
    } else if (dice < 88) {
        assert_true(commit(world));
    } else if (dice < 92) {
        OK(topics_housekeep(world->topics, &err));
    } else if (dice < 95) {
        compare_all(world, false);
    } else if (dice < 97) {
        close_world(world);
        open_world(world);
        compare_all(world, false);
    } else {
        cut_power(world);
    }
}

static void random_operations_match_plain_arrays(void **state)
{
    struct world *world = mem_zero(sizeof(*world));
    const char *given = getenv("TORG_SEED");
    uint64_t seed = random_u64();
    size_t i;

    (void)state;
    if (given)
        assert_true(text_to_u64(bytes_of(given), &seed));
    printf("# TORG_SEED=%" PRIu64 "\n", seed);
    world->rng = rng_seeded(seed);
    world->disk = disk_memory_new();
    world->faults.fail_write_after = world->faults.fail_sync_after = -1;
    world->faulty = disk_fault_new(world->disk, &world->faults);
    clock_manual_init(&world->clock, 1700000000ll * SECOND_US);
    world->arena = arena_new();
    for (i = 0; i < PARTITIONS; i++) {
        world->naive[i].values = mem_array(RECORDS_MAX, sizeof(uint64_t));
        world->naive[i].committed = world->naive[i].tried = UINT64_MAX;
    }
    open_world(world);
    for (i = 0; i < STEPS; i++)
        step(world);
    compare_all(world, false);
    printf("# %u power cuts, %u left unacknowledged records, %u deletions seen\n", world->cuts,
           world->found_unacknowledged, world->deleted);
    close_world(world);
    disk_close(world->faulty);
    disk_close(world->disk);
    arena_free(world->arena);
    for (i = 0; i < PARTITIONS; i++)
        free(world->naive[i].values);
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_match_plain_arrays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

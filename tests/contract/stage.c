/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.c - the reader of stages and what it parks: order through failures, nothing lost.
 *
 * The stage under test uses records of a few keys, numbered 1, 2, … in each; a case says which of
 * them it cannot use. Topics have a prefix of the case's own, so nothing is shared on Kafka. Time
 * is a clock that the case moves: tries again come as soon as it waits for them.
 */
#include "contract/cases.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/random.h"
#include "contract/place.h"
#include "model/topics.h"
#include "patience.h"
#include "stage/bounds.h"
#include "stage/make_topics.h"
#include "stage/reader.h"
#include "stage/service.h"
#include "store/store_fault.h"
#include "test_dir.h"
#include "topic/topic_fault.h"

enum {
    KEY_COUNT = 6,
    NUMBER_MAX = 200,
    USE_COUNT_MAX = 100000,
    WAIT_MS = PATIENCE_MS,
    PARTITION_COUNT = 8,
};
#define STAGE "tested"
#define GROUP "stage-test"

struct use {
    int key;
    int number;
};

struct world {
    struct store_place at;
    struct store *store;
    struct topics *topics; /* with the prefix */
    struct topic_faults *faults;
    char dir[TEST_DIR_SIZE];
    char prefix[40];
    bool is_on_kafka;
    struct clock_manual clock;
    struct stage_reader *reader;
    struct stage_reader_options options;
    struct stage_reader_handler handler;
    int sent[KEY_COUNT]; /* the last number of each key */

    pthread_mutex_t lock;
    bool is_bad[KEY_COUNT][NUMBER_MAX + 1]; /* guarded by lock, as all below */
    bool is_not_yet[KEY_COUNT][NUMBER_MAX + 1];
    int64_t put_off_us; /* parked ones come again after it; 0: they are tried */
    int outage_count;   /* next uses that fail with the world */
    int tried_count;
    struct use *uses; /* in their order */
    size_t use_count;
    struct use pending[USE_COUNT_MAX]; /* taken, not flushed */
    size_t pending_count;
};

/* --- the stage --- */

static int take(void *arg, const struct topic_message *message, struct arena *arena,
                struct err *err)
{
    struct world *world = arg;
    struct use use = {0};
    int rc = 0;

    if (sscanf((const char *)arena_text(arena, message->value), "%d:%d", &use.key, &use.number) !=
        2)
        return err_set(err, ERR_INVALID, "no record of the test");
    pthread_mutex_lock(&world->lock);
    world->tried_count++;
    if (world->outage_count > 0) {
        world->outage_count--;
        rc = err_set(err, ERR_UNAVAILABLE, "the world is away");
    } else if (world->put_off_us && stage_reader_is_retry(world->reader)) {
        stage_reader_put_off(world->reader, world->put_off_us);
        rc = STAGE_READER_NOT_YET;
    } else if (world->is_not_yet[use.key][use.number]) {
        rc = STAGE_READER_NOT_YET;
    } else if (world->is_bad[use.key][use.number]) {
        rc = err_set(err, ERR_INVALID, "%d:%d is bad", use.key, use.number);
    } else if (world->handler.flush) {
        assert_true(world->pending_count < USE_COUNT_MAX);
        world->pending[world->pending_count++] = use;
    } else {
        assert_true(world->use_count < USE_COUNT_MAX);
        world->uses[world->use_count++] = use;
    }
    pthread_mutex_unlock(&world->lock);
    return rc;
}

static int flush(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err)
{
    struct world *world = arg;
    int rc = 0;

    (void)partition;
    (void)is_forced;
    *is_flushed = true;
    pthread_mutex_lock(&world->lock);
    if (world->outage_count > 0) {
        world->outage_count--;
        rc = err_set(err, ERR_UNAVAILABLE, "the world is away");
    }
    for (size_t i = 0; i < world->pending_count && !rc; i++)
        world->uses[world->use_count++] = world->pending[i];
    world->pending_count = rc ? world->pending_count : 0;
    pthread_mutex_unlock(&world->lock);
    return rc;
}

/* --- a world for each case --- */

static struct world *open_world(void **state)
{
    struct world *world = mem_zero(sizeof(*world));
    bool servers = *(const bool *)*state;
    struct topics_options options = {.prefix = world->prefix};
    char url[512];
    struct err err;

    if (servers && !server_address("kafka"))
        skip();
    world->is_on_kafka = servers;
    snprintf(world->prefix, sizeof(world->prefix), "t%016" PRIx64 ".", random_u64());
    if (!store_place_open(&world->at, servers, "fault:", &world->store))
        skip();
    assert_true(test_dir_make(world->dir));
    if (servers)
        snprintf(url, sizeof(url), "fault:kafka://%s", server_address("kafka"));
    else
        snprintf(url, sizeof(url), "fault:file:%s/topics", world->dir);
    OK(topics_open(url, &options, &world->topics, &err));
    world->faults = topics_faults(world->topics);
    pthread_mutex_init(&world->lock, NULL);
    clock_manual_init(&world->clock, INT64_C(1800000000000000));
    world->uses = mem_array(USE_COUNT_MAX, sizeof(world->uses[0]));
    world->handler.take = take;
    world->options = (struct stage_reader_options){.stage = STAGE,
                                                   .topic = TOPIC_PHOTO_RESULTS,
                                                   .group = GROUP,
                                                   .handler = &world->handler,
                                                   .arg = world,
                                                   .topics = world->topics,
                                                   .store = world->store,
                                                   .clock = &world->clock.base,
                                                   .order = PARKED_IN_ORDER};
    return world;
}

static void start(struct world *world)
{
    struct err err;

    OK(stage_reader_start(&world->options, &world->reader, &err));
}

static void stop(struct world *world)
{
    stage_reader_stop(world->reader);
    world->reader = NULL;
    world->pending_count = 0; /* what a process had not flushed is gone with it */
}

static void close_world(struct world *world)
{
    struct err err;

    stop(world);
    topic_remove(world->topics, TOPIC_PHOTO_RESULTS, &err);
    topics_close(world->topics);
    store_place_close(&world->at, world->store);
    OK(dir_remove(world->dir, &err));
    pthread_mutex_destroy(&world->lock);
    free(world->uses);
    free(world);
}

/* Records of a key, one after the other. */
static void send(struct world *world, int key, int count)
{
    const struct topic_config config = {.partition_count = PARTITION_COUNT};
    struct err err;

    OK(topic_ensure(world->topics, TOPIC_PHOTO_RESULTS, &config, &err));
    for (int i = 0; i < count; i++) {
        char key_text[16], value[32];
        struct topic_record record;

        assert_true(world->sent[key] < NUMBER_MAX);
        snprintf(key_text, sizeof(key_text), "key-%d", key);
        snprintf(value, sizeof(value), "%d:%d", key, ++world->sent[key]);
        record = (struct topic_record){.key = bytes_of(key_text), .value = bytes_of(value)};
        OK(topic_produce(world->topics, TOPIC_PHOTO_RESULTS, &record, 1, NULL, &err));
    }
}

static void set_bad(struct world *world, int key, int number, bool is_bad)
{
    pthread_mutex_lock(&world->lock);
    world->is_bad[key][number] = is_bad;
    pthread_mutex_unlock(&world->lock);
}

/* --- looking --- */

static int64_t parked_count(struct world *world)
{
    struct parked_total total;
    struct err err;

    if (parked_total(world->store, STAGE, &total, &err))
        return -1; /* a fault of the test's own */
    assert_true(total.count >= 0 && total.size >= 0);
    return total.count;
}

/* A broker that does not answer in its time is asked again. */
static uint64_t lag_of(struct world *world, uint32_t partition)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    struct topic_lag one;
    struct err err;
    int rc;

    do
        rc = topic_lag(world->topics, GROUP, TOPIC_PHOTO_RESULTS, partition, &one, &err);
    while (err_is_passing(rc) && clock_mono_us(clock_system()) < until_us);
    if (rc)
        fail_msg("%s", err.text);
    return one.lag;
}

static uint64_t lag(struct world *world)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < PARTITION_COUNT; i++)
        sum += lag_of(world, i);
    return sum;
}

static int times_used(struct world *world, int key, int number)
{
    int times = 0;

    pthread_mutex_lock(&world->lock);
    for (size_t i = 0; i < world->use_count; i++)
        times += world->uses[i].key == key && world->uses[i].number == number;
    pthread_mutex_unlock(&world->lock);
    return times;
}

/* At least once: to a member of a Kafka group whose heartbeats a busy machine has held up, what
 * it had not committed comes again. */
static bool was_used(struct world *world, int key, int number)
{
    int times = times_used(world, key, number);

    return world->is_on_kafka ? times > 0 : times == 1;
}

static int tried(struct world *world)
{
    int count;

    pthread_mutex_lock(&world->lock);
    count = world->tried_count;
    pthread_mutex_unlock(&world->lock);
    return count;
}

/* The clock goes on meanwhile: a second with each look. */
#define WAIT_UNTIL(world, condition)                                                               \
    do {                                                                                           \
        int waited = 0;                                                                            \
        while (!(condition) && waited < WAIT_MS) {                                                 \
            clock_manual_advance(&(world)->clock, SECOND_US);                                      \
            pause_ms(10);                                                                          \
            waited += 10;                                                                          \
        }                                                                                          \
        if (!(condition))                                                                          \
            fail_msg("waited for too long: %s", #condition);                                       \
    } while (0)

/* No record of a key is used before an earlier one has been; all are. */
static void check_order(struct world *world)
{
    int last[KEY_COUNT] = {0};

    for (size_t i = 0; i < world->use_count; i++) {
        const struct use *use = &world->uses[i];

        if (use->number > last[use->key] + 1)
            fail_msg("key %d: %d was used after %d", use->key, use->number, last[use->key]);
        if (use->number > last[use->key])
            last[use->key] = use->number;
    }
    for (int i = 0; i < KEY_COUNT; i++)
        assert_int_equal(last[i], world->sent[i]);
}

/* --- cases --- */

static void records_are_used_in_order_and_committed(void **state)
{
    struct world *world = open_world(state);

    for (int i = 0; i < KEY_COUNT; i++)
        send(world, i, 20);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    check_order(world);
    assert_int_equal(parked_count(world), 0);
    close_world(world);
}

static void later_records_of_a_parked_key_wait_behind_it(void **state)
{
    struct world *world = open_world(state);
    struct parked *list;
    struct err err;
    size_t count;

    set_bad(world, 0, 2, true);
    for (int i = 0; i < KEY_COUNT; i++)
        send(world, i, 4);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    assert_true(was_used(world, 0, 1));
    for (int i = 2; i <= 4; i++)
        assert_int_equal(times_used(world, 0, i), 0);
    for (int i = 1; i < KEY_COUNT; i++) /* nobody else waits */
        assert_true(was_used(world, i, 4));
    assert_int_equal(parked_count(world), 3);
    stop(world); /* another finds them parked, and more comes */
    send(world, 0, 2);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    assert_int_equal(parked_count(world), 5);
    {
        struct arena *arena = arena_new();

        OK(parked_of_key(world->store, STAGE, "key-0", 10, arena, &list, &count, &err));
        assert_int_equal(count, 5);
        assert_string_equal(list[0].reason, "0:2 is bad");
        assert_true(list[0].next_us != PARKED_BEHIND && list[1].next_us == PARKED_BEHIND);
        arena_free(arena);
    }
    set_bad(world, 0, 5, true); /* and the way is blocked once more, in the middle */
    set_bad(world, 0, 2, false);
    WAIT_UNTIL(world, parked_count(world) == 2);
    assert_int_equal(times_used(world, 0, 5), 0);
    set_bad(world, 0, 5, false);
    WAIT_UNTIL(world, parked_count(world) == 0);
    check_order(world);
    close_world(world);
}

static void tries_come_later_and_later(void **state)
{
    struct world *world = open_world(state);
    struct arena *arena = arena_new();
    int64_t last_us = 0;
    struct parked *list;
    struct err err;
    size_t count;

    set_bad(world, 0, 1, true);
    send(world, 0, 1);
    start(world);
    WAIT_UNTIL(world, parked_count(world) == 1);
    for (int i = 1; i <= 4; i++) {
        int64_t wait_us = -1;

        while (wait_us < 0) {
            clock_manual_advance(&world->clock, SECOND_US / 2);
            pause_ms(5);
            OK(parked_of_key(world->store, STAGE, "key-0", 1, arena, &list, &count, &err));
            if (list[0].try_count >= i)
                wait_us = list[0].next_us - clock_wall_us(&world->clock.base);
        }
        assert_true(list[0].next_us > last_us);
        assert_true(wait_us <= (int64_t)PARKED_BACKOFF_S_MAX * SECOND_US);
        last_us = list[0].next_us;
    }
    assert_true(last_us - list[0].first_us > 15 * (int64_t)SECOND_US);
    arena_free(arena);
    close_world(world);
}

static struct parked first_parked(struct world *world)
{
    struct arena *arena = arena_new();
    struct parked found;
    struct parked *list;
    struct err err;
    size_t count;

    OK(parked_of_key(world->store, STAGE, "key-0", 1, arena, &list, &count, &err));
    assert_int_equal(count, 1);
    found = list[0];
    found.key = found.topic = found.stage = found.reason = NULL; /* the arena's */
    arena_free(arena);
    return found;
}

static int64_t next_s(struct world *world)
{
    return (first_parked(world).next_us - clock_wall_us(&world->clock.base)) / SECOND_US;
}

static void what_is_put_off_was_no_try(void **state)
{
    struct world *world = open_world(state);
    int64_t tries;

    set_bad(world, 0, 1, true);
    send(world, 0, 1);
    start(world);
    WAIT_UNTIL(world, parked_count(world) == 1);
    stop(world);
    tries = first_parked(world).try_count;
    world->put_off_us = 6000 * (int64_t)SECOND_US;
    start(world);
    WAIT_UNTIL(world, next_s(world) > 3000);
    assert_int_equal(first_parked(world).try_count, tries);
    stop(world);
    world->put_off_us = 0;
    set_bad(world, 0, 1, false);
    start(world);
    clock_manual_advance(&world->clock, 6000 * (int64_t)SECOND_US);
    WAIT_UNTIL(world, parked_count(world) == 0);
    assert_true(was_used(world, 0, 1));
    close_world(world);
}

static void a_newer_record_replaces_a_parked_one(void **state)
{
    struct world *world = open_world(state);
    struct arena *arena = arena_new();
    struct parked *list;
    struct err err;
    size_t count;

    world->options.order = PARKED_NEWEST;
    set_bad(world, 0, 1, true);
    set_bad(world, 0, 2, true);
    send(world, 0, 2);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    OK(parked_of_key(world->store, STAGE, "key-0", 10, arena, &list, &count, &err));
    assert_int_equal(count, 1); /* the newest of those that failed */
    assert_int_equal(memcmp(list[0].body.data, "0:2", 3), 0);
    send(world, 0, 1);
    WAIT_UNTIL(world, parked_count(world) == 0);
    assert_true(was_used(world, 0, 3));
    set_bad(world, 0, 1, false);
    set_bad(world, 0, 2, false);
    send(world, 1, 1); /* some time later */
    WAIT_UNTIL(world, times_used(world, 1, 1));
    assert_int_equal(times_used(world, 0, 1) + times_used(world, 0, 2), 0);
    arena_free(arena);
    close_world(world);
}

static void where_order_is_no_matter_nobody_waits(void **state)
{
    struct world *world = open_world(state);

    world->options.order = PARKED_ASIDE;
    set_bad(world, 0, 1, true);
    send(world, 0, 3);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    assert_true(was_used(world, 0, 3));
    assert_int_equal(parked_count(world), 1);
    set_bad(world, 0, 1, false);
    WAIT_UNTIL(world, parked_count(world) == 0);
    assert_int_equal(times_used(world, 0, 1), 1); /* by its owner, who asks no broker */
    close_world(world);
}

static void strict_waits_and_parks_nothing(void **state)
{
    struct world *world = open_world(state);
    int before;

    world->options.is_strict = true;
    set_bad(world, 0, 2, true);
    send(world, 0, 4);
    start(world);
    WAIT_UNTIL(world, lag(world) == 3); /* the first is used and committed */
    before = tried(world);
    WAIT_UNTIL(world, tried(world) > before + 2); /* again and again */
    assert_int_equal(lag(world), 3);
    assert_int_equal(parked_count(world), 0);
    set_bad(world, 0, 2, false);
    WAIT_UNTIL(world, lag(world) == 0);
    check_order(world);
    close_world(world);
}

/* No room is no leave to drop: the partition waits, and says so. */
static void what_has_no_room_waits(void **state)
{
    struct world *world = open_world(state);
    struct gauge *waiting =
        metrics_gauge("torg_stage_waiting_partitions", "stage=\"" STAGE "\"", "");

    exec(world->store, "INSERT INTO parked_stage (stage, row_count, byte_count, change_no) "
                       "VALUES ('tested', 100000, 0, 1)");
    set_bad(world, 0, 2, true);
    send(world, 0, 3);
    start(world);
    WAIT_UNTIL(world, lag(world) == 2 && atomic_load(&waiting->value) == 1);
    assert_true(was_used(world, 0, 1));
    assert_int_equal(read_integer(world->store, "SELECT COUNT(*) FROM parked"), 0);
    exec(world->store, "UPDATE parked_stage SET row_count = 0"); /* a person has made room */
    WAIT_UNTIL(world, lag(world) == 0);
    assert_int_equal(parked_count(world), 2);
    set_bad(world, 0, 2, false);
    WAIT_UNTIL(world, parked_count(world) == 0);
    check_order(world);
    close_world(world);
}

static void while_the_world_is_away_nothing_is_parked_or_committed(void **state)
{
    struct world *world = open_world(state);

    world->outage_count = INT_MAX;
    send(world, 0, 3);
    start(world);
    WAIT_UNTIL(world, tried(world) >= 3);
    assert_int_equal(lag(world), 3);
    assert_int_equal(parked_count(world), 0);
    stop(world);
    assert_int_equal(lag(world), 3);
    world->outage_count = 0;
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    check_order(world);
    close_world(world);
}

static void what_is_not_ready_is_read_again(void **state)
{
    struct world *world = open_world(state);
    int before;

    world->is_not_yet[0][2] = true;
    send(world, 0, 3);
    start(world);
    WAIT_UNTIL(world, lag(world) == 2);
    before = tried(world);
    WAIT_UNTIL(world, tried(world) > before + 2);
    assert_int_equal(times_used(world, 0, 3), 0);
    assert_int_equal(lag(world), 2);
    pthread_mutex_lock(&world->lock);
    world->is_not_yet[0][2] = false;
    pthread_mutex_unlock(&world->lock);
    WAIT_UNTIL(world, lag(world) == 0);
    check_order(world);
    assert_int_equal(parked_count(world), 0);
    close_world(world);
}

/* Between parking and committing: the record comes again, and is parked once. */
/* More than a file of the topic has, so that it can let go of some. */
static void send_large(struct world *world, int key, int count)
{
    enum { PADDING = 20000 };
    char *value = mem_array(PADDING + 32, 1);
    char key_text[16];
    struct err err;

    snprintf(key_text, sizeof(key_text), "key-%d", key);
    for (int i = 0; i < count; i++) {
        int size = snprintf(value, 32, "%d:%d ", key, ++world->sent[key]);
        struct topic_record record = {.key = bytes_of(key_text)};

        memset(value + size, 'x', PADDING);
        record.value = (struct bytes){(const uint8_t *)value, (size_t)size + PADDING};
        OK(topic_produce(world->topics, TOPIC_PHOTO_RESULTS, &record, 1, NULL, &err));
    }
    free(value);
}

static int hurry_all(struct store_tx *tx, void *arg, struct err *err)
{
    int64_t count;

    return parked_hurry(tx, STAGE, "", clock_wall_us(arg), &count, err);
}

/* The only parked one. */
static struct parked *sole_parked(struct world *world, struct arena *arena)
{
    struct parked *list;
    struct err err;
    size_t count;

    OK(parked_list(world->store, STAGE, 0, 2, arena, &list, &count, &err));
    assert_int_equal(count, 1);
    return &list[0];
}

static void what_was_deleted_unread_is_told(void **state)
{
    struct world *world = open_world(state);
    uint32_t partition = topic_partition(bytes_of("key-0"), PARTITION_COUNT);
    struct arena *arena = arena_new();
    uint64_t first = 0, end;
    struct parked *told;
    struct err err;

    send(world, 0, 3);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    stop(world); /* for longer than the topic keeps what comes */
    send_large(world, 0, 15);
    OK(topic_range(world->topics, TOPIC_PHOTO_RESULTS, partition, &first, &end, &err));
    OK(topic_trim(world->topics, TOPIC_PHOTO_RESULTS, partition, end, &err));
    send_large(world, 0, 15); /* into another file, embedded */
    OK(topic_trim(world->topics, TOPIC_PHOTO_RESULTS, partition, end, &err));
    OK(topic_range(world->topics, TOPIC_PHOTO_RESULTS, partition, &first, &end, &err));
    assert_true(first > 3 && first < end);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    told = sole_parked(world, arena);
    assert_non_null(
        strstr(told->reason, arena_printf(arena, "%" PRIu64 " records of ", first - 3)));
    assert_non_null(strstr(told->reason, "deleted by the topic's retention before they were read"));
    for (int number = 4; number <= 33; number++)
        assert_int_equal(times_used(world, 0, number) > 0, (uint64_t)number > first);
    /* A replay of all finds nothing to use, and it stays; so does a restart, and no news. */
    OK(store_write(world->store, hurry_all, &world->clock.base, &err));
    WAIT_UNTIL(world, sole_parked(world, arena)->next_us == PARKED_FOR_GOOD);
    stop(world);
    send(world, 0, 1);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    assert_string_equal(sole_parked(world, arena)->reason, told->reason);
    arena_free(arena);
    close_world(world);
}

/* A partition that waits for a record may wait for longer than the topic keeps it. */
static void what_was_deleted_while_it_was_waited_for_is_told(void **state)
{
    struct world *world = open_world(state);
    uint32_t partition = topic_partition(bytes_of("key-0"), PARTITION_COUNT);
    struct arena *arena = arena_new();
    uint64_t first = 0, end;
    struct err err;

    world->options.is_strict = true;
    set_bad(world, 0, 1, true);
    send(world, 0, 1);
    start(world);
    WAIT_UNTIL(world, tried(world) > 0);
    send_large(world, 0, 15);
    OK(topic_range(world->topics, TOPIC_PHOTO_RESULTS, partition, &first, &end, &err));
    OK(topic_trim(world->topics, TOPIC_PHOTO_RESULTS, partition, end, &err));
    send_large(world, 0, 15);
    OK(topic_trim(world->topics, TOPIC_PHOTO_RESULTS, partition, end, &err));
    OK(topic_range(world->topics, TOPIC_PHOTO_RESULTS, partition, &first, &end, &err));
    assert_true(first > 0 && first < end);
    WAIT_UNTIL(world, lag(world) == 0);
    assert_non_null(strstr(sole_parked(world, arena)->reason,
                           arena_printf(arena, "%" PRIu64 " records of ", first)));
    assert_int_equal(times_used(world, 0, 1), 0);
    assert_true(was_used(world, 0, 31));
    arena_free(arena);
    close_world(world);
}

static void a_record_that_comes_again_is_parked_once(void **state)
{
    struct world *world = open_world(state);

    set_bad(world, 0, 1, true);
    send(world, 0, 2);
    atomic_store(&world->faults->fail_commit, -1);
    start(world);
    WAIT_UNTIL(world, parked_count(world) == 2);
    stop(world); /* as a kill: nothing of it was committed */
    assert_int_equal(lag(world), 2);
    atomic_store(&world->faults->fail_commit, 0);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    assert_int_equal(parked_count(world), 2);
    set_bad(world, 0, 1, false);
    WAIT_UNTIL(world, parked_count(world) == 0);
    check_order(world);
    close_world(world);
}

/* An answer of the store that was lost, or never came, at each point of a parking. */
static void a_store_that_fails_loses_nothing(void **state)
{
    static const enum store_fault_point points[] = {STORE_FAULT_BEGIN, STORE_FAULT_EXEC,
                                                    STORE_FAULT_COMMIT, STORE_FAULT_ACK};
    struct world *world = open_world(state);

    start(world);
    for (int i = 0; i < (int)ARRAY_COUNT(points); i++) {
        set_bad(world, 0, 2 * i + 1, true);
        store_fault_arm(world->store, points[i], 0, 2);
        send(world, 0, 2);
        WAIT_UNTIL(world, lag(world) == 0 && parked_count(world) == 2);
        store_fault_arm(world->store, points[i], 0, 2);
        set_bad(world, 0, 2 * i + 1, false);
        WAIT_UNTIL(world, parked_count(world) == 0);
    }
    check_order(world);
    close_world(world);
}

/* --- topics --- */

/* An operator's choice stays; the log tells of it. */
static void all_topics_are_made_and_one_that_is_there_stays(void **state)
{
    struct world *world = open_world(state);
    const struct topic_config other = {.partition_count = 3};
    struct topic_config found;
    struct err err;

    OK(topic_create(world->topics, TOPIC_DOCUMENTS, &other, &err));
    for (int i = 0; i < 2; i++) /* a second start changes nothing */
        OK(stage_make_topics(world->topics, &err));
    for (size_t i = 0; i < topic_line_count; i++) {
        const struct topic_line *line = &topic_lines[i];

        if (!line->partition_count)
            continue;
        OK(topic_describe(world->topics, line->name, &found, &err));
        assert_int_equal(found.partition_count,
                         strcmp(line->name, TOPIC_DOCUMENTS) ? line->partition_count : 3);
        if (strcmp(line->name, TOPIC_PHOTO_RESULTS) != 0) /* which the end removes */
            OK(topic_remove(world->topics, line->name, &err));
    }
    close_world(world);
}

/* --- people --- */

static void people_see_replay_and_drop(void **state)
{
    struct world *world = open_world(state);
    struct parked_desk desk = {.store = world->store, .clock = &world->clock.base};
    struct arena *arena = arena_new();
    Torg__V1__ListParkedRequest listing = TORG__V1__LIST_PARKED_REQUEST__INIT;
    Torg__V1__ListParkedResponse list = TORG__V1__LIST_PARKED_RESPONSE__INIT;
    Torg__V1__GetParkedRequest getting = TORG__V1__GET_PARKED_REQUEST__INIT;
    Torg__V1__GetParkedResponse found = TORG__V1__GET_PARKED_RESPONSE__INIT;
    Torg__V1__ReplayParkedRequest replaying = TORG__V1__REPLAY_PARKED_REQUEST__INIT;
    Torg__V1__ReplayParkedResponse replayed = TORG__V1__REPLAY_PARKED_RESPONSE__INIT;
    Torg__V1__DropParkedRequest dropping = TORG__V1__DROP_PARKED_REQUEST__INIT;
    Torg__V1__DropParkedResponse dropped = TORG__V1__DROP_PARKED_RESPONSE__INIT;
    struct err err;

    set_bad(world, 0, 1, true);
    set_bad(world, 1, 1, true);
    send(world, 0, 2);
    send(world, 1, 1);
    start(world);
    WAIT_UNTIL(world, lag(world) == 0);
    stop(world);
    listing.limit = 2;
    OK(parked_desk_list(&desk, &listing, arena, &list, &err));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.n_records, 2);
    listing.page_token = list.next_page_token;
    list = (Torg__V1__ListParkedResponse)TORG__V1__LIST_PARKED_RESPONSE__INIT;
    OK(parked_desk_list(&desk, &listing, arena, &list, &err));
    assert_int_equal(list.n_records, 1);
    assert_string_equal(list.next_page_token, "");
    getting.key = (char *)"key-0";
    OK(parked_desk_get(&desk, &getting, arena, &found, &err));
    assert_int_equal(found.n_records, 2);
    assert_string_equal(found.records[0]->reason, "0:1 is bad");
    assert_null(found.records[1]->next_time);
    getting.key = (char *)"nobody";
    assert_int_equal(parked_desk_get(&desk, &getting, arena, &found, &err), ERR_NOT_FOUND);
    assert_int_equal(parked_desk_replay(&desk, "tester", &replaying, &replayed, &err), ERR_INVALID);
    replaying.all = true;
    OK(parked_desk_replay(&desk, "tester", &replaying, &replayed, &err));
    assert_int_equal(replayed.count, 2); /* what waits behind follows */
    dropping.key = (char *)"key-0";
    assert_int_equal(parked_desk_drop(&desk, "tester", &dropping, &dropped, &err), ERR_INVALID);
    dropping.stage = (char *)STAGE;
    OK(parked_desk_drop(&desk, "tester", &dropping, &dropped, &err));
    assert_int_equal(dropped.count, 1);
    assert_int_equal(read_integer(world->store, "SELECT COUNT(*) FROM audit WHERE action LIKE "
                                                "'parked.%' AND principal = 'tester'"),
                     2);
    start(world);
    WAIT_UNTIL(world, times_used(world, 0, 2)); /* the way is free */
    assert_int_equal(times_used(world, 0, 1), 0);
    WAIT_UNTIL(world, parked_count(world) == 1); /* its row goes after it was used */
    arena_free(arena);
    close_world(world);
}

/* --- a random life --- */

static uint64_t seed_of_run(void)
{
    const char *given = getenv("TORG_MODEL_SEED");

    return given ? strtoull(given, NULL, 10) : random_u64() >> 1;
}

/* Faults, stops and kills at any moment; at the end all is mended, and has to be there. */
static void live(struct world *world, uint64_t seed)
{
    enum { STEP_COUNT = 60 };
    struct rng rng = rng_seeded(seed);

    if (rng_below(&rng, 2))
        world->options.worker_count = 4;
    else if (rng_below(&rng, 2))
        world->handler.flush = flush;
    for (int step = 0; step < STEP_COUNT; step++) {
        int key = (int)rng_below(&rng, KEY_COUNT);

        if (!world->reader)
            start(world);
        switch (rng_below(&rng, 8)) {
        case 0:
        case 1:
            if (world->sent[key] + 4 < NUMBER_MAX) {
                set_bad(world, key, world->sent[key] + 1 + (int)rng_below(&rng, 3), true);
                send(world, key, 3);
            }
            break;
        case 2:
            if (world->sent[key] + 4 < NUMBER_MAX)
                send(world, key, 2);
            break;
        case 3:
            pthread_mutex_lock(&world->lock);
            memset(world->is_bad[key], 0, sizeof(world->is_bad[key]));
            pthread_mutex_unlock(&world->lock);
            break;
        case 4:
            store_fault_arm(world->store, rng_below(&rng, STORE_FAULT_DELAY),
                            (unsigned)rng_below(&rng, 6), 1);
            break;
        case 5:
            atomic_store(&world->faults->fail_commit, 1);
            atomic_store(&world->faults->fail_read, 1);
            atomic_store(&world->faults->lose_commit, (int)rng_below(&rng, 2));
            break;
        case 6:
            if (rng_below(&rng, 2)) /* as a kill: nothing more is committed */
                atomic_store(&world->faults->fail_commit, -1);
            stop(world);
            atomic_store(&world->faults->fail_commit, 0);
            break;
        default:
            pthread_mutex_lock(&world->lock);
            world->outage_count = 2;
            pthread_mutex_unlock(&world->lock);
        }
        clock_manual_advance(&world->clock, SECOND_US);
        pause_ms((int)rng_below(&rng, 20));
    }
    for (int i = 0; i < STORE_FAULT_POINT_COUNT; i++)
        store_fault_arm(world->store, (enum store_fault_point)i, 0, 0);
    pthread_mutex_lock(&world->lock);
    memset(world->is_bad, 0, sizeof(world->is_bad));
    pthread_mutex_unlock(&world->lock);
    if (!world->reader)
        start(world);
}

static void a_random_life_loses_nothing_and_keeps_order(void **state)
{
    uint64_t seed = seed_of_run();
    struct world *world = open_world(state);

    print_message("seed %" PRIu64 "\n", seed);
    send(world, 0, 1);
    live(world, seed);
    WAIT_UNTIL(world, lag(world) == 0 && parked_count(world) == 0);
    stop(world);
    check_order(world);
    assert_int_equal(read_integer(world->store, "SELECT COUNT(*) FROM parked"), 0);
    assert_int_equal(read_integer(world->store,
                                  "SELECT CAST(SUM(ABS(row_count) + ABS(byte_count)) AS BIGINT) "
                                  "FROM parked_stage"),
                     read_integer(world->store, "SELECT COUNT(*) FROM parked"));
    close_world(world);
}

static void a_random_life_ends_with_the_newest(void **state)
{
    uint64_t seed = seed_of_run();
    struct world *world = open_world(state);

    print_message("seed %" PRIu64 "\n", seed);
    world->options.order = PARKED_NEWEST;
    send(world, 0, 1);
    live(world, seed);
    WAIT_UNTIL(world, lag(world) == 0 && parked_count(world) == 0);
    stop(world);
    for (int i = 0; i < KEY_COUNT; i++)
        assert_true(!world->sent[i] || times_used(world, i, world->sent[i]) > 0);
    close_world(world);
}

static const struct test_case cases[] = {
    CASE(records_are_used_in_order_and_committed),
    CASE(later_records_of_a_parked_key_wait_behind_it),
    CASE(tries_come_later_and_later),
    CASE(what_is_put_off_was_no_try),
    CASE(a_newer_record_replaces_a_parked_one),
    CASE(where_order_is_no_matter_nobody_waits),
    CASE(strict_waits_and_parks_nothing),
    CASE(what_has_no_room_waits),
    CASE(while_the_world_is_away_nothing_is_parked_or_committed),
    CASE(what_is_not_ready_is_read_again),
    CASE(what_was_deleted_unread_is_told),
    CASE(what_was_deleted_while_it_was_waited_for_is_told),
    CASE(a_record_that_comes_again_is_parked_once),
    CASE(a_store_that_fails_loses_nothing),
    CASE(all_topics_are_made_and_one_that_is_there_stays),
    CASE(people_see_replay_and_drop),
    CASE(a_random_life_loses_nothing_and_keeps_order),
    CASE(a_random_life_ends_with_the_newest),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "stage"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}

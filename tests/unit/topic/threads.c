/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many producers and a changing group at once, on the embedded topics; also for ThreadSanitizer.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "patience.h"
#include "topic/disk.h"
#include "topic/topic.h"

enum { PRODUCERS = 4, CONSUMERS = 3, EACH = 1500, PARTITIONS = 5 };

struct stage {
    struct topics *topics;
    _Atomic unsigned seen[PRODUCERS][EACH];
    _Atomic size_t distinct;
    _Atomic bool failed;
    int64_t deadline_us;
};

struct job {
    struct stage *stage;
    unsigned number;
};

/* Threads must not use cmocka's asserts, which jump. */
static bool fine(struct stage *stage, int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "# %s\n", err->text);
        atomic_store(&stage->failed, true);
    }
    return rc == 0 && !atomic_load(&stage->failed);
}

static void *produce(void *arg)
{
    struct job *job = arg;
    struct stage *stage = job->stage;
    struct err err;
    unsigned i, k;

    for (i = 0; i < EACH; i += 3) {
        struct topic_record records[3];
        char keys[3][16], values[3][24];

        for (k = 0; k < 3; k++) {
            snprintf(keys[k], sizeof(keys[k]), "%u-%u", job->number, (i + k) % 7);
            snprintf(values[k], sizeof(values[k]), "%u %u", job->number, i + k);
            records[k] =
                (struct topic_record){.key = bytes_of(keys[k]), .value = bytes_of(values[k])};
        }
        if (!fine(stage, topic_produce(stage->topics, "t", records, 3, NULL, &err), &err))
            break;
    }
    return NULL;
}

static void mark(struct stage *stage, const struct topic_message *message)
{
    char text[24] = "";
    unsigned producer = PRODUCERS, number = EACH;

    if (message->value.size < sizeof(text))
        memcpy(text, message->value.data, message->value.size);
    if (sscanf(text, "%u %u", &producer, &number) != 2 || producer >= PRODUCERS || number >= EACH) {
        atomic_store(&stage->failed, true);
        return;
    }
    if (atomic_fetch_add(&stage->seen[producer][number], 1) == 0)
        atomic_fetch_add(&stage->distinct, 1);
}

static bool more(struct stage *stage)
{
    return atomic_load(&stage->distinct) < PRODUCERS * EACH && !atomic_load(&stage->failed) &&
           clock_mono_us(clock_system()) < stage->deadline_us;
}

/* Leaves and comes back after each `number + 5` batches, so that partitions move. */
static void *consume(void *arg)
{
    struct job *job = arg;
    struct stage *stage = job->stage;
    const char *names[] = {"t"};
    struct consumer_options options = {
        .group = "g", .topics = names, .topic_count = 1, .poll_count = 40};
    const struct topic_message *messages;
    struct consumer *consumer;
    struct err err;
    size_t count, i;
    unsigned batches;

    while (more(stage)) {
        if (!fine(stage, consumer_open(stage->topics, &options, &consumer, &err), &err))
            break;
        for (batches = 0; batches < job->number + 5 && more(stage); batches++) {
            int rc = consumer_poll(consumer, 20, &messages, &count, &err);

            if (!fine(stage, rc, &err))
                break;
            for (i = 0; i < count; i++)
                mark(stage, &messages[i]);
            rc = consumer_commit_polled(consumer, &err);
            if (!fine(stage, rc, &err)) /* a member in time is never stale */
                break;
        }
        consumer_close(consumer);
    }
    return NULL;
}

static void run_stage(const char *url)
{
    struct stage *stage = mem_zero(sizeof(*stage));
    struct topic_config config = {.partition_count = PARTITIONS, .retention_size = 1 << 30};
    struct job jobs[PRODUCERS + CONSUMERS];
    pthread_t threads[PRODUCERS + CONSUMERS];
    struct topic_lag lag;
    struct err err;
    uint32_t i, k;

    assert_int_equal(topics_open(url, NULL, &stage->topics, &err), 0);
    assert_int_equal(topic_create(stage->topics, "t", &config, &err), 0);
    stage->deadline_us = clock_mono_us(clock_system()) + (int64_t)PATIENCE_S * SECOND_US;
    for (i = 0; i < PRODUCERS + CONSUMERS; i++) {
        jobs[i] = (struct job){stage, i < PRODUCERS ? i : i - PRODUCERS};
        pthread_create(&threads[i], NULL, i < PRODUCERS ? produce : consume, &jobs[i]);
    }
    for (i = 0; i < PRODUCERS + CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    assert_false(atomic_load(&stage->failed));
    assert_int_equal(stage->distinct, PRODUCERS * EACH);
    for (i = 0; i < PRODUCERS; i++) /* nobody polled without committing: nothing came twice */
        for (k = 0; k < EACH; k++)
            assert_int_equal(stage->seen[i][k], 1);
    for (i = 0; i < PARTITIONS; i++) {
        assert_int_equal(topic_lag(stage->topics, "g", "t", i, &lag, &err), 0);
        assert_int_equal(lag.lag, 0);
    }
    topics_close(stage->topics);
    free(stage);
}

static void a_changing_group_gets_every_record_once(void **state)
{
    char dir[] = "/tmp/torg-topic-XXXXXX";
    char url[64];
    struct err err;

    (void)state;
    run_stage("memory:");
    assert_non_null(mkdtemp(dir));
    snprintf(url, sizeof(url), "file:%s", dir);
    run_stage(url);
    assert_int_equal(dir_remove(dir, &err), 0);
}

struct pressure {
    _Atomic size_t done;
};

static void count_done(void *arg, int rc, uint32_t partition, uint64_t offset,
                       const struct err *err)
{
    struct pressure *pressure = arg;

    (void)partition;
    (void)offset;
    (void)err;
    if (!rc)
        atomic_fetch_add(&pressure->done, 1);
}

/* More than may be in flight: the producer is held back, and all arrives. */
static void back_pressure_bounds_what_is_in_flight(void **state)
{
    enum { COUNT = 200, SIZE = 900 << 10 };
    struct topic_config config = {.partition_count = 2, .retention_size = 8 << 20};
    struct pressure pressure = {0};
    uint8_t *value = mem_zero(SIZE);
    struct topic_record record = {.value = {value, SIZE}};
    struct topics *topics;
    struct err err;
    size_t i, behind = 0;

    (void)state;
    assert_int_equal(topics_open("memory:", NULL, &topics, &err), 0);
    assert_int_equal(topic_create(topics, "t", &config, &err), 0);
    for (i = 0; i < COUNT; i++) {
        size_t waiting;

        assert_int_equal(topic_produce_async(topics, "t", &record, count_done, &pressure, &err), 0);
        waiting = i + 1 - atomic_load(&pressure.done);
        behind = waiting > behind ? waiting : behind;
    }
    assert_int_equal(topics_flush(topics, PATIENCE_MS, &err), 0);
    assert_int_equal(pressure.done, COUNT);
    assert_true(behind <= (64 << 20) / SIZE + 2);
    topics_close(topics);
    free(value);
}

/* --- a topic that comes and goes under its users --- */

struct stage_life {
    struct topics *topics;
    _Atomic bool stop;
    _Atomic size_t produced, read, polled;
};

static void allow_missing(int rc, const struct err *err)
{
    if (rc && rc != ERR_NOT_FOUND && rc != ERR_RANGE && rc != ERR_STALE)
        fail_msg("%s", err->text);
}

static void *produce_on(void *arg)
{
    struct stage_life *life = arg;
    struct topic_record record = {.value = BYTES_LITERAL("v")};
    struct err err;

    while (!atomic_load(&life->stop)) {
        int rc = topic_produce(life->topics, "brief", &record, 1, NULL, &err);

        allow_missing(rc, &err);
        atomic_fetch_add(&life->produced, rc == 0);
    }
    return NULL;
}

static void *read_on(void *arg)
{
    struct stage_life *life = arg;
    struct arena *arena = arena_new();
    const struct topic_message *messages;
    struct err err;
    uint64_t at = 0;
    size_t count;

    while (!atomic_load(&life->stop)) {
        int rc = topic_read(life->topics, "brief", 0, at, 10, 1, arena, &messages, &count, &err);

        allow_missing(rc, &err);
        at = rc ? 0 : at + count;
        atomic_fetch_add(&life->read, count);
        arena_reset(arena);
    }
    arena_free(arena);
    return NULL;
}

static void *poll_on(void *arg)
{
    struct stage_life *life = arg;
    const char *names[] = {"brief", "long"};
    struct consumer_options options = {.group = "g", .topics = names, .topic_count = 2};
    const struct topic_message *messages;
    struct consumer *consumer = NULL;
    struct err err;
    size_t count;
    int rc = 0;

    while (!atomic_load(&life->stop)) {
        if (!consumer)
            rc = consumer_open(life->topics, &options, &consumer, &err);
        if (!rc)
            rc = consumer_poll(consumer, 1, &messages, &count, &err);
        if (!rc) {
            atomic_fetch_add(&life->polled, count);
            rc = consumer_commit_polled(consumer, &err);
        }
        allow_missing(rc, &err);
        if (rc) {
            consumer_close(consumer);
            consumer = NULL;
        }
    }
    consumer_close(consumer);
    return NULL;
}

/* Everybody is told, or gets what is asked for; a topic that is made anew is empty. */
static void topics_are_removed_under_their_users(void **state)
{
    enum { LIVES = 30, PARTS = 2 };
    void *(*const users[])(void *) = {produce_on, produce_on, read_on, poll_on, poll_on};
    struct topic_config config = {.partition_count = PARTS};
    struct stage_life life = {0};
    pthread_t threads[ARRAY_COUNT(users)];
    time_t deadline = time(NULL) + PATIENCE_S;
    struct err err;
    size_t i;

    (void)state;
    assert_int_equal(topics_open("memory:", NULL, &life.topics, &err), 0);
    assert_int_equal(topic_create(life.topics, "long", &config, &err), 0);
    for (i = 0; i < ARRAY_COUNT(users); i++)
        pthread_create(&threads[i], NULL, users[i], &life);
    for (i = 0; i < LIVES; i++) {
        size_t produced = atomic_load(&life.produced);

        assert_int_equal(topic_create(life.topics, "brief", &config, &err), 0);
        while (atomic_load(&life.produced) < produced + 5 && time(NULL) < deadline)
            sched_yield();
        assert_int_equal(topic_remove(life.topics, "brief", &err), 0);
    }
    assert_true(time(NULL) < deadline);
    atomic_store(&life.stop, true);
    for (i = 0; i < ARRAY_COUNT(users); i++)
        pthread_join(threads[i], NULL);
    topics_close(life.topics);
}

/* --- time that belongs to the test --- */

struct patient {
    struct clock_manual clock;
    struct consumer *consumer;
    int rc;
    size_t count;
    int64_t back_us; /* by that clock */
    _Atomic bool is_back;
};

enum { POLL_WAIT_MS = 700 };

static void *poll_once(void *arg)
{
    struct patient *patient = arg;
    const struct topic_message *messages;
    struct err err;

    patient->rc = consumer_poll(patient->consumer, POLL_WAIT_MS, &messages, &patient->count, &err);
    patient->back_us = clock_mono_us(&patient->clock.base);
    atomic_store(&patient->is_back, true);
    return NULL;
}

static void a_poll_waits_on_the_clock_it_was_given(void **state)
{
    struct topic_config config = {.partition_count = 2};
    struct patient patient = {.is_back = false};
    const struct topics_options options = {.clock = &patient.clock.base};
    const char *const names[] = {"t"};
    const struct consumer_options reading = {.group = "g", .topics = names, .topic_count = 1};
    const int64_t until_us = SECOND_US + POLL_WAIT_MS * MS_US;
    struct topics *topics;
    pthread_t thread;
    struct err err;

    clock_manual_init_strict(&patient.clock, SECOND_US);
    assert_int_equal(topics_open("memory:", &options, &topics, &err), 0);
    assert_int_equal(topic_create(topics, "t", &config, &err), 0);
    assert_int_equal(consumer_open(topics, &reading, &patient.consumer, &err), 0);
    assert_int_equal(pthread_create(&thread, NULL, poll_once, &patient), 0);
    while (clock_manual_next_us(&patient.clock) != until_us)
        sched_yield();
    clock_manual_advance(&patient.clock, POLL_WAIT_MS * MS_US - 1);
    assert_true(clock_manual_next_us(&patient.clock) == until_us); /* it waits on */
    assert_false(atomic_load(&patient.is_back));
    clock_manual_advance(&patient.clock, 1);
    pthread_join(thread, NULL);
    assert_int_equal(patient.rc, 0);
    assert_int_equal(patient.count, 0);
    assert_true(patient.back_us == until_us);
    consumer_close(patient.consumer);
    topics_close(topics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changing_group_gets_every_record_once),
        cmocka_unit_test(back_pressure_bounds_what_is_in_flight),
        cmocka_unit_test(topics_are_removed_under_their_users),
        cmocka_unit_test(a_poll_waits_on_the_clock_it_was_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

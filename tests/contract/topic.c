/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of topic/topic.h, run on every backend: memory:, file:, Kafka (a real one, at
 * TORG_TEST_KAFKA), fault: around memory:, and a simulated cluster's. Embedded backends get a
 * clock that stands still until a test moves it. Names are random, so that runs can share one
 * Kafka.
 */
#include "contract/cases.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "patience.h"
#include "sim/sim_net.h"
#include "test_dir.h"
#include "topic/bounds.h"
#include "topic/topic.h"
#include "topic/topic_fault.h"

enum { PARTITIONS = 4, WAIT_MS = PATIENCE_MS, STEP_MS = 100, START_US = 1700000000 };

enum backend { MEMORY, FILES, KAFKA, FAULT, PREFIX, SIM, BACKEND_COUNT };
static const char *const backend_names[] = {"memory", "file", "kafka", "fault", "prefix", "sim"};

struct place {
    enum backend backend;
    char dir[TEST_DIR_SIZE];
    char url[256];
    char topic[64];
    char group[64];
    const char *prefix;
    struct clock_manual clock;
    struct topics *topics;
    struct sim_net *net; /* of SIM alone */
    struct sim_node *member;
    struct consumer *members[4]; /* closed by tear_down when a test fails */
    struct arena *arena;
};

static bool can_be_replaced; /* the backend's members by others, whatever a test does */

static bool is_local(const struct place *place)
{
    return place->backend != KAFKA;
}

static void open_place(struct place *place)
{
    struct topics_options options = {.clock = is_local(place) ? &place->clock.base : NULL,
                                     .prefix = place->prefix};
    struct err err;

    OK(topics_open(place->url, &options, &place->topics, &err));
}

static void reopen_place(struct place *place)
{
    topics_close(place->topics);
    open_place(place);
}

static int set_up(void **state)
{
    static struct place kept;
    struct place *place = &kept;
    struct topic_config config = {.partition_count = PARTITIONS};
    const char *kafka = NULL;
    struct err err;

    *place = (struct place){.backend = *(const enum backend *)*state};
    *state = place;
    can_be_replaced = !is_local(place);
    if (place->backend == KAFKA) {
        kafka = server_address("kafka");
        if (!kafka)
            return 0; /* each test skips */
    }
    assert_true(test_dir_make(place->dir));
    snprintf(place->url, sizeof(place->url), "%s%s",
             (const char *[]){"memory:", "file:", "kafka://",
                              "fault:memory:", "memory:", "sim:a"}[place->backend],
             (const char *[]){"", place->dir, kafka, "", "", ""}[place->backend]);
    place->prefix = place->backend == PREFIX ? "house." : NULL;
    snprintf(place->topic, sizeof(place->topic), "offers-%016" PRIx64, random_u64());
    snprintf(place->group, sizeof(place->group), "group-%016" PRIx64, random_u64());
    clock_manual_init(&place->clock, (int64_t)START_US * SECOND_US);
    place->arena = arena_new();
    if (place->backend == SIM) {
        OK(sim_net_open(1, &place->clock.base, NULL, &place->net, &err));
        place->member = sim_node_new(place->net, "a");
    }
    open_place(place);
    OK(topic_create(place->topics, place->topic, &config, &err));
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    struct err err;
    size_t i;

    if (!place->topics)
        return 0;
    for (i = 0; i < ARRAY_COUNT(place->members); i++)
        consumer_close(place->members[i]);
    topics_close(place->topics);
    place->topics = NULL;
    sim_node_free(place->member);
    if (place->net)
        sim_net_close(place->net);
    arena_free(place->arena);
    OK(dir_remove(place->dir, &err));
    return 0;
}

static struct place *place_of(void **state)
{
    struct place *place = *state;

    if (!place->topics)
        skip();
    return place;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Record i of a test: key "k<i mod keys>", value "<i>". */
struct sample {
    char key[16];
    char value[16];
};

static void produce_from(struct place *place, size_t from, size_t count, size_t keys)
{
    struct sample *samples = mem_array(count, sizeof(*samples));
    struct topic_record *records = mem_array(count, sizeof(*records));
    struct err err;
    size_t i;

    for (i = 0; i < count; i++) {
        snprintf(samples[i].key, sizeof(samples[i].key), "k%zu", (from + i) % keys);
        snprintf(samples[i].value, sizeof(samples[i].value), "%zu", from + i);
        records[i].key = bytes_of(samples[i].key);
        records[i].value = bytes_of(samples[i].value);
    }
    OK(topic_produce(place->topics, place->topic, records, count, NULL, &err));
    free(records);
    free(samples);
}

static size_t number_of(const struct topic_message *message)
{
    char text[16] = "";

    assert_true(message->value.size < sizeof(text));
    memcpy(text, message->value.data, message->value.size);
    return strtoul(text, NULL, 10);
}

/* Everything of a partition, by topic_read. */
static size_t read_partition(struct place *place, uint32_t partition,
                             const struct topic_message **messages, size_t max)
{
    struct topic_message *all = arena_array(place->arena, max, sizeof(*all));
    const struct topic_message *some;
    uint64_t first, end;
    size_t total = 0, count;
    struct err err;

    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    while (first < end && total < max) {
        OK(topic_read(place->topics, place->topic, partition, first, 100, WAIT_MS, place->arena,
                      &some, &count, &err));
        assert_true(count > 0 && total + count <= max);
        memcpy(all + total, some, count * sizeof(*some));
        total += count;
        first = some[count - 1].offset + 1;
    }
    *messages = all;
    return total;
}

static struct consumer *join_group(struct place *place, enum topic_start start, int session_ms)
{
    const char *names[] = {place->topic};
    struct consumer_options options = {.group = place->group,
                                       .topics = names,
                                       .topic_count = 1,
                                       .start = start,
                                       .session_ms = session_ms};
    struct consumer *consumer;
    struct err err;
    size_t i = 0;

    OK(consumer_open(place->topics, &options, &consumer, &err));
    while (place->members[i])
        i++;
    place->members[i] = consumer;
    return consumer;
}

static void leave_group(struct place *place, struct consumer *consumer)
{
    size_t i;

    for (i = 0; i < ARRAY_COUNT(place->members); i++)
        if (place->members[i] == consumer)
            place->members[i] = NULL;
    consumer_close(consumer);
}

static size_t assigned(struct consumer *consumer)
{
    struct err err;
    size_t count;

    OK(consumer_assignment(consumer, NULL, 0, &count, &err));
    return count;
}

/* Polls, marks what comes in seen (one count for each record), and commits it. A real broker takes
 * partitions from a member that the machine has kept from its heartbeats: the commit is refused,
 * the generation moves on, and what was polled comes again. */
static size_t consume(struct consumer *consumer, int timeout_ms, unsigned *seen, size_t max)
{
    const struct topic_message *messages;
    struct err err;
    size_t count, i;
    int rc;

    OK(consumer_poll(consumer, timeout_ms, &messages, &count, &err));
    for (i = 0; i < count; i++) {
        size_t number = number_of(&messages[i]);

        assert_true(number < max);
        if (seen)
            seen[number]++;
    }
    rc = consumer_commit_polled(consumer, &err);
    assert_true(rc == 0 || (rc == ERR_STALE && can_be_replaced));
    return count;
}

static size_t count_unseen(const unsigned *seen, size_t count)
{
    size_t left = 0, i;

    for (i = 0; i < count; i++)
        left += seen[i] == 0;
    return left;
}

/* Polls all in turn until each has its share of the partitions. */
static void settle_members(struct consumer **consumers, size_t count, unsigned *seen, size_t max)
{
    int64_t deadline = now_ms() + WAIT_MS;
    size_t settled = 0, i;

    while (settled < count) {
        assert_true(now_ms() < deadline);
        settled = 0;
        for (i = 0; i < count; i++) {
            consume(consumers[i], STEP_MS, seen, max);
            settled += assigned(consumers[i]) == PARTITIONS / count;
        }
    }
}

/* --- topics --- */

static void topics_are_created_once(void **state)
{
    struct place *place = place_of(state);
    struct topic_config config = {PARTITIONS, 3600000, 1 << 30}, got;
    const char **names;
    size_t count, i;
    bool listed = false;
    struct err err;

    OK(topic_create(place->topics, place->topic, &config, &err));
    OK(topic_describe(place->topics, place->topic, &got, &err));
    assert_int_equal(got.partition_count, PARTITIONS);
    assert_int_equal(got.retention_ms, 3600000);
    assert_int_equal(got.retention_size, 1 << 30);
    config.partition_count++;
    assert_int_equal(topic_create(place->topics, place->topic, &config, &err), ERR_PRECONDITION);
    assert_non_null(strstr(err.text, place->topic));
    OK(topic_list(place->topics, place->arena, &names, &count, &err));
    for (i = 0; i < count; i++)
        listed |= strcmp(names[i], place->topic) == 0;
    assert_true(listed);
    assert_int_equal(topic_describe(place->topics, "no-such-topic", &got, &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "no-such-topic"));
}

static bool is_listed(struct place *place)
{
    const char **names;
    size_t count, i;
    struct err err;

    OK(topic_list(place->topics, place->arena, &names, &count, &err));
    for (i = 0; i < count; i++)
        if (strcmp(names[i], place->topic) == 0)
            return true;
    return false;
}

static void nothing_finds_it(struct place *place)
{
    struct topic_record record = {.key = BYTES_LITERAL("k"), .value = BYTES_LITERAL("1")};
    const char *names[] = {place->topic};
    struct consumer_options options = {.group = place->group, .topics = names, .topic_count = 1};
    const struct topic_message *messages;
    struct topic_config config;
    struct consumer *consumer;
    struct topic_lag lag;
    uint64_t first, end;
    struct err err;
    size_t count;

    assert_false(is_listed(place));
    assert_int_equal(topic_describe(place->topics, place->topic, &config, &err), ERR_NOT_FOUND);
    assert_int_equal(topic_produce(place->topics, place->topic, &record, 1, NULL, &err),
                     ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, place->topic));
    assert_int_equal(
        topic_read(place->topics, place->topic, 0, 0, 10, 0, place->arena, &messages, &count, &err),
        ERR_NOT_FOUND);
    assert_int_equal(topic_range(place->topics, place->topic, 0, &first, &end, &err),
                     ERR_NOT_FOUND);
    assert_int_equal(topic_lag(place->topics, place->group, place->topic, 0, &lag, &err),
                     ERR_NOT_FOUND);
    assert_int_equal(consumer_open(place->topics, &options, &consumer, &err), ERR_NOT_FOUND);
    assert_null(consumer);
    assert_int_equal(topic_remove(place->topics, place->topic, &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, place->topic));
}

/* Nobody has committed anything; the brokers of Kafka forget it in their time. */
static void wait_forgotten(struct place *place, uint32_t partition)
{
    int64_t deadline = now_ms() + WAIT_MS;
    struct topic_lag lag = {.has_committed = true};
    struct timespec pause = {0, STEP_MS * 1000000l};
    struct err err;

    OK(topic_lag(place->topics, place->group, place->topic, partition, &lag, &err));
    while (lag.has_committed) {
        assert_true(!is_local(place) && now_ms() < deadline);
        nanosleep(&pause, NULL);
        OK(topic_lag(place->topics, place->group, place->topic, partition, &lag, &err));
    }
}

/* With another number of partitions, as it is another topic. */
static void a_removed_topic_is_gone_and_can_be_made_anew(void **state)
{
    struct place *place = place_of(state);
    struct topic_config config = {.partition_count = PARTITIONS + 1};
    uint32_t partition = topic_partition(bytes_of("k0"), PARTITIONS + 1);
    const struct topic_message *messages;
    struct consumer *consumer;
    uint64_t first, end;
    struct err err;
    uint32_t i;

    assert_int_equal(topic_remove(place->topics, "no-such-topic", &err), ERR_NOT_FOUND);
    assert_int_equal(topic_remove(place->topics, "a/b", &err), ERR_INVALID);
    produce_from(place, 0, 50, 5);
    consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(&consumer, 1, NULL, 50);
    leave_group(place, consumer);
    assert_true(read_partition(place, topic_partition(bytes_of("k0"), PARTITIONS), &messages, 50) >
                0);
    OK(topic_remove(place->topics, place->topic, &err));
    nothing_finds_it(place);
    OK(topic_create(place->topics, place->topic, &config, &err));
    assert_true(is_listed(place));
    for (i = 0; i < PARTITIONS + 1; i++) {
        OK(topic_range(place->topics, place->topic, i, &first, &end, &err));
        assert_int_equal(first, 0);
        assert_int_equal(end, 0);
        wait_forgotten(place, i);
    }
    produce_from(place, 100, 3, 1);
    assert_int_equal(read_partition(place, partition, &messages, 10), 3);
    assert_int_equal(messages[0].offset, 0);
    assert_int_equal(number_of(&messages[0]), 100);
    if (place->backend == FILES || place->backend == KAFKA) {
        reopen_place(place);
        assert_int_equal(read_partition(place, partition, &messages, 10), 3);
        wait_forgotten(place, partition);
    }
}

struct removed_reader {
    struct place *place;
    _Atomic bool is_reading;
    int rc;
};

static void *read_until_removed(void *arg)
{
    struct removed_reader *reader = arg;
    struct arena *arena = arena_new();
    const struct topic_message *messages;
    struct err err;
    size_t count = 0;

    atomic_store(&reader->is_reading, true);
    reader->rc = topic_read(reader->place->topics, reader->place->topic, 0, 0, 10, WAIT_MS, arena,
                            &messages, &count, &err);
    arena_free(arena);
    return NULL;
}

/* Who has it open is told, be it that a topic of the name is there again. */
static void users_of_a_removed_topic_are_told(void **state)
{
    struct place *place = place_of(state);
    struct removed_reader reader = {.place = place};
    struct topic_config config = {.partition_count = PARTITIONS};
    const struct topic_message *messages;
    struct topic_position position = {place->topic, 0, 0};
    struct consumer *consumer;
    pthread_t thread;
    struct err err;
    size_t count;

    consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(&consumer, 1, NULL, 0);
    pthread_create(&thread, NULL, read_until_removed, &reader);
    while (!atomic_load(&reader.is_reading))
        sched_yield();
    OK(topic_remove(place->topics, place->topic, &err));
    pthread_join(thread, NULL); /* it did not wait for its time */
    assert_int_equal(reader.rc, ERR_NOT_FOUND);
    OK(topic_create(place->topics, place->topic, &config, &err));
    produce_from(place, 0, 10, 5);
    assert_int_equal(consumer_poll(consumer, 0, &messages, &count, &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, place->topic));
    assert_int_equal(consumer_commit(consumer, &position, 1, &err), ERR_NOT_FOUND);
    assert_int_equal(consumer_seek(consumer, place->topic, 0, 0, &err), ERR_NOT_FOUND);
    leave_group(place, consumer);
    consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    for (size_t seen = 0; seen < 10; seen += count)
        count = consume(consumer, WAIT_MS, NULL, 10);
    leave_group(place, consumer);
}

static void bad_names_and_sizes_are_refused_by_name(void **state)
{
    struct place *place = place_of(state);
    struct topic_config config = {.partition_count = 1};
    struct topic_header header = {BYTES_LITERAL("h"), {NULL, TOPIC_HEADERS_SIZE_MAX}};
    uint8_t *big = mem_zero(TOPIC_VALUE_SIZE_MAX + 1);
    struct topic_record record = {.value = {big, TOPIC_VALUE_SIZE_MAX + 1}};
    struct err err;

    assert_int_equal(topic_create(place->topics, "a/b", &config, &err), ERR_INVALID);
    assert_int_equal(topic_create(place->topics, "..", &config, &err), ERR_INVALID);
    assert_int_equal(topic_create(place->topics, "", &config, &err), ERR_INVALID);
    config.partition_count = TOPIC_PARTITION_COUNT_MAX + 1;
    assert_int_equal(topic_create(place->topics, "many", &config, &err), ERR_LIMIT);
    config.partition_count = 0;
    assert_int_equal(topic_create(place->topics, "none", &config, &err), ERR_LIMIT);
    assert_int_equal(topic_produce(place->topics, place->topic, &record, 1, NULL, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "TOPIC_VALUE_SIZE_MAX"));
    record = (struct topic_record){.key = {big, TOPIC_KEY_SIZE_MAX + 1}};
    assert_int_equal(topic_produce(place->topics, place->topic, &record, 1, NULL, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "TOPIC_KEY_SIZE_MAX"));
    header.value.data = big;
    record = (struct topic_record){.headers = &header, .header_count = 1};
    assert_int_equal(topic_produce(place->topics, place->topic, &record, 1, NULL, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "TOPIC_HEADERS_SIZE_MAX"));
    record = (struct topic_record){.key = BYTES_LITERAL("k"), .value = {big, TOPIC_VALUE_SIZE_MAX}};
    OK(topic_produce(place->topics, place->topic, &record, 1, NULL, &err));
    free(big);
}

/* --- records --- */

static void records_of_a_key_stay_in_order(void **state)
{
    enum { COUNT = 500, KEYS = 20 };
    struct place *place = place_of(state);
    size_t last[KEYS] = {0}, total = 0, count, i, round;
    uint32_t partition;

    for (round = 0; round < 5; round++)
        produce_from(place, round * COUNT / 5, COUNT / 5, KEYS);
    for (partition = 0; partition < PARTITIONS; partition++) {
        const struct topic_message *messages;

        count = read_partition(place, partition, &messages, COUNT);
        for (i = 0; i < count; i++) {
            size_t number = number_of(&messages[i]);

            assert_int_equal(topic_partition(messages[i].key, PARTITIONS), partition);
            assert_int_equal(messages[i].partition, partition);
            assert_true(number + 1 > last[number % KEYS]);
            last[number % KEYS] = number + 1;
            if (is_local(place))
                assert_int_equal(messages[i].offset, i);
            else
                assert_true(i == 0 || messages[i].offset > messages[i - 1].offset);
        }
        total += count;
    }
    assert_int_equal(total, COUNT);
}

static void a_record_comes_back_whole(void **state)
{
    struct place *place = place_of(state);
    struct topic_header headers[] = {{BYTES_LITERAL("request"), BYTES_LITERAL("r-1")},
                                     {BYTES_LITERAL("empty"), {NULL, 0}}};
    struct topic_record record = {.key = BYTES_LITERAL("key"),
                                  .value = BYTES_LITERAL("va\0lue"),
                                  .timestamp_us = 1700000000123000,
                                  .headers = headers,
                                  .header_count = 2};
    struct topic_record empty = {.key = BYTES_LITERAL("key")};
    uint32_t partition = topic_partition(record.key, PARTITIONS);
    const struct topic_message *messages;
    uint64_t offset;
    struct err err;

    OK(topic_produce(place->topics, place->topic, &record, 1, &offset, &err));
    OK(topic_produce(place->topics, place->topic, &empty, 1, NULL, &err));
    assert_int_equal(read_partition(place, partition, &messages, 10), 2);
    assert_int_equal(messages[0].offset, offset);
    assert_string_equal(messages[0].topic, place->topic);
    assert_true(bytes_equal(messages[0].key, record.key));
    assert_true(bytes_equal(messages[0].value, record.value));
    assert_int_equal(messages[0].timestamp_us, record.timestamp_us);
    assert_int_equal(messages[0].header_count, 2);
    assert_true(bytes_equal(messages[0].headers[0].name, headers[0].name));
    assert_true(bytes_equal(messages[0].headers[0].value, headers[0].value));
    assert_int_equal(messages[0].headers[1].value.size, 0);
    assert_int_equal(messages[1].value.size, 0);
    assert_true(messages[1].timestamp_us > 0);
}

struct tally {
    pthread_mutex_t lock;
    size_t done, failed;
};

static void count_done(void *arg, int rc, uint32_t partition, uint64_t offset,
                       const struct err *err)
{
    struct tally *tally = arg;

    (void)partition;
    (void)offset;
    (void)err;
    pthread_mutex_lock(&tally->lock);
    tally->done++;
    tally->failed += rc != 0;
    pthread_mutex_unlock(&tally->lock);
}

/* Keys that would go elsewhere; and a partition that is not there takes nothing of its batch. */
static void a_record_goes_to_the_partition_it_names(void **state)
{
    struct place *place = place_of(state);
    struct tally tally = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
    struct topic_record records[2 * PARTITIONS] = {0};
    struct sample samples[ARRAY_COUNT(records)];
    const struct topic_message *messages;
    struct err err;

    for (uint32_t i = 0; i < ARRAY_COUNT(records); i++) {
        snprintf(samples[i].value, sizeof(samples[i].value), "%u", i);
        records[i] = (struct topic_record){.key = i % 2 ? bytes_of("k") : bytes_of(""),
                                           .value = bytes_of(samples[i].value),
                                           .has_partition = true,
                                           .partition = i / 2};
    }
    OK(topic_produce(place->topics, place->topic, records, ARRAY_COUNT(records), NULL, &err));
    OK(topic_produce_async(place->topics, place->topic, &records[5], count_done, &tally, &err));
    OK(topics_flush(place->topics, WAIT_MS, &err));
    assert_int_equal(tally.done, 1);
    assert_int_equal(tally.failed, 0);
    records[1].partition = PARTITIONS;
    assert_int_equal(topic_produce(place->topics, place->topic, records, 2, NULL, &err),
                     ERR_INVALID);
    assert_non_null(strstr(err.text, "no number 4"));
    assert_int_equal(
        topic_produce_async(place->topics, place->topic, &records[1], count_done, &tally, &err),
        ERR_INVALID);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        assert_int_equal(read_partition(place, i, &messages, 10), i == 2 ? 3 : 2);
        assert_int_equal(number_of(&messages[0]), 2 * i);
        assert_int_equal(number_of(&messages[1]), 2 * i + 1);
    }
}

static void asynchronous_records_are_called_back_in_order(void **state)
{
    enum { COUNT = 2000 };
    struct place *place = place_of(state);
    struct tally tally = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct topic_message *messages;
    char value[16];
    struct topic_record record = {.key = BYTES_LITERAL("one")};
    struct err err;
    size_t i;

    for (i = 0; i < COUNT; i++) {
        snprintf(value, sizeof(value), "%zu", i); /* overwritten at once: it must be copied */
        record.value = bytes_of(value);
        OK(topic_produce_async(place->topics, place->topic, &record, count_done, &tally, &err));
    }
    OK(topics_flush(place->topics, WAIT_MS, &err));
    assert_int_equal(tally.done, COUNT);
    assert_int_equal(tally.failed, 0);
    assert_int_equal(
        read_partition(place, topic_partition(record.key, PARTITIONS), &messages, COUNT), COUNT);
    for (i = 0; i < COUNT; i++)
        assert_int_equal(number_of(&messages[i]), i);
}

/* Tells whether its partitions were taken from the lone member on the way, so that some of the
 * records came twice. */
static bool read_all_alone(struct place *place, unsigned *seen, size_t count)
{
    struct consumer *consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    uint64_t generation;

    settle_members(&consumer, 1, seen, count);
    generation = consumer_generation(consumer);
    while (count_unseen(seen, count))
        consume(consumer, WAIT_MS, seen, count);
    generation = consumer_generation(consumer) - generation;
    leave_group(place, consumer);
    assert_true(can_be_replaced || !generation);
    return generation > 0;
}

static void records_and_commits_survive_a_reopen(void **state)
{
    enum { COUNT = 100 };
    struct place *place = place_of(state);
    unsigned seen[2 * COUNT] = {0};
    bool is_dealt_anew;
    size_t i;

    produce_from(place, 0, COUNT, 10);
    is_dealt_anew = read_all_alone(place, seen, COUNT);
    reopen_place(place);
    produce_from(place, COUNT, COUNT, 10);
    is_dealt_anew |= read_all_alone(place, seen, 2 * COUNT);
    for (i = 0; i < 2 * COUNT; i++)
        assert_true(is_dealt_anew ? seen[i] >= 1 : seen[i] == 1);
}

static void reading_outside_the_log_names_what_there_is(void **state)
{
    struct place *place = place_of(state);
    const struct topic_message *messages;
    uint32_t partition = topic_partition(bytes_of("k0"), PARTITIONS);
    struct err err;
    size_t count;
    int64_t began;

    produce_from(place, 0, 3, 1);
    assert_int_equal(topic_read(place->topics, place->topic, partition, 4, 10, 0, place->arena,
                                &messages, &count, &err),
                     ERR_RANGE);
    assert_non_null(strstr(err.text, "3"));
    began = now_ms();
    OK(topic_read(place->topics, place->topic, partition, 3, 10, 200, place->arena, &messages,
                  &count, &err));
    assert_int_equal(count, 0);
    assert_true(now_ms() - began >= 190);
    assert_int_equal(topic_read(place->topics, place->topic, PARTITIONS, 0, 10, 0, place->arena,
                                &messages, &count, &err),
                     ERR_INVALID);
}

static void *produce_soon(void *arg)
{
    pause_ms(150); /* so that the reader waits already; nothing breaks if not */
    produce_from(arg, 0, 1, 1);
    return NULL;
}

static void readers_wake_when_a_record_comes(void **state)
{
    struct place *place = place_of(state);
    const struct topic_message *messages;
    struct consumer *consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    pthread_t thread;
    struct err err;
    size_t count;

    pthread_create(&thread, NULL, produce_soon, place);
    OK(topic_read(place->topics, place->topic, topic_partition(bytes_of("k0"), PARTITIONS), 0, 10,
                  WAIT_MS, place->arena, &messages, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(consume(consumer, WAIT_MS, NULL, 1), 1);
    pthread_join(thread, NULL);
    leave_group(place, consumer);
}

/* Each of these would wait for a minute. */
static void who_leaves_does_not_wait_for_records(void **state)
{
    struct place *place = place_of(state);
    const struct topic_message *messages;
    struct consumer *consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    int64_t began;
    struct err err;
    size_t count;

    topics_leave(place->topics);
    began = now_ms();
    OK(topic_read(place->topics, place->topic, 0, 0, 10, TOPIC_WAIT_MS_MAX, place->arena, &messages,
                  &count, &err));
    assert_int_equal(count, 0);
    assert_int_equal(consume(consumer, TOPIC_WAIT_MS_MAX, NULL, 1), 0);
    assert_true(now_ms() - began < TOPIC_WAIT_MS_MAX);
    leave_group(place, consumer);
}

/* --- groups --- */

static void two_members_share_and_neither_repeats(void **state)
{
    enum { COUNT = 400 };
    struct place *place = place_of(state);
    struct consumer *members[2];
    unsigned seen[COUNT] = {0};
    int64_t deadline = now_ms() + WAIT_MS;
    uint64_t generations[2];
    bool is_dealt_anew = false;
    size_t i;

    members[0] = join_group(place, TOPIC_START_EARLIEST, 0);
    members[1] = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(members, 2, seen, COUNT);
    for (i = 0; i < 2; i++)
        generations[i] = consumer_generation(members[i]);
    produce_from(place, 0, COUNT, 40);
    while (count_unseen(seen, COUNT) && now_ms() < deadline)
        for (i = 0; i < 2; i++)
            consume(members[i], STEP_MS, seen, COUNT);
    for (i = 0; i < 2; i++) {
        consume(members[i], STEP_MS, seen, COUNT); /* what came twice would come now */
        is_dealt_anew |= consumer_generation(members[i]) != generations[i];
    }
    assert_true(can_be_replaced || !is_dealt_anew);
    for (i = 0; i < COUNT; i++)
        assert_true(is_dealt_anew ? seen[i] >= 1 : seen[i] == 1);
    leave_group(place, members[0]);
    leave_group(place, members[1]);
}

static void a_leaver_hands_its_partitions_over(void **state)
{
    enum { COUNT = 200 };
    struct place *place = place_of(state);
    const struct topic_message *messages;
    struct consumer *members[2];
    unsigned seen[COUNT] = {0};
    int64_t deadline = now_ms() + WAIT_MS;
    uint64_t generation;
    struct err err;
    size_t count;

    members[0] = join_group(place, TOPIC_START_EARLIEST, 0);
    members[1] = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(members, 2, seen, COUNT);
    generation = consumer_generation(members[1]);
    produce_from(place, 0, COUNT, 40);
    do /* takes some and commits nothing: they must come again */
        OK(consumer_poll(members[0], STEP_MS, &messages, &count, &err));
    while (count == 0 && now_ms() < deadline);
    assert_true(count > 0);
    leave_group(place, members[0]);
    while ((count_unseen(seen, COUNT) || assigned(members[1]) < PARTITIONS) && now_ms() < deadline)
        consume(members[1], STEP_MS, seen, COUNT);
    assert_int_equal(count_unseen(seen, COUNT), 0);
    assert_int_equal(assigned(members[1]), PARTITIONS);
    assert_true(consumer_generation(members[1]) > generation);
    leave_group(place, members[1]);
}

/* Polls, and either commits what came or owes it: a partition that is another's is read again. */
static void consume_or_owe(struct consumer *consumer, bool *owed, size_t max)
{
    const struct topic_message *messages;
    size_t count, i;
    struct err err;
    int rc;

    OK(consumer_poll(consumer, STEP_MS / 10, &messages, &count, &err));
    rc = consumer_commit_polled(consumer, &err);
    assert_true(rc == 0 || rc == ERR_STALE);
    for (i = 0; i < count; i++) {
        assert_true(number_of(&messages[i]) < max);
        owed[number_of(&messages[i])] = rc == ERR_STALE;
    }
}

static void what_is_not_committed_while_others_come_and_go_is_read_again(void **state)
{
    enum { GUESTS = 4, COUNT = 4000 };
    struct place *place = place_of(state);
    struct consumer *host = join_group(place, TOPIC_START_EARLIEST, 0);
    int64_t deadline = now_ms() + WAIT_MS;
    bool owed[COUNT];
    size_t next = 0, left = COUNT, i;

    memset(owed, true, sizeof(owed));
    settle_members(&host, 1, NULL, 0);
    for (i = 0; i < GUESTS; i++) {
        struct consumer *guest = join_group(place, TOPIC_START_EARLIEST, 0);

        while (assigned(guest) < PARTITIONS / 2 && now_ms() < deadline) {
            if (next < COUNT)
                produce_from(place, next++, 1, 40);
            consume_or_owe(host, owed, COUNT);
            consume_or_owe(guest, owed, COUNT);
        }
        leave_group(place, guest);
    }
    if (next < COUNT)
        produce_from(place, next, COUNT - next, 40);
    while (left && now_ms() < deadline) {
        consume_or_owe(host, owed, COUNT);
        for (left = 0, i = 0; i < COUNT; i++)
            left += owed[i];
    }
    assert_int_equal(left, 0);
    leave_group(place, host);
}

static void a_silent_member_loses_its_partitions_and_its_commits(void **state)
{
    enum { COUNT = 100, SESSION_MS = 2000, KEPT_MS = 10 * 1000 };
    struct place *place = place_of(state);
    const struct topic_message *messages;
    struct topic_position stale;
    struct consumer *members[2];
    unsigned seen[COUNT] = {0};
    int64_t deadline = now_ms() + WAIT_MS;
    struct topic_lag lag;
    struct err err;
    size_t count;

    members[0] = join_group(place, TOPIC_START_EARLIEST, SESSION_MS);
    members[1] = join_group(place, TOPIC_START_EARLIEST, KEPT_MS); /* however busy the machine */
    settle_members(members, 2, seen, COUNT);
    produce_from(place, 0, COUNT, 40);
    do
        OK(consumer_poll(members[0], STEP_MS, &messages, &count, &err));
    while (count == 0 && now_ms() < deadline);
    assert_true(count > 0);
    stale = (struct topic_position){place->topic, messages[0].partition, messages[0].offset + 1};
    consume(members[1], STEP_MS, seen, COUNT);
    if (is_local(place))
        clock_manual_advance(&place->clock, (int64_t)(SESSION_MS - 1) * MS_US);
    consume(members[1], 0, seen, COUNT);
    if (is_local(place)) {
        assert_int_equal(assigned(members[1]), PARTITIONS / 2); /* not yet */
        clock_manual_advance(&place->clock, 2 * MS_US);
    }
    while (assigned(members[1]) < PARTITIONS && now_ms() < deadline)
        consume(members[1], STEP_MS, seen, COUNT);
    assert_int_equal(assigned(members[1]), PARTITIONS);
    assert_int_equal(consumer_commit(members[0], &stale, 1, &err), ERR_STALE);
    assert_non_null(strstr(err.text, place->topic));
    OK(topic_lag(place->topics, place->group, place->topic, stale.partition, &lag, &err));
    assert_true(!lag.has_committed || lag.committed != stale.offset || lag.lag == 0);
    settle_members(members, 2, seen, COUNT); /* it may come back */
    leave_group(place, members[0]);
    leave_group(place, members[1]);
}

static void a_partition_that_moved_refuses_its_old_owners_commit(void **state)
{
    enum { COUNT = 100 };
    struct place *place = place_of(state);
    struct topic_position *mine = mem_array(PARTITIONS, sizeof(*mine));
    struct consumer *members[2];
    unsigned seen[COUNT] = {0};
    struct err err;
    size_t count, i, refused = 0;

    produce_from(place, 0, COUNT, 40);
    members[0] = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(members, 1, seen, COUNT);
    OK(consumer_assignment(members[0], mine, PARTITIONS, &count, &err));
    members[1] = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(members, 2, seen, COUNT);
    for (i = 0; i < count; i++) {
        int rc;

        mine[i].offset = 1;
        rc = consumer_commit(members[0], &mine[i], 1, &err);
        assert_true(rc == 0 || rc == ERR_STALE);
        refused += rc == ERR_STALE;
    }
    assert_int_equal(refused, PARTITIONS / 2);
    leave_group(place, members[0]);
    leave_group(place, members[1]);
    free(mine);
}

static void groups_start_where_they_are_told_and_can_seek(void **state)
{
    struct place *place = place_of(state);
    struct consumer *consumer;
    uint32_t partition = topic_partition(bytes_of("k0"), PARTITIONS);
    const struct topic_message *messages;
    int64_t deadline = now_ms() + WAIT_MS;
    struct err err;
    size_t count, next = 10;

    produce_from(place, 0, 10, 1);
    consumer = join_group(place, TOPIC_START_LATEST, 0);
    settle_members(&consumer, 1, NULL, 0); /* none of the ten may come */
    do { /* where the end is found out by the broker's answer, the first may be before it */
        produce_from(place, next++, 1, 1);
        OK(consumer_poll(consumer, STEP_MS, &messages, &count, &err));
    } while (count == 0 && now_ms() < deadline);
    assert_true(count > 0);
    assert_true(is_local(place) ? number_of(&messages[0]) == 10 : number_of(&messages[0]) >= 10);
    OK(consumer_seek(consumer, place->topic, partition, 5, &err));
    do
        OK(consumer_poll(consumer, STEP_MS, &messages, &count, &err));
    while (count == 0 && now_ms() < deadline);
    assert_true(count > 0);
    assert_int_equal(messages[0].offset, 5);
    leave_group(place, consumer);
}

static void lag_is_what_is_not_committed(void **state)
{
    struct place *place = place_of(state);
    struct consumer *consumer;
    uint32_t partition = topic_partition(bytes_of("k0"), PARTITIONS);
    struct topic_position position = {place->topic, partition, 7};
    struct topic_lag lag;
    struct err err;

    produce_from(place, 0, 10, 1);
    OK(topic_lag(place->topics, place->group, place->topic, partition, &lag, &err));
    assert_false(lag.has_committed);
    assert_int_equal(lag.lag, 10);
    consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(&consumer, 1, NULL, 10);
    OK(consumer_commit(consumer, &position, 1, &err));
    OK(topic_lag(place->topics, place->group, place->topic, partition, &lag, &err));
    assert_true(lag.has_committed);
    assert_int_equal(lag.committed, 7);
    assert_int_equal(lag.end, 10);
    assert_int_equal(lag.lag, 3);
    if (is_local(place)) {
        position.offset = 11;
        assert_int_equal(consumer_commit(consumer, &position, 1, &err), ERR_RANGE);
    }
    leave_group(place, consumer);
}

static void retention_takes_the_oldest_and_leaves_the_newest(void **state)
{
    enum { SIZE = 8 << 10, COUNT = 200 };
    struct place *place = place_of(state);
    struct topic_config config = {PARTITIONS, 0, 512 << 10};
    uint32_t partition = topic_partition(bytes_of("k"), PARTITIONS);
    uint8_t *value = mem_zero(SIZE);
    struct topic_record record = {.key = BYTES_LITERAL("k"), .value = {value, SIZE}};
    const struct topic_message *messages;
    uint64_t first, end;
    struct err err;
    size_t count, i;

    OK(topic_create(place->topics, place->topic, &config, &err));
    for (i = 0; i < COUNT; i++)
        OK(topic_produce(place->topics, place->topic, &record, 1, NULL, &err));
    OK(topics_housekeep(place->topics, &err));
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_int_equal(end, COUNT);
    assert_true(first > 0 && (end - first) * SIZE >= 512 << 10);
    assert_true((end - first) * SIZE < 1 << 20);
    assert_int_equal(topic_read(place->topics, place->topic, partition, first - 1, 1, 0,
                                place->arena, &messages, &count, &err),
                     ERR_RANGE);
    config = (struct topic_config){PARTITIONS, 1000, 0};
    OK(topic_create(place->topics, place->topic, &config, &err));
    clock_manual_advance(&place->clock, 2 * SECOND_US);
    OK(topics_housekeep(place->topics, &err));
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_true(first < end); /* the newest segment stays, however old */
    OK(topic_produce(place->topics, place->topic, &record, 1, NULL, &err));
    OK(topics_housekeep(place->topics, &err));
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_int_equal(first, COUNT); /* by then it was not the newest any more */
    assert_int_equal(end, COUNT + 1);
    free(value);
}

static void a_trimmed_topic_keeps_what_is_needed(void **state)
{
    enum { SIZE = 8 << 10, COUNT = 200, NEEDED = 150 };
    struct place *place = place_of(state);
    uint32_t partition = topic_partition(bytes_of("k"), PARTITIONS);
    uint8_t *value = mem_zero(SIZE);
    struct topic_record record = {.key = BYTES_LITERAL("k"), .value = {value, SIZE}};
    const struct topic_message *messages;
    uint64_t first, end;
    struct err err;
    size_t count, i;

    for (i = 0; i < COUNT; i++)
        OK(topic_produce(place->topics, place->topic, &record, 1, NULL, &err));
    assert_int_equal(topic_trim(place->topics, place->topic, partition, COUNT + 1, &err),
                     ERR_RANGE);
    OK(topic_trim(place->topics, place->topic, partition, NEEDED, &err));
    OK(topic_produce(place->topics, place->topic, &record, 1, NULL, &err));
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_true(first <= NEEDED); /* a file that has needed ones stays */
    assert_int_equal(end, COUNT + 1);
    OK(topic_read(place->topics, place->topic, partition, NEEDED, 1, WAIT_MS, place->arena,
                  &messages, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(messages[0].offset, NEEDED);
    OK(topic_trim(place->topics, place->topic, partition, COUNT, &err));
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_int_equal(first, COUNT); /* the file before ended with the record after the trim */
    assert_int_equal(end, COUNT + 1);
    OK(topic_trim(place->topics, place->topic, partition, NEEDED, &err)); /* has happened */
    assert_int_equal(topic_read(place->topics, place->topic, partition, COUNT - 1, 1, 0,
                                place->arena, &messages, &count, &err),
                     ERR_RANGE);
    OK(topic_read(place->topics, place->topic, partition, COUNT, 10, WAIT_MS, place->arena,
                  &messages, &count, &err));
    assert_int_equal(count, 1);
    free(value);
}

static void *housekeep_often(void *arg)
{
    struct place *place = arg;
    struct err err;
    int i;

    for (i = 0; i < 200; i++)
        OK(topics_housekeep(place->topics, &err));
    return NULL;
}

/* For the thread sanitizer above all. */
static void retention_changes_while_housekeeping_runs(void **state)
{
    struct place *place = place_of(state);
    struct topic_config config = {PARTITIONS, 0, 0};
    pthread_t thread;
    struct err err;
    int i;

    pthread_create(&thread, NULL, housekeep_often, place);
    for (i = 0; i < 20; i++) {
        config.retention_ms = 60000 + i;
        OK(topic_create(place->topics, place->topic, &config, &err));
    }
    pthread_join(thread, NULL);
}

/* --- faults --- */

static void faults_never_acknowledge(void **state)
{
    struct place *place = place_of(state);
    struct topic_record record = {.key = BYTES_LITERAL("k"), .value = BYTES_LITERAL("0")};
    uint32_t partition = topic_partition(record.key, PARTITIONS);
    struct topic_faults *faults;
    struct consumer *consumer;
    struct topic_position position = {place->topic, partition, 1};
    struct topic_lag lag;
    uint64_t first, end;
    struct err err;

    faults = topics_faults(place->topics);
    atomic_store(&faults->fail_produce, 1);
    assert_int_equal(topic_produce(place->topics, place->topic, &record, 1, NULL, &err),
                     ERR_UNAVAILABLE);
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_int_equal(end, 0);
    atomic_store(&faults->lose_ack, 1);
    assert_int_equal(topic_produce(place->topics, place->topic, &record, 1, NULL, &err),
                     ERR_TIMEOUT);
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_int_equal(end, 1); /* stored all the same */
    atomic_store(&faults->duplicate_produce, 1);
    OK(topic_produce(place->topics, place->topic, &record, 1, NULL, &err));
    OK(topic_range(place->topics, place->topic, partition, &first, &end, &err));
    assert_int_equal(end, 3);
    consumer = join_group(place, TOPIC_START_EARLIEST, 0);
    settle_members(&consumer, 1, NULL, 1);
    atomic_store(&faults->fail_commit, 1);
    assert_int_equal(consumer_commit(consumer, &position, 1, &err), ERR_UNAVAILABLE);
    OK(topic_lag(place->topics, place->group, place->topic, partition, &lag, &err));
    assert_int_equal(lag.committed, 3);
    atomic_store(&faults->lose_commit, 1);
    assert_int_equal(consumer_commit(consumer, &position, 1, &err), ERR_TIMEOUT);
    OK(topic_lag(place->topics, place->group, place->topic, partition, &lag, &err));
    assert_int_equal(lag.committed, 1);
    leave_group(place, consumer);
}

static bool is_shown(struct place *place, const char *name)
{
    const char **names;
    size_t count;
    bool found = false;
    struct err err;

    OK(topic_list(place->topics, place->arena, &names, &count, &err));
    for (size_t i = 0; i < count && !found; i++)
        found = strcmp(names[i], name) == 0;
    return found;
}

/* Their groups, too: one that has read all of its own topic has read nothing of the other's. */
static void a_prefix_keeps_two_installations_apart(void **state)
{
    struct place *place = place_of(state);
    struct topic_record record = {.key = bytes_of("k"), .value = bytes_of("mine")};
    struct topic_config config = {.partition_count = 1};
    int64_t deadline = now_ms() + WAIT_MS;
    const struct topic_message *messages;
    struct topic_config found;
    struct topic_lag lag;
    struct err err;
    size_t count;

    for (size_t i = 0; i < 2; i++) {
        const struct topic_position end = {place->topic, 0, 1};
        struct consumer *member;

        place->prefix = (const char *[]){"one.", "two."}[i];
        reopen_place(place);
        assert_false(is_shown(place, place->topic));
        assert_int_equal(topic_describe(place->topics, place->topic, &found, &err), ERR_NOT_FOUND);
        OK(topic_create(place->topics, place->topic, &config, &err));
        assert_true(is_shown(place, place->topic));
        OK(topic_produce(place->topics, place->topic, &record, 1, NULL, &err));
        OK(topic_lag(place->topics, place->group, place->topic, 0, &lag, &err));
        assert_false(lag.has_committed);
        member = join_group(place, TOPIC_START_EARLIEST, 0);
        do
            OK(consumer_poll(member, STEP_MS, &messages, &count, &err));
        while (count == 0 && now_ms() < deadline);
        assert_int_equal(count, 1);
        assert_string_equal(messages[0].topic, place->topic);
        OK(consumer_commit(member, &end, 1, &err));
        leave_group(place, member);
    }
    place->prefix = NULL;
    reopen_place(place);
    assert_true(is_shown(place, arena_printf(place->arena, "one.%s", place->topic)));
    OK(topic_remove(place->topics, arena_printf(place->arena, "one.%s", place->topic), &err));
    OK(topic_remove(place->topics, arena_printf(place->arena, "two.%s", place->topic), &err));
    assert_int_equal(topics_open(place->url, &(struct topics_options){.prefix = "a/b"},
                                 &(struct topics *){NULL}, &err),
                     ERR_INVALID);
}

enum {
    LOCAL = 1 << MEMORY | 1 << FILES | 1 << FAULT | 1 << PREFIX | 1 << SIM,
    ALL = LOCAL | 1 << KAFKA
};

/* Retention on Kafka is the broker's, in its own time. */
static const struct test_case cases[] = {
    CASE_ON(topics_are_created_once, ALL),
    CASE_ON(a_removed_topic_is_gone_and_can_be_made_anew, ALL),
    CASE_ON(users_of_a_removed_topic_are_told, LOCAL),
    CASE_ON(bad_names_and_sizes_are_refused_by_name, ALL),
    CASE_ON(records_of_a_key_stay_in_order, ALL),
    CASE_ON(a_record_comes_back_whole, ALL),
    CASE_ON(a_record_goes_to_the_partition_it_names, ALL),
    CASE_ON(asynchronous_records_are_called_back_in_order, ALL),
    CASE_ON(records_and_commits_survive_a_reopen, 1 << FILES | 1 << KAFKA),
    CASE_ON(reading_outside_the_log_names_what_there_is, ALL),
    CASE_ON(readers_wake_when_a_record_comes, ALL),
    CASE_ON(who_leaves_does_not_wait_for_records, ALL),
    CASE_ON(two_members_share_and_neither_repeats, ALL),
    CASE_ON(a_leaver_hands_its_partitions_over, ALL),
    CASE_ON(what_is_not_committed_while_others_come_and_go_is_read_again, ALL),
    CASE_ON(a_silent_member_loses_its_partitions_and_its_commits, ALL),
    CASE_ON(a_partition_that_moved_refuses_its_old_owners_commit, ALL),
    CASE_ON(groups_start_where_they_are_told_and_can_seek, ALL),
    CASE_ON(lag_is_what_is_not_committed, ALL),
    CASE_ON(retention_takes_the_oldest_and_leaves_the_newest, LOCAL),
    CASE_ON(a_trimmed_topic_keeps_what_is_needed, ALL),
    CASE_ON(retention_changes_while_housekeeping_runs, LOCAL),
    CASE_ON(faults_never_acknowledge, 1 << FAULT),
    CASE_ON(a_prefix_keeps_two_installations_apart, 1 << FILES | 1 << KAFKA),
};

int main(int argc, char **argv)
{
    static const enum backend backends[] = {MEMORY, FILES, KAFKA, FAULT, PREFIX, SIM};
    static struct case_list list = {.name = "topic", .set_up = set_up, .tear_down = tear_down};

    for (size_t i = 0; i < BACKEND_COUNT; i++) {
        for (size_t j = 0; j < ARRAY_COUNT(cases); j++) {
            if (cases[j].where & 1u << i && !(i == KAFKA && UNDER_TSAN))
                cases_add(&list, &cases[j], 1, backend_names[i], &backends[i]);
        }
    }
    return cases_run(&list, argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_topic_writer.c - the victim of crash_topic.py.
 *
 *     crash-topic-writer DIR [verify]
 *
 * Opens the topics in DIR, prints all it finds, then (unless it only verifies) loads them with
 * several producers and one consumer until it is killed, printing each acknowledgement:
 *
 *     R partition offset thread seq     a record that was there at the start
 *     E partition end committed         (committed −1: none)
 *     GO                                the end of that
 *     A partition offset thread seq     a produce was acknowledged
 *     C partition offset                a commit was acknowledged
 *
 * Beside them another topic is made, filled and removed, again and again; each life of it has a
 * number, which is what its records say:
 *
 *     T life count committed            at the start: its records (life 0: none, or no topic)
 *     B life count                      so many records were acknowledged
 *     X life                            it is about to be removed
 *     Y life                            the removal was acknowledged
 *
 * A record's bytes follow from its thread and seq, so a torn one is recognised: "TORN …".
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "topic/topic.h"

enum {
    PARTITIONS = 3,
    THREADS = 6,
    BATCH_MAX = 16,
    BRIEF_MAX = 12,
    VALUE_SIZE_MAX = 4000,
    RETENTION_SIZE = 16 << 20,
    LIFE_SIZE = RETENTION_SIZE / 5, /* so that four lives on a fast disk do not reach it */
    LINE_SIZE = 96
};

static const char topic_name[] = "crash";
static const char group_name[] = "readers";
static const char brief_name[] = "brief";
static const struct topic_config brief_config = {.partition_count = 1};
static uint64_t brief_life; /* of the records that were there at the start */

struct producer {
    struct topics *topics;
    unsigned thread;
    uint64_t next_seq;
};

static struct producer producers[THREADS];
static _Atomic size_t produced_size; /* in this life */

static void check(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "crash-topic-writer: %s\n", err->text);
        exit(1);
    }
}

/* One write(2) a line: what the parent has read was said before the kill. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        exit(1);
}

static size_t make_value(unsigned thread, uint64_t seq, char value[VALUE_SIZE_MAX])
{
    struct rng rng = rng_seeded(seq * THREADS + thread);
    size_t size = 24 + rng_below(&rng, VALUE_SIZE_MAX - 24);
    size_t i = (size_t)snprintf(value, VALUE_SIZE_MAX, "%u:%" PRIu64 ":", thread, seq);

    for (; i < size; i++)
        value[i] = (char)('a' + rng_next(&rng) % 26);
    return size;
}

static void report_record(const struct topic_message *message)
{
    char text[VALUE_SIZE_MAX], wanted[VALUE_SIZE_MAX];
    unsigned thread = 0;
    uint64_t seq = 0;
    size_t size = message->value.size < 40 ? message->value.size : 40;

    memcpy(text, message->value.data, size);
    text[size] = 0;
    if (sscanf(text, "%u:%" SCNu64 ":", &thread, &seq) != 2 || thread >= THREADS ||
        !bytes_equal(message->value, bytes_make(wanted, make_value(thread, seq, wanted)))) {
        say("TORN %u %" PRIu64 "\n", message->partition, message->offset);
        return;
    }
    printf("R %u %" PRIu64 " %u %" PRIu64 "\n", message->partition, message->offset, thread, seq);
    if (seq >= producers[thread].next_seq)
        producers[thread].next_seq = seq + 1;
}

static void report_all(struct topics *topics)
{
    struct arena *arena = arena_new();
    const struct topic_message *messages;
    struct topic_lag lag;
    struct err err;
    uint32_t partition;
    size_t count, i;

    for (partition = 0; partition < PARTITIONS; partition++) {
        uint64_t at;

        check(topic_lag(topics, group_name, topic_name, partition, &lag, &err), &err);
        for (at = lag.first; at < lag.end; at += count) {
            check(topic_read(topics, topic_name, partition, at, 1000, 0, arena, &messages, &count,
                             &err),
                  &err);
            for (i = 0; i < count; i++)
                report_record(&messages[i]);
            arena_reset(arena);
        }
        printf("E %u %" PRIu64 " %" PRId64 "\n", partition, lag.end,
               lag.has_committed ? (int64_t)lag.committed : -1);
    }
    printf("GO\n");
    fflush(stdout);
    arena_free(arena);
}

static void report_brief(struct topics *topics)
{
    struct arena *arena = arena_new();
    const struct topic_message *messages = NULL;
    struct topic_lag lag = {0};
    struct err err;
    size_t count = 0, i;
    int rc = topic_lag(topics, group_name, brief_name, 0, &lag, &err);

    if (rc != ERR_NOT_FOUND)
        check(rc, &err);
    if (lag.end)
        check(
            topic_read(topics, brief_name, 0, 0, BRIEF_MAX + 1, 0, arena, &messages, &count, &err),
            &err);
    for (i = 0; i < count; i++) {
        uint64_t life = 0;

        if (messages[i].value.size != sizeof(life))
            exit(1);
        memcpy(&life, messages[i].value.data, sizeof(life));
        if (i && life != brief_life)
            say("MIXED %" PRIu64 " %" PRIu64 "\n", brief_life, life);
        brief_life = life;
    }
    printf("T %" PRIu64 " %zu %" PRIu64 "\n", brief_life, count,
           lag.has_committed ? lag.committed : 0);
    arena_free(arena);
}

static void commit_brief(struct topics *topics)
{
    const char *names[] = {brief_name};
    struct consumer_options options = {.group = group_name, .topics = names, .topic_count = 1};
    const struct topic_message *messages;
    struct consumer *consumer;
    struct err err;
    size_t count;

    check(consumer_open(topics, &options, &consumer, &err), &err);
    check(consumer_poll(consumer, 0, &messages, &count, &err), &err);
    check(consumer_commit_polled(consumer, &err), &err);
    consumer_close(consumer);
}

static void remove_brief(struct topics *topics, uint64_t life)
{
    struct err err;
    int rc;

    say("X %" PRIu64 "\n", life);
    rc = topic_remove(topics, brief_name, &err);
    if (rc != ERR_NOT_FOUND)
        check(rc, &err);
    say("Y %" PRIu64 "\n", life);
}

static void *live_briefly(void *arg)
{
    struct topics *topics = arg;
    struct rng rng = rng_seeded(random_u64());
    struct err err;

    remove_brief(topics, brief_life);
    for (;;) {
        uint64_t life = random_u64() >> 1 | 1;
        struct topic_record record = {.value = bytes_make(&life, sizeof(life))};
        size_t count = 1 + rng_below(&rng, BRIEF_MAX);

        check(topic_create(topics, brief_name, &brief_config, &err), &err);
        for (size_t i = 0; i < count; i++) {
            check(topic_produce(topics, brief_name, &record, 1, NULL, &err), &err);
            say("B %" PRIu64 " %zu\n", life, i + 1);
        }
        commit_brief(topics);
        remove_brief(topics, life);
    }
    return NULL;
}

static void *produce(void *arg)
{
    struct producer *producer = arg;
    struct rng rng = rng_seeded(random_u64());
    char(*values)[VALUE_SIZE_MAX] = mem_array(BATCH_MAX, sizeof(*values));
    struct topic_record records[BATCH_MAX];
    uint64_t offsets[BATCH_MAX];
    char key[BATCH_MAX][8];
    struct err err;
    size_t count, i;

    for (;;) {
        count = 1 + rng_below(&rng, BATCH_MAX);
        if (produced_size >= LIFE_SIZE)
            pause(); /* until the kill */
        for (i = 0; i < count; i++) {
            uint64_t seq = producer->next_seq + i;

            snprintf(key[i], sizeof(key[i]), "t%u", producer->thread);
            records[i] = (struct topic_record){
                .key = bytes_of(key[i]),
                .value = bytes_make(values[i], make_value(producer->thread, seq, values[i]))};
            produced_size += records[i].value.size;
        }
        check(topic_produce(producer->topics, topic_name, records, count, offsets, &err), &err);
        for (i = 0; i < count; i++)
            say("A %u %" PRIu64 " %u %" PRIu64 "\n", topic_partition(records[i].key, PARTITIONS),
                offsets[i], producer->thread, producer->next_seq + i);
        producer->next_seq += count;
    }
    return NULL;
}

static void consume(struct topics *topics)
{
    const char *names[] = {topic_name};
    struct consumer_options options = {.group = group_name, .topics = names, .topic_count = 1};
    const struct topic_message *messages;
    struct consumer *consumer;
    struct topic_position position;
    struct err err;
    size_t count;

    check(consumer_open(topics, &options, &consumer, &err), &err);
    for (;;) {
        check(consumer_poll(consumer, 1000, &messages, &count, &err), &err);
        if (!count)
            continue;
        position = (struct topic_position){topic_name, messages[count - 1].partition,
                                           messages[count - 1].offset + 1};
        check(consumer_commit(consumer, &position, 1, &err), &err);
        say("C %u %" PRIu64 "\n", position.partition, position.offset);
    }
}

int main(int argc, char **argv)
{
    /* the size makes small segments, so that they roll; it is never reached */
    struct topic_config config = {.partition_count = PARTITIONS, .retention_size = RETENTION_SIZE};
    struct topics *topics;
    pthread_t thread;
    char url[4096];
    struct err err;
    unsigned i;

    if (argc < 2)
        return 2;
    snprintf(url, sizeof(url), "file:%s", argv[1]);
    check(topics_open(url, NULL, &topics, &err), &err);
    check(topic_create(topics, topic_name, &config, &err), &err);
    report_brief(topics);
    report_all(topics);
    if (argc > 2) {
        topics_close(topics);
        return 0;
    }
    for (i = 0; i < THREADS; i++) {
        producers[i].topics = topics;
        producers[i].thread = i;
        pthread_create(&thread, NULL, produce, &producers[i]);
    }
    pthread_create(&thread, NULL, live_briefly, topics);
    consume(topics);
    return 0;
}

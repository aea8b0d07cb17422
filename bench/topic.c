/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/topic.c - one round: produces COUNT records of 1 KB durably with several threads, then
 * reads them all with one consumer group member, and prints both rates.
 *
 *     bench-topic URL COUNT THREADS BATCH      → produced=… consumed=… p99_us=…
 *
 * A produce call carries BATCH records, and the thread waits for it to be durable.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "topic/topic.h"

enum { VALUE_SIZE = 1024, PARTITIONS = 8, BATCH_MAX = 10000, THREAD_MAX = 256 };

struct run {
    struct topics *topics;
    char topic[32];
    size_t batch;
    _Atomic int64_t left; /* records to be produced */
    struct histogram *latency;
};

static void check(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "bench-topic: %s\n", err->text);
        exit(1);
    }
}

static void *produce(void *arg)
{
    struct run *run = arg;
    struct topic_record *records = mem_array(run->batch, sizeof(*records));
    char(*keys)[24] = mem_array(run->batch, sizeof(*keys));
    uint8_t *value = mem_alloc(VALUE_SIZE);
    struct err err;
    size_t i;

    random_fill(value, VALUE_SIZE);
    for (;;) {
        int64_t left = atomic_fetch_sub(&run->left, (int64_t)run->batch);
        int64_t began_us = clock_mono_us(clock_system());

        if (left <= 0)
            break;
        for (i = 0; i < run->batch; i++) {
            snprintf(keys[i], sizeof(keys[i]), "offer-%" PRId64, left - (int64_t)i);
            records[i].key = bytes_of(keys[i]);
            records[i].value = bytes_make(value, VALUE_SIZE);
        }
        check(topic_produce(run->topics, run->topic, records, run->batch, NULL, &err), &err);
        histogram_add(run->latency, clock_mono_us(clock_system()) - began_us);
    }
    free(value);
    free(keys);
    free(records);
    return NULL;
}

static double produce_all(struct run *run, size_t count, size_t thread_count)
{
    int64_t began_us = clock_mono_us(clock_system());
    pthread_t threads[THREAD_MAX];
    size_t i;

    atomic_store(&run->left, (int64_t)count);
    for (i = 0; i < thread_count; i++)
        pthread_create(&threads[i], NULL, produce, run);
    for (i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    return (double)count * SECOND_US / (double)(clock_mono_us(clock_system()) - began_us);
}

/* From the first record on: joining a group is not what is measured. */
static double consume_all(struct run *run, size_t count)
{
    const char *names[] = {run->topic};
    struct consumer_options options = {
        .group = run->topic, .topics = names, .topic_count = 1, .poll_count = 2000};
    const struct topic_message *messages;
    struct consumer *consumer;
    int64_t began_us = 0;
    size_t total = 0, got, i;
    uint64_t sum = 0;
    struct err err;

    check(consumer_open(run->topics, &options, &consumer, &err), &err);
    while (total < count) {
        check(consumer_poll(consumer, 10000, &messages, &got, &err), &err);
        if (!began_us)
            began_us = clock_mono_us(clock_system());
        for (i = 0; i < got; i++) /* every value is looked at */
            sum += messages[i].value.data[0] + messages[i].value.data[messages[i].value.size - 1];
        total += got;
        check(consumer_commit_polled(consumer, &err), &err);
    }
    began_us = clock_mono_us(clock_system()) - began_us;
    consumer_close(consumer);
    fprintf(stderr, "%s", sum == 1 ? " " : "");
    return (double)count * SECOND_US / (double)began_us;
}

int main(int argc, char **argv)
{
    struct topic_config config = {.partition_count = PARTITIONS};
    struct run run = {0};
    uint64_t count, threads, batch;
    double produced, consumed;
    struct err err;

    if (argc != 5 || !text_to_u64(bytes_of(argv[2]), &count) ||
        !text_to_u64(bytes_of(argv[3]), &threads) || !text_to_u64(bytes_of(argv[4]), &batch) ||
        threads < 1 || threads > THREAD_MAX || batch < 1 || batch > BATCH_MAX) {
        fprintf(stderr, "usage: bench-topic URL COUNT THREADS BATCH\n");
        return 2;
    }
    count -= count % batch;
    run.batch = batch;
    run.latency = metrics_histogram("produce_seconds", NULL, "a produce call");
    snprintf(run.topic, sizeof(run.topic), "bench-%016" PRIx64, random_u64());
    check(topics_open(argv[1], NULL, &run.topics, &err), &err);
    check(topic_create(run.topics, run.topic, &config, &err), &err);
    produced = produce_all(&run, count, threads);
    consumed = consume_all(&run, count);
    topics_close(run.topics);
    printf("produced=%.0f consumed=%.0f p99_us=%" PRId64 "\n", produced, consumed,
           histogram_quantile_us(run.latency, 0.99));
    return 0;
}

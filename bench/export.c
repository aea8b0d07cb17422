/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/export.c - how long after a seller's acknowledgement a change is in the topic
 * offer-updates.
 *
 *     bench-export DIR COUNT     → a line for a worker that looks by itself, one for a rung one
 *
 * One offer at a time with quiet times of up to 100 ms between, on SQLite and topics in DIR, all in
 * this process: the case in which a worker has fallen asleep. The two take turns in rounds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "codec/message.h"
#include "model/topics.h"
#include "offers/outbox/export.h"
#include "offers/outbox/worker.h"
#include "store/migrate.h"

enum { ROUND_COUNT = 5, COUNT_MAX = 100000, QUIET_MS_MAX = 100, PATIENCE_MS = 10000 };

static const char catalog_json[] =
    "{\"categories\": [{\"id\": \"books\", \"name\": {\"en\": \"Books\"}}]}";

struct bench {
    struct offers offers;
    struct bell bell;
    struct topics *topics;
    struct coord *coord;
    struct consumer *consumer;
};

static void check(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "bench-export: %s\n", err->text);
        exit(1);
    }
}

static struct catalog *give_catalog(void *arg)
{
    return catalog_ref(arg);
}

static void create(struct bench *bench, char id[OFFER_ID_TEXT_SIZE])
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    const struct author author = {.seller = "s", .arena = arena, .violations = &violations};
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    Torg__V1__OfferContent *content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);
    struct err err;

    content->category = arena_strdup(arena, "books");
    content->title = arena_strdup(arena, "A book");
    check(offers_create(&bench->offers, &author, content, &receipt, &err), &err);
    snprintf(id, OFFER_ID_TEXT_SIZE, "%s", receipt.id);
    arena_free(arena);
}

static void await_record(struct bench *bench, const char *id)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)PATIENCE_MS * MS_US;
    struct err err = {0};

    for (;;) {
        const struct topic_message *messages;
        size_t count;

        check(consumer_poll(bench->consumer, PATIENCE_MS, &messages, &count, &err), &err);
        for (size_t i = 0; i < count; i++) {
            if (bytes_equal_text(messages[i].key, id))
                return;
        }
        if (clock_mono_us(clock_system()) > until_us)
            check(err_set(&err, ERR_TIMEOUT, "offer %s was not exported", id), &err);
    }
}

static void measure(struct bench *bench, bool rung, int count, int64_t *latencies_us)
{
    struct offers_worker *worker;
    char id[OFFER_ID_TEXT_SIZE];
    struct err err;

    bench->offers.bell = rung ? &bench->bell : NULL;
    check(offers_worker_start(&bench->offers, bench->topics, bench->coord, &worker, &err), &err);
    create(bench, id); /* the first waits for the shards to be dealt */
    await_record(bench, id);
    for (int i = 0; i < count; i++) {
        const struct timespec quiet = {.tv_nsec = (int64_t)(random_u64() % QUIET_MS_MAX) * 1000000};
        int64_t began_us;

        nanosleep(&quiet, NULL);
        create(bench, id);
        began_us = clock_mono_us(clock_system());
        await_record(bench, id);
        latencies_us[i] = clock_mono_us(clock_system()) - began_us;
    }
    offers_worker_stop(worker);
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static void print(const char *name, int64_t *latencies_us, size_t count)
{
    qsort(latencies_us, count, sizeof(*latencies_us), compare);
    printf("%-10s p50 %6.2f ms   p99 %6.2f ms   max %6.2f ms   (%zu changes)\n", name,
           (double)latencies_us[count / 2] / MS_US, (double)latencies_us[count * 99 / 100] / MS_US,
           (double)latencies_us[count - 1] / MS_US, count);
}

static void open_all(struct bench *bench, const char *dir)
{
    static const char *const names[] = {TOPIC_OFFER_UPDATES};
    const struct consumer_options options = {
        .group = "bench", .topics = names, .topic_count = 1, .start = TOPIC_START_LATEST};
    const struct topic_config config = {.partition_count = 8};
    struct catalog *catalog;
    struct store *store;
    char url[4096];
    struct err err;

    snprintf(url, sizeof(url), "sqlite:%s/store.sqlite", dir);
    check(store_open(url, &store, &err), &err);
    check(store_migrate(store, NULL, &err), &err);
    snprintf(url, sizeof(url), "file:%s/topics", dir);
    check(topics_open(url, NULL, &bench->topics, &err), &err);
    check(coord_open("memory:bench", "bench", NULL, &bench->coord, &err), &err);
    check(catalog_from_json(bytes_of(catalog_json), NULL, &catalog, &err), &err);
    check(topic_create(bench->topics, TOPIC_OFFER_UPDATES, &config, &err), &err);
    check(consumer_open(bench->topics, &options, &bench->consumer, &err), &err);
    bell_init(&bench->bell, clock_system());
    bench->offers = (struct offers){
        .store = store, .clock = clock_system(), .catalog = give_catalog, .catalog_arg = catalog};
}

static void close_all(struct bench *bench)
{
    consumer_close(bench->consumer);
    coord_close(bench->coord);
    topics_close(bench->topics);
    store_close(bench->offers.store);
    catalog_unref(bench->offers.catalog_arg);
    bell_release(&bench->bell);
}

int main(int argc, char **argv)
{
    int count = argc == 3 ? (int)strtol(argv[2], NULL, 10) / ROUND_COUNT : 0;
    int64_t *polled, *rung;
    struct bench bench = {.topics = NULL};

    if (count < 1 || count > COUNT_MAX) {
        fprintf(stderr, "usage: bench-export DIR COUNT\n");
        return 2;
    }
    polled = mem_array((size_t)count * ROUND_COUNT, sizeof(*polled));
    rung = mem_array((size_t)count * ROUND_COUNT, sizeof(*rung));
    open_all(&bench, argv[1]);
    for (int i = 0; i < ROUND_COUNT; i++) {
        measure(&bench, false, count, polled + i * count);
        measure(&bench, true, count, rung + i * count);
    }
    print("looking", polled, (size_t)count * ROUND_COUNT);
    print("rung", rung, (size_t)count * ROUND_COUNT);
    close_all(&bench);
    free(polled);
    free(rung);
    return 0;
}

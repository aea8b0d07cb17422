/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/indexer.c - how fast, and how soon, accepted documents reach the index topic.
 *
 * In one process, on SQLite and the embedded topics in DIR: first writers fill the queue with
 * COUNT new documents while no indexer runs, and the indexer empties it; then the same with changes
 * of them; then writers put RATE documents a second, one a call, for SECONDS, beside the indexer,
 * and the time from the acceptance to the acknowledged record is told.
 *
 * usage: bench-indexer DIR COUNT RATE SECONDS [SHARDS]
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/text.h"
#include "codec/message.h"
#include "registry/indexing/indexer_worker.h"
#include "registry/receiving/receiver.h"
#include "store/migrate.h"

enum { BATCH_COUNT = 500, WRITER_COUNT = 64, TITLE_SIZE = 200 };

static struct receiver receiver;
static struct indexer_base base;
static struct queue_bell bell;
static struct coord *coord;
static uint64_t total;

static void check(int rc, const char *what, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "bench-indexer: %s: %s\n", what, err->text);
        exit(1);
    }
}

static uint64_t number_of(const char *text)
{
    uint64_t number;

    if (!text_to_u64(bytes_of(text), &number) || !number) {
        fprintf(stderr, "bench-indexer: %s: a number is expected\n", text);
        exit(2);
    }
    return number;
}

static int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

static void wait_us(int64_t us)
{
    struct timespec pause = {.tv_sec = us / SECOND_US, .tv_nsec = us % SECOND_US * 1000};

    if (us > 0)
        nanosleep(&pause, NULL);
}

/* --- documents of about 400 bytes --- */

static Torg__V1__RawField *add_field(Torg__V1__RawDocument *document, const char *name,
                                     struct arena *arena)
{
    Torg__V1__RawField *field =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

    field->name = (char *)name;
    document->fields[document->n_fields++] = field;
    return field;
}

static Torg__V1__RawDocument *document_of(uint64_t number, int64_t version, struct arena *arena)
{
    static const char *const words[] = {"bicycle", "red",  "mountain", "new",   "wheel", "frame",
                                        "city",    "fast", "light",    "steel", "kids",  "road"};
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);
    Torg__V1__RawField *field;
    struct buf title = BUF_INIT(TITLE_SIZE * 2);

    document->pk = arena_printf(arena, "offer-%" PRIu64, number);
    document->version = version;
    document->fields = arena_array(arena, 5, sizeof(document->fields[0]));
    for (uint64_t i = 0; i < 24; i++)
        buf_printf(&title, "%s ", words[(number * 7 + i * i) % ARRAY_COUNT(words)]);
    field = add_field(document, "title", arena);
    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field->text = arena_text(arena, buf_bytes(&title));
    field = add_field(document, "price", arena);
    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = (int64_t)(number % 100000) + version;
    field = add_field(document, "seller", arena);
    field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    field->keyword = arena_printf(arena, "seller-%" PRIu64, number % 1000);
    field = add_field(document, "weight", arena);
    field->_decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
    field->decimal = arena_printf(arena, "%" PRIu64 ".50", number % 50);
    buf_release(&title);
    return document;
}

static void put(uint64_t first, size_t count, int64_t version)
{
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[BATCH_COUNT];
    Torg__V1__Verdict **verdicts;
    struct err err = {0};

    for (size_t i = 0; i < count; i++)
        documents[i] = document_of(first + i, version, arena);
    check(receiver_put(&receiver, "default", LANE_MAIN, documents, count, arena, &verdicts, &err),
          "put", &err);
    for (size_t i = 0; i < count; i++)
        if (verdicts[i]->kind != TORG__V1__VERDICT__KIND__ACCEPTED) {
            fprintf(stderr, "bench-indexer: verdict %d\n", (int)verdicts[i]->kind);
            exit(1);
        }
    arena_free(arena);
}

/* --- emptying --- */

static uint64_t sent(void)
{
    return counter_value(
        metrics_counter("torg_indexer_sent_total", "client=\"default\",lane=\"main\"", ""));
}

static void wait_for(uint64_t count)
{
    while (sent() < count)
        wait_us(1000);
}

static void empty(const char *what, int64_t version)
{
    struct indexer_worker *worker;
    uint64_t before = sent();
    int64_t begin_us = now_us();
    int64_t filled_us;

    for (uint64_t i = 0; i < total; i += BATCH_COUNT)
        put(i, BATCH_COUNT, version);
    filled_us = now_us();
    worker = indexer_worker_start(&base, coord, &bell, 2);
    wait_for(before + total);
    printf("%-8s %7" PRIu64 " documents put at %6.0f/s, sent to the index at %6.0f/s\n", what,
           total, (double)total * SECOND_US / (double)(filled_us - begin_us),
           (double)total * SECOND_US / (double)(now_us() - filled_us));
    indexer_worker_stop(worker);
}

/* --- beside writers --- */

static struct {
    uint64_t rate;
    int64_t begin_us, end_us;
    atomic_uint_fast64_t next;
    atomic_uint_fast64_t late;
} load;

/* Each takes the next number, and puts it when its time has come. */
static void *write_some(void *arg)
{
    (void)arg;
    for (;;) {
        uint64_t turn = atomic_fetch_add(&load.next, 1);
        int64_t due_us = load.begin_us + (int64_t)(turn * SECOND_US / load.rate);

        if (due_us >= load.end_us)
            return NULL;
        wait_us(due_us - now_us());
        if (now_us() - due_us > SECOND_US)
            atomic_fetch_add(&load.late, 1);
        /* every tenth is new */
        if (turn % 10 == 0)
            put(total + turn, 1, 1);
        else
            put(turn * 7919 % total, 1, 3 + (int64_t)turn);
    }
}

static void run_load(uint64_t rate, uint64_t seconds)
{
    struct indexer_worker *worker = indexer_worker_start(&base, coord, &bell, 2);
    struct histogram *latency =
        metrics_histogram("torg_indexer_latency_seconds", "lane=\"main\"", "");
    struct histogram *rounds = metrics_histogram("torg_indexer_round_seconds", NULL, "");
    pthread_t writers[WRITER_COUNT];
    uint64_t before = sent();
    struct timespec cpu[2];
    uint64_t round_count = 0;

    memset(latency, 0, sizeof(*latency));
    memset(rounds, 0, sizeof(*rounds));
    load.rate = rate;
    load.begin_us = now_us();
    load.end_us = load.begin_us + (int64_t)seconds * SECOND_US;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu[0]);
    for (size_t i = 0; i < WRITER_COUNT; i++)
        pthread_create(&writers[i], NULL, write_some, NULL);
    for (size_t i = 0; i < WRITER_COUNT; i++)
        pthread_join(writers[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu[1]);
    wait_us(SECOND_US);
    for (size_t i = 0; i <= HISTOGRAM_BUCKET_COUNT; i++)
        round_count += rounds->buckets[i];
    printf("beside   %7" PRIu64 " documents at %" PRIu64 "/s, one a call (%" PRIu64
           " late); accepted → sent p50 ≤ %.1f ms, p99 ≤ %.1f ms, mean %.1f ms; %.1f a round, "
           "%.1f cores\n",
           sent() - before, rate, (uint64_t)load.late,
           (double)histogram_quantile_us(latency, 0.5) / 1000,
           (double)histogram_quantile_us(latency, 0.99) / 1000,
           (double)latency->sum_us / 1000 / (double)(sent() - before),
           (double)(sent() - before) / (double)round_count,
           ((double)(cpu[1].tv_sec - cpu[0].tv_sec) +
            (double)(cpu[1].tv_nsec - cpu[0].tv_nsec) / 1e9) /
               (double)seconds);
    indexer_worker_stop(worker);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct store *store;
    struct topics *topics;
    struct err err = {0};

    if (argc < 5) {
        fprintf(stderr, "usage: bench-indexer DIR COUNT RATE SECONDS [SHARDS]\n");
        return 2;
    }
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_WARN, 2);
    total = number_of(argv[2]) / BATCH_COUNT * BATCH_COUNT;
    check(store_open(arena_printf(arena, "sqlite:%s/store.db", argv[1]), &store, &err), "store",
          &err);
    check(store_migrate(store, NULL, &err), "store", &err);
    check(topics_open(arena_printf(arena, "file:%s/topics", argv[1]), NULL, &topics, &err),
          "topics", &err);
    check(coord_open("memory:bench", "bench", NULL, &coord, &err), "coord", &err);
    queue_bell_init(&bell, clock_system());
    receiver = (struct receiver){.store = store,
                                 .clock = clock_system(),
                                 .clients = clients_new(store, clock_system()),
                                 .dictionaries = dictionaries_new(store),
                                 .intake = intake_new(store),
                                 .bell = &bell,
                                 .shard_count = argc > 5 ? (uint32_t)number_of(argv[5]) : 1,
                                 .tombstone_life_us = INT64_C(86400) * SECOND_US};
    base = (struct indexer_base){.store = store,
                                 .topics = topics,
                                 .clients = receiver.clients,
                                 .dictionaries = receiver.dictionaries,
                                 .clock = clock_system(),
                                 .rules = {.try_count = 8, .main_weight = 9, .backfill_weight = 1}};
    empty("new", 1);
    empty("changed", 2);
    run_load(number_of(argv[3]), number_of(argv[4]));
    coord_close(coord);
    intake_free(receiver.intake);
    clients_free(receiver.clients);
    dictionaries_free(receiver.dictionaries);
    topics_close(topics);
    store_close(store);
    queue_bell_release(&bell);
    arena_free(arena);
    return 0;
}

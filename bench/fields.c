/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/fields.c - changes of side fields through the whole chain, in one process.
 *
 * On SQLite and the embedded topics in DIR: DOCUMENTS are put and indexed; then CHANGES of their
 * stock, at random, are put in batches of 1 000 beside the indexer and a shard that applies and
 * publishes what arrives. Told: how many a second were durable, and were searchable in the end; the
 * time from a batch's call to its publication; the processor time of a change in all three.
 *
 * usage: bench-fields DIR DOCUMENTS CHANGES
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
#include "base/random.h"
#include "base/text.h"
#include "codec/message.h"
#include "model/change_token.h"
#include "model/topics.h"
#include "registry/indexing/indexer_worker.h"
#include "registry/receiving/receiver.h"
#include "searcher/replica/apply.h"
#include "store/migrate.h"

enum { BATCH_COUNT = 1000, READ_COUNT = 500, WAIT_MS = 5, ELEMENT_COUNT_MAX = 1 << 20 };

static struct receiver receiver;
static struct indexer_base base;
static struct queue_bell bell;
static struct topics *topics;
static int64_t called_us[ELEMENT_COUNT_MAX]; /* of the element with this idx */
static int64_t shown_us[ELEMENT_COUNT_MAX];
static atomic_int_fast64_t shown_idx; /* all up to it are published */
static atomic_bool is_over;

static void check(int rc, const char *what, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "bench-fields: %s: %s\n", what, err->text);
        exit(1);
    }
}

static uint64_t number_of(const char *text)
{
    uint64_t number;

    if (!text_to_u64(bytes_of(text), &number) || number < BATCH_COUNT) {
        fprintf(stderr, "bench-fields: %s: a number from %d on is expected\n", text, BATCH_COUNT);
        exit(2);
    }
    return number;
}

static int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

/* --- writing --- */

static Torg__V1__RawField *integer_of(const char *name, int64_t value, struct arena *arena)
{
    Torg__V1__RawField *field = MESSAGE_NEW(raw_field, arena);

    field->name = (char *)name;
    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = value;
    return field;
}

/* The idx of the element that the verdict's change is in. */
static int64_t idx_of(Torg__V1__Verdict *const *verdicts, size_t count)
{
    struct change_token token = {0};
    struct err err = {0};

    for (size_t i = 0; i < count; i++)
        if (verdicts[i]->kind != TORG__V1__VERDICT__KIND__ACCEPTED) {
            fprintf(stderr, "bench-fields: verdict %d\n", (int)verdicts[i]->kind);
            exit(1);
        }
    check(change_token_parse(bytes_of(verdicts[count - 1]->token), NULL, &token, &err), "token",
          &err);
    return token.idx;
}

static int64_t put_documents(uint64_t first)
{
    struct arena *arena = arena_new();
    Torg__V1__RawDocument *documents[BATCH_COUNT];
    Torg__V1__Verdict **verdicts;
    struct err err = {0};
    int64_t idx;

    for (uint64_t i = 0; i < BATCH_COUNT; i++) {
        documents[i] = MESSAGE_NEW(raw_document, arena);
        documents[i]->pk = arena_printf(arena, "offer-%" PRIu64, first + i);
        documents[i]->version = 1;
        documents[i]->fields = arena_array(arena, 2, sizeof(documents[i]->fields[0]));
        documents[i]->n_fields = 2;
        documents[i]->fields[0] = integer_of("price", (int64_t)(first + i), arena);
        documents[i]->fields[1] = MESSAGE_NEW(raw_field, arena);
        documents[i]->fields[1]->name = (char *)"title";
        documents[i]->fields[1]->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
        documents[i]->fields[1]->text =
            arena_printf(arena, "city bicycle %" PRIu64 " red light steel", first + i);
    }
    check(receiver_put(&receiver, "default", LANE_MAIN, documents, BATCH_COUNT, arena, &verdicts,
                       &err),
          "put", &err);
    idx = idx_of(verdicts, BATCH_COUNT);
    arena_free(arena);
    return idx;
}

static int64_t put_changes(struct rng *rng, uint64_t documents, int64_t sequence)
{
    struct arena *arena = arena_new();
    Torg__V1__FieldChange *changes[BATCH_COUNT];
    int64_t begin_us = now_us();
    Torg__V1__Verdict **verdicts;
    struct err err = {0};
    int64_t idx;

    for (int i = 0; i < BATCH_COUNT; i++) {
        changes[i] = MESSAGE_NEW(field_change, arena);
        changes[i]->pk = arena_printf(arena, "offer-%" PRIu64, rng_below(rng, documents));
        changes[i]->sequence = sequence + i;
        changes[i]->fields = arena_array(arena, 1, sizeof(changes[i]->fields[0]));
        changes[i]->fields[0] = integer_of("stock", (int64_t)rng_below(rng, 1000), arena);
        changes[i]->n_fields = 1;
    }
    check(receiver_put_fields(&receiver, "default", changes, BATCH_COUNT, arena, &verdicts, &err),
          "put fields", &err);
    idx = idx_of(verdicts, BATCH_COUNT);
    called_us[idx % ELEMENT_COUNT_MAX] = begin_us;
    arena_free(arena);
    return idx;
}

static void declare_stock(void)
{
    Torg__V1__DeclareSchemaRequest request = TORG__V1__DECLARE_SCHEMA_REQUEST__INIT;
    Torg__V1__FieldOptions options = TORG__V1__FIELD_OPTIONS__INIT;
    Torg__V1__SchemaField field = TORG__V1__SCHEMA_FIELD__INIT;
    Torg__V1__SchemaField *fields[] = {&field};
    Torg__V1__Schema schema = TORG__V1__SCHEMA__INIT;
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct err err = {0};

    options.side = true;
    field.name = (char *)"stock";
    field.type = TORG__V1__SCHEMA_FIELD__TYPE__INTEGER;
    field.options = &options;
    request.fields = fields;
    request.n_fields = 1;
    check(receiver_declare(&receiver, "bench", &request, "default", &reasons, &schema, &err),
          "declare", &err);
    arena_free(arena);
}

/* --- the shard --- */

static void show(struct applier *applier, uint64_t offset)
{
    int64_t before = atomic_load(&shown_idx);
    struct err err = {0};
    int64_t idx = applier_progress(applier)->lanes[LANE_MAIN];

    check(applier_publish(applier, offset, &err), "publish", &err);
    for (int64_t i = before + 1; i <= idx; i++)
        shown_us[i % ELEMENT_COUNT_MAX] = now_us();
    atomic_store(&shown_idx, idx);
}

static void *follow(void *arg)
{
    const struct shard_options options = {.dir = NULL, .epoch = 1};
    struct arena *arena = arena_new();
    char topic[INDEX_TOPIC_SIZE];
    const struct topic_message *messages;
    struct applier *applier;
    struct shard *shard;
    uint64_t offset = 0;
    struct err err = {0};
    size_t count;

    (void)arg;
    index_topic_name("default", 1, topic);
    check(shard_open(&options, &shard, &err), "shard", &err);
    check(applier_new(shard, &applier, &err), "applier", &err);
    while (!atomic_load(&is_over)) {
        struct timespec pause = {.tv_nsec = WAIT_MS * 1000000};

        arena_reset(arena);
        if (topic_read(topics, topic, 0, offset, READ_COUNT, WAIT_MS, arena, &messages, &count,
                       &err)) { /* not made yet */
            nanosleep(&pause, NULL);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            check(applier_apply(applier, messages[i].value, arena, NULL, &err), "apply", &err);
        if (!count)
            continue;
        offset = messages[count - 1].offset + 1;
        show(applier, offset);
    }
    printf("         %" PRIu64 " changes of columns, %" PRIu64 " puts of text\n",
           applier_counts(applier)->field_count, applier_counts(applier)->put_count);
    applier_free(applier);
    shard_close(shard);
    arena_free(arena);
    return NULL;
}

static void wait_for(int64_t idx)
{
    struct timespec pause = {.tv_nsec = 1000000};

    while (atomic_load(&shown_idx) < idx)
        nanosleep(&pause, NULL);
}

/* --- figures --- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double cpu_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run_changes(uint64_t documents, uint64_t changes)
{
    struct rng rng = rng_seeded(7);
    size_t batch_count = changes / BATCH_COUNT;
    int64_t *took = mem_array(batch_count, sizeof(*took));
    int64_t *idx = mem_array(batch_count, sizeof(*idx));
    int64_t begin_us = now_us();
    double cpu = cpu_s();
    int64_t put_us;

    for (size_t i = 0; i < batch_count; i++) {
        idx[i] = put_changes(&rng, documents, (int64_t)(i + 1) * BATCH_COUNT);
        if (i >= 8) /* as callers that wait for what they sent would: no more than so many ahead */
            wait_for(idx[i - 8]);
    }
    put_us = now_us();
    wait_for(idx[batch_count - 1]);
    for (size_t i = 0; i < batch_count; i++)
        took[i] = shown_us[idx[i] % ELEMENT_COUNT_MAX] - called_us[idx[i] % ELEMENT_COUNT_MAX];
    qsort(took, batch_count, sizeof(*took), compare);
    printf("changes  %7zu, %.0f/s durable, %.0f/s searchable; call → searchable p50 %.1f ms, "
           "p99 %.1f ms; %.1f µs of processor time each\n",
           batch_count * BATCH_COUNT,
           (double)(batch_count * BATCH_COUNT) * SECOND_US / (double)(put_us - begin_us),
           (double)(batch_count * BATCH_COUNT) * SECOND_US / (double)(now_us() - begin_us),
           (double)took[batch_count / 2] / 1000, (double)took[batch_count * 99 / 100] / 1000,
           (cpu_s() - cpu) * 1e6 / (double)(batch_count * BATCH_COUNT));
    free(took);
    free(idx);
}

static void run(struct coord *coord, uint64_t documents, uint64_t changes)
{
    struct indexer_worker *worker;
    pthread_t follower;
    int64_t idx = 0;

    for (uint64_t i = 0; i < documents; i += BATCH_COUNT)
        idx = put_documents(i);
    declare_stock();
    worker = indexer_worker_start(&base, coord, &bell, 1);
    pthread_create(&follower, NULL, follow, NULL);
    wait_for(idx);
    run_changes(documents, changes);
    atomic_store(&is_over, true);
    pthread_join(follower, NULL);
    indexer_worker_stop(worker);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct store *store;
    struct coord *coord;
    struct err err = {0};

    if (argc < 4) {
        fprintf(stderr, "usage: bench-fields DIR DOCUMENTS CHANGES\n");
        return 2;
    }
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_WARN, 2);
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
                                 .shard_count = 1,
                                 .tombstone_life_us = INT64_C(86400) * SECOND_US};
    base = (struct indexer_base){.store = store,
                                 .topics = topics,
                                 .clients = receiver.clients,
                                 .dictionaries = receiver.dictionaries,
                                 .clock = clock_system(),
                                 .rules = {.try_count = 8, .main_weight = 9, .backfill_weight = 1}};
    run(coord, number_of(argv[2]), number_of(argv[3]));
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

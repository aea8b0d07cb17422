/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/numbers.c - what a live number costs: new keys, known ones, leaving, coming back.
 *
 * Batches as the indexer has them, each one durable transaction; keys come in an order that has
 * nothing to do with their names. Time is told per key, the commit included: as the
 * clock has it, and as this process used processors (of a server's work only the client's part).
 * Then what the owner of a shard has in memory: a look at it in such a batch, and, of a table of
 * TABLE_KEYS (10 million), the look alone, hash and all, with the memory that it takes.
 *
 * usage: bench-numbers STORE_URL [KEYS [BATCH [TABLE_KEYS]]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "numerator/key_table.h"
#include "numerator/numerator.h"
#include "store/migrate.h"

enum { KEY_SIZE = 24 };

struct bench {
    struct store *store;
    struct numbers *numbers;
    struct number_ask *asks;
    struct bytes *keys;
    uint32_t count; /* of the batch */
};

static int give(struct store_tx *tx, void *arg, struct err *err)
{
    struct bench *bench = arg;

    return numbers_give(bench->numbers, tx, bench->asks, bench->count, 1000, err);
}

static int leave(struct store_tx *tx, void *arg, struct err *err)
{
    struct bench *bench = arg;

    return numbers_leave(bench->numbers, tx, bench->keys, bench->count, 1000, err);
}

static int find(struct store_tx *tx, void *arg, struct err *err)
{
    struct bench *bench = arg;

    return numbers_find(tx, 1, 0, bench->asks, bench->count, err);
}

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct bench *bench = arg;

    return numbers_find_known(bench->numbers, tx, bench->asks, bench->count, err);
}

static void die(const struct err *err)
{
    fprintf(stderr, "bench-numbers: %s\n", err->text);
    exit(1);
}

static int64_t processor_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * SECOND_US + time.tv_nsec / 1000;
}

static struct bytes key_of(uint64_t number, char text[KEY_SIZE])
{
    uint64_t mixed = hash64(bytes_make(&number, sizeof(number)));

    snprintf(text, KEY_SIZE, "offer-%016" PRIx64, mixed);
    return bytes_of(text);
}

static void run(struct bench *bench, const char *name, store_fn fn, bool is_read, uint64_t total,
                uint32_t batch)
{
    char(*texts)[KEY_SIZE] = mem_array(batch, KEY_SIZE);
    int64_t spent_us = 0, cpu_us = 0;
    struct err err = {0};

    for (uint64_t done = 0; done < total; done += batch) {
        int64_t begin_us, begin_cpu_us;
        int rc;

        bench->count = batch;
        for (uint32_t i = 0; i < batch; i++) {
            bench->keys[i] = key_of(done + i, texts[i]);
            bench->asks[i] = (struct number_ask){.key = bench->keys[i]};
        }
        begin_us = clock_mono_us(clock_system());
        begin_cpu_us = processor_us();
        rc = is_read ? store_read(bench->store, fn, bench, &err)
                     : store_write(bench->store, fn, bench, &err);
        spent_us += clock_mono_us(clock_system()) - begin_us;
        cpu_us += processor_us() - begin_cpu_us;
        if (rc)
            die(&err);
        numbers_settle(bench->numbers, true);
    }
    printf("%-12s %7.2f us a key, %6.2f of processors\n", name, (double)spent_us / (double)total,
           (double)cpu_us / (double)total);
    free(texts);
}

/* Reads the keys of the shard, as the looks of an owner do. */
static void learn(struct bench *bench)
{
    struct numbers_known known = {0};
    int64_t begin_us = processor_us();
    struct err err = {0};

    bench->count = 1000;
    for (uint32_t i = 0; i < bench->count; i++)
        bench->asks[i] = (struct number_ask){.key = bytes_of("-")};
    while (!known.is_all) {
        if (store_read(bench->store, look, bench, &err))
            die(&err);
        known = numbers_known(bench->numbers);
    }
    printf("%-12s %24.2f of processors, once; %.1f bytes a key\n", "learnt",
           (double)(processor_us() - begin_us) / (double)known.key_count,
           (double)known.size / (double)known.key_count);
}

/* One in a hundred had an owner before, and got another one lately. */
static void look_in_table(struct bench *bench, uint64_t total)
{
    enum { LOOK_COUNT = 4000000, BATCH = 1000 };
    struct key_table *table = key_table_new(total);
    char(*texts)[KEY_SIZE] = mem_array(BATCH, KEY_SIZE);
    int64_t spent_us = 0, begin_us;
    uint64_t found = 0;

    for (uint64_t i = 0; i < total; i++) {
        uint32_t birth = (uint32_t)(i % 100 ? i / BATCH : (total + i) / BATCH) + 1;

        key_table_add(table, key_of(i, texts[0]), (uint32_t)i, birth, false);
        if (i % BATCH == 0)
            key_table_commit(table);
    }
    for (uint64_t done = 0; done < LOOK_COUNT; done += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++)
            bench->asks[i].key = key_of((done + i) * 7919 % total, texts[i]);
        begin_us = processor_us();
        key_table_find(table, bench->asks, BATCH);
        spent_us += processor_us() - begin_us;
        for (uint32_t i = 0; i < BATCH; i++)
            found += bench->asks[i].doc_id == (done + i) * 7919 % total;
    }
    printf("%-12s %24.1f ns a key of processors; %.1f bytes a key, %" PRIu64 " keys%s\n",
           "in memory", (double)spent_us * 1000 / LOOK_COUNT,
           (double)key_table_size(table) / (double)total, total,
           found == LOOK_COUNT ? "" : ": SOME ARE WRONG");
    key_table_free(table);
    free(texts);
}

int main(int argc, char **argv)
{
    const struct number_rules rules = {0};
    const struct numbering numbering = {.space = 1, .kind = 1, .scheme = 1};
    uint64_t total = argc > 2 ? strtoull(argv[2], NULL, 10) : 200000;
    uint32_t batch = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1000;
    uint64_t table_total = argc > 4 ? strtoull(argv[4], NULL, 10) : 10000000;
    struct bench bench = {0};
    struct err err = {0};

    if (argc < 2 || total == 0 || batch < 1000 || table_total == 0) {
        fprintf(stderr, "usage: bench-numbers STORE_URL [KEYS [BATCH [TABLE_KEYS]]]\n");
        return 2;
    }
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_WARN, 2);
    bench.asks = mem_array(batch, sizeof(*bench.asks));
    bench.keys = mem_array(batch, sizeof(*bench.keys));
    if (store_open(argv[1], &bench.store, &err) || store_migrate(bench.store, NULL, &err) ||
        numbers_open(bench.store, &numbering, 0, &rules, &bench.numbers, &err))
        die(&err);
    printf("%s, %" PRIu64 " keys in batches of %" PRIu32 "\n", store_backend(bench.store), total,
           batch);
    run(&bench, "new", give, false, total, batch);
    run(&bench, "known", give, false, total, batch);
    run(&bench, "looked up", find, true, total, batch);
    learn(&bench);
    run(&bench, "owner's look", look, true, total, batch);
    run(&bench, "leaving", leave, false, total, batch);
    run(&bench, "coming back", give, false, total, batch);
    look_in_table(&bench, table_total);
    numbers_close(bench.numbers);
    store_close(bench.store);
    free(bench.asks);
    free(bench.keys);
    return 0;
}

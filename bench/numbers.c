/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/numbers.c - what a live number costs: new keys, known ones, leaving, coming back.
 *
 * Batches as the indexer has them, each one durable transaction; keys come in an order that has
 * nothing to do with their names. Time is told per key, the commit included: as the
 * clock has it, and as this process used processors (of a server's work only the client's part).
 *
 * usage: bench-numbers STORE_URL [KEYS [BATCH]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
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
            uint64_t number = done + i;
            uint64_t mixed = hash64(bytes_make(&number, sizeof(number)));

            snprintf(texts[i], KEY_SIZE, "offer-%016" PRIx64, mixed);
            bench->keys[i] = bytes_of(texts[i]);
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

int main(int argc, char **argv)
{
    const struct number_rules rules = {0};
    const struct numbering numbering = {.space = 1, .kind = 1, .scheme = 1};
    uint64_t total = argc > 2 ? strtoull(argv[2], NULL, 10) : 200000;
    uint32_t batch = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1000;
    struct bench bench = {0};
    struct err err = {0};

    if (argc < 2 || total == 0 || batch == 0) {
        fprintf(stderr, "usage: bench-numbers STORE_URL [KEYS [BATCH]]\n");
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
    run(&bench, "leaving", leave, false, total, batch);
    run(&bench, "coming back", give, false, total, batch);
    numbers_close(bench.numbers);
    store_close(bench.store);
    free(bench.asks);
    free(bench.keys);
    return 0;
}
